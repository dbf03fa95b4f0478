/* SPDX-License-Identifier: MIT */
/**
 * Types and functions shared by the files of src/search/.
 *
 * "Owner's thread" is the thread that calls getmnt_search_read(); workers are the threads that bfs
 * starts to read directories.
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
	LOOK_UNOPENED = -2,       /* a descriptor that is opened only when needed */
};

/** The properties that all entries of a directory share. */
struct node {
	uint64_t avoid;           /* node of the directory in search_mounts.avoid; AVOID_NONE,
	                             AVOID_UNKNOWN */
	uint64_t mount;           /* ID of the directory's mount; 0: unknown */
	uint64_t self;            /* with FOLLOW: number of the directory in search_shared.seen */
	uint64_t live[];          /* live states of the pattern: search->want.words words */
};

/** A node with enough room for any pattern. */
union new_node {
	struct node node;
	uint64_t words[3 + PATTERN_WORDS_MAX];
};

/** The result of matching the name of an entry.  Stored as the note that bfs keeps with the entry,
    so that no name is matched twice. */
struct name_note {
	uint32_t tested : 1;      /* `does` is valid; if the entry may be a directory, `child`
	                             too */
	uint32_t does : 2;        /* bits of enum pattern_verdict */
	uint32_t child : 29;      /* if the entry may be a directory: number of its node, whose
	                             `self` is not set yet */
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
	uint64_t mount;           /* ID of the target's mount */
	int32_t depth;
	uint32_t nabove;
	struct seen_dir *above;   /* `nabove` directories: the one with the symlink, its parent, and
	                             so on upwards */
	const char *via;          /* path of the symlink below the given root */
	const char *target;       /* path of the target from "/"; "": unknown */
	uint64_t live[];          /* live states of the pattern at the target */
};

/** Padding that keeps data written by one thread and data read by other threads on different cache
    lines. */
#define APART(name) char name[128]

/** An object whose facts a query looks up: the argument of struct query_facts. */
struct look {
	SEARCH *search;
	struct os *os;
	int fd;                   /* directory that contains the object; LOOK_UNOPENED */
	const char *name;         /* name of the object in fd */
	uint8_t link;             /* DT_* of the object itself, not of a symlink's target;
	                             DT_UNKNOWN: not determined yet */
	uint64_t mount;           /* mount ID of the directory that contains the object; 0:
	                             unknown */
	uint32_t avoid;           /* node of the object in search_mounts.avoid */
	unsigned depth;
	bool only_below;          /* decide only whether to enter the object; it is not reported */
	/* Only in a thread that reads directories: */
	struct bfs_scratch *scratch;
	const struct bfs_at *at;
	/* Only in the owner's thread: */
	const struct search_visit *visit;
	struct query_facts facts;
};

/** The given root that is being searched, or the target of a symlink below it. */
struct search_root {
	const char *name;         /* the given root, as printed */
	struct strbuf text;       /* buffer for `name`, if more.prefix is set */
	size_t len;               /* length of `name` without a trailing slash */
	struct strbuf base;       /* last component of the given root */
	uint64_t mount;           /* mount ID of the given root */
	uint64_t dev;             /* device number of the given root */
	struct strbuf via;        /* path, below the given root, of the symlink whose target is
	                             searched; "": search the given root */
	struct follow_place place;     /* mount and path of fd */
	int fd;
	int topfd;                /* with FOLLOW: the given root; fd may be the target of a symlink
	                             below it */
	struct follow_place top;  /* mount and path of topfd */
	bool gone;                /* the directory was removed before the search began, so it is
	                             empty */
	bool object;              /* the root itself may be reported */
};

/** The queue: parts of directories that were read and are not yet returned by
    getmnt_search_read(). */
struct search_parts {
	struct strbuf text;
	size_t at;                /* offset in `text` of the next part, or of the next record in the
	                             current part */
	const char *path;         /* directory of the current part, path_len bytes; `end`: offset of
	                             the part's end */
	size_t path_len, end;
	bool has_id;
	struct dir_id dir_id;     /* identity of the directory of the current part, if has_id */
	int dirfd;                /* for search_visit_dir(): directory of the part, or the one that
	                             contains the root; LOOK_UNOPENED; -1: cannot be opened */
	struct strbuf postponed;  /* with -depth: parts with one directory each, which is returned
	                             after the contents of the directory */
	struct strbuf postponed_at;    /* offset of each of these parts, as size_t */
	bool serving;             /* `text` consists of postponed parts */
};

