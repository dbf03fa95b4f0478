/* SPDX-License-Identifier: MIT */
/*
 * cmd/putfile: what is printed, asked and returned; and that each failure of a write
 * says where the good copy is.
 */
#include "unit.h"

#include "cmd/cmd.h"
#include "cmd/putfile.h"
#include "fault.h"
#include "loop.h"

#include <dirent.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/wait.h>

#define OLD "# a\nUUID=1 / ext4 rw 0 1\n//u:geheim@s/x /m cifs user=u,password=geheim 0 0\n"
#define NEW "# a\nUUID=1 / ext4 rw,noatime 0 1\n//u:geheim@s/x /m cifs user=u,password=geheim 0 0\n"
#define DIFF "@@ -1,3 +1,3 @@\n # a\n-UUID=1 / ext4 rw 0 1\n+UUID=1 / ext4 rw,noatime 0 1\n " \
             "//u:geheim@s/x /m cifs user=u,password=geheim 0 0\n"
#define MASKED "@@ -1,3 +1,3 @@\n # a\n-UUID=1 / ext4 rw 0 1\n+UUID=1 / ext4 rw,noatime 0 1\n " \
               "//u:***@s/x /m cifs user=u,password=*** 0 0\n"

#define RISKS "getmnt: /f: new boot risk: FSTAB-1: one\n" \
              "getmnt: /f: new boot risk: FSTAB-2: two\n"

static bool is_root;
static char out[32768], err[32768];   /* what was printed */

static const char *get_text(const char *name)
{
	return read_text(in_top(name));
}

static void clean(void)
{
	DIR *dir = opendir(unit_top);
	struct dirent *entry;
	while (dir && (entry = readdir(dir)))
		unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
}

/** The number of files whose name begins with a prefix. */
static unsigned count_names(const char *prefix)
{
	unsigned n = 0;
	DIR *dir = opendir(unit_top);
	struct dirent *entry;
	while (dir && (entry = readdir(dir)))
		n += strncmp(entry->d_name, prefix, strlen(prefix)) == 0;
	if (dir)
		closedir(dir);
	return n;
}

/** Remove the directory, the time of a backup and the name of the file system. */
static void normalize(char *text)
{
	static const char with[] = ".getmnt-TIME";
	enum { STAMP = 27 };
	char *found;
	while ((found = strstr(text, unit_top)))
		memmove(found, found + strlen(unit_top), strlen(found + strlen(unit_top)) + 1);
	while ((found = strstr(text, ".getmnt-2")) && strlen(found) >= STAMP) {
		memmove(found + strlen(with), found + STAMP, strlen(found + STAMP) + 1);
		memcpy(found, with, strlen(with));
	}
	char *line = strstr(text, ": on ");
	char *end = line ? strchr(line, '\n') : NULL;
	if (end)
		memmove(line + 5, end, strlen(end) + 1);
}

/** Open a file and finish it. */
static int do_put(const char *path, const struct put_options *o, const char *root, bool create,
                  const char *new, size_t len, const struct put_verdict *verdict)
{
	struct os os = unit_os();
	struct put *put;
	struct replace_name request = {.path = path, .root = root, .may_create = create};
	int status = put_open(&os, o, &request, &put);
	if (status == 0) {
		status = put_finish(put, new, len, verdict);
		put_close(put);
	}
	return status;
}

/** do_put() with its output in out and err, and with faults if they are counted. */
static int try_put(const char *path, struct put_options o, const char *new, size_t len,
                   const struct put_verdict *verdict, const struct fault *fault,
                   struct fault_count *count)
{
	int saved[2] = {dup(1), dup(2)};
	fflush(stdout);
	for (int i = 0; i < 2; ++i) {
		int fd = open(in_top(i ? "../getmnt-unit.err" : "../getmnt-unit.out"),
		              O_RDWR | O_CREAT | O_TRUNC, 0600);
		dup2(fd, i + 1);
		close(fd);
	}
	if (count)
		fault_begin(fault, 200000);
	int status = do_put(path, &o, NULL, false, new, len, verdict);
	if (count)
		fault_end(count);
	fflush(stdout);
	for (int i = 0; i < 2; ++i) {
		dup2(saved[i], i + 1);
		close(saved[i]);
	}
	strcpy(out, read_text(in_top("../getmnt-unit.out")));
	strcpy(err, read_text(in_top("../getmnt-unit.err")));
	normalize(out);
	normalize(err);
	return status;
}

