/* SPDX-License-Identifier: MIT */
/**
 * What reading and fetching share.  Private to src/bfs/.
 */
#ifndef GM_BULK_IMPL_H
#define GM_BULK_IMPL_H

#include "bfs/bulk.h"

#include "bfs/pace.h"
#include "bfs/window.h"

struct many;

/** Entries that wait for their metadata. */
struct fetch {
	struct os *os;
	const struct bulk_how *how;
	struct bulk_entry *wanted;   /* as they come; or a part of the window */
	size_t n, size;
	struct bulk_rest *window; /* those that are asked for in order; NULL: none yet */
	bool begun;               /* the directory's first window is behind us */
	size_t came;              /* wanted ones of the directory, or of this part of it */
	bool full;                /* as many portions wait as may */
	struct pace pace;         /* BULK_AUTO: whether the disk is waited for */
	unsigned turn;            /* parts that were fetched while it is not */
	struct {
		struct k_statx st;
		int error;
	} run[PACE_RUN];          /* what was asked for while the clock ran */
	uint64_t dev, ordered;    /* of what was told last; where order may pay */
	uint64_t whole;           /* of which no directory is divided */
	int64_t type;             /* the directory's file system's, as fstatfs() has it; -1: not
	                             asked for yet, 0: not told */
	struct many *many;        /* BULK_FS; NULL: none yet */
};

void fetch_init(struct fetch *fetch, struct os *os, const struct bulk_how *how);
void fetch_destroy(struct fetch *fetch);

/** A directory was opened, and is about to be read, or read on: what its reading had
    left to be fetched waits again. */
void fetch_begin(struct fetch *fetch, const struct bulk_policy *policy, struct bulk_dir *dir);

/** Fetch what is left of what that had begun to, unless it is to be paused again.
    @ended [out]  The directory has been read to its end, or to dir->error.
    @return the verdict. */
enum bulk_verdict fetch_resume(struct fetch *fetch, const struct bulk_policy *policy,
                               struct bulk_dir *dir, bool *ended, void *arg);

/** An entry is wanted: it waits, or is fetched with those that do.
    @return the verdict. */
enum bulk_verdict fetch_add(struct fetch *fetch, const struct bulk_policy *policy,
                            struct bulk_dir *dir, const struct bulk_entry *entry, void *arg);

/** The directory was read to its end, or to dir->error: fetch what waits, unless it is
    to be paused before.  @return the verdict. */
enum bulk_verdict fetch_end(struct fetch *fetch, const struct bulk_policy *policy,
                            struct bulk_dir *dir, void *arg);

/** Leave what waits to another read of the directory. */
void fetch_pause(struct fetch *fetch, struct bulk_dir *dir);

/** Let nothing wait any more. */
void fetch_forget(struct fetch *fetch);

/** The buffer that the names are in is to be used again: fetch what cannot wait, unless
    it is to be paused.  @return the verdict. */
enum bulk_verdict fetch_buffer_ends(struct fetch *fetch, const struct bulk_policy *policy,
                                    struct bulk_dir *dir, void *arg);

/* together.c: directories opened by one call. */

enum { TOGETHER_MAX = 32 };      /* of them */

struct together {
	struct os *os;
	struct os_ring *ring;     /* NULL: none yet */
	bool none;                /* there is none to be had, or none is wanted */
	unsigned reads;           /* bunches that it would have paid for, before there is one */
	unsigned plain;           /* bunches to be opened by plain calls: names are not cached */
	unsigned tried;           /* bunches */
	bool opened;              /* something was */
};

/** Begin without a ring, which is made when it pays.  @os  As long as it lives.
    @wanted  Whether there is to be one. */
void together_init(struct together *together, struct os *os, bool wanted);

/** Free the ring. */
void together_destroy(struct together *together);

/**
 * Open what can be opened at once of the first TOGETHER_MAX directories whose fd is -1,
 * and which must be on their parent's mount.  Descriptors are the caller's; what was not
 * opened is left as it is.
 *
 * @flags, resolve  As os_openat2() has them.
 * @return How many were.
 */
size_t together_open(struct together *together, struct bulk_dir *dirs, size_t n, int flags, uint64_t resolve);

/* many.c: by the file system's own interface. */

enum { MANY_ENTRIES = 1024 };   /* asked for together, at most */

struct many *many_new(void);
void many_free(struct many *many);

/** A directory was opened: see whether its file system can be asked. */
void many_begin(struct many *many, struct os *os, const struct bulk_policy *policy, const struct bulk_dir *dir);

/** Ask for entries of that directory, at most MANY_ENTRIES. */
void many_ask(struct many *many, struct os *os, const struct bulk_policy *policy,
              const struct bulk_dir *dir, const struct bulk_entry *wanted, size_t n);

/** The metadata of one of those asked for; NULL: to be asked for by itself. */
struct k_statx *many_answer(struct many *many, size_t i);

#endif
