/* SPDX-License-Identifier: MIT */
#include "cmd/discover/view.h"

#include "base/pathmap.h"
#include "cmd/column.h"
#include "mountopts/join.h"
#include "path/resolve.h"

#include <errno.h>
#include <libmount.h>
#include <stdlib.h>
#include <string.h>

bool filter_any(const struct options *o)
{
	const struct pick_options *pick = &o->pick;
	return ((o->df || o->dfi || pick->real || pick->pseudo) && !pick->all) || pick->spec
	       || pick->target || pick->mountpoint || pick->noperands || pick->types
	       || pick->mount_options || pick->id || pick->uniq_id || pick->shadowed;
}

unsigned filter_fields(const struct options *o)
{
	const struct pick_options *pick = &o->pick;
	unsigned fields = 0;
	if (pick->types || pick->real || pick->pseudo || o->df || o->dfi)
		fields |= MF_FSTYPE;
	if (pick->mount_options)
		fields |= MF_VFS_OPTS | MF_FS_OPTS;
	if (pick->spec || pick->noperands || pick->unmounted)
		fields |= MF_SOURCE | MF_DEV;
	if (pick->target || pick->mountpoint || pick->noperands || pick->uniq)
		fields |= MF_POINT;
	/* Following a path requires the file system types, which show what can block. */
	if (pick->target || pick->mountpoint || pick->noperands || pick->spec)
		fields |= MF_POINT | MF_FSTYPE;
	return fields;
}

/** Whether --df, --dfi, --real and --pseudo accept a file system type. */
static bool accepts_type(const struct options *o, const char *fstype)
{
	if (o->pick.all)
		return true;
	/* df(1) lists tmpfs and devtmpfs although they are pseudo file systems: accept these
	   types. */
	bool tmp = fstype && strstr(fstype, "tmpfs");
	if ((o->df || o->dfi) && !tmp && fstype_is_pseudo(fstype))
		return false;
	if (o->pick.real && fstype_is_pseudo(fstype))
		return false;
	return !o->pick.pseudo || fstype_is_pseudo(fstype);
}

bool filter_match_mount(struct filter *filter, const struct mount *mount)
{
	struct run *run = &filter->list->run;
	const struct options *o = filter->list->opt;

	/* The ID of an fstab line (mount->line is not 0) is not a mount ID, so the line does not
	   match. */
	if (o->pick.id && (mount->line || mount->id != o->pick.id))
		return false;
	if (o->pick.uniq_id && (mount->line || mount->uniq_id != o->pick.uniq_id))
		return false;
	if (o->pick.types && !mnt_match_fstype(mount->fstype ? mount->fstype : "", o->pick.types))
		return false;
	if (o->pick.mount_options) {
		strbuf_reset(&filter->text);
		join_findmnt(mount, &filter->text);
		if (!mnt_match_options(strbuf_str(&filter->text), o->pick.mount_options))
			return false;
	}
	if (filter->source && !source_match(run, filter->source, mount))
		return false;
	const char *fstype = mount->fstype ? mount->fstype : "";
	if (filter->no_fuse && strncmp(fstype, "fuse", 4) == 0 && strcmp(fstype, "fuseblk") != 0)
		return false;
	bool accepted = accepts_type(o, mount->fstype);
	filter->left_out |= !accepted;
	return accepted;
}

/** Whether a node matches the filter, without regard to --invert. */
static bool matches(struct filter *filter, uint32_t i)
{
	struct run *run = &filter->list->run;
	if (filter->node != MT_NONE && filter->node != i)
		return false;
	if (filter->target) {
		const char *target = run_name(run, i);
		if (!target || strcmp(target, filter->target) != 0)
			return false;
	}
	if (filter->list->opt->pick.shadowed && (!run->d || run->d->tree.nodes[i].top == i))
		return false;
	return filter_match_mount(filter, run_mount(run, i));
}

bool filter_match_device(struct listing *list, const struct devmap_device *device)
{
	const struct options *o = list->opt;
	const struct pick_options *pick = &o->pick;
	const char *type = device->tags->type;
	const char *text = pick->noperands == 1 ? pick->operands[0] : pick->spec;
	if (pick->target || pick->mountpoint || pick->mount_options || pick->id || pick->uniq_id
	    || pick->shadowed)
		return false;
	bool match = accepts_type(o, type)
	             && (!o->pick.types || mnt_match_fstype(type ? type : "", o->pick.types));
	if (match && text) {
		struct source_spec spec;
		source_spec_init(&list->run, &spec, text);
		match = source_match_device(&spec, device);
		source_spec_destroy(&spec);
	}
	return match != o->pick.invert;
}

