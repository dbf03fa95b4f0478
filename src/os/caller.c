/* SPDX-License-Identifier: MIT */
#include "os/caller.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#define MADV_KEEPONFORK 19
#endif

/* A process ID is only the fallback: a child in a new PID namespace can have the ID of its parent,
   and getpid(2) is a system call. */
void os_origin_init(struct os_origin *origin)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	*origin = (struct os_origin){.block = malloc(2 * page)};
	if (origin->block) {
		unsigned char *mark = (unsigned char *)(((uintptr_t)origin->block + page - 1) / page
		                                        * page);
		/* since Linux 4.14 */
		if (madvise(mark, page, MADV_WIPEONFORK) == 0)
			origin->mark = mark;
	}
	if (origin->mark)
		*origin->mark = 1;
	else
		origin->pid = getpid();
}

bool os_origin_is_here(const struct os_origin *origin)
{
	return origin->mark ? *origin->mark != 0 : getpid() == origin->pid;
}

void os_origin_destroy(struct os_origin *origin)
{
	if (origin->mark)
		madvise(origin->mark, (size_t)sysconf(_SC_PAGESIZE), MADV_KEEPONFORK);
	free(origin->block);
	*origin = (struct os_origin){0};
}

int os_cancel_defer(void)
{
	int state;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	return state;
}

void os_cancel_restore(int state)
{
	pthread_setcancelstate(state, NULL);
}
