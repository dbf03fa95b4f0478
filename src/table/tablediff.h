/* SPDX-License-Identifier: MIT */
/**
 * What a mount table changes of the mounts that were known before.  Pure.
 *
 * The known mounts are a set that owns its records, so that they can come and
 * go one by one for as long as one likes.  The differ compares the set with a
 * table and lists the changes; it changes neither.
 */
#ifndef GM_TABLE_TABLEDIFF_H
#define GM_TABLE_TABLEDIFF_H

#include "base/map64.h"
#include "table/table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What became of a mount.  The bits make sets. */
enum change_kind {
	CHANGE_MOUNT       = 1 << 0,
	CHANGE_UMOUNT      = 1 << 1,
	CHANGE_REMOUNT     = 1 << 2,   /* vfs_opts or fs_opts are others */
	CHANGE_MOVE        = 1 << 3,   /* point is another */
	CHANGE_PROPAGATION = 1 << 4,   /* the flags are others; not groups alone */
	CHANGE_LOST        = 1 << 5,   /* of no mount: events were lost */
};

struct change {
	enum change_kind kind;
	const struct mount *before;    /* NULL of CHANGE_MOUNT and _LOST */
	const struct mount *after;     /* NULL of CHANGE_UMOUNT and _LOST */
};

struct changes {
	struct change *list;
	size_t count, room;
};

/** Add a change.  @return 0, or -1 (ENOMEM). */
int changes_add(struct changes *changes, enum change_kind kind, const struct mount *before,
                const struct mount *after);

/** Free the list; the records are not its own. */
void changes_destroy(struct changes *changes);

/** A record that a set owns, and its strings with it. */
struct kept_mount {
	struct mount mount;
	bool early;                    /* the monitor's: told before its event came */
	struct kept_mount *next;       /* of those that were taken out */
};

struct mount_set {
	struct kept_mount **mounts;    /* in no order */
	size_t count, room;
	struct map64 places;           /* key -> place in mounts */
	struct kept_mount *old;        /* replaced or taken out, not yet forgotten */
};

/** Make an empty set.  It allocates nothing yet. */
void mount_set_init(struct mount_set *set);

/** Free a set and its records, also those taken out. */
void mount_set_destroy(struct mount_set *set);

/** The record of a key, or NULL. */
struct kept_mount *mount_set_find(const struct mount_set *set, uint64_t key);

/**
 * Put a copy of a record into the set, in place of the one that had its key.
 *
 * @return the copy, or NULL with the set as it was.
 * Errors: ENOMEM.
 */
struct kept_mount *mount_set_put(struct mount_set *set, const struct mount *mount);

/** Take a record out, if it is there. */
void mount_set_remove(struct mount_set *set, uint64_t key);

/** Free the records that were replaced and taken out since the last time. */
void mount_set_forget(struct mount_set *set);

/** What is told of a mount that has another record now: a set of
    CHANGE_REMOUNT, _MOVE and _PROPAGATION.  What a record lacks is no change. */
unsigned mount_changes(const struct mount *before, const struct mount *after);

/** Whether two records of a mount are alike in every field. */
bool mount_same(const struct mount *a, const struct mount *b);

/**
 * List what a table changes.
 *
 * First what is gone, by keys; then what is new or changed, in the table's
 * order.  A mount that is moved and remounted is two changes, both
 * with the same records.
 *
 * Keys that are not unique IDs are used again by the kernel: a mount of
 * another device, type, source, or of both another root and another point, is
 * another one, so that its key is gone and new.
 *
 * @kinds   The changes that are asked for.
 * @changes Added to.  before is the set's, after the table's.
 * @return 0, or -1.
 * Errors: ENOMEM.
 */
int tablediff(const struct mount_set *set, const struct mount_table *table, unsigned kinds,
              struct changes *changes);

#endif
