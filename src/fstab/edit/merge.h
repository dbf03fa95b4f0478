/* SPDX-License-Identifier: MIT */
/**
 * Merging the plan of an fstab into an existing file, changing no byte needlessly.  Pure, like the
 * plan.
 *
 *     file (lines of bytes) --.
 *     plan -------------------+--> fstab_merge() --> text; notes: what was changed, what is left
 *     base, if there is one --'
 *
 * Lines are matched by mount point, swap by source.  Without a base, the file is right but for what
 * is to be fixed.  With a base (a text, or what systemd loaded) changes and removals since then are
 * intended, and stay.
 *
 * Removals are trusted only if the file is undamaged.  If it has a line that mount(8) refuses, or a
 * control character, that the base has not, or no entry at all, nothing counts as removed; with
 * `persistent`, no line counts as changed to another source, either.  If the last line has no end,
 * nothing counts as removed, and that line not as changed.  With `persistent`, each mount gets its
 * line even if it was removed since systemd loaded the file: nobody chose that as a base.
 */
#ifndef GM_FSTAB_MERGE_H
#define GM_FSTAB_MERGE_H

#include "fstab/match.h"
#include "host/units.h"

/** What may be changed in existing lines. */
enum fstab_fix {
	FSTAB_FIX_SOURCE  = 1 << 0,   /* what is mounted: source, type, subvolume, layers */
	FSTAB_FIX_OPTIONS = 1 << 1,
	FSTAB_FIX_PASS    = 1 << 2,
	FSTAB_FIX_ORDER   = 1 << 3,
	FSTAB_FIX_DAMAGED = 1 << 4,   /* lines that mount(8) refuses, or that repeat
	                                 another: commented out */
};

struct fstab_merge_input {
	struct fstab_match_input match;  /* the file, whose refused options are marked, the plan,
	                                    and how to look at the host; what `add` of the plan's
	                                    input names gets a line */
	const struct fstab_file *base;  /* or NULL */
	const struct host_units *loaded; /* the base, if the file was changed since systemd loaded
	                                    it, and base is NULL; or NULL */
	unsigned fix;                   /* enum fstab_fix */
	bool persistent;                /* every mount of the plan gets one line; lines in its way
	                                   are commented out */
	bool keep;                      /* options are not compared */
};

/** What is reported. */
enum fstab_note_kind {
	FSTAB_NOTE_DAMAGED,    /* mount(8) refuses the line: text says why */
	FSTAB_NOTE_ODD,        /* mount(8) takes the line, but: text */
	FSTAB_NOTE_MISSING,    /* a mount has no line */
	FSTAB_NOTE_NO_LINE,    /* a mount has no line and cannot have one: text says why */
	FSTAB_NOTE_SOURCE,     /* the line mounts something else */
	FSTAB_NOTE_NAME,       /* the line has another name of the source, if not another source */
	FSTAB_NOTE_OPTIONS,    /* text: options that differ */
	FSTAB_NOTE_REFUSED,    /* text: options that the kernel refuses */
	FSTAB_NOTE_PASS,
	FSTAB_NOTE_REPEATED,   /* the line has the source and mount point of the other */
	FSTAB_NOTE_CONFLICT,     /* the line mounts something else on the same mount point */
	FSTAB_NOTE_ELSEWHERE,  /* the line is not mounted, but its source is, as live shows */
	FSTAB_NOTE_ORDER,      /* the line precedes the other, which it needs */
	FSTAB_NOTE_UNKNOWN,    /* text was to be added but is not mounted */
	FSTAB_NOTE_KINDS,
};

struct fstab_note {
	enum fstab_note_kind kind;
	bool done;                     /* fixed; else it is left */
	bool edited;                   /* left since it was changed after the base */
	bool back;                     /* added again though removed since systemd loaded it */
	const struct fstab_entry *line;   /* of the file; or NULL */
	const struct fstab_entry *other;
	const struct fstab_line *live; /* of the plan; or NULL */
	const char *text;
};

struct fstab_merged {
	char *text;                    /* the new file; the same bytes if nothing changes */
	size_t len;
	struct fstab_note *notes;
	size_t nnotes;
	size_t left;                   /* notes that are neither done nor edited */
	size_t edited;                 /* notes that are edited */
	bool damaged;                  /* the file was damaged since the base, or cut off */
	size_t mounts, reproduced;     /* lines of the plan; those that have one in the result */
	struct arena arena;
};

/** Merge, linear in lines and mounts but for swap spaces.  The result is read again, by libmount
    as well, and compared with what was intended.
    @merged [out]  To be destroyed, also after an error.
    @return 0, or -1.
    Errors: ENOMEM; EBADMSG (a line would not read as intended; there is no result). */
int fstab_merge(const struct fstab_merge_input *in, struct fstab_merged *merged);

void fstab_merged_destroy(struct fstab_merged *merged);

/** Give the lines of a plan the options that a file has for the same mounts.
    @in    Its plan is the one that is changed.
    @plan  Gets the options, in its arena.
    @return 0, or -1.  Errors: ENOMEM. */
int fstab_keep_options(const struct fstab_match_input *in, struct fstab_plan *plan);

/** How a line of a plan is written. */
enum fstab_form {
	FSTAB_FORM_TERMINAL = 1 << 0,  /* for a terminal: control characters are escaped */
	FSTAB_FORM_GENFSTAB = 1 << 1,  /* in the layout of genfstab(8) */
	FSTAB_FORM_TABS     = 1 << 2,  /* fields separated by one tab */
};

/** Append the lines of a plan, and the reasons why some mounts have none as comments. */
void fstab_write_plan(struct strbuf *out, const struct fstab_plan *plan, unsigned form);

#endif