/* Selecting. */

/** The state of a selection.  The arrays have an element for each of the n nodes. */
struct picker {
	struct run *run;
	const struct options *opt;
	struct filter filter;
	uint32_t n;
	uint8_t *out;       /* 1 for nodes that must not be selected: synthetic root, unmounted, or
	                       duplicate with --uniq */
	uint8_t *picked;    /* 1 for selected nodes */
	uint32_t *order;    /* the selected nodes, in the order of their selection */
	uint32_t count;
};

/** Select the nodes that match and are not selected yet.
    @backward  Start with the last node.
    @first     Stop after the first match.
    @return the number of nodes added to the selection. */
static uint32_t pick_pass(struct picker *p, bool backward, bool first)
{
	uint32_t before = p->count;
	for (uint32_t k = 0; k < p->n && !(first && p->count > before); ++k) {
		uint32_t i = backward ? p->n - 1 - k : k;
		if (p->out[i] || p->picked[i] || matches(&p->filter, i) == p->opt->pick.invert)
			continue;
		p->picked[i] = 1;
		p->order[p->count++] = i;
	}
	return p->count - before;
}

/** Call pick_pass() as --direction and --first-only request. */
static uint32_t pick_matching(struct picker *p)
{
	return pick_pass(p, p->opt->pick.backward, p->opt->pick.first_only);
}

/** Whether an operand is written as a path. */
static bool is_path(const char *text)
{
	return *text == '/' || strncmp(text, "./", 2) == 0 || strncmp(text, "../", 3) == 0;
}

/** Find the mount that contains a path, for --target: by the mount ID of the path, or by its text
    if the path may not be accessed.  @known  The result of resolving the path. */
static uint32_t node_holding(struct run *run, const char *path, enum path_followed known)
{
	uint32_t lexical = mounts_holding(run_paths(run), path);
	if (known != PATH_SEEN || !run->d || !(run->os.caps & OSC_STATX_MNT_ID))
		return lexical;
	struct k_statx st;
	bool unique = run->table->unique_ids;
	unsigned mask = unique ? K_STATX_MNT_ID_UNIQUE : K_STATX_MNT_ID;
	if (mounts_look(run_paths(run), path, mask, &st) != 0)
		return lexical;
	uint64_t id = os_statx_mnt_id(&st, unique);
	uint32_t node = id ? mtree_find(&run->d->tree, id) : MT_NONE;
	return node != MT_NONE ? node : lexical;
}

static int path_missing(const char *path)
{
	message(path, "cannot be resolved: %s", path_error(errno));
	return CX_ERROR;
}

/** Report that an argument names a mount which only --df, --dfi, --real or --pseudo excludes.
    Does not print anything with --quiet.
    @text  The argument; or NULL.
    @return whether there is such a mount. */
static bool report_left_out(const struct picker *p, const char *text)
{
	const struct options *o = p->opt;
	const char *option = o->df ? "--df" : o->dfi ? "--dfi"
	                     : o->pick.real ? "--real" : "--pseudo";
	if (!p->filter.left_out || o->pick.invert)
		return false;
	if (!o->quiet && text)
		message(text, "%s leaves out this type of file system; add --all to list it",
		        option);
	else if (!o->quiet)
		message(option, "leaves out the matching mounts for their type; add --all to list "
		        "them");
	return true;
}

