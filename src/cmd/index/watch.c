/* SPDX-License-Identifier: MIT */
/*
 * getmnt index watch: keep indexes up to date with their file systems.
 *
 *     fanotify of each file system --.
 *     mountinfo ---------------------+--> poll --> index_watch_apply()
 *     SIGTERM, SIGINT ---------------'
 *
 * A file system is only open while its changes are stored, so that it can be unmounted.
 */
#include "index/follow/watch.h"

#include "base/array.h"
#include "cmd/index/index.h"
#include "cmd/found/indexed.h"
#include "os/file.h"
#include "os/service.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct option_row watch_rows[] = {
	OPTION_GROUP("Output"), OPTION_INDEX_QUIET, OPTIONS_INDEX_GENERAL,
};

const struct option_table index_watch_table = {
	"index watch", watch_rows, sizeof(watch_rows) / sizeof(*watch_rows),
};

enum { SIGNALS, MOUNTS, FIRST };   /* indexes in watching.fds; FIRST: the first watched index */

/** A watched index. */
struct watched {
	struct index_found *found;
	struct index_watch *watch;   /* NULL: no longer watched */
};

struct watching {
	struct index_run *ir;
	bool quiet;
	struct watched *list;
	struct pollfd *fds;
	size_t n, left;              /* number of indexes; of indexes still watched */
	struct map64 covered;
	int status;
};

/** Get the reason why a file system cannot be watched; the text ends with "use " if a command
    helps.  NULL: the text of strerror() is sufficient. */
static const char *remedy_of(int error)
{
	switch (error) {
	case EPERM:
		return "only root can watch a file system";
	case EINVAL:
	case ENOSYS:
		return "this needs Linux 5.9; use ";
	case ENODEV:
	case EOPNOTSUPP:
	case EXDEV:
		return "its type does not support this; use ";
	case ESTALE:   /* btrfs subvolume on Linux 6.1 */
		return "this kernel does not find its changed objects; use ";
	default:
		return NULL;
	}
}

/** Report why a file system cannot be watched. */
static void report_refused(const struct watching *w, const char *title, int error)
{
	const char *remedy = remedy_of(error);
	struct strbuf text = {0};
	if (remedy)
		strbuf_printf(&text, ": %s", remedy);
	if (remedy && error != EPERM)
		indexed_command("update", w->ir->given, NULL, title, &text);
	message(title, "cannot be watched: %s%s", strerror(error), strbuf_str(&text));
	strbuf_destroy(&text);
}

/** Report that changes were lost, and how many directories were compared instead. */
static void report_lost(const struct watching *w, const char *title,
                        const struct refresh_counts *counts)
{
	struct strbuf text = {0};
	if (!counts->is_bulk) {
		strbuf_puts(&text, "; files that were written in place meanwhile may be found only "
		            "by ");
		indexed_command("update", w->ir->given, "--max-age=0", title, &text);
	}
	message(title, "changes came too fast to be followed; %" PRIu64 " directories were "
	        "compared, %" PRIu64 " of them read%s", counts->dirs, counts->read,
	        strbuf_str(&text));
	strbuf_destroy(&text);
}

/** Stop watching an index.  @stores  Store the pending changes. */
static void end_one(struct watching *w, struct watched *one, bool stores)
{
	struct index *index = one->found->index;
	if (!one->watch)
		return;
	index_watch_free(one->watch);
	one->watch = NULL;
	--w->left;
	if (stores && (index_commit(index) != 0 || index_fold(index, false) != 0)) {
		index_report(w->ir, one->found->title, errno);
		w->status = CX_ERROR;
	}
	/* Close the index, so that other processes can write to it. */
	index_close(index);
	one->found->index = NULL;
}

/** Start watching an index. */
static void start_one(struct watching *w, struct watched *one)
{
	struct os *os = &w->ir->run.os;
	int fd = index_run_open(w->ir, &w->ir->places[one->found->place]);
	if (fd >= 0)
		one->watch = index_watch_new(os, one->found->index, fd);
	if (!one->watch) {
		if (fd >= 0 && indexed_phrase(errno))
			index_report(w->ir, one->found->title, errno);
		else
			report_refused(w, one->found->title, errno);
		w->status = CX_ERROR;
	}
	w->left += one->watch != NULL;
	os_close(os, fd);
}

/** Store the changes of a file system. */
static void apply_one(struct watching *w, struct watched *one)
{
	struct os *os = &w->ir->run.os;
	struct refresh_counts counts = {0};
	enum index_watch_why why;
	const char *title = one->found->title;
	double start = os_now();
	int fd = index_run_open(w->ir, &w->ir->places[one->found->place]);
	if (fd < 0) {
		message(title, "was unmounted; its index is no longer watched");
		end_one(w, one, true);
		return;
	}
	int rc = index_watch_apply(one->watch, fd, &w->covered, &why, &counts), error = errno;
	os_close(os, fd);
	if (rc != 0) {
		if (counts.root_error)
			index_report_root(title, counts.root_error);
		else if (error == ESTALE)
			message(title, "another file system is mounted there; its index is no "
			        "longer watched");
		else
			index_report(w->ir, title, error);
		w->status = CX_ERROR;
		/* Do not store pending changes if the index is damaged or its root cannot be
		   read. */
		end_one(w, one, error != EBADMSG && !counts.root_error);
		return;
	}
	if (why == WATCH_LOST)
		report_lost(w, title, &counts);
	else if (why == WATCH_START && !w->quiet)
		live_print(title, &counts, os_now() - start);
	if (flush_stdout() != 0)
		w->status = CX_ERROR;
}

