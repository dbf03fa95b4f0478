/* SPDX-License-Identifier: MIT */
/*
 * Attributes from the bulk interfaces of file systems equal those of statx(2) in all bytes, on
 * each file system and by each engine; also when the interface is refused, returns little, or
 * is wrong.  Subvolumes and covered files are in tests/system/search_bulk.py.
 */
#include "unit.h"

#include "fault.h"
#include "loop.h"

#include "getmnt/search.h"
#include "os/inodes.h"
#include "search/search.h"

#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

/* linux/fs.h clashes with sys/mount.h. */
#define SETFLAGS _IOW('f', 2, long)
enum { FLAG_COMPRESS = 0x4, FLAG_IMMUTABLE = 0x10, FLAG_APPEND = 0x20, FLAG_NODUMP = 0x40 };

static char point[80];           /* the file system that is tried */
static struct loop loop = {.fd = -1};

/** A path below the file system; of four calls each has its own. */
static const char *at(const char *format, ...) __attribute__((format(printf, 1, 2)));
static const char *at(const char *format, ...)
{
	static char paths[4][512];
	static unsigned turn;
	char *path = paths[turn++ % 4];
	int n = snprintf(path, sizeof(paths[0]), "%s/", point);
	va_list args;
	va_start(args, format);
	vsnprintf(path + n, sizeof(paths[0]) - (size_t)n, format, args);
	va_end(args);
	return path;
}

/** Begin with a tmpfs in a mount namespace of our own.  @return whether that can be. */
static bool enter(void)
{
	bool ready = top_begin("size=1g");
	if (!ready)
		top_end();
	snprintf(point, sizeof(point), "%s/fs", unit_top);
	return ready && mkdir(point, 0755) == 0;
}

static void leave(void)
{
	umount2(point, MNT_DETACH);
	loop_close(&loop);
	top_end();
}

/** Mount a new file system.  @mkfs  NULL: one without a device. */
static bool make_fs(const char *type, const char *mkfs, unsigned long flags, const char *data)
{
	char image[256];
	if (!mkfs) {
		if (strcmp(type, "overlay") != 0)
			return mount("none", point, type, flags, data) == 0;
		snprintf(image, sizeof(image), "lowerdir=%s/l,upperdir=%s/u,workdir=%s/w", unit_top,
		         unit_top, unit_top);
		return top_run("mkdir -p l/low u w; touch l/low/a l/low/b")
		       && mount("none", point, type, flags, image) == 0;
	}
	snprintf(image, sizeof(image), "%s/img", unit_top);
	return top_run("truncate -s 512M img && %s img >log 2>&1", mkfs)
	       && loop_open(&loop, image) && mount(loop.path, point, type, flags, data) == 0;
}

static void write_file(const char *path, int flags, size_t size)
{
	static char text[20000];
	memset(text, 'x', sizeof(text));
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0644);
	CU_ASSERT_FATAL(fd >= 0);
	CU_ASSERT_EQUAL(write(fd, text, size), (ssize_t)size);
	close(fd);
}

static void set_flags(const char *path, long flags)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ioctl(fd, SETFLAGS, &flags);     /* where it is known */
	close(fd);
}

