/* SPDX-License-Identifier: MIT */
/*
 * Deciding on each mount after those that it needs.
 *
 * A mount needs the mount that it is mounted on; a bind, the mount of its source; an overlay, those
 * of its layers; a loop device, that of its image.  Without a line for these it cannot have one. So
 * passes over the tree, from the root up, repeat while they decide any; nearly always one pass
 * suffices, and a second for binds whose source comes later.  The order of decisions is the order
 * of the lines: mount -a runs from first to last.
 *
 *     place_classify()  what it is: elsewhere, the system's own, hidden ..., a mount
 *                       of its file system, or a bind: a part of one, or one more
 *     decide()          its line, or the reason why there is none
 */
#include "fstab/plan/place.h"

#include "base/fstypes.h"
#include "base/words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/** The most passes; a mount that waits after them waits for itself. */
enum { PASSES_MAX = 64 };

/* Lines. */

/** Add a line to the plan. */
static struct fstab_line *add_line(struct maker *mk, enum fstab_fate fate,
                                   const struct fstab_line *line)
{
	struct fstab_line *to = &mk->plan->lines[mk->plan->count++];
	*to = *line;
	to->fate = fate;
	++mk->plan->of[fate];
	return to;
}

/** Network types that systemd does not know as such. */
static bool wants_netdev(const struct mount *m)
{
	static const char *const types[] = {
		"acfs", "beegfs", "coda", "fuse.sshfs", "gpfs", "orangefs", NULL,
	};
	for (size_t i = 0; types[i]; ++i) {
		if (strcmp(place_type(m), types[i]) == 0)
			return true;
	}
	return strcmp(place_type(m), "9p") == 0 && opt_shown_has(m->fs_opts, "trans=tcp");
}

/** Whether options that mount(8) kept have this one. */
static bool has_kept(const char *list, const char *option, size_t n)
{
	size_t m;
	for (const char *o; (o = opt_next(&list, &m)) != NULL;) {
		if (m == n && memcmp(o, option, n) == 0)
			return true;
	}
	return false;
}

/** Append the kept options that are for other programs.
    @return false: they hold a secret. */
static bool add_kept(struct maker *mk, uint32_t i, struct strbuf *more, struct fstab_line *line)
{
	const struct fstab_world *world = &mk->in->world;
	const char *kept = world->kept ? world->kept(world->arg, mk->in->d->targets[i],
	                                             place_mount(mk, i)) : NULL;
	size_t n;
	for (const char *o; (o = opt_next(&kept, &n)) != NULL;) {
		bool takes = (n > 2 && memcmp(o, "x-", 2) == 0) || word_is(o, n, "_netdev");
		if (!takes || has_kept(strbuf_str(more), o, n))
			continue;
		const char *option = arena_strndup(mk->draft.arena, o, n);
		if (!option) {
			mk->draft.failed = true;
			return true;
		}
		if (world->secret && world->secret(NULL, option)) {
			line->why = "one of its options holds a secret, which does not belong in "
			            "an fstab";
			return false;
		}
		opt_puts(more, option);
	}
	return true;
}

/** Append the options that are not the file system's: ours, and those that mount(8) kept.
    @spare  Boot can do without it, in any case.
    @return false: they hold a secret. */
static bool add_own(struct maker *mk, uint32_t i, bool spare, struct strbuf *more,
                    struct fstab_line *line)
{
	if (spare || (mk->in->nofail && !fstab_is_system(mk->places[i].target)))
		opt_puts(more, "nofail");
	if (mk->places[i].automount)
		opt_puts(more, "x-systemd.automount");
	if (place_wants_mkdir(mk, i))
		opt_puts(more, "X-mount.mkdir");
	return add_kept(mk, i, more, line);
}

