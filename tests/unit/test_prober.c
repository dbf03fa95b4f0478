/* SPDX-License-Identifier: MIT */
/*
 * The prober: questions that are answered, led elsewhere, too long, too many;
 * a supervisor that is gone; a deadline.  Servers that hang are in
 * tests/system/probe*.py.
 */
#include "unit.h"

#include "os/prober.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct os *begin(void)
{
	static struct os os;
	os_init(&os, getenv("GETMNT_DISABLE"));
	return &os;
}

/** A question about a directory, whatever mount that is. */
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

static void test_answers(void)
{
	struct os *os = begin();
	int fds = unit_count("/proc/self/fd");
	struct prober *prober = prober_new(os, 10);
	CU_ASSERT_PTR_NOT_NULL_FATAL(prober);

	struct probe_answer answer = ask(prober, about("/", 7));
	CU_ASSERT_EQUAL(answer.how, PROBE_ANSWERED);
	CU_ASSERT_EQUAL(answer.error, 0);
	CU_ASSERT_TRUE(answer.sized && answer.seen && !answer.left);
	CU_ASSERT_TRUE(answer.calls[OS_STATX] == 2 && answer.calls[OS_STATFS] == 1);
	CU_ASSERT_EQUAL(answer.calls[OS_GETDENTS], 1);

	/* Looked at, and not touched. */
	struct probe_question look = about("/", 8);
	look.flags = PROBE_LOOK;
	answer = ask(prober, look);
	CU_ASSERT_EQUAL(answer.how, PROBE_ANSWERED);
	CU_ASSERT_TRUE(!answer.sized && answer.calls[OS_STATFS] == 0 && answer.calls[OS_GETDENTS] == 0);

	/* A file, and nothing. */
	CU_ASSERT_EQUAL(ask(prober, about("/proc/self/exe/x", 9)).how, PROBE_ELSEWHERE);
	answer = ask(prober, about("/no such directory", 10));
	CU_ASSERT_TRUE(answer.how == PROBE_ELSEWHERE && answer.error == ENOENT);
	/* Through a link nothing is opened. */
	answer = ask(prober, about("/proc/self/task", 11));
	CU_ASSERT_NOT_EQUAL(answer.how, PROBE_ANSWERED);

	prober_free(prober);
	CU_ASSERT_EQUAL(unit_count("/proc/self/fd"), fds);
	CU_ASSERT_TRUE(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
}

static void test_elsewhere(void)
{
	struct os *os = begin();
	struct prober *prober = prober_new(os, 10);
	CU_ASSERT_PTR_NOT_NULL_FATAL(prober);
	struct probe_question wrong = about("/", 1);
	if (os->caps & OSC_STATX_MNT_ID) {
		wrong.flags = PROBE_BY_ID;
		wrong.id = UINT32_MAX;
		struct probe_answer answer = ask(prober, wrong);
		CU_ASSERT_EQUAL(answer.how, PROBE_ELSEWHERE);
		/* What is there is told, so that it can be found; and not touched. */
		CU_ASSERT_TRUE(os_statx_mnt_id(&answer.st, false) != 0 && answer.calls[OS_STATFS] == 0);
	}
	wrong.flags = PROBE_BY_DEV;
	wrong.dev_major = UINT32_MAX;
	CU_ASSERT_EQUAL(ask(prober, wrong).how, PROBE_ELSEWHERE);
	prober_free(prober);
}

/** Names are relative to a root that is passed. */
static void test_root(void)
{
	struct prober *prober = prober_new(begin(), 10);
	CU_ASSERT_PTR_NOT_NULL_FATAL(prober);
	int fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	CU_ASSERT_FATAL(fd >= 0);
	CU_ASSERT_EQUAL(prober_root(prober, fd), 0);
	close(fd);
	CU_ASSERT_EQUAL(ask(prober, about("/sys/kernel", 1)).how, PROBE_ANSWERED);
	CU_ASSERT_EQUAL(ask(prober, about("/", 2)).how, PROBE_ANSWERED);
	CU_ASSERT_EQUAL(ask(prober, about("/usr", 3)).how, PROBE_ELSEWHERE);
	prober_free(prober);
}

static void test_long_names(void)
{
	struct prober *prober = prober_new(begin(), 10);
	CU_ASSERT_PTR_NOT_NULL_FATAL(prober);
	/* Longer than the kernel takes in one piece: "/./././..." */
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
static void test_many(void)
{
	enum { QUESTIONS = 3000 };
	static unsigned char seen[QUESTIONS];
	struct prober *prober = prober_new(begin(), 10);
	CU_ASSERT_PTR_NOT_NULL_FATAL(prober);
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
	/* Nothing more is to come. */
	CU_ASSERT_EQUAL(prober_answer(prober, &answer, os_now() + 0.01), 0);
	prober_free(prober);
}

static void test_supervisor_gone(void)
{
	struct prober *prober = prober_new(begin(), 10);
	CU_ASSERT_PTR_NOT_NULL_FATAL(prober);
	ask(prober, about("/", 1));
	/* Its number is nobody's business: it is our only child. */
	char path[64], text[64] = "";
	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	close(fd);
	int pid = n > 0 ? atoi(text) : 0;
	if (pid <= 0) {
		prober_free(prober);
		UNIT_SKIP("this kernel does not list children");
	}
	CU_ASSERT_EQUAL(kill(pid, SIGKILL), 0);
	struct probe_answer answer;
	CU_ASSERT_TRUE(prober_answer(prober, &answer, os_now() + 20) == -1 && errno == EPIPE);
	struct probe_question question = about("/", 2);
	CU_ASSERT_TRUE(prober_ask(prober, &question) == -1 && errno == EPIPE);
	prober_free(prober);
	CU_ASSERT_TRUE(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
}

/** What the processes call is counted. */
static void test_counts(void)
{
	struct os *os = begin();
	uint64_t statfs = os->calls[OS_STATFS];
	struct prober *prober = prober_new(os, 10);
	CU_ASSERT_PTR_NOT_NULL_FATAL(prober);
	for (uint32_t i = 0; i < 5; ++i)
		ask(prober, about("/", i));
	prober_free(prober);
	/* What the other processes called is counted as well. */
	CU_ASSERT_EQUAL(os->calls[OS_STATFS] - statfs, 5);
	/* Two processes in all: where everything answers there is one worker. */
	CU_ASSERT_EQUAL(os->calls[OS_FORK], 2);
}

/** One at a time; a directory that is not ours alone is not locked. */
static void test_lock(void)
{
	struct os *os = begin();
	char dir[] = "/tmp/getmnt-lock-XXXXXX", path[64];
	const uid_t uid = geteuid();
	if (uid == 0 && setresuid(-1, 65534, -1) != 0)
		UNIT_SKIP("there is no other user here");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/getmnt", dir);
	setenv("XDG_RUNTIME_DIR", dir, 1);
	int fds = unit_count("/proc/self/fd");
	struct prober *first = prober_new(os, 10), *second = prober_new(os, 10);
	CU_ASSERT_FATAL(first && second);
	CU_ASSERT_EQUAL(prober_lock(first, 0), 0);
	CU_ASSERT_TRUE(prober_lock(second, 0.1) == -1 && errno == EWOULDBLOCK);
	CU_ASSERT_EQUAL(prober_permit(second, PROBER_MEMORY), 0);
	prober_free(first);
	CU_ASSERT_EQUAL(prober_lock(second, 0), 0);
	prober_free(second);
	CU_ASSERT_EQUAL(unit_count("/proc/self/fd"), fds);

	int64_t since;
	first = prober_new(os, 10);
	CU_ASSERT_PTR_NOT_NULL_FATAL(first);
	CU_ASSERT_EQUAL(prober_left(first, 0, 1, &since), 0);
	CU_ASSERT_EQUAL(chmod(path, 0750), 0);
	CU_ASSERT_TRUE(prober_lock(first, 0) == -1 && errno == EPERM);
	CU_ASSERT_TRUE(rmdir(path) == 0 && symlink(dir, path) == 0);
	CU_ASSERT_TRUE(prober_lock(first, 0) == -1 && (errno == ENOTDIR || errno == ELOOP));
	unlink(path);
	unsetenv("XDG_RUNTIME_DIR");
	CU_ASSERT_TRUE(prober_lock(first, 0) == -1 && errno == ENOENT);
	prober_free(first);
	rmdir(dir);
	/* Who looks for leaks at the end has to look into this process: prctl(2). */
	CU_ASSERT_EQUAL(setresuid(-1, uid, -1), 0);
	CU_ASSERT_EQUAL(prctl(PR_SET_DUMPABLE, 1), 0);
}

static const struct unit_test tests[] = {
	{"answers", test_answers},
	{"led elsewhere", test_elsewhere},
	{"a root", test_root},
	{"long names", test_long_names},
	{"many questions", test_many},
	{"the supervisor is gone", test_supervisor_gone},
	{"counts", test_counts},
	{"one at a time", test_lock},
	{NULL, NULL},
};
const struct unit_suite suite_prober = {"prober", tests};
