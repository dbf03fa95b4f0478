/* SPDX-License-Identifier: MIT */
/*
 * Opening and reading a file, and checking whether it may be replaced.
 */
#include "path/replace_impl.h"

#include "base/fail.h"
#include "os/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>

enum { READS_MAX = 5 };

int replace_fail(struct replace *file, enum replace_why why, int number, const char *step, ...)
{
	va_list args;
	va_start(args, step);
	file->error = (struct replace_error){.why = why, .error = number};
	vsnprintf(file->error.step, sizeof(file->error.step), step, args);
	va_end(args);
	return -1;
}

int replace_fail_call(struct replace *file, const char *name)
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
	if (*file->error.step)
		return -1;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); ++i)
		why = rows[i].error == number ? rows[i].why : why;
	return replace_fail(file, file->replaced ? RP_UNSURE : why, number, "%s%s%s", file->doing,
	                    name ? " " : "", name ? name : "");
}

bool replace_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size
	       && a->st_mode == b->st_mode && a->st_uid == b->st_uid && a->st_gid == b->st_gid
	       && a->st_mtim.tv_sec == b->st_mtim.tv_sec
	       && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec
	       && a->st_ctim.tv_sec == b->st_ctim.tv_sec
	       && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

static int read_text(struct replace *file)
{
	free(file->text);
	file->text = NULL;
	file->doing = "reading it";
	if (os_read_fd(file->os, file->fd, REPLACE_MAX, &file->text, &file->len) == 0)
		return 0;
	return errno == EFBIG ? replace_fail(file, RP_TOO_LARGE, EFBIG, "%s", file->doing) : -1;
}

/** Read a pipe to its end.  @fd  The pipe, or -1 with errno set.  @return as read_once(). */
static int read_pipe(struct replace *file, int fd, struct stat *st)
{
	file->fd = fd;
	file->doing = "opening it";
	if (fd < 0 || os_fstatat(file->os, fd, "", st) != 0)
		return -1;
	return S_ISFIFO(st->st_mode) ? read_text(file) : 1;
}

/**
 * Open and read a file.
 *
 * @st [out]  Its attributes while it was read.
 * @return 0; 1: the file was replaced meanwhile; -1 with errno or the error.
 */
static int read_once(struct replace *file, int dirfd, const char *name, struct stat *st)
{
	const int flags = O_RDONLY | O_NONBLOCK | O_NOCTTY;
	struct os *os = file->os;
	struct statfs fs;
	struct stat opened, after;
	/* Check the type first, since opening a device can have side effects. */
	file->doing = "getting its attributes";
	if (os_look_entry(os, dirfd, name, ENTRY_LOCAL, st) != 0)
		return -1;
	if (S_ISLNK(st->st_mode))
		return 1;
	if (S_ISFIFO(st->st_mode) && file->may_pipe)
		return read_pipe(file, os_open_entry(os, dirfd, name, flags, ENTRY_HERE), st);
	if (!S_ISREG(st->st_mode))
		return replace_fail(file, RP_TYPE, 0, "it is %s",
		                    S_ISDIR(st->st_mode)    ? "a directory"
		                    : S_ISFIFO(st->st_mode) ? "a FIFO"
		                    : S_ISSOCK(st->st_mode) ? "a socket"
		                                            : "a device");
	file->doing = "opening it";
	file->fd = os_open_entry(os, dirfd, name, flags, ENTRY_LOCAL);
	if (file->fd < 0 && (errno == ENOENT || errno == ELOOP))
		return 1;
	if (file->fd < 0 || os_fstatat(os, file->fd, "", &opened) != 0
	    || os_fstatfs(os, file->fd, &fs) != 0)
		return -1;
	file->of_kernel = fs.f_type == PROC_MAGIC;
	if (!S_ISREG(opened.st_mode) || (!file->of_kernel && !replace_same(st, &opened)))
		return 1;
	if (read_text(file) != 0)
		return -1;
	file->doing = "getting its attributes";
	if (os_fstatat(os, file->fd, "", &after) != 0)
		return -1;
	*st = opened;
	bool same = replace_same(&opened, &after) && (uint64_t)after.st_size == file->len;
	return file->of_kernel || same ? 0 : 1;
}

static int read_steady(struct replace *file, int dirfd, const char *name, struct stat *st)
{
	int rc = 1;
	for (int i = 0; i < READS_MAX && rc == 1; ++i) {
		os_close(file->os, file->fd);
		file->fd = -1;
		rc = read_once(file, dirfd, name, st);
	}
	return rc == 1 ? replace_fail(file, RP_CHANGED, 0, "reading it") : rc;
}

/** Read the target of a symlink that is to be replaced itself; empty if the symlink dangles. */
static int read_link_target(struct replace *file, const struct replace_name *name)
{
	struct place place;
	struct stat st;
	int rc = 0;
	if (place_find(&place, file->os, name, false) == 0 && place.found) {
		rc = read_steady(file, place.fd, path_name(&place.walk), &st);
		if (rc != 0 && !*file->error.step && errno == ENOENT)
			rc = 0;
	} else if (place.refused.error || errno == ENOMEM) {
		file->error = place.refused;
		file->doing = "reading the symlink";
		rc = -1;
	}
	place_destroy(&place);
	return rc;
}