/** Select the mount of --target or --mountpoint; of stacked mounts, the topmost. */
static int pick_target(struct picker *p)
{
	struct run *run = p->run;
	const struct options *o = p->opt;
	const char *path = o->pick.target ? o->pick.target : o->pick.mountpoint;
	struct strbuf name = {0};
	int status = 0;
	enum path_followed known = run_resolve(run, path, &name);
	if (known == PATH_MISSING) {
		status = path_missing(path);
		goto out;
	}
	bool holding = o->pick.target && run->d;
	if (holding)
		p->filter.node = node_holding(run, strbuf_str(&name), known);
	else
		p->filter.target = strbuf_str(&name);

	/* Prefer the visible mount of a stack: select a hidden mount only if no visible mount
	   matches. */
	bool stack = !holding && run->d && !o->pick.shadowed && !o->pick.invert;
	for (uint32_t i = stack ? p->n : 0; i-- > 0 && p->filter.node == MT_NONE;) {
		if (!p->out[i] && !(run->d->tree.nodes[i].states & 1u << MT_HIDDEN)
		    && matches(&p->filter, i))
			p->filter.node = i;
	}
	/* As in findmnt, --invert with --mountpoint selects every mount except the mount found. */
	bool any = (!holding || p->filter.node != MT_NONE)
	           && pick_pass(p, !o->pick.invert, !o->pick.invert);
	if (!any && !report_left_out(p, path) && o->pick.mountpoint && !o->quiet && !o->pick.invert)
		message(path, "no matching mount point; use -T to find the mount that contains a "
		        "path");
out:
	p->filter.target = NULL;
	strbuf_destroy(&name);
	return status;
}

/** Report an operand that matches no mount.  @is_tag  The operand is a tag or a device number. */
static void report_unmatched(const char *text, bool is_tag)
{
	const struct command *near = command_near(commands, text);
	if (is_tag)
		message(text, "no mounted device has this tag or number");
	else if (near && strcmp(near->name, text) == 0)
		message(text, "no matching mount point or source; a command must be the first "
		        "argument");
	else if (near)
		message(text, "no such command; did you mean \"%s\"? (no mount point or source "
		        "matches either)", near->name);
	else if (column_find(&discover_columns, text, strlen(text)))
		message(text, "no matching mount point or source; columns are separated by "
		        "commas: -o A,B");
	else
		message(text, "no matching mount point or source; use -T to find the mount that "
		        "contains a path");
}

/** Select the mounts that an operand names: as their source; if no mount matches, as their mount
    point; if still no mount matches and the operand is a path, as the source of a FUSE mount. */
static int pick_operand(struct picker *p, const char *text)
{
	const struct options *o = p->opt;
	struct source_spec spec;
	source_spec_init(p->run, &spec, text);
	p->filter.source = &spec;
	p->filter.left_out = false;
	p->filter.no_fuse = is_path(text) || spec.path.len;
	bool found = pick_matching(p);
	bool is_tag = spec.tag != TAG_NONE || strspn(text, "0123456789:") == strlen(text);
	p->filter.source = NULL;
	p->filter.no_fuse = false;

	struct strbuf name = {0};
	enum path_followed known = PATH_SEEN;
	int error = 0, status = 0;
	if (!found && !is_tag) {
		known = run_resolve(p->run, text, &name);
		error = errno;
		p->filter.target = strbuf_str(&name);
		found = pick_matching(p);
		p->filter.target = NULL;
	}
	found |= o->pick.invert;
	if (!found && is_path(text)) {
		p->filter.source = &spec;
		found = pick_matching(p);
		p->filter.source = NULL;
	}
	source_spec_destroy(&spec);
	errno = error;
	if (!found && known == PATH_MISSING && is_path(text)) {
		status = path_missing(text);
	} else if (!found && !o->pick.unmounted && !report_left_out(p, text) && !o->quiet) {
		report_unmatched(text, is_tag);
	}
	strbuf_destroy(&name);
	return status;
}

bool filter_is_pair(struct listing *list, const char *first)
{
	struct run *run = &list->run;
	struct strbuf name = {0};
	run_resolve(run, first, &name);
	run->nomem |= name.failed;
	/* With --poll, a path outside /dev/ may be the mount point of a later mount: assume that
	   the path is not a source. */
	bool later = list->opt->poll && is_path(first) && strncmp(first, "/dev/", 5) != 0;
	bool pair = !later && !run_has_target(run, strbuf_str(&name));
	for (size_t i = 0; i < run_count(run) && !pair; ++i) {
		const char *source = run_mount(run, i)->source;
		pair = source && strcmp(source, first) == 0;
	}
	strbuf_destroy(&name);
	return pair;
}

