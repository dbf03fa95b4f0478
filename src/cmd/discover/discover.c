/* SPDX-License-Identifier: MIT */
/*
 * getmnt discover: from the command line to the exit status.
 *
 *     options --> input --> discover() --> filter --> view --> output format
 */

#include "cmd/discover/output.h"
#include "cmd/progress.h"
#include "cmd/stats.h"

#include <inttypes.h>
#include <locale.h>
#include <stdlib.h>

/** Whether the default output is a tree, by the rules of findmnt. */
static bool suits_tree(const struct options *o, const struct picks *picks)
{
	return !o->list && !o->df && !o->dfi && o->in.source != TABLE_MTAB && !picks->restricted;
}

/** Whether the rows are shown as a tree. */
static bool wants_tree(const struct listing *list, const struct picks *picks)
{
	const struct options *o = list->opt;
	unsigned flags = list_form(list)->flags;
	if (!list->run.d || flags & FF_TREE)
		return list->run.d;
	return flags & FF_SHAPE && columns_have(list->cols, "TARGET") && !o->list
	       && (o->tree || suits_tree(o, picks));
}

/** Whether a selection is in the order of the table, and parents precede children in the table. */
static bool parents_first(const struct run *run, const struct picks *picks)
{
	for (size_t k = 0; run->d && k < picks->count; ++k) {
		uint32_t i = picks->nodes[k], parent = run->d->tree.nodes[i].parent;
		if ((parent != MT_NONE && parent > i) || (k && picks->nodes[k - 1] > i))
			return false;
	}
	return true;
}

/** Whether the rows of a list must be sorted in the order of the mount tree. */
static bool wants_order(const struct listing *list, const struct picks *picks)
{
	const struct options *o = list->opt;
	unsigned flags = list_form(list)->flags;
	if (flags & FF_LINES)
		return !parents_first(&list->run, picks);
	return (flags & FF_SHAPE && suits_tree(o, picks)) || (o->pick.submounts && filter_any(o));
}

static void boundaries_text(const struct run *run, struct text *out)
{
	for (size_t i = 0; run->d && i < run->d->nboundaries; ++i) {
		const struct discover_boundary *b = &run->d->boundaries[i];
		text_put(out, "boundary: %s (%u:%u%s)\n", b->path ? b->path : "", b->dev_major,
		         b->dev_minor, b->automount ? ", automount" : "");
	}
}

/** Print the rows, and the boundaries and pruning rules if requested.  @return 0, or -1. */
static int print_view(struct listing *list, const struct view *view)
{
	const struct options *o = list->opt;
	const struct run *run = &list->run;
	struct text out = {0};
	int rc = out_print(list, view, NULL);
	bool unsized = rc == 0 && o->form == FORM_DEFAULT && run->live;
	if (unsized && list->unsized && !o->in.probe)
		message(NULL, "%" PRIu32 " %s without sizes: %s", list->unsized,
		        list->unsized == 1 ? "mount" : "mounts",
		        o->in.names != DN_KERNEL && !run->untestable
		        ? "reading them can block; --probe=all reads them, with a time limit"
		        : "the mounts are not tested");
	if (unsized && list->hidden && !columns_have(list->cols, "STATE"))
		message(NULL, "%" PRIu32 " %s without sizes: hidden by other mounts", list->hidden,
		        list->hidden == 1 ? "mount" : "mounts");
	if (o->in.boundaries && o->form != FORM_JSON)
		boundaries_text(run, &out);
	if (o->explain && o->form == FORM_DEFAULT)
		text_put(&out, "\n");
	if (o->explain && o->form != FORM_JSON)
		explain_text(run, &out);
	/* JSON contains boundaries and rules.  With other formats for programs, boundaries and
	   rules are printed on stderr. */
	if (rc == 0)
		text_print(&out, o->form == FORM_DEFAULT ? stdout : stderr);
	text_destroy(&out);
	if (rc != 0) {
		message(NULL, "cannot create the output: %s", strerror(errno ? errno : ENOMEM));
		return -1;
	}
	return finish_stdout();
}

/** Get the exit status: CX_INCOMPLETE if the run is incomplete or if, with --strict, a mount is
    hung, stale or denied. */
static int mount_status(const struct listing *list)
{
	const struct run *run = &list->run;
	if (!run->complete)
		return CX_INCOMPLETE;
	const unsigned bad = 1u << MT_HUNG | 1u << MT_STALE | 1u << MT_DENIED;
	for (uint32_t i = 0; list->opt->strict && run->d && i < run->d->tree.count; ++i) {
		if (run->d->tree.nodes[i].states & bad && !run->d->tree.nodes[i].gone)
			return CX_INCOMPLETE;
	}
	return CX_OK;
}

