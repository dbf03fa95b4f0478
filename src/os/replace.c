/* SPDX-License-Identifier: MIT */
/*
 * Which file it is: its name resolved, the file read.  What is done to it:
 * replace_write.c.
 *
 * A name is resolved here, component by component, each opened relative to the
 * one before, and not by the kernel: for so its directory is held open, the text
 * of its path is known without /proc, links stay within a root also where there is
 * no openat2, and the last one can be left alone.
 */
#include "os/replace.h"

#include "base/strbuf.h"
#include "os/entry.h"
#include "os/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>

enum { LINKS_MAX = 40, READS_MAX = 5 };

enum { PROC_MAGIC = 0x9fa0, PROC_ROOT_INODE = 1 };

int replace_fail(struct replace_error *error, enum replace_why why, int number, const char *step, ...)
{
	va_list args;
	va_start(args, step);
	*error = (struct replace_error){.why = why, .error = number};
	vsnprintf(error->step, sizeof(error->step), step, args);
	va_end(args);
	return -1;
}

/** Where a resolution stands. */
struct walk {
	struct os *os;
	int rootfd, fd;           /* O_PATH */
	struct strbuf text;       /* of fd; "" for "/" */
	size_t root;              /* so much of it is the root */
	char *rest;               /* what is still to be resolved */
	char name[NAME_MAX + 1];  /* the last component; "" if the name is that of a directory */
	char *link;               /* what the first link in the last place says */
	unsigned links;
	int pipe;                 /* the one that the last link, of /proc/PID/fd, is of; -1 */
	const struct replace_name *asked;
	bool given;               /* so far it is as the user gave it: no link was followed */
	struct replace_error refused;
};

static void walk_destroy(struct walk *walk)
{
	int error = errno;
	os_close(walk->os, walk->fd);
	os_close(walk->os, walk->rootfd);
	os_close(walk->os, walk->pipe);
	strbuf_destroy(&walk->text);
	free(walk->rest);
	free(walk->link);
	errno = error;
}

/** Go to a directory.  @fd  Of it, or -1 with errno. */
static int walk_to(struct walk *walk, int fd)
{
	if (fd < 0)
		return -1;
	os_close(walk->os, walk->fd);
	walk->fd = fd;
	return 0;
}

static int walk_to_root(struct walk *walk)
{
	walk->text.len = walk->root;
	if (walk->text.data)
		walk->text.data[walk->root] = '\0';
	return walk_to(walk, os_openat(walk->os, walk->rootfd, ".", O_PATH | O_DIRECTORY));
}

static int walk_up(struct walk *walk)
{
	if (walk->text.len <= walk->root)
		return 0;
	const char *text = strbuf_str(&walk->text);
	const char *slash = memrchr(text, '/', walk->text.len);
	walk->text.len = slash ? (size_t)(slash - text) : 0;
	walk->text.data[walk->text.len] = '\0';
	return walk_to(walk, os_openat(walk->os, walk->fd, "..", O_PATH | O_DIRECTORY));
}

/** Refuse to go on.  @return -1, with errno. */
static int walk_refuse(struct walk *walk, enum replace_why why, int error, const char *step, const char *name,
                       const char *more)
{
	replace_fail(&walk->refused, why, error, "%s%s/%s%s", step, strbuf_str(&walk->text), name, more);
	errno = error;
	return -1;
}

/** Whether a component may be touched.  @return 0, or -1 with errno. */
static int walk_ask(struct walk *walk, const char *name)
{
	const struct replace_name *asked = walk->asked;
	if (walk->given || !asked->blocks)
		return 0;
	struct strbuf path;
	strbuf_init(&path);
	strbuf_printf(&path, "%s/%s", strbuf_str(&walk->text), name);
	bool failed = path.failed || walk->text.failed, blocks = failed || asked->blocks(asked->blocks_arg, strbuf_str(&path));
	strbuf_destroy(&path);
	if (failed)
		errno = ENOMEM;
	return failed ? -1 : blocks ? walk_refuse(walk, RP_BLOCKS, EREMOTE, "", name, "") : 0;
}

/** Read a link that may be followed: what is read and whose it is are of one inode.
    @return 0, or -1 with errno. */
