/* SPDX-License-Identifier: MIT */
/**
 * An fstab that is there, and the plan of one that makes what is mounted: merged, so
 * that of the first no byte is changed that was not to be.  Pure, as the plan is.
 *
 *     file (lines of bytes) --.
 *     plan -------------------+--> fstab_merge() --> text; what was done, and what is left
 *     base, if there is one --'
 *
 * Lines go together by mount point, those of swap by source.  Without a base the file
 * is right but for what is to be mended; with one, the text that the system has
 * loaded, also what was changed or taken out since then is meant so, and stays.  Where the base
 * is what systemd has loaded, any line that differs may have been changed since.
 *
 * That somebody took a line out is believed of a file that is whole.  Of one with a line
 * that mount(8) refuses, or with a control character, which the base has not, or with no
 * entry, nothing was taken out, and, where each mount is to have a line, none made to
 * mount another thing; of one whose last line has no end nothing was taken out, and that
 * line not changed.  Where each is to have one, it has, though it was taken out since
 * systemd has loaded the file: nobody named that for a base.
 */
#ifndef GM_FSTAB_MERGE_H
#define GM_FSTAB_MERGE_H

#include "fstab/match.h"
#include "host/units.h"
#include "table/tablines.h"

/** What of the lines that are there may be changed. */
enum fstab_fix {
	FSTAB_FIX_SOURCE  = 1 << 0,   /* what is mounted: source, type, subvolume, layers */
	FSTAB_FIX_OPTIONS = 1 << 1,
	FSTAB_FIX_PASS    = 1 << 2,
	FSTAB_FIX_ORDER   = 1 << 3,
	FSTAB_FIX_DAMAGED = 1 << 4,   /* lines that mount(8) refuses, and lines that repeat
	                                 another: made comments */
};

struct fstab_merge_input {
	struct fstab_match_input match;  /* the file, the plan, and how to look at the host */
	const struct tablines *base;    /* or NULL */
	const struct host_units *loaded; /* the base, if base is NULL and the file was changed since
	                                   systemd loaded it; or NULL */
	unsigned fix;                   /* enum fstab_fix */
	bool persistent;                /* every mount of the plan gets its one line; what is in
	                                   the way of that is made a comment */
	bool keep;                      /* options are not compared */
	const char *const *add;         /* mount points and swap spaces that get a line too */
	size_t nadd;
	/** Whether the kernel is known to refuse an option, n bytes of a line of the file.
	    NULL: none is known.
	    @arg  match.arg */
	bool (*refused)(void *arg, uint32_t line, const char *option, size_t n);
};

/** What there is to tell. */
enum fstab_note_kind {
	FSTAB_NOTE_DAMAGED,    /* mount(8) refuses the line: text says why */
	FSTAB_NOTE_ODD,        /* mount(8) takes the line, but: text */
	FSTAB_NOTE_MISSING,    /* a mount has no line */
	FSTAB_NOTE_NO_LINE,    /* a mount has none and can have none: text says why */
	FSTAB_NOTE_SOURCE,     /* the line mounts something else there: text says what */
	FSTAB_NOTE_NAME,       /* whether the line's source is that of the mount is not known */
	FSTAB_NOTE_OPTIONS,    /* text: those that are otherwise */
	FSTAB_NOTE_REFUSED,    /* text: those that the kernel is known to refuse */
	FSTAB_NOTE_PASS,
	FSTAB_NOTE_REPEATED,   /* the line has the source and place of the other */
	FSTAB_NOTE_BESIDE,     /* the line mounts something else on the same place, which has its line */
	FSTAB_NOTE_ELSEWHERE,  /* the line is not mounted, but its source is, as live tells */
	FSTAB_NOTE_ORDER,      /* the line stands before the other, which it needs */
	FSTAB_NOTE_UNKNOWN,    /* text was to be added, and is not mounted */
	FSTAB_NOTE_KINDS,
};

struct fstab_note {
	enum fstab_note_kind kind;
	bool done;                     /* it was mended: else it is left */
	bool edited;                   /* and is meant so: changed since the base */
	bool back;                     /* it was mended, though it was taken out since systemd has loaded it */
	const struct tabline *line;    /* of the file; or NULL */
	const struct tabline *other;
	const struct fstab_line *live; /* of the plan; or NULL */
	const char *text;
};

struct fstab_merged {
	char *text;                    /* the file as it is to be; the same bytes if nothing changes */
	size_t len;
	struct fstab_note *notes;
	size_t nnotes;
	size_t left;                   /* notes of what is left, and not edited */
	size_t edited;                 /* notes of what is, by the base */
	bool damaged;                  /* the file, since the base, or cut off: nothing of it was taken out */
	size_t mounts, reproduced;     /* lines of the plan; those that have one in the result */
	size_t added, changed, aside, moved;
	struct arena arena;
};

/**
 * Merge.
 *
 * What a changed or added line is to say is written by our codec; the whole result is
 * read again, by libmount as well, and compared with what was meant before it is given.
 * Linear in lines and mounts, but for the swap spaces.
 *
 * @merged [out]  To be destroyed, also after an error.
 * @return 0, or -1.
 * Errors: ENOMEM; EBADMSG (a line would not read as it is meant; nothing is given).
 */
int fstab_merge(const struct fstab_merge_input *in, struct fstab_merged *merged);

void fstab_merged_destroy(struct fstab_merged *merged);

/**
 * Give the lines of a plan the options that a file has for the same mounts.
 *
 * @in    Its plan is the one that is changed.
 * @plan  Gets the options, in its arena.
 * @return 0, or -1.
 * Errors: ENOMEM.
 */
int fstab_keep_options(const struct fstab_match_input *in, struct fstab_plan *plan);

/** How a line of a plan is written. */
enum fstab_form {
	FSTAB_FORM_TERMINAL = 1 << 0,  /* for one: what would harm it is escaped too */
	FSTAB_FORM_GENFSTAB = 1 << 1,  /* in the layout of genfstab(8) */
	FSTAB_FORM_TABS     = 1 << 2,  /* a tab between fields, no blanks */
};

/** Append a line of the plan, and the comments above it; lines end with "\n". */
void fstab_write_line(struct strbuf *out, const struct fstab_line *line, unsigned form);

/** Append a text that is part of a comment: it does not end it. */
void fstab_write_text(struct strbuf *out, const char *text);

#endif
