/* SPDX-License-Identifier: MIT */
/*
 * Collect the paths that a line needs, from its source and options.
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

/** Separators of words in systemd's option values. */
#define BLANKS " \t\n\r"

/** File system types that unite directories ("branches"), listed in the source or in options. */
#define UNIONS "mergerfs unionfs unionfs-fuse mhddfs"

/* Options of systemd. */

/** Decode the name of a mount or automount unit in place: systemd.unit(5).
    @return false: the name ends neither in ".mount" nor in ".automount". */
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

const char *order_named_path(const char *value, struct arena *arena)
{
	char *text = arena_new(arena, strlen(value) + 2, 1);
	if (!text)
		return NULL;
	text[0] = '/';
	strcpy(text + (*value != '/'), value);
	bool none = *value == '/' ? strncmp(value, "/dev/", 5) == 0 : !decode_unit(text + 1);
	return none ? NULL : fstab_normal(arena, text);
}

/** Get the next word of a value as systemd splits it.  Quotation marks and backslashes are removed
    in place.
    @value [in,out]  The value; afterwards the rest of the value.
    @return the word; NULL: no further word, or a quotation mark is not closed. */
static char *next_word(char **value)
{
	char *word = *value + strspn(*value, BLANKS), *to = word, *at = word, quote = '\0';
	if (!*word)
		return NULL;
	for (; *at && (quote || !strchr(BLANKS, *at)); ++at) {
		if (*at == quote)
			quote = '\0';
		else if (!quote && strchr("\"'", *at))
			quote = *at;
		else if (*at != '\\' || *++at)
			*to++ = *at;
		else
			return NULL;
	}
	*value = at + (*at != '\0');
	*to = '\0';
	return quote ? NULL : word;
}

const char *order_next_required(char **value, struct arena *arena)
{
	const char *word;
	do {
		word = next_word(value);
		/* Skip the words that systemd ignores: relative paths, and paths with "/..". */
	} while (word && (*word != '/' || strstr(word, "/..")));
	return fstab_normal(arena, word);
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

/* Paths in the source and options of a line. */

/** Add a path of n bytes, unless it is relative. */
static void add_path(struct order_paths *paths, const char *path, size_t n, enum order_kind kind)
{
	if (n == 0 || *path != '/')
		return;
	const char *normal = fstab_normal(paths->arena, arena_textn(paths->arena, path, n));
	ARENA_PUSH(paths->arena, paths->list, paths->count, (struct order_path){normal, kind});
}

static void add_layers(struct order_paths *paths, const char *options)
{
	struct opt_dir *dirs;
	size_t n = opt_layers(options, opt_next, paths->arena, &dirs);
	for (size_t i = 0; i < n; ++i)
		add_path(paths, dirs[i].path, strlen(dirs[i].path), ORDER_LAYER);
}

/** Add the branches of a list of n bytes, without modes such as "=RW".
    @between  The separator. */
static void add_branches(struct order_paths *paths, const char *list, size_t n,
                         const char *between)
{
	for (size_t from = 0, to; from < n; from = to + 1) {
		to = from + strcspn(list + from, between);
		to = to < n ? to : n;
		const char *mode = memchr(list + from, '=', to - from);
		size_t len = mode ? (size_t)(mode - list) - from : to - from;
		add_path(paths, list + from, len, ORDER_BRANCH);
	}
}

/** Add the branches that options name: "br=/a=rw:/b=ro" and "br:/a" of aufs, "dirs=" of
    unionfs, "branches=" of mergerfs. */
static void add_listed(struct order_paths *paths, const struct fstab_entry *line)
{
	for (uint32_t i = 0; i < line->nopts; ++i) {
		const struct opt *option = &line->opts[i];
		size_t name = strcspn(option->text, "=:");
		if (name < option->n && word_in(option->text, name, "br dirs branches"))
			add_branches(paths, option->text + name + 1, option->n - name - 1, ":");
	}
}

/** Add the paths that a line of a FUSE type needs.  A source such as "mergerfs#/a:/b" is not a path
    for systemd, so its paths get the kind ORDER_BRANCH, a need that systemd ignores. */
static void add_fuse(struct order_paths *paths, const struct fstab_entry *line)
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
		add_layers(paths, line->options);
	} else if (word_in(helper, n, UNIONS)) {
		add_branches(paths, source, strlen(source),
		             word_is(helper, n, "mhddfs") ? "," : ":");
		add_listed(paths, line);
		/* systemd takes the whole list for one path, and so knows only the directories
		   above the first branch. */
		if (!hidden)
			add_path(paths, source, strlen(source), ORDER_SOURCE);
	} else {
		add_path(paths, source, strlen(source), hidden ? ORDER_BRANCH : ORDER_SOURCE);
	}
}

void order_read_paths(struct order_paths *paths, const struct fstab_entry *line)
{
	paths->count = 0;
	const char *source = line->source, *fstype = line->fstype;
	/* A path in /dev does not depend on the lines of an fstab. */
	bool path = *source == '/' && source[1] != '/' && strncmp(source, "/dev/", 5) != 0;
	if (line->bind) {
		add_path(paths, source, strlen(source), ORDER_BIND);
	} else if (strcmp(fstype, "overlay") == 0) {
		add_layers(paths, line->options);
	} else if (strcmp(fstype, "aufs") == 0) {
		add_listed(paths, line);
	} else if (strncmp(fstype, "fuse", 4) == 0
	           || word_in(fstype, strlen(fstype), "fuse-overlayfs " UNIONS)) {
		add_fuse(paths, line);
	} else if (path && strcmp(fstype, "none") != 0 && strcmp(fstype, "ignore") != 0
	           && (line->type & FST_DEVICE || !(line->type & (FST_NET | FST_PSEUDO)))) {
		add_path(paths, source, strlen(source), line->swap ? ORDER_SWAP : ORDER_SOURCE);
	}
	if (line->real_source && strcmp(line->real_source, source) != 0)
		add_path(paths, line->real_source, strlen(line->real_source), ORDER_LINK);
}