#define AS(...) ((struct put_options){.check = false, ##__VA_ARGS__})
/** A message was printed. */
#define REPORTED(text) CU_ASSERT_PTR_NOT_NULL(strstr(err, text))

static int put_as(struct put_options o, const char *new, const struct put_verdict *verdict)
{
	return try_put(in_top("f"), o, new, strlen(new), verdict, NULL, NULL);
}

static void expect(int status, int expected, const char *expected_out, const char *expected_err)
{
	CU_ASSERT_EQUAL(status, expected);
	unit_expect(out, expected_out);
	unit_expect(err, expected_err);
}

UNIT_TEST(enter)
{
	/* Beside others that run at the same time. */
	is_root = geteuid() == 0 && private_mounts() && mount("tmp", "/tmp", "tmpfs", 0, NULL) == 0;
	is_root = top_begin(NULL) && is_root;
}

struct opts {
	struct put_options put;
};

/** Read one or two options of PUT_ROWS.  @return the status of options_read() or put_check(). */
static int read_options(struct opts *opts, char *first, char *second)
{
	static const struct option_row rows[] = {PUT_ROWS(struct opts, put)};
	static const struct option_table table = {"test", rows, COUNT(rows)};
	char name[] = "test", *argv[] = {name, first, second, NULL};
	*opts = (struct opts){0};
	fflush(stderr);
	int saved = dup(2), null = open("/dev/null", O_WRONLY);
	dup2(null, 2);
	int status = options_read(&table, second ? 3 : 2, argv, opts);
	status = status ? status : put_check(&opts->put);
	dup2(saved, 2);
	close(saved);
	close(null);
	return status;
}

#define READ(first, second) \
	read_options(&o, (char[]){first}, *(second) ? (char[]){second} : NULL)

UNIT_TEST(options)
{
	struct opts o;
	CU_ASSERT(READ("--write", "--yes") == 0 && o.put.write && o.put.yes);
	CU_ASSERT(READ("--force", "--write") == 0 && o.put.force);
	CU_ASSERT(READ("--no-backup", "--write") == 0 && o.put.no_backup);
	CU_ASSERT(READ("--force-file", "") == 0 && o.put.force_file);
	CU_ASSERT(READ("--check", "") == 0 && o.put.check && !o.put.diff);
	CU_ASSERT_EQUAL(READ("--check", "--diff"), CX_ERROR);
	CU_ASSERT_EQUAL(READ("--yes", ""), PX_NOT_CHECKED);
	CU_ASSERT_EQUAL(READ("--force", "--diff"), PX_NOT_CHECKED);
	CU_ASSERT_EQUAL(READ("--no-backup", "--check"), PX_NOT_CHECKED);
}

