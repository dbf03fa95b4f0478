/* SPDX-License-Identifier: MIT */
/*
 * Replacing a file: the steps of replace.h as a table, at the end of this file.
 *
 * All names are relative to file->dirfd, which was opened when the name was resolved: it is the
 * directory of the file that was read, even if a directory on the path is renamed.
 *
 * A step that fails returns -1: with errno, or after replace_fail() if no call failed.  No step
 * follows; undo() removes the new entries.
 */
#include "path/replace_impl.h"

#include "base/fail.h"
#include "os/file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { NAME_SIZE = NAME_MAX + 64, LOCK_MS = 20, LOCK_RACES = 100, EXCHANGES_MAX = 16,
       BACKUP_TRIES = 100 };

#define STAMP "%Y%m%dT%H%M%S"   /* of a backup, followed by milliseconds and "Z" */

/** The directory, the file, and the files next to it, as replace.h names them. */
enum which { FOLDER, NAME, LOCK, NEW, OLD, BACKUP, NENTRIES };

struct entry {
	char name[NAME_SIZE];    /* of the directory: NAME, for messages */
	int fd;
	bool made;               /* by this run: undo() removes it; NEW, OLD and BACKUP only if
	                            the file was not replaced */
	const char *bytes;       /* the bytes read, or to be written */
	size_t len;
};

struct writer {
	struct replace *file;
	struct os *os;
	int dirfd;
	uid_t euid;
	bool locked;
	struct entry entries[NENTRIES];
};

static const char appeared[] = "it did not exist then, but does now";

static int fail_changed(const struct writer *w, const char *how)
{
	return replace_fail(w->file, RP_CHANGED, 0, "%s", how);
}

/** Get the attributes of an entry, unless it is a mount point.  @return 0, or -1 with errno. */
static int stat_name(const struct writer *w, const char *name, struct stat *st)
{
	return os_look_entry(w->os, w->dirfd, name, ENTRY_HERE, st);
}

/** The path of a name in the directory of the file. */
static char *path_of(const struct replace *file, const char *name)
{
	char *path = NULL;
	size_t n = strlen(file->path) - strlen(file->name);
	return asprintf(&path, "%.*s%s", (int)n, file->path, name) < 0 ? NULL : path;
}

/** Open the directory for fsync and for listing. */
static int open_dir(struct writer *w, struct entry *dir)
{
	dir->fd = os_openat(w->os, w->dirfd, ".", O_RDONLY | O_DIRECTORY);
	return dir->fd < 0 ? -1 : 0;
}

static int sync_entry(struct writer *w, struct entry *entry)
{
	if (os_fsync(w->os, entry->fd) == 0)
		return 0;
	/* Some file systems do not support fsync of a directory. */
	bool lacking = errno == EINVAL || errno == ENOTSUP || errno == ENOSYS;
	return lacking && entry == &w->entries[FOLDER] ? 0 : -1;
}

/* Checks that the file is still the one that was read. */

/** Compare the content: two changes within one clock tick have the same times.
    @return 1, 0, or -1 with errno. */
static int same_bytes(const struct writer *w, int fd, const char *bytes, size_t len)
{
	char buf[16 * 1024];
	size_t at = 0;
	for (;;) {
		ssize_t n = os_pread(w->os, fd, buf, sizeof(buf), at);
		if (n < 0)
			return -1;
		if (n == 0)
			return at == len;
		if ((size_t)n > len - at || memcmp(buf, bytes + at, (size_t)n) != 0)
			return 0;
		at += (size_t)n;
	}
}

/** Check the attributes. */
static int still_looks(struct writer *w, struct entry *name)
{
	const struct stat *was = &w->file->st;
	struct stat st;
	int rc = os_look_entry(w->os, w->dirfd, name->name, ENTRY_LOCAL, &st);
	if (rc != 0 && errno != ENOENT)
		return -1;
	if (w->file->missing)
		return rc == 0 ? fail_changed(w, appeared) : 0;
	if (rc != 0)
		return fail_changed(w, "it was removed");
	if (st.st_dev != was->st_dev || st.st_ino != was->st_ino)
		return fail_changed(w, "another file has replaced it");
	/* Changing owner or mode changes the ctime as well. */
	return replace_same(&st, was) ? 0 : fail_changed(w, "its size or times have changed");
}