/** The pass of fsck: not 0 if ROOT has a helper that does something. */
static int pass_of(const struct maker *mk, const char *fstype, const char *target)
{
	const struct fstab_world *world = &mk->in->world;
	if (!(fstype_flags(fstype) & FST_FSCK) || (world->fsck && world->fsck(world->arg,
	        fstype) == 0))
		return 0;
	return strcmp(target, "/") == 0 ? 1 : 2;
}

/** The layers of an overlay, all of which are needed. */
struct layers {
	struct maker *mk;
	uint32_t i;
	enum state state;
	const char *why;
	struct strbuf *more;     /* gets options that make systemd wait */
};

static bool each_layer(void *arg, const struct opt_layer *layer)
{
	struct layers *layers = arg;
	struct maker *mk = layers->mk;
	opt_layer_path(layer, &mk->path);
	const char *path = place_below(mk->in, strbuf_str(&mk->path));
	if (!path)
		return true;   /* add_layers() reports it */
	uint32_t node;
	enum state state = place_needs_path(mk, layers->i, path, "its layer", &node, &layers->why);
	if (state != LINE) {
		layers->state = state;
		return state == WAITING;
	}
	if (node != MT_NONE && mk->places[node].state == LINE
	    && strcmp(mk->places[node].target, "/") != 0
	    && !strpbrk(mk->places[node].target, " ,\"\\")) {
		const char *option = fstab_format(&mk->draft, "x-systemd.requires-mounts-for=%s",
		                                  mk->places[node].target);
		if (option && !opt_shown_has(strbuf_str(layers->more), option))
			opt_puts(layers->more, option);
	}
	return true;
}

/** Whether the file of a loop device is a device, by its path and by that from ROOT. */
static bool is_device_name(const char *file, const char *path)
{
	return mtree_path_within(file, "/dev") || (path && mtree_path_within(path, "/dev"));
}

/** The source of a loop device: its image, as a person would mount it; if that lies outside of
    ROOT, a disk. */
static enum state name_image(struct maker *mk, uint32_t i, const struct fstab_device *device,
                             struct fstab_line *line, const char **first)
{
	const struct devmap_loop *loop = &device->loop;
	const char *path = loop->file ? place_below(mk->in, loop->file) : NULL;
	uint32_t node;
	*first = NULL;
	if (!loop->partition && loop->file && is_device_name(loop->file, path)) {
		enum state state =
		        path ? place_needs_path(mk, i, path, "its image", &node, &line->why) : LINE;
		/* A loop device on a whole device shows the same. */
		if (state != LINE || (!loop->offset && !loop->limit && mk->in->id != FSTAB_PATH))
			return state;
		line->why = fstab_format(
		        &mk->draft, "it is of a loop device on %s, which has no name that lasts",
		        loop->file);
		return REFUSED;
	}
	if (!path)
		return LINE;
	if (loop->partition) {
		line->warning =
		        fstab_format(&mk->draft,
			             "it is a partition of the image %s, which must be attached "
			             "first: losetup -P",
			             path);
		return LINE;
	}
	static const char deleted[] = " (deleted)";
	size_t n = strlen(path), tail = sizeof(deleted) - 1;
	if (n > tail && strcmp(path + n - tail, deleted) == 0) {
		line->why = "its image was removed";
		return REFUSED;
	}
	enum state state = place_needs_path(mk, i, path, "its image", &node, &line->why);
	if (state != LINE)
		return state;
	line->source = path;
	line->note = device->tags && device->tags->uuid
	             ? fstab_format(&mk->draft, "UUID=%s", device->tags->uuid) : NULL;
	*first = "loop";
	if (loop->offset && loop->limit)
		*first = fstab_format(&mk->draft, "loop,offset=%llu,sizelimit=%llu",
		                      (unsigned long long)loop->offset,
		        (unsigned long long)loop->limit);
	else if (loop->offset)
		*first = fstab_format(&mk->draft, "loop,offset=%llu",
		                      (unsigned long long)loop->offset);
	else if (loop->limit)
		*first = fstab_format(&mk->draft, "loop,sizelimit=%llu",
		                      (unsigned long long)loop->limit);
	return LINE;
}

