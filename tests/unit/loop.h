/* SPDX-License-Identifier: MIT */
/** A directory for a suite, and mounts, loop devices and FUSE for tests. */
#ifndef GM_TESTS_LOOP_H
#define GM_TESTS_LOOP_H

#include <stdbool.h>
#include <stdint.h>

/** Enter a mount namespace from which no mount propagates.  @return false: not permitted. */
bool private_mounts(void);

/** The directory that top_begin() made in /tmp; "" before. */
extern char unit_top[40];

/** Make a directory and mount a tmpfs with these options on it, in a private mount namespace.
    @return whether it is a tmpfs; fails the test if there is no directory. */
bool top_begin(const char *options);

/** Begin on a tmpfs, or skip the test. */
#define TOP_OR_SKIP() do { \
		if (!top_begin(NULL)) { \
			top_end(); \
			UNIT_SKIP("no private mount namespace"); \
		} \
	} while (0)

/** Remove the directory and all below it. */
void top_end(void);

/** A path in the directory; the last four of them stay. */
const char *in_top(const char *name);

/** Run a command in the directory.  @return success. */
__attribute__((format(printf, 1, 2)))
bool top_run(const char *format, ...);

/** Write a file in the directory. */
void top_write(const char *name, const char *text);

/** The text of a file, or "(missing)"; the last four of them stay. */
const char *read_text(const char *path);

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