/** Check the bytes: those that were read, or those that were written. */
static int still_reads(struct writer *w, struct entry *entry)
{
	int same = same_bytes(w, entry->fd, entry->bytes, entry->len);
	if (same == 0 && entry == &w->entries[NAME])
		return fail_changed(w, "its content has changed");
	if (same == 0)
		return replace_fail(w->file, RP_ERROR, EIO,
		                    "reading back %s: it is not what was written", entry->name);
	return same < 0 ? -1 : 0;
}

/* The lock. */

/** Whether an existing lock file is ours, and nobody else can open it. */
static bool is_own_lock(const struct writer *w, const struct stat *st)
{
	return S_ISREG(st->st_mode) && (st->st_mode & 077) == 0 && st->st_nlink <= 1
	       && st->st_uid == w->euid;
}

/** Whether the name of an open lock file still refers to it: 1, 0, or -1 with errno. */
static int is_lock_here(const struct writer *w, const struct entry *lock, const struct stat *st)
{
	struct stat now;
	if (stat_name(w, lock->name, &now) != 0)
		return errno == ENOENT ? 0 : -1;
	return now.st_ino == st->st_ino && now.st_dev == st->st_dev;
}

/** Fail with a message that contains the owner of the lock.  @return -1. */
static int fail_lock(const struct writer *w, const char *name, const struct stat *st)
{
	return replace_fail(w->file, RP_LOCK, 0, "its lock file %s belongs to uid %u, mode %04o",
	                    name, (unsigned)st->st_uid, (unsigned)st->st_mode & 07777);
}

/** What became of an attempt to lock; or -1. */
enum locking { LOCKED, LOCK_BUSY, LOCK_GONE /* its name refers to another file now */ };

static int lock_open(const struct writer *w, struct entry *lock)
{
	struct stat st;
	lock->fd = os_create_new(w->os, w->dirfd, lock->name);
	lock->made = lock->fd >= 0;
	if (lock->made || errno != EEXIST)
		return lock->made ? LOCKED : -1;
	lock->fd = os_open_entry(w->os, w->dirfd, lock->name, O_RDWR | O_NONBLOCK | O_NOCTTY,
	                         ENTRY_HERE);
	if (lock->fd >= 0 || errno == ENOENT)
		return lock->fd >= 0 ? LOCKED : LOCK_GONE;
	/* A lock file of root, seen by an ordinary user; or a symlink. */
	int error = errno;
	if (stat_name(w, lock->name, &st) == 0 && (S_ISLNK(st.st_mode) || error == EACCES))
		return fail_lock(w, lock->name, &st);
	return fail(error);
}

static int lock_once(struct writer *w, struct entry *lock)
{
	struct stat st;
	w->file->doing = "creating the lock file";
	int rc = lock->fd < 0 ? lock_open(w, lock) : LOCKED;
	if (rc != LOCKED)
		return rc;
	if (os_fstatat(w->os, lock->fd, "", &st) != 0)
		return -1;
	/* Another user could hold their own lock file forever.  A lock file that this process
	   created is trusted, whatever owner and mode vfat, or NFS for root, gives it. */
	if (!lock->made && !is_own_lock(w, &st))
		return fail_lock(w, lock->name, &st);
	w->file->doing = "locking";
	if (os_flock(w->os, lock->fd) != 0)
		return errno == EWOULDBLOCK ? LOCK_BUSY : -1;
	/* The previous holder may have removed it before this process locked it. */
	w->file->doing = "checking the lock file";
	int here = is_lock_here(w, lock, &st);
	return here < 0 ? -1 : here ? LOCKED : LOCK_GONE;
}

