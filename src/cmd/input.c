/* SPDX-License-Identifier: MIT */

#include "cmd/progress.h"
#include "cmd/run.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NO_TASK "no such process, or /proc hides it (hidepid)"

enum { REPORTED_LINES = 100 };

/** Get the descriptor that a name such as "-" or "/dev/fd/3" stands for, or -1. */
static int named_fd(const char *path)
{
	int fd;
	char more;
	if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdin") == 0)
		return STDIN_FILENO;
	return sscanf(path, "/dev/fd/%6d%c", &fd, &more) == 1
	       || sscanf(path, "/proc/self/fd/%6d%c", &fd, &more) == 1 ? fd : -1;
}

/** Report the lines of the table that cannot be parsed.
    @return 0, or an exit status if no line can be parsed. */
static int report_problems(struct run *run)
{
	const struct mount_table *table = run->table;
	char object[PATH_MAX + 16];
	for (size_t i = 0; i < table->nproblems && i < REPORTED_LINES && table->count; ++i) {
		snprintf(object, sizeof(object), "%s:%u", run->table_name,
		         (unsigned)table->problems[i].line);
		message(object, "%s", table->problems[i].reason);
	}
	if (table->nproblems && !table->count) {
		message(run->table_name, "no line can be parsed: line %u: %s; a %s is expected",
		        (unsigned)table->problems[0].line, table->problems[0].reason,
		        table->source == TABLE_RECORDED ? "mountinfo"
		        : "file in the format of fstab(5)");
		return CX_ERROR;
	}
	if (table->nproblems > REPORTED_LINES)
		message(run->table_name, "%zu more lines cannot be parsed; --json lists them all",
		        table->nproblems - REPORTED_LINES);
	if (table->nproblems)
		run_incomplete(run, TABLE_UNREAD);
	return 0;
}

/** Read an fstab, an mtab or a recorded table.  @fixed  The path is a default, not given by the
    user.
    @return 0, or an exit status after a message. */
static int read_tab_file(struct run *run, enum table_source source, bool fixed)
{
	const char *path = run->table_name;
	int fd = source == TABLE_RECORDED ? named_fd(path) : -1;
	if (fd < 0 && strcmp(path, "-") == 0)
		path = "/dev/stdin";
	run->table = fd >= 0 ? table_read_fd(&run->os, fd)
	                     : table_read_file(&run->os, path, fixed, source);
	if (!run->table) {
		message(run->table_name, "cannot be read: %s; %s", path_error(errno),
		        source == TABLE_RECORDED ? "a copy of /proc/self/mountinfo is expected"
		                                 : "a file in the format of fstab(5) is expected");
		return CX_ERROR;
	}
	return report_problems(run);
}

/** Whether /etc/mtab is a symlink to the kernel's table, or missing. */
static bool mtab_is_kernel(struct run *run, const char *path)
{
	char link[PATH_MAX];
	if (os_readlinkat(&run->os, AT_FDCWD, path, link, sizeof(link)) < 0)
		return errno == ENOENT;
	return strstr(link, "proc/") != NULL;
}

/** Read the kernel's table. */
static int read_kernel(struct run *run, enum table_source source, unsigned fields)
{
	/* If no 64-bit IDs are needed, read mountinfo, which takes half the time of listmount: one
	   call for each page of text instead of one call for each mount. */
	const int unique = run->opt->unique_ids;
	if (source == TABLE_AUTO && unique == UNIQUE_SELECTED && run->os.caps & OSC_LISTMOUNT)
		source = TABLE_LISTMOUNT;
	if (source == TABLE_AUTO && run->opt->names == DN_KERNEL && unique == UNIQUE_UNUSED)
		run->table = table_read_kernel(&run->os, TABLE_MOUNTINFO, fields);
	if (!run->table)
		run->table = table_read_kernel(&run->os, source, fields);
	run->live = true;
	if (run->table) {
		run->table_name = table_source_name(run->table->source);
		return report_problems(run);
	}
	if (errno == ENOSYS && source == TABLE_LISTMOUNT)
		message("--kernel=listmount", "not available: it requires Linux 6.8 and may be "
		        "blocked by seccomp; use --kernel=mountinfo");
	else if (errno == ENOENT)
		message("/proc/self/mountinfo", "%s; is /proc mounted? mount -t proc proc /proc",
		        strerror(ENOENT));
	else
		message("mount table", "cannot be read: %s", strerror(errno));
	return CX_ERROR;
}

