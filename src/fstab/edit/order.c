/* SPDX-License-Identifier: MIT */
/*
 * Where lines stand.
 *
 * mount -a goes from first to last.  A line needs those of the directories above its
 * mount point, and those of the mounts that its source, image or layers lie in.  An
 * added line goes as far down as it can, before the first that needs it, and above the
 * comment of that; if it needs a line below that, behind that one.
 *
 * A line that stands before one that it needs is told, or, if asked for, either goes:
 * the needed one up, if it is the only one missing, for others may wait for it as well;
 * else the one that needs them down, behind the last.  Its comment goes along.  Where
 * lines need each other, nothing is moved.
 */
#include "fstab/edit/merge_impl.h"

#include "base/words.h"
#include "mountopts/layers.h"

#include <stdlib.h>
#include <string.h>

/** What stands in the result, and is mounted by mount -a. */
struct node {
	struct item item;
	const char *key;
	struct words words;
	uint32_t first, count;   /* of needs */
};

struct order {
	struct merger *m;
	struct node *nodes;
	size_t n;
	struct map64 by_key;     /* hash of key -> node */
	uint32_t *needs;
	size_t nneeds, room;
	uint32_t at;             /* whose needs are looked for */
	struct strbuf path, scratch;
};

static void add_need(struct order *o, uint32_t need)
{
	struct node *node = &o->nodes[o->at];
	for (uint32_t i = 0; i < node->count; ++i) {
		if (o->needs[node->first + i] == need)
			return;
	}
	if (o->nneeds == o->room) {
		size_t room = o->room ? 2 * o->room : 256;
		uint32_t *more = realloc(o->needs, room * sizeof(*more));
		if (!more) {
			o->m->match.failed = true;
			return;
		}
		o->needs = more;
		o->room = room;
	}
	o->needs[o->nneeds++] = need;
	++node->count;
}

/** Add the lines of the directories above a path.  @self  Of the path too. */
static void need_path(struct order *o, const char *path, bool self)
{
	uint64_t hash = map64_bytes(MAP64_BYTES, "/", 1);
	const char *own = o->nodes[o->at].key;
	size_t len = strlen(path);
	for (size_t n = 1; n <= len; ++n) {
		/* A prefix ends at the root, before a '/', and at the end. */
		bool end = n == 1 || n == len || path[n] == '/';
		hash = n == 1 ? hash : map64_bytes(hash, path + n - 1, 1);
		if (!end || (n == len && !self))
			continue;
		uint32_t i = map64_get(&o->by_key, hash);
		if (i == MAP64_NONE || i == o->at || !word_is(path, n, o->nodes[i].key))
			continue;
		/* The root is mounted before any line is read. */
		if (n == 1 && !o->nodes[i].item.is_new)
			continue;
		/* Of lines on one place none needs the other. */
		if (!own || strcmp(own, o->nodes[i].key) != 0)
			add_need(o, i);
	}
}

static bool each_layer(void *arg, const struct opt_layer *layer)
{
	struct order *o = arg;
	opt_layer_path(layer, &o->path);
	const char *path = strbuf_str(&o->path);
	if (*path == '/' && (path = match_normal(&o->m->match, path)))
		need_path(o, path, true);
	return true;
}

static void find_needs(struct order *o, uint32_t i)
{
	struct node *node = &o->nodes[i];
	o->at = i;
	node->first = (uint32_t)o->nneeds;
	if (node->key)
		need_path(o, node->key, false);
	const char *source = node->words.source;
	if (*source == '/' && source[1] != '/' && strncmp(source, "/dev/", 5) != 0) {
		const char *path = match_normal(&o->m->match, source);
		if (path)
			need_path(o, path, true);
	}
	if (strcmp(node->words.fstype, "overlay") == 0)
		opt_each_layer_of_line(node->words.options, &o->scratch, each_layer, o);
}

/** Whether a node is the line of a mount. */
static bool is_own(const struct order *o, uint32_t i)
{
	const struct item *item = &o->nodes[i].item;
	const struct old *old = item->is_new ? NULL : &o->m->match.old[item->i];
	return !old || (old->live != NO_LINE && o->m->match.new[old->live].old == item->i);
}

