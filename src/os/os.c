/* SPDX-License-Identifier: MIT */
#include "os/os.h"

#include "os/clock.h"

#include <fcntl.h>
#include <linux/dm-ioctl.h>
#include <linux/mount.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/fanotify.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

/* linux/fcntl.h conflicts with fcntl.h; the C library defines these under _GNU_SOURCE. */
_Static_assert(AT_NO_AUTOMOUNT == 0x800 && AT_EMPTY_PATH == 0x1000, "AT_ flags");

const char *os_call_name(enum os_call call)
{
#define NAME(kind, name) #name,
	static const char *const names[] = {OS_CALLS(NAME, NAME)};
	return names[call];
}

uint64_t os_calls_total(const struct os *os)
{
	uint64_t sum = 0;
	for (int i = 0; i < OS_NCALLS; ++i)
		sum += os->calls[i];
	return sum;
}

void os_clone_state(struct os *worker, const struct os *os)
{
	*worker = *os;
	memset(worker->calls, 0, sizeof(worker->calls));
	worker->clock = NULL;
}

void os_join(struct os *os, const struct os *worker)
{
	for (int i = 0; i < OS_NCALLS; ++i)
		os->calls[i] += worker->calls[i];
}

int os_openat(struct os *os, int dirfd, const char *path, int flags)
{
	return OS_RETRY(OS_CALL(os, OS_OPENAT, openat, dirfd, path, flags | O_CLOEXEC));
}

int os_openat2(struct os *os, int dirfd, const char *path, int flags, uint64_t resolve)
{
	if (!(os->caps & OSC_OPENAT2))
		return fail(ENOSYS);
	struct open_how how = {
		.flags = (unsigned)(flags | O_CLOEXEC),
		.resolve = resolve,
	};
	int fd;
	unsigned tries = 0;
	do {
		fd = OS_SYSCALL(os, OS_OPENAT2, openat2, dirfd, path, &how, sizeof(how));
	} while (fd < 0 && ++tries < OS_TRIES
	         && (errno == EINTR || (errno == EAGAIN && !(resolve & RESOLVE_CACHED))));
	return fd;
}

int os_opendir(struct os *os, int dirfd, const char *name)
{
	int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
	int fd = os_openat(os, dirfd, name, flags | O_NOATIME);
	if (fd < 0 && errno == EPERM)
		fd = os_openat(os, dirfd, name, flags);
	return fd;
}

int os_open_tree(struct os *os, int fd)
{
	return OS_RETRY(OS_SYSCALL(os, OS_OPEN_TREE, open_tree, fd, "",
	                           OPEN_TREE_CLONE | O_CLOEXEC | AT_EMPTY_PATH | AT_NO_AUTOMOUNT));
}

ssize_t os_getdents(struct os *os, int fd, void *buf, size_t size)
{
	ssize_t n = OS_RETRY(OS_SYSCALL(os, OS_GETDENTS, getdents64, fd, buf, size));
	/* As in readdir(3): POSIX requires the end, not an error, for a removed directory. */
	return n < 0 && errno == ENOENT ? 0 : n;
}

ssize_t os_read(struct os *os, int fd, void *buf, size_t size)
{
	return OS_RETRY(OS_CALL(os, OS_READ, read, fd, buf, size));
}

ssize_t os_list_xattrs(struct os *os, int dirfd, const char *name, char *names, size_t size)
{
	if (*name && !(os->disabled & OSC_LISTXATTRAT)) {
		ssize_t n = OS_SYSCALL(os, OS_LISTXATTRAT, listxattrat, dirfd, name,
		                       AT_SYMLINK_NOFOLLOW, names, size);
		/* A filter that does not know the call refuses it. */
		if (n >= 0 || (errno != ENOSYS && errno != EPERM))
			return n;
		os->disabled |= OSC_LISTXATTRAT;
	}
	int fd = *name ? os_openat(os, dirfd, name, O_PATH | O_NOFOLLOW) : dirfd;
	if (fd < 0)
		return -1;
	char link[32];
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	ssize_t n = OS_SYSCALL(os, OS_PATHXATTR, listxattr, link, names, size);
	/* The descriptor is open, so the file exists: /proc is missing. */
	if (n < 0 && errno == ENOENT)
		errno = ENOSYS;
	if (*name)
		os_close(os, fd);
	return n;
}

