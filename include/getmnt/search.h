/* SPDX-License-Identifier: MIT */
/**
 * Search: find the objects below some directories that match a pattern.  After Bui, Thain and
 * others, "Search Should be a System Call"; see opensearch(3).
 *
 *     SEARCH *s = opensearch("/etc:/usr/lib", "*.conf", SEARCH_METADATA | SEARCH_INCLUDEROOT);
 *     struct searchent *e;
 *     while (s && (e = readsearch(s)))
 *         if (!e->err)
 *             printf("%s %jd\n", e->path, (intmax_t)e->info->st_size);
 *     closesearch(s);
 *
 * If an object cannot be examined, its error is returned as an entry, and the search
 * continues.  The library never prints; closesearch() ends all threads and frees all descriptors
 * and memory.  Only one thread at a time may use a SEARCH, except for cancelsearch().
 *
 * readsearch() and search() are cancellation points (pthread_cancel(3)), the other functions are
 * not.  In a child made by fork(2), a SEARCH of the parent can only be closed.  A NULL SEARCH is
 * allowed.
 */
#ifndef GETMNT_SEARCH_H
#define GETMNT_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* Flags of the paper and its implementations.  Do not use R_OK, W_OK and X_OK of <unistd.h>: they
   have the values of INCLUDEROOT, METADATA and STOPATFIRST. */
#define SEARCH_STOPATFIRST (1 << 0)   /* end after the first object found */
#define SEARCH_METADATA    (1 << 1)   /* return attributes: lstat(2) */
#define SEARCH_INCLUDEROOT (1 << 2)   /* paths start with the directory as given */
#define SEARCH_PERIOD      (1 << 3)   /* only '.' matches a leading '.' */
#define SEARCH_R_OK        (1 << 4)   /* only objects for which access(2) succeeds; */
#define SEARCH_W_OK        (1 << 5)   /* symbolic links are not checked */
#define SEARCH_X_OK        (1 << 6)
/* Our own flags. */
#define SEARCH_PAPER_Q     (1 << 8)   /* '?' matches zero or one character */
#define SEARCH_XDEV        (1 << 9)   /* enter no other mount */
#define SEARCH_CACHED      (1 << 10)  /* use cached attributes, without contacting a server */
#define SEARCH_FOLLOW      (1 << 11)  /* follow symbolic links */
#define SEARCH_BYNAME      (1 << 12)  /* sort the entries of a directory by name, bytewise */
#define SEARCH_BYINODE     (1 << 13)  /* ... or by inode number; default: unsorted */
#define SEARCH_EXTENDED    (1 << 14)  /* "**" is any number of components, {a,b} is a or b */
#define SEARCH_NOCASE      (1 << 15)  /* ignore case in names and patterns */
#define SEARCH_VANISHED    (1 << 16)  /* what is removed during the search is no error */

/** The operation that failed. */
enum {
	SEARCH_ERR_OPEN   = 1,   /* opening a directory */
	SEARCH_ERR_READ   = 2,   /* reading a directory to its end */
	SEARCH_ERR_CLOSE  = 3,   /* never returned */
	SEARCH_ERR_STAT   = 4,   /* getting the attributes of an object */
	SEARCH_ERR_ACCESS = 5,   /* checking its permissions */
	SEARCH_ERR_LIMIT  = 6,   /* a directory is deeper than search_options.depth */
	SEARCH_ERR_HOST   = 7,   /* searching on another host: see whysearch() */
};

/** An object, or an error. */
struct searchent {
	char *path;          /* below the directory, starting with "/"; for an error, and with
	                        SEARCH_INCLUDEROOT, prefixed by the directory as given */
	struct stat *info;   /* with SEARCH_METADATA; else NULL */
	int errsource;       /* SEARCH_ERR_OPEN ...; 0: an object */
	int err;             /* an errno value; 0: an object */
};

typedef struct SEARCH SEARCH;

/** How attributes are fetched; falls back if the kernel lacks support. */
enum {
	SEARCH_ENGINE_AUTO,      /* one by one; in inode order while the calls wait for a disk */
	SEARCH_ENGINE_SYNC,      /* one by one */
	SEARCH_ENGINE_BULK,      /* through the bulk interfaces of XFS and btrfs, if permitted:
	                            getmnt-search(8) */
	SEARCH_ENGINE_URING = SEARCH_ENGINE_AUTO,   /* an alias of AUTO */
};

/** Another host, to search on. */
struct search_server {
	const char *scheme;       /* "ssh" */
	const char *user;         /* NULL: not given */
	const char *host;         /* a name or an address, which does not begin with '-' */
	unsigned port;            /* 0: not given */
	unsigned timeout;         /* seconds, as in struct search_transport */
	bool alone;               /* the only one in this search: it may ask for a password */
};

/** A connection to `getmnt serve --stdio` there. */
struct search_link {
	int fd;                   /* a connected stream socket: socketpair(2), TCP ... */
	int errors;               /* a socket with error messages, to quote; -1: none */
	pid_t pid;                /* the process at the other end; 0: none */
};