/** Make the nodes: lines of the file first, then what is added, in the plan's order. */
static void make_nodes(struct order *o)
{
	struct merger *m = o->m;
	o->nodes = calloc(m->match.nold + m->match.nnew + 1, sizeof(*o->nodes));
	if (!o->nodes) {
		m->match.failed = true;
		return;
	}
	for (uint32_t i = 0; i < m->match.nold; ++i) {
		const struct old *old = &m->match.old[i];
		if (old->line->kind != TABLINE_ENTRY || old->act == ASIDE || old->noauto)
			continue;
		o->nodes[o->n++] = (struct node){.item = {false, i}, .key = old->key,
		                                 .words = old->act == CHANGED ? old->changed : old->words};
	}
	for (uint32_t i = 0; i < m->match.nnew; ++i) {
		const struct fstab_line *line = m->match.new[i].line;
		if (!m->match.new[i].add)
			continue;
		o->nodes[o->n++] = (struct node){
			.item = {true, i}, .key = m->match.new[i].key,
			.words = {line->source, line->target, line->fstype, line->options, line->passno},
		};
	}
	if (map64_reserve(&o->by_key, o->n) != 0)
		m->match.failed = true;
	for (uint32_t i = 0; i < o->n && !m->match.failed; ++i) {
		const char *key = o->nodes[i].key;
		uint64_t hash = key ? map64_text(key) : 0;
		uint32_t first = key ? map64_put(&o->by_key, hash, i) : i;
		/* Of several on one place that of the mount speaks for it, else the first. */
		if (first != i && is_own(o, i) && !is_own(o, first)) {
			map64_remove(&o->by_key, hash);
			map64_put(&o->by_key, hash, i);
		}
	}
	for (uint32_t i = 0; i < o->n && !m->match.failed; ++i)
		find_needs(o, i);
}

/* Places of what is added. */

/** Above the comment of an entry, if it has one that does not head the file. */
static uint32_t above_comment(const struct merger *m, uint32_t gap)
{
	if (gap >= m->match.nold || m->match.old[gap].line->kind != TABLINE_ENTRY)
		return gap;
	uint32_t at = gap;
	while (at > 0 && m->match.old[at - 1].line->kind == TABLINE_COMMENT)
		--at;
	return at > 0 ? at : gap;
}

/**
 * Find the line of the file that each added line goes before; a line's number is its
 * index, so that nold is the end.
 */
static void find_gaps(struct order *o, uint32_t *gaps)
{
	struct merger *m = o->m;
	uint32_t end = (uint32_t)m->match.nold;
	for (size_t i = 0; i < o->n; ++i)
		gaps[i] = o->nodes[i].item.is_new ? end : o->nodes[i].item.i;
	/* As far down as what needs it lets it: lines of the file, then added ones, of which
	   the plan has those that are needed before those that need them. */
	for (int added = 0; added < 2; ++added) {
		for (size_t i = o->n; i-- > 0;) {
			const struct node *node = &o->nodes[i];
			for (uint32_t k = 0; node->item.is_new == added && k < node->count; ++k) {
				uint32_t need = o->needs[node->first + k];
				if (o->nodes[need].item.is_new && gaps[need] > gaps[i])
					gaps[need] = gaps[i];
			}
		}
	}
	for (size_t i = 0; i < o->n; ++i) {
		const struct node *node = &o->nodes[i];
		if (!node->item.is_new)
			continue;
		uint32_t low = 0;
		for (uint32_t k = 0; k < node->count; ++k) {
			uint32_t need = o->needs[node->first + k];
			uint32_t least = gaps[need] + !o->nodes[need].item.is_new;
			if (least > low)
				low = least;
		}
		uint32_t instead = m->match.new[node->item.i].instead;
		if (instead != NO_LINE && instead + 1 < gaps[i])
			gaps[i] = instead + 1;
		else
			gaps[i] = above_comment(m, gaps[i]);
		uint32_t before = m->match.new[node->item.i].before;
		if (before != NO_LINE && before < gaps[i])
			gaps[i] = above_comment(m, before);
		if (gaps[i] < low)
			gaps[i] = low;
	}
}

