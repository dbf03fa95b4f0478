/* SPDX-License-Identifier: MIT */
/**
 * Split a pattern into components.  A place is an offset in the pattern where a component begins;
 * its options are the components that may begin there, such as the alternatives of a brace.  Each
 * option has a next place.
 *
 * Braces are expanded to options while the result stays short.  A place with too many combinations
 * becomes one option that an automaton matches, so the work is linear in the length of the pattern.
 */
#ifndef GM_SELECT_EXPAND_H
#define GM_SELECT_EXPAND_H

#include "base/strbuf.h"
#include "select/glob.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Value of expand_option.next: the alternative ends after this component. */
#define EXPAND_END UINT32_MAX

/** A place: an offset in the text where a component begins.  Places are in the order of the
    text. */
struct expand_place {
	uint32_t at, to;          /* offset of the place, and of the end of its alternative */
	uint32_t option, noptions;   /* index and number of the options that can match; in reverse
	                                order */
	bool first;               /* matched against entries of the root of the search */
	bool always;              /* matched against entries of every directory */
	bool excludes;
};

enum expand_kind {
	EXPAND_TEXT,              /* a component without braces */
	EXPAND_DEPTHS,            /* **: any number of components */
	EXPAND_AUTOMATON,         /* the rest of the alternative, whose braces have too many
	                             combinations */
};

/** A component that may begin at a place. */
struct expand_option {
	uint32_t from, to;        /* offsets of the component in expansion.words */
	uint32_t next;            /* index of the place after the component; EXPAND_END: the
	                             alternative ends, or may end (EXPAND_AUTOMATON) */
	uint32_t place;
	enum expand_kind kind;
};

/** Invariants after expand(), see expand_check(): places are in the order of the text.  The options
    of a place are adjacent, after the options of all later places, and `next` is a later place or
    EXPAND_END. */
struct expansion {
	const char *text;         /* the pattern; memory of the caller */
	struct expand_place *places;
	uint32_t nplaces;
	struct expand_option *options;   /* the options of the last place are first */
	uint32_t noptions;
	struct strbuf words;      /* text of the components of all options, in the order of the
	                             options */
	struct glob_brace *braces;   /* one for each byte of the text, and one more */
	uint32_t *place_at;       /* for each byte of the text: index of the place that begins at
	                             this byte */
	bool automaton;           /* an option is EXPAND_AUTOMATON */
	/* Used only during the expansion; see expand.c. */
	size_t places_size, options_size;
	uint8_t *reached;
	struct expand_choice *choices;
	size_t nchoices, choices_size;
	struct strbuf word;
	size_t work;              /* remaining work in bytes of expanded text, for all places */
};

/**
 * Split a text of len bytes into components, and expand its braces.
 *
 * @first
 *         Number of bytes at the start of the text that are the pattern of excluded entries,
 *         including a "|" at its end; 0: exclude nothing.
 * @return 0, or -1 with error set, unless ENOMEM.  expand_destroy() is needed in any case.
 * Errors: EINVAL, E2BIG, ENOMEM.
 */
int expand(struct expansion *e, const char *text, size_t len, size_t first, unsigned flags,
           struct pattern_error *error);

/** Free the memory of an expansion. */
void expand_destroy(struct expansion *e);

#endif
