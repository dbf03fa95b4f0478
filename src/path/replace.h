/* SPDX-License-Identifier: MIT */
/**
 * The replacement of a file, whole or not at all.
 *
 * replace_open() resolves a name once, and keeps the directory that it leads to
 * and the file as it was read.  replace_commit() puts new bytes in the place of
 * those, and nothing in the place of any others:
 *
 *     lock  .NAME.getmnt-lock, 0600, beside the file, gone at the end
 *     write .NAME.getmnt-new, 0600; owner, mode, ACLs, label and all other
 *           attributes of the old one; read it back; fsync
 *     copy  the old bytes to .NAME.getmnt-old, fsync, and rename it NAME.getmnt-TIME
 *           (20261122T072522123Z)
 *     fsync of the directory
 *     look  whether NAME is still that inode, with that size, those times, those bytes
 *     exchange the names of both; look whether what came out is what was read, else
 *     exchange them back; remove it.  Where no names can be exchanged: rename
 *     fsync of the directory
 *
 * At each moment NAME is the old file, whole, or the new one, whole: rename(2) does
 * that, and both were on the disk before.  What fails, or a signal that would end
 * the program, has all removed that was made; what kills it or cuts the power
 * leaves .NAME.getmnt-new, -old and -lock, which the next one takes over; but where a file
 * system gives all files one mode that is open to others, -lock is to be removed by hand.
 *
 * Why like this:
 * - The lock is on a file of its own, since whoever may read a file may lock it,
 *   and keep root out for ever; this one nobody else can open.  It lies beside the
 *   file, not in /run: so it holds between containers that share the directory, in
 *   an initramfs, and for users.  It is held for as long as it is written, not while
 *   somebody thinks.
 * - It does not stop those who take no lock, editors and Ansible.  For them NAME is
 *   looked at just before; and since they may come after that look, what is taken
 *   out by the exchange is looked at as well, and nothing of theirs is lost.  What is
 *   not seen: what is written later by whoever has the old file open; and, where
 *   names cannot be exchanged, what is changed between the last look and the rename,
 *   which is the next call.
 * - The backup is a copy.  A link costs nothing, but changes the ctime of the file
 *   that is to be unchanged, makes it a file with two names until the rename, and
 *   is written to by whoever still has it open.
 * - A user who may write in the directory can mount a FUSE file on each of these names.
 *   All are opened and looked at by os_open_entry(), which refuses other mounts; NAME
 *   itself may be a file that is bound there, from a file system that cannot block.
 * - The new file is written even where it is known that the rename will fail (a file
 *   that is itself a mount point): it is what the user has then.
 */
#ifndef GM_PATH_REPLACE_H
#define GM_PATH_REPLACE_H

#include "os/change.h"

#include <stdbool.h>
#include <stddef.h>

/** What stands in the way. */
enum replace_why {
	RP_ERROR,         /* a call failed: step, error */
	RP_TYPE,          /* a directory, FIFO, socket or device */
	RP_TOO_LARGE,
	RP_KERNEL,        /* the kernel makes it up: procfs */
	RP_CHANGED,       /* it is no longer what was read; or changes all the time */
	RP_LOCKED,        /* another has had the lock for REPLACE_WAIT seconds */
	RP_LINKS,         /* it has further names, which would keep the old bytes */
	RP_IMMUTABLE,     /* chattr +i: the file, or where step says so, its directory */
	RP_APPEND,        /* chattr +a: the same */
	RP_READ_ONLY,     /* its file system */
	RP_BOUND,         /* it is itself a mount point: EBUSY */
	RP_SPACE,         /* ENOSPC, EDQUOT, EFBIG */
	RP_DENIED,        /* EACCES, EPERM */
	RP_KEEP,          /* owner, mode or an attribute (in step) cannot be kept */
	RP_SIGNAL,        /* a signal came */
	RP_UNSURE,        /* it IS replaced; but the directory could not be written to disk */
	RP_LINK,          /* a symlink on the way belongs to somebody else (step) */
	RP_BLOCKS,        /* to touch what a link, or a name nobody gave, leads to can block (step) */
	RP_DANGLING,      /* the name is that of a link to nothing, and no file is made there */
	RP_MOUNT,         /* what is at a name next to it (step), or at NAME, is a mount that can block */
	RP_LOCK,          /* the lock is one that others can hold for ever (step) */
	RP_OVERTAKEN,     /* it IS replaced; and what another wrote just before could not be
	                     put back: it lies in file->left */
};