static int walk_read(struct walk *walk, const char *name, char *target, size_t size)
{
	struct os *os = walk->os;
	struct stat st, dir;
	struct statfs fs;
	char owner[64];
	int fd = os_openat(os, walk->fd, name, O_PATH | O_NOFOLLOW);
	if (fd < 0)
		return -1;
	int rc = os_fstatat(os, fd, "", &st);
	bool ours = rc == 0 && (st.st_uid == 0 || st.st_uid == os_geteuid(os));
	/* "self" and "mounts" are root's, which in a user namespace has no number. */
	if (rc == 0 && !ours)
		ours = os_fstatfs(os, fd, &fs) == 0 && fs.f_type == PROC_MAGIC && os_fstatat(os, walk->fd, "", &dir) == 0
		       && dir.st_ino == PROC_ROOT_INODE;
	if (rc == 0 && ours) {
		rc = os_readlinkat(os, fd, "", target, size) < 0 ? -1 : 0;
	} else if (rc == 0) {
		snprintf(owner, sizeof(owner), " belongs to uid %u", (unsigned)st.st_uid);
		rc = walk_refuse(walk, RP_LINK, EPERM, "the symlink ", name, owner);
	}
	int error = errno;
	os_close(os, fd);
	errno = error;
	return rc;
}

/** Put what a link says before the rest. */
static int walk_link(struct walk *walk, const char *target)
{
	char *rest = NULL;
	walk->given = false;
	if (++walk->links > LINKS_MAX) {
		errno = ELOOP;
		return -1;
	}
	if (!*walk->rest && !walk->link && !(walk->link = strdup(target)))
		return -1;
	/* "link/" is a directory; that of a link that ends a path is not lost. */
	if (asprintf(&rest, "%s%s", target, walk->rest) < 0)
		return -1;
	free(walk->rest);
	walk->rest = rest;
	return *target == '/' ? walk_to_root(walk) : 0;
}

/**
 * Resolve a name.
 *
 * @dir      Whether it is to be that of a directory, which is entered.
 * @at_link  Stop at a link in the last place.
 * @return 0, or -1 with errno.  The last component may be missing.
 */
static int walk_run(struct walk *walk, bool dir, bool at_link)
{
	char target[PATH_MAX];
	while (*walk->rest) {
		char *rest = walk->rest + strspn(walk->rest, "/");
		size_t n = strcspn(rest, "/");
		if (n > NAME_MAX) {
			errno = ENAMETOOLONG;
			return -1;
		}
		char name[NAME_MAX + 1];
		memcpy(name, rest, n);
		name[n] = '\0';
		memmove(walk->rest, rest + n, strlen(rest + n) + 1);
		if (n == 0 || strcmp(name, ".") == 0)
			continue;
		if (strcmp(name, "..") == 0) {
			if (walk_up(walk) != 0)
				return -1;
			continue;
		}
		bool last = !*walk->rest && !dir;
		if (walk_ask(walk, name) != 0)
			return -1;
		ssize_t len = os_readlinkat(walk->os, walk->fd, name, target, sizeof(target));
		if (len >= 0 && !(last && at_link)) {
			if (walk_read(walk, name, target, sizeof(target)) != 0)
				return -1;
			/* A link of /proc/PID/fd leads to it, and its text nowhere. */
			if (last && walk->asked->may_pipe && strncmp(target, "pipe:[", 6) == 0
			    && (walk->pipe = os_openat(walk->os, walk->fd, name, O_RDONLY | O_NONBLOCK | O_NOCTTY)) < 0)
				return -1;
			if (walk->pipe >= 0) {
				memcpy(walk->name, name, n + 1);
				return 0;
			}
			if (walk_link(walk, target) != 0)
				return -1;
			continue;
		}
		if (len >= 0 && !(walk->link = strdup(target)))
			return -1;
		if (len < 0 && errno != EINVAL && !(errno == ENOENT && last))
			return -1;
		if (last) {
			memcpy(walk->name, name, n + 1);
			return 0;
		}
		if (walk_to(walk, os_openat(walk->os, walk->fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW)) != 0)
			return -1;
		strbuf_putc(&walk->text, '/');
		strbuf_puts(&walk->text, name);
	}
	return 0;
}

/** Begin a resolution at "/", a root, or the working directory. */
static int walk_begin(struct walk *walk, struct os *os, const struct replace_name *asked, const char *path,
                      const char *root)
{
	*walk = (struct walk){.os = os, .fd = -1, .rootfd = -1, .pipe = -1, .asked = asked, .given = path != asked->path || asked->named};
	strbuf_init(&walk->text);
	if (!*path) {
		errno = ENOENT;
		return -1;
	}
	if (root && *root && strcmp(root, "/") != 0) {
		if (walk_begin(walk, os, asked, root, NULL) != 0 || walk_run(walk, true, false) != 0)
			return -1;
		os_close(os, walk->rootfd);
		free(walk->rest);
		free(walk->link);
		walk->rest = walk->link = NULL;
		walk->links = 0;
		walk->given = false;
		walk->root = walk->text.len;
		walk->rootfd = walk->fd;
		walk->fd = os_openat(os, walk->rootfd, ".", O_PATH | O_DIRECTORY);
	} else {
		walk->rootfd = os_openat(os, AT_FDCWD, "/", O_PATH | O_DIRECTORY);
		walk->fd = os_openat(os, AT_FDCWD, *path == '/' ? "/" : ".", O_PATH | O_DIRECTORY);
		char cwd[PATH_MAX];
		if (walk->fd >= 0 && *path != '/') {
			if (os_getcwd(os, cwd) != 0)
				return -1;
			/* "(unreachable)/x" */
			if (*cwd != '/') {
				errno = ENOENT;
				return -1;
			}
			strbuf_puts(&walk->text, strcmp(cwd, "/") == 0 ? "" : cwd);
		}
	}
	if (walk->fd < 0 || walk->rootfd < 0 || !(walk->rest = strdup(path)))
		return -1;
	return 0;
}

