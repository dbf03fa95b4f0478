/* SPDX-License-Identifier: MIT */
/**
 * A search on a Chirp server, the paper's own: chirp_server of the Cooperative Computing Tools.  A
 * conversation as in talk.h, in lines of text:
 *
 *     client                            server
 *     hostname                 ------>
 *                              <------  yes, yes, yes, hostname, localhost
 *     search *.c /src 6        ------>
 *                              <------  0, a line for each entry, an empty line
 *
 * The server matches with fnmatch(3) and knows less than our patterns.  So it gets a pattern that
 * matches at least what is wanted, and each path that it returns is matched again here.  It also
 * follows every symlink to a directory.  Unless SEARCH_FOLLOW, entries are kept until another round
 * trip has told which directories above them are symlinks.
 *
 * A server that cannot search, or lets this user list directories but not search, is asked for
 * directories instead, breadth-first and many at once: getlongdir.  The same is done for what only
 * a client that knows each directory can do: SEARCH_XDEV, a limit of the depth that is reported,
 * and SEARCH_ENGINE_SYNC.
 */
#ifndef GM_REMOTE_CHIRP_H
#define GM_REMOTE_CHIRP_H

#include "remote/talk.h"

/** The port of a server, unless the URL has one. */
#define CHIRP_PORT "9094"

/** The directory of the file that proves who this user is. */
#define CHIRP_PROOFS "/tmp"

/** How to prove who asks. */
enum chirp_method {
	CHIRP_UNIX,      /* by a file that the server names and this process creates */
	CHIRP_HOSTNAME,  /* by the name that the server finds for the address */
	CHIRP_ADDRESS,   /* by the address */
	CHIRP_METHODS,
};

/** The methods to try, in this order. */
struct chirp_auth {
	enum chirp_method methods[CHIRP_METHODS];
	size_t n;
	const char *proofs;     /* for CHIRP_UNIX: the only directory for its file, absolute */
	char room[256];         /* for chirp_auth_read() */
};

/** The methods if the user chose none: unix if the server is on this host, hostname, address. */
void chirp_auth_init(struct chirp_auth *auth, bool same_host);

/** Read a list of methods: "unix,hostname"; "unix:/DIR" sets the directory.
    @auth [out]
    @return NULL, or what is wrong, as a phrase. */
const char *chirp_auth_read(struct chirp_auth *auth, const char *text);

/** A conversation.  @auth  Copied, except auth->proofs.  @return NULL: memory ran out. */
struct talk *chirp_talk_new(const struct chirp_auth *auth);

#endif
