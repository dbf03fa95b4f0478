/* SPDX-License-Identifier: MIT */
/*
 * Finding the holders of file systems, in three bounded passes:
 *
 *     all processes --> mount namespaces, each table once --> mounts of fstab lines that are
 *                                                             not mounted here
 *     processes in our namespace --> open files --> fdinfo: the ID of their mount --> mounts
 *                                                   that are detached or deleted
 *     fstab lines --> /sys/fs/TYPE/DEVICE exists: the kernel is using the file system
 *
 * Links in /proc/PID/fd are read, but never followed: that would access the file.  A working
 * directory has no fdinfo; a process that holds a mount only through its working directory is not
 * found, but the use of the file system is visible in /sys.
 */
#include "host/host.h"

#include "base/arena.h"
#include "base/fstypes.h"
#include "base/words.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	PROCESSES_MAX = 32768, NAMESPACES_MAX = 1024, FILES_MAX = 200000, DETACHED_MAX = 16,
	ENTRIES = 32 * 1024, SMALL_MAX = 4096,
};

/** A line whose file system is not mounted here. */
struct wanted {
	const struct tabline *line;
	const char *source, *name;   /* as written; name of the device, or NULL */
	uint64_t dev;                /* 0: unknown */
	struct host_holder held;
	uint64_t ns;                 /* the last namespace that was found to have it mounted */
};

struct looking {
	struct host *host;
	struct host_holders *out;
	struct wanted *wanted;
	size_t nwanted;
	struct map64 spaces;         /* inodes of the mount namespaces that were read */
	struct map64 ids;            /* ID of an attached mount -> node, or ELSEWHERE */
	struct map64 holds;          /* ID of a mount -> index in out->list */
	uint64_t own;                /* our mount namespace */
	size_t nspaces, nfiles;
	bool denied;
};

enum { ELSEWHERE = UINT32_MAX - 2 };

/** A directory in /proc with one entry for each process or file. */
struct numbers {
	struct os_dir dir;
	size_t left;                 /* how many more entries may be read */
	_Alignas(struct k_dirent) char buf[ENTRIES];
};

static void numbers_open(struct looking *look, struct numbers *numbers, const char *path,
                         size_t most)
{
	int fd = os_opendir(look->host->in.os, AT_FDCWD, path);
	look->denied |= fd < 0 && (errno == EACCES || errno == EPERM);
	os_dir_begin(&numbers->dir, look->host->in.os, fd, numbers->buf, sizeof(numbers->buf));
	numbers->left = most;
}

/** The next number; -1 at the end, where the directory is closed. */
static int numbers_next(struct looking *look, struct numbers *numbers)
{
	const char *name = NULL;
	while (numbers->dir.fd >= 0 && !look->out->arena.failed
	       && (name = os_dir_next(&numbers->dir)) != NULL && !isdigit((unsigned char)*name))
		;
	if (name && numbers->left-- > 0)
		return atoi(name);
	look->denied |= name != NULL;   /* too many entries */
	os_close(look->host->in.os, numbers->dir.fd);
	return -1;
}

/** The inode of a process's mount namespace; 0: the process ended, or access is denied. */
static uint64_t space_of(struct looking *look, int proc, int pid)
{
	char path[64] = "/proc/self/ns/mnt", link[64];
	if (pid)
		snprintf(path, sizeof(path), "%d/ns/mnt", pid);
	if (os_readlinkat(look->host->in.os, proc, path, link, sizeof(link)) < 0) {
		look->denied |= errno == EACCES || errno == EPERM;
		return 0;
	}
	return strncmp(link, "mnt:[", 5) == 0 ? strtoull(link + 5, NULL, 10) : 0;
}

static void name_process(struct looking *look, int proc, int pid, struct host_holder *held)
{
	char path[64], *text;
	size_t len;
	held->pid = pid;
	snprintf(path, sizeof(path), "%d/comm", pid);
	strcpy(held->comm, "?");
	if (os_read_kernel(look->host->in.os, proc, path, SMALL_MAX, &text, &len) != 0)
		return;
	text[strcspn(text, "\n")] = '\0';
	snprintf(held->comm, sizeof(held->comm), "%s", text);
	free(text);
}

static void add(struct looking *look, struct host_holder held)
{
	ARENA_PUSH(&look->out->arena, look->out->list, look->out->count, held);
}

/* Namespaces. */

/** Whether a mount belongs to the file system of a line. */
static bool is_of(const struct wanted *w, const struct mount *m)
{
	if (w->dev && mount_dev(m) == w->dev)
		return true;
	return m->source && (strcmp(m->source, w->source) == 0
	                     || (w->name && strcmp(m->source, w->name) == 0))
	       && fstype_flags(m->fstype) & (FST_NET | FST_DEVICE);
}

