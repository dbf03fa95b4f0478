/* SPDX-License-Identifier: MIT */
/**
 * A conversation with a server of searches, as a state machine without any I/O: a protocol makes
 * the bytes to send, and makes entries of the bytes received.  Whoever drives the conversation owns
 * the connection.
 *
 *     talk->ops->ask(talk, &request);
 *     while (talk->state == TALK_GOING) {
 *             n = write(fd, talk->out.data, talk->out.len);          remove them: talk_sent()
 *             n = read(fd, bytes, sizeof(bytes));
 *             if (n > 0)
 *                     talk->ops->take(talk, bytes, n, sink);
 *             else
 *                     talk->ops->end(talk);
 *     }
 *
 * Everything received is hostile.  A protocol bounds each length before it allocates or waits,
 * keeps less than TALK_KEPT bytes between two calls, and checks each path by talk_path_wrong().
 */
#ifndef GM_REMOTE_TALK_H
#define GM_REMOTE_TALK_H

#include "getmnt/search.h"
#include "base/strbuf.h"
#include "os/kernel.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	TALK_PATH_MAX = 1 << 20,       /* bytes of a path in an answer */
	TALK_KEPT = 4 << 20,           /* bytes that a protocol keeps of an incomplete answer */
	TALK_ACTIONS = 32,             /* actions of a query */
};

/** A search on a server.  Everything is borrowed during the call of ask(). */
struct talk_request {
	const char *const *roots;      /* directories, as the server names them */
	size_t n;
	const char *pattern;
	const char *query;             /* of query_print_tests(); "": none */
	unsigned actions;              /* of the query: each object reaches one of so many; a
	                                  server counts them itself */
	uint32_t attributes;           /* 1 << index of those that need attributes; not sent */
	const char *const *exclude;    /* patterns of what is neither returned nor entered */
	size_t nexclude;
	int flags;                     /* SEARCH_*, without INCLUDEROOT: entries have their root */
	unsigned types;                /* 1 << DT_*: only these; 0: all */
	unsigned mask;                 /* K_STATX_*: what objects need: with SEARCH_METADATA in
	                                  addition to K_STATX_BASIC and K_STATX_BTIME; else only
	                                  with a query */
	bool type;                     /* the type must be known */
	bool links;                    /* the targets of symlinks must be known */
	bool optional;                 /* also objects whose attributes are unavailable */
	bool xattrs;                   /* the names of extended attributes must be known */
	bool exported;                 /* the root is seen by NFS too: see struct search_more */
	bool self;                     /* also each root, at depth 0; it need not be a directory */
	bool follow_roots;             /* with self: follow a symlink that is a root */
	bool files;                    /* a root that is not a directory, if its name matches */
	const char *exclude_types;     /* of file systems that are not entered, "nfs,proc"; "" or
	                                  NULL: none */
	const char *prefix;            /* paths are printed with this before the directory, as
	                                  "ssh://host": tests get such paths; NULL: as "" */
	const char *name;              /* the root, of which there is one, is a part of a larger
	                                  search, whose paths begin with this one, as it is
	                                  printed: tests get such paths; NULL: it is not */
	size_t name_root;              /* bytes of the root of that search; patterns and depths
	                                  count from there: "", or a '/' follows */
	bool blocking;                 /* as in struct search_options, like the following */
	bool ahead;
	int engine;
	unsigned threads, depth;
	unsigned mindepth;             /* report nothing above, silently; entries of a root are at
	                                  depth 1 */
	unsigned levels;               /* report nothing below, silently: 1: only roots, which
	                                  are at depth 0; 0: no limit */
};

/** An object or an error, as in struct searchent; valid during the call of entry(). */
struct talk_entry {
	size_t root;                   /* index in the roots of the request */
	const char *path;              /* below the root, "/a/b", with a final NUL; "": the root */
	size_t len;
	const char *target;            /* of a symlink, with a final NUL; NULL: not known */
	size_t target_len;
	const char *xattrs;            /* names, each with its NUL, and a final NUL; NULL: not
	                                  known */
	size_t xattrs_len;             /* of these, without the final NUL */
	const struct k_statx *st;      /* NULL: none */
	unsigned char type;            /* DT_* */
	uint32_t actions;              /* of the query: 1 << index of those that it reaches */
	int err, errsource;            /* an errno value of Linux and SEARCH_ERR_*; 0: an object */
};

/** Where the driver takes entries. */
struct talk_sink {
	/** Take an entry.  A failure (memory) is the sink's own matter. */
	void (*entry)(struct talk_sink *sink, const struct talk_entry *entry);

	/** Create an empty file, which must not exist yet, to show the server which user this is
	    (the method "unix" of Chirp); the protocol has checked the path.  With a
	    path of NULL: remove that file.  The driver also does so when the conversation
	    ends.  NULL: it never does that.  @return 0, or an errno. */
	int (*prove)(struct talk_sink *sink, const char *path);
};

enum talk_state {
	TALK_GOING,      /* send what is in `out`, and receive */
	TALK_DONE,       /* the answer is complete, or nothing was asked yet: ask() may follow */
	TALK_FAILED,     /* `why` says why; nothing more is sent or received */
};

struct talk;

/** A protocol. */
struct talk_ops {
	/** Start a search, while TALK_DONE: append its request to `out`.  It can fail. */
	void (*ask)(struct talk *talk, const struct talk_request *request);

	/** Take n bytes received while TALK_GOING, and pass on each complete entry.  Bytes after
	    the end of an answer are a failure: nobody asked for them. */
	void (*take)(struct talk *talk, const char *bytes, size_t n, struct talk_sink *sink);

	/** The server closed the connection: TALK_FAILED, unless the state was TALK_DONE. */
	void (*end)(struct talk *talk);

	/** Free the conversation, `out` and `why` as well (talk_destroy()). */
	void (*free)(struct talk *talk);
};

/** Whether objects have attributes in the answer to a request. */
bool talk_has_attributes(const struct talk_request *request);

/** A conversation; a protocol puts it first in a struct of its own.  Invariants: TALK_FAILED has a
    reason and nothing to send, and stays; the other states have no reason. */
struct talk {
	const struct talk_ops *ops;
	enum talk_state state;
	bool met;                      /* the server has shown that it speaks the protocol */
	struct strbuf out;             /* what is to be sent */
	struct strbuf why;             /* of TALK_FAILED: a phrase for a message, without a final
	                                  period; not escaped */
	struct search_counts counts;   /* with TALK_DONE: of the search, as far as they are known */
};

/** Initialize: nothing asked yet. */
void talk_init(struct talk *talk, const struct talk_ops *ops);

/** Free the memory of the common part. */
void talk_destroy(struct talk *talk);

/** The first n bytes of `out` were sent: remove them. */
void talk_sent(struct talk *talk, size_t n);

/** Fail; only the first reason counts. */
__attribute__((format(printf, 2, 3)))
void talk_fail(struct talk *talk, const char *format, ...);

/** Why a path in an answer cannot be that of an entry below its root, as a phrase ("it has a
    component \"..\""); NULL: it can.  It must be "" or begin with '/', have no NUL, no component
    that is empty, "." or "..", and at most TALK_PATH_MAX bytes. */
const char *talk_path_wrong(const char *path, size_t len);

#endif
