/* runner/data/file.c: see file.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "runner/data/file.h"

enum status file_read(const char *path, size_t most, char **text, size_t *bytes, char *problem, size_t capacity)
{
	struct stat about;
	/* Opening a named pipe blocks until there is a writer. The shell's own pipes, below /dev, have one. */
	if (strncmp(path, "/dev/", 5) && strncmp(path, "/proc/", 6) && !stat(path, &about) && S_ISFIFO(about.st_mode)) {
		snprintf(problem, capacity, "%s: a file expected, this is a named pipe", path);
		return ST_IO;
	}
	FILE *f = fopen(path, "re");
	if (!f) {
		snprintf(problem, capacity, "%s: %s", path, strerror(errno));
		return errno == ENOENT ? ST_MISSING : ST_IO;
	}
	if (fstat(fileno(f), &about) || S_ISDIR(about.st_mode)) {
		snprintf(problem, capacity, "%s: a file expected, this is a directory", path);
		fclose(f);
		return ST_IO;
	}
	/* Read to the end rather than by size, which pipes and files of /proc do not have. */
	enum status s = ST_OK;
	char *at = NULL;
	size_t length = 0, room = 0;
	do {
		if (length + 1 >= room) {
			char *more = realloc(at, room = room ? room * 2 : 65536);
			if (!more) {
				s = ST_FULL;
				break;
			}
			at = more;
		}
		length += fread(at + length, 1, room - length - 1, f);
	} while (length <= most && !feof(f) && !ferror(f));
	if (s == ST_OK && ferror(f))
		s = ST_IO;
	if (s == ST_OK && length > most)
		s = ST_RANGE;
	fclose(f);
	if (s != ST_OK) {
		free(at);
		if (s == ST_RANGE)
			snprintf(problem, capacity, "%s: longer than %zu bytes", path, most);
		else
			snprintf(problem, capacity, "%s: cannot be read", path);
		return s;
	}
	at[length] = 0;
	*text = at;
	*bytes = length;
	return ST_OK;
}
