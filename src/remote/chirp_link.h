/* SPDX-License-Identifier: MIT */
/**
 * What a conversation with a Chirp server needs of this host: a connection, and a file that proves
 * who this user is.
 */
#ifndef GM_REMOTE_CHIRP_LINK_H
#define GM_REMOTE_CHIRP_LINK_H

#include "os/os.h"
#include "remote/chirp.h"

/** All zero: not started. */
struct chirp_link {
	bool connecting;         /* the connection is not ready */
	char *proof;             /* the file; NULL: there is none */
	int prooffd;             /* the same file, which the server may have removed */
};

/** Start to connect.
    @methods  As for chirp_auth_read(); NULL: the default.
    @talk [out]  The conversation, also on failure, unless NULL.
    @link [out]  Its descriptor is readable when chirp_link_take() can be called; its process
    connects.
    @why [out]  What is wrong is appended, unless errno says it.
    @return 0, or -1. */
int chirp_link_start(struct chirp_link *chirp, struct os *os, const struct search_server *server,
                     const char *methods, struct talk **talk, struct search_link *link,
                     struct strbuf *why);

/** Take the connection: link->fd becomes another descriptor.
    @return 0; 1: not yet; -1: there is none: why is appended. */
int chirp_link_take(struct chirp_link *chirp, struct os *os, struct search_link *link,
                    struct strbuf *why);

/** prove() of struct talk_sink. */
int chirp_link_prove(struct chirp_link *chirp, struct os *os, const char *path);

/** The conversation has ended. */
void chirp_link_end(struct chirp_link *chirp, struct os *os);

#endif
