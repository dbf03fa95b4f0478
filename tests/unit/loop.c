/* SPDX-License-Identifier: MIT */
#include "loop.h"

#include "tree.h"


#include <CUnit/CUnit.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <linux/loop.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* linux/mount.h and sys/mount.h clash; so this is not taken from a header. */
#ifndef LO_FLAGS_PARTSCAN
#define LO_FLAGS_PARTSCAN 8
#endif

char unit_top[40];
static bool mounted;   /* unit_top is a tmpfs */

bool private_mounts(void)
{
	return unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

bool top_begin(const char *options)
{
	static bool entered, is_private;
	if (!entered)
		is_private = private_mounts();
	entered = true;
	strcpy(unit_top, "/tmp/getmnt-unit-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(unit_top));
	mounted = is_private && mount("unit", unit_top, "tmpfs", 0, options) == 0;
	return mounted;
}

void top_end(void)
{
	CU_ASSERT_TRUE(!mounted || umount2(unit_top, MNT_DETACH) == 0);
	tree_remove(unit_top);
}

const char *in_top(const char *name)
{
	static char paths[4][4096];
	static unsigned next;
	char *path = paths[next++ % 4];
	snprintf(path, sizeof(paths[0]), "%s%s%s", unit_top, *name ? "/" : "", name);
	return path;
}

bool top_run(const char *format, ...)
{
	char command[2400];
	int n = snprintf(command, sizeof(command), "cd %s && ", *unit_top ? unit_top : ".");
	va_list args;
	va_start(args, format);
	vsnprintf(command + n, sizeof(command) - (size_t)n, format, args);
	va_end(args);
	return system(command) == 0;
}

void top_write(const char *name, const char *text)
{
	int fd = open(in_top(name), O_WRONLY | O_CREAT | O_TRUNC, 0644);
	CU_ASSERT_EQUAL(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

const char *read_text(const char *path)
{
	static char texts[4][8192];
	static unsigned next;
	char *text = texts[next++ % 4];
	int fd = open(path, O_RDONLY);
	ssize_t n = read(fd, text, sizeof(texts[0]) - 1);
	close(fd);
	text[n < 0 ? 0 : n] = '\0';
	return n < 0 ? "(missing)" : text;
}

bool loop_open(struct loop *loop, const char *file)
{
	loop->fd = -1;
	int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
	int fd = open(file, O_RDWR | O_CLOEXEC);
	for (int try = 0; try < 20 && control >= 0 && fd >= 0; ++try) {
		loop->number = ioctl(control, LOOP_CTL_GET_FREE);
		snprintf(loop->path, sizeof(loop->path), "/dev/loop%d", loop->number);
		loop->fd = open(loop->path, O_RDWR | O_CLOEXEC);
		struct loop_config config = {
			.fd = (unsigned)fd,
			.info.lo_flags = LO_FLAGS_AUTOCLEAR | LO_FLAGS_PARTSCAN,
		};
		if (loop->fd >= 0 && ioctl(loop->fd, LOOP_CONFIGURE, &config) == 0)
			break;
		if (loop->fd >= 0)
			close(loop->fd);
		loop->fd = -1;
	}
	if (fd >= 0)
		close(fd);
	if (control >= 0)
		close(control);
	struct stat st;
	if (loop->fd < 0 || fstat(loop->fd, &st) != 0)
		return false;
	loop->minor = minor(st.st_rdev);
	return true;
}

void loop_close(struct loop *loop)
{
	if (loop->fd >= 0)
		close(loop->fd);
	loop->fd = -1;
}

bool fuse_mount(int fd, const char *path)
{
	char data[128];
	union {
		struct fuse_in_header head;
		char bytes[1 << 16];
	} request;
	struct {
		struct fuse_out_header head;
		struct fuse_init_out init;
	} reply = {
		.init = {.major = FUSE_KERNEL_VERSION, .minor = 31, .max_readahead = 4096,
		         .max_write = 4096, .max_background = 16, .congestion_threshold = 12,
		         .time_gran = 1},
	};
	snprintf(data, sizeof(data), "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", fd);
	if (fd < 0 || mount("silent", path, "fuse", 0, data) != 0
	    || read(fd, &request, sizeof(request)) < (ssize_t)sizeof(request.head))
		return false;
	reply.head = (struct fuse_out_header){.len = sizeof(reply), .unique = request.head.unique};
	return request.head.opcode == FUSE_INIT
	       && write(fd, &reply, sizeof(reply)) == (ssize_t)sizeof(reply);
}
