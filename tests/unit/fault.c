/* SPDX-License-Identifier: MIT */
/* The wrappers: see fault.h. */
#define GM_CROSSING
#include "fault.h"

#include "base/arena.h"
#include "base/map64.h"
#include "os/crossing.h"
#include "os/ring.h"
#include "select/glob.h"
#include "unit.h"

#include <blkid/blkid.h>
#include <libmount.h>
#include <linux/btrfs.h>
#include <libsmartcols/libsmartcols.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
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
static _Thread_local bool recording;   /* a block: memory for the record itself is not counted */

/* Only of this process. */
static _Atomic uint64_t bad_closes;
static _Atomic long threads;

/* Descriptors that are open by calls of ours. */
enum { FDS_MAX = 65536 };
static atomic_bool fd_open[FDS_MAX];
static _Atomic long fds;

const char *fault_kind_name(int kind)
{
	static const char *const others[] = {"alloc", "thread", "piece"};
	return kind < OS_NCALLS ? os_call_name((enum os_call)kind) : others[kind - OS_NCALLS];
}

void fault_exempt(void)
{
	exempt = true;
}

/** Count a call.  @return whether it fails; errno is set. */
static bool fails(int kind)
{
	if (exempt || recording || !atomic_load_explicit(&active, memory_order_relaxed))
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
static struct map64 blocks;             /* the addresses */

/** Record a block or an object of a library, or that it is freed. */
static void record(const void *block, bool is_freed)
{
	if (!block || recording || !atomic_load_explicit(&active, memory_order_relaxed))
		return;
	pthread_mutex_lock(&blocks_lock);
	recording = true;
	if (is_freed)
		map64_remove(&blocks, (uintptr_t)block);
	else if (map64_put(&blocks, (uintptr_t)block, 0) == MAP64_NONE)
		abort();
	recording = false;
	pthread_mutex_unlock(&blocks_lock);
}

/** Record a block.  @return it. */
static void *taken(void *block)
{
	record(block, false);
	return block;
}

/** Record that a block is freed. */
static void given(void *block)
{
	record(block, true);
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
	map64_destroy(&blocks);
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
		.blocks = (long)blocks.count,
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

/* Pieces of arenas, which fail as if their malloc did. */

static bool piece_fails(struct arena *arena)
{
	bool fail = fails(FAULT_PIECE);
	if (fail)
		arena_fail(arena);
	return fail;
}

/** Let a piece fail.  @return the arena. */
static struct arena *piece_of(struct arena *arena)
{
	piece_fails(arena);
	return arena;
}

WRAP_AS(void *, arena_alloc, (struct arena *arena, size_t size),
	piece_fails(arena) ? NULL : __real_arena_alloc(arena, size))
WRAP_AS(char *, arena_strndup, (struct arena *arena, const char *str, size_t n),
	piece_fails(arena) ? NULL : __real_arena_strndup(arena, str, n))
WRAP_AS(char *, arena_vprintf, (struct arena *arena, const char *format, va_list args),
	piece_fails(arena) ? NULL : __real_arena_vprintf(arena, format, args))
WRAP_AS(void *, arena_new, (struct arena *arena, size_t n, size_t element),
	__real_arena_new(piece_of(arena), n, element))
WRAP_AS(const char *, arena_text, (struct arena *arena, const char *str),
	__real_arena_text(piece_of(arena), str))
WRAP_AS(const char *, arena_textn, (struct arena *arena, const char *str, size_t n),
	__real_arena_textn(piece_of(arena), str, n))
WRAP_AS(const char *, arena_built, (struct arena *arena, const struct strbuf *text),
	__real_arena_built(piece_of(arena), text))
__attribute__((format(printf, 2, 3)))
extern const char *__wrap_arena_printf(struct arena *arena, const char *format, ...);
WRAP(const char *, arena_printf, struct arena *arena, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	char *text = piece_of(arena)->failed ? NULL : __real_arena_vprintf(arena, format, args);
	va_end(args);
	if (!text)
		arena_fail(arena);
	return text ? text : "";
}

WRAP_AS(bool, arena_room, (struct arena *arena, void *items, size_t count, size_t element),
	__real_arena_room(piece_of(arena), items, count, element))

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

/** Close a descriptor, which happens even if close(2) fails. */
static long cross_close(int fd)
{
	bool fail = fails(OS_CLOSE);
	int error = errno;
	if (atomic_load(&active) && !forked && !exempt) {
		if (fd >= 0 && fd < FDS_MAX && atomic_exchange(&fd_open[fd], false))
			atomic_fetch_sub(&fds, 1);
		else
			atomic_fetch_add(&bad_closes, 1);
	}
	long rc = close(fd);
	if (fail)
		errno = error;
	return fail ? -1 : rc;
}

/** ioctl(2) with a structure that a fault changes. */
static long cross_ioctl(int fd, unsigned long request, void *arg)
{
	struct k_xfs_bulk_ireq *ask = request == K_XFS_IOC_BULKSTAT ? arg : NULL;
	struct btrfs_ioctl_search_args_v2 *search =
		request == BTRFS_IOC_TREE_SEARCH_V2 ? arg : NULL;
	if (ask && is_short(OS_IOCTL))
		ask->icount = 1;
	if (search && is_short(OS_IOCTL))
		search->key.nr_items = 1;
	int rc = ioctl(fd, request, arg);
	if (rc == 0 && ask && is_mode(FAULT_LIE, OS_IOCTL)) {
		struct k_xfs_bulkstat *stats = (void *)(ask + 1);
		for (uint32_t i = 0; i < ask->ocount; ++i)
			++stats[i].uid;
	}
	return rc;
}

/** The kinds that have a path, as the second argument, and those that open a descriptor. */
static const bool has_path[OS_NCALLS] = {
	[OS_STATX] = true, [OS_OPENAT] = true, [OS_OPENAT2] = true, [OS_ACCESS] = true,
	[OS_READLINK] = true, [OS_FSTAT] = true, [OS_MKDIR] = true, [OS_UNLINK] = true,
	[OS_RENAME] = true, [OS_LINK] = true,
};
static const bool opens_fd[OS_NCALLS] = {
	[OS_OPENAT] = true, [OS_OPENAT2] = true, [OS_FCNTL] = true, [OS_FANOTIFY_INIT] = true,
	[OS_PIDFD_OPEN] = true, [OS_URING_SETUP] = true, [OS_OPEN_TREE] = true,
};

/** The kinds that are neither counted nor made to fail. */
static const bool passes[OS_NCALLS] = {
	[OS_MMAP] = true, [OS_MUNMAP] = true, [OS_GETEUID] = true, [OS_UNSHARE] = true,
	[OS_FCHDIR] = true, [OS_CHROOT] = true, [OS_GETRUSAGE] = true,
};

/** Make a system call of src/os/: see os/crossing.h. */
static long cross(int kind, long number, long a, long b, long c, long d, long e, long f)
{
	if (kind == OS_CLOSE)
		return cross_close((int)a);
	bool passed = passes[kind] || number == SYS_writev;
	if (!passed && (has_path[kind] ? fails_at(kind, (const char *)b) : fails(kind)))
		return -1;
	if (kind == OS_IOCTL)
		return cross_ioctl((int)a, (unsigned long)b, (void *)c);
	/* Room for one entry; a few bytes. */
	long least = kind == OS_GETDENTS ? 280 : 7;
	if ((kind == OS_GETDENTS || kind == OS_READ || kind == OS_PREAD || kind == OS_WRITE
	     || kind == OS_PWRITE)
	    && c > least && is_short(kind))
		c = least;
	long rc = syscall(number, a, b, c, d, e, f);
	if (shared && shared->plan.mode == FAULT_TRACE && !exempt && atomic_load(&active)) {
		exempt = true;
		shared->plan.trace(kind, rc, (const long[]){a, b, c, d, e, f});
		exempt = false;
	}
	if (kind == OS_SOCKETPAIR && rc == 0) {
		opened(((int *)d)[0]);
		opened(((int *)d)[1]);
	}
	return opens_fd[kind] ? opened((int)rc) : rc;
}

#define BODY(name, result) \
	long sys_##name(long a, long b, long c, long d, long e, long f) \
	{ \
		(void)a, (void)b, (void)c, (void)d, (void)e, (void)f; \
		return result; \
	}
#define CROSSED(kind, name) BODY(name, cross(OS_##kind, SYS_##name, a, b, c, d, e, f))
#define NOTHING(kind, name)
OS_CALLS(CROSSED, NOTHING)
CROSSED(ACCESS, faccessat)
CROSSED(WRITE, writev)
BODY(poll, fails(OS_POLL) ? -1 : poll((void *)a, (nfds_t)b, (int)c))
BODY(rt_sigprocmask, pthread_sigmask((int)a, (void *)b, (void *)c))
BODY(rt_sigaction, sigaction((int)a, (void *)b, (void *)c))
BODY(rt_sigpending, sigpending((void *)a))

long sys_clone(long a, long b, long c, long d, long e, long f)
{
	(void)a, (void)b, (void)c, (void)d, (void)e, (void)f;
	if (fails(OS_FORK))
		return -1;
	pid_t pid = fork();
	if (pid == 0 && atomic_load(&active))
		atomic_store(&forked, true);
	return pid;
}

/* Descriptors opened by a ring; its failing call is io_uring_enter.  The kernel may refuse any
   name: in short mode, the first. */
WRAP(int, os_ring_open, struct os *os, struct os_ring *ring, int flags, uint64_t resolve,
     struct os_ring_open *opens, size_t n)
{
	size_t refused = n > 0 && is_short(OS_URING_ENTER);
	opens[0].fd = -1;
	int rc = __real_os_ring_open(os, ring, flags, resolve, opens + refused, n - refused);
	for (size_t i = 0; i < n; ++i)
		opened(opens[i].fd);
	return rc;
}

static _Atomic uint64_t compared;

WRAP(bool, glob_match, const struct glob_pool *pool, const struct glob *glob, const char *name,
     size_t len)
{
	++compared;
	return __real_glob_match(pool, glob, name, len);
}

uint64_t fault_names(void)
{
	return atomic_exchange(&compared, 0);
}

uint64_t fault_each(int kind, int (*run)(void *arg), void *arg)
{
	struct fault_count count = {0};
	uint64_t allocations = 0;
	for (uint64_t n = 0; n <= 2 * allocations; n += n ? unit_step() | 1 : 1) {
		struct fault fault = {n % 2 ? FAULT_ONCE : FAULT_ON, kind, (n + 1) / 2, ENOMEM};
		fault_begin(n ? &fault : NULL, 1000);
		int rc = run(arg), error = errno;
		fault_end(&count);
		allocations = n ? allocations : count.calls[kind];
		CU_ASSERT_EQUAL(count.blocks, 0);
		CU_ASSERT_EQUAL(count.kernel, 0);
		CU_ASSERT(rc == 0 || (n > 0 && error == ENOMEM));
		if (rc != 0 && (n == 0 || error != ENOMEM))
			printf("  %s %d %s: %s\n", fault_kind_name(kind), (int)fault.n,
			       n % 2 ? "once" : "on", strerror(error));
	}
	return allocations;
}

void fault_each_allocation(int (*run)(void *arg), void *arg, uint64_t least)
{
	FAULT_OR_SKIP();
	uint64_t allocations = fault_each(FAULT_ALLOC, run, arg);
	uint64_t pieces = fault_each(FAULT_PIECE, run, arg);
	CU_ASSERT(allocations > 0);
	CU_ASSERT(allocations + pieces > least);
}
