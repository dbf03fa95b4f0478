/* SPDX-License-Identifier: MIT */
/*
 * getmnt discover: from the command line to the exit status.
 *
 *     options --> input --> discover() --> filter --> view --> a form of output
 */

#include "base/escape.h"
#include "base/fstypes.h"
#include "cmd/output.h"

#include <fcntl.h>
#include <inttypes.h>
#include <locale.h>
#include <stdlib.h>

void run_init(struct run *run, const struct options *options, const struct columns *columns)
{
	*run = (struct run){.opt = options, .cols = columns, .procfd = AT_FDCWD,
	                    .rootfd = AT_FDCWD, .complete = true, .start = os_now()};
}

void run_start(struct run *run)
{
	os_mark(MARK_BEGIN);
	/* With a recorded table the live system is not touched, not even to probe the kernel's
	   features. */
	if (run->opt->tab_file)
		run->os = (struct os){.statx_works = true};
	else
		os_init(&run->os, secure_getenv("GETMNT_DISABLE"));
}

void run_incomplete(struct run *run, const char *reason)
{
	run->complete = false;
	for (size_t i = 0; i < run->nreasons; ++i) {
		if (strcmp(run->reasons[i], reason) == 0)
			return;
	}
	if (run->nreasons < sizeof(run->reasons) / sizeof(*run->reasons))
		run->reasons[run->nreasons++] = reason;
}

bool run_failed(const struct run *run)
{
	return run->nomem || run->os.nomem || run->paths.failed
	       || (run->d && run->d->mounts->failed) || (run->devs && devmap_failed(run->devs));
}

/** Read the first line of a small file of /proc, which may not exist.  @return 0, or -1 (ENOMEM).
    */
static int read_line(struct run *run, const char *path, char **line)
{
	size_t len;
	if (os_read_kernel(&run->os, AT_FDCWD, path, 4096, line, &len) != 0)
		return errno == ENOMEM ? -1 : 0;
	(*line)[strcspn(*line, "\n")] = '\0';
	return 0;
}

int machine_read(struct run *run)
{
	char link[64];
	if (!run->live)
		return 0;
	run->host = os_uname(&run->os, false);
	if ((!run->host && errno == ENOMEM)
	    || read_line(run, "/proc/sys/kernel/random/boot_id", &run->boot_id) != 0)
		return -1;
	bool task = run->procfd != AT_FDCWD;
	if (os_readlinkat(&run->os, run->procfd, task ? "ns/mnt" : "/proc/self/ns/mnt", link,
	                  sizeof(link)) > 0 && strncmp(link, "mnt:[", 5) == 0)
		run->mntns = strtoull(link + 5, NULL, 10);
	run->tid = run->opt->task;
	if (!task && columns_have(run->cols, "TID")
	    && os_readlinkat(&run->os, AT_FDCWD, "/proc/self", link, sizeof(link)) > 0)
		run->tid = strtoull(link, NULL, 10);
	return 0;
}

