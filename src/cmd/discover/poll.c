/* SPDX-License-Identifier: MIT */
/*
 * getmnt --poll: watch the mount table, and print each change.
 *
 *     options --> monitor --> changes --> selection --> rows --> output format
 *
 * Paths on the command line are resolved once, before the watch begins; then only the kernel's
 * table is read.  Output is flushed immediately.
 */

#include "cmd/discover/output.h"
#include "base/words.h"
#include "mounts/monitor.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

/** A watched location: an operand, or the path of -M or -T. */
struct place {
	struct source_spec source;   /* matches mounts with this source; text is NULL: none */
	struct strbuf path;          /* matches mounts on this path; empty: none */
	bool holds;                  /* also matches mounts on parent directories of path */
};

struct watch {
	struct listing *list;
	struct run *run;             /* &list->run */
	struct monitor *monitor;
	struct filter filter;
	struct source_spec source;   /* from --source */
	struct place *places;
	size_t nplaces;
	bool pair;                   /* mounts must match both source and path of places[0] */
	bool needs_devices;          /* a column or a source requires devices */
	struct out_widths widths;
	size_t problems;             /* number of mountinfo lines reported as unparsable */
};

/* The selection. */

/** Whether a column or a source requires device data. */
static bool needs_devices(const struct watch *w)
{
	static const char *const columns[] = {"LABEL", "PARTLABEL", "PARTUUID", "SOURCES", "UUID"};
	bool needs = w->source.tag != TAG_NONE || w->list->opt->evaluate;
	for (size_t i = 0; i < w->nplaces; ++i)
		needs |= w->places[i].source.text && w->places[i].source.tag != TAG_NONE;
	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); ++i)
		needs |= columns_have(w->list->cols, columns[i]) != NULL;
	return needs;
}

/** Add a location to watch.  @source, path  Either may be NULL. */
static void place_add(struct watch *w, const char *source, const char *path)
{
	struct place *place = &w->places[w->nplaces++];
	place->source.tag = TAG_NONE;
	if (source)
		source_spec_init(w->run, &place->source, source);
	/* A path that does not exist yet is watched as given. */
	if (path)
		run_resolve(w->run, path, &place->path);
	w->run->nomem |= place->path.failed;
}

/** Parse --source and the watched locations; resolve paths with the current mount table.
    @return 0, or -1. */
static int places_init(struct watch *w)
{
	struct run *run = w->run;
	const struct options *o = w->list->opt;
	const char *path = o->pick.target ? o->pick.target : o->pick.mountpoint;
	w->source.tag = TAG_NONE;
	if (!o->pick.noperands && !path && !o->pick.spec)
		return 0;

	struct discover_opts opts;
	discover_defaults(&opts);
	opts.names = DN_KERNEL;
	/* With --task, the table has the names of another process: let mounts_devmap() read the
	   table of this process. */
	run->devs = mounts_devmap(&run->os, o->in.task ? NULL : run->table);
	run->d = run->devs ? discover(&run->os, run->devs, run->table, &opts) : NULL;
	w->places = calloc((size_t)o->pick.noperands + 1, sizeof(*w->places));
	int error = run->d && w->places ? 0 : errno;
	if (!error && o->pick.spec) {
		source_spec_init(run, &w->source, o->pick.spec);
		w->filter.source = &w->source;
	}
	if (!error && path) {
		w->places[0].holds = o->pick.target != NULL;
		place_add(w, NULL, path);
	}
	w->pair = !error && o->pick.noperands == 2 && filter_is_pair(w->list, o->pick.operands[0]);
	if (w->pair)
		place_add(w, o->pick.operands[0], o->pick.operands[1]);
	for (int i = 0; !error && !w->pair && i < o->pick.noperands; ++i)
		place_add(w, o->pick.operands[i], o->pick.operands[i]);
	error = !error && run_failed(run) ? ENOMEM : error;
	run_forget(run);
	devmap_free(run->devs);
	run->devs = NULL;
	errno = error;
	return error ? -1 : 0;
}

