/* SPDX-License-Identifier: MIT */
/**
 * Snapshots: what an audit reads of a host, as files below a directory.
 *
 *     snapshot.c        getmnt snapshot: one made
 *     snapshot_tree.c   ... its files (snapshot_tree.h)
 *     snapshot_read.c   one opened, and asked instead of this machine
 *
 * Its form is told in getmnt-snapshot(8).  What is in one may come from anybody: the
 * files are read through os/inside.h, and none of this machine is.
 */
#ifndef GM_CMD_SNAPSHOT_H
#define GM_CMD_SNAPSHOT_H

#include "cmd/cmd.h"

#define SNAPSHOT_MARKER "getmnt-snapshot"
#define SNAPSHOT_HEAD "getmnt snapshot 1"
#define SNAPSHOT_TABLE "/proc/self/mountinfo"
#define SNAPSHOT_UNITS "/systemctl-show"

struct snapshot {
	int dir;                 /* a descriptor */
	char *name;              /* of the directory, as it was given, without a slash at its end */
	char *table_name;        /* of its mountinfo, for people */
	char *text;              /* of the marker; the strings below are its */
	const char *host, *boot_id, *kernel;   /* NULL: not recorded */
	long uptime, time;       /* seconds, since 1970; -1: not recorded */
	long fstab_mode, fstab_uid;   /* of /etc/fstab; -1 */
	bool systemd;            /* it was the manager, for all that is known */
	struct map64 places;     /* where something is mounted, and what is above: hashes of paths */
};

/**
 * Open what --root names, if it is a snapshot.  A place that can block is none: it is not
 * touched.
 *
 * @root  As it was given.
 * @found [out]  NULL: it is none.  To be closed.
 * @return 0, or -1 after a message.
 */
int snapshot_open(const char *root, struct snapshot **found);

/** Free it; NULL is fine. */
void snapshot_close(struct snapshot *snapshot);

/** Have a run know the devices and places of its snapshot, once its mounts are known.
    @return 0, or -1.  Errors: ENOMEM. */
int snapshot_devices(struct run *run);

/** Have it know the host.  @return 0, or -1.  Errors: ENOMEM. */
int snapshot_machine(struct run *run);

/** Whether something was mounted at a path, or below it: it was a directory, most likely. */
bool snapshot_has_place(const struct snapshot *snapshot, const char *path);

/** Give a recorded fstab the mode and owner that it had.  @return whether they are known. */
bool snapshot_mode(const struct snapshot *snapshot, struct k_statx *st);

/** What is put before names of a run's files, for people: "", or that of the snapshot. */
static inline const char *snapshot_prefix(const struct run *run)
{
	return run->snapshot ? run->snapshot->name : "";
}

#endif
