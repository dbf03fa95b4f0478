/* SPDX-License-Identifier: MIT */
#include "kernel.h"

#include "fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Nobody's real descriptors: were one to leak into a real call, it fails. */
enum { FIRST_FD = 100000, MAX_FDS = 64, PATH_SIZE = 8192 };

/** A descriptor. */
struct open_file {
	char *path;                    /* NULL: free */
	const struct fuzz_file *file;  /* NULL: a directory by what is below it */
	size_t at;
	bool o_path;
	int real;                      /* of what a device holds, for libblkid; else -1 */
};

static const struct fuzz_kernel *kernel;
static struct open_file fds[MAX_FDS];

void fuzz_kernel_set(const struct fuzz_kernel *next)
{
	for (int i = 0; i < MAX_FDS; ++i)
		FUZZ_CHECK(!fds[i].path);
	kernel = next;
}

void fuzz_os(struct os *os)
{
	*os = (struct os){
		.caps = kernel->caps,
		.statx_works = true,
		.statmount_mask = kernel->statmount_mask,
		.root = {.mnt_id = kernel->root_uniq,
		         .mask = kernel->root_uniq ? K_STATX_MNT_ID_UNIQUE : 0},
		.torn_reads = kernel->torn_reads,
	};
}

/** Count a call. */
static void count(struct os *os, enum os_call call)
{
	FUZZ_CHECK(kernel);
	++os->calls[call];
}

/** Whether a descriptor is one of the machine's that was given out. */
static bool is_real(int fd)
{
	for (int i = 0; i < MAX_FDS; ++i) {
		if (fds[i].path && fds[i].real >= 0 && fds[i].real == fd)
			return true;
	}
	return false;
}

static struct open_file *file_of(int fd)
{
	for (int i = 0; i < MAX_FDS; ++i) {
		if (fds[i].path && fd == (fds[i].real >= 0 ? fds[i].real : FIRST_FD + i))
			return &fds[i];
	}
	fuzz_failed("a descriptor is open", __FILE__, __LINE__);
}

/** The absolute path of a name below a descriptor.  @return success. */
static bool path_of(int dirfd, const char *name, char *path)
{
	const char *base = *name == '/' ? "" : dirfd == AT_FDCWD ? "/cwd" : file_of(dirfd)->path;
	const char *slash = *name && *name != '/' ? "/" : "";
	int n = snprintf(path, PATH_SIZE, "%s%s%s", base, slash, name);
	FUZZ_CHECK(n >= 0);
	if (n < PATH_SIZE)
		return true;
	errno = ENAMETOOLONG;
	return false;
}

static const struct fuzz_file *find_file(const char *path)
{
	for (size_t i = 0; i < kernel->nfiles; ++i) {
		if (strcmp(kernel->files[i].path, path) == 0)
			return &kernel->files[i];
	}
	return NULL;
}

/** The part of a path below a directory, or NULL. */
static const char *below(const char *path, const char *dir)
{
	size_t n = strlen(dir);
	while (n > 1 && dir[n - 1] == '.' && dir[n - 2] == '/')
		n -= 2;
	return strncmp(path, dir, n) == 0 && path[n] == '/' && path[n + 1] ? path + n + 1 : NULL;
}

static bool is_dir(const char *path)
{
	for (size_t i = 0; i < kernel->nfiles; ++i) {
		if (below(kernel->files[i].path, path))
			return true;
	}
	return false;
}

/** Set the errno of a file that is but an error; not one after which it is
    tried again, or which means that there is no memory.  @return -1. */
static int refuse(const struct fuzz_file *file)
{
	errno = file->len && file->bytes[0] ? (unsigned char)file->bytes[0] : EIO;
	if (errno == ENOMEM || errno == EAGAIN || errno == EINTR)
		errno = EIO;
	return -1;
}

