/* SPDX-License-Identifier: MIT */
#include "os/service.h"

#include "base/fail.h"
#include "os/clock.h"
#include "os/process.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <signal.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <unistd.h>

int os_signalfd_open(struct os *os)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	OS_CALL(os, OS_SIGMASK, pthread_sigmask, SIG_BLOCK, &set, NULL);
	return (int)OS_SYSCALL(os, OS_SIGNALFD, signalfd4, -1, &set, _NSIG / 8,
	                       SFD_CLOEXEC | SFD_NONBLOCK);
}

int os_signalfd_read(struct os *os, int fd)
{
	struct signalfd_siginfo info;
	return os_read(os, fd, &info, sizeof(info)) == sizeof(info) ? (int)info.ssi_signo : 0;
}

int os_files_open(struct os *os)
{
	return OS_CALL(os, OS_INOTIFY_INIT, inotify_init1, IN_CLOEXEC | IN_NONBLOCK);
}

int os_files_add(struct os *os, int fd, const char *path)
{
	/* A file that is replaced by rename(2) loses a link, which is IN_ATTRIB. */
	const uint32_t mask = IN_MODIFY | IN_ATTRIB | IN_MOVE_SELF | IN_DELETE_SELF | IN_CREATE
	                      | IN_DELETE | IN_MOVE | IN_DONT_FOLLOW;
	return OS_CALL(os, OS_INOTIFY_ADD, inotify_add_watch, fd, path, mask) < 0 ? -1 : 0;
}

int os_notify(struct os *os, const char *address, const char *text)
{
	enum { WAIT_MS = 1000 };
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	size_t n = strlen(address);
	if ((*address != '/' && *address != '@') || n < 2 || n >= sizeof(to.sun_path))
		return fail(EINVAL);
	memcpy(to.sun_path, address, n);
	if (*address == '@')
		*to.sun_path = '\0';   /* the length ends an abstract name */
	else
		++n;
	int fd = OS_CALL(os, OS_SOCKET, socket, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n);
	int rc = (int)OS_RETRY(OS_CALL(os, OS_CONNECT, connect, fd, &to, size));
	if (rc == 0 && os_send(os, fd, text, strlen(text), NULL, 0, -1, false) != 0) {
		struct pollfd room = {.fd = fd, .events = POLLOUT};
		rc = errno == EAGAIN && os_poll(os, &room, 1, WAIT_MS) > 0
		     ? os_send(os, fd, text, strlen(text), NULL, 0, -1, false) : -1;
	}
	os_close(os, fd);
	return rc;
}

/* Changes of a file system. */

/* File handles of btrfs: fs/btrfs/export.h. */
enum { BTRFS_HANDLE = 0x4d, BTRFS_HANDLE_BYTES = 20, BTRFS_TOP_ROOT = 5, BTRFS_TOP_DIR = 256 };

enum {
	K_FAN_RENAME = 0x10000000,             /* 5.17 */
	K_FAN_REPORT_TARGET_FID = 0x1000,      /* 5.17 */
	K_FAN_REPORT_DFID_NAME = 0xc00,        /* 5.9 */
	K_FAN_REPORT_FID = 0x200,
	K_FAN_FS_ERROR = 0x8000,               /* 5.16 */
};

int os_event_next(const char **at, size_t *len, struct os_event *event)
{
	struct fanotify_event_metadata head;
	if (*len == 0)
		return 0;
	if (*len < sizeof(head))
		return fail(EPROTO);
	memcpy(&head, *at, sizeof(head));
	if (head.vers != FANOTIFY_METADATA_VERSION || head.event_len > *len
	    || head.metadata_len < sizeof(head) || head.event_len < head.metadata_len)
		return fail(EPROTO);
	*event = (struct os_event){head.mask, head.pid, *at + head.metadata_len,
	                           head.event_len - head.metadata_len};
	*at += head.event_len;
	*len -= head.event_len;
	return 1;
}

int os_open_handle(struct os *os, int mount, const struct os_handle *handle)
{
	struct os_handle copy = *handle;
	return OS_RETRY(OS_CALL(os, OS_BY_HANDLE, open_by_handle_at, mount,
	                        (struct file_handle *)(void *)&copy, O_PATH | O_CLOEXEC));
}

