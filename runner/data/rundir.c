/* runner/data/rundir.c: see rundir.h. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runner/data/rundir.h"

static enum status status_of_errno(void)
{
	return errno == ENOSPC || errno == EDQUOT || errno == EFBIG ? ST_FULL : errno == EROFS || errno == EACCES ?
	       ST_REFUSED : ST_IO;
}

static enum status make_parents(const char *path)
{
	char part[1024];
	if (strlen(path) >= sizeof(part))
		return ST_RANGE;
	for (size_t i = 1; path[i - 1]; i++) {
		if (path[i] && path[i] != '/')
			continue;
		memcpy(part, path, i);
		part[i] = 0;
		if (mkdir(part, 0777) && errno != EEXIST)
			return status_of_errno();
	}
	return ST_OK;
}

static unsigned highest_counter(const char *parent, const char *name)
{
	unsigned highest = 0;
	size_t length = strlen(name);
	DIR *d = opendir(parent);
	for (struct dirent *e; d && (e = readdir(d));) {
		char *end;
		if (strncmp(e->d_name, name, length) || e->d_name[length] != '-' || !isdigit(e->d_name[length + 1]))
			continue;
		unsigned long number = strtoul(e->d_name + length + 1, &end, 10);
		if (!*end && number < 1000000 && number > highest)
			highest = (unsigned)number;
	}
	if (d)
		closedir(d);
	return highest;
}

enum status rundir_make(struct rundir *d, const char *parent, const char *name, char *problem, size_t capacity)
{
	char clean[128];
	size_t length = 0;
	for (; name[length] && length + 1 < sizeof(clean); length++) {
		char c = name[length];
		clean[length] = isalnum((unsigned char)c) || c == '-' || c == '_' || c == '.' ? c : '-';
	}
	clean[length] = 0;
	d->fd = -1;
	enum status s = make_parents(parent);
	if (s != ST_OK) {
		snprintf(problem, capacity, "%s: %s", parent, s == ST_RANGE ? "name too long" : strerror(errno));
		return s;
	}
	/* A concurrent run may take the number: mkdir then fails, and the next number is tried. */
	for (unsigned counter = highest_counter(parent, clean) + 1; counter < 1000000; counter++) {
		int n = snprintf(d->path, sizeof(d->path), "%s/%s-%04u", parent, clean, counter);
		if (n < 0 || (size_t)n >= sizeof(d->path)) {
			snprintf(problem, capacity, "%s: name too long", parent);
			return ST_RANGE;
		}
		if (!mkdir(d->path, 0777)) {
			d->fd = open(d->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
			if (d->fd < 0)
				break;
			return ST_OK;
		}
		if (errno != EEXIST)
			break;
	}
	snprintf(problem, capacity, "%s: %s", d->path, strerror(errno));
	return status_of_errno();
}

static enum status write_all(int fd, const void *bytes, size_t n)
{
	for (const char *at = bytes; n;) {
		ssize_t done = write(fd, at, n);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return status_of_errno();
		at += done;
		n -= (size_t)done;
	}
	return fsync(fd) ? status_of_errno() : ST_OK;
}

enum status rundir_append(struct rundir *d, const char *file, const void *bytes, size_t n)
{
	int fd = openat(d->fd, file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (fd < 0)
		return status_of_errno();
	off_t before = lseek(fd, 0, SEEK_END);
	enum status s = before < 0 ? ST_IO : write_all(fd, bytes, n);
	if (s != ST_OK && before >= 0 && ftruncate(fd, before))
		s = ST_IO;
	if (close(fd) && s == ST_OK)
		s = status_of_errno();
	return s;
}

enum status rundir_write(struct rundir *d, const char *file, const void *bytes, size_t n)
{
	char temporary[256];
	int length = snprintf(temporary, sizeof(temporary), "%s.tmp", file);
	if (length < 0 || (size_t)length >= sizeof(temporary))
		return ST_RANGE;
	int fd = openat(d->fd, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		return status_of_errno();
	enum status s = write_all(fd, bytes, n);
	if (close(fd) && s == ST_OK)
		s = status_of_errno();
	if (s == ST_OK && renameat(d->fd, temporary, d->fd, file))
		s = status_of_errno();
	if (s == ST_OK && fsync(d->fd))
		s = status_of_errno();
	if (s != ST_OK)
		unlinkat(d->fd, temporary, 0);
	return s;
}

void rundir_close(struct rundir *d)
{
	if (d->fd >= 0)
		close(d->fd);
	d->fd = -1;
}