/** What a device holds, as a file that libblkid can read. */
static int open_device(const struct fuzz_file *file)
{
	const char *begin = memchr(file->bytes, '\n', file->len);
	size_t n = (size_t)(file->bytes + file->len - ++begin);
	int fd = memfd_create("device", MFD_CLOEXEC);
	FUZZ_CHECK(fd >= 0 && write(fd, begin, n) == (ssize_t)n);
	/* Few file systems are smaller. */
	FUZZ_CHECK(ftruncate(fd, 1 << 20) == 0);
	return fd;
}

/** Make a descriptor.  @real  One of the machine's, or -1. */
static int new_fd(const char *path, const struct fuzz_file *file, bool o_path, int real)
{
	for (int i = 0; i < MAX_FDS; ++i) {
		if (fds[i].path)
			continue;
		fds[i] = (struct open_file){.path = strdup(path), .file = file, .o_path = o_path,
		                            .real = real};
		FUZZ_CHECK(fds[i].path);
		return real >= 0 ? real : FIRST_FD + i;
	}
	if (real >= 0)
		close(real);
	errno = EMFILE;
	return -1;
}

static int open_path(int dirfd, const char *name, int flags, uint64_t resolve)
{
	char path[PATH_SIZE];
	FUZZ_CHECK((flags & O_ACCMODE) == O_RDONLY && !(flags & (O_CREAT | O_TRUNC)));
	if (!path_of(dirfd, name, path))
		return -1;
	if (kernel->look)
		kernel->look(path, flags);
	const struct fuzz_file *file = find_file(path);
	if (!file && kernel->open) {
		file = kernel->open(dirfd == AT_FDCWD || *name == '/' ? "/" : file_of(dirfd)->path,
		                    path, flags, resolve);
		if (!file)
			return -1;
	}
	if (file && file->kind == FK_ERROR && file->len != 2)
		return refuse(file);
	if (!file && !is_dir(path)) {
		errno = ENOENT;
		return -1;
	}
	bool device = file && file->kind == FK_BLOCK && !(flags & O_PATH);
	if (file && (file->kind == FK_LINK || (device && !memchr(file->bytes, '\n', file->len)))) {
		errno = file->kind == FK_LINK ? ELOOP : EACCES;
		return -1;
	}
	if (flags & O_DIRECTORY && file && file->kind != FK_DIRENTS && file->kind != FK_ERROR) {
		errno = ENOTDIR;
		return -1;
	}
	if (flags & O_NOATIME && kernel->stranger) {
		errno = EPERM;
		return -1;
	}
	return new_fd(path, file, flags & O_PATH, device ? open_device(file) : -1);
}

/** What is known of a file without opening it: its type. */
static int statx_file(const char *path, struct k_statx *st)
{
	static const uint16_t types[] = {
		[FK_FILE] = S_IFREG, [FK_LINK] = S_IFLNK, [FK_DIRENTS] = S_IFDIR,
		            [FK_BLOCK] = S_IFBLK, [FK_ERROR] = S_IFREG,
	};
	const struct fuzz_file *file = find_file(path);
	if (!file && !is_dir(path)) {
		errno = ENOENT;
		return -1;
	}
	if (file && file->kind == FK_ERROR && file->len != 2)
		return refuse(file);
	st->mask = K_STATX_TYPE;
	st->mode = file ? types[file->kind] : S_IFDIR;
	return 0;
}

/* The functions of os/, in the linker's names. */

int __wrap_os_statx(struct os *os, int dirfd, const char *name, int flags, unsigned mask,
                    struct k_statx *st);
int __wrap_os_openat(struct os *os, int dirfd, const char *path, int flags);
int __wrap_os_openat2(struct os *os, int dirfd, const char *path, int flags, uint64_t resolve);
int __wrap_os_opendir(struct os *os, int dirfd, const char *name);
ssize_t __wrap_os_getdents(struct os *os, int fd, void *buf, size_t size);
ssize_t __wrap_os_read(struct os *os, int fd, void *buf, size_t size);
unsigned __wrap_os_file_type(struct os *os, int fd, uint32_t *major, uint32_t *minor);
int __wrap_os_fstatfs(struct os *os, int fd, struct statfs *st);
ssize_t __wrap_os_dm_status(struct os *os, int fd, uint32_t major, uint32_t minor, char *buf,
                            size_t size);
