/* SPDX-License-Identifier: MIT */
/* The wrappers: see fault.h. */
#include "fault.h"

#include "os/ring.h"
#include "unit.h"

#include <blkid/blkid.h>
#include <errno.h>
#include <fcntl.h>
#include <libmount.h>
#include <linux/btrfs.h>
#include <libsmartcols/libsmartcols.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>

/** Declare a function of the C library or of another, and begin our own. */
#define WRAP(type, name, ...) \
	extern type __real_##name(__VA_ARGS__); \
	extern type __wrap_##name(__VA_ARGS__); \
	type __wrap_##name(__VA_ARGS__)

/** Define a wrapper that only evaluates an expression. */
#define WRAP_AS(type, name, parameters, expression) \
	extern type __real_##name parameters; \
	extern type __wrap_##name parameters; \
	type __wrap_##name parameters \
	{ \
		return expression; \
	}

/** The counts and the fault, shared with the processes that a run forks. */
struct shared {
	struct fault plan;
	uint64_t limit;
	_Atomic uint64_t counts[FAULT_NKINDS], kernel, hits;
	atomic_flag path_taken;
	char path[4096];             /* of the first call that failed */
};

static struct shared *shared;
static atomic_bool active;
static atomic_bool forked;       /* this is a child; its descriptors are not checked */
static _Thread_local bool exempt;

/* Only of this process. */
static _Atomic uint64_t bad_closes;
static _Atomic long threads;

/* Descriptors that are open by calls of ours. */
enum { FDS_MAX = 65536 };
static atomic_bool fd_open[FDS_MAX];
static _Atomic long fds;

const char *fault_kind_name(int kind)
{
	return kind == FAULT_ALLOC ? "alloc" : kind == FAULT_THREAD ? "thread"
	                                      : os_call_name((enum os_call)kind);
}

void fault_exempt(void)
{
	exempt = true;
}

/** Count a call.  @return whether it fails; errno is set. */
static bool fails(int kind)
{
	if (exempt || !atomic_load_explicit(&active, memory_order_relaxed))
		return false;
	const struct fault *plan = &shared->plan;
	uint64_t n = atomic_fetch_add(&shared->counts[kind], 1) + 1;
	if (kind < OS_NCALLS && atomic_fetch_add(&shared->kernel, 1) >= shared->limit) {
		fprintf(stderr, "fault: %llu kernel calls and no end, the last one %s\n",
		        (unsigned long long)shared->limit, fault_kind_name(kind));
		abort();
	}
	if (kind < OS_NCALLS && plan->mode == FAULT_HOOK
	    && atomic_load(&shared->kernel) == plan->n) {
		atomic_fetch_add(&shared->hits, 1);
		exempt = true;
		plan->hook();
		exempt = false;
	}
	bool fail = kind == plan->kind && ((plan->mode == FAULT_ONCE && n == plan->n)
	                                   || (plan->mode == FAULT_ON && n >= plan->n));
	if (fail) {
		atomic_fetch_add(&shared->hits, 1);
		errno = plan->error;
	}
	return fail;
}

/** fails() for a call on a path, which is recorded. */
static bool fails_at(int kind, const char *path)
{
	bool fail = fails(kind);
	if (fail && !atomic_flag_test_and_set(&shared->path_taken))
		snprintf(shared->path, sizeof(shared->path), "%s", path);
	return fail;
}

/** Whether calls of a kind are changed in this mode. */
static bool is_mode(enum fault_mode mode, int kind)
{
	bool is = !exempt && atomic_load_explicit(&active, memory_order_relaxed)
	          && shared->plan.mode == mode && shared->plan.kind == kind;
	if (is)
		atomic_fetch_add(&shared->hits, 1);
	return is;
}

/** Whether calls of a kind are cut short. */
static bool is_short(int kind)
{
	return is_mode(FAULT_SHORT, kind);
}

/* Blocks. */

WRAP(void *, malloc, size_t size);
WRAP(void *, calloc, size_t n, size_t size);
WRAP(void, free, void *block);

static pthread_mutex_t blocks_lock = PTHREAD_MUTEX_INITIALIZER;
static void **blocks;            /* open addressing; GONE where one was taken out */
static size_t blocks_size, blocks_used;
static long blocks_live;
static char gone[1];

static size_t block_slot(const void *block)
{
	size_t i = ((uintptr_t)block >> 4) * 0x9e3779b97f4a7c15u >> 20 & (blocks_size - 1);
	while (blocks[i] && blocks[i] != block)
		i = (i + 1) & (blocks_size - 1);
	return i;
}

