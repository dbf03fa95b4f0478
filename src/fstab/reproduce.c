/* SPDX-License-Identifier: MIT */
#include "fstab/reproduce.h"

#include "base/fstypes.h"
#include "base/secret.h"
#include "fstab/match/matcher.h"
#include "fstab/order.h"
#include "fstab/simulate.h"
#include "mountopts/shown.h"

#define NONE NO_LINE

/** The mount that a line of the file makes. */
struct mounter {
	uint32_t of;             /* index of the mount in the plan; NONE: the plan does not have the
	                            mount */
	bool used;               /* the line has the mount point of a mount of the plan, but a
	                            different source; the report about the mount names the line,
	                            which needs no report of its own */
	bool repeated;           /* an earlier line mounts the same source on the same mount
	                            point */
	bool again;              /* the line mounts once more a mount that is a copy */
};

/** The line that makes a mount or swap space of the plan. */
struct wanted {
	uint32_t entry;          /* index of the line; NONE: no line makes the mount */
	uint32_t other;          /* if no line makes the mount: index of a line that mounts a
	                            different source on its mount point; or NONE */
	const char *differs;     /* options of the mount that differ from the line; or NULL */
};

struct work {
	const struct reproduce_input *in;
	const struct fstab_plan *plan;
	struct reproduction *out;
	struct fstab_match match;
	const struct candidate *entries;   /* the lines of the file, in the matcher */
	struct mounter *mounters;      /* mounters[i]: line i of the file */
	struct wanted *wanted;         /* wanted[i]: line i of the plan */
	struct fstab_entry *graph_lines;   /* the lines of the file, then an entry for each mount
	                                      of the plan without a line */
	const struct fstab_entry **lines;      /* pointers to graph_lines, for order_make() */
	uint32_t nentries, nlines;
	struct order order;
	struct order_outcome *outcomes;
	bool *broken;
	struct simulation sim;
	struct map64 made;             /* hash of a simulated mount -> the first such mount */
	struct arena *arena;           /* memory of the result and of this struct, except `match` */
};

/** Why line i of the file fails in any order: the kernel refuses the line, or its source does not
    exist.  NULL: no reason is known.  The source of a line whose mount exists is not missing. */
static const char *cause(const struct work *w, uint32_t i)
{
	const char *refused = w->in->refused ? w->in->refused[i] : NULL;
	const char *missing = w->in->missing ? w->in->missing[i] : NULL;
	return refused || w->mounters[i].of != NONE ? refused : missing;
}

/** Copy the pairs and differences of w->match to w->mounters and w->wanted. */
static void read_match(struct work *w)
{
	for (uint32_t i = 0; i < w->plan->count; ++i)
		w->wanted[i] = (struct wanted){.entry = NONE, .other = NONE};
	for (uint32_t i = 0; i < w->nentries; ++i) {
		uint32_t of = w->entries[i].live;
		w->mounters[i] = (struct mounter){.of = of};
		if (of != NONE && w->wanted[of].entry == NONE)
			w->wanted[of].entry = i;
	}
	for (size_t i = 0; i < w->match.count; ++i) {
		const struct fstab_difference *differ = &w->match.differences[i];
		uint32_t of = (uint32_t)(differ->live - w->plan->lines);
		if (!differ->line)
			continue;
		uint32_t entry = differ->line->number - 1;
		if (differ->kind == FSTAB_DIFFER_OPTIONS) {
			struct strbuf text = {.arena = w->arena};
			mask_options(differ->actual ? differ->actual : "", &text);
			w->wanted[of].differs = strbuf_str(&text);
		} else if (differ->kind == FSTAB_DIFFER_REPEATED) {
			w->mounters[entry].repeated = true;
		} else if (differ->kind != FSTAB_DIFFER_ELSEWHERE) {
			w->wanted[of].other = differ->kind == FSTAB_DIFFER_SOURCE ? entry : NONE;
		}
	}
}

/** Unpair a line from its mount if an earlier line names the same source although the mount of the
    earlier line is on a different device.  A tag or link that cannot be looked up may name one of
    the two devices, but not both. */