UNIT_TEST(forms)
{
	static const char *const risks[] = {"FSTAB-1: one", "FSTAB-2: two"};
	const struct put_verdict good = {.summary = "reproduces 2 of 2 mounts"};
	const struct put_verdict bad = {
		.summary = "reproduces 1 of 2 mounts", .risks = risks, .nrisks = 2,
	};
	const struct {
		struct put_options options;
		const char *new;
		const struct put_verdict *verdict;
		int status;
		const char *out, *err;
	} rows[] = {
		/* Nothing differs. */
		{{0}, OLD, NULL, 0, "/f: no line changes\n", ""},
		{{.check = true}, OLD, &good, 0,
		 "/f: no line changes; reproduces 2 of 2 mounts\n", ""},
		{{.diff = true}, OLD, &good, 0, "",
		 "getmnt: /f: no line changes; reproduces 2 of 2 mounts\n"},
		{{.write = true}, OLD, NULL, 0, "", "getmnt: /f: no line changes\n"},
		/* Lines differ. */
		{{.check = true}, NEW, &good, 1,
		 "/f: 1 line removed, 1 line added; reproduces 2 of 2 mounts\n", ""},
		{{.check = true}, "", &bad, 1,
		 "/f: 3 lines removed; reproduces 1 of 2 mounts\n", RISKS},
		{{.diff = true}, NEW, &good, 1, "--- /f\n+++ /f\n" DIFF,
		 "getmnt: /f: 1 line removed, 1 line added; reproduces 2 of 2 mounts\n"},
		/* Without a terminal, and with risks, nothing is written. */
		{{.write = true}, NEW, NULL, 16, "--- /f\n+++ /f\n" MASKED,
		 "getmnt: /f: 1 line removed, 1 line added\ngetmnt: /f: on \n"
		 "getmnt: /f: not written: confirmation requires a terminal; "
		 "use --yes to skip it\n"},
		{{.write = true, .yes = true}, NEW, &bad, 16, "--- /f\n+++ /f\n" MASKED,
		 "getmnt: /f: 1 line removed, 1 line added; reproduces 1 of 2 mounts\n"
		 RISKS "getmnt: /f: on \n"
		 "getmnt: /f: not written: new boot risks, see above; --force writes it anyway\n"},
	};
	top_write("f", OLD);
	for (size_t i = 0; i < COUNT(rows); ++i)
		expect(put_as(rows[i].options, rows[i].new, rows[i].verdict), rows[i].status,
		       rows[i].out, rows[i].err);
	CU_ASSERT_STRING_EQUAL(get_text("f"), OLD);
	CU_ASSERT_EQUAL(count_names(""), 3);   /* ".", "..", "f" */

	/* Written. */
	expect(put_as(AS(.write = true, .yes = true), NEW, &good), 0, "--- /f\n+++ /f\n" MASKED,
	       "getmnt: /f: 1 line removed, 1 line added; reproduces 2 of 2 mounts\ngetmnt: /f: on "
	       "\ngetmnt: /f: written; the old file is /f.getmnt-TIME\n"
	       "getmnt: /f: to undo: mv /f.getmnt-TIME /f\n");
	CU_ASSERT_STRING_EQUAL(get_text("f"), NEW);
	CU_ASSERT_EQUAL(put_as(AS(.write = true, .yes = true, .force = true), OLD, &bad), 0);
	CU_ASSERT_EQUAL(put_as(AS(.write = true, .yes = true, .no_backup = true), NEW, NULL), 0);
	REPORTED("written; no backup was kept\n");
	CU_ASSERT_PTR_NULL(strstr(err, "undo"));
	for (int i = 0; i < 5; ++i)
		CU_ASSERT_EQUAL(put_as(AS(.write = true, .yes = true), i % 2 ? NEW : OLD, NULL), 0);
	REPORTED("; 1 older backup removed\n");
	CU_ASSERT_EQUAL(count_names("f.getmnt-"), 5);

	/* Files that cannot be read. */
	expect(try_put(in_top("none"), AS(), "", 0, NULL, NULL, NULL), 2, "",
	       "getmnt: /none: getting its attributes failed: No such file or directory\n");
	expect(try_put(unit_top, AS(), "", 0, NULL, NULL, NULL), 2, "",
	       "getmnt: : it is a directory; give a file\n");
	clean();
}

