/* SPDX-License-Identifier: MIT */
/* The rebuilt file, as the kernel writes /proc/mounts: the order of lines, and the escapes. */
#include "recover/recover_impl.h"

#include "base/escape.h"
#include "base/words.h"
#include "mountopts/optlist.h"
#include "mounttree.h"

#include <inttypes.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/** Append the target, type, options and numbers of a row. */
static void build_mtab(const struct rec_input *in, const struct rec_result *j, size_t r,
                       struct strbuf *out)
{
	const struct rec_finding *finding = &j->findings[j->finding[r]];
	char separator = in->format == REC_MNTTAB ? '\t' : ' ';
	escape_octal(out, j->fields[r][1], ESCAPE_PATH, false);
	strbuf_putc(out, separator);
	escape_octal(out, j->fields[r][2], ESCAPE_SOURCE, false);
	strbuf_putc(out, separator);
	/* The kernel escapes options, except where a file system forgets to escape blanks. */
	escape_octal(out, j->fields[r][3], " \t\n", false);
	for (size_t i = finding->hint; i < finding->hint + finding->nhints; ++i) {
		if (j->hints[i].kept)
			strbuf_printf(out, ",%s", j->hints[i].option);
	}
	if (in->format == REC_MNTTAB)
		strbuf_printf(out, "\t%" PRIu64, finding->time);
	else
		strbuf_puts(out, " 0 0");
}

void rec_build(const struct rec_input *in, const struct rec_result *j, struct strbuf *out)
{
	for (size_t r = 0; r < in->nrows; ++r) {
		const char *source = j->fields[r][0];
		/* A source that starts the file with a byte order mark would be lost. */
		if (r == 0 && strncmp(source, "\xef\xbb\xbf", 3) == 0) {
			strbuf_puts(out, "\\357");
			++source;
		}
		escape_first_field(out, source, ESCAPE_SOURCE, false);
		strbuf_putc(out, in->format == REC_MNTTAB ? '\t' : ' ');
		/* A CR before a newline would count as part of the line end. */
		if (in->format == REC_SETMNT)
			escape_octal(out, j->fields[r][1], ESCAPE_PATH "\r", false);
		else
			build_mtab(in, j, r, out);
		strbuf_putc(out, '\n');
	}
}

const char *const rec_format_names[] = {"mtab", "mnttab", "setmnt"};

const char *const rec_verdict_names[] = {
	"right", "wrong", "gone", "missing", "unreadable", "ignored",
};

const char *const rec_field_names[] = {
	"source", "target", "fstype", "options", "freq", "pass", "time", "rest", "end", "order",
};

bool rec_has_line(const struct mt_node *node)
{
	return !node->made && !node->gone && !(node->states & 1u << MT_OUTSIDE);
}

int rec_rows(const struct mtree *tree, const char *const *targets, struct rec_row **rows,
             size_t *nrows, size_t *nameless)
{
	size_t n = 0;
	struct rec_row *made = calloc(tree->count + 1, sizeof(*made));
	uint32_t *row_of = calloc(tree->count + 1, sizeof(*row_of));
	*nameless = 0;
	for (size_t i = 0; made && row_of && i < tree->count; ++i) {
		const struct mt_node *node = &tree->nodes[i];
		bool has_line = rec_has_line(node), named = has_line && targets[i];
		*nameless += has_line && !named;
		row_of[i] = named ? (uint32_t)n : REC_NONE;
		if (named)
			made[n++] = (struct rec_row){node->mount, targets[i], node->parent};
	}
	for (size_t k = 0; k < n; ++k)
		made[k].parent = made[k].parent == MT_NONE ? REC_NONE : row_of[made[k].parent];
	bool failed = !made || !row_of;
	free(row_of);
	if (failed)
		free(made);
	*rows = failed ? NULL : made;
	*nrows = n;
	return failed ? -1 : 0;
}

/** The part of an entry that never occurs in an mtab; NULL: none. */
static const char *line_sign(const struct tabline *line)
{
	static const char *const tags[] = {"UUID=", "LABEL=", "PARTUUID=", "PARTLABEL=", "ID="};
	static const char *const options[] = {"defaults", "noauto", "nofail", "sw", "auto", "user",
	                                      "users", "owner", "group"};
	static const char links[] = "/dev/disk/by-";
	for (size_t i = 0; i < sizeof(tags) / sizeof(*tags); ++i) {
		if (strncmp(tabline_value(line, TABLINE_SOURCE), tags[i], strlen(tags[i])) == 0)
			return tags[i];
	}
	if (strcmp(tabline_value(line, TABLINE_FSTYPE), "swap") == 0)
		return "swap";
	/* An initramfs may mount the root by a symlink. */
	if (strncmp(tabline_value(line, TABLINE_SOURCE), links, sizeof(links) - 1) == 0
	    && strcmp(tabline_value(line, TABLINE_TARGET), "/") != 0)
		return links;
	const char *list = tabline_value(line, TABLINE_OPTIONS);
	for (size_t i = 0; list && i < sizeof(options) / sizeof(*options); ++i) {
		if (opt_has(list, options[i]))
			return options[i];
	}
	/* In an mtab each line has rw or ro, and is never checked by fsck. */
	const char *pass = tabline_value(line, TABLINE_PASSNO);
	bool has_pass = pass && (strcmp(pass, "1") == 0 || strcmp(pass, "2") == 0);
	return has_pass && list && !opt_has(list, "rw") && !opt_has(list, "ro")
	       ? "a pass number, and neither rw nor ro" : NULL;
}

/** Whether a file name has the word fstab: fstab.new, host1.fstab. */
static bool is_fstab_name(const char *name)
{
	static const char word[] = "fstab";
	for (const char *at = name; (at = strstr(at, word)) != NULL; ++at) {
		if ((at == name || !isalpha((unsigned char)at[-1]))
		    && !isalpha((unsigned char)at[strlen(word)]))
			return true;
	}
	return false;
}

/** The number of digits of a field; 0: not a number. */
static size_t digits_of(const struct tabline_field *field)
{
	size_t n = 0;
	while (n < field->n && isdigit((unsigned char)field->raw[n]))
		++n;
	return n == field->n ? n : 0;
}

enum rec_format rec_format_of(const struct tablines *lines, enum rec_format named)
{
	size_t mtab = 0, mnttab = 0;
	for (size_t i = 0; i < lines->count; ++i) {
		const struct tabline *line = &lines->lines[i];
		if (line->kind != TABLINE_ENTRY)
			continue;
		const struct tabline_field *last = &line->fields[TABLINE_FREQ];
		size_t n = line->nfields > TABLINE_FREQ ? digits_of(last) : 0;
		mtab += n == 1 && line->nfields > TABLINE_PASSNO
		        && digits_of(&line->fields[TABLINE_PASSNO]) == 1;
		mnttab += n > 1 && line->nfields == TABLINE_PASSNO;
	}
	return mtab > mnttab ? REC_MTAB : mnttab > mtab ? REC_MNTTAB : named;
}

const char *rec_fstab_sign(const char *path, const struct tablines *lines, uint32_t *number)
{
	const char *base = strrchr(path, '/');
	base = base ? base + 1 : path;
	*number = 0;
	if (is_fstab_name(base))
		return "its name";
	for (size_t i = 0; i < lines->count; ++i) {
		const struct tabline *line = &lines->lines[i];
		const char *sign = line->kind == TABLINE_ENTRY ? line_sign(line) : NULL;
		*number = line->number;
		if (sign)
			return sign;
	}
	return NULL;
}
