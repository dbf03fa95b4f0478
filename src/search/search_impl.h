/* SPDX-License-Identifier: MIT */
/**
 * Shared by the files of the search.
 */
#ifndef GM_SEARCH_IMPL_H
#define GM_SEARCH_IMPL_H

#include "search/search.h"

#include "base/map64.h"
#include "base/strbuf.h"
#include "bfs.h"
#include "os/caller.h"
#include "os/file.h"
#include "search/follow.h"
#include "search/queue_impl.h"
#include "select/select.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

enum {
	CHUNK = 1024,             /* nodes per allocation */
	CHUNKS = 32768,
	ORDER_FLAGS = SEARCH_BYNAME | SEARCH_BYINODE,
	LOOK_UNOPENED = -2,       /* a descriptor that is opened when it is needed */
};

/** The properties that all entries of a directory share. */
struct node {
	uint64_t avoid;           /* the node in the table of mounts, AVOID_NONE, AVOID_UNKNOWN */
	uint64_t mount;           /* its mount ID; 0: unknown */
	uint64_t self;            /* with FOLLOW: its number in struct seen */
	uint64_t live[];          /* states of the pattern: search->want.words */
};

/** A node with enough room for any pattern. */
union new_node {
	struct node node;
	uint64_t words[3 + PATTERN_WORDS_MAX];
};

/** What the name of an entry has decided: the note that bfs keeps of it, so that no name is tested
    twice. */
struct name_note {
	uint32_t tested : 1;      /* `does` is known; if it may be a directory, also `child` */
	uint32_t does : 2;        /* enum pattern_verdict */
	uint32_t child : 29;      /* its node, but for `self`, if it is a directory */
	struct query_memo memo;
};
_Static_assert(sizeof(struct name_note) == sizeof(uint64_t), "notes of bfs");
_Static_assert((uint64_t)CHUNK * CHUNKS <= 1 << 29, "name_note.child");

static inline struct name_note name_note_get(uint64_t note)
{
	struct name_note name;
	memcpy(&name, &note, sizeof(name));
	return name;
}

static inline uint64_t name_note_put(struct name_note name)
{
	uint64_t note;
	memcpy(&note, &name, sizeof(note));
	return note;
}

/** A symlink to a directory that is still to be searched. */
struct pending_link {
	struct pending_link *next;
	uint64_t mount;           /* of the target */
	int32_t depth;
	uint32_t nabove;
	struct seen_dir *above;   /* the directory of the symlink, and its ancestors, upwards */
	const char *via;          /* the symlink's path below the root */
	const char *target;       /* the path of the target from "/"; "": unknown */
	uint64_t live[];          /* states of the pattern at the target */
};

/** Padding between data that one thread writes and data that others read, to keep them on different
    cache lines. */
#define APART(name) char name[128]

/** An object whose facts a query looks up: the argument of struct query_facts. */
struct look {
	SEARCH *search;
	struct os *os;
	int fd;                   /* the directory of the object; or LOOK_UNOPENED */
	const char *name;         /* in fd */
	uint8_t link;             /* its type, if links are not followed; DT_UNKNOWN */
	uint64_t mount;           /* of its directory; 0: unknown */
	uint32_t avoid;           /* its node in the table of mounts */
	unsigned depth;
	bool only_below;          /* the object is not reported in any case */
	/* In a thread that reads: */
	struct bfs_scratch *scratch;
	const struct bfs_at *at;
	/* In the owner's thread: */
	const struct search_visit *visit;
	struct query_facts facts;
};

/** The given root that is being searched, or a symlink's target below it. */
struct search_root {
	const char *name;         /* as printed */
	struct strbuf text;       /* with more.prefix */
	size_t len;               /* without a trailing slash */
	struct strbuf base;       /* its last component */
	uint64_t mount;           /* its mount ID */
	uint64_t dev;             /* its device */
	struct strbuf via;        /* path below the root of the symlink that led here; or "" */
	struct follow_place place;     /* the directory fd */
	int fd;
	int topfd;                /* with FOLLOW: the given root, of which fd is a link */
	struct follow_place top;  /* that directory */
	bool gone;                /* it had been removed before the search, and is empty */
	bool object;              /* it is an object, which may be reported */
};

