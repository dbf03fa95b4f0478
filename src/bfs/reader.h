/* SPDX-License-Identifier: MIT */
/**
 * Reading a batch of directories, in the owner or in worker threads, and what
 * was found in them.  Private to src/bfs*.c.
 */
#ifndef GM_BFS_READER_H
#define GM_BFS_READER_H

#include "bfs/frontier.h"
#include "bfs/bulk.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	BFS_BATCH = 32,
	BFS_CLOSING = 128,  /* descriptors that a worker has yet to close, at most */
};

/** A child to be read later. */
struct bfs_found_kid {
	size_t name;               /* offset in the batch's names */
	int64_t mtime;
	uint32_t tag;
};

/** An entry for the owner to judge. */
struct bfs_found_entry {
	size_t name;
	struct k_statx st;
};

/** An entry judged, to be entered under another tag. */
struct bfs_found_cross {
	size_t name;
	uint32_t tag;
	enum bfs_queue queue;
};

/** One directory of a batch: what to read, and what came of it. */
struct bfs_read {
	struct bfs_item item;
	struct bfs_at at;                  /* the directory; name is "" */
	int parentfd;
	int fd, error;
	uint32_t entries;
	bool last_pos;                     /* nothing comes at K_LAST_POS */
	bool opened;                       /* it was, whatever came then */
	bool paused;                       /* there may be more to read */
	struct bulk_rest *rest;            /* to be gone on with, and left by that */
	struct bulk_rest *portions;        /* left for any reader */
	bool mixed;                        /* kids of other tags than its own */
	size_t out, nout;                  /* range in the batch's out */
	size_t text, ntext;                /* ... and in the text of the whole */
	bool found;                        /* something was there to be judged */
	enum bfs_verdict verdict;          /* END_DIR or END_ALL by a judge */
	uint32_t kids, nkids;              /* ranges in the batch's arrays */
	uint32_t judges, njudges;
	uint32_t crosses, ncrosses;
};

struct bfs_batch {
	struct bfs_batch *next;
	unsigned n;
	struct bfs_read reads[BFS_BATCH];
	struct strbuf names;
	struct bfs_found_kid *kids;
	struct bfs_found_entry *judges;
	struct bfs_found_cross *crosses;
	size_t nkids, kids_size, njudges, judges_size, ncrosses, crosses_size;
	struct bfs_scratch scratch;
	bool failed;               /* something was lost: ENOMEM */
	unsigned by;               /* who read it: a worker's number; 0: the owner */
};

/** Judges an entry at once, in a search without workers. */
typedef enum bfs_verdict bfs_judge_fn(void *arg, struct bfs_batch *batch, struct bfs_read *read,
                                      const char *name, const struct k_statx *st);

struct bfs_reader {
	struct os *os;
	const struct bfs_policy *policy;
	struct bulk *bulk;
	bfs_judge_fn *judge;       /* NULL: keep the entry for the owner */
	void *judge_arg;
	struct bfs_batch *batch;   /* being read */
	const struct bfs_read *read;   /* of it; NULL: none yet */
	struct bfs_at at;          /* where its entries are */
	int64_t mtime;             /* of the entry being entered */
};

/** Read all directories of a batch. */
void bfs_reader_read(struct bfs_reader *reader, struct bfs_batch *batch);

/** Keep a name.  @return its offset in the batch's names. */
size_t bfs_batch_name(struct bfs_batch *batch, const char *name, size_t len);

/** Keep an entry that is to be entered under another tag.  Its name is one
    that the batch keeps. */
void bfs_batch_cross(struct bfs_batch *batch, struct bfs_read *read, size_t name,
                     const struct bfs_enter *enter);

/** Make a batch empty, keeping its memory. */
void bfs_batch_reset(struct bfs_batch *batch);

/** Free a batch; NULL is fine. */
void bfs_batch_free(struct bfs_batch *batch);

/* Worker threads. */

struct bfs_pool;

/** Start workers.  Signals come to the caller's thread alone.
    @closing  Descriptors that each may have yet to close, at most BFS_CLOSING.
    @return them, or NULL: go on without.
    Errors: EAGAIN, ENOMEM. */
struct bfs_pool *bfs_pool_new(const struct os *os, const struct bfs_policy *policy, unsigned n,
                              unsigned closing);

/** Hand a batch over. */
void bfs_pool_put(struct bfs_pool *pool, struct bfs_batch *batch);

/** Have a descriptor closed by the worker that opened it, whose cache has what the
    kernel frees then; or at once, where many wait.  @by  Its number, from 1. */
void bfs_pool_close(struct bfs_pool *pool, struct os *os, unsigned by, int fd);

/** Take a finished batch; NULL if there is none, unless it is to be waited
    for: then one must be under way. */
struct bfs_batch *bfs_pool_get(struct bfs_pool *pool, bool wait);

/** Stop the workers, none having work, and add their counts to os. */
void bfs_pool_free(struct bfs_pool *pool, struct os *os);

/** Free a pool in a child that fork(2) made, where its workers do not exist; not what they
    use.  NULL is fine. */
void bfs_pool_lose(struct bfs_pool *pool, struct os *os);

#endif
