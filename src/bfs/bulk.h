/* SPDX-License-Identifier: MIT */
/**
 * The bulk read: read this bunch of directories, whole.
 *
 * The lowest operation of a walk.  For each entry the caller is asked for a
 * verdict; metadata is fetched after the verdict, in batches whose size the
 * caller sets: one while pruning, so that the last mount of a directory ends
 * its reading at once, large in a search.  Directories are read by plain calls,
 * and opened by such or, those of a bunch, together.  What fetches metadata is
 * chosen: plain calls, the reference; or the file system's own interface, which tells
 * many inodes by one call.
 */
#ifndef GM_BULK_BULK_H
#define GM_BULK_BULK_H

#include "os/inodes.h"
#include "os/os.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What to do with an entry, or with the rest of the reading. */
enum bulk_verdict {
	BULK_SKIP,      /* nothing */
	BULK_WANT,      /* fetch its metadata and ask again (entry() only) */
	BULK_ENTER,     /* it is a directory to be read later: keep its name */
	BULK_END_DIR,   /* no more of this directory */
	BULK_END_ALL,   /* no more of anything */
};

/** An entry of a directory. */
struct bulk_entry {
	const char *name;   /* valid during the callback */
	size_t len;         /* of it */
	uint64_t ino;       /* d_ino: at a mount point, the covered directory's */
	uint8_t type;       /* DT_*; DT_UNKNOWN may be anything */
};

/** One directory of a bunch. */
struct bulk_dir {
	int parentfd;       /* name is relative to it */
	const char *name;   /* one component, or "." */
	bool same_mount;    /* refuse to cross into another mount: EXDEV */
	bool resume;        /* fd is open, and its reading goes on from there */
	bool last_pos;      /* nothing comes at K_LAST_POS: it is not read on from there */
	struct bulk_fs *fs; /* BULK_FS: the file system that it is in; or NULL */
	struct bulk_rest *rest;  /* with paused: of what was read of it, that whose
	                       metadata waits; to be given to the read that goes on, or
	                       freed; else NULL */
	struct bulk_rest *portions;  /* and what any thread may fetch: each to be given to a
	                       read of its own, with resume, or freed; NULL to begin with */
	void *tag;          /* the caller's */

	/* Filled by the read. */
	int fd;             /* open for reading, the caller's to close; or -1:
	                       not opened, or closed since it is not kept */
	int error;          /* errno of open or read; 0 */
	uint32_t entries;   /* read, "." and ".." not counted */
	bool opened;        /* it was, whatever came then */
	bool ended;         /* END_DIR or END_ALL cut it short */
	bool paused;        /* there may be more: read it again with resume */
};

enum { BULK_SLACK = 32 };

struct bulk_policy {
	unsigned statx_mask;   /* what metadata is wanted: STATX_* */
	int statx_flags;       /* AT_* beside NO_AUTOMOUNT and SYMLINK_NOFOLLOW */
	unsigned batch;        /* entries whose metadata is fetched together; 1.. */

	/** Entries that stand one behind the other, before entry() is asked of each: how
	    many of them, from the first, are done with, as if it had said SKIP.  Behind
	    each name BULK_SLACK bytes more may be read.  May be NULL: none. */
	size_t (*pass)(void *arg, struct bulk_dir *dir, const struct bulk_entry *entries, size_t n);

	/** The verdict on a name and its type. */
	enum bulk_verdict (*entry)(void *arg, struct bulk_dir *dir, const struct bulk_entry *entry);

	/**
	 * The verdict on an entry whose metadata was wanted.
	 * error is 0, or the errno of the statx, and st is zeroed.
	 */
	enum bulk_verdict (*meta)(void *arg, struct bulk_dir *dir, const struct bulk_entry *entry,
	                          const struct k_statx *st, int error);

	/** Whether to leave the rest of a directory for another read; asked after each
	    buffer of entries, and each batch of metadata fetched in order; may be NULL. */
	bool (*pause)(void *arg, struct bulk_dir *dir);

