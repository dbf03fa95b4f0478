/* SPDX-License-Identifier: MIT */
/*
 * Whether a line is as systemd has loaded it.
 *
 * Of a line only its unit is there, and many lines have the same.  So the question is
 * not what the line was, but whether this one would have become that unit; where that
 * cannot be told, it would.  What the generator does to a line, and how that is met:
 *
 *     getmntent(3) decodes       \040 \011 \012 \134 \\ (newer ones \043), and no other
 *                                escape, as mount(8) would: either is the same
 *     UUID="x"                   becomes /dev/disk/by-uuid/x, with \xhh of udev
 *     //, /./, a '/' at the end  may be taken out of a source
 *     auto, defaults             are nothing
 *     x-systemd.device-timeout=  is taken out, and options are cut and put together, with
 *                                other backslashes: what is for systemd, and backslashes,
 *                                are not compared
 *     bg                         of NFS becomes retry=10000,nofail,...,fg, and is waited for
 *     the pass                   is a systemd-fsck@.service if it is not 0, the source is
 *                                a device and there are fsck and the helper; nothing else
 *     no unit                    of what is no path, of API file systems, autofs, and of a
 *                                place that had one
 */
#include "fstab/edit/merge_impl.h"

#include "base/escape.h"
#include "base/words.h"

#include <string.h>

/** glibc's getmntent(3) reads so much of a line. */
enum { LINE_READ = 4095 };

/** Append a field as getmntent(3) decodes it. */
static void decode(struct strbuf *out, const char *raw, size_t n)
{
	static const char *const escapes[][2] = {
		{"\\040", " "}, {"\\011", "\t"}, {"\\012", "\n"}, {"\\134", "\\"}, {"\\\\", "\\"}, {"\\043", "#"},
	};
	for (size_t i = 0; i < n;) {
		size_t k = 0, rows = sizeof(escapes) / sizeof(*escapes), len = 0;
		for (; k < rows; ++k) {
			len = strlen(escapes[k][0]);
			if (n - i >= len && memcmp(raw + i, escapes[k][0], len) == 0)
				break;
		}
		strbuf_putc(out, k < rows ? *escapes[k][1] : raw[i]);
		i += k < rows ? len : 1;
	}
}

/** A field of a line as getmntent(3) has it; "" if it is not there. */
static const char *read_field(struct merger *m, const struct old *old, enum tabline_place place)
{
	const struct tabline_field *field = &old->line->fields[place];
	strbuf_reset(&m->more);
	if (field->raw)
		decode(&m->more, field->raw, field->n);
	return merge_format(m, "%s", strbuf_str(&m->more));
}

static bool is_below(const char *path, const char *top)
{
	size_t n = strlen(top);
	return strncmp(path, top, n) == 0 && (!path[n] || path[n] == '/');
}

/** Whether systemd leaves a place alone. */
static bool is_api(const char *target)
{
	static const char *const exactly[] = {"/run", "/run/lock", "/run/lock/subsys", "/selinux"};
	for (size_t i = 0; i < sizeof(exactly) / sizeof(*exactly); ++i) {
		if (strcmp(target, exactly[i]) == 0)
			return true;
	}
	return is_below(target, "/proc") || is_below(target, "/sys") || is_below(target, "/dev");
}

bool merge_loads(const struct old *old, bool first)
{
	const struct tabline *line = old->line;
	const struct words *words = &old->words;
	if (line->kind != TABLINE_ENTRY || line->why || line->n >= LINE_READ || !first)
		return false;
	for (int i = TABLINE_SOURCE; i <= TABLINE_OPTIONS; ++i) {
		const struct tabline_field *field = &line->fields[i];
		for (size_t k = 0; field->raw && k + 3 < field->n; ++k) {
			if (memcmp(field->raw + k, "\\012", 4) == 0)
				return false;
		}
	}
	return old->swap || (old->key && !is_api(old->key) && strcmp(words->fstype, "autofs") != 0);
}

