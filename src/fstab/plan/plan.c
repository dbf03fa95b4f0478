/* SPDX-License-Identifier: MIT */
/*
 * Decide for each mount whether it gets a line, after deciding for the mounts that it needs.
 *
 * A mount needs the mount that contains its mount point; a bind, the mount of its source; an
 * overlay, the mounts of its layers; a loop device, the mount of its image.  If a needed mount has
 * no line, the mount cannot have a line either.  Passes over the tree, starting at the root, are
 * repeated until a pass decides no further mount.  Usually one pass suffices; binds whose source is
 * mounted later in the tree need a second pass.  Lines are added to the plan in the order of the
 * decisions, since mount -a processes the file in order.
 *
 *     plan_classify() excludes mounts that get no line: outside of ROOT, made by the system, hidden
 *                     ...; finds out which of the remaining mounts are binds
 *     decide()        makes the line of a mount, or finds the reason why it gets no line
 */
#include "fstab/plan/plan_impl.h"

#include "base/fstypes.h"
#include "base/words.h"
#include "fstab/order.h"
#include "mountopts/edit.h"
#include "mountopts/fsopts.h"
#include "mountopts/layers.h"
#include "mountopts/request.h"

#include <assert.h>
#include <string.h>

/** Maximum number of passes; mounts undecided after the last pass are refused. */
enum { PASSES_MAX = 64 };

/* Making the lines. */

/** Add a line to the plan.  @return the line in the plan. */
static struct fstab_line *add_line(struct maker *mk, enum fstab_fate fate,
                                   const struct fstab_line *line)
{
	struct fstab_line *to = &mk->plan->lines[mk->plan->count++];
	*to = *line;
	to->fate = fate;
	++mk->plan->of[fate];
	return to;
}

/** Append the option that makes systemd wait for the line of a mount point. */
static void wait_for(struct maker *mk, const char *target, struct strbuf *more)
{
	strbuf_reset(&mk->text);
	order_wait_option(&mk->text, target);
	opt_add_once(more, strbuf_str(&mk->text));
}

/** Append the option that makes systemd wait for the line that makes a copy. */
static void wait_for_copy(struct maker *mk, uint32_t node, struct strbuf *more)
{
	const struct decision *copy = node != MT_NONE && mk->decisions[node].state == COPIED
	                              ? &mk->decisions[node] : NULL;
	if (copy)
		wait_for(mk, mk->decisions[copy->copy_of].target, more);
}

/** Append the options that are not for the file system: options that the plan adds, and options
    that mount(8) recorded for other programs.
    @spare  The boot does not need the mount: add nofail.
    @in     For a bind: the mount that contains its source; else MT_NONE.
    @more   The options are appended to this list.
    @return LINE; REFUSED: the options hold a secret. */
static enum state add_own(struct maker *mk, uint32_t i, bool spare, uint32_t in,
                          struct strbuf *more, struct fstab_line *line)
{
	plan_propagation(mk, i, in, line);
	if (line->propagation)
		opt_puts(more, line->propagation);
	wait_for_copy(mk, mk->tree->nodes[i].parent, more);
	wait_for_copy(mk, in, more);
	bool nofail = spare || (mk->in->nofail && !fstab_is_system(mk->decisions[i].target));
	const char *const own[] = {
		nofail ? "nofail" : NULL,
		mk->decisions[i].automount ? "x-systemd.automount" : NULL,
		plan_wants_mkdir(mk, i) ? "X-mount.mkdir" : NULL,
	};
	for (size_t k = 0; k < sizeof(own) / sizeof(*own); ++k) {
		if (own[k])
			opt_puts(more, own[k]);
	}
	if (opt_add_kept(more, mk->decisions[i].kept))
		return plan_refuse(mk, line, "one of its options holds a secret, which does not "
		                   "belong in an fstab");
	return LINE;
}

/** Choose the options of a line.
    @bound  For a bind: the mount that contains the source of the bind; else NULL.
    @recursive  The bind includes the mounts below its source.
    @first  Options to put first, such as "loop"; or NULL.
    @more   Options to put last.
    @line   Gets options, or the reason why no line is possible.
    @return LINE or REFUSED. */