/** Select the mounts of the source SOURCE on the mount point TARGET. */
static int pick_pair(struct picker *p, const char *source, const char *target)
{
	struct source_spec spec;
	struct strbuf name = {0};
	int status = 0;
	source_spec_init(p->run, &spec, source);
	if (run_resolve(p->run, target, &name) == PATH_MISSING
	    && !command_near(commands, source)) {
		status = path_missing(target);
	} else {
		p->filter.source = &spec;
		p->filter.target = strbuf_str(&name);
		const struct command *near = command_near(commands, source);
		if (!pick_matching(p) && !report_left_out(p, target) && !p->opt->pick.invert
		    && !p->opt->quiet && near)
			report_unmatched(source, false);
	}
	source_spec_destroy(&spec);
	strbuf_destroy(&name);
	return status;
}

/** For --uniq, exclude all mounts on a mount point except the last in the table.
    @return 0, or -1 (ENOMEM). */
static int drop_duplicates(struct picker *p)
{
	struct pathmap seen = {0};
	int rc = 0;
	for (uint32_t i = p->n; i-- > 0 && rc == 0;) {
		const char *name = run_name(p->run, i);
		if (p->out[i] || !name)
			continue;
		p->out[i] = pathmap_get(&seen, name) != PATHMAP_NONE;
		rc = p->out[i] ? 0 : pathmap_add(&seen, name, i);
	}
	pathmap_destroy(&seen);
	return rc;
}

/** For --submounts, also select all mounts below the selected mounts. */
static void add_submounts(struct picker *p)
{
	const struct mtree *tree = &p->run->d->tree;
	for (uint32_t k = 0; k < tree->count; ++k) {
		uint32_t i = tree->order[k], parent = tree->nodes[i].parent;
		if (parent == MT_NONE || !p->picked[parent] || p->picked[i] || p->out[i])
			continue;
		p->picked[i] = 1;
		p->order[p->count++] = i;
	}
}

static int pick_selected(struct picker *p)
{
	const struct options *o = p->opt;
	int status = 0;
	if (o->pick.noperands == 2 && filter_is_pair(p->filter.list, o->pick.operands[0]))
		return pick_pair(p, o->pick.operands[0], o->pick.operands[1]);
	for (int i = 0; i < o->pick.noperands && !status; ++i)
		status = pick_operand(p, o->pick.operands[i]);
	if (o->pick.noperands)
		return status;

	struct source_spec spec;
	source_spec_init(p->run, &spec, o->pick.spec ? o->pick.spec : "");
	p->filter.source = o->pick.spec ? &spec : NULL;
	if (o->pick.target || o->pick.mountpoint)
		status = pick_target(p);
	else if (!pick_matching(p) && !o->pick.unmounted)
		report_left_out(p, o->pick.spec);
	source_spec_destroy(&spec);
	return status;
}

int filter_pick(struct listing *list, struct picks *picks)
{
	const struct options *o = list->opt;
	struct run *run = &list->run;
	struct picker p = {
		.run = run, .opt = o, .filter = {.list = list, .node = MT_NONE},
		.n = (uint32_t)run_count(run),
	};
	int status = CX_ERROR;
	size_t room = p.n + !p.n;
	p.out = calloc(room, 1);
	p.picked = calloc(room, 1);
	p.order = malloc(room * sizeof(*p.order));
	bool failed = !p.out || !p.picked || !p.order;
	for (uint32_t i = 0; i < p.n && run->d && !failed; ++i)
		p.out[i] = run->d->tree.nodes[i].made || run->d->tree.nodes[i].gone;
	failed = failed || (o->pick.uniq && drop_duplicates(&p) != 0);
	if (!failed) {
		status = pick_selected(&p);
		failed = p.filter.text.failed || run_failed(run);
	}
	if (failed) {
		status = message_error(NULL, ENOMEM, CX_ERROR);
	} else if (!status) {
		bool submounts = o->pick.submounts && filter_any(o);
		if (submounts && run->d)
			add_submounts(&p);
		*picks = (struct picks){p.order, p.count};
		picks->restricted = !submounts
		                    && (o->pick.first_only || o->pick.target || o->pick.mountpoint
		                        || o->pick.spec || o->pick.noperands);
		p.order = NULL;
	}
	free(p.out);
	free(p.picked);
	free(p.order);
	strbuf_destroy(&p.filter.text);
	return status;
}

void picks_destroy(struct picks *picks)
{
	free(picks->nodes);
	picks->nodes = NULL;
}
