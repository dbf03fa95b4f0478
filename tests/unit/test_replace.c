/* SPDX-License-Identifier: MIT */
/*
 * os/replace: a file is the old one or the new one, whole, whatever fails, whoever
 * ends us, and whoever else writes; what is to be kept is kept, and nothing is left.
 */
#include "unit.h"

#include "fault.h"
#include "loop.h"
#include "path/replace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#define OLD "# old\nUUID=1 / ext4 rw 0 1\n"
#define NEW "# new\nUUID=1 / ext4 rw,noatime 0 1\n/dev/sdb1 /srv xfs defaults 0 2\n"

static char top[] = "/tmp/getmnt-unit-XXXXXX";
static bool is_root;
static struct os os;

static const char *at(const char *name)
{
	static char paths[4][256];
	static unsigned next;
	char *path = paths[next++ % 4];
	snprintf(path, sizeof(paths[0]), "%s%s%s", top, *name ? "/" : "", name);
	return path;
}

__attribute__((format(printf, 1, 2)))
static bool run(const char *format, ...)
{
	char command[1024];
	va_list args;
	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	return system(command) == 0;
}

static void put_text(const char *name, const char *text)
{
	int fd = open(at(name), O_WRONLY | O_CREAT | O_TRUNC, 0644);
	CU_ASSERT_EQUAL(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

static const char *get_path(const char *path)
{
	static char texts[4][8192];
	static unsigned next;
	char *text = texts[next++ % 4];
	int fd = open(path, O_RDONLY);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(texts[0]) - 1);
	if (fd >= 0)
		close(fd);
	if (n < 0)
		return "(missing)";
	text[n] = '\0';
	return text;
}

static const char *get_text(const char *name)
{
	return get_path(at(name));
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/** What is in a directory: names in order; the time of a backup is TIME. */
static const char *listing(const char *name)
{
	static char text[4096];
	char *names[256];
	size_t n = 0;
	DIR *dir = opendir(at(name));
	struct dirent *entry;
	while (dir && n < 256 && (entry = readdir(dir))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		char *copy = strdup(entry->d_name), *time = strstr(copy, ".getmnt-2");
		if (time && strlen(time) == 27)
			snprintf(time, strlen(time), ".getmnt-TIME");
		names[n++] = copy;
	}
	if (dir)
		closedir(dir);
	qsort(names, n, sizeof(*names), by_name);
	text[0] = '\0';
	for (size_t i = 0; i < n; ++i) {
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", i ? " " : "", names[i]);
		free(names[i]);
	}
	return text;
}

static void clean(void)
{
	CU_ASSERT_TRUE(run("chattr -R -ia %s 2>/dev/null; find %s -mindepth 1 -delete", top, top));
}

/** What came of a replacement. */
struct result {
	int rc;
	struct replace_error error;
	bool replaced;
	char backup[512], left[512];
};

static struct result replace_as(const char *path, const char *new, struct replace_name name, bool links)
{
	struct replace file;
	struct result result = {0};
	name.path = path;
	result.rc = replace_open(&os, &name, &file, &result.error);
	if (result.rc == 0)
		result.rc = replace_commit(&file, new, strlen(new), true, links, &result.error);
	result.replaced = file.replaced;
	snprintf(result.backup, sizeof(result.backup), "%s", file.backup ? file.backup : "");
	snprintf(result.left, sizeof(result.left), "%s", file.left ? file.left : "");
	replace_close(&file);
	return result;
}

static struct result replace_text(const char *name, const char *new)
{
	return replace_as(at(name), new, (struct replace_name){0}, false);
}

static void test_enter(void)
{
	is_root = geteuid() == 0;
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(top));
	is_root = is_root && unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0
	          && mount("top", top, "tmpfs", 0, "size=256m") == 0;
	os_init(&os, getenv("GETMNT_DISABLE"));
}

static void test_plain(void)
{
	struct stat st, old, backup;
	put_text("f", OLD);
	CU_ASSERT_EQUAL(chmod(at("f"), 0640), 0);
	CU_ASSERT_TRUE(!is_root || chown(at("f"), 1234, 4321) == 0);
	CU_ASSERT_EQUAL(utimensat(AT_FDCWD, at("f"), (struct timespec[2]){{1000, 5}, {2000, 7}}, 0), 0);
	CU_ASSERT_EQUAL(stat(at("f"), &old), 0);
	struct result r = replace_text("f", NEW);
	CU_ASSERT_EQUAL(r.rc, 0);
	CU_ASSERT_TRUE(r.replaced);
	CU_ASSERT_STRING_EQUAL(get_text("f"), NEW);
	CU_ASSERT_STRING_EQUAL(get_path(r.backup), OLD);
	CU_ASSERT_STRING_EQUAL(listing(""), "f f.getmnt-TIME");
	CU_ASSERT_EQUAL(stat(at("f"), &st), 0);
	CU_ASSERT_EQUAL(stat(r.backup, &backup), 0);
	CU_ASSERT_TRUE(st.st_mode == old.st_mode && st.st_uid == old.st_uid && st.st_gid == old.st_gid);
	CU_ASSERT_TRUE(backup.st_mode == old.st_mode && backup.st_uid == old.st_uid && backup.st_gid == old.st_gid);
	CU_ASSERT_TRUE(st.st_ino != old.st_ino && backup.st_ino != old.st_ino);
	CU_ASSERT_TRUE(backup.st_mtim.tv_sec == 2000 && backup.st_mtim.tv_nsec == 7 && st.st_mtim.tv_sec > 2000);
	/* The command that undoes it. */
	CU_ASSERT_TRUE(run("mv -- %s %s", r.backup, at("f")));
	CU_ASSERT_STRING_EQUAL(get_text("f"), OLD);

	/* Nothing, and much. */
	CU_ASSERT_EQUAL(replace_text("f", "").rc, 0);
	CU_ASSERT_STRING_EQUAL(get_text("f"), "");
	char *much = malloc((4 << 20) + 1);
	memset(much, 'x', 4 << 20);
	much[4 << 20] = '\0';
	CU_ASSERT_EQUAL(replace_text("f", much).rc, 0);
	CU_ASSERT_EQUAL(stat(at("f"), &st), 0);
	CU_ASSERT_EQUAL(st.st_size, 4 << 20);
	CU_ASSERT_EQUAL(replace_text("f", OLD).rc, 0);
	free(much);
	clean();
}

static void test_missing(void)
{
	struct stat st;
	struct replace_name create = {.may_create = true};
	mode_t mask = umask(077);
	struct result r = replace_text("f", NEW);
	CU_ASSERT_TRUE(r.rc != 0 && r.error.why == RP_ERROR && r.error.error == ENOENT);
	CU_ASSERT_STRING_EQUAL(listing(""), "");
	r = replace_as(at("f"), NEW, create, false);
	CU_ASSERT_EQUAL(r.rc, 0);
	CU_ASSERT_STRING_EQUAL(r.backup, "");
	CU_ASSERT_STRING_EQUAL(get_text("f"), NEW);
	CU_ASSERT_STRING_EQUAL(listing(""), "f");
	CU_ASSERT_EQUAL(stat(at("f"), &st), 0);
	CU_ASSERT_EQUAL(st.st_mode & 07777, 0644);
	CU_ASSERT_EQUAL(st.st_uid, geteuid());
	umask(mask);
	/* A directory that is missing is another matter. */
	r = replace_as(at("no/f"), NEW, create, false);
	CU_ASSERT_TRUE(r.rc != 0 && r.error.error == ENOENT);
	r = replace_as("", NEW, create, false);
	CU_ASSERT_TRUE(r.rc != 0 && r.error.error == ENOENT);
	/* It is not missing any more. */
	struct replace file;
	CU_ASSERT_EQUAL(replace_open(&os, &(struct replace_name){.path = at("g"), .may_create = true}, &file, &r.error), 0);
	CU_ASSERT_TRUE(file.missing && file.len == 0);
	put_text("g", OLD);
	CU_ASSERT_EQUAL(replace_commit(&file, NEW, strlen(NEW), true, false, &r.error), -1);
	CU_ASSERT_EQUAL(r.error.why, RP_CHANGED);
	replace_close(&file);
	CU_ASSERT_STRING_EQUAL(get_text("g"), OLD);
	clean();
}

/* Names. */

/** Where a name leads, as replace_open() resolves it; "" and the error. */
static const char *resolved(const char *path, const char *root, bool at_link)
{
	static char text[8192];
	struct replace file;
	struct replace_error error;
	struct replace_name name = {.path = path, .root = root, .may_create = true, .at_link = at_link};
	int rc = replace_open(&os, &name, &file, &error);
	snprintf(text, sizeof(text), "%s", rc == 0 ? file.path : strerror(error.error));
	replace_close(&file);
	return text;
}

static void test_names(void)
{
	char real[PATH_MAX];
	CU_ASSERT_TRUE(run("cd %s && mkdir -p etc a/b r/etc r/other && echo x >etc/f && ln -s etc link && ln -s ../../etc/f a/b/rel"
	                   " && ln -s %s/a/b/rel abs && ln -s abs chain && ln -s loop loop && ln -s etc/new dangling"
	                   " && ln -s no/new nowhere && ln -s /etc/f r/abs && ln -s ../../../../etc/f r/etc/up && echo r >r/etc/f"
	                   " && ln -s /other r/link && echo o >r/other/f && ln -s r rlink", top, top));
	static const char *const names[] = {
		"etc/f", "link/f", "a/b/rel", "abs", "chain", "link/../etc//./f", "a/b/../../etc/f", "etc/../link/f",
	};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); ++i) {
		CU_ASSERT_PTR_NOT_NULL(realpath(at(names[i]), real));
		CU_ASSERT_STRING_EQUAL(resolved(at(names[i]), NULL, false), real);
		/* Relative to where we are. */
		int here = open(".", O_PATH | O_DIRECTORY);
		CU_ASSERT_EQUAL(chdir(top), 0);
		CU_ASSERT_STRING_EQUAL(resolved(names[i], "/", false), real);
		CU_ASSERT_EQUAL(fchdir(here), 0);
		close(here);
	}
	CU_ASSERT_STRING_EQUAL(resolved(at("loop"), NULL, false), strerror(ELOOP));
	CU_ASSERT_STRING_EQUAL(resolved(at("etc/f/"), NULL, false), strerror(ENOTDIR));
	CU_ASSERT_STRING_EQUAL(resolved(at("etc/f/x"), NULL, false), strerror(ENOTDIR));
	CU_ASSERT_STRING_EQUAL(resolved(at("nowhere"), NULL, false), strerror(ENOENT));
	CU_ASSERT_STRING_EQUAL(resolved(at("dangling"), NULL, false), at("etc/new"));
	/* The link itself. */
	CU_ASSERT_STRING_EQUAL(resolved(at("chain"), NULL, true), at("chain"));
	CU_ASSERT_STRING_EQUAL(resolved(at("link/f"), NULL, true), at("etc/f"));
	/* Below a root, which may be behind a link itself. */
	CU_ASSERT_STRING_EQUAL(resolved("/etc/f", at("r"), false), at("r/etc/f"));
	CU_ASSERT_STRING_EQUAL(resolved("/abs", at("r"), false), at("r/etc/f"));
	CU_ASSERT_STRING_EQUAL(resolved("/etc/up", at("r"), false), at("r/etc/f"));
	CU_ASSERT_STRING_EQUAL(resolved("/link/f", at("rlink"), false), at("r/other/f"));
	CU_ASSERT_STRING_EQUAL(resolved("/../../etc/f", at("r"), false), at("r/etc/f"));
	char name[300];
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	CU_ASSERT_STRING_EQUAL(resolved(name, NULL, false), strerror(ENAMETOOLONG));

	/* A link stays, and what it leads to is replaced, in its own directory. */
	struct result r = replace_text("chain", NEW);
	CU_ASSERT_EQUAL(r.rc, 0);
	CU_ASSERT_STRING_EQUAL(get_text("etc/f"), NEW);
	CU_ASSERT_STRING_EQUAL(listing("etc"), "f f.getmnt-TIME");
	CU_ASSERT_STRING_EQUAL(listing("r"), "abs etc link other");
	CU_ASSERT_EQUAL(readlink(at("chain"), real, sizeof(real)), 3);
	clean();
}