static enum state choose_options(struct maker *mk, const struct mount *mount,
                                 const struct mount *bound, bool recursive,
                                 const char *first,
                                 const struct strbuf *more, struct fstab_line *line)
{
	struct strbuf out = {.arena = mk->arena}, why = out, warning = out;
	const struct opt_request request = {
		.mount = mount, .bound = bound, .recursive = recursive, .root = mk->in->root,
		.first = first,
		.minimal = mk->in->options == FSTAB_MINIMAL, .more = more->len ? more->data : NULL,
	};
	int rc = opt_request(&request, &out, &why, &warning);
	if (rc < 0)
		arena_fail(mk->arena);
	else if (rc > 0)
		line->why = strbuf_str(&why);
	else
		line->options = out.len ? strbuf_str(&out) : "defaults";
	if (warning.len)
		line->warning = !line->warning ? strbuf_str(&warning)
		                : arena_printf(mk->arena, "%s; %s", line->warning,
		                               strbuf_str(&warning));
	return rc == 0 ? LINE : REFUSED;
}

/** Check that the mounts of all layers of an overlay are available.
    @more [out]  Options that make systemd mount the overlay after these mounts.
    @return LINE, WAITING or REFUSED. */
static enum state needs_layers(struct maker *mk, uint32_t i, struct fstab_line *line,
                               struct strbuf *more)
{
	struct opt_dir *dirs;
	enum state state = LINE;
	size_t n = opt_layers(plan_mount(mk, i)->fs_opts, opt_next_shown, mk->arena, &dirs);
	for (size_t k = 0; k < n && (state == LINE || state == WAITING); ++k) {
		const char *path = plan_path(mk->in, dirs[k].path);
		uint32_t node;
		if (!path)
			continue;   /* outside of ROOT: choose_options() refuses the layer */
		enum state one = plan_needs_path(mk, i, path, "its layer", &node, line);
		state = one == LINE ? state : one;
		const struct decision *lower = one == LINE && node != MT_NONE
		                               ? &mk->decisions[node] : NULL;
		if (!lower || (lower->state == OWN && lower->boot)
		    || strcmp(lower->target, "/") == 0)
			continue;
		wait_for(mk, lower->target, more);
	}
	return state;
}

/** If a mount is on a loop device, make the image file the source of the line, as an administrator
    would write the line.  line->source is left NULL if the line must name the device instead: the
    device is not a loop device, or is a partition of the image, or the image is outside of ROOT or
    itself a device.
    @first [out]  Options that attach the image, such as "loop"; not set if line->source is left
                  NULL.
    @return LINE, WAITING or REFUSED. */
static enum state name_image(struct maker *mk, uint32_t i, const struct fstab_device *device,
                             struct fstab_line *line, const char **first)
{
	static const char deleted[] = " (deleted)";
	const struct devmap_loop *loop = &device->loop;
	const char *path = loop->file ? plan_path(mk->in, loop->file) : NULL;
	/* The image may be a device: in /dev, or in /dev of ROOT. */
	if (!loop->partition && loop->file && (word_below(loop->file, "/dev")
	                                       || (path && word_below(path, "/dev")))) {
		enum state state = path ? plan_needs_path(mk, i, path, "its image", NULL, line)
		                   : LINE;
		/* Without an offset or limit, the loop device has the content of the device below
		   it, and so the same UUID: return LINE, since the UUID can be the source. */
		if (state != LINE || (!loop->offset && !loop->limit && mk->in->id != FSTAB_PATH))
			return state;
		return plan_refuse(mk, line, "it is of a loop device on %s, which has no name that "
		                   "lasts", loop->file);
	}
	if (!path)
		return LINE;
	if (loop->partition) {
		line->warning = arena_printf(mk->arena, "it is a partition of the image %s, which "
		                             "must be attached first: losetup -P", path);
		return LINE;
	}
	size_t n = strlen(path), tail = sizeof(deleted) - 1;
	if (n > tail && strcmp(path + n - tail, deleted) == 0)
		return plan_refuse(mk, line, "its image was removed");
	enum state state = plan_needs_path(mk, i, path, "its image", NULL, line);
	if (state != LINE)
		return state;
	line->source = path;
	line->note = device->tags && device->tags->uuid
	             ? arena_printf(mk->arena, "UUID=%s", device->tags->uuid) : NULL;
	const char *offset = loop->offset ? arena_printf(mk->arena, ",offset=%llu",
	                                                 (unsigned long long)loop->offset) : "";
	const char *limit = loop->limit ? arena_printf(mk->arena, ",sizelimit=%llu",
	                                               (unsigned long long)loop->limit) : "";
	*first = arena_printf(mk->arena, "loop%s%s", offset, limit);
	return LINE;
}

