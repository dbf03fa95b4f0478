/* SPDX-License-Identifier: MIT */
#include "os/watch.h"

#include "os/clock.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/fanotify.h>
#include <sys/vfs.h>

/* File handles of btrfs: fs/btrfs/export.h. */
enum { BTRFS_HANDLE = 0x4d, BTRFS_HANDLE_BYTES = 20, BTRFS_TOP_ROOT = 5, BTRFS_TOP_DIR = 256 };

enum {
	K_FAN_RENAME = 0x10000000,             /* 5.17 */
	K_FAN_REPORT_TARGET_FID = 0x1000,      /* 5.17 */
	K_FAN_REPORT_DFID_NAME = 0xc00,        /* 5.9 */
	K_FAN_REPORT_FID = 0x200,
};

int os_handle(struct os *os, int fd, struct os_handle *handle)
{
	int mount_id;
	handle->bytes = sizeof(handle->data);
	return OS_CALL(os, OS_TO_HANDLE, name_to_handle_at, fd, "",
	               (struct file_handle *)(void *)handle, &mount_id, AT_EMPTY_PATH);
}

int os_open_handle(struct os *os, int mount, const struct os_handle *handle)
{
	struct os_handle copy = *handle;
	return OS_RETRY(OS_CALL(os, OS_BY_HANDLE, open_by_handle_at, mount,
	                        (struct file_handle *)(void *)&copy, O_PATH | O_CLOEXEC));
}

/** Open the top directory of a btrfs, which a mount of a subvolume does not reach: only there can
    the whole file system be marked.  @return a descriptor, or -1. */
static int open_btrfs_top(struct os *os, int fd)
{
	struct statfs st;
	struct os_handle handle;
	if (os_fstatfs(os, fd, &st) != 0 || (unsigned long)st.f_type != BTRFS_SUPER_MAGIC
	    || os_handle(os, fd, &handle) != 0 || handle.bytes < BTRFS_HANDLE_BYTES)
		return fail(EXDEV);
	const uint64_t top[2] = {BTRFS_TOP_DIR, BTRFS_TOP_ROOT};
	handle.type = BTRFS_HANDLE;
	handle.bytes = BTRFS_HANDLE_BYTES;
	memset(handle.data, 0, sizeof(handle.data));   /* generation 0: any */
	memcpy(handle.data, top, sizeof(top));
	return OS_RETRY(OS_CALL(os, OS_BY_HANDLE, open_by_handle_at, fd,
	                        (struct file_handle *)(void *)&handle,
	                        O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

/** Mark the file system.  @return 0, or -1. */
static int mark(struct os *os, int group, int fd, uint64_t renamed)
{
	return OS_CALL(os, OS_FANOTIFY_MARK, fanotify_mark, group,
	               FAN_MARK_ADD | FAN_MARK_FILESYSTEM,
	               FAN_CREATE | FAN_DELETE | FAN_ATTRIB | FAN_MODIFY | FAN_CLOSE_WRITE
	               | FAN_ONDIR | renamed, fd, NULL);
}

int os_watch_files(struct os *os, int fd)
{
	const unsigned limit = os->disabled & OSC_QUEUE ? 0 : FAN_UNLIMITED_QUEUE;
	const unsigned plain = FAN_CLASS_NOTIF | FAN_CLOEXEC | FAN_NONBLOCK
	                       | K_FAN_REPORT_DFID_NAME | K_FAN_REPORT_FID | limit;
	uint64_t renamed = K_FAN_RENAME;
	if (os->disabled & OSC_FANOTIFY)
		return fail(ENOSYS);
	int group = OS_CALL(os, OS_FANOTIFY_INIT, fanotify_init, plain | K_FAN_REPORT_TARGET_FID,
	                    O_RDONLY);
	if (group < 0 && errno == EINVAL) {
		renamed = FAN_MOVED_FROM | FAN_MOVED_TO;
		group = OS_CALL(os, OS_FANOTIFY_INIT, fanotify_init, plain, O_RDONLY);
	}
	if (group < 0)
		return -1;
	int rc = mark(os, group, fd, renamed);
	if (rc != 0 && errno == EXDEV) {
		int top = open_btrfs_top(os, fd);
		rc = top < 0 ? -1 : mark(os, group, top, renamed);
		os_close(os, top);
	}
	if (rc == 0)
		return group;
	os_close(os, group);
	return -1;
}
