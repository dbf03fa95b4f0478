/* SPDX-License-Identifier: MIT */
/*
 * path/replace: after a failure, a signal or another program's write at any point, a file holds
 * all old bytes or all new bytes, attributes are kept, and no temporary file is left.
 */
#include "unit.h"

#include "cases.h"
#include "fault.h"
#include "loop.h"
#include "path/replace.h"

#include <dirent.h>
#include <linux/fs.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <sys/xattr.h>

#define OLD "# old\nUUID=1 / ext4 rw 0 1\n"
#define NEW "# new\nUUID=1 / ext4 rw,noatime 0 1\n/dev/sdb1 /srv xfs defaults 0 2\n"

static bool is_root;
static struct os os;

static const char *get_text(const char *name)
{
	return read_text(in_top(name));
}

#define IS_TEXT(name, text) CU_ASSERT_STRING_EQUAL(get_text(name), text)

/** Write TIME for the time in the name of a backup. */
static void hide_time(char *name)
{
	char *time = strstr(name, ".getmnt-2");
	if (time && strlen(time) == 27)
		snprintf(time, strlen(time), ".getmnt-TIME");
}

/** The sorted names in a directory; TIME stands for the time of a backup. */
static const char *listing(const char *name)
{
	static char text[4096];
	struct dirent **entries;
	int n = scandir(in_top(name), &entries, NULL, alphasort);
	text[0] = '\0';
	for (int i = 0; i < n; ++i) {
		char *entry = entries[i]->d_name;
		hide_time(entry);
		if (strcmp(entry, ".") != 0 && strcmp(entry, "..") != 0)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s",
			         *text ? " " : "", entry);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
	return text;
}

#define LISTS(name, names) CU_ASSERT_STRING_EQUAL(listing(name), names)

/** Whether a file is a regular one of this owner, group and mode. */
static bool is_like(const char *path, unsigned mode, uid_t uid, gid_t gid)
{
	struct stat st;
	return lstat(path, &st) == 0 && st.st_mode == (S_IFREG | mode) && st.st_uid == uid
	       && st.st_gid == gid;
}

static void clean(void)
{
	CU_ASSERT_TRUE(top_run("chattr -R -ia . 2>/dev/null; find . -mindepth 1 -delete"));
}

/** The outcome of a replacement. */
struct result {
	int rc;
	struct replace_error error;
	bool replaced;
	char backup[512], left[512];
};

static struct result replace_as(const char *path, const char *new, struct replace_name name,
                                bool links)
{
	struct replace file;
	struct result r = {0};
	name.path = path;
	r.rc = replace_open(&os, &name, &file);
	if (r.rc == 0)
		r.rc = replace_commit(&file, new, strlen(new), true, links);
	r.error = file.error;
	r.replaced = file.replaced;
	snprintf(r.backup, sizeof(r.backup), "%s", file.backup ? file.backup : "");
	snprintf(r.left, sizeof(r.left), "%s", file.left ? file.left : "");
	replace_close(&file);
	return r;
}

static struct result replace_text(const char *name, const char *new)
{
	return replace_as(in_top(name), new, (struct replace_name){0}, false);
}

/** Only try to open.  @return the reason of the refusal; -1: it can be replaced. */
static int refusal(struct replace_name name, struct replace_error *error)
{
	struct replace file;
	int rc = replace_open(&os, &name, &file);
	CU_ASSERT_TRUE(rc == 0 || !file.text);
	*error = file.error;
	replace_close(&file);
	return rc == 0 ? -1 : (int)error->why;
}

/** Replace a file that a command changes between open and commit. */
static void expect_changed(struct replace_name name, const char *command)
{
	struct replace file;
	CU_ASSERT_EQUAL(replace_open(&os, &name, &file), 0);
	CU_ASSERT_TRUE(top_run("%s", command));
	CU_ASSERT_EQUAL(replace_commit(&file, NEW, strlen(NEW), true, false), -1);
	CU_ASSERT_EQUAL(file.error.why, RP_CHANGED);
	replace_close(&file);
}