/** Read the table of --task.  All files of the process are opened by one descriptor of /proc/PID:
    the descriptor never refers to a later process with the same ID. */
static int read_task(struct run *run)
{
	char path[32], name[32];
	int pid = (int)run->opt->task;
	snprintf(path, sizeof(path), "/proc/%d", pid);
	snprintf(name, sizeof(name), "task %d", pid);
	run->live = true;
	run->table_name = name;

	run->procfd = os_openat(&run->os, AT_FDCWD, path, O_PATH | O_DIRECTORY);
	int error = errno;
	if (run->procfd < 0) {
		run->procfd = AT_FDCWD;
		struct k_statx st;
		int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC;
		if (error == ENOENT && os_statx(&run->os, AT_FDCWD, "/proc/self", flags, 0,
		                                &st) == 0)
			message(name, NO_TASK);
		else
			message(name, "%s: %s; is /proc mounted? mount -t proc proc /proc", path,
			        strerror(error));
		return CX_ERROR;
	}
	run->table = table_read_mountinfo(&run->os, run->procfd, "mountinfo");
	error = errno;
	if (!run->table) {
		/* EINVAL: the process is a zombie, which has no mounts. */
		bool dead = error == ESRCH || error == EINVAL || error == ENOENT;
		message(name, dead ? NO_TASK : "its mount table cannot be read: %s; run as its "
		        "owner or as root", strerror(error));
		return CX_ERROR;
	}
	int status = report_problems(run);
	run->table_name = "task";
	if (status || (run->opt->names == DN_KERNEL && !run->opt->probe))
		return status;
	run->rootfd = os_openat(&run->os, run->procfd, "root", O_PATH | O_DIRECTORY);
	error = errno;
	if (run->rootfd < 0) {
		run->rootfd = AT_FDCWD;
		if (error == ESRCH || error == ENOENT) {
			message(name, NO_TASK);
			return CX_ERROR;
		}
		message(name, "its root cannot be opened: %s; the kernel's names are listed, "
		        "untested%s", strerror(error),
		        geteuid() == 0 ? "" : "; run as its owner or as root to test them");
		run->untestable = true;
	}
	return 0;
}

/** Resolve the directory of --root by the mount points that the kernel reports, without testing
    whether these paths lead to the mounts.
    @trusts_root  Assume that the device of "/" does not block.
    @return as mounts_follow(); if run->d is NULL, nothing was resolved and errno says why. */
static enum path_followed follow_root(struct run *run, bool trusts_root, struct strbuf *name)
{
	struct discover_opts opts;
	discover_defaults(&opts);
	opts.names = DN_KERNEL;
	opts.lets_expire = run->opt->lets_expire;
	opts.trusts_root = trusts_root;
	run_forget(run);
	if (!run->devs)
		run->devs = mounts_devmap(&run->os, run->table);
	if (run->devs)
		run->d = discover(&run->os, run->devs, run->table, &opts);
	return run->d ? mounts_follow(run_paths(run), run->opt->root, name) : PATH_MISSING;
}

/** Find the canonical path of the directory of --root, and open the directory.
    @return 0, or an exit status after a message. */
