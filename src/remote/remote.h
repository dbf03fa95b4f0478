/* SPDX-License-Identifier: MIT */
/**
 * Search on other hosts, on several at once: with each host, a conversation (talk.h) over a
 * connection that the caller's transport makes.
 *
 * All work is done in the caller's thread, by poll(2).  Bytes from a host are read only while the
 * queue of entries for the caller is short; otherwise the host has to wait.
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
 * Split a root on another host into its parts.
 *
 * @text  The root; modified: the strings of `server` and `path` point into it.
 * @server [out]  The scheme, user, host and port.
 * @path [out]  The directory on the server.
 * @return NULL, or the error, as a phrase.
 */
const char *remote_parse(char *text, struct search_server *server, const char **path);

/** Get the length of the part of a valid root that names the server: "ssh://host"; the path
    follows.
    @return 0: the root is on this host. */
size_t remote_prefix(const char *root);

/** Split a command into words, as rsync does with its option --rsh.
    @text  Modified: the words point into it.
    @words [out]  At most `most`, without a final NULL.
    @return the number of words; -1: a quote is not closed, or there are more than `most` words. */
int remote_words(char *text, char **words, int most);

struct remote;

/** Start a command whose standard input and output are connected to link->fd, and its standard
    error to link->errors.
    @return 0, or -1 with errno. */
int remote_run(char *const argv[], struct search_link *link);

/** Make a struct remote without hosts.
    @os  Counts the system calls; must outlive the struct.
    @transport  Copied.
    @return NULL: memory ran out. */
struct remote *remote_new(struct os *os, const struct search_transport *transport);

/** Add a root; an invalid root becomes an error entry.
    @root  Must outlive the struct.
    @index  The index that remote_next() returns with its entries.
    @return 0, or -1 (ENOMEM). */
int remote_add(struct remote *remote, const char *root, size_t index);

/** With one host and one root: set the directory to search, as a path of the host; without a
    leading '/', relative to the directory of the login.
    @path  Must outlive the struct. */
void remote_path(struct remote *remote, const char *path);

/** With one host: keep the connection after the next answer, for remote_again(). */
void remote_keep(struct remote *remote);

/** With one host: send a further request over the connection that remote_keep() kept.
    @return false: the connection was not kept, since there is no complete answer. */
bool remote_again(struct remote *remote, const struct talk_request *request);

/** An entry, valid until the next call of remote_next() or remote_turn(). */
struct remote_entry {
	const char *root;              /* as given to remote_add() */
	size_t index;                  /* as given to remote_add() */
	struct talk_entry entry;       /* the attributes it points to are not aligned; its `root` is
	                                  unused */
	const char *why;               /* reason of a SEARCH_ERR_HOST, as a phrase; else NULL */
};

/** Get the next entry from the queue.
    @return false: the queue is empty. */
bool remote_next(struct remote *remote, struct remote_entry *entry);

/**
 * Exchange data with the hosts, after remote_next() has returned all entries.
 *
 * @request  The search, without roots; must be the same in each call, and valid until
 *           remote_free().
 * @ms  The maximum milliseconds to wait for the first event.
 * @counts  The counts of completed searches are added to these.
 * @return 1: call again, there may be further entries; 0: all hosts have answered or failed;
 *         -1: memory ran out.
 */
int remote_turn(struct remote *remote, const struct talk_request *request, int ms,
                struct search_counts *counts);

/** Whether ssh may be asking for a password on the terminal: there is only one host, and getmnt on
    it has not answered yet. */
bool remote_asks(const struct remote *remote);

/** End all connections and their processes, and free the struct.
    @remote  NULL is allowed.
    @child  This is a child of the process that made the connections: only close descriptors and
    free memory. */
void remote_free(struct remote *remote, bool child);

#endif
