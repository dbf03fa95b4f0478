/* SPDX-License-Identifier: MIT */
/*
 * Writing the new file: the steps described in replace.h.
 *
 * All names are relative to file->dirfd, which was opened when the name was resolved: it is the
 * directory of the file that was read, even if a directory on the path is renamed.
 */
#include "path/replace_impl.h"

#include "os/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LOCK_MS = 20, LOCK_RACES = 100, EXCHANGES_MAX = 16 };

int writer_fail(const struct writer *w, const char *step, const char *name)
{
	static const struct {
		int error;
		enum replace_why why;
	} rows[] = {
		{EROFS, RP_READ_ONLY}, {ENOSPC, RP_SPACE}, {EDQUOT, RP_SPACE}, {EFBIG, RP_SPACE},
		{EACCES, RP_DENIED}, {EPERM, RP_DENIED}, {EXDEV, RP_MOUNT},
	};
	enum replace_why why = RP_ERROR;
	int number = errno;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); ++i) {
		if (rows[i].error == number)
			why = rows[i].why;
	}
	return replace_fail(w->error, why, number, "%s %s", step, name);
}

int writer_look(const struct writer *w, const char *name, struct stat *st)
{
	return os_look_entry(w->file->os, w->file->dirfd, name, ENTRY_HERE, st);
}

/* Checks that the file is still the one that was read. */

/** Compare the content: two changes within one clock tick have the same times.
    @return 1, 0, or -1 with errno. */
static int same_bytes(const struct replace *file, int fd, const char *bytes, size_t len)
{
	char buf[16 * 1024];
	size_t at = 0;
	for (;;) {
		ssize_t n = os_pread(file->os, fd, buf, sizeof(buf), at);
		if (n < 0)
			return -1;
		if (n == 0)
			return at == len;
		if ((size_t)n > len - at || memcmp(buf, bytes + at, (size_t)n) != 0)
			return 0;
		at += (size_t)n;
	}
}

/** Check that NAME is the same file with the same attributes.  @return 0, or -1 and the error. */
static int still_shown(const struct writer *w)
{
	const struct replace *file = w->file;
	struct stat st;
	int rc = os_look_entry(file->os, file->dirfd, file->name, ENTRY_LOCAL, &st);
	if (rc != 0 && errno != ENOENT)
		return writer_fail(w, "checking again", file->name);
	if (file->missing)
		return rc == 0 ? replace_fail(w->error, RP_CHANGED, 0,
		                              "it did not exist then, but does now")
		               : 0;
	if (rc != 0)
		return replace_fail(w->error, RP_CHANGED, 0, "it was removed");
	if (st.st_dev != file->st.st_dev || st.st_ino != file->st.st_ino)
		return replace_fail(w->error, RP_CHANGED, 0, "another file has replaced it");
	if (st.st_size != file->st.st_size || !replace_same_times(&st, &file->st))
		return replace_fail(w->error, RP_CHANGED, 0, "its size or times have changed");
	return 0;
}

/** Check also that its content is the same, and then its attributes again. */
static int still_same(const struct writer *w)
{
	const struct replace *file = w->file;
	if (still_shown(w) != 0)
		return -1;
	if (file->missing || file->at_link)
		return 0;
	int same = same_bytes(file, file->fd, file->text, file->len);
	if (same < 0)
		return writer_fail(w, "reading again", file->name);
	if (same == 0)
		return replace_fail(w->error, RP_CHANGED, 0, "its content has changed");
	return still_shown(w);
}

/* The lock. */

/** Whether an existing lock file is ours, and nobody else can open it. */
static bool is_own_lock(const struct writer *w, const struct stat *st)
{
	return S_ISREG(st->st_mode) && (st->st_mode & 077) == 0 && st->st_nlink <= 1
	       && st->st_uid == w->euid;
}

/** Fail with a message that contains the owner of the lock.  @return -1. */
static int fail_lock(const struct writer *w, const struct stat *st)
{
	return replace_fail(w->error, RP_LOCK, 0, "its lock file %s belongs to uid %u, mode %04o",
	                    w->lock_name, (unsigned)st->st_uid, (unsigned)st->st_mode & 07777);
}

/** Open the lock file, and lock it.  @return 0; 1: another process holds the lock; 2: the name now
    refers to another file; -1 and the error. */
