/* SPDX-License-Identifier: MIT */
/**
 * Merge a plan into an existing fstab, and change no byte needlessly.  Pure, like the plan.
 *
 *     file (lines of bytes) --.
 *     plan -------------------+--> fstab_merge() --> text; notes: differences, fixed or not
 *     base (optional) --------'
 *
 * Lines are matched by mount point, swap by source.  Without a base, only the differences selected
 * by `fix` are fixed.  The base is an earlier text of the file, or the units that systemd loaded.
 * With a base, the changes and removals that the user made in the file since the base are kept.
 *
 * Removals are trusted only if the file is undamaged.  A file is damaged if it has no entry at all,
 * or if it has a line that the base lacks and that contains a control character or is refused by
 * mount(8).  If the file is damaged, no line counts as removed and, with `persistent`, no line
 * counts as changed to a different source.  If the last line has no newline, no line counts as
 * removed, and the last line does not count as changed.  If the base is the units that systemd
 * loaded, no user chose this base: with `persistent`, each mount then gets its line even if the
 * line was removed since.
 */
#ifndef GM_FSTAB_MERGE_H
#define GM_FSTAB_MERGE_H

#include "fstab/match.h"
#include "host/units.h"

/** What may be changed in existing lines. */
enum fstab_fix {
	FSTAB_FIX_SOURCE  = 1 << 0,   /* source, type, subvolume and layers */
	FSTAB_FIX_OPTIONS = 1 << 1,
	FSTAB_FIX_PASS    = 1 << 2,
	FSTAB_FIX_ORDER   = 1 << 3,
	FSTAB_FIX_DAMAGED = 1 << 4,   /* lines that mount(8) refuses, or that repeat the line of a
	                                 mount, are commented out */
};

struct fstab_merge_input {
	struct fstab_match_input match;  /* the file, in which options that the kernel refuses are
	                                    marked; the plan; access to the host */
	const char *const *add;         /* fstab_input.add of the plan: mounts that get a line */
	size_t nadd;
	const struct fstab_file *base;  /* an earlier text of the file; or NULL */
	const struct host_units *loaded; /* if `base` is NULL and the file was changed since
	                                    systemd loaded it: the units that systemd loaded; or
	                                    NULL */
	unsigned fix;                   /* enum fstab_fix */
	bool persistent;                /* every mount with FSTAB_LINE gets one line; conflicting
	                                   lines are commented out */
	bool keep;                      /* options are neither compared nor changed */
};

/** Kinds of notes. */
enum fstab_note_kind {
	FSTAB_NOTE_DAMAGED,    /* mount(8) refuses the line; `text`: the reason */
	FSTAB_NOTE_ODD,        /* mount(8) accepts the line, but the line is unusual; `text`: why */
	FSTAB_NOTE_MISSING,    /* the mount `live` has no line */
	FSTAB_NOTE_NO_LINE,    /* the mount `live` has no line and cannot be expressed in fstab;
	                          `text`: the reason */
	FSTAB_NOTE_SOURCE,     /* the source of the line differs from the source of its mount */
	FSTAB_NOTE_NAME,       /* the line and the plan name the source of the mount differently */
	FSTAB_NOTE_OPTIONS,    /* `text`: options of the mount that differ from the line */
	FSTAB_NOTE_REFUSED,    /* `text`: options of the line that the kernel refuses */
	FSTAB_NOTE_PASS,       /* the fsck pass of the line differs from the plan */
	FSTAB_NOTE_REPEATED,   /* the line has the same source and mount point as `other` */
	FSTAB_NOTE_CONFLICT,   /* the line has the mount point of `other`, but a different source */
	FSTAB_NOTE_ELSEWHERE,  /* the line is not mounted, but the mount `live` has its source at a
	                          different mount point */
	FSTAB_NOTE_ORDER,      /* the line precedes `other` or the added line of `live`, which the
	                          line needs */
	FSTAB_NOTE_AGAIN,      /* the line mounts `live`, a copy, once more; `text` names the mount
	                          that it is a copy of */
	FSTAB_NOTE_UNKNOWN,    /* `text` was named to get a line, but is not a mount with
	                          FSTAB_LINE */
	FSTAB_NOTE_KINDS,
};

struct fstab_note {
	enum fstab_note_kind kind;
	bool done;                     /* the difference is fixed; false: only reported */
	bool edited;                   /* not fixed because the user changed or removed the line
	                                  since the base (fstab_merge_input) */
	bool back;                     /* the line was added again although the user removed it
	                                  since systemd loaded it */
	const struct fstab_entry *line;   /* a line of the file; or NULL */
	const struct fstab_entry *other;  /* a second line of the file; or NULL */
	const struct fstab_line *live; /* a line of the plan; or NULL */
	const char *text;              /* depends on `kind`; or NULL */
};

struct fstab_merged {
	char *text;                    /* the text of the new file */
	size_t len;
	struct fstab_note *notes;
	size_t nnotes;
	size_t left;                   /* number of notes with neither `done` nor `edited` */
	size_t edited;                 /* number of notes with `edited` */
	bool damaged;                  /* there is a base, and the file was damaged since, or its
	                                  last line has no newline */
	size_t mounts, reproduced;     /* number of mounts with FSTAB_LINE; number of these that
	                                  have a line in the result */
	struct arena arena;
};

/** Merge; linear in lines and mounts, except for swap spaces.  The new text is parsed, by libmount
    as well, and compared with the intended lines.
    @merged [out]  To be destroyed, also after an error.
    @return 0, or -1.  Errors: ENOMEM; EBADMSG (a line would not be read as intended; there is no
    result). */
int fstab_merge(const struct fstab_merge_input *in, struct fstab_merged *merged);

void fstab_merged_destroy(struct fstab_merged *merged);

/** Give the lines of a plan the options that the lines of a file have for these mounts.
    @in    The file, and `plan`.
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
