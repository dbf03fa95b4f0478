/* SPDX-License-Identifier: MIT */
/**
 * Replacing a file atomically.
 *
 * replace_open() resolves a name once, and keeps open the directory and the file that it
 * read.  replace_commit() replaces exactly the bytes that were read:
 *
 *     lock      .NAME.getmnt-lock, 0600, next to the file; removed at the end
 *     write     .NAME.getmnt-new, 0600; set owner, mode, ACLs, label and all other attributes of
 *               the old file; read it back; fsync
 *     back up   the old bytes to .NAME.getmnt-old; fsync; rename to NAME.getmnt-TIME
 *               (20261122T072522123Z)
 *     fsync     the directory
 *     check     that NAME still has the same inode, size, times and bytes
 *     exchange  both names; if the file taken out is not the one that was read, exchange them back;
 *               remove it.  Where names cannot be exchanged, rename
 *     fsync     the directory
 *
 * At any moment NAME is either the complete old file or the complete new file, since both were on
 * disk before the rename.  After a failure, or a signal that would end the program, all temporary
 * files are removed.  A kill or a power failure leaves .NAME.getmnt-new, -old and -lock, which the
 * next run takes over.  Exception: on a file system that gives all files one mode that lets others
 * open them, -lock must be removed by hand.
 *
 * Why:
 * - The lock is a separate file, because anyone who can read a file can lock it, and so keep root
 *   out forever; nobody else can open this lock file.  It is next to the file, not in /run, so that
 *   it works between containers that share the directory, in an initramfs, and for ordinary users.
 *   It is held while the file is written, not while the user answers a question.
 * - Editors and Ansible take no lock.  Therefore NAME is checked just before the exchange, and the
 *   file taken out is checked afterwards, so that none of their changes is lost.  Not detected:
 *   later writes by a process that has the old file open; and, where names cannot be exchanged, a
 *   change between the last check and the rename, which is the next system call.
 * - The backup is a copy.  A hard link would change the ctime of the old file, give it two names
 *   until the rename, and be modified by any process that has the file open for writing.
 * - A user who can write to the directory can mount a FUSE file on each of these names.  All are
 *   opened by os_open_entry(), which refuses other mounts; NAME itself may be a bind mount of a
 *   file on a file system that cannot block.
 * - The new file is written even if the rename will fail (a file that is a mount point): then the
 *   user can use it.
 */
#ifndef GM_PATH_REPLACE_H
#define GM_PATH_REPLACE_H

#include "os/change.h"

#include <stdbool.h>
#include <stddef.h>

/** Why a file cannot be replaced. */
enum replace_why {
	RP_ERROR,         /* a call failed: step, error */
	RP_TYPE,          /* a directory, FIFO, socket or device */
	RP_TOO_LARGE,
	RP_KERNEL,        /* a file of procfs */
	RP_CHANGED,       /* changed since it was read, or keeps changing */
	RP_LOCKED,        /* another process has held the lock for REPLACE_WAIT seconds */
	RP_LINKS,         /* other hard links exist, which would keep the old bytes */
	RP_IMMUTABLE,     /* chattr +i on the file or, if step says so, on its directory */
	RP_APPEND,        /* chattr +a, likewise */
	RP_READ_ONLY,     /* its file system is read-only */
	RP_BOUND,         /* a mount point: EBUSY */
	RP_SPACE,         /* ENOSPC, EDQUOT, EFBIG */
	RP_DENIED,        /* EACCES, EPERM */
	RP_KEEP,          /* owner, mode or an attribute (in step) cannot be kept */
	RP_SIGNAL,        /* a signal arrived */
	RP_UNSURE,        /* the file WAS replaced, but fsync of the directory failed */
	RP_LINK,          /* a symlink on the path belongs to another user (step) */
	RP_BLOCKS,        /* accessing the target of a symlink can block (step) */
	RP_DANGLING,      /* a dangling symlink; its target is not created */
	RP_MOUNT,         /* NAME, or a name next to it (step), is a mount that can block */
	RP_LOCK,          /* others can hold the lock forever (step) */
	RP_OVERTAKEN,     /* the file WAS replaced, and the content that another process wrote just
	                     before could not be restored: it is in file->left */
};

