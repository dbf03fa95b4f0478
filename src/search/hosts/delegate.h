/* SPDX-License-Identifier: MIT */
/**
 * Delegation: the part of a search below a mount of sshfs or NFS is done by the server of the mount
 * (`getmnt serve` there), if all that is known says that this finds the same.
 */
#ifndef GM_SEARCH_HOSTS_DELEGATE_H
#define GM_SEARCH_HOSTS_DELEGATE_H

#include "base/strbuf.h"
#include "remote/remote.h"
#include "search/mounts.h"
#include "search/search.h"

#include <stdbool.h>

/* delegate_mount.c: pure */

/** Whether the server of a mount of this type may be asked. */
bool delegate_type(const char *fstype);

/**
 * Find out where a mount leads.
 *
 * @m      With its source.
 * @below  The directory to search: "", or its path below the root of the mount, "/a".
 * @login  [USER@]HOST, for NFS; "": none.
 * @uid    Of this process: sshfs that another user has mounted may lead anywhere.
 * @root   [out] The server, as a root: "ssh://u@h/"; appended.
 * @path   [out] The directory there, as for remote_path(); appended.
 * @return NULL, or why it is not delegated, as a phrase.
 */
const char *delegate_place(const struct search_mount *m, const char *below, const char *login,
                           unsigned uid, struct strbuf *root, struct strbuf *path);

/** Whether a server would find the same for a search.
    @return NULL, or why not, as a phrase. */
const char *delegate_unfit(int flags, const struct search_more *more,
                           const struct query_info *info);

/**
 * Whether NFS shows only the way to exports in a directory of this host.  Version 4 makes such a
 * list of the directories above an export, with their own inodes and times.
 *
 * @exports  The text of /proc/fs/nfsd/exports: those that the kernel has needed.
 */
bool delegate_is_list(const char *exports, const char *path);

/** What is seen of a directory, to be compared. */
struct delegate_proof {
	uint64_t digest;               /* of all that is compared */
	struct k_statx st;             /* of the directory itself; mask 0: not seen yet */
	size_t entries;                /* in it */
	struct strbuf why;             /* why it cannot be seen; "" */
	struct strbuf text;            /* of the last entry */
};

/** Add an entry of the directory.  @nfs  Inode numbers and times of changes are compared. */
void delegate_see(struct delegate_proof *proof, const struct remote_entry *entry, bool nfs);

/** Compare.  @return NULL, or why the directories may be different, as a phrase. */
const char *delegate_compare(const struct delegate_proof *here, const struct delegate_proof *there,
                             bool nfs);

/**
 * Compare the file system IDs of two directories on NFS, which are equal in all else: a snapshot, a
 * replica, or the list of exports above a directory of the server can have the same inodes.
 *
 * @volumes  The text of /proc/fs/nfsfs/volumes.
 * @return   As delegate_compare().
 */
const char *delegate_compare_fs(const char *volumes, const struct delegate_proof *here,
                                const struct delegate_proof *there);

void delegate_proof_destroy(struct delegate_proof *proof);

#endif