bool merge_loads_kind(struct merger *m, const struct old *old)
{
	if (old->swap)
		return m->in->loaded->swaps;
	bool device = strncmp(old->words.source, "/dev/", 5) == 0 || merge_tag(m, old->words.source);
	return !device || m->in->loaded->devices;
}

/** A source as a tag, or a path without what may be taken out of it. */
static const char *normal_source(struct merger *m, const char *source)
{
	const char *tag = merge_tag(m, source);
	if (tag || !strchr(source, '/'))
		return tag ? tag : source;
	return merge_normal(m, source);
}

bool merge_loaded_source(struct merger *m, const struct old *old, const struct units_line *unit)
{
	if (unit->odd)
		return true;
	const char *loaded = normal_source(m, unit->source);
	bool same = false;
	const char *const readings[] = {read_field(m, old, TABLINE_SOURCE), old->words.source};
	for (size_t i = 0; i < 2 && !same; ++i) {
		const char *source = normal_source(m, readings[i]);
		same = loaded && source && strcmp(source, loaded) == 0;
	}
	return same && (unit->swap || strcmp(old->words.fstype, unit->fstype) == 0
	                || strcmp(read_field(m, old, TABLINE_FSTYPE), unit->fstype) == 0);
}

/** Whether an option is for systemd, or says nothing. */
static bool is_passed_over(const char *option, size_t n)
{
	static const char *const begins[] = {"x-systemd.", "comment=systemd."};
	for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); ++i) {
		if (n >= strlen(begins[i]) && memcmp(option, begins[i], strlen(begins[i])) == 0)
			return true;
	}
	return n == 0 || word_is(option, n, "defaults");
}

/** The options that are compared. */
static const char *normal_options(struct merger *m, const char *options)
{
	strbuf_reset(&m->more);
	for (const char *at = options; *at;) {
		size_t n = strcspn(at, ",");
		if (!is_passed_over(at, n)) {
			strbuf_putc(&m->more, ',');
			for (size_t i = 0; i < n; ++i) {
				if (at[i] != '\\')
					strbuf_putc(&m->more, at[i]);
			}
		}
		at += n + (at[n] == ',');
	}
	return merge_format(m, "%s", strbuf_str(&m->more));
}

const char *merge_unit_options(struct merger *m, const struct units_line *unit)
{
	static const char before[] = "x-systemd.mount-timeout=infinity,retry=10000,nofail,", behind[] = ",fg";
	const char *options = unit->options;
	size_t len = strlen(options), head = sizeof(before) - 1, tail = sizeof(behind) - 1;
	bool nfs = strcmp(unit->fstype, "nfs") == 0 || strcmp(unit->fstype, "nfs4") == 0;
	if (!nfs || len <= head + tail || memcmp(options, before, head) != 0 || strcmp(options + len - tail, behind) != 0)
		return options;
	return merge_format(m, "%.*s", (int)(len - head - tail), options + head);
}

bool merge_loaded_options(struct merger *m, const struct old *old, const struct units_line *unit)
{
	/* As it is, and as of bg: a line may name all that itself. */
	const char *const loaded[] = {unit->options, merge_unit_options(m, unit)};
	bool same = unit->odd;
	for (size_t i = 0; i < 2 && !same; ++i) {
		const char *options = normal_options(m, loaded[i]);
		same = strcmp(normal_options(m, read_field(m, old, TABLINE_OPTIONS)), options) == 0
		       || strcmp(normal_options(m, old->words.options), options) == 0;
	}
	return same;
}

bool merge_loaded_pass(struct merger *m, const struct old *old, const struct units_line *unit)
{
	const struct fstab_world *world = &m->in->in->world;
	bool given = old->words.passno > 0;
	if (unit->odd || given == unit->check)
		return true;
	if (!given)
		return false;
	/* That of the root is no part of its unit. */
	return !m->in->loaded->checks || strcmp(unit->target, "/") == 0 || strncmp(unit->source, "/dev/", 5) != 0 || !world->fsck
	       || strcmp(unit->fstype, "auto") == 0 || world->fsck(world->arg, unit->fstype) != 1;
}