int os_access(struct os *os, int dirfd, const char *name, int mode)
{
	int flags = AT_SYMLINK_NOFOLLOW | (*name ? 0 : AT_EMPTY_PATH);
	int rc = OS_SYSCALL(os, OS_ACCESS, faccessat2, dirfd, name, mode, flags);
	if (rc == 0 || (errno != ENOSYS && errno != EPERM))
		return rc;
	if (*name)
		return OS_SYSCALL(os, OS_ACCESS, faccessat, dirfd, name, mode, 0);
	char link[32];
	snprintf(link, sizeof(link), "/proc/self/fd/%d", dirfd);
	rc = OS_SYSCALL(os, OS_ACCESS, faccessat, AT_FDCWD, link, mode, 0);
	/* The descriptor is open, so the file exists: /proc is missing. */
	if (rc != 0 && errno == ENOENT)
		errno = ENOSYS;
	return rc;
}

ssize_t os_pread(struct os *os, int fd, void *buf, size_t size, uint64_t offset)
{
	return OS_RETRY(OS_CALL(os, OS_PREAD, pread, fd, buf, size, (off_t)offset));
}

ssize_t os_write(struct os *os, int fd, const void *buf, size_t size)
{
	return OS_RETRY(OS_CALL(os, OS_WRITE, write, fd, buf, size));
}

int os_write_all(struct os *os, int fd, struct iovec **pieces, size_t *n)
{
	while (*n > 0) {
		ssize_t done = OS_CALL(os, OS_WRITE, writev, fd, *pieces,
		                       *n < IOV_MAX ? (int)*n : IOV_MAX);
		if (done < 0 && errno == EAGAIN)
			os_poll(os, &(struct pollfd){.fd = fd, .events = POLLOUT}, 1, -1);
		else if (done < 0 && errno != EINTR)
			return -1;
		size_t left = done > 0 ? (size_t)done : 0;
		for (; *n > 0 && left >= (*pieces)->iov_len; --*n, ++*pieces)
			left -= (*pieces)->iov_len;
		if (left > 0) {
			(*pieces)->iov_base = (char *)(*pieces)->iov_base + left;
			(*pieces)->iov_len -= left;
		}
	}
	return 0;
}

int os_mkdirat(struct os *os, int dirfd, const char *path, unsigned mode)
{
	return OS_CALL(os, OS_MKDIR, mkdirat, dirfd, path, mode);
}

int os_unlinkat(struct os *os, int dirfd, const char *path)
{
	return OS_CALL(os, OS_UNLINK, unlinkat, dirfd, path, 0);
}

unsigned os_file_type(struct os *os, int fd, uint32_t *major_out, uint32_t *minor_out)
{
	struct stat st;
	if (OS_CALL(os, OS_FSTAT, fstat, fd, &st) != 0)
		return 0;
	if (major_out)
		*major_out = major(st.st_rdev);
	if (minor_out)
		*minor_out = minor(st.st_rdev);
	return st.st_mode & S_IFMT;
}

ssize_t os_dm_status(struct os *os, int fd, uint32_t major, uint32_t minor, char *buf, size_t size)
{
	union {
		struct dm_ioctl head;
		char bytes[16384];
	} data = {.head = {
		.version = {DM_VERSION_MAJOR, 0, 0},
		.data_size = sizeof(data),
		.data_start = sizeof(data.head),
		.flags = DM_NOFLUSH_FLAG,
		.dev = (minor & 0xff) | major << 8 | (uint64_t)(minor & ~0xffu) << 12,
	}};
	if (OS_CALL(os, OS_IOCTL, ioctl, fd, DM_TABLE_STATUS, &data) != 0)
		return -1;
	struct dm_target_spec spec;
	size_t at = data.head.data_start + sizeof(spec);
	if (data.head.flags & DM_BUFFER_FULL_FLAG || data.head.target_count != 1
	    || data.head.data_start > sizeof(data) - sizeof(spec) || at + size < at)
		return fail(EOVERFLOW);
	memcpy(&spec, data.bytes + data.head.data_start, sizeof(spec));
	size_t len = strnlen(data.bytes + at, sizeof(data) - at);
	if (strncmp(spec.target_type, "multipath", sizeof(spec.target_type)) != 0 || len >= size
	    || at + len == sizeof(data))
		return fail(EOVERFLOW);
	memcpy(buf, data.bytes + at, len);
	buf[len] = '\0';
	return (ssize_t)len;
}