/** Whether two looks at a file show the same, unchanged. */
static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size
	       && a->st_mode == b->st_mode && a->st_uid == b->st_uid && a->st_gid == b->st_gid
	       && a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec
	       && a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

static int fail_look(struct replace_error *error, const char *step)
{
	return replace_fail(error, errno == EXDEV ? RP_MOUNT : RP_ERROR, errno, "%s", step);
}

/** Read a pipe to its end.  @fd  Or -1, with errno.  @return as read_once(). */
static int read_pipe(struct replace *file, int fd, struct stat *st, struct replace_error *error)
{
	file->fd = fd;
	file->piped = true;
	if (fd < 0 || os_fstatat(file->os, fd, "", st) != 0)
		return fail_look(error, "opening it");
	if (!S_ISFIFO(st->st_mode))
		return 1;
	free(file->text);
	file->text = NULL;
	if (os_read_fd(file->os, fd, REPLACE_MAX, &file->text, &file->len) != 0)
		return replace_fail(error, errno == EFBIG ? RP_TOO_LARGE : RP_ERROR, errno, "reading it");
	return 0;
}

/**
 * Open and read what is at a place.
 *
 * @st [out]  As it was while it was read.
 * @return 0; 1: it was another file meanwhile; -1 and *error.
 */
static int read_once(struct replace *file, int dirfd, const char *name, struct stat *st,
                     struct replace_error *error)
{
	struct os *os = file->os;
	struct statfs fs;
	struct stat opened, after;
	/* Looked at first: to open a device can do something. */
	if (os_look_entry(os, dirfd, name, ENTRY_LOCAL, st) != 0)
		return fail_look(error, "looking at it");
	if (S_ISLNK(st->st_mode))
		return 1;
	if (S_ISFIFO(st->st_mode) && file->may_pipe)
		return read_pipe(file, os_open_entry(os, dirfd, name, O_RDONLY | O_NONBLOCK | O_NOCTTY, ENTRY_HERE), st, error);
	if (!S_ISREG(st->st_mode))
		return replace_fail(error, RP_TYPE, 0, "it is %s",
		                    S_ISDIR(st->st_mode) ? "a directory" : S_ISFIFO(st->st_mode) ? "a FIFO"
		                    : S_ISSOCK(st->st_mode) ? "a socket" : "a device");
	file->fd = os_open_entry(os, dirfd, name, O_RDONLY | O_NONBLOCK | O_NOCTTY, ENTRY_LOCAL);
	if (file->fd < 0 && (errno == ENOENT || errno == ELOOP))
		return 1;
	if (file->fd < 0 || os_fstatat(os, file->fd, "", &opened) != 0 || os_fstatfs(os, file->fd, &fs) != 0)
		return replace_fail(error, RP_ERROR, errno, "opening it");
	file->of_kernel = fs.f_type == PROC_MAGIC;
	if (!S_ISREG(opened.st_mode) || (!file->of_kernel && !is_same(st, &opened)))
		return 1;
	free(file->text);
	file->text = NULL;
	if (os_read_fd(os, file->fd, REPLACE_MAX, &file->text, &file->len) != 0)
		return replace_fail(error, errno == EFBIG ? RP_TOO_LARGE : RP_ERROR, errno, "reading it");
	if (os_fstatat(os, file->fd, "", &after) != 0)
		return replace_fail(error, RP_ERROR, errno, "looking at it");
	*st = opened;
	return file->of_kernel || (is_same(&opened, &after) && (uint64_t)after.st_size == file->len) ? 0 : 1;
}

static int read_steady(struct replace *file, int dirfd, const char *name, struct stat *st,
                       struct replace_error *error)
{
	int rc = 1;
	for (int i = 0; i < READS_MAX && rc == 1; ++i) {
		os_close(file->os, file->fd);
		file->fd = -1;
		rc = read_once(file, dirfd, name, st, error);
	}
	return rc == 1 ? replace_fail(error, RP_CHANGED, 0, "reading it") : rc;
}

