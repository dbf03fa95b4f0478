/* SPDX-License-Identifier: MIT */
/**
 * The connection to a Chirp server, and the file that proves to the server which user this is.
 */
#ifndef GM_REMOTE_CHIRP_LINK_H
#define GM_REMOTE_CHIRP_LINK_H

#include "os/os.h"
#include "remote/chirp.h"

/** The resources of a conversation; all zero: not started. */
struct chirp_link {
	bool connecting;         /* the child process has not passed on the connection yet */
	char *proof;             /* path of the created file; NULL: no file */
	int prooffd;             /* descriptor of the file, which the server may have removed */
};

/** Start to connect, in a child process.
    @methods  As for chirp_auth_read(); NULL: the default methods.
    @talk [out]  The conversation, also on failure, unless NULL.
    @link [out]  Its descriptor is readable when chirp_link_take() can be called; its process is the
    child.
    @why [out]  The error is appended, except one that errno describes.
    @return 0, or -1. */
int chirp_link_start(struct chirp_link *chirp, struct os *os, const struct search_server *server,
                     const char *methods, struct talk **talk, struct search_link *link,
                     struct strbuf *why);

/** Get the connection from the child process, and replace link->fd by it.
    @return 0; 1: the child has not finished; -1: no connection, after appending the reason to
    why. */
int chirp_link_take(struct chirp_link *chirp, struct os *os, struct search_link *link,
                    struct strbuf *why);

/** Create the file `path`, or remove the file if path is NULL; see talk_sink.prove. */
int chirp_link_prove(struct chirp_link *chirp, struct os *os, const char *path);

/** Remove the file of a conversation, and close its descriptor. */
void chirp_link_end(struct chirp_link *chirp, struct os *os);

#endif
