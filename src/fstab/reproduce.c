/* SPDX-License-Identifier: MIT */
#include "fstab/reproduce.h"

#include "base/escape.h"
#include "base/fstypes.h"
#include "base/map64.h"
#include "base/secret.h"
#include "fstab/match.h"
#include "fstab/order.h"
#include "fstab/places.h"
#include "mountopts/optlist.h"
#include "mountopts/shown.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

/** What is known of an entry of the text. */
struct entry {
	const struct tabline *line;
	uint32_t of;             /* the mount of the plan that it mounts; NONE */
	uint32_t noted;          /* ... that is on its place, and that it does not mount; NONE */
	bool repeated;           /* another line mounts the same */
};

/** What is known of a mount or swap space of the plan. */
struct wanted {
	uint32_t entry;          /* that mounts it; NONE */
	uint32_t other;          /* without one: that mounts something else on its place; NONE */
	uint32_t next;           /* the next of the same hash of its target */
	const char *differs;     /* options that are not as in its entry; or NULL */
};

struct work {
	const struct reproduce_input *in;
	const struct fstab_plan *plan;
	struct reproduction *out;
	bool failed;             /* ENOMEM */
	struct entry *entries;
	uint32_t nentries;
	struct wanted *wanted;   /* by line of the plan */
	struct map64 by_target;  /* hash of a target -> the last line of the plan of it */
	uint32_t *entry_of;      /* by line of the text */
	struct order_line *lines;    /* of entries, then of mounts without one */
	struct order order;
	struct order_outcome *outcomes;
	bool *broken;
	uint32_t nlines;
};

static bool failed(const struct work *w)
{
	return w->failed;
}

/** A formatted string that stays; "" on ENOMEM. */
__attribute__((format(printf, 2, 3)))
static const char *form(struct work *w, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	const char *kept = arena_vprintf(&w->out->arena, format, args);
	va_end(args);
	w->failed |= !kept;
	return kept ? kept : "";
}

static uint32_t plan_index(const struct work *w, const struct fstab_line *line)
{
	return line ? (uint32_t)(line - w->plan->lines) : NONE;
}

static const char *cause(const struct work *w, const char *const *list, uint32_t entry)
{
	return list ? list[w->entries[entry].line->number - 1] : NULL;
}

/** Ask which line mounts which mount, and what differs. */
static void match(struct work *w)
{
	struct fstab_match_input in = *w->in->match;
	struct fstab_match match;
	in.file = w->in->lines;
	if (fstab_match(&in, &match) != 0) {
		w->failed = true;
		fstab_match_destroy(&match);
		return;
	}
	for (uint32_t i = 0; i < w->nentries; ++i) {
		struct entry *entry = &w->entries[i];
		entry->of = plan_index(w, match.of[entry->line->number - 1]);
		if (entry->of != NONE && w->wanted[entry->of].entry == NONE)
			w->wanted[entry->of].entry = i;
	}
	for (size_t i = 0; i < match.count && !failed(w); ++i) {
		const struct fstab_difference *differ = &match.differences[i];
		const struct tabline *line = differ->line;
		bool is_entry = line && line->kind == TABLINE_ENTRY;
		uint32_t entry = is_entry ? w->entry_of[line->number - 1] : NONE;
		uint32_t of = plan_index(w, differ->live);
		if (entry == NONE || of == NONE)
			continue;
		if (differ->kind == FSTAB_DIFFER_OPTIONS) {
			struct strbuf text;
			strbuf_init(&text);
			mask_options(differ->actual ? differ->actual : "", &text);
			w->wanted[of].differs = form(w, "%s", strbuf_str(&text));
			w->failed |= text.failed;
			strbuf_destroy(&text);
		} else if (differ->kind == FSTAB_DIFFER_SOURCE
		           || differ->kind == FSTAB_DIFFER_BESIDE) {
			w->entries[entry].noted = of;
			w->wanted[of].other = differ->kind == FSTAB_DIFFER_SOURCE ? entry : NONE;
		} else if (differ->kind == FSTAB_DIFFER_REPEATED) {
			w->entries[entry].noted = of;
			w->entries[entry].repeated = true;
		}
	}
	fstab_match_destroy(&match);
}