static void find_contradictions(struct work *w)
{
	struct map64 first = {.arena = w->arena};
	for (uint32_t i = 0; i < w->nentries; ++i) {
		uint32_t of = w->mounters[i].of;
		const struct fstab_line *live = of != NONE ? &w->plan->lines[of] : NULL;
		const struct mount *m = live ? live->mount : NULL;
		const char *source = w->entries[i].is.source;
		/* Skip binds, subvolumes and mounts without a block device: only for a mount of a
		   whole device does the source in the line determine the device. */
		if (!m || live->fate != FSTAB_LINE || strcmp(live->fstype, "none") == 0
		    || m->dev_major == 0 || fstype_flags(m->fstype) & FST_SUBVOL || !*source)
			continue;
		uint32_t k = map64_put(&first, map64_text(source), i);
		if (k == i || strcmp(w->entries[k].is.source, source) != 0
		    || mount_dev(w->plan->lines[w->mounters[k].of].mount) == mount_dev(m))
			continue;
		w->wanted[of].entry = NONE;
		w->wanted[of].other = i;
		w->mounters[i].of = NONE;
	}
}

/** Make the graph of the lines of the file and of the mounts of the plan without a line. */
static void make_graph(struct work *w)
{
	static const struct fstab_entry nothing = {
		.source = "", .target = "", .fstype = "", .options = "", .absent = true,
		.idle = true,
	};
	for (uint32_t i = 0; i < w->nentries; ++i) {
		uint32_t of = w->mounters[i].of;
		bool is_entry = fstab_is_entry(&w->entries[i].is);
		struct fstab_entry *entry = &w->graph_lines[i];
		*entry = is_entry ? w->entries[i].is : nothing;
		/* The mount point in the mount table has no symlinks, unlike the path in the
		   line. */
		if (of != NONE && w->plan->lines[of].mount && w->plan->lines[of].target)
			entry->real = w->plan->lines[of].target;
		w->broken[i] = is_entry && cause(w, i);
	}
	w->nlines = w->nentries;
	for (uint32_t i = 0; i < w->plan->count; ++i) {
		const struct fstab_line *line = &w->plan->lines[i];
		if (line->fate == FSTAB_LINE && w->wanted[i].other != NONE)
			w->mounters[w->wanted[i].other].used = true;
		if (line->fate == FSTAB_LINE && line->mount && w->wanted[i].entry == NONE) {
			struct fstab_entry *entry = &w->graph_lines[w->nlines++];
			*entry = nothing;
			entry->real = line->target;
		}
	}
	for (uint32_t i = 0; i < w->nlines; ++i)
		w->lines[i] = &w->graph_lines[i];
	order_make(w->lines, w->nlines, w->arena, &w->order);
}

/* Copies. */

/** The mount point, device and root of a mount as one number. */
static uint64_t hash_of(const char *point, uint64_t dev, const char *root)
{
	uint64_t hash = map64_bytes(map64_text(point), (const char *)&dev, sizeof(dev));
	return map64_bytes(hash, root, strlen(root));
}

static uint64_t hash_of_live(const struct fstab_line *line)
{
	return hash_of(line->target, mount_dev(line->mount), mount_root(line->mount));
}

/** Whether the lines make a mount as a copy of another mount or, if the plan has the mount as a
    copy, in any way. */
static bool is_copied(const struct work *w, const struct fstab_line *line)
{
	uint32_t i = line->target ? map64_get(&w->made, hash_of_live(line)) : MAP64_NONE;
	return i != MAP64_NONE && (w->sim.mounts[i].copy || line->fate == FSTAB_COPY);
}

