/* SPDX-License-Identifier: MIT */
/**
 * The text of a pattern cut into components: where each begins, what may stand there, and what
 * follows.
 *
 * Braces are expanded here, as far as that stays short.  A component with more combinations is left
 * to an automaton, so the work is linear in the length of the text.
 */
#ifndef GM_SELECT_EXPAND_H
#define GM_SELECT_EXPAND_H

#include "base/strbuf.h"
#include "select/glob.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** In place of the number of a place: the alternative ends. */
#define EXPAND_END UINT32_MAX

/** A place in the text where a component begins, in text order. */
struct expand_place {
	uint32_t at, to;          /* the end of its alternative */
	uint32_t option, noptions;   /* those that can match; in reverse order */
	bool first;               /* matched in the root of the search */
	bool always;              /* and in every directory */
	bool excludes;
};

enum expand_kind {
	EXPAND_TEXT,              /* a component without braces */
	EXPAND_DEPTHS,            /* **: any number of components */
	EXPAND_AUTOMATON,         /* the text from the place on, which has too many combinations */
};

/** What may stand at a place. */
struct expand_option {
	uint32_t from, to;        /* in the expanded text */
	uint32_t next;            /* the place after it; or EXPAND_END, also of an automaton, which
	                             may end */
	uint32_t place;
	enum expand_kind kind;
};

/** Invariants after expand(), see expand_check(): places are in the order of the text; the options
    of a place stand together, after those of all later places, and lead to later places or the
    end. */
struct expansion {
	const char *text;         /* not owned */
	struct expand_place *places;
	uint32_t nplaces;
	struct expand_option *options;   /* of the last place first */
	uint32_t noptions;
	struct strbuf words;      /* the expanded text */
	struct glob_brace *braces;   /* one for each byte of the text, and one more */
	uint32_t *place_at;       /* at each byte: the number of the place that begins there */
	bool automaton;           /* there is an EXPAND_AUTOMATON */
	/* Used during the expansion. */
	size_t places_size, options_size;
	uint8_t *reached;
	struct expand_choice *choices;
	size_t nchoices, choices_size;
	struct strbuf word;
	size_t work;              /* what may still be spent */
};

/**
 * Cut a text of len bytes, and expand its braces.
 *
 * @first
 *         Bytes of the text before this one exclude; there is a | at its end.
 * @return 0, or -1 with error set, unless ENOMEM.  expand_destroy() is needed in any case.
 * Errors: EINVAL, E2BIG, ENOMEM.
 */
int expand(struct expansion *e, const char *text, size_t len, size_t first, unsigned flags,
           struct pattern_error *error);

/** Free the members. */
void expand_destroy(struct expansion *e);

#endif
