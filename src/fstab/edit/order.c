/* SPDX-License-Identifier: MIT */
/*
 * Where lines stand.
 *
 * The graph of fstab/order.h says what each line needs.  An added line goes as far down as it
 * can: before the first line that needs it, and above the comment of that line; after the lines
 * that it needs itself, if one of them is below.
 *
 * A line before one that it needs is reported, or, with FSTAB_FIX_ORDER, one of the two is moved:
 * the needed line up if it is the only one missing, for others may need it as well; else the line
 * that needs it down, after the last of those.  Its comment moves with it.  Where lines need each
 * other, nothing is moved.
 */
#include "fstab/edit/merge_impl.h"

#include "fstab/order.h"

#include <stdlib.h>
#include <string.h>

struct order_work {
	struct merger *m;
	struct order graph;        /* its lines: the entries of the file, then the added lines */
	struct order_line *lines;
	struct item *items;        /* of each of these */
	uint32_t n;
};

/** Make the graph. */
static void make_graph(struct order_work *o)
{
	struct merger *m = o->m;
	size_t room = m->match.nentries + m->match.nmounts + 1;
	o->lines = calloc(room, sizeof(*o->lines));
	o->items = calloc(room, sizeof(*o->items));
	if (!o->lines || !o->items) {
		m->match.failed = true;
		return;
	}
	for (uint32_t i = 0; i < m->match.nentries; ++i) {
		const struct entry *entry = &m->match.entries[i];
		if (entry->line->kind != TABLINE_ENTRY || entry->act == ASIDE)
			continue;
		const struct words *words = entry->act == CHANGED ? &entry->changed : &entry->words;
		o->items[o->n] = (struct item){false, i};
		o->lines[o->n++] = (struct order_line){.source = words->source,
		                                       .fstype = words->fstype,
		                                       .options = words->options,
		                                       .path = entry->place};
	}
	for (uint32_t i = 0; i < m->match.nmounts; ++i) {
		const struct fstab_line *line = m->match.mounts[i].line;
		if (!m->match.mounts[i].add)
			continue;
		o->items[o->n] = (struct item){true, i};
		o->lines[o->n++] = (struct order_line){
			.source = line->source, .fstype = line->fstype, .options = line->options,
			.path = m->match.mounts[i].key, .added = true};
	}
	m->match.failed |= order_make(o->lines, o->n, &o->graph) != 0;
}

/** The needs of a line, and their end. */
static const struct order_need *needs_of(const struct order_work *o, uint32_t i,
                                         const struct order_need **end)
{
	if (!o->graph.needs)
		return *end = NULL;
	*end = o->graph.needs + o->graph.begin[i + 1];
	return o->graph.needs + o->graph.begin[i];
}

/** Whether an added line has to stand on the right side of another. */
static bool decides_place(const struct order_work *o, uint32_t i, const struct order_need *need)
{
	return need->kind <= ORDER_SWAP
	       && !((o->graph.flags[i] | o->graph.flags[need->line]) & ORDER_IS_IDLE);
}

/* Places of added lines. */

/** Above the comment of an entry, if it has one that does not head the file. */
static uint32_t above_comment(const struct merger *m, uint32_t gap)
{
	if (gap >= m->match.nentries || m->match.entries[gap].line->kind != TABLINE_ENTRY)
		return gap;
	uint32_t at = gap;
	while (at > 0 && m->match.entries[at - 1].line->kind == TABLINE_COMMENT)
		--at;
	return at > 0 ? at : gap;
}

/**
 * Find the line of the file that each added line goes before, by its index; nold is the end.
 */
static void find_gaps(const struct order_work *o, uint32_t *gaps)
{
	struct merger *m = o->m;
	const struct order_need *end;
	for (uint32_t i = 0; i < o->n; ++i)
		gaps[i] = o->items[i].is_new ? (uint32_t)m->match.nentries : o->items[i].i;
	/* As far down as those that need it allow: lines of the file, then added lines, of which
	   the plan has the needed ones first. */
	for (int added = 0; added < 2; ++added) {
		for (uint32_t i = o->n; i-- > 0;) {
			if (o->items[i].is_new != added)
				continue;
			for (const struct order_need *need = needs_of(o, i, &end); need < end;
			     ++need) {
				if (o->items[need->line].is_new && decides_place(o, i, need)
				    && gaps[need->line] > gaps[i])
					gaps[need->line] = gaps[i];
			}
		}
	}
	for (uint32_t i = 0; i < o->n; ++i) {
		if (!o->items[i].is_new)
			continue;
		uint32_t low = 0;
		for (const struct order_need *need = needs_of(o, i, &end); need < end; ++need) {
			uint32_t least = gaps[need->line] + !o->items[need->line].is_new;
			if (decides_place(o, i, need) && least > low)
				low = least;
		}
		const struct planned *mount = &m->match.mounts[o->items[i].i];
		if (mount->instead != NO_LINE && mount->instead + 1 < gaps[i])
			gaps[i] = mount->instead + 1;
		else
			gaps[i] = above_comment(m, gaps[i]);
		if (mount->before != NO_LINE && mount->before < gaps[i])
			gaps[i] = above_comment(m, mount->before);
		if (gaps[i] < low)
			gaps[i] = low;
	}
}