/** Names and bytes that a shell, a terminal or patch would take for something else. */
UNIT_TEST(odd_names)
{
	static const char *const names[] = {
	        "two words",        "it's",        "new\nline", "tab\there", "back\\slash\\x41",
	        "caf\303\251",      "in\377valid", "-f",        "$(x)`y`",   "esc\033[31m",
	        "bidi\342\200\256", "a\"b",        "#h",        "*",
	};
	static const char odd[] = "a\0b\tc\r\n\033[31mred\n\n";
	for (size_t i = 0; i < COUNT(names); ++i) {
		char path[256];
		snprintf(path, sizeof(path), "%s/%s", unit_top, names[i]);
		top_write(names[i], OLD);
		/* The diff is one that patch takes, byte for byte. */
		CU_ASSERT_EQUAL(try_put(path, AS(.diff = true), odd,
		                        sizeof(odd) - 1, NULL, NULL, NULL), 1);
		top_write("old", OLD);
		FILE *f = fopen(in_top("want"), "w");
		fwrite(odd, 1, sizeof(odd) - 1, f);
		fclose(f);
		CU_ASSERT_TRUE(top_run("patch -s --binary -o patched old ../getmnt-unit.out 2>&1"
		                       " && cmp patched want"));
		/* The command that undoes it does. */
		CU_ASSERT_EQUAL(try_put(path, AS(.write = true, .yes = true), odd,
		                        sizeof(odd) - 1, NULL, NULL, NULL), 0);
		strcpy(err, read_text(in_top("../getmnt-unit.err")));
		const char *undo = strstr(err, "to undo: ");
		CU_ASSERT_PTR_NOT_NULL_FATAL(undo);
		f = fopen(in_top("undo.sh"), "w");
		fputs(undo + strlen("to undo: "), f);
		fclose(f);
		CU_ASSERT_TRUE(top_run("bash ./undo.sh"));
		CU_ASSERT_STRING_EQUAL(read_text(path), OLD);
		for (const char *c = err; *c; ++c)
			CU_ASSERT_TRUE(*c == '\n' || (unsigned char)*c >= ' ');
		clean();
	}
}

/* On a terminal. */