/** Simulate one line that mount -a mounts. */
static void simulate_entry(struct work *w, uint32_t i)
{
	const struct fstab_entry *entry = &w->entries[i].is;
	const struct mounter *mounter = &w->mounters[i];
	const struct fstab_line *live = mounter->of != NONE ? &w->plan->lines[mounter->of] : NULL;
	const struct fstab_bound *bound = &w->match.bound[i];
	const char *target = fstab_entry_target(w->lines[i]), *source = NULL;
	enum order_lack lack = w->outcomes[i].lack;
	if ((lack != ORDER_LACKS_NOTHING && lack != ORDER_LACKS_TARGET) || !target || !target[1]
	    || mounter->repeated || entry->remount
	    || w->order.flags[i] & (ORDER_IS_IDLE | ORDER_IS_SWAP))
		return;
	if (entry->bind)
		source = bound->in ? bound->path
		         : entry->real_source ? entry->real_source
		         : fstab_normal(w->arena, entry->source);
	if (entry->bind && !source)
		return;
	/* The device of a line without a mount is unknown: use a number that no mount has. */
	bool known = live && live->mount;
	uint64_t dev = known ? mount_dev(live->mount) : UINT64_MAX - i;
	const char *root = known ? mount_root(live->mount) : "/";
	w->mounters[i].again = simulate_line(&w->sim, i, entry, target, source, dev, root);
}

/** Simulate all lines, on the mounts that the boot makes before. */
static void simulate(struct work *w)
{
	const struct fstab_plan *plan = w->plan;
	simulate_init(&w->sim, w->arena, 2 * (plan->count + w->nentries) + 64);
	for (int root = 1; root >= 0; --root) {
		for (size_t i = 0; i < plan->count; ++i) {
			const struct fstab_line *line = &plan->lines[i];
			bool is_root = line->target && !line->target[1];
			if (line->mount && line->target && !line->hidden && is_root == root
			    && (is_root || (line->fate == FSTAB_OWN && line->boot)))
				simulate_boot(&w->sim, line->mount, line->target);
		}
	}
	for (uint32_t i = 0; i < w->nentries && !w->arena->failed; ++i)
		simulate_entry(w, i);
	for (uint32_t i = 0; i < w->sim.count && !w->arena->failed; ++i) {
		const struct simulated *mount = &w->sim.mounts[i];
		if (mount->point && mount->line != SIMULATE_NONE)
			map64_put(&w->made, hash_of(mount->point, mount->dev, mount->root), i);
	}
}

/** The line of the mount that holds the mount point of a mount; NONE: no line. */
static uint32_t line_above(const struct work *w, const char *target)
{
	struct pathmap_at at = pathmap_of(target);
	uint32_t above = NONE;
	while (target[1] && pathmap_next_newest(&w->match.matcher->mount_by, &at))
		above = target[at.n] ? at.value : above;
	return above == NONE ? NONE : w->wanted[above].entry;
}

/** Report visible copies that do not exist now. */
static void add_extra_copies(struct work *w)
{
	struct map64 live = {.arena = w->arena};
	uint32_t *left = arena_new(w->arena, w->plan->count + 1, sizeof(*left));
	for (uint32_t i = 0; i < w->plan->count && !w->arena->failed; ++i) {
		const struct fstab_line *line = &w->plan->lines[i];
		if (line->mount && line->target)
			++left[map64_put(&live, hash_of_live(line), i)];
	}
	for (uint32_t i = 0; i < w->sim.count && !w->arena->failed; ++i) {
		const struct simulated *mount = &w->sim.mounts[i];
		if (!mount->point || mount->line == SIMULATE_NONE)
			continue;
		uint32_t at = map64_get(&live, hash_of(mount->point, mount->dev, mount->root));
		bool is_live = at != MAP64_NONE && left[at] > 0;
		left[is_live ? at : w->plan->count] -= is_live;
		if (is_live || !mount->copy || !mount->visible
		    || w->mounters[mount->line].of == NONE)
			continue;
		ARENA_PUSH(w->arena, w->out->items, w->out->count, (struct reproduce_item){
			.verdict = REPRODUCE_EXTRA, .line = mount->line + 1,
			.target = mount->point,
			.why = "a copy of its mount, made by propagation or a recursive bind, "
			       "which does not exist now"});
	}
	if (w->sim.too_many)
		ARENA_PUSH(w->arena, w->out->items, w->out->count, (struct reproduce_item){
			.verdict = REPRODUCE_EXTRA, .line = (uint32_t)w->nentries, .target = "/",
			.why = "binds in each other multiply mounts by propagation"});
}