static void blocks_grow(void)
{
	void **old = blocks;
	size_t size = blocks_size;
	blocks_size = size ? size * 2 : 4096;
	blocks = __real_calloc(blocks_size, sizeof(*blocks));
	if (!blocks)
		abort();
	blocks_used = 0;
	for (size_t i = 0; i < size; ++i) {
		if (old[i] && old[i] != gone) {
			blocks[block_slot(old[i])] = old[i];
			++blocks_used;
		}
	}
	__real_free(old);
}

/** Record a block or an object of a library.  @return it. */
static void *taken(void *block)
{
	if (!block || !atomic_load_explicit(&active, memory_order_relaxed))
		return block;
	pthread_mutex_lock(&blocks_lock);
	if (blocks_used * 2 >= blocks_size)
		blocks_grow();
	size_t slot = block_slot(block);
	blocks_used += !blocks[slot];
	blocks[slot] = block;
	++blocks_live;
	pthread_mutex_unlock(&blocks_lock);
	return block;
}

/** Record that a block is freed, if it was recorded. */
static void given(void *block)
{
	if (!block || !atomic_load_explicit(&active, memory_order_relaxed))
		return;
	pthread_mutex_lock(&blocks_lock);
	size_t slot = blocks_size ? block_slot(block) : 0;
	if (blocks_size && blocks[slot]) {
		blocks[slot] = gone;
		--blocks_live;
	}
	pthread_mutex_unlock(&blocks_lock);
}

void fault_begin(const struct fault *fault, uint64_t limit)
{
	if (!shared)
		shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		abort();
	shared->plan = fault ? *fault : (struct fault){0};
	shared->limit = limit;
	for (int i = 0; i < FAULT_NKINDS; ++i)
		atomic_store(&shared->counts[i], 0);
	atomic_flag_clear(&shared->path_taken);
	shared->path[0] = '\0';
	atomic_store(&shared->kernel, 0);
	atomic_store(&shared->hits, 0);
	atomic_store(&bad_closes, 0);
	for (long left = atomic_exchange(&fds, 0), i = 0; left > 0 && i < FDS_MAX; ++i)
		left -= atomic_exchange(&fd_open[i], false);
	atomic_store(&threads, 0);
	if (blocks_used)
		memset(blocks, 0, blocks_size * sizeof(*blocks));
	blocks_used = 0;
	blocks_live = 0;
	atomic_store(&active, true);
}

void fault_change(const struct fault *fault)
{
	shared->plan = *fault;
}

void fault_end(struct fault_count *count)
{
	atomic_store(&active, false);
	*count = (struct fault_count){
		.kernel = atomic_load(&shared->kernel),
		.hits = atomic_load(&shared->hits),
		.blocks = blocks_live,
		.fds = atomic_load(&fds),
		.threads = atomic_load(&threads),
		.bad_closes = atomic_load(&bad_closes),
		.path = atomic_flag_test_and_set(&shared->path_taken) ? shared->path : NULL,
	};
	for (int i = 0; i < FAULT_NKINDS; ++i)
		count->calls[i] = atomic_load(&shared->counts[i]);
}

/* Memory. */

void *__wrap_malloc(size_t size)
{
	return fails(FAULT_ALLOC) ? NULL : taken(__real_malloc(size));
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails(FAULT_ALLOC) ? NULL : taken(__real_calloc(n, size));
}

void __wrap_free(void *block)
{
	given(block);
	__real_free(block);
}

WRAP(void *, reallocarray, void *block, size_t n, size_t size)
{
	if (fails(FAULT_ALLOC))
		return NULL;
	/* Another thread can get the old address as soon as it is free. */
	given(block);
	void *bigger = __real_reallocarray(block, n, size);
	taken(bigger ? bigger : block);
	return bigger;
}

WRAP_AS(void *, realloc, (void *block, size_t size), __wrap_reallocarray(block, 1, size))
WRAP_AS(char *, strdup, (const char *text), fails(FAULT_ALLOC) ? NULL : taken(__real_strdup(text)))
__attribute__((format(printf, 2, 3)))
extern int __wrap_asprintf(char **text, const char *format, ...);
WRAP(int, asprintf, char **text, const char *format, ...)
{
	if (fails(FAULT_ALLOC))
		return -1;
	va_list args;
	va_start(args, format);
	int n = vasprintf(text, format, args);
	va_end(args);
	return n;   /* not recorded: options are never freed */
}