/** The entry that getmnt_search_read() returned last. */
struct search_last {
	struct strbuf path;
	size_t path_base;         /* length of the directory in `path`; SIZE_MAX: `path` is not
	                             built yet */
	bool path_rooted;         /* `path` begins with the root */
	size_t root_len;          /* length of the root in `path`, without a trailing slash */
	size_t len;               /* length of the entry's name; 0: the entry is a root */
	struct searchent entry;
	struct stat stat;
	struct k_statx st;
	bool has_st;
	bool lost;                /* the attributes of the entry could not be read */
	unsigned char type;
	uint64_t actions;
	struct look look;
	struct strbuf target;
	const char *remote;       /* for an entry from another host: remote_entry.root; NULL: the
	                             entry was found on this host */
	size_t root;              /* with `remote`: index of the given root */
	const char *why;          /* result of getmnt_search_why() */
};

/** Other hosts that search given roots, and servers that search mounts. */
struct search_remotes {
	struct remote *hosts;     /* connections; NULL: no root is on another host */
	struct search_options options;   /* options of the requests */
	struct strbuf text;              /* strings, each with its NUL: pattern, exclusion, query,
	                                    login */
	const char *exclude;             /* the exclusion in `text` */
	size_t login;                    /* offset of transport->delegate in `text`: the login on
	                                    NFS servers */
	struct search_transport transport;
	bool delegates;           /* mounts may be delegated: searched by their servers */
	struct search_delegated *delegated;     /* list of the delegated mounts */
};

/** Data that the threads of a search change while they hold `lock`. */
struct search_shared {
	pthread_mutex_t lock;     /* protects the other members, and adding to
	                             getmnt_search.chunks */
	struct seen seen, once;   /* seen: directories entered, with FOLLOW; once: directories on or
	                             below a MOUNT_CROSSED mount, each entered only once */
	struct seen unique;       /* objects tested so far, for -unique */
	struct map64 owners;      /* user ID, or 1 << 32 | group ID -> 1: has a name; 0: has no
	                             name */
	uint32_t nnodes;
	struct map64 by_hash;     /* hash of a node -> number of the node */
};

/** The process and thread that call getmnt_search_read(). */
struct search_caller {
	struct os_origin origin;
	pthread_t reader;         /* thread that last called getmnt_search_read() */
	bool reading;             /* `reader` is reading directories now */
};

/** The given roots. */
struct search_roots {
	char **names;
	size_t n, next;           /* next: index of the root to search after the current root */
};

/** Sets of mounts in addition to getmnt_search.mounts. */
struct search_reread {
	struct search_mounts own;     /* mounts of this process, while getmnt_search.mounts is of
	                                 another namespace; else zero */
	struct search_mounts later;   /* mounts as read again during the search; zero: not read
	                                 again */
	uint64_t look_at;         /* number of read directories from which on `later` may be read
	                             again */
};

/** Queue of symlinks whose target directories are still to be searched. */
struct search_links {
	struct pending_link *first, **end;
};

/** The search of a root whose objects come from more.source instead of directories. */
struct search_sourced {
	struct source_run *run;   /* state for the current root; NULL: directories are read */
	struct strbuf why;        /* why the source failed, for getmnt_search_why() */
};

/** Path of a directory that was read recently, for a progress line. */
struct search_where {
	struct strbuf text;
	bool wanted;
};

struct getmnt_search {
	/* Read by workers.  Changed only between roots, or when the search ends. */
	struct selection want;
	struct search_mounts mounts;   /* mounts of this process, or of the root's namespace */
	int flags;
	unsigned threads, depth;
	int access;               /* R_OK | ...: access that an object must allow to be reported */
	struct search_more more;
	bool xdev_looks;          /* with XDEV: the kernel does not refuse to enter every directory
	                             that -xdev excludes, so each directory is examined by statx */
	bool by_device;           /* directories on another device than the root are not entered, as
	                             find's -xdev: one mount may have several devices */
	struct bfs_policy policy;
	unsigned statx_mask;      /* policy.statx_mask without the bits that depend on the mounts */
	struct bfs_budget budget;
	struct search_root root;
	atomic_bool cancelled, stopped;   /* cancelled: by getmnt_search_cancel(); stopped: by
	                                     more.visit() */
	uint64_t *_Atomic chunks[CHUNKS];

	APART(locked);
	struct search_shared shared;

