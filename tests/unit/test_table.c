/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include "base/escape.h"
#include "cases.h"
#include "mountopts/join.h"
#include "os/file.h"
#include "mounts/table.h"
#include "mounts/table_impl.h"

#include <libmount.h>
#include <sys/sysmacros.h>

#define FIXTURES "tests/fixtures/"

/* Helpers. */

static struct mount_table *parse(const char *text)
{
	struct mount_table *table = table_parse_mountinfo(text, strlen(text));
	CU_ASSERT_PTR_NOT_NULL_FATAL(table);
	return table;
}

static struct os *live_os(void)
{
	static struct os os;
	os = unit_os();
	return &os;
}

/** Whether two strings are equal.  @loose  NULL equals "". */
static bool same(const char *a, const char *b, bool loose)
{
	if (loose) {
		a = a ? a : "";
		b = b ? b : "";
	}
	return a == b || (a && b && strcmp(a, b) == 0);
}

/** Parse one line that must be a mount. */
#define ONE(table, line) \
	struct mount_table *table = parse(line); \
	CU_ASSERT_EQUAL_FATAL(table->count, 1); \
	CU_ASSERT_EQUAL(table->nproblems, 0)

/* mountinfo */

/** What test_against_libmount() does not compare. */
UNIT_TEST(line)
{
	ONE(t, "36 35 98:1 /mnt1 /mnt2 rw,noatime shared:3 master:1 propagate_from:2 - ext3 "
	       "/dev/root rw,errors=continue\n");
	const struct mount *m = &t->mounts[0];
	CU_ASSERT_EQUAL(m->key, 36);
	CU_ASSERT_EQUAL(m->parent_key, 35);
	CU_ASSERT_EQUAL(m->uniq_id, 0);
	CU_ASSERT_EQUAL(m->propagation, MP_SHARED | MP_SLAVE);
	CU_ASSERT_EQUAL(m->peer_group, 3);
	CU_ASSERT_EQUAL(m->master, 1);
	CU_ASSERT_EQUAL(m->propagate_from, 2);
	CU_ASSERT_EQUAL(t->source, TABLE_RECORDED);
	CU_ASSERT_EQUAL(t->fields, MF_ALL);
	table_free(t);
	ONE(max, "4294967295 0 4294967295:4294967295 / / rw unbindable - tmpfs t rw\n");
	CU_ASSERT_EQUAL(max->mounts[0].key, UINT32_MAX);
	CU_ASSERT_EQUAL(max->mounts[0].dev_major, UINT32_MAX);
	CU_ASSERT_EQUAL(max->mounts[0].propagation, MP_UNBINDABLE);
	table_free(max);
}

static void check_line(const char *row, const char *outcome)
{
	STRBUF(got);
	char line[256];
	snprintf(line, sizeof(line), "%s\n", row);
	struct mount_table *t = parse(line);
	CU_ASSERT_EQUAL_FATAL(t->count + t->nproblems, 1);
	if (t->nproblems) {
		CU_ASSERT_EQUAL(t->problems[0].line, 1);
		strbuf_puts(&got, t->problems[0].reason);
	} else {
		const struct mount *m = &t->mounts[0];
		const char *const fields[] = {
			m->root, m->point, m->opt_fields, m->fstype, m->source, m->fs_opts,
		};
		for (size_t i = 0; i < COUNT(fields); ++i) {
			strbuf_puts(&got, i ? "|" : "");
			escape_terminal(&got, fields[i] ? fields[i] : "-");
		}
	}
	unit_expect(strbuf_str(&got), outcome);
	table_free(t);
}

UNIT_TEST(rows)
{
	CU_ASSERT(unit_each_row("tests/fixtures/mountinfo-rows", check_line) > 25);
}

