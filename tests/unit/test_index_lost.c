/* SPDX-License-Identifier: MIT */
/*
 * os/map and its readers: when a segment file is truncated while it is mapped, each reader has what
 * it has without that, or fails with EBADMSG; and a writer stores nothing.
 */
#include "unit.h"

#include "index/store/store_impl.h"
#include "index_readers.h"
#include "store_world.h"
#include "tree.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { PAGE = 4096 };

/* os_map(): what it does not map.  First, since children need a process without the handler. */

/** A file of two pages that was truncated since it was mapped. */
static char *map_cut(const struct tree *tree, struct os *os, const atomic_bool **lost)
{
	int fd = openat(tree->fd, "file", O_RDWR | O_CREAT, 0600);
	CU_ASSERT_EQUAL_FATAL(ftruncate(fd, 2 * PAGE), 0);
	char *at = os ? (char *)(uintptr_t)os_map(os, fd, 2 * PAGE, lost)
	           : mmap(NULL, 2 * PAGE, PROT_READ, MAP_SHARED, fd, 0);
	CU_ASSERT_FATAL(at && at != MAP_FAILED);
	CU_ASSERT_EQUAL_FATAL(ftruncate(fd, PAGE), 0);
	close(fd);
	return at;
}

static char read_byte(const char *at)
{
	return *(const volatile char *)at;
}

/** Run a function in a child.  @return its status of waitpid(2). */
static int in_child(void (*run)(struct tree *tree, struct os *os), struct tree *tree, struct os *os)
{
	int status = 0;
	fflush(NULL);
	pid_t pid = fork();
	if (pid == 0) {
		/* ASan has a handler of its own. */
		signal(SIGBUS, SIG_DFL);
		run(tree, os);
		_exit(0);
	}
	CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
	return status;
}

static void fault_elsewhere(struct tree *tree, struct os *os)
{
	const atomic_bool *lost;
	map_cut(tree, os, &lost);
	read_byte(map_cut(tree, NULL, NULL) + PAGE);
}

static void fault_unmapped(struct tree *tree, struct os *os)
{
	const atomic_bool *lost;
	char *at = map_cut(tree, os, &lost);
	os_unmap(os, at, 2 * PAGE);
	int fd = openat(tree->fd, "file", O_RDWR);
	at = mmap(at, 2 * PAGE, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0);
	read_byte(at + PAGE);
}

static void signal_sent(struct tree *tree, struct os *os)
{
	const atomic_bool *lost;
	map_cut(tree, os, &lost);
	raise(SIGBUS);
}

static void exit_seven(int number)
{
	(void)number;
	_exit(7);
}

static void fault_handled(struct tree *tree, struct os *os)
{
	signal(SIGBUS, exit_seven);
	fault_elsewhere(tree, os);
}

