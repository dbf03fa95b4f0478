/* SPDX-License-Identifier: MIT */
/**
 * Interfaces between the files of the audit.
 */
#ifndef GM_AUDIT_IMPL_H
#define GM_AUDIT_IMPL_H

#include "audit/live.h"
#include "base/map64.h"
#include "base/pathmap.h"
#include "fstab/entry.h"
#include "fstab/order.h"

enum {
	AUDIT_OPTIONS_MAX = 16384,   /* maximum bytes of the options of an entry; longer options are
	                                not checked */
	AUDIT_NAME_MAX = 40,         /* maximum bytes of a word checked for misspellings */
	AUDIT_MISSES_MAX = 2000,     /* maximum of audit.misses and of audit.looks, which count slow
	                                searches */
	AUDIT_BOOT = 4,              /* combined with a severity: the finding is a risk for the
	                                boot */
};

struct audit {
	const struct audit_input *in;
	struct audit_report *report;
	struct arena work;       /* memory of the maps and the order */
	struct fstab_entry *entries;   /* the entries of the fstab */
	size_t count;
	struct pathmap by_target;   /* mount point -> its entries without fstab_entry.idle; the
	                               first entry is added last, and so found first */
	/* The key of both maps is a mount point with symlinks followed.  first_at -> the first
	   entry of the mount point, the only entry that systemd reads; first_mounted_at -> the
	   first entry without noauto, which mount -a mounts. */
	struct pathmap first_at, first_mounted_at;
	struct order order;      /* graph of the entries */
	const struct fstab_entry **order_lines;
	struct order_finding *order_findings;
	size_t norder_findings, order_at;   /* order_at: index of the next finding to report */
	struct map64 by_source;  /* hash of a device number or source -> the first entry */
	struct map64 written; /* hash of a directory that an overlay writes to -> the first entry */
	struct map64 keys;       /* scratch: the options of one entry */
	const struct fstab_entry *typo;   /* the last entry with a misspelled option */
	const struct fstab_entry *typed;  /* the last entry whose type field was reported */
	bool cr;                 /* CR LF at a line end has been reported */
	unsigned misses;         /* number of searches for the intended spelling of a word */
	unsigned looks;          /* number of searches for options in live mounts, or in the line
	                            that mounts a file system first */
	signed char systemd;     /* 1: systemd mounts the lines; -1: systemd is not used; 0: not
	                            checked yet */
	signed char unit_dirs[2]; /* /etc/systemd/system, /run/systemd/system: 1: exists; -1: does
	                             not exist; 0: not checked yet */
	signed char container;   /* cache of audit_is_contained() */
	const char *refused, *option;   /* the members `refused` and `option` for findings that are
	                                   added now: see struct audit_finding */
};

/** Whether a mount was made by the system, a session or a container, and the owner of the mount is
    not in `include`: rules then only count the mount. */
bool audit_is_others(const struct fstab_line *line, const char *const *include);

/** Add a finding, as audit_report_add() does.
    @at  The members file, line, target, owner and fstype of the finding.
    @level  The severity, with or without AUDIT_BOOT.
    @format  The message. */
__attribute__((format(printf, 8, 9)))
void audit_add_at(struct audit_report *report, const struct audit_finding *at, enum audit_code code,
                  unsigned level, const char *expected, const char *actual, const char *hint,
                  const char *format, ...);

/** Add a finding about an entry.  AUDIT_BOOT is ignored if boot does not need the entry. */
__attribute__((format(printf, 8, 9)))
void audit_add_line(struct audit *audit, const struct fstab_entry *entry, enum audit_code code,
                    unsigned level, const char *expected, const char *actual, const char *hint,
                    const char *format, ...);

/** Format a string with the lifetime of the report. */
#define audit_format(report, ...) arena_printf(&(report)->arena, __VA_ARGS__)

/** Copy a text in upper or lower case, with the lifetime of the report. */
const char *audit_in_case(struct audit_report *report, const char *text, bool upper);

