/* SPDX-License-Identifier: MIT */
/** Loop devices and FUSE mounts for tests. */
#ifndef GM_TESTS_LOOP_H
#define GM_TESTS_LOOP_H

#include <stdbool.h>
#include <stdint.h>

/** A file on a loop device, which goes when its descriptor is closed and
    nothing is mounted from it. */
struct loop {
	int fd;
	int number;
	uint32_t minor;
	char path[32];
};

/** Attach a file.  @return whether there was a device for it. */
bool loop_open(struct loop *loop, const char *file);

void loop_close(struct loop *loop);

/** Mount a FUSE on a directory whose server answers only INIT.
    @fd  Of /dev/fuse, or -1.
    @return success. */
bool fuse_mount(int fd, const char *path);

#endif