/** The reason of a failure. */
struct replace_error {
	enum replace_why why;
	int error;              /* errno, or 0 */
	char step[320];         /* the step that failed: "writing .fstab.getmnt-new" */
};

enum {
	REPLACE_MAX = 64 << 20,   /* maximum size of a file in bytes */
	REPLACE_WAIT = 5,         /* seconds to wait for the lock */
	REPLACE_BACKUPS = 5,      /* number of backups to keep */
};

/** A file as it was read.  Callers only read the fields. */
struct replace {
	struct os *os;
	char *path;             /* absolute, without symlinks, including the root */
	char *name;             /* the last component */
	int dirfd;              /* O_PATH: its directory */
	int fd;                 /* the file; -1 if it does not exist */
	char *link;             /* the target if the given name is a symlink; or NULL */
	bool at_link;           /* replace the symlink itself */
	bool missing;
	bool of_kernel;
	bool may_pipe;
	uint64_t mnt_id;        /* of the file, or of its directory; 0: unknown */
	bool mnt_unique;        /* mnt_id is a unique mount ID */
	struct stat st;         /* attributes of NAME when it was read */
	char *text;             /* its bytes and a NUL; for a symlink, the bytes of its target */
	size_t len;
	/* Set by replace_commit(): */
	bool replaced;          /* NAME is the new file */
	char *backup;           /* the path of the backup, or NULL */
	char *left;             /* the path of the new file, if NAME could not be replaced; see also
	                           RP_OVERTAKEN */
	unsigned pruned;        /* number of older backups removed */
	struct os_signals signals;
	bool held;
	struct replace_error error;   /* of the call that failed */
	const char *doing;      /* what the next call is for: begins error.step if it fails */
};

/** A name, and how to resolve it. */
struct replace_name {
	const char *path;       /* absolute and relative to root, if there is a root */
	const char *root;       /* NULL or "/": none */
	bool may_create;        /* treat a missing file as empty */
	bool may_pipe;          /* only read the file, which may be a FIFO or standard input */
	bool at_link;           /* if the last component is a symlink, replace the symlink itself */
	bool sticky;            /* follow a symlink of another user, except in a directory such as
	                           /tmp; and let the kernel follow those of procfs */
	/* Whether access to an absolute path without symlinks can block; NULL: never. */
	bool (*blocks)(void *arg, const char *path);
	void *blocks_arg;
	bool named;             /* the user gave the path, without a root: check only the targets of
	                           symlinks */
};

/**
 * Resolve a name, and read the file.
 *
 * At most 40 symlinks are followed, and none leads out of the root.  A symlink that belongs neither
 * to root nor to the effective user is not followed: its owner could make root read and replace any
 * file.  Symlinks of the kernel in the top directory of a procfs are followed.
 *
 * Ownership: call replace_close() in either case.
 * @return 0, or -1 and file->error.
 */
int replace_open(struct os *os, const struct replace_name *name, struct replace *file);

/**
 * Check, without changing anything, whether a file can be replaced: its type, flags and hard links,
 * and whether its file system is read-only.
 *
 * @links  Ignore other hard links.
 * @return 0, or -1 and file->error.
 */
int replace_may(struct replace *file, bool links);

/**
 * Replace the bytes that were read.  Call it once for each file.
 *
 * Signals are blocked from here until replace_close(), so that the caller can report the result.
 *
 * @backup  Keep a copy of the old file.
 * @links   Ignore other hard links.
 * @return 0, or -1 and file->error: the file is unchanged, except after RP_UNSURE and RP_OVERTAKEN;
 *         file->left and file->backup name files that still exist.
 */
int replace_commit(struct replace *file, const char *bytes, size_t len, bool backup, bool links);

/** Close and free the file; blocked signals are delivered. */
void replace_close(struct replace *file);

#endif