unsigned listing_fields(const struct options *o, const struct columns *columns)
{
	/* --probe needs the owners of FUSE mounts, which are in the file system options. */
	unsigned fields = columns_fields(columns) | filter_fields(o) | output_forms[o->form].fields
	                  | (o->in.probe ? MF_FS_OPTS : 0);
	if (o->in.names != DN_KERNEL || o->in.probe)
		return fields | DISCOVER_FIELDS;
	/* With --names=kernel, names and states are taken from these fields of the table alone. */
	fields |= MF_IDS | MF_POINT | MF_ROOT;
	if (o->in.identity == DI_DEV)
		fields |= MF_DEV;
	/* Following a path requires the file system types, which show what can block. */
	if (o->in.root || o->canonicalize)
		fields |= MF_FSTYPE;
	return fields;
}

/** Read the mount table, find the name and state of each mount, and select the mounts to print.
    @return 0, or an exit status. */
static int find_mounts(struct listing *list, struct picks *picks)
{
	int status = run_know(&list->run, listing_fields(list->opt, list->cols));
	return status ? status : filter_pick(list, picks);
}

/** Make the rows and print them.  @return an exit status. */
static int show_mounts(struct listing *list, const struct picks *picks)
{
	const struct options *o = list->opt;
	struct run *run = &list->run;
	struct view view = {0};
	bool task = columns_have(list->cols, "TID");
	bool machine = list_form(list)->flags & FF_OBJECTS || columns_have(list->cols, "NS")
	               || task;
	int status = CX_ERROR;
	if ((machine && !o->quiet && machine_read(run, task) != 0)
	    || view_build(list, picks, wants_tree(list, picks), wants_order(list, picks),
	                  &view) != 0) {
		message(NULL, "%s", strerror(errno));
		run_incomplete(run, "an error occurred: see the messages");
		goto out;
	}
	if (o->pick.unmounted && run->devs && view_add_devices(list, &view) != 0) {
		message_no_devices("--unmounted", "");
		run_incomplete(run, "devices cannot be listed");
	}
	if (o->quiet || print_view(list, &view) == 0)
		status = view.count ? mount_status(list) : CX_NOTHING;
out:
	view_destroy(&view);
	return status;
}

void listing_init(struct listing *list, const struct options *options,
                  const struct columns *columns)
{
	*list = (struct listing){.opt = options, .cols = columns};
	run_init(&list->run, &options->in);
}

int listing_show(struct listing *list)
{
	struct picks picks = {0};
	int status = find_mounts(list, &picks);
	if (!status)
		status = show_mounts(list, &picks);
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
	/* Of the locale, use only the characters and their widths: numbers must look the same in
	   all locales. */
	if (output_forms[o.form].flags & FF_TEXT)
		setlocale(LC_CTYPE, "");
	struct listing list;
	struct run *run = &list.run;
	listing_init(&list, &o, &columns);
	if (o.help || o.list_columns || o.version) {
		if (o.help)
			discover_help(stdout);
		else if (o.list_columns && column_list(&discover_columns, o.form) != 0)
			return message_error(NULL, ENOMEM, CX_ERROR);
		if (o.version && !o.help) {
			os_init(&run->os, secure_getenv("GETMNT_DISABLE"));
			os_probe_events(&run->os);
			version_print(&run->os);
		}
		return finish_stdout() == 0 ? CX_OK : CX_ERROR;
	}
	status = discover_options_check(&o);
	if (!status)
		status = columns_choose(&columns, &o);
	if (status)
		return status;

	o.in.devices = o.evaluate || o.pick.unmounted;
	o.in.unique_ids = o.pick.uniq_id ? UNIQUE_SELECTED
	                  : columns_have(&columns, "UNIQ-ID") ? UNIQUE_SHOWN : UNIQUE_UNUSED;
	if (!o.poll && !o.quiet)
		run->progress = progress_begin();
	run_start(run);

	/* Start the prober before the table is read: a process that hangs in a probe keeps a copy
	   of the memory used so far. */
	if (o.in.probe) {
		run->prober = prober_new(&run->os, o.in.timeout);
		if (!run->prober) {
			message("--probe", "cannot start a prober: %s; nothing was probed",
			        strerror(errno));
			run_incomplete(run, "no prober could be started");
		}
	}

	struct picks picks = {0};
	/* After an error no mounts are printed, not even an empty JSON document. */
	status = o.poll ? 0 : find_mounts(&list, &picks);
	prober_free(run->prober);
	if (run->d && run->d->unprobed)
		message("--probe", "%s", run->d->unprobed);
	if (status)
		run_incomplete(run, "an error occurred: see the messages");
	else
		status = o.poll ? listing_poll(&list) : show_mounts(&list, &picks);
	if (o.stats && run->table_name && (run->table || o.poll))
		stats_print(run, o.stats, list.watched);

	picks_destroy(&picks);
	run_destroy(run);
	return status;
}
