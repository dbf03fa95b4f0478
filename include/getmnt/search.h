/* SPDX-License-Identifier: MIT */
/**
 * The search primitive: all that matches a pattern below some directories, as
 * one call.  After Bui, Thain and others, "Search Should be a System Call";
 * opensearch(3) is the manual.
 *
 *     SEARCH *s = opensearch("/etc:/usr/lib", "*.conf", SEARCH_METADATA | SEARCH_INCLUDEROOT);
 *     struct searchent *e;
 *     while (s && (e = readsearch(s)))
 *         if (!e->err)
 *             printf("%s %jd\n", e->path, (intmax_t)e->info->st_size);
 *     closesearch(s);
 *
 * An object that cannot be examined is an entry with its error, and the search
 * goes on.  Nothing is printed; a search takes threads, descriptors and memory
 * of its own and leaves none.  A SEARCH belongs to one thread at a time, but
 * for cancelsearch().
 *
 * Threads that are cancelled: readsearch() and search() act on a request before
 * they read more, the other functions do not.  Children of fork(2): a SEARCH of
 * the parent can only be closed there.  NULL in its place is fine.
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

/* Flags: the paper's, and those of the programs that were made after it.  R_OK, W_OK and
   X_OK of <unistd.h> are other numbers: INCLUDEROOT, METADATA and STOPATFIRST. */
#define SEARCH_STOPATFIRST (1 << 0)   /* end after the first object found */
#define SEARCH_METADATA    (1 << 1)   /* with its attributes: lstat(2) */
#define SEARCH_INCLUDEROOT (1 << 2)   /* paths begin with the root, as it was given */
#define SEARCH_PERIOD      (1 << 3)   /* a leading '.' is matched by '.' alone */
#define SEARCH_R_OK        (1 << 4)   /* only what access(2) allows; of a link, the */
#define SEARCH_W_OK        (1 << 5)   /* link itself */
#define SEARCH_X_OK        (1 << 6)
/* Ours. */
#define SEARCH_PAPER_Q     (1 << 8)   /* '?' is zero or one character, as in the paper */
#define SEARCH_XDEV        (1 << 9)   /* enter no other mount */
#define SEARCH_CACHED      (1 << 10)  /* attributes as they are known, without asking a server */
#define SEARCH_FOLLOW      (1 << 11)  /* symbolic links are what they lead to */
#define SEARCH_BYNAME      (1 << 12)  /* what is in a directory, by its bytes in order */
#define SEARCH_BYINODE     (1 << 13)  /* ... or by inode numbers; else as it is read */

/** Where an error was met. */
enum {
	SEARCH_ERR_OPEN   = 1,   /* a directory, or a root */
	SEARCH_ERR_READ   = 2,   /* ... half-way */
	SEARCH_ERR_CLOSE  = 3,
	SEARCH_ERR_STAT   = 4,   /* the attributes of an object */
	SEARCH_ERR_ACCESS = 5,   /* its permissions */
	SEARCH_ERR_LIMIT  = 6,   /* deeper than was wanted */
};

/** An object, or an error. */
struct searchent {
	char *path;          /* from the root, beginning with "/"; with an error, and
	                        with SEARCH_INCLUDEROOT, the root as given before it */
	struct stat *info;   /* with SEARCH_METADATA; else NULL */
	int errsource;       /* SEARCH_ERR_OPEN ...; 0: an object */
	int err;             /* an errno value; 0: an object */
};

typedef struct SEARCH SEARCH;

/** How attributes are asked for; what is missing in a kernel is done without. */
enum {
	SEARCH_ENGINE_AUTO,      /* one by one; in the order of inode numbers where the
	                            disk is waited for */
	SEARCH_ENGINE_SYNC,      /* one by one, by each thread */
	SEARCH_ENGINE_BULK,      /* many by one call, where the file system has one
	                            (XFS, btrfs) and allows it: getmnt-search(8) */
	SEARCH_ENGINE_URING = SEARCH_ENGINE_AUTO,   /* another name of AUTO */
};