/** Files of all kinds. */
static void make_tree(int files)
{
	static const char *const dirs[] = {"many", "holes", "few", "odd", "links", "mount"};
	for (size_t i = 0; i < COUNT(dirs); ++i)
		CU_ASSERT_EQUAL_FATAL(mkdir(at("%s", dirs[i]), 0755), 0);
	for (int i = 0; i < files; ++i) {
		const char *path = at("many/%x-file", i * 2654435761u);
		write_file(path, 0, (size_t)(i % 9 * i % 7000));
		if (i % 5 == 0)
			CU_ASSERT_EQUAL(truncate(path, i * 100), 0);
		if (i % 7 == 0)
			CU_ASSERT_EQUAL(chown(path, (uid_t)i * 1000003u, (gid_t)i), 0);
		if (i % 11 == 0)
			CU_ASSERT_EQUAL(chmod(path, 04711), 0);
		if (i % 13 == 0)
			CU_ASSERT_EQUAL(link(path, at("many/%d-link", i)), 0);
		if (i % 50 == 0)
			CU_ASSERT_EQUAL(mkdir(at("many/%d-dir", i), 0700), 0);
		if (i % 17 == 0) {
			char target[901];
			memset(target, 't', sizeof(target));
			target[i % 2 ? 900 : 10] = '\0';
			CU_ASSERT_EQUAL(symlink(target, at("many/%d-sym", i)), 0);
		}
		if (i % 19 == 0) {
			int fd = open(path, O_RDWR | O_CLOEXEC);
			CU_ASSERT_TRUE(fallocate(fd, FALLOC_FL_KEEP_SIZE, 10000, 50000) == 0
			               || errno == EOPNOTSUPP);
			close(fd);
		}
		if (i % 23 == 0) {
			struct timespec times[2] = {{-100, 7}, {1LL << 32, 999999999}};
			CU_ASSERT_EQUAL(utimensat(AT_FDCWD, path, times, 0), 0);
		}
	}
	for (int i = 0; i < files; ++i)
		write_file(at("holes/%d", i), 0, 10);
	for (int i = 0; i < files; ++i) {
		if (i % 3 == 0 || i % 400 < 200)
			CU_ASSERT_EQUAL(unlink(at("holes/%d", i)), 0);
	}
	for (int i = 0; i < 3; ++i)
		write_file(at("few/%d", i), 0, 10);
	for (int i = 0; i < 40; ++i) {
		CU_ASSERT_EQUAL(symlink("x", at("links/%d", i)), 0);
		CU_ASSERT_EQUAL(mkfifo(at("odd/fifo%d", i), 0600), 0);
		mknod(at("odd/dev%d", i), (i % 2 ? S_IFBLK : S_IFCHR) | 0600,
		      makedev(300, i * 9999));
		write_file(at("odd/file%d", i), 0, 12345);
	}
	set_flags(at("odd/file1"), FLAG_NODUMP);
	set_flags(at("odd/file2"), FLAG_APPEND);
	set_flags(at("odd/file3"), FLAG_COMPRESS);
	set_flags(at("odd/file4"), FLAG_IMMUTABLE);
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", at("odd/socket"));
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CU_ASSERT_EQUAL(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	close(fd);
	for (int i = 0; i < 20; ++i)
		write_file(at("mount/covered%d", i), 0, 1);
	CU_ASSERT_EQUAL(mkdir(at("mount/dir"), 0755), 0);
	CU_ASSERT_EQUAL(mount("inside", at("mount/dir"), "tmpfs", 0, NULL), 0);
	write_file(at("mount/dir/inside"), 0, 2);
}

/** What is found: of each a path, an error, and the attributes. */
struct found {
	struct item {
		char *path;
		int err;
		struct k_statx st;
	} *items;
	size_t n;
	uint64_t calls[OS_NCALLS];
};

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct item *)a)->path, ((const struct item *)b)->path);
}

static SEARCH *begin_search(int engine, bool ahead, unsigned threads, int flags)
{
	const char *const roots[] = {point};
	return getmnt_search_open(roots, 1, "*", &(struct search_options){
		.size = sizeof(struct search_options), .flags = SEARCH_METADATA | flags,
		.threads = threads, .engine = engine, .ahead = ahead,
	});
}

