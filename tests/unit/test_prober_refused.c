/* SPDX-License-Identifier: MIT */
/*
 * The prober with each of its system calls refused in turn, with EPERM and ENOSYS, as by the
 * seccomp filter of a container.  With a file system that never answers, a run ends, does not
 * report an answer, and leaves no process.  For each run the test starts a warden, the subreaper of
 * all processes of the run.
 */
#include "unit.h"

#include "loop.h"

#include "probe/prober.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static const struct {
	const char *name;
	int number;
} refused[] = {
#define CALL(name) {#name, SYS_##name}
#ifdef SYS_poll
	CALL(poll),
#endif
	CALL(ppoll),
#ifdef SYS_dup2
	CALL(dup2),
#endif
#ifdef SYS_fork
	CALL(fork),
#endif
	CALL(dup3), CALL(fcntl), CALL(close), CALL(close_range), CALL(prlimit64), CALL(openat),
	CALL(openat2), CALL(read), CALL(pread64), CALL(write), CALL(statx), CALL(newfstatat),
	CALL(fstat), CALL(fstatfs), CALL(getdents64), CALL(mkdirat), CALL(unlinkat), CALL(flock),
	CALL(socketpair), CALL(sendmsg), CALL(recvmsg), CALL(shutdown), CALL(clone), CALL(clone3),
	CALL(wait4), CALL(kill), CALL(prctl), CALL(setsid), CALL(chdir), CALL(rt_sigaction),
	CALL(rt_sigprocmask), CALL(getpid), CALL(getppid), CALL(geteuid), CALL(exit_group),
	CALL(exit), CALL(set_robust_list), CALL(set_tid_address), CALL(rseq), CALL(mmap),
	CALL(munmap), CALL(brk), CALL(futex), CALL(clock_gettime), CALL(getrandom),
	CALL(restart_syscall),
#undef CALL
};

enum {
	CALLS = COUNT(refused),
	AT_ONCE = 24,
	WITHIN = 9,          /* seconds that a run may take, and its processes */
};
static const double TIMEOUT = 0.1;

/* Exit status of a run and its warden. */
enum verdict { WELL, REPORTED_ANSWER, NO_END, LEFT_BEHIND, NOT_TRIED };

static int install(int number, int error)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {COUNT(code), code};
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ? -1 : prctl(PR_SET_SECCOMP,
	                                                           SECCOMP_MODE_FILTER, &program);
}

/** Probe a mount that answers and one that never does. */
static enum verdict run(struct os *os)
{
	struct probe_question one = {.tag = 1, .path = "/silent", .key = 1},
	                            other = {.tag = 2, .path = "/", .key = 2};
	struct probe_answer answer;
	enum verdict verdict = WELL;
	struct prober *prober = prober_new(os, TIMEOUT);
	if (!prober)
		return WELL;
	char dir[PROBER_DIR_MAX];
	if (prober_memory_dir(0, dir) && prober_lock(prober, dir, os_now() + 1) == 0
	    && prober_ask(prober, &one) == 0
	    && prober_ask(prober, &other) == 0) {
		for (int i = 0; i < 2
		     && prober_answer(prober, &answer, os_now() + WITHIN) > 0; ++i) {
			/* EPERM may be from the filter. */
			if (answer.tag == 1 && answer.how == PROBE_ANSWERED
			    && answer.error != EPERM)
				verdict = REPORTED_ANSWER;
		}
	}
	prober_free(prober);
	return verdict;
}

/** Kill processes that are left. */
static void kill_children(void)
{
	char path[64], text[4096];
	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	char *save = NULL;
	for (char *pid = strtok_r(text, " ", &save); pid; pid = strtok_r(NULL, " ", &save))
		kill(atoi(pid), SIGKILL);
}

/** Start a run and wait until it and all its processes have ended. */
_Noreturn static void be_warden(int number, int error)
{
	enum verdict verdict = NO_END;
	bool ended = false;
	double end = os_now() + WITHIN;
	/* Own directory for records: others run at the same time. */
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0 || unshare(CLONE_NEWNS) != 0
	    || mount("run", "/run", "tmpfs", 0, NULL) != 0)
		_exit(NOT_TRIED);
	int pid = fork();
	if (pid == 0) {
		static struct os os;
		int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
		os_init(&os, NULL);
		if (dup2(null, STDERR_FILENO) < 0 || (number >= 0 && install(number, error) != 0))
			_exit(NOT_TRIED);
		enum verdict made = run(&os);
		_exit((int)made);
	}
	for (bool some = true; some && os_now() < end;) {
		int status;
		pid_t done = waitpid(-1, &status, WNOHANG);
		if (done == pid) {
			ended = true;
			/* Without exit_group() _exit() ends the process by a signal. */
			verdict = WIFEXITED(status) ? (enum verdict)WEXITSTATUS(status) : WELL;
		}
		some = done >= 0;
		if (done == 0)
			usleep(2000);
		if (!some)
			_exit((int)verdict);
	}
	kill_children();
	_exit(ended ? LEFT_BEHIND : NO_END);
}

UNIT_TEST(each_call_is_refused)
{
	static const char *const texts[] = {"", "reports an answer", "does not end",
	                                   "leaves a process", "could not be tried"};
	static const int errors[] = {EPERM, ENOSYS};
	struct {
		int pid, which;
	} running[AT_ONCE];
	if (unit_in_valgrind())
		UNIT_SKIP("valgrind makes some of the calls itself");
	if (!private_mounts() || mount("top", "/mnt", "tmpfs", 0, NULL) != 0)
		UNIT_SKIP("no mount namespace");
	CU_ASSERT_FATAL(chdir("/mnt") == 0 && mkdir("proc", 0755) == 0 && mkdir("run", 0755) == 0
	                && mkdir("dev", 0755) == 0);
	CU_ASSERT_FATAL(mount("proc", "proc", "proc", 0, NULL) == 0
	                && mount("/dev", "dev", NULL, MS_BIND, NULL) == 0);
	CU_ASSERT_FATAL(chroot(".") == 0 && chdir("/") == 0);
	int fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (mkdir("/silent", 0755) != 0 || !fuse_mount(fuse, "/silent"))
		UNIT_SKIP("no FUSE");
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	close(fuse);
	UNIT_SKIP("a sanitizer makes some of the calls itself");
#endif
	/* -1: nothing is refused. */
	for (int next = -1, n = 0; next < (int)(2 * CALLS) || n > 0;) {
		if (next < (int)(2 * CALLS) && n < AT_ONCE) {
			int which = next++, pid = fork();
			CU_ASSERT_FATAL(pid >= 0);
			if (pid == 0)
				be_warden(which < 0 ? -1 : refused[which / 2].number,
				          which < 0 ? 0 : errors[which % 2]);
			running[n].pid = pid;
			running[n++].which = which;
			continue;
		}
		int status, i = 0;
		pid_t pid = wait(&status);
		while (i < n && running[i].pid != pid)
			++i;
		CU_ASSERT_FATAL(i < n);
		int which = running[i].which;
		running[i] = running[--n];
		int verdict = WIFEXITED(status) ? WEXITSTATUS(status) : NOT_TRIED;
		CU_ASSERT_EQUAL(verdict, WELL);
		if (verdict != WELL)
			printf("  %s refused by %s: the run %s\n",
			       which < 0 ? "nothing" : refused[which / 2].name, which >= 0
			       && which % 2 ? "ENOSYS" : "EPERM", texts[verdict]);
	}
	close(fuse);
}