/** Put the added lines between those of the file. */
static void place_added(struct order *o)
{
	struct merger *m = o->m;
	uint32_t *gaps = calloc(o->n + 1, sizeof(*gaps)), *first = malloc((m->match.nold + 1) * sizeof(*first));
	uint32_t *next = malloc((o->n + 1) * sizeof(*next));
	m->items = calloc(m->match.nold + m->match.nnew + 1, sizeof(*m->items));
	if (!gaps || !first || !next || !m->items) {
		m->match.failed = true;
		goto out;
	}
	find_gaps(o, gaps);
	for (size_t i = 0; i <= m->match.nold; ++i)
		first[i] = NO_LINE;
	for (uint32_t i = (uint32_t)o->n; i-- > 0;) {
		if (!o->nodes[i].item.is_new)
			continue;
		next[i] = first[gaps[i]];
		first[gaps[i]] = i;
	}
	for (uint32_t i = 0; i <= m->match.nold; ++i) {
		for (uint32_t k = first[i]; k != NO_LINE; k = next[k])
			m->items[m->nitems++] = o->nodes[k].item;
		if (i < m->match.nold)
			m->items[m->nitems++] = (struct item){false, i};
	}
out:
	free(gaps);
	free(first);
	free(next);
}

/* Lines that stand too early. */

struct sorter {
	struct order *o;
	uint32_t *seq;           /* nodes as they stand */
	uint32_t *out;           /* nodes as they are to stand */
	size_t nout;
	uint32_t *waits;         /* of what is put off: how many needs are missing */
	uint32_t *first, *last, *next, *who;  /* who waits for a node: lists */
	size_t nwho;
	bool *done, *moved;
};

/** Put a node out, and what has waited for it alone. */
static void emit(struct sorter *s, uint32_t node)
{
	size_t from = s->nout;
	s->out[s->nout++] = node;
	s->done[node] = true;
	for (; from < s->nout; ++from) {
		for (uint32_t w = s->first[s->out[from]]; w != NO_LINE; w = s->next[w]) {
			uint32_t waiter = s->who[w];
			if (--s->waits[waiter] == 0) {
				s->out[s->nout++] = waiter;
				s->done[waiter] = true;
			}
		}
		s->first[s->out[from]] = NO_LINE;
	}
}

/** The needs of a node that are not out.  @return how many; *one is the last of them. */
static uint32_t missing(const struct sorter *s, uint32_t node, uint32_t *one)
{
	const struct node *of = &s->o->nodes[node];
	uint32_t n = 0;
	for (uint32_t k = 0; k < of->count; ++k) {
		uint32_t need = s->o->needs[of->first + k];
		if (!s->done[need]) {
			*one = need;
			++n;
		}
	}
	return n;
}

static void put_off(struct sorter *s, uint32_t node)
{
	const struct node *of = &s->o->nodes[node];
	for (uint32_t k = 0; k < of->count; ++k) {
		uint32_t need = s->o->needs[of->first + k];
		if (s->done[need])
			continue;
		s->who[s->nwho] = node;
		s->next[s->nwho] = NO_LINE;
		*(s->first[need] == NO_LINE ? &s->first[need] : &s->next[s->last[need]]) = (uint32_t)s->nwho;
		s->last[need] = (uint32_t)s->nwho++;
		++s->waits[node];
	}
	s->moved[node] = true;
}