static int lock_once(struct writer *w)
{
	const struct replace *file = w->file;
	struct os *os = file->os;
	struct stat st, now;
	if (w->lock < 0) {
		w->lock = os_create_new(os, file->dirfd, w->lock_name);
		w->made_lock = w->lock >= 0;
		bool there = w->lock < 0 && errno == EEXIST;
		if (there)
			w->lock = os_open_entry(os, file->dirfd, w->lock_name,
			                        O_RDWR | O_NONBLOCK | O_NOCTTY, ENTRY_HERE);
		if (there && w->lock < 0 && errno == ENOENT)
			return 2;
		/* A lock file of root, seen by an ordinary user; or a symlink. */
		int error = errno;
		if (there && w->lock < 0 && writer_look(w, w->lock_name, &st) == 0
		    && (S_ISLNK(st.st_mode) || error == EACCES))
			return fail_lock(w, &st);
		errno = error;
	}
	if (w->lock < 0 || os_fstatat(os, w->lock, "", &st) != 0)
		return writer_fail(w, "creating the lock file", w->lock_name);
	/* Another user could hold their own lock file forever.  A lock file that this process
	   created is trusted, whatever owner and mode vfat, or NFS for root, gives it. */
	if (!w->made_lock && !is_own_lock(w, &st))
		return fail_lock(w, &st);
	if (os_flock(os, w->lock) != 0)
		return errno == EWOULDBLOCK ? 1 : writer_fail(w, "locking", w->lock_name);
	/* The previous holder may have removed it before this process locked it. */
	if (writer_look(w, w->lock_name, &now) != 0)
		return errno == ENOENT ? 2 : writer_fail(w, "checking the lock file", w->lock_name);
	return now.st_ino == st.st_ino && now.st_dev == st.st_dev ? 0 : 2;
}

static int lock_take(struct writer *w)
{
	int rc = 1, races = 0;
	for (int waited = 0; rc != 0;) {
		rc = lock_once(w);
		if (rc < 0 || os_signals_pending(w->file->os, &w->file->signals))
			break;
		if (rc == 2) {
			os_close(w->file->os, w->lock);
			w->lock = -1;
		}
		if ((rc == 1 && waited >= REPLACE_WAIT * 1000) || (rc == 2 && ++races > LOCK_RACES))
			return replace_fail(w->error, RP_LOCKED, 0, "%s", w->lock_name);
		if (rc == 1) {
			os_poll(w->file->os, NULL, 0, LOCK_MS);
			waited += LOCK_MS;
		}
	}
	if (rc > 0)
		return replace_fail(w->error, RP_SIGNAL, 0, "waiting for the lock");
	return rc;
}

/** Remove the lock file, if it is held and the name still refers to it, and unlock it. */
static void lock_drop(struct writer *w, bool held)
{
	struct os *os = w->file->os;
	struct stat st, now;
	if (!held && w->lock >= 0) {
		bool known = os_fstatat(os, w->lock, "", &st) == 0;
		/* On a file system without locks nobody else can have locked it. */
		bool free = (w->made_lock || (known && is_own_lock(w, &st)))
		            && (os_flock(os, w->lock) == 0
		                || (w->made_lock && errno != EWOULDBLOCK));
		held = free && known && writer_look(w, w->lock_name, &now) == 0
		       && now.st_ino == st.st_ino && now.st_dev == st.st_dev;
	}
	if (held)
		os_unlinkat(os, w->file->dirfd, w->lock_name);
	os_close(os, w->lock);
	w->lock = -1;
}

/* Writing. */

static int write_all(const struct writer *w, int fd, const char *bytes, size_t len,
                     const char *name)
{
	size_t at = 0;
	while (at < len) {
		ssize_t n = os_write(w->file->os, fd, bytes + at, len - at);
		if (n == 0)
			errno = EIO;
		if (n <= 0)
			return writer_fail(w, "writing", name);
		at += (size_t)n;
	}
	return 0;
}

/** Write a file to disk, and check that it contains what was written. */
static int settle(const struct writer *w, int fd, const char *bytes, size_t len, const char *name)
{
	if (os_fsync(w->file->os, fd) != 0)
		return writer_fail(w, "writing to disk", name);
	int same = same_bytes(w->file, fd, bytes, len);
	if (same < 0)
		return writer_fail(w, "reading back", name);
	if (same == 0)
		return replace_fail(w->error, RP_ERROR, EIO,
		                    "reading back %s: it is not what was written", name);
	return 0;
}

/** Remove a file that a killed run left under a name; call it only under the lock. */
static int remove_left(const struct writer *w, const char *name)
{
	const struct replace *file = w->file;
	struct stat st;
	if (writer_look(w, name, &st) != 0)
		return errno == ENOENT ? 0 : writer_fail(w, "getting the attributes of", name);
	bool ours = S_ISREG(st.st_mode)
	            && (st.st_uid == w->euid || (!file->missing && st.st_uid == file->st.st_uid));
	if (!ours)
		return replace_fail(w->error, RP_ERROR, EEXIST,
		                    "%s exists and belongs to another user", name);
	if (os_unlinkat(file->os, file->dirfd, name) != 0 && errno != ENOENT)
		return writer_fail(w, "removing an old", name);
	return 0;
}

