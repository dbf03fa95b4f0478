/* SPDX-License-Identifier: MIT */
/**
 * Delegation: `getmnt serve` on the server of a mount of sshfs or NFS searches the mount for this
 * host, if a comparison shows that it finds the same objects.
 */
#ifndef GM_SEARCH_HOSTS_DELEGATE_H
#define GM_SEARCH_HOSTS_DELEGATE_H

#include "base/strbuf.h"
#include "remote/remote.h"
#include "search/mounts.h"
#include "search/search.h"

#include <stdbool.h>

/* mount.c: pure */

/** Whether mounts of a file system type may be delegated to their server. */
bool delegate_type(const char *fstype);

/**
 * Find the server of a mount, and a directory of the mount on the server.
 *
 * @m      The mount, with its source.
 * @below  The directory to search: "", or its path below the root of the mount, "/a".
 * @login  [USER@]HOST, for NFS; "": not given.
 * @uid    User ID of this process.  The source of an sshfs that a different user has mounted is not
 *         trusted.
 * @root   [out] The server, as a root: "ssh://u@h/"; appended.
 * @path   [out] The directory on the server, as for remote_path(); appended.
 * @return NULL, or the reason why the mount is not delegated, as a phrase.
 */
const char *delegate_place(const struct search_mount *m, const char *below, const char *login,
                           unsigned uid, struct strbuf *root, struct strbuf *path);

/** Check whether the server of a mount would find the same objects as a search on this host.
    @return NULL: it would; or the reason why not, as a phrase. */
const char *delegate_unfit(int flags, const struct search_more *more,
                           const struct query_info *info);

/**
 * Whether NFS shows only the path to exports in a directory of this host.  NFS version 4 shows
 * clients the directories above an export in this way, with the inodes and times of this host.
 *
 * @exports  Text of /proc/fs/nfsd/exports: the exports that the kernel has needed so far.
 * @path     The directory.
 */
bool delegate_is_list(const char *exports, const char *path);

/** A digest of a directory and its entries, as seen by this host or by the server. */
struct delegate_proof {
	uint64_t digest;               /* hash of the attributes and names that are compared */
	struct k_statx st;             /* attributes of the directory itself; mask 0: not received
	                                  yet */
	size_t entries;                /* number of entries in the directory */
	struct strbuf why;             /* why the directory cannot be read; "": no error */
	struct strbuf text;            /* buffer for one entry */
};

/** Add an entry of the directory to the digest.
    @nfs  Include inode numbers and times of changes, which NFS shows as they are on the server. */
void delegate_see(struct delegate_proof *proof, const struct remote_entry *entry, bool nfs);

/** Compare the directory as seen here with the directory as the server sees it.
    @return NULL: the directories are the same; or why they may be different, as a phrase. */
const char *delegate_compare(const struct delegate_proof *here, const struct delegate_proof *there,
                             bool nfs);

/**
 * Compare the file system IDs of two directories on NFS that delegate_compare() found equal: a
 * snapshot, a replica, or a list of exports can have the same inodes and times.
 *
 * @volumes  Text of /proc/fs/nfsfs/volumes of this host.
 * @return   As delegate_compare().
 */
const char *delegate_compare_fs(const char *volumes, const struct delegate_proof *here,
                                const struct delegate_proof *there);

void delegate_proof_destroy(struct delegate_proof *proof);

#endif
