/* SPDX-License-Identifier: MIT */
/*
 * The worker accesses the mount.
 *
 * First it opens the name with O_PATH, and identifies the mount by statx with mask 0; if it is not
 * the mount in the question, it stops.  Then it performs operations that only the file system can
 * answer: attributes that are not cached, sizes, and the first entries of the directory, which an
 * overlay reads from every layer.  Finally it reads a block of the device, bypassing the page
 * cache.
 *
 * EACCES is a response of the file system; ENOTSUP and similar errors are not.
 */
#include "os/file.h"
#include "os/process.h"
#include "path/resolve.h"
#include "probe/prober_impl.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#define AUTOFS_MAGIC 0x0187   /* linux/magic.h */

enum {
	BLOCK = 4096,             /* a multiple of every logical block in use */
	CACHED_TRIES = 16,
};

/** A question being answered. */
struct work {
	struct os os;
	int root;                     /* -1: "/" */
	const struct probe_question *question;
	struct probe_answer answer;
};

/** Whether a directory has an entry, without looking up its name. */
static bool work_lists(struct work *work, int at, const char *name)
{
	static _Alignas(8) char entries[32768];
	struct os *os = &work->os;
	struct os_dir dir;
	bool found = false;
	int fd = os_openat(os, at, ".", O_RDONLY | O_DIRECTORY | O_NONBLOCK);
	os_dir_begin(&dir, os, fd, entries, sizeof(entries));
	for (const char *entry; fd >= 0 && !found && (entry = os_dir_next(&dir)) != NULL;)
		found = strcmp(entry, name) == 0;
	os_close(os, fd);
	return found;
}

/** Open a name in an automount directory.  A missing name would trigger the automounter, so only
    cached names are opened, which mount points always are.  Before Linux 5.12 the directory is read
    first; a name that expires at that moment triggers the automounter. */
static int work_open_key(struct work *work, int at, const char *name)
{
	/* EAGAIN can also mean that some mount appeared or disappeared meanwhile. */
	int fd = -1;
	for (int i = 0; i < CACHED_TRIES && fd < 0 && (i == 0 || errno == EAGAIN); ++i)
		fd = os_openat2(&work->os, at, name, O_PATH | O_NOFOLLOW, RESOLVE_CACHED);
	if (fd >= 0)
		return fd;
	if (errno != EINVAL && errno != ENOSYS)
		return fail(errno == EAGAIN ? ENOENT : errno);
	if (work_lists(work, at, name))
		return os_openat(&work->os, at, name, O_PATH | O_NOFOLLOW);
	return fail(ENOENT);
}

/** Open one component.  An O_PATH descriptor does not trigger an automounter if the name exists but
    its mount was removed. */
static int work_open_step(void *arg, int at, const char *name)
{
	struct work *work = arg;
	struct statfs st;
	if (work->question->flags & PROBE_STEPS && os_fstatfs(&work->os, at, &st) == 0
	    && st.f_type == AUTOFS_MAGIC)
		return work_open_key(work, at, name);
	return os_openat(&work->os, at, name, O_PATH | O_NOFOLLOW);
}

