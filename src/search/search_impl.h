/* SPDX-License-Identifier: MIT */
/**
 * What the files of the search share.
 */
#ifndef GM_SEARCH_IMPL_H
#define GM_SEARCH_IMPL_H

#include "search/search.h"

#include "base/map64.h"
#include "base/strbuf.h"
#include "bfs.h"
#include "os/caller.h"
#include "search/follow.h"
#include "search/pattern.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

enum {
	CHUNK = 1024,             /* nodes of one allocation */
	CHUNKS = 32768,
	ORDER_FLAGS = SEARCH_BYNAME | SEARCH_BYINODE,
	LINK = 255,               /* source of a record: a struct link */
};

/** What all entries of a directory have in common. */
struct node {
	uint64_t avoid;           /* AVOID_NONE, or a node of the tree of places to avoid */
	uint64_t mount;           /* its mount ID; 0: unknown */
	uint64_t self;            /* with FOLLOW: its number in struct seen */
	uint64_t live[];          /* states of the pattern: search->words */
};

/** A node with room for any pattern. */
union new_node {
	struct node node;
	uint64_t words[3 + PATTERN_MAX / 2 / 64 + 1];
};

/** An object or error in the output of a reader, followed by its attributes, if it has any, and
    its name. */
struct record {
	uint64_t ino;             /* as listed by its directory */
	uint32_t len;             /* of the name */
	int32_t error;
	uint8_t source;           /* SEARCH_ERR_OPEN ..., 0 */
	uint8_t type;             /* DT_* */
	bool meta;
	uint16_t target;          /* length of the target of a link, which follows the name */
};

/** A link to a directory, instead of a name; followed by its name, a NUL, and the path of its
    target. */
struct link {
	uint32_t tag;             /* a node: the live states there, and the directory of the link */
	int32_t depth;
};

/** A link to a directory that is still to be searched. */
struct pending_link {
	struct pending_link *next;
	struct link link;
	const char *via;          /* its path below the root */
	char target[];
};

/** A part of a directory in the queue, followed by its path and its records. */
struct part {
	uint32_t path;            /* length */
	uint32_t records;         /* bytes */
};

/** Padding between what one thread writes and what others read, to keep them on different
    cache lines. */
#define APART(name) char name[128]

struct SEARCH {
	/* Read by workers; changes only between roots, or at the end. */
	struct pattern *pattern;
	size_t words;             /* of a set of live states */
	bool everything;          /* every object matches */
	struct search_mounts mounts;
	int flags;
	unsigned threads, depth;
	int access;               /* R_OK | ... */
	struct search_more more;
	bool xdev_looks;          /* with XDEV: the kernel cannot refuse other mounts, so each
	                             directory is examined */
	struct bfs_policy policy;
	struct bfs_budget budget;
	const char *root_name;
	size_t root_len;          /* without a trailing slash */
	uint64_t root_mount;      /* its mount ID */
	uint64_t root_dev;        /* its device */
	struct strbuf via;        /* path below the root of the link that led to it */
	struct strbuf place;      /* its path from "/", without links; "" if unknown */
	atomic_bool cancelled;
	uint64_t *_Atomic chunks[CHUNKS];

	APART(locked);
	pthread_mutex_t lock;     /* for the next three, and for adding to chunks */
	struct seen seen;
	uint32_t nnodes;
	struct map64 by_hash;     /* hash of a node -> its number */

	APART(owned);             /* the rest belongs to the thread of the caller */
	struct os_origin origin;
	pthread_t reader;         /* the thread that read last */
	bool reading;             /* ... and is still reading */
	struct os os;
	struct os looked;         /* calls made to read the mounts */
	char **roots;
	size_t nroots, root;      /* root: the next one to search */
	int rootfd;
	struct search_mounts later;    /* as read again during the search; all 0 before */
	uint64_t look_at;         /* number of directories at which to read them again */
	struct pending_link *pending, **pending_end;
	struct bfs *bfs;          /* NULL between roots */

	struct strbuf queue;
	size_t at;                /* the next part, or record */
	const char *part_path;    /* of the current part */
	size_t part_len, part_end;

	struct strbuf path;       /* of the current entry */
	size_t path_base;         /* length of its directory part; SIZE_MAX: not made yet */
	bool path_rooted;         /* which begins with the root */
	struct searchent entry;
	struct stat info;
	struct k_statx st;
	bool has_st;
	unsigned char type;
	struct strbuf target;     /* of the last object */
	struct strbuf where;      /* a directory that was read recently */
	bool where_wanted;
	struct search_counts counts;
	bool ended, failed;
};

