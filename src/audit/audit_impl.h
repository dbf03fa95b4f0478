/* SPDX-License-Identifier: MIT */
/**
 * What the files of the audit share.
 *
 *     rules.c     the table of rules; the flow: each entry, then entries together
 *     line.c      an entry by itself: blanks, syntax, numbers
 *     among.c     entries against each other: their order, what is there twice
 *     options.c   options: known, near misses, against each other
 *     meant.c     options of types of which not all are held
 *     ignore.c    the comment that takes codes from a line
 *     values.c    options that take but numbers, or one of some words
 *     compare.c   a text against the one before it: what only both tell
 *     report.c    findings, in their order
 *     covered.c   which mounts are an admin's
 *     source.c    what a source names, what stands there
 *     overlay.c   the layers of an overlay
 *     place.c     mount points; types and their helpers
 */
#ifndef GM_AUDIT_IMPL_H
#define GM_AUDIT_IMPL_H

#include "audit/rules.h"
#include "base/intern.h"
#include "base/map64.h"
#include "fstab/fstab.h"
#include "fstab/order.h"

#include <stdarg.h>

enum {
	AUDIT_OPTIONS_MAX = 16384,   /* bytes of options that are judged */
	AUDIT_NAME_MAX = 40,         /* ... of a word that something is near to */
	AUDIT_MISSES_MAX = 2000,     /* near misses that are looked for */
};

/** An entry that is being judged. */
struct audit_entry {
	const struct tabline *line;
	const char *source, *target, *fstype;   /* never NULL */
	const char *path;        /* target, normal; NULL: it is no absolute path */
	const char *options;     /* decoded */
	unsigned flags;          /* of the type: enum fstype_flags */
	struct audit_set ignored;
	bool swap, bind, noauto, nofail, automount, netdev, mkdir;
	bool needed;             /* a boot fails without it */
	enum fact_kind kind;     /* what is at path now, if it is a mount point but for "/" */
	const char *real;        /* path with symlinks followed; NULL: not known */
	bool numbered;           /* which device the source names is known, and it is one: */
	uint32_t major, minor;
};

struct audit {
	const struct audit_input *in;
	struct audit_report *report;
	struct audit_entry *entries;
	size_t count;
	struct map64 by_target;  /* hash of a path -> the first entry of it that is not noauto */
	uint32_t *next_target;   /* of the same hash, later in the file */
	struct order order;      /* of the entries */
	struct order_line *order_lines;
	struct order_finding *order_findings;
	size_t norder_findings, order_at;   /* order_at: the first of the entry that is judged */
	struct map64 by_source;
	struct map64 written;    /* hash of a directory that an overlay writes to -> the first entry of it */
	struct map64 keys;       /* of the options of one entry */
	struct intern shown;     /* types with the options that their live mounts show, and their names */
	bool shown_read;
	const struct audit_entry *typo;   /* the last with an option that is nearly another */
	bool cr;                 /* a line that ends in CR LF was told of */
	struct strbuf text;
	unsigned misses;         /* near misses that were looked for */
	signed char systemd;     /* mounts the lines: 1, -1: not; 0: not looked at */
	signed char unit_dirs[2];  /* whether there are those of judge_unit(): 1, -1; 0: not looked at */
	signed char container;   /* audit_is_contained() */
	bool failed;             /* ENOMEM */
};

/** What is told of an entry. */
struct audit_told {
	enum audit_severity severity;
	bool boot;               /* if the entry is needed */
	const char *message, *expected, *actual, *hint;
	const char *refused, *option;   /* as in struct audit_finding */
};

/** A formatted string that the report keeps.
    @text  For use in passing.
    @return it, or NULL (ENOMEM). */
__attribute__((format(printf, 3, 0)))
const char *audit_vformat(struct audit_report *report, struct strbuf *text, const char *format, va_list args);

/** Whether options hold a secret, and not the file that one is in; without memory, they do.
    @secret  audit_input.secret
    @options  Decoded; or NULL. */
bool audit_holds_secret(bool (*secret)(const char *source, const char *options), const char *options);

