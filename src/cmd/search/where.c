/* SPDX-License-Identifier: MIT */
/*
 * Convert options such as --size=+1M to an expression of find(1).  Each option becomes a test or an
 * expression in parentheses; all of them must be true.
 */
#include "cmd/search/options.h"

#include "base/escape.h"
#include "base/words.h"
#include "cmd/cmd.h"
#include "os/os.h"
#include "search/query_host.h"
#include "select/query.h"

#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

/** Parse a size: a number with an optional unit, a power of 1024.  @return whether the size is
    valid. */
static bool size_read(const char *text, uint64_t *size)
{
	static const char units[] = "bkmgtp";
	uint64_t n;
	unsigned shift = 0;
	const char *end = word_number(text, &n);
	if (!end)
		return false;
	if (*end) {
		const char *unit = strchr(units, *end | ('a' ^ 'A'));
		if (!unit || (end[1] && strcmp(end + 1, "iB") != 0))
			return false;
		shift = 10 * (unsigned)(unit - units);
	}
	*size = n << shift;
	return *size >> shift == n && *size < INT64_MAX;
}

/** Add --size: +N means N or more, -N means N or less. */
static int add_size(struct strbuf *text, const char *value)
{
	uint64_t size;
	char sign = *value == '+' || *value == '-' ? *value : '\0';
	if (!size_read(value + (sign != '\0'), &size))
		return usage_error("--size", "\"%s\": must be a number of bytes, or one with a "
		                   "unit of k, M, G, T or P; +N for N or more, -N for N or less",
		                   value);
	if (sign == '+')
		strbuf_printf(text, size ? " -size +%" PRIu64 "c" : " -true", size - 1);
	else if (sign == '-')
		strbuf_printf(text, " -size -%" PRIu64 "c", size + 1);
	else
		strbuf_printf(text, " -size %" PRIu64 "c", size);
	return 0;
}

/** Add a test with one argument. */
static void add_test(struct strbuf *text, const char *test, const char *value)
{
	strbuf_puts(text, test);
	strbuf_putc(text, ' ');
	escape_quoted(text, value);
}

/** Add --changed-within or --changed-before: a duration before now such as 2d, or a date. */
static int add_changed(struct strbuf *text, const char *title, const char *value,
                       const struct timespec *now)
{
	struct timespec ago;
	if (query_duration(value, &ago) != 0) {
		if (!query_date(value, now, &ago))
			return usage_error(title, "\"%s\": must be a time as 30min, 3h, 2d or 1w, "
			                   "or a date: %s", value, query_date_forms);
		add_test(text, "-newermt", value);
		return 0;
	}
	bool borrow = now->tv_nsec < ago.tv_nsec;
	strbuf_printf(text, "-newermt @%jd.%09ld", (intmax_t)(now->tv_sec - ago.tv_sec - borrow),
	              now->tv_nsec - ago.tv_nsec + (borrow ? 1000000000 : 0));
	return 0;
}

int where_add(struct strbuf *text, const struct option_row *row, const char *value, bool follow)
{
	static const char *const tests[] = {
		[WHERE_NEWER] = "-newer", [WHERE_USER] = "-user", [WHERE_GROUP] = "-group",
		[WHERE_PERM] = "-perm", [WHERE_LINKS] = "-links",
	};
	struct strbuf one = {0};
	struct query_env env = {0};
	struct query_error error = {0};
	char title[OPTION_TITLE_SIZE];
	struct os os = {0};          /* no feature of the kernel is needed */
	int status = 0;
	setlocale(LC_CTYPE, "");     /* for patterns, as in find */
	query_env_host(&env, &os);
	if (row->base == WHERE_SIZE) {
		status = add_size(&one, value);
	} else if (row->base == WHERE_WITHIN || row->base == WHERE_BEFORE) {
		strbuf_puts(&one, row->base == WHERE_BEFORE ? "! " : "");
		status = add_changed(&one, option_title(row, title), value, &env.now);
	} else if (row->base == WHERE_EMPTY) {
		strbuf_puts(&one, "-empty");
	} else if (row->base == WHERE_QUERY) {
		strbuf_puts(&one, value);
	} else {
		add_test(&one, tests[row->base], value);
		env.word = option_title(row, title);
	}
	if (status || one.failed)
		goto out;
	env.follow = env.follow_roots = follow;
	env.quiet = true;
	struct query *query = query_parse_text(one.data, &env, &error);
	if (query) {
		/* Append the query in its canonical form, with IDs instead of the names of users
		   and with absolute times. */
		struct strbuf canonical = {0};
		query_print(query, &canonical);
		if (canonical.len > 0)
			strbuf_printf(text, "%s( %s )", text->len ? " " : "", canonical.data);
		text->failed |= canonical.failed;
		strbuf_destroy(&canonical);
		query_free(query);
	} else {
		const char *why = errno == EINVAL && error.why.len ? strbuf_str(&error.why)
		                  : strerror(errno);
		status = usage_error(env.word ? "search" : option_title(row, title), "%s", why);
	}
	strbuf_destroy(&error.why);
out:
	if (one.failed || text->failed)
		status = message_error("search", ENOMEM, CX_ERROR);
	strbuf_destroy(&one);
	return status;
}
