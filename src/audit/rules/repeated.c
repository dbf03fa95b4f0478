/* SPDX-License-Identifier: MIT */
/*
 * Report entries with the mount point or the source of an earlier entry.
 */
#include "audit/audit_impl.h"

#include "base/fstypes.h"
#include "fstab/target.h"
#include "mountopts/compare.h"
#include "mountopts/shown.h"

#include <string.h>

/** The key of an entry in audit.by_source: a hash of the device number of the source or, if the
    number is not known, of the source. */
static uint64_t source_key(const struct fstab_entry *entry)
{
	const uint32_t number[] = {entry->major, entry->minor};
	return entry->numbered ? map64_bytes(MAP64_BYTES, (const char *)number, sizeof(number))
	                       : map64_text(entry->source);
}

/** Set the device number of the source of an entry, if it is known. */
static void number_source(const struct audit *audit, struct fstab_entry *entry)
{
	struct fstab_device device = {0};
	if (audit_names_device(entry->source)
	    && audit_devices(audit->in->facts, entry->source, &device) == 1 && device.numbered) {
		entry->numbered = true;
		entry->major = device.major;
		entry->minor = device.minor;
	}
}

void audit_index_source(struct audit *audit, uint32_t i)
{
	struct fstab_entry *entry = &audit->entries[i];
	number_source(audit, entry);
	uint64_t source = source_key(entry);
	uint32_t later = map64_remove(&audit->by_source, source);
	/* Entries are added in reverse order, and each replaces a later entry of the file system.
	   But a later entry of "/" remains: the root is mounted first, wherever its line is, and
	   the first mount of a file system with subvolumes determines its options. */
	bool keep = later != MAP64_NONE && entry->type & FST_SUBVOL && audit->entries[later].root;
	map64_put(&audit->by_source, source, keep ? later : i);
}

/** Report options of a btrfs line that `first`, the line that is mounted first from the file
    system, lacks: a superblock has one set of options. */
static void check_superblock(struct audit *audit, const struct fstab_entry *first,
                             const struct fstab_entry *entry)
{
	struct strbuf lost = {.arena = &audit->report->arena};
	if (strcmp(entry->fstype, "btrfs") != 0 || strcmp(first->fstype, "btrfs") != 0
	    || first->automount)
		return;
	if (audit->looks++ >= AUDIT_MISSES_MAX) {
		audit_not_checked(audit->report, FSTAB_OPT_CONFLICT);
		return;
	}
	opt_overruled("btrfs", first->options, entry->opts, entry->nopts, &lost);
	if (lost.len)
		audit_add_line(audit, entry, FSTAB_OPT_CONFLICT, AUDIT_WARNING,
			       audit_format(audit->report, "the options of line %u",
			                    first->line->number),
			       strbuf_str(&lost),
			       "move them to that line; for one directory use chattr +C or btrfs "
			       "property set",
			       "the kernel ignores %s here: line %u mounts the same btrfs first, "
			       "and its options apply to all subvolumes", strbuf_str(&lost),
			       first->line->number);
}

/** Find the first entry with the mount point of `entry` in a map, if the found entry precedes
    `entry`; or NULL. */
static const struct fstab_entry *earlier(const struct audit *audit, const struct pathmap *map,
                                         const struct fstab_entry *entry)
{
	uint32_t i = pathmap_get(map, fstab_entry_target(entry));
	return i != PATHMAP_NONE && &audit->entries[i] < entry ? &audit->entries[i] : NULL;
}

/** Describe, for a message, that the earlier entry `other` has the mount point of `entry`. */
static const char *same_point(struct audit *audit, const struct fstab_entry *entry,
                              const struct fstab_entry *other)
{
	const char *point = fstab_entry_target(entry);
	unsigned number = other->line->number;
	return strcmp(entry->path, other->path) == 0
	       ? audit_format(audit->report, "line %u has the same mount point", number)
	       : strcmp(entry->path, point) == 0
	       ? audit_format(audit->report, "line %u, of %s, resolves to this mount point",
	                      number, other->path)
	       : audit_format(audit->report, "it resolves to %s, the mount point of line %u", point,
	                      number);
}