/** Read the mounts of a process's namespace, unless they were read already. */
static void read_namespace(struct looking *look, int proc, int pid)
{
	char path[64];
	uint64_t ns = space_of(look, proc, pid);
	if (!ns || ns == look->own || map64_get(&look->spaces, ns) != MAP64_NONE)
		return;
	if (++look->nspaces > NAMESPACES_MAX) {
		look->denied = true;
		return;
	}
	snprintf(path, sizeof(path), "%d/mountinfo", pid);
	struct mount_table *table = table_read_mountinfo(look->host->in.os, proc, path);
	if (!table) {
		if (errno == ENOMEM)
			arena_fail(&look->out->arena);
		look->denied |= errno == EACCES || errno == EPERM;
		return;
	}
	map64_put(&look->spaces, ns, 0);
	for (size_t i = 0; i < table->count; ++i) {
		const struct mount *m = &table->mounts[i];
		map64_put(&look->ids, m->id, ELSEWHERE);
		for (size_t k = 0; k < look->nwanted; ++k) {
			struct wanted *w = &look->wanted[k];
			if (w->ns == ns || !is_of(w, m))
				continue;
			w->ns = ns;
			if (w->held.count++ == 0) {
				name_process(look, proc, pid, &w->held);
				w->held.where = arena_text(&look->out->arena,
				                           m->point ? m->point : "?");
			}
		}
	}
	table_free(table);
}

/* Open files. */

/** Whether a mount is in a process's own table: the mount may be new. */
static bool is_mounted(struct looking *look, int fds, uint32_t id)
{
	struct mount_table *table = table_read_mountinfo(look->host->in.os, fds, "../mountinfo");
	bool found = !table;
	if (!table && errno == ENOMEM)
		arena_fail(&look->out->arena);
	for (size_t i = 0; table && i < table->count; ++i)
		found |= table->mounts[i].id == id;
	table_free(table);
	return found;
}

static void check_file(struct looking *look, int proc, int pid, int fds, int fd)
{
	struct os *os = look->host->in.os;
	char name[48], link[PATH_MAX], *text, *at;
	size_t len;
	snprintf(name, sizeof(name), "%d", fd);
	/* Skip pipes, sockets and other files that have no mount: "pipe:[1]", "/memfd:x
	   (deleted)". */
	ssize_t n = os_readlinkat(os, fds, name, link, sizeof(link));
	if (++look->nfiles > FILES_MAX)
		look->denied = true;
	if (n <= 0 || *link != '/' || strncmp(link, "/dmabuf:", 8) == 0 || look->nfiles > FILES_MAX)
		return;
	bool gone = word_ends(link, " (deleted)");
	snprintf(name, sizeof(name), "../fdinfo/%d", fd);
	if (os_read_kernel(os, fds, name, SMALL_MAX, &text, &len) != 0)
		return;
	at = strstr(text, "mnt_id:");
	uint32_t id = at ? (uint32_t)strtoul(at + strlen("mnt_id:"), NULL, 10) : 0;
	free(text);
	uint32_t node = id ? map64_get(&look->ids, id) : ELSEWHERE;
	bool detached = node == MAP64_NONE;
	const struct mtree *tree = &look->host->in.d->tree;
	if (node == ELSEWHERE || (detached ? gone : !(tree->nodes[node].states & 1u << MT_DELETED)))
		return;
	if (map64_get(&look->holds, id) == MAP64_NONE) {
		if (detached && is_mounted(look, fds, id))
			return;
		if (look->out->count == DETACHED_MAX) {
			look->denied = true;
			return;
		}
		add(look, (struct host_holder){
			.kind = detached ? HOST_HELD_DETACHED : HOST_HELD_DELETED,
			.target = detached ? NULL : look->host->in.d->targets[node],
			.where = arena_text(&look->out->arena, link),
		});
	}
	uint32_t first = map64_put(&look->holds, id, (uint32_t)look->out->count - 1);
	if (look->out->arena.failed)
		return;
	struct host_holder *held = &look->out->list[first];
	if (held->count++ == 0)
		name_process(look, proc, pid, held);
}

static void check_files(struct looking *look, int proc, int pid)
{
	struct numbers files;
	char path[64];
	/* Processes in a container often have open files of their former root. */
	if (space_of(look, proc, pid) != look->own)
		return;
	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	numbers_open(look, &files, path, FILES_MAX);
	for (int fd; (fd = numbers_next(look, &files)) >= 0;)
		check_file(look, proc, pid, files.dir.fd, fd);
}

/* Lines. */

