/* SPDX-License-Identifier: MIT */
/*
 * A topology, built where nobody else sees it: in a mount namespace of this process, of
 * which an empty tmpfs is the root.  Nothing is left when the process ends, however it does.
 */
#include "cmd/profile/profile.h"

#include "cmd/output.h"
#include "os/change.h"
#include "os/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct topology *profile_read_topology(struct os *os, const char *path)
{
	char *text = NULL;
	size_t len = strlen(topology_default);
	if (path && os_read_named(os, path, TOPOLOGY_BYTES, &text, &len) != 0) {
		const char *why = errno == EFBIG ? "it is too big for a topology" : errno == EISDIR ? "it is a directory"
		                  : errno == ENOTSUP ? "it is neither a file nor a pipe" : strerror(errno);
		message(path, "cannot be read as a topology: %s; getmnt profile --print-topology shows one", why);
		return NULL;
	}
	struct topology *topology = topology_parse(path ? text : topology_default, len);
	free(text);
	if (!topology) {
		message(path, "%s", strerror(errno));
	} else if (topology->bad_line) {
		char object[PATH_MAX + 16];
		snprintf(object, sizeof(object), "%s:%u", path ? path : "built in", (unsigned)topology->bad_line);
		message(object, "%s", topology->why);
		topology_free(topology);
		topology = NULL;
	}
	return topology;
}

/** What is being built, and what went wrong. */
struct builder {
	struct os *os;
	const char *name;
	const struct profile_building *how;
	int64_t made;              /* how many things */
	uint64_t told, all;        /* of what there is to make */
	uint64_t dirs, files;      /* that were made */
};

/** Now and then: tell how far it is, and see that there is time.  @return 0, or an exit status. */
static int look(struct builder *b, const char *path)
{
	enum { THINGS = 1000 };
	if (++b->told % THINGS)
		return CX_OK;
	b->how->progress(b->how->arg, b->told, b->all, path);
	if (os_now() < b->how->end)
		return CX_OK;
	progress_end();
	message(b->name, "the time was up while the topology was built: %" PRIu64 " of %" PRIu64
	        " directories, files and mounts; make it smaller, or give it more by --total-time", b->told, b->all);
	return CX_ERROR;
}

/* The time of the first: CUCS-323-88 is of 1988. */
enum { EPOCH = 567993600 };

/** Tell that something could not be made.  @return an exit status. */
static int not_made(const struct builder *b, const struct topology_line *line, const char *path)
{
	char object[PATH_MAX + 16];
	int error = errno;
	progress_end();
	snprintf(object, sizeof(object), "%s:%u", b->name, (unsigned)line->number);
	message(object, "%s: cannot be made: %s%s", path, strerror(error),
	        error == ENOTDIR || error == EEXIST ? "; a file of a line before it has this name"
	        : error == ENOSPC ? "; too many mounts (fs.mount-max), or no memory" : "");
	return CX_ERROR;
}

/** Date a directory by what was made before: a search may go by what was changed last, and what
    is made within a tick of the clock would be in no order.  @return 0, or an exit status. */
static int date(struct builder *b, const char *path, const struct topology_line *line)
{
	return os_stage_date(b->os, path, EPOCH + ++b->made) == 0 ? 0 : not_made(b, line, path);
}

/** Date the directory that something was made in. */
static int date_parent(struct builder *b, const char *path, const struct topology_line *line)
{
	char parent[PATH_MAX];
	const char *slash = strrchr(path, '/');
	while (slash > path && slash[-1] == '/')
		--slash;
	snprintf(parent, sizeof(parent), "%.*s", slash > path ? (int)(slash - path) : 1, path);
	return date(b, parent, line);
}

static int build_dir(void *arg, const char *path, const struct topology_line *line)
{
	struct builder *b = arg;
	int status = look(b, path);
	if (status)
		return status;
	if (os_mkdirat(b->os, AT_FDCWD, path, 0755) != 0)
		return errno == EEXIST ? 0 : not_made(b, line, path);
	++b->dirs;
	status = date(b, path, line);
	return status ? status : date_parent(b, path, line);
}

