/* SPDX-License-Identifier: MIT */
/*
 * recorded: getmnt, on a host that is a directory.
 *
 *     GETMNT_RECORDED=DIR recorded audit --jsonl
 *
 * The calls of os/ that take a name end here (ld --wrap) and resolve it below DIR, which has
 * the files that the program reads: proc/self/mountinfo, etc/fstab, run/udev/data ...
 * tests/lib/recorded.py writes such directories.
 *
 * - Every mount point of the recorded mountinfo exists, and statx gives the mount IDs.
 * - A file with the sticky bit is a block device; the seconds and nanoseconds of its mtime
 *   are its major and minor number.
 * - A name whose first component is not in DIR is EACCES: the host may have it.
 * - systemctl prints the file systemctl-show.
 * - No file system type can block.
 */
#include "base/fstypes.h"
#include "devmap/devmap_impl.h"
#include "os/bounded.h"
#include "os/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { TARGETS_MAX = 8192, SYSTEMCTL_MAX = 1 << 20 };

static struct recorded {
	int top;
	char name[PATH_MAX];      /* the real path of DIR */
	size_t name_len;
	struct target {
		char *path;
		unsigned id, major, minor;
		bool deleted;
	} targets[TARGETS_MAX];
	size_t count;
} host = {.top = -1};