UNIT_TEST(lines)
{
	struct mount_table *t = parse("");
	CU_ASSERT_EQUAL(t->count + t->nproblems, 0);
	table_free(t);
	t = parse("\n\n");
	CU_ASSERT_EQUAL(t->count + t->nproblems, 0);
	table_free(t);

	/* CRLF on all lines is removed; a single CR is part of a value. */
	t = parse("1 0 0:1 / / rw - tmpfs t rw\r\n\r\n2 1 0:2 / /a rw - tmpfs t rw,x=1\r\n");
	CU_ASSERT_EQUAL_FATAL(t->count, 2);
	CU_ASSERT_STRING_EQUAL(t->mounts[0].fs_opts, "rw");
	CU_ASSERT_STRING_EQUAL(t->mounts[1].fs_opts, "rw,x=1");
	table_free(t);
	t = parse("1 0 0:1 / / rw - tmpfs t rw\n2 1 0:2 / /a rw - tmpfs t rw,x=1\r\n");
	CU_ASSERT_EQUAL_FATAL(t->count, 2);
	CU_ASSERT_STRING_EQUAL(t->mounts[1].fs_opts, "rw,x=1\r");
	table_free(t);
}

UNIT_TEST(nul)
{
	static const char text[] = "1 0 0:1 / / rw - tmpfs t rw\n2 1 0:2 / /a\0b rw - tmpfs t rw\n"
	                           "\0\n3 1 0:3 / /c rw - tmpfs t rw";
	struct mount_table *t = table_parse_mountinfo(text, sizeof(text) - 1);
	CU_ASSERT_PTR_NOT_NULL_FATAL(t);
	CU_ASSERT_EQUAL_FATAL(t->count, 2);
	CU_ASSERT_EQUAL(t->mounts[1].id, 3);
	CU_ASSERT_EQUAL_FATAL(t->nproblems, 2);
	CU_ASSERT_EQUAL(t->problems[0].line, 2);
	CU_ASSERT_STRING_EQUAL(t->problems[0].reason, "NUL byte");
	CU_ASSERT_STRING_EQUAL(t->problems[0].text, "2 1 0:2 / /a?b rw - tmpfs t rw");
	CU_ASSERT_STRING_EQUAL(t->problems[1].text, "?");
	table_free(t);
}

UNIT_TEST(long_line)
{
	enum { LONG = 4 << 20 };
	STRBUF(text);
	strbuf_puts(&text, "1 0 0:1 / /");
	for (int i = 0; i < LONG; ++i)
		strbuf_putc(&text, 'a');
	strbuf_puts(&text, " rw - tmpfs t rw\n");
	for (int i = 0; i < LONG; ++i)
		strbuf_putc(&text, '7');
	strbuf_puts(&text, "\n2 1 0:1 / /b rw - tmpfs t rw\n");
	struct mount_table *t = table_parse_mountinfo(text.data, text.len);
	CU_ASSERT_PTR_NOT_NULL_FATAL(t);
	CU_ASSERT_EQUAL_FATAL(t->count, 2);
	CU_ASSERT_EQUAL(strlen(t->mounts[0].point), LONG + 1);
	CU_ASSERT_EQUAL_FATAL(t->nproblems, 1);
	CU_ASSERT_EQUAL(strlen(t->problems[0].text), 200);
	table_free(t);
}

UNIT_TEST(garbage_is_bounded)
{
	STRBUF(text);
	for (int i = 0; i < TABLE_MAX_PROBLEMS + 5; ++i)
		strbuf_puts(&text, "x\n");
	struct mount_table *t = table_parse_mountinfo(text.data, text.len);
	CU_ASSERT_PTR_NOT_NULL_FATAL(t);
	CU_ASSERT_EQUAL(t->nproblems, TABLE_MAX_PROBLEMS);
	CU_ASSERT_EQUAL(t->more_problems, 5);
	table_free(t);
}