/* Verdicts about mounts, swap spaces and lines. */

/** Describe why outcome->other, a line that line `entry` needs, is not mounted before line
    `entry`. */
static const char *why_other(struct work *w, uint32_t entry, const struct order_outcome *outcome)
{
	uint32_t other = outcome->other;
	const char *target = fstab_entry_target(w->lines[other]);
	const char *path = target ? target : w->lines[other]->source;
	if (other >= w->nentries)
		return arena_printf(w->arena, "it needs %s, which no line mounts", path);
	if (w->outcomes[other].lack == ORDER_LACKS_NOTHING && other > entry)
		return arena_printf(w->arena, outcome->kind == ORDER_PARENT
		                    ? "line %u mounts %s after it, and covers it"
		                    : "it needs line %u, which mounts %s after it",
		                    other + 1, path);
	return arena_printf(w->arena, "it needs line %u, of %s, which is not mounted by then",
	                    other + 1, path);
}

/** Why line i does not make its mount, or which line mounts over that mount; NULL: the line makes
    its mount. */
static const char *why_not(struct work *w, uint32_t i)
{
	const struct order_outcome *outcome = &w->outcomes[i];
	const struct mounter *other = &w->mounters[outcome->other < w->nentries ? outcome->other
	                                           : i];
	switch (outcome->lack) {
	case ORDER_LACKS_ITSELF:
		return cause(w, i);
	case ORDER_LACKS_BOOT:
		return "its line is noauto";
	case ORDER_LACKS_OTHER:
		return why_other(w, i, outcome);
	case ORDER_LACKS_TARGET:
		/* No fault if the line that is mounted over line i mounts the same source again, or
		   makes a mount of the plan. */
		if (!other->repeated && other->of == NONE)
			return arena_printf(w->arena, "line %u is mounted over it",
			                    outcome->other + 1);
		break;
	case ORDER_LACKS_NOTHING:
		break;
	}
	return NULL;
}

/** Check a copy. */
static struct reproduce_item check_copy(struct work *w, const struct fstab_line *copy)
{
	const struct fstab_line *origin = copy->origin;
	struct reproduce_item item = {.want = copy, .target = copy->target};
	if (is_copied(w, copy))
		return item;
	uint32_t of = w->wanted[origin - w->plan->lines].entry, in = line_above(w, copy->target);
	item.verdict = of == NONE ? REPRODUCE_NO_LINE : REPRODUCE_WRONG;
	if (of == NONE)
		item.why = arena_printf(w->arena, "it is a copy of the mount on %s, which no line "
		                        "mounts", origin->target);
	else if (why_not(w, of) || (in != NONE && why_not(w, in)))
		item.why = arena_printf(w->arena, "it is a copy of the mount on %s, which is not "
		                        "reproduced, or not where it would be passed on",
		                        origin->target);
	else if (in != NONE && in > of)
		item.why = arena_printf(w->arena, "it is a copy of the mount on %s, which line %u "
		                        "mounts before line %u: use rbind in line %u, or move "
		                        "line %u to after it", origin->target, of + 1, in + 1,
		                        in + 1, of + 1);
	else
		item.why = arena_printf(w->arena, "it is a copy of the mount on %s, which is not "
		                        "passed on to it", origin->target);
	return item;
}

static struct reproduce_item check_mount(struct work *w, uint32_t at)
{
	const struct wanted *wanted = &w->wanted[at];
	struct reproduce_item item = {.want = &w->plan->lines[at],
	                              .target = w->plan->lines[at].target};
	bool own = wanted->entry != NONE;
	uint32_t entry = own ? wanted->entry : wanted->other;
	if (entry == NONE) {
		item.verdict = is_copied(w, item.want) ? REPRODUCE_SAME : REPRODUCE_NO_LINE;
		item.why = item.verdict == REPRODUCE_SAME ? NULL : "no line mounts it";
		return item;
	}
	item.line = entry + 1;
	item.why = why_not(w, entry);
	if (!own && (!item.why || w->outcomes[entry].lack == ORDER_LACKS_TARGET))
		item.why = "the line mounts something else";
	else if (own && !item.why && wanted->differs)
		item.why = arena_printf(w->arena, "it is mounted with other options: %s",
		                        wanted->differs);
	item.verdict = item.why ? REPRODUCE_WRONG : REPRODUCE_SAME;
	return item;
}

