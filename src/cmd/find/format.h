/* SPDX-License-Identifier: MIT */
/**
 * Formats of -printf, compiled.
 */
#ifndef GM_CMD_FIND_FORMAT_H
#define GM_CMD_FIND_FORMAT_H

#include "base/strbuf.h"
#include "cmd/found/owners.h"
#include "search/search.h"

#include <stdbool.h>
#include <stddef.h>

/** A directive, or text. */
struct format_item {
	char kind;                /* letter of the directive; '\0': text */
	char time;                /* after A, B, C and T: the letter of strftime(3), @ or + */
	bool left, zero, plus, blank, alternate;   /* flags - 0 + ' ' # */
	int width, precision;     /* precision -1: none */
	size_t from, len;         /* text: position in struct format.text */
};

struct format {
	struct format_item *items;
	size_t n, room;
	struct strbuf text;
	unsigned mask;            /* K_STATX_*: the attributes that the directives need */
	bool xtype;               /* the directives need the types of the targets of symlinks */
	bool target;              /* the directives need the targets of symlinks */
	bool type;                /* the directives need the type */
	char local;               /* a directive that needs data which other hosts do not send;
	                             '\0': none */
	bool flush;               /* the format ends in \c: write the output at once */
};

/** Data that directives need in addition to the object. */
struct format_env {
	struct os *os;
	struct owners *users, *groups;
	bool quote;               /* the text is for a terminal: replace control characters by ? */
	/* Report an error of the current object.  @warning  It does not change the exit status. */
	void (*failed)(void *arg, int error, bool warning);
	void *arg;
};

/**
 * Compile a format.
 *
 * @warnings
 *         A sentence with its NUL is appended for each doubtful part.
 * @why
 *         A sentence is appended if the format is invalid.
 * @return the format, or NULL.  Errors: EINVAL (see why), ENOMEM.  Ownership: format_free().
 */
struct format *format_compile(const char *text, struct strbuf *warnings, struct strbuf *why);

void format_free(struct format *format);

/** Append the text that a format makes for an object. */
void format_put(const struct format *format, const struct search_visit *visit,
                const struct format_env *env, struct strbuf *out);

/** Find the last component of a path, with its trailing slashes; "/" for "/". */
const char *format_base(const char *path);

/** Get the length of a result of format_base() with at most one trailing slash. */
size_t format_base_len(const char *base);

/** Append a name for a terminal: each unprintable character becomes "?". */
void format_quote(struct strbuf *out, const char *name);

#endif