/** Put the added lines between those of the file. */
static void place_added(struct order_work *o)
{
	struct merger *m = o->m;
	uint32_t *gaps = calloc(o->n + 1, sizeof(*gaps)),
		 *first = malloc((m->match.nentries + 1) * sizeof(*first));
	uint32_t *next = malloc(((size_t)o->n + 1) * sizeof(*next));
	m->items = calloc(m->match.nentries + m->match.nmounts + 1, sizeof(*m->items));
	if (!gaps || !first || !next || !m->items) {
		m->match.failed = true;
		goto out;
	}
	find_gaps(o, gaps);
	for (size_t i = 0; i <= m->match.nentries; ++i)
		first[i] = NO_LINE;
	for (uint32_t i = o->n; i-- > 0;) {
		if (!o->items[i].is_new)
			continue;
		next[i] = first[gaps[i]];
		first[gaps[i]] = i;
	}
	for (uint32_t i = 0; i <= m->match.nentries; ++i) {
		for (uint32_t k = first[i]; k != NO_LINE; k = next[k])
			m->items[m->nitems++] = o->items[k];
		if (i < m->match.nentries)
			m->items[m->nitems++] = (struct item){false, i};
	}
out:
	free(gaps);
	free(first);
	free(next);
}

/* Lines before those that they need. */

struct sorter {
	struct order_work *o;
	uint32_t *seq;           /* lines as they stand */
	uint32_t *out;           /* lines as they are to stand */
	size_t nout;
	struct node {
		uint32_t waits;          /* how many needs of a line that is put off are missing */
		uint32_t first, last;    /* the lines that wait for it, in `waiters` */
		bool done, moved;
	} *nodes;                    /* of each line */
	struct waiter {
		uint32_t who, next;
	} *waiters;
	size_t nwaiters;
};

/** Put a node out, and what has waited for it alone. */
static void emit(struct sorter *s, uint32_t node)
{
	size_t from = s->nout;
	s->out[s->nout++] = node;
	s->nodes[node].done = true;
	for (; from < s->nout; ++from) {
		for (uint32_t w = s->nodes[s->out[from]].first; w != NO_LINE;
		     w = s->waiters[w].next) {
			uint32_t waiter = s->waiters[w].who;
			if (--s->nodes[waiter].waits == 0) {
				s->out[s->nout++] = waiter;
				s->nodes[waiter].done = true;
			}
		}
		s->nodes[s->out[from]].first = NO_LINE;
	}
}

/** Whether a need of a line is still missing. */
static bool is_missing(const struct sorter *s, uint32_t node, const struct order_need *need)
{
	return order_matters(&s->o->graph, node, need) && !s->nodes[need->line].done;
}

/** How many lines that a line needs are missing.  @one [out]  The last of them. */
static uint32_t missing(const struct sorter *s, uint32_t node, uint32_t *one)
{
	const struct order_need *end;
	uint32_t n = 0;
	for (const struct order_need *need = needs_of(s->o, node, &end); need < end; ++need) {
		if (!is_missing(s, node, need) || (n > 0 && *one == need->line))
			continue;
		*one = need->line;
		++n;
	}
	return n;
}

static void put_off(struct sorter *s, uint32_t node)
{
	const struct order_need *end;
	for (const struct order_need *need = needs_of(s->o, node, &end); need < end; ++need) {
		if (!is_missing(s, node, need))
			continue;
		struct node *other = &s->nodes[need->line];
		uint32_t *last = other->first == NO_LINE ? &other->first
			: &s->waiters[other->last].next;
		other->last = *last = (uint32_t)s->nwaiters;
		s->waiters[s->nwaiters++] = (struct waiter){node, NO_LINE};
		++s->nodes[node].waits;
	}
	s->nodes[node].moved = true;
}

/** @return false: some lines need each other. */
static bool sort(struct sorter *s)
{
	size_t n = s->o->n;
	for (size_t i = 0; i < n; ++i) {
		uint32_t node = s->seq[i], one, other;
		if (s->nodes[node].done || s->nodes[node].waits)
			continue;
		uint32_t count = missing(s, node, &one);
		if (count == 1 && !s->nodes[one].waits && missing(s, one, &other) == 0) {
			s->nodes[one].moved = true;
			emit(s, one);
			count = 0;
		}
		if (count)
			put_off(s, node);
		else
			emit(s, node);
	}
	return s->nout == n;
}

/** Whether a comment right above an entry is its own: none that heads the file is. */
static uint32_t comment_above(const struct merger *m, uint32_t item)
{
	uint32_t at = item;
	while (at > 0 && !m->items[at - 1].is_new
	       && m->match.entries[m->items[at - 1].i].line->kind == TABLINE_COMMENT)
		--at;
	return at > 0 ? at : item;
}

/**
 * Bring the items into the order of the nodes.  What is no node keeps its place among
 * those that were not moved; a comment goes with the line below it.
 */