/** Parts of directories that were read, waiting for getmnt_search_read(). */
struct search_parts {
	struct strbuf text;
	size_t at;                /* index of the next part, or record */
	const char *path;         /* of the current part */
	size_t path_len, end;
	bool has_id;
	struct dir_id dir_id;     /* of the directory of the part, if has_id */
	int dirfd;                /* that directory, or that of the root; or LOOK_UNOPENED */
	struct strbuf postponed;  /* directories that come after their contents: parts */
	struct strbuf postponed_at;    /* where each begins, size_t */
	bool serving;             /* the text is made of these */
};

/** The entry that getmnt_search_read() returned last. */
struct search_last {
	struct strbuf path;
	size_t path_base;         /* length of its directory part; SIZE_MAX: not built yet */
	bool path_rooted;         /* the directory part includes the root */
	size_t root_len;          /* bytes of the root in path, without a slash at its end */
	size_t len;               /* of its name; 0: a root */
	struct searchent entry;
	struct stat stat;
	struct k_statx st;
	bool has_st;
	bool lost;                /* its attributes cannot be read */
	unsigned char type;
	uint64_t actions;
	struct look look;
	struct strbuf target;
	const char *remote;       /* its root; NULL: it is on this host */
	size_t root;              /* the index of that, with remote */
	const char *why;          /* of getmnt_search_why() */
};

/** Other hosts, and mounts that their servers search. */
struct search_remotes {
	struct remote *hosts;     /* NULL: none */
	struct search_options options;   /* for them; and pattern, exclusion and query, */
	struct strbuf text;              /* each of which ends in a NUL */
	const char *exclude;             /* in it */
	size_t login;                    /* where it has transport->delegate */
	struct search_transport transport;
	bool delegates;           /* mounts may be delegated */
	struct search_delegated *delegated;     /* mounts that are */
};

/** What the threads of a search change, under the lock. */
struct search_shared {
	pthread_mutex_t lock;     /* protects the rest, and adding to getmnt_search.chunks */
	struct seen seen, once;   /* once: where each directory is entered only once */
	struct seen unique;       /* objects seen, for -unique */
	struct map64 owners;      /* user, or 1 << 32 | group -> whether it has a name */
	uint32_t nnodes;
	struct map64 by_hash;     /* hash of a node -> its number */
};

/** The process and thread that call getmnt_search_read(). */
struct search_caller {
	struct os_origin origin;
	pthread_t reader;         /* the thread that read last */
	bool reading;             /* that thread is still reading */
};

/** The given roots. */
struct search_roots {
	char **names;
	size_t n, next;           /* next: the index of the root to search next */
};

/** Mounts besides getmnt_search.mounts. */
struct search_reread {
	struct search_mounts own;     /* of this process, if the root is in another namespace */
	struct search_mounts later;   /* as read again during the search; zero before */
	uint64_t look_at;         /* number of read directories at which `later` is read again */
};

/** Symlinks to directories, still to be searched. */
struct search_links {
	struct pending_link *first, **end;
};

/** Objects that come from more.source instead of directories. */
struct search_sourced {
	struct source_run *run;   /* the root whose objects do; NULL: none */
	struct strbuf why;        /* the reason of an error that the source reports */
};

/** A directory that was read recently, for a progress line. */
struct search_where {
	struct strbuf text;
	bool wanted;
};

struct getmnt_search {
	/* Read by workers; changed only between roots, or at the end. */
	struct selection want;
	struct search_mounts mounts;   /* of this process; and of the root's namespace */
	int flags;
	unsigned threads, depth;
	int access;               /* R_OK | ... */
	struct search_more more;
	bool xdev_looks;          /* with XDEV: the kernel does not refuse all that is elsewhere,
	                             so each directory is examined */
	bool by_device;           /* what has another device is elsewhere: find's -xdev, where a
	                             mount may have several devices */
	struct bfs_policy policy;
	unsigned statx_mask;      /* of policy, without what depends on the mounts */
	struct bfs_budget budget;
	struct search_root root;
	atomic_bool cancelled, stopped;   /* stopped: by visit() */
	uint64_t *_Atomic chunks[CHUNKS];

	APART(locked);
	struct search_shared shared;