/** Whether a mount is on the path of a location; with -T, also on a parent directory of the path;
    with --submounts, also below the path. */
static bool on_path(const struct watch *w, const struct place *place, const struct mount *mount)
{
	const char *path = strbuf_str(&place->path);
	if (!place->path.len || !mount || !mount->point)
		return false;
	return strcmp(mount->point, path) == 0 || (place->holds
	                                           && word_below(path, mount->point))
	       || (w->list->opt->pick.submounts && word_below(mount->point, path));
}

static bool at_place(const struct watch *w, const struct place *place, const struct change *change,
                     const struct mount *mount)
{
	bool source = place->source.text && source_match(w->run, &place->source, mount);
	/* A move matches by its old or new mount point. */
	bool path = on_path(w, place, mount)
	            || (change->kind == CHANGE_MOVE && on_path(w, place, change->before));
	return w->pair ? source && path : source || path;
}

/** Whether a change is selected. */
static bool is_wanted(struct watch *w, const struct change *change)
{
	const struct mount *mount = change->after ? change->after : change->before;
	bool match = w->nplaces == 0;
	for (size_t i = 0; i < w->nplaces && !match; ++i)
		match = at_place(w, &w->places[i], change, mount);
	match = match && filter_match_mount(&w->filter, mount);
	return match != w->list->opt->pick.invert;
}

/* Printing. */

/** Make a row for each selected change.
    @return the number of rows, without the rows that report lost events. */
static size_t rows_make(struct watch *w, const struct changes *changes, struct view *view)
{
	static const struct mount nothing;
	const struct options *o = w->list->opt;
	size_t reported = 0;
	for (size_t i = 0; i < changes->count && !(reported && o->pick.first_only); ++i) {
		const struct change *change = &changes->list[i];
		const struct mount *mount = change->after ? change->after : change->before;
		bool lost = change->kind == CHANGE_LOST;
		if (lost) {
			message("mount table", "events were lost because the kernel's queue "
			        "overflowed; the changes since then follow (see "
			        "fs.fanotify.max_queued_events)");
			if (!(list_form(w->list)->flags & FF_OBJECTS)
			    || !columns_have(w->list->cols, "ACTION"))
				continue;
		} else if (!is_wanted(w, change)) {
			continue;
		}
		reported += !lost;
		view->rows[view->count++] = (struct row){.mount = mount ? mount : &nothing,
		                                         .change = change,
		                                         .node = MT_NONE, .parent = MT_NONE};
	}
	return reported;
}

/** Print changes.  @return 1: a change was printed, and --first-only was given; else 0; -1:
    error. */
static int print_changes(struct watch *w, const struct changes *changes)
{
	struct run *run = w->run;
	const struct options *o = w->list->opt;
	struct view view = {.rows = malloc(changes->count * sizeof(*view.rows))};
	int rc = -1;
	if (!view.rows)
		goto nomem;
	/* Examine the devices anew for each batch of changes: a device number may have been reused
	   since the last batch. */
	if (w->needs_devices) {
		run->devs = mounts_devmap(&run->os, NULL);
		if (!run->devs)
			goto nomem;
		devmap_set_blocking_test(run->devs, loop_blocks, run);
	}
	size_t reported = rows_make(w, changes, &view);
	if (view.count && !o->quiet) {
		if (out_print(w->list, &view, &w->widths) != 0)
			goto nomem;
		if (flush_stdout() != 0)
			goto out;
	}
	rc = reported && o->pick.first_only;
	goto out;

nomem:
	message(NULL, "%s", strerror(ENOMEM));
out:
	free(view.rows);
	free(run->devices);
	devmap_free(run->devs);
	run->devices = NULL;
	run->devs = NULL;
	return rc;
}

/* The watch. */

