/* SPDX-License-Identifier: MIT */
#include "os/ring.h"

#include "os/clock.h"

#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

struct os_ring {
	int fd;
	unsigned entries;
	void *ring;               /* both queues (IORING_FEAT_SINGLE_MMAP) */
	size_t ring_size;
	struct io_uring_sqe *sqes;
	/* Pointers into the mapped queues, and their constants. */
	_Atomic unsigned *sq_tail, *cq_head, *cq_tail;
	unsigned *sq_array, sq_mask, cq_mask;
	const struct io_uring_cqe *cqes;
	int *results;             /* of the requests of a round: a descriptor or -errno */
};

/** Map a part of a ring.  @return its address, or NULL. */
static void *ring_map(struct os *os, int fd, size_t size, uint64_t offset)
{
	void *at = (void *)OS_CALL(os, OS_MMAP, mmap, NULL, size, PROT_READ | PROT_WRITE,
	                           MAP_SHARED | MAP_POPULATE, fd, (off_t)offset);
	return at == MAP_FAILED ? NULL : at;
}

void os_ring_free(struct os *os, struct os_ring *ring)
{
	if (!ring)
		return;
	if (ring->sqes)
		OS_CALL(os, OS_MUNMAP, munmap, ring->sqes, ring->entries * sizeof(*ring->sqes));
	if (ring->ring)
		OS_CALL(os, OS_MUNMAP, munmap, ring->ring, ring->ring_size);
	os_close(os, ring->fd);
	free(ring->results);
	free(ring);
}

struct os_ring *os_ring_new(struct os *os, unsigned entries, unsigned workers)
{
	if (os->disabled & OSC_URING)
		return fail_null(ENOSYS);
	struct os_ring *ring = calloc(1, sizeof(*ring));
	if (!ring)
		return NULL;
	struct io_uring_params params = {0};
	ring->fd = OS_SYSCALL(os, OS_URING_SETUP, io_uring_setup, entries, &params);
	if (ring->fd < 0)
		goto fail;
	/* Without these features openat2 is missing too (5.6), and completions are lost when the
	   queue is full. */
	if (!(params.features & IORING_FEAT_SINGLE_MMAP)
	    || !(params.features & IORING_FEAT_NODROP)) {
		errno = ENOSYS;
		goto fail;
	}
	unsigned most[2] = {workers, workers};
	OS_SYSCALL(os, OS_URING_REGISTER, io_uring_register, ring->fd,
	           IORING_REGISTER_IOWQ_MAX_WORKERS, most, 2);

	ring->entries = params.sq_entries;
	ring->results = calloc(ring->entries, sizeof(*ring->results));
	if (!ring->results)
		goto fail;
	size_t sq = params.sq_off.array + params.sq_entries * sizeof(unsigned);
	size_t cq = params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe);
	ring->ring_size = sq > cq ? sq : cq;
	ring->ring = ring_map(os, ring->fd, ring->ring_size, IORING_OFF_SQ_RING);
	if (!ring->ring)
		goto fail;
	ring->sqes = ring_map(os, ring->fd, ring->entries * sizeof(*ring->sqes), IORING_OFF_SQES);
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

/** Collect the completions that have arrived.  @return their number. */
static size_t ring_reap(struct os_ring *ring)
{
	unsigned head = atomic_load_explicit(ring->cq_head, memory_order_relaxed);
	unsigned tail = atomic_load_explicit(ring->cq_tail, memory_order_acquire);
	size_t n = tail - head;
	for (; head != tail; ++head) {
		const struct io_uring_cqe *cqe = &ring->cqes[head & ring->cq_mask];
		if (cqe->user_data < ring->entries)
			ring->results[cqe->user_data] = cqe->res;
	}
	atomic_store_explicit(ring->cq_head, head, memory_order_release);
	return n;
}

/** Submit the first n requests and wait for their completion.
    @return the number of completed requests, counted from the first; if less than n, the ring is
    unusable. */
static unsigned ring_round(struct os *os, struct os_ring *ring, unsigned n)
{
	unsigned tail = atomic_load_explicit(ring->sq_tail, memory_order_relaxed);
	atomic_store_explicit(ring->sq_tail, tail + n, memory_order_release);

	unsigned begun = 0, failures = 0;
	size_t answered = 0;
	bool refused = false;
	/* Submitted requests must complete, whatever else fails. */
	while (answered < begun || (begun < n && !refused)) {
		unsigned submit = refused ? 0 : n - begun;
		long rc = OS_SYSCALL(os, OS_URING_ENTER, io_uring_enter, ring->fd, submit,
		                     begun + submit - (unsigned)answered,
		                     IORING_ENTER_GETEVENTS, NULL, 0);
		if (rc > 0)
			begun += (unsigned)rc;
		if (rc < 0)
			refused |= (errno != EINTR && errno != EAGAIN && errno != EBUSY)
			           || ++failures > 100;
		answered += ring_reap(ring);
	}
	return begun;
}

int os_ring_open(struct os *os, struct os_ring *ring, int flags, uint64_t resolve,
                 struct os_ring_open *opens, size_t n)
{
	const struct open_how how = {
		.flags = (unsigned)(flags | O_CLOEXEC),
		.resolve = resolve | RESOLVE_CACHED,
	};
	for (size_t i = 0; i < n; ++i)
		opens[i].fd = -1;
	for (size_t from = 0; from < n; from += ring->entries) {
		unsigned part = n - from < ring->entries ? (unsigned)(n - from) : ring->entries;
		unsigned tail = atomic_load_explicit(ring->sq_tail, memory_order_relaxed);
		struct os_ring_open *these = opens + from;
		for (unsigned i = 0; i < part; ++i) {
			unsigned slot = (tail + i) & ring->sq_mask;
			ring->sqes[slot] = (struct io_uring_sqe){
				.opcode = IORING_OP_OPENAT2,
				.fd = these[i].dirfd,
				.addr = (uintptr_t)these[i].name,
				.off = (uintptr_t)&how,
				.len = sizeof(how),
				.user_data = i,
			};
			ring->sq_array[slot] = slot;
		}
		unsigned answered = ring_round(os, ring, part), unknown = 0;
		for (unsigned i = 0; i < answered; ++i) {
			int result = ring->results[i];
			these[i].fd = result < 0 ? -1 : result;
			unknown += result == -EINVAL || result == -EOPNOTSUPP;
		}
		/* RESOLVE_CACHED needs Linux 5.12. */
		if (answered < part || unknown == part)
			return -1;
	}
	return 0;
}