/** How to reach other hosts. */
struct search_transport {
	/* Connect to a server.  @link [out]  The search closes the descriptors, and ends the
	   process.  @return 0, or -1 with errno.  searchrsh() is such a function. */
	int (*connect)(void *arg, const struct search_server *server, struct search_link *link);
	void *arg;
	unsigned timeout;         /* seconds until the first answer, and of silence; 0: no limit */
	const char *chirp_auth;   /* for roots that are chirp://host[:port]/path, which need no
	                             connect(): the methods of authentication, as --chirp-auth of
	                             getmnt-search(8) has them; NULL: its default.  Not copied */
	const char *delegate;     /* search mounts of sshfs and NFS on their servers, which are
	                             proven to show the same directory: the login on servers of
	                             NFS, [USER@]HOST, or ""; NULL: do not */
	/* Connect to `getmnt serve --stdio` that runs on this host, and looks at such a mount,
	   for which this process does not wait.  Needed for delegate.  @return as connect(). */
	int (*here)(void *arg, struct search_link *link);
};

/** Settings for searchv(); all members except size may be 0.  Later versions add members at the
    end: members that the library does not know must be 0. */
struct search_options {
	size_t size;              /* sizeof(struct search_options) */
	int flags;                /* SEARCH_* */
	unsigned threads;         /* 0: one for each processor, if there is enough to read */
	unsigned depth;           /* enter no directory deeper than this (ERR_LIMIT, EOVERFLOW);
	                             entries of a given directory are at depth 1; 0: no limit */
	bool blocking;            /* also enter mounts that can block: NFS, FUSE ... */
	int engine;               /* SEARCH_ENGINE_AUTO ... */
	bool ahead;               /* fetch attributes in inode order */
	unsigned char reserved[3];   /* must be 0 */
	const char *exclude;      /* a pattern: what matches it is neither returned nor entered;
	                             NULL: nothing */
	const char *query;        /* only objects for which this expression of find is true, as
	                             "-size +1M ! -user root"; it has no actions:
	                             getmnt-search(8); NULL: all */
	const struct search_transport *transport;   /* roots that are ssh://[user@]host[:port]/path
	                             or chirp://host[:port]/path are on other hosts; NULL: such a
	                             root is a directory.  Copied */
};

/**
 * Start a search.
 *
 * @paths    Directories, separated by ':'; "\:" is a colon, "\\" a backslash; an empty name
 *           is ".".  Copied, like pattern.
 * @pattern  See getmnt-search(8).
 * @flags    SEARCH_*; not both BYNAME and BYINODE.
 * @return a search, or NULL.
 * Errors: EINVAL (an unknown flag, an invalid pattern, both orders, NULL), E2BIG (a pattern of
 *         more than 65,536 bytes, a component of more than 4,096, or more than 32,768 components
 *         with braces expanded), ENOMEM.  Errors of a
 *         directory are returned as entries.
 * Ownership: closesearch().
 */
SEARCH *opensearch(const char *paths, const char *pattern, int flags);

/**
 * Start a search in an array of directories.
 *
 * @roots    n directories; "" is ".".  Copied.
 * @pattern  See getmnt-search(8).
 * @options  May be NULL.
 * @return, errors, ownership  As opensearch(); also EINVAL: an invalid query, an unknown engine, or
 *         a size smaller than that of any version; E2BIG: a member that the library does not
 *         know is not 0, or the size is more than 4,096 bytes.
 */
SEARCH *searchv(const char *const roots[], size_t n, const char *pattern,
                const struct search_options *options);

/**
 * Get the next object or error, in no particular order.
 *
 * @return an entry, valid until the next call; or NULL: at the end (errno is 0), or if the
 *         search cannot continue.
 * Errors: ENOMEM; ECANCELED (cancelsearch()); ECHILD (called in a child of the process that
 *         opened the search); EINVAL (NULL).
 */
struct searchent *readsearch(SEARCH *search);

/** The attributes of the last entry as statx(2) returned them, valid as long as the entry; NULL
    without SEARCH_METADATA, or for an error. */
const struct statx *statxsearch(const SEARCH *search);

/** Why the last entry is an error of SEARCH_ERR_HOST, as a phrase in English, valid as long as the
    entry.  It may quote what another host sent.  NULL: there is no more to say than the error
    number does. */
const char *whysearch(const SEARCH *search);

/**
 * Run ssh: a function for struct search_transport.
 *
 * @command  A string: the words of the command and its options, separated by blanks, and quoted by
 *           '...' or "..."; NULL: "ssh".  It gets `-p PORT` and `-l USER`, if given, the host, and
 *           the words "getmnt serve --stdio".
 * Errors: EINVAL (no words, or a quote is not closed), those of socketpair(2), fork(2), execve(2).
 */
int searchrsh(void *command, const struct search_server *server, struct search_link *link);

/** End a search from any thread or a signal handler: the next readsearch() returns NULL.  May be
    called more than once, but must return before closesearch() is called. */
