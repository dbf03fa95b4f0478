/* SPDX-License-Identifier: MIT */
/*
 * index/store: what a crash leaves of an index opens as it was at a commit; what is damaged is
 * reported, or does not matter.
 *
 * A crash is simulated: each call that changes the directory is applied to a model of it that knows
 * what is synced.  After each call, several directories are made of the model: all calls are on
 * disk, or only what was synced; names without their data; the end of a file cut anywhere.
 */
#include "unit.h"

#include "fault.h"
#include "store_world.h"
#include "tree.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>

/** Whether the long form was requested. */
static bool is_full(void)
{
	const char *scale = getenv("GETMNT_SCALE");
	return scale && strcmp(scale, "full") == 0;
}

/* The model. */

enum { FILES = 200, FDS = 1024, ROUNDS = 12 };

struct inode {
	char *data, *synced;
	size_t size, synced_size;
};

struct entry {
	char name[32];
	int inode;               /* -1: none */
};

static struct {
	struct inode inodes[FILES];
	int ninodes;
	struct entry names[FILES], synced[FILES];
	int nnames, nsynced;
	int fds[FDS];            /* the inode of a descriptor; -1: none; -2: the directory */
	int commits;             /* that have returned */
	char *states[ROUNDS + 2];
	struct tree copy;
	unsigned step, tried, failed;
	uint64_t cut;
} sim;

static int find_name(const char *name)
{
	for (int i = 0; i < sim.nnames; ++i)
		if (strcmp(sim.names[i].name, name) == 0)
			return i;
	return -1;
}

static void set_name(const char *name, int inode)
{
	int at = find_name(name);
	if (at < 0) {
		at = sim.nnames++;
		snprintf(sim.names[at].name, sizeof(sim.names[at].name), "%s", name);
	}
	sim.names[at].inode = inode;
}

/** What of a file is on disk. */
enum extent { ALL, SYNCED, ZEROED };