/* Objects of libraries, which are allocations too. */

#define WRAP_NEW(type, name) \
	WRAP_AS(type, name, (void), fails(FAULT_ALLOC) ? NULL : taken(__real_##name()))
#define WRAP_FREE(type, name) \
	WRAP(void, name, type object) \
	{ \
		given(object); \
		__real_##name(object); \
	}

WRAP_NEW(struct libmnt_table *, mnt_new_table)
WRAP_FREE(struct libmnt_table *, mnt_unref_table)
WRAP_NEW(struct libmnt_fs *, mnt_new_fs)
WRAP_FREE(struct libmnt_fs *, mnt_unref_fs)
WRAP_FREE(struct libmnt_iter *, mnt_free_iter)
WRAP_NEW(struct libscols_table *, scols_new_table)
WRAP_FREE(struct libscols_table *, scols_unref_table)
WRAP_NEW(blkid_probe, blkid_new_probe)
WRAP_FREE(blkid_probe, blkid_free_probe)

WRAP_AS(struct libmnt_iter *, mnt_new_iter, (int direction),
	fails(FAULT_ALLOC) ? NULL : taken(__real_mnt_new_iter(direction)))
WRAP_AS(int, mnt_table_parse_stream, (struct libmnt_table *table, FILE *stream, const char *name),
	fails(FAULT_ALLOC) ? -ENOMEM : __real_mnt_table_parse_stream(table, stream, name))
WRAP_AS(int, mnt_fs_set_options, (struct libmnt_fs *fs, const char *options),
	fails(FAULT_ALLOC) ? -ENOMEM : __real_mnt_fs_set_options(fs, options))
WRAP_AS(char *, mnt_fs_get_vfs_options_all, (struct libmnt_fs *fs),
	fails(FAULT_ALLOC) ? NULL : taken(__real_mnt_fs_get_vfs_options_all(fs)))
WRAP_AS(int, mnt_split_optstr, (const char *options, char **user, char **vfs, char **fs,
                                int ignore_user, int ignore_vfs),
	fails(FAULT_ALLOC) ? -ENOMEM : __real_mnt_split_optstr(options, user, vfs, fs, ignore_user,
                                                               ignore_vfs))
WRAP_AS(FILE *, fmemopen, (void *bytes, size_t n, const char *mode),
	fails(FAULT_ALLOC) ? NULL : taken(__real_fmemopen(bytes, n, mode)))
WRAP(int, fclose, FILE *stream)
{
	/* The test needs stdout later. */
	if (stream == stdout && atomic_load(&active))
		return fflush(stream);
	given(stream);
	return __real_fclose(stream);
}

WRAP_AS(struct libscols_column *, scols_table_new_column,
	(struct libscols_table *table, const char *name, double width, int flags),
	fails(FAULT_ALLOC) ? NULL : __real_scols_table_new_column(table, name, width, flags))
WRAP_AS(struct libscols_line *, scols_table_new_line,
	(struct libscols_table *table, struct libscols_line *parent),
	fails(FAULT_ALLOC) ? NULL : __real_scols_table_new_line(table, parent))
WRAP_AS(int, scols_line_set_data, (struct libscols_line *line, size_t n, const char *data),
	fails(FAULT_ALLOC) ? -ENOMEM : __real_scols_line_set_data(line, n, data))
WRAP_AS(int, scols_table_set_name, (struct libscols_table *table, const char *name),
	fails(FAULT_ALLOC) ? -ENOMEM : __real_scols_table_set_name(table, name))
WRAP_AS(int, scols_print_table, (struct libscols_table *table),
	fails(FAULT_ALLOC) ? -ENOMEM : __real_scols_print_table(table))
WRAP_AS(FILE *, fopencookie, (void *cookie, const char *mode, cookie_io_functions_t io),
	fails(FAULT_ALLOC) ? NULL : taken(__real_fopencookie(cookie, mode, io)))
/* Threads. */

WRAP(int, pthread_create, pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
     void *arg)
{
	if (fails(FAULT_THREAD))
		return shared->plan.error;
	int rc = __real_pthread_create(thread, attr, run, arg);
	if (rc == 0 && atomic_load(&active))
		atomic_fetch_add(&threads, 1);
	return rc;
}

WRAP(int, pthread_join, pthread_t thread, void **result)
{
	int rc = __real_pthread_join(thread, result);
	if (rc == 0 && atomic_load(&active))
		atomic_fetch_sub(&threads, 1);
	return rc;
}

/* The kernel. */

/** Record a descriptor.  @return it. */
static int opened(int fd)
{
	if (fd >= 0 && fd < FDS_MAX && atomic_load(&active)) {
		atomic_store(&fd_open[fd], true);
		atomic_fetch_add(&fds, 1);
	}
	return fd;
}

WRAP(int, close, int fd)
{
	bool fail = fails(OS_CLOSE);
	int error = errno;
	if (atomic_load(&active) && !forked && !exempt) {
		if (fd >= 0 && fd < FDS_MAX && atomic_exchange(&fd_open[fd], false))
			atomic_fetch_sub(&fds, 1);
		else
			atomic_fetch_add(&bad_closes, 1);
	}
	/* The descriptor is closed even if close(2) fails. */
	int rc = __real_close(fd);
	if (fail)
		errno = error;
	return fail ? -1 : rc;
}

WRAP(long, syscall, long number, ...)
{
	static const struct {
		long number;
		int kind, nargs;
		bool at;                         /* the second is a path */
	} rows[] = {
		{SYS_statx, OS_STATX, 5, true},
		{SYS_openat2, OS_OPENAT2, 4, true},
		{SYS_getdents64, OS_GETDENTS, 3, false},
		{SYS_close, -1, 1, false},
		{SYS_listmount, OS_LISTMOUNT, 4, false},
		{SYS_statmount, OS_STATMOUNT, 4, false},
		{SYS_getcwd, OS_GETCWD, 2, false},
		{SYS_pidfd_open, OS_PIDFD_OPEN, 2, false},
		{SYS_open_tree, OS_OPEN_TREE, 3, false},
		{SYS_faccessat2, OS_ACCESS, 4, true},
		{SYS_io_uring_setup, OS_URING_SETUP, 2, false},
		{SYS_io_uring_enter, OS_URING_ENTER, 6, false},
		{SYS_io_uring_register, OS_URING_REGISTER, 4, false},
		{SYS_faccessat, -1, 4, true},    /* os_mark(), and before 5.8 */
		{SYS_pivot_root, -1, 2, false},  /* of the tests */
		{SYS_close_range, -1, 3, false}, /* os_detach(); a child's own */
		{SYS_exit_group, -1, 1, false},
	};
	size_t row = 0;
	while (row < sizeof(rows) / sizeof(*rows) && rows[row].number != number)
		++row;
	if (row == sizeof(rows) / sizeof(*rows)) {
		fprintf(stderr, "fault: system call %ld has no row\n", number);
		abort();
	}
	long a[6] = {0};
	va_list args;
	va_start(args, number);
	for (int i = 0; i < rows[row].nargs; ++i)
		a[i] = va_arg(args, long);
	va_end(args);
	if (number == SYS_close)
		return __wrap_close((int)a[0]);
	int kind = rows[row].kind;
	if (kind >= 0 && (rows[row].at ? fails_at(kind, (const char *)a[1]) : fails(kind)))
		return -1;
	/* Space for one entry. */
	if (kind == OS_GETDENTS && is_short(kind) && a[2] > 280)
		a[2] = 280;
	long rc = __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	return kind == OS_OPENAT2 || kind == OS_PIDFD_OPEN || kind == OS_URING_SETUP
	       || kind == OS_OPEN_TREE
	       ? opened((int)rc) : rc;
}

/* Descriptors opened by a ring; its failing call is io_uring_enter. */
WRAP(int, os_ring_open, struct os *os, struct os_ring *ring, int flags, uint64_t resolve,
     struct os_ring_open *opens, size_t n)
{
	int rc = __real_os_ring_open(os, ring, flags, resolve, opens, n);
	for (size_t i = 0; i < n; ++i)
		opened(opens[i].fd);
	return rc;
}

WRAP(int, openat64, int dirfd, const char *path, int flags, ...)
{
	va_list args;
	va_start(args, flags);
	unsigned mode = flags & O_CREAT ? va_arg(args, unsigned) : 0;
	va_end(args);
	return fails_at(OS_OPENAT, path) ? -1 : opened(__real_openat64(dirfd, path, flags, mode));
}

/* openat() without a mode, in <bits/fcntl2.h>. */
WRAP_AS(int, __openat64_2, (int dirfd, const char *path, int flags),
	fails_at(OS_OPENAT, path) ? -1 : opened(__real_openat64(dirfd, path, flags, 0)))
WRAP(ssize_t, read, int fd, void *buf, size_t size)
{
	if (fails(OS_READ))
		return -1;
	return __real_read(fd, buf, is_short(OS_READ) && size > 7 ? 7 : size);
}

WRAP_AS(ssize_t, readlinkat, (int dirfd, const char *path, char *buf, size_t size),
	fails_at(OS_READLINK, path) ? -1 : __real_readlinkat(dirfd, path, buf, size))
WRAP_AS(int, fstatat64, (int dirfd, const char *path, void *st, int flags),
	fails_at(OS_FSTAT, path) ? -1 : __real_fstatat64(dirfd, path, st, flags))
WRAP_AS(int, fstat64, (int fd, void *st), fails(OS_FSTAT) ? -1 : __real_fstat64(fd, st))
WRAP_AS(int, fstatfs64, (int fd, void *st), fails(OS_STATFS) ? -1 : __real_fstatfs64(fd, st))
WRAP(int, fcntl64, int fd, int command, ...)
{
	va_list args;
	va_start(args, command);
	long arg = va_arg(args, long);
	va_end(args);
	return fails(OS_FCNTL) ? -1 : opened(__real_fcntl64(fd, command, arg));
}

WRAP_AS(int, prlimit64, (pid_t pid, int what, const void *limit, void *old),
	fails(OS_RLIMIT) ? -1 : __real_prlimit64(pid, what, limit, old))
WRAP_AS(int, fanotify_init, (unsigned flags, unsigned event_flags),
	fails(OS_FANOTIFY_INIT) ? -1 : opened(__real_fanotify_init(flags, event_flags)))
WRAP_AS(int, fanotify_mark, (int fd, unsigned flags, uint64_t mask, int dirfd, const char *path),
	fails(OS_FANOTIFY_MARK) ? -1 : __real_fanotify_mark(fd, flags, mask, dirfd, path))
WRAP_AS(ssize_t, pread64, (int fd, void *buf, size_t size, off_t offset),
	fails(OS_PREAD) ? -1 : __real_pread64(fd, buf, is_short(OS_PREAD) && size > 7 ? 7 : size,
                                              offset))
WRAP_AS(ssize_t, write, (int fd, const void *buf, size_t size),
	fails(OS_WRITE) ? -1 : __real_write(fd, buf, is_short(OS_WRITE) && size > 7 ? 7 : size))
WRAP_AS(int, mkdirat, (int dirfd, const char *path, mode_t mode),
	fails_at(OS_MKDIR, path) ? -1 : __real_mkdirat(dirfd, path, mode))
WRAP_AS(int, unlinkat, (int dirfd, const char *path, int flags),
	fails_at(OS_UNLINK, path) ? -1 : __real_unlinkat(dirfd, path, flags))
WRAP_AS(int, renameat2, (int from_dir, const char *from, int to_dir, const char *to,
                         unsigned flags),
	fails_at(OS_RENAME, from) ? -1 : __real_renameat2(from_dir, from, to_dir, to, flags))
WRAP_AS(int, linkat, (int from_dir, const char *from, int to_dir, const char *to, int flags),
	fails_at(OS_LINK, from) ? -1 : __real_linkat(from_dir, from, to_dir, to, flags))
WRAP_AS(int, symlinkat, (const char *text, int dirfd, const char *path),
	fails_at(OS_SYMLINK, path) ? -1 : __real_symlinkat(text, dirfd, path))
WRAP_AS(int, fsync, (int fd), fails(OS_FSYNC) ? -1 : __real_fsync(fd))
WRAP_AS(int, fchown, (int fd, uid_t uid, gid_t gid),
	fails(OS_CHOWN) ? -1 : __real_fchown(fd, uid, gid))
WRAP_AS(int, fchmod, (int fd, mode_t mode), fails(OS_CHMOD) ? -1 : __real_fchmod(fd, mode))
WRAP_AS(int, futimens, (int fd, const struct timespec *times),
	fails(OS_UTIME) ? -1 : __real_futimens(fd, times))
WRAP_AS(int, flock, (int fd, int operation), fails(OS_FLOCK) ? -1 : __real_flock(fd, operation))
WRAP_AS(ssize_t, flistxattr, (int fd, char *names, size_t size),
	fails(OS_LISTXATTR) ? -1 : __real_flistxattr(fd, names, size))
WRAP_AS(ssize_t, fgetxattr, (int fd, const char *name, void *value, size_t size),
	fails(OS_GETXATTR) ? -1 : __real_fgetxattr(fd, name, value, size))
WRAP_AS(int, fsetxattr, (int fd, const char *name, const void *value, size_t size, int flags),
	fails(OS_SETXATTR) ? -1 : __real_fsetxattr(fd, name, value, size, flags))
WRAP_AS(int, fremovexattr, (int fd, const char *name),
	fails(OS_REMOVEXATTR) ? -1 : __real_fremovexattr(fd, name))
WRAP(int, socketpair, int domain, int type, int protocol, int ends[2])
{
	if (fails(OS_SOCKETPAIR) || __real_socketpair(domain, type, protocol, ends) != 0)
		return -1;
	opened(ends[0]);
	opened(ends[1]);
	return 0;
}

WRAP(pid_t, fork, void)
{
	if (fails(OS_FORK))
		return -1;
	pid_t pid = __real_fork();
	if (pid == 0 && atomic_load(&active))
		atomic_store(&forked, true);
	return pid;
}

WRAP_AS(int, kill, (pid_t pid, int signal), fails(OS_KILL) ? -1 : __real_kill(pid, signal))
WRAP_AS(pid_t, waitpid, (pid_t pid, int *status, int options),
	fails(OS_WAIT) ? -1 : __real_waitpid(pid, status, options))
WRAP_AS(ssize_t, sendmsg, (int sock, const struct msghdr *message, int flags),
	fails(OS_SEND) ? -1 : __real_sendmsg(sock, message, flags))
WRAP_AS(ssize_t, recvmsg, (int sock, struct msghdr *message, int flags),
	fails(OS_RECV) ? -1 : __real_recvmsg(sock, message, flags))
WRAP_AS(int, shutdown, (int sock, int how), fails(OS_SHUTDOWN) ? -1 : __real_shutdown(sock, how))
WRAP_AS(int, poll, (struct pollfd *polled, nfds_t n, int timeout),
	fails(OS_POLL) ? -1 : __real_poll(polled, n, timeout))
WRAP_AS(int, uname, (void *name), fails(OS_UNAME) ? -1 : __real_uname(name))
WRAP_AS(int, sched_getaffinity, (int pid, size_t size, void *set),
	fails(OS_AFFINITY) ? -1 : __real_sched_getaffinity(pid, size, set))
WRAP_AS(int, syncfs, (int fd), fails(OS_SYNCFS) ? -1 : __real_syncfs(fd))
WRAP(int, ioctl, int fd, unsigned long request, void *arg)
{
	if (fails(OS_IOCTL))
		return -1;
	struct k_xfs_bulk_ireq *ask = request == K_XFS_IOC_BULKSTAT ? arg : NULL;
	struct btrfs_ioctl_search_args_v2 *search =
		request == BTRFS_IOC_TREE_SEARCH_V2 ? arg : NULL;
	if (ask && is_short(OS_IOCTL))
		ask->icount = 1;
	if (search && is_short(OS_IOCTL))
		search->key.nr_items = 1;
	int rc = __real_ioctl(fd, request, arg);
	if (rc == 0 && ask && is_mode(FAULT_LIE, OS_IOCTL)) {
		struct k_xfs_bulkstat *stats = (void *)(ask + 1);
		for (uint32_t i = 0; i < ask->ocount; ++i)
			++stats[i].uid;
	}
	return rc;
}

void fault_each_allocation(int (*run)(void *arg), void *arg, uint64_t least)
{
	FAULT_OR_SKIP();
	struct fault_count count = {0};
	uint64_t allocations = 0;
	for (uint64_t n = 0; n <= 2 * allocations; n += n ? unit_step() | 1 : 1) {
		struct fault fault = {n % 2 ? FAULT_ONCE : FAULT_ON, FAULT_ALLOC, (n + 1) / 2,
		                      ENOMEM};
		fault_begin(n ? &fault : NULL, 1000);
		int rc = run(arg), error = errno;
		fault_end(&count);
		allocations = n ? allocations : count.calls[FAULT_ALLOC];
		CU_ASSERT_EQUAL(count.blocks, 0);
		CU_ASSERT_EQUAL(count.kernel, 0);
		CU_ASSERT(rc == 0 || (n > 0 && error == ENOMEM));
		if (rc != 0 && (n == 0 || error != ENOMEM))
			printf("  allocation %d %s: %s\n", (int)fault.n, n % 2 ? "once" : "on",
			       strerror(error));
	}
	CU_ASSERT(allocations > least);
}
