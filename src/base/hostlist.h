/* SPDX-License-Identifier: MIT */
/**
 * Lists of hosts, folded as ClusterShell and pdsh write them: node[1-9,12].
 *
 *     node1 node2 node3 node07      node[1-3,07]
 *     rack1-node1 ... rack2-node4   rack[1-2]-node[1-4]
 *     db1.a.example db2.a.example   db[1-2].a.example
 *
 * Each run of digits of a name is a dimension of it.  Leading zeros are kept: 01 is not 1,
 * and [01-12] are twelve of two digits.  Along each dimension, the last one first, names
 * that differ there alone become one term, so that what is unfolded is what was folded,
 * each name once.
 *
 * A name is made of letters, digits and "._-:".  One that has other bytes is told as it is,
 * with these as \xhh: what is folded is ASCII without blanks, and nothing in it means
 * anything to a terminal.
 */
#ifndef GM_BASE_HOSTLIST_H
#define GM_BASE_HOSTLIST_H

#include "base/arena.h"
#include "base/strbuf.h"

#include <stddef.h>

/** A term of a list. */
struct hostlist_term {
	const char *text;    /* "node[1-9,12]" */
	size_t hosts;        /* how many it stands for */
};

struct hostlist {
	struct hostlist_term *terms;   /* by the first name of each, numbers as such */
	size_t count;
	size_t hosts;        /* of all of them */
	struct arena arena;
};

/** Runs of digits beyond so many in a name, and those of more digits, are none of its dimensions. */
enum { HOSTLIST_DIMENSIONS = 8, HOSTLIST_DIGITS = 18 };

/**
 * Fold names.
 *
 * @names  One that is there twice counts once; "" is a name as well.
 * @list [out]  To be destroyed, also after an error.
 * @return 0, or -1.  Errors: ENOMEM.
 *
 * Takes n log n steps for each dimension.
 */
int hostlist_fold(const char *const *names, size_t n, struct hostlist *list);

void hostlist_destroy(struct hostlist *list);

/** Append the terms with commas between. */
void hostlist_put(const struct hostlist *list, struct strbuf *out);

/**
 * Unfold a list.
 *
 * @text   Terms with commas between; n bytes.  Of ClusterShell's language the brackets
 *         alone: no steps, groups or operators.
 * @max    The most names.
 * @each   Called for each name, which is good until it returns; what it returns, if not 0,
 *         ends the unfolding, and is returned.
 * @return 0; or -1.  Errors: EINVAL: it is no list; E2BIG: more names than max; ENOMEM.
 *         Some names may have been told before.
 */
int hostlist_unfold(const char *text, size_t n, size_t max, int (*each)(void *arg, const char *name), void *arg);

#endif
