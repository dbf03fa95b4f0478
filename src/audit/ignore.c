/* SPDX-License-Identifier: MIT */
/*
 * The comment that ignores codes for the line below it:
 *
 *     # getmnt: ignore=CODE,CODE reason
 *
 * Unknown codes are reported: their author believes that they are ignored.
 */
#include "audit/audit_impl.h"

#include "base/words.h"

#include <string.h>
#include <strings.h>

/** The code that a misspelled word resembles; or NULL. */
static const char *near_code(struct audit *audit, const char *word, size_t n)
{
	const char *found = NULL;
	unsigned best = 4;
	size_t len;
	if (n < 4 || n > AUDIT_NAME_MAX || audit->misses++ >= AUDIT_MISSES_MAX)
		return NULL;
	for (int code = 0; code < AUDIT_CODES; ++code) {
		const char *is = audit_rules[code].code;
		if (strlen(is) == n && strncasecmp(is, word, n) == 0)
			return is;
		audit_nearest(is, word, n, &best, &found, &len);
	}
	return found;
}

/** Report a comment without effect. */
static void add(struct audit *audit, const struct tabline *line, const char *message,
                 const char *expected)
{
	struct audit_entry entry = {.line = line, .source = "", .target = "", .fstype = ""};
	audit_add_line(audit, &entry, FSTAB_SYNTAX, AUDIT_INFO, expected, NULL,
		       "getmnt audit --list-rules lists the codes; separate them by commas", "%s",
		       message);
}

static size_t skip_blanks(const char *at, const char *end)
{
	const char *from = at;
	while (at < end && (*at == ' ' || *at == '\t' || *at == '\r'))
		++at;
	return (size_t)(at - from);
}

/** Skip a word, if the text begins with it.  @return whether it does. */
static bool skip_word(const char **at, const char *end, const char *word)
{
	size_t n = strlen(word);
	bool is = (size_t)(end - *at) >= n && memcmp(*at, word, n) == 0;
	*at += is ? n : 0;
	return is;
}

void audit_ignored(struct audit *audit, const struct tabline *line, audit_set *set)
{
	const char *at = line->bytes, *end = at + line->n;
	while (at < end && (*at == '#' || *at == ' ' || *at == '\t'))
		++at;
	if (!skip_word(&at, end, "getmnt:"))
		return;
	at += skip_blanks(at, end);
	if (!skip_word(&at, end, "ignore"))
		return;
	at += skip_blanks(at, end);
	if (at == end || *at != '=') {
		add(audit, line, "this comment ignores nothing", "ignore=CODE,CODE");
		return;
	}
	bool reported = false;
	do {
		++at;
		at += skip_blanks(at, end);
		const char *word = at;
		while (at < end && !strchr(", \t\r\n", *at))
			++at;
		size_t n = (size_t)(at - word);
		if ((!n || !audit_codes(word, n, set)) && !reported) {
			reported = true;
			const char *near = near_code(audit, word, n);
			add(audit, line,
			     n ? audit_format(audit->report, "unknown rule %.*s: it is not ignored",
			                      n < AUDIT_NAME_MAX ? (int)n : AUDIT_NAME_MAX, word)
			       : "a code is missing: nothing is ignored",
			     near ? near : "a code");
		}
		at += skip_blanks(at, end);
	} while (at < end && *at == ',');
}