/** A link of somebody else is not followed, wherever it stands; root's and one's own are. */
static void test_foreign_links(void)
{
	struct replace_error error;
	struct replace file;
	if (!is_root)
		UNIT_SKIP("no root, or no private mount namespace");
	CU_ASSERT_TRUE(run("cd %s && mkdir -p home/sub etc && echo secret >etc/f && chmod 600 etc/f && cd home && "
	                   "ln -s ../etc/f file && ln -s ../etc dir && ln -s ../etc/new new && ln -s ../etc root && "
	                   "ln -s root two && ln -s two three && chown -hR 65534 . && chown -h 0 root three", top));
	static const struct {
		const char *name, *link;   /* the link that is refused; NULL: none */
		bool root;
	} rows[] = {
		{"home/file", "home/file", false}, {"home/dir/f", "home/dir", false}, {"home/new", "home/new", false},
		{"home/root/f", NULL, false}, {"home/two/f", "home/two", false}, {"home/three/f", "home/two", false},
		{"home/sub/../dir/../etc/f", "home/dir", false}, {"/file", "home/file", true}, {"etc/f", NULL, false},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); ++i) {
		char step[300] = "";
		struct replace_name name = {
			.path = rows[i].root ? rows[i].name : at(rows[i].name), .root = rows[i].root ? at("home") : NULL, .may_create = true,
		};
		int rc = replace_open(&os, &name, &file, &error);
		CU_ASSERT_EQUAL(rc, rows[i].link ? -1 : 0);
		if (rows[i].link)
			snprintf(step, sizeof(step), "the symlink %s belongs to uid 65534", at(rows[i].link));
		CU_ASSERT_TRUE(rc == 0 || (error.why == RP_LINK && error.error == EPERM && strcmp(error.step, step) == 0));
		CU_ASSERT_PTR_NULL(rc == 0 ? NULL : file.text);
		replace_close(&file);
	}
	/* What is behind it is not read either where it gives way to a file. */
	CU_ASSERT_EQUAL(replace_open(&os, &(struct replace_name){.path = at("home/file"), .at_link = true}, &file, &error), -1);
	CU_ASSERT_EQUAL(error.why, RP_LINK);
	replace_close(&file);
	/* To him they are his own, and root's are root's. */
	pid_t pid = fork();
	if (pid == 0) {
		bool ok = chmod(top, 0755) == 0 && chmod(at("etc/f"), 0644) == 0 && setresuid(65534, 65534, 65534) == 0;
		ok = ok && replace_open(&os, &(struct replace_name){.path = at("home/three/f")}, &file, &error) == 0;
		_exit(ok ? 0 : 1);
	}
	int status = -1;
	waitpid(pid, &status, 0);
	CU_ASSERT_EQUAL(status, 0);
	CU_ASSERT_STRING_EQUAL(get_text("etc/f"), "secret\n");
	CU_ASSERT_STRING_EQUAL(listing("etc"), "f");
	/* The kernel's own, where root has another number. */
	CU_ASSERT_EQUAL(mkdir(at("proc"), 0755), 0);
	pid = fork();
	if (pid == 0)
		_exit(unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0 ? 2
		      : replace_open(&os, &(struct replace_name){.path = "/proc/mounts"}, &file, &error) == 0 ? 0 : 1);
	waitpid(pid, &status, 0);
	CU_ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) != 1);
	clean();
}

static char asked_about[1024];
static char dead[256];

/** Whether a path is in what is held to block; each that is asked about is noted. */
static bool in_dead(void *arg, const char *path)
{
	CU_ASSERT_PTR_EQUAL(arg, dead);
	size_t n = strlen(asked_about);
	snprintf(asked_about + n, sizeof(asked_about) - n, "%s ", strncmp(path, top, strlen(top)) == 0 ? path + strlen(top) : "");
	return strncmp(path, dead, strlen(dead)) == 0 && (path[strlen(dead)] == '/' || !path[strlen(dead)]);
}

/** What can block is not touched, but by the name that was given. */
static void test_blocks(void)
{
	struct replace_error error;
	struct replace file;
	char target[300];
	CU_ASSERT_TRUE(run("cd %s && mkdir -p dead etc r/etc && echo x >dead/f && echo x >etc/f && echo x >r/etc/f && "
	                   "ln -s %s/dead/f etc/link && ln -s ../dead etc/dir && ln -s f etc/near && ln -s ../etc/near dead/out", top, top));
	snprintf(dead, sizeof(dead), "%s", at("dead"));
	static const struct {
		const char *name;
		bool named;
		const char *blocks;   /* the place that is told; NULL: it is read */
	} rows[] = {
		{"etc/f", false, NULL}, {"etc/near", false, NULL}, {"etc/none", false, NULL}, {"dead/f", false, "dead"},
		{"dead/f", true, NULL}, {"etc/link", true, "dead"}, {"etc/link", false, "dead"}, {"etc/dir/f", true, "dead"},
		{"etc/near", true, NULL}, {"dead/out", true, NULL}, {"etc/../dead/none", true, NULL},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); ++i) {
		snprintf(target, sizeof(target), "%s", at(rows[i].name));
		struct replace_name name = {.path = target, .may_create = true, .blocks = in_dead, .blocks_arg = dead,
		                            .named = rows[i].named};
		int rc = replace_open(&os, &name, &file, &error);
		CU_ASSERT_EQUAL(rc, rows[i].blocks ? -1 : 0);
		CU_ASSERT_TRUE(rc == 0 || (error.why == RP_BLOCKS && error.error == EREMOTE
		                           && strcmp(error.step, at(rows[i].blocks)) == 0));
		replace_close(&file);
	}
	/* Below a root all is asked about, and by its whole path. */
	asked_about[0] = '\0';
	CU_ASSERT_EQUAL(replace_open(&os, &(struct replace_name){.path = "/etc/f", .root = at("r"), .blocks = in_dead,
	                                                         .blocks_arg = dead, .named = true}, &file, &error), 0);
	replace_close(&file);
	CU_ASSERT_STRING_EQUAL(asked_about, "/r/etc /r/etc/f ");
	/* What a link that gives way leads to. */
	CU_ASSERT_EQUAL(replace_open(&os, &(struct replace_name){.path = at("etc/link"), .at_link = true, .blocks = in_dead,
	                                                         .blocks_arg = dead, .named = true}, &file, &error), -1);
	CU_ASSERT_EQUAL(error.why, RP_BLOCKS);
	replace_close(&file);
	clean();
}

