/* SPDX-License-Identifier: MIT */
#include "mountopts/edit.h"

#include "base/secret.h"
#include "base/words.h"
#include "mountopts/fsopts.h"

#include <string.h>
#include <strings.h>

enum { SURPLUS_MAX = 100 };   /* options that opt_surplus() looks at */

void opt_inherit(const char *options, const char *from, struct strbuf *out)
{
	static const char kept[] = "nofail _netdev user users owner group comment";
	size_t n;
	if (opt_is_open(from) || opt_is_open(options)) {
		strbuf_puts(out, options);
		return;
	}
	struct opt_set have = {0};
	opt_set_add_list(&have, options, opt_next);
	if (strcmp(options, "defaults") != 0)
		strbuf_puts(out, options);
	for (const char *o; (o = opt_next(&from, &n)) != NULL;) {
		bool outside = opt_is_x(o, n) && strncasecmp(o, "x-mount.", 8) != 0;
		if ((outside || word_in(o, opt_name(o, n), kept))
		    && !opt_set_find(&have, o, opt_name(o, n)))
			opt_add(out, o, n);
	}
	if (have.failed)
		strbuf_fail(out);
	opt_set_destroy(&have);
	if (!out->len)
		strbuf_puts(out, options);
}

/** Step to the next option that selects the mounted tree (subvol=); or, without `identity`, to the
    next other option. */
static const char *next_of(const char **list, bool identity, size_t *n)
{
	const char *option;
	do
		option = opt_next(list, n);
	while (option && ((bool)fsopt_has(option, *n, OPT_IDENTITY) != identity
	                  || word_is(option, *n, "defaults")));
	return option;
}

bool opt_alike(const char *a, const char *b, bool identity)
{
	for (;;) {
		size_t n, k;
		const char *x = next_of(&a, identity, &n), *y = next_of(&b, identity, &k);
		if (!x || !y)
			return !x && !y && strcmp(a, b) == 0;
		if (n != k || memcmp(x, y, n) != 0)
			return false;
	}
}

void opt_identity(const char *options, const char *live, struct strbuf *out)
{
	size_t n;
	struct opt_set here = {.whole = true}, there = {.whole = true};
	opt_set_add_list(&here, options, opt_next);
	opt_set_add_list(&there, live, opt_next);
	/* Existing options keep their place. */
	for (const char *at = live, *o; (o = opt_next(&at, &n)) != NULL;) {
		if (fsopt_has(o, n, OPT_IDENTITY) && !opt_set_find(&here, o, n))
			opt_add(out, o, n);
	}
	bool other = out->len > 0;
	for (const char *o; (o = opt_next(&options, &n)) != NULL;) {
		bool kept = !fsopt_has(o, n, OPT_IDENTITY) || opt_set_find(&there, o, n);
		if (kept && !(other && word_is(o, n, "defaults")))
			opt_add(out, o, n);
	}
	/* mount(8) drops the text after an unclosed quotation mark; keep it. */
	if (*options)
		opt_puts(out, options);
	if (here.failed || there.failed)
		strbuf_fail(out);
	opt_set_destroy(&here);
	opt_set_destroy(&there);
	if (!out->len)
		strbuf_puts(out, "defaults");
}

void opt_divide(const char *options, const struct opt_set *set, struct strbuf *in,
                struct strbuf *out)
{
	size_t n;
	for (const char *o; (o = opt_next(&options, &n)) != NULL;)
		opt_add(opt_set_find(set, o, n) ? in : out, o, n);
}

void opt_lacking(const char *list, const char *other, struct strbuf *out)
{
	struct opt_set set = {.whole = true};
	size_t n;
	opt_set_add_list(&set, other, opt_next_shown);
	for (const char *o; (o = opt_next_shown(&list, &n)) != NULL;) {
		if (!opt_set_find(&set, o, n))
			opt_add(out, o, n);
	}
	if (set.failed)
		strbuf_fail(out);
	opt_set_destroy(&set);
}

/** How often an option of n bytes is in the options of a list up to `end`, or the first of them. */
static size_t times_in(const char *list, const char *end, const char *option, size_t n)
{
	size_t m, times = 0, seen = 0;
	for (const char *o; (o = opt_next_mtab(&list, &m)) != NULL && o != end
	     && ++seen <= SURPLUS_MAX;)
		times += m == n && memcmp(o, option, n) == 0;
	return times;
}

void opt_surplus(const char *list, const char *other, struct strbuf *out)
{
	size_t n, count = 0;
	for (const char *o, *at = list; (o = opt_next_mtab(&at, &n)) != NULL
	     && ++count <= SURPLUS_MAX;) {
		if (times_in(list, o, o, n) >= times_in(other, NULL, o, n))
			opt_add(out, o, n);
	}
}

void opt_add_named(struct strbuf *out, const char *list, const char *name)
{
	size_t n;
	for (const char *o; (o = opt_next_shown(&list, &n)) != NULL;) {
		if (word_is(o, opt_name(o, n), name))
			opt_add(out, o, n);
	}
}

void opt_add_once(struct strbuf *list, const char *option)
{
	if (!opt_has(strbuf_str(list), option))
		opt_puts(list, option);
}

bool opt_add_kept(struct strbuf *list, const char *kept)
{
	struct strbuf option = {0};
	bool secret = false;
	size_t n;
	for (const char *o; !secret && (o = opt_next(&kept, &n)) != NULL;) {
		if (!(n > 2 && memcmp(o, "x-", 2) == 0) && !word_is(o, n, "_netdev"))
			continue;
		strbuf_reset(&option);
		strbuf_add(&option, o, n);
		secret = has_secret(strbuf_str(&option));
		if (!secret)
			opt_add_once(list, strbuf_str(&option));
	}
	if (option.failed)
		strbuf_fail(list);
	strbuf_destroy(&option);
	return secret;
}