static const char *decoded(struct work *w, const char *raw)
{
	size_t n = raw ? strlen(raw) : 0;
	char *text = arena_strndup(&w->out->arena, raw ? raw : "", n);
	w->failed |= !text;
	if (!text)
		return "";
	text[unescape_octal(text, text, n)] = '\0';
	return text;
}

/** Take the entries of the text. */
static void read_lines(struct work *w)
{
	const struct tablines *lines = w->in->lines;
	for (uint32_t i = 0; i < lines->count && !failed(w); ++i) {
		const struct tabline *line = &lines->lines[i];
		w->entry_of[i] = NONE;
		if (line->kind != TABLINE_ENTRY)
			continue;
		const char *source = tabline_value(line, TABLINE_SOURCE),
			   *fstype = tabline_value(line, TABLINE_FSTYPE);
		const char *target = tabline_value(line, TABLINE_TARGET);
		bool swap = fstype && strcmp(fstype, "swap") == 0;
		w->entry_of[i] = w->nentries;
		w->lines[w->nentries] = (struct order_line){
			.source = source ? source : "", .fstype = fstype ? fstype : "",
			.options = decoded(w, tabline_value(line, TABLINE_OPTIONS)),
			.path = swap ? NULL : fstab_normal(&w->out->arena, target)};
		w->entries[w->nentries++] = (struct entry){.line = line, .of = NONE, .noted = NONE};
	}
}

/** Take the plan. */
static void read_plan(struct work *w)
{
	for (uint32_t i = 0; i < w->plan->count && !failed(w); ++i) {
		const struct fstab_line *line = &w->plan->lines[i];
		w->wanted[i] = (struct wanted){.entry = NONE, .other = NONE, .next = NONE};
		if (!line->mount || !line->target)
			continue;
		uint64_t hash = map64_text(line->target);
		w->wanted[i].next = map64_remove(&w->by_target, hash);
		w->failed |= map64_put(&w->by_target, hash, i) == MAP64_NONE;
	}
}

/** The next mount of a target, from the last; NONE. */
static uint32_t next_on(const struct work *w, uint32_t after, const char *target)
{
	uint32_t i = after == NONE ? map64_get(&w->by_target, map64_text(target))
	                           : w->wanted[after].next;
	while (i != MAP64_NONE && strcmp(w->plan->lines[i].target, target) != 0)
		i = w->wanted[i].next;
	return i == MAP64_NONE ? NONE : i;
}

/** Whether a mount is of a device as a whole, which no other device's line can mount. */
static bool is_of_device(const struct mount *m)
{
	return m && m->dev_major != 0 && !(fstype_flags(m->fstype) & FST_SUBVOL);
}

/** Find lines that name what another line names, though their mounts are of two devices: a tag or
    link that the matcher cannot look up is taken for right, but not for two. */
static void find_contradictions(struct work *w)
{
	struct map64 first;
	map64_init(&first);
	for (uint32_t i = 0; i < w->nentries && !failed(w); ++i) {
		struct entry *entry = &w->entries[i];
		const struct fstab_line *of = entry->of != NONE ? &w->plan->lines[entry->of] : NULL;
		const struct mount *m =
			of && of->fate == FSTAB_LINE && strcmp(of->fstype, "none") != 0 ? of->mount
											: NULL;
		if (!is_of_device(m) || !*w->lines[i].source)
			continue;
		uint32_t k = map64_put(&first, map64_text(w->lines[i].source), i);
		w->failed |= k == MAP64_NONE;
		if (failed(w) || k == i || strcmp(w->lines[k].source, w->lines[i].source) != 0
		    || mount_dev(w->plan->lines[w->entries[k].of].mount) == mount_dev(m))
			continue;
		w->wanted[entry->of].entry = NONE;
		w->wanted[entry->of].other = i;
		entry->noted = entry->of;
		entry->of = NONE;
	}
	map64_destroy(&first);
}

