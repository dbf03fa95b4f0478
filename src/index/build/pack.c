/* SPDX-License-Identifier: MIT */
#include "index/build/pack.h"

#include "base/array.h"
#include "base/fail.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>

#define NONE UINT32_MAX

/* Maximum number of open bins.  With more bins, a directory with very many children would take
   long. */
enum { BINS = 16 };

/** A set of directories to be put into one cluster, as a list linked by packing.next.  Invariant:
    the set fits a cluster, or is one directory with too many rows, or is empty. */
struct piece {
	uint32_t head, tail;     /* first and last directory; NONE: the piece is empty */
	uint32_t rows, dirs;
};

/** The state of packing.  All arrays except `items` have an element for each directory. */
struct packing {
	const struct pack_dir *dirs;
	uint32_t n;
	struct piece *left;      /* [directory]: its rest, see pack.h */
	uint32_t *next;          /* [directory]: next directory of its piece */
	uint32_t *child, *sibling;   /* [directory]: its first packed child, its next packed
	                                sibling */
	uint32_t *group;         /* [directory]: its cluster, numbered in the order in which
	                            clusters were closed */
	uint32_t groups;
	struct piece *items;     /* pieces to be put into bins, for one directory */
	size_t nitems, room;
};

/** Assert the invariants of a piece. */
static void piece_check(const struct piece *piece)
{
	assert((piece->head == NONE) == (piece->dirs == 0));
	assert((piece->tail == NONE) == (piece->dirs == 0));
	assert(piece->dirs <= INDEX_HARD_DIRS && piece->rows >= piece->dirs);
	assert(piece->rows <= INDEX_SOFT_ROWS || piece->dirs == 1);
	(void)piece;
}

static bool fits(const struct piece *a, const struct piece *b)
{
	return (uint64_t)a->rows + b->rows <= INDEX_SOFT_ROWS
	       && a->dirs + b->dirs <= INDEX_HARD_DIRS;
}

/** Get how full a cluster with this piece is, in units of 1 / (INDEX_SOFT_ROWS *
    INDEX_HARD_DIRS). */
static uint64_t fullness(const struct piece *piece)
{
	uint64_t rows = (uint64_t)piece->rows * INDEX_HARD_DIRS;
	uint64_t dirs = (uint64_t)piece->dirs * INDEX_SOFT_ROWS;
	return rows > dirs ? rows : dirs;
}

/** Move the directories of piece `from` to piece `to`. */
static void join(struct packing *p, struct piece *to, const struct piece *from)
{
	if (from->head == NONE)
		return;
	if (to->head == NONE)
		to->head = from->head;
	else
		p->next[to->tail] = from->head;
	to->tail = from->tail;
	to->rows += from->rows;
	to->dirs += from->dirs;
}

/** Make a cluster of a piece, unless it is empty. */
static void close_piece(struct packing *p, const struct piece *piece)
{
	piece_check(piece);
	for (uint32_t i = piece->head; i != NONE; i = i == piece->tail ? NONE : p->next[i])
		p->group[i] = p->groups;
	p->groups += piece->head != NONE;
}

static const struct piece empty = {.head = NONE, .tail = NONE};

static int by_fullness(const void *left, const void *right)
{
	const struct piece *a = left, *b = right;
	uint64_t m = fullness(a), n = fullness(b);
	if (m != n)
		return m > n ? -1 : 1;
	return a->head < b->head ? -1 : a->head > b->head;
}

/** Put p->items into bins, and make clusters of all bins except the emptiest.
    @return the emptiest bin. */
static struct piece put_in_bins(struct packing *p)
{
	struct piece bins[BINS] = {empty};
	size_t n = 0, pick;
	assert(p->nitems > 0);
	qsort(p->items, p->nitems, sizeof(*p->items), by_fullness);
	for (size_t i = 0; i < p->nitems; ++i) {
		const struct piece *item = &p->items[i];
		size_t bin = 0;
		while (bin < n && !fits(&bins[bin], item))
			++bin;
		if (bin == n && n == BINS) {
			pick = 0;
			for (size_t k = 1; k < n; ++k)
				pick = fullness(&bins[k]) > fullness(&bins[pick]) ? k : pick;
			close_piece(p, &bins[pick]);
			bins[pick] = empty;
			bin = pick;
		} else if (bin == n) {
			bins[n++] = empty;
		}
		join(p, &bins[bin], item);
	}
	pick = 0;
	for (size_t k = 1; k < n; ++k)
		pick = fullness(&bins[k]) < fullness(&bins[pick]) ? k : pick;
	for (size_t k = 0; k < n; ++k) {
		if (k != pick)
			close_piece(p, &bins[k]);
	}
	return bins[pick];
}

