/* SPDX-License-Identifier: MIT */
/**
 * What tells whose a host is, taken out of texts: the same value becomes the same
 * stand-in in all of them, so that what hangs together by names still does.
 *
 * Replaced are UUIDs and what stands behind UUID=, LABEL= and their kin and in names of
 * /dev/disk/by-*; numbers of at least 16 hex digits; IP addresses; names of users and
 * domains in options; and the names that were told (redact_name()) or found
 * (redact_learn()), wherever they stand as words.  In the names of units these are found
 * as well.  A name that is a word of every system ("data", "nfs") stays.  Pure, linear but
 * for the length of names.
 */
#ifndef GM_AUDIT_REDACT_H
#define GM_AUDIT_REDACT_H

#include "base/arena.h"
#include "base/map64.h"
#include "base/strbuf.h"

enum redact_kind { REDACT_HOST, REDACT_SERVER, REDACT_USER, REDACT_LABEL, REDACT_ID, REDACT_ADDRESS, REDACT_KINDS };

struct redact {
	struct arena arena;
	struct map64 by_value;   /* hash of kind and value -> index */
	struct redact_entry {
		const char *value, *stand_in;
	} *entries;
	size_t count, room;
	unsigned of[REDACT_KINDS];
	bool failed;             /* ENOMEM */
};

void redact_init(struct redact *r);
void redact_destroy(struct redact *r);

/** Have a name of n bytes replaced wherever it stands as a word; HOST, SERVER or USER. */
void redact_name(struct redact *r, enum redact_kind kind, const char *name, size_t n);

/** The stand-in of a label, as it is, not escaped. */
const char *redact_label(struct redact *r, const char *label);

/** Find names: of servers in sources, of users in paths, of both in options.  All texts are
    learnt before the first is written: redact_text() finds no name anew. */
void redact_learn(struct redact *r, const char *text);

/** Append a text or a path without what tells whose it is. */
void redact_text(struct redact *r, const char *text, struct strbuf *out);

#endif