/** Open the top directory of a btrfs, which a mount of a subvolume does not reach: only there can
    the whole file system be marked.  @fd  A directory in it.  @return a descriptor, or -1. */
static int open_btrfs_top(struct os *os, int fd)
{
	struct statfs st;
	struct os_handle handle = {.bytes = sizeof(handle.data)};
	int mount_id;
	if (os_fstatfs(os, fd, &st) != 0 || (unsigned long)st.f_type != BTRFS_SUPER_MAGIC
	    || OS_CALL(os, OS_TO_HANDLE, name_to_handle_at, fd, "",
	               (struct file_handle *)(void *)&handle, &mount_id, AT_EMPTY_PATH) != 0
	    || handle.bytes < BTRFS_HANDLE_BYTES)
		return fail(EXDEV);
	/* open_by_handle_at(2) accepts no O_PATH descriptor. */
	int dir = os_openat(os, fd, ".", O_RDONLY | O_DIRECTORY);
	if (dir < 0)
		return -1;
	const uint64_t at[2] = {BTRFS_TOP_DIR, BTRFS_TOP_ROOT};
	handle.type = BTRFS_HANDLE;
	handle.bytes = BTRFS_HANDLE_BYTES;
	memset(handle.data, 0, sizeof(handle.data));   /* generation 0: any */
	memcpy(handle.data, at, sizeof(at));
	int top = OS_RETRY(OS_CALL(os, OS_BY_HANDLE, open_by_handle_at, dir,
	                           (struct file_handle *)(void *)&handle,
	                           O_PATH | O_DIRECTORY | O_CLOEXEC));
	os_close(os, dir);
	return top;
}

/** Mark the file system of a directory: its events go to the group.  @return 0, or -1. */
static int mark(struct os *os, int group, int dir, uint64_t events)
{
	const unsigned whole = FAN_MARK_ADD | FAN_MARK_FILESYSTEM;
	int rc = OS_CALL(os, OS_FANOTIFY_MARK, fanotify_mark, group, whole, events, dir, ".");
	int top = rc != 0 && errno == EXDEV ? open_btrfs_top(os, dir) : -1;
	if (top >= 0)
		rc = OS_CALL(os, OS_FANOTIFY_MARK, fanotify_mark, group, whole, events, top, ".");
	os_close(os, top);
	return rc;
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
	if (mark(os, group, fd, FAN_CREATE | FAN_DELETE | FAN_ATTRIB | FAN_MODIFY | FAN_CLOSE_WRITE
	                        | FAN_ONDIR | renamed) == 0)
		return group;
	os_close(os, group);
	return -1;
}

int os_errors_open(struct os *os)
{
	if (os->disabled & OSC_FANOTIFY)
		return fail(ENOSYS);
	return OS_CALL(os, OS_FANOTIFY_INIT, fanotify_init,
	               FAN_CLASS_NOTIF | FAN_CLOEXEC | FAN_NONBLOCK | K_FAN_REPORT_FID, O_RDONLY);
}

int os_errors_add(struct os *os, int group, int fd)
{
	return mark(os, group, fd, K_FAN_FS_ERROR);
}

bool os_errors_read(struct os *os, int group, int except)
{
	_Alignas(struct fanotify_event_metadata) char bytes[4096];
	bool others = false;
	for (ssize_t n; (n = os_read(os, group, bytes, sizeof(bytes))) > 0;) {
		const char *at = bytes;
		size_t len = (size_t)n;
		for (struct os_event event; os_event_next(&at, &len, &event) > 0;)
			others |= event.pid != except;
	}
	return others;
}

int os_poll_until(struct os *os, struct pollfd *fds, size_t n, double until)
{
	/* Rounded up, so that the time has passed when poll(2) returns. */
	double ms = (until - os_now()) * 1e3;
	return os_poll(os, fds, n, ms <= 0 ? 0 : ms < 1e9 ? (int)ms + 1 : (int)1e9);
}
