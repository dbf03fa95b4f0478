/* SPDX-License-Identifier: MIT */
#include "cmd/filter.h"

#include "base/fstypes.h"
#include "cmd/listing.h"
#include "path/resolve.h"

#include <errno.h>
#include <libmount.h>
#include <stdlib.h>
#include <string.h>

bool filter_any(const struct options *o)
{
	return ((o->df || o->dfi || o->real || o->pseudo) && !o->all) || o->spec || o->target
	       || o->mountpoint || o->noperands || o->types || o->mount_options || o->id
	       || o->uniq_id
	       || o->shadowed;
}

unsigned filter_fields(const struct options *o)
{
	unsigned fields = 0;
	if (o->types || o->real || o->pseudo || o->df || o->dfi)
		fields |= MF_FSTYPE;
	if (o->mount_options)
		fields |= MF_VFS_OPTS | MF_FS_OPTS;
	if (o->spec || o->noperands || o->unmounted)
		fields |= MF_SOURCE | MF_DEV;
	if (o->target || o->mountpoint || o->noperands || o->uniq)
		fields |= MF_POINT;
	/* Where a path leads is followed past types that do not block. */
	if (o->target || o->mountpoint || o->noperands || o->spec)
		fields |= MF_POINT | MF_FSTYPE;
	return fields;
}

static bool is_pseudo(const char *fstype)
{
	return fstype && (fstype_flags(fstype) & FST_PSEUDO || mnt_fstype_is_pseudofs(fstype));
}

/** Whether --df, --real and --pseudo let a type pass. */
static bool kind_wanted(const struct options *o, const char *fstype)
{
	if (o->all)
		return true;
	/* df wants to see these, pseudo or not. */
	bool tmp = fstype && strstr(fstype, "tmpfs");
	if ((o->df || o->dfi) && !tmp && is_pseudo(fstype))
		return false;
	if (o->real && is_pseudo(fstype))
		return false;
	return !o->pseudo || is_pseudo(fstype);
}

bool filter_match_mount(struct filter *filter, const struct mount *mount)
{
	struct run *run = filter->run;
	const struct options *o = run->opt;

	/* A line of an fstab has no IDs but made ones. */
	if (o->id && (mount->line || mount->id != o->id))
		return false;
	if (o->uniq_id && (mount->line || mount->uniq_id != o->uniq_id))
		return false;
	if (o->types && !mnt_match_fstype(mount->fstype ? mount->fstype : "", o->types))
		return false;
	if (o->mount_options) {
		strbuf_reset(&filter->text);
		table_options(mount, &filter->text);
		if (!mnt_match_options(strbuf_str(&filter->text), o->mount_options))
			return false;
	}
	if (filter->source && !source_match(run, filter->source, mount))
		return false;
	return kind_wanted(o, mount->fstype);
}

static bool matches(struct filter *filter, uint32_t i)
{
	struct run *run = filter->run;
	if (filter->node != MT_NONE && filter->node != i)
		return false;
	if (filter->target) {
		const char *target = run_name(run, i);
		if (!target || strcmp(target, filter->target) != 0)
			return false;
	}
	if (run->opt->shadowed && (!run->d || run->d->tree.nodes[i].top == i))
		return false;
	return filter_match_mount(filter, run_mount(run, i));
}

bool filter_match(struct filter *filter, uint32_t i)
{
	return matches(filter, i) != filter->run->opt->invert;
}

bool filter_match_device(struct run *run, const struct devmap_device *device)
{
	const struct options *o = run->opt;
	if (o->target || o->mountpoint || o->mount_options || o->id || o->uniq_id || o->shadowed)
		return false;
	bool match = !o->types || mnt_match_fstype(device->tags->type ? device->tags->type : "",
	                                           o->types);
	match = match && kind_wanted(o, device->tags->type);
	const char *text = o->spec ? o->spec : o->noperands == 1 ? o->operands[0] : NULL;
	if (match && text) {
		struct source_spec spec;
		bool known = source_spec_init(run, &spec, text) == 0;
		run->nomem |= !known;
		match = known && source_match_device(&spec, device);
		source_spec_destroy(&spec);
	}
	return match != o->invert;
}

