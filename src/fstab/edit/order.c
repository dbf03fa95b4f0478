/* SPDX-License-Identifier: MIT */
/*
 * Order the lines of the result.
 *
 * The graph of fstab/order.h says which lines each line needs.  An added line goes as far down as
 * possible: before the first line that needs the added line, and before the comment of that line,
 * but after all lines that the added line needs.
 *
 * A line that precedes a line that it needs is reported.  With FSTAB_FIX_ORDER, lines are moved: if
 * the line precedes only one needed line, the needed line moves up, since further lines may need
 * it; else the line moves down, after the last needed line.  Comments move with their lines.  If
 * lines form a cycle, no line is moved.
 *
 * Items are sorted by position and rank, twice: after placing the added lines, and after moving
 * lines.
 */
#include "fstab/edit/merge_impl.h"

#include "fstab/order.h"

#include <stdlib.h>

struct order_work {
	struct merger *m;
	struct order graph;        /* lines: the entries of the file, then the added lines */
	const struct fstab_entry **lines;
	uint32_t *at;              /* at[line]: index of the item of a line of the graph */
};

static struct item *item_of(const struct order_work *o, uint32_t line)
{
	return &o->m->items[o->at[line]];
}

static void add_item(struct order_work *o, struct item item, const struct fstab_entry *line)
{
	struct merger *m = o->m;
	item.line = line ? o->graph.count++ : ORDER_NONE;
	if (line) {
		o->lines[item.line] = line;
		o->at[item.line] = (uint32_t)m->nitems;
	}
	m->items[m->nitems++] = item;
}

/** The entry that a line of the file becomes in the result; NULL: a comment or damaged line. */
static const struct fstab_entry *result_of(struct merger *m, struct candidate *entry)
{
	if (!fstab_is_entry(&entry->is) || entry->act == ASIDE)
		return NULL;
	if (entry->act != CHANGED)
		return &entry->is;
	fstab_entry_complete(&entry->becomes, m->arena);
	return &entry->becomes;
}

/** Make the entry of the line added for a mount; NULL: the arena failed. */
static const struct fstab_entry *added_entry(struct merger *m, const struct planned *mount)
{
	struct fstab_entry *entry = arena_new(m->arena, 1, sizeof(*entry));
	if (!entry)
		return NULL;
	fstab_line_entry(mount->line, m->arena, entry);
	entry->added = true;
	return entry;
}

/** Make an item for each line of the file, in order, and for each added line; make the graph. */
static void make_items(struct order_work *o)
{
	struct merger *m = o->m;
	size_t room = m->match.nentries + m->match.nmounts + 1;
	m->items = arena_new(m->arena, room, sizeof(*m->items));
	o->lines = arena_new(m->arena, room, sizeof(*o->lines));
	o->at = arena_new(m->arena, room, sizeof(*o->at));
	if (m->arena->failed)
		return;
	for (uint32_t i = 0; i < m->match.nentries; ++i) {
		add_item(o, (struct item){.i = i, .position = i, .rank = UINT32_MAX},
		         result_of(m, &m->match.entries[i]));
	}
	for (uint32_t i = 0; i < m->match.nmounts; ++i) {
		const struct planned *mount = &m->match.mounts[i];
		if (mount->add)
			add_item(o, (struct item){true, i, (uint32_t)m->match.nentries, i},
			         added_entry(m, mount));
	}
	if (!m->arena->failed)
		order_make(o->lines, o->graph.count, m->arena, &o->graph);
}

/** Add the option _netdev to the added lines that need a line with _netdev. */
static void add_netdev(struct order_work *o)
{
	struct merger *m = o->m;
	for (uint32_t i = 0; i < o->graph.count; ++i) {
		const struct item *item = item_of(o, i);
		struct planned *mount = &m->match.mounts[item->i];
		if (!item->is_new || mount->line->swap
		    || !(o->graph.flags[i] & ORDER_LACKS_NETDEV))
			continue;
		struct fstab_line *line = arena_new(m->arena, 1, sizeof(*line));
		if (!line)
			return;
		*line = *mount->line;
		line->options = arena_printf(m->arena, "%s,_netdev", line->options);
		mount->line = line;
	}
}

static int compare_items(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	if (x->position != y->position)
		return x->position < y->position ? -1 : 1;
	return x->rank != y->rank ? (x->rank < y->rank ? -1 : 1) : (x->i > y->i) - (x->i < y->i);
}

static void sort_items(struct order_work *o)
{
	struct merger *m = o->m;
	if (m->nitems > 1)
		qsort(m->items, m->nitems, sizeof(*m->items), compare_items);
	for (uint32_t k = 0; k < m->nitems; ++k) {
		if (m->items[k].line != ORDER_NONE)
			o->at[m->items[k].line] = k;
	}
}

static bool is_kind(const struct merger *m, uint32_t k, enum tabline_kind kind)
{
	return !m->items[k].is_new && m->match.entries[m->items[k].i].is.line->kind == kind;
}

/** The index of the first line of the comment directly above item k; k: there is no comment, or the
    comment is at the head of the file. */
static uint32_t above_comment(const struct merger *m, uint32_t k)
{
	uint32_t at = k;
	while (at > 0 && is_kind(m, at - 1, TABLINE_COMMENT))
		--at;
	return at > 0 ? at : k;
}

/** The position of the comment above a line of the file or, without a comment, of the line. */
static uint32_t above_line(const struct merger *m, uint32_t position)
{
	bool entry = position < m->match.nentries && is_kind(m, position, TABLINE_ENTRY);
	return entry ? above_comment(m, position) : position;
}