/** Pack a directory whose children are packed: set its rest.  @return 0, or -1 (ENOMEM). */
static int pack_one(struct packing *p, uint32_t i)
{
	struct piece sum = {i, i, p->dirs[i].rows + 1, 1};
	const struct piece own = sum;
	bool whole = true;
	for (uint32_t c = p->child[i]; c != NONE && whole; c = p->sibling[c]) {
		whole = fits(&sum, &p->left[c]);
		sum.rows += p->left[c].rows;
		sum.dirs += p->left[c].dirs;
	}
	sum = own;
	p->nitems = 0;
	for (uint32_t c = p->child[i]; c != NONE; c = p->sibling[c]) {
		if (whole) {
			join(p, &sum, &p->left[c]);
		} else if (p->left[c].head != NONE) {
			if (!ARRAY_ROOM(p->items, p->nitems, &p->room))
				return fail(ENOMEM);
			p->items[p->nitems++] = p->left[c];
		}
	}
	if (whole) {
		piece_check(&sum);
		p->left[i] = sum;
		return 0;
	}
	if (!ARRAY_ROOM(p->items, p->nitems, &p->room))
		return fail(ENOMEM);
	p->items[p->nitems++] = own;
	p->left[i] = put_in_bins(p);
	return 0;
}

/** Number the clusters and their slots in the order of a depth-first walk.  @return 0, or -1. */
static int number(struct packing *p, struct pack *pack)
{
	/* Reuse arrays that are no longer needed. */
	uint32_t *size = p->child, *at = p->sibling, *order = p->next;
	uint32_t *rank = calloc(p->groups + 1, sizeof(*rank)), *used;
	for (uint32_t i = 0; i < p->n; ++i)
		size[i] = 1;
	for (uint32_t i = p->n; --i > 0;)
		size[p->dirs[i].parent] += size[i];
	/* order: the directories in depth-first order.  at[i]: the position in `order` for the next
	   child of directory i; size[i]: number of directories in its subtree. */
	if (!rank)
		return -1;
	at[0] = 1;
	order[0] = 0;
	for (uint32_t i = 1; i < p->n; ++i) {
		uint32_t *next = &at[p->dirs[i].parent];
		order[*next] = i;
		at[i] = *next + 1;
		*next += size[i];
	}
	for (uint32_t k = 0; k <= p->groups; ++k)
		rank[k] = NONE;
	used = pack->first;
	for (uint32_t k = 0; k < p->n; ++k) {
		uint32_t i = order[k], *cluster = &rank[p->group[i]];
		if (*cluster == NONE) {
			*cluster = pack->clusters++;
			used[*cluster + 1] = 0;
		}
		pack->places[i] = index_dir_of(*cluster, used[*cluster + 1]++);
	}
	assert(pack->clusters == p->groups);
	pack->first[0] = 0;
	for (uint32_t k = 0; k < pack->clusters; ++k)
		pack->first[k + 1] += pack->first[k];
	assert(pack->first[pack->clusters] == p->n && pack->places[0] == 0);
	for (uint32_t i = 0; i < p->n; ++i) {
		index_dir place = pack->places[i];
		pack->members[pack->first[index_dir_cluster(place)] + index_dir_slot(place)] = i;
	}
	free(rank);
	return 0;
}

int index_pack(const struct pack_dir *dirs, uint32_t n, struct pack *pack)
{
	struct packing p = {
		.dirs = dirs, .n = n,
		.left = calloc(n, sizeof(*p.left)), .next = calloc(n, sizeof(*p.next)),
		.child = calloc(n, sizeof(*p.child)), .sibling = calloc(n, sizeof(*p.sibling)),
		.group = calloc(n, sizeof(*p.group)),
	};
	int rc = -1;
	assert(n > 0);
	*pack = (struct pack){0};
	if (!p.left || !p.next || !p.child || !p.sibling || !p.group)
		goto out;
	for (uint32_t i = 0; i < n; ++i)
		p.child[i] = p.sibling[i] = NONE;
	for (uint32_t i = n; i-- > 0;) {
		if (pack_one(&p, i) != 0)
			goto out;
		uint32_t parent = dirs[i].parent;
		assert(i == 0 || parent < i);
		if (i > 0) {
			p.sibling[i] = p.child[parent];
			p.child[parent] = i;
		}
	}
	close_piece(&p, &p.left[0]);
	if (p.groups >= INDEX_DIR_NONE >> INDEX_SLOT_BITS) {
		errno = EFBIG;
		goto out;
	}
	free(p.left);
	p.left = NULL;
	pack->places = calloc(n, sizeof(*pack->places));
	pack->members = calloc(n, sizeof(*pack->members));
	pack->first = calloc(p.groups + 1, sizeof(*pack->first));
	rc = pack->places && pack->members && pack->first ? number(&p, pack) : -1;
out:
	free(p.left);
	free(p.next);
	free(p.child);
	free(p.sibling);
	free(p.group);
	free(p.items);
	if (rc != 0)
		pack_destroy(pack);
	return rc;
}

void pack_destroy(struct pack *pack)
{
	free(pack->places);
	free(pack->members);
	free(pack->first);
	*pack = (struct pack){0};
}