static int build_mount(void *arg, const char *path, const struct topology_line *line)
{
	struct builder *b = arg;
	int status = look(b, path);
	if (status)
		return status;
	return os_stage_mount(b->os, path) == 0 ? date(b, path, line) : not_made(b, line, path);
}

static int build_file(void *arg, const char *path, const struct topology_line *line)
{
	struct builder *b = arg;
	int status = look(b, path);
	if (status)
		return status;
	int fd = os_create_new(b->os, AT_FDCWD, path);
	if (fd < 0)
		return errno == EEXIST ? 0 : not_made(b, line, path);
	os_close(b->os, fd);
	++b->files;
	return date_parent(b, path, line);
}

/** Tell why there is no stage.  @return an exit status. */
static int no_stage(enum os_stage_step step)
{
	static const char give[] = "be root, or give PATH or --live, which build nothing";
	int error = errno;
	switch (step) {
	case STAGE_UNSHARE:
	case STAGE_MAP:
		message("the topology", "no mount namespace to build it in: %s; %s%s", strerror(error),
		        error == EPERM || error == EACCES
		        ? "ordinary users need user namespaces (sysctl kernel.unprivileged_userns_clone, "
		          "kernel.apparmor_restrict_unprivileged_userns): "
		        : error == ENOSPC ? "no more are allowed (sysctl user.max_user_namespaces, user.max_mnt_namespaces): " : "", give);
		break;
	case STAGE_PRIVATE:
		message("the topology", "the mounts of this process cannot be kept to itself: %s; its root is no mount "
		        "point (a chroot): run getmnt outside of it, or give PATH", strerror(error));
		break;
	case STAGE_MOUNT:
	case STAGE_ROOT:
		message("the topology", "no tmpfs could be mounted to build it in: %s; %s", strerror(error), give);
		break;
	}
	return CX_ERROR;
}

/** Where listmount(2) is missing, the table is read from a file: this one, in which it is written. */
static int record_table(struct os *os, int proc)
{
	char *text;
	size_t len;
	if (os_read_kernel(os, proc, "self/mountinfo", TOPOLOGY_BYTES, &text, &len) != 0) {
		message("/proc/self/mountinfo", "cannot be read: %s; is /proc mounted? mount -t proc proc /proc", strerror(errno));
		return CX_ERROR;
	}
	int fd = -1;
	os_mkdirat(os, AT_FDCWD, "/proc", 0755);
	os_mkdirat(os, AT_FDCWD, "/proc/self", 0755);
	fd = os_create_new(os, AT_FDCWD, "/proc/self/mountinfo");
	size_t at = 0;
	for (ssize_t n; fd >= 0 && at < len && (n = os_write(os, fd, text + at, len - at)) > 0;)
		at += (size_t)n;
	os_close(os, fd);
	free(text);
	if (fd >= 0 && at == len)
		return CX_OK;
	message("the topology", "its table cannot be recorded: %s", strerror(errno));
	return CX_ERROR;
}

int profile_build(struct os *os, struct topology *topology, const char *name, const struct profile_building *how)
{
	struct builder builder = {.os = os, .name = name, .how = how,
	                          .all = topology->mounts + topology->dirs + topology->files + topology->way};
	struct topology_maker maker = {build_mount, build_dir, build_file, &builder};
	enum os_stage_step step;
	int status = CX_ERROR, proc = -1;
	if (!(os->caps & OSC_LISTMOUNT))
		proc = os_openat(os, AT_FDCWD, "/proc", O_PATH | O_DIRECTORY);
	if (os_stage_enter(os, &step) != 0) {
		status = no_stage(step);
		goto out;
	}
	status = topology_grow(topology, &maker);
	progress_end();
	topology->dirs = builder.dirs;
	topology->files = builder.files;
	if (status < 0) {
		message(name, "%s", strerror(ENOMEM));
		status = CX_ERROR;
	}
	if (!status && !(os->caps & OSC_LISTMOUNT))
		status = record_table(os, proc);
out:
	os_close(os, proc);
	return status;
}
