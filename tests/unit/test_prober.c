/* SPDX-License-Identifier: MIT */
/* The prober.  tests/system/probe*.py have the servers that hang. */
#include "unit.h"

#include "probe/prober_impl.h"
#include "tree.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

static struct os os;

static struct prober *begin(void)
{
	os_init(&os, getenv("GETMNT_DISABLE"));
	struct prober *prober = prober_new(&os, 10);
	CU_ASSERT_PTR_NOT_NULL_FATAL(prober);
	return prober;
}

/** A question about a directory, on any mount. */
static struct probe_question about(const char *path, uint32_t tag)
{
	return (struct probe_question){.tag = tag, .path = path};
}

/** Ask one question and take its answer. */
static struct probe_answer ask(struct prober *prober, struct probe_question question)
{
	struct probe_answer answer = {.how = PROBE_END};
	CU_ASSERT_EQUAL(prober_ask(prober, &question), 0);
	CU_ASSERT_EQUAL(prober_answer(prober, &answer, os_now() + 20), 1);
	CU_ASSERT_EQUAL(answer.tag, question.tag);
	return answer;
}

UNIT_TEST(answers)
{
	int fds = unit_count("/proc/self/fd");
	struct prober *prober = begin();
	uint64_t statfs = os.calls[OS_STATFS];
	struct probe_answer answer = ask(prober, about("/", 7));
	CU_ASSERT_TRUE(answer.how == PROBE_ANSWERED && answer.error == 0);
	CU_ASSERT_TRUE(answer.sized && answer.seen && !answer.left);
	CU_ASSERT_TRUE(answer.calls[OS_STATX] == 2 && answer.calls[OS_STATFS] == 1);
	CU_ASSERT_EQUAL(answer.calls[OS_GETDENTS], 1);

	/* Only examined, not opened. */
	struct probe_question look = about("/", 8), wrong = about("/", 1);
	look.flags = PROBE_LOOK;
	answer = ask(prober, look);
	CU_ASSERT_TRUE(answer.how == PROBE_ANSWERED && !answer.sized
	               && answer.calls[OS_STATFS] + answer.calls[OS_GETDENTS] == 0);

	/* A path through a file, and a missing path; links are not followed. */
	CU_ASSERT_EQUAL(ask(prober, about("/proc/self/exe/x", 9)).how, PROBE_ELSEWHERE);
	answer = ask(prober, about("/no such directory", 10));
	CU_ASSERT_TRUE(answer.how == PROBE_ELSEWHERE && answer.error == ENOENT);
	CU_ASSERT_NOT_EQUAL(ask(prober, about("/proc/self/task", 11)).how, PROBE_ANSWERED);

	/* Another mount is reported, and not opened. */
	if (os.caps & OSC_STATX_MNT_ID) {
		wrong.flags = PROBE_BY_ID;
		wrong.id = UINT32_MAX;
		answer = ask(prober, wrong);
		CU_ASSERT_TRUE(answer.how == PROBE_ELSEWHERE
		               && os_statx_mnt_id(&answer.st, false) != 0
		               && answer.calls[OS_STATFS] == 0);
	}
	wrong.flags = PROBE_BY_DEV;
	wrong.dev_major = UINT32_MAX;
	CU_ASSERT_EQUAL(ask(prober, wrong).how, PROBE_ELSEWHERE);

	/* Calls of the other processes, the supervisor and one worker, are counted. */
	prober_free(prober);
	CU_ASSERT_TRUE(os.calls[OS_STATFS] - statfs == 1 && os.calls[OS_FORK] == 2);
	CU_ASSERT_EQUAL(unit_count("/proc/self/fd"), fds);
	CU_ASSERT_TRUE(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
}

/** Names are relative to the root that was passed. */
UNIT_TEST(a_root)
{
	struct prober *prober = begin();
	int fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	CU_ASSERT_FATAL(fd >= 0);
	CU_ASSERT_EQUAL(prober_root(prober, fd), 0);
	close(fd);
	CU_ASSERT_EQUAL(ask(prober, about("/sys/kernel", 1)).how, PROBE_ANSWERED);
	CU_ASSERT_EQUAL(ask(prober, about("/", 2)).how, PROBE_ANSWERED);
	CU_ASSERT_EQUAL(ask(prober, about("/usr", 3)).how, PROBE_ELSEWHERE);
	prober_free(prober);
}

UNIT_TEST(long_names)
{
	struct prober *prober = begin();
	/* Longer than PATH_MAX: "/./././..." */
	enum { LONG = 9001, TOO_LONG = 70000 };
	char *name = malloc(TOO_LONG + 1);
	CU_ASSERT_PTR_NOT_NULL_FATAL(name);
	for (int i = 0; i < TOO_LONG; ++i)
		name[i] = i % 2 ? '.' : '/';
	name[TOO_LONG] = '\0';
	struct probe_question question = about(name, 1);
	CU_ASSERT_TRUE(prober_ask(prober, &question) == -1 && errno == ENAMETOOLONG);
	name[LONG] = '\0';
	CU_ASSERT_EQUAL(ask(prober, about(name, 2)).how, PROBE_ANSWERED);
	free(name);
	prober_free(prober);
}

/** More questions than there are workers, each answered once. */
UNIT_TEST(many_questions)
{
	enum { QUESTIONS = 3000 };
	static unsigned char seen[QUESTIONS];
	struct prober *prober = begin();
	int taken = 0;
	struct probe_answer answer;
	for (uint32_t i = 0; i < QUESTIONS; ++i) {
		struct probe_question question = about("/proc/sys", i);
		while (prober_ask(prober, &question) != 0) {
			CU_ASSERT_EQUAL_FATAL(errno, EAGAIN);
			CU_ASSERT_EQUAL_FATAL(prober_answer(prober, &answer, os_now() + 20), 1);
			++seen[answer.tag];
			++taken;
		}
	}
	for (; taken < QUESTIONS; ++taken) {
		CU_ASSERT_EQUAL_FATAL(prober_answer(prober, &answer, os_now() + 20), 1);
		++seen[answer.tag];
	}
	int wrong = 0;
	for (int i = 0; i < QUESTIONS; ++i)
		wrong += seen[i] != 1;
	CU_ASSERT_EQUAL(wrong, 0);
	/* There are no more answers. */
	CU_ASSERT_EQUAL(prober_answer(prober, &answer, os_now() + 0.01), 0);
	prober_free(prober);
}

/** Only one prober at a time; a directory that others can use is not locked. */
UNIT_TEST(one_at_a_time)
{
	char dir[] = "/tmp/getmnt-lock-XXXXXX", path[PROBER_DIR_MAX];
	struct stat st;
	const uid_t uid = geteuid();
	if (uid == 0 && setresuid(-1, 65534, -1) != 0)
		UNIT_SKIP("there is no other user here");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/getmnt", dir);
	setenv("XDG_RUNTIME_DIR", dir, 1);
	int fds = unit_count("/proc/self/fd");
	struct prober *first = begin(), *second = begin();
	CU_ASSERT_EQUAL(prober_lock(first, path, 0), 0);
	CU_ASSERT_TRUE(prober_lock(second, path, os_now() + 0.1) == -1 && errno == EWOULDBLOCK);
	/* The answer removes the record of its question. */
	CU_ASSERT_EQUAL(ask(first, about("/", 1)).how, PROBE_ANSWERED);
	CU_ASSERT_EQUAL(unit_count(path), 2);   /* "." and ".." */
	prober_free(first);
	CU_ASSERT_EQUAL(prober_lock(second, path, 0), 0);
	prober_free(second);
	CU_ASSERT_EQUAL(unit_count("/proc/self/fd"), fds);

	int64_t since;
	first = begin();
	CU_ASSERT_EQUAL(prober_left(first, 0, 1, &since), 0);
	CU_ASSERT_EQUAL(chmod(path, 0750), 0);
	CU_ASSERT_TRUE(prober_lock(first, path, 0) == -1 && errno == ENOTUNIQ);
	CU_ASSERT_TRUE(rmdir(path) == 0 && symlink(dir, path) == 0);
	CU_ASSERT_TRUE(prober_lock(first, path, 0) == -1 && (errno == ENOTDIR || errno == ELOOP));
	unlink(path);
	/* It does not exist, or belongs to another user: the next one is to be tried. */
	CU_ASSERT_TRUE(prober_lock(first, "/run/user/4294967294/getmnt", 0) == -1
	               && errno == ENOENT);
	CU_ASSERT_TRUE(prober_lock(first, "/proc/getmnt", 0) == -1 && errno == ENOENT);
	/* Others could make it as well. */
	CU_ASSERT_EQUAL(chmod(dir, 01777), 0);
	CU_ASSERT_TRUE(prober_lock(first, path, 0) == -1 && errno == ENOTUNIQ);
	CU_ASSERT_EQUAL(chmod(dir, 0700), 0);
	/* In /tmp, which is root's, the directory is the user's. */
	char own[PROBER_DIR_MAX];
	unsetenv("XDG_RUNTIME_DIR");
	unsigned number = 0;
	while (prober_memory_dir(number, own) && strncmp(own, "/tmp/", 5) != 0)
		++number;
	CU_ASSERT_EQUAL(number, 1);
	CU_ASSERT_FALSE(prober_memory_dir(number + 1, path));
	CU_ASSERT_TRUE(mkdir(own, 0755) == 0 || errno == EEXIST);
	CU_ASSERT_TRUE(prober_lock(first, own, 0) == -1 && errno == ENOTUNIQ);
	rmdir(own);
	CU_ASSERT_EQUAL(prober_lock(first, own, 0), 0);
	CU_ASSERT_TRUE(stat(own, &st) == 0 && (st.st_mode & 07777) == 0700
	               && st.st_uid == geteuid());
	prober_free(first);
	rmdir(own);
	rmdir(dir);
	/* The leak checker must be able to trace this process: prctl(2). */
	CU_ASSERT_EQUAL(setresuid(-1, uid, -1), 0);
	CU_ASSERT_EQUAL(prctl(PR_SET_DUMPABLE, 1), 0);
}

/** A user's hung mounts do not keep other users or root from probing; all uses are bounded. */
UNIT_TEST(room)
{
	/* Uses are added, of an owner (2000: of this and more users); then there is room, or
	   not, for another use by `who`. */
	static const struct {
		size_t more;
		uint32_t owner, who;
		int room, open;        /* open: before the last of them is closed */
	} rows[] = {
		{0, 0, 1000, 0, 0},
		{PROBER_LEFT_USER - 1, 1000, 1000, 0, 0},
		{1, 1000, 1000, EDQUOT, EBUSY},
		{0, 0, 1001, 0, 0}, {0, 0, 0, 0, 0},
		/* Many users leave root's half free. */
		{PROBER_LEFT_USERS - PROBER_LEFT_USER, 2000, 5000, EDQUOT, EBUSY},
		{0, 0, 0, 0, 0},
		{PROBER_LEFT_MAX - PROBER_LEFT_USERS - 1, 0, 0, 0, 0},
		{1, 0, 0, EDQUOT, EBUSY},
		/* More uses than allowed, by another version of the program. */
		{50, 0, 0, EDQUOT, EDQUOT},
	};
	static struct prober_use uses[2 * PROBER_LEFT_MAX];
	size_t n = 0;
	for (size_t i = 0; i < COUNT(rows); ++i) {
		for (size_t k = 0; k < rows[i].more; ++k, ++n)
			uses[n] = (struct prober_use){.owner = rows[i].owner + rows[i].owner / 2000
			                                       * (uint32_t)(k / PROBER_LEFT_USER)};
		if (rows[i].more > 0) {
			uses[n - 1].open = true;
			CU_ASSERT_EQUAL(prober_room(uses, n, rows[i].who), rows[i].open);
			uses[n - 1].open = false;
		}
		CU_ASSERT_EQUAL(prober_room(uses, n, rows[i].who), rows[i].room);
	}
	/* Root's uses do not take the share of the users. */
	for (size_t k = 0; k < PROBER_LEFT_MAX - 1; ++k)
		uses[k] = (struct prober_use){0};
	CU_ASSERT_EQUAL(prober_room(uses, PROBER_LEFT_MAX - 1, 1000), 0);
}

static struct tree records;

/** Whether a record of process `pid` is kept.  @text  Its fields from the device on; NULL: those of
    a process that was started at `start`. */
static bool kept(const struct prober_self *self, const char *boot_id, const char *text, int pid,
                 uint64_t start, uint64_t pid_ns, struct prober_left *one)
{
	char path[256], rest[128];
	struct prober_left *left;
	int dir = open(records.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	snprintf(rest, sizeof(rest), "8:3_%d_%ju_1000_%ju", pid, (uintmax_t)start,
	         (uintmax_t)pid_ns);
	snprintf(path, sizeof(path), "%s/%s_77_%s", records.path, boot_id, text ? text : rest);
	int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
	CU_ASSERT_TRUE_FATAL(dir >= 0 && fd >= 0);
	close(fd);
	ssize_t n = prober_recall(&os, dir, self, &left);
	bool is_kept = access(path, F_OK) == 0;
	CU_ASSERT_EQUAL(n, is_kept);
	if (n > 0)
		*one = left[0];
	free(left);
	unlink(path);
	close(dir);
	return is_kept;
}

/** A record is kept as long as its process exists. */
UNIT_TEST(records)
{
	enum { NO_PROCESS = 1 << 30 };
	struct prober_self self, unknown = {.boot_id = PROBE_BOOT_ID_UNKNOWN};
	struct prober_left one = {0};
	uint64_t start, other;
	char text[128];
	int me = getpid();
	tree_begin(&records);
	prober_self_init(&os, &self);
	CU_ASSERT_TRUE_FATAL(prober_process(&os, me, &start) == 'R' && start > 0
	                     && self.pid_ns > 0);
	const uint64_t ns = self.pid_ns;
	const char *boot_id = self.boot_id;

	CU_ASSERT_TRUE(kept(&self, boot_id, NULL, me, start, ns, &one));
	CU_ASSERT_TRUE(one.dev_major == 8 && one.dev_minor == 3 && one.pid == me
	               && one.owner == 1000 && one.since > 0);
	/* Written by a version without owners. */
	snprintf(text, sizeof(text), "8:3_%d_%ju", me, (uintmax_t)start);
	CU_ASSERT_TRUE(kept(&self, boot_id, text, 0, 0, 0, &one) && one.owner == 0);
	/* Written or read without /proc. */
	CU_ASSERT_TRUE(kept(&self, PROBE_BOOT_ID_UNKNOWN, NULL, me, start, ns, &one));
	CU_ASSERT_TRUE(kept(&unknown, boot_id, NULL, me, start, ns, &one));
	/* Another boot; a reused process ID; no such process; invalid names. */
	CU_ASSERT_FALSE(kept(&self, "0a3407de-014b-458b-b5c1-848e92a327a3", NULL, me, start, ns,
	                     &one));
	CU_ASSERT_FALSE(kept(&self, boot_id, NULL, me, start - 1, ns, &one));
	CU_ASSERT_FALSE(kept(&self, boot_id, NULL, NO_PROCESS, start, ns, &one));
	static const char *const garbage[] = {"", "8:3", "8:3_x_1_1_1", "8:3_-1_1_1_1",
	                                      "8:3_0_1_1_1", "8:3_1_1_1_", "8:3_1_1_1_1x"};
	for (size_t i = 0; i < COUNT(garbage); ++i)
		CU_ASSERT_FALSE(kept(&self, boot_id, garbage[i], 0, 0, 0, &one));
	/* A zombie. */
	int pid = fork();
	if (pid == 0)
		_exit(0);
	siginfo_t info;
	CU_ASSERT_EQUAL(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	CU_ASSERT_EQUAL(prober_process(&os, pid, &other), 'Z');
	CU_ASSERT_FALSE(kept(&self, boot_id, NULL, pid, other, ns, &one));
	waitpid(pid, NULL, 0);

	/* Of another PID namespace: kept in a container. */
	struct prober_self container = self, host = self;
	container.pid_ns = 4026530000;
	CU_ASSERT_TRUE(kept(&container, boot_id, NULL, NO_PROCESS, start, ns - 1, &one));
	/* On the host: kept while a prober with the same start time exists. */
	host.pid_ns = 4026531836;
	CU_ASSERT_FALSE(kept(&host, boot_id, NULL, NO_PROCESS, start, ns - 1, &one));
	CU_ASSERT_EQUAL(prctl(PR_SET_NAME, PROBER_PROCESS), 0);
	CU_ASSERT_TRUE(kept(&host, boot_id, NULL, NO_PROCESS, start, ns - 1, &one));

	/* More files than probers make. */
	int dir = open(records.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct prober_left *left;
	enum { FILES = 5000 };
	for (int i = 0; i < FILES; ++i)
		tree_dir(&records, "%d", i);
	CU_ASSERT_TRUE(prober_recall(&os, dir, &self, &left) == -1 && errno == EFBIG && !left);
	close(dir);
	tree_end(&records);
}
