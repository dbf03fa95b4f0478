/* SPDX-License-Identifier: MIT */
/**
 * A kernel that is made up from an input.
 *
 * Every kernel crossing of the library goes through os/, and every fuzz
 * program is linked so that the calls to os/ end here.  What a target has not
 * given is not there (ENOENT, ENOSYS); while there is no kernel at all, a call
 * ends the run: what is said to be pure makes none.
 */
#ifndef GM_FUZZ_KERNEL_H
#define GM_FUZZ_KERNEL_H

#include "os/os.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum fuzz_kind {
	FK_FILE,      /* bytes are what it holds */
	FK_LINK,      /* where it leads; it is not followed */
	FK_DIRENTS,   /* a directory: what getdents64 gives, in one call */
	FK_BLOCK,     /* a block device: its number "MAJ:MIN" and, behind a line feed,
	                 what it holds; without that it cannot be opened */
	FK_ERROR,     /* opening it fails, with this errno: a byte; reading, of two */
};

struct fuzz_file {
	const char *path;      /* absolute, as it is asked for: "/sys/dev/block/8:1/dev" */
	enum fuzz_kind kind;
	const char *bytes;
	size_t len;
};

struct pollfd;

/** The descriptor of os_watch_mounts(). */
enum { FUZZ_WATCH_FD = 99999 };

struct fuzz_kernel {
	unsigned caps;             /* enum os_caps */
	uint64_t statmount_mask;   /* as in struct os; so are the next two */
	uint64_t root_uniq;
	bool torn_reads;
	unsigned cpus;
	/* Files; a directory is also what has files below it. */
	const struct fuzz_file *files;
	size_t nfiles;
	size_t read_max;           /* the most bytes of one read; 0: no bound */
	bool stranger;             /* O_NOATIME is refused: the files are others' */
	/* Called for every path that is opened or looked at; may be NULL. */
	void (*look)(const char *path, int flags);
	/* What stands for files, links and directories that are no list; may be
	   NULL.  dir is the path of the descriptor that a path begins at.
	   @return a file, or what a link leads to; NULL and errno. */
	const struct fuzz_file *(*open)(const char *dir, const char *path, int flags,
	                                uint64_t resolve);
	const char *(*readlink)(const char *path);
	/* As in os.h; may be NULL.  The first two from several threads. */
	ssize_t (*listmount)(uint64_t last, uint64_t *ids, size_t n);
	ssize_t (*submounts)(uint64_t top, uint64_t last, uint64_t *ids, size_t n);
	int (*statmount)(uint64_t id, uint64_t mask, struct k_statmount *buf, size_t size);
	int (*statx)(const char *path, int flags, unsigned mask, struct k_statx *st);
	/* What a read of the descriptor of os_watch_mounts() gives. */
	ssize_t (*events)(void *buf, size_t size);
	int (*poll)(struct pollfd *fds, size_t n, int ms);
	double (*now)(void);
	/* A file is made, empty; one is removed. */
	void (*create)(const char *path);
	void (*unlink)(const char *path);
	/** Whether there is a process; NULL: nothing is asked of any. */
	bool (*process)(int pid);
};

/** Put a kernel in force, or NULL; checks that the one before it has no
    descriptor open. */
void fuzz_kernel_set(const struct fuzz_kernel *kernel);

/** A struct os of the kernel in force. */
void fuzz_os(struct os *os);

#endif