/** A link that gives way to a file; its backup is a link. */
static void test_at_link(void)
{
	struct replace_name at_link = {.at_link = true};
	struct stat st;
	char text[64] = "";
	put_text("f", OLD);
	CU_ASSERT_EQUAL(symlink("f", at("l")), 0);
	struct result r = replace_as(at("l"), NEW, at_link, false);
	CU_ASSERT_EQUAL(r.rc, 0);
	CU_ASSERT_TRUE(lstat(at("l"), &st) == 0 && S_ISREG(st.st_mode) && (st.st_mode & 0777) == 0644);
	CU_ASSERT_STRING_EQUAL(get_text("l"), NEW);
	CU_ASSERT_STRING_EQUAL(get_text("f"), OLD);
	CU_ASSERT_TRUE(readlink(r.backup, text, sizeof(text) - 1) == 1 && strcmp(text, "f") == 0);
	clean();
	/* To a file of the kernel's; to nothing. */
	static const char *const targets[] = {"/proc/self/mounts", "nowhere"};
	for (int i = 0; i < 2; ++i) {
		CU_ASSERT_EQUAL(symlink(targets[i], at("l")), 0);
		r = replace_as(at("l"), NEW, (struct replace_name){.may_create = true}, false);
		CU_ASSERT_EQUAL(r.rc, -1);
		CU_ASSERT_EQUAL(r.error.why, i == 0 ? RP_KERNEL : RP_DANGLING);
		CU_ASSERT_STRING_EQUAL(listing(""), "l");
		r = replace_as(at("l"), NEW, at_link, false);
		CU_ASSERT_EQUAL(r.rc, 0);
		CU_ASSERT_STRING_EQUAL(get_text("l"), NEW);
		clean();
	}
	/* The link was changed meanwhile. */
	struct replace file;
	CU_ASSERT_EQUAL(symlink("f", at("l")), 0);
	CU_ASSERT_EQUAL(replace_open(&os, &(struct replace_name){.path = at("l"), .at_link = true}, &file, &r.error), 0);
	CU_ASSERT_TRUE(unlink(at("l")) == 0 && symlink("g", at("l")) == 0);
	CU_ASSERT_EQUAL(replace_commit(&file, NEW, strlen(NEW), true, false, &r.error), -1);
	CU_ASSERT_EQUAL(r.error.why, RP_CHANGED);
	replace_close(&file);
	CU_ASSERT_STRING_EQUAL(listing(""), "l");
	clean();
}

static void test_types(void)
{
	CU_ASSERT_TRUE(run("cd %s && mkdir dir && mkfifo fifo && ln -s fifo link && truncate -s %d large", top,
	                   REPLACE_MAX + 1));
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	snprintf(name.sun_path, sizeof(name.sun_path), "%s", at("socket"));
	int sock = socket(AF_UNIX, SOCK_STREAM, 0);
	CU_ASSERT_EQUAL(bind(sock, (struct sockaddr *)&name, sizeof(name)), 0);
	static const char *const names[] = {"dir", "dir/", "dir/.", "fifo", "link", "socket", ""};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); ++i) {
		struct result r = replace_text(names[i], NEW);
		CU_ASSERT_TRUE(r.rc != 0 && r.error.why == RP_TYPE);
	}
	CU_ASSERT_EQUAL(replace_as("/dev/null", NEW, (struct replace_name){0}, false).error.why, RP_TYPE);
	CU_ASSERT_EQUAL(replace_text("large", NEW).error.why, RP_TOO_LARGE);
	CU_ASSERT_EQUAL(replace_as("/proc/self/mounts", NEW, (struct replace_name){0}, false).error.why, RP_KERNEL);
	close(sock);
	clean();
}

static void test_links(void)
{
	put_text("f", OLD);
	CU_ASSERT_EQUAL(link(at("f"), at("g")), 0);
	struct result r = replace_text("f", NEW);
	CU_ASSERT_TRUE(r.rc != 0 && r.error.why == RP_LINKS && strstr(r.error.step, "2 names"));
	CU_ASSERT_STRING_EQUAL(listing(""), "f g");
	r = replace_as(at("f"), NEW, (struct replace_name){0}, true);
	CU_ASSERT_EQUAL(r.rc, 0);
	CU_ASSERT_STRING_EQUAL(get_text("f"), NEW);
	CU_ASSERT_STRING_EQUAL(get_text("g"), OLD);
	clean();
}

/* Backups. */

static void test_backups(void)
{
	char expected[16], name[64];
	/* What looks like one, and is not: of these nothing is removed. */
	static const char not_ours[] = "f.getmnt-old f.getmnt-20260000T000000000Z f.getmnt-20260101T000000Z "
	                               "f.getmnt-20260101T000000000Z.save g.getmnt-20260101T000000000Z "
	                               "f.getmnt-20260101T250000000Z f.getmnt-20200104T000000000Z";
	CU_ASSERT_TRUE(run("cd %s && echo 0 >f && touch %s && mkdir f.getmnt-20200101T000000000Z && "
	                   "ln f.getmnt-20200104T000000000Z mine && "
	                   "touch f.getmnt-20200102T000000000Z f.getmnt-20200103T000000000Z", top, not_ours));
	for (int i = 1; i <= 12; ++i) {
		snprintf(expected, sizeof(expected), "%d\n", i);
		struct result r = replace_text("f", expected);
		CU_ASSERT_EQUAL(r.rc, 0);
		snprintf(name, sizeof(name), "%d\n", i - 1);
		CU_ASSERT_STRING_EQUAL(get_path(r.backup), name);
	}
	CU_ASSERT_TRUE(run("cd %s && ls -d %s f.getmnt-20200101T000000000Z >/dev/null", top, not_ours));
	CU_ASSERT_TRUE(run("cd %s && test ! -e f.getmnt-20200102T000000000Z -a ! -e f.getmnt-20200103T000000000Z", top));
	/* The last five, in order. */
	CU_ASSERT_TRUE(run("cd %s && rm -r %s f.getmnt-20200101* mine && "
	                   "test \"$(cat f.getmnt-*)\" = \"$(printf '7\\n8\\n9\\n10\\n11')\"", top, not_ours));
	clean();

	/* By a clock that was set back the new one is the oldest, and stays. */
	CU_ASSERT_TRUE(run("cd %s && echo 0 >f && for i in 1 2 3 4 5 6; do touch f.getmnt-2099010${i}T000000000Z; done", top));
	struct result r = replace_text("f", NEW);
	CU_ASSERT_STRING_EQUAL(get_path(r.backup), "0\n");
	clean();

	/* Without one. */
	put_text("f", OLD);
	struct replace file;
	CU_ASSERT_EQUAL(replace_open(&os, &(struct replace_name){.path = at("f")}, &file, &r.error), 0);
	CU_ASSERT_EQUAL(replace_commit(&file, NEW, strlen(NEW), false, false, &r.error), 0);
	CU_ASSERT_PTR_NULL(file.backup);
	replace_close(&file);
	CU_ASSERT_STRING_EQUAL(listing(""), "f");
	clean();
}

/* Attributes. */

/** An ACL: user::rw-, user:1000:rw-, group::r--, mask::rw-, other::---. */
static const unsigned char acl[] = {
	2, 0, 0, 0, 1, 0, 6, 0, 255, 255, 255, 255, 2, 0, 6, 0, 232, 3, 0, 0, 4, 0, 4, 0, 255, 255, 255, 255,
	16, 0, 6, 0, 255, 255, 255, 255, 32, 0, 0, 0, 255, 255, 255, 255,
};