static int open_root(struct run *run)
{
	const char *dir = run->opt->root, *why = NULL;
	struct strbuf name = {0};
	enum path_followed known = follow_root(run, false, &name);
	/* If the file system of "/" can block, assume nevertheless that its device does not: this
	   program was loaded from this device. */
	bool trusts_root = run->d && known == PATH_UNTOUCHED && run->d->root != MT_NONE
	                   && mounts_block(run->d->mounts, run->d->root);
	if (trusts_root)
		known = follow_root(run, true, &name);
	if (!run->d) {
		why = strerror(errno);
		goto out;
	}
	const char *place = strbuf_text(&name);
	if (!place)
		why = strerror(ENOMEM);
	else if (known == PATH_MISSING)
		why = path_error(errno);
	else if (run->opt->part && known == PATH_SEEN && strcmp(place, "/") == 0)
		why = "this is the whole machine; use --live";
	else if (run->opt->names == DN_KERNEL && !run->opt->probe)
		;   /* do not access the directory of --root */
	else if (known == PATH_UNTOUCHED)
		why = "it is on a file system that can block and is not touched; use "
		      "--names=kernel without --probe";
	else if ((run->rootfd = os_openat(&run->os, AT_FDCWD, place,
	                                  O_PATH | O_DIRECTORY | O_NOFOLLOW)) < 0)
		why = strerror(errno);
	if (run->rootfd < 0 && why)
		run->rootfd = AT_FDCWD;
	if (!why && !(run->prefix = strbuf_take(&name)))
		why = strerror(ENOMEM);
out:
	if (why)
		message(dir, "cannot be used as root: %s", why);
	if (run->d && !trusts_root) {
		run->known = run->d->mounts;
		run->d->mounts = NULL;
	}
	run_forget(run);
	strbuf_destroy(&name);
	return why ? CX_ERROR : 0;
}

int input_read(struct run *run, unsigned fields)
{
	const struct input_opts *o = run->opt;
	enum table_source source = (enum table_source)o->source;
	run->procfd = run->rootfd = AT_FDCWD;

	if (source == TABLE_FSTAB || source == TABLE_MTAB) {
		const char *path = o->tab_file;
		if (!path)
			path = secure_getenv(source == TABLE_FSTAB ? "LIBMOUNT_FSTAB"
			                     : "LIBMOUNT_MTAB");
		bool fixed = !path;
		if (fixed)
			path = source == TABLE_FSTAB ? "/etc/fstab" : "/etc/mtab";
		run->table_name = path;
		if (source == TABLE_MTAB && !o->tab_file && mtab_is_kernel(run, path))
			return read_kernel(run, TABLE_AUTO, fields);
		return read_tab_file(run, source, fixed);
	}
	if (o->no_table) {
		run->table = table_parse_mountinfo("", 0);
		run->table_name = "none";
		return run->table ? report_problems(run) : CX_ERROR;
	}
	if (o->tab_file) {
		run->table_name = o->tab_file;
		return read_tab_file(run, TABLE_RECORDED, false);
	}
	if (o->task)
		return read_task(run);
	int status = read_kernel(run, source, fields);
	if (!status && o->root)
		status = open_root(run);
	return status;
}

/** Find the name and state of every mount.  @return 0, or an exit status after a message. */
static int run_discover(struct run *run)
{
	const struct input_opts *o = run->opt;
	bool task = run->procfd != AT_FDCWD, probes = run->prober && !run->untestable;
	const struct discover_opts opts = {
		.names = run->untestable ? DN_KERNEL : (enum discover_names)o->names,
		.algorithm = (enum discover_algorithm)o->algorithm,
		.identity = (enum discover_identity)o->identity,
		.prune_on = o->prune_on, .prune_off = o->prune_off,
		.rootfd = run->rootfd, .prefix = run->prefix ? run->prefix : "/",
		.depth = o->depth, .max_dirs = o->max_dirs, .max_seconds = o->search_seconds,
		.deadline = o->max_time > 0 ? run->start + o->max_time : 0,
		.threads = o->threads, .boundaries = o->boundaries, .lets_expire = o->lets_expire,
		.known = run->known,
		.probe = probes ? (enum discover_probe)o->probe : DP_NONE, .prober = run->prober,
		.procfd = run->procfd, .procpath = task ? "mountinfo" : "/proc/self/mountinfo",
		.progress = run->progress, .progress_arg = run,
	};
	run->d = discover(&run->os, run->devs, run->table, &opts);
	int error = errno;
	progress_end();
	if (!run->d) {
		message(run->opt->root, "cannot examine the mounts: %s", strerror(error));
		return CX_ERROR;
	}
	if (!run->d->complete)
		run_incomplete(run, run->d->incomplete ? run->d->incomplete
		               : "the search was not complete");
	return 0;
}