/** A fixture cut at every byte: each line is a mount or a problem. */
UNIT_TEST(cuts)
{
	char *text;
	size_t len;
	CU_ASSERT_EQUAL_FATAL(os_read_file(live_os(), AT_FDCWD, FIXTURES "mountinfo-hostile",
	                                   1 << 20, &text, &len), 0);
	for (size_t n = 0; n <= len; ++n) {
		char *cut = malloc(n + 1);   /* exact, for the sanitizer */
		memcpy(cut, text, n);
		struct mount_table *t = table_parse_mountinfo(cut, n);
		CU_ASSERT_PTR_NOT_NULL_FATAL(t);
		size_t lines = 0;
		for (size_t i = 0; i < n; ++i)
			lines += cut[i] != '\n' && (i + 1 == n || cut[i + 1] == '\n');
		CU_ASSERT_EQUAL(t->count + t->nproblems, lines);
		table_free(t);
		free(cut);
	}
	free(text);
}

UNIT_TEST(files)
{
	struct os *os = live_os();
	CU_ASSERT_PTR_NULL(table_read_file(os, "/proc/self/none", false, TABLE_RECORDED));
	CU_ASSERT_EQUAL(errno, ENOENT);
	CU_ASSERT_PTR_NULL(table_read_file(os, "/", false, TABLE_FSTAB));
	CU_ASSERT_EQUAL(errno, EISDIR);
	table_free(NULL);
}

UNIT_TEST(torn)
{
	static const struct {
		const char *text;
		bool torn;
	} rows[] = {
		{"", false},
		{"1 1 0:1 / / rw - t s rw\n2 1 0:1 / /a rw - t s rw\n", false},
		{"2 1 0:1 / / rw - t s rw\n3 2 0:1 / /a rw - t s rw\n", false},    /* the usual */
		/* a plain chroot */
		{"2 1 0:1 / /a rw - t s rw\n3 1 0:1 / /b rw - t s rw\n", false},
		{"2 1 0:1 / / rw - t s rw\n3 9 0:1 / /a rw - t s rw\n", true},
		{"1 1 0:1 / / rw - t s rw\n3 9 0:1 / /a rw - t s rw\n", true},
		{"3 9 0:1 / /a rw - t s rw\n1 1 0:1 / / rw - t s rw\n", true},
		{"2 0 0:1 / / rw - t s rw\n3 2 0:1 / /a rw - t s rw\n", false},
		{"2 1 0:1 / / rw - t s rw\n3 2 0:1 / /a rw - t s rw\n3 2 0:2 / /b rw - t s rw\n",
		 true},
	};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		struct mount_table *t = parse(rows[i].text);
		CU_ASSERT_EQUAL(table_torn(t), rows[i].torn);
		table_free(t);
	}
	struct mount_table *torn = table_read_file(live_os(), FIXTURES "mountinfo-torn", false,
	                                           TABLE_RECORDED);
	CU_ASSERT_PTR_NOT_NULL_FATAL(torn);
	CU_ASSERT_TRUE(table_torn(torn));
	CU_ASSERT_EQUAL(torn->nproblems, 1);
	table_free(torn);
}

/* Options. */

UNIT_TEST(options)
{
	static const struct {
		const char *vfs, *fs;
		uint32_t line;
		const char *want;
	} rows[] = {
		{NULL, NULL, 0, ""},
		{"rw,relatime", "rw", 0, "rw,relatime"},
		{"rw,relatime", "rw,size=1k", 0, "rw,relatime,size=1k"},
		{"ro,relatime", "rw,size=1k", 0, "ro,relatime,size=1k"},
		{"rw,relatime", "ro", 0, "ro,relatime"},
		{"rw,noatime", "rw,noatime,x", 0, "rw,noatime,x"},
		{"rw", "rw,rwx,ro=1,lowerdir+=a,lowerdir+=a", 0,
		 "rw,rwx,ro=1,lowerdir+=a,lowerdir+=a"},
		{"rw", "rw,lowerdir=/a\\040b\\134040", 0, "rw,lowerdir=/a b\\040"},
		{"rw", "rw,x=\\000y", 0, "rw,x=\\000y"},
		{"rw,nosuid", NULL, 0, "rw,nosuid"},
		{NULL, "ro,x", 0, "ro,x"},
		{"", "", 0, "rw"},
		{",,rw,,", ",x,", 0, "rw,x"},
		{NULL, "defaults,rw,noauto", 3, "defaults,rw,noauto"},
		{NULL, "x=a\\040b", 3, "x=a b"},
		{NULL, NULL, 3, ""},
	};
	STRBUF(out);
	for (size_t i = 0; i < COUNT(rows); ++i) {
		struct mount m = {.vfs_opts = rows[i].vfs, .fs_opts = rows[i].fs,
		                  .line = rows[i].line};
		strbuf_reset(&out);
		strbuf_puts(&out, "before\\040 ");
		join_findmnt(&m, &out);
		CU_ASSERT_STRING_EQUAL(strbuf_str(&out) + 11, rows[i].want);
		CU_ASSERT_EQUAL(memcmp(out.data, "before\\040 ", 11), 0);
	}
}