static int acquire_lock(struct writer *w, struct entry *lock)
{
	for (int waited = 0, races = 0;;) {
		int rc = lock_once(w, lock);
		if (rc < 0)
			return -1;
		w->locked = rc == LOCKED;
		bool stop = os_signals_pending(w->os, &w->file->signals);
		if (w->locked)
			return 0;
		if (stop)
			return replace_fail(w->file, RP_SIGNAL, 0, "waiting for the lock");
		if (rc == LOCK_GONE) {
			os_close(w->os, lock->fd);
			lock->fd = -1;
		}
		if (rc == LOCK_BUSY ? waited >= REPLACE_WAIT * 1000 : ++races > LOCK_RACES)
			return replace_fail(w->file, RP_LOCKED, 0, "%s", lock->name);
		if (rc == LOCK_BUSY) {
			os_poll(w->os, NULL, 0, LOCK_MS);
			waited += LOCK_MS;
		}
	}
}

/** Whether a lock that was not taken is free, and its file may be removed. */
static bool is_lock_free(const struct writer *w, const struct entry *lock)
{
	struct stat st;
	if (lock->fd < 0)
		return false;
	bool known = os_fstatat(w->os, lock->fd, "", &st) == 0;
	/* On a file system without locks nobody else can have locked it. */
	return (lock->made || (known && is_own_lock(w, &st)))
	       && (os_flock(w->os, lock->fd) == 0 || (lock->made && errno != EWOULDBLOCK))
	       && known && is_lock_here(w, lock, &st) == 1;
}

/* Writing: the new file, and the copy of the old one. */

/** Create a file; one that a killed run left is removed before. */
static int create(struct writer *w, struct entry *entry)
{
	const struct replace *file = w->file;
	struct stat st;
	if (stat_name(w, entry->name, &st) == 0) {
		if (!S_ISREG(st.st_mode)
		    || (st.st_uid != w->euid && (file->missing || st.st_uid != file->st.st_uid)))
			return replace_fail(w->file, RP_ERROR, EEXIST,
			                    "%s exists and belongs to another user", entry->name);
		w->file->doing = "removing an old";
		if (os_unlinkat(w->os, w->dirfd, entry->name) != 0 && errno != ENOENT)
			return -1;
	} else if (errno != ENOENT) {
		return -1;
	}
	w->file->doing = "making";
	entry->fd = os_create_new(w->os, w->dirfd, entry->name);
	entry->made = entry->fd >= 0;
	return entry->made ? 0 : -1;
}

static int write_bytes(struct writer *w, struct entry *entry)
{
	return os_pwrite_all(w->os, entry->fd, entry->bytes, entry->len, 0);
}

static int keep(struct writer *w, struct entry *entry)
{
	const struct timespec times[] = {w->file->st.st_atim, w->file->st.st_mtim};
	if (replace_keep(w->file, entry->fd) != 0)
		return -1;
	/* Some file systems do not store these times. */
	if (entry == &w->entries[OLD])
		os_futimens(w->os, entry->fd, times);
	return 0;
}

/** Rename to a name that must not exist yet.  @return 0, or -1 with errno. */
static int rename_free(const struct writer *w, const char *from, const char *to)
{
	int rc = os_rename(w->os, w->dirfd, from, to, RENAME_NOREPLACE);
	if (rc == 0 || (errno != EINVAL && errno != ENOSYS && errno != ENOTSUP))
		return rc;
	/* RENAME_NOREPLACE is not supported: link(2) does not replace files either. */
	if (os_link(w->os, w->dirfd, from, to) != 0)
		return errno == EEXIST ? -1 : os_rename(w->os, w->dirfd, from, to, 0);
	os_unlinkat(w->os, w->dirfd, from);
	return 0;
}

/* Backups: NAME.getmnt-TIME. */

/** Name a backup after the time in milliseconds, so that names sort by time.
    @return whether the name is short enough. */
