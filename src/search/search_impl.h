/* SPDX-License-Identifier: MIT */
/**
 * What the parts of the search share.  Private to src/search/.
 */
#ifndef GM_SEARCH_IMPL_H
#define GM_SEARCH_IMPL_H

#include "search/search.h"

#include "base/map64.h"
#include "base/strbuf.h"
#include "bfs/bulk.h"
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
	CHUNK = 1024,             /* nodes made at a time */
	CHUNKS = 32768,
	ORDER_FLAGS = SEARCH_BYNAME | SEARCH_BYINODE,
	LINK = 255,               /* source of a record: a struct link */
};

/** What is the same for all entries of a directory. */
struct node {
	uint32_t avoid;           /* AVOID_NONE, or a place in the tree */
	uint32_t mount;           /* index of its mount */
	uint64_t self;            /* with FOLLOW: its number among those seen */
	uint64_t live[];          /* states of the pattern: search->words */
};

/** A node that is being made: room for any pattern. */
union new_node {
	struct node node;
	uint64_t words[2 + PATTERN_MAX / 2 / 64 + 1];
};

/** An object or error as it is put out; then the attributes, if they are
    there, and the name. */
struct record {
	uint64_t ino;             /* as its directory has it */
	uint32_t len;             /* of the name */
	int32_t error;
	uint8_t source;           /* SEARCH_ERR_OPEN ..., 0 */
	uint8_t type;             /* DT_* */
	bool meta;
	uint16_t target;          /* length of where a link leads, behind the name */
};

/** In the place of a name: a link to a directory; then its name, a NUL, and the
    path that it leads to. */
struct link {
	uint32_t tag;             /* a node: the state there, and who leads there */
	int32_t depth;
};

/** A link whose directory is to be searched. */
struct behind {
	struct behind *next;
	struct link link;
	const char *via;          /* its path below the root */
	char target[];
};

/** A part of a directory in the queue; then its path, and the records. */
struct part {
	uint32_t path;            /* length */
	uint32_t records;         /* bytes */
};

/** Room between what one thread writes and what others read: were they in one
    line of the cache, each entry given out would take it from the others. */
#define APART(name) char name[128]

/** A mount that was met. */
struct search_mount {
	uint64_t id;
	bool last_pos;            /* its directories have nothing at K_LAST_POS */
};

struct SEARCH {
	/* What workers read; it changes but between roots, or at the end. */
	struct pattern *pattern;
	size_t words;             /* of a state */
	bool everything;          /* matches */
	struct search_mounts mounts;
	bool mounts_known;
	struct search_bulk bulk;
	bool unique;              /* mount IDs are 64-bit ones */
	int flags;
	unsigned threads, depth;
	int access;               /* R_OK | ... */
	struct search_more more;
	bool xdev_looks;          /* with XDEV: the kernel refuses no other mount; each
	                             directory is looked at */
	struct bfs_policy policy;
	struct bfs_bulk how;
	struct bfs_budget budget;
	const char *root_name;
	size_t root_len;          /* of it, but for a slash at its end */
	uint64_t root_mount;      /* its mount ID */
	uint64_t root_dev;        /* its device */
	struct strbuf via;        /* the link that was followed to it, below the root */
	struct strbuf place;      /* its path from "/", through no link; "" if not known */
	atomic_bool cancelled;
	uint64_t *_Atomic chunks[CHUNKS];

	APART(locked);
	pthread_mutex_t lock;     /* of the next five, and for adding to chunks */
	struct seen seen;
	uint32_t nnodes;
	struct map64 by_hash;     /* hash of a node -> the first of that hash */
	struct search_mount *mount_ids; /* added to by the owner, who may look them up without it */
	uint32_t nmounts, mounts_size;

	APART(owned);             /* what follows is the caller's thread's */
	struct os_origin origin;
	pthread_t reader;         /* who called last for what takes a while */
	bool reading;             /* and is at it */
	struct os os;
	struct os looked;         /* the counts of what made its mounts known */
	char **roots;
	size_t nroots, root;      /* the one being searched, plus one */
	int rootfd;
	struct map64 by_mount;    /* mount ID -> its index */
	struct search_mounts later;    /* those of a later look; all 0 before the first */
	uint64_t look_at;         /* directories read, for the next */
	struct behind *behind, **behind_end;
	struct bfs *bfs;          /* NULL between roots */

	struct strbuf queue;
	size_t at;                /* the next part, or record */
	const char *part_path;    /* of the part being given out */
	size_t part_len, part_end;

	struct strbuf path;       /* of the entry given out */
	size_t path_base;         /* of it: the directory */
	struct searchent entry;
	struct stat info;
	struct k_statx st;
	bool has_st;
	unsigned char type;
	struct strbuf target;     /* of the last object */
	struct strbuf where;      /* a directory that was read */
	bool where_wanted;
	struct search_counts counts;
	bool ended, failed;
};