/** Whether the source of a mount is a device. */
static bool on_device(const struct mount *m)
{
	return m->dev_major != 0 || fstype_flags(m->fstype) & FST_SUBVOL
	       || strcmp(place_type(m), "fuseblk") == 0;
}

/** Make the line of a mount that is no bind.  @return LINE, WAITING or REFUSED. */
static enum state make_mount(struct maker *mk, uint32_t i, struct fstab_line *line)
{
	const struct mount *m = place_mount(mk, i);
	const struct fstab_input *in = mk->in;
	struct fstab_device device = {0};
	const char *first = NULL;
	struct strbuf more;
	strbuf_init(&more);
	enum state state = LINE;

	line->why = fstab_type_fault(&mk->draft, m);
	if (line->why) {
		state = REFUSED;
		goto out;
	}
	struct layers layers = {.mk = mk, .i = i, .state = LINE, .more = &more};
	if (strcmp(place_type(m), "overlay") == 0) {
		opt_each_layer(m->fs_opts, &mk->scratch, each_layer, &layers);
		line->why = layers.why;
		state = layers.state;
		if (state != LINE)
			goto out;
	}
	line->fstype = m->fstype ? m->fstype : "auto";
	if (!on_device(m)) {
		if (!fstab_name_source(&mk->draft, m, line)) {
			state = REFUSED;
			goto out;
		}
	} else {
		line->source = NULL;
		if (in->world.device && in->world.device(in->world.arg, m, &device) != 0) {
			mk->draft.failed = true;
			goto out;
		}
		state = name_image(mk, i, &device, line, &first);
		if (state == LINE && !line->source && !fstab_name_device(&mk->draft, &device,
		        m->source, line)) {
			state = REFUSED;
			line->unnamed = true;
		}
		if (state != LINE)
			goto out;
		if (strcmp(line->fstype, "fuseblk") == 0) {
			line->fstype = device.tags ? device.tags->type : NULL;
			if (!line->fstype) {
				line->why = "the type of what is on the device is not known";
				state = REFUSED;
				goto out;
			}
		}
		if (!first)
			line->passno = pass_of(mk, line->fstype, mk->places[i].target);
	}
	if (device.remote || wants_netdev(m))
		opt_puts(&more, "_netdev");
	bool spare = (device.loop.partition && line->warning) || mk->places[i].owner;
	bool open = add_own(mk, i, spare, &more, line);
	struct fstab_choice choice = {.mount = m, .first = first, .more = more.len
	                              ? strbuf_str(&more) : NULL};
	if (!open || !fstab_choose_options(&mk->draft, &choice, line))
		state = REFUSED;
out:
	mk->draft.failed |= more.failed;
	strbuf_destroy(&more);
	return state;
}

/** Make the line of a bind. */
static enum state make_bind(struct maker *mk, uint32_t i, bool last, struct fstab_line *line)
{
	const struct mount *m = place_mount(mk, i);
	const struct fstab_input *in = mk->in;
	struct bind bind;
	place_find_bind(mk, i, &bind);
	if (!bind.source) {
		if (bind.waiting && !last)
			return WAITING;
		line->why =
		        bind.why ? bind.why
			: bind.waiting
		                ? "its source is visible only in mounts that have no line"
		                : fstab_format(&mk->draft,
		                               "its source, %s of %s, is visible nowhere %s",
		                               place_root(m), m->source ? m->source : "none",
		                               strcmp(in->root, "/") == 0 ? "else" : "below ROOT");
		if (place_injected(mk, i)) {
			line->why = "of a container";
			return OWN;
		}
		return REFUSED;
	}
	line->why = place_writes_refused(mk, i);
	if (line->why)
		return REFUSED;
	line->source = bind.source;
	line->fstype = "none";
	struct strbuf more;
	strbuf_init(&more);
	bool open = add_own(mk, i, mk->places[i].owner, &more, line);
	struct fstab_choice choice = {.mount = m, .bound = place_mount(mk, bind.in), .bind = true,
	                              .more = more.len ? strbuf_str(&more) : NULL};
	enum state state = open && fstab_choose_options(&mk->draft, &choice, line) ? LINE : REFUSED;
	mk->draft.failed |= more.failed;
	strbuf_destroy(&more);
	return state;
}

