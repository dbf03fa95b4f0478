/* SPDX-License-Identifier: MIT */
/*
 * statx(2) with what replaces it on old kernels, and the mount of an open file.
 */
#include "base/mount.h"
#include "os/clock.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

/* With these flags and mask 0, statx(2) calls no FUSE server and is not refused to root. */
enum { STATX_OPEN = AT_EMPTY_PATH | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC };

/** fstatat(2), converted; without the creation time, the attributes and the mount ID. */
static int os_statx_by_stat(struct os *os, int dirfd, const char *path, int flags,
                            struct k_statx *out)
{
	struct stat st;
	int known = flags & (AT_NO_AUTOMOUNT | AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH);
	if (OS_RETRY(OS_CALL(os, OS_FSTAT, fstatat, dirfd, path, &st, known)) != 0)
		return -1;
	out->mask = K_STATX_BASIC;
	out->blksize = (uint32_t)st.st_blksize;
	out->mode = (uint16_t)st.st_mode;
	out->nlink = (uint32_t)st.st_nlink;
	out->uid = st.st_uid;
	out->gid = st.st_gid;
	out->ino = st.st_ino;
	out->size = (uint64_t)st.st_size;
	out->blocks = (uint64_t)st.st_blocks;
	out->atime = (struct k_statx_time){st.st_atim.tv_sec, (uint32_t)st.st_atim.tv_nsec, 0};
	out->ctime = (struct k_statx_time){st.st_ctim.tv_sec, (uint32_t)st.st_ctim.tv_nsec, 0};
	out->mtime = (struct k_statx_time){st.st_mtim.tv_sec, (uint32_t)st.st_mtim.tv_nsec, 0};
	out->dev_major = major(st.st_dev);
	out->dev_minor = minor(st.st_dev);
	out->rdev_major = major(st.st_rdev);
	out->rdev_minor = minor(st.st_rdev);
	return 0;
}

/** statx(2), which returns no mount ID before Linux 5.8. */
static int os_statx_plain(struct os *os, int dirfd, const char *path, int flags, unsigned mask,
                          struct k_statx *st)
{
	if (!os->statx_works) {
		memset(st, 0, sizeof(*st));
		return os_statx_by_stat(os, dirfd, path, flags, st);
	}
	if (os->disabled & OSC_STATX_UNIQUE)
		mask &= ~(unsigned)K_STATX_MNT_ID_UNIQUE;
	int rc = OS_RETRY(OS_SYSCALL(os, OS_STATX, statx, dirfd, path, flags, mask, st));
	/* On success the kernel has filled the whole structure. */
	if (rc != 0) {
		memset(st, 0, sizeof(*st));
	} else if (os->disabled & OSC_STATX_MNT_ID) {
		/* As before Linux 5.8. */
		st->mask &= ~(unsigned)(K_STATX_MNT_ID | K_STATX_MNT_ID_UNIQUE);
		st->attributes_mask &= ~(uint64_t)K_STATX_ATTR_MOUNT_ROOT;
		st->mnt_id = 0;
	}
	return rc;
}

uint64_t os_mount_id(struct os *os, int fd)
{
	struct k_statx st;
	char path[64], text[256];
	if (os->caps & OSC_STATX_MNT_ID
	    && os_statx(os, fd, "", STATX_OPEN, 0, &st) == 0
	    && st.mask & K_STATX_MNT_ID)
		return st.mnt_id;
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	/* The ID is in the first lines: pos, flags, mnt_id. */
	int info = os_openat(os, AT_FDCWD, path, O_RDONLY | O_NOCTTY | O_NONBLOCK);
	ssize_t n = info < 0 ? -1 : os_read(os, info, text, sizeof(text) - 1);
	int error = errno;
	os_close(os, info);
	text[n > 0 ? n : 0] = '\0';
	const char *at = strstr(text, "mnt_id:");
	if (at)
		return strtoull(at + 7, NULL, 10);
	errno = n < 0 ? error : ENODATA;
	return 0;
}

int os_statx(struct os *os, int dirfd, const char *path, int flags, unsigned mask,
             struct k_statx *st)
{
	if (!os->ids_by_proc || !(mask & (K_STATX_MNT_ID | K_STATX_MNT_ID_UNIQUE)))
		return os_statx_plain(os, dirfd, path, flags, mask, st);
	bool self = flags & AT_EMPTY_PATH && !*path && dirfd != AT_FDCWD;
	int fd = dirfd;
	if (!self)
		fd = os_openat(os, dirfd, *path ? path : ".",
		               O_PATH | (flags & AT_SYMLINK_NOFOLLOW ? O_NOFOLLOW : 0));
	if (fd < 0)
		memset(st, 0, sizeof(*st));
	int rc = fd < 0 ? -1 : os_statx_plain(os, fd, "", flags | AT_EMPTY_PATH, mask, st);
	if (rc == 0 && (st->mnt_id = os_mount_id(os, fd)) != 0)
		st->mask |= K_STATX_MNT_ID;
	else if (rc == 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM))
		rc = -1;
	if (!self)
		os_close(os, fd);
	return rc;
}

uint64_t os_statx_mnt_id(const struct k_statx *st, bool unique)
{
	unsigned bit = unique ? K_STATX_MNT_ID_UNIQUE : K_STATX_MNT_ID;
	return st->mask & bit ? st->mnt_id : 0;
}

bool os_statx_is_mount_root(const struct k_statx *st)
{
	return st->attributes_mask & st->attributes & K_STATX_ATTR_MOUNT_ROOT;
}

int os_is_on_mount(struct os *os, int fd, const struct mount *mount)
{
	struct k_statx st;
	/* A 32-bit ID can be reused: an older mount may have had it. */
	bool unique = mount->uniq_id && os->caps & OSC_STATX_UNIQUE;
	uint64_t id = 0;
	if (!unique)
		id = os_mount_id(os, fd);
	else if (os_statx(os, fd, "", STATX_OPEN, K_STATX_MNT_ID_UNIQUE, &st)
	         == 0)
		id = os_statx_mnt_id(&st, true);
	return id == 0 ? -1 : id == (unique ? mount->uniq_id : mount->id);
}

void os_stat_from(struct stat *info, const struct k_statx *st)
{
	*info = (struct stat){
		.st_dev = makedev(st->dev_major, st->dev_minor),
		.st_ino = st->ino,
		.st_mode = st->mode,
		.st_nlink = st->nlink,
		.st_uid = st->uid,
		.st_gid = st->gid,
		.st_rdev = makedev(st->rdev_major, st->rdev_minor),
		.st_size = (off_t)st->size,
		.st_blksize = (blksize_t)st->blksize,
		.st_blocks = (blkcnt_t)st->blocks,
		.st_atim = {st->atime.sec, st->atime.nsec},
		.st_mtim = {st->mtime.sec, st->mtime.nsec},
		.st_ctim = {st->ctime.sec, st->ctime.nsec},
	};
}