/** The mounts that may be touched; NULL: all. */
static inline const struct search_mounts *search_mounts(const SEARCH *search)
{
	return search->mounts.any ? NULL : &search->mounts;
}

/** The statx mask for mount IDs as in search->mounts. */
static inline unsigned search_id_mask(const SEARCH *search)
{
	return search->mounts.unique ? K_STATX_MNT_ID_UNIQUE : K_STATX_MNT_ID;
}

/* node.c */

/** The words of a node. */
size_t search_node_words(const SEARCH *search);

/** The node with a number. */
struct node *search_node_at(const SEARCH *search, uint32_t tag);

/** The number of a node, which is added unless it exists.  @return UINT32_MAX: no memory. */
uint32_t search_node_number(SEARCH *search, const struct node *node);

/** Whether two nodes are equal. */
bool search_node_same(const SEARCH *search, const struct node *a, const struct node *b);

/**
 * With FOLLOW: add a directory to those seen.
 *
 * @child [out]
 *         Gets its number.
 * @return 0, or an error number.
 * Errors: EEXIST: it was entered before.  ELOOP: it is an ancestor of itself.  EREMOTE: opening
 *         it would mount something.  ENOMEM.
 */
int search_enter_once(SEARCH *search, const struct node *from, struct node *child,
                      const struct k_statx *st);

/** Whether an object is on another mount than the root; without mount IDs (before 5.8), on
    another device. */
bool search_elsewhere(const SEARCH *search, const struct k_statx *st);

/* entry.c: what workers do. */

/** Put out an error of an entry.  An empty name: of the directory itself. */
void search_put_error(struct bfs_scratch *scratch, const struct bfs_entry *entry, int source,
                      int error);

/** Put out an object, if it has a requested type and the access is allowed.
    @st  Used with METADATA only.  @fd  The object; -1: by its name in scratch->fd. */
void search_put_object(const SEARCH *search, struct bfs_scratch *scratch,
                       const struct bfs_entry *entry, const struct k_statx *st, int fd);

/** The path from "/" of a directory that is or was read; "" if unknown.  @place  Is initialized. */
void search_place_of(const SEARCH *search, const struct bfs_at *at, struct strbuf *place);

/**
 * Follow a link.
 *
 * @place   The path of its directory; used up.
 * @depth   Of its target.
 * @from, child  The nodes of its directory and of its target; NULL for a path that is looked
 *          up and may not exist.
 * @does    enum pattern_verdict.
 */
void search_follow_link(SEARCH *search, struct bfs_scratch *scratch, struct strbuf *place,
                        int depth, const struct bfs_entry *entry, const struct node *from,
                        struct node *child, unsigned does);

/* Callbacks of bfs. */
size_t search_pass(void *arg, struct bfs_scratch *scratch, const struct bfs_at *at,
                   const struct bfs_entry *entries, size_t n);
enum bfs_verdict search_entry(void *arg, struct bfs_scratch *scratch, const struct bfs_at *at,
                              const struct bfs_entry *entry);
enum bfs_verdict search_meta(void *arg, struct bfs_scratch *scratch, const struct bfs_at *at,
                             const struct bfs_entry *entry, const struct k_statx *st, int error);

/* queue.c: what the owner does; callbacks of bfs, of which search_fs() runs in any thread. */

uint64_t search_mnt_id(void *arg, uint32_t tag, bool *unique);
bool search_last_pos(void *arg, uint32_t tag);
bool search_wanted(void *arg, uint32_t tag);
struct bfs_fs *search_fs(void *arg, uint32_t tag);
void search_batch_done(void *arg, struct bfs_output *output);
void search_deliver(void *arg, const struct bfs_at *at, const char *out, size_t size);
enum bfs_verdict search_done(void *arg, const struct bfs_at *at, uint32_t entries, int error,
                             struct bfs_enter *into);

/** Add a part to the queue. */
void search_queue_part(SEARCH *search, const struct bfs_at *at, const char *out, size_t size);

/** Queue an error of a directory. */
void search_queue_error(SEARCH *search, const struct bfs_at *at, int source, int error);

/* root.c */

/** Open the root for reading by another way: without search permission "." cannot be opened.
    @return a descriptor, or -1. */
int search_root_open(SEARCH *search);

/** Begin at the next root.  @return whether there is one. */
bool search_root_begin(SEARCH *search);

/** Add the counts of the current root. */
void search_count_bfs(const SEARCH *search, struct search_counts *counts);

/** End the search of the current root. */
void search_root_end(SEARCH *search);

#endif