/** Find the mount of the file. */
static void find_mount(struct replace *file)
{
	struct os *os = file->os;
	struct k_statx st;
	file->mnt_unique = os->caps & OSC_STATX_UNIQUE;
	unsigned mask = K_STATX_TYPE | (file->mnt_unique ? K_STATX_MNT_ID_UNIQUE : K_STATX_MNT_ID);
	bool own = !file->missing && !file->at_link;
	if (os_statx(os, own ? file->fd : file->dirfd, "", AT_NO_AUTOMOUNT | AT_EMPTY_PATH,
	             mask, &st) == 0)
		file->mnt_id = os_statx_mnt_id(&st, file->mnt_unique);
}

/** Read the file at a place.  @return 0, or -1 with errno or the error. */
static int read_place(struct replace *file, struct place *place, const struct replace_name *name)
{
	/* A missing file with a final slash, "fstab/", has already failed with ENOENT. */
	if (!place->found && place->pipe < 0)
		return replace_fail(file, RP_TYPE, 0, "it is a directory");
	file->name = strdup(path_name(&place->walk));
	file->path = strbuf_take(&place->walk.text);
	file->link = place->link;
	file->dirfd = place->fd;
	place->link = NULL;
	place->fd = -1;
	if (!file->name || !file->path)
		return fail(ENOMEM);

	file->doing = "getting its attributes";
	int rc = place->pipe >= 0 ? 0 : os_look_entry(file->os, file->dirfd, file->name,
	                                              ENTRY_LOCAL, &file->st);
	if (place->pipe >= 0) {
		rc = read_pipe(file, place->pipe, &file->st);
		place->pipe = -1;
		if (rc == 1)
			replace_fail(file, RP_CHANGED, 0, "opening it");
	} else if (rc != 0 && errno == ENOENT && name->may_create) {
		file->missing = true;
		rc = 0;
	} else if (rc == 0 && name->at_link && S_ISLNK(file->st.st_mode)) {
		/* The last component may have become a symlink only now. */
		file->at_link = file->link != NULL;
		rc = file->at_link ? read_link_target(file, name)
		     : replace_fail(file, RP_CHANGED, 0, "resolving its name");
	} else if (rc == 0) {
		rc = read_steady(file, file->dirfd, file->name, &file->st);
	}
	if (rc != 0)
		return -1;
	file->doing = "reading it";
	if (!file->text && !(file->text = calloc(1, 1)))
		return -1;
	find_mount(file);
	return 0;
}

int replace_open(struct os *os, const struct replace_name *name, struct replace *file)
{
	struct place place;
	*file = (struct replace){.os = os, .dirfd = -1, .fd = -1, .may_pipe = name->may_pipe,
	                         .doing = "resolving its name"};
	int rc = place_find(&place, os, name, name->at_link);
	if (rc == 0)
		rc = read_place(file, &place, name);
	else
		file->error = place.refused;
	rc = rc == 0 ? 0 : replace_fail_call(file, NULL);
	place_destroy(&place);
	return rc;
}

/** The flags of chattr(1), FS_IMMUTABLE_FL and FS_APPEND_FL; 0 if the file system has none.
    @readable  fd was opened for reading. */
static unsigned flags_of(struct os *os, int fd, bool readable)
{
	struct k_statx st;
	unsigned flags = 0;
	if (os->statx_works
	    && os_statx(os, fd, "", AT_NO_AUTOMOUNT | AT_EMPTY_PATH, K_STATX_TYPE, &st) == 0
	    && st.attributes_mask & K_STATX_ATTR_IMMUTABLE) {
		return (st.attributes & K_STATX_ATTR_IMMUTABLE ? FS_IMMUTABLE_FL : 0)
		       | (st.attributes & K_STATX_ATTR_APPEND ? FS_APPEND_FL : 0);
	}
	return readable && os_inode_flags(os, fd, &flags) == 0 ? flags : 0;
}

/** Refuse a file or directory with such a flag.  @fd  As for flags_of(). */
static int refuse_flags(struct replace *file, int fd, const char *what)
{
	unsigned flags = flags_of(file->os, fd, fd == file->fd);
	if (!(flags & (FS_IMMUTABLE_FL | FS_APPEND_FL)))
		return 0;
	return replace_fail(file, flags & FS_IMMUTABLE_FL ? RP_IMMUTABLE : RP_APPEND, EPERM, "%s",
	                    what);
}

int replace_may(struct replace *file, bool links)
{
	struct statfs fs;
	if (file->of_kernel && !file->at_link)
		return replace_fail(file, RP_KERNEL, 0, "it is in procfs");
	if (file->missing && file->link)
		return replace_fail(file, RP_DANGLING, 0, "a dangling symlink");
	if (!file->missing && !file->at_link) {
		if (refuse_flags(file, file->fd, "the file") != 0)
			return -1;
		if (!links && file->st.st_nlink > 1)
			return replace_fail(file, RP_LINKS, 0, "it has %llu names",
			                    (unsigned long long)file->st.st_nlink);
	}
	if (refuse_flags(file, file->dirfd, "its directory") != 0)
		return -1;
	/* The mount of the directory or its file system. */
	if (os_fstatfs(file->os, file->dirfd, &fs) == 0 && fs.f_flags & ST_RDONLY)
		return replace_fail(file, RP_READ_ONLY, EROFS, "its directory");
	return 0;
}

void replace_close(struct replace *file)
{
	os_close(file->os, file->fd);
	os_close(file->os, file->dirfd);
	free(file->path);
	free(file->name);
	free(file->link);
	free(file->text);
	free(file->backup);
	free(file->left);
	file->fd = file->dirfd = -1;
	file->path = file->name = file->link = file->text = file->backup = file->left = NULL;
	if (file->held)
		os_signals_restore(file->os, &file->signals);
	file->held = false;
}