/** Choose source, type and fsck pass of the line of a mount on a device.
    @first [out]  Options that attach an image; not set if the source is not an image. */
static enum state name_device(struct maker *mk, uint32_t i, struct fstab_device *device,
                              struct fstab_line *line, const char **first)
{
	const struct mount *m = plan_mount(mk, i);
	const struct fstab_facts *facts = &mk->in->facts;
	fstab_device_of(facts, m, NULL, mk->arena, device);
	enum state state = name_image(mk, i, device, line, first);
	if (state == LINE && !line->source) {
		state = source_of_device(mk, device, m->source, line);
		line->unnamed = state == REFUSED;
	}
	if (state != LINE)
		return state;
	if (strcmp(line->fstype, "fuseblk") == 0) {
		if (!device->tags || !device->tags->type)
			return plan_refuse(mk, line, "the type of what is on the device is not "
			                   "known");
		line->fstype = device->tags->type;
	}
	/* No fsck pass for an image, or for a type whose helper of fsck(8) does nothing or is
	   missing in ROOT. */
	const char *fsck = arena_printf(mk->arena, "fsck.%s", line->fstype);
	if (!*first && fstype_flags(line->fstype) & FST_FSCK
	    && fstab_answer(facts, FSTAB_HAS_HELPER, fsck) != 0)
		line->passno = strcmp(line->target, "/") == 0 ? 1 : 2;
	return LINE;
}

/** Make the line of a mount that is not a bind.
    @more  An empty list, for options. */
static enum state make_mount(struct maker *mk, uint32_t i, struct strbuf *more,
                             struct fstab_line *line)
{
	const struct mount *m = plan_mount(mk, i);
	struct fstab_device device = {0};
	const char *first = NULL;
	line->why = source_type_fault(mk, m);
	if (line->why)
		return REFUSED;
	enum state state = strcmp(plan_type(m), "overlay") == 0 ? needs_layers(mk, i, line, more)
	                                                         : LINE;
	if (state != LINE)
		return state;
	line->fstype = m->fstype ? m->fstype : "auto";
	bool on_device = m->dev_major != 0 || fstype_flags(m->fstype) & FST_SUBVOL
	                 || strcmp(line->fstype, "fuseblk") == 0;
	state = on_device ? name_device(mk, i, &device, line, &first)
	                  : source_of_mount(mk, m, line);
	if (state != LINE)
		return state;
	/* These mounts need the network, but systemd does not know this from the type. */
	const char *type = plan_type(m);
	if (device.remote
	    || word_in(type, strlen(type), "acfs beegfs coda fuse.sshfs gpfs orangefs")
	    || (strcmp(type, "9p") == 0 && opt_shown_has(m->fs_opts, "trans=tcp")))
		opt_puts(more, "_netdev");
	bool spare = (device.loop.partition && line->warning) || mk->decisions[i].owner;
	state = add_own(mk, i, spare, MT_NONE, more, line);
	return state == LINE ? choose_options(mk, m, NULL, false, first, more, line) : state;
}

/** Make the line of a bind.
    @last  This is the last pass: refuse the bind if its source is still undecided.
    @more  An empty list, for options. */
