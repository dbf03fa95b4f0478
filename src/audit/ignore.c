/* SPDX-License-Identifier: MIT */
/*
 * The comment that takes codes from the line below it:
 *
 *     # getmnt: ignore=CODE,CODE why
 *
 * A word of it that is no code silences nothing, and who wrote it thinks that it does.
 */
#include "audit/audit_impl.h"

#include "base/words.h"

#include <string.h>
#include <strings.h>

/** What a word was perhaps meant to be; NULL. */
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

/** Tell of a comment that says nothing. */
static void tell(struct audit *audit, const struct tabline *line, const char *message, const char *expected)
{
	struct audit_entry entry = {.line = line, .source = "", .target = "", .fstype = ""};
	audit_tell(audit, &entry, FSTAB_SYNTAX, &(struct audit_told){
		.severity = AUDIT_INFO, .message = message, .expected = expected,
		.hint = "getmnt audit --list-rules shows the codes; they stand with commas between, and DRIFT-* is all that begin so"});
}

static size_t skip_blanks(const char *at, const char *end)
{
	const char *from = at;
	while (at < end && (*at == ' ' || *at == '\t' || *at == '\r'))
		++at;
	return (size_t)(at - from);
}

/** Whether a text begins with this word.  If so, go behind it. */
static bool skip_word(const char **at, const char *end, const char *word)
{
	size_t n = strlen(word);
	bool is = (size_t)(end - *at) >= n && memcmp(*at, word, n) == 0;
	*at += is ? n : 0;
	return is;
}

void audit_ignored(struct audit *audit, const struct tabline *line, struct audit_set *set)
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
		tell(audit, line, "this comment takes nothing from the line below it", "ignore=CODE,CODE");
		return;
	}
	bool told = false;
	do {
		++at;
		at += skip_blanks(at, end);
		const char *word = at;
		while (at < end && !strchr(", \t\r\n", *at))
			++at;
		size_t n = (size_t)(at - word);
		if ((!n || !audit_codes(word, n, set)) && !told) {
			told = true;
			const char *near = near_code(audit, word, n);
			tell(audit, line, n ? audit_format(audit, "no rule has the code %.*s, and nothing is silenced by it", n < AUDIT_NAME_MAX ? (int)n : AUDIT_NAME_MAX, word)
			                    : "a code is missing here, and nothing is silenced", near ? near : "a code");
		}
		at += skip_blanks(at, end);
	} while (at < end && *at == ',');
}