/** Make the graph of the entries and of the mounts that have none. */
static void make_graph(struct work *w)
{
	for (uint32_t i = 0; i < w->nentries; ++i) {
		uint32_t of = w->entries[i].of;
		/* As the mount has it: without symlinks. */
		if (of != NONE && w->plan->lines[of].mount && w->plan->lines[of].target)
			w->lines[i].path = w->plan->lines[of].target;
		w->broken[i] =
			cause(w, w->in->refused, i) || (of == NONE && cause(w, w->in->missing, i));
	}
	w->nlines = w->nentries;
	for (uint32_t i = 0; i < w->plan->count; ++i) {
		const struct fstab_line *line = &w->plan->lines[i];
		if (line->fate == FSTAB_LINE && line->mount && w->wanted[i].entry == NONE)
			w->lines[w->nlines++] = (struct order_line){.source = "",
			                                            .fstype = "",
			                                            .options = "",
			                                            .path = line->target,
			                                            .absent = true};
	}
	w->failed |= order_make(w->lines, w->nlines, &w->order) != 0;
}

/* Verdicts. */

/** Why another line that is needed is of no use, in words. */
static const char *why_other(struct work *w, uint32_t entry, const struct order_outcome *outcome)
{
	uint32_t other = outcome->other;
	const char *path = w->lines[other].path ? w->lines[other].path : w->lines[other].source;
	if (other >= w->nentries)
		return form(w, "it needs %s, which no line mounts", path);
	unsigned number = w->entries[other].line->number;
	if (w->outcomes[other].lack == ORDER_LACKS_NOTHING && other > entry)
		return form(w,
		                    outcome->kind == ORDER_PARENT
		                            ? "line %u mounts %s after it, and covers it"
		                            : "it needs line %u, which mounts %s after it",
		                    number, path);
	return form(w, "it needs line %u, of %s, which is not mounted by then",
	                    number, path);
}

/** Judge an entry by itself and what it needs.  @return REPRODUCE_SAME, or what is wrong. */
static enum reproduce_verdict judge_entry(struct work *w, uint32_t i, const char **why)
{
	const struct order_outcome *outcome = &w->outcomes[i];
	*why = NULL;
	switch (outcome->lack) {
	case ORDER_LACKS_ITSELF:
		*why = cause(w, w->in->refused, i);
		if (!*why)
			*why = cause(w, w->in->missing, i);
		return REPRODUCE_FAILED;
	case ORDER_LACKS_BOOT:
		*why = "its line is noauto";
		return REPRODUCE_NOAUTO;
	case ORDER_LACKS_OTHER:
		*why = why_other(w, i, outcome);
		return REPRODUCE_FAILED;
	case ORDER_LACKS_PLACE:
		/* What another line mounts on it may be the same, or belong there. */
		if (w->entries[outcome->other].repeated || w->entries[outcome->other].of != NONE)
			return REPRODUCE_SAME;
		*why = form(w, "line %u is mounted over it",
		                    w->entries[outcome->other].line->number);
		return REPRODUCE_HIDDEN;
	case ORDER_LACKS_NOTHING:
		break;
	}
	return REPRODUCE_SAME;
}

/** Judge a mount. */
static struct reproduce_item judge(struct work *w, uint32_t at)
{
	const struct fstab_line *want = &w->plan->lines[at];
	uint32_t entry = w->wanted[at].entry;
	struct reproduce_item item = {.want = want, .target = want->target};
	if (entry != NONE) {
		item.line = w->entries[entry].line->number;
		item.verdict = judge_entry(w, entry, &item.why);
		if (item.verdict == REPRODUCE_SAME && w->wanted[at].differs) {
			item.verdict = REPRODUCE_OPTIONS;
			item.why = form(w, "it is mounted with other options: %s",
			                        w->wanted[at].differs);
		}
		return item;
	}
	entry = w->wanted[at].other;
	if (entry == NONE) {
		item.verdict = REPRODUCE_NO_LINE;
		item.why = "no line mounts it";
		return item;
	}
	item.line = w->entries[entry].line->number;
	item.verdict = judge_entry(w, entry, &item.why);
	if (item.verdict == REPRODUCE_SAME || item.verdict == REPRODUCE_HIDDEN) {
		item.verdict = REPRODUCE_SOURCE;
		item.why = "the line mounts something else";
	}
	return item;
}