static struct found find(int engine, bool ahead, unsigned threads, int flags)
{
	struct found found = {0};
	SEARCH *search = begin_search(engine, ahead, threads, flags);
	CU_ASSERT_PTR_NOT_NULL_FATAL(search);
	search_more(search, &(struct search_more){
		.maxdepth = UINT_MAX, .mask = K_STATX_MNT_ID | K_STATX_MNT_ID_UNIQUE});
	for (struct searchent *e; (e = getmnt_search_read(search));) {
		if (found.n % 1024 == 0)
			found.items = realloc(found.items, (found.n + 1024) * sizeof(*found.items));
		struct item *item = &found.items[found.n++];
		*item = (struct item){.path = strdup(e->path), .err = e->err};
		if (getmnt_search_statx(search))
			memcpy(&item->st, getmnt_search_statx(search), sizeof(item->st));
		/* Links that are followed are read. */
		if (flags & SEARCH_FOLLOW)
			item->st.atime = (struct k_statx_time){0};
	}
	search_stop(search);
	memcpy(found.calls, search_os(search)->calls, sizeof(found.calls));
	getmnt_search_close(search);
	if (found.n > 0)
		qsort(found.items, found.n, sizeof(*found.items), by_path);
	return found;
}

static void found_free(struct found *found)
{
	for (size_t i = 0; i < found->n; ++i)
		free(found->items[i].path);
	free(found->items);
}

/** Compare what was found, byte by byte. */
static void same(const struct found *a, const struct found *b)
{
	CU_ASSERT_EQUAL(a->n, b->n);
	unsigned differ = 0;
	for (size_t i = 0; i < a->n && i < b->n; ++i) {
		const struct item *x = &a->items[i], *y = &b->items[i];
		const char *p = (const void *)&x->st, *q = (const void *)&y->st;
		size_t at = 0;
		while (at < sizeof(x->st) && p[at] == q[at])
			++at;
		if (strcmp(x->path, y->path) == 0 && x->err == y->err && at == sizeof(x->st))
			continue;
		if (++differ <= 5)
			printf("  %s / %s: differ at byte %zu of statx\n", x->path, y->path, at);
	}
	CU_ASSERT_EQUAL(differ, 0);
}

/** Compare all engines with plain calls.  @bulk  Whether bulk is to be of use. */
static void compare(const char *tag, bool bulk)
{
	static const struct {
		int engine;
		bool ahead;
		unsigned threads;
		int flags;
	} ways[] = {
		{SEARCH_ENGINE_BULK, false, 1, 0},
		{SEARCH_ENGINE_BULK, true, 1, 0},
		{SEARCH_ENGINE_BULK, true, 3, 0},
		{SEARCH_ENGINE_BULK, false, 3, 0},
		{SEARCH_ENGINE_BULK, false, 1, SEARCH_FOLLOW},
		{SEARCH_ENGINE_BULK, true, 1, SEARCH_CACHED},
		{SEARCH_ENGINE_AUTO, true, 1, 0},
		{SEARCH_ENGINE_SYNC, true, 3, 0},
	};
	for (size_t i = 0; i < COUNT(ways); ++i) {
		unit_note("%s way %zu", tag, i);
		struct found got =
		        find(ways[i].engine, ways[i].ahead, ways[i].threads, ways[i].flags);
		struct found want = find(SEARCH_ENGINE_SYNC, false, 1, ways[i].flags);
		CU_ASSERT_TRUE(want.n > 100 && want.calls[OS_STATX] > 100);
		if (got.n != want.n || getenv("GETMNT_VERBOSE"))
			printf("  %s way %zu: %zu of %zu, %ju statx, %ju ioctl\n", tag, i, got.n,
			       want.n, (uintmax_t)got.calls[OS_STATX],
			       (uintmax_t)got.calls[OS_IOCTL]);
		same(&got, &want);
		bool used = bulk && ways[i].engine == SEARCH_ENGINE_BULK;
		CU_ASSERT_TRUE(used ? got.calls[OS_IOCTL] > 1
		                               && got.calls[OS_STATX] < want.calls[OS_STATX] / 2
		                    : got.calls[OS_IOCTL] == 0);
		CU_ASSERT_EQUAL(got.calls[OS_SYNCFS], used);
		found_free(&got);
		found_free(&want);
	}
}

