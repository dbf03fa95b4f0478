/* SPDX-License-Identifier: MIT */
/*
 * Lists of options.
 *
 * Their order does not matter, so lists are compared as sorted sets; options that differ only in
 * escapes are equal.  Hints are options that mount(8) wrote into an mtab and that the kernel does
 * not know: libmount's userspace options, except those that libmount does not write there (auto,
 * user without a name, nofail, comment=, X-...).
 */
#include "recover/recover_impl.h"

#include "base/escape.h"
#include "base/map64.h"
#include "mountopts/options.h"

#include <stdlib.h>
#include <string.h>

#define NAME_BYTES "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"

/** Whether an option consists of a prefix and a name. */
static bool is_named(const char *option, const char *prefix, const char *bytes)
{
	size_t n = strlen(prefix);
	return strncmp(option, prefix, n) == 0 && option[n] && option[n] != '-'
	       && option[n + strspn(option + n, bytes)] == '\0';
}

/** Whether mount(8) adds an option, as written, to an mtab. */
static bool is_hint(const char *option)
{
	if (strcmp(option, "_netdev") == 0 || is_named(option, "user=", NAME_BYTES)
	    || is_named(option, "helper=", NAME_BYTES) || is_named(option, "uhelper=", NAME_BYTES)
	    || is_named(option, "loop=/dev/loop", "0123456789"))
		return true;
	if (strncmp(option, "x-", 2) != 0)
		return false;
	const char *at = option + 2 + strspn(option + 2, NAME_BYTES);
	if (at == option + 2 || (*at && *at != '='))
		return false;
	for (; *at; ++at) {
		/* A blank is escaped in a line: decode it before comparing. */
		if (((unsigned char)*at < ' ' && !strchr("\t\n", *at)) || *at == 0x7f)
			return false;
	}
	return utf8_valid(option);
}

static int compare_options(const void *a, const void *b)
{
	const struct rec_option *x = a, *y = b;
	int order = memcmp(x->text, y->text, x->n < y->n ? x->n : y->n);
	return order ? order : (x->n > y->n) - (x->n < y->n);
}

void rec_set_init(struct rec_set *set, const char *list, struct arena *arena)
{
	struct opt *opts;
	uint32_t count = opts_read(list, opt_next_mtab, arena, &opts);
	*set = (struct rec_set){0};
	set->known = arena_new(arena, count, sizeof(*set->known));
	set->hints = arena_new(arena, count, sizeof(*set->hints));
	char *decoded = arena_new(arena, strlen(list), 1);
	for (uint32_t i = 0; i < count && !arena->failed; ++i) {
		const char *raw = arena_textn(arena, opts[i].text, opts[i].n);
		size_t n = unescape_octal(decoded, opts[i].text, opts[i].n);
		struct rec_option option = {decoded, n, raw};
		decoded += n;
		if (is_hint(raw)) {
			set->hints[set->nhints++] = option;
		} else {
			set->known[set->nknown++] = option;
			set->hash += map64_bytes(MAP64_BYTES, option.text, option.n);
		}
	}
	if (set->nknown)
		qsort(set->known, set->nknown, sizeof(*set->known), compare_options);
}

bool rec_set_equal(const struct rec_set *a, const struct rec_set *b)
{
	bool equal = a->nknown == b->nknown && a->hash == b->hash;
	for (size_t i = 0; equal && i < a->nknown; ++i)
		equal = compare_options(&a->known[i], &b->known[i]) == 0;
	return equal;
}

bool rec_set_has_hint(const struct rec_set *set, const struct rec_option *option)
{
	for (size_t i = 0; i < set->nhints; ++i) {
		if (compare_options(&set->hints[i], option) == 0)
			return true;
	}
	return false;
}
