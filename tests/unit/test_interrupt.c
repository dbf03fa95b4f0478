/* SPDX-License-Identifier: MIT */
/* Signals without SA_RESTART cut reads of directories short and end calls with EINTR; results do
   not change. */
#include "tree.h"
#include "unit.h"

#include "bfs/bfs_impl.h"
#include "discover/discover.h"
#include "os/file.h"
#include "mounts/table.h"

#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>

enum { FILES = 4000, TURNS = 30, MOST_TURNS = 10000 };

/* Under valgrind signals seldom interrupt a call.  The timer replaces that of the suite. */
#define MOST_SECONDS 10.0

static volatile sig_atomic_t interrupted;

/* Microseconds between two signals; longer where handling a signal takes long. */
static int interval = 300;

static void on_alarm(int sig)
{
	(void)sig;
	++interrupted;
}

/** Interrupt this thread after each interval; 0: stop. */
static void interrupt_every(int microseconds)
{
	struct sigaction action = {.sa_handler = on_alarm};
	sigaction(SIGALRM, &action, NULL);
	struct itimerval every = {{0, microseconds}, {0, microseconds}};
	CU_ASSERT_EQUAL(setitimer(ITIMER_REAL, &every, NULL), 0);
}

static enum bfs_verdict count_entry(void *arg, struct bfs_scratch *scratch, const struct bfs_at *at,
                                    const struct bfs_entry *entry)
{
	uint64_t *sum = arg;
	(void)scratch, (void)at;
	sum[0] += strtoul(entry->name, NULL, 10);
	++sum[1];
	return BFS_SKIP;
}

/** Read a whole directory.  @return the number of calls. */
static uint64_t read_whole(struct os *os, int topfd)
{
	uint64_t sum[2] = {0}, before = os->calls[OS_GETDENTS];
	struct bfs_policy policy = {.entry = count_entry, .arg = sum};
	struct bfs_reader *reader = bfs_reader_new(os, &policy, true);
	struct bfs_batch *batch = bfs_batch_new();
	CU_ASSERT_FATAL(reader && batch);
	batch->n = 1;
	batch->reads[0] = (struct bfs_read){.parentfd = topfd, .name = ".", .fd = -1};
	bfs_reader_read(reader, batch);
	CU_ASSERT_EQUAL(batch->reads[0].error, 0);
	CU_ASSERT_EQUAL(sum[1], FILES);
	CU_ASSERT_EQUAL(sum[0], (uint64_t)FILES * (FILES - 1) / 2);
	bfs_batch_free(batch);
	bfs_reader_free(reader);
	return os->calls[OS_GETDENTS] - before;
}

UNIT_TEST(a_directory)
{
	struct tree tree;
	struct os os;
	tree_begin(&tree);
	for (int i = 0; i < FILES; ++i)
		tree_file(&tree, "%d", i);
	os_init(&os, getenv("GETMNT_DISABLE"));
	double begin = os_now();
	uint64_t calm = read_whole(&os, tree.fd);
	double took = (os_now() - begin) * 1e6;
	if (took / 10 > interval)
		interval = (int)(took / 10);
	interrupt_every(interval);
	int cut = 0, turn = 0;
	double end = os_now() + MOST_SECONDS;
	for (; cut < TURNS && turn < MOST_TURNS && os_now() < end; ++turn) {
		cut += read_whole(&os, tree.fd) > calm;
	}
	interrupt_every(0);
	CU_ASSERT_TRUE(interrupted > 0);
	tree_end(&tree);
	if (cut == 0 && turn < MOST_TURNS / 10)
		UNIT_SKIP("too slow for a signal to meet a read");
	/* A short read is not the end of a directory. */
	CU_ASSERT_TRUE(cut > 0);
}

UNIT_TEST(a_pipe)
{
	int ends[2];
	CU_ASSERT_EQUAL_FATAL(pipe2(ends, O_CLOEXEC), 0);
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	pid_t pid = fork();
	if (pid == 0) {
		for (int i = 0; i < 200; ++i) {
			usleep(500);
			if (write(ends[1], "0123456789\n", 11) != 11)
				_exit(1);
		}
		_exit(0);
	}
	close(ends[1]);
	struct os os;
	os_init(&os, NULL);
	char *text = NULL;
	size_t len = 0;
	interrupted = 0;
	interrupt_every(interval);
	CU_ASSERT_EQUAL(os_read_fd(&os, ends[0], 1 << 20, &text, &len), 0);
	interrupt_every(0);
	CU_ASSERT_TRUE(interrupted > 0);
	CU_ASSERT_EQUAL(len, 200 * 11);
	free(text);
	close(ends[0]);
	int status;
	CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
	CU_ASSERT_EQUAL(status, 0);
}

/** Run discovery. */
static struct discover_stats run(enum table_source source, enum discover_names names,
                                 unsigned threads)
{
	struct os os = unit_os();
	if (source == TABLE_LISTMOUNT && !(os.caps & OSC_LISTMOUNT))
		source = TABLE_MOUNTINFO;
	struct mount_table *table = table_read_kernel(&os, source, MF_ALL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(table);
	struct discover_opts opts;
	discover_defaults(&opts);
	opts.names = names;
	opts.threads = threads;
	struct discovery *d = discover(&os, NULL, table, &opts);
	CU_ASSERT_PTR_NOT_NULL_FATAL(d);
	struct discover_stats stats = d->stats;
	discovery_free(d);
	table_free(table);
	return stats;
}

UNIT_TEST(a_discovery)
{
	for (int which = 0; which < 4; ++which) {
		enum table_source source = which & 1 ? TABLE_MOUNTINFO : TABLE_LISTMOUNT;
		enum discover_names names = which & 2 ? DN_KERNEL : DN_HINT;
		struct discover_stats calm = run(source, names, 1);
		interrupted = 0;
		interrupt_every(interval / 3);
		/* A run may end before the first signal. */
		double end = os_now() + MOST_SECONDS;
		for (int turn = 0; interrupted < TURNS && turn < MOST_TURNS
		     && os_now() < end; ++turn) {
			struct discover_stats now = run(source, names, 1);
			CU_ASSERT_EQUAL(memcmp(now.named, calm.named, sizeof(now.named)), 0);
			CU_ASSERT_EQUAL(memcmp(now.states, calm.states, sizeof(now.states)), 0);
			CU_ASSERT_EQUAL(now.errors, calm.errors);
		}
		interrupt_every(0);
		CU_ASSERT_TRUE(interrupted > 0);
	}
}
