/* SPDX-License-Identifier: MIT */
#include "mountopts/options.h"

#include "base/secret.h"
#include "base/words.h"

#include <assert.h>

static enum opt_meaning meaning_of(const struct opt *option)
{
	static const struct {
		const char *name;
		enum opt_meaning meaning;
	} rows[] = {
		{"noauto", FO_NOAUTO},
		{"nofail", FO_NOFAIL},
		{"_netdev", FO_NETDEV},
		{"bind", FO_BIND},
		{"rbind", FO_BIND},
		{"remount", FO_REMOUNT},
		{"X-mount.mkdir", FO_MKDIR},
		{"x-mount.mkdir", FO_MKDIR},
		{"x-systemd.automount", FO_AUTOMOUNTED},
		{"x-systemd.wanted-by", FO_UNIT_STARTS},
		{"x-systemd.required-by", FO_UNIT_STARTS},
		{"x-systemd.requires", FO_REQUIRES},
		{"x-systemd.after", FO_AFTER},
		{"x-systemd.before", FO_BEFORE},
		{"x-systemd.requires-mounts-for", FO_MOUNTS_FOR},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); ++i) {
		if (word_is(option->name, option->nname, rows[i].name))
			return rows[i].meaning;
	}
	/* The name of this option before systemd 220. */
	bool automount = strcmp(option->name, "comment") == 0 && option->value
	                 && strcmp(option->value, "systemd.automount") == 0;
	return automount ? FO_AUTOMOUNTED : FO_PLAIN;
}

uint32_t opts_read(const char *list, opt_next_fn *next, struct arena *arena, struct opt **opts)
{
	size_t most = 0, n;
	uint32_t count = 0;
	for (const char *at = list; next(&at, &n);)
		++most;
	/* A NUL ends each name and value in a copy. */
	char *copy = arena_strndup(arena, list, strlen(list));
	*opts = arena_new(arena, most, sizeof(**opts));
	if (arena->failed)
		return 0;
	const char *at = list;
	for (const char *text; (text = next(&at, &n)) != NULL;) {
		size_t nname = opt_name(text, n);
		char *name = copy + (text - list);
		name[nname] = name[n] = '\0';
		struct opt *option = &(*opts)[count++];
		*option = (struct opt){
			.text = text, .n = (uint32_t)n, .nname = (uint32_t)nname, .name = name,
			.value = nname < n ? name + nname + 1 : NULL, .is_x = opt_is_x(text, n),
		};
		option->meaning = meaning_of(option);
	}
	assert(count == most);
	return count;
}

bool opts_hold_secret(const char *options)
{
	const char *list = options, *rest = options;
	size_t n;
	if (!has_secret(options))
		return false;
	struct strbuf one = {0};
	bool found = false;
	for (const char *o; !found && (o = opt_next(&list, &n)) != NULL;) {
		size_t key = opt_name(o, n);
		/* "extpass=/usr/bin/askpass" names a program that asks for it. */
		bool program = word_is(o, key, "extpass") && key + 1 < n && o[key + 1] == '/'
		               && !memchr(o + key + 1, '=', n - key - 1) && !memchr(o, ' ', n);
		strbuf_reset(&one);
		strbuf_add(&one, o, n);
		found = !program && (one.failed || has_secret(strbuf_str(&one)));
		rest = o + n;
	}
	strbuf_destroy(&one);
	/* Anything may follow an open quotation mark. */
	return found || rest[strspn(rest, ",")];
}