static bool has_attribute(const char *path, const char *name, const void *value, size_t size)
{
	char has[256];
	ssize_t n = getxattr(path, name, has, sizeof(has));
	return value ? n == (ssize_t)size && memcmp(has, value, size) == 0 : n < 0;
}

static void test_attributes(void)
{
	struct stat st;
	put_text("f", OLD);
	if (!is_root || setxattr(at("f"), "user.note", "by hand", 7, 0) != 0
	    || setxattr(at("f"), "system.posix_acl_access", acl, sizeof(acl), 0) != 0) {
		clean();
		UNIT_SKIP("no attributes or ACLs on a tmpfs, or no root");
	}
	CU_ASSERT_EQUAL(setxattr(at("f"), "trusted.t", "\0x", 2, 0), 0);
	CU_ASSERT_EQUAL(setxattr(at("f"), "user.empty", "", 0, 0), 0);
	bool label = setxattr(at("f"), "security.selinux", "system_u:object_r:etc_t:s0", 27, 0) == 0;
	struct result r = replace_text("f", NEW);
	CU_ASSERT_EQUAL(r.rc, 0);
	const char *both[] = {at("f"), r.backup};
	for (int i = 0; i < 2; ++i) {
		CU_ASSERT_TRUE(has_attribute(both[i], "user.note", "by hand", 7));
		CU_ASSERT_TRUE(has_attribute(both[i], "user.empty", "", 0));
		CU_ASSERT_TRUE(has_attribute(both[i], "trusted.t", "\0x", 2));
		CU_ASSERT_TRUE(has_attribute(both[i], "system.posix_acl_access", acl, sizeof(acl)));
		CU_ASSERT_TRUE(!label || has_attribute(both[i], "security.selinux", "system_u:object_r:etc_t:s0", 27));
		CU_ASSERT_TRUE(stat(both[i], &st) == 0 && (st.st_mode & 0777) == 0660);
	}
	printf("  a label %s\n", label ? "is kept" : "could not be tried");
	/* What the directory gives to new files, the old one does not have. */
	put_text("g", OLD);
	CU_ASSERT_EQUAL(setxattr(top, "system.posix_acl_default", acl, sizeof(acl), 0), 0);
	r = replace_text("g", NEW);
	CU_ASSERT_EQUAL(r.rc, 0);
	CU_ASSERT_TRUE(has_attribute(at("g"), "system.posix_acl_access", NULL, 0));
	CU_ASSERT_TRUE(has_attribute(r.backup, "system.posix_acl_access", NULL, 0));
	CU_ASSERT_TRUE(stat(at("g"), &st) == 0 && (st.st_mode & 0777) == 0644);
	CU_ASSERT_EQUAL(removexattr(top, "system.posix_acl_default"), 0);
	clean();
}

/* Users. */

/** Run a test in a process of another user.  @return its exit status. */
static int as_user(int (*test)(void))
{
	int status = -1;
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		if (setgid(1000) != 0 || setuid(1000) != 0)
			_exit(99);
		_exit(test());
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

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

static int ready[2];

static int user_reads(void)
{
	int fd = open(at("f"), O_RDONLY);
	if (flock(fd, LOCK_SH) != 0 || open(at(".f.getmnt-lock"), O_RDONLY) >= 0)
		return 1;
	(void)!write(ready[1], "x", 1);
	pause();
	return 0;
}

static void test_users(void)
{
	char byte;
	if (!is_root)
		UNIT_SKIP("no root");
	CU_ASSERT_EQUAL(chmod(top, 0755), 0);
	put_text("f", OLD);
	CU_ASSERT_EQUAL(as_user(user_denied), 0);
	/* Who may write in a directory has no right to give a file away. */
	CU_ASSERT_TRUE(mkdir(at("dir"), 0777) == 0 && chmod(at("dir"), 0777) == 0);
	put_text("dir/f", OLD);
	CU_ASSERT_EQUAL(as_user(user_owner), 0);
	CU_ASSERT_STRING_EQUAL(get_text("dir/f"), OLD);
	CU_ASSERT_STRING_EQUAL(listing("dir"), "f");

	/* An ordinary user's lock on a file that all may read keeps nobody out. */
	CU_ASSERT_EQUAL(pipe(ready), 0);
	pid_t pid = fork();
	if (pid == 0) {
		if (setgid(1000) != 0 || setuid(1000) != 0)
			_exit(1);
		_exit(user_reads());
	}
	CU_ASSERT_EQUAL(read(ready[0], &byte, 1), 1);
	int fd = open(at("f"), O_RDONLY);
	CU_ASSERT_TRUE(flock(fd, LOCK_EX | LOCK_NB) != 0);
	close(fd);
	CU_ASSERT_EQUAL(replace_text("f", NEW).rc, 0);
	CU_ASSERT_STRING_EQUAL(get_text("f"), NEW);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(ready[0]);
	close(ready[1]);
	clean();
}

/* Other writers. */

static void test_lock(void)
{
	char byte;
	put_text("f", OLD);
	/* What one that was killed left. */
	CU_ASSERT_TRUE(run("cd %s && umask 077 && touch .f.getmnt-lock && echo half >.f.getmnt-new", top));
	CU_ASSERT_EQUAL(replace_text("f", NEW).rc, 0);
	CU_ASSERT_STRING_EQUAL(listing(""), "f f.getmnt-TIME");
	clean();
	/* A lock that others could open is none; what is in the way is left alone. */
	put_text("f", OLD);
	CU_ASSERT_TRUE(run("cd %s && touch .f.getmnt-lock && chmod 644 .f.getmnt-lock", top));
	struct result r = replace_text("f", NEW);
	CU_ASSERT_TRUE(r.rc != 0 && r.error.why == RP_LOCK && strstr(r.error.step, "mode 0644"));
	if (is_root) {
		CU_ASSERT_TRUE(run("cd %s && chmod 600 .f.getmnt-lock && chown 65534 .f.getmnt-lock", top));
		r = replace_text("f", NEW);
		CU_ASSERT_TRUE(r.rc != 0 && r.error.why == RP_LOCK);
		CU_ASSERT_STRING_EQUAL(r.error.step, "the lock .f.getmnt-lock next to it is of uid 65534, mode 0600");
		CU_ASSERT_STRING_EQUAL(listing(""), ".f.getmnt-lock f");
	}
	CU_ASSERT_TRUE(run("cd %s && rm .f.getmnt-lock && ln -s f .f.getmnt-lock", top));
	r = replace_text("f", NEW);
	CU_ASSERT_TRUE(r.rc != 0 && r.error.why == RP_LOCK);
	CU_ASSERT_TRUE(run("cd %s && rm .f.getmnt-lock && mkdir .f.getmnt-new", top));
	r = replace_text("f", NEW);
	CU_ASSERT_TRUE(r.rc != 0 && strstr(r.error.step, "belongs to another user"));
	CU_ASSERT_STRING_EQUAL(get_text("f"), OLD);
	CU_ASSERT_STRING_EQUAL(listing(""), ".f.getmnt-new f");
	clean();
	/* Another has it. */
	put_text("f", OLD);
	CU_ASSERT_EQUAL(pipe(ready), 0);
	pid_t pid = fork();
	if (pid == 0) {
		int fd = open(at(".f.getmnt-lock"), O_RDWR | O_CREAT, 0600);
		flock(fd, LOCK_EX);
		(void)!write(ready[1], "x", 1);
		pause();
	}
	CU_ASSERT_EQUAL(read(ready[0], &byte, 1), 1);
	r = replace_text("f", NEW);
	CU_ASSERT_TRUE(r.rc != 0 && r.error.why == RP_LOCKED);
	CU_ASSERT_STRING_EQUAL(listing(""), ".f.getmnt-lock f");
	CU_ASSERT_STRING_EQUAL(get_text("f"), OLD);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(ready[0]);
	close(ready[1]);
	CU_ASSERT_EQUAL(replace_text("f", NEW).rc, 0);
	clean();
}

/** What we made is ours, whatever owner and mode the file system gives it: here it gets
    others before each call. */
static void give_lock_away(void)
{
	run("cd %s && test ! -e .f.getmnt-lock || { chmod 755 .f.getmnt-lock && chown 65534 .f.getmnt-lock; }", top);
}

static void test_fixed_modes(void)
{
	struct fault_count base, count;
	if (!is_root)
		UNIT_SKIP("no root");
#ifdef _FORTIFY_SOURCE
	UNIT_SKIP("a fortified program makes calls that are not wrapped");
#endif
	put_text("f", OLD);
	fault_begin(NULL, 100000);
	CU_ASSERT_EQUAL(replace_text("f", NEW).rc, 0);
	fault_end(&base);
	CU_ASSERT_TRUE(base.kernel > 20);
	for (uint64_t n = 1; n <= base.kernel; ++n) {
		put_text("f", OLD);
		fault_begin(&(struct fault){FAULT_HOOK, .n = n, .hook = give_lock_away}, 100000);
		CU_ASSERT_EQUAL(replace_text("f", NEW).rc, 0);
		fault_end(&count);
		CU_ASSERT_STRING_EQUAL(get_text("f"), NEW);
		CU_ASSERT_PTR_NULL(strstr(listing(""), "-lock"));
	}
	clean();
}

enum { WRITERS = 6, ROUNDS = 8 };

/** Append a line to the file, in turn with others; again when they were faster. */
static int append_lines(int writer)
{
	for (int round = 0; round < ROUNDS; ++round) {
		for (int tries = 0;; ++tries) {
			struct replace file;
			struct replace_error error;
			char text[8192];
			if (replace_open(&os, &(struct replace_name){.path = at("f")}, &file, &error) != 0) {
				if (error.why != RP_CHANGED)
					return 1;
				replace_close(&file);
				continue;
			}
			snprintf(text, sizeof(text), "%sline %d of %d\n", file.text, round, writer);
			int rc = replace_commit(&file, text, strlen(text), false, false, &error);
			replace_close(&file);
			if (rc == 0)
				break;
			if (error.why != RP_CHANGED || tries > 5000) {
				printf("  writer %d: %d %s %s\n", writer, (int)error.why, error.step, strerror(error.error));
				return 1;
			}
		}
	}
	return 0;
}

/** No line of any writer is lost. */
static void test_writers(void)
{
	pid_t pids[WRITERS];
	put_text("f", "");
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
	CU_ASSERT_STRING_EQUAL(listing(""), "f");
	clean();
}

/** Somebody who takes no lock: each time a line is added to what is there, and the
    file renamed over the old one.  Ends when there is a file "end". */
static int edit_lines(void)
{
	static char text[1 << 20];
	char last[32] = "";
	int n = 0, waits = 0;
	while (access(at("end"), F_OK) != 0 && n < 20000) {
		int fd = open(at("f"), O_RDONLY);
		ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof(text) - 64);
		close(fd);
		if (len < 0)
			return 1;   /* there is always one */
		text[len] = '\0';
		/* For a moment it can be another's, who finds that he came too late. */
		if (!strstr(text, last)) {
			if (++waits > 5000)
				return 2;
			usleep(1000);
			continue;
		}
		waits = 0;
		snprintf(last, sizeof(last), "e%d\n", n);
		len += sprintf(text + len, "e%d\n", n++);
		fd = open(at("edit"), O_WRONLY | O_CREAT | O_TRUNC, 0644);
		if (write(fd, text, (size_t)len) != len)
			return 1;
		close(fd);
		if (rename(at("edit"), at("f")) != 0)
			return 1;
		usleep((useconds_t)(n * 37 % 200));
	}
	return 0;
}