/** Write on a terminal, and give an answer.  @return the exit status; out: the terminal. */
static int answer(const char *text, const char *new, size_t len)
{
	int master, status = -1;
	pid_t pid = forkpty(&master, NULL, NULL, NULL);
	if (pid == 0) {
		/* A shell starts a job in the background with some of them ignored. */
		static const int numbers[] = {SIGINT, SIGQUIT, SIGHUP, SIGTERM};
		sigset_t none;
		for (size_t i = 0; i < COUNT(numbers); ++i)
			signal(numbers[i], SIG_DFL);
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		setenv("NO_COLOR", "1", 1);
		struct put_options o = {.write = true};
		int rc = do_put(in_top("f"), &o, NULL, false, new, len, NULL);
		fflush(stdout);
		_exit(rc);
	}
	size_t used = 0;
	bool sent = false;
	for (;;) {
		ssize_t n = read(master, out + used, sizeof(out) - 1 - used);
		if (n <= 0)
			break;
		used += (size_t)n;
		out[used] = '\0';
		if (!sent && strstr(out, "[y/N] ")) {
			CU_ASSERT_EQUAL(write(master, text, strlen(text)), (ssize_t)strlen(text));
			sent = true;
		}
	}
	out[used] = '\0';
	close(master);
	waitpid(pid, &status, 0);
	CU_ASSERT_TRUE(sent);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

UNIT_TEST(terminal)
{
	static const char odd[] = "a\0b\tc\r\n\033[31mred /m cifs pass=geheim 0 0\n";
	static const struct {
		const char *answer;
		int status;
	} rows[] = {
		{"\n", 1},           {"n\n", 1},  {"yy\n", 1},
		{"yes please\n", 1}, {"\004", 1}, {"\003", 128 + SIGINT},
		{"y\n", 0},          {"Y\n", 0},  {"yes\n", 0},
	};
	void (*before)(int) = signal(SIGINT, SIG_IGN);
	for (size_t i = 0; i < COUNT(rows); ++i) {
		top_write("f", OLD);
		int status = answer(rows[i].answer, odd, sizeof(odd) - 1);
		CU_ASSERT_EQUAL(status, rows[i].status);
		CU_ASSERT_TRUE((strcmp(get_text("f"), OLD) == 0) == (status != 0));
		CU_ASSERT_EQUAL(count_names("f"), status == 0 ? 2 : 1);
		CU_ASSERT_EQUAL(count_names(".f"), 0);
		/* No byte of the file does anything to the terminal, and no secret is shown. */
		CU_ASSERT_PTR_NOT_NULL(strstr(out, "+a\\x00b\tc\\x0d\r\n"));
		CU_ASSERT_PTR_NOT_NULL(strstr(out, "+\\x1b[31mred /m cifs pass=*** 0 0\r\n"));
		CU_ASSERT_PTR_NULL(strstr(out, "geheim"));
		CU_ASSERT_PTR_NULL(strchr(out, '\033'));
		clean();
	}
	signal(SIGINT, before);
}

/* What stands in the way. */

UNIT_TEST(failures)
{
	struct put_options o = {.write = true, .yes = true};
	top_write("f", OLD);
	CU_ASSERT_EQUAL(link(in_top("f"), in_top("g")), 0);
	CU_ASSERT_EQUAL(put_as(o, NEW, NULL), 16);
	REPORTED("getmnt: /f: not written: it has 2 names (hard links), and the others would "
	         "keep the old lines; \"find DIR -samefile /f\" lists them; --force replaces "
	         "only this one\ngetmnt: /f: not changed; --diff prints the changes\n");
	o.force = true;
	CU_ASSERT_EQUAL(put_as(o, NEW, NULL), 0);
	o.force = false;
	clean();
	top_write("f", OLD);
	top_write(".f.getmnt-lock", "");
	CU_ASSERT_EQUAL(chmod(in_top(".f.getmnt-lock"), 0644), 0);
	CU_ASSERT_EQUAL(put_as(o, NEW, NULL), 16);
	REPORTED("mode 0644, so other users could hold the lock forever; if no getmnt is "
	         "running, remove the lock file, and try again\ngetmnt: /f: not changed; ");
	clean();

	/* A link to the kernel's table stays, and gives way to a file where that is forced. */
	CU_ASSERT_EQUAL(symlink("/proc/self/mounts", in_top("f")), 0);
	CU_ASSERT_EQUAL(put_as(o, NEW, NULL), 16);
	REPORTED("not written: the kernel generates this file");
	struct os os = unit_os();
	struct put *put;
	CU_ASSERT_EQUAL(put_open(&os, &o, &(struct replace_name){.path = in_top("f")}, &put), 0);
	const struct replace *file = &put->file;
	CU_ASSERT_TRUE(file->of_kernel && !file->missing
	               && strcmp(file->link, "/proc/self/mounts") == 0);
	CU_ASSERT_TRUE(strstr(file->text, " / ") && file->len > 10
	               && strncmp(file->path, "/proc/", 6) == 0);
	put_close(put);
	o.force_file = true;
	CU_ASSERT_EQUAL(put_as(o, NEW, NULL), 0);
	REPORTED("getmnt: /f: to undo: mv /f.getmnt-TIME /f\n");
	CU_ASSERT_STRING_EQUAL(get_text("f"), NEW);
	clean();
	o.force_file = false;
	if (!is_root)
		UNIT_SKIP("no root, or no private mount namespace");

	/* A file that is bound. */
	top_write("f", OLD);
	top_write("g", OLD);
	CU_ASSERT_EQUAL(mount(in_top("g"), in_top("f"), NULL, MS_BIND, NULL), 0);
	CU_ASSERT_EQUAL(put_as(o, NEW, NULL), 16);
	REPORTED("getmnt: /f: not written: it is a mount point (a file is bound there)");
	REPORTED("getmnt: /f: not changed; the complete new file is /.f.getmnt-new\n");
	CU_ASSERT_STRING_EQUAL(get_text(".f.getmnt-new"), NEW);
	CU_ASSERT_EQUAL(umount2(in_top("f"), 0), 0);
	CU_ASSERT_EQUAL(mount(NULL, unit_top, NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
	CU_ASSERT_EQUAL(put_as(o, NEW, NULL), 16);
	REPORTED("getmnt: /f: not written: its file system is read-only; mount it read-write "
	         "(mount -o remount,rw), and try again\ngetmnt: /f: not changed; --diff prints "
	         "the changes\n");
	CU_ASSERT_EQUAL(mount(NULL, unit_top, NULL, MS_REMOUNT, NULL), 0);
	clean();
	static const char *const rows[][2] = {
		{"+i", "not written: the file is immutable (chattr +i); to write it anyway: "},
		{"+a", "not written: the file is append-only (chattr +a); to write it anyway: "},
	};
	for (int i = 0; i < 2; ++i) {
		top_write("f", OLD);
		if (!top_run("chattr %s f 2>/dev/null", rows[i][0]))
			UNIT_SKIP("no such flags on a tmpfs");
		CU_ASSERT_EQUAL(put_as(o, NEW, NULL), 16);
		REPORTED(rows[i][1]);
		CU_ASSERT_TRUE(top_run("chattr -ia f"));
	}
	clean();
}

/** Whether the result of a write of which one call failed is what the messages say. */
static bool is_consistent(int status, const struct fault_count *count, int kind)
{
	bool new = strcmp(get_text("f"), NEW) == 0, old = strcmp(get_text("f"), OLD) == 0;
	bool left = strstr(err, "not changed; the complete new file is /.f.getmnt-new\n");
	bool clean_up = count->blocks == 0 && count->fds == 0 && count->bad_closes == 0
	                && (left == (count_names(".f.getmnt-new") == 1) || kind == OS_UNLINK);
	if (!clean_up || (!new && !old))
		return false;
	switch (status) {
	case PX_OK:
		/* Without memory a message may be missing. */
		return new && ((strstr(err, "written; the old file is /f.getmnt-TIME")
		                && strstr(err, "to undo: "))
		               || (kind == FAULT_ALLOC && strstr(err, "memory")));
	case PX_NOT_CHECKED:   /* it could not be read, or compared */
		return !new && strstr(err, "getmnt: ") == err;
	case PX_NOT_WRITTEN:
		if (new)
			return strstr(err, "written, but it may not survive a power failure")
			       && strstr(err, "/f.getmnt-TIME");
		if (left)
			return strcmp(get_text(".f.getmnt-new"), NEW) == 0;
		return strstr(err, "not written: ") && strstr(err, "/f: not changed; ");
	default:
		return false;
	}
}

/** Each call of a write fails: the status is 16, and a message names the good copy. */
UNIT_TEST(faults)
{
	static const int errors[] = {ENOSPC, EROFS, EIO, EINTR, EACCES, EBUSY, ENOMEM, 0};
	const struct put_options o = {.write = true, .yes = true};
	struct fault_count base, count;
	FAULT_OR_SKIP();
	top_write("f", OLD);
	CU_ASSERT_EQUAL(try_put(in_top("f"), o, NEW, strlen(NEW), NULL, NULL, &base), 0);
	unsigned long every = unit_step() > 10 ? unit_step() / 10 : 1;
	unsigned long tried = 0, of[17] = {0};
	for (int kind = 0; kind < FAULT_NKINDS; ++kind) {
		for (uint64_t n = 1; n <= base.calls[kind]; ++n) {
			for (const int *error = errors; *error; ++error) {
				if ((kind >= OS_NCALLS && *error != ENOMEM)
				    || (kind == OS_STATMOUNT && n > 5) || tried++ % every != 0)
					continue;
				struct fault fault = {FAULT_ONCE, kind, n, *error};
				clean();
				top_write("f", OLD);
				int status = try_put(in_top("f"), o, NEW, strlen(NEW), NULL, &fault,
				                     &count);
				unit_note("%s %llu %s: status %d, blocks %ld fds %ld\n%s",
				          fault_kind_name(kind), (unsigned long long)n,
				          strerrorname_np(*error), status, count.blocks, count.fds,
				          err);
				CU_ASSERT_TRUE(is_consistent(status, &count, kind));
				++of[status > 16 || status < 0 ? 1 : status];
			}
		}
	}
	CU_ASSERT_TRUE(of[0] > 0 && of[2] > 0 && of[16] > 0 && of[1] == 0);
	printf("  one call failing: %lu written all the same, %lu could not be checked, %lu not "
	       "written\n", of[0], of[2], of[16]);
	clean();
}

/** If the diff cannot be printed, nothing is written. */
UNIT_TEST(full_stdout)
{
	top_write("f", OLD);
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		struct put_options o = {.write = true, .yes = true};
		int full = open("/dev/full", O_WRONLY), null = open("/dev/null", O_WRONLY);
		dup2(full, 1);
		dup2(null, 2);
		_exit(do_put(in_top("f"), &o, NULL, false, NEW, strlen(NEW), NULL));
	}
	int status = 0;
	waitpid(pid, &status, 0);
	CU_ASSERT_EQUAL(WEXITSTATUS(status), 16);
	CU_ASSERT_STRING_EQUAL(get_text("f"), OLD);
	clean();
}

/** The hint at daemon-reload is for an fstab of this system, if systemd runs. */
UNIT_TEST(reload)
{
	if (!is_root)
		UNIT_SKIP("no root, or no private mount namespace");
	/* A small root of our own. */
	pid_t pid = fork();
	if (pid == 0) {
		struct put_options o = {.write = true, .yes = true};
		const char *const want[] = {"systemctl daemon-reload", NULL, NULL,
		                            "systemctl daemon-reload"};
		int null = open("/dev/null", O_WRONLY),
		    log = open(in_top("../getmnt-unit.err"), O_RDWR | O_CREAT | O_TRUNC, 0600);
		int bad = 0;
		dup2(null, 1);
		dup2(log, 2);
		if (chroot(unit_top) != 0 || chdir("/") != 0 || mkdir("/etc", 0755) != 0
		    || mkdir("/mnt", 0755) != 0 || mkdir("/mnt/etc", 0755) != 0
		    || mkdir("/run", 0755) != 0 || mkdir("/run/systemd", 0755) != 0
		    || mkdir("/run/systemd/system", 0755) != 0)
			_exit(99);
		static const char *const paths[] = {"/etc/fstab", "/etc/other", "/mnt/etc/fstab",
		                                    "/etc/link"};
		for (int i = 0; i < 4; ++i) {
			static char text[8192];
			if (i == 3 && (rename("/etc/fstab", "/etc/real") != 0
			        || symlink("real", "/etc/fstab") != 0
			        || symlink("fstab", "/etc/link") != 0))
				_exit(98);
			int rc = ftruncate(log, 0);
			lseek(log, 0, SEEK_SET);
			rc |= do_put(i == 2 ? "/etc/fstab" : paths[i], &o, i == 2 ? "/mnt" : "/",
			             true, i == 3 ? "x\n" : NEW, i == 3 ? 2 : strlen(NEW), NULL);
			ssize_t n = pread(log, text, sizeof(text) - 1, 0);
			text[n > 0 ? n : 0] = '\0';
			const char *hint = strstr(text, "systemctl daemon-reload");
			bool last = hint && strcmp(strchr(hint, '\n'), "\n") == 0;
			bad |= (rc != 0 || (want[i] ? !last : hint != NULL)) << i;
			/* One that was made is undone by its removal. */
			bad |= (i < 3 && !strstr(text, "to undo: rm ")) << (i + 4);
		}
		_exit(bad);
	}
	int status = 0;
	waitpid(pid, &status, 0);
	CU_ASSERT_EQUAL(status, 0);
}

UNIT_TEST(leave)
{
	unlink(in_top("../getmnt-unit.out"));
	unlink(in_top("../getmnt-unit.err"));
	top_end();
	CU_ASSERT_TRUE(!is_root || umount2("/tmp", MNT_DETACH) == 0);
}