int writer_make(const struct writer *w, const char *name, const char *bytes, size_t len,
                const struct timespec *times, bool *made)
{
	struct os *os = w->file->os;
	if (remove_left(w, name) != 0)
		return -1;
	int fd = os_create_new(os, w->file->dirfd, name);
	if (fd < 0)
		return writer_fail(w, "making", name);
	*made = true;
	int rc = write_all(w, fd, bytes, len, name);
	if (rc == 0)
		rc = writer_keep(w, fd, name);
	if (rc == 0 && times)
		os_futimens(os, fd, times);   /* some file systems do not store these times */
	if (rc == 0)
		rc = settle(w, fd, bytes, len, name);
	if (rc == 0)
		return fd;
	os_close(os, fd);
	return -1;
}

int writer_rename(const struct writer *w, const char *from, const char *to)
{
	const struct replace *file = w->file;
	struct os *os = file->os;
	int rc = os_rename(os, file->dirfd, from, to, RENAME_NOREPLACE);
	if (rc == 0 || (errno != EINVAL && errno != ENOSYS && errno != ENOTSUP))
		return rc;
	/* RENAME_NOREPLACE is not supported: link(2) does not replace files either. */
	if (os_link(os, file->dirfd, from, to) != 0) {
		if (errno == EEXIST)
			return -1;
		return os_rename(os, file->dirfd, from, to, 0);
	}
	os_unlinkat(os, file->dirfd, from);
	return 0;
}

/* The complete sequence. */

/** The path of a name in the directory of the file. */
static char *sibling(const struct replace *file, const char *name)
{
	char *path = NULL;
	size_t n = strlen(file->path) - strlen(file->name);
	return asprintf(&path, "%.*s%s", (int)n, file->path, name) < 0 ? NULL : path;
}

static int sync_dir(const struct writer *w)
{
	/* Some file systems do not support fsync of a directory. */
	if (os_fsync(w->file->os, w->dir) == 0 || errno == EINVAL || errno == ENOTSUP
	    || errno == ENOSYS)
		return 0;
	return -1;
}

/** Whether the file taken out is the one that was read.  Inode numbers are not compared: an overlay
    may change them when it copies a file up. */
static bool is_what_was_read(const struct writer *w)
{
	const struct replace *file = w->file;
	struct os *os = file->os;
	struct stat st;
	char text[PATH_MAX];
	if (file->at_link) {
		ssize_t n = os_readlinkat(os, file->dirfd, w->new_name, text, sizeof(text));
		return n < 0 ? errno == ENOENT : strcmp(text, file->link) == 0;
	}
	if (writer_look(w, w->new_name, &st) != 0)
		return errno == ENOENT;   /* the file was renamed, not exchanged */
	if (st.st_mode != file->st.st_mode || st.st_uid != file->st.st_uid
	    || st.st_gid != file->st.st_gid)
		return false;
	int fd = os_open_entry(os, file->dirfd, w->new_name, O_RDONLY | O_NONBLOCK | O_NOCTTY,
	                       ENTRY_HERE);
	bool same = fd >= 0 && same_bytes(file, fd, file->text, file->len) == 1;
	os_close(os, fd);
	return same;
}

/**
 * Restore a file that another process wrote at the same moment and that was taken out.
 *
 * That process may have written again meanwhile, over the new file; then the exchange takes out
 * that version, which is put back in turn, until the file taken out is the one last put in.
 *
 * @return 0, or -1 with errno.
 */
static int put_back(const struct writer *w)
{
	const struct replace *file = w->file;
	struct os *os = file->os;
	struct stat in, out;
	if (os_fstatat(os, w->new, "", &in) != 0)
		in.st_ino = 0;
	for (int i = 0; i < EXCHANGES_MAX; ++i) {
		struct stat next;
		if (writer_look(w, w->new_name, &next) != 0)
			next.st_ino = 0;
		if (os_rename(os, file->dirfd, w->new_name, file->name, RENAME_EXCHANGE) != 0)
			return -1;
		if (writer_look(w, w->new_name, &out) != 0 || out.st_ino == in.st_ino)
			return 0;
		in = next;
	}
	return 0;
}

/** Put the new file in the place of the old one.  @return 0; -1 with errno: nothing was changed; or
    1 and the error: the exchange was done or undone. */