/** Open a name of the host.  @return a descriptor, or -1. */
static int resolve(const char *path, int flags)
{
	struct open_how how = {.flags = (uint64_t)(flags | O_CLOEXEC),
	                         .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
	int fd;
	/* EAGAIN: a file was renamed somewhere while ".." was resolved. */
	do {
		fd = (int)syscall(SYS_openat2, host.top, path, &how, sizeof(how));
	} while (fd < 0 && errno == EAGAIN);
	if (fd < 0 && errno == ENOENT) {
		char first[NAME_MAX + 2];
		struct stat st;
		path += strspn(path, "/");
		snprintf(first, sizeof(first), "%.*s", (int)strcspn(path, "/"), path);
		errno = fstatat(host.top, first, &st, AT_SYMLINK_NOFOLLOW) == 0
			|| *path == '.' ? ENOENT : EACCES;
	}
	return fd;
}

/** The name of an open file on the host.  @return whether it has one. */
static bool name_of(int fd, char path[PATH_MAX])
{
	char link[64], name[PATH_MAX];
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	ssize_t n = readlink(link, name, sizeof(name) - 1);
	if (n < (ssize_t)host.name_len || memcmp(name, host.name, host.name_len) != 0)
		return false;
	name[n] = '\0';
	snprintf(path, PATH_MAX, "%s", name[host.name_len] ? name + host.name_len : "/");
	return true;
}

/** Open a name as openat(2) takes it. */
static int open_name(int dirfd, const char *path, int flags)
{
	char dir[PATH_MAX], whole[2 * PATH_MAX];
	if (*path == '/' || dirfd == AT_FDCWD)
		return resolve(path, flags);
	if (!name_of(dirfd, dir)) {
		errno = ENOENT;
		return -1;
	}
	snprintf(whole, sizeof(whole), "%s/%s", dir, *path ? path : ".");
	return resolve(whole, flags);
}

/** Create a directory and its parents. */
static void make_dirs(const char *path)
{
	char part[PATH_MAX];
	for (const char *at = path + 1; at; at = strchr(at + 1, '/')) {
		const char *end = strchr(at + 1, '/');
		size_t n = end ? (size_t)(end - path) : strlen(path);
		snprintf(part, sizeof(part), "%.*s", (int)n, path);
		int fd = resolve(part, O_PATH);
		if (fd < 0) {
			char *slash = strrchr(part, '/');
			*slash = '\0';
			int up = resolve(slash == part ? "/" : part, O_PATH);
			if (up < 0 || mkdirat(up, slash + 1, 0755) != 0)
				return;
			fd = up;
		}
		close(fd);
	}
}

/** Read the mount points, and create their directories. */
static void read_targets(void)
{
	char line[64 * 1024], root[PATH_MAX], target[PATH_MAX];
	unsigned id, major, minor;
	int fd = resolve("/proc/self/mountinfo", O_RDONLY);
	FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;
	while (file && host.count < TARGETS_MAX && fgets(line, sizeof(line), file)) {
		char *to = target;
		if (sscanf(line, "%u %*u %u:%u %4095s %4095s", &id, &major, &minor, root,
		           target) != 5)
			continue;
		for (const char *at = target; *at; ++at) {
			if (*at == '\\' && strlen(at) > 3) {
				*to++ = (char)strtoul((char[]){at[1], at[2], at[3], '\0'}, NULL, 8);
				at += 3;
			} else {
				*to++ = *at;
			}
		}
		*to = '\0';
		host.targets[host.count++] = (struct target){strdup(target), id, major, minor,
		                                             strstr(root, "//deleted")};
		make_dirs(target);
	}
	if (file)
		fclose(file);
}

/** The topmost mount of a path. */
static const struct target *mount_of(const char *path)
{
	const struct target *best = NULL;
	size_t longest = 0;
	for (size_t i = 0; i < host.count; ++i) {
		const char *target = host.targets[i].path;
		size_t n = strcmp(target, "/") == 0 ? 0 : strlen(target);
		if (n >= longest && strncmp(path, target, n) == 0 && (!path[n] || path[n] == '/')) {
			best = &host.targets[i];
			longest = n;
		}
	}
	return best;
}

static void stat_to_statx(int fd, struct stat *st, struct k_statx *out)
{
	char path[PATH_MAX];
	memset(out, 0, sizeof(*out));
	out->mask = K_STATX_BASIC;
	out->mode = (uint16_t)(st->st_mode & ~022u);
	out->nlink = (uint32_t)st->st_nlink;
	out->ino = st->st_ino;
	out->size = (uint64_t)st->st_size;
	if (S_ISREG(st->st_mode) && st->st_mode & S_ISVTX) {
		out->mode = S_IFBLK | 0600;
		out->rdev_major = (uint32_t)st->st_mtim.tv_sec;
		out->rdev_minor = (uint32_t)st->st_mtim.tv_nsec;
	}
	const struct target *mount = name_of(fd, path) ? mount_of(path) : NULL;
	if (mount) {
		out->mask |= K_STATX_MNT_ID;
		out->mnt_id = mount->id;
		out->dev_major = mount->major;
		out->dev_minor = mount->minor;
		out->attributes_mask = K_STATX_ATTR_MOUNT_ROOT;
		out->attributes = strcmp(mount->path, path) == 0 ? K_STATX_ATTR_MOUNT_ROOT : 0;
		if (out->attributes && mount->deleted)
			out->nlink = 0;
	}
}

/* The wrapped functions. */

int __wrap_os_statx(struct os *os, int dirfd, const char *path, int flags, unsigned mask,
                    struct k_statx *st);
int __wrap_os_openat(struct os *os, int dirfd, const char *path, int flags);
int __wrap_os_openat2(struct os *os, int dirfd, const char *path, int flags,
                      uint64_t resolve_flags);
int __wrap_os_opendir(struct os *os, int dirfd, const char *name);
ssize_t __wrap_os_readlinkat(struct os *os, int dirfd, const char *path, char *buf, size_t size);
unsigned __wrap_os_file_type(struct os *os, int fd, uint32_t *major, uint32_t *minor);
void __wrap_os_init(struct os *os, const char *disable);
int __wrap_os_bounded_program(struct os *os, double seconds, char *const argv[], char *const envp[],
                              struct os_bounded *done);
bool __wrap_fstype_blocks(const char *type);
enum devmap_known __wrap_devmap_probe(struct devmap *map, struct devmap_dev *dev,
                                      struct devmap_tags *tags);

void __wrap_os_init(struct os *os, const char *disable)
{
	const char *dir = getenv("GETMNT_RECORDED");
	(void)disable;
	if (host.top < 0 && dir && realpath(dir, host.name)) {
		host.name_len = strlen(host.name);
		host.top = open(host.name, O_PATH | O_DIRECTORY | O_CLOEXEC);
		read_targets();
	}
	if (host.top < 0) {
		fprintf(stderr, "recorded: GETMNT_RECORDED is not a directory\n");
		exit(2);
	}
	*os = (struct os){.caps = OSC_STATX_MNT_ID, .statx_works = true};
	__wrap_os_statx(os, AT_FDCWD, "/", 0, K_STATX_BASIC, &os->root);
	os->root_old_id = (uint32_t)os->root.mnt_id;
}

int __wrap_os_statx(struct os *os, int dirfd, const char *path, int flags, unsigned mask,
                    struct k_statx *st)
{
	struct stat own;
	(void)os;
	(void)mask;
	bool at_fd = !*path && flags & AT_EMPTY_PATH && dirfd != AT_FDCWD;
	int fd = at_fd ? dirfd : open_name(dirfd, path,
	                                   O_PATH | (flags & AT_SYMLINK_NOFOLLOW ? O_NOFOLLOW : 0));
	memset(st, 0, sizeof(*st));
	if (fd < 0)
		return -1;
	int rc = fstat(fd, &own);
	if (rc == 0)
		stat_to_statx(fd, &own, st);
	if (!at_fd)
		close(fd);
	return rc;
}

int __wrap_os_openat(struct os *os, int dirfd, const char *path, int flags)
{
	(void)os;
	return open_name(dirfd, path, flags);
}

int __wrap_os_openat2(struct os *os, int dirfd, const char *path, int flags, uint64_t resolve_flags)
{
	(void)os;
	(void)resolve_flags;
	return open_name(dirfd, path, flags);
}

int __wrap_os_opendir(struct os *os, int dirfd, const char *name)
{
	(void)os;
	return open_name(dirfd, name, O_RDONLY | O_DIRECTORY);
}

ssize_t __wrap_os_readlinkat(struct os *os, int dirfd, const char *path, char *buf, size_t size)
{
	(void)os;
	int fd = open_name(dirfd, path, O_PATH | O_NOFOLLOW);
	if (fd < 0)
		return -1;
	ssize_t n = readlinkat(fd, "", buf, size - 1);
	int error = errno == ENOENT ? EINVAL : errno;   /* not a link */
	close(fd);
	errno = error;
	if (n >= 0)
		buf[n] = '\0';
	return n;
}

unsigned __wrap_os_file_type(struct os *os, int fd, uint32_t *major, uint32_t *minor)
{
	struct stat own;
	struct k_statx st;
	(void)os;
	if (fstat(fd, &own) != 0)
		return 0;
	stat_to_statx(fd, &own, &st);
	if (major)
		*major = st.rdev_major;
	if (minor)
		*minor = st.rdev_minor;
	return st.mode & S_IFMT;
}

int __wrap_os_bounded_program(struct os *os, double seconds, char *const argv[], char *const envp[],
                              struct os_bounded *done)
{
	(void)os;
	(void)seconds;
	(void)argv;
	(void)envp;
	*done = (struct os_bounded){.status = 1};
	strbuf_init(&done->out);
	strbuf_init(&done->err);
	int fd = resolve("/systemctl-show", O_RDONLY);
	if (fd < 0)
		return 0;
	char *text = calloc(1, SYSTEMCTL_MAX);
	ssize_t n = text ? read(fd, text, SYSTEMCTL_MAX - 1) : -1;
	if (n >= 0)
		strbuf_puts(&done->out, text);
	done->status = n >= 0 ? 0 : 1;
	free(text);
	close(fd);
	return 0;
}

bool __wrap_fstype_blocks(const char *type)
{
	(void)type;
	return false;
}

/** Only udev's database knows tags. */
enum devmap_known __wrap_devmap_probe(struct devmap *map, struct devmap_dev *dev,
                                      struct devmap_tags *tags)
{
	(void)map;
	(void)dev;
	(void)tags;
	return DEVMAP_UNTAGGED;
}
