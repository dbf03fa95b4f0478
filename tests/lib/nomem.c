/* SPDX-License-Identifier: MIT */
/*
 * For tests/system/nomem.py and nomem_acts.py, by LD_PRELOAD: the allocation number NOMEM_AT of
 * the whole process fails, in any of its libraries; with NOMEM_ON all later ones fail as well.
 * At the end how many there were is written into the file NOMEM_COUNT.  Commands that the
 * process runs are not affected.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SHOWN __attribute__((visibility("default")))

/* The C library's own. */
extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *old, size_t n);

static atomic_ulong count;
static unsigned long fails_at;
static bool fails_on;
static char count_name[4096];

__attribute__((constructor))
static void begin(void)
{
	const char *at = getenv("NOMEM_AT");
	const char *name = getenv("NOMEM_COUNT");
	fails_at = at ? strtoul(at, NULL, 10) : 0;
	fails_on = getenv("NOMEM_ON");
	snprintf(count_name, sizeof(count_name), "%s", name ? name : "");
	unsetenv("NOMEM_AT");
	unsetenv("NOMEM_ON");
	unsetenv("NOMEM_COUNT");
	count = 0;
}

__attribute__((destructor))
static void end(void)
{
	int fd = *count_name ? open(count_name, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600)
	                     : -1;
	if (fd >= 0) {
		dprintf(fd, "%lu\n", (unsigned long)count);
		close(fd);
	}
}

static int fails(void)
{
	unsigned long n = ++count;
	if (n != fails_at && !(fails_on && fails_at && n > fails_at))
		return 0;
	errno = ENOMEM;
	return 1;
}

SHOWN void *malloc(size_t n)
{
	return fails() ? NULL : __libc_malloc(n);
}

SHOWN void *calloc(size_t n, size_t size)
{
	return fails() ? NULL : __libc_calloc(n, size);
}

SHOWN void *realloc(void *old, size_t n)
{
	return fails() ? NULL : __libc_realloc(old, n);
}

SHOWN void *reallocarray(void *old, size_t n, size_t size)
{
	if (size && n > SIZE_MAX / size) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(old, n * size);
}
