/* SPDX-License-Identifier: MIT */
/**
 * Checking a file that lists mounts (mtab, mnttab, input of setmnt(1M)), however damaged, and
 * rebuilding it.  Pure.
 *
 *     lines (mounts/tablines.h) --.
 *                                 >-- rec_check() --> a finding for each line, and
 *     mounts, named -------------'        |           for each mount without a line
 *                                         '---------> rec_build() --> the bytes
 *
 * The new file is made from the kernel's table.  Only hints come from the old file: options that
 * mount(8) wrote there and the kernel does not know.  They are taken only from lines that are
 * otherwise right and, by default, only if something else confirms them; so damage puts nothing
 * untrue into the file.
 */
#ifndef GM_RECOVER_RECOVER_H
#define GM_RECOVER_RECOVER_H

#include "base/arena.h"
#include "base/mount.h"
#include "base/strbuf.h"
#include "mounts/tablines.h"

/** No row. */
#define REC_NONE UINT32_MAX

enum rec_format {
	REC_MTAB,      /* as /proc/mounts: source target type options 0 0 */
	REC_MNTTAB,    /* of System V, separated by tabs: special, mount_point, fstype,
	                  options, time */
	REC_SETMNT,    /* what setmnt(1M) reads: special directory */
};

enum rec_verdict {
	REC_RIGHT,
	REC_WRONG,       /* the line of a mount with a different field */
	REC_GONE,        /* a line without a mount */
	REC_MISSING,     /* a mount without a line */
	REC_UNREADABLE,
	REC_IGNORED,     /* a blank line or a comment */
	REC_NVERDICTS,
};

/** The faults of a line. */
enum rec_field {
	REC_SOURCE  = 1 << 0,
	REC_TARGET  = 1 << 1,
	REC_FSTYPE  = 1 << 2,
	REC_OPTIONS = 1 << 3,
	REC_FREQ    = 1 << 4,
	REC_PASSNO  = 1 << 5,
	REC_TIME    = 1 << 6,
	REC_REST    = 1 << 7,   /* text after the last field */
	REC_END     = 1 << 8,   /* the line ends with CR LF, or without a newline */
	REC_ORDER   = 1 << 9,   /* before the line of the parent mount */
	REC_NFIELDS = 10,
};

/** Which hints (options that the kernel does not know) are kept. */
enum rec_keep {
	REC_CHECKED,   /* those confirmed by another source */
	REC_ALL,
	REC_NO,
};

/** A mount with a name, in the order of the lines. */
struct rec_row {
	const struct mount *mount;
	const char *target;
	uint32_t parent;       /* the row of the parent mount; REC_NONE */
};

struct mtree;
struct mt_node;

/** Whether a node of the mount tree is a mount that has a line. */
bool rec_has_line(const struct mt_node *node);

/** Make a row for each mount that has a line and a name, in the kernel's order.
    @targets  The names of the tree's nodes; NULL: none.
    @rows [out]  An array, to be freed.
    @nameless [out]  The number of mounts that have a line and no name.
    @return 0, or -1.  Errors: ENOMEM. */
int rec_rows(const struct mtree *tree, const char *const *targets, struct rec_row **rows,
             size_t *nrows, size_t *nameless);

/** Whether a file is an fstab: by its name, such as fstab.bak, or by a line that cannot occur in an
    mtab (a tag or symlink as source, a swap space, an option that mount(8) does not keep, a pass
    number without rw or ro).
    @number [out]  The number of that line; 0: the name.
    @return the part of the line, or "its name"; NULL: not an fstab. */
const char *rec_fstab_sign(const char *path, const struct tablines *lines, uint32_t *number);

/** The format of most lines of a text, if they have the fields of an mtab (two one-digit numbers at
    the end) or of an mnttab (one longer number).
    @lines  Of tablines_cut().
    @named  The format by the name of the file: for a text that shows neither. */
enum rec_format rec_format_of(const struct tablines *lines, enum rec_format named);

struct rec_input {
	enum rec_format format;
	enum rec_keep keep;
	const struct tablines *lines;   /* REC_MTAB: of tablines_parse(), else tablines_cut() */
	const struct rec_row *rows;
	size_t nrows;
	uint64_t first_time, last_time; /* REC_MNTTAB: the range of possible mount times; seconds
	                                   since 1970 */
};

/** The result for a line, or for a mount without a line. */
struct rec_finding {
	enum rec_verdict verdict;
	const struct tabline *line;  /* NULL: of REC_MISSING */
	uint32_t row;                /* of REC_RIGHT, REC_WRONG, REC_MISSING; else REC_NONE */
	unsigned fields;             /* of REC_WRONG: enum rec_field */
	uint32_t other;              /* the number of another line, or 0.  REC_ORDER: the line of
	                                the parent mount; REC_GONE: the last line with this mount
	                                point; REC_MISSING: an unreadable line with it */
	const char *why;             /* the reason: of REC_GONE, REC_UNREADABLE, REC_IGNORED, and
	                                some REC_WRONG; static */
	uint64_t time;               /* REC_MNTTAB: the mount time to keep; 0: none */
	size_t hint, nhints;         /* in rec_result.hints */
};

/** An option that the kernel does not know, in an otherwise right line. */
struct rec_hint {
	const char *option;          /* as written in the line */
	uint32_t row;                /* the mount of the line */
	bool kept;                   /* REC_CHECKED: false until the caller sets it, because another
	                                source confirms that the mount has the option */
};

struct rec_result {
	struct rec_finding *findings;   /* of each line, in order; then of each missing mount */
	size_t count, nlines;
	size_t of[REC_NVERDICTS];
	struct rec_hint *hints;
	size_t nhints;
	const char *(*fields)[4];       /* of each row: source, target, type, options in an mtab */
	uint32_t *finding;              /* of each row */
	struct arena arena;
};

/**
 * Check a file.
 *
 * A line belongs to the mount with the same target, source, type and options; else to a mount with
 * the same target and as many equal fields as possible; else to a mount with the same source.
 * Equal lines and mounts are paired in their order.  The order of options and unnecessary escapes
 * do not matter.  Linear, except for sorting each line's options.
 *
 * @result [out]  To be freed by rec_result_destroy(), also on failure.
 * @return 0, or -1.  Errors: ENOMEM.
 */
int rec_check(const struct rec_input *in, struct rec_result *result);
void rec_result_destroy(struct rec_result *result);

/** Whether the file has a right line for every mount, and no other line. */
bool rec_is_right(const struct rec_result *result);

/** Rebuild the file: a line for each row.
    @result  The result of rec_check() for the same input, with its hints.
    @out  Appended to. */
void rec_build(const struct rec_input *in, const struct rec_result *result,
               struct strbuf *out);

/** The names of formats, verdicts and fields (by the number of the bit). */
extern const char *const rec_format_names[], *const rec_verdict_names[], *const rec_field_names[];

#endif