bool os_reader_gone(struct os *os, int fd)
{
	struct pollfd poll_fd = {.fd = fd};
	return OS_CALL(os, OS_POLL, poll, &poll_fd, 1, 0) > 0 && poll_fd.revents & POLLERR;
}

int os_fstatfs(struct os *os, int fd, struct statfs *st)
{
	return OS_RETRY(OS_CALL(os, OS_STATFS, fstatfs, fd, st));
}

int os_fs_sizes(struct os *os, int fd, struct os_sizes *sizes)
{
	struct statfs st;
	if (os_fstatfs(os, fd, &st) != 0)
		return -1;
	*sizes = (struct os_sizes){
		.blocks = st.f_blocks,
		.bfree = st.f_bfree,
		.bavail = st.f_bavail,
		.frsize = (uint64_t)(st.f_frsize ? st.f_frsize : st.f_bsize),
		.files = st.f_files,
		.ffree = st.f_ffree,
	};
	return 0;
}

void os_close(struct os *os, int fd)
{
	if (fd < 0)
		return;
	int error = errno;
	/* Linux frees the descriptor even on EINTR: close(2).  The C library also checks for
	   cancellation, which adds a tenth to the cost. */
	OS_SYSCALL(os, OS_CLOSE, close, fd);
	errno = error;
}

ssize_t os_readlinkat(struct os *os, int dirfd, const char *path, char *buf, size_t size)
{
	long n = OS_RETRY(OS_CALL(os, OS_READLINK, readlinkat, dirfd, path, buf, size - 1));
	if (n >= 0)
		buf[n] = '\0';
	return n;
}

int os_getcwd(struct os *os, char *buf)
{
	/* The C library would search for the name itself if the kernel has none. */
	return OS_SYSCALL(os, OS_GETCWD, getcwd, buf, PATH_MAX) < 0 ? -1 : 0;
}

char *os_uname(struct os *os, bool release)
{
	struct utsname name;
	if (OS_CALL(os, OS_UNAME, uname, &name) != 0)
		return NULL;
	return strdup(release ? name.release : name.nodename);
}

int os_dupfd(struct os *os, int fd, int min)
{
	return OS_CALL(os, OS_FCNTL, fcntl, fd, F_DUPFD_CLOEXEC, min);
}

/** Fill a request of the size that this kernel accepts.
    @return whether listmount and statmount exist; if not, errno is ENOSYS. */
static bool os_mnt_id_req(const struct os *os, struct k_mnt_id_req *req, uint64_t id,
                          uint64_t param)
{
	*req = (struct k_mnt_id_req){
		.size = os->caps & OSC_REQ_VER1 ? K_MNT_ID_REQ_VER1 : K_MNT_ID_REQ_VER0,
		.mnt_id = id,
		.param = param,
	};
	errno = ENOSYS;
	return os->caps & OSC_LISTMOUNT;
}

ssize_t os_listmount(struct os *os, uint64_t mnt_id, uint64_t last, uint64_t *ids, size_t n)
{
	struct k_mnt_id_req req;
	return os_mnt_id_req(os, &req, mnt_id, last)
	               ? OS_SYSCALL(os, OS_LISTMOUNT, listmount, &req, ids, n, 0) : -1;
}

int os_statmount(struct os *os, uint64_t mnt_id, uint64_t mask, struct k_statmount *buf,
                 size_t size)
{
	struct k_mnt_id_req req;
	return os_mnt_id_req(os, &req, mnt_id, mask)
	               ? OS_RETRY(OS_SYSCALL(os, OS_STATMOUNT, statmount, &req, buf, size, 0)) : -1;
}