/** More of what searchv() is to do; but for size, each has its usual value when it is 0.
    Members that come later stand behind these: what is asked for by one that the library
    does not know is refused. */
struct search_options {
	size_t size;              /* sizeof(struct search_options) */
	int flags;                /* SEARCH_*, of the two orders one */
	unsigned threads;         /* 0: one for each processor, where it pays */
	unsigned depth;           /* directories deeper than this are told and not
	                             entered (ERR_LIMIT, EOVERFLOW), what is in a root
	                             being at depth 1; 0: there is no bound */
	bool blocking;            /* enter also what can block: network, FUSE ... */
	int engine;               /* how attributes are asked for: see above */
	bool ahead;               /* attributes in the order of inode numbers */
	unsigned char reserved[3];   /* 0 */
};

/**
 * Begin a search.
 *
 * @paths    Directories, separated by ':'; "\:" is a colon, "\\" a backslash;
 *           an empty one is ".".
 * @pattern  See opensearch(3).
 * @flags    SEARCH_*; of BYNAME and BYINODE one.
 * @return a search, or NULL.  All three are copied.
 * Errors: EINVAL (a flag or a pattern that is none, both orders, NULL), E2BIG (a pattern of
 *         more than 65,536 bytes, or a component of more than 4,096), ENOMEM.  What is
 *         wrong with a directory is an entry.
 * Ownership: closesearch().
 */
SEARCH *opensearch(const char *paths, const char *pattern, int flags);

/**
 * Begin a search in an array of directories.
 *
 * @roots    The directories, n of them; "" is ".".  They are copied.
 * @pattern  See opensearch(3).
 * @options  May be NULL.
 * @return, errors, ownership  As opensearch(); and EINVAL: an engine that is none, or the
 *         size of the options is less than any version's; E2BIG: behind what the library
 *         knows of them something is not 0, or they have more than 4,096 bytes.
 */
SEARCH *searchv(const char *const roots[], size_t n, const char *pattern,
                const struct search_options *options);

/**
 * The next object or error, in no order.
 *
 * @return an entry, which stays the search's until the next call; or NULL at
 *         the end (errno is 0), or when the search cannot go on.
 * Errors: ENOMEM; ECANCELED (cancelsearch()); ECHILD (a child of the process that
 *         opened the search); EINVAL (NULL).
 */
struct searchent *readsearch(SEARCH *search);

/** The attributes of the last entry as statx(2) gave them, with its mask; NULL
    without SEARCH_METADATA, or with an error.  They are valid as long as the entry. */
const struct statx *statxsearch(const SEARCH *search);

/** End a search from another thread or a signal handler: the next readsearch()
    gives NULL.  At any time, and more than once, but it must have returned before
    closesearch() is called. */
void cancelsearch(SEARCH *search);

/** End a search, at any point; NULL is fine.  In a child of the process that opened it, let
    go of the child's copy.  @return 0. */
int closesearch(SEARCH *search);

/** What was done so far. */
struct search_counts {
	uint64_t dirs, entries;   /* directories read, entries seen in them */
	uint64_t found, errors;
	uint64_t calls;           /* kernel calls, */
	uint64_t mount_calls;     /* and those by which the mounts were read, before and since */
	uint64_t threads;         /* that have read, the caller's among them, at most */
};

/**
 * Tell what was done so far.  The calls of threads are known at the end of a root.
 *
 * @counts [out]
 * @size    sizeof(struct search_counts), as the caller knows it: of a shorter one the
 *          end is left out, of a longer one it is 0.
 */
void countsearch(const SEARCH *search, struct search_counts *counts, size_t size);

/*
 * The whole search as one call, into a buffer of the caller's: a header, then
 * entries, one behind the other, each at a multiple of 8 and of its own length.
 * Numbers are in the byte order of the machine.
 */