/** The mounts that may be touched; NULL: all. */
static inline const struct search_mounts *search_mounts(const SEARCH *search)
{
	return search->mounts_known ? &search->mounts : NULL;
}

/** A mask for a mount ID, in the space of those that are known. */
static inline unsigned search_id_mask(const SEARCH *search)
{
	return search->unique ? K_STATX_MNT_ID_UNIQUE : K_STATX_MNT_ID;
}

/* node.c */

/** The words of a node. */
size_t search_node_words(const SEARCH *search);

/** The node of a number. */
struct node *search_node_at(const SEARCH *search, uint32_t tag);

/** The number of a node, made if there is none like it.  @return it, or
    UINT32_MAX: no memory. */
uint32_t search_node_number(SEARCH *search, const struct node *node);

/** The index of a mount.  @return it, or UINT32_MAX: no memory. */
uint32_t search_mount_number(SEARCH *search, uint64_t id);

/** Whether all is the same for the entries of two. */
bool search_node_same(const SEARCH *search, const struct node *a, const struct node *b);

/* entry.c: what workers do. */

/** Put out an error.  @name  Below the directory; "": itself. */
void search_put_error(struct bfs_scratch *scratch, const char *name, size_t len, int source, int error);

/** Put out an object, if it is of a type that is wanted, and may be used as was
    asked for.
    @fd, name  What access is asked of. */
void search_put_object(const SEARCH *search, struct bfs_scratch *scratch,
                       const struct bfs_entry *entry, const struct k_statx *st, int fd,
                       const char *name);

/**
 * With FOLLOW: see that a directory is entered once, and never for ever.
 *
 * @child [out]
 *         Gets its number.
 * @return 0, or an error number.
 * Errors: EEXIST: it was entered.  ELOOP: it is above itself.  EREMOTE: to
 *         open it would mount something.  ENOMEM.
 */
int search_enter_once(SEARCH *search, const struct node *from, struct node *child,
                      const struct k_statx *st);

/** The path from "/" of a directory that is or was read; "" if it is not known.
    @place  Made. */
void search_place_of(const SEARCH *search, const struct bfs_at *at, struct strbuf *place);

/** Whether an object that was looked at is on another mount than the root; where
    mounts tell no ID (before 5.8) on another device, as find(1) has it. */
bool search_elsewhere(const SEARCH *search, const struct k_statx *st);

/**
 * Follow a link.
 *
 * @place   The path of the directory that it is in; used up.
 * @depth   Of what is behind it.
 * @from, child  The nodes of the directory, and of what is behind the link; NULL
 *          for what is looked up by its name, and need not be there.
 * @does    enum pattern_verdict.
 */
void search_follow_link(SEARCH *search, struct bfs_scratch *scratch, struct strbuf *place, int depth,
                        const struct bfs_entry *entry, const struct node *from, struct node *child,
                        unsigned does);

/** The policy of bfs: entries that need not be looked at or entered. */
size_t search_pass(void *arg, struct bfs_scratch *scratch, const struct bfs_at *at,
                   const struct bfs_entry *entries, size_t n);

/** An entry that was read. */
enum bfs_verdict search_entry(void *arg, struct bfs_scratch *scratch, const struct bfs_at *at,
                              const struct bfs_entry *entry);

/** And its attributes. */
enum bfs_verdict search_meta(void *arg, struct bfs_scratch *scratch, const struct bfs_at *at,
                             const struct bfs_entry *entry, const struct k_statx *st, int error);

/* queue.c: what the owner does. */

/** The policy of bfs, too. */
uint64_t search_mnt_id(void *arg, uint32_t tag, bool *unique);
bool search_last_pos(void *arg, uint32_t tag);

bool search_wanted(void *arg, uint32_t tag);

void search_batch_done(void *arg, struct bfs_output *output);

void search_deliver(void *arg, const struct bfs_at *at, const char *out, size_t size);

enum bfs_verdict search_done(void *arg, const struct bfs_at *at, uint32_t entries, int error,
                             struct bfs_enter *into);

/** The policy of bfs, in workers too. */
struct bfs_fs *search_fs(void *arg, uint32_t tag);

/** Add a part to the queue. */
void search_queue_part(SEARCH *search, const struct bfs_at *at, const char *out, size_t size);

/** Queue an error of a directory: its path is that of the part. */
void search_queue_error(SEARCH *search, const struct bfs_at *at, int source, int error);

/* root.c */

/** Open the root anew, to be read itself: who may read a directory, and not search it,
    cannot open "." in it.  @return a descriptor, or -1. */
int search_root_open(SEARCH *search);

/** Begin at the next root.  @return whether there is one. */
bool search_root_begin(SEARCH *search);

/** Add what the search of a root, which there is, has done so far. */
void search_count_bfs(const SEARCH *search, struct search_counts *counts);

/** The root is done with. */
void search_root_end(SEARCH *search);

#endif