/** No line of his is lost, however often he comes in between. */
static void test_race(void)
{
	unsigned written = 0, refused = 0, late = 0, others = 0;
	put_text("f", "");
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0)
		_exit(edit_lines());
	for (int i = 0; i < 1500; ++i) {
		struct replace file;
		struct replace_error error = {0};
		int rc = replace_open(&os, &(struct replace_name){.path = at("f")}, &file, &error);
		if (rc == 0) {
			char *new = malloc(file.len + 16);
			int len = sprintf(new, "%s.\n", file.text);
			rc = replace_commit(&file, new, (size_t)len, false, false, &error);
			free(new);
		}
		replace_close(&file);
		written += rc == 0;
		refused += rc != 0 && error.why == RP_CHANGED;
		late += rc != 0 && strstr(error.step, "very moment") != NULL;
		others += rc != 0 && error.why != RP_CHANGED;
	}
	put_text("end", "");
	int status = -1, lines = 0, expected = 0;
	waitpid(pid, &status, 0);
	CU_ASSERT_EQUAL(status, 0);
	FILE *f = fopen(at("f"), "r");
	char line[64];
	bool ordered = true;
	while (f && fgets(line, sizeof(line), f)) {
		if (*line != 'e')
			continue;
		ordered &= atoi(line + 1) == expected++;
		++lines;
	}
	if (f)
		fclose(f);
	printf("  beside an editor: %u written, %u refused (%u in the last moment); %d lines of his, %s\n", written, refused,
	       late, lines, ordered ? "all there" : "NOT ALL THERE");
	CU_ASSERT_TRUE(ordered && lines > 0 && written > 0 && refused > 0);
	CU_ASSERT_EQUAL(others, 0);
	clean();
}

/* At each call. */

/** What it is that is replaced. */
static enum { SHAPE_FILE, SHAPE_MISSING, SHAPE_LINK, NSHAPES } shape;

/** A replacement, with all its calls counted. */
static struct result try_fault(const struct fault *fault, struct fault_count *count)
{
	struct replace_name name = {.may_create = shape == SHAPE_MISSING, .at_link = shape == SHAPE_LINK};
	fault_begin(fault, 100000);
	struct result r = replace_as(at("f"), NEW, name, false);
	fault_end(count);
	return r;
}

/** Remove the files, without a process for it. */
static void clean_files(void)
{
	DIR *dir = opendir(top);
	struct dirent *entry;
	while (dir && (entry = readdir(dir)))
		unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
}

static void reset(void)
{
	clean_files();
	if (shape == SHAPE_LINK)
		CU_ASSERT_EQUAL(symlink("nowhere", at("f")), 0);
	if (shape != SHAPE_FILE)
		return;
	put_text("f", OLD);
	if (is_root) {
		CU_ASSERT_EQUAL(chown(at("f"), 7, 8), 0);
		(void)!setxattr(at("f"), "user.note", "by hand", 7, 0);
	}
	if (chmod(at("f"), 0640) != 0)
		CU_FAIL("chmod");
}

/** Whether FILE is whole, and what else there is is what there may be. */
static bool judge_fault(const struct fault *fault, const struct result *r, const struct fault_count *count)
{
	const char *text = get_text("f"), *old = shape == SHAPE_FILE ? OLD : "(missing)";
	bool new = strcmp(text, NEW) == 0, ok = new || strcmp(text, old) == 0;
	ok &= new == r->replaced && (r->rc == 0) == (new && r->error.why != RP_UNSURE && r->error.why != RP_OVERTAKEN);
	struct stat st;
	if (shape == SHAPE_FILE)
		ok &= stat(at("f"), &st) == 0 && (st.st_mode & 07777) == 0640 && (!is_root || (st.st_uid == 7 && st.st_gid == 8));
	else
		ok &= !new || (stat(at("f"), &st) == 0 && (st.st_mode & 07777) == 0644);
	/* The backup is there if it is told of, and whole. */
	ok &= (new && shape != SHAPE_MISSING) == (*r->backup != '\0') && (!*r->backup || strcmp(get_path(r->backup), old) == 0);
	bool overtaken = r->rc != 0 && r->error.why == RP_OVERTAKEN;
	ok &= !*r->left || (overtaken ? new && strcmp(get_path(r->left), old) == 0 : !new && strcmp(get_path(r->left), NEW) == 0);
	ok &= count->blocks == 0 && count->fds == 0 && count->bad_closes == 0;
	char expected[256];
	const char *list = listing("");
	snprintf(expected, sizeof(expected), "%s%s%s", *r->left ? ".f.getmnt-new" : "",
	         shape == SHAPE_MISSING && !new ? "" : *r->left ? " f" : "f", *r->backup ? " f.getmnt-TIME" : "");
	/* What cannot be removed stays; and a lock whose file cannot be asked about. */
	bool stays = fault->kind == OS_UNLINK || (fault->mode == FAULT_ON && (fault->kind == OS_FSTAT || fault->kind == OS_FLOCK
	                                                                        || fault->kind == OS_OPENAT || fault->kind == OS_OPENAT2));
	const char *rest = strncmp(list, ".f.getmnt-lock", 14) == 0 && stays ? list + 14 + (list[14] == ' ') : list;
	if (strcmp(rest, expected) != 0 && fault->kind != OS_UNLINK)
		ok = false;
	if (!ok)
		printf("  %s %s %llu %s: rc %d, why %d, %s; %s; \"%s\" (%s) blocks %ld fds %ld bad %llu\n",
		       fault->mode == FAULT_ON ? "from" : "at", fault_kind_name(fault->kind), (unsigned long long)fault->n,
		       strerrorname_np(fault->error), r->rc, (int)r->error.why, r->error.step, new ? "new" : "old", list,
		       expected, count->blocks, count->fds, (unsigned long long)count->bad_closes);
	return ok;
}