/** The name of the unit of a mount point or swap space, with the lifetime of the report.
    @kind  ".mount" or another suffix. */
const char *audit_unit_name(struct audit_report *report, const char *path, const char *kind);

/** Make a command for a hint, with the lifetime of the report: see command_words().
    @instead  The remedy in words.  Returned instead of a command if the audited system is not the
              running system: the command would show or change the wrong system.
    @word     The words of the command, which end with NULL. */
__attribute__((sentinel))
const char *audit_command(struct audit_report *report, const char *instead, const char *word, ...);

/** Sort the findings.  @return 0, or -1 if memory ran out (ENOMEM). */
int audit_finish(struct audit_report *report);

/** Find the first entry that boot or an access mounts (not fstab_entry.idle) on a path; or NULL. */
const struct fstab_entry *audit_at(const struct audit *audit, const char *path);

/** Find the entry that mounts a path, or the nearest directory above the path, except "/".  Entries
    that nothing mounts (fstab_entry.idle), and `self`, do not count; of several entries, the first
    is returned.  NULL: there is no such entry. */
const struct fstab_entry *audit_above(const struct audit *audit, const struct fstab_entry *self,
                                      const char *path);

/** Whether a text begins with a word of a list separated by blanks. */
bool audit_begins(const char *text, const char *heads);

/** Find the kind of the file at a path.  If the file is missing, but the mount of a line other than
    `entry` may contain the file, the result is FACT_UNKNOWN.
    @code  The rule that is marked as not checked if the file cannot be examined now. */
enum fact_kind audit_look_for(struct audit *audit, const struct fstab_entry *entry,
                              const char *path, enum audit_code code);

/* Calls of struct fstab_facts; the result is unknown if the function is NULL. */

static inline enum fact_kind audit_look(const struct fstab_facts *facts, const char *path)
{
	return facts->look ? facts->look(facts->arg, path, NULL) : FACT_UNKNOWN;
}

static inline int audit_devices(const struct fstab_facts *facts, const char *source,
                                struct fstab_device *device)
{
	return facts->devices ? facts->devices(facts->arg, source, device) : -1;
}

/* line.c */

/** A character that is invisible, or looks like a blank but is not ASCII. */
struct hidden {
	const char *name;        /* "U+200B" */
	size_t n;                /* its length in bytes */
	bool blank;              /* looks like a blank */
	const char *looks;       /* "looks like a blank", "is invisible" */
	const char *remedy;      /* a hint */
};

/** Find the first character of a text that is invisible, or looks like a blank but is not ASCII.
    @hidden [out]  Describes the character, if found.
    @return the character in the text, or NULL. */
const char *audit_hidden(struct audit *audit, const char *text, struct hidden *hidden);

/** Report a backslash at the end of the line, or a character that looks like a blank but separates
    no fields.
    @return whether the line was reported: then its fields are wrong. */
bool audit_blanks(struct audit *audit, const struct fstab_entry *entry);

/** Report a third field that is not a type.
    @return false: the third field contains options, so the fields after it are wrong as well. */
bool audit_fields(struct audit *audit, const struct fstab_entry *entry);

void audit_syntax(struct audit *audit, const struct fstab_entry *entry);
void audit_numbers(struct audit *audit, const struct fstab_entry *entry);

/* order.c */

/** Check the order of all entries.  The faults of an entry are reported by audit_order() and
    audit_needs_optional(). */
void audit_order_make(struct audit *audit);

void audit_order(struct audit *audit, const struct fstab_entry *entry);

/** Report an entry that boot needs if it depends on an optional entry.
    @return whether the entry was reported. */
bool audit_needs_optional(struct audit *audit, const struct fstab_entry *entry);

/* repeated.c */

/** Add an entry to audit->by_source.  Call for the last entry first. */
void audit_index_source(struct audit *audit, uint32_t i);

void audit_repeated(struct audit *audit, const struct fstab_entry *entry);