/** Begin to watch.  @return 0, or an exit status after a message. */
static int watch_begin(struct watch *w)
{
	struct run *run = w->run;
	const struct options *o = w->list->opt;
	/* Also request the four fields that show that a mount ID was reused for a different
	   mount. */
	unsigned fields = columns_fields(w->list->cols) | filter_fields(o) | MF_DEV | MF_FSTYPE
	                  | MF_SOURCE | MF_ROOT;
	int status = input_read(run, fields);
	if (status)
		return status;
	w->problems = run->table->nproblems + (size_t)run->table->more_problems;
	if (places_init(w) != 0)
		return message_error(NULL, errno, CX_ERROR);
	w->needs_devices = needs_devices(w);
	if (list_form(w->list)->flags & FF_OBJECTS || columns_have(w->list->cols, "NS")
	    || columns_have(w->list->cols, "TID"))
		machine_read(run, columns_have(w->list->cols, "TID"));

	/* Events of fanotify have 64-bit mount IDs, which only a table from listmount(2) has. */
	bool list = !o->in.task && o->in.source != TABLE_MOUNTINFO && run->os.caps & OSC_LISTMOUNT;
	const struct monitor_opts opts = {
		.source = list ? TABLE_LISTMOUNT : TABLE_MOUNTINFO,
		.fields = fields,
		.kinds = o->poll_kinds,
		.task = (pid_t)o->in.task,
		.procfd = run->procfd,
	};
	table_free(run->table);
	run->table = NULL;
	if (!o->in.task)
		run->table_name = table_source_name(opts.source);
	w->monitor = monitor_new(&run->os, &opts);
	if (w->monitor) {
		w->list->watched = monitor_info(w->monitor).mounts;
		if (o->in.debug)
			message("debug", "watching %zu mounts of %s by %s", w->list->watched,
			        run->table_name,
			        monitor_info(w->monitor).events ? "fanotify and mountinfo"
			        : "mountinfo");
		return 0;
	}
	if (o->in.task)
		message("--task", "%d cannot be watched: %s; has it ended?", (int)o->in.task,
		        strerror(errno));
	else if (errno == ENOENT)
		message("/proc/self/mountinfo", "%s; is /proc mounted? mount -t proc proc /proc",
		        strerror(ENOENT));
	else
		message("mount table", "cannot be watched: %s", strerror(errno));
	return CX_ERROR;
}

/** Print changes until the watch ends.  @return an exit status. */
static int watch_loop(struct watch *w)
{
	const struct options *o = w->list->opt;
	for (;;) {
		const struct changes *changes;
		enum monitor_end end = monitor_next(w->monitor, o->wait,
		                                    o->quiet ? -1 : STDOUT_FILENO, &changes);
		struct monitor_info info = monitor_info(w->monitor);
		w->list->watched = info.mounts;
		if (info.problems > w->problems)
			message("mount table", "%zu lines cannot be parsed and are not watched",
			        info.problems);
		w->problems = info.problems;
		int first = end == MONITOR_CHANGES ? print_changes(w, changes) : 0;
		if (end == MONITOR_CHANGES && first == 0)
			continue;
		if (end == MONITOR_CLOSED)
			raise(SIGPIPE);   /* the reader of stdout is gone: end as a failed write
			                     would */
		else if (end == MONITOR_TASK_ENDED)
			message("--task", "%d has ended", (int)o->in.task);
		else if (end == MONITOR_ERROR)
			message("mount table", "can no longer be watched: %s", strerror(errno));
		bool failed = first < 0 || end == MONITOR_CLOSED || end == MONITOR_ERROR;
		return failed ? CX_ERROR : CX_OK;
	}
}

int listing_poll(struct listing *list)
{
	struct watch w = {.list = list, .run = &list->run,
	                  .filter = {.list = list, .node = MT_NONE}};
	int status = watch_begin(&w);
	if (!status)
		status = watch_loop(&w);
	monitor_free(w.monitor);
	os_mark(MARK_END);
	if (!status && finish_stdout() != 0)
		status = CX_ERROR;
	for (size_t i = 0; i < w.nplaces; ++i) {
		strbuf_destroy(&w.places[i].path);
		source_spec_destroy(&w.places[i].source);
	}
	free(w.places);
	source_spec_destroy(&w.source);
	strbuf_destroy(&w.filter.text);
	return status;
}
