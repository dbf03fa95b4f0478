/* SPDX-License-Identifier: MIT */
#include "os/ring.h"

#include "os/clock.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/crossing.h"   /* after the C library */

struct os_ring {
	int fd;
	unsigned entries;
	void *ring;               /* both queues: FEAT_SINGLE_MMAP */
	size_t ring_size;
	struct k_uring_sqe *sqes;
	/* In the ring. */
	_Atomic unsigned *sq_tail, *cq_head, *cq_tail;
	unsigned *sq_array, sq_mask, cq_mask;
	const struct k_uring_cqe *cqes;
};

/** Map a part of a ring.  @return it, or NULL. */
static void *ring_map(struct os *os, int fd, size_t size, uint64_t offset)
{
	void *at = OS_CALL(os, OS_MMAP, mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, (off_t)offset));
	return at == MAP_FAILED ? NULL : at;
}

void os_ring_free(struct os *os, struct os_ring *ring)
{
	if (!ring)
		return;
	int error = errno;
	if (ring->sqes) {
		OS_CALL(os, OS_MUNMAP, munmap(ring->sqes, ring->entries * sizeof(*ring->sqes)));
	}
	if (ring->ring) {
		OS_CALL(os, OS_MUNMAP, munmap(ring->ring, ring->ring_size));
	}
	os_close(os, ring->fd);
	free(ring);
	errno = error;
}

struct os_ring *os_ring_new(struct os *os, unsigned entries, unsigned workers)
{
	if (os->disabled & OSC_URING || !os->statx_works) {
		errno = ENOSYS;
		return NULL;
	}
	struct os_ring *ring = calloc(1, sizeof(*ring));
	if (!ring)
		return NULL;
	struct k_uring_params params = {0};
	ring->fd = (int)OS_CALL(os, OS_URING_SETUP, syscall(K_NR_io_uring_setup, entries, &params));
	if (ring->fd < 0)
		goto fail;
	/* Without it, statx is not there either (5.4 against 5.6), nor are the
	   answers kept that find no room (5.5). */
	if (!(params.features & K_URING_FEAT_SINGLE_MMAP) || !(params.features & K_URING_FEAT_NODROP)) {
		errno = ENOSYS;
		goto fail;
	}
	unsigned most[2] = {workers, workers};
	OS_CALL(os, OS_URING_REGISTER,
	        syscall(K_NR_io_uring_register, ring->fd, K_URING_REGISTER_IOWQ_MAX_WORKERS, most, 2));

	ring->entries = params.sq_entries;
	size_t sq = params.sq_off.array + params.sq_entries * sizeof(unsigned);
	size_t cq = params.cq_off.cqes + params.cq_entries * sizeof(struct k_uring_cqe);
	ring->ring_size = sq > cq ? sq : cq;
	ring->ring = ring_map(os, ring->fd, ring->ring_size, K_URING_OFF_SQ_RING);
	if (!ring->ring)
		goto fail;
	ring->sqes = ring_map(os, ring->fd, ring->entries * sizeof(*ring->sqes), K_URING_OFF_SQES);
	if (!ring->sqes)
		goto fail;
	char *at = ring->ring;
	ring->sq_tail = (void *)(at + params.sq_off.tail);
	ring->sq_array = (void *)(at + params.sq_off.array);
	ring->sq_mask = *(unsigned *)(void *)(at + params.sq_off.ring_mask);
	ring->cq_head = (void *)(at + params.cq_off.head);
	ring->cq_tail = (void *)(at + params.cq_off.tail);
	ring->cq_mask = *(unsigned *)(void *)(at + params.cq_off.ring_mask);
	ring->cqes = (void *)(at + params.cq_off.cqes);
	return ring;
fail:
	os_ring_free(os, ring);
	return NULL;
}

/** Take the answers that are there.  @return how many. */
static size_t ring_reap(struct os_ring *ring, struct os_ring_stat *stats)
{
	unsigned head = atomic_load_explicit(ring->cq_head, memory_order_relaxed);
	unsigned tail = atomic_load_explicit(ring->cq_tail, memory_order_acquire);
	size_t n = tail - head;
	for (; head != tail; ++head) {
		const struct k_uring_cqe *cqe = &ring->cqes[head & ring->cq_mask];
		stats[cqe->user_data].error = cqe->res < 0 ? -cqe->res : 0;
	}
	atomic_store_explicit(ring->cq_head, head, memory_order_release);
	return n;
}

/** Ask for a part of them, not more than the ring has entries. */
static int ring_round(struct os *os, struct os_ring *ring, int dirfd, int flags, unsigned mask,
                      struct os_ring_stat *stats, unsigned n)
{
	unsigned tail = atomic_load_explicit(ring->sq_tail, memory_order_relaxed);
	for (unsigned i = 0; i < n; ++i, ++tail) {
		unsigned slot = tail & ring->sq_mask;
		ring->sqes[slot] = (struct k_uring_sqe){
			.opcode = K_URING_OP_STATX,
			.fd = dirfd,
			.addr = (uintptr_t)stats[i].name,
			.off = (uintptr_t)stats[i].st,
			.len = mask,
			.op_flags = (unsigned)flags,
			.user_data = i,
		};
		ring->sq_array[slot] = slot;
	}
	atomic_store_explicit(ring->sq_tail, tail, memory_order_release);

	unsigned begun = 0, failures = 0;
	size_t answered = 0;
	bool refused = false;
	/* What was begun must end, whatever else happens. */
	while (answered < begun || (begun < n && !refused)) {
		unsigned submit = refused ? 0 : n - begun;
		long rc = OS_CALL(os, OS_URING_ENTER,
		                  syscall(K_NR_io_uring_enter, ring->fd, submit,
		                          begun + submit - (unsigned)answered, K_URING_ENTER_GETEVENTS, NULL, 0));
		if (rc > 0)
			begun += (unsigned)rc;
		if (rc < 0 && errno != EINTR)
			refused |= (errno != EAGAIN && errno != EBUSY) || ++failures > 100;
		answered += ring_reap(ring, stats);
	}
	return refused ? -1 : 0;
}

int os_ring_statx(struct os *os, struct os_ring *ring, int dirfd, int flags, unsigned mask,
                  struct os_ring_stat *stats, size_t n)
{
	for (size_t i = 0; i < n; i += ring->entries) {
		unsigned part = n - i < ring->entries ? (unsigned)(n - i) : ring->entries;
		if (ring_round(os, ring, dirfd, flags, mask, stats + i, part) != 0)
			return -1;
		/* Before 5.6 there is no such request. */
		if (stats[i].error == EINVAL || stats[i].error == EOPNOTSUPP)
			return -1;
	}
	return 0;
}