	/** Whether a directory that was read is to stay open; else it is closed at
	    once, by the thread that opened it, whose cache has what the kernel
	    frees then.  NULL: it is. */
	bool (*keep)(void *arg, const struct bulk_dir *dir);

	/** Keep the name of an entry that is to be entered. */
	enum bulk_verdict (*enter)(void *arg, struct bulk_dir *dir, const struct bulk_entry *entry);
};

/** What fetches metadata. */
enum bulk_engine {
	BULK_AUTO,      /* plain calls; in order where the disk is waited for */
	BULK_SYNC,      /* plain calls */
	BULK_FS,        /* the file system's own interface, where there is one */
};

/* Entries of a directory whose metadata waits to be fetched in order: at first, when
   there may be many directories; then; and at most, where nobody else takes them,
   that being so many shares.  Their names take 64 bytes each, or there are fewer. */
enum {
	BULK_AHEAD_FIRST = 4096,
	BULK_AHEAD_SHARE = 32768,
	BULK_AHEAD_SHARES = 8,
	BULK_AHEAD_MAX = BULK_AHEAD_SHARE * BULK_AHEAD_SHARES,
};

/* Entries of a directory of which as many were fetched already, for others to fetch. */
enum { BULK_PORTION = 2048 };

/** What readers share: by how many shares more may wait. */
struct bulk_spare {
	atomic_uint shares;   /* BULK_AHEAD_SHARES - 1, to begin with */
	atomic_uint portions; /* and how many portions may wait to be fetched; 0: all is
	                         fetched by who reads */
};

/** How directories are opened, and metadata fetched. */
struct bulk_how {
	enum bulk_engine engine;
	bool ahead;     /* in the order of inode numbers: on a disk about that in which it
	                   lies.  Without it BULK_AUTO does so as long as it is waited for */
	struct bulk_spare *spare;   /* as long as any reader or rest; NULL: none */
	bool together;  /* the directories of a bunch are opened together, where the kernel has
	                   a ring */
};

/** What is left of a directory whose reading was paused: see struct bulk_dir. */
struct bulk_rest;

/** Free it, and all that it is in a list with; NULL is fine. */
void bulk_rest_free(struct bulk_rest *rest);

/** Take the first out of a list.  @return it, or NULL: there is none. */
struct bulk_rest *bulk_rest_take(struct bulk_rest **list);

/**
 * A file system with an interface of its own, for the readers of a search to
 * share.  It is made ready when a first directory of it is opened; where that
 * is refused, it is never asked again.
 *
 * Only for mounts without an ID mapping, on which no file is covered by
 * another mount: that is not looked at.
 */
struct bulk_fs;

/** @return it, or NULL.  Errors: ENOMEM.  Ownership: bulk_fs_free(). */
struct bulk_fs *bulk_fs_new(enum os_inodes_of of);

/** Free it; NULL is fine. */
void bulk_fs_free(struct bulk_fs *fs);

/** A reader, with its working memory; one for each thread. */
struct bulk;

/** Make a reader.  @os, how  As long as it lives.  @return it, or NULL.  Errors: ENOMEM.
    Ownership: bulk_free(). */
struct bulk *bulk_new(struct os *os, const struct bulk_how *how);

/** Free a reader; NULL is fine. */
void bulk_free(struct bulk *bulk);

/**
 * Read directories.
 *
 * Each is opened relative to its parent's descriptor, without following a
 * link, and read to its end; the caller says whether it stays open.  One that cannot be opened or read is
 * told in its error; the others are read all the same.  What comes from a
 * directory whose read failed half-way has been delivered.
 *
 * @return BULK_END_ALL if a callback said so: the directories behind that
 *         one are not open; else BULK_SKIP.
 */
enum bulk_verdict bulk_read(struct bulk *bulk, const struct bulk_policy *policy,
                            struct bulk_dir *dirs, size_t n, void *arg);

#endif