/** Read what the link leads to that is itself to be replaced; nothing, if to nothing. */
static int read_behind(struct replace *file, const struct replace_name *name, struct replace_error *error)
{
	struct walk walk;
	struct stat st;
	int rc = 0;
	bool there = walk_begin(&walk, file->os, name, name->path, name->root) == 0 && walk_run(&walk, false, false) == 0
	             && *walk.name;
	if (!there && walk.refused.error) {
		*error = walk.refused;
		rc = -1;
	} else if (!there && errno == ENOMEM) {
		rc = replace_fail(error, RP_ERROR, ENOMEM, "following it");
	} else if (there) {
		rc = read_steady(file, walk.fd, walk.name, &st, error);
		if (rc != 0 && error->why == RP_ERROR && error->error == ENOENT)
			rc = 0;
	}
	walk_destroy(&walk);
	return rc;
}

/** Which mount it is on, and whether it is itself one. */
static void find_mount(struct replace *file)
{
	struct os *os = file->os;
	struct k_statx st;
	file->mnt_unique = os->caps & OSC_STATX_UNIQUE;
	unsigned mask = K_STATX_TYPE | (file->mnt_unique ? K_STATX_MNT_ID_UNIQUE : K_STATX_MNT_ID);
	bool own = !file->missing && !file->at_link;
	if (os_statx(os, own ? file->fd : file->dirfd, "", AT_NO_AUTOMOUNT | AT_EMPTY_PATH,
	             mask, &st) != 0)
		return;
	file->mnt_id = os_statx_mnt_id(&st, file->mnt_unique);
	file->bound = own && os_statx_is_mount_root(&st);
}

int replace_open(struct os *os, const struct replace_name *name, struct replace *file,
                 struct replace_error *error)
{
	struct walk walk;
	*file = (struct replace){.os = os, .dirfd = -1, .fd = -1, .may_pipe = name->may_pipe};
	if (walk_begin(&walk, os, name, name->path, name->root) != 0 || walk_run(&walk, false, name->at_link) != 0) {
		replace_fail(error, RP_ERROR, errno, "resolving its name");
		if (walk.refused.error)
			*error = walk.refused;
		goto fail;
	}
	if (!*walk.name) {
		replace_fail(error, RP_TYPE, 0, "it is a directory");
		goto fail;
	}
	/* One that is missing, and would be a directory: "fstab/" ends as ENOENT above. */
	strbuf_printf(&walk.text, "/%s", walk.name);
	file->name = strdup(walk.name);
	file->path = strbuf_take(&walk.text);
	file->link = walk.link;
	file->dirfd = walk.fd;
	walk.link = NULL;
	walk.fd = -1;
	if (!file->name || !file->path) {
		replace_fail(error, RP_ERROR, ENOMEM, "resolving its name");
		goto fail;
	}

	int rc;
	if (walk.pipe >= 0) {
		rc = read_pipe(file, walk.pipe, &file->st, error);
		walk.pipe = -1;
		rc = rc == 1 ? replace_fail(error, RP_CHANGED, 0, "opening it") : rc;
	} else if (os_look_entry(os, file->dirfd, file->name, ENTRY_LOCAL, &file->st) != 0) {
		if (errno != ENOENT || !name->may_create) {
			fail_look(error, "looking at it");
			goto fail;
		}
		file->missing = true;
		rc = 0;
	} else if (name->at_link && S_ISLNK(file->st.st_mode)) {
		/* It was no link a moment ago. */
		file->at_link = file->link != NULL;
		rc = file->at_link ? read_behind(file, name, error) : replace_fail(error, RP_CHANGED, 0, "resolving its name");
	} else {
		rc = read_steady(file, file->dirfd, file->name, &file->st, error);
	}
	if (rc != 0)
		goto fail;
	if (!file->text && !(file->text = calloc(1, 1))) {
		replace_fail(error, RP_ERROR, ENOMEM, "reading it");
		goto fail;
	}
	find_mount(file);
	walk_destroy(&walk);
	return 0;

fail:
	walk_destroy(&walk);
	return -1;
}

bool replace_is_direct(struct os *os, const char *path)
{
	struct walk walk;
	struct replace_name name = {.path = path, .may_pipe = true};
	int rc = walk_begin(&walk, os, &name, path, NULL) == 0 ? walk_run(&walk, false, false) : -1;
	bool direct = rc == 0 || walk.refused.why != RP_LINK;
	walk_destroy(&walk);
	return direct;
}

void replace_close(struct replace *file)
{
	os_close(file->os, file->fd);
	os_close(file->os, file->dirfd);
	free(file->path);
	free(file->name);
	free(file->link);
	free(file->text);
	free(file->backup);
	free(file->left);
	file->fd = file->dirfd = -1;
	file->path = file->name = file->link = file->text = file->backup = file->left = NULL;
	if (file->held)
		os_signals_go(file->os, &file->signals);
	file->held = false;
}