void __wrap_os_close(struct os *os, int fd);
ssize_t __wrap_os_readlinkat(struct os *os, int dirfd, const char *name, char *buf, size_t size);
int __wrap_os_create_new(struct os *os, int dirfd, const char *name);
int __wrap_os_unlinkat(struct os *os, int dirfd, const char *name);
int __wrap_os_mkdirat(struct os *os, int dirfd, const char *name, unsigned mode);
int __real_os_write_all(struct os *os, int fd, struct iovec **pieces, size_t *n);
int __wrap_os_write_all(struct os *os, int fd, struct iovec **pieces, size_t *n);
int __wrap_os_getcwd(struct os *os, char *buf);
char *__wrap_os_uname(struct os *os, bool release);
unsigned __wrap_os_nofile(struct os *os, unsigned most, bool raise);
int __wrap_os_dupfd(struct os *os, int fd, int min);
ssize_t __wrap_os_listmount(struct os *os, uint64_t mnt_id, uint64_t last, uint64_t *ids, size_t n);
int __wrap_os_statmount(struct os *os, uint64_t mnt_id, uint64_t mask, struct k_statmount *buf,
                        size_t size);
int __wrap_os_watch_mounts(struct os *os);
int __wrap_os_poll(struct os *os, struct pollfd *polled, size_t n, int ms);
void __wrap_os_probe_events(struct os *os);
double __wrap_os_now(void);
double __real_os_now(void);
unsigned __wrap_os_cpus(struct os *os);
void __wrap_os_init(struct os *os, const char *disable);
int __wrap_os_watch_mounts(struct os *os);
void __wrap_os_probe_events(struct os *os);
int __wrap_os_poll(struct os *os, struct pollfd *fds, size_t n, int ms);
double __wrap_os_now(void);
double __real_os_now(void);

int __wrap_os_statx(struct os *os, int dirfd, const char *name, int flags, unsigned mask,
                    struct k_statx *st)
{
	char path[PATH_SIZE];
	count(os, OS_STATX);
	memset(st, 0, sizeof(*st));
	if (!path_of(dirfd, name, path))
		return -1;
	if (kernel->look)
		kernel->look(path, flags);
	int rc = -1;
	errno = ENOENT;
	if (kernel->statx)
		rc = kernel->statx(path, flags, mask, st);
	if (rc != 0 && errno == ENOENT)
		rc = statx_file(path, st);
	/* As since Linux 5.8: statx tells whether a file is a mount. */
	st->attributes_mask |= K_STATX_ATTR_MOUNT_ROOT;
	return rc;
}

int __wrap_os_openat(struct os *os, int dirfd, const char *path, int flags)
{
	count(os, OS_OPENAT);
	return open_path(dirfd, path, flags, 0);
}

int __wrap_os_openat2(struct os *os, int dirfd, const char *path, int flags, uint64_t resolve)
{
	count(os, OS_OPENAT2);
	if (!(os->caps & OSC_OPENAT2)) {
		errno = ENOSYS;
		return -1;
	}
	return open_path(dirfd, path, flags, resolve);
}

