/* SPDX-License-Identifier: MIT */
#include "os/stage.h"

#include "os/change.h"
#include "os/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/crossing.h"   /* after the C library */

#define STAGE_NAME "getmnt-profile"

static int stage_unshare(struct os *os, int what)
{
	return OS_CALL(os, OS_UNSHARE, unshare(what));
}

static int stage_mount(struct os *os, const char *source, const char *path, const char *type, unsigned long flags,
                       const char *options)
{
	return OS_CALL(os, OS_MOUNT, mount(source, path, type, flags, options));
}

/** Write a text to a file of /proc at once.  @return 0, or -1. */
static int put(struct os *os, const char *path, const char *text)
{
	int fd = os_openat(os, AT_FDCWD, path, O_WRONLY | O_NOFOLLOW);
	if (fd < 0)
		return -1;
	ssize_t n = os_write(os, fd, text, strlen(text));
	os_close(os, fd);
	return n == (ssize_t)strlen(text) ? 0 : -1;
}

/** Be root in the user namespace, which is this user outside. */
static int map_user(struct os *os, uid_t uid, gid_t gid)
{
	char text[40];
	/* Linux 3.18 and before has none, and needs none. */
	if (put(os, "/proc/self/setgroups", "deny") != 0 && errno != ENOENT)
		return -1;
	snprintf(text, sizeof(text), "0 %u 1", (unsigned)uid);
	if (put(os, "/proc/self/uid_map", text) != 0)
		return -1;
	snprintf(text, sizeof(text), "0 %u 1", (unsigned)gid);
	return put(os, "/proc/self/gid_map", text);
}

int os_stage_enter(struct os *os, enum os_stage_step *step)
{
	uid_t uid = os_geteuid(os);
	gid_t gid = getegid();
	*step = STAGE_UNSHARE;
	if (stage_unshare(os, CLONE_NEWNS) != 0) {
		if (errno != EPERM || stage_unshare(os, CLONE_NEWUSER | CLONE_NEWNS) != 0)
			return -1;
		*step = STAGE_MAP;
		if (map_user(os, uid, gid) != 0)
			return -1;
	}
	*step = STAGE_PRIVATE;
	if (stage_mount(os, STAGE_NAME, "/", "none", MS_REC | MS_PRIVATE, NULL) != 0)
		return -1;
	*step = STAGE_MOUNT;
	if (os_stage_mount(os, "/") != 0)
		return -1;
	*step = STAGE_ROOT;
	/* "/" is still what is below it; its parent is itself, by the way over what is
	   mounted on it. */
	int fd = os_openat(os, AT_FDCWD, "/..", O_PATH | O_DIRECTORY);
	if (fd < 0)
		return -1;
	int rc = OS_CALL(os, OS_FCHDIR, fchdir(fd));
	os_close(os, fd);
	if (rc != 0)
		return -1;
	return OS_CALL(os, OS_CHROOT, chroot("."));
}

int os_stage_mount(struct os *os, const char *path)
{
	return stage_mount(os, STAGE_NAME, path, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0755");
}

int os_stage_date(struct os *os, const char *path, int64_t seconds)
{
	struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = (time_t)seconds}};
	return OS_CALL(os, OS_UTIME, utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW));
}

void os_usage(struct os *os, struct os_usage *usage)
{
	struct rusage r = {0};
	OS_CALL(os, OS_GETRUSAGE, getrusage(RUSAGE_SELF, &r));
	*usage = (struct os_usage){
		.user = (double)r.ru_utime.tv_sec + (double)r.ru_utime.tv_usec / 1e6,
		.system = (double)r.ru_stime.tv_sec + (double)r.ru_stime.tv_usec / 1e6,
		.faults = (uint64_t)r.ru_majflt,
		.blocks_in = (uint64_t)r.ru_inblock,
		.waits = (uint64_t)r.ru_nvcsw,
		.switches = (uint64_t)r.ru_nivcsw,
	};
}

bool os_die_with(struct os *os, int parent)
{
	(void)os;
	return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent;
}

int os_getpid(void)
{
	return (int)getpid();
}