UNIT_TEST(other_faults)
{
	if (unit_in_valgrind())
		UNIT_SKIP("valgrind does not know memory that a handler of SIGBUS maps");
	struct os os = unit_os();
	struct tree tree;
	world_begin(&tree);
	int status = in_child(fault_elsewhere, &tree, &os);
	CU_ASSERT(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
	status = in_child(fault_unmapped, &tree, &os);
	CU_ASSERT(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
	status = in_child(signal_sent, &tree, &os);
	CU_ASSERT(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
	status = in_child(fault_handled, &tree, &os);
	CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	tree_end(&tree);
}

/** A segment file that is truncated when some objects were read. */
static struct {
	int fd;
	off_t size;              /* that it gets */
	int objects;             /* before; negative: never */
} cut = {.objects = -1};

/** An object was read. */
static void count_object(void)
{
	if (cut.objects >= 0 && cut.objects-- == 0)
		CU_ASSERT_EQUAL(ftruncate(cut.fd, cut.size), 0);
}

/* The segment file of an index. */

struct victim {
	struct tree tree;
	struct os os;
	struct world *world;
	int fd;                  /* of its first segment */
	char *bytes;
	off_t size;
};

static void victim_segment(struct victim *v)
{
	struct stat st;
	char name[32];
	v->fd = -1;
	for (int i = 0; v->fd < 0 && i < 100; ++i) {
		snprintf(name, sizeof(name), "segment.%d", i);
		v->fd = openat(v->tree.fd, name, O_RDWR);
	}
	CU_ASSERT_EQUAL_FATAL(fstat(v->fd, &st), 0);
	v->size = st.st_size;
	v->bytes = malloc((size_t)v->size);
	CU_ASSERT_EQUAL_FATAL(pread(v->fd, v->bytes, (size_t)v->size, 0), v->size);
}

static void victim_restore(const struct victim *v)
{
	CU_ASSERT_EQUAL_FATAL(pwrite(v->fd, v->bytes, (size_t)v->size, 0), v->size);
}

static void victim_end(struct victim *v)
{
	close(v->fd);
	free(v->bytes);
	free(v->world);
	tree_end(&v->tree);
}

enum when { COLD, WARM, WITHIN, WHENS };

/** Read while the file is truncated.  @return whether the reader failed. */
static bool read_cut(const struct victim *v, const struct index_reader *reader, enum when when,
                     const char *expected)
{
	STRBUF(out);
	STRBUF(before);
	struct os os = v->os;
	struct index *index = index_open(&os, v->tree.fd, INDEX_READ);
	CU_ASSERT_PTR_NOT_NULL_FATAL(index);
	if (when == WARM)
		CU_ASSERT_EQUAL(reader->read(index, &before), 0);
	cut.objects = when == WITHIN ? 300 : -1;
	if (when != WITHIN)
		CU_ASSERT_EQUAL(ftruncate(v->fd, cut.size), 0);
	int rc = reader->read(index, &out), error = errno;
	cut.objects = -1;
	bool same = strcmp(strbuf_str(&out), expected) == 0;
	bool begins = strncmp(strbuf_str(&out), expected, out.len) == 0;
	CU_ASSERT(rc == 0 ? same : error == EBADMSG && (begins || !reader->streams));
	/* What was lost remains lost. */
	if (rc != 0 && reader->streams) {
		strbuf_reset(&out);
		CU_ASSERT(reader->read(index, &out) == -1 && errno == EBADMSG);
	}
	index_close(index);
	victim_restore(v);
	return rc != 0;
}

UNIT_TEST(readers)
{
	if (unit_in_valgrind())
		UNIT_SKIP("valgrind does not know memory that a handler of SIGBUS maps");
	struct victim v = {.os = unit_os()};
	world_begin(&v.tree);
	v.world = world_new(1, 300, 5000, 40);
	CU_ASSERT_EQUAL_FATAL(world_build(v.world, &v.os, v.tree.fd), 0);
	victim_segment(&v);
	cut.fd = v.fd;
	index_readers_hook = count_object;
	for (const struct index_reader *reader = index_readers; reader->name; ++reader) {
		STRBUF(expected);
		unsigned failed[WHENS] = {0};
		struct index *index = index_open(&v.os, v.tree.fd, INDEX_READ);
		CU_ASSERT_EQUAL(reader->read(index, &expected), 0);
		index_close(index);
		for (cut.size = 0; cut.size < v.size; cut.size += PAGE * unit_step()) {
			for (enum when when = 0; when < WHENS; ++when) {
				unit_note("%s, %lld bytes, %d", reader->name,
				          (long long)cut.size, when);
				failed[when] += read_cut(&v, reader, when,
				                         strbuf_str(&expected));
			}
		}
		CU_ASSERT(failed[COLD] > 0 && failed[WARM] > 0);
		CU_ASSERT(failed[WITHIN] > 0 || !reader->streams
		          || strcmp(reader->name, "directories") == 0);
	}
	index_readers_hook = NULL;
	victim_end(&v);
}

/** The names and sizes of all files, and the manifest. */
static void put_files(const struct victim *v, struct strbuf *out)
{
	char name[32], bytes[4096];
	struct stat st;
	for (int i = 0; i < 200; ++i) {
		snprintf(name, sizeof(name), "%s.%d", i < 100 ? "segment" : "journal", i % 100);
		if (fstatat(v->tree.fd, name, &st, 0) == 0)
			strbuf_printf(out, "%s %llu\n", name, (unsigned long long)st.st_ino);
	}
	int fd = openat(v->tree.fd, "manifest", O_RDONLY);
	for (ssize_t n; (n = read(fd, bytes, sizeof(bytes))) > 0;)
		strbuf_add(out, bytes, (size_t)n);
	close(fd);
	CU_ASSERT_EQUAL(faccessat(v->tree.fd, "manifest.new", F_OK, 0), -1);
}

/* A fold that fails leaves the index as it is; one that does not need what was lost succeeds. */
UNIT_TEST(fold)
{
	if (unit_in_valgrind())
		UNIT_SKIP("valgrind does not know memory that a handler of SIGBUS maps");
	unsigned failed = 0;
	for (off_t size = 0;; size += (off_t)PAGE * unit_step()) {
		struct victim v = {.os = unit_os(), .world = world_new(2, 300, 5000, 40)};
		STRBUF(before);
		STRBUF(after);
		STRBUF(why);
		struct index *index = world_open(v.world, &v.os, &v.tree);
		victim_segment(&v);
		unit_note("%lld bytes", (long long)size);
		for (int i = 0; i < 40; ++i)
			CU_ASSERT_EQUAL_FATAL(world_step(v.world, index), 0);
		CU_ASSERT_EQUAL_FATAL(index_commit(index), 0);
		put_files(&v, &before);
		CU_ASSERT_EQUAL(ftruncate(v.fd, size), 0);
		int rc = index_fold(index, true);
		CU_ASSERT(rc == 0 || errno == EBADMSG);
		if (rc != 0) {
			++failed;
			put_files(&v, &after);
			CU_ASSERT(before.len == after.len
			          && memcmp(before.data, after.data, after.len) == 0);
			/* Nor is anything stored afterwards. */
			STRBUF(dump);
			if (index_dump(index, &dump) != 0) {
				CU_ASSERT_EQUAL(index_set_fresh(index, 12345, false), 0);
				CU_ASSERT(index_commit(index) == -1 && errno == EBADMSG);
			}
		}
		index_close(index);
		victim_restore(&v);
		char *text = world_text(v.world);
		CU_ASSERT(index_has(&v.os, v.tree.fd, text, &why));
		unit_expect(strbuf_str(&why), "");
		free(text);
		bool ends = size >= v.size;
		CU_ASSERT(!ends || rc == 0);
		victim_end(&v);
		if (ends)
			break;
	}
	CU_ASSERT(failed > 0);
}

static void *read_in_thread(void *arg)
{
	return (void *)(intptr_t)(read_byte((const char *)arg + PAGE) + 1);
}

/* Each map has a mark of its own, however many there are; in threads as well. */
UNIT_TEST(marks)
{
	if (unit_in_valgrind())
		UNIT_SKIP("valgrind does not know memory that a handler of SIGBUS maps");
	enum { MAPS = 200 };
	static char *at[MAPS];
	static const atomic_bool *lost[MAPS];
	struct os os = unit_os();
	struct tree tree;
	world_begin(&tree);
	for (int i = 0; i < MAPS; ++i)
		at[i] = map_cut(&tree, &os, &lost[i]);
	for (int i = 0; i < MAPS; i += 2) {
		pthread_t thread;
		void *result = NULL;
		CU_ASSERT_EQUAL(read_byte(at[i]), 0);
		CU_ASSERT(!os_map_lost(lost[i]));
		if (i % 4 == 0 && os_thread(&thread, read_in_thread, at[i]) == 0) {
			pthread_join(thread, &result);
			CU_ASSERT_EQUAL((intptr_t)result, 1);
		} else {
			errno = 77;
			CU_ASSERT_EQUAL(read_byte(at[i] + PAGE), 0);
			CU_ASSERT_EQUAL(errno, 77);
		}
	}
	for (int i = 0; i < MAPS; ++i)
		CU_ASSERT_EQUAL(os_map_lost(lost[i]), i % 2 == 0);
	for (int i = 0; i < MAPS; ++i)
		os_unmap(&os, at[i], 2 * PAGE);
	/* An entry that is used again is not lost. */
	char *again = map_cut(&tree, &os, &lost[0]);
	CU_ASSERT(!os_map_lost(lost[0]));
	os_unmap(&os, again, 2 * PAGE);
	tree_end(&tree);
}
