/* SPDX-License-Identifier: MIT */
/**
 * Files that are read in memory.
 *
 * A page that cannot be read, because the file was truncated or its disk has a bad sector, raises
 * SIGBUS in the thread that accesses it.  A handler then marks the map as lost and puts zeros in
 * the place of all its pages, and the thread continues.  After reading a map, call
 * os_map_lost() before you use the values.
 *
 * The handler is installed with the first map.  A SIGBUS that no map explains has the effect that
 * it would have without the handler.
 */
#ifndef GM_OS_MAP_H
#define GM_OS_MAP_H

#include "os/os.h"

#include <stdatomic.h>
#include <stdbool.h>

/** Map the first bytes of an open file for reading.  They must exist.
    @lost [out]  For os_map_lost(); valid until os_unmap().
    @return the bytes, or NULL.  Errors: ENOMEM; those of mmap(2), sigaction(2).
    Ownership: os_unmap(). */
const void *os_map(struct os *os, int fd, size_t size, const atomic_bool **lost);

/** Unmap.  No thread reads the map.  @bytes  NULL: do nothing. */
void os_unmap(struct os *os, const void *bytes, size_t size);

/** Whether a page of this map was lost: earlier reads may have returned zeros instead of the bytes
    of the file.  Once true, it remains true. */
static inline bool os_map_lost(const atomic_bool *lost)
{
	/* The compiler does not move earlier reads past this. */
	atomic_signal_fence(memory_order_seq_cst);
	return atomic_load(lost);
}

#endif