static int rename_new(struct writer *w)
{
	struct replace *file = w->file;
	struct os *os = file->os;
	if (file->missing)
		return writer_rename(w, w->new_name, file->name);
	if (os_rename(os, file->dirfd, w->new_name, file->name, RENAME_EXCHANGE) != 0) {
		/* If names cannot be exchanged, rename; but not if the file was removed. */
		if (errno != ENOENT)
			return os_rename(os, file->dirfd, w->new_name, file->name, 0);
		replace_fail(w->error, RP_CHANGED, 0, "it was removed");
		return 1;
	}
	if (is_what_was_read(w)) {
		os_unlinkat(os, file->dirfd, w->new_name);
		return 0;
	}
	if (put_back(w) == 0) {
		replace_fail(w->error, RP_CHANGED, 0, "during the exchange");
		return 1;
	}
	replace_fail(w->error, RP_OVERTAKEN, errno, "putting it back");
	file->left = sibling(file, w->new_name);
	file->replaced = true;
	return 1;
}

/** Keep the new file after it could not be put in place. */
static int fail_rename(struct writer *w)
{
	struct replace *file = w->file;
	if (errno == EEXIST && file->missing)
		return replace_fail(w->error, RP_CHANGED, 0, "it did not exist then, but does now");
	int error = errno;
	if (error == EBUSY)
		replace_fail(w->error, RP_BOUND, EBUSY, "renaming %s", w->new_name);
	else
		writer_fail(w, "renaming", w->new_name);
	file->left = sibling(file, w->new_name);
	if (file->left)
		w->made_new = false;
	errno = error;
	return -1;
}

static int commit_locked(struct writer *w, const char *bytes, size_t len, bool backup)
{
	struct replace *file = w->file;
	if (still_same(w) != 0)
		return -1;
	w->new = writer_make(w, w->new_name, bytes, len, NULL, &w->made_new);
	if (w->new < 0)
		return -1;
	if (backup && !file->missing && backup_make(w) != 0)
		return -1;
	if (sync_dir(w) != 0)
		return writer_fail(w, "writing to disk the directory of", file->name);
	char *path = w->made_backup ? sibling(file, w->backup_name) : NULL;
	if (w->made_backup && !path)
		return replace_fail(w->error, RP_ERROR, ENOMEM, "naming the backup");
	/* No slow operation from here to the rename. */
	int rc = -1;
	if (os_signals_pending(file->os, &file->signals))
		replace_fail(w->error, RP_SIGNAL, 0, "before anything was changed");
	else if (still_same(w) == 0 && (rc = rename_new(w)) < 0)
		fail_rename(w);
	if (rc != 0 && !file->replaced) {
		free(path);
		return -1;
	}
	file->replaced = true;
	file->backup = path;
	w->made_new = w->made_backup = false;
	if (rc != 0) {
		sync_dir(w);
		return -1;
	}
	if (sync_dir(w) != 0)
		return replace_fail(w->error, RP_UNSURE, errno,
		                    "writing to disk the directory of %s", file->name);
	if (path)
		backup_prune(w);
	return 0;
}

int replace_commit(struct replace *file, const char *bytes, size_t len, bool backup, bool links)
{
	struct writer w = {.file = file,
	                   .error = &file->error,
	                   .dir = -1,
	                   .lock = -1,
	                   .new = -1,
	                   .euid = os_geteuid(file->os)};
	if (!file->held)
		os_signals_block(file->os, &file->signals);
	file->held = true;
	if (replace_may(file, links) != 0)
		return -1;
	int n = snprintf(w.lock_name, sizeof(w.lock_name), ".%s.getmnt-lock", file->name);
	snprintf(w.new_name, sizeof(w.new_name), ".%s.getmnt-new", file->name);
	snprintf(w.old_name, sizeof(w.old_name), ".%s.getmnt-old", file->name);
	if (n > NAME_MAX)
		return replace_fail(w.error, RP_ERROR, ENAMETOOLONG, "naming %s", w.lock_name);
	w.dir = os_openat(file->os, file->dirfd, ".", O_RDONLY | O_DIRECTORY);
	if (w.dir < 0)
		return writer_fail(&w, "opening the directory of", file->name);

	int rc = lock_take(&w);
	bool locked = rc == 0;
	if (locked)
		rc = commit_locked(&w, bytes, len, backup);
	os_close(file->os, w.new);
	if (w.made_new)
		os_unlinkat(file->os, file->dirfd, w.new_name);
	if (w.made_old)
		os_unlinkat(file->os, file->dirfd, w.old_name);
	if (w.made_backup)
		os_unlinkat(file->os, file->dirfd, w.backup_name);
	lock_drop(&w, locked);
	os_close(file->os, w.dir);
	return rc;
}