static enum state make_bind(struct maker *mk, uint32_t i, bool last, struct strbuf *more,
                            struct fstab_line *line)
{
	const struct mount *m = plan_mount(mk, i);
	const char *target = line->target;
	uint32_t in = MT_NONE;
	enum state state = plan_bind_source(mk, i, line, &in);
	if (state == WAITING && !last)
		return WAITING;
	if (state != LINE) {
		/* A container engine binds these files into every container. */
		if (word_in(target, strlen(target), "/etc/hostname /etc/hosts /etc/resolv.conf")) {
			line->why = "of a container";
			return OWN;
		}
		if (!line->why)
			line->why = state == WAITING
				? "its source is visible only in mounts that have no line"
				: arena_printf(mk->arena, "its source, %s of %s, is visible "
				               "nowhere %s", mount_root(m),
				               m->source ? m->source : "none",
				               mk->in->root[1] ? "below ROOT" : "else");
		return REFUSED;
	}
	line->why = plan_bind_fault(mk, i);
	if (line->why)
		return REFUSED;
	line->fstype = "none";
	state = add_own(mk, i, mk->decisions[i].owner, in, more, line);
	return state == LINE ? choose_options(mk, m, plan_mount(mk, in), mk->decisions[i].recursive,
	                                      NULL, more, line) : state;
}

/** Whether a mount point is in in->add. */
static bool is_named(struct maker *mk, const char *target)
{
	for (size_t k = 0; k < mk->in->nadd; ++k) {
		const char *name = fstab_normal(mk->arena, mk->in->add[k]);
		if (name && strcmp(name, target) == 0)
			return true;
	}
	return false;
}

/** The mount that propagation or a recursive bind made together with node i, as its copy or its
    origin; or NULL. */
static const struct mount *twin_of(const struct maker *mk, uint32_t i)
{
	uint32_t twin = mk->decisions[i].twin;
	return twin == MT_NONE ? NULL : plan_mount(mk, twin);
}

/** Make the line of node i, or record why the node gets no line.  If a mount that the node needs is
    undecided, the node remains WAITING.
    @last  This is the last pass: refuse the node instead, since it depends on itself. */
static void decide(struct maker *mk, uint32_t i, bool last)
{
	struct decision *decision = &mk->decisions[i];
	struct fstab_line line = {.mount = plan_mount(mk, i), .target = decision->target,
	                          .owner = decision->owner, .twin = twin_of(mk, i)};
	struct strbuf more = {.arena = mk->arena};
	bool copy = decision->copy_of != MT_NONE;
	enum state state = copy ? plan_decide_copy(mk, i, &line) : plan_needs_parent(mk, i, &line);
	if (state == LINE)
		state = decision->bind ? make_bind(mk, i, last, &more, &line)
		        : make_mount(mk, i, &more, &line);
	if (state == LINE && decision->owner && !is_named(mk, decision->target))
		state = plan_refuse(mk, &line, "user %s mounted it, and a line would have root "
		                    "mount at each boot what that user chose; --merge --add=PATH "
		                    "writes it", decision->owner + strlen("user:"));
	if (state == WAITING && last)
		state = plan_refuse(mk, &line, "it depends on itself through other mounts");
	decision->state = (uint8_t)state;
	decision->why = line.why;
	decision->unnamed = line.unnamed;
	if (state == LINE)
		decision->line = add_line(mk, FSTAB_LINE, &line);
}

static void decide_all(struct maker *mk)
{
	bool last = false, waiting = true;
	for (unsigned pass = 0; waiting && !mk->arena->failed; ++pass) {
		bool decided = false;
		waiting = false;
		for (uint32_t at = 0; at < mk->tree->count && !mk->arena->failed; ++at) {
			uint32_t i = plan_nth(mk, at);
			if (mk->decisions[i].state != WAITING)
				continue;
			decide(mk, i, last);
			*(mk->decisions[i].state == WAITING ? &waiting : &decided) = true;
		}
		last = pass + 1 >= PASSES_MAX || !decided;
	}
}

/** The line of the mount that node i is mounted on; NULL: no line. */
static const struct fstab_line *holder_of(const struct maker *mk, uint32_t i)
{
	uint32_t parent = mk->tree->nodes[i].parent;
	return parent == MT_NONE ? NULL : mk->decisions[parent].line;
}