int os_watch_mounts(struct os *os)
{
	if (os->disabled & OSC_FANOTIFY)
		return fail(ENOSYS);
	int fd = OS_CALL(os, OS_FANOTIFY_INIT, fanotify_init,
	                 K_FAN_REPORT_MNT | FAN_CLOEXEC | FAN_NONBLOCK, 0);
	if (fd < 0)
		return -1;
	int ns = os_openat(os, AT_FDCWD, "/proc/self/ns/mnt", O_RDONLY);
	int rc = ns < 0 ? -1 : OS_CALL(os, OS_FANOTIFY_MARK, fanotify_mark, fd,
	                               FAN_MARK_ADD | K_FAN_MARK_MNTNS,
	                               K_FAN_MNT_ATTACH | K_FAN_MNT_DETACH, ns, NULL);
	os_close(os, ns);
	if (rc == 0)
		return fd;
	os_close(os, fd);
	return -1;
}

int os_pidfd_open(struct os *os, pid_t pid)
{
	return OS_SYSCALL(os, OS_PIDFD_OPEN, pidfd_open, pid, 0);
}

int os_poll(struct os *os, struct pollfd *fds, size_t n, int ms)
{
	int ready = OS_CALL(os, OS_POLL, poll, fds, n, ms);
	return ready < 0 && errno == EINTR ? 0 : ready;
}

unsigned os_nofile(struct os *os, unsigned most, bool raise)
{
	struct rlimit limit;
	if (OS_CALL(os, OS_RLIMIT, prlimit, 0, RLIMIT_NOFILE, NULL, &limit) != 0)
		return 64;
	if (raise && limit.rlim_cur < most && limit.rlim_cur < limit.rlim_max) {
		struct rlimit raised = limit;
		raised.rlim_cur = limit.rlim_max < most ? limit.rlim_max : most;
		if (OS_CALL(os, OS_RLIMIT, prlimit, 0, RLIMIT_NOFILE, &raised, NULL) == 0)
			limit = raised;
	}
	return limit.rlim_cur < most ? (unsigned)limit.rlim_cur : most;
}

void os_set_nofile(struct os *os, unsigned n)
{
	struct rlimit limit;
	if (OS_CALL(os, OS_RLIMIT, prlimit, 0, RLIMIT_NOFILE, NULL, &limit) != 0)
		return;
	limit.rlim_cur = limit.rlim_max < n ? limit.rlim_max : n;
	(void)OS_CALL(os, OS_RLIMIT, prlimit, 0, RLIMIT_NOFILE, &limit, NULL);
}

void os_grow_fds(struct os *os, int fd, unsigned n)
{
	os_close(os, os_dupfd(os, fd, (int)n - 1));
}

int os_thread(pthread_t *thread, void *(*run)(void *arg), void *arg)
{
#ifdef GM_PROFILE
	/* Callers fall back to working without threads: gprof loses counts of concurrent calls. */
	(void)thread, (void)run, (void)arg;
	return EAGAIN;
#else
	sigset_t all, before;
	sigfillset(&all);
	sigdelset(&all, SIGBUS);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int error = pthread_create(thread, NULL, run, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
#endif
}

unsigned os_cpus(struct os *os)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	/* The system call returns the number of bytes, the C library 0. */
	int n = OS_CALL(os, OS_AFFINITY, sched_getaffinity, 0, sizeof(set), &set) >= 0
	                ? CPU_COUNT(&set) : 1;
	return n > 0 ? (unsigned)n : 1;
}

double os_now(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

uint64_t os_elapsed(const struct os *os, uint64_t *since)
{
	struct timespec ts;
	uint64_t before = *since;
	if (os->disabled & OSC_CLOCK)
		return UINT64_MAX;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	*since = (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
	return *since - before;
}

void os_mark(const char *what)
{
#ifdef GM_PROFILE
	/* Profile the interval that --stats and the marks of a trace cover. */
	bool ends = strstr(what, ":end") != NULL;
	if (!ends)
		moncontrol(1);
#endif
#ifndef NDEBUG
	if (secure_getenv("GETMNT_MARK")) {
		int error = errno;
		syscall(SYS_faccessat, -1, what, 0);
		errno = error;
	}
#else
	(void)what;
#endif
#ifdef GM_PROFILE
	if (ends)
		moncontrol(0);
#endif
}
