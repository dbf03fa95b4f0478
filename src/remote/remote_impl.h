/* SPDX-License-Identifier: MIT */
/**
 * Shared by the files that drive conversations with other hosts.
 */
#ifndef GM_REMOTE_REMOTE_IMPL_H
#define GM_REMOTE_REMOTE_IMPL_H

#include "remote/remote.h"

#include "remote/chirp_link.h"

/** In the order of a host's life; remote.c has a diagram. */
enum host_state { WAITING, TALKING, RESTING, ENDING, LEAVING, GONE };

struct remote_root {
	const char *name, *path;       /* as given; on the server */
	size_t index;                  /* as given */
};

/** Invariants (remote_check()): a host that talks, rests or ends has a conversation, and one that
    leaves or is gone has none, and no open connection; it has at least one root. */
struct remote_host {
	struct search_server server;
	const char *prefix;            /* of the roots, before the path */
	struct remote_root *roots;
	const char **paths;            /* of the roots, for the request */
	size_t n, room;
	enum host_state state;
	struct talk *talk;
	struct chirp_link chirp;       /* of a Chirp server */
	struct search_link link;       /* -1: closed; pid 0: none, or it is gone */
	int status;                    /* of its process, as of waitpid(2); -1: unknown */
	double since;                  /* the last sign of life, or the begin of its state */
	struct strbuf errors;          /* the end of its messages */
};

/** Invariants (remote_check()): hosts from `started` on are WAITING, the others are not; `at` is
    where an entry of the queue begins, or its end. */
struct remote {
	struct os *os;
	struct search_transport transport;
	struct remote_host *hosts;
	size_t n, room;
	size_t started;                /* hosts that are no longer WAITING */
	size_t turn;                   /* the host to begin with */
	char **texts;                  /* the strings of hosts and roots */
	size_t ntexts, texts_room;
	struct strbuf queue;           /* entries for the caller */
	size_t at;                     /* the next one */
	bool keep;                     /* a host is ASKED again */
	bool failed;                   /* memory ran out */
};

/* remote.c */

/** Assert the invariants; does nothing if NDEBUG is defined. */
void remote_check(const struct remote *remote);

/** The next state of a host; it must be one to which the diagram of remote.c leads. */
void remote_set_state(struct remote_host *host, enum host_state state);
/** Queue an entry.  @why  Of an error of the host; else NULL. */
void remote_queue(struct remote *remote, const struct remote_root *root,
                  const struct talk_entry *e, const char *why);

/* remote_end.c */

/** Keep the end of what a host's process says on standard error. */
void remote_read_errors(struct remote *remote, struct remote_host *host);

/** Append these messages, in one line. */
void remote_quote_errors(const struct remote_host *host, struct strbuf *why);

/** Append why a connection ended early; its process is gone, or does not end. */
void remote_why_ended(const struct remote_host *host, struct strbuf *why);

/** Close a connection; in ENDING its messages still come. */
void remote_close(struct remote *remote, struct remote_host *host);

/** Whether the process of a host is gone. */
bool remote_is_gone(struct remote *remote, struct remote_host *host);

/** Nothing more comes from a host.  @kill  Its process ends at once. */
void remote_leave(struct remote *remote, struct remote_host *host, bool kill);

/** A host has failed: an error for each root. */
void remote_fail_host(struct remote *remote, struct remote_host *host, int error,
                      const char *why);

#endif