static bool name_backup(char name[NAME_SIZE], const char *of, int64_t ms)
{
	const time_t seconds = (time_t)(ms / 1000);
	struct tm tm;
	char stamp[32];
	return gmtime_r(&seconds, &tm) && strftime(stamp, sizeof(stamp), STAMP, &tm) > 0
	       && snprintf(name, NAME_SIZE, "%s.getmnt-%s%03uZ", of, stamp,
	                   (unsigned)(ms % 1000)) <= NAME_MAX;
}

/** Whether a name is one that name_backup() creates. */
static bool is_backup_name(const char *name, const char *of)
{
	char same[NAME_SIZE];
	struct tm tm = {0};
	size_t n = strlen(of) + strlen(".getmnt-");
	const char *ms = strlen(name) > n ? strptime(name + n, STAMP, &tm) : NULL;
	return ms && name_backup(same, of, timegm(&tm) * INT64_C(1000) + strtoul(ms, NULL, 10))
	       && strcmp(same, name) == 0;
}

/** Rename the copy, so that a backup is never incomplete; or copy the symlink. */
static int make_backup(struct writer *w, struct entry *backup)
{
	struct replace *file = w->file;
	struct entry *old = &w->entries[OLD];
	for (int i = 0; i < BACKUP_TRIES && !backup->made; ++i) {
		if (i > 0)
			os_poll(w->os, NULL, 0, 1);
		if (!name_backup(backup->name, file->name, os_time_ms()))
			return replace_fail(file, RP_ERROR, ENAMETOOLONG, "naming a backup");
		int rc = file->at_link ? os_symlink(w->os, file->link, w->dirfd, backup->name)
		                       : rename_free(w, old->name, backup->name);
		if (rc != 0 && errno != EEXIST)
			return -1;
		backup->made = rc == 0;
	}
	if (!backup->made)
		return -1;
	old->made = false;
	w->file->doing = "naming";
	file->backup = path_of(file, backup->name);
	return file->backup ? 0 : -1;
}

/** Remove a backup, but neither the new one, nor a file that is not our own or has other links. */
static void remove_backup(const struct writer *w, const char *name)
{
	struct replace *file = w->file;
	struct stat st;
	if (strcmp(name, w->entries[BACKUP].name) != 0 && stat_name(w, name, &st) == 0
	    && (S_ISREG(st.st_mode) || S_ISLNK(st.st_mode)) && st.st_nlink == 1
	    && (st.st_uid == w->euid || st.st_uid == file->st.st_uid)
	    && os_unlinkat(w->os, w->dirfd, name) == 0)
		++file->pruned;
}

/** Remove all but the latest REPLACE_BACKUPS backups.  Failures are ignored. */
static int prune(struct writer *w, struct entry *dir)
{
	_Alignas(struct k_dirent) char buf[16 * 1024];
	char last[REPLACE_BACKUPS][NAME_SIZE];   /* the last names so far */
	struct os_dir names;
	size_t n = 0;
	os_dir_begin(&names, w->os, dir->fd, buf, sizeof(buf));
	for (const char *found; (found = os_dir_next(&names)) != NULL;) {
		size_t first = 0;
		if (!is_backup_name(found, dir->name))
			continue;
		if (n < REPLACE_BACKUPS) {
			strcpy(last[n++], found);
			continue;
		}
		for (size_t i = 1; i < n; ++i)
			first = strcmp(last[i], last[first]) < 0 ? i : first;
		bool older = strcmp(found, last[first]) < 0;
		remove_backup(w, older ? found : last[first]);
		if (!older)
			strcpy(last[first], found);
	}
	return 0;
}

/* The exchange. */

static int check_signal(struct writer *w, struct entry *name)
{
	(void)name;
	return os_signals_pending(w->os, &w->file->signals)
	               ? replace_fail(w->file, RP_SIGNAL, 0, "before anything was changed")
	               : 0;
}

/** Whether the file taken out is the one that was read.  Inode numbers are not compared: an overlay
    may change them when it copies a file up. */