/** @return how many runs went wrong. */
static unsigned long try_shape(bool few)
{
	static const int errors[] = {ENOSPC, EROFS, EIO, EINTR, EDQUOT, EACCES, EPERM, ENOMEM, EBUSY, ENOENT, EEXIST, EINVAL,
	                             ENOSYS, ENOTSUP, EXDEV, EFBIG, ESTALE, EMFILE, EWOULDBLOCK, ELOOP, ETXTBSY};
	struct fault_count base, count;
	reset();
	struct result r = try_fault(NULL, &base);
	CU_ASSERT_EQUAL(r.rc, 0);
	unsigned long runs = 0, tried = 0, bad = 0, kinds = 0;
	unsigned long every = unit_step() > 10 ? unit_step() / 10 : 1;
	for (int kind = 0; kind < FAULT_NKINDS; ++kind) {
		kinds += base.calls[kind] > 0;
		for (uint64_t n = 1; n <= base.calls[kind]; ++n) {
			for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); ++i) {
				if (kind >= OS_NCALLS ? errors[i] != ENOMEM : few && i % 3 != 0)
					continue;
				for (enum fault_mode mode = FAULT_ONCE; mode <= FAULT_ON; ++mode) {
					struct fault fault = {mode, kind, n, errors[i]};
					/* It waits for as long as it may: once is enough. */
					if (kind == OS_FLOCK && errors[i] == EWOULDBLOCK && mode == FAULT_ON && (few || n > 1))
						continue;
					if (tried++ % every != 0)
						continue;
					reset();
					r = try_fault(&fault, &count);
					bad += !judge_fault(&fault, &r, &count);
					/* What is interrupted is done again. */
					if (mode == FAULT_ONCE && errors[i] == EINTR && r.rc != 0) {
						printf("  %s interrupted: %s\n", fault_kind_name(kind), r.error.step);
						++bad;
					}
					++runs;
				}
			}
		}
	}
	/* Little at a time. */
	for (int kind = OS_READ; kind <= OS_GETXATTR; ++kind) {
		if (kind != OS_READ && kind != OS_WRITE && kind != OS_PREAD && kind != OS_GETDENTS)
			continue;
		struct fault fault = {FAULT_SHORT, kind, 0, 0};
		reset();
		r = try_fault(&fault, &count);
		bad += r.rc != 0 || !judge_fault(&fault, &r, &count);
		++runs;
	}
	CU_ASSERT_TRUE(kinds >= 12);
	printf("  %lu runs, of %llu kernel calls of %lu kinds one failing, or all from it on\n", runs,
	       (unsigned long long)base.kernel, kinds);
	clean();
	return bad;
}

static void test_faults(void)
{
#ifdef _FORTIFY_SOURCE
	UNIT_SKIP("a fortified program makes calls that are not wrapped");
#endif
	for (shape = SHAPE_FILE; shape < NSHAPES; ++shape)
		CU_ASSERT_EQUAL(try_shape(shape != SHAPE_FILE), 0);
	shape = SHAPE_FILE;
}

static int signal_to_send;

static void send_signal(void)
{
	kill(getpid(), signal_to_send);
}

/** Whether each file that has the name of a backup has all the old bytes. */
static bool backups_whole(void)
{
	DIR *dir = opendir(top);
	struct dirent *entry;
	bool whole = true;
	while (dir && (entry = readdir(dir))) {
		char name[64];
		snprintf(name, sizeof(name), "%.*s", (int)sizeof(name) - 1, entry->d_name);
		whole &= strncmp(name, "f.getmnt-", 9) != 0 || strcmp(get_text(name), OLD) == 0;
	}
	if (dir)
		closedir(dir);
	return whole;
}

/** Ended at each call, by a signal or by SIGKILL. */
static void test_killed(void)
{
	static const int signals[] = {SIGKILL, SIGTERM, SIGINT, SIGHUP, SIGXFSZ};
	struct fault_count base;
#ifdef _FORTIFY_SOURCE
	UNIT_SKIP("a fortified program makes calls that are not wrapped");
#endif
	reset();
	try_fault(NULL, &base);
	unsigned bad = 0, olds = 0, news = 0, lefts = 0;
	for (size_t s = 0; s < sizeof(signals) / sizeof(*signals); ++s) {
		for (uint64_t n = 1; n <= base.kernel; ++n) {
			reset();
			fflush(stdout);
			signal_to_send = signals[s];
			pid_t pid = fork();
			if (pid == 0) {
				struct fault_count count;
				signal(signals[s], SIG_DFL);
				try_fault(&(struct fault){FAULT_HOOK, .n = n, .hook = send_signal}, &count);
				_exit(0);
			}
			int status = 0;
			waitpid(pid, &status, 0);
			const char *text = get_text("f"), *list = listing("");
			bool new = strcmp(text, NEW) == 0, ok = new || strcmp(text, OLD) == 0;
			bool tidy = strcmp(list, new ? "f f.getmnt-TIME" : "f") == 0;
			/* All die of it; SIGXFSZ is of nobody while we write. */
			bool died = WIFSIGNALED(status) && WTERMSIG(status) == signals[s];
			ok &= died || (signals[s] == SIGXFSZ && new);
			ok &= (tidy || signals[s] == SIGKILL) && backups_whole();
			olds += !new;
			news += new;
			lefts += !tidy;
			if (!ok)
				printf("  signal %d at call %llu: status %x, %s, %s\n", signals[s], (unsigned long long)n, status,
				       new ? "new" : "old", list);
			bad += !ok;
			/* Who comes next has no trouble with what was left. */
			if (signals[s] == SIGKILL) {
				bad += replace_text("f", "next\n").rc != 0 || strcmp(get_text("f"), "next\n") != 0
				       || strstr(listing(""), "-new") || strstr(listing(""), "-lock") || strstr(listing(""), "-old");
			}
		}
	}
	CU_ASSERT_EQUAL(bad, 0);
	CU_ASSERT_TRUE(olds > 0 && news > 0 && lefts > 0);
	printf("  ended %u times, at each of %llu calls: %u old, %u new, %u with something left by SIGKILL\n", olds + news,
	       (unsigned long long)base.kernel, olds, news, lefts);
	clean();
}

/** A limit on the size of files is an error, and no signal. */
static void test_size_limit(void)
{
	put_text("f", OLD);
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		/* Up to the old one: the backup could be written, the new one not. */
		struct rlimit limit = {strlen(OLD), strlen(OLD)};
		if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
			_exit(99);
		struct result r = replace_text("f", NEW);
		_exit(r.rc == -1 && r.error.why == RP_SPACE && r.error.error == EFBIG ? 0 : 1);
	}
	int status = -1;
	waitpid(pid, &status, 0);
	CU_ASSERT_EQUAL(status, 0);
	CU_ASSERT_STRING_EQUAL(get_text("f"), OLD);
	CU_ASSERT_STRING_EQUAL(listing(""), "f");
	clean();
}

static int edit_way;

#define EDITED "# of an editor, and of the same size!\n..........................\n"

/** What an editor, or Ansible, does meanwhile. */
static void edit(void)
{
	static char text[] = OLD;
	int fd;
	switch (edit_way) {
	case 0:   /* written beside, renamed over it */
		fd = open(at("edit"), O_WRONLY | O_CREAT | O_TRUNC, 0640);
		(void)!write(fd, EDITED, strlen(EDITED));
		close(fd);
		rename(at("edit"), at("f"));
		break;
	case 1:   /* in place, one byte, size and times as they were: as on a coarse clock */
	case 2:   /* in place, longer */
		fd = open(at("f"), O_WRONLY);
		text[2] = 'O';
		(void)!write(fd, text, strlen(text));
		if (edit_way == 2)
			(void)!pwrite(fd, "more\n", 5, (off_t)strlen(text));
		close(fd);
		break;
	case 3:   /* removed */
		unlink(at("f"));
		break;
	default:  /* its mode changed */
		chmod(at("f"), 0600);
	}
}

/** Whether what the editor made is there. */
static bool is_edited(void)
{
	struct stat st;
	const char *text = get_text("f");
	switch (edit_way) {
	case 0:
		return strcmp(text, EDITED) == 0;
	case 1:
	case 2:
		return strncmp(text, "# Old", 5) == 0;
	case 3:
		return strcmp(text, "(missing)") == 0;
	default:
		return stat(at("f"), &st) == 0 && (st.st_mode & 0777) == 0600;
	}
}