static bool skipped(void)
{
	struct os os = unit_os();
	if (!(os.caps & OSC_OPENAT2)) {
		unit_skip("without openat2 the bulk interface is not used");
		return true;
	}
	if (geteuid() == 0 && enter())
		return false;
	unit_skip("needs root, and a mount namespace");
	return true;
}

/** The file systems with a bulk interface. */
static const struct {
	const char *type, *mkfs;
	enum os_inodes_of of;
} bulk_rows[] = {
	{"xfs", "mkfs.xfs -q -f", OS_INODES_XFS}, {"btrfs", "mkfs.btrfs -q -f", OS_INODES_BTRFS},
};

/** Mount a new file system.  @return false, after a message, if this machine has none. */
static bool begin_fs(const char *type, const char *mkfs, unsigned long flags, const char *data)
{
	unit_note("%s", type);
	if (skipped())
		return false;
	if (make_fs(type, mkfs, flags, data))
		return true;
	printf("  %s: not available\n", type);
	leave();
	return false;
}

/** The same with a bulk interface. */
static bool begin_bulk(size_t row)
{
	return begin_fs(bulk_rows[row].type, bulk_rows[row].mkfs, 0, NULL);
}

UNIT_TEST(same_by_every_engine)
{
	static const struct {
		const char *tag, *type, *mkfs, *data;
		unsigned long flags;
		bool bulk;
	} rows[] = {
	        {"tmpfs", "tmpfs", NULL, "size=200m", 0, false},
	        {"overlay", "overlay", NULL, NULL, 0, false},
	        {"ext4", "ext4", "mkfs.ext4 -q -F", NULL, 0, false},
	        {"xfs", "xfs", "mkfs.xfs -q -f", NULL, 0, true},
	        {"xfs 1k", "xfs", "mkfs.xfs -q -f -b size=1024", "largeio", MS_LAZYTIME, true},
	        {"xfs v4", "xfs", "mkfs.xfs -q -f -m crc=0", NULL, MS_NOATIME, true},
	        {"btrfs", "btrfs", "mkfs.btrfs -q -f", NULL, 0, true},
	        {"btrfs holes", "btrfs", "mkfs.btrfs -q -f -O ^no-holes -n 4096",
		 "compress-force=zlib", MS_LAZYTIME, true},
	        {"btrfs nocow", "btrfs", "mkfs.btrfs -q -f -M", "nodatacow", MS_STRICTATIME, true},
	};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		if (!begin_fs(rows[i].type, rows[i].mkfs, rows[i].flags, rows[i].data))
			continue;
		make_tree(2000);
		/* All that was written waits in memory; so does what comes now. */
		compare(rows[i].tag, rows[i].bulk);
		for (int k = 0; k < 2000; k += 3) {
			const char *path = at("many/%x-file", k * 2654435761u);
			write_file(path, k % 2 ? O_APPEND : O_TRUNC, (size_t)k);
			if (k % 4 == 0)
				CU_ASSERT_EQUAL(chown(path, 77, 78), 0);
		}
		compare(rows[i].tag, rows[i].bulk);
		leave();
	}
}

/** The one difference that is known: on btrfs, times of a file whose write failed. */
UNIT_TEST(a_write_that_failed)
{
	for (size_t row = 0; row < 2; ++row) {
		if (!begin_bulk(row))
			continue;
		for (int i = 0; i < 100; ++i)
			write_file(at("f%d", i), 0, 100);
		usleep(20000);
		/* The kernel cannot read what is to be written. */
		void *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		int fd = open(at("f50"), O_WRONLY | O_CLOEXEC);
		CU_ASSERT_TRUE(write(fd, page, 100) == -1 && errno == EFAULT);
		close(fd);
		munmap(page, 4096);
		usleep(20000);
		struct found got = find(SEARCH_ENGINE_BULK, false, 1, 0),
		             want = find(SEARCH_ENGINE_SYNC, false, 1, 0);
		CU_ASSERT_TRUE(got.calls[OS_IOCTL] > 1 && got.calls[OS_STATX] < 20);
		for (size_t i = 0; row == 1 && i < got.n && i < want.n; ++i) {
			if (strcmp(want.items[i].path, "/f50") == 0) {
				got.items[i].st.mtime = want.items[i].st.mtime;
				got.items[i].st.ctime = want.items[i].st.ctime;
			}
		}
		same(&got, &want);
		found_free(&got);
		found_free(&want);
		leave();
	}
}