/** Open a name with O_PATH, without following symlinks. */
static int work_open(struct work *work, char *path)
{
	/* The name is longer than the kernel accepts, or passes an automount directory. */
	bool steps = work->question->flags & PROBE_STEPS || strlen(path) >= PATH_MAX
	             || !(work->os.caps & OSC_OPENAT2);
	int at = work->root >= 0 ? work->root : AT_FDCWD;
	if (steps)
		return path_open_below(&work->os, at, path, work_open_step, work);
	const char *name = work->root >= 0 ? path + strspn(path, "/") : path;
	return os_openat2(&work->os, at, *name ? name : ".", O_PATH | O_NOFOLLOW,
	                  RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
}

/** Whether this is the mount named in the question. */
static bool work_shows(const struct work *work, const struct k_statx *st)
{
	const struct probe_question *question = work->question;
	if (question->flags & PROBE_BY_ID) {
		return os_statx_mnt_id(st, false) == question->id
		       && (os_statx_is_mount_root(st) || question->flags & PROBE_INSIDE);
	}
	return !(question->flags & PROBE_BY_DEV)
	       || (st->dev_major == question->dev_major && st->dev_minor == question->dev_minor);
}

/** Read the first entries of a directory.  @return 0, or an error number. */
static int work_read_dir(struct work *work, int at)
{
	static _Alignas(8) char entries[32768];
	struct os *os = &work->os;
	int flags = O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_NOCTTY;
	int fd = os_openat(os, at, ".", flags | O_NOATIME);
	if (fd < 0 && errno == EPERM)
		fd = os_openat(os, at, ".", flags);
	if (fd < 0)
		return errno;
	int error = os_getdents(os, fd, entries, sizeof(entries)) < 0 ? errno : 0;
	os_close(os, fd);
	return error;
}

/** Read a block of the device.  @return 0, or an error number. */
static int work_read_device(struct work *work, const char *device)
{
	static _Alignas(BLOCK) char block[BLOCK];
	const struct probe_question *question = work->question;
	struct os *os = &work->os;
	uint32_t major, minor;
	int fd = os_openat(os, AT_FDCWD, device,
	                   O_RDONLY | O_DIRECT | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
	if (fd < 0)
		return errno == EIO || errno == ENXIO || errno == ENODEV ? errno : 0;
	int error = 0;
	if (os_file_type(os, fd, &major, &minor) == S_IFBLK && major == question->device_major
	    && minor == question->device_minor && os_pread(os, fd, block, sizeof(block), 0) < 0)
		error = errno == EINVAL ? 0 : errno;
	os_close(os, fd);
	return error;
}

/** Whether an error means that the operation is not supported. */
static bool work_unknown(int error)
{
	return error == ENOSYS || error == EOPNOTSUPP || error == ENOTTY;
}

/** Access the mount.  @return 0, or the first error number. */
static int work_touch(struct work *work, int fd, const char *device)
{
	struct os *os = &work->os;
	struct probe_answer *answer = &work->answer;
	struct k_statx st;
	if (os_statx(os, fd, "", AT_EMPTY_PATH | AT_STATX_FORCE_SYNC,
	             K_STATX_BASIC | K_STATX_MNT_ID | K_STATX_MNT_ID_UNIQUE, &st) == 0)
		answer->st = st;
	else if (!work_unknown(errno))
		return errno;

	answer->sized = os_fs_sizes(os, fd, &answer->sizes) == 0;
	if (!answer->sized && !work_unknown(errno))
		return errno;
	int error = 0;
	if (S_ISDIR(answer->st.mode))
		error = work_read_dir(work, fd);
	if (error == 0 && device)
		error = work_read_device(work, device);
	return work_unknown(error) ? 0 : error;
}

/** Answer one question. */
static void work_answer(struct work *work, char *path, const char *device, int sock)
{
	struct probe_answer *answer = &work->answer;
	*answer = (struct probe_answer){.tag = work->question->tag, .how = PROBE_ELSEWHERE};
	int fd = work_open(work, path);
	if (fd < 0
	    || os_statx(&work->os, fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, 0, &answer->st)
	               != 0) {
		answer->error = errno;
	} else if (work_shows(work, &answer->st)) {
		answer->how = PROBE_SEEN;
		answer->seen = true;
		if (!(work->question->flags & PROBE_LOOK)) {
			os_send(&work->os, sock, answer, sizeof(*answer), NULL, 0, -1, true);
			answer->error = work_touch(work, fd, device);
		}
		answer->how = PROBE_ANSWERED;
	}
	os_close(&work->os, fd);
}

void prober_work(const struct os *os, int sock, int root)
{
	static struct probe_message message;
	struct work work = {.root = root, .question = &message.question};
	for (;;) {
		ssize_t n = os_recv(&work.os, sock, &message, sizeof(message), NULL, true);
		size_t head = sizeof(message.question), len = strlen(message.text) + 1;
		if (n <= (ssize_t)head || (size_t)n < head + len)
			os_exit_process(0);
		os_clone_state(&work.os, os);
		const char *device = message.question.device ? message.text + len : NULL;
		work_answer(&work, message.text, device, sock);
		prober_counts(&work.answer, &work.os);
		if (os_send(&work.os, sock, &work.answer, sizeof(work.answer), NULL, 0, -1, true)
		    != 0)
			os_exit_process(0);
	}
}