	APART(owned);             /* the following belongs to the caller's thread */
	struct search_caller caller;
	struct os os;
	struct os looked;         /* calls made to read the mounts */
	struct search_roots roots;
	struct search_reread reread;
	struct search_links links;
	struct bfs *bfs;          /* NULL between roots */
	struct search_parts parts;
	struct search_last last;
	struct search_sourced source;
	struct search_remotes remotes;
	struct search_where where;
	struct search_counts counts;
	bool ended, failed;
};

/** The current root as this process opens it. */
static inline const char *search_root_given(const SEARCH *search)
{
	const char *name = search->roots.names[search->roots.next - 1];
	return *name ? name : ".";
}

/** The mounts that may be accessed; NULL: all. */
static inline const struct search_mounts *search_mounts(const SEARCH *search)
{
	return search->mounts.any ? NULL : &search->mounts;
}

/** The statx mask for the kind of mount IDs in search->mounts. */
static inline unsigned search_id_mask(const SEARCH *search)
{
	return search->mounts.unique ? K_STATX_MNT_ID_UNIQUE : K_STATX_MNT_ID;
}

/** Whether nothing more is to be read. */
static inline bool search_stopped(const SEARCH *search)
{
	return atomic_load_explicit(&search->cancelled, memory_order_relaxed)
	       || atomic_load_explicit(&search->stopped, memory_order_relaxed);
}

/* dir.c */

/** Open the directory of the current object.  @return a descriptor, borrowed; or -1. */
int search_source_dir(const SEARCH *search, struct bfs_scratch *scratch);

/** Whether the source knows that the query finds the current object. */
enum query_value search_source_knows(const SEARCH *search);

/** The directory that is being read.  @place [out]  Initialized first. */
void search_place_of(const SEARCH *search, const struct bfs_at *at, struct follow_place *place);

/** Find the path of an open directory, if /proc is mounted.
    @place [out]  Its path, "" before, from "/" of the namespace; "" if that is unknown.  Its mount
    is set.  @return false: /proc is not mounted. */
bool search_place_of_fd(SEARCH *search, int fd, struct follow_place *place);

/** Reopen the root for reading: without search permission "." cannot be opened.
    @return a descriptor, or -1. */
int search_root_open(SEARCH *search);

/** Get the attributes that identify a directory. */
bool search_dir_stat(SEARCH *search, int fd, struct k_statx *st);

/* node.c */

/** The number of words in a node. */
size_t search_node_words(const SEARCH *search);

/** The node with a number. */
struct node *search_node_at(const SEARCH *search, uint32_t tag);

/** The number of a node, which is added if necessary.  @return UINT32_MAX: memory ran out. */
uint32_t search_node_number(SEARCH *search, const struct node *node);

/** Whether two nodes are equal. */
bool search_node_same(const SEARCH *search, const struct node *a, const struct node *b);

/** Forget all nodes, and the directories seen. */
void search_nodes_clear(SEARCH *search);

/**
 * With FOLLOW: add a directory to the directories seen.
 *
 * @child
 *         [out] Its number is set.
 * @return 0, or an error number.
 * Errors: ELOOP: it is an ancestor of itself.  EEXIST: it was entered, on a mount that is
 *         MOUNT_CROSSED.  EREMOTE: opening it would trigger an automount.  ENOMEM.
 */
int search_descend(SEARCH *search, const struct node *from, struct node *child,
                   const struct k_statx *st);

/** With FOLLOW: whether an object is a directory that contains its own parent.
    @from  The node of its parent. */
bool search_is_loop(SEARCH *search, const struct node *from, const struct k_statx *st);

/** Whether an object is on another mount than the root; without mount IDs (before 5.8), on another
    device. */
bool search_elsewhere(const SEARCH *search, const struct k_statx *st);

/* report.c: runs in workers. */

/** Start the lines of a directory, unless that was done, or it has no lines. */
void search_lines_begin(const SEARCH *search, struct bfs_scratch *scratch,
                        const struct bfs_at *at);

/** Report objects whose attributes are not needed. */
void search_put_plain(SEARCH *search, struct bfs_scratch *scratch, const struct bfs_at *at,
                      const struct bfs_entry *entries, size_t n);