/** The value of the priority of a swap space; NULL: none. */
static const char *priority(struct work *w, const char *options)
{
	size_t n, len = strlen("pri");
	const char *found = opt_find(options, "pri", len, &n);
	return found && n > len
	               ? form(w, "%.*s", (int)(n - len - 1), found + len + 1)
	               : NULL;
}

/** Judge a swap space. */
static struct reproduce_item judge_swap(struct work *w, uint32_t at)
{
	const struct fstab_line *want = &w->plan->lines[at];
	uint32_t entry = w->wanted[at].entry;
	struct reproduce_item item = {.want = want, .target = "none", .source = want->source};
	if (entry == NONE) {
		item.verdict = REPRODUCE_NO_LINE;
		item.why = "no line has it";
		return item;
	}
	item.line = w->entries[entry].line->number;
	if (w->order.flags[entry] & ORDER_IS_IDLE) {
		item.verdict = REPRODUCE_NOAUTO;
		item.why = "its line is noauto";
		return item;
	}
	const char *mine = priority(w, want->options),
		   *other = priority(w, w->lines[entry].options);
	if (strcmp(mine ? mine : "", other ? other : "") != 0) {
		item.verdict = REPRODUCE_OPTIONS;
		item.why =
			form(w, "its priority is %s, in the line %s",
		                     mine ? mine : "chosen by the kernel", other ? other : "none");
	}
	return item;
}

static void add_item(struct work *w, const struct reproduce_item *item)
{
	w->out->items[w->out->count++] = *item;
}

/** Judge all mounts and swap spaces of the plan. */
static void judge_all(struct work *w)
{
	struct reproduction *out = w->out;
	for (uint32_t i = 0; i < w->plan->count && !failed(w); ++i) {
		const struct fstab_line *want = &w->plan->lines[i];
		out->without += want->fate == FSTAB_COMMENT && want->mount;
		if (want->fate != FSTAB_LINE)
			continue;
		struct reproduce_item item = want->mount ? judge(w, i) : judge_swap(w, i);
		bool same = item.verdict == REPRODUCE_SAME;
		*(want->mount ? &out->mounts : &out->swaps) += 1;
		*(want->mount ? &out->same : &out->swaps_same) += same;
		add_item(w, &item);
	}
}

/** Count what systemd mounts as it is. */
static void count_systemd(struct work *w)
{
	order_run(&w->order, true, w->broken, w->outcomes);
	for (uint32_t i = 0; i < w->plan->count && !failed(w); ++i) {
		const struct fstab_line *want = &w->plan->lines[i];
		uint32_t entry = w->wanted[i].entry;
		if (want->fate != FSTAB_LINE || !want->mount || entry == NONE
		    || w->wanted[i].differs)
			continue;
		const struct order_outcome *outcome = &w->outcomes[entry];
		bool twin =
			outcome->lack == ORDER_LACKS_PLACE && w->entries[outcome->other].repeated;
		w->out->systemd += outcome->lack == ORDER_LACKS_NOTHING || twin;
	}
}

/** Whether what is mounted is as the line has it, though no line could be made of it: an automount,
    or what only the line's own words can mount. */
static bool is_as_live(const struct work *w, uint32_t entry)
{
	const struct order_line *line = &w->lines[entry];
	for (uint32_t at = next_on(w, NONE, line->path); at != NONE;
	     at = next_on(w, at, line->path)) {
		const struct mount *m = w->plan->lines[at].mount;
		if (w->order.flags[entry] & ORDER_IS_AUTOMOUNT
		    && fstype_flags(m->fstype) & FST_AUTOFS)
			return true;
		if (m->source && strcmp(m->source, line->source) == 0 && m->root
		    && strcmp(m->root, "/") == 0 && shown_type(line->fstype, m->fstype))
			return true;
	}
	return false;
}

