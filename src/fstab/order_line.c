/* SPDX-License-Identifier: MIT */
/*
 * The paths that a line needs.
 */
#include "fstab/order.h"

#include "base/fstypes.h"
#include "base/words.h"
#include "fstab/fstab.h"
#include "fstab/target.h"
#include "mountopts/layers.h"
#include "mountopts/optlist.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/** What separates the words of a value of systemd's. */
#define BLANKS " \t\n\r"

/** Unions whose source or options list branches. */
#define UNIONS "mergerfs unionfs unionfs-fuse mhddfs"

/* Options of systemd. */

/** Decode the name of a mount or automount unit, in place: systemd.unit(5).
    @return whether it is one. */
static bool decode_unit(char *name)
{
	char *dot = strrchr(name, '.'), *to = name;
	if (!dot || dot == name || (strcmp(dot, ".mount") != 0 && strcmp(dot, ".automount") != 0))
		return false;
	*dot = '\0';
	for (const char *at = name; *at; ++to) {
		unsigned byte;
		bool escape = at[0] == '\\' && at[1] == 'x' && isxdigit((unsigned char)at[2])
		              && isxdigit((unsigned char)at[3])
		              && sscanf(at + 2, "%2x", &byte) == 1;
		*to = escape ? (char)byte : *at == '-' ? '/' : *at;
		at += escape ? 4 : 1;
	}
	*to = '\0';
	return true;
}

int order_named_path(const char *value, struct arena *arena, const char **path)
{
	char *text = arena_alloc(arena, strlen(value) + 2);
	*path = NULL;
	if (!text)
		return -1;
	text[0] = '/';
	strcpy(text + (*value != '/'), value);
	if (*value == '/' ? strncmp(value, "/dev/", 5) == 0 : !decode_unit(text + 1))
		return 0;
	*path = fstab_normal(arena, text);
	return *path ? 0 : -1;
}

/** Read a word of a value of systemd's.  @word [out]  Without quotation marks and backslashes.
    @return the rest; NULL: no more, or a quotation mark is not closed. */
static const char *next_word(const char *at, char *word)
{
	char quote = '\0';
	at += strspn(at, BLANKS);
	if (!*at)
		return NULL;
	for (; *at && (quote || !strchr(BLANKS, *at)); ++at) {
		if (*at == quote)
			quote = '\0';
		else if (!quote && strchr("\"'", *at))
			quote = *at;
		else if (*at != '\\' || *++at)
			*word++ = *at;
		else
			return NULL;
	}
	*word = '\0';
	return quote ? NULL : at;
}

int order_each_required(const char *value, struct arena *arena,
                        bool (*each)(void *arg, const char *path, enum order_kind kind), void *arg)
{
	char *word = arena_alloc(arena, strlen(value) + 1);
	while (word && (value = next_word(value, word)) != NULL) {
		const char *path = fstab_normal(arena, word);
		/* systemd ignores other words. */
		bool plain = *word == '/' && !strstr(word, "/..");
		if (plain && (!path || !each(arg, path, ORDER_REQUIRES)))
			return path ? 0 : -1;
	}
	return word ? 0 : -1;
}

void order_wait_option(struct strbuf *out, const char *mount_point)
{
	if (!strpbrk(mount_point, BLANKS ",\"'\\")) {
		strbuf_printf(out, "x-systemd.requires-mounts-for=%s", mount_point);
	} else if (!strpbrk(mount_point, ",\"\\")) {
		strbuf_printf(out, "x-systemd.requires=%s", mount_point);
	} else {
		strbuf_puts(out, "x-systemd.requires=");
		fstab_unit_name(out, mount_point);
		strbuf_puts(out, ".mount");
	}
}

/* Paths. */

/** For order_each_path(). */
struct paths {
	struct arena *arena;
	bool (*each)(void *arg, const char *path, enum order_kind kind);
	void *arg;
	bool failed;
};

/** Call for a path of n bytes.  @return whether to go on. */
static bool call(struct paths *paths, const char *path, size_t n, enum order_kind kind)
{
	if (n == 0 || *path != '/')
		return true;
	char *copy = arena_strndup(paths->arena, path, n);
	const char *normal = copy ? fstab_normal(paths->arena, copy) : NULL;
	paths->failed |= !normal;
	return normal && paths->each(paths->arg, normal, kind);
}

