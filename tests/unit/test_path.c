/* SPDX-License-Identifier: MIT */
/* path/: resolution component by component, on a table of symlinks; opening through none. */
#include "unit.h"

#include "path/resolve.h"
#include "tree.h"

/** Symlinks; all else is a directory, but what begins with "/none". */
static const char *const links[][2] = {
	{"/bin", "usr/bin"}, {"/abs", "/usr"},        {"/a/up", "../../etc"},
	{"/loop", "loop"},   {"/one", "two/"},        {"/two", "/a/b"},
	{"/r/abs", "/x"},    {"/r/up", "../../../y"}, {"/empty", ""},
};

/** What a resolution was asked. */
struct asks {
	struct strbuf text;
	const char *refuse;    /* a component that may not be touched */
};

static int may(void *arg, struct path_walk *walk)
{
	struct asks *asks = arg;
	strbuf_printf(&asks->text, "%s ", path_text(walk));
	errno = EREMOTE;
	return asks->refuse && strcmp(asks->refuse, path_text(walk)) == 0 ? -1 : 0;
}

static ssize_t read_link(void *arg, struct path_walk *walk, char target[PATH_MAX])
{
	const char *path = path_text(walk);
	(void)arg;
	for (size_t i = 0; i < COUNT(links); ++i) {
		if (strcmp(path, links[i][0]) == 0)
			return (ssize_t)strlen(strcpy(target, links[i][1]));
	}
	if (strcmp(path, "/long") == 0) {
		memset(target, 'x', PATH_MAX - 1);
		target[PATH_MAX - 1] = '\0';
		return PATH_MAX - 1;
	}
	errno = strncmp(path, "/none", 5) == 0 ? ENOENT : EINVAL;
	return -1;
}

UNIT_TEST(resolved_component_by_component)
{
	static const struct {
		const char *path, *root, *refuse;
		int error;
		const char *text;       /* with what was not resolved */
		const char *asks;
	} rows[] = {
		{"/", "", NULL, 0, "/", ""},
		{"", "", NULL, 0, "/", ""},
		{"//a/./b//", "", NULL, 0, "/a/b", "/a /a/b "},
		{"/a/b/../../..", "", NULL, 0, "/", "/a /a/b "},
		{"/bin/sh", "", NULL, 0, "/usr/bin/sh", "/bin /usr /usr/bin /usr/bin/sh "},
		{"/a/up/x", "", NULL, 0, "/etc/x", "/a /a/up /etc /etc/x "},
		{"/abs/../c", "", NULL, 0, "/c", "/abs /usr /c "},
		{"/one/c", "", NULL, 0, "/a/b/c", "/one /two /a /a/b /a/b/c "},
		{"/loop/x/../y", "", NULL, ELOOP, "/loop/y", NULL},
		{"/long/x", "", NULL, ENAMETOOLONG, "/long/x", "/long "},
		{"/empty/x", "", NULL, ENOENT, "/empty/x", "/empty "},
		{"/a/b/c/../d", "", "/a/b", EREMOTE, "/a/b/d", "/a /a/b "},
		{"/bin/x/y", "", "/usr/bin", EREMOTE, "/usr/bin/x/y", "/bin /usr /usr/bin "},
		{"/none/x", "", NULL, ENOENT, "/none/x", "/none "},
		{"/abs/y", "/r", NULL, 0, "/r/x/y", "/r/abs /r/x /r/x/y "},
		{"/up", "/r", NULL, 0, "/r/y", "/r/up /r/y "},
		{"../../z", "/r", NULL, 0, "/r/z", "/r/z "},
	};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		struct path_walk walk;
		struct asks asks = {.refuse = rows[i].refuse};
		const struct path_how how = {.may = may, .link = read_link, .arg = &asks};
		strbuf_init(&asks.text);
		CU_ASSERT_EQUAL_FATAL(path_begin(&walk, rows[i].path), 0);
		strbuf_puts(&walk.text, rows[i].root);
		walk.root = walk.text.len;
		errno = 0;
		int rc = path_resolve(&walk, &how), error = rc ? errno : 0;
		bool done = path_is_done(&walk);
		path_append_rest(&walk);
		CU_ASSERT_STRING_EQUAL(path_text(&walk), rows[i].text);
		CU_ASSERT_EQUAL(error, rows[i].error);
		CU_ASSERT_TRUE(rc != 0 || done);
		if (rows[i].asks)
			CU_ASSERT_STRING_EQUAL(strbuf_str(&asks.text), rows[i].asks);
		path_destroy(&walk);
		strbuf_destroy(&asks.text);
	}
}

static int up, top;

static int count_up(void *arg, struct path_walk *walk)
{
	(void)arg;
	(void)walk;
	return ++up, 0;
}

static int count_top(void *arg, struct path_walk *walk)
{
	(void)arg;
	CU_ASSERT_STRING_EQUAL(path_text(walk), "/");
	return ++top, 0;
}

static int end_at_b(void *arg, struct path_walk *walk)
{
	(void)arg;
	return strcmp(path_name(walk), "b") == 0 && walk->last;
}

UNIT_TEST(entering_directories)
{
	struct path_walk walk;
	const struct path_how how = {
	        .link = read_link, .enter = end_at_b, .up = count_up, .top = count_top};
	CU_ASSERT_EQUAL_FATAL(path_begin(&walk, "/x/../../abs/../b/../one"), 0);
	CU_ASSERT_EQUAL(path_resolve(&walk, &how), 0);
	/* ".." of the root is not entered; "two/" is followed by a slash, so that b is not the
	 * last. */
	CU_ASSERT_TRUE(up == 3 && top == 2 && walk.links == 3 && !walk.last);
	path_destroy(&walk);
	CU_ASSERT_EQUAL_FATAL(path_begin(&walk, "two"), 0);
	CU_ASSERT_EQUAL(path_resolve(&walk, &how), 0);
	CU_ASSERT_TRUE(walk.last && strcmp(path_name(&walk), "b") == 0);
	path_destroy(&walk);
}

UNIT_TEST(opened_through_no_symlink)
{
	char name[PATH_MAX + 2];
	struct tree tree;
	struct os os;
	struct stat st;
	os_init(&os, NULL);
	tree_begin(&tree);
	tree_make(&tree, (const char *const[]){"a/", "a/b/", NULL},
	          (const char *const[]){"link", "a", NULL});
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	const struct {
		const char *path;
		int error;
		mode_t type;
	} rows[] = {
	        {"a/b", 0, S_IFDIR}, {"//a//b/", 0, S_IFDIR}, {"", 0, S_IFDIR},
	        {"/", 0, S_IFDIR},   {"link", 0, S_IFLNK},    {"link/b", ENOTDIR, 0},
	        {"a/c", ENOENT, 0},  {name, ENAMETOOLONG, 0},
	};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		int fd = path_open_below(&os, tree.fd, rows[i].path, NULL, NULL);
		CU_ASSERT_EQUAL(fd < 0 ? errno : 0, rows[i].error);
		CU_ASSERT_NOT_EQUAL(fd, tree.fd);
		CU_ASSERT_TRUE(fd < 0
		               || (fstat(fd, &st) == 0 && (st.st_mode & S_IFMT) == rows[i].type));
		if (fd >= 0)
			close(fd);
	}
	tree_end(&tree);   /* its descriptor is still open */
}