/** Why no mount is of a line. */
static const char *why_extra(struct work *w, uint32_t entry)
{
	uint32_t at = next_on(w, NONE, w->lines[entry].path);
	const struct fstab_line *live = at == NONE ? NULL : &w->plan->lines[at];
	if (!live)
		return "nothing is mounted there now";
	if (live->fate == FSTAB_LINE)
		return "something else is mounted there now";
	return form(w, "what is mounted there now is not from fstab: %s",
	                    live->why ? live->why : "?");
}

/** Report the lines that mount something else, or cannot be mounted. */
static void add_extra(struct work *w)
{
	for (uint32_t i = 0; i < w->nentries && !failed(w); ++i) {
		const struct entry *entry = &w->entries[i];
		const char *path = w->lines[i].path, *why,
			   *target = tabline_value(entry->line, TABLINE_TARGET);
		bool used = entry->noted != NONE && w->wanted[entry->noted].other == i
		            && w->plan->lines[entry->noted].fate == FSTAB_LINE;
		if (entry->of != NONE || entry->repeated || used
		    || w->order.flags[i] & (ORDER_IS_IDLE | ORDER_IS_SWAP))
			continue;
		enum reproduce_verdict verdict = judge_entry(w, i, &why);
		if (!path) {
			verdict = REPRODUCE_FAILED;
			why = "its mount point is not an absolute path";
		} else if (verdict != REPRODUCE_FAILED) {
			if (!path[1] || is_as_live(w, i))
				continue;
			verdict = REPRODUCE_EXTRA;
			why = why_extra(w, i);
		}
		add_item(w, &(struct reproduce_item){.verdict = verdict,
		                                     .line = entry->line->number,
		                                     .target = target ? target : "none",
		                                     .why = why});
	}
}

int reproduce(const struct reproduce_input *in, struct reproduction *out)
{
	const struct fstab_plan *plan = in->match->plan;
	size_t lines = in->lines->count, all = lines + plan->count + 1;
	*out = (struct reproduction){.items = calloc(all, sizeof(*out->items))};
	arena_init(&out->arena);
	struct work w = {
		.in = in,
		.plan = plan,
		.out = out,
		.entries = calloc(lines + 1, sizeof(*w.entries)),
		.wanted = calloc(plan->count + 1, sizeof(*w.wanted)),
		.entry_of = calloc(lines + 1, sizeof(*w.entry_of)),
		.lines = calloc(all, sizeof(*w.lines)),
		.outcomes = calloc(all, sizeof(*w.outcomes)),
		.broken = calloc(all, sizeof(*w.broken)),
	};
	map64_init(&w.by_target);
	w.failed = !out->items || !w.entries || !w.wanted || !w.entry_of || !w.lines
	                 || !w.outcomes || !w.broken;
	if (!failed(&w))
		read_plan(&w);
	if (!failed(&w))
		read_lines(&w);
	if (!failed(&w))
		match(&w);
	if (!failed(&w))
		find_contradictions(&w);
	if (!failed(&w))
		make_graph(&w);
	if (!failed(&w)) {
		order_run(&w.order, false, w.broken, w.outcomes);
		judge_all(&w);
		add_extra(&w);
	}
	if (!failed(&w))
		count_systemd(&w);
	bool bad = failed(&w);
	order_destroy(&w.order);
	map64_destroy(&w.by_target);
	free(w.entries);
	free(w.wanted);
	free(w.entry_of);
	free(w.lines);
	free(w.outcomes);
	free(w.broken);
	if (bad)
		errno = ENOMEM;
	return bad ? -1 : 0;
}

void reproduction_destroy(struct reproduction *out)
{
	free(out->items);
	out->items = NULL;
	arena_destroy(&out->arena);
}