/* options.c */
void audit_options(struct audit *audit, const struct fstab_entry *entry);

/** Find the word of a list separated by blanks that is nearest to a misspelled word.  A word of
    less than four bytes is found only if upper and lower case differ.
    @n     Bytes of `word`, at most AUDIT_NAME_MAX.
    @best [in,out]   Only words that differ by fewer edits are found; set to the number of edits.
    @found [out]     Unchanged if no word is found. */
void audit_nearest(const char *list, const char *word, size_t n, unsigned *best, const char **found,
                   size_t *nfound);

/* values.c */
void audit_values(struct audit *audit, const struct fstab_entry *entry);

/* source.c */

/** Remove the quotation marks around the value of a tag, as mount(8) and systemd do.
    @return the tag; `source` if it is not a tag with a quoted value. */
const char *audit_unquoted(struct audit_report *report, const char *source);

/** Find the line that opens, at boot, the mapping (such as of LUKS) that a missing device is, or
    that may contain the missing device.
    @report       If report->elsewhere is set, the mappings of the system are not open now.
    @source       The device, without quotation marks.
    @maybe [out]  The device is not a mapping itself, but may be in a mapping that is not open;
                  false for the running system.
    @return "line 2 of /etc/crypttab"; "": unknown; NULL: no such line. */
const char *audit_opened_at_boot(const struct audit_report *report, const struct fstab_facts *facts,
                                 const char *source, bool *maybe);

/** Whether a device name such as /dev/sda1 may change at the next boot. */
bool audit_is_unstable(const char *source);

void audit_source(struct audit *audit, const struct fstab_entry *entry);

/* tag.c */

/** The length of a quotation mark at the start of a text, in ASCII or typographic; 0: none. */
size_t audit_quote(const char *text);

/** Whether a text is a placeholder for a value: "<uuid>", "${UUID}". */
bool audit_is_placeholder(const char *text);

/** Why no device can have a tag; NULL: a device may have the tag.
    @tag       Without quotation marks.
    @searched  true: a search found no device with the tag.  Do not check the form of the value.
    @hint [in,out]  Replaced if there is a better remedy. */
const char *audit_tag_fault(struct audit *audit, const struct fstab_entry *entry, const char *tag,
                            bool searched, const char **hint);

/* remote.c */

/** Check the source of a network or FUSE file system, and the files with secrets that its options
    name.
    @return whether the source was reported. */
bool audit_remote(struct audit *audit, const struct fstab_entry *entry);

/* overlay.c */

void audit_overlay(struct audit *audit, const struct fstab_entry *entry);

/* target.c */

/** Whether the source is a device and the system is a container or WSL, where init skips the lines
    of devices.
    @known [in,out]  Caches whether the system is a container or WSL: 0 at first, then 1 or -1. */
bool audit_is_contained(const struct fstab_facts *facts, const char *source, signed char *known);

/** Whether systemd mounts the lines at boot. */
bool audit_has_systemd(const struct fstab_facts *facts);

/** Call audit_has_systemd() once, and cache the result. */
bool audit_is_systemd(struct audit *audit);

void audit_target(struct audit *audit, const struct fstab_entry *entry);

/* boot.c */

/** Whether a source can name a device: a path in /dev, or UUID=, LABEL=, PARTUUID= or
    PARTLABEL=. */
bool audit_names_device(const char *source);

void audit_boot(const struct audit_live *in, struct audit_report *report);

/* crypttab.c */
void audit_crypttab(const struct audit_live *in, struct audit_report *report);

/* rbind.c */

/** Find the mounts of unknown owner that a bind copied from below its source, by "rbind" or by
    propagation.  Set the owner of these mounts to "fstab", and their line number to the number of
    the bind line.
    @match  The result of fstab_match() for `file` and `plan`.
    @arena  For temporary data. */
void audit_own_copies(struct fstab_plan *plan, const struct fstab_match *match,
                      const struct fstab_file *file, struct arena *arena);

#endif