/* Picking. */

/** A pick in the making: which nodes may be picked, which are. */
struct picker {
	struct run *run;
	uint32_t n;
	uint8_t *out;       /* not to be picked: made, gone, double */
	uint8_t *picked;
	uint32_t *order;    /* as picked */
	uint32_t count;
};

/** Pick what matches, in one direction.  @return how many were added. */
static uint32_t pick_pass(struct picker *picker, struct filter *filter, bool backward, bool first)
{
	uint32_t before = picker->count;
	for (uint32_t k = 0; k < picker->n; ++k) {
		uint32_t i = backward ? picker->n - 1 - k : k;
		if (picker->out[i] || picker->picked[i] || !filter_match(filter, i))
			continue;
		picker->picked[i] = 1;
		picker->order[picker->count++] = i;
		if (first)
			break;
	}
	return picker->count - before;
}

/** Whether a mount point of this name is in the table. */
static bool is_target(const struct run *run, const char *path)
{
	for (size_t i = 0; i < run_count(run); ++i) {
		const char *target = run_name(run, i);
		if (target && strcmp(target, path) == 0)
			return true;
	}
	return false;
}

enum path_known filter_target(struct run *run, const char *path, struct strbuf *out)
{
	path_normal(path, out);
	if (out->failed) {
		errno = ENOMEM;
		return PATH_MISSING;
	}
	if (run->opt->nocanonicalize || !run->live || !run->d
	    || (*path == '/' && is_target(run, strbuf_str(out))))
		return PATH_BLIND;
	return path_follow(run, path, out);
}

/** The mount that holds a path, for --target. */
static uint32_t node_holding(struct run *run, const char *path, enum path_known known)
{
	uint32_t lexical = path_mount(run, path);
	if (known != PATH_SEEN || !run->d || !(run->os.caps & OSC_STATX_MNT_ID))
		return lexical;
	struct k_statx st;
	bool unique = run->table->unique_ids;
	if (path_look(run, path, unique ? K_STATX_MNT_ID_UNIQUE : K_STATX_MNT_ID, &st) != 0)
		return lexical;
	uint64_t id = os_statx_mnt_id(&st, unique);
	uint32_t node = id ? mtree_find(&run->d->tree, id) : MT_NONE;
	return node != MT_NONE ? node : lexical;
}

static int path_missing(const char *path)
{
	message(path, "cannot be resolved: %s",
	        path_error(errno));
	return CX_ERROR;
}

/** Report a mount that exists and that --df, --real or --pseudo leave out.
    @return whether it is so. */
static bool report_left_out(const struct run *run, const char *text, const char *target)
{
	const struct options *o = run->opt;
	const char *option = o->df ? "--df" : o->dfi ? "--dfi" : o->real ? "--real" : "--pseudo";
	if (o->all || !(o->df || o->dfi || o->real || o->pseudo) || !is_target(run, target))
		return false;
	if (!o->quiet)
		message(text, "%s leaves out this type of file system; add --all to list it",
		        option);
	return true;
}

/** --target and --mountpoint: one mount, the topmost. */
static int pick_target(struct picker *picker, struct filter *filter)
{
	struct run *run = picker->run;
	const struct options *o = run->opt;
	const char *path = o->target ? o->target : o->mountpoint;
	struct strbuf name;
	strbuf_init(&name);
	int status = 0;

	enum path_known known = filter_target(run, path, &name);
	if (known == PATH_MISSING) {
		status = path_missing(path);
		goto out;
	}
	if (o->target && run->d)
		filter->node = node_holding(run, strbuf_str(&name), known);
	else
		filter->target = strbuf_str(&name);

	/* Of a stack the visible one: hidden ones only if nothing else matches. */
	uint32_t found = 0;
	if (!filter->target && filter->node == MT_NONE)
		goto none;
	if (run->d && !o->shadowed && !o->invert) {
		for (uint32_t i = picker->n; i-- > 0 && filter->target;) {
			if (!picker->out[i] && !(run->d->tree.nodes[i].states & 1u << MT_HIDDEN)
			    && filter_match(filter, i)) {
				filter->node = i;
				break;
			}
		}
	}
	/* findmnt -i -M: every mount but that one. */
	found = pick_pass(picker, filter, !o->invert, !o->invert);
none:
	if (!found && o->target && filter->node != MT_NONE && !o->invert)
		report_left_out(run, path, run_name(run, filter->node));
	if (!found && o->mountpoint && !o->quiet && !o->invert
	    && !report_left_out(run, path, strbuf_str(&name)))
		message(path, "no matching mount point; use -T to find the mount that contains a "
		        "path");
out:
	filter->target = NULL;
	strbuf_destroy(&name);
	return status;
}