#define SEARCH_MAGIC   0x48435253u   /* "SRCH" in little-endian */
#define SEARCH_VERSION 1

/** What the buffer begins with. */
struct search_head {
	uint32_t magic;           /* SEARCH_MAGIC */
	uint16_t version;         /* SEARCH_VERSION; raised when old readers would err */
	uint16_t size;            /* of this header: where the entries begin */
	uint64_t used;            /* bytes of the buffer, this header among them */
	uint64_t entries;         /* in the buffer: objects and errors */
	uint64_t left;            /* entries that found no room, */
	uint64_t left_bytes;      /* and the bytes that they need beyond `used` */
};

/** An entry in the buffer; its path and attributes lie behind it, within size. */
struct search_item {
	uint32_t size;            /* a multiple of 8: to the next entry */
	uint32_t path;            /* where the path begins, from this entry on */
	uint32_t path_len;        /* without the NUL that ends it */
	uint32_t statx;           /* where a struct statx (256 bytes) begins, at a
	                             multiple of 8; 0: there is none */
	int32_t err;              /* as in struct searchent */
	uint16_t errsource;
	uint8_t type;             /* DT_*, of <dirent.h>; DT_UNKNOWN with an error */
	uint8_t zero;
};

/**
 * Search, and leave in a buffer what was found; see opensearch().
 *
 * When there is no room for an entry, it and all that come after it are left
 * out, and counted: with len = used + left_bytes all of them have room, if
 * nothing changes meanwhile.
 *
 * @paths, pattern, flags  As opensearch() has them.
 * @buffer [out]  The caller's, at a multiple of 8.
 * @len      Its length, at least sizeof(struct search_head).
 * @return   How many entries are in the buffer; or -1, and what is in the
 *           buffer means nothing.
 * Errors: ERANGE (no room for the header), EFAULT (no buffer, or not at a
 *         multiple of 8); those of opensearch().
 */
ssize_t search(const char *paths, const char *pattern, int flags, void *buffer, size_t len);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

/**
 * The next entry of a buffer; nothing outside of it is read, whatever is in it.
 *
 *     const struct search_item *i = NULL;
 *     while ((i = search_next(buffer, len, i)))
 *         puts(search_path(i));
 *
 * @last     The one before; NULL to begin.
 * @return   NULL at the end, and where no whole entry stands.
 */
static inline const struct search_item *search_next(const void *buffer, size_t len,
                                                    const struct search_item *last)
{
	const char *bytes = (const char *)buffer;
	const struct search_head *head = (const struct search_head *)buffer;
	const struct search_item *item;
	size_t at, room;

	if (!buffer || (uintptr_t)buffer % 8 != 0 || len < sizeof(*head) || head->magic != SEARCH_MAGIC
	    || head->version != SEARCH_VERSION || head->size < sizeof(*head) || head->size % 8 != 0
	    || head->used > len)
		return NULL;
	at = last ? (size_t)((const char *)last - bytes) + last->size : head->size;
	if (at > head->used || head->used - at < sizeof(*item))
		return NULL;
	item = (const struct search_item *)(const void *)(bytes + at);
	room = item->size;
	if (room < sizeof(*item) || room % 8 != 0 || room > head->used - at
	    || item->path < sizeof(*item) || item->path >= room || item->path_len >= room - item->path
	    || ((const char *)item)[item->path + item->path_len] != '\0')
		return NULL;
	if (item->statx != 0
	    && (item->statx < sizeof(*item) || item->statx % 8 != 0 || item->statx > room || room - item->statx < 256))
		return NULL;
	return item;
}

/** The path of an entry that search_next() gave. */
static inline const char *search_path(const struct search_item *item)
{
	return (const char *)item + item->path;
}

/** Its attributes, a struct statx; or NULL. */
static inline const struct statx *search_statx(const struct search_item *item)
{
	return item->statx ? (const struct statx *)(const void *)((const char *)item + item->statx) : NULL;
}

#ifdef __cplusplus
}
#endif

#endif