	APART(owned);             /* the following members belong to the owner's thread, which calls
	                             getmnt_search_read() */
	struct search_caller caller;
	struct os os;
	struct os looked;         /* counts of calls that probed the kernel and read the mounts */
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

/** The path by which this process opens the current root. */
static inline const char *search_root_given(const SEARCH *search)
{
	const char *name = search->roots.names[search->roots.next - 1];
	return *name ? name : ".";
}

/** The mounts that decide what may be accessed; NULL: everything may be accessed. */
static inline const struct search_mounts *search_mounts(const SEARCH *search)
{
	return search->mounts.any ? NULL : &search->mounts;
}

/** The statx mask that requests mount IDs of the kind that search->mounts contains. */
static inline unsigned search_id_mask(const SEARCH *search)
{
	return search->mounts.unique ? K_STATX_MNT_ID_UNIQUE : K_STATX_MNT_ID;
}

/** Whether the search was cancelled or stopped, so that no further directory is read. */
static inline bool search_stopped(const SEARCH *search)
{
	return atomic_load_explicit(&search->cancelled, memory_order_relaxed)
	       || atomic_load_explicit(&search->stopped, memory_order_relaxed);
}

/* dir.c */

/** Open the directory of the current object of a source.  @return a borrowed descriptor, or -1. */
int search_source_dir(const SEARCH *search, struct bfs_scratch *scratch);

/** Whether the query finds the current object, as far as the source knows. */
enum query_value search_source_knows(const SEARCH *search);

/** Get the mount and path of the directory being read.
    @place [out]  Not initialized before. */
void search_place_of(const SEARCH *search, const struct bfs_at *at, struct follow_place *place);

/** Find the path of an open directory by its link in /proc/self/fd.
    @place  mount: ID of the directory's mount.  path: "" before; [out] from "/" of the namespace,
    or "" if the path is unknown.
    @return false: /proc is not mounted. */
bool search_place_of_fd(SEARCH *search, int fd, struct follow_place *place);

/** Open search->root.fd again, for reading.  Uses /proc or the name of the root, since "." cannot
    be opened without search permission.
    @return a descriptor, or -1. */
int search_root_open(SEARCH *search);

/** Get the inode, link count, device and mount ID of a directory.  @return whether that
    succeeded. */
bool search_dir_stat(SEARCH *search, int fd, struct k_statx *st);

/* node.c */

/** The size of a node in 64-bit words. */
size_t search_node_words(const SEARCH *search);

/** The node with a number. */
struct node *search_node_at(const SEARCH *search, uint32_t tag);

/** Get the number of a node; add the node if no equal one exists.
    @return UINT32_MAX: memory ran out. */
uint32_t search_node_number(SEARCH *search, const struct node *node);

/** Whether two nodes are equal. */
bool search_node_same(const SEARCH *search, const struct node *a, const struct node *b);

/** Forget all nodes and search->shared.seen. */
void search_nodes_clear(SEARCH *search);

/**
 * With FOLLOW: add a directory that is to be entered to search->shared.seen.
 *
 * @from
 *         Node of the directory that contains it.
 * @child
 *         Node of the directory; self [out].
 * @st
 *         Attributes of the directory.
 * @return 0, or an error number.
 * Errors: ELOOP: the directory is its own ancestor.  EEXIST: it is on or below a MOUNT_CROSSED
 *         mount, and was entered before.  EREMOTE: opening it would trigger an automount.  ENOMEM.
 */
int search_descend(SEARCH *search, const struct node *from, struct node *child,
                   const struct k_statx *st);

/** With FOLLOW: whether an object is a directory that is its own ancestor; false with -unique.
    @from  Node of the directory that contains the object. */
bool search_is_loop(SEARCH *search, const struct node *from, const struct k_statx *st);

/** Whether an object is an automount point, or is on another mount than the root.  Without mount
    IDs (before Linux 5.8), the devices are compared. */
bool search_elsewhere(const SEARCH *search, const struct k_statx *st);

/* report.c: runs in workers. */

/** Build the path prefix for reporting objects of a directory as lines.  Does nothing if the prefix
    exists, or if the objects are not reported as lines. */
void search_lines_begin(const SEARCH *search, struct bfs_scratch *scratch,
                        const struct bfs_at *at);

/** Report n objects whose attributes are not needed. */
void search_put_plain(SEARCH *search, struct bfs_scratch *scratch, const struct bfs_at *at,
                      const struct bfs_entry *entries, size_t n);

/** Report an error about an entry.
    @entry  An empty name: the error is about the directory itself.
    @source  SEARCH_ERR_*.
    @error  An error number. */
void search_put_error(struct bfs_scratch *scratch, const struct bfs_entry *entry, int source,
                      int error);

/** Append a record of a mount point whose mount can block and may be searched by its server.
    @avoid  Node of the mount's root in the table of mounts.
    @wanted  enum mount_wanted. */
void search_put_mount(struct bfs_scratch *scratch, const struct bfs_entry *entry, uint32_t avoid,
                      unsigned wanted);

/** Report an object, if its type is requested and access is allowed.
    @st  Used only with METADATA or a query.  A mask of 0: the attributes cannot be read.
    @fd  The object; -1: entry->name in scratch->fd.
    @actions  The reached actions of the query, see query_outcome. */
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

/* judge.c: runs in workers, and for roots in the owner's thread. */

/** Set look->facts.  The functions that need the directory of an object fail for objects on other
    hosts. */
void search_look_init(struct look *look);

/** Decide whether an object is reported and, if it is a directory, entered: by select_object(), and
    by -mount, -unique and the knowledge of a source.
    @object  st may be NULL.
    @judged [out] */
void search_judge(SEARCH *search, struct look *look, const struct query_object *object,
                  struct judgment *judged);

/** Call search_judge() for an entry of the directory being read.  Report its error, and call
    more.visit() for a selected object.
    @type  Type of the entry; of the target, if the entry is a link that is followed.
    @child  Node of the entry: mount and avoid are used.
    @wanted  Whether the pattern matches; if not, only judged->enter is used.
    @memo [in,out]  Results of tests of the name. */
void search_judge_entry(SEARCH *search, struct bfs_scratch *scratch, const struct bfs_at *at,
                        const struct bfs_entry *entry, uint8_t type, const struct node *child,
                        const struct k_statx *st, bool wanted, struct query_memo *memo,
                        struct judgment *judged);

/** Report an entry whose attributes cannot be read, if the query is true without them, as find
    does. */
void search_put_lost(SEARCH *search, struct bfs_scratch *scratch, const struct bfs_at *at,
                     const struct bfs_entry *entry, const struct node *child,
                     struct query_memo *memo);

/* visit.c: runs in the owner's thread; search_put_dir_id() in workers. */

/** Set visit->root, visit->prefix and visit->below from visit->path.
    @root_len  Length of the root in visit->path, without a trailing slash. */
void search_visit_paths(const SEARCH *search, struct search_visit *visit, size_t root_len);

/** Call more.visit().
    @visit  Complete, except for root, prefix and below.
    @judged [out]  enter: whether visit() allows to enter the directory. */
void search_visit_now(SEARCH *search, struct search_visit *visit, struct judgment *judged);

/** Append a record with the identity of the directory being read. */
void search_put_dir_id(const SEARCH *search, struct bfs_scratch *scratch);

/** Close the directory that search_visit_dir() opened. */
void search_dir_close(SEARCH *search);

/** With -depth: keep the record of a directory until its contents have been returned.
    @return false: the record is not kept and must be returned now. */
bool search_postpone(SEARCH *search, const char *record, size_t size);

/** Queue postponed directories, in the reverse of the order in which they were found.
    @return false: no directory is postponed. */
bool search_serve_postponed(SEARCH *search);

/* links.c: runs in workers. */

/**
 * Follow a symlink: report its target, and queue the target for search if it is a directory.
 *
 * @place   Mount and path of the directory with the symlink; [out] of the target.
 * @depth   Depth of the target.
 * @at      Directory with the symlink.
 * @entry   The symlink.
 * @from, child  Nodes of the directory with the symlink, and of the target; NULL for a path that
 *          is looked up and may not exist.
 * @note    Result of matching the symlink's name.
 */
void search_follow_link(SEARCH *search, struct bfs_scratch *scratch, struct follow_place *place,
                        int depth, const struct bfs_at *at, const struct bfs_entry *entry,
                        const struct node *from, struct node *child, struct name_note *note);

/** Call search_follow_link() for a symlink in the directory being read.  @return BFS_SKIP. */
enum bfs_verdict search_follow_entry(SEARCH *search, struct bfs_scratch *scratch,
                                     const struct bfs_at *at, const struct bfs_entry *entry,
                                     const struct node *node, struct node *child,
                                     struct name_note *note);

/* hosts/exported.c: runs in the owner's thread. */

/** Check whether NFS shows clients something other than the root being started, see
    search_more.exported.
    @return an error number; 0: NFS may show the same directory. */
int search_exported_refuse(SEARCH *search);

/** Set st->fs_ids to the IDs of the root's file system, see os_fs_ids(). */
void search_exported_ids(SEARCH *search, struct k_statx *st);

/* hosts/delegate.c: runs in the owner's thread. */

/** Facts about a delegated mount that this host adds to the entries from the mount's server. */
struct search_delegated_place {
	size_t name_root;         /* length of the given root in remote_entry.root */
	uint32_t dev_major, dev_minor;
	uint64_t mount;           /* 32-bit mount ID */
};
struct remote_entry;

/**
 * Let the server of a mount search the mount, if a comparison proves that the server shows the
 * same directory.  Otherwise report the reason by more.undelegated().
 *
 * @m      The mount; NULL: unknown.
 * @below  The directory to search: "", or its path below the root of the mount, "/a".
 * @name   Path of this directory, as printed.
 * @wanted  enum mount_wanted: whether to search the directory itself, its contents, or both.
 * @return whether the server searches the directory.
 */
bool search_delegate(SEARCH *search, const struct search_mount *m, const char *below,
                     const char *name, unsigned wanted);

/** Call search_delegate() for the contents of the root being started. */
bool search_delegate_root(SEARCH *search);

/** Send requests to the servers of delegated mounts, and receive entries.
    @ms  Milliseconds to wait at most.
    @return whether more entries may follow. */
bool search_delegated_turn(SEARCH *search, int ms);

/** Get the next entry from the server of a delegated mount.
    @got [out]  root: path of the delegated directory, as printed.
    @return NULL: no entry has arrived. */
const struct search_delegated_place *search_delegated_next(SEARCH *search,
                                                           struct remote_entry *got);

void search_delegated_free(SEARCH *search, bool child);

/* hosts/hosts.c: runs in the owner's thread. */

/** Fill the request of this search for another host; the caller adds the roots. */
struct talk_request;
void search_remote_request(SEARCH *search, struct talk_request *request);

/** Set up the connections for roots on other hosts, and the strings for requests.
    @return 0, or -1. */
int search_remote_init(SEARCH *search, const char *pattern, const struct search_options *options);

/** Whether the i-th root is on another host. */
bool search_remote_root(const SEARCH *search, size_t i);

/** Send requests to other hosts and to the servers of delegated mounts, and receive entries.
    @ms  Milliseconds to wait at most.
    @return whether more entries may follow. */
bool search_remote_turn(SEARCH *search, int ms);

/** Get the next entry from another host; NULL: no entry has arrived. */
struct searchent *search_remote_next(SEARCH *search);

/* source.c: runs in the owner's thread. */

/** Begin to search the current root in more.source.
    @tag, depth  Node number and depth of the root.
    @return false: memory ran out. */
bool search_source_begin(SEARCH *search, uint32_t tag, int depth);

/** Match the next objects of the source.  @return false: the search of the root is complete. */
bool search_source_step(SEARCH *search);

/** Free the state of the current root's search in the source. */
void search_source_end(SEARCH *search);

/** The directory of the current entry: scratch->fd, which is opened here if the entry comes from a
    source.
    @return a descriptor, or -1 with errno. */
static inline int search_fd(const SEARCH *search, struct bfs_scratch *scratch)
{
	return scratch->fd == LOOK_UNOPENED ? search_source_dir(search, scratch) : scratch->fd;
}

/* object.c: runs in the owner's thread. */

/** Report the root itself, if it is selected.
    @node  Node of the root.
    @depth  As for root_object().
    @return whether to enter the root. */
bool search_root_visit(SEARCH *search, const struct node *node, const struct k_statx *st,
                       unsigned depth);

/* literal.c */

/** If the pattern is a single path, look up the object without reading a directory.
    @node  Node of the root in the table of mounts.
    @return false: nothing was done, because directories must be read. */
bool search_root_literal(SEARCH *search, uint32_t node);

/* root.c */

/** Call search_mounts.read() with this ID.  @return 0, or -1. */
int search_read_mounts(SEARCH *search, uint64_t id, struct search_mounts *now);

/** Begin to search the target of the next pending symlink or, if no symlink is pending, the next
    root.
    @return false: no root is left. */
bool search_root_begin(SEARCH *search);

/** Add the counts of the current traversal to `counts`. */
void search_count_bfs(const SEARCH *search, struct search_counts *counts);

/** End the search of the current root; its descriptor stays open. */
void search_root_end(SEARCH *search);

/** Close the directory opened by search_visit_dir(), and root.fd unless it is root.topfd. */
void search_root_close(SEARCH *search);

#endif