/** Record a decision. */
static void settle(struct maker *mk, uint32_t i, enum state state, const struct fstab_line *line)
{
	mk->places[i].state = (uint8_t)state;
	mk->places[i].why = line->why;
	mk->places[i].unnamed = line->unnamed;
	if (state == LINE)
		add_line(mk, FSTAB_LINE, line);
}

/** Whether a mount point is to be added by name. */
static bool is_named(const struct maker *mk, const char *target)
{
	for (size_t k = 0; k < mk->in->nadd; ++k) {
		const char *name = fstab_normal(mk->draft.arena, mk->in->add[k]);
		if (name && strcmp(name, target) == 0)
			return true;
	}
	return false;
}

/**
 * Decide on a node if all that it needs is decided.
 *
 * @last  The last pass: nodes that still wait need each other.
 */
static void decide(struct maker *mk, uint32_t i, bool last)
{
	struct place *place = &mk->places[i];
	struct fstab_line line = {.mount = place_mount(mk, i), .target = place->target,
	                          .owner = place->owner};
	enum state state = place_needs_parent(mk, i, &line.why);
	if (state == LINE)
		state = place->bind ? make_bind(mk, i, last, &line) : make_mount(mk, i, &line);
	if (state == LINE && place->owner && !is_named(mk, place->target)) {
		line.why = fstab_format(&mk->draft,
		                        "user %s mounted it, and a line would have root mount at "
		                        "each boot what that user "
		                        "chose; --merge --add=PATH writes it",
		                        place->owner + strlen("user:"));
		state = REFUSED;
	}
	if (state == WAITING && last) {
		line.why = "it depends on itself through other mounts";
		state = REFUSED;
	}
	if (state != WAITING)
		settle(mk, i, state, &line);
}

static void decide_all(struct maker *mk)
{
	const struct mtree *tree = mk->tree;
	bool again = true;
	for (unsigned pass = 0; again && !mk->draft.failed; ++pass) {
		size_t waiting = 0, decided = 0;
		bool last = pass >= PASSES_MAX;
		for (uint32_t at = 0; at < tree->count && !mk->draft.failed; ++at) {
			uint32_t i = tree->order[at];
			if (mk->places[i].state != WAITING)
				continue;
			decide(mk, i, last);
			decided += mk->places[i].state != WAITING;
			waiting += mk->places[i].state == WAITING;
		}
		/* The rest is cyclic: a last pass, without waiting. */
		if (waiting && !decided)
			pass = PASSES_MAX;
		again = waiting > 0;
	}
}

/** Append comments after the lines, and then what is left out, in the order of the tree. */
static void add_others(struct maker *mk)
{
	for (int own = 0; own < 2; ++own) {
		for (uint32_t at = 0; at < mk->tree->count; ++at) {
			uint32_t i = mk->tree->order[at];
			const struct place *place = &mk->places[i];
			if (place->state != (own ? OWN : REFUSED))
				continue;
			struct fstab_line line = {
				.mount = place_mount(mk, i), .why = place->why,
				        .owner = place->owner,
				.target = place->target ? place->target : mk->in->d->targets[i],
				.boot = own && place->boot, .unnamed = !own && place->unnamed,
				        .hidden = mk->tree->nodes[i].states & 1u << MT_HIDDEN,
			};
			add_line(mk, own ? FSTAB_OWN : FSTAB_COMMENT, &line);
		}
	}
}

/* Swap. */