/** The number of the device with a name; 0: unknown. */
static uint64_t device_of(struct host *host, const char *name)
{
	struct k_statx st;
	if (!name || strncmp(name, "/dev/", 5) != 0
	    || mounts_path_block(host->in.paths, name)
	    || os_statx(host->in.os, AT_FDCWD, name, AT_NO_AUTOMOUNT, K_STATX_BASIC, &st) != 0)
		return 0;
	return (uint64_t)st.rdev_major << 32 | st.rdev_minor;
}

/** Whether the kernel is using a file system on a device. */
static bool is_alive(struct host *host, uint64_t dev)
{
	static const char *const types[] = {"ext4", "xfs", "f2fs"};
	char path[PATH_MAX], name[NAME_MAX + 1];
	struct k_statx st;
	if (!host_kernel_name(host->in.os, (uint32_t)(dev >> 32), (uint32_t)dev, name))
		return false;
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); ++i) {
		snprintf(path, sizeof(path), "/sys/fs/%s/%s", types[i], name);
		if (os_statx(host->in.os, AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, K_STATX_TYPE,
		             &st) == 0)
			return true;
	}
	return false;
}

/** List the lines whose file system is not mounted here. */
static void list_wanted(struct looking *look, const struct tablines *lines)
{
	struct host *host = look->host;
	for (size_t i = 0; i < lines->count && !look->out->arena.failed; ++i) {
		const struct tabline *line = &lines->lines[i];
		if (line->kind != TABLINE_ENTRY)
			continue;
		const char *source = line->fields[TABLINE_SOURCE].value,
			*target = line->fields[TABLINE_TARGET].value,
		           *type = line->fields[TABLINE_FSTYPE].value;
		if (!source || !target || !type)
			continue;
		unsigned flags = fstype_flags(type);
		bool net = flags & FST_NET;
		if (*target != '/' || (!net && flags & FST_PSEUDO && strcmp(type, "auto") != 0))
			continue;
		struct fstab_device device = {0};
		bool one = !net && host->in.live && host_devices(host, source, &device) == 1
			&& device.tags;
		struct wanted w = {.line = line, .source = source,
		                   .name = one ? device.tags->name : NULL};
		w.dev = device_of(host, w.name);
		bool here = !net && !w.dev;
		for (size_t k = 0; k < host->in.table->count && !here; ++k)
			here = is_of(&w, &host->in.table->mounts[k]);
		w.held = (struct host_holder){.kind = HOST_HELD_ELSEWHERE, .target = target,
		                              .source = source, .line = line->number};
		if (!here)
			ARENA_PUSH(&look->out->arena, look->wanted, look->nwanted, w);
	}
}

/** Add the lines whose file system is in use. */
static void add_wanted(struct looking *look)
{
	struct host *host = look->host;
	bool sys = !mounts_path_block(host->in.paths, "/sys/fs");
	for (size_t i = 0; i < look->nwanted; ++i) {
		struct wanted *w = &look->wanted[i];
		if (w->held.count == 0 && (!w->dev || !sys || !is_alive(host, w->dev)))
			continue;
		if (w->held.count == 0)
			w->held.kind = HOST_HELD_ALIVE;
		add(look, w->held);
	}
}

int host_read_holders(struct host *host, const struct tablines *lines, struct host_holders *out)
{
	struct arena *arena = &out->arena;
	struct looking look = {.host = host, .out = out, .spaces.arena = arena,
	                       .ids.arena = arena, .holds.arena = arena};
	struct numbers processes;
	*out = (struct host_holders){0};
	/* In a container, only its own processes are visible. */
	out->partly = !host_has_first_pids(host->in.os);
	look.own = space_of(&look, AT_FDCWD, 0);
	if (!look.own || !host->in.own || mounts_path_block(host->in.paths, "/proc")) {
		out->partly = true;
		return 0;
	}
	for (uint32_t i = 0; i < host->in.d->tree.count; ++i) {
		if (!host->in.d->tree.nodes[i].made)
			map64_put(&look.ids, host->in.d->tree.nodes[i].mount->id, i);
	}
	list_wanted(&look, lines);
	numbers_open(&look, &processes, "/proc", PROCESSES_MAX);
	for (int pid; (pid = numbers_next(&look, &processes)) >= 0;)
		read_namespace(&look, processes.dir.fd, pid);
	numbers_open(&look, &processes, "/proc", PROCESSES_MAX);
	for (int pid; (pid = numbers_next(&look, &processes)) >= 0;)
		check_files(&look, processes.dir.fd, pid);
	add_wanted(&look);
	out->partly |= look.denied;
	return arena_check(arena);
}

void host_holders_destroy(struct host_holders *holders)
{
	arena_destroy(&holders->arena);
}