void cancelsearch(SEARCH *search);

/** End a search, at any time, and free it; NULL is allowed.  In a child made by fork(2), free the
    child's copy.  @return 0. */
int closesearch(SEARCH *search);

/** Current counts. */
struct search_counts {
	uint64_t dirs, entries;   /* directories read, and the entries in them */
	uint64_t found, errors;
	uint64_t calls;           /* system calls of the search */
	uint64_t mount_calls;     /* system calls for probing the kernel and reading the mounts */
	uint64_t threads;         /* maximum number of reading threads, including the caller's */
};

/**
 * Get the current counts.  Calls of threads are added at the end of each given directory.
 *
 * @counts [out]
 * @size    sizeof(struct search_counts): if it is smaller, members at the end are omitted; if it is
 *          larger, the rest is set to 0.
 */
void countsearch(const SEARCH *search, struct search_counts *counts, size_t size);

/*
 * The whole search as a single call that fills a buffer of the caller: a header, then entries of
 * different lengths, each aligned to 8 bytes.  Numbers are in host byte order.
 */

#define SEARCH_MAGIC   0x48435253u   /* "SRCH" in little-endian */
#define SEARCH_VERSION 1

/** The header at the start of the buffer. */
struct search_head {
	uint32_t magic;           /* SEARCH_MAGIC */
	uint16_t version;         /* SEARCH_VERSION; raised by incompatible changes */
	uint16_t size;            /* of this header: the offset of the first entry */
	uint64_t used;            /* bytes of the buffer in use, including this header */
	uint64_t entries;         /* number of entries in the buffer: objects and errors */
	uint64_t left;            /* entries that did not fit */
	uint64_t left_bytes;      /* bytes that these would need beyond `used` */
};

/** An entry in the buffer; its path and attributes follow within its size. */
struct search_item {
	uint32_t size;            /* a multiple of 8: the offset of the next entry */
	uint32_t path;            /* offset of the path from this entry */
	uint32_t path_len;        /* without its NUL */
	uint32_t statx;           /* offset of a struct statx (256 bytes), aligned to 8 bytes;
	                             0: none */
	int32_t err;              /* as in struct searchent */
	uint16_t errsource;
	uint8_t type;             /* DT_* of <dirent.h>; DT_UNKNOWN for an error */
	uint8_t zero;
};

/**
 * Search, and write the entries to a buffer.
 *
 * If an entry does not fit, it and all later entries are omitted and counted: if len is used +
 * left_bytes, all entries fit, unless something changes in between.
 *
 * @paths, pattern, flags  As for opensearch().
 * @buffer [out]  Aligned to 8 bytes.
 * @len      Its length, at least sizeof(struct search_head).
 * @return   the number of entries in the buffer, or -1; then the buffer is undefined.
 * Errors: ERANGE (no room for the header), EFAULT (NULL, or not aligned); those of
 *         opensearch().
 */
ssize_t search(const char *paths, const char *pattern, int flags, void *buffer, size_t len);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

/**
 * Get the next entry in a buffer; never reads beyond len, even if the buffer is damaged.
 *
 *     const struct search_item *i = NULL;
 *     while ((i = search_next(buffer, len, i)))
 *         puts(search_path(i));
 *
 * @last     The previous entry; NULL: start.
 * @return   NULL at the end, or if there is no valid entry.
 */
static inline const struct search_item *search_next(const void *buffer, size_t len,
                                                    const struct search_item *last)
{
	const char *bytes = (const char *)buffer;
	const struct search_head *head = (const struct search_head *)buffer;
	const struct search_item *item;
	size_t at, room;

	if (!buffer || (uintptr_t)buffer % 8 != 0 || len < sizeof(*head)
	    || head->magic != SEARCH_MAGIC
	    || head->version != SEARCH_VERSION || head->size < sizeof(*head) || head->size % 8 != 0
	    || head->used > len)
		return NULL;
	at = last ? (size_t)((const char *)last - bytes) + last->size : head->size;
	if (at > head->used || head->used - at < sizeof(*item))
		return NULL;
	item = (const struct search_item *)(const void *)(bytes + at);
	room = item->size;
	if (room < sizeof(*item) || room % 8 != 0 || room > head->used - at
	    || item->path < sizeof(*item) || item->path >= room
	    || item->path_len >= room - item->path
	    || ((const char *)item)[item->path + item->path_len] != '\0')
		return NULL;
	if (item->statx != 0
	    && (item->statx < sizeof(*item) || item->statx % 8 != 0 || item->statx > room
	        || room - item->statx < 256))
		return NULL;
	return item;
}

/** The path of an entry. */
static inline const char *search_path(const struct search_item *item)
{
	return (const char *)item + item->path;
}

/** The attributes of an entry; or NULL. */
static inline const struct statx *search_statx(const struct search_item *item)
{
	const char *bytes = (const char *)item;
	return item->statx ? (const struct statx *)(const void *)(bytes + item->statx) : NULL;
}

#ifdef __cplusplus
}
#endif

#endif
