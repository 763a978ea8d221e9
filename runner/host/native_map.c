/* runner/host/native_map.c: see native_map.h.
 *
 * MADV_NOHUGEPAGE keeps 4 KiB pages small. 2 MiB and 1 GiB pages come from the reserved pool (MAP_HUGETLB); if that
 * is empty, 2 MiB pages are transparent huge pages, and /proc/self/smaps has to confirm the whole range. Pages that
 * may repeat are one page of a memory file, mapped repeatedly: for 12 GiB with one line in use per page, only 2 MiB are
 * cleared. Not detected: a hypervisor that maps our huge pages by small ones. */
#include <errno.h>
#include <fcntl.h>
#include <linux/mempolicy.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runner/host/native_map.h"

/* Values of include/uapi/asm-generic/{hugetlb_encode,mman-common}.h, for older C libraries. */
#ifndef MAP_HUGE_SHIFT
#define MAP_HUGE_SHIFT 26
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

/* Memory available without swapping, from /proc/meminfo; UINT64_MAX if unknown. */
static uint64_t available_bytes(void)
{
	char line[128];
	uint64_t kib = UINT64_MAX / 1024;
	FILE *f = fopen("/proc/meminfo", "re");
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "MemAvailable:", 13))
			kib = strtoull(line + 13, NULL, 10);
	if (f)
		fclose(f);
	return kib * 1024;
}

/* Bytes of transparent huge pages in the mappings (VMAs) within the range. */
static uint64_t huge_bytes(uint64_t va, uint64_t bytes)
{
	char line[512];
	bool inside = false;
	uint64_t sum = 0;
	FILE *f = fopen("/proc/self/smaps", "re");
	while (f && fgets(line, sizeof(line), f)) {
		uint64_t from, to;
		unsigned long kib;
		char c;
		if (sscanf(line, "%lx-%lx %c", &from, &to, &c) == 3)
			inside = from >= va && to <= va + bytes;
		else if (inside && (sscanf(line, "AnonHugePages: %lu kB", &kib) == 1 || sscanf(line, "ShmemPmdMapped: %lu kB", &kib) == 1))
			sum += (uint64_t)kib * 1024;
	}
	if (f)
		fclose(f);
	return sum;
}

/* Physical address of the page at va; 0 without the privilege (Documentation/admin-guide/mm/pagemap.rst). */
static uint64_t physical_address(uint64_t va)
{
	uint64_t entry = 0;
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (pread(fd, &entry, sizeof(entry), (off_t)(va / PAGE_4K * sizeof(entry))) != sizeof(entry) || !(entry >> 63))
		entry = 0;
	close(fd);
	return (entry & ((1ull << 55) - 1)) * PAGE_4K;
}

static enum status bind_to_node(void *at, uint64_t bytes, int node)
{
	unsigned long mask[16] = {0};
	if (node < 0)
		return ST_OK;
	if ((size_t)node >= sizeof(mask) * 8)
		return ST_RANGE;
	mask[node / 64] = 1ul << (node % 64);
	return syscall(SYS_mbind, at, bytes, MPOL_BIND, mask, sizeof(mask) * 8, 0) ? ST_UNSUPPORTED : ST_OK;
}

/* Populates every page. MADV_POPULATE_WRITE fails where a write would kill the program, as when the node's pool is empty.
 * Kernels before 5.14 lack it; then only memory for which that cannot happen is written. */
static enum status make_present(void *at, uint64_t bytes, int node, int flags)
{
	if (!madvise(at, bytes, MADV_POPULATE_WRITE))
		return ST_OK;
	if (errno != EINVAL)
		return flags ? ST_UNSUPPORTED : ST_FULL;
	if (flags && node >= 0)
		return ST_UNSUPPORTED;
	memset(at, 0, bytes);
	return ST_OK;
}

static enum status try_map(struct mapping *m, int node, int flags, int advice)
{
	int protection = PROT_READ | PROT_WRITE | (m->executable ? PROT_EXEC : 0);
	void *at = mmap((void *)(uintptr_t)m->va, m->bytes, protection,
	                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | flags, -1, 0);
	if (at == MAP_FAILED)
		return errno == EEXIST || errno == EACCES || errno == EPERM ? ST_REFUSED : flags ? ST_UNSUPPORTED : ST_FULL;
	if (at != (void *)(uintptr_t)m->va) { /* kernels before 4.17 take the address as a hint */
		munmap(at, m->bytes);
		return ST_REFUSED;
	}
	enum status s = bind_to_node(at, m->bytes, node);
	if (s == ST_OK && advice && madvise(at, m->bytes, advice) && advice == MADV_HUGEPAGE)
		s = ST_UNSUPPORTED;
	if (s == ST_OK)
		s = make_present(at, m->bytes, node, flags);
	/* Small pages are collapsed if the kernel can (since 6.1); smaps confirms it. */
	if (s == ST_OK && advice == MADV_HUGEPAGE && huge_bytes(m->va, m->bytes) != m->bytes &&
	    (madvise(at, m->bytes, MADV_COLLAPSE) || huge_bytes(m->va, m->bytes) != m->bytes))
		s = ST_UNSUPPORTED;
	if (s != ST_OK) {
		munmap(at, m->bytes);
		return s;
	}
	m->host = at;
	m->pa = physical_address(m->va);
	return ST_OK;
}