/** As the kernel writes /proc/mounts: fs/proc_namespace.c. */
UNIT_TEST(options_of_mtab)
{
	static const struct {
		const char *vfs, *fs, *want;
	} rows[] = {
		{"rw,relatime", "rw,discard", "rw,relatime,discard"},
		/* Of the mount or of its file system. */
		{"ro,nosuid", "rw", "ro,nosuid"},
		{"rw,nosuid", "ro,size=1k", "ro,nosuid,size=1k"},
		/* sync, dirsync and lazytime are of the superblock, and come first. */
		{"rw,noatime", "rw,sync,dirsync,lazytime,x=1",
		 "rw,sync,dirsync,lazytime,noatime,x=1"},
		{"rw,nodev", "rw,seclabel,size=1k", "rw,seclabel,nodev,size=1k"},
		{"rw", "rw,x=a\\040b", "rw,x=a\\040b"},
	};
	STRBUF(out);
	for (size_t i = 0; i < COUNT(rows); ++i) {
		struct mount m = {.vfs_opts = rows[i].vfs, .fs_opts = rows[i].fs};
		strbuf_reset(&out);
		join_mtab(&m, &out);
		CU_ASSERT_STRING_EQUAL(strbuf_str(&out), rows[i].want);
	}
}

/* fstab and mtab. */

static struct mount_table *parse_tab(const char *text, size_t len, enum table_source source)
{
	struct mount_table *table = table_parse_tabfile(text, len, source);
	CU_ASSERT_PTR_NOT_NULL_FATAL(table);
	return table;
}

#define PARSE_TAB(text, source) parse_tab(text, strlen(text), source)

UNIT_TEST(fstab)
{
	static const struct mount rows[] = {
		/* "/" comes later: an fstab */
		{.key = 1, .parent_key = 2, .line = 2, .source = "UUID=0123-abcd",
		 .point = "/boot ", .fstype = "vfat", .fs_opts = "umask=0077,x=a\\054b",
		 .passno = 1},
		{.key = 2, .parent_key = 2, .line = 4, .source = "/dev/sda1", .point = "/",
		 .fstype = "ext4", .fs_opts = "defaults", .freq = -1, .passno = -1},
		{.key = 3, .parent_key = 3, .line = 6, .source = "/dev/sda2", .point = "none",
		 .fstype = "swap", .fs_opts = "sw", .passno = -1},
		{.key = 4, .parent_key = 2, .line = 7, .source = "LABEL=x", .point = "/lit\\040x",
		 .fstype = "auto", .freq = -1, .passno = -1},
		{.key = 5, .parent_key = 1, .line = 8, .source = "srv:/e", .point = "/boot /efi",
		 .fstype = "nfs", .fs_opts = "_netdev"},
	};
	struct mount_table *t = PARSE_TAB("# a comment\n"
	                                  "UUID=0123-abcd /boot\\040 vfat umask=0077,x=a\\054b 0 "
	                                  "1\n\n\t/dev/sda1\t/\text4 defaults\r\noops\n/dev/sda2 "
	                                  "none swap sw 0\nLABEL=x /lit\\134040x auto\nsrv:/e "
	                                  "/boot\\040/efi nfs _netdev 0 0", TABLE_FSTAB);
	CU_ASSERT_EQUAL_FATAL(t->count, COUNT(rows));
	for (size_t i = 0; i < t->count; ++i) {
		const struct mount *m = &t->mounts[i], *row = &rows[i];
		CU_ASSERT(m->key == row->key && m->parent_key == row->parent_key);
		CU_ASSERT(m->line == row->line && m->freq == row->freq && m->passno == row->passno);
		CU_ASSERT(same(m->source, row->source, false) && same(m->point, row->point, false));
		CU_ASSERT(same(m->fstype, row->fstype, false)
		          && same(m->fs_opts, row->fs_opts, false));
	}
	CU_ASSERT_EQUAL_FATAL(t->nproblems, 1);
	CU_ASSERT_EQUAL(t->problems[0].line, 5);
	CU_ASSERT_STRING_EQUAL(t->problems[0].text, "oops");
	CU_ASSERT_FALSE(t->fields & MF_DEV);
	CU_ASSERT_TRUE(t->fields & MF_FS_OPTS);
	table_free(t);
}

