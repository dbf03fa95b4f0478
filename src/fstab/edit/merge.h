/* SPDX-License-Identifier: MIT */
/**
 * Merging the plan of an fstab into an existing file, changing no byte needlessly.  Pure, like the
 * plan.
 *
 *     file (lines of bytes) --.
 *     plan -------------------+--> fstab_merge() --> text; notes: differences, fixed or not
 *     base (optional) --------'
 *
 * Lines are matched by mount point, swap by source.  Without a base, only the differences selected
 * by `fix` are changed.  With a base (an earlier text, or the units that systemd loaded) changes
 * and removals since then are intended, and stay.
 *
 * Removals are trusted only if the file is undamaged.  A file is damaged if it has no entry at all,
 * or a control character or a line that mount(8) refuses that the base does not have.  Then nothing
 * counts as removed and, with `persistent`, no line as changed to another source.  If the last line
 * has no newline, nothing counts as removed, and that line not as changed.  With `persistent`, each
 * mount gets its line even if it was removed since systemd loaded the file, since no user chose
 * that base.
 */
#ifndef GM_FSTAB_MERGE_H
#define GM_FSTAB_MERGE_H

#include "fstab/match.h"
#include "host/units.h"

/** What may be changed in existing lines. */
enum fstab_fix {
	FSTAB_FIX_SOURCE  = 1 << 0,   /* source, type, subvolume, layers */
	FSTAB_FIX_OPTIONS = 1 << 1,
	FSTAB_FIX_PASS    = 1 << 2,
	FSTAB_FIX_ORDER   = 1 << 3,
	FSTAB_FIX_DAMAGED = 1 << 4,   /* lines that mount(8) refuses, or that repeat
	                                 another: commented out */
};

struct fstab_merge_input {
	struct fstab_match_input match;  /* the file, with its refused options marked; the plan;
	                                    access to the host. Mounts named in `add` of the
	                                    plan's input get a line */
	const struct fstab_file *base;  /* or NULL */
	const struct host_units *loaded; /* the units systemd loaded, as the base if the file was
	                                    changed since and `base` is NULL; or NULL */
	unsigned fix;                   /* enum fstab_fix */
	bool persistent;                /* every mount of the plan gets one line; conflicting
	                                   lines are commented out */
	bool keep;                      /* options are not compared */
};

/** Kinds of notes. */
enum fstab_note_kind {
	FSTAB_NOTE_DAMAGED,    /* mount(8) refuses the line: text says why */
	FSTAB_NOTE_ODD,        /* mount(8) accepts the line, but: text */
	FSTAB_NOTE_MISSING,    /* a mount has no line */
	FSTAB_NOTE_NO_LINE,    /* a mount has no line and cannot have one: text says why */
	FSTAB_NOTE_SOURCE,     /* the line mounts something else */
	FSTAB_NOTE_NAME,       /* the same source under another name */
	FSTAB_NOTE_OPTIONS,    /* text: options that differ */
	FSTAB_NOTE_REFUSED,    /* text: options that the kernel refuses */
	FSTAB_NOTE_PASS,
	FSTAB_NOTE_REPEATED,   /* the line has the same source and mount point as `other` */
	FSTAB_NOTE_CONFLICT,     /* the line mounts another source on the mount point of `other` */
	FSTAB_NOTE_ELSEWHERE,  /* the line is not mounted, but its source is, as `live` */
	FSTAB_NOTE_ORDER,      /* the line precedes `other`, which it needs */
	FSTAB_NOTE_UNKNOWN,    /* `text` should be added but is not mounted */
	FSTAB_NOTE_KINDS,
};

struct fstab_note {
	enum fstab_note_kind kind;
	bool done;                     /* fixed; false: only reported */
	bool edited;                   /* not fixed because the line was changed after the base */
	bool back;                     /* added again, although it was removed since systemd
	                                  loaded it */
	const struct fstab_entry *line;   /* a line of the file; or NULL */
	const struct fstab_entry *other;
	const struct fstab_line *live; /* a line of the plan; or NULL */
	const char *text;
};

struct fstab_merged {
	char *text;                    /* the new file; identical if nothing changes */
	size_t len;
	struct fstab_note *notes;
	size_t nnotes;
	size_t left;                   /* notes that are neither done nor edited */
	size_t edited;                 /* notes that are edited */
	bool damaged;                  /* the file was damaged since the base, or truncated */
	size_t mounts, reproduced;     /* lines of the plan; those that have a line in the result */
	struct arena arena;
};

/** Merge; linear in lines and mounts, except for swap spaces.  The result is read again, by
    libmount as well, and compared with the intended lines.
    @merged [out]  To be destroyed, also after an error.
    @return 0, or -1.  Errors: ENOMEM; EBADMSG (a line would not read as intended; there is no
    result). */
int fstab_merge(const struct fstab_merge_input *in, struct fstab_merged *merged);

void fstab_merged_destroy(struct fstab_merged *merged);

/** Give the lines of a plan the options that a file has for the same mounts.
    @in    Contains `plan`.
    @plan  Gets the options, in its arena.
    @return 0, or -1.  Errors: ENOMEM. */
int fstab_keep_options(const struct fstab_match_input *in, struct fstab_plan *plan);

/** How a line of a plan is written. */
enum fstab_form {
	FSTAB_FORM_TERMINAL = 1 << 0,  /* for a terminal: control characters are escaped */
	FSTAB_FORM_GENFSTAB = 1 << 1,  /* in the layout of genfstab(8) */
	FSTAB_FORM_TABS     = 1 << 2,  /* fields separated by one tab */
};

/** Append the lines of a plan and, as comments, the reasons why some mounts have no line. */
void fstab_write_plan(struct strbuf *out, const struct fstab_plan *plan, unsigned form);

#endif
