/* SPDX-License-Identifier: MIT */
/**
 * Data and functions shared by remote.c and end.c, which drive conversations with other hosts.
 */
#ifndef GM_REMOTE_REMOTE_IMPL_H
#define GM_REMOTE_REMOTE_IMPL_H

#include "remote/remote.h"

#include "remote/chirp_link.h"

/** States of a host, in the order in which it passes through them; remote.c has a diagram. */
enum host_state { WAITING, TALKING, RESTING, ENDING, LEAVING, GONE };

struct remote_root {
	const char *name, *path;       /* name: as given to remote_add(); path: the directory on the
	                                  server */
	size_t index;                  /* as given to remote_add() */
};

/** Invariants (remote_check()): a host has a conversation exactly in TALKING, RESTING and ENDING.
    In LEAVING and GONE no connection is open.  A host has at least one root. */
struct remote_host {
	struct search_server server;
	const char *prefix;            /* the roots' text before the path, such as "ssh://host" */
	struct remote_root *roots;
	const char **paths;            /* paths of the roots, for the request */
	size_t n, room;
	enum host_state state;
	struct talk *talk;
	struct chirp_link chirp;       /* used if the host is a Chirp server */
	struct search_link link;       /* connection; fd -1: closed; pid 0: no process, or the
	                                  process is gone */
	int status;                    /* status of the process, as from waitpid(2); -1: unknown */
	double since;                  /* time of the last received bytes, or of the last change of
	                                  state */
	struct strbuf errors;          /* the last bytes of the process's standard error */
};

/** Invariants (remote_check()): hosts from `started` on are WAITING, hosts before it are not; `at`
    is where an entry of the queue begins, or the end of the queue. */
struct remote {
	struct os *os;
	struct search_transport transport;
	struct remote_host *hosts;
	size_t n, room;
	size_t started;                /* number of hosts that are no longer WAITING */
	size_t turn;                   /* number of the call of remote_turn(), which decides the
	                                  first host to receive from */
	char **texts;                  /* memory of the strings of hosts and roots */
	size_t ntexts, texts_room;
	struct strbuf queue;           /* entries for the caller */
	size_t at;                     /* offset in queue of the next entry */
	bool keep;                     /* keep the connection after a complete answer: the host
	                                  becomes RESTING */
	bool failed;                   /* memory ran out */
};

/* remote.c */

/** Assert the invariants; does nothing if NDEBUG is defined. */
void remote_check(const struct remote *remote);

/** Set the state of a host; the diagram in remote.c must allow the change. */
void remote_set_state(struct remote_host *host, enum host_state state);
/** Append an entry to the queue.
    @why  The reason of a SEARCH_ERR_HOST; else NULL. */
void remote_queue(struct remote *remote, const struct remote_root *root,
                  const struct talk_entry *e, const char *why);

/* end.c */

/** Read the standard error of a host's process, and keep its last bytes in host->errors. */
void remote_read_errors(struct remote *remote, struct remote_host *host);

/** Append the last lines of host->errors to `why`, joined to one line. */
void remote_quote_errors(const struct remote_host *host, struct strbuf *why);

/** Append the reason why a connection ended early.  The process has ended, or was given time to
    end. */
void remote_why_ended(const struct remote_host *host, struct strbuf *why);

/** Close the connection of a host, and its standard error unless the state is ENDING. */
void remote_close(struct remote *remote, struct remote_host *host);

/** Whether the process of a host has ended; stores its status. */
bool remote_is_gone(struct remote *remote, struct remote_host *host);

/** End the conversation with a host, and set LEAVING.
    @kill  Send SIGTERM to the process. */
void remote_leave(struct remote *remote, struct remote_host *host, bool kill);

/** Append an error to the queue for each root of a host, and end the conversation. */
void remote_fail_host(struct remote *remote, struct remote_host *host, int error,
                      const char *why);

#endif