UNIT_TEST(fstab_hostile)
{
	struct mount_table *t = parse_tab("", 0, TABLE_FSTAB);
	CU_ASSERT_EQUAL(t->count + t->nproblems, 0);
	table_free(t);

	/* Two numbers at the start of a line are not mountinfo. */
	t = PARSE_TAB("1 2 ext4 rw\n36 35 98:0 / /mnt rw - ext3 /dev/root rw\n", TABLE_FSTAB);
	CU_ASSERT_EQUAL(t->count, 1);
	CU_ASSERT_EQUAL(t->nproblems, 1);
	table_free(t);

	/* A file with NUL bytes is binary. */
	static const char nul[] = "/dev/a /a ext4 rw\n/dev/b /b\0/c ext4 rw\n";
	errno = 0;
	CU_ASSERT_PTR_NULL(table_parse_tabfile(nul, sizeof(nul) - 1, TABLE_FSTAB));
	CU_ASSERT_EQUAL(errno, EILSEQ);

	/* CRLF without the final LF. */
	t = PARSE_TAB("/dev/a /a ext4 rw\r\n/dev/b /b ext4 \r", TABLE_FSTAB);
	CU_ASSERT_EQUAL_FATAL(t->count, 2);
	CU_ASSERT_STRING_EQUAL(t->mounts[0].fs_opts, "rw");
	CU_ASSERT_PTR_NULL(t->mounts[1].fs_opts);
	table_free(t);

	t = PARSE_TAB("\r#x /x ext4 rw\n  \r\r\n/dev/a /a ext4 rw x y\n/dev/d /d ext4 rw\n",
	              TABLE_FSTAB);
	for (size_t i = 0; i < t->count; ++i) {
		if (strcmp(t->mounts[i].point, "/d") == 0)
			CU_ASSERT_EQUAL(t->mounts[i].line, 4);
	}
	CU_ASSERT_TRUE(t->count >= 1);
	table_free(t);
}

UNIT_TEST(mtab_stacks)
{
	struct mount_table *t = PARSE_TAB("rootfs / rootfs rw 0 0\n"
	                                  "/dev/sda1 / ext4 rw 0 0\n"
	                                  "a /a/b/ tmpfs rw 0 0\n"
	                                  "b /a tmpfs rw 0 0\n"
	                                  "c //a//b/c tmpfs rw 0 0\n"
	                                  "d /ab tmpfs rw 0 0\n"
	                                  "e /a tmpfs rw 0 0\n"
	                                  "f /a/x tmpfs rw 0 0\n", TABLE_MTAB);
	static const uint64_t parents[] = {1, 1, 2, 2, 3, 2, 4, 7};
	CU_ASSERT_EQUAL_FATAL(t->count, 8);
	for (size_t i = 0; i < 8; ++i)
		CU_ASSERT_EQUAL(t->mounts[i].parent_key, parents[i]);
	CU_ASSERT_FALSE(table_torn(t));
	table_free(t);
}