/** The value of the option "pri" of a swap space; "": no such option. */
static const char *priority(const struct fstab_entry *entry)
{
	const char *value = fstab_entry_value(entry, "pri");
	return value ? value : "";
}

static struct reproduce_item check_swap(struct work *w, uint32_t at)
{
	const struct fstab_line *want = &w->plan->lines[at];
	uint32_t entry = w->wanted[at].entry;
	struct reproduce_item item = {.want = want, .target = "none", .source = want->source,
	                              .verdict = REPRODUCE_NO_LINE, .why = "no line has it"};
	if (entry == NONE)
		return item;
	item.line = entry + 1;
	struct fstab_entry planned;
	fstab_line_entry(want, w->arena, &planned);
	const char *mine = priority(&planned), *other = priority(w->lines[entry]);
	item.why = w->order.flags[entry] & ORDER_IS_IDLE ? "its line is noauto"
	           : strcmp(mine, other) == 0 ? NULL
	           : arena_printf(w->arena, "its priority is %s, in the line %s",
	                          *mine ? mine : "chosen by the kernel", *other ? other : "none");
	item.verdict = item.why ? REPRODUCE_WRONG : REPRODUCE_SAME;
	return item;
}

/** Check all mounts and swap spaces of the plan. */
static void check_all(struct work *w)
{
	struct reproduction *out = w->out;
	for (uint32_t i = 0; i < w->plan->count; ++i) {
		const struct fstab_line *want = &w->plan->lines[i];
		out->without += want->fate == FSTAB_COMMENT && want->mount;
		bool copy = want->fate == FSTAB_COPY;
		if (want->fate != FSTAB_LINE && (!copy || want->hidden))
			continue;
		struct reproduce_item item = copy ? check_copy(w, want)
		                             : want->mount ? check_mount(w, i) : check_swap(w, i);
		bool same = item.verdict == REPRODUCE_SAME;
		*(want->mount ? &out->mounts : &out->swaps) += 1;
		*(want->mount ? &out->same : &out->swaps_same) += same;
		ARENA_PUSH(w->arena, out->items, out->count, item);
	}
}

/** Count the mounts that systemd reproduces. */
static void count_systemd(struct work *w)
{
	order_run(&w->order, true, w->broken, w->outcomes);
	for (uint32_t i = 0; i < w->plan->count; ++i) {
		const struct fstab_line *want = &w->plan->lines[i];
		uint32_t entry = w->wanted[i].entry;
		/* The order in which systemd makes copies is not known. */
		bool made = want->mount && !want->hidden && is_copied(w, want)
		            && (want->fate == FSTAB_COPY
		                || (want->fate == FSTAB_LINE && entry == NONE));
		w->out->systemd += made;
		if (want->fate != FSTAB_LINE || !want->mount || entry == NONE
		    || w->wanted[i].differs)
			continue;
		const struct order_outcome *outcome = &w->outcomes[entry];
		bool twin = outcome->lack == ORDER_LACKS_TARGET
		            && w->mounters[outcome->other].repeated;
		w->out->systemd += outcome->lack == ORDER_LACKS_NOTHING || twin;
	}
}

/** Whether a mount on the mount point of line i matches the line, although the line could not be
    generated from the mount table: an automount, or a mount whose user name or password is only in
    the line. */
static bool is_as_live(const struct work *w, uint32_t i)
{
	const struct fstab_entry *line = w->lines[i];
	const char *target = fstab_entry_target(line);
	for (const struct planned *live = match_live(w->match.matcher, target); live;
	     live = match_next_live(w->match.matcher, live)) {
		const struct mount *m = live->line->mount;
		if (w->order.flags[i] & ORDER_IS_AUTOMOUNT && fstype_flags(m->fstype) & FST_AUTOFS)
			return true;
		if (m->source && strcmp(m->source, line->source) == 0 && m->root
		    && strcmp(m->root, "/") == 0 && shown_type(line->fstype, m->fstype))
			return true;
	}
	return false;
}