static void rearrange(struct order_work *o, const struct sorter *s, const uint32_t *item_of)
{
	struct merger *m = o->m;
	struct item *items = calloc(m->nitems + 1, sizeof(*items));
	bool *gone = calloc(m->nitems + 1, sizeof(*gone));
	if (!items || !gone) {
		m->match.failed = true;
		goto out;
	}
	for (size_t i = 0; i < o->n; ++i) {
		if (!s->nodes[i].moved)
			continue;
		++m->out->moved;
		for (uint32_t at = comment_above(m, item_of[i]); at <= item_of[i]; ++at)
			gone[at] = true;
	}
	size_t n = 0, at = 0;
	for (size_t k = 0; k < s->nout; ++k) {
		uint32_t node = s->out[k], place = item_of[node], top = comment_above(m, place);
		if (!s->nodes[node].moved) {
			/* Up to it, without what goes elsewhere. */
			for (; at <= place; ++at) {
				if (!gone[at])
					items[n++] = m->items[at];
			}
			continue;
		}
		/* What goes up goes above the comment of the line that needs it. */
		if (k + 1 < s->nout && !s->nodes[s->out[k + 1]].moved
		    && place > item_of[s->out[k + 1]]) {
			uint32_t below = comment_above(m, item_of[s->out[k + 1]]);
			for (; at < below; ++at) {
				if (!gone[at])
					items[n++] = m->items[at];
			}
		}
		for (; top <= place; ++top)
			items[n++] = m->items[top];
	}
	for (; at < m->nitems; ++at) {
		if (!gone[at])
			items[n++] = m->items[at];
	}
	free(m->items);
	m->items = items;
	items = NULL;
out:
	free(items);
	free(gone);
}

/** Report the lines before those that they need, once each. */
static void report_order(struct order_work *o, const uint32_t *item_of, bool done)
{
	struct merger *m = o->m;
	struct order_finding *findings = NULL;
	ssize_t count = order_judge(&o->graph, item_of, &findings);
	uint32_t last = ORDER_NONE;
	m->match.failed |= count < 0;
	for (ssize_t i = 0; i < count; ++i) {
		const struct order_finding *finding = &findings[i];
		const struct item *item = &o->items[finding->line];
		if (finding->fault != ORDER_LATE || finding->line == last || item->is_new)
			continue;
		last = finding->line;
		struct fstab_note *note =
			merge_note(m, FSTAB_NOTE_ORDER, &m->match.entries[item->i], NULL, NULL);
		if (!note)
			break;
		const struct item *other = &o->items[finding->other];
		if (other->is_new)
			note->live = m->match.mounts[other->i].line;
		else
			note->other = m->match.entries[other->i].line;
		note->done = done;
	}
	free(findings);
}

static void sort_items(struct order_work *o)
{
	struct merger *m = o->m;
	size_t n = o->n, nneeds = o->graph.begin[n];
	uint32_t *item_of = calloc(n + 1, sizeof(*item_of));
	uint32_t *node_of = malloc((m->match.nentries + m->match.nmounts + 1) * sizeof(*node_of));
	struct sorter s = {
		.o = o,
		.seq = calloc(n + 1, sizeof(*s.seq)),
		.out = calloc(n + 1, sizeof(*s.out)),
		.nodes = calloc(n + 1, sizeof(*s.nodes)),
		.waiters = calloc(nneeds + 1, sizeof(*s.waiters)),
	};
	if (!item_of || !node_of || !s.seq || !s.out || !s.nodes || !s.waiters) {
		m->match.failed = true;
		goto out;
	}
	memset(node_of, 0xff, (m->match.nentries + m->match.nmounts + 1) * sizeof(*node_of));
	for (uint32_t i = 0; i < n; ++i) {
		const struct item *item = &o->items[i];
		node_of[item->is_new ? m->match.nentries + item->i : item->i] = i;
		s.nodes[i].first = NO_LINE;
	}
	size_t count = 0;
	for (uint32_t k = 0; k < m->nitems; ++k) {
		const struct item *item = &m->items[k];
		uint32_t node = node_of[item->is_new ? m->match.nentries + item->i : item->i];
		if (node == NO_LINE)
			continue;
		s.seq[count++] = node;
		item_of[node] = k;
	}
	/* Where lines need each other no order is right, and none is moved. */
	bool fix = m->in->fix & FSTAB_FIX_ORDER && sort(&s);
	report_order(o, item_of, fix);
	size_t moved = 0;
	for (size_t i = 0; fix && i < n; ++i)
		moved += s.nodes[i].moved;
	if (moved)
		rearrange(o, &s, item_of);
out:
	free(item_of);
	free(node_of);
	free(s.seq);
	free(s.out);
	free(s.nodes);
	free(s.waiters);
}

void merge_order(struct merger *m)
{
	struct order_work o = {.m = m};
	make_graph(&o);
	if (!m->match.failed)
		place_added(&o);
	if (!m->match.failed)
		sort_items(&o);
	order_destroy(&o.graph);
	free(o.lines);
	free(o.items);
}
