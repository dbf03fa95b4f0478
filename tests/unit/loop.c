/* SPDX-License-Identifier: MIT */
#include "loop.h"

#include <fcntl.h>
#include <linux/fuse.h>
#include <linux/loop.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* linux/mount.h and sys/mount.h clash; so this is not taken from a header. */
#ifndef LO_FLAGS_PARTSCAN
#define LO_FLAGS_PARTSCAN 8
#endif

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
