/* SPDX-License-Identifier: MIT */
#include "path/resolve.h"

#include "base/fail.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool path_is_planted(uid_t euid, uid_t owner, uid_t dir_owner, mode_t dir_mode)
{
	const mode_t sticky = S_ISVTX | S_IWOTH;
	return owner != euid && owner != dir_owner && (dir_mode & sticky) == sticky;
}

int path_begin(struct path_walk *walk, const char *path)
{
	*walk = (struct path_walk){.rest = strdup(path)};
	return walk->rest ? 0 : -1;
}

void path_destroy(struct path_walk *walk)
{
	int error = errno;
	strbuf_destroy(&walk->text);
	free(walk->rest);
	errno = error;
}

const char *path_name(const struct path_walk *walk)
{
	return walk->text.data + walk->name;
}

const char *path_text(const struct path_walk *walk)
{
	return walk->text.len ? walk->text.data : "/";
}

bool path_is_done(const struct path_walk *walk)
{
	const char *rest = walk->rest + walk->at;
	return rest[strspn(rest, "/")] == '\0';
}

/** Truncate the text. */
static void text_cut(struct path_walk *walk, size_t len)
{
	walk->text.len = len;
	if (walk->text.data)
		walk->text.data[len] = '\0';
}

/** Remove the last component.  @return whether there was one. */
static bool text_up(struct path_walk *walk)
{
	if (walk->text.len <= walk->root)
		return false;
	const char *slash = memrchr(walk->text.data, '/', walk->text.len);
	text_cut(walk, slash ? (size_t)(slash - walk->text.data) : 0);
	return true;
}

enum step { STEP_END, STEP_NAME, STEP_UP };

/** Advance to the next component that is not empty or ".". */
static enum step next_step(struct path_walk *walk)
{
	for (;;) {
		walk->at += strspn(walk->rest + walk->at, "/");
		const char *name = walk->rest + walk->at;
		size_t n = strcspn(name, "/");
		if (n == 0)
			return STEP_END;
		walk->at += n;
		walk->last = name[n] == '\0';
		if (n == 1 && *name == '.')
			continue;
		if (n == 2 && memcmp(name, "..", 2) == 0) {
			if (text_up(walk) || walk->path_unknown)
				return STEP_UP;
			continue;
		}
		strbuf_putc(&walk->text, '/');
		walk->name = walk->text.len;
		strbuf_add(&walk->text, name, n);
		return STEP_NAME;
	}
}

/** Replace the current component by the target of a symlink. */
static int follow(struct path_walk *walk, const char *target)
{
	char *rest = NULL;
	if (++walk->links > PATH_LINKS || !*target)
		return fail(*target ? ELOOP : ENOENT);
	if (asprintf(&rest, "%s%s", target, walk->rest + walk->at) < 0)
		return fail(ENOMEM);
	free(walk->rest);
	walk->rest = rest;
	walk->at = 0;
	text_cut(walk, *target == '/' ? walk->root : walk->name - 1);
	return 0;
}

int path_resolve(struct path_walk *walk, const struct path_how *how)
{
	char target[PATH_MAX];
	for (enum step step; (step = next_step(walk)) != STEP_END;) {
		if (walk->text.failed)
			return fail(ENOMEM);
		if (step == STEP_UP) {
			if (how->up && how->up(how->arg, walk) != 0)
				return -1;
			continue;
		}
		if (how->may && how->may(how->arg, walk) != 0)
			return -1;
		ssize_t n = how->link(how->arg, walk, target);
		if (n >= (ssize_t)sizeof(target) - 1)
			return fail(ENAMETOOLONG);
		if (n >= 0) {
			if (follow(walk, target) != 0
			    || (*target == '/' && how->top && how->top(how->arg, walk) != 0))
				return -1;
			continue;
		}
		if (errno != EINVAL)
			return -1;
		int rc = how->enter ? how->enter(how->arg, walk) : 0;
		if (rc != 0)
			return rc < 0 ? -1 : 0;
	}
	return 0;
}

void path_append_rest(struct path_walk *walk)
{
	while (next_step(walk) != STEP_END)
		;
}

int path_open_below(struct os *os, int dirfd, const char *path,
                    int (*open_step)(void *arg, int dirfd, const char *name), void *arg)
{
	char name[PATH_MAX];   /* some file systems have names longer than NAME_MAX */
	int at = dirfd;
	if (dirfd == AT_FDCWD)
		at = os_openat(os, dirfd, *path == '/' ? "/" : ".", O_PATH | O_DIRECTORY);
	for (path += strspn(path, "/"); *path && at >= 0; path += strspn(path, "/")) {
		size_t n = strcspn(path, "/");
		int next = -1;
		errno = ENAMETOOLONG;
		if (n < sizeof(name)) {
			memcpy(name, path, n);
			name[n] = '\0';
			next = open_step ? open_step(arg, at, name)
			                 : os_openat(os, at, name, O_PATH | O_NOFOLLOW);
		}
		if (at != dirfd)
			os_close(os, at);
		at = next;
		path += n;
	}
	return at == dirfd ? os_openat(os, dirfd, ".", O_PATH) : at;
}

int path_open_plain(struct os *os, int dirfd, const char *path, int flags, uint64_t resolve)
{
	resolve |= RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
	int fd = -1;
	errno = ENOSYS;
	if (strlen(path) < PATH_MAX)
		fd = os_openat2(os, dirfd, path, flags | O_NOFOLLOW, resolve);
	if (fd >= 0 || errno != ENOSYS)
		return fd;
	int found = path_open_below(os, *path == '/' ? AT_FDCWD : dirfd, path, NULL, NULL);
	if (found < 0 || !(flags & O_DIRECTORY))
		return found;
	/* "." of a symlink or file fails with ENOTDIR. */
	fd = os_openat(os, found, ".", flags);
	os_close(os, found);
	return fd;
}

/** Append a component to a normal path. */
static void normal_step(struct strbuf *out, const char *name, size_t n)
{
	bool absolute = out->len && out->data[0] == '/';
	if (n == 0 || (n == 1 && *name == '.'))
		return;
	if (n == 2 && memcmp(name, "..", 2) == 0 && absolute) {
		while (out->len > 1 && out->data[--out->len] != '/')
			;
		out->data[out->len] = '\0';
		return;
	}
	if (out->len && out->data[out->len - 1] != '/')
		strbuf_putc(out, '/');
	strbuf_add(out, name, n);
}

void path_normal(const char *path, struct strbuf *out)
{
	strbuf_reset(out);
	if (*path == '/')
		strbuf_putc(out, '/');
	while (*path) {
		size_t n = strcspn(path, "/");
		normal_step(out, path, n);
		path += n + (path[n] == '/');
	}
	if (!out->len && !out->failed)
		strbuf_putc(out, '.');
}