enum { REPORTED_ODD = 5 };

/** Report mounts whose IDs do not form a tree.  A single missing parent is normal: the mount that
    the root is mounted on. */
static void report_odd(struct run *run)
{
	const struct mtree *tree = &run->d->tree;
	const struct mt_node *above = NULL;
	unsigned reported = 0;
	for (uint32_t i = 0; i < tree->count && tree->odd; ++i) {
		const struct mt_node *node = &tree->nodes[i];
		const struct mount *m = node->mount;
		if (node->odd == MT_ODD_MISSING_PARENT
		    && (!above || above->mount->parent_key == m->parent_key)) {
			above = node;
			continue;
		}
		if (!node->odd || node->gone)
			continue;
		if (mtree_contradicted(node))
			run_incomplete(run, DISCOVER_NO_TREE);
		if (++reported > REPORTED_ODD)
			continue;
		const char *what = "has a parent ID that is not in the table";
		if (node->odd & (MT_ODD_DUPLICATE | MT_ODD_CYCLE))
			what = node->odd & MT_ODD_DUPLICATE ? "has the ID of another mount"
			                                    : "is its own ancestor";
		message(run->table_name, "mount %u on %s %s; shown as a root", m->id,
		        m->point ? m->point : "an unknown mount point", what);
	}
	if (reported > REPORTED_ODD)
		message(run->table_name, "%u more mounts with contradictory IDs",
		        reported - REPORTED_ODD);
}

static void debug_run(const struct run *run)
{
	message("debug", "table %s: %zu mounts, %zu problems, %u vanished, %u rereads, "
	        "fields %#x, unique IDs %s", run->table_name, run->table->count,
	        run->table->nproblems, run->table->vanished, run->table->relisted,
	        run->table->fields, run->table->unique_ids ? "yes" : "no");
	if (run->d)
		message("debug", "tree: %u nodes, root %d, odd %#x; rules %#x; %scomplete in %.6f "
		        "s", run->d->tree.count, (int)run->d->root, run->d->tree.odd, run->d->rules,
		        run->d->complete ? "" : "in", run->d->stats.seconds);
}

/** Exclude the devices of mounts whose probe timed out from being opened. */
static void avoid_hung(struct run *run)
{
	for (uint32_t i = 0; run->d && run->d->probed && i < run->d->tree.count; ++i) {
		if (run->d->probed[i].error == ETIMEDOUT)
			devmap_mount_avoid(run->devs, run->d->tree.nodes[i].mount);
	}
}

int run_know(struct run *run, unsigned fields)
{
	const struct input_opts *o = run->opt;
	int status = input_read(run, fields);
	if (status)
		return status;
	if (!run->devs && (run->live || (o->devices && !o->tab_file))) {
		run->devs = mounts_devmap(&run->os, run->live && run->procfd == AT_FDCWD
		                                    ? run->table : NULL);
		if (!run->devs)
			return message_error(NULL, errno, CX_ERROR);
	}
	bool file = run->table->source == TABLE_FSTAB || run->table->source == TABLE_MTAB;
	if (!file)
		status = run_discover(run);
	/* From here on devices may be opened, except loop devices whose backing file can block. */
	if (run->devs) {
		avoid_hung(run);
		devmap_set_blocking_test(run->devs, loop_blocks, run);
	}
	if (run->d)
		report_odd(run);
	if (o->debug && !status)
		debug_run(run);
	return status;
}

void run_destroy(struct run *run)
{
	run_forget(run);
	if (run->known)
		mounts_destroy(run->known);
	free(run->known);
	free(run->devices);
	int error;
	const char *refused = run->devs ? devmap_refused(run->devs, &error) : NULL;
	if (refused)
		message(refused, "was not read: %s", path_error(error));
	devmap_free(run->devs);
	table_free(run->table);
	if (run->rootfd != AT_FDCWD)
		os_close(&run->os, run->rootfd);
	if (run->procfd != AT_FDCWD)
		os_close(&run->os, run->procfd);
	free(run->prefix);
	free(run->host);
	free(run->boot_id);
}
