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
	struct fstab_entry entry = {.line = line, .source = "", .target = "", .fstype = ""};
	audit_add_line(audit, &entry, FSTAB_SYNTAX, AUDIT_INFO, expected, NULL,
		       "getmnt audit --list-rules lists the codes; separate them by commas", "%s",
		       message);
}

void audit_ignored(struct audit *audit, const struct tabline *line, audit_set *set)
{
	static const char blanks[] = " \t\r";
	bool reported = false;
	if (!memmem(line->bytes, line->n, "getmnt:", 7))
		return;
	const char *at = audit_format(audit->report, "%.*s", (int)line->n, line->bytes);
	at += strspn(at, "# \t");
	if (strncmp(at, "getmnt:", 7) != 0)
		return;
	at += 7;
	at += strspn(at, blanks);
	if (strncmp(at, "ignore", 6) != 0)
		return;
	at += 6;
	at += strspn(at, blanks);
	if (*at != '=')
		add(audit, line, "this comment ignores nothing", "ignore=CODE,CODE");
	for (char before = '='; *at == before; before = ',') {
		++at;
		at += strspn(at, blanks);
		size_t n = strcspn(at, ", \t\r\n");
		if ((!n || !audit_codes(at, n, set)) && !reported) {
			reported = true;
			const char *near = near_code(audit, at, n);
			add(audit, line,
			     n ? audit_format(audit->report, "unknown rule %.*s: it is not ignored",
			                      n < AUDIT_NAME_MAX ? (int)n : AUDIT_NAME_MAX, at)
			       : "a code is missing: nothing is ignored",
			     near ? near : "a code");
		}
		at += n;
		at += strspn(at, blanks);
	}
}
