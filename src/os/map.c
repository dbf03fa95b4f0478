/* SPDX-License-Identifier: MIT */
/*
 * The handler of SIGBUS finds the map of an address in a list that it reads without a lock.
 *
 * The list consists of blocks, which are never freed, so that following it is always possible.  A
 * map that a thread reads is in the list from before its first access until after its last one.
 * While another entry is being reused, an address can match it by mistake.  Then a map that no
 * thread reads is marked, and its index is reported as damaged.
 *
 * All pages of a lost map are replaced, not only the one that cannot be read: each replaced page
 * would be a map of its own, and their number is limited.
 */
#include "os/map.h"

#include "base/fail.h"
#include "os/clock.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { BLOCK = 64 };

struct map_entry {
	atomic_uintptr_t begin;  /* 0: free */
	atomic_size_t size;
	atomic_bool lost;
};

struct map_block {
	struct map_entry entries[BLOCK];
	_Atomic(struct map_block *) next;
};

static struct {
	pthread_mutex_t lock;    /* for changes */
	struct map_block first;
	bool handles;            /* the handler is installed */
	struct sigaction before;
} maps = {.lock = PTHREAD_MUTEX_INITIALIZER};

/** Mark the map of an address as lost.  @return whether it has one, and its pages are zeros now. */
static bool lose_map(uintptr_t address)
{
	bool found = false;
	for (struct map_block *block = &maps.first; block; block = atomic_load(&block->next)) {
		for (size_t i = 0; i < BLOCK; ++i) {
			struct map_entry *entry = &block->entries[i];
			uintptr_t begin = atomic_load(&entry->begin);
			size_t size = atomic_load(&entry->size);
			/* The entry may be used again meanwhile: both must be of one map. */
			if (!begin || address - begin >= size
			    || atomic_load(&entry->begin) != begin)
				continue;
			/* Other threads see the mark before they see zeros. */
			atomic_store(&entry->lost, true);
			found |= mmap((void *)begin, size, PROT_READ,
			              MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0)
			         != MAP_FAILED;
		}
	}
	return found;
}

static void on_bus(int number, siginfo_t *info, void *context)
{
	const int error = errno;
	/* A signal that a process has sent has no address. */
	const bool faulted = info->si_code > 0;
	if (faulted && lose_map((uintptr_t)info->si_addr)) {
		errno = error;
		return;
	}
	if (maps.before.sa_flags & SA_SIGINFO) {
		maps.before.sa_sigaction(number, info, context);
	} else if (maps.before.sa_handler != SIG_DFL && maps.before.sa_handler != SIG_IGN) {
		maps.before.sa_handler(number);
	} else if (faulted || maps.before.sa_handler == SIG_DFL) {
		/* A fault is repeated when this returns. */
		sigaction(number, &maps.before, NULL);
		if (!faulted)
			raise(number);
	}
	errno = error;
}

/** Install the handler.  The lock is held.  @return 0, or -1. */
static int handle_bus(struct os *os)
{
	struct sigaction action = {.sa_sigaction = on_bus, .sa_flags = SA_SIGINFO};
	if (maps.handles)
		return 0;
	/* Known before the handler can run. */
	if (OS_CALL(os, OS_SIGACTION, sigaction, SIGBUS, NULL, &maps.before) != 0
	    || OS_CALL(os, OS_SIGACTION, sigaction, SIGBUS, &action, NULL) != 0)
		return -1;
	maps.handles = true;
	return 0;
}

/** Find a free entry, or make some.  The lock is held.  @return NULL: ENOMEM. */
static struct map_entry *free_entry(void)
{
	for (struct map_block *block = &maps.first;; block = atomic_load(&block->next)) {
		for (size_t i = 0; i < BLOCK; ++i) {
			if (!atomic_load(&block->entries[i].begin))
				return &block->entries[i];
		}
		if (!atomic_load(&block->next)) {
			struct map_block *next = calloc(1, sizeof(*next));
			if (!next)
				return NULL;
			atomic_store(&block->next, next);
		}
	}
}

const void *os_map(struct os *os, int fd, size_t size, const atomic_bool **lost)
{
	void *at = MAP_FAILED;
	pthread_mutex_lock(&maps.lock);
	struct map_entry *entry = handle_bus(os) == 0 ? free_entry() : NULL;
	if (entry)
		at = (void *)OS_CALL(os, OS_MMAP, mmap, NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	if (at != MAP_FAILED) {
		atomic_store(&entry->lost, false);
		atomic_store(&entry->size, size);
		atomic_store(&entry->begin, (uintptr_t)at);
		*lost = &entry->lost;
	}
	pthread_mutex_unlock(&maps.lock);
	return at == MAP_FAILED ? NULL : at;
}

void os_unmap(struct os *os, const void *bytes, size_t size)
{
	if (!bytes)
		return;
	pthread_mutex_lock(&maps.lock);
	for (struct map_block *block = &maps.first; block; block = atomic_load(&block->next)) {
		for (size_t i = 0; i < BLOCK; ++i) {
			if (atomic_load(&block->entries[i].begin) == (uintptr_t)bytes)
				atomic_store(&block->entries[i].begin, 0);
		}
	}
	pthread_mutex_unlock(&maps.lock);
	OS_CALL(os, OS_MUNMAP, munmap, (void *)(uintptr_t)bytes, size);
}
