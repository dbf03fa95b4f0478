/* SPDX-License-Identifier: MIT */
#include "fstab/reproduce.h"

#include "base/fstypes.h"
#include "base/secret.h"
#include "fstab/match/matcher.h"
#include "fstab/order.h"
#include "mountopts/shown.h"

#define NONE NO_LINE

/** The mount that a line of the file makes. */
struct mounter {
	uint32_t of;             /* index of the mount in the plan; NONE: the plan does not have the
	                            mount */
	bool used;               /* the line mounts a different source on the mount point of a
	                            mount of the plan, and is reported with that mount */
	bool repeated;           /* the line of a mount already mounts this source on this mount
	                            point */
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

static struct reproduce_item check_mount(struct work *w, uint32_t at)
{
	const struct wanted *wanted = &w->wanted[at];
	struct reproduce_item item = {.want = &w->plan->lines[at],
	                              .target = w->plan->lines[at].target};
	bool own = wanted->entry != NONE;
	uint32_t entry = own ? wanted->entry : wanted->other;
	if (entry == NONE) {
		item.verdict = REPRODUCE_NO_LINE;
		item.why = "no line mounts it";
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
		if (want->fate != FSTAB_LINE)
			continue;
		struct reproduce_item item = want->mount ? check_mount(w, i) : check_swap(w, i);
		bool same = item.verdict == REPRODUCE_SAME;
		*(want->mount ? &out->mounts : &out->swaps) += 1;
		*(want->mount ? &out->same : &out->swaps_same) += same;
		out->items[out->count++] = item;
	}
}

/** Count the mounts that systemd reproduces. */
static void count_systemd(struct work *w)
{
	order_run(&w->order, true, w->broken, w->outcomes);
	for (uint32_t i = 0; i < w->plan->count; ++i) {
		const struct fstab_line *want = &w->plan->lines[i];
		uint32_t entry = w->wanted[i].entry;
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
		if (mounter->of != NONE || mounter->repeated || mounter->used
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
		w->out->items[w->out->count++] = (struct reproduce_item){
			.verdict = verdict, .line = i + 1, .why = why,
			.target = w->entries[i].is.target};
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
	};
	out->items = arena_new(arena, all, sizeof(*out->items));
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
		check_all(&w);
		add_extra(&w);
		count_systemd(&w);
	}
	fstab_match_destroy(&w.match);
	return arena_check(arena);
}

void reproduction_destroy(struct reproduction *out)
{
	arena_destroy(&out->arena);
}
