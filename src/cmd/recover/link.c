/* SPDX-License-Identifier: MIT */
/*
 * Find out whether a name leads to the kernel's mount table, such as /proc/self/mounts.  Only the
 * text of symlinks decides: in a system below /mnt, /proc is not mounted yet.  Symlinks to a
 * directory in /proc are detected later, when the file is opened.
 */
#include "cmd/recover/recover.h"

#include "path/resolve.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>

/** Classify a path: 1: the kernel's mount table, in the format of an mtab; -1: another file in
    /proc or in the directory of a process; 0: neither. */
static int kernel_table(const char *path)
{
	static const char digits[] = "0123456789";
	if (strncmp(path, "/proc/", 6) != 0)
		return 0;
	const char *at = path + 6;
	size_t n = strcspn(at, "/");
	bool process = (n == 4 && memcmp(at, "self", 4) == 0)
	               || (n == 11 && memcmp(at, "thread-self", 11) == 0)
	               || (n && strspn(at, digits) == n);
	if (process && at[n]) {
		at += n + 1;
		size_t task = strncmp(at, "task/", 5) == 0 ? strspn(at + 5, digits) : 0;
		if (task && at[5 + task] == '/')
			at += 5 + task + 1;
	}
	if (strcmp(at, "mounts") == 0)
		return 1;
	return strchr(at, '/') ? 0 : -1;
}

/** Read a symlink below a root directory.
    @link [out]  PATH_MAX bytes: the target.
    @return 0; -1: the path is not a symlink, or a parent directory is a symlink. */
static int read_link(struct os *os, const char *root, const char *path, char link[])
{
	int top = os_openat(os, AT_FDCWD, root, O_PATH | O_DIRECTORY);
	int fd = top < 0 ? -1 : path_open_below(os, top, path, NULL, NULL);
	ssize_t len = fd < 0 ? -1 : os_readlinkat(os, fd, "", link, PATH_MAX);
	os_close(os, fd);
	os_close(os, top);
	return len < 0 ? -1 : 0;
}

int recover_link(struct os *os, const struct replace_name *request, char first[])
{
	const char *file = request->path;
	const char *root = request->root && strcmp(request->root, "/") != 0 ? request->root : "";
	char link[PATH_MAX];
	struct strbuf path = {0}, next = {0}, end = {0};
	first[0] = '\0';
	if (*file == '/' || os_getcwd(os, link) != 0 || *link != '/')
		strbuf_puts(&next, file);
	else
		strbuf_printf(&next, "%s/%s", link, file);
	path_normal(strbuf_str(&next), &end);
	for (unsigned i = 0; i < PATH_LINKS && kernel_table(strbuf_str(&end)) == 0; ++i) {
		strbuf_reset(&path);
		strbuf_printf(&path, "%s%s", root, strbuf_str(&end));
		bool given = i == 0 && request->named && !*root;
		if ((request->blocks && !given && request->blocks(request->blocks_arg,
		                                                  strbuf_str(&path)))
		    || read_link(os, *root ? root : "/", strbuf_str(&end), link) != 0)
			break;
		if (i == 0)
			memcpy(first, link, strlen(link) + 1);
		strbuf_reset(&next);
		const char *slash = *link == '/' ? NULL : strrchr(strbuf_str(&end), '/');
		if (slash)
			strbuf_add(&next, end.data, (size_t)(slash - end.data) + 1);
		strbuf_puts(&next, link);
		path_normal(strbuf_str(&next), &end);
	}
	bool failed = path.failed || next.failed || end.failed;
	int kind = failed ? 0 : kernel_table(strbuf_str(&end));
	os->nomem |= failed;
	strbuf_destroy(&path);
	strbuf_destroy(&next);
	strbuf_destroy(&end);
	return kind;
}