/** Whether a mount is somebody else's affair than an admin's: of an owner that is not included. */
bool audit_is_others(const struct fstab_line *line, const char *const *include);

/** Add a finding.  @return 0, or -1 (ENOMEM). */
int audit_add(struct audit_report *report, const struct audit_finding *finding);

/** Tell of an entry, unless it is ignored there. */
void audit_tell(struct audit *audit, const struct audit_entry *entry, enum audit_code code,
                const struct audit_told *told);

/** A formatted string that stays; "" on ENOMEM. */
__attribute__((format(printf, 2, 3)))
const char *audit_format(struct audit *audit, const char *format, ...);

/** A rule could not be judged. */
void audit_unjudged(struct audit *audit, enum audit_code code);

/** The next entry that mounts at a path of n bytes, and is not noauto, behind an entry
    (NULL: from the first); NULL: none. */
const struct audit_entry *audit_at(const struct audit *audit, const struct audit_entry *behind,
                                   const char *path, size_t n, uint64_t hash);

/** The lowest entry that a path lies below, but for "/"; NULL. */
const struct audit_entry *audit_above(const struct audit *audit, const struct audit_entry *self,
                                      const char *path);

/** Whether a line is of a device, in a container: its init passes such lines over, as systemd
    does, for there are none.  WSL is one: what it starts from is Windows' choice.
    @known  0 at first; keeps what was found. */
bool audit_is_contained(const struct fstab_facts *facts, const char *source, signed char *known);

/** The value of the last option of this name, "" for none; NULL: it is not there. */
const char *audit_option(struct audit *audit, const struct audit_entry *entry, const char *name);

/* line.c */

/** Tell of a blank that is none, because of which the line is another than it looks like.  In names of
    files it may well be.  @return whether it was told: then nothing else of the line is right. */
bool audit_blanks(struct audit *audit, const struct audit_entry *entry);

void audit_syntax(struct audit *audit, const struct audit_entry *entry);
void audit_numbers(struct audit *audit, const struct audit_entry *entry);

/* among.c */

/** Note the device of a source. */
void audit_number_source(const struct audit *audit, struct audit_entry *entry);

/** What a source is found by: the number of its device, if that is known; or its name. */
uint64_t audit_source_key(const struct audit_entry *entry);

/** Judge the order of all entries; audit_order() and audit_needs_optional() report it of one. */
void audit_order_make(struct audit *audit);

void audit_order(struct audit *audit, const struct audit_entry *entry);

/** Report that an entry which a boot needs itself needs one that may be missing.
    @return whether it does. */
bool audit_needs_optional(struct audit *audit, const struct audit_entry *entry);

void audit_twice(struct audit *audit, const struct audit_entry *entry);

/* options.c */
void audit_options(struct audit *audit, const struct audit_entry *entry);

/** Look for the nearest of a list of words with a blank between each two.
    @n      At most AUDIT_NAME_MAX.
    @best   How many changes less are looked for than this; gets the number of what was found.
    @found  [out] If there is one, of nfound bytes. */
void audit_nearest(const char *list, const char *word, size_t n, unsigned *best, const char **found, size_t *nfound);

/* ignore.c */

/** Add the codes that a comment ignores for the line below it.  Unknown codes are reported. */
void audit_ignored(struct audit *audit, const struct tabline *line, struct audit_set *set);

/* values.c */

/** Judge options that go only with another one. */
void audit_pairs(struct audit *audit, const struct audit_entry *entry);

/** Whether a text of n bytes is a time as systemd.time(7) has it: "90", "1min 30s", "infinity". */
bool audit_is_time(const char *text, size_t n);

/* source.c */

/** Whether a name in /dev is one that the kernel gives in the order that it finds devices. */
bool audit_is_unstable(const char *source);

void audit_source(struct audit *audit, const struct audit_entry *entry);

/* overlay.c */

/** Judge the layers of an overlay against each other, and against those of other lines. */
void audit_overlay(struct audit *audit, const struct audit_entry *entry);

/* place.c */

/** Whether systemd mounts the lines. */
bool audit_is_systemd(struct audit *audit);

void audit_place(struct audit *audit, const struct audit_entry *entry);

#endif