static void call_layers(struct paths *paths, const char *options)
{
	struct opt_dir *dirs;
	size_t n;
	bool more = opt_layers(options, opt_next, paths->arena, &dirs, &n) == 0;
	paths->failed |= !more;
	for (size_t i = 0; more && i < n; ++i)
		more = call(paths, dirs[i].path, strlen(dirs[i].path), ORDER_LAYER);
}

/** Call for the branches of a list, each perhaps with "=RW" after it. */
static bool call_branches(struct paths *paths, const char *list, size_t n, const char *between)
{
	for (size_t from = 0, to; from < n; from = to + 1) {
		to = from + strcspn(list + from, between);
		to = to < n ? to : n;
		const char *mode = memchr(list + from, '=', to - from);
		size_t len = mode ? (size_t)(mode - list) - from : to - from;
		if (!call(paths, list + from, len, ORDER_BRANCH))
			return false;
	}
	return true;
}

/** Call for the branches that options name: "br=/a=rw:/b=ro" and "br:/a" of aufs, "dirs=" of
    unionfs, "branches=" of mergerfs. */
static void call_listed(struct paths *paths, const struct fstab_entry *line)
{
	for (uint32_t i = 0; i < line->nopts; ++i) {
		const struct opt *option = &line->opts[i];
		size_t name = strcspn(option->text, "=:");
		if (name < option->n && word_in(option->text, name, "br dirs branches")
		    && !call_branches(paths, option->text + name + 1, option->n - name - 1, ":"))
			return;
	}
}

/** The directories of a type of FUSE; "mergerfs#/a:/b" is a source too, in which systemd sees no
    path. */
static void call_fuse(struct paths *paths, const struct fstab_entry *line)
{
	const char *source = line->source, *sharp = strchr(source, '#'), *helper = line->fstype;
	helper += strncmp(helper, "fuse.", 5) == 0 ? 5 : strncmp(helper, "fuse3.", 6) == 0 ? 6 : 0;
	size_t n = strlen(helper);
	bool hidden = sharp && *source != '/';
	if (hidden) {
		helper = source;
		n = (size_t)(sharp - source);
		source = sharp + 1;
	}
	if (word_is(helper, n, "fuse-overlayfs")) {
		call_layers(paths, line->options);
	} else if (word_in(helper, n, UNIONS)) {
		call_branches(paths, source, strlen(source),
		              word_is(helper, n, "mhddfs") ? "," : ":");
		call_listed(paths, line);
		/* systemd takes the whole list for a path, and sees its first directories. */
		if (!hidden)
			call(paths, source, strlen(source), ORDER_SOURCE);
	} else {
		call(paths, source, strlen(source), hidden ? ORDER_BRANCH : ORDER_SOURCE);
	}
}

int order_each_path(const struct fstab_entry *line, struct arena *arena,
                    bool (*each)(void *arg, const char *path, enum order_kind kind), void *arg)
{
	struct paths paths = {.arena = arena, .each = each, .arg = arg};
	const char *source = line->source, *fstype = line->fstype;
	/* Of a device the kernel's own name is no path that a line mounts. */
	bool path = *source == '/' && source[1] != '/' && strncmp(source, "/dev/", 5) != 0;
	if (line->bind) {
		call(&paths, source, strlen(source), ORDER_BIND);
	} else if (strcmp(fstype, "overlay") == 0) {
		call_layers(&paths, line->options);
	} else if (strcmp(fstype, "aufs") == 0) {
		call_listed(&paths, line);
	} else if (strncmp(fstype, "fuse", 4) == 0
	           || word_in(fstype, strlen(fstype), "fuse-overlayfs " UNIONS)) {
		call_fuse(&paths, line);
	} else if (path && strcmp(fstype, "none") != 0 && strcmp(fstype, "ignore") != 0
	           && (line->type & FST_DEVICE || !(line->type & (FST_NET | FST_PSEUDO)))) {
		call(&paths, source, strlen(source), line->swap ? ORDER_SWAP : ORDER_SOURCE);
	}
	if (line->real_source && strcmp(line->real_source, source) != 0)
		call(&paths, line->real_source, strlen(line->real_source), ORDER_LINK);
	return paths.failed ? -1 : 0;
}