static void write_file(const char *name, const struct inode *inode, enum extent extent, size_t cut)
{
	STRBUF(bytes);
	const char *data = extent == ALL ? inode->data : inode->synced;
	size_t size = extent == ALL ? inode->size : inode->synced_size;
	if (size > 0)
		strbuf_add(&bytes, data, size < cut ? size : cut);
	while (extent == ZEROED && bytes.len < inode->size)
		strbuf_putc(&bytes, '\0');
	int fd = openat(sim.copy.fd, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	CU_ASSERT_FATAL(fd >= 0);
	CU_ASSERT(write(fd, strbuf_str(&bytes), bytes.len) == (ssize_t)bytes.len);
	close(fd);
}

/** Make a directory of the model. */
static void make_copy(const struct entry *names, int n, enum extent extent)
{
	tree_remove(sim.copy.path);
	CU_ASSERT_FATAL(mkdir(sim.copy.path, 0700) == 0);
	close(sim.copy.fd);
	sim.copy.fd = open(sim.copy.path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	for (int i = 0; i < n; ++i)
		if (names[i].inode >= 0)
			write_file(names[i].name, &sim.inodes[names[i].inode], extent, SIZE_MAX);
}

/** The copy is at a commit that had returned, or at the one in progress; and it can be changed.
    @recover  Try that, too. */
static void expect_commit(const char *what, bool recover)
{
	struct os os = unit_os();
	STRBUF(why);
	char *state = sim.states[sim.commits];
	++sim.tried;
	if (!index_has(&os, sim.copy.fd, state, &why)) {
		state = sim.states[sim.commits + 1];
		strbuf_reset(&why);
		if (!index_has(&os, sim.copy.fd, state, &why)) {
			if (sim.failed++ == 0)
				printf("  step %u, %d commits, %s, cut %llu: %s\n", sim.step,
				       sim.commits, what, (unsigned long long)sim.cut, why.data);
			return;
		}
	}
	if (!recover)
		return;
	struct index *index = index_open(&os, sim.copy.fd, INDEX_WRITE);
	struct index_row row = {{[IC_MODE] = S_IFREG | 0600, [IC_INO] = 1}};
	STRBUF(before);
	STRBUF(after);
	CU_ASSERT_PTR_NOT_NULL_FATAL(index);
	CU_ASSERT(index_dump(index, &before) == 0 && strcmp(strbuf_str(&before), state) == 0);
	CU_ASSERT_EQUAL(index_put(index, index_root(index), "after", 5, &row), 0);
	CU_ASSERT_EQUAL(index_commit(index), 0);
	if (sim.step % 3 == 0)
		CU_ASSERT_EQUAL(index_fold(index, true), 0);
	strbuf_reset(&before);
	CU_ASSERT_EQUAL(index_dump(index, &before), 0);
	index_close(index);
	CU_ASSERT_PTR_NOT_NULL(strstr(strbuf_str(&before), "/after 1 "));
	CU_ASSERT(index_has(&os, sim.copy.fd, strbuf_str(&before), &after));
}

/** Cut the end of a file that is not synced at each of its bytes. */
static void expect_cuts(const char *name, const struct inode *inode, size_t from)
{
	size_t step = is_full() || sim.commits == 2 ? 1 : 61;
	for (size_t cut = inode->size; cut > from; cut -= cut - from < step ? 1 : step) {
		sim.cut = cut;
		write_file(name, inode, ALL, cut);
		expect_commit("the file cut", false);
	}
	sim.cut = 0;
}

/** Check all states in which a crash may leave the directory now. */
static void expect_crashes(void)
{
	++sim.step;
	make_copy(sim.names, sim.nnames, ALL);
	expect_commit("all is on disk", true);
	make_copy(sim.synced, sim.nsynced, SYNCED);
	expect_commit("only what is synced", true);
	make_copy(sim.synced, sim.nsynced, ALL);
	expect_commit("data without names", true);
	make_copy(sim.names, sim.nnames, SYNCED);
	expect_commit("names without data", true);
	/* The rename reaches the disk before the names of other new files. */
	struct entry renamed[FILES];
	int at = find_name("manifest");
	memcpy(renamed, sim.synced, sizeof(renamed));
	for (int i = 0; i < sim.nsynced; ++i)
		if (strcmp(renamed[i].name, "manifest") == 0)
			renamed[i].inode = sim.names[at].inode;
	make_copy(renamed, sim.nsynced, SYNCED);
	expect_commit("the manifest without other names", true);
	make_copy(sim.names, sim.nnames, ZEROED);
	expect_commit("names and sizes without data", true);
}

/** A call was made. */
static void trace(int kind, long rc, const long *args)
{
	long fd = args[0];
	struct inode *inode = fd >= 0 && fd < FDS && sim.fds[fd] >= 0 ? &sim.inodes[sim.fds[fd]]
	                                                            : NULL;
	if (rc < 0)
		return;
	if ((kind == OS_OPENAT || kind == OS_OPENAT2) && rc < FDS) {
		const char *name = (const char *)args[1];
		int at = find_name(name);
		bool made = kind == OS_OPENAT && args[2] & O_CREAT && strcmp(name, "lock") != 0;
		sim.fds[rc] = strcmp(name, ".") == 0 ? -2 : at < 0 ? -1 : sim.names[at].inode;
		if (!made)
			return;
		CU_ASSERT_FATAL(sim.ninodes < FILES);
		sim.fds[rc] = sim.ninodes++;
		set_name(name, sim.fds[rc]);
	} else if (kind == OS_PWRITE && inode) {
		size_t end = (size_t)(args[3] + rc), from = inode->size;
		if (end > inode->size) {
			inode->data = realloc(inode->data, end);
			inode->size = end;
		}
		memcpy(inode->data + args[3], (const void *)args[1], (size_t)rc);
		for (int i = 0; sim.commits >= 0 && i < sim.nnames; ++i)
			if (sim.names[i].inode == inode - sim.inodes
			    && strncmp(sim.names[i].name, "journal", 7) == 0) {
				make_copy(sim.names, sim.nnames, ALL);
				expect_cuts(sim.names[i].name, inode, from);
			}
	} else if (kind == OS_FTRUNCATE && inode) {
		inode->size = (size_t)args[1];
	} else if ((kind == OS_FSYNC || kind == OS_FDATASYNC) && inode) {
		inode->synced = realloc(inode->synced, inode->size + 1);
		if (inode->size > 0)
			memcpy(inode->synced, inode->data, inode->size);
		inode->synced_size = inode->size;
	} else if (kind == OS_FSYNC && fd >= 0 && fd < FDS && sim.fds[fd] == -2) {
		memcpy(sim.synced, sim.names, sizeof(sim.names));
		sim.nsynced = sim.nnames;
	} else if (kind == OS_RENAME) {
		int from = find_name((const char *)args[1]);
		CU_ASSERT_FATAL(from >= 0);
		set_name((const char *)args[3], sim.names[from].inode);
		sim.names[from].inode = -1;
	} else if (kind == OS_UNLINK) {
		set_name((const char *)args[1], -1);
	} else {
		return;
	}
	if (sim.commits >= 0)
		expect_crashes();
}

UNIT_TEST(crash)
{
	if (unit_in_valgrind())
		UNIT_SKIP("too slow in valgrind");
	FAULT_OR_SKIP();
	struct fault fault = {.mode = FAULT_TRACE, .trace = trace};
	struct fault_count count;
	struct tree tree;
	struct os os = unit_os();
	struct world *w = world_new(6, 40, 200, 20), *ahead = malloc(sizeof(*ahead));
	memcpy(ahead, w, sizeof(*w));
	for (int i = 0; i < ROUNDS + 2; ++i) {
		sim.states[i] = world_text(ahead);
		world_steps(ahead, NULL);
	}
	memset(sim.fds, 0xff, sizeof(sim.fds));
	world_begin(&tree);
	world_begin(&sim.copy);
	/* The first build is only recorded. */
	sim.commits = -1;
	fault_begin(&fault, 1000000);
	CU_ASSERT_EQUAL_FATAL(world_build(w, &os, tree.fd), 0);
	sim.commits = 0;
	for (int part = 0; part < 2; ++part) {
		struct index *index = index_open(&os, tree.fd, INDEX_WRITE);
		CU_ASSERT_PTR_NOT_NULL_FATAL(index);
		for (int i = 0; i < ROUNDS / 2; ++i) {
			CU_ASSERT_EQUAL(world_steps(w, index), 0);
			CU_ASSERT_EQUAL(index_commit(index), 0);
			++sim.commits;
			if (i % 3 == 1)
				CU_ASSERT_EQUAL(index_fold(index, part), 0);
		}
		index_close(index);
	}
	/* Another build, of the same state. */
	CU_ASSERT_EQUAL(world_build(w, &os, tree.fd), 0);
	fault_end(&count);
	CU_ASSERT_EQUAL(sim.failed, 0);
	CU_ASSERT(sim.step > 80 && sim.tried > 1000);
	printf("  %u states after %u calls\n", sim.tried, sim.step);
	tree_end(&tree);
	tree_end(&sim.copy);
	for (int i = 0; i < sim.ninodes; ++i) {
		free(sim.inodes[i].data);
		free(sim.inodes[i].synced);
	}
	for (int i = 0; i < ROUNDS + 2; ++i)
		free(sim.states[i]);
	free(w);
	free(ahead);
}

/** Shared with the process that is killed. */
struct counter {
	_Atomic uint32_t commits;
};

/** Change an index until this process is killed. */
static void change_forever(struct world *w, int dirfd, struct counter *counter)
{
	struct os os = unit_os();
	struct index *index = index_open(&os, dirfd, INDEX_WRITE);
	if (!index || world_resolve(w, index) != 0)
		_exit(1);
	for (uint32_t i = 1; world_steps(w, index) == 0 && index_commit(index) == 0; ++i) {
		atomic_store(&counter->commits, i);
		if (i % 4 == 0 && index_fold(index, i % 8 == 0) != 0)
			break;
	}
	_exit(1);
}

UNIT_TEST(killed)
{
	if (unit_in_valgrind())
		UNIT_SKIP("too slow in valgrind");
	struct tree tree;
	struct os os = unit_os();
	struct world *w = world_new(7, 100, 1000, 30), *child = malloc(sizeof(*child));
	struct counter *counter = mmap(NULL, sizeof(*counter), PROT_READ | PROT_WRITE,
	                               MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	world_begin(&tree);
	CU_ASSERT_EQUAL_FATAL(world_build(w, &os, tree.fd), 0);
	uint32_t total = 0, random = 1;
	for (int i = 0; i < (is_full() ? 2000 : 200); ++i) {
		STRBUF(why);
		int status;
		atomic_store(&counter->commits, 0);
		memcpy(child, w, sizeof(*w));
		pid_t pid = fork();
		if (pid == 0)
			change_forever(child, tree.fd, counter);
		random = random * 1103515245 + 12345;
		/* After some commits, at any moment. */
		while (atomic_load(&counter->commits) < random >> 28
		       && waitpid(pid, &status, WNOHANG) == 0)
			usleep(50);
		usleep(random >> 16 & 2047);
		kill(pid, SIGKILL);
		CU_ASSERT(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
		uint32_t n = atomic_load(&counter->commits);
		total += n;
		for (uint32_t k = 0; k < n; ++k)
			world_steps(w, NULL);
		char *state = world_text(w);
		bool good = index_has(&os, tree.fd, state, &why);
		free(state);
		if (!good) {
			world_steps(w, NULL);
			state = world_text(w);
			strbuf_reset(&why);
			good = index_has(&os, tree.fd, state, &why);
			free(state);
		}
		if (!good)
			printf("  round %d, %u commits: %s\n", i, n, strbuf_str(&why));
		CU_ASSERT_FATAL(good);
		/* Before it is full. */
		if (w->ndirs > WORLD_DIRS / 8 || w->nfiles > WORLD_FILES / 8) {
			free(w);
			w = world_new((uint64_t)i, 100, 1000, 30);
			CU_ASSERT_EQUAL_FATAL(world_build(w, &os, tree.fd), 0);
		}
	}
	CU_ASSERT(total > 500);
	printf("  %u commits\n", total);
	munmap(counter, sizeof(*counter));
	free(w);
	free(child);
	tree_end(&tree);
}

/** Read a damaged index in each way.  @return whether all answers are right or errors. */
static bool is_harmless(struct world *w, struct os *os, int dirfd, const char *state, bool *told)
{
	STRBUF(why);
	STRBUF(dump);
	struct index *index = index_open(os, dirfd, INDEX_READ);
	bool good = true;
	*told = true;
	if (!index)
		return errno == EBADMSG || errno == EPROTONOSUPPORT;
	*told = false;
	for (int i = 0; i < 4; ++i) {
		STRBUF(path);
		uint32_t at = world_random(w, w->ndirs);
		index_dir dir;
		if (!w->dirs[at].live)
			continue;
		if (index_path(index, w->dirs[at].dir, index_root(index), &path) != 0) {
			good &= errno == EBADMSG;
			continue;
		}
		int rc = index_lookup(index, strbuf_str(&path), &dir);
		good &= rc == 0 ? dir == w->dirs[at].dir : errno == EBADMSG;
	}
	if (index_dump(index, &dump) != 0) {
		*told = true;
		good &= errno == EBADMSG;
	} else {
		good &= strcmp(strbuf_str(&dump), state) == 0;
	}
	if (index_check(index, &why) != 0) {
		*told = true;
		good &= errno == EBADMSG && why.len > 0;
	} else {
		/* A check that finds nothing: nothing is damaged that was read. */
		good &= !*told;
	}
	index_close(index);
	return good;
}

UNIT_TEST(flips)
{
	if (unit_in_valgrind())
		UNIT_SKIP("too slow in valgrind");
	struct tree tree;
	struct os os = unit_os();
	struct world *w = world_new(8, 40, 300, 20);
	struct target { char name[40]; int fd; uint64_t size; } files[8];
	size_t n = 0, counts[2] = {0, 0};
	uint64_t total = 0;
	struct index *index = world_open(w, &os, &tree);
	for (int i = 0; i < 6; ++i) {
		CU_ASSERT_EQUAL(world_steps(w, index), 0);
		CU_ASSERT_EQUAL(index_commit(index), 0);
		if (i == 2)
			CU_ASSERT_EQUAL(index_fold(index, false), 0);
	}
	index_close(index);
	char *state = world_text(w);
	for (unsigned i = 0; i < 40 && n < COUNT(files); ++i) {
		struct target *file = &files[n];
		struct stat st;
		if (i == 0)
			snprintf(file->name, sizeof(file->name), "manifest");
		else
			snprintf(file->name, sizeof(file->name), "%s.%u",
			         i % 2 ? "segment" : "journal", i / 2);
		file->fd = openat(tree.fd, file->name, O_RDWR | O_CLOEXEC);
		if (file->fd < 0)
			continue;
		CU_ASSERT_EQUAL(fstat(file->fd, &st), 0);
		file->size = (uint64_t)st.st_size;
		total += file->size;
		++n;
	}
	CU_ASSERT(n >= 3);
	for (int i = 0; i < (is_full() ? 10000 : 1500); ++i) {
		uint64_t at = world_random(w, (uint32_t)total);
		size_t f = 0;
		/* The small files as often as the large ones. */
		if (i % 2) {
			f = world_random(w, (uint32_t)n);
			at = world_random(w, (uint32_t)files[f].size);
		}
		for (; at >= files[f].size; ++f)
			at -= files[f].size;
		unsigned char old, new;
		bool told;
		CU_ASSERT(pread(files[f].fd, &old, 1, (off_t)at) == 1);
		new = old ^ (unsigned char)(1u << world_random(w, 8));
		CU_ASSERT(pwrite(files[f].fd, &new, 1, (off_t)at) == 1);
		unit_note("%s, byte %llu", files[f].name, (unsigned long long)at);
		if (!is_harmless(w, &os, tree.fd, state, &told)) {
			CU_FAIL("a wrong answer");
			printf("  %s, byte %llu, %02x instead of %02x\n", files[f].name,
			       (unsigned long long)at, new, old);
		}
		++counts[told];
		CU_ASSERT(pwrite(files[f].fd, &old, 1, (off_t)at) == 1);
	}
	bool told;
	CU_ASSERT(is_harmless(w, &os, tree.fd, state, &told) && !told);
	printf("  of %llu bytes: %zu flips harmless, %zu reported\n", (unsigned long long)total,
	       counts[0], counts[1]);
	CU_ASSERT(counts[1] > counts[0]);
	for (size_t i = 0; i < n; ++i)
		close(files[i].fd);
	free(state);
	free(w);
	tree_end(&tree);
}