/** Select by one operand: a source or, if there is none, a mount point. */
static int pick_operand(struct picker *picker, struct filter *filter, const char *text)
{
	struct run *run = picker->run;
	const struct options *o = run->opt;
	struct source_spec spec;
	struct strbuf name;
	strbuf_init(&name);
	int status = 0;

	if (source_spec_init(run, &spec, text) != 0) {
		message(NULL, "%s", strerror(errno));
		status = CX_ERROR;
		goto out;
	}
	filter->source = &spec;
	uint32_t found = pick_pass(picker, filter, o->backward, o->first_only);
	filter->source = NULL;
	if (found || spec.tag != TAG_NONE || strspn(text, "0123456789:") == strlen(text))
		goto out;

	enum path_known known = filter_target(run, text, &name);
	int error = errno;
	filter->target = strbuf_str(&name);
	found = pick_pass(picker, filter, o->backward, o->first_only);
	filter->target = NULL;
	if (found || o->invert)
		goto out;
	bool is_path = *text == '/' || strncmp(text, "./", 2) == 0 || strncmp(text, "../", 3) == 0;
	if (known == PATH_MISSING && is_path) {
		errno = error;
		status = path_missing(text);
	} else if (!o->quiet && !o->unmounted
	           && !report_left_out(run, text, strbuf_str(&name))) {
		const struct command *near = command_near(text);
		if (near && strcmp(near->name, text) == 0)
			message(text, "no matching mount point or source; a command must be the "
			        "first argument");
		else if (near)
			message(text, "no such command; did you mean \"%s\"? (no mount point or "
			        "source matches either)", near->name);
		else
			message(text, "no matching mount point or source; use -T to find the mount "
			        "that contains a path");
	}
out:
	source_spec_destroy(&spec);
	strbuf_destroy(&name);
	return status;
}

bool filter_is_pair(struct run *run, const char *first)
{
	struct strbuf name;
	strbuf_init(&name);
	filter_target(run, first, &name);
	run->nomem |= name.failed;
	bool pair = !is_target(run, strbuf_str(&name));
	for (size_t i = 0; i < run_count(run) && !pair; ++i) {
		const char *source = run_mount(run, i)->source;
		pair = source && strcmp(source, first) == 0;
	}
	strbuf_destroy(&name);
	return pair;
}

static int pick_pair(struct picker *picker, struct filter *filter)
{
	struct run *run = picker->run;
	const struct options *o = run->opt;
	struct source_spec spec;
	struct strbuf name;
	strbuf_init(&name);
	int status = 0;
	if (source_spec_init(run, &spec, o->operands[0]) != 0) {
		message(NULL, "%s", strerror(errno));
		status = CX_ERROR;
	} else if (filter_target(run, o->operands[1], &name) == PATH_MISSING) {
		status = path_missing(o->operands[1]);
	} else {
		filter->source = &spec;
		filter->target = strbuf_str(&name);
		pick_pass(picker, filter, o->backward, o->first_only);
	}
	source_spec_destroy(&spec);
	strbuf_destroy(&name);
	return status;
}

/** By target, then by place in the table. */
static int by_target(const void *a, const void *b, void *arg)
{
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	int order = strcmp(run_name(arg, i), run_name(arg, j));
	return order ? order : i < j ? -1 : 1;
}