/** Run a test in a child process, as a user.  @return its exit status; -1: killed. */
static int in_child(uid_t uid, int (*test)(void))
{
	int status = -1;
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0)
		_exit(setresgid(uid, uid, uid) != 0 || setresuid(uid, uid, uid) != 0 ? 99 : test());
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/** Start a child that takes a lock, as a user.  @return it, when it has the lock. */
static pid_t lock_in_child(uid_t uid, const char *name, int flags, int operation)
{
	int ready[2];
	char byte;
	CU_ASSERT_EQUAL_FATAL(pipe(ready), 0);
	pid_t pid = fork();
	if (pid == 0) {
		if (setresgid(uid, uid, uid) != 0 || setresuid(uid, uid, uid) != 0
		    || flock(open(in_top(name), flags, 0600), operation) != 0)
			_exit(1);
		(void)!write(ready[1], "x", 1);
		pause();
	}
	close(ready[1]);
	CU_ASSERT_EQUAL(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

static void kill_child(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

UNIT_TEST(enter)
{
	is_root = top_begin("size=256m") && geteuid() == 0;
	os_init(&os, getenv("GETMNT_DISABLE"));
}

UNIT_TEST(plain)
{
	struct stat st, old, backup;
	top_write("f", OLD);
	CU_ASSERT_EQUAL(chmod(in_top("f"), 0640), 0);
	CU_ASSERT_TRUE(!is_root || chown(in_top("f"), 1234, 4321) == 0);
	static const struct timespec times[2] = {{1000, 5}, {2000, 7}};
	CU_ASSERT_EQUAL(utimensat(AT_FDCWD, in_top("f"), times, 0), 0);
	CU_ASSERT_EQUAL(stat(in_top("f"), &old), 0);
	struct result r = replace_text("f", NEW);
	CU_ASSERT_EQUAL(r.rc, 0);
	CU_ASSERT_TRUE(r.replaced);
	IS_TEXT("f", NEW);
	CU_ASSERT_STRING_EQUAL(read_text(r.backup), OLD);
	LISTS("", "f f.getmnt-TIME");
	CU_ASSERT_EQUAL(stat(in_top("f"), &st), 0);
	CU_ASSERT_EQUAL(stat(r.backup, &backup), 0);
	CU_ASSERT_TRUE(is_like(in_top("f"), 0640, old.st_uid, old.st_gid));
	CU_ASSERT_TRUE(is_like(r.backup, 0640, old.st_uid, old.st_gid));
	CU_ASSERT_TRUE(st.st_ino != old.st_ino && backup.st_ino != old.st_ino);
	CU_ASSERT_TRUE(backup.st_mtim.tv_sec == 2000 && backup.st_mtim.tv_nsec == 7
	               && st.st_mtim.tv_sec > 2000);

	/* An empty file and a large one. */
	CU_ASSERT_EQUAL(replace_text("f", "").rc, 0);
	IS_TEXT("f", "");
	char *much = calloc(1, (4 << 20) + 1);
	memset(much, 'x', 4 << 20);
	CU_ASSERT_EQUAL(replace_text("f", much).rc, 0);
	CU_ASSERT_TRUE(stat(in_top("f"), &st) == 0 && st.st_size == 4 << 20);
	free(much);
	clean();
}

UNIT_TEST(changed_meanwhile)
{
	/* A file appeared between open and commit; a link leads elsewhere. */
	expect_changed((struct replace_name){.path = in_top("g"), .may_create = true}, "echo x >g");
	LISTS("", "g");
	IS_TEXT("g", "x\n");
	CU_ASSERT_EQUAL(symlink("f", in_top("l")), 0);
	expect_changed((struct replace_name){.path = in_top("l"), .at_link = true}, "ln -sfn g l");
	LISTS("", "g l");
	clean();
}

/* Names. */

static char dead[256], paths_checked[1024];

/** Whether a path is below the directory that counts as blocking; records each path. */
static bool in_dead(void *arg, const char *path)
{
	(void)arg;
	size_t n = strlen(paths_checked), len = strlen(dead);
	snprintf(paths_checked + n, sizeof(paths_checked) - n, " %s",
	         strncmp(path, unit_top, strlen(unit_top)) == 0 ? path + strlen(unit_top) : "");
	return strncmp(path, dead, len) == 0 && (path[len] == '/' || !path[len]);
}

/** Append the files below a directory, each with a mode other than 0644, and its text. */
static void add_tree(struct strbuf *out, const char *dir)
{
	struct dirent **entries;
	int n = scandir(in_top(dir), &entries, NULL, alphasort);
	for (int i = 0; i < n; free(entries[i++])) {
		char path[512], target[64] = "";
		struct stat st;
		if (strcmp(entries[i]->d_name, ".") == 0 || strcmp(entries[i]->d_name, "..") == 0)
			continue;
		snprintf(path, sizeof(path), "%s%s%s", dir, *dir ? "/" : "", entries[i]->d_name);
		CU_ASSERT_EQUAL_FATAL(lstat(in_top(path), &st), 0);
		if (S_ISDIR(st.st_mode)) {
			strbuf_printf(out, " %s/", path);
			add_tree(out, path);
			continue;
		}
		ssize_t length = readlink(in_top(path), target, sizeof(target));
		const char *is = length > 0 ? target : get_text(path);
		hide_time(path);
		strbuf_printf(out, " %s", path);
		if (S_ISREG(st.st_mode) && st.st_mode != (S_IFREG | 0644))
			strbuf_printf(out, "(%o)", st.st_mode & 07777);
		strbuf_printf(out, "=%.*s", (int)strcspn(is, "\n"),
		              strcmp(is, NEW) == 0 ? "NEW" : is);
	}
	free(entries);
}

/** Open a file as a row says.  @return the outcome. */
static const char *opened(char *row)
{
	static const char *const names[] = {
		[RP_TYPE] = "TYPE", [RP_TOO_LARGE] = "TOO_LARGE", [RP_LINK] = "LINK",
		[RP_BLOCKS] = "BLOCKS", [RP_KERNEL] = "KERNEL", [RP_LINKS] = "LINKS",
		[RP_LOCK] = "LOCK", [RP_DANGLING] = "DANGLING",
	};
	static char text[8192];
	bool write = false, links = false;
	char path[512], root[256], *value, *word = unit_case_word(&row, &value);
	struct replace_name name = {.path = path, .may_create = true};
	struct replace file;
	bool checked = false, here = false;
	/* A name may have a "=" at its beginning. */
	snprintf(path, sizeof(path), "%s", value ? value : in_top(word));
	while ((word = unit_case_word(&row, &value)) != NULL) {
		if (value)
			snprintf(*word == 'r' ? root : dead, sizeof(root), "%s",
			         *value == '/' ? value : in_top(value));
		name.root = strcmp(word, "root") == 0 ? root : name.root;
		name.blocks = strcmp(word, "block") == 0 ? in_dead : name.blocks;
		name.named |= strcmp(word, "named") == 0;
		name.at_link |= strcmp(word, "link") == 0;
		checked |= strcmp(word, "checked") == 0;
		here |= strcmp(word, "here") == 0;
		write |= strcmp(word, "write") == 0;
		links |= strcmp(word, "links") == 0;
		umask(strcmp(word, "umask") == 0 ? 077 : 022);
		name.may_create &= strcmp(word, "existing") != 0;
	}
	int old = open(".", O_PATH | O_DIRECTORY);
	CU_ASSERT_TRUE(!here || chdir(unit_top) == 0);
	*paths_checked = '\0';
	int rc = replace_open(&os, &name, &file);
	CU_ASSERT_TRUE(rc == 0 || !file.text);
	if (rc == 0 && write)
		rc = replace_commit(&file, NEW, strlen(NEW), true, links);
	if (rc == 0 && write) {
		strcpy(text, "written");
	} else if (rc == 0) {
		snprintf(text, sizeof(text), "%s%s%s", file.path + strlen(unit_top),
		         checked ? ":" : "", checked ? paths_checked : "");
	} else if (file.error.why == RP_ERROR) {
		snprintf(text, sizeof(text), "%s", strerror(file.error.error));
	} else {
		const char *step = file.error.step, *place = strstr(step, unit_top);
		size_t n = place ? (size_t)(place - step) : strlen(step);
		snprintf(text, sizeof(text), "%s %.*s%s%s", names[file.error.why], (int)n, step,
		         place ? "TOP" : "", place ? place + strlen(unit_top) : "");
	}
	replace_close(&file);
	umask(022);
	CU_ASSERT_EQUAL(fchdir(old), 0);
	close(old);
	if (write) {
		STRBUF(tree);
		add_tree(&tree, "");
		snprintf(text + strlen(text), 4096, ":%s", strbuf_str(&tree));
	}
	return text;
}

UNIT_TEST(names)
{
	for (struct unit_case c; unit_case("tests/fixtures/replace", &c);) {
		if (strncmp(c.name, "root: ", 6) == 0 && !is_root)
			continue;
		CU_ASSERT_TRUE(top_run("%s", c.parts[0].text));
		char *rows = c.parts[1].text;
		for (char *row; (row = strsep(&rows, "\n")) != NULL && *row;) {
			char *outcome = strstr(row, " -> ");
			CU_ASSERT_PTR_NOT_NULL_FATAL(outcome);
			*outcome = '\0';
			unit_note("%s", row);
			unit_expect(opened(row), outcome + 4);
		}
		clean();
	}
}

static int open_links(void)
{
	struct replace_error error;
	return refusal((struct replace_name){.path = in_top("home/own/f")}, &error) == -1 ? 0 : 1;
}

static int open_proc_in_user_namespace(void)
{
	struct replace_error error;
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
		return 2;
	return refusal((struct replace_name){.path = "/proc/mounts"}, &error) == -1 ? 0 : 1;
}

/** A user's own links, and root's, are followed; so are links of the kernel where root has another
    number. */
UNIT_TEST(own_links)
{
	if (!is_root)
		UNIT_SKIP("no root, or no private mount namespace");
	CU_ASSERT_TRUE(top_run("chmod 755 . && mkdir -p home etc && echo x >etc/f && cd home"
	                   " && ln -s ../etc root && ln -s root own && chown -h 65534 . own"));
	CU_ASSERT_EQUAL(in_child(65534, open_links), 0);
	CU_ASSERT_NOT_EQUAL(in_child(0, open_proc_in_user_namespace), 1);
	clean();
}

/* Backups. */

UNIT_TEST(backups)
{
	char expected[16], name[64];
	/* Names that only look like backups of f: none is removed. */
	static const char not_ours[] =
	        "f.getmnt-old f.getmnt-20260000T000000000Z f.getmnt-20260101T000000Z "
	                               "f.getmnt-20260101T000000000Z.save "
	                               "g.getmnt-20260101T000000000Z f.getmnt-20260101T250000000Z "
	                               "f.getmnt-20200104T000000000Z";
	CU_ASSERT_TRUE(top_run("echo 0 >f && touch %s && mkdir f.getmnt-20200101T000000000Z"
	                   " && ln f.getmnt-20200104T000000000Z mine"
	                   " && touch f.getmnt-20200102T000000000Z f.getmnt-20200103T000000000Z",
	                   not_ours));
	for (int i = 1; i <= 12; ++i) {
		snprintf(expected, sizeof(expected), "%d\n", i);
		struct result r = replace_text("f", expected);
		CU_ASSERT_EQUAL(r.rc, 0);
		snprintf(name, sizeof(name), "%d\n", i - 1);
		CU_ASSERT_STRING_EQUAL(read_text(r.backup), name);
	}
	CU_ASSERT_TRUE(top_run("ls -d %s f.getmnt-20200101T000000000Z >/dev/null"
	                   " && test ! -e f.getmnt-20200102T000000000Z -a"
	                   " ! -e f.getmnt-20200103T000000000Z", not_ours));
	/* The last five, in order. */
	CU_ASSERT_TRUE(top_run("rm -r %s f.getmnt-20200101* mine && "
	                   "test \"$(cat f.getmnt-*)\" = \"$(printf '7\\n8\\n9\\n10\\n11')\"",
	                   not_ours));
	clean();

	/* After the clock was set back the new backup sorts first; it is kept. */
	CU_ASSERT_TRUE(top_run("echo 0 >f; for i in 1 2 3 4 5 6; do"
	                   " touch f.getmnt-2099010${i}T000000000Z; done"));
	struct result r = replace_text("f", NEW);
	CU_ASSERT_STRING_EQUAL(read_text(r.backup), "0\n");
	clean();

	/* Without a backup. */
	top_write("f", OLD);
	struct replace file;
	CU_ASSERT_EQUAL(replace_open(&os, &(struct replace_name){.path = in_top("f")}, &file), 0);
	CU_ASSERT_EQUAL(replace_commit(&file, NEW, strlen(NEW), false, false), 0);
	CU_ASSERT_PTR_NULL(file.backup);
	replace_close(&file);
	LISTS("", "f");
	clean();
}

/* Attributes. */

/** An ACL: user::rw-, user:1000:rw-, group::r--, mask::rw-, other::---. */
static const unsigned char acl[] = {
	2, 0, 0, 0, 1, 0, 6, 0, 255, 255, 255, 255, 2, 0, 6, 0, 232, 3, 0, 0, 4, 0, 4, 0, 255, 255,
	255, 255, 16, 0, 6, 0, 255, 255, 255, 255, 32, 0, 0, 0, 255, 255, 255, 255,
};

static bool has_attribute(const char *path, const char *name, const void *value, size_t size)
{
	char has[256];
	ssize_t n = getxattr(path, name, has, sizeof(has));
	return value ? n == (ssize_t)size && memcmp(has, value, size) == 0 : n < 0;
}

UNIT_TEST(attributes)
{
	top_write("f", OLD);
	if (!is_root || setxattr(in_top("f"), "user.note", "by hand", 7, 0) != 0
	    || setxattr(in_top("f"), "system.posix_acl_access", acl, sizeof(acl), 0) != 0) {
		clean();
		UNIT_SKIP("no attributes or ACLs on a tmpfs, or no root");
	}
	CU_ASSERT_EQUAL(setxattr(in_top("f"), "trusted.t", "\0x", 2, 0), 0);
	CU_ASSERT_EQUAL(setxattr(in_top("f"), "user.empty", "", 0, 0), 0);
	bool label = setxattr(in_top("f"), "security.selinux", "system_u:object_r:etc_t:s0", 27,
	                      0) == 0;
	struct result r = replace_text("f", NEW);
	CU_ASSERT_EQUAL(r.rc, 0);
	const char *both[] = {in_top("f"), r.backup};
	for (int i = 0; i < 2; ++i) {
		CU_ASSERT_TRUE(has_attribute(both[i], "user.note", "by hand", 7));
		CU_ASSERT_TRUE(has_attribute(both[i], "user.empty", "", 0));
		CU_ASSERT_TRUE(has_attribute(both[i], "trusted.t", "\0x", 2));
		CU_ASSERT_TRUE(has_attribute(both[i], "system.posix_acl_access", acl, sizeof(acl)));
		CU_ASSERT_TRUE(!label || has_attribute(both[i], "security.selinux",
		                                       "system_u:object_r:etc_t:s0", 27));
		CU_ASSERT_TRUE(is_like(both[i], 0660, 0, 0));
	}
	/* The default ACL of the directory does not apply. */
	top_write("g", OLD);
	CU_ASSERT_EQUAL(setxattr(unit_top, "system.posix_acl_default", acl, sizeof(acl), 0), 0);
	r = replace_text("g", NEW);
	CU_ASSERT_EQUAL(r.rc, 0);
	CU_ASSERT_TRUE(has_attribute(in_top("g"), "system.posix_acl_access", NULL, 0));
	CU_ASSERT_TRUE(has_attribute(r.backup, "system.posix_acl_access", NULL, 0));
	CU_ASSERT_TRUE(is_like(in_top("g"), 0644, 0, 0));
	CU_ASSERT_EQUAL(removexattr(unit_top, "system.posix_acl_default"), 0);
	clean();
}

/* Users. */

static int user_denied(void)
{
	struct result r = replace_text("f", NEW);
	return r.rc != 0 && r.error.why == RP_DENIED ? 0 : 1;
}

static int user_owner(void)
{
	struct result r = replace_text("dir/f", NEW);
	return r.rc != 0 && r.error.why == RP_KEEP && strstr(r.error.step, "owner 0:0") ? 0 : 1;
}

UNIT_TEST(users)
{
	if (!is_root)
		UNIT_SKIP("no root");
	CU_ASSERT_EQUAL(chmod(unit_top, 0755), 0);
	top_write("f", OLD);
	CU_ASSERT_EQUAL(in_child(1000, user_denied), 0);
	/* A user who may write to the directory cannot keep the owner of a file of root. */
	CU_ASSERT_TRUE(mkdir(in_top("dir"), 0777) == 0 && chmod(in_top("dir"), 0777) == 0);
	top_write("dir/f", OLD);
	CU_ASSERT_EQUAL(in_child(1000, user_owner), 0);
	IS_TEXT("dir/f", OLD);
	LISTS("dir", "f");

	/* A lock that a user takes on a readable file does not keep root out. */
	pid_t pid = lock_in_child(1000, "f", O_RDONLY, LOCK_SH);
	int fd = open(in_top("f"), O_RDONLY);
	CU_ASSERT_TRUE(flock(fd, LOCK_EX | LOCK_NB) != 0);
	close(fd);
	CU_ASSERT_EQUAL(replace_text("f", NEW).rc, 0);
	IS_TEXT("f", NEW);
	kill_child(pid);
	clean();
}

/* Other writers. */

UNIT_TEST(lock)
{
	/* Another process holds the lock. */
	top_write("f", OLD);
	pid_t pid = lock_in_child(geteuid(), ".f.getmnt-lock", O_RDWR | O_CREAT, LOCK_EX);
	struct result r = replace_text("f", NEW);
	CU_ASSERT_TRUE(r.rc != 0 && r.error.why == RP_LOCKED);
	LISTS("", ".f.getmnt-lock f");
	IS_TEXT("f", OLD);
	kill_child(pid);
	CU_ASSERT_EQUAL(replace_text("f", NEW).rc, 0);
	clean();
}

enum { WRITERS = 6, ROUNDS = 8 };

/** Append lines to the file, each again until no other writer was faster. */
static int append_lines(int writer)
{
	for (int round = 0; round < ROUNDS; ++round) {
		for (int tries = 0;; ++tries) {
			struct replace file;
			char text[8192];
			struct replace_name name = {.path = in_top("f")};
			int rc = replace_open(&os, &name, &file);
			snprintf(text, sizeof(text), "%sline %d of %d\n", rc ? "" : file.text,
			         round, writer);
			if (rc == 0)
				rc = replace_commit(&file, text, strlen(text), false, false);
			replace_close(&file);
			if (rc == 0)
				break;
			if (file.error.why != RP_CHANGED || tries > 5000)
				return 1;
		}
	}
	return 0;
}

/** No line of any writer is lost. */
UNIT_TEST(writers)
{
	pid_t pids[WRITERS];
	top_write("f", "");
	fflush(stdout);
	for (int i = 0; i < WRITERS; ++i) {
		pids[i] = fork();
		if (pids[i] == 0)
			_exit(append_lines(i));
	}
	for (int i = 0; i < WRITERS; ++i) {
		int status = 0;
		waitpid(pids[i], &status, 0);
		CU_ASSERT_EQUAL(status, 0);
	}
	const char *text = get_text("f");
	unsigned lines = 0;
	for (int i = 0; i < WRITERS * ROUNDS; ++i) {
		char line[64];
		snprintf(line, sizeof(line), "line %d of %d\n", i / WRITERS, i % WRITERS);
		lines += strstr(text, line) != NULL;
	}
	CU_ASSERT_EQUAL(lines, WRITERS * ROUNDS);
	LISTS("", "f");
	clean();
}

/* Faults at each call. */

/** The file that is replaced. */
static enum { SHAPE_FILE, SHAPE_MISSING, SHAPE_LINK, NSHAPES } shape;

/** Replace with a fault and count the calls. */
static struct result try_fault(const struct fault *fault, struct fault_count *count)
{
	struct replace_name name = {.may_create = shape == SHAPE_MISSING,
	                            .at_link = shape == SHAPE_LINK};
	fault_begin(fault, 100000);
	struct result r = replace_as(in_top("f"), NEW, name, false);
	fault_end(count);
	return r;
}

/** Remove the files without starting a process. */
static void clean_files(void)
{
	struct dirent **entries;
	int n = scandir(unit_top, &entries, NULL, NULL);
	for (int i = 0; i < n; ++i) {
		unlink(in_top(entries[i]->d_name));
		free(entries[i]);
	}
	free(entries);
}

static void reset(void)
{
	clean_files();
	if (shape == SHAPE_LINK)
		CU_ASSERT_EQUAL(symlink("nowhere", in_top("f")), 0);
	if (shape != SHAPE_FILE)
		return;
	top_write("f", OLD);
	if (is_root) {
		CU_ASSERT_EQUAL(chown(in_top("f"), 7, 8), 0);
		(void)!setxattr(in_top("f"), "user.note", "by hand", 7, 0);
	}
	if (chmod(in_top("f"), 0640) != 0)
		CU_FAIL("chmod");
}

/** @return the number of kernel calls of a replacement. */
static uint64_t count_calls(void)
{
	struct fault_count base;
	reset();
	CU_ASSERT_EQUAL(try_fault(NULL, &base).rc, 0);
	CU_ASSERT_TRUE(base.kernel > 20);
	return base.kernel;
}

/** Replace the file; a function is called before the n-th kernel call. */
static struct result call_at(uint64_t n, void (*hook)(void))
{
	struct fault_count count;
	reset();
	return try_fault(&(struct fault){FAULT_HOOK, .n = n, .hook = hook}, &count);
}

/** Change owner and mode of the lock, as a file system with fixed modes does. */
static void give_lock_away(void)
{
	top_run("test ! -e .f.getmnt-lock || { chmod 755 .f.getmnt-lock"
	        " && chown 65534 .f.getmnt-lock; }");
}

UNIT_TEST(fixed_modes)
{
	if (!is_root)
		UNIT_SKIP("no root");
	FAULT_OR_SKIP();
	for (uint64_t n = count_calls(); n > 0; --n) {
		CU_ASSERT_EQUAL(call_at(n, give_lock_away).rc, 0);
		IS_TEXT("f", NEW);
		CU_ASSERT_PTR_NULL(strstr(listing(""), "-lock"));
	}
	clean();
}

/** Whether the file is whole, and only files are left that may be. */
static bool judge_fault(const struct fault *fault, const struct result *r,
                        const struct fault_count *count)
{
	const char *text = get_text("f"), *old = shape == SHAPE_FILE ? OLD : "(missing)";
	const bool new = strcmp(text, NEW) == 0, overtaken = r->rc != 0
	                 && r->error.why == RP_OVERTAKEN;
	bool ok = new || strcmp(text, old) == 0;
	ok &= new == r->replaced;
	ok &= (r->rc == 0) == (new && r->error.why != RP_UNSURE && !overtaken);
	if (shape == SHAPE_FILE)
		ok &= is_like(in_top("f"), 0640, is_root ? 7 : geteuid(), is_root ? 8 : getegid());
	else
		ok &= !new || is_like(in_top("f"), 0644, geteuid(), getegid());
	/* A backup that is reported exists and is whole. */
	ok &= (new && shape != SHAPE_MISSING) == (*r->backup != '\0');
	ok &= !*r->backup || strcmp(read_text(r->backup), old) == 0;
	if (*r->left)
		ok &= new == overtaken && strcmp(read_text(r->left), overtaken ? old : NEW) == 0;
	ok &= count->blocks == 0 && count->fds == 0 && count->bad_closes == 0;
	char expected[256];
	const char *list = listing("");
	snprintf(expected, sizeof(expected), "%s%s%s", *r->left ? ".f.getmnt-new" : "",
	         shape == SHAPE_MISSING && !new ? "" : *r->left ? " f" : "f",
	         *r->backup ? " f.getmnt-TIME" : "");
	/* A lock stays if it cannot be removed or examined. */
	bool stays = fault->kind == OS_UNLINK
	             || (fault->mode == FAULT_ON
	                 && (fault->kind == OS_FSTAT || fault->kind == OS_FLOCK
	                     || fault->kind == OS_OPENAT || fault->kind == OS_OPENAT2));
	if (stays && strncmp(list, ".f.getmnt-lock", 14) == 0)
		list += 14 + (list[14] == ' ');
	ok &= strcmp(list, expected) == 0 || fault->kind == OS_UNLINK;
	if (!ok)
		printf("  mode %d of %s %llu, %s: rc %d, why %d, %s; \"%s\", not \"%s\"\n",
		       (int)fault->mode, fault_kind_name(fault->kind), (unsigned long long)fault->n,
		       strerrorname_np(fault->error), r->rc, (int)r->error.why, r->error.step, list,
		       expected);
	return ok;
}

/** @return the number of runs with a wrong outcome. */
static unsigned long try_shape(bool few)
{
	static const int errors[] = {ENOSPC, EROFS, EIO, EINTR, EDQUOT, EACCES, EPERM, ENOMEM,
	                             EBUSY, ENOENT, EEXIST, EINVAL, ENOSYS, ENOTSUP, EXDEV, EFBIG,
	                             ESTALE, EMFILE, EWOULDBLOCK, ELOOP, ETXTBSY};
	struct fault_count base, count;
	reset();
	struct result r = try_fault(NULL, &base);
	CU_ASSERT_EQUAL(r.rc, 0);
	unsigned long tried = 0, bad = 0, kinds = 0;
	unsigned long every = unit_step() > 10 ? unit_step() / 10 : 1;
	for (int kind = 0; kind < FAULT_NKINDS; ++kind) {
		kinds += base.calls[kind] > 0;
		for (uint64_t n = 1; n <= base.calls[kind]; ++n) {
			for (size_t i = 0; i < COUNT(errors); ++i) {
				if (kind >= OS_NCALLS ? errors[i] != ENOMEM : few && i % 3 != 0)
					continue;
				for (enum fault_mode mode = FAULT_ONCE; mode <= FAULT_ON; ++mode) {
					struct fault fault = {mode, kind, n, errors[i]};
					/* Waits until its timeout: once is enough. */
					if (kind == OS_FLOCK && errors[i] == EWOULDBLOCK
					    && mode == FAULT_ON
					    && (few || n > 1))
						continue;
					if (tried++ % every != 0)
						continue;
					reset();
					r = try_fault(&fault, &count);
					bad += !judge_fault(&fault, &r, &count);
					/* An interrupted call is repeated. */
					bad += mode == FAULT_ONCE && errors[i] == EINTR
					       && r.rc != 0;
				}
			}
		}
	}
	/* Short reads and writes. */
	static const int cut[] = {OS_READ, OS_PWRITE, OS_PREAD, OS_GETDENTS};
	for (size_t i = 0; i < COUNT(cut); ++i) {
		struct fault fault = {FAULT_SHORT, cut[i], 0, 0};
		reset();
		r = try_fault(&fault, &count);
		bad += r.rc != 0 || !judge_fault(&fault, &r, &count);
	}
	CU_ASSERT_TRUE(kinds >= 12);
	clean();
	return bad;
}

UNIT_TEST(faults)
{
	FAULT_OR_SKIP();
	for (shape = SHAPE_FILE; shape < NSHAPES; ++shape)
		CU_ASSERT_EQUAL(try_shape(shape != SHAPE_FILE), 0);
	shape = SHAPE_FILE;
}

static int signal_to_send;

static void send_signal(void)
{
	kill(getpid(), signal_to_send);
}

/** Whether each file with the name of a backup has all the old bytes. */
static bool backups_whole(void)
{
	struct dirent **entries;
	bool whole = true;
	int n = scandir(unit_top, &entries, NULL, NULL);
	for (int i = 0; i < n; ++i) {
		const char *name = entries[i]->d_name;
		whole &= strncmp(name, "f.getmnt-", 9) != 0 || strcmp(get_text(name), OLD) == 0;
		free(entries[i]);
	}
	free(entries);
	return whole;
}

/** The process is killed by a signal at each call. */
UNIT_TEST(killed)
{
	static const int signals[] = {SIGKILL, SIGTERM, SIGINT, SIGHUP, SIGXFSZ};
	FAULT_OR_SKIP();
	const uint64_t calls = count_calls();
	unsigned bad = 0, olds = 0, news = 0, lefts = 0;
	for (size_t s = 0; s < COUNT(signals); ++s) {
		for (uint64_t n = 1; n <= calls; ++n) {
			fflush(stdout);
			signal_to_send = signals[s];
			pid_t pid = fork();
			if (pid == 0) {
				signal(signals[s], SIG_DFL);
				call_at(n, send_signal);
				_exit(0);
			}
			int status = 0;
			waitpid(pid, &status, 0);
			const char *text = get_text("f"), *list = listing("");
			bool new = strcmp(text, NEW) == 0, ok = new || strcmp(text, OLD) == 0;
			bool tidy = strcmp(list, new ? "f f.getmnt-TIME" : "f") == 0;
			/* SIGXFSZ is ignored while the file is written. */
			bool died = WIFSIGNALED(status) && WTERMSIG(status) == signals[s];
			ok &= died || (signals[s] == SIGXFSZ && new);
			ok &= (tidy || signals[s] == SIGKILL) && backups_whole();
			olds += !new;
			news += new;
			lefts += !tidy;
			bad += !ok;
			/* Files left by SIGKILL do not disturb the next replacement. */
			if (signals[s] == SIGKILL) {
				bad += replace_text("f", "next\n").rc != 0
				       || strcmp(get_text("f"), "next\n") != 0
				       || strstr(listing(""), "-new")
				       || strstr(listing(""), "-lock")
				       || strstr(listing(""), "-old");
			}
		}
	}
	CU_ASSERT_EQUAL(bad, 0);
	CU_ASSERT_TRUE(olds > 0 && news > 0 && lefts > 0);
	clean();
}

static int replace_limited(void)
{
	/* The backup can be written, the new file cannot. */
	struct rlimit limit = {strlen(OLD), strlen(OLD)};
	if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
		return 99;
	struct result r = replace_text("f", NEW);
	return r.rc == -1 && r.error.why == RP_SPACE && r.error.error == EFBIG ? 0 : 1;
}

/** A limit on the size of files is an error, not a signal. */
UNIT_TEST(size_limit)
{
	top_write("f", OLD);
	CU_ASSERT_EQUAL(in_child(geteuid(), replace_limited), 0);
	IS_TEXT("f", OLD);
	LISTS("", "f");
	clean();
}

static int edit_way;

#define EDITED "# of an editor, and of the same size!\n..........................\n"

/** What an editor or Ansible may do to the file at the same time. */
static void edit(void)
{
	static char text[] = OLD;
	int fd;
	switch (edit_way) {
	case 0:   /* written next to it, renamed over it */
		fd = open(in_top("edit"), O_WRONLY | O_CREAT | O_TRUNC, 0640);
		(void)!write(fd, EDITED, strlen(EDITED));
		close(fd);
		rename(in_top("edit"), in_top("f"));
		break;
	case 1:   /* in place, one byte, same size and times: a coarse clock */
	case 2:   /* in place, longer */
		fd = open(in_top("f"), O_WRONLY);
		text[2] = 'O';
		(void)!write(fd, text, strlen(text));
		if (edit_way == 2)
			(void)!pwrite(fd, "more\n", 5, (off_t)strlen(text));
		close(fd);
		break;
	case 3:   /* removed */
		unlink(in_top("f"));
		break;
	default:  /* its mode changed */
		chmod(in_top("f"), 0600);
	}
}

/** The bytes and the mode of the file. */
static const char *state(void)
{
	static char states[2][256];
	static unsigned next;
	struct stat st = {0};
	char *text = states[next++ % 2];
	stat(in_top("f"), &st);
	snprintf(text, sizeof(states[0]), "%o %s", (unsigned)st.st_mode, get_text("f"));
	return text;
}

/** Another program changes the file at each call: its change is never lost. */
UNIT_TEST(edited)
{
	FAULT_OR_SKIP();
	const uint64_t calls = count_calls();
	for (edit_way = 0; edit_way <= 4; ++edit_way) {
		unsigned lost = 0, refused = 0, others = 0;
		char expected[256];
		reset();
		edit();
		strcpy(expected, state());
		for (uint64_t n = 1; n <= calls; ++n) {
			struct result r = call_at(n, edit);
			/* A mode is kept in the new file as well. */
			bool edited = strncmp(state(), expected, edit_way == 4 ? 6 : 256) == 0;
			if (r.rc != 0)
				++refused;
			/* An edit before the read is in the backup; one after the rename is in the
			   file. */
			const char *backup = *r.backup ? read_text(r.backup) : "";
			bool kept = edited || strcmp(backup, EDITED) == 0
			            || strncmp(backup, "# Old", 5) == 0;
			if (r.rc != 0 && !kept)
				++others;
			if (r.rc == 0 && !kept && strcmp(backup, OLD) == 0
			    && strcmp(get_text("f"), NEW) == 0)
				++lost;
			if (strstr(listing(""), "-new") || strstr(listing(""), "-lock"))
				++others;
		}
		CU_ASSERT_EQUAL(lost, 0);
		CU_ASSERT_EQUAL(others, 0);
		CU_ASSERT_TRUE(refused > 10);
	}
	clean();
}

static void edit_and_fail(void)
{
	edit();
	fault_change(&(struct fault){FAULT_ONCE, OS_RENAME, 3, EIO});
}

/** Changed just before the rename, which cannot be undone: all three files are kept and
    reported. */
UNIT_TEST(overtaken)
{
	FAULT_OR_SKIP();
	edit_way = 0;
	unsigned found = 0;
	for (uint64_t n = count_calls(); n > 1; --n) {
		struct result r = call_at(n, edit_and_fail);
		if (r.rc == 0 || r.error.why != RP_OVERTAKEN)
			continue;
		++found;
		CU_ASSERT_TRUE(r.replaced && r.error.error == EIO);
		IS_TEXT("f", NEW);
		CU_ASSERT_STRING_EQUAL(read_text(r.left), EDITED);
		CU_ASSERT_STRING_EQUAL(read_text(r.backup), OLD);
		LISTS("", ".f.getmnt-new f f.getmnt-TIME");
	}
	/* Before the last look is closed, and before the exchange. */
	CU_ASSERT_EQUAL(found, 2);
	clean();
}

/* Real places. */

/** Whether a replacement was refused and left only this file ("": none). */
static bool refused(const struct result *r, enum replace_why why, const char *left)
{
	bool ok = r->rc == -1 && r->error.why == why && !r->replaced && strcmp(r->left, left) == 0;
	if (!ok)
		printf("  rc %d, why %d (%s: %s), left \"%s\"\n", r->rc, (int)r->error.why,
		       r->error.step, strerror(r->error.error), r->left);
	return ok;
}

UNIT_TEST(places)
{
	if (!is_root)
		UNIT_SKIP("no root, or no private mount namespace");
	CU_ASSERT_EQUAL(mkdir(in_top("d"), 0755), 0);
	top_write("d/f", OLD);
	top_write("source", "bound\n");

	/* A bind mount on the file. */
	CU_ASSERT_EQUAL(mount(in_top("source"), in_top("d/f"), NULL, MS_BIND, NULL), 0);
	struct result r = replace_text("d/f", NEW);
	CU_ASSERT_TRUE(refused(&r, RP_BOUND, in_top("d/.f.getmnt-new")));
	IS_TEXT("d/f", "bound\n");
	IS_TEXT("d/.f.getmnt-new", NEW);
	LISTS("d", ".f.getmnt-new f");
	CU_ASSERT_EQUAL(umount2(in_top("d/f"), 0), 0);
	IS_TEXT("d/f", OLD);
	CU_ASSERT_EQUAL(unlink(in_top("d/.f.getmnt-new")), 0);

	/* A read-only mount, and a read-only file system. */
	CU_ASSERT_EQUAL(mount(in_top("d"), in_top("d"), NULL, MS_BIND, NULL), 0);
	CU_ASSERT_EQUAL(mount(NULL, in_top("d"), NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL), 0);
	r = replace_text("d/f", NEW);
	CU_ASSERT_TRUE(refused(&r, RP_READ_ONLY, ""));
	CU_ASSERT_EQUAL(umount2(in_top("d"), 0), 0);
	LISTS("d", "f");
	CU_ASSERT_EQUAL(mkdir(in_top("t"), 0755), 0);
	CU_ASSERT_EQUAL(mount("small", in_top("t"), "tmpfs", 0, "size=64k"), 0);
	top_write("t/f", OLD);
	CU_ASSERT_EQUAL(mount(NULL, in_top("t"), NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
	r = replace_text("t/f", NEW);
	CU_ASSERT_TRUE(refused(&r, RP_READ_ONLY, ""));
	CU_ASSERT_EQUAL(mount(NULL, in_top("t"), NULL, MS_REMOUNT, NULL), 0);
	LISTS("t", "f");

	/* No space for the file or for its backup. */
	for (int pages = 16; pages >= 0; --pages) {
		CU_ASSERT_TRUE(top_run("cd t && rm -f fill f.getmnt-* && echo old >f &&"
		                   " head -c %d /dev/zero >fill 2>/dev/null || :", pages * 4096));
		char was[64];
		snprintf(was, sizeof(was), "%s", get_text("t/f"));
		r = replace_text("t/f", NEW);
		if (r.rc != 0) {
			CU_ASSERT_TRUE(refused(&r, RP_SPACE, ""));
			IS_TEXT("t/f", was);
			LISTS("t", "f fill");
		} else {
			IS_TEXT("t/f", NEW);
			LISTS("t", "f f.getmnt-TIME fill");
		}
		CU_ASSERT_TRUE(pages < 15 || r.rc != 0);
		CU_ASSERT_TRUE(pages > 12 || r.rc == 0);
	}
	CU_ASSERT_EQUAL(umount2(in_top("t"), 0), 0);
	clean();
}

/* File systems. */

static struct loop loop;
static char image[64];

/** Make an ext4 with a file, and mount it on "e". */
static bool mount_ext4(const char *size, const char *mkfs, const char *options)
{
	if (!is_root || !top_run("truncate %s image && mkfs.ext4 -q -F %s image >/dev/null 2>&1",
	                         size, mkfs))
		return false;
	snprintf(image, sizeof(image), "%s", in_top("image"));
	CU_ASSERT_EQUAL(mkdir(in_top("e"), 0755), 0);
	if (!loop_open(&loop, image) || mount(loop.path, in_top("e"), "ext4", 0, options) != 0)
		return false;
	top_write("e/f", OLD);
	return true;
}

UNIT_TEST(ext4)
{
	if (!mount_ext4("-s 16M", "", NULL))
		UNIT_SKIP("no root, mkfs.ext4, loop device or ext4");
	static const struct {
		const char *chattr, *name;
		enum replace_why why;
		const char *step;
	} rows[] = {
		{"+i", "e/f", RP_IMMUTABLE, "the file"}, {"+a", "e/f", RP_APPEND, "the file"},
		{"+i", "e", RP_IMMUTABLE, "its directory"}, {"+a", "e", RP_APPEND, "its directory"},
	};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		CU_ASSERT_TRUE(top_run("chattr %s %s", rows[i].chattr, rows[i].name));
		struct result r = replace_text("e/f", NEW);
		CU_ASSERT_TRUE(refused(&r, rows[i].why, ""));
		CU_ASSERT_STRING_EQUAL(r.error.step, rows[i].step);
		IS_TEXT("e/f", OLD);
		LISTS("e", "f lost+found");
		/* Without statx, by the ioctl. */
		if (strcmp(rows[i].name, "e/f") == 0) {
			os.statx_works = false;
			r = replace_text("e/f", NEW);
			os.statx_works = true;
			CU_ASSERT_TRUE(refused(&r, rows[i].why, ""));
		}
		CU_ASSERT_TRUE(top_run("chattr -ia %s", rows[i].name));
	}
	CU_ASSERT_EQUAL(umount2(in_top("e"), 0), 0);
	loop_close(&loop);
	clean();
}

/** File systems with other inode numbers, links and clocks. */
UNIT_TEST(kinds)
{
	static const struct {
		const char *type, *make;
	} rows[] = {
		{"overlay", "mkdir l u w && echo old >l/f && chown 7:8 l/f && chmod 640 l/f"},
		{"xfs", "truncate -s 320M image && mkfs.xfs -q image >/dev/null 2>&1"},
		{"btrfs", "truncate -s 128M image && mkfs.btrfs -q image >/dev/null 2>&1"},
		{"ext2", "truncate -s 8M image && mkfs.ext2 -q -F -b 1024 image >/dev/null 2>&1"},
		{"ramfs", "true"},
	};
	if (!is_root)
		UNIT_SKIP("no root, or no private mount namespace");
	unsigned tried = 0;
	for (size_t i = 0; i < COUNT(rows); ++i) {
		char data[512] = "";
		bool image_file = strstr(rows[i].make, "image") != NULL;
		if (strcmp(rows[i].type, "overlay") == 0)
			snprintf(data, sizeof(data), "lowerdir=%s/l,upperdir=%s/u,workdir=%s/w",
			         unit_top, unit_top, unit_top);
		CU_ASSERT_EQUAL(mkdir(in_top("m"), 0755), 0);
		if (!top_run("%s", rows[i].make)
		    || (image_file && !loop_open(&loop, in_top("image")))
		    || mount(image_file ? loop.path : "none", in_top("m"), rows[i].type, 0,
		             data) != 0) {
			if (image_file)
				loop_close(&loop);
			clean();
			continue;
		}
		++tried;
		if (*data == '\0')
			CU_ASSERT_TRUE(top_run("echo old >m/f && chown 7:8 m/f && chmod 640 m/f"));
		bool attribute = setxattr(in_top("m/f"), "user.note", "by hand", 7, 0) == 0;
		for (int again = 0; again < 2; ++again) {
			struct result r = replace_text("m/f", NEW);
			CU_ASSERT_EQUAL(r.rc, 0);
			IS_TEXT("m/f", NEW);
			CU_ASSERT_STRING_EQUAL(read_text(r.backup), again ? NEW : "old\n");
			CU_ASSERT_TRUE(is_like(in_top("m/f"), 0640, 7, 8));
			CU_ASSERT_TRUE(is_like(r.backup, 0640, 7, 8));
			CU_ASSERT_TRUE(!attribute || has_attribute(in_top("m/f"), "user.note",
			                                           "by hand", 7));
		}
		/* A new file. */
		struct result r = replace_as(in_top("m/g"), NEW,
		                             (struct replace_name){.may_create = true}, false);
		CU_ASSERT_EQUAL(r.rc, 0);
		IS_TEXT("m/g", NEW);
		CU_ASSERT_TRUE(!strstr(listing("m"), "-new") && !strstr(listing("m"), "-lock"));
		CU_ASSERT_EQUAL(umount2(in_top("m"), 0), 0);
		if (image_file)
			loop_close(&loop);
		CU_ASSERT_TRUE(top_run("rm -rf w"));
		clean();
	}
	CU_ASSERT_TRUE(tried >= 2);
}

static int crash_at;

/** Copy what is on the disk now, without the page cache. */
static void copy_disk(void)
{
	char name[32];
	snprintf(name, sizeof(name), "cut%d", crash_at);
	CU_ASSERT_TRUE(top_run("cp --sparse=always image %s", name));
}

/** The disk as a power cut before each call would leave it is mounted and checked. */
UNIT_TEST(power_cut)
{
	struct fault_count base, count;
	FAULT_OR_SKIP();
	/* Only fsync writes the journal, not a timer. */
	if (!mount_ext4("-s 8M", "-J size=1", "commit=3000"))
		UNIT_SKIP("no root, mkfs.ext4, loop device or ext4");
	CU_ASSERT_EQUAL(mkdir(in_top("c"), 0755), 0);
	sync();
	fault_begin(NULL, 100000);
	struct result r = replace_as(in_top("e/f"), NEW, (struct replace_name){0}, false);
	fault_end(&base);
	CU_ASSERT_EQUAL(r.rc, 0);
	unsigned olds = 0, news = 0, bad = 0;
	for (crash_at = 1; crash_at <= (int)base.kernel + 1; ++crash_at) {
		CU_ASSERT_TRUE(top_run("rm -f e/f.getmnt-*"));
		top_write("e/f", OLD);
		CU_ASSERT_TRUE(top_run("sync -f e"));
		fault_begin(&(struct fault){FAULT_HOOK, .n = (uint64_t)crash_at, .hook = copy_disk},
		            100000);
		r = replace_as(in_top("e/f"), NEW, (struct replace_name){0}, false);
		fault_end(&count);
		if (crash_at > (int)base.kernel)
			copy_disk();   /* after the last call */
		struct loop cut;
		char name[32];
		snprintf(name, sizeof(name), "cut%d", crash_at);
		if (!loop_open(&cut, in_top(name))
		    || mount(cut.path, in_top("c"), "ext4", 0, NULL) != 0) {
			++bad;
			continue;
		}
		const char *text = get_text("c/f");
		bool new = strcmp(text, NEW) == 0, ok = new || strcmp(text, OLD) == 0;
		/* With the new file, its backup is on the disk too. */
		ok &= !new
		      || top_run("test \"$(cat c/f.getmnt-2*)\" = \"$(printf '%%s' '%s')\"", OLD);
		ok &= crash_at <= (int)base.kernel || new;
		bad += !ok;
		olds += !new;
		news += new;
		umount2(in_top("c"), 0);
		loop_close(&cut);
		unlink(in_top(name));
	}
	CU_ASSERT_EQUAL(bad, 0);
	CU_ASSERT_TRUE(olds > 0 && news > 0);
	CU_ASSERT_EQUAL(umount2(in_top("e"), 0), 0);
	loop_close(&loop);
	clean();
}

UNIT_TEST(leave)
{
	top_end();
}