/* Against libmount. */

static int count_error(struct libmnt_table *table, const char *name, int line)
{
	(void)name;
	(void)line;
	++*(size_t *)mnt_table_get_userdata(table);
	return 1;
}

/** Compare our parser with libmount's on the same text. */
static void against_libmount(char *text, size_t len)
{
	struct mount_table *t = table_parse_mountinfo(text, len);
	struct libmnt_table *lt = mnt_new_table();
	FILE *stream = fmemopen(text, len, "r");
	CU_ASSERT_PTR_NOT_NULL_FATAL(t);
	CU_ASSERT_PTR_NOT_NULL_FATAL(lt);
	CU_ASSERT_PTR_NOT_NULL_FATAL(stream);
	size_t errors = 0;
	mnt_table_set_userdata(lt, &errors);
	mnt_table_set_parser_errcb(lt, count_error);
	CU_ASSERT_EQUAL(mnt_table_parse_stream(lt, stream, "recorded"), 0);
	CU_ASSERT_EQUAL_FATAL((size_t)mnt_table_get_nents(lt), t->count);
	CU_ASSERT_TRUE(t->count > 0);
	CU_ASSERT_EQUAL(errors, t->nproblems);

	struct libmnt_iter *iter = mnt_new_iter(MNT_ITER_FORWARD);
	struct libmnt_fs *fs;
	for (size_t i = 0; mnt_table_next_fs(lt, iter, &fs) == 0; ++i) {
		const struct mount *m = &t->mounts[i];
		CU_ASSERT_EQUAL((uint32_t)mnt_fs_get_id(fs), m->id);
		CU_ASSERT_EQUAL((uint32_t)mnt_fs_get_parent_id(fs), m->parent_id);
		CU_ASSERT_EQUAL(major(mnt_fs_get_devno(fs)), m->dev_major);
		CU_ASSERT_EQUAL(minor(mnt_fs_get_devno(fs)), m->dev_minor);
		CU_ASSERT_TRUE(same(mnt_fs_get_root(fs), m->root, false));
		CU_ASSERT_TRUE(same(mnt_fs_get_target(fs), m->point, false));
		CU_ASSERT_TRUE(same(mnt_fs_get_vfs_options(fs), m->vfs_opts, false));
		CU_ASSERT_TRUE(same(mnt_fs_get_optional_fields(fs), m->opt_fields, true));
		CU_ASSERT_TRUE(same(mnt_fs_get_fstype(fs), m->fstype, false));
		CU_ASSERT_TRUE(same(mnt_fs_get_source(fs), m->source, true));
		STRBUF(out);
		join_findmnt(m, &out);
		if (!same(mnt_fs_get_options(fs), strbuf_str(&out), false))
			printf("  %s\n  %s\n", mnt_fs_get_options(fs), strbuf_str(&out));
		CU_ASSERT_TRUE(same(mnt_fs_get_options(fs), strbuf_str(&out), false));
	}
	mnt_free_iter(iter);
	mnt_unref_table(lt);
	fclose(stream);
	table_free(t);
}

UNIT_TEST(against_libmount)
{
	static const char *const files[] = {
		FIXTURES "mountinfo-plain", FIXTURES "mountinfo-containers",
		FIXTURES "mountinfo-names", FIXTURES "mountinfo-torn", FIXTURES "mountinfo-fields",
		"/proc/self/mountinfo",
	};
	struct os *os = live_os();
	for (size_t i = 0; i < COUNT(files); ++i) {
		char *text;
		size_t len;
		CU_ASSERT_EQUAL_FATAL(os_read_file(os, AT_FDCWD, files[i], 1 << 26, &text, &len),
		                      0);
		against_libmount(text, len);
		free(text);
	}
}