/** Report an entry whose mount point an earlier entry has.  mount -a mounts all such entries
    without noauto.  systemd's generator reads the first entry, even with noauto, and reports an
    error for each further entry.  Source: generator_open_unit_file() of systemd. */
static void check_point(struct audit *audit, const struct fstab_entry *entry)
{
	const struct fstab_entry *first = earlier(audit, &audit->first_at, entry);
	const struct fstab_entry *mounted =
		entry->noauto ? NULL : earlier(audit, &audit->first_mounted_at, entry);
	if (!first || (!mounted && (!audit_is_systemd(audit) || entry->skipped)))
		return;
	/* A bind of the mount point onto itself is intended, to give the mount different flags. */
	const char *source = fstab_normal(&audit->report->arena, entry->source);
	if (entry->bind && source && strcmp(source, entry->path) == 0)
		return;
	const char *same = same_point(audit, entry, mounted ? mounted : first);
	unsigned number = first->line->number;
	if (fstab_entry_value(entry, "remount")) {
		if (mounted && audit_is_systemd(audit))
			audit_add_line(audit, entry, FSTAB_DUP_TARGET, AUDIT_WARNING, "one line",
				       NULL, audit_format(audit->report, "put its options into "
				                          "line %u", mounted->line->number),
				       "mount -a remounts what line %u has mounted, with other "
				       "options; systemd ignores this line", mounted->line->number);
		return;
	}
	const char *reads = entry->skipped ? "neither"
		: first->idle ? audit_format(audit->report, "neither, since it reads only line %u, "
		                             "which is noauto", number)
		: first == mounted ? "only the first"
		                   : audit_format(audit->report, "only line %u", number);
	const char *hint = first->idle
		? audit_format(audit->report, "comment out line %u, or use another mount point",
		               number)
		: "comment one out, or use another mount point";
	if (mounted)
		audit_add_line(audit, entry, FSTAB_DUP_TARGET, AUDIT_WARNING | AUDIT_BOOT,
			       "one line", NULL, hint,
			       "%s: mount(8) mounts both, one over the other; systemd %s", same,
			       reads);
	else if (entry->idle)
		audit_add_line(audit, entry, FSTAB_DUP_TARGET, AUDIT_INFO, "one line", NULL,
			       "comment one out, or use another mount point",
			       "%s: systemd reads only the first, and reports an error for this "
			       "line", same);
	else
		audit_add_line(audit, entry, FSTAB_DUP_TARGET, AUDIT_WARNING | AUDIT_BOOT,
			       "one line", NULL, hint, "%s: systemd reads only the first%s%s", same,
			       first->idle ? ", which is noauto, and mounts nothing there by itself"
			                   : "",
			       entry->noauto ? "" : "; mount -a mounts only this line");
}

void audit_repeated(struct audit *audit, const struct fstab_entry *entry)
{
	if (entry->path)
		check_point(audit, entry);
	if (entry->idle)
		return;
	/* The source is compared only for swap spaces and file systems on devices. */
	if (!*entry->source || entry->bind || strcmp(entry->source, "none") == 0
	    || !(entry->swap || entry->type & FST_DEVICE))
		return;
	uint32_t i = map64_get(&audit->by_source, source_key(entry));
	const struct fstab_entry *first = i != MAP64_NONE ? &audit->entries[i] : NULL;
	bool same = first && ((first->numbered && entry->numbered && first->major == entry->major
	                       && first->minor == entry->minor)
	                      || strcmp(first->source, entry->source) == 0);
	if (!same || first == entry || first->swap != entry->swap)
		return;
	check_superblock(audit, first, entry);
	if (first > entry)
		return;
	/* Two lines may mount two subvolumes of a file system. */
	static const char *const parts[] = {"subvol", "subvolid"};
	for (size_t k = 0; first->type & FST_SUBVOL && k < 2; ++k) {
		if (!shown_same_value(first->options, entry->options, parts[k], false))
			return;
	}
	if ((first->path && entry->path && strcmp(first->path, entry->path) == 0))
		return;
	audit_add_line(audit, entry, FSTAB_DUP_SOURCE, entry->swap ? AUDIT_WARNING : AUDIT_INFO,
		       "one line", NULL,
		       entry->swap ? "remove one" : "use a bind mount for the second",
		       "line %u has the same %s", first->line->number,
		       entry->swap ? "swap space" : "file system");
}
