/* SPDX-License-Identifier: MIT */
/**
 * A conversation with a server that searches, as a state machine without I/O: a protocol makes the
 * bytes to send, and converts received bytes to entries.  The driver, the caller of these
 * functions, owns the connection.
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
 * A server may be hostile.  A protocol checks each received length before it allocates memory or
 * waits, keeps less than TALK_KEPT bytes between two calls, and checks each path by
 * talk_path_wrong().
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
	TALK_PATH_MAX = 1 << 20,       /* maximum bytes of a path in an answer */
	TALK_KEPT = 4 << 20,           /* maximum bytes that a protocol keeps of an incomplete
	                                  answer */
	TALK_ACTIONS = 32,             /* maximum number of actions of a query */
};

/** A search on a server: the argument of ask(), which uses the strings and arrays only during its
    call. */
struct talk_request {
	const char *const *roots;      /* n root directories of the search, as paths of the
	                                  server */
	size_t n;
	const char *pattern;
	const char *query;             /* string of query_print_tests(); "": no query */
	unsigned actions;              /* number of actions of the query; each object reaches at
	                                  least one.  Not sent: the server counts the actions of
	                                  `query` */
	uint32_t attributes;           /* 1 << index of each action that needs attributes; not
	                                  sent */
	const char *const *exclude;    /* nexclude patterns of objects that are neither returned nor
	                                  entered */
	size_t nexclude;
	int flags;                     /* SEARCH_*, except SEARCH_INCLUDEROOT: an entry has the
	                                  index of its root */
	unsigned types;                /* types to return: 1 << DT_*; 0: all */
	unsigned mask;                 /* K_STATX_*: attributes that are needed in addition to
	                                  K_STATX_BASIC and K_STATX_BTIME; used only with
	                                  SEARCH_METADATA or a query */
	bool type;                     /* the type must be known */
	bool links;                    /* the targets of symlinks must be known */
	bool optional;                 /* also return objects whose attributes are unavailable */
	bool xattrs;                   /* the names of extended attributes must be known */
	bool exported;                 /* NFS clients see the root, too; see search_more.exported */
	bool self;                     /* also return each root, at depth 0; a root may then be any
	                                  type of file */
	bool follow_roots;             /* with self: follow a symlink that is a root */
	bool files;                    /* also return a root that is not a directory, if its name
	                                  matches */
	const char *exclude_types;     /* file system types that are not entered, "nfs,proc"; "" or
	                                  NULL: enter all */
	const char *prefix;            /* text that precedes the root in printed paths, such as
	                                  "ssh://host"; tests such as -path compare the whole path.
	                                  NULL: as "" */
	const char *name;              /* path of the only root as the user's search prints it, if
	                                  this request is for a part of that search; tests such as
	                                  -path compare paths that begin with it.  NULL: not a
	                                  part */
	size_t name_root;              /* number of bytes at the start of `name` that are the root
	                                  of the user's search, from which patterns and depths
	                                  count.  The rest of `name` is "" or begins with '/' */
	bool blocking;                 /* blocking, ahead, engine, threads, depth: as in struct
	                                  search_options */
	bool ahead;
	int engine;
	unsigned threads, depth;
	unsigned mindepth;             /* minimum depth of objects to return; entries of a root are
	                                  at depth 1 */
	unsigned levels;               /* number of depths to return: 1: only roots, which are at
	                                  depth 0; 0: no limit.  Deeper directories cause no
	                                  error */
};

/** An object or an error, as in struct searchent; valid during the call of entry(). */
struct talk_entry {
	size_t root;                   /* index of the root in talk_request.roots */
	const char *path;              /* path relative to the root, "/a/b", followed by a NUL; "":
	                                  the root itself */
	size_t len;
	const char *target;            /* target of a symlink, followed by a NUL; NULL: not known */
	size_t target_len;
	const char *xattrs;            /* names of extended attributes, each with a NUL, and a final
	                                  NUL; NULL: not known */
	size_t xattrs_len;             /* bytes of xattrs without the final NUL */
	const struct k_statx *st;      /* attributes; NULL: not known */
	unsigned char type;            /* DT_* */
	uint32_t actions;              /* actions of the query that the object reaches, 1 <<
	                                  index */
	int err, errsource;            /* an errno value of Linux and SEARCH_ERR_*; 0: an object */
};

/** Functions of the driver that a protocol calls. */
struct talk_sink {
	/** Receive an entry.  The function must record a failure (no memory) in the sink itself. */
	void (*entry)(struct talk_sink *sink, const struct talk_entry *entry);

	/** Create an empty file, which must not exist yet, to prove to the server which user runs
	    this process (the method "unix" of Chirp); the protocol has checked the path.  If the
	    path is NULL, remove the file; the driver must also do so when the conversation ends.
	    NULL: this process never creates files.
	    @return 0, or an errno. */
	int (*prove)(struct talk_sink *sink, const char *path);
};

enum talk_state {
	TALK_GOING,      /* send the contents of `out`, and receive */
	TALK_DONE,       /* the answer is complete, or no request was made yet: ask() may be
	                    called */
	TALK_FAILED,     /* `why` has the reason; send and receive nothing */
};

struct talk;

/** The functions of a protocol. */
struct talk_ops {
	/** Start a search; the state must be TALK_DONE.  Appends the request to `out`, or fails
	    (TALK_FAILED). */
	void (*ask)(struct talk *talk, const struct talk_request *request);

	/** Process n received bytes in the state TALK_GOING, and pass each complete entry to the
	    sink.  Fails if bytes follow the end of an answer. */
	void (*take)(struct talk *talk, const char *bytes, size_t n, struct talk_sink *sink);

	/** Process the end of the connection, which the server closed: set TALK_FAILED, unless the
	    state is TALK_DONE. */
	void (*end)(struct talk *talk);

	/** Free the conversation, including `out` and `why` (talk_destroy()). */
	void (*free)(struct talk *talk);
};

/** Whether objects have attributes in the answer to a request. */
bool talk_has_attributes(const struct talk_request *request);

/** A conversation; the first member of the struct of each protocol.  Invariants: in TALK_FAILED,
    which is final, there is a reason and nothing to send; in other states there is no reason. */
struct talk {
	const struct talk_ops *ops;
	enum talk_state state;
	bool met;                      /* the server has shown that it speaks the protocol */
	struct strbuf out;             /* bytes to send */
	struct strbuf why;             /* reason for TALK_FAILED: a phrase for a message, without a
	                                  final period; not escaped */
	struct search_counts counts;   /* with TALK_DONE: counts of the search, as far as they are
	                                  known */
};

/** Initialize a conversation without a request. */
void talk_init(struct talk *talk, const struct talk_ops *ops);

/** Free the memory of the members of struct talk. */
void talk_destroy(struct talk *talk);

/** Remove the first n bytes of `out`, which were sent. */
void talk_sent(struct talk *talk, size_t n);

/** Set the state to TALK_FAILED, with a reason; if the conversation has failed before, keep its
    first reason. */
__attribute__((format(printf, 2, 3)))
void talk_fail(struct talk *talk, const char *format, ...);

/** Check a path in an answer.  It must be "" or begin with '/', have no NUL, no component that is
    empty, "." or "..", and at most TALK_PATH_MAX bytes.
    @return NULL, or the error, as a phrase ("it has a component \"..\""). */
const char *talk_path_wrong(const char *path, size_t len);

#endif
