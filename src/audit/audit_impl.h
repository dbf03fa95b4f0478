/* SPDX-License-Identifier: MIT */
/**
 * What the files of the audit share.
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
	AUDIT_OPTIONS_MAX = 16384,   /* bytes of options that are checked */
	AUDIT_NAME_MAX = 40,         /* bytes of a word that is searched for misspellings */
	AUDIT_MISSES_MAX = 2000,     /* searches for a misspelling */
};

/** An entry of the fstab. */
struct audit_entry {
	const struct tabline *line;
	const char *source, *target, *fstype;   /* never NULL */
	const char *path;        /* normal target; NULL: not an absolute path */
	const char *options;     /* decoded */
	unsigned flags;          /* of the type: enum fstype_flags */
	struct audit_set ignored;
	bool swap, bind, noauto, nofail, automount, netdev, mkdir;
	bool needed;             /* boot fails without it */
	enum fact_kind kind;     /* what is at the path now; not of "/" */
	const char *real;        /* the path with symlinks followed; NULL: unknown */
	bool numbered;           /* the device of the source is known: */
	uint32_t major, minor;
};

struct audit {
	const struct audit_input *in;
	struct audit_report *report;
	struct audit_entry *entries;
	size_t count;
	struct map64 by_target;  /* hash of a path -> its first entry without noauto */
	uint32_t *next_target;   /* the next entry with the same hash */
	struct order order;      /* of the entries */
	struct order_line *order_lines;
	struct order_finding *order_findings;
	size_t norder_findings, order_at;   /* order_at: the next to report */
	struct map64 by_source;
	struct map64 written; /* hash of a directory that an overlay writes to -> its first entry */
	struct map64 keys;       /* of the options of one entry */
	struct intern shown;     /* types, each with options that live mounts show */
	bool shown_read;
	const struct audit_entry *typo;   /* the last with a misspelled option */
	bool cr;                 /* a line that ends in CR LF was reported */
	unsigned misses;         /* searches for a misspelling so far */
	signed char systemd;     /* whether it mounts the lines: 1, -1; 0: not looked at */
	signed char unit_dirs[2]; /* whether those of judge_unit() exist: 1, -1; 0: not looked at */
	signed char container;   /* audit_is_contained() */
	bool failed;             /* ENOMEM */
};

/** A finding about an entry. */
struct audit_details {
	enum audit_severity severity;
	bool boot;               /* if the entry is needed */
	const char *message, *expected, *actual, *hint;
	const char *refused, *option;   /* as in struct audit_finding */
};

/** Whether options hold a secret, not only the name of a file with one; also without memory.
    @secret   audit_input.secret
    @options  Decoded; or NULL. */
bool audit_holds_secret(bool (*secret)(const char *source, const char *options),
                        const char *options);

/** Whether the owner of a mount is neither the administrator nor included. */
bool audit_is_others(const struct fstab_line *line, const char *const *include);

/** Add a finding.  @return 0, or -1 (ENOMEM). */
int audit_add(struct audit_report *report, const struct audit_finding *finding);

/** Add a finding about an entry, unless the comment above the line ignores the code. */
void audit_add_for(struct audit *audit, const struct audit_entry *entry, enum audit_code code,
                const struct audit_details *told);

/** Format a string that lives as long as the report; "" on ENOMEM. */
__attribute__((format(printf, 2, 3)))
const char *audit_format(struct audit *audit, const char *format, ...);

/** The next entry without noauto at a path of n bytes, after an entry (NULL: the first).
    @return it, or NULL. */
const struct audit_entry *audit_at(const struct audit *audit, const struct audit_entry *after,
                                   const char *path, size_t n, uint64_t hash);

/** The entry nearest above a path, or at it, but not of "/"; NULL: none. */
const struct audit_entry *audit_above(const struct audit *audit, const struct audit_entry *self,
                                      const char *path);

/** Whether the source is a device and this is a container, or WSL: init skips such lines there.
    @known [in,out]  0 at first; keeps what was found. */
bool audit_is_contained(const struct fstab_facts *facts, const char *source, signed char *known);

/** The value of the last option with this name, "" without a value; NULL: no such option. */
const char *audit_option(struct audit *audit, const struct audit_entry *entry, const char *name);

/* line.c */

/** Report a character that looks like a blank but separates no fields.
    @return whether it was reported: then the fields of the line are not what they seem. */
bool audit_blanks(struct audit *audit, const struct audit_entry *entry);

void audit_syntax(struct audit *audit, const struct audit_entry *entry);
void audit_numbers(struct audit *audit, const struct audit_entry *entry);

/* among.c */

/** Note the device of a source. */
void audit_number_source(const struct audit *audit, struct audit_entry *entry);

/** The key of a source: the number of its device if that is known, else its name. */
uint64_t audit_source_key(const struct audit_entry *entry);

/** Check the order of all entries; audit_order() and audit_needs_optional() report on one. */
void audit_order_make(struct audit *audit);

void audit_order(struct audit *audit, const struct audit_entry *entry);

/** Report an entry that boot needs and that needs an optional one.
    @return whether it does. */
bool audit_needs_optional(struct audit *audit, const struct audit_entry *entry);

void audit_twice(struct audit *audit, const struct audit_entry *entry);

/* options.c */
void audit_options(struct audit *audit, const struct audit_entry *entry);

/** Find the word nearest to a misspelled one in a list separated by blanks.
    @n     At most AUDIT_NAME_MAX.
    @best [in,out]   Only words with fewer changes than this are found; gets their number.
    @found [out]     Unchanged if there is none. */
void audit_nearest(const char *list, const char *word, size_t n, unsigned *best, const char **found,
                   size_t *nfound);

/* ignore.c */

/** Add the codes that a comment ignores for the line below it.  Unknown codes are reported. */
void audit_ignored(struct audit *audit, const struct tabline *line, struct audit_set *set);

/* values.c */

/** Check options that need another option. */
void audit_pairs(struct audit *audit, const struct audit_entry *entry);

/** Whether n bytes are a time of systemd.time(7): "90", "1min 30s", "infinity". */
bool audit_is_time(const char *text, size_t n);

/* source.c */

/** Whether the name of a device may change with the next boot: /dev/sda1. */
bool audit_is_unstable(const char *source);

void audit_source(struct audit *audit, const struct audit_entry *entry);

/* overlay.c */

/** Check the layers of an overlay, also against those of other lines. */
void audit_overlay(struct audit *audit, const struct audit_entry *entry);

/* place.c */

/** Whether systemd mounts the lines at boot. */
bool audit_is_systemd(struct audit *audit);

void audit_place(struct audit *audit, const struct audit_entry *entry);

#endif