enum page_source { PAGE_OF_POOL, PAGE_TRANSPARENT };

/* Maps the file's page at `at` and populates it; the first mapping determines the memory's node and page size. */
static enum status map_file_page(const struct mapping *m, uint64_t at, int fd, int node, enum page_source source)
{
	const bool first = at == m->va;
	void *want = (void *)(uintptr_t)at;
	void *got = mmap(want, m->page_bytes, PROT_READ | PROT_WRITE | (m->executable ? PROT_EXEC : 0), MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0);
	enum status s = got == want ? ST_OK : ST_UNSUPPORTED;

	if (got == MAP_FAILED)
		return ST_UNSUPPORTED; /* also when the kernel's limit of mappings is reached */
	if (s == ST_OK && first)
		s = bind_to_node(got, m->page_bytes, node);
	if (s == ST_OK && first && source == PAGE_TRANSPARENT)
		(void)madvise(got, m->page_bytes, MADV_HUGEPAGE); /* if shmem_enabled allows it; otherwise the page is collapsed below */
	if (s == ST_OK)
		s = make_present(got, m->page_bytes, first ? node : -1, 1);
	if (s == ST_OK && first && source == PAGE_TRANSPARENT && huge_bytes(at, m->page_bytes) != m->page_bytes && madvise(got, m->page_bytes, MADV_COLLAPSE))
		s = ST_UNSUPPORTED;
	if (s != ST_OK)
		munmap(got, m->page_bytes);
	return s;
}

/* Maps one page repeatedly, from the reserved pool or, for 2 MiB, a transparent huge page. ST_UNSUPPORTED if impossible. */
static enum status try_repeated(struct mapping *m, int node, enum page_source source)
{
	const unsigned order = m->page_bytes == PAGE_1G ? 30 : 21;
	int fd = memfd_create("stallmeter", MFD_CLOEXEC | (source == PAGE_OF_POOL ? MFD_HUGETLB | order << MAP_HUGE_SHIFT : 0));
	enum status s = fd >= 0 && !ftruncate(fd, (off_t)m->page_bytes) ? ST_OK : ST_UNSUPPORTED;
	uint64_t mapped = 0;

	while (s == ST_OK && mapped < m->bytes) {
		s = map_file_page(m, m->va + mapped, fd, node, source);
		mapped += s == ST_OK ? m->page_bytes : 0;
	}
	if (fd >= 0)
		close(fd);
	if (s == ST_OK && source == PAGE_TRANSPARENT && huge_bytes(m->va, m->bytes) != m->bytes)
		s = ST_UNSUPPORTED;
	if (s != ST_OK && mapped)
		munmap((void *)(uintptr_t)m->va, mapped);
	if (s != ST_OK)
		return ST_UNSUPPORTED;
	m->host = (void *)(uintptr_t)m->va;
	m->pa = physical_address(m->va);
	return ST_OK;
}

enum status native_map_pages(struct mapping *m, int node)
{
	m->host = NULL;
	m->pa = 0;
	if (!m->bytes || m->va % m->page_bytes || m->bytes % m->page_bytes)
		return ST_RANGE;
	if (m->repeats && ((m->page_bytes > PAGE_4K && try_repeated(m, node, PAGE_OF_POOL) == ST_OK) ||
	                   (m->page_bytes == PAGE_2M && try_repeated(m, node, PAGE_TRANSPARENT) == ST_OK)))
		return ST_OK;
	m->repeats = false;
	switch (m->page_bytes) {
	case PAGE_4K:
		if (m->bytes > available_bytes() / 4 * 3)
			return ST_FULL;
		return try_map(m, node, 0, MADV_NOHUGEPAGE);
	case PAGE_2M: {
		enum status s = try_map(m, node, MAP_HUGETLB | (21 << MAP_HUGE_SHIFT), 0);
		if (s != ST_UNSUPPORTED)
			return s;
		if (m->bytes > available_bytes() / 4 * 3)
			return ST_FULL;
		return try_map(m, node, 0, MADV_HUGEPAGE);
	}
	case PAGE_1G:
		return try_map(m, node, MAP_HUGETLB | (30 << MAP_HUGE_SHIFT), 0);
	default:
		return ST_RANGE;
	}
}

enum status native_unmap_pages(struct mapping *m)
{
	if (!m->host)
		return ST_RANGE;
	if (munmap(m->host, m->bytes))
		return ST_IO;
	m->host = NULL;
	return ST_OK;
}