static bool is_what_was_read(const struct writer *w, const char *name)
{
	const struct replace *file = w->file;
	struct stat st;
	char text[PATH_MAX];
	if (file->at_link) {
		ssize_t n = os_readlinkat(w->os, w->dirfd, name, text, sizeof(text));
		return n < 0 ? errno == ENOENT : strcmp(text, file->link) == 0;
	}
	if (stat_name(w, name, &st) != 0)
		return errno == ENOENT;   /* the file was renamed, not exchanged */
	if (st.st_mode != file->st.st_mode || st.st_uid != file->st.st_uid
	    || st.st_gid != file->st.st_gid)
		return false;
	int fd = os_open_entry(w->os, w->dirfd, name, O_RDONLY | O_NONBLOCK | O_NOCTTY,
	                       ENTRY_HERE);
	bool same = fd >= 0 && same_bytes(w, fd, file->text, file->len) == 1;
	os_close(w->os, fd);
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
static int put_back(const struct writer *w, const struct entry *new)
{
	struct stat in, out;
	if (os_fstatat(w->os, new->fd, "", &in) != 0)
		in.st_ino = 0;
	for (int i = 0; i < EXCHANGES_MAX; ++i) {
		struct stat next;
		if (stat_name(w, new->name, &next) != 0)
			next.st_ino = 0;
		if (os_rename(w->os, w->dirfd, new->name, w->file->name, RENAME_EXCHANGE) != 0)
			return -1;
		if (stat_name(w, new->name, &out) != 0 || out.st_ino == in.st_ino)
			return 0;
		in = next;
	}
	return 0;
}

/** After the exchange: remove the old file, or put back another one. */
static int drop_old(struct writer *w, const struct entry *new)
{
	struct replace *file = w->file;
	if (is_what_was_read(w, new->name)) {
		os_unlinkat(w->os, w->dirfd, new->name);
		file->replaced = true;
		return 0;
	}
	if (put_back(w, new) == 0)
		return fail_changed(w, "during the exchange");
	replace_fail(file, RP_OVERTAKEN, errno, "putting it back");
	file->left = path_of(file, new->name);
	file->replaced = true;
	sync_entry(w, &w->entries[FOLDER]);
	return -1;
}

/** Put the new file in the place of the old one. */
static int exchange(struct writer *w, struct entry *new)
{
	struct replace *file = w->file;
	int rc = file->missing ? rename_free(w, new->name, file->name)
	                       : os_rename(w->os, w->dirfd, new->name, file->name,
	                                   RENAME_EXCHANGE);
	if (rc == 0 && !file->missing)
		return drop_old(w, new);
	if (rc != 0 && errno == (file->missing ? EEXIST : ENOENT))
		return fail_changed(w, file->missing ? appeared : "it was removed");
	/* If names cannot be exchanged, rename. */
	if (rc != 0 && !file->missing)
		rc = os_rename(w->os, w->dirfd, new->name, file->name, 0);
	file->replaced = rc == 0;
	if (rc == 0)
		return 0;
	/* The user can use the new file. */
	int error = errno;
	file->left = path_of(file, new->name);
	new->made = !file->left;
	errno = error;
	return error == EBUSY ? replace_fail(file, RP_BOUND, EBUSY, "renaming %s", new->name) : -1;
}

/* The steps. */

enum {
	READ = 1,      /* only for a file whose bytes were read: it exists, and is no symlink */
	BACKED = 2,    /* only with a backup */
	COPIED = READ | BACKED,
};

static const struct step {
	int (*run)(struct writer *w, struct entry *of);
	enum which of;
	unsigned only;
	const char *doing;   /* for the message of a failure: "DOING NAME" */
} steps[] = {
	{open_dir, FOLDER, 0, "opening the directory of"},
	{acquire_lock, LOCK, 0, "creating the lock file"},
	{still_looks, NAME, 0, "checking again"},
	{still_reads, NAME, READ, "reading again"},
	{still_looks, NAME, READ, "checking again"},

	{create, NEW, 0, "getting the attributes of"},
	{write_bytes, NEW, 0, "writing"},
	{keep, NEW, 0, "getting the attributes of"},
	{sync_entry, NEW, 0, "writing to disk"},
	{still_reads, NEW, 0, "reading back"},

	{create, OLD, COPIED, "getting the attributes of"},
	{write_bytes, OLD, COPIED, "writing"},
	{keep, OLD, COPIED, "getting the attributes of"},
	{sync_entry, OLD, COPIED, "writing to disk"},
	{still_reads, OLD, COPIED, "reading back"},
	{make_backup, BACKUP, BACKED, "making"},
	{sync_entry, FOLDER, 0, "writing to disk the directory of"},

	/* No slow operation from here to the exchange. */
	{check_signal, NAME, 0, NULL},
	{still_looks, NAME, 0, "checking again"},
	{still_reads, NAME, READ, "reading again"},
	{still_looks, NAME, READ, "checking again"},
	{exchange, NEW, 0, "renaming"},
	{sync_entry, FOLDER, 0, "writing to disk the directory of"},
	{prune, FOLDER, BACKED, NULL},
	{NULL, NAME, 0, NULL},
};

/** Run the steps.  @is  READ, BACKED: which steps apply.  @return 0, or -1 and the error. */
static int run_steps(struct writer *w, unsigned is)
{
	for (const struct step *step = steps; step->run; ++step) {
		struct entry *entry = &w->entries[step->of];
		w->file->doing = step->doing;
		if ((step->only & is) == step->only && step->run(w, entry) != 0)
			return replace_fail_call(w->file, entry->name);
	}
	return 0;
}

/** Close all files, and remove the lock file; unless the file was replaced, also the new
    entries. */
static void undo(struct writer *w)
{
	struct replace *file = w->file;
	const struct entry *lock = &w->entries[LOCK];
	for (enum which i = NEW; i <= BACKUP; ++i) {
		os_close(w->os, w->entries[i].fd);
		if (w->entries[i].made && !file->replaced)
			os_unlinkat(w->os, w->dirfd, w->entries[i].name);
	}
	if (!file->replaced) {
		free(file->backup);
		file->backup = NULL;
	}
	if (w->locked || is_lock_free(w, lock))
		os_unlinkat(w->os, w->dirfd, lock->name);
	os_close(w->os, lock->fd);
	os_close(w->os, w->entries[FOLDER].fd);
}

int replace_commit(struct replace *file, const char *bytes, size_t len, bool backup, bool links)
{
	/* make_backup() names the backup. */
	static const char *const ends[NENTRIES] = {"", "", ".getmnt-lock", ".getmnt-new",
	                                           ".getmnt-old", ""};
	struct writer w = {.file = file, .os = file->os, .dirfd = file->dirfd,
	                   .euid = os_geteuid(file->os),
	                   .entries = {[NAME] = {.bytes = file->text, .len = file->len},
	                               [NEW] = {.bytes = bytes, .len = len},
	                               [OLD] = {.bytes = file->text, .len = file->len}}};
	unsigned is = (file->missing || file->at_link ? 0 : READ)
	              | (backup && !file->missing ? BACKED : 0);
	if (!file->held)
		os_signals_block(file->os, &file->signals);
	file->held = true;
	file->error = (struct replace_error){0};
	if (replace_may(file, links) != 0)
		return -1;
	for (enum which i = FOLDER; i < NENTRIES; ++i) {
		w.entries[i].fd = i == NAME ? file->fd : -1;
		snprintf(w.entries[i].name, NAME_SIZE, "%s%s%s", *ends[i] ? "." : "", file->name,
		         ends[i]);
	}
	const char *lock = w.entries[LOCK].name;
	if (strlen(lock) > NAME_MAX)
		return replace_fail(file, RP_ERROR, ENAMETOOLONG, "naming %s", lock);
	int rc = run_steps(&w, is);
	undo(&w);
	return rc;
}