/** Find the name and state of every mount.  @return 0, or an exit status after a message. */
static int run_discover(struct run *run)
{
	const struct options *o = run->opt;
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

/** Whether a tree is the default, by the rules of findmnt. */
static bool suits_tree(const struct options *o, const struct picks *picks)
{
	return !o->list && !o->df && !o->dfi && o->source != TABLE_MTAB && !picks->restricted;
}

/** Whether the rows are shown as a tree. */
static bool wants_tree(const struct run *run, const struct picks *picks)
{
	const struct options *o = run->opt;
	unsigned flags = run_form(run)->flags;
	if (!run->d || flags & FF_TREE)
		return run->d;
	return flags & FF_SHAPE && columns_have(run->cols, "TARGET") && !o->list
	       && (o->tree || suits_tree(o, picks));
}

/** Whether parents precede children in a selection. */
static bool parents_first(const struct run *run, const struct picks *picks)
{
	for (size_t k = 0; run->d && k < picks->count; ++k) {
		uint32_t i = picks->nodes[k], parent = run->d->tree.nodes[i].parent;
		if ((parent != MT_NONE && parent > i) || (k && picks->nodes[k - 1] > i))
			return false;
	}
	return true;
}

/** Whether a list is in the order of the tree. */
static bool wants_order(const struct run *run, const struct picks *picks)
{
	const struct options *o = run->opt;
	unsigned flags = run_form(run)->flags;
	if (flags & FF_LINES)
		return !parents_first(run, picks);
	return (flags & FF_SHAPE && suits_tree(o, picks)) || (o->submounts && filter_any(o));
}

static void boundaries_text(const struct run *run, struct text *out)
{
	for (size_t i = 0; run->d && i < run->d->nboundaries; ++i) {
		const struct discover_boundary *b = &run->d->boundaries[i];
		text_put(out, "boundary: %s (%u:%u%s)\n", b->path ? b->path : "", b->dev_major,
		         b->dev_minor, b->automount ? ", automount" : "");
	}
}

/** Print the rows, boundaries and rules.  @return 0, or -1. */
static int print_view(struct run *run, const struct view *view)
{
	const struct options *o = run->opt;
	struct text out = {0};
	int rc = out_print(run, view, NULL);
	bool unsized = rc == 0 && o->form == FORM_DEFAULT && run->live;
	if (unsized && run->unsized && !o->probe)
		message(NULL, "%" PRIu32 " %s without sizes: %s", run->unsized,
		        run->unsized == 1 ? "mount" : "mounts",
		        o->names != DN_KERNEL && !run->untestable
		        ? "reading them can block; --probe=all reads them, with a time limit"
		        : "the mounts are not tested");
	if (unsized && run->hidden && !columns_have(run->cols, "STATE"))
		message(NULL, "%" PRIu32 " %s without sizes: hidden by other mounts", run->hidden,
		        run->hidden == 1 ? "mount" : "mounts");
	if (o->boundaries && o->form != FORM_JSON)
		boundaries_text(run, &out);
	if (o->explain && o->form == FORM_DEFAULT)
		text_put(&out, "\n");
	if (o->explain && o->form != FORM_JSON)
		explain_text(run, &out);
	/* JSON contains both; in other formats for programs they go to stderr. */
	if (rc == 0)
		text_print(&out, o->form == FORM_DEFAULT ? stdout : stderr);
	text_destroy(&out);
	if (rc != 0) {
		message(NULL, "cannot create the output: %s", strerror(errno ? errno : ENOMEM));
		return -1;
	}
	return finish_stdout();
}

/** The exit status for the states of the mounts. */
static int judge_status(const struct run *run)
{
	if (!run->complete)
		return CX_INCOMPLETE;
	const unsigned bad = 1u << MT_HUNG | 1u << MT_STALE | 1u << MT_DENIED;
	for (uint32_t i = 0; run->opt->strict && run->d && i < run->d->tree.count; ++i) {
		if (run->d->tree.nodes[i].states & bad && !run->d->tree.nodes[i].gone)
			return CX_INCOMPLETE;
	}
	return CX_OK;
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

/** Keep the device of a mount that did not answer from being opened. */
static void avoid_hung(struct run *run)
{
	for (uint32_t i = 0; run->d && run->d->probed && i < run->d->tree.count; ++i) {
		if (run->d->probed[i].error == ETIMEDOUT)
			devmap_mount_avoid(run->devs, run->d->tree.nodes[i].mount);
	}
}

int run_know(struct run *run, unsigned fields)
{
	const struct options *o = run->opt;
	int status = input_read(run, fields);
	if (status)
		return status;
	if (!run->devs && (run->live || ((o->evaluate || o->unmounted) && !o->tab_file))) {
		run->devs = mounts_devmap(&run->os, run->live && run->procfd == AT_FDCWD
		                                    ? run->table : NULL);
		if (!run->devs) {
			message(NULL, "%s", strerror(errno));
			return CX_ERROR;
		}
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

/** Read the table, find the mounts, and select.  @return 0, or an exit status. */
static int run_find(struct run *run, struct picks *picks)
{
	int status = run_know(run, input_fields(run->opt, run->cols));
	return status ? status : filter_pick(run, picks);
}

/** Make the rows and print them.  @return an exit status. */
static int run_show(struct run *run, const struct picks *picks)
{
	const struct options *o = run->opt;
	struct view view = {0};
	bool machine = run_form(run)->flags & FF_OBJECTS || columns_have(run->cols, "NS")
	               || columns_have(run->cols, "TID");
	int status = CX_ERROR;
	if ((machine && !o->quiet && machine_read(run) != 0)
	    || view_build(run, picks, wants_tree(run, picks), wants_order(run, picks),
	                  &view) != 0) {
		message(NULL, "%s", strerror(errno));
		run_incomplete(run, "an error occurred: see the messages");
		goto out;
	}
	if (o->unmounted && run->devs && view_add_devices(run, &view) != 0) {
		message_no_devices("--unmounted", "");
		run_incomplete(run, "devices cannot be listed");
	}
	if (o->quiet || print_view(run, &view) == 0)
		status = view.count ? judge_status(run) : CX_NOTHING;
out:
	view_destroy(&view);
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
	input_destroy(run);
	free(run->host);
	free(run->boot_id);
}

int run_listed(struct run *run)
{
	struct picks picks = {0};
	int status = run_find(run, &picks);
	if (!status)
		status = run_show(run, &picks);
	picks_destroy(&picks);
	return status;
}

int cmd_discover(int argc, char **argv)
{
	struct options o;
	struct columns columns;
	int status = discover_options_read(&o, argc, argv);
	if (status)
		return status;
	/* Only characters and their widths: numbers do not depend on the locale. */
	if (output_forms[o.form].flags & FF_TEXT)
		setlocale(LC_CTYPE, "");
	struct run run;
	run_init(&run, &o, &columns);
	if (o.help || o.dump_completion || o.list_columns || o.version) {
		if (o.help) {
			discover_help(stdout);
		} else if (o.dump_completion) {
			completion_print(stdout);
		} else if (o.list_columns && column_list(&discover_columns, o.form) != 0) {
			message(NULL, "%s", strerror(ENOMEM));
			return CX_ERROR;
		}
		if (o.version && !o.help) {
			os_init(&run.os, secure_getenv("GETMNT_DISABLE"));
			os_probe_events(&run.os);
			version_print(&run.os);
		}
		return finish_stdout() == 0 ? CX_OK : CX_ERROR;
	}
	status = discover_options_check(&o);
	if (!status)
		status = columns_choose(&columns, &o);
	if (status)
		return status;

	if (!o.poll)
		run.progress = progress_begin(&run);
	run_start(&run);

	/* Started early: a hung probe keeps a copy of the memory used at this point. */
	if (o.probe) {
		run.prober = prober_new(&run.os, o.timeout);
		if (!run.prober) {
			message("--probe", "cannot start a prober: %s; nothing was probed",
			        strerror(errno));
			run_incomplete(&run, "no prober could be started");
		}
	}

	struct picks picks = {0};
	/* After an error nothing is printed, not even an empty document. */
	status = o.poll ? 0 : run_find(&run, &picks);
	prober_free(run.prober);
	if (run.d && run.d->unprobed)
		message("--probe", "%s", run.d->unprobed);
	if (status)
		run_incomplete(&run, "an error occurred: see the messages");
	else
		status = o.poll ? poll_run(&run) : run_show(&run, &picks);
	if (o.stats && run.table_name && (run.table || o.poll))
		stats_print(&run);

	picks_destroy(&picks);
	run_destroy(&run);
	return status;
}
