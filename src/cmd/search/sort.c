/* SPDX-License-Identifier: MIT */
/*
 * Each object is one allocation: its key, the printed attributes, and its strings.  With a limit,
 * the objects form a heap with the last object on top, so that memory is bounded by the limit.
 */
#include "cmd/search/sort.h"

#include "base/array.h"
#include "base/fail.h"
#include "cmd/search/out.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Only the attributes before dio_mem_align are stored: the others are not printed. */
enum { KEPT_STATX = offsetof(struct k_statx, dio_mem_align) };

/** An object; data contains the attributes, the path, the sort text unless it is the end of the
    path, the target of the link, and the names of extended attributes. */
struct kept {
	uint64_t high;            /* the number; for text, its offset in data */
	uint32_t low;             /* the number after the decimal point or colon */
	unsigned char type;       /* DT_* */
	bool known : 1;           /* the column has a value */
	bool meta : 1, link : 1, xattrs : 1;   /* data contains attributes, a target, a list of
	                                          names */
	_Alignas(struct k_statx) char data[];
};

void search_sort_destroy(struct search_sort *sort)
{
	for (size_t i = 0; i < sort->count; ++i)
		free(sort->kept[i]);
	free(sort->kept);
	strbuf_destroy(&sort->cell);
	strbuf_destroy(&sort->next);
}

/** Parse the number of a cell into kept->high and kept->low: digits; after a point or colon,
    nanoseconds or the minor number. */
static void parse_number(const char *text, struct kept *kept)
{
	char *end;
	bool negative = *text == '-';
	kept->high = strtoull(text + negative, &end, 10);
	kept->low = *end ? (uint32_t)strtoul(end + 1, NULL, 10) : 0;
	if (negative) {
		bool part = kept->low > 0;
		kept->low = part ? 1000000000 - kept->low : 0;
		kept->high = 0 - (kept->high + part);
	}
}

/** Whether a column is sorted as text. */
static bool is_text(const struct search_column *by)
{
	return by->info.type != CT_NUMBER && by->info.type != CT_DECIMAL && !by->pair;
}

static const char *path_of(const struct kept *kept)
{
	return kept->data + (kept->meta ? KEPT_STATX : 0);
}

static int compare(const struct search_sort *sort, const struct kept *a, const struct kept *b)
{
	int order = b->known - a->known;
	if (order)
		return order;
	if (a->known && is_text(sort->by))
		order = strcmp(a->data + a->high, b->data + b->high);
	else if (a->high != b->high)
		order = a->high < b->high ? -1 : 1;
	else
		order = a->low < b->low ? -1 : a->low > b->low;
	/* Times before 1970 are negative numbers in `high`: if the signs differ, the unsigned
	   comparison was wrong. */
	if (a->known && sort->by->info.type == CT_DECIMAL && (int64_t)(a->high ^ b->high) < 0)
		order = -order;
	if (order)
		return sort->down ? -order : order;
	return strcmp(path_of(a), path_of(b));
}

/** Make the struct kept of an object in sort->next.
    @return valid until the next call; NULL: ENOMEM. */
static struct kept *make(struct search_sort *sort, const struct object *o)
{
	struct strbuf *to = &sort->next;
	struct kept kept = {
		.type = o->type, .meta = sort->metadata && o->st, .link = o->target,
		.xattrs = o->xattrs,
	};
	bool within = sort->by->cell == search_cell_path || sort->by->cell == search_cell_name;
	strbuf_reset(to);
	strbuf_extend(to, offsetof(struct kept, data));
	if (kept.meta)
		strbuf_add(to, (const char *)o->st, KEPT_STATX);
	size_t path = to->len - offsetof(struct kept, data);
	strbuf_add(to, o->path, strlen(o->path) + 1);
	strbuf_reset(&sort->cell);
	kept.known = within || (search_is_known(sort->by, o) && sort->by->cell(o, &sort->cell));
	if (sort->by->cell == search_cell_name)
		path += (size_t)(search_name_of(o) - o->path);
	if (is_text(sort->by)) {
		kept.high = within ? path : to->len - offsetof(struct kept, data);
		if (kept.known && !within)
			strbuf_add(to, strbuf_str(&sort->cell), sort->cell.len + 1);
	} else if (kept.known) {
		parse_number(strbuf_str(&sort->cell), &kept);
	}
	if (o->target)
		strbuf_add(to, o->target, strlen(o->target) + 1);
	for (const char *name = o->xattrs; name && *name; name += strlen(name) + 1)
		strbuf_add(to, name, strlen(name) + 1);
	if (to->failed || sort->cell.failed)
		return fail_null(ENOMEM);
	memcpy(to->data, &kept, offsetof(struct kept, data));
	return (void *)to->data;
}

/** Move an object down from the top of the heap to its position. */
static void sink(struct search_sort *sort, struct kept *moved)
{
	size_t at = 0;
	for (size_t child; (child = 2 * at + 1) < sort->count; at = child) {
		if (child + 1 < sort->count
		    && compare(sort, sort->kept[child + 1], sort->kept[child]) > 0)
			++child;
		if (compare(sort, sort->kept[child], moved) <= 0)
			break;
		sort->kept[at] = sort->kept[child];
	}
	sort->kept[at] = moved;
}

int search_sort_add(struct search_sort *sort, const struct object *o)
{
	struct kept *next = make(sort, o);
	bool full = sort->most && sort->count == sort->most;
	if (!next || (!full && !ARRAY_ROOM(sort->kept, sort->count, &sort->room)))
		return -1;
	if (full && compare(sort, next, sort->kept[0]) >= 0)
		return 0;
	size_t size = sort->next.len + 1, at = sort->count;
	struct kept *kept = malloc(size);
	if (!kept)
		return -1;
	memcpy(kept, next, size);
	if (full) {
		free(sort->kept[0]);
		sink(sort, kept);
		return 0;
	}
	++sort->count;
	for (size_t up; sort->most && at > 0; at = up) {
		up = (at - 1) / 2;
		if (compare(sort, sort->kept[up], kept) >= 0)
			break;
		sort->kept[at] = sort->kept[up];
	}
	sort->kept[at] = kept;
	return 0;
}

static int by_order(const void *a, const void *b, void *sort)
{
	return compare(sort, *(struct kept *const *)a, *(struct kept *const *)b);
}

void search_sort_end(struct search_sort *sort)
{
	if (sort->count > 0)
		qsort_r(sort->kept, sort->count, sizeof(*sort->kept), by_order, sort);
}

void search_sort_get(const struct search_sort *sort, size_t i, struct object *o)
{
	const struct kept *kept = sort->kept[i];
	const char *end = strchr(path_of(kept), '\0') + 1;
	if (kept->known && is_text(sort->by) && kept->data + kept->high == end)
		end = strchr(end, '\0') + 1;
	*o = (struct object){
		.dir = "", .path = path_of(kept), .type = kept->type,
		.target = kept->link ? end : NULL,
	};
	if (kept->xattrs)
		o->xattrs = kept->link ? strchr(end, '\0') + 1 : end;
	if (kept->meta)
		o->st = (const void *)kept->data;
}
