/* tests/bench/likwid.c: brings likwid-bench into memory as the dynamic loader would, as far as its kernels need it: segments and relative
 * relocations. They call nothing and have their constants beside them.
 *
 * The table of tests has records of 88 bytes (likwid 5.2, bench/includes/test_types.h): the address of the name, four numbers of four bytes,
 * the address of the kernel, and further ones. */
#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/bench/likwid.h"

#define KERNEL_AT 24 /* of a record, whose beginning is the name's address */
#define PAGE 4096u

static const Elf64_Phdr *segments(const uint8_t *file, unsigned *count)
{
	const Elf64_Ehdr *e = (const void *)file;
	*count = e->e_phnum;
	return (const void *)(file + e->e_phoff);
}

/* The segment of that kind, after `after`; NULL: no further one. */
static const Elf64_Phdr *segment(const uint8_t *file, uint32_t type, const Elf64_Phdr *after)
{
	unsigned count;
	const Elf64_Phdr *all = segments(file, &count);

	for (const Elf64_Phdr *p = after ? after + 1 : all; p < all + count; p++)
		if (p->p_type == type)
			return p;
	return NULL;
}

/* Whether all that is read of the file lies in it. */
static bool is_whole(const uint8_t *file, size_t bytes)
{
	const Elf64_Ehdr *e = (const void *)file;

	if (bytes < sizeof(*e) || memcmp(e->e_ident, ELFMAG, SELFMAG) || e->e_ident[EI_CLASS] != ELFCLASS64 || e->e_machine != EM_X86_64 ||
	    e->e_type != ET_DYN || e->e_phentsize != sizeof(Elf64_Phdr) || e->e_phoff > bytes || e->e_phnum > (bytes - e->e_phoff) / sizeof(Elf64_Phdr))
		return false;
	for (const Elf64_Phdr *p = segment(file, PT_LOAD, NULL); p; p = segment(file, PT_LOAD, p))
		if (p->p_offset > bytes || p->p_filesz > bytes - p->p_offset || p->p_filesz > p->p_memsz || p->p_vaddr > UINT32_MAX || p->p_memsz > UINT32_MAX)
			return false;
	return segment(file, PT_DYNAMIC, NULL) != NULL;
}

/* Walks the relative relocations of a program in memory: the i-th, NULL behind the last. */
static const Elf64_Rela *relocation(const struct likwid *l, size_t i)
{
	const Elf64_Phdr *dynamic = segment(l->at, PT_DYNAMIC, NULL);
	uint64_t at = 0, bytes = 0;

	for (const Elf64_Dyn *d = (const void *)(l->at + dynamic->p_vaddr); d->d_tag != DT_NULL; d++) {
		at = d->d_tag == DT_RELA ? d->d_un.d_ptr : at;
		bytes = d->d_tag == DT_RELASZ ? d->d_un.d_val : bytes;
	}
	const Elf64_Rela *r = (const void *)(l->at + at);
	const size_t count = at <= l->bytes && bytes <= l->bytes - at ? bytes / sizeof(*r) : 0;
	return i < count && ELF64_R_TYPE(r[i].r_info) == R_X86_64_RELATIVE && r[i].r_offset <= l->bytes - KERNEL_AT - 8 ? &r[i] : NULL;
}

static bool load(struct likwid *l, const uint8_t *file)
{
	for (const Elf64_Phdr *p = segment(file, PT_LOAD, NULL); p; p = segment(file, PT_LOAD, p))
		l->bytes = p->p_vaddr + p->p_memsz > l->bytes ? p->p_vaddr + p->p_memsz : l->bytes;
	l->bytes = (l->bytes + PAGE - 1) / PAGE * PAGE;
	l->at = mmap(NULL, l->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (l->at == MAP_FAILED)
		return false;
	for (const Elf64_Phdr *p = segment(file, PT_LOAD, NULL); p; p = segment(file, PT_LOAD, p))
		memcpy(l->at + p->p_vaddr, file + p->p_offset, p->p_filesz);
	const Elf64_Rela *r;
	for (size_t i = 0; (r = relocation(l, i)) != NULL; i++)
		*(uint64_t *)(void *)(l->at + r->r_offset) = (uint64_t)(uintptr_t)l->at + (uint64_t)r->r_addend;
	for (const Elf64_Phdr *p = segment(file, PT_LOAD, NULL); p; p = segment(file, PT_LOAD, p)) {
		const uint64_t from = p->p_vaddr / PAGE * PAGE, to = (p->p_vaddr + p->p_memsz + PAGE - 1) / PAGE * PAGE;
		if (p->p_flags & PF_X && mprotect(l->at + from, to - from, PROT_READ | PROT_EXEC))
			return false;
	}
	return true;
}

bool likwid_open(struct likwid *l, const char *path)
{
	struct stat s;
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool good = false;

	*l = (struct likwid){ NULL, 0 };
	if (fd < 0)
		return false;
	if (!fstat(fd, &s) && s.st_size > 0) {
		uint8_t *file = mmap(NULL, (size_t)s.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (file != MAP_FAILED) {
			good = is_whole(file, (size_t)s.st_size) && load(l, file);
			munmap(file, (size_t)s.st_size);
		}
	}
	close(fd);
	if (!good)
		l->at = NULL;
	return good;
}

likwid_kernel *likwid_find(const struct likwid *l, const char *name)
{
	const Elf64_Rela *r;

	for (size_t i = 0; l->at && (r = relocation(l, i)) != NULL; i++) {
		if (r->r_addend < 0 || (uint64_t)r->r_addend > l->bytes - 64 || strncmp((const char *)l->at + r->r_addend, name, 64))
			continue;
		const uint8_t *kernel = *(uint8_t *const *)(const void *)(l->at + r->r_offset + KERNEL_AT);
		for (const Elf64_Phdr *p = segment(l->at, PT_LOAD, NULL); p; p = segment(l->at, PT_LOAD, p))
			if (p->p_flags & PF_X && kernel >= l->at + p->p_vaddr && kernel < l->at + p->p_vaddr + p->p_memsz)
				return (likwid_kernel *)(uintptr_t)kernel;
	}
	return NULL;
}