/** @return false: some lines need each other. */
static bool sort(struct sorter *s)
{
	size_t n = s->o->n;
	for (size_t i = 0; i < n; ++i) {
		uint32_t node = s->seq[i], one, other;
		if (s->done[node] || s->waits[node])
			continue;
		uint32_t count = missing(s, node, &one);
		if (count == 1 && !s->waits[one] && missing(s, one, &other) == 0) {
			s->moved[one] = true;
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
	while (at > 0 && !m->items[at - 1].is_new && m->match.old[m->items[at - 1].i].line->kind == TABLINE_COMMENT)
		--at;
	return at > 0 ? at : item;
}

/**
 * Bring the items into the order of the nodes.  What is no node keeps its place among
 * those that were not moved; a comment goes with the line below it.
 */
static void rearrange(struct order *o, const struct sorter *s, const uint32_t *item_of)
{
	struct merger *m = o->m;
	struct item *items = calloc(m->nitems + 1, sizeof(*items));
	bool *gone = calloc(m->nitems + 1, sizeof(*gone));
	if (!items || !gone) {
		m->match.failed = true;
		goto out;
	}
	for (size_t i = 0; i < o->n; ++i) {
		if (!s->moved[i])
			continue;
		++m->out->moved;
		for (uint32_t at = comment_above(m, item_of[i]); at <= item_of[i]; ++at)
			gone[at] = true;
	}
	size_t n = 0, at = 0;
	for (size_t k = 0; k < s->nout; ++k) {
		uint32_t node = s->out[k], place = item_of[node], top = comment_above(m, place);
		if (!s->moved[node]) {
			/* Up to it, without what goes elsewhere. */
			for (; at <= place; ++at) {
				if (!gone[at])
					items[n++] = m->items[at];
			}
			continue;
		}
		/* What goes up goes above the comment of the line that needs it. */
		if (k + 1 < s->nout && !s->moved[s->out[k + 1]] && place > item_of[s->out[k + 1]]) {
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

/** Tell of lines that stand before what they need. */
static void tell_order(struct order *o, const uint32_t *item_of, bool done)
{
	struct merger *m = o->m;
	for (size_t i = 0; i < o->n; ++i) {
		const struct node *node = &o->nodes[i];
		for (uint32_t k = 0; k < node->count; ++k) {
			const struct node *need = &o->nodes[o->needs[node->first + k]];
			if (item_of[i] > item_of[need - o->nodes] || node->item.is_new)
				continue;
			struct fstab_note *note = merge_note(m, FSTAB_NOTE_ORDER, &m->match.old[node->item.i], NULL, NULL);
			if (note) {
				if (need->item.is_new)
					note->live = m->match.new[need->item.i].line;
				else
					note->other = m->match.old[need->item.i].line;
				note->done = done;
			}
			break;
		}
	}
}

static void sort_items(struct order *o)
{
	struct merger *m = o->m;
	size_t n = o->n;
	uint32_t *item_of = calloc(n + 1, sizeof(*item_of)), *node_of = malloc((m->match.nold + m->match.nnew + 1) * sizeof(*node_of));
	struct sorter s = {
		.o = o, .seq = calloc(n + 1, sizeof(*s.seq)), .out = calloc(n + 1, sizeof(*s.out)),
		.waits = calloc(n + 1, sizeof(*s.waits)), .first = malloc((n + 1) * sizeof(*s.first)),
		.last = calloc(n + 1, sizeof(*s.last)),
		.next = calloc(o->nneeds + 1, sizeof(*s.next)), .who = calloc(o->nneeds + 1, sizeof(*s.who)),
		.done = calloc(n + 1, sizeof(*s.done)), .moved = calloc(n + 1, sizeof(*s.moved)),
	};
	if (!item_of || !node_of || !s.seq || !s.out || !s.waits || !s.first || !s.last || !s.next || !s.who || !s.done || !s.moved) {
		m->match.failed = true;
		goto out;
	}
	for (size_t i = 0; i < n; ++i) {
		const struct item *item = &o->nodes[i].item;
		node_of[item->is_new ? m->match.nold + item->i : item->i] = (uint32_t)i;
		s.first[i] = NO_LINE;
	}
	size_t count = 0;
	for (uint32_t k = 0; k < m->nitems; ++k) {
		const struct item *item = &m->items[k];
		const struct old *old = item->is_new ? NULL : &m->match.old[item->i];
		if (old && (old->line->kind != TABLINE_ENTRY || old->act == ASIDE || old->noauto))
			continue;
		uint32_t node = node_of[item->is_new ? m->match.nold + item->i : item->i];
		s.seq[count++] = node;
		item_of[node] = k;
	}
	/* Where lines need each other there is no right order, and none is moved. */
	bool fix = m->in->fix & FSTAB_FIX_ORDER && sort(&s);
	tell_order(o, item_of, fix);
	if (!fix)
		goto out;
	size_t moved = 0;
	for (size_t i = 0; i < n; ++i)
		moved += s.moved[i];
	if (moved)
		rearrange(o, &s, item_of);
out:
	free(item_of);
	free(node_of);
	free(s.seq);
	free(s.out);
	free(s.waits);
	free(s.first);
	free(s.last);
	free(s.next);
	free(s.who);
	free(s.done);
	free(s.moved);
}

void merge_order(struct merger *m)
{
	struct order o = {.m = m};
	map64_init(&o.by_key);
	strbuf_init(&o.path);
	strbuf_init(&o.scratch);
	make_nodes(&o);
	if (!m->match.failed)
		place_added(&o);
	if (!m->match.failed)
		sort_items(&o);
	m->match.failed |= o.path.failed || o.scratch.failed;
	strbuf_destroy(&o.path);
	strbuf_destroy(&o.scratch);
	map64_destroy(&o.by_key);
	free(o.nodes);
	free(o.needs);
}