/** Why no mount of the plan belongs to line i. */
static const char *why_extra(struct work *w, uint32_t i)
{
	const struct planned *live = match_live(w->match.matcher, fstab_entry_target(w->lines[i]));
	if (!live)
		return "nothing is mounted there now";
	if (live->line->fate == FSTAB_LINE)
		return "something else is mounted there now";
	return arena_printf(w->arena, "what is mounted there now is not from fstab: %s",
	                    live->line->why ? live->line->why : "?");
}

/** Report the lines that make no mount of the plan, or fail.  Lines already reported with a mount
    are skipped. */
static void add_extra(struct work *w)
{
	for (uint32_t i = 0; i < w->nentries; ++i) {
		const struct mounter *mounter = &w->mounters[i];
		const char *path = fstab_entry_target(w->lines[i]), *why;
		if (mounter->of != NONE || mounter->repeated || mounter->used || mounter->again
		    || w->order.flags[i] & (ORDER_IS_IDLE | ORDER_IS_SWAP))
			continue;
		enum reproduce_verdict verdict = REPRODUCE_WRONG;
		enum order_lack lack = w->outcomes[i].lack;
		why = why_not(w, i);
		if (!path) {
			why = "its mount point is not an absolute path";
		} else if (lack != ORDER_LACKS_ITSELF && lack != ORDER_LACKS_OTHER) {
			if (!path[1] || is_as_live(w, i))
				continue;
			verdict = REPRODUCE_EXTRA;
			why = why_extra(w, i);
		}
		ARENA_PUSH(w->arena, w->out->items, w->out->count, (struct reproduce_item){
			.verdict = verdict, .line = i + 1, .why = why,
			.target = w->entries[i].is.target});
	}
}

/** Report the lines that mount a copy once more. */
static void add_again(struct work *w)
{
	for (uint32_t i = 0; i < w->nentries; ++i) {
		if (w->mounters[i].again)
			ARENA_PUSH(w->arena, w->out->items, w->out->count, (struct reproduce_item){
				.verdict = REPRODUCE_EXTRA, .line = i + 1,
				.target = w->entries[i].is.target,
				.why = "once more: it is a copy of another mount there already"});
	}
}

int reproduce(const struct reproduce_input *in, struct reproduction *out)
{
	const struct fstab_plan *plan = in->match->plan;
	struct fstab_match_input match = *in->match;
	size_t lines = in->file->count, all = lines + plan->count + 1;
	*out = (struct reproduction){0};
	struct arena *arena = &out->arena;
	struct work w = {
		.in = in,
		.plan = plan,
		.out = out,
		.arena = arena,
		.mounters = arena_new(arena, lines, sizeof(*w.mounters)),
		.wanted = arena_new(arena, plan->count, sizeof(*w.wanted)),
		.graph_lines = arena_new(arena, all, sizeof(*w.graph_lines)),
		.lines = arena_new(arena, all, sizeof(*w.lines)),
		.nentries = (uint32_t)lines,
		.outcomes = arena_new(arena, all, sizeof(*w.outcomes)),
		.broken = arena_new(arena, all, sizeof(*w.broken)),
		.made.arena = arena,
	};
	match.file = in->file;
	if (fstab_match(&match, &w.match) != 0)
		arena_fail(arena);
	if (!arena->failed) {
		w.entries = w.match.matcher->entries;
		read_match(&w);
		find_contradictions(&w);
		make_graph(&w);
	}
	if (!arena->failed) {
		order_run(&w.order, false, w.broken, w.outcomes);
		simulate(&w);
	}
	if (!arena->failed) {
		check_all(&w);
		add_extra(&w);
		add_again(&w);
		add_extra_copies(&w);
		count_systemd(&w);
	}
	fstab_match_destroy(&w.match);
	return arena_check(arena);
}

void reproduction_destroy(struct reproduction *out)
{
	arena_destroy(&out->arena);
}
