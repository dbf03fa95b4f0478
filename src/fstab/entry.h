/* SPDX-License-Identifier: MIT */
/**
 * A line of an fstab, read once: decoded fields, options with their meanings, and the properties
 * that follow from them for mount(8) and systemd.
 *
 *     struct tabline --> fstab_entry_read() --> struct fstab_entry --> rules, matcher, order, merge
 *
 * Pure.  Source: fstab(5), mount(8); fstab-generator.c and fstab-util.c of systemd 252.
 */
#ifndef GM_FSTAB_ENTRY_H
#define GM_FSTAB_ENTRY_H

#include "base/arena.h"
#include "host/host.h"
#include "mountopts/options.h"
#include "mounts/tablines.h"

struct fstab_entry {
	/* The fields, decoded; never NULL. */
	const char *source, *target, *fstype;
	const char *options;     /* "defaults" if the field is missing or empty */
	int passno;              /* -1: the field is missing */

	const struct tabline *line;    /* NULL: the entry is not in a file yet */
	uint32_t number;         /* line number, from 1; 0: the entry is not in a file */
	const char *path;        /* the target, normalized without following symlinks; NULL:
	                            swap, or not an absolute path */
	unsigned type;           /* enum fstype_flags of the type and source */

	/* The options, in the order of the line, without the options from an unclosed quotation
	   mark on, which mount(8) ignores. */
	struct opt *opts;
	uint32_t nopts;

	/* Properties of the type and the options. */
	bool swap;
	bool root;               /* the mount point is "/" */
	bool bind;               /* false for swap */
	bool remount;
	bool noauto;             /* mount -a skips the line, even if "auto" follows */
	bool nofail;
	bool automount;          /* systemd mounts the line on first access; false for swap */
	bool unit_starts;        /* systemd mounts the line, even if it is noauto, when it starts a
	                            unit that x-systemd.wanted-by= or x-systemd.required-by= names,
	                            not for local-fs.target; false for swap */
	bool netdev;             /* the line has the option _netdev */
	bool network;            /* systemd mounts the line after the network is up, because of
	                            _netdev or the type */
	bool mkdir;
	bool idle;               /* neither boot nor an access mounts the line: noauto without
	                            automount and unit_starts, or the type "ignore" */
	bool optional;           /* noauto or nofail */
	bool needed;             /* boot fails if the mount fails */

	/* Facts about the host, set by the caller. */
	enum fact_kind kind;     /* type of file at the mount point now; not set for "/" */
	const char *real;        /* the mount point with symlinks followed; NULL: unknown */
	const char *real_source; /* the source with symlinks followed; NULL: unknown, or not a
	                            path */
	bool skipped;            /* systemd mounts an API file system on this mount point by
	                            itself, and skips the line */
	bool numbered;           /* major and minor, the device number of the source, are set */
	uint32_t major, minor;
	bool added;              /* the merge adds this line, which is not in the file yet */
	bool absent;             /* a placeholder in the graph of order.h, for a mount that no line
	                            makes or for a line that is not an entry */
};

/** A parsed fstab. */
struct fstab_file {
	struct tablines *lines;        /* the text as lines, with every byte */
	struct fstab_entry *entries;   /* one for each line, of any kind */
	size_t count;
	struct arena arena;
};

/** Read the text of an fstab.
    @text  Must remain valid as long as the result.
    @return to be freed by fstab_file_free(); or NULL.  Errors: those of tablines_parse(). */
struct fstab_file *fstab_parse(const char *text, size_t len);

/** Free a file; NULL is allowed. */
void fstab_file_free(struct fstab_file *file);

/** Whether a line is an entry, not a comment, blank or damaged. */
static inline bool fstab_is_entry(const struct fstab_entry *entry)
{
	return entry->line && entry->line->kind == TABLINE_ENTRY;
}

/** Read a line of any kind.  For a damaged line, only source, target and fstype are set, as far as
    they can be read; for a comment or blank line, none of the fields.
    @line   Must outlive the entry.
    @arena  Keeps the strings and options. */
void fstab_entry_read(struct fstab_entry *entry, const struct tabline *line, struct arena *arena);

/** Set the members that follow from source, target, fstype and options, which the caller has set.
    The facts about the host do not change. */
void fstab_entry_complete(struct fstab_entry *entry, struct arena *arena);

/** The last option with this name, which overrides earlier ones; NULL: no such option. */
const struct opt *fstab_entry_find(const struct fstab_entry *entry, const char *name);

/** The value of the last option with this name; "" without a value; NULL: no such option. */
const char *fstab_entry_value(const struct fstab_entry *entry, const char *name);

/** Whether a line has this option, written as NAME or NAME=VALUE. */
bool fstab_entry_has(const struct fstab_entry *entry, const char *option);

/** The mount point of an entry, with symlinks followed if known; NULL: the entry has none. */
static inline const char *fstab_entry_target(const struct fstab_entry *entry)
{
	return entry->real ? entry->real : entry->path;
}

#endif
