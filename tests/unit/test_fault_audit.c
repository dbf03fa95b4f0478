/* SPDX-License-Identifier: MIT */
/*
 * An audit without memory: in each form that programs read, with each allocation failing,
 * alone and with all that follow, what is printed is the answer or says that there is none.
 */
#include "fault.h"
#include "unit.h"

#include "cmd/cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OUT_MAX = 64 * 1024, ARGS = 8, CALLS = 1000 * 1000 };
enum { OK = 0, FINDINGS = 1, FAILED = 2, CRITICAL = 2, UNKNOWN = 3 };

static const char OLD[] = "of an earlier run\n";
static char dir[] = "/tmp/getmnt-unit-XXXXXX";
static char tab[64], fstab[64], report[64];
static char tab_option[80], fstab_option[80], output_option[80];

static void write_file(char *path, const char *name, const char *text)
{
	snprintf(path, 64, "%s/%s", dir, name);
	FILE *file = fopen(path, "we");
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	fputs(text, file);
	CU_ASSERT_EQUAL_FATAL(fclose(file), 0);
}

static void begin(void)
{
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(dir));
	write_file(tab, "table",
	           "21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
	           "22 21 0:5 / /proc rw - proc proc rw\n"
	           "23 21 0:30 / /data rw - tmpfs tmpfs rw,size=4k\n");
	write_file(fstab, "fstab",
	           "/dev/sda1 / ext4 defaults 0 1\nserver:/data /data nfs defaults 0 0\n");
	write_file(report, "report", OLD);
	snprintf(tab_option, sizeof(tab_option), "--tab-file=%s", tab);
	snprintf(fstab_option, sizeof(fstab_option), "--fstab=%s", fstab);
	snprintf(output_option, sizeof(output_option), "--output=%s", report);
}

static void end(void)
{
	unlink(tab);
	unlink(fstab);
	unlink(report);
	CU_ASSERT_EQUAL(rmdir(dir), 0);
}

struct form {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *args[2];
	const char *failed;     /* what a document has that tells of no audit */
	bool live;              /* of this machine, in a mount namespace that others leave alone */
};

/** What the form printed, or left in the file. */
static char *read_out(const struct form *form, int out)
{
	static char text[OUT_MAX];
	int fd = form->args[1] ? open(report, O_RDONLY | O_CLOEXEC) : out;
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	if (fd != out)
		close(fd);
	return text;
}

/** Run it in a child of its own, whose standard output is closed at the end.
    @return the exit status; -1: it was killed. */