/** Whether a needed line must precede line i, if the merge adds one of the two lines. */
static bool decides_position(const struct order_work *o, uint32_t i, const struct order_need *need)
{
	return need->kind <= ORDER_SWAP
	       && !((o->graph.flags[i] | o->graph.flags[need->line]) & ORDER_IS_IDLE);
}

/** Set the position of each added line: the index of the line of the file that follows the added
    line. */
static void position_added(struct order_work *o)
{
	struct merger *m = o->m;
	const struct order *graph = &o->graph;
	/* First, move each added line up to the first line that needs the added line. */
	for (uint32_t k = graph->count; k-- > 0;) {
		uint32_t i = graph->sequence[k];
		for (uint32_t at = graph->begin[i]; at < graph->begin[i + 1]; ++at) {
			struct item *needed = item_of(o, graph->needs[at].line);
			if (needed->is_new && decides_position(o, i, &graph->needs[at])
			    && needed->position > item_of(o, i)->position)
				needed->position = item_of(o, i)->position;
		}
	}
	for (uint32_t k = 0; k < graph->count; ++k) {
		uint32_t i = graph->sequence[k], low = 0;
		struct item *item = item_of(o, i);
		if (!item->is_new)
			continue;
		for (uint32_t at = graph->begin[i]; at < graph->begin[i + 1]; ++at) {
			const struct item *needed = item_of(o, graph->needs[at].line);
			uint32_t least = needed->position + !needed->is_new;
			if (decides_position(o, i, &graph->needs[at]) && least > low)
				low = least;
		}
		const struct planned *mount = &m->match.mounts[item->i];
		if (mount->instead != NO_LINE && mount->instead + 1 < item->position)
			item->position = mount->instead + 1;
		else
			item->position = above_line(m, item->position);
		if (mount->before != NO_LINE && mount->before < item->position)
			item->position = above_line(m, mount->before);
		if (item->position < low)
			item->position = low;
	}
}

/* Moving lines. */

/** Count the needed lines that line i precedes.  @one [out]  The last of these, if any. */
static uint32_t count_late(const struct order_work *o, uint32_t i, uint32_t *one)
{
	const struct order *graph = &o->graph;
	uint32_t n = 0;
	for (uint32_t at = graph->begin[i]; at < graph->begin[i + 1]; ++at) {
		const struct order_need *need = &graph->needs[at];
		if (!order_matters(graph, i, need)
		    || item_of(o, need->line)->position <= item_of(o, i)->position
		    || (n > 0 && *one == need->line))
			continue;
		*one = need->line;
		++n;
	}
	return n;
}

/** Set position and rank of each item so that each line follows the lines that it needs.
    @return false: lines form a cycle. */
static bool move_late(struct order_work *o)
{
	struct merger *m = o->m;
	const struct order *graph = &o->graph;
	uint32_t one, other;
	for (uint32_t k = 0; k < m->nitems; ++k)
		m->items[k].position = k;
	for (uint32_t k = 0; k < graph->count; ++k)
		item_of(o, graph->sequence[k])->rank = k;
	for (uint32_t k = 0; k < m->nitems; ++k) {
		uint32_t i = m->items[k].line;
		if (i != ORDER_NONE && count_late(o, i, &one) == 1 && !count_late(o, one, &other))
			item_of(o, one)->position = m->items[k].position;
	}
	/* The second pass changes nothing, unless there is a cycle. */
	for (int again = 0; again < 2; ++again) {
		for (uint32_t k = 0; k < graph->count; ++k) {
			uint32_t i = graph->sequence[k];
			struct item *item = item_of(o, i);
			for (uint32_t at = graph->begin[i]; at < graph->begin[i + 1]; ++at) {
				const struct item *needed = item_of(o, graph->needs[at].line);
				if (!order_matters(graph, i, &graph->needs[at]))
					continue;
				if (needed->position >= item->position && needed->rank > item->rank)
					return false;
				if (needed->position > item->position)
					item->position = needed->position;
			}
		}
	}
	return true;
}

/** Report each line of the file that precedes a line that it needs, once.
    @done  The lines were moved: mark the notes as done. */
static void report_late(struct order_work *o, bool done)
{
	struct merger *m = o->m;
	struct order_finding *findings;
	size_t count = order_check(&o->graph, o->at, &findings);
	uint32_t last = ORDER_NONE;
	for (size_t i = 0; i < count; ++i) {
		const struct order_finding *finding = &findings[i];
		const struct item *item = item_of(o, finding->line);
		if (finding->fault != ORDER_LATE || finding->line == last || item->is_new)
			continue;
		last = finding->line;
		const struct item *other = item_of(o, finding->other);
		const struct planned *mount = other->is_new ? &m->match.mounts[other->i] : NULL;
		const struct fstab_entry *needed =
			mount ? NULL : match_line(&m->match, &m->match.entries[other->i]);
		merge_note(m, FSTAB_NOTE_ORDER, &m->match.entries[item->i], mount,
		           (struct fstab_note){.other = needed, .done = done});
	}
}

void merge_order(struct merger *m)
{
	struct order_work o = {.m = m};
	make_items(&o);
	if (!m->arena->failed) {
		add_netdev(&o);
		position_added(&o);
		sort_items(&o);
		bool fix = m->in->fix & FSTAB_FIX_ORDER && move_late(&o);
		report_late(&o, fix);
		for (uint32_t k = 0; fix && k < m->nitems; ++k) {
			const struct item *item = &m->items[k];
			if (item->line == ORDER_NONE)
				continue;
			for (uint32_t at = above_comment(m, k); at < k; ++at) {
				m->items[at].position = item->position;
				m->items[at].rank = item->rank;
			}
		}
		if (fix)
			sort_items(&o);
	}
}
