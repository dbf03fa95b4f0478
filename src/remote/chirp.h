/* SPDX-License-Identifier: MIT */
/**
 * A search on a Chirp server: chirp_server of the Cooperative Computing Tools, from the paper
 * "Search Should be a System Call".  A conversation as in talk.h, in lines of text:
 *
 *     client                            server
 *     hostname                 ------>
 *                              <------  yes, yes, yes, hostname, localhost
 *     search *.c /src 6        ------>
 *                              <------  0, a line for each entry, an empty line
 *
 * The server matches with fnmatch(3), which lacks parts of getmnt's patterns.  So the server gets a
 * pattern that matches at least the same paths, and the client matches each returned path again.
 * The server also follows every symlink to a directory.  Without SEARCH_FOLLOW, the client keeps
 * entries until a further request has shown which directories above them are symlinks.
 *
 * If a server cannot search, or allows this user only to list directories, the client lists them
 * itself (request "getlongdir"), breadth-first and many at once.  It also does so for SEARCH_XDEV,
 * for a limit of the depth (talk_request.depth), and for SEARCH_ENGINE_SYNC, which the server's
 * search does not support.
 */
#ifndef GM_REMOTE_CHIRP_H
#define GM_REMOTE_CHIRP_H

#include "remote/talk.h"

/** The default port of a server. */
#define CHIRP_PORT "9094"

/** The default directory of the file by which the client proves its user (CHIRP_UNIX). */
#define CHIRP_PROOFS "/tmp"

/** Methods of authentication. */
enum chirp_method {
	CHIRP_UNIX,      /* create a file whose path the server chooses */
	CHIRP_HOSTNAME,  /* by the host name that the server finds for the client's address */
	CHIRP_ADDRESS,   /* by the client's address */
	CHIRP_METHODS,
};

/** The methods to try, in this order. */
struct chirp_auth {
	enum chirp_method methods[CHIRP_METHODS];
	size_t n;
	const char *proofs;     /* for CHIRP_UNIX: absolute path of the only directory in which a
	                           file is created */
	char room[256];         /* memory for `proofs` set by chirp_auth_read() */
};

/** Set the default methods: unix if the server is on this host, then hostname, address. */
void chirp_auth_init(struct chirp_auth *auth, bool same_host);

/** Parse a list of methods: "unix,hostname"; "unix:/DIR" sets the directory.
    @auth  [out]
    @return NULL, or the error, as a phrase. */
const char *chirp_auth_read(struct chirp_auth *auth, const char *text);

/** Make a conversation with a Chirp server.
    @auth  Copied, except auth->proofs.
    @return NULL: memory ran out. */
struct talk *chirp_talk_new(const struct chirp_auth *auth);

#endif