/** Changed by another at each call: that stays, whoever comes last. */
static void test_edited(void)
{
	struct fault_count base, count;
#ifdef _FORTIFY_SOURCE
	UNIT_SKIP("a fortified program makes calls that are not wrapped");
#endif
	reset();
	try_fault(NULL, &base);
	for (edit_way = 0; edit_way <= 4; ++edit_way) {
		unsigned lost = 0, refused = 0, others = 0;
		for (uint64_t n = 1; n <= base.kernel; ++n) {
			reset();
			struct result r = try_fault(&(struct fault){FAULT_HOOK, .n = n, .hook = edit}, &count);
			bool edited = is_edited();
			if (r.rc != 0)
				++refused;
			/* Before it was read it is what was replaced; after the rename it was the new
			   file that was edited. */
			const char *backup = *r.backup ? get_path(r.backup) : "";
			bool kept = edited || strcmp(backup, EDITED) == 0 || strncmp(backup, "# Old", 5) == 0;
			if (r.rc != 0 && !kept)
				++others;
			if (r.rc == 0 && !kept && strcmp(backup, OLD) == 0 && strcmp(get_text("f"), NEW) == 0)
				++lost;
			if (strstr(listing(""), "-new") || strstr(listing(""), "-lock"))
				++others;
		}
		printf("  changed in way %d at each of %llu calls: refused %u times, lost %u\n", edit_way,
		       (unsigned long long)base.kernel, refused, lost);
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

/** Changed in the last moment, and that cannot be put back: all three are there, and told of. */
static void test_overtaken(void)
{
	struct fault_count base, count;
#ifdef _FORTIFY_SOURCE
	UNIT_SKIP("a fortified program makes calls that are not wrapped");
#endif
	reset();
	try_fault(NULL, &base);
	edit_way = 0;
	unsigned found = 0;
	for (uint64_t n = base.kernel; n > 1; --n) {
		reset();
		struct result r = try_fault(&(struct fault){FAULT_HOOK, .n = n, .hook = edit_and_fail}, &count);
		if (r.rc == 0 || r.error.why != RP_OVERTAKEN)
			continue;
		++found;
		CU_ASSERT_TRUE(r.replaced && r.error.error == EIO);
		CU_ASSERT_STRING_EQUAL(get_text("f"), NEW);
		CU_ASSERT_STRING_EQUAL(get_path(r.left), EDITED);
		CU_ASSERT_STRING_EQUAL(get_path(r.backup), OLD);
		CU_ASSERT_STRING_EQUAL(listing(""), ".f.getmnt-new f f.getmnt-TIME");
	}
	/* Before the last look is closed, and before the exchange. */
	CU_ASSERT_EQUAL(found, 2);
	clean();
}

/* Real places. */

/** What a refusal has to look like: the file is as it was, and nothing is left but this. */
static bool refused(const struct result *r, enum replace_why why, const char *left)
{
	bool ok = r->rc == -1 && r->error.why == why && !r->replaced && (*left ? strcmp(r->left, left) == 0 : !*r->left);
	if (!ok)
		printf("  rc %d, why %d (%s: %s), left \"%s\"\n", r->rc, (int)r->error.why, r->error.step,
		       strerror(r->error.error), r->left);
	return ok;
}

static void test_places(void)
{
	if (!is_root)
		UNIT_SKIP("no root, or no private mount namespace");
	CU_ASSERT_EQUAL(mkdir(at("d"), 0755), 0);
	put_text("d/f", OLD);
	put_text("source", "bound\n");

	/* A file that is bound. */
	CU_ASSERT_EQUAL(mount(at("source"), at("d/f"), NULL, MS_BIND, NULL), 0);
	struct result r = replace_text("d/f", NEW);
	CU_ASSERT_TRUE(refused(&r, RP_BOUND, at("d/.f.getmnt-new")));
	CU_ASSERT_STRING_EQUAL(get_text("d/f"), "bound\n");
	CU_ASSERT_STRING_EQUAL(get_text("d/.f.getmnt-new"), NEW);
	CU_ASSERT_STRING_EQUAL(listing("d"), ".f.getmnt-new f");
	r = replace_text("d/f", "again\n");
	CU_ASSERT_TRUE(refused(&r, RP_BOUND, at("d/.f.getmnt-new")));
	CU_ASSERT_STRING_EQUAL(get_text("d/.f.getmnt-new"), "again\n");
	CU_ASSERT_EQUAL(umount2(at("d/f"), 0), 0);
	CU_ASSERT_STRING_EQUAL(get_text("d/f"), OLD);
	CU_ASSERT_EQUAL(unlink(at("d/.f.getmnt-new")), 0);

	/* A mount that is read-only, of a file system that is not; both. */
	CU_ASSERT_EQUAL(mount(at("d"), at("d"), NULL, MS_BIND, NULL), 0);
	CU_ASSERT_EQUAL(mount(NULL, at("d"), NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL), 0);
	r = replace_text("d/f", NEW);
	CU_ASSERT_TRUE(refused(&r, RP_READ_ONLY, ""));
	CU_ASSERT_EQUAL(umount2(at("d"), 0), 0);
	CU_ASSERT_STRING_EQUAL(listing("d"), "f");
	CU_ASSERT_EQUAL(mkdir(at("t"), 0755), 0);
	CU_ASSERT_EQUAL(mount("small", at("t"), "tmpfs", 0, "size=64k,nr_inodes=8"), 0);
	put_text("t/f", OLD);
	CU_ASSERT_EQUAL(mount(NULL, at("t"), NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
	r = replace_text("t/f", NEW);
	CU_ASSERT_TRUE(refused(&r, RP_READ_ONLY, ""));
	CU_ASSERT_EQUAL(mount(NULL, at("t"), NULL, MS_REMOUNT, NULL), 0);
	CU_ASSERT_STRING_EQUAL(listing("t"), "f");

	/* No room: for the bytes; for the backup; for an inode. */
	for (int pages = 16; pages >= 0; --pages) {
		CU_ASSERT_TRUE(run("cd %s && rm -f fill f.getmnt-* && echo '%s' >f && head -c %d /dev/zero >fill 2>/dev/null || :",
		                   at("t"), "old", pages * 4096));
		char was[64];
		snprintf(was, sizeof(was), "%s", get_text("t/f"));
		r = replace_text("t/f", NEW);
		if (r.rc != 0) {
			CU_ASSERT_TRUE(refused(&r, RP_SPACE, ""));
			CU_ASSERT_STRING_EQUAL(get_text("t/f"), was);
			CU_ASSERT_STRING_EQUAL(listing("t"), "f fill");
		} else {
			CU_ASSERT_STRING_EQUAL(get_text("t/f"), NEW);
			CU_ASSERT_STRING_EQUAL(listing("t"), "f f.getmnt-TIME fill");
		}
		CU_ASSERT_TRUE(pages < 15 || r.rc != 0);
		CU_ASSERT_TRUE(pages > 12 || r.rc == 0);
	}
	CU_ASSERT_TRUE(run("cd %s && rm -f fill f.getmnt-* && echo old >f && touch 1 2 3 4", at("t")));
	for (int inodes = 4; inodes >= 0; --inodes) {
		char name[16];
		r = replace_text("t/f", NEW);
		CU_ASSERT_TRUE(r.rc == 0 || refused(&r, RP_SPACE, ""));
		CU_ASSERT_STRING_EQUAL(get_text("t/f"), r.rc == 0 ? NEW : "old\n");
		CU_ASSERT_TRUE(!strstr(listing("t"), "-new") && !strstr(listing("t"), "-lock"));
		CU_ASSERT_TRUE(inodes < 4 || r.rc != 0);
		CU_ASSERT_TRUE(inodes > 1 || r.rc == 0);
		if (r.rc == 0)
			break;
		snprintf(name, sizeof(name), "t/%d", inodes);
		CU_ASSERT_EQUAL(unlink(at(name)), 0);
	}
	CU_ASSERT_EQUAL(umount2(at("t"), 0), 0);
	clean();
}

/** ext4: flags, quota of a size; what a power cut would leave. */
static struct loop loop;
static char image[64];

static void test_ext4(void)
{
	if (!is_root || !run("truncate -s 16M %s/image && mkfs.ext4 -q -F %s/image >/dev/null 2>&1", top, top))
		UNIT_SKIP("no root, or no mkfs.ext4");
	snprintf(image, sizeof(image), "%s", at("image"));
	CU_ASSERT_EQUAL(mkdir(at("e"), 0755), 0);
	if (!loop_open(&loop, image) || mount(loop.path, at("e"), "ext4", 0, NULL) != 0)
		UNIT_SKIP("no loop device, or no ext4");
	put_text("e/f", OLD);
	static const struct {
		const char *chattr, *name;
		enum replace_why why;
		const char *step;
	} rows[] = {
		{"+i", "e/f", RP_IMMUTABLE, "the file"}, {"+a", "e/f", RP_APPEND, "the file"},
		{"+i", "e", RP_IMMUTABLE, "its directory"}, {"+a", "e", RP_APPEND, "its directory"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); ++i) {
		CU_ASSERT_TRUE(run("chattr %s %s", rows[i].chattr, at(rows[i].name)));
		struct result r = replace_text("e/f", NEW);
		CU_ASSERT_TRUE(refused(&r, rows[i].why, ""));
		CU_ASSERT_STRING_EQUAL(r.error.step, rows[i].step);
		CU_ASSERT_STRING_EQUAL(get_text("e/f"), OLD);
		CU_ASSERT_STRING_EQUAL(listing("e"), "f lost+found");
		/* By the ioctl, where statx does not tell. */
		if (strcmp(rows[i].name, "e/f") == 0) {
			os.statx_works = false;
			r = replace_text("e/f", NEW);
			os.statx_works = true;
			CU_ASSERT_TRUE(refused(&r, rows[i].why, ""));
		}
		CU_ASSERT_TRUE(run("chattr -ia %s", at(rows[i].name)));
	}
	/* Full to the last block, so that it fails when it is written. */
	CU_ASSERT_TRUE(run("head -c 32M /dev/zero >%s/e/fill 2>/dev/null; true", top));
	struct result r = replace_text("e/f", NEW);
	CU_ASSERT_TRUE(r.rc == 0 || refused(&r, RP_SPACE, ""));
	CU_ASSERT_TRUE(r.rc == 0 || (strcmp(get_text("e/f"), OLD) == 0 && strcmp(listing("e"), "f fill lost+found") == 0));
	CU_ASSERT_TRUE(r.rc != 0);
	CU_ASSERT_TRUE(run("rm %s/e/fill", top));
	r = replace_text("e/f", NEW);
	CU_ASSERT_EQUAL(r.rc, 0);
	CU_ASSERT_EQUAL(umount2(at("e"), 0), 0);
	loop_close(&loop);
	clean();
}

/** File systems that name files in their own ways: numbers that differ by layer, no
    links, other clocks. */
static void test_kinds(void)
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
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); ++i) {
		char data[512] = "";
		struct stat st, backup;
		bool image_file = strstr(rows[i].make, "image") != NULL;
		if (strcmp(rows[i].type, "overlay") == 0)
			snprintf(data, sizeof(data), "lowerdir=%s/l,upperdir=%s/u,workdir=%s/w", top, top, top);
		CU_ASSERT_EQUAL(mkdir(at("m"), 0755), 0);
		if (!run("cd %s && %s", top, rows[i].make) || (image_file && !loop_open(&loop, at("image")))
		    || mount(image_file ? loop.path : "none", at("m"), rows[i].type, 0, data) != 0) {
			printf("  skip %s: it cannot be made, or mounted\n", rows[i].type);
			if (image_file)
				loop_close(&loop);
			clean();
			continue;
		}
		++tried;
		if (*data == '\0')
			CU_ASSERT_TRUE(run("echo old >%s/m/f && chown 7:8 %s/m/f && chmod 640 %s/m/f", top, top, top));
		bool attribute = setxattr(at("m/f"), "user.note", "by hand", 7, 0) == 0;
		for (int again = 0; again < 2; ++again) {
			struct result r = replace_text("m/f", NEW);
			CU_ASSERT_EQUAL(r.rc, 0);
			if (r.rc != 0)
				printf("  %s: why %d, %s: %s\n", rows[i].type, (int)r.error.why, r.error.step, strerror(r.error.error));
			CU_ASSERT_STRING_EQUAL(get_text("m/f"), NEW);
			CU_ASSERT_STRING_EQUAL(get_path(r.backup), again ? NEW : "old\n");
			CU_ASSERT_TRUE(stat(at("m/f"), &st) == 0 && st.st_uid == 7 && st.st_gid == 8 && (st.st_mode & 07777) == 0640);
			CU_ASSERT_TRUE(stat(r.backup, &backup) == 0 && backup.st_uid == 7 && (backup.st_mode & 07777) == 0640);
			CU_ASSERT_TRUE(!attribute || has_attribute(at("m/f"), "user.note", "by hand", 7));
		}
		/* And one that is made. */
		struct result r = replace_as(at("m/g"), NEW, (struct replace_name){.may_create = true}, false);
		CU_ASSERT_EQUAL(r.rc, 0);
		CU_ASSERT_STRING_EQUAL(get_text("m/g"), NEW);
		CU_ASSERT_TRUE(!strstr(listing("m"), "-new") && !strstr(listing("m"), "-lock"));
		CU_ASSERT_EQUAL(umount2(at("m"), 0), 0);
		if (image_file)
			loop_close(&loop);
		CU_ASSERT_TRUE(run("rm -rf %s/w", top));
		clean();
	}
	CU_ASSERT_TRUE(tried >= 2);
}

static int crash_at;
static unsigned crashes;

/** Have what is on the disk now, and nothing that is in memory alone. */
static void copy_disk(void)
{
	char name[32];
	snprintf(name, sizeof(name), "cut%d", crash_at);
	CU_ASSERT_TRUE(run("cp --sparse=always %s %s", image, at(name)));
	++crashes;
}

/** The power is cut before each call: what is on the disk then is mounted. */
static void test_power_cut(void)
{
	struct fault_count base, count;
	if (!is_root || !run("truncate -s 8M %s/image && mkfs.ext4 -q -F -J size=1 %s/image >/dev/null 2>&1", top, top))
		UNIT_SKIP("no root, or no mkfs.ext4");
#ifdef _FORTIFY_SOURCE
	UNIT_SKIP("a fortified program makes calls that are not wrapped");
#endif
	snprintf(image, sizeof(image), "%s", at("image"));
	CU_ASSERT_EQUAL(mkdir(at("e"), 0755), 0);
	CU_ASSERT_EQUAL(mkdir(at("c"), 0755), 0);
	/* The journal is written when fsync asks, and not by a clock. */
	if (!loop_open(&loop, image) || mount(loop.path, at("e"), "ext4", 0, "commit=3000") != 0)
		UNIT_SKIP("no loop device, or no ext4");
	put_text("e/f", OLD);
	sync();
	fault_begin(NULL, 100000);
	struct result r = replace_as(at("e/f"), NEW, (struct replace_name){0}, false);
	fault_end(&base);
	CU_ASSERT_EQUAL(r.rc, 0);
	unsigned olds = 0, news = 0, bad = 0;
	for (crash_at = 1; crash_at <= (int)base.kernel + 1; ++crash_at) {
		CU_ASSERT_TRUE(run("rm -f %s/e/f.getmnt-*", top));
		put_text("e/f", OLD);
		CU_ASSERT_TRUE(run("sync -f %s", at("e")));
		fault_begin(&(struct fault){FAULT_HOOK, .n = (uint64_t)crash_at, .hook = copy_disk}, 100000);
		r = replace_as(at("e/f"), NEW, (struct replace_name){0}, false);
		fault_end(&count);
		if (crash_at > (int)base.kernel)
			copy_disk();   /* after the last: all is on the disk */
		struct loop cut;
		char name[32];
		snprintf(name, sizeof(name), "cut%d", crash_at);
		if (!loop_open(&cut, at(name)) || mount(cut.path, at("c"), "ext4", 0, NULL) != 0) {
			++bad;
			continue;
		}
		const char *text = get_text("c/f");
		bool new = strcmp(text, NEW) == 0, ok = new || strcmp(text, OLD) == 0;
		/* Where it is new, the backup is there as well. */
		ok &= !new || run("cd %s/c && test \"$(cat f.getmnt-2*)\" = \"$(printf '%%s' '%s')\"", top, OLD);
		ok &= crash_at <= (int)base.kernel || new;
		if (!ok)
			printf("  before call %d: \"%s\" (%s)\n", crash_at, text, listing("c"));
		bad += !ok;
		olds += !new;
		news += new;
		umount2(at("c"), 0);
		loop_close(&cut);
		unlink(at(name));
	}
	CU_ASSERT_EQUAL(bad, 0);
	CU_ASSERT_TRUE(olds > 0 && news > 0);
	printf("  power cut before each of %u calls: %u old, %u new\n", crashes, olds, news);
	CU_ASSERT_EQUAL(umount2(at("e"), 0), 0);
	loop_close(&loop);
	clean();
}

static void test_leave(void)
{
	if (is_root)
		CU_ASSERT_EQUAL(umount2(top, MNT_DETACH), 0);
	CU_ASSERT_EQUAL(rmdir(top), 0);
}

static const struct unit_test tests[] = {
	{"enter", test_enter},
	{"plain", test_plain},
	{"missing", test_missing},
	{"names", test_names},
	{"foreign links", test_foreign_links},
	{"blocks", test_blocks},
	{"at a link", test_at_link},
	{"types", test_types},
	{"hard links", test_links},
	{"backups", test_backups},
	{"attributes", test_attributes},
	{"users", test_users},
	{"lock", test_lock},
	{"fixed modes", test_fixed_modes},
	{"writers", test_writers},
	{"race", test_race},
	{"faults", test_faults},
	{"killed", test_killed},
	{"size limit", test_size_limit},
	{"edited", test_edited},
	{"overtaken", test_overtaken},
	{"places", test_places},
	{"ext4", test_ext4},
	{"kinds", test_kinds},
	{"power cut", test_power_cut},
	{"leave", test_leave},
	{NULL, NULL},
};

const struct unit_suite suite_replace = {"replace", tests};