/** Report an error of an entry.  An empty name stands for the directory itself. */
void search_put_error(struct bfs_scratch *scratch, const struct bfs_entry *entry, int source,
                      int error);

/** Append a mount point whose mount can be searched by its server.
    @avoid  Its node in the table of mounts.
    @object  It is an object whose attributes are needed. */
void search_put_mount(struct bfs_scratch *scratch, const struct bfs_entry *entry, uint32_t avoid,
                      unsigned wanted);

/** Report an object, if its type is requested and access is allowed.
    @st  Used only with METADATA or a query; with a mask of 0: it cannot be read.
    @fd  The object; -1: use its name in scratch->fd.
    @actions  Of the query, see query_outcome. */
void search_put_object(const SEARCH *search, struct bfs_scratch *scratch,
                       const struct bfs_entry *entry, const struct k_statx *st, int fd,
                       uint64_t actions);

/* entry.c: callbacks for bfs; run in workers. */
size_t search_pass(void *arg, struct bfs_scratch *scratch, const struct bfs_at *at,
                   const struct bfs_entry *entries, size_t n);
enum bfs_verdict search_entry(void *arg, struct bfs_scratch *scratch, const struct bfs_at *at,
                              const struct bfs_entry *entry);
enum bfs_verdict search_meta(void *arg, struct bfs_scratch *scratch, const struct bfs_at *at,
                             const struct bfs_entry *entry, const struct k_statx *st, int error);

/* judge.c: runs in workers, and for roots in the owner. */

/** Set the functions of look->facts.  Those that need the directory of an object on another host
    fail. */
void search_look_init(struct look *look);

/** Decide what becomes of an object: select_object(), and what only this search knows.
    @object  Its st may be NULL.  @judged [out] */
void search_judge(SEARCH *search, struct look *look, const struct query_object *object,
                  struct judgment *judged);

/** The same for an entry of the directory being read; reports errors, and calls visit().
    @type  Its type, after following a link.
    @child  Its node: mount and avoid are used.
    @wanted  Whether the pattern matches; else only judged->enter is of interest.
    @memo  [in,out] Of its name. */
void search_judge_entry(SEARCH *search, struct bfs_scratch *scratch, const struct bfs_at *at,
                        const struct bfs_entry *entry, uint8_t type, const struct node *child,
                        const struct k_statx *st, bool wanted, struct query_memo *memo,
                        struct judgment *judged);

/** Report an entry whose attributes cannot be read, if the query is true nevertheless, as find
    does. */
void search_put_lost(SEARCH *search, struct bfs_scratch *scratch, const struct bfs_at *at,
                     const struct bfs_entry *entry, const struct node *child,
                     struct query_memo *memo);

/* visit.c: runs in the owner; search_put_dir_id() in workers. */

/** Set the root of an object, and its path below that, from its path.
    @root_len  Bytes of the root in the path, without a slash at its end. */
void search_visit_paths(const SEARCH *search, struct search_visit *visit, size_t root_len);

/** Call visit().  @visit  Complete, except for root and below.  @judged [out]  enter. */
void search_visit_now(SEARCH *search, struct search_visit *visit, struct judgment *judged);

/** Append the identity of the directory being read. */
void search_put_dir_id(const SEARCH *search, struct bfs_scratch *scratch);

/** Close the directory of the last object. */
void search_dir_close(SEARCH *search);

/** With -depth: keep the record of a directory for later.  @return whether it was kept. */
bool search_postpone(SEARCH *search, const char *record, size_t size);

/** Queue directories that were postponed, last ones first.  @return false: there are none. */
bool search_serve_postponed(SEARCH *search);

/* links.c: runs in workers. */

/**
 * Follow a symlink.
 *
 * @place   Its directory; modified.
 * @depth   The depth of its target.
 * @at      Its directory.
 * @from, child  The nodes of its directory and of its target; NULL for a path that is looked
 *          up and may not exist.
 * @note    Its name was matched.
 */
void search_follow_link(SEARCH *search, struct bfs_scratch *scratch, struct follow_place *place,
                        int depth, const struct bfs_at *at, const struct bfs_entry *entry,
                        const struct node *from, struct node *child, struct name_note *note);

