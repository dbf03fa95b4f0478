/* SPDX-License-Identifier: MIT */
/*
 * The file made anew, as the kernel writes /proc/mounts: in its order, with its
 * escapes, and with its options in its order, which are those of the file system
 * that the VFS and the security module know, those of the mount, and those that
 * are the file system's own (fs/proc_namespace.c, show_vfsmnt()).
 */
#include "recover/recover_impl.h"

#include "base/escape.h"
#include "base/words.h"
#include "mountopts/optlist.h"

#include <inttypes.h>
#include <string.h>

static bool has_word(const char *list, const char *word)
{
	size_t n;
	for (const char *o; (o = opt_next_mtab(&list, &n)) != NULL;) {
		if (word_is(o, n, word))
			return true;
	}
	return false;
}

/** Whether an option of a file system is one that the kernel writes before those of
    the mount: show_sb_opts(). */
static bool is_early(const char *option, size_t n)
{
	static const char *const words[] = {
		"sync", "dirsync", "mand", "lazytime", "seclabel", "context=", "fscontext=",
		"defcontext=",
		"rootcontext=",
	};
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); ++i) {
		size_t len = strlen(words[i]);
		bool value = words[i][len - 1] == '=';
		if ((value ? n > len : n == len) && memcmp(option, words[i], len) == 0)
			return true;
	}
	return false;
}

/** Append the options of a list but rw and ro; from *list on to its end, or while
    they are early ones. */
static void add_options(struct strbuf *out, const char **list, bool early)
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

void rec_options(const struct mount *mount, struct strbuf *out)
{
	const char *vfs = mount->vfs_opts, *fs = mount->fs_opts;
	strbuf_puts(out, has_word(vfs, "ro") || has_word(fs, "ro") ? "ro" : "rw");
	add_options(out, &fs, true);
	add_options(out, &vfs, false);
	add_options(out, &fs, false);
}

static void build_mtab(const struct rec_input *in, const struct rec_judgement *j, size_t r,
                       struct strbuf *out)
{
	const struct mount *m = in->rows[r].mount;
	bool mnttab = in->format == REC_MNTTAB;
	char part = mnttab ? '\t' : ' ';
	const struct rec_finding *finding = &j->findings[j->finding[r]];
	escape_octal(out, in->rows[r].target, ESCAPE_PATH);
	strbuf_putc(out, part);
	escape_octal(out, m->fstype && *m->fstype ? m->fstype : "none", ESCAPE_SOURCE);
	strbuf_putc(out, part);
	/* As they are: a file system that does not escape what parts fields would. */
	escape_octal(out, j->options[r], " \t\n");
	for (size_t i = 0; i < finding->nhints; ++i) {
		const struct rec_hint *hint = &j->hints[finding->hint + i];
		if (hint->kept) {
			strbuf_putc(out, ',');
			strbuf_puts(out, hint->option);
		}
	}
	if (mnttab)
		strbuf_printf(out, "\t%" PRIu64, finding->time);
	else
		strbuf_puts(out, " 0 0");
}

void rec_build(const struct rec_input *in, const struct rec_judgement *j, struct strbuf *out)
{
	for (size_t r = 0; r < in->nrows; ++r) {
		const char *source = in->rows[r].mount->source;
		/* A source that starts the file with a byte order mark would be lost. */
		if (r == 0 && source && strncmp(source, "\xef\xbb\xbf", 3) == 0) {
			strbuf_puts(out, "\\357");
			++source;
		}
		escape_first_field(out, source && *source ? source : "none", ESCAPE_SOURCE, false);
		strbuf_putc(out, in->format == REC_MNTTAB ? '\t' : ' ');
		/* At the end of a line a CR would be taken for a part of that. */
		if (in->format == REC_SETMNT)
			escape_octal(out, in->rows[r].target, ESCAPE_PATH "\r");
		else
			build_mtab(in, j, r, out);
		strbuf_putc(out, '\n');
	}
}

const char *rec_format_name(enum rec_format format)
{
	static const char *const names[] = {
		[REC_MTAB] = "mtab", [REC_MNTTAB] = "mnttab", [REC_SETMNT] = "setmnt",
	};
	return names[format];
}

const char *rec_verdict_name(enum rec_verdict verdict)
{
	static const char *const names[] = {
		[REC_RIGHT] = "right", [REC_WRONG] = "wrong", [REC_GONE] = "gone",
		[REC_MISSING] = "missing",
		[REC_UNREADABLE] = "unreadable", [REC_IGNORED] = "ignored",
	};
	return names[verdict];
}

const char *rec_field_name(unsigned field)
{
	static const char *const names[REC_NFIELDS] = {
		"source", "target", "fstype", "options", "freq", "pass", "time", "rest", "end",
		"order",
	};
	return names[field];
}
