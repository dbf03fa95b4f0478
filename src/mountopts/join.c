/* SPDX-License-Identifier: MIT */
#include "mountopts/join.h"

#include "base/escape.h"
#include "base/words.h"
#include "mountopts/optlist.h"
#include "mountopts/shown.h"

#include <string.h>

/** The first option: "ro" if the mount or its file system is read-only. */
static const char *readonly_word(const struct mount *mount)
{
	return shown_mount_readonly(mount) || shown_super_readonly(mount) ? "ro" : "rw";
}

/** Append the options of a list, except "rw", "ro" and those also in `other`. */
static void add_unique(struct strbuf *out, const char *list, const char *other)
{
	struct opt_set others;
	size_t n;
	opt_set_init(&others, true);
	for (const char *o; (o = opt_next_shown(&list, &n)) != NULL;) {
		if (word_is(o, n, "rw") || word_is(o, n, "ro"))
			continue;
		/* Filled only when needed: most file systems have no other options. */
		opt_set_add_list(&others, other, opt_next_shown);
		other = NULL;
		if (opt_set_find(&others, o, n))
			continue;
		strbuf_putc(out, ',');
		strbuf_add(out, o, n);
	}
	if (others.failed)
		strbuf_fail(out);
	opt_set_destroy(&others);
}

/** Decode the escapes in the output from `start` on. */
static void decode_from(struct strbuf *out, size_t start)
{
	if (out->failed || out->len == start || !memchr(out->data + start, '\\', out->len - start))
		return;
	/* Keep an escaped NUL, which no kernel writes: decoded, it would end the string. */
	if (strstr(out->data + start, "\\000"))
		return;
	out->len = start + unescape_octal(out->data + start, out->data + start, out->len - start);
	out->data[out->len] = '\0';
}

void join_findmnt(const struct mount *mount, struct strbuf *out)
{
	const char *vfs = mount->vfs_opts, *fs = mount->fs_opts;
	size_t start = out->len;

	if (mount->line != 0) {
		strbuf_puts(out, fs ? fs : vfs ? vfs : "");
	} else if (vfs || fs) {
		strbuf_puts(out, readonly_word(mount));
		add_unique(out, vfs, NULL);
		start = out->len;
		add_unique(out, fs, vfs);
	}
	decode_from(out, start);
}

/** Whether the kernel writes an option of a file system before the options of the mount:
    show_sb_opts(). */
static bool is_early(const char *option, size_t n)
{
	static const char *const words[] = {
		"sync", "dirsync", "mand", "lazytime", "seclabel", "context=", "fscontext=",
		"defcontext=", "rootcontext=",
	};
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); ++i) {
		size_t len = strlen(words[i]);
		bool value = words[i][len - 1] == '=';
		if ((value ? n > len : n == len) && memcmp(option, words[i], len) == 0)
			return true;
	}
	return false;
}

/** Append the options of *list except rw and ro.  @early  Stop at the first that is not early. */
static void add_part(struct strbuf *out, const char **list, bool early)
{
	size_t n;
	const char *at = *list;
	for (const char *o; (o = opt_next_mtab(&at, &n)) != NULL; *list = at) {
		if (word_is(o, n, "rw") || word_is(o, n, "ro"))
			continue;
		if (early && !is_early(o, n))
			return;
		strbuf_putc(out, ',');
		strbuf_add(out, o, n);
	}
}

void join_mtab(const struct mount *mount, struct strbuf *out)
{
	const char *vfs = mount->vfs_opts, *fs = mount->fs_opts;
	strbuf_puts(out, readonly_word(mount));
	add_part(out, &fs, true);
	add_part(out, &vfs, false);
	add_part(out, &fs, false);
}
