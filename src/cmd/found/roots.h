/* SPDX-License-Identifier: MIT */
/**
 * The roots of a search: the PATHs of the command line or of a file; connections to roots on other
 * hosts.
 */
#ifndef GM_CMD_ROOTS_H
#define GM_CMD_ROOTS_H

#include "cmd/options.h"
#include "os/os.h"
#include "search/search.h"

#include <stdbool.h>
#include <stddef.h>

struct roots {
	const char **names;
	size_t n;
	char *text;                  /* text of the file that contains the names; or NULL */
	bool errors;                 /* a name was empty, which was reported */
};

/** Free the members. */
void roots_destroy(struct roots *roots);

/** Collect the roots: n words, or NUL-terminated names in a file, or the current directory.
    @title  The option that names the file, for messages.
    @file  "-": standard input; NULL: none.
    @return 0, or an exit status after a message. */
int roots_choose(struct roots *roots, struct os *os, const char *const words[], size_t n,
                 const char *title, const char *file);

/** Remove each root that is the same object as an earlier root; of the roots on other hosts, each
    root with the same name as an earlier root.
    @return 0, or -1.  Errors: ENOMEM. */
int roots_once(struct roots *roots, struct os *os);

/** How to reach other hosts. */
struct reach {
	struct search_transport transport;
	const char *rsh;             /* argument of --rsh; NULL: ssh */
	struct flow *const *flow;    /* the output of the search; points to NULL before the output
	                                starts and after its end */
};

/** Option rows of struct reach.  @field  A struct reach. */
#define OPTIONS_REACH(type, field) \
	OPTION_GROUP("Other hosts: ssh://[USER@]HOST[:PORT]/DIR, chirp://HOST[:PORT]/DIR"), \
	{"chirp-auth", 0, "METHODS", "to prove who we are: unix, hostname, address", \
	 .parse = roots_parse_chirp_auth, \
	 .offset = offsetof(type, field) + offsetof(struct reach, transport.chirp_auth)}, \
	{"rsh", 0, "COMMAND", "used instead of ssh", OPT_IS_TEXT(type, field.rsh)}, \
	{"timeout", 0, "SECONDS", "give a host up that is silent so long (60)", \
	 OPT_IS_NUMBER(type, field.transport.timeout, 86400)}

/** The initial value of a struct reach, before the options are read. */
#define REACH_DEFAULT {.transport = {.connect = roots_connect, .timeout = 60}}

int roots_parse_chirp_auth(void *to, const struct option_row *row, const char *text);

/** Set how a search reaches other hosts.  @reach, flow  Must outlive the search. */
void roots_reach(struct reach *reach, struct search_options *options, struct flow *const *flow);

/** Connect to another host by --rsh or ssh: a function for struct search_transport. */
int roots_connect(void *reach, const struct search_server *server, struct search_link *link);

/** Run `getmnt serve --stdio` of this program to access a mount that can block: a function for
    struct search_transport. */
int roots_connect_here(void *reach, struct search_link *link);

#endif