static int run_form(const struct form *form, const struct fault *fault, int out,
                    struct fault_count *count)
{
	static char name[] = "audit";
	char *argv[ARGS] = {name, tab_option, fstab_option};
	int argc = form->live ? 1 : 3, status = 0;
	for (int i = 0; i < 2 && form->args[i]; ++i)
		argv[argc++] = (char *)(uintptr_t)form->args[i];
	CU_ASSERT_EQUAL_FATAL(ftruncate(out, 0), 0);
	write_file(report, "report", OLD);
	fflush(NULL);
	fault_begin(fault, CALLS);
	pid_t pid = fork();
	if (pid == 0) {
		alarm(60);
		int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
		if (dup2(out, STDOUT_FILENO) < 0 || lseek(STDOUT_FILENO, 0, SEEK_SET) != 0
		    || dup2(null, STDERR_FILENO) < 0)
			_exit(99);
		_exit(form->run(argc, argv));
	}
	CU_ASSERT_TRUE_FATAL(pid > 0 && waitpid(pid, &status, 0) == pid);
	fault_end(count);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/** Make numbers of seconds the same. */
static void without_time(char *text)
{
	static const char *const before[] = {"time=", "\"time\": ", "\"seconds\": ", "_seconds "};
	for (size_t i = 0; i < sizeof(before) / sizeof(*before); ++i)
		for (char *at = text; (at = strstr(at, before[i]));)
			for (at += strlen(before[i]); (*at >= '0' && *at <= '9') || *at == '.';
			     ++at)
				*at = '0';
}

static bool same(const char *text, const char *base)
{
	static char copies[2][OUT_MAX];
	strcpy(copies[0], text);
	strcpy(copies[1], base);
	without_time(copies[0]);
	without_time(copies[1]);
	return strcmp(copies[0], copies[1]) == 0;
}

/** Judge a run.  @return whether it is as promised. */
static bool is_right(const struct form *form, int status, const char *text, int base_status,
                     const char *base)
{
	bool plugin = form->run == cmd_check;
	if (status == base_status && same(text, base))
		return true;
	if (plugin) {
		const char *newline = strchr(text, '\n');
		return status == UNKNOWN && strncmp(text, "GETMNT UNKNOWN - ", 17) == 0 && newline
		       && !newline[1];
	}
	/* Without memory a file may stay as it is. */
	if (form->args[1] && strcmp(text, OLD) == 0)
		return status == FAILED;
	if (form->failed)
		return status == FAILED && strstr(text, form->failed)
		       && text[strlen(text) - 1] == '\n';
	return status == FAILED && !*text;
}

static void test_forms(void)
{
#ifdef _FORTIFY_SOURCE
	UNIT_SKIP("a fortified program makes calls that are not wrapped");
#endif
	static const struct form forms[] = {
	        {"check_getmnt", cmd_check, {NULL}, NULL, false},
	        {"check_getmnt of this machine", cmd_check, {NULL}, NULL, true},
	        {"--prometheus", cmd_audit, {"--prometheus"}, "\ngetmnt_audit_success 0\n", false},
	        {"--prometheus --output",
		 cmd_audit,
		 {"--prometheus", output_option},
		 "\ngetmnt_audit_success 0\n",
		 false},
	        {"--json", cmd_audit, {"--json"}, "\"exit_status\": 2", false},
	        {"--jsonl", cmd_audit, {"--jsonl"}, "\"exit_status\": 2", false},
	};
	static char base[OUT_MAX];
	unsigned long runs = 0;
	int out = memfd_create("out", MFD_CLOEXEC);
	CU_ASSERT_TRUE_FATAL(out >= 0);
	begin();
	for (size_t f = 0; f < sizeof(forms) / sizeof(*forms); ++f) {
		const struct form *form = &forms[f];
		struct fault_count count;
		if (form->live
		    && (unshare(CLONE_NEWNS) != 0
		        || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0))
			continue;
		int base_status = run_form(form, NULL, out, &count);
		strcpy(base, read_out(form, out));
		/* DRIFT-SOURCE, which is critical. */
		if (!form->live)
			CU_ASSERT_EQUAL(base_status, form->run == cmd_check ? CRITICAL : FINDINGS);
		CU_ASSERT_TRUE(*base);
		uint64_t calls = count.calls[FAULT_ALLOC];
		CU_ASSERT_TRUE(calls > 100);
		for (int mode = FAULT_ONCE; mode <= (form->live ? FAULT_ONCE : FAULT_ON); ++mode) {
			for (uint64_t n = 1; n <= calls; n += unit_step()) {
				struct fault fault = {(enum fault_mode)mode, FAULT_ALLOC, n,
				                      ENOMEM};
				unit_note("%s: allocation %ju%s", form->name, (uintmax_t)n,
				          mode == FAULT_ON ? " on" : "");
				int status = run_form(form, &fault, out, &count);
				const char *text = read_out(form, out);
				bool right = is_right(form, status, text, base_status, base);
				if (!right)
					printf("  %s, allocation %ju%s: %d: %s\n", form->name,
					       (uintmax_t)n, mode == FAULT_ON ? " on" : "", status,
					       text);
				CU_ASSERT_TRUE(right);
				++runs;
			}
		}
	}
	printf("  %lu runs, an allocation failing in each\n", runs);
	close(out);
	end();
}

static const struct unit_test tests[] = {
	{"forms", test_forms},
	{NULL, NULL},
};

const struct unit_suite suite_fault_audit = {"fault_audit", tests};
