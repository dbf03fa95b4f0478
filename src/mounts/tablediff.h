/* SPDX-License-Identifier: MIT */
/**
 * A set of known mounts, and its differences to a mount table.  Pure.
 *
 * The set owns its records, so that mounts can be added and removed one by one.  tablediff()
 * compares the set with a table and lists the changes; it modifies neither.
 */
#ifndef GM_MOUNTS_TABLEDIFF_H
#define GM_MOUNTS_TABLEDIFF_H

#include "base/map64.h"
#include "mounts/table.h"

/** Kinds of changes; can be combined. */
enum change_kind {
	CHANGE_MOUNT       = 1 << 0,
	CHANGE_UMOUNT      = 1 << 1,
	CHANGE_REMOUNT     = 1 << 2,   /* vfs_opts or fs_opts changed */
	CHANGE_MOVE        = 1 << 3,   /* point changed */
	CHANGE_PROPAGATION = 1 << 4,   /* the propagation flags changed, not only groups */
	CHANGE_LOST        = 1 << 5,   /* events were lost; concerns no single mount */
};

/** Combinations of kinds. */
enum {
	CHANGE_OPTIONS = CHANGE_REMOUNT | CHANGE_PROPAGATION,
	CHANGE_ALL     = CHANGE_OPTIONS | CHANGE_MOUNT | CHANGE_UMOUNT | CHANGE_MOVE,
};

struct change {
	enum change_kind kind;
	const struct mount *before;    /* NULL for CHANGE_MOUNT and _LOST */
	const struct mount *after;     /* NULL for CHANGE_UMOUNT and _LOST */
};

struct changes {
	struct change *list;
	size_t count, room;
};

/** Add a change.  @return 0, or -1 (ENOMEM). */
int changes_add(struct changes *changes, enum change_kind kind, const struct mount *before,
                const struct mount *after);

/** Free the list, but not the records. */
void changes_destroy(struct changes *changes);

/** A record of a set, allocated together with its strings. */
struct kept_mount {
	struct mount mount;
	bool early;                    /* set by a monitor: the move was reported, its event is
	                                  pending */
	struct kept_mount *next;       /* the next in mount_set.old */
};

/** A set; empty if zeroed. */
struct mount_set {
	struct kept_mount **mounts;    /* unordered */
	size_t count, room;
	struct map64 places;           /* key -> index in mounts */
	struct kept_mount *old;        /* replaced and removed records, not yet freed */
};

/** Free a set and all its records. */
void mount_set_destroy(struct mount_set *set);

/** The record of a key, or NULL. */
struct kept_mount *mount_set_find(const struct mount_set *set, uint64_t key);

/** Add a copy of a record to the set, or replace the record with the same key.
    @return the copy, or NULL with the set unchanged (ENOMEM). */
struct kept_mount *mount_set_put(struct mount_set *set, const struct mount *mount);

/** Like mount_set_put(), but with the mount point and parent of the record `place`. */
struct kept_mount *mount_set_put_at(struct mount_set *set, const struct mount *mount,
                                    const struct mount *place);

/** Remove the record of a key, if it exists. */
void mount_set_remove(struct mount_set *set, uint64_t key);

/** Free the records that were replaced or removed since the last call. */
void mount_set_forget(struct mount_set *set);

/** Compare two records of a mount.  A field that a record lacks does not count as changed.
    @return a set of CHANGE_REMOUNT, CHANGE_MOVE and CHANGE_PROPAGATION. */
unsigned mount_changes(const struct mount *before, const struct mount *after);

/** Whether two records of a mount are equal in every field. */
bool mount_same(const struct mount *a, const struct mount *b);

/**
 * List the differences between a set and a table: first unmounted mounts, by key; then new and
 * changed mounts, in the order of the table.  A mount that was moved and remounted counts as two
 * changes.
 *
 * The kernel reuses keys that are not unique IDs: if device, type or source changed, or both root
 * and mount point, the change is an unmount and a mount.
 *
 * @kinds   The kinds of changes to list.
 * @changes The changes are appended.  before points into the set, after into the table.
 * @return 0, or -1 (ENOMEM).
 */
int tablediff(const struct mount_set *set, const struct mount_table *table, unsigned kinds,
              struct changes *changes);

/** Update a set to the mounts of a table, and list the differences with records of the set.
    @kinds  CHANGE_ALL; or CHANGE_OPTIONS: only the options of known mounts.
    @report  The kinds of changes to list.
    @gone  For a monitor with events: unmounted keys are added, and mounts that were moved
    themselves are marked early.  NULL: without events.
    @return 0, or -1 (ENOMEM). */
int mount_set_update(struct mount_set *set, const struct mount_table *table, unsigned kinds,
                     unsigned report, struct map64 *gone, struct changes *changes);

#endif