/** How it failed. */
struct replace_error {
	enum replace_why why;
	int error;              /* errno; 0 where there is none */
	char step[320];         /* what was tried: "writing .fstab.getmnt-new" */
};

enum {
	REPLACE_MAX = 64 << 20,   /* bytes of a file */
	REPLACE_WAIT = 5,         /* seconds, for the lock */
	REPLACE_BACKUPS = 5,      /* that are kept */
};

/** A file and what was read of it.  Fields are for reading. */
struct replace {
	struct os *os;
	char *path;             /* absolute, without links; with the root before it */
	char *name;             /* the last component */
	int dirfd;              /* O_PATH: where it is */
	int fd;                 /* the file; -1 where there is none */
	char *link;             /* what the link says that the name given is of; NULL */
	bool at_link;           /* the link itself is to be replaced */
	bool missing;
	bool of_kernel;
	bool may_pipe;
	bool piped;             /* it was read from a pipe, and cannot be replaced */
	bool bound;             /* it is itself a mount point */
	uint64_t mnt_id;        /* of the file, or else its directory; 0: not known */
	bool mnt_unique;        /* in which ID space */
	struct stat st;         /* of what is at NAME; as it was read */
	char *text;             /* its bytes and a NUL; of a link, those it leads to */
	size_t len;
	/* Of replace_commit(): */
	bool replaced;          /* NAME is the new file */
	char *backup;           /* the path of the old one, or NULL */
	char *left;             /* where the new one lies, whole, if NAME is not it; but see
	                           RP_OVERTAKEN */
	unsigned pruned;        /* older backups that were removed */
	struct os_signals signals;
	bool held;
};

/** How a name is resolved. */
struct replace_name {
	const char *path;       /* with a root: absolute, as seen there */
	const char *root;       /* NULL or "/": none */
	bool may_create;        /* a missing file is an empty one */
	bool may_pipe;          /* it is only read: a FIFO or the standard input is fine */
	bool at_link;           /* a link in the last place is itself what is replaced */
	/* Whether to touch a path can block: absolute, no link on the way; NULL: never. */
	bool (*blocks)(void *arg, const char *path);
	void *blocks_arg;
	bool named;             /* the user gave the path, and not below a root: it is not asked
	                           about, but what links lead to is */
};

/**
 * Resolve a name, and read the file.
 *
 * Links are followed one by one, at most 40, and none leads out of the root.  A link
 * of neither root nor the effective user is not followed: whoever made it could have
 * root read and replace any file.  The kernel's own in the top of a procfs are.
 *
 * @file [out]  Its strings and descriptors are freed by replace_close(), in any case.
 * @return 0, or -1 and *error.
 */
int replace_open(struct os *os, const struct replace_name *name, struct replace *file,
                 struct replace_error *error);

/**
 * See whether something stands in the way of a replacement, as far as that can be
 * told without trying: types, flags, links, a file system that is read-only.
 *
 * @links  Further names do not matter.
 * @return 0, or -1 and *error.
 */
int replace_may(struct replace *file, bool links, struct replace_error *error);

/**
 * Put new bytes in the place of those that were read.  Once for each file.
 *
 * Signals wait from here on until replace_close(), so that whoever called can say
 * what was done.
 *
 * @backup  Whether to keep a copy of the old.
 * @links   Further names do not matter.
 * @return 0, or -1 and *error: the file is as it was, but for RP_UNSURE and RP_OVERTAKEN;
 *         file->left and file->backup tell what else there is.
 */
int replace_commit(struct replace *file, const char *bytes, size_t len, bool backup, bool links,
                   struct replace_error *error);

/** Whether a name leads through no symlink of somebody else's, as replace_open() has it. */
bool replace_is_direct(struct os *os, const char *path);

/** Let go of it; signals that wait are delivered. */
void replace_close(struct replace *file);

/** For the two files of this: put an error together.  @return -1. */
__attribute__((format(printf, 4, 5)))
int replace_fail(struct replace_error *error, enum replace_why why, int number, const char *step, ...);

#endif