/** Search with a fault.  @return what was counted; all found is held against `want`. */
static struct fault_count find_with(const struct fault *fault, bool ahead, const struct found *want)
{
	const size_t from = offsetof(struct k_statx, attributes);
	struct fault_count count;
	size_t found = 0, reported = 0, wrong = 0;
	fault_begin(fault, 100000);
	SEARCH *search = begin_search(SEARCH_ENGINE_BULK, ahead, 1, 0);
	int error = search ? 0 : errno;
	for (struct searchent *e; search && (e = getmnt_search_read(search));) {
		const struct item *item = bsearch(&(struct item){.path = e->path}, want->items,
		                                  want->n, sizeof(*want->items), by_path);
		const struct k_statx *st = (const void *)getmnt_search_statx(search);
		e->err ? ++reported : ++found;
		/* The mask and the mount ID depend on what was requested. */
		wrong += !e->err
		         && (!item || !st
		             || memcmp((const char *)&item->st + from, (const char *)st + from,
		                       offsetof(struct k_statx, mnt_id) - from)
		                        != 0);
	}
	error = search ? errno : error;
	getmnt_search_close(search);
	fault_end(&count);
	CU_ASSERT_TRUE(count.blocks == 0 && count.fds == 0 && count.bad_closes == 0);
	CU_ASSERT_EQUAL(wrong, 0);
	/* Short of memory, the search itself may end. */
	bool whole = error == 0 && reported == 0 && found == want->n;
	CU_ASSERT_TRUE(whole || (fault->kind == FAULT_ALLOC && (error == ENOMEM || reported > 0)));
	return count;
}

/** Let the calls of a kind fail, each in turn. */
static void try_errors(int kind, const int *errors, const struct found *want)
{
	struct fault_count count = find_with(&(struct fault){.kind = kind}, false, want);
	uint64_t calls = count.calls[kind];
	CU_ASSERT_TRUE(calls > 0 && count.calls[OS_SYNCFS] == 1 && count.calls[OS_IOCTL] > 3);
	for (const int *error = errors; *error; ++error) {
		for (uint64_t n = 1; n <= calls; ++n) {
			for (int on = 0; on < 2; ++on) {
				unit_note("%s %ju %s", fault_kind_name(kind), (uintmax_t)n,
				          strerror(*error));
				count = find_with(&(struct fault){on ? FAULT_ON : FAULT_ONCE, kind,
				                                  n, *error},
				                  on, want);
				/* The interface is called once, except after EINTR. */
				if (kind == OS_IOCTL && n == 1 && *error != EINTR)
					CU_ASSERT_TRUE(count.calls[OS_IOCTL] == 1
					               && count.calls[OS_SYNCFS] == 0);
				if (kind == OS_SYNCFS)
					CU_ASSERT_EQUAL(count.calls[OS_IOCTL], 1);
			}
		}
	}
}

