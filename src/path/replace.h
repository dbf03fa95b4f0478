/* SPDX-License-Identifier: MIT */
/**
 * Replacing a file atomically.
 *
 * replace_open() resolves a name once, and keeps its directory open and the file as it was read.
 * replace_commit() replaces exactly these bytes:
 *
 *     lock      .NAME.getmnt-lock, 0600, next to the file; removed at the end
 *     write     .NAME.getmnt-new, 0600; owner, mode, ACLs, label and all other attributes of the
 *               old file; read it back; fsync
 *     back up   the old bytes to .NAME.getmnt-old; fsync; rename to NAME.getmnt-TIME
 *               (20261122T072522123Z)
 *     fsync     the directory
 *     check     that NAME is still the same inode, size, times and bytes
 *     exchange  both names; if what came out is not what was read, exchange them back; remove it.
 *               Rename where names cannot be exchanged
 *     fsync     the directory
 *
 * At any moment NAME is the whole old file or the whole new one, since both were on disk before
 * the rename.  After a failure, or a signal that would end the program, all temporary files are
 * removed.  A kill or a power cut leaves .NAME.getmnt-new, -old and -lock, which the next run
 * takes over; but on a file system that gives all files one mode that is open to others, -lock
 * must be removed by hand.
 *
 * Why:
 * - The lock is a separate file, since whoever can read a file can lock it, and keep root out
 *   forever; nobody else can open this one.  It is next to the file, not in /run, so that it works
 *   between containers that share the directory, in an initramfs, and for users.  It is held
 *   while the file is written, not while a question waits for its answer.
 * - Editors and Ansible take no lock.  Therefore NAME is checked just before the exchange, and
 *   what comes out is checked after it, so that nothing of theirs is lost.  Not noticed: later
 *   writes by a process that has the old file open; and, where names cannot be exchanged, a
 *   change between the last check and the rename, which is the next call.
 * - The backup is a copy.  A hard link would change the ctime of the file that must not change,
 *   give it two names until the rename, and be written to by whoever has it open.
 * - A user who can write in the directory can mount a FUSE file on each of these names.  All are
 *   opened by os_open_entry(), which refuses other mounts; NAME itself may be a file bound from a
 *   file system that cannot block.
 * - The new file is written even if the rename will fail (a file that is a mount point): the user
 *   has it then.
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
	RP_CHANGED,       /* it changed since it was read, or keeps changing */
	RP_LOCKED,        /* another process has held the lock for REPLACE_WAIT seconds */
	RP_LINKS,         /* it has other hard links, which would keep the old bytes */
	RP_IMMUTABLE,     /* chattr +i: the file or, if step says so, its directory */
	RP_APPEND,        /* chattr +a: the same */
	RP_READ_ONLY,     /* its file system is read-only */
	RP_BOUND,         /* it is a mount point: EBUSY */
	RP_SPACE,         /* ENOSPC, EDQUOT, EFBIG */
	RP_DENIED,        /* EACCES, EPERM */
	RP_KEEP,          /* owner, mode or an attribute (in step) cannot be kept */
	RP_SIGNAL,        /* a signal arrived */
	RP_UNSURE,        /* it IS replaced, but the directory could not be written to disk */
	RP_LINK,          /* a symlink on the way belongs to another user (step) */
	RP_BLOCKS,        /* touching the target of a symlink can block (step) */
	RP_DANGLING,      /* a dangling symlink; no file is created there */
	RP_MOUNT,         /* NAME, or a name next to it (step), is a mount that can block */
	RP_LOCK,          /* others can hold the lock forever (step) */
	RP_OVERTAKEN,     /* it IS replaced, and what another process wrote just before could not be
	                     put back: it lies in file->left */
};

/** How it failed. */
struct replace_error {
	enum replace_why why;
	int error;              /* errno, or 0 */
	char step[320];         /* what failed: "writing .fstab.getmnt-new" */
};

enum {
	REPLACE_MAX = 64 << 20,   /* bytes of a file */
	REPLACE_WAIT = 5,         /* seconds, for the lock */
	REPLACE_BACKUPS = 5,      /* the number kept */
};

/** A file, as it was read.  Fields are for reading. */
struct replace {
	struct os *os;
	char *path;             /* absolute, without symlinks, with the root */
	char *name;             /* the last component */
	int dirfd;              /* O_PATH: its directory */
	int fd;                 /* the file; -1 if it does not exist */
	char *link;             /* the target, if the name given is a symlink; or NULL */
	bool at_link;           /* the symlink itself is to be replaced */
	bool missing;
	bool of_kernel;
	bool may_pipe;
	uint64_t mnt_id;        /* of the file, or of its directory; 0: not known */
	bool mnt_unique;        /* mnt_id is a unique mount ID */
	struct stat st;         /* of NAME, as it was read */
	char *text;             /* its bytes and a NUL; of a symlink, those of its target */
	size_t len;
	/* Of replace_commit(): */
	bool replaced;          /* NAME is the new file */
	char *backup;           /* the path of the backup, or NULL */
	char *left;             /* the path of the new file, if NAME could not be replaced; but see
	                           RP_OVERTAKEN */
	unsigned pruned;        /* the number of older backups removed */
	struct os_signals signals;
	bool held;
	struct replace_error error;   /* of the call that failed */
};

/** How a name is resolved. */
struct replace_name {
	const char *path;       /* with a root: absolute, as seen there */
	const char *root;       /* NULL or "/": none */
	bool may_create;        /* a missing file is an empty one */
	bool may_pipe;          /* it is only read, and may be a FIFO or the standard input */
	bool at_link;           /* a last component that is a symlink is itself replaced */
	/* Whether touching an absolute path without symlinks can block; NULL: never. */
	bool (*blocks)(void *arg, const char *path);
	void *blocks_arg;
	bool named;             /* the user gave the path, without a root: only the targets of
	                           symlinks are checked */
};

/**
 * Resolve a name, and read the file.
 *
 * At most 40 symlinks are followed, and none leads out of the root.  A symlink of neither root nor
 * the effective user is not followed: whoever made it could have root read and replace any file.
 * Symlinks of the kernel in the top directory of a procfs are followed.
 *
 * Ownership: replace_close(), in any case.
 * @return 0, or -1 and file->error.
 */
int replace_open(struct os *os, const struct replace_name *name, struct replace *file);

/**
 * Check whether a file can be replaced, without trying: its type, flags and hard links, and
 * whether its file system is read-only.
 *
 * @links  Other hard links do not matter.
 * @return 0, or -1 and file->error.
 */
int replace_may(struct replace *file, bool links);

/**
 * Replace the bytes that were read.  Once for each file.
 *
 * Signals are blocked from here until replace_close(), so that the caller can report the result.
 *
 * @backup  Whether to keep a copy of the old file.
 * @links   Other hard links do not matter.
 * @return 0, or -1 and file->error: the file is unchanged, except after RP_UNSURE and RP_OVERTAKEN;
 *         file->left and file->backup name files that were left.
 */
int replace_commit(struct replace *file, const char *bytes, size_t len, bool backup, bool links);

/** Free it; blocked signals are delivered. */
void replace_close(struct replace *file);

/** Set an error.  @return -1. */
__attribute__((format(printf, 4, 5)))
int replace_fail(struct replace_error *error, enum replace_why why, int number, const char *step,
                 ...);

#endif