/** Record which lines depend on their order to make the same copies. */
static void link_lines(struct maker *mk)
{
	for (uint32_t i = 0; i < mk->tree->count && mk->by_age; ++i) {
		const struct decision *decision = &mk->decisions[i];
		if (!decision->line)
			continue;
		decision->line->holder = holder_of(mk, i);
		if (decision->missed != MT_NONE)
			decision->line->before = mk->decisions[decision->missed].line;
	}
}

/** Append the mounts with FSTAB_COPY and FSTAB_COMMENT to the plan, then the mounts with FSTAB_OWN,
    both in tree order. */
static void add_others(struct maker *mk)
{
	for (int own = 0; own < 2; ++own) {
		for (uint32_t at = 0; at < mk->tree->count; ++at) {
			uint32_t i = mk->tree->order[at];
			const struct decision *decision = &mk->decisions[i];
			bool copied = decision->state == COPIED;
			if (own ? decision->state != OWN : decision->state != REFUSED && !copied)
				continue;
			enum fstab_fate fate = own ? FSTAB_OWN : copied ? FSTAB_COPY
			                       : FSTAB_COMMENT;
			add_line(mk, fate, &(struct fstab_line){
				.holder = copied ? holder_of(mk, i) : NULL,
				.origin = copied ? mk->decisions[decision->copy_of].line : NULL,
				.exchangeable = copied && decision->exchangeable,
				.shares = decision->propagation,
				.twin = twin_of(mk, i),
				.came_along = copied && decision->came_along,
				.mount = plan_mount(mk, i), .why = decision->why,
				.beneath = decision->onto_itself
				           ? plan_mount(mk, mk->tree->nodes[i].parent) : NULL,
				.owner = decision->owner, .boot = own && decision->boot,
				.target = decision->target ? decision->target
				                           : mk->in->d->targets[i],
				.unnamed = !own && decision->unnamed,
				.hidden = mk->tree->nodes[i].states & 1u << MT_HIDDEN});
		}
	}
}

static void add_swap(struct maker *mk, const struct fstab_swap *swap)
{
	const struct fstab_input *in = mk->in;
	struct fstab_line line = {
		.target = "none", .fstype = "swap", .source = swap->name, .swap = swap->name};
	enum fstab_fate fate = FSTAB_LINE;
	struct fstab_device device = {0};
	if (in->filter && strncmp(swap->name, in->filter, strlen(in->filter)) != 0) {
		line.why = "excluded by -f";
		fate = FSTAB_OWN;
	} else if (strncmp(swap->name, "/dev/zram", 9) == 0) {
		line.why = "zram is set up at boot, with a new UUID each time";
		line.owner = "unit";
		fate = FSTAB_OWN;
	} else if ((line.owner = plan_unit_owner(&in->facts, swap->name)) != NULL) {
		line.why = "mounted by its own unit";
		fate = FSTAB_OWN;
	} else if (swap->deleted) {
		line.why = "its file was removed, or cannot be reached";
		fate = FSTAB_COMMENT;
	} else if (swap->file) {
		line.source = plan_path(in, swap->name);
		if (!line.source) {
			line.source = swap->name;
			line.why = "its file lies outside ROOT";
			fate = FSTAB_OWN;
		} else if (plan_needs_path(mk, MT_NONE, line.source, "its file", NULL, &line)
		           != LINE) {
			fate = FSTAB_COMMENT;
		}
	} else {
		fstab_device_of(&in->facts, NULL, swap->name, mk->arena, &device);
		line.unnamed = source_of_device(mk, &device, swap->name, &line) != LINE;
		line.source = line.unnamed ? swap->name : line.source;
		fate = line.unnamed ? FSTAB_COMMENT : fate;
	}
	line.options = device.remote ? "defaults,_netdev" : "defaults";
	if (swap->priority >= 0)
		line.options = arena_printf(mk->arena, "%s,pri=%d", line.options, swap->priority);
	add_line(mk, fate, &line);
}