/** --uniq: of each target the last mount alone. */
static int leave_doubles(struct picker *picker)
{
	uint32_t *sorted = malloc((picker->n + !picker->n) * sizeof(*sorted));
	if (!sorted)
		return -1;
	uint32_t n = 0;
	for (uint32_t i = 0; i < picker->n; ++i) {
		if (!picker->out[i] && run_name(picker->run, i))
			sorted[n++] = i;
	}
	qsort_r(sorted, n, sizeof(*sorted), by_target, picker->run);
	for (uint32_t k = 0; k + 1 < n; ++k) {
		if (strcmp(run_name(picker->run, sorted[k]),
		           run_name(picker->run, sorted[k + 1])) == 0)
			picker->out[sorted[k]] = 1;
	}
	free(sorted);
	return 0;
}

/** --submounts: add all mounts on the selected ones. */
static void add_submounts(struct picker *picker)
{
	const struct mtree *tree = &picker->run->d->tree;
	for (uint32_t k = 0; k < tree->count; ++k) {
		uint32_t i = tree->order[k], parent = tree->nodes[i].parent;
		if (parent == MT_NONE || !picker->picked[parent] || picker->picked[i]
		    || picker->out[i])
			continue;
		picker->picked[i] = 1;
		picker->order[picker->count++] = i;
	}
}

static int pick_selected(struct picker *picker, struct filter *filter)
{
	struct run *run = picker->run;
	const struct options *o = run->opt;
	int status = 0;
	struct source_spec spec;

	if (o->noperands == 2 && filter_is_pair(run, o->operands[0]))
		return pick_pair(picker, filter);
	if (o->noperands) {
		for (int i = 0; i < o->noperands && !status; ++i)
			status = pick_operand(picker, filter, o->operands[i]);
		return status;
	}
	if (o->spec) {
		if (source_spec_init(run, &spec, o->spec) != 0) {
			source_spec_destroy(&spec);
			message(NULL, "%s", strerror(errno));
			return CX_ERROR;
		}
		filter->source = &spec;
	}
	if (o->target || o->mountpoint)
		status = pick_target(picker, filter);
	else
		pick_pass(picker, filter, o->backward, o->first_only);
	if (o->spec)
		source_spec_destroy(&spec);
	return status;
}

int filter_pick(struct run *run, struct picks *picks)
{
	const struct options *o = run->opt;
	struct picker picker = {.run = run, .n = (uint32_t)run_count(run)};
	struct filter filter = {.run = run, .node = MT_NONE};
	strbuf_init(&filter.text);
	int status = 0;

	size_t room = picker.n + !picker.n;
	picker.out = calloc(room, 1);
	picker.picked = calloc(room, 1);
	picker.order = malloc(room * sizeof(*picker.order));
	if (!picker.out || !picker.picked || !picker.order)
		goto nomem;
	for (uint32_t i = 0; i < picker.n && run->d; ++i)
		picker.out[i] = run->d->tree.nodes[i].made || run->d->tree.nodes[i].gone;
	if (o->uniq && leave_doubles(&picker) != 0)
		goto nomem;

	status = pick_selected(&picker, &filter);
	if (filter.text.failed || run_failed(run))
		goto nomem;
	if (!status) {
		if (o->submounts && run->d && filter_any(o))
			add_submounts(&picker);
		picks->nodes = picker.order;
		picks->count = picker.count;
		picks->restricted = !(o->submounts && filter_any(o))
		                    && (o->first_only || o->target || o->mountpoint || o->spec
		                        || o->noperands);
		picker.order = NULL;
	}
	goto out;

nomem:
	message(NULL, "%s", strerror(ENOMEM));
	status = CX_ERROR;
out:
	free(picker.out);
	free(picker.picked);
	free(picker.order);
	strbuf_destroy(&filter.text);
	return status;
}

void picks_destroy(struct picks *picks)
{
	free(picks->nodes);
	picks->nodes = NULL;
}
