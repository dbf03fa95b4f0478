/* SPDX-License-Identifier: MIT */
/**
 * Searching on other hosts: several at once, each by a conversation (talk.h) over a connection that
 * the caller's transport makes.
 *
 * All of it runs in the caller's thread, by poll(2).  What a host sends is read only while the
 * queue for the caller is short; otherwise the host waits.
 */
#ifndef GM_REMOTE_REMOTE_H
#define GM_REMOTE_REMOTE_H

#include "os/os.h"
#include "remote/talk.h"

#include <stdbool.h>
#include <stddef.h>

/** Whether a path is a root on another host: "ssh://...", "chirp://...". */
bool remote_is(const char *root);

/**
 * Take a root apart.
 *
 * @text  The root; modified: the strings of the server are in it.
 * @server [out]  scheme, user, host, port.
 * @path [out]  The directory on the server.
 * @return NULL, or what is wrong, as a phrase.
 */
const char *remote_parse(char *text, struct search_server *server, const char **path);

/** The length of what names the server in a root that is valid: "ssh://host"; its path follows.
    0: it is a root on this host. */
size_t remote_prefix(const char *root);

/** The words of a command, as rsync's --rsh separates them.
    @text  Modified: the words are in it.
    @words [out]  At most `most`, without a final NULL.
    @return their number; -1: a quote is not closed, or there are more. */
int remote_words(char *text, char **words, int most);

struct remote;

/** Run a command connected to us.  @return 0, or -1 with errno. */
int remote_run(char *const argv[], struct search_link *link);

/** @os  Counts the calls; outlives it.  @transport  Copied.  @return NULL: memory ran out. */
struct remote *remote_new(struct os *os, const struct search_transport *transport);

/** Add a root; an invalid one becomes an error entry.
    @root  Outlives it.  @index  Of its entries.  @return 0, or -1 (ENOMEM). */
int remote_add(struct remote *remote, const char *root, size_t index);

/** For a remote with one host: its directory is this one, as named there; relative to the directory
    of the login, if it does not begin with '/'.  @path  Outlives it. */
void remote_path(struct remote *remote, const char *path);

/** For a remote with one host: do not end the connection after the next answer. */
void remote_keep(struct remote *remote);

/** Ask it again.  @return whether it had answered completely. */
bool remote_again(struct remote *remote, const struct talk_request *request);

/** An entry, valid until the next call of remote_next() or remote_turn(). */
struct remote_entry {
	const char *root;              /* as given */
	size_t index;                  /* as given */
	struct talk_entry entry;       /* its attributes are not aligned; its root is not used */
	const char *why;               /* of SEARCH_ERR_HOST; else NULL */
};

/** Get the next entry that has arrived.  @return whether there is one. */
bool remote_next(struct remote *remote, struct remote_entry *entry);

/**
 * Send and receive, after all entries were taken.
 *
 * @request  What to search for, except for the roots; the same in each call, and valid until
 *           remote_free().
 * @ms  Wait so long for the first event.
 * @counts  Counts of completed searches are added.
 * @return 1: there may be more; 0: all hosts have answered or failed; -1: memory ran out.
 */
int remote_turn(struct remote *remote, const struct talk_request *request, int ms,
                struct search_counts *counts);

/** Whether a host may be asking for a password on the terminal: it is the only one, and has not
    answered yet. */
bool remote_asks(const struct remote *remote);

/** End all connections and their processes.  @child  This is a child of the process that made them:
    only close and free.  NULL is allowed. */
void remote_free(struct remote *remote, bool child);

#endif