/** Add _netdev to the lines of the plan that need a line with _netdev, perhaps through lines of
    in->file, if their mounts have no line in the plan.  Call before the plan has comments. */
static void add_netdev(struct maker *mk)
{
	struct fstab_plan *plan = mk->plan;
	const struct fstab_file *file = mk->in->file;
	struct arena *work = &mk->work;
	struct order order;
	size_t count = plan->count, others = file ? file->count : 0;
	struct fstab_entry *entries = arena_new(work, count, sizeof(*entries));
	const struct fstab_entry **lines = arena_new(work, count + others, sizeof(*lines));
	for (size_t i = 0; i < plan->count && !work->failed; ++i) {
		fstab_line_entry(&plan->lines[i], work, &entries[i]);
		lines[i] = &entries[i];
	}
	for (size_t i = 0; i < others && !work->failed; ++i) {
		const struct fstab_entry *entry = &file->entries[i];
		uint32_t node = fstab_is_entry(entry) && entry->path
		                ? pathmap_get(&mk->by_name, entry->path) : PATHMAP_NONE;
		if (node != PATHMAP_NONE && mk->decisions[node].state != LINE)
			lines[count++] = entry;
	}
	order_make(lines, (uint32_t)count, work, &order);
	for (size_t i = 0; i < plan->count && !work->failed; ++i) {
		if (order.flags[i] & ORDER_LACKS_NETDEV)
			plan->lines[i].options = arena_printf(mk->arena, "%s,_netdev",
			                                      lines[i]->options);
	}
}

void fstab_name_origins(struct fstab_plan *plan)
{
	for (size_t i = 0; i < plan->count && plan->of[FSTAB_COPY]; ++i) {
		struct fstab_line *line = &plan->lines[i];
		if (line->fate == FSTAB_COPY)
			line->why = arena_printf(&plan->arena, "a copy of the mount on %s, made by "
			                         "%s%s", line->origin->target,
			                         line->came_along ? "a recursive bind"
			                         : "propagation", line->hidden ? ", and hidden"
			                         : "");
	}
}

int fstab_plan(const struct fstab_input *in, struct fstab_plan *plan)
{
	const struct mtree *tree = &in->d->tree;
	struct arena *arena = &plan->arena;
	*plan = (struct fstab_plan){0};
	struct maker mk = {.in = in, .plan = plan, .tree = tree, .arena = arena};
	plan->lines = arena_new(arena, tree->count + in->nswaps, sizeof(*plan->lines));
	mk.decisions = arena_new(&mk.work, tree->count, sizeof(*mk.decisions));
	mk.by_name.newest.arena = mk.by_hidden.newest.arena = mk.hidden.arena = &mk.work;
	mk.by_line.newest.arena = &mk.work;
	mk.by_root.arena = mk.primary.arena = mk.scratch.arena = mk.text.arena = &mk.work;
	if (plan->lines && mk.decisions) {
		plan_classify(&mk);
		decide_all(&mk);
		add_netdev(&mk);
		for (size_t i = 0; i < in->nswaps && !arena->failed; ++i)
			add_swap(&mk, &in->swaps[i]);
		link_lines(&mk);
		add_others(&mk);
	}
	arena->failed |= mk.work.failed;
	arena_destroy(&mk.work);
	fstab_name_origins(plan);
	assert(arena->failed || plan->of[FSTAB_LINE] + plan->of[FSTAB_COMMENT]
	                        + plan->of[FSTAB_COPY] + plan->of[FSTAB_OWN] == plan->count);
	assert(plan->count <= tree->count + in->nswaps);
	return arena_check(arena);
}

void fstab_line_entry(const struct fstab_line *line, struct arena *arena,
                      struct fstab_entry *entry)
{
	*entry = (struct fstab_entry){
		.source = line->source, .target = line->target ? line->target : "none",
		.fstype = line->fstype, .options = line->options, .passno = line->passno,
	};
	fstab_entry_complete(entry, arena);
}

void fstab_plan_destroy(struct fstab_plan *plan)
{
	arena_destroy(&plan->arena);
}