/** Where the interface fails, or returns little, everything is found, without an error. */
UNIT_TEST(refused_little_wrong)
{
	FAULT_OR_SKIP();
	static const int errors[] = {EPERM,  ENOTTY, EOPNOTSUPP, EINVAL, EIO,
	                             ENOMEM, EINTR,  EOVERFLOW,  0};
	static const int memory[] = {ENOMEM, 0};
	for (size_t row = 0; row < 2; ++row) {
		if (!begin_bulk(row))
			continue;
		make_tree(200);
		struct found want = find(SEARCH_ENGINE_SYNC, false, 1, 0);
		try_errors(OS_IOCTL, errors, &want);
		try_errors(OS_SYNCFS, errors, &want);
		try_errors(OS_STATFS, errors, &want);
		try_errors(FAULT_ALLOC, memory, &want);
		for (int mode = FAULT_SHORT; mode <= (row == 0 ? FAULT_LIE : FAULT_SHORT); ++mode) {
			unit_note("mode %d", mode);
			struct fault_count count = find_with(
			        &(struct fault){.mode = (enum fault_mode)mode, .kind = OS_IOCTL},
			        true, &want);
			CU_ASSERT_TRUE(count.hits > 0);
		}
		found_free(&want);
		leave();
	}
}

/** The inodes of a range. */
UNIT_TEST(ranges_of_inodes)
{
	_Alignas(8) static char buf[OS_INODES_BUFFER];
	static struct os_inode inodes[64];
	struct os os;
	struct k_statx_time since;
	os_init(&os, NULL);
	for (size_t row = 0; row < 2; ++row) {
		if (!begin_bulk(row))
			continue;
		struct stat st[200];
		for (int i = 0; i < 200; ++i) {
			write_file(at("f%d", i), 0, (size_t)i * 10);
			CU_ASSERT_EQUAL(stat(at("f%d", i), &st[i]), 0);
		}
		int fd = open(point, O_RDONLY | O_CLOEXEC);
		/* The wrong type is noticed before the interface is called. */
		enum os_inodes_of wrong =
		        bulk_rows[row].of == OS_INODES_XFS ? OS_INODES_BTRFS : OS_INODES_XFS;
		uint64_t before = os.calls[OS_IOCTL];
		CU_ASSERT_TRUE(os_inodes_settle(&os, fd, wrong, buf, &since) == -1
		               && errno == ENOTTY);
		CU_ASSERT_EQUAL(os.calls[OS_IOCTL], before);
		struct os without;
		os_init(&without, "bulk");
		CU_ASSERT_TRUE(os_inodes_settle(&without, fd, bulk_rows[row].of, buf, &since) == -1
		               && errno == EOPNOTSUPP);
		CU_ASSERT_EQUAL(os_inodes_settle(&os, fd, bulk_rows[row].of, buf, &since), 0);
		CU_ASSERT_TRUE(since.sec >= st[199].st_ctim.tv_sec);
		/* From any to any: those between, in order, and an end. */
		for (int from = 0; from < 200; from += 67) {
			struct os_inodes range = {
				.of = bulk_rows[row].of, .buf = buf, .next = st[from].st_ino,
				.last = st[199].st_ino,
			};
			uint64_t was = 0;
			size_t seen = 0, turns = 0;
			while (range.next <= range.last && ++turns < 1000) {
				ssize_t n = os_inodes(&os, fd, &range, inodes, 7);
				CU_ASSERT_TRUE_FATAL(n >= 0 && n <= 7);
				for (ssize_t i = 0; i < n; ++i) {
					CU_ASSERT_TRUE(inodes[i].ino > was);
					was = inodes[i].ino;
					for (int k = from; k < 200; ++k)
						seen += st[k].st_ino == was
						        && inodes[i].size
						                   == (uint64_t)st[k].st_size;
				}
				CU_ASSERT_TRUE(range.next > was);
			}
			CU_ASSERT_EQUAL(seen, 200 - (size_t)from);
			CU_ASSERT_TRUE(turns < 1000);
		}
		struct os_inodes none = {
			.of = bulk_rows[row].of, .buf = buf, .next = st[199].st_ino + 100000,
			.last = st[199].st_ino + 100005,
		};
		CU_ASSERT_EQUAL(os_inodes(&os, fd, &none, inodes, 7), 0);
		CU_ASSERT_TRUE(none.next > none.last);
		close(fd);
		leave();
	}
}