/** After a change of the mount table, update w->covered, and stop watching the indexes whose file
    system was unmounted. */
static void check_mounts(struct watching *w)
{
	struct os *os = &w->ir->run.os;
	if (live_covered(os, &w->covered) != 0)
		message("index", "the mount table cannot be read: %s", strerror(errno));
	for (size_t i = 0; i < w->n; ++i) {
		struct watched *one = &w->list[i];
		int fd = one->watch ? index_run_open(w->ir, &w->ir->places[one->found->place]) : -1;
		if (one->watch && fd < 0) {
			message(one->found->title, "was unmounted; its index is no longer "
			        "watched");
			end_one(w, one, true);
		}
		os_close(os, fd);
	}
}

/** Follow the changes of the file systems until SIGTERM or SIGINT, or until no file system is left
    to watch. */
static void follow(struct watching *w)
{
	struct os *os = &w->ir->run.os;
	while (w->left > 0) {
		double due = INFINITY;
		for (size_t i = 0; i < w->n; ++i) {
			const struct index_watch *watch = w->list[i].watch;
			w->fds[FIRST + i] = (struct pollfd){
				.fd = watch ? index_watch_fd(watch) : -1, .events = POLLIN,
			};
			if (watch)
				due = lesser(due, index_watch_due(watch));
		}
		if (os_poll_until(os, w->fds, FIRST + w->n, due) < 0)
			break;
		int signal = w->fds[SIGNALS].revents ? os_signalfd_read(os, w->fds[SIGNALS].fd) : 0;
		if (signal == SIGTERM || signal == SIGINT)
			break;
		if (w->fds[MOUNTS].revents)
			check_mounts(w);
		for (size_t i = 0; i < w->n; ++i) {
			struct watched *one = &w->list[i];
			if (one->watch && w->fds[FIRST + i].revents
			    && index_watch_drain(one->watch) != 0) {
				report_refused(w, one->found->title, errno);
				w->status = CX_ERROR;
				end_one(w, one, true);
			}
			if (one->watch && index_watch_due(one->watch) <= os_now())
				apply_one(w, one);
		}
	}
}

static int watch_all(struct index_run *ir, const void *opts, char **operands, size_t noperands)
{
	const struct index_opts *o = opts;
	int status = index_run_begin(ir, o);
	if (!status)
		status = index_run_indexes(ir, operands, noperands, INDEX_WRITE, true);
	if (status)
		return status;
	struct os *os = &ir->run.os;
	const size_t n = ir->nfound;
	struct watching w = {.ir = ir, .quiet = o->quiet, .n = n};
	w.list = calloc(n, sizeof(*w.list));
	w.fds = calloc(FIRST + n, sizeof(*w.fds));
	if (!w.list || !w.fds) {
		message("index", "%s", strerror(errno));
		w.status = CX_ERROR;
		goto out;
	}
	w.fds[SIGNALS] = (struct pollfd){.fd = os_signalfd_open(os), .events = POLLIN};
	/* Open mountinfo before the mount table is read, so that later changes are noticed. */
	w.fds[MOUNTS] = (struct pollfd){
		.fd = os_openat(os, AT_FDCWD, "/proc/self/mountinfo", O_RDONLY), .events = POLLPRI,
	};
	if (live_covered(os, &w.covered) != 0)
		message("index", "the mount table cannot be read: %s", strerror(errno));
	for (size_t i = 0; i < n; ++i) {
		w.list[i].found = &ir->found[i];
		if (live_usable(ir, &ir->found[i], noperands > 0, &w.status))
			start_one(&w, &w.list[i]);
	}
	bool any = w.left > 0;
	follow(&w);
	if (any && w.left == 0)
		w.status = CX_ERROR;
	for (size_t i = 0; i < n; ++i)
		end_one(&w, &w.list[i], true);
	os_close(os, w.fds[SIGNALS].fd);
	os_close(os, w.fds[MOUNTS].fd);
out:
	map64_destroy(&w.covered);
	free(w.list);
	free(w.fds);
	return w.status;
}

int cmd_index_watch(int argc, char **argv)
{
	static const struct index_verb verb = {
		&index_watch_table,
		"Usage:\n getmnt index watch [options] [MOUNT ...]\n\n"
		"Keep the index of each mount point MOUNT up to date, by default all indexes, as\n"
		"files change, until SIGTERM or SIGINT.  Needs root.\n",
		"Exit status: 0 stopped by a signal, 1 error.\n", watch_all,
	};
	return index_verb(&verb, argc, argv, &(struct index_opts){0});
}