/** Follow a symlink in the directory being read.  @return BFS_SKIP. */
enum bfs_verdict search_follow_entry(SEARCH *search, struct bfs_scratch *scratch,
                                     const struct bfs_at *at, const struct bfs_entry *entry,
                                     const struct node *node, struct node *child,
                                     struct name_note *note);

/* hosts/exported.c: runs in the owner. */

/** Why NFS shows something else than the root that begins: see search_more.exported; 0: it may show
    the same. */
int search_exported_refuse(SEARCH *search);

/** Get the IDs of the file system of the root. */
void search_exported_ids(SEARCH *search, struct k_statx *st);

/* hosts/delegate.c: runs in the owner. */

/** What is known here of entries that a server sends. */
struct search_delegated_place {
	size_t name_root;         /* bytes of the root of the search in remote_entry.root */
	uint32_t dev_major, dev_minor;
	uint64_t mount;           /* 32-bit ID */
};
struct remote_entry;

/**
 * Let the server of a mount search it, if that is proven to find the same; else report why not.
 *
 * @m      NULL: it is unknown.
 * @below  The directory to search: "", or its path below the root of the mount, "/a".
 * @name   Its path, as printed.
 * @wanted  enum mount_wanted: the directory itself, what is below.
 * @return whether the server does it.
 */
bool search_delegate(SEARCH *search, const struct search_mount *m, const char *below,
                     const char *name, unsigned wanted);

/** The same for the root that begins. */
bool search_delegate_root(SEARCH *search);

/** Send and receive.  @return whether there may be more entries. */
bool search_delegated_turn(SEARCH *search, int ms);

/** Get the next entry; its root is the path of the directory, as printed.  @return NULL: none. */
const struct search_delegated_place *search_delegated_next(SEARCH *search,
                                                           struct remote_entry *got);

void search_delegated_free(SEARCH *search, bool child);

/* hosts/hosts.c: runs in the owner. */

/** Fill the request of this search, without roots. */
struct talk_request;
void search_remote_request(SEARCH *search, struct talk_request *request);

/** Take the roots that are on other hosts.  @return 0, or -1. */
int search_remote_init(SEARCH *search, const char *pattern, const struct search_options *options);

/** Whether a root is on another host. */
bool search_remote_root(const SEARCH *search, size_t i);

/** Send and receive.  @ms  Wait so long.  @return whether there may be more entries. */
bool search_remote_turn(SEARCH *search, int ms);

/** The next entry of another host; NULL: none has arrived. */
struct searchent *search_remote_next(SEARCH *search);

/* source.c: runs in the owner. */

/** Search the root by more.source.  @tag, depth  Of the root.  @return false: memory ran out. */
bool search_source_begin(SEARCH *search, uint32_t tag, int depth);

/** Read some objects.  @return false: there are no more. */
bool search_source_step(SEARCH *search);

/** End the search of this root. */
void search_source_end(SEARCH *search);

/** The directory of the current entry: scratch->fd, which is opened now if it comes from a
    source.  @return a descriptor, or -1 with errno. */
static inline int search_fd(const SEARCH *search, struct bfs_scratch *scratch)
{
	return scratch->fd == LOOK_UNOPENED ? search_source_dir(search, scratch) : scratch->fd;
}

/* object.c: runs in the owner. */

/** Queue the root, if it is to be reported.  @node  Its node.  @depth  As of root_object().
    @return whether it is to be entered. */
bool search_root_visit(SEARCH *search, const struct node *node, const struct k_statx *st,
                       unsigned depth);

/* literal.c */

/** If the pattern is a single path, look up the object without reading a directory.
    @node  Of the root in the table of mounts.
    @return false: nothing was done, because directories must be read. */
bool search_root_literal(SEARCH *search, uint32_t node);

/* root.c */

/** Read the mounts again, see search_mounts.read.  @return 0, or -1. */
int search_read_mounts(SEARCH *search, uint64_t id, struct search_mounts *now);

/** Start with the next root.  @return false if there is none. */
bool search_root_begin(SEARCH *search);

/** Add the counts of the current root. */
void search_count_bfs(const SEARCH *search, struct search_counts *counts);

/** End the search of the current root; its descriptors stay open. */
void search_root_end(SEARCH *search);

/** Close the descriptors of the current root, except the given one. */
void search_root_close(SEARCH *search);

#endif