static void add_swap(struct maker *mk, const struct fstab_swap *swap)
{
	const struct fstab_input *in = mk->in;
	struct fstab_line line = {
	        .target = "none", .fstype = "swap", .source = swap->name, .swap = swap->name};
	enum fstab_fate fate = FSTAB_LINE;
	struct fstab_device device = {0};
	uint32_t node;
	if (in->filter && strncmp(swap->name, in->filter, strlen(in->filter)) != 0) {
		line.why = "excluded by -f";
		fate = FSTAB_OWN;
	} else if (strncmp(swap->name, "/dev/zram", 9) == 0) {
		line.why = "zram is set up at boot, with a new UUID each time";
		line.owner = "unit";
		fate = FSTAB_OWN;
	} else if ((line.owner = place_unit(&in->world, swap->name)) != NULL) {
		line.why = "mounted by its own unit";
		fate = FSTAB_OWN;
	} else if (swap->deleted) {
		line.why = "its file was removed, or cannot be reached";
		fate = FSTAB_COMMENT;
	} else if (swap->file) {
		line.source = place_below(in, swap->name);
		if (!line.source) {
			line.source = swap->name;
			line.why = "its file lies outside ROOT";
			fate = FSTAB_OWN;
		} else if (place_needs_path(mk, MT_NONE, line.source, "its file", &node, &line.why)
		           != LINE) {
			fate = FSTAB_COMMENT;
		}
	} else if (in->world.swap && in->world.swap(in->world.arg, swap->name, &device) != 0) {
		mk->draft.failed = true;
		return;
	} else if (!fstab_name_device(&mk->draft, &device, swap->name, &line)) {
		line.source = swap->name;
		line.unnamed = true;
		fate = FSTAB_COMMENT;
	}
	line.options = device.remote ? "defaults,_netdev" : "defaults";
	if (swap->priority >= 0)
		line.options = fstab_format(&mk->draft, "%s,pri=%d", line.options, swap->priority);
	add_line(mk, fate, &line);
}

int fstab_plan(const struct fstab_input *in, struct fstab_plan *plan)
{
	const struct mtree *tree = &in->d->tree;
	*plan = (struct fstab_plan){0};
	arena_init(&plan->arena);
	struct maker mk = {
		.draft = {.in = in, .arena = &plan->arena}, .in = in, .plan = plan, .tree = tree,
		.places = calloc(tree->count + 1, sizeof(struct place)),
	};
	plan->lines = calloc(tree->count + in->nswaps + 1, sizeof(*plan->lines));
	map64_init(&mk.by_name);
	map64_init(&mk.by_hidden);
	map64_init(&mk.by_root);
	map64_init(&mk.primary);
	map64_init(&mk.tops);
	strbuf_init(&mk.draft.text);
	strbuf_init(&mk.path);
	strbuf_init(&mk.scratch);
	bool good = mk.places && plan->lines;
	if (good) {
		for (uint32_t at = 0; at < tree->count; ++at)
			place_classify(&mk, tree->order[at]);
		good = place_index(&mk);
	}
	if (good) {
		for (uint32_t at = 0; at < tree->count; ++at)
			place_consider(&mk, tree->order[at]);
		decide_all(&mk);
		for (size_t i = 0; i < in->nswaps && !mk.draft.failed; ++i)
			add_swap(&mk, &in->swaps[i]);
		add_others(&mk);
	}
	good = good && !mk.draft.failed && !mk.draft.text.failed && !mk.path.failed
	        && !mk.scratch.failed;
	strbuf_destroy(&mk.draft.text);
	strbuf_destroy(&mk.path);
	strbuf_destroy(&mk.scratch);
	map64_destroy(&mk.by_name);
	map64_destroy(&mk.by_hidden);
	map64_destroy(&mk.by_root);
	map64_destroy(&mk.primary);
	map64_destroy(&mk.tops);
	free(mk.places);
	if (!good)
		errno = ENOMEM;
	return good ? 0 : -1;
}

void fstab_plan_destroy(struct fstab_plan *plan)
{
	free(plan->lines);
	plan->lines = NULL;
	arena_destroy(&plan->arena);
}
