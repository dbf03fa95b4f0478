/* SPDX-License-Identifier: MIT */
/**
 * Search: find the objects below some directories that match a pattern; see getmnt_search_open(3).
 * The functions of "Search Should be a System Call" (Bui, Thain and others), after which this is
 * made, are in <getmnt/search_paper.h>.
 *
 *     const char *roots[] = {"/etc", "/usr/lib"};
 *     struct getmnt_search *s = getmnt_search_open(roots, 2, "*.conf", &(struct search_options){
 *         .size = sizeof(struct search_options), .flags = SEARCH_METADATA | SEARCH_INCLUDEROOT,
 *     });
 *     struct searchent *e;
 *     while (s && (e = getmnt_search_read(s)))
 *         if (e->info)
 *             printf("%s %jd\n", e->path, (intmax_t)e->info->st_size);
 *     getmnt_search_close(s);
 *
 * If an object cannot be examined, its error is returned as an entry, and the search
 * continues.  The library never prints; getmnt_search_close() ends all threads and frees all
 * descriptors and memory.  Only one thread at a time may use a search, except for
 * getmnt_search_cancel().
 *
 * getmnt_search_read() is a cancellation point (pthread_cancel(3)), the other functions are not.
 * In a child made by fork(2), a search of the parent can only be closed.  A NULL search is allowed.
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
	SEARCH_ERR_STAT   = 4,   /* getting the attributes of an object */
	SEARCH_ERR_ACCESS = 5,   /* checking its permissions */
	SEARCH_ERR_LIMIT  = 6,   /* a directory is deeper than search_options.depth */
	SEARCH_ERR_HOST   = 7,   /* searching on another host: see getmnt_search_why() */
};

/** An object, or an error. */
struct searchent {
	char *path;          /* below the directory, starting with "/"; for an error, and with
	                        SEARCH_INCLUDEROOT, prefixed by the directory as given */
	struct stat *info;   /* with SEARCH_METADATA; else NULL.  NULL also of an object for which
	                        a query is true although its attributes cannot be read */
	int errsource;       /* SEARCH_ERR_OPEN ...; 0: an object */
	int err;             /* an errno value; 0: an object */
	size_t root;         /* the index of the given directory */
	const char *below;   /* in path: the path below that directory, without a leading slash;
	                        "": the directory itself */
	unsigned char type;  /* DT_* of <dirent.h>; DT_UNKNOWN for an error, and where it was not
	                        needed and the directory does not list it */
};

/** A search. */
struct getmnt_search;

/** How attributes are fetched; falls back if the kernel lacks support. */
enum {
	SEARCH_ENGINE_AUTO,      /* one by one; in inode order while the calls wait for a disk */
	SEARCH_ENGINE_SYNC,      /* one by one */
	SEARCH_ENGINE_BULK,      /* through the bulk interfaces of XFS and btrfs, if permitted:
	                            getmnt-search(8) */
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
	   process.  @return 0, or -1 with errno.  getmnt_search_ssh() is such a function. */
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

/** Settings of a search; all members except size may be 0.  Later versions add members at the
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
	char *why;                /* [out] if the search cannot be opened with EINVAL or E2BIG: a
	                             sentence for the user that says why; it quotes patterns and
	                             queries as they are.  Else "".  NULL: not wanted */
	size_t why_size;          /* of why; what does not fit is cut */
};

/**
 * Start a search.
 *
 * @roots    n directories; "" is ".".  Copied, like pattern.
 * @pattern  See getmnt-search(8).
 * @options  May be NULL.
 * @return a search, or NULL.
 * Errors: EINVAL (an unknown flag or engine, an invalid pattern or query, both orders, NULL, a size
 *         smaller than that of any version); E2BIG (a pattern of more than 65,536 bytes, a
 *         component of more than 4,096, or more than 32,768 components with braces expanded; a
 *         member of options that the library does not know is not 0, or their size is more than
 *         4,096 bytes); ENOMEM.  Errors of a directory are returned as entries.
 * Ownership: getmnt_search_close().
 */
struct getmnt_search *getmnt_search_open(const char *const roots[], size_t n, const char *pattern,
                                         const struct search_options *options);

/**
 * Get the next object or error, in no particular order.
 *
 * @return an entry, valid until the next call; or NULL: at the end (errno is 0), or if the
 *         search cannot continue.
 * Errors: ENOMEM; ECANCELED (getmnt_search_cancel()); ECHILD (called in a child of the process that
 *         opened the search); EINVAL (NULL).
 */
struct searchent *getmnt_search_read(struct getmnt_search *search);

/** The attributes of the last entry as statx(2) returned them, valid as long as the entry; NULL
    without SEARCH_METADATA, or for an error. */
const struct statx *getmnt_search_statx(const struct getmnt_search *search);

/** Why the last entry is an error of SEARCH_ERR_HOST, as a phrase in English, valid as long as the
    entry.  It may quote what another host sent.  NULL: there is no more to say than the error
    number does. */
const char *getmnt_search_why(const struct getmnt_search *search);

/**
 * Run ssh: a function for struct search_transport.
 *
 * @command  A string: the words of the command and its options, separated by blanks, and quoted by
 *           '...' or "..."; NULL: "ssh".  It gets `-p PORT` and `-l USER`, if given, the host, and
 *           the words "getmnt serve --stdio".
 * Errors: EINVAL (no words, or a quote is not closed), those of socketpair(2), fork(2), execve(2).
 */
int getmnt_search_ssh(void *command, const struct search_server *server, struct search_link *link);

/** End a search from any thread or a signal handler: the next getmnt_search_read() returns NULL.
    May be called more than once, but must return before getmnt_search_close() is called. */
void getmnt_search_cancel(struct getmnt_search *search);

/** End a search, at any time, and free it; NULL is allowed.  In a child made by fork(2), free the
    child's copy.  @return 0. */
int getmnt_search_close(struct getmnt_search *search);

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
void getmnt_search_count(const struct getmnt_search *search, struct search_counts *counts,
                         size_t size);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
