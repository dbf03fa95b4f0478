/* SPDX-License-Identifier: MIT */
/*
 * An audit without memory: in each form that programs read, with each allocation failing,
 * alone and with all that follow, the output is the result or reports a failure.
 */
#include "fault.h"
#include "loop.h"
#include "tree.h"
#include "unit.h"

#include "cmd/cmd.h"

#include <sys/mman.h>
#include <sys/wait.h>

enum { OUT_MAX = 64 * 1024, CALLS = 1000 * 1000 };
enum { FINDINGS = 1, FAILED = 2, CRITICAL = 2, UNKNOWN = 3 };

static const char OLD[] = "of an earlier run\n";

static void write_file(const char *name, const char *text)
{
	FILE *file = fopen(name, "we");
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	fputs(text, file);
	CU_ASSERT_EQUAL_FATAL(fclose(file), 0);
}

#define FILES "--tab-file=table", "--fstab=fstab"

static const struct shape {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *args[8];
	const char *failed;     /* what the document of a failed audit contains */
	bool is_file;
	bool is_live;           /* of this machine, in a mount namespace that others leave alone */
} forms[] = {
	{"check_getmnt", cmd_check, {FILES}},
	{"--prometheus", cmd_audit, {FILES, "--prometheus"}, "\ngetmnt_audit_success 0\n"},
	{"--prometheus --output", cmd_audit, {FILES, "--prometheus", "--output=report"},
	 "\ngetmnt_audit_success 0\n", .is_file = true},
	{"--json", cmd_audit, {FILES, "--json"}, "\"exit_status\": 2"},
	{"--jsonl", cmd_audit, {FILES, "--jsonl"}, "\"exit_status\": 2"},
	{"check_getmnt of this machine", cmd_check, .is_live = true},
};

/** Run a form in a child of its own, whose standard output is closed at the end.
    @text [out]  What it printed, or left in the file, with numbers of seconds made 0.
    @return its exit status; -1: it was killed. */
static int run_form(const struct shape *form, const struct fault *fault, struct fault_count *count,
                    char text[OUT_MAX])
{
	static const char *const before[] = {"time=", "\"time\": ", "\"seconds\": ", "_seconds "};
	static char name[] = "audit";
	char *argv[10] = {name};
	int argc = 1, status = 0, out = memfd_create("out", MFD_CLOEXEC);
	for (; form->args[argc - 1]; ++argc)
		argv[argc] = (char *)(uintptr_t)form->args[argc - 1];
	write_file("report", OLD);
	fflush(NULL);
	fault_begin(fault, CALLS);
	pid_t pid = fork();
	if (pid == 0) {
		alarm(60);
		int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
		if (dup2(out, STDOUT_FILENO) < 0 || dup2(null, STDERR_FILENO) < 0)
			_exit(99);
		_exit(form->run(argc, argv));
	}
	CU_ASSERT_TRUE_FATAL(pid > 0 && waitpid(pid, &status, 0) == pid);
	fault_end(count);
	int fd = form->is_file ? open("report", O_RDONLY | O_CLOEXEC) : dup(out);
	ssize_t n = pread(fd, text, OUT_MAX - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	close(fd);
	close(out);
	for (size_t i = 0; i < COUNT(before); ++i) {
		for (char *at = text; (at = strstr(at, before[i]));) {
			at += strlen(before[i]);
			for (; (*at >= '0' && *at <= '9') || *at == '.'; ++at)
				*at = '0';
		}
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/** Whether a run that is not like the one without a fault is as promised. */
static bool is_right(const struct shape *form, int status, const char *text)
{
	if (form->run == cmd_check) {
		const char *newline = strchr(text, '\n');
		return status == UNKNOWN && strncmp(text, "GETMNT UNKNOWN - ", 17) == 0 && newline
		       && !newline[1];
	}
	if (status != FAILED)
		return false;
	/* Without memory a file may stay as it is. */
	if (form->is_file && strcmp(text, OLD) == 0)
		return true;
	return form->failed ? strstr(text, form->failed) && text[strlen(text) - 1] == '\n' : !*text;
}

/** Run a form with each allocation of a kind failing.  @calls  The number of these allocations. */
static void try_kind(const struct shape *form, int kind, uint64_t calls, int base_status,
                     const char *base, unsigned long *runs)
{
	static char text[OUT_MAX];
	struct fault_count count;
	for (uint64_t n = 0; n < (form->is_live ? 1 : 2) * calls; n += unit_step(), ++*runs) {
		bool on = n >= calls;
		struct fault fault = {on ? FAULT_ON : FAULT_ONCE, kind, n % calls + 1, ENOMEM};
		unit_note("%s: %s %ju%s", form->name, fault_kind_name(kind), (uintmax_t)fault.n,
		          on ? " on" : "");
		int status = run_form(form, &fault, &count, text);
		bool right = (status == base_status && strcmp(text, base) == 0)
		             || is_right(form, status, text);
		if (!right)
			printf("  %s, %s %ju%s: %d: %s\n", form->name, fault_kind_name(kind),
			       (uintmax_t)fault.n, on ? " on" : "", status, text);
		CU_ASSERT_TRUE(right);
	}
}

static void try_form(const struct shape *form, unsigned long *runs)
{
	static char base[OUT_MAX];
	struct fault_count count;
	int base_status = run_form(form, NULL, &count, base);
	/* DRIFT-SOURCE, which is critical. */
	if (!form->is_live)
		CU_ASSERT_EQUAL(base_status, form->run == cmd_check ? CRITICAL : FINDINGS);
	CU_ASSERT_TRUE(*base && count.calls[FAULT_ALLOC] + count.calls[FAULT_PIECE] > 200);
	try_kind(form, FAULT_ALLOC, count.calls[FAULT_ALLOC], base_status, base, runs);
	try_kind(form, FAULT_PIECE, count.calls[FAULT_PIECE], base_status, base, runs);
}

UNIT_TEST(forms)
{
	FAULT_OR_SKIP();
	struct tree tree;
	unsigned long runs = 0;
	tree_begin(&tree);
	CU_ASSERT_EQUAL_FATAL(chdir(tree.path), 0);
	write_file("table", "21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
	                    "22 21 0:5 / /proc rw - proc proc rw\n"
	                    "23 21 0:30 / /data rw - tmpfs tmpfs rw,size=4k\n");
	write_file("fstab", "/dev/sda1 / ext4 defaults 0 1\nserver:/data /data nfs defaults 0 0\n");
	for (size_t i = 0; i < COUNT(forms); ++i) {
		if (!forms[i].is_live || private_mounts())
			try_form(&forms[i], &runs);
	}
	printf("  %lu runs, an allocation failing in each\n", runs);
	CU_ASSERT_EQUAL(chdir("/"), 0);
	tree_end(&tree);
}