int __wrap_os_opendir(struct os *os, int dirfd, const char *name)
{
	count(os, OS_OPENAT);
	return open_path(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
}

/** List what is below a directory, each name once. */
static ssize_t list_dir(struct open_file *file, char *buf, size_t size)
{
	size_t used = 0;
	for (; file->at < kernel->nfiles; ++file->at) {
		const char *name = below(kernel->files[file->at].path, file->path);
		size_t n = name ? strcspn(name, "/") : 0;
		bool seen = n == 0;
		for (size_t i = 0; i < file->at && !seen; ++i) {
			const char *before = below(kernel->files[i].path, file->path);
			seen = before && strcspn(before, "/") == n && strncmp(before, name, n) == 0;
		}
		if (seen)
			continue;
		size_t reclen = (offsetof(struct k_dirent, name) + n + 1 + 7) & ~(size_t)7;
		if (size - used < reclen)
			break;
		struct k_dirent *entry = (void *)(buf + used);
		memset(entry, 0, reclen);
		entry->ino = file->at + 1;
		entry->reclen = (uint16_t)reclen;
		memcpy(entry->name, name, n);
		used += reclen;
	}
	return (ssize_t)used;
}

ssize_t __wrap_os_getdents(struct os *os, int fd, void *buf, size_t size)
{
	struct open_file *file = file_of(fd);
	count(os, OS_GETDENTS);
	FUZZ_CHECK(!file->o_path);
	if (!file->file)
		return list_dir(file, buf, size);
	if (file->file->kind == FK_ERROR)
		return refuse(file->file);
	FUZZ_CHECK(file->file->kind == FK_DIRENTS);
	size_t n = file->file->len - file->at;
	n = n < size ? n : size;
	memcpy(buf, file->file->bytes + file->at, n);
	file->at += n;
	return (ssize_t)n;
}

ssize_t __wrap_os_read(struct os *os, int fd, void *buf, size_t size)
{
	if (fd == FUZZ_WATCH_FD) {
		count(os, OS_READ);
		return kernel->events(buf, size);
	}
	struct open_file *file = file_of(fd);
	count(os, OS_READ);
	FUZZ_CHECK(!file->o_path);
	if (file->file && file->file->kind == FK_ERROR)
		return refuse(file->file);
	if (!file->file || file->file->kind != FK_FILE) {
		errno = EISDIR;
		return -1;
	}
	size_t n = file->file->len - file->at;
	n = n < size ? n : size;
	n = kernel->read_max && kernel->read_max < n ? kernel->read_max : n;
	if (n)
		memcpy(buf, file->file->bytes + file->at, n);
	file->at += n;
	return (ssize_t)n;
}

unsigned __wrap_os_file_type(struct os *os, int fd, uint32_t *major, uint32_t *minor)
{
	count(os, OS_FSTAT);
	if (fd < FIRST_FD && !is_real(fd)) {
		errno = EBADF;   /* a number that was given: -F /dev/fd/7 */
		return 0;
	}
	const struct fuzz_file *file = file_of(fd)->file;
	if (!file || file->kind == FK_DIRENTS)
		return S_IFDIR;
	if (file->kind == FK_FILE || file->kind == FK_ERROR)
		return S_IFREG;
	char *end, *text = fuzz_string(file->bytes, file->len);
	unsigned long maj = strtoul(text, &end, 10), min = *end ? strtoul(end + 1, NULL, 10) : 0;
	free(text);
	if (major)
		*major = (uint32_t)maj;
	if (minor)
		*minor = (uint32_t)min;
	return S_IFBLK;
}

ssize_t __wrap_os_dm_status(struct os *os, int fd, uint32_t major, uint32_t minor, char *buf,
                            size_t size)
{
	count(os, OS_IOCTL);
	(void)file_of(fd), (void)major, (void)minor, (void)buf, (void)size;
	errno = ENXIO;
	return -1;
}

int __wrap_os_fstatfs(struct os *os, int fd, struct statfs *st)
{
	count(os, OS_STATFS);
	(void)file_of(fd);
	memset(st, 0, sizeof(*st));
	errno = EIO;
	return -1;
}

void __wrap_os_close(struct os *os, int fd)
{
	if (fd < 0)
		return;
	count(os, OS_CLOSE);
	if (fd == FUZZ_WATCH_FD)
		return;
	struct open_file *file = file_of(fd);
	if (file->real >= 0)
		close(file->real);
	free(file->path);
	file->path = NULL;
}

ssize_t __wrap_os_readlinkat(struct os *os, int dirfd, const char *name, char *buf, size_t size)
{
	char path[PATH_SIZE];
	count(os, OS_READLINK);
	if (!path_of(dirfd, name, path))
		return -1;
	if (kernel->look)
		kernel->look(path, O_NOFOLLOW);
	const struct fuzz_file *file = find_file(path);
	const char *link = file && file->kind == FK_LINK ? file->bytes : NULL;
	size_t n = link ? file->len : 0;
	if (!file && kernel->readlink) {
		if (!(link = kernel->readlink(path)))
			return -1;
		n = strlen(link);
	}
	if (!link) {
		errno = file || is_dir(path) ? EINVAL : ENOENT;
		return -1;
	}
	n = n < size - 1 ? n : size - 1;
	memcpy(buf, link, n);
	buf[n] = '\0';
	return (ssize_t)n;
}

/** What a target that lets files be made and removed is told. */
static int tell(void (*told)(const char *path), int dirfd, const char *name)
{
	char path[PATH_SIZE];
	if (!told) {
		errno = EROFS;
		return -1;
	}
	if (!path_of(dirfd, name, path))
		return -1;
	told(path);
	return 0;
}

int __wrap_os_create_new(struct os *os, int dirfd, const char *name)
{
	count(os, OS_OPENAT);
	if (tell(kernel->create, dirfd, name) == 0)
		errno = ENOSPC;   /* made, and cannot be written to */
	return -1;
}

int __wrap_os_unlinkat(struct os *os, int dirfd, const char *name)
{
	count(os, OS_OPENAT);
	return tell(kernel->unlink, dirfd, name);
}

int __wrap_os_mkdirat(struct os *os, int dirfd, const char *name, unsigned mode)
{
	count(os, OS_OPENAT);
	(void)file_of(dirfd);
	FUZZ_CHECK(*name && !(mode & 077));
	errno = EEXIST;
	return -1;
}

int __wrap_os_write_all(struct os *os, int fd, struct iovec **pieces, size_t *n)
{
	/* Messages: stderr is caught, and has no descriptor. */
	if (fd < 0)
		fwrite((*pieces)->iov_base, 1, (*pieces)->iov_len, stderr);
	return fd < 0 ? 0 : __real_os_write_all(os, fd, pieces, n);
}

int __wrap_os_getcwd(struct os *os, char *buf)
{
	count(os, OS_OPENAT);
	strcpy(buf, "/cwd");
	return 0;
}

char *__wrap_os_uname(struct os *os, bool release)
{
	(void)release;
	count(os, OS_UNAME);
	return strdup("host");
}

unsigned __wrap_os_nofile(struct os *os, unsigned most, bool raise)
{
	(void)raise;
	count(os, OS_RLIMIT);
	return most < MAX_FDS ? most : MAX_FDS;
}

int __wrap_os_dupfd(struct os *os, int fd, int min)
{
	(void)min;
	count(os, OS_FCNTL);
	return open_path(AT_FDCWD, file_of(fd)->path, file_of(fd)->o_path ? O_PATH : O_RDONLY, 0);
}

ssize_t __wrap_os_listmount(struct os *os, uint64_t mnt_id, uint64_t last, uint64_t *ids, size_t n)
{
	count(os, OS_LISTMOUNT);
	if (os->caps & OSC_LISTMOUNT && kernel->submounts && mnt_id != K_LSMT_ROOT)
		return kernel->submounts(mnt_id, last, ids, n);
	FUZZ_CHECK(mnt_id == K_LSMT_ROOT);
	if (os->caps & OSC_LISTMOUNT && kernel->listmount)
		return kernel->listmount(last, ids, n);
	errno = ENOSYS;
	return -1;
}

int __wrap_os_statmount(struct os *os, uint64_t mnt_id, uint64_t mask, struct k_statmount *buf,
                        size_t size)
{
	count(os, OS_STATMOUNT);
	if (os->caps & OSC_LISTMOUNT && kernel->statmount)
		return kernel->statmount(mnt_id, mask, buf, size);
	errno = ENOSYS;
	return -1;
}

unsigned __wrap_os_cpus(struct os *os)
{
	count(os, OS_AFFINITY);
	return kernel->cpus ? kernel->cpus : 1;
}

void __wrap_os_init(struct os *os, const char *disable)
{
	(void)disable;
	FUZZ_CHECK(kernel);
	fuzz_os(os);
}

int __wrap_os_watch_mounts(struct os *os)
{
	count(os, OS_FANOTIFY_INIT);
	errno = ENOSYS;
	return kernel->events ? FUZZ_WATCH_FD : -1;
}

void __wrap_os_probe_events(struct os *os)
{
	if (__wrap_os_watch_mounts(os) >= 0)
		os->caps |= OSC_FANOTIFY;
}

int __wrap_os_poll(struct os *os, struct pollfd *polled, size_t n, int ms)
{
	count(os, OS_POLL);
	if (!kernel->poll && n == 1 && ms < 0 && file_of(polled->fd))
		return 0;   /* os_read_fd() */
	if (!kernel->poll)
		fuzz_failed("it does not poll", __FILE__, __LINE__);
	return kernel->poll(polled, n, ms);
}

int __wrap_os_kill(struct os *os, int pid, int signal);
int __wrap_os_kill(struct os *os, int pid, int signal)
{
	count(os, OS_KILL);
	if (!kernel->process || signal != 0)
		fuzz_failed("it sends no signal", __FILE__, __LINE__);
	errno = ESRCH;
	return kernel->process(pid) ? 0 : -1;
}

double __wrap_os_now(void)
{
	return kernel && kernel->now ? kernel->now() : __real_os_now();
}

/* Nothing here starts processes, or speaks to any. */
#define NOT_HERE(name) \
	_Noreturn void name(void); \
	void name(void) { fuzz_failed("it does not call " #name, __FILE__, __LINE__); }
NOT_HERE(__wrap_os_detach)
NOT_HERE(__wrap_os_exit_process)
NOT_HERE(__wrap_os_fchmod)
NOT_HERE(__wrap_os_fchown)
NOT_HERE(__wrap_os_fgetxattr)
NOT_HERE(__wrap_os_flistxattr)
NOT_HERE(__wrap_os_flock)
NOT_HERE(__wrap_os_fork_process)
NOT_HERE(__wrap_os_fork_socket)
NOT_HERE(__wrap_os_fremovexattr)
NOT_HERE(__wrap_os_fsetxattr)
NOT_HERE(__wrap_os_fstatat)
NOT_HERE(__wrap_os_fsync)
NOT_HERE(__wrap_os_futimens)
NOT_HERE(__wrap_os_geteuid)
NOT_HERE(__wrap_os_getpid)
NOT_HERE(__wrap_os_inode_flags)
NOT_HERE(__wrap_os_link)
NOT_HERE(__wrap_os_open_or_create)
NOT_HERE(__wrap_os_open_tree)
NOT_HERE(__wrap_os_pidfd_open)
NOT_HERE(__wrap_os_pread)
NOT_HERE(__wrap_os_reader_gone)
NOT_HERE(__wrap_os_reap)
NOT_HERE(__wrap_os_recv)
NOT_HERE(__wrap_os_rename)
NOT_HERE(__wrap_os_send)
NOT_HERE(__wrap_os_shutdown)
NOT_HERE(__wrap_os_signals_restore)
NOT_HERE(__wrap_os_signals_block)
NOT_HERE(__wrap_os_signals_pending)
NOT_HERE(__wrap_os_socketpair)
NOT_HERE(__wrap_os_symlink)
NOT_HERE(__wrap_os_time_ms)
NOT_HERE(__wrap_os_usage)
NOT_HERE(__wrap_os_write)
