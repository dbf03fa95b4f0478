/* SPDX-License-Identifier: MIT */
/*
 * Compute the bounds of a query: the expression is evaluated for the set of all objects.  Each node
 * divides a set into the objects for which the node is true and those for which it is false.  A set
 * is represented by its bounds, which may contain further objects.  The result is the union of the
 * sets that reach actions.
 */
#include "select/query_bounds.h"

#include "select/query_impl.h"

#include <assert.h>
#include <dirent.h>

static const struct query_bounds everything = {
	.exact = true,
	.types = UINT32_MAX,
	.uid = {0, UINT64_MAX}, .gid = {0, UINT64_MAX}, .size = {0, UINT64_MAX},
	.ino = {0, UINT64_MAX}, .nlink = {0, UINT64_MAX},
	.mtime = {INT64_MIN, INT64_MAX}, .ctime = {INT64_MIN, INT64_MAX},
	.atime = {INT64_MIN, INT64_MAX}, .btime = {INT64_MIN, INT64_MAX},
};

/* Offsets of the members of struct query_bounds that are ranges. */
static const size_t ranges[] = {
	offsetof(struct query_bounds, uid), offsetof(struct query_bounds, gid),
	offsetof(struct query_bounds, size), offsetof(struct query_bounds, ino),
	offsetof(struct query_bounds, nlink),
};
static const size_t times[] = {
	offsetof(struct query_bounds, mtime), offsetof(struct query_bounds, ctime),
	offsetof(struct query_bounds, atime), offsetof(struct query_bounds, btime),
};
enum { RANGES = sizeof(ranges) / sizeof(*ranges), TIMES = sizeof(times) / sizeof(*times) };

static struct query_range *range_of(struct query_bounds *bounds, size_t i)
{
	return (struct query_range *)(void *)((char *)bounds + ranges[i]);
}

static struct query_times *times_of(struct query_bounds *bounds, size_t i)
{
	return (struct query_times *)(void *)((char *)bounds + times[i]);
}

static bool same_name(const struct query_bounds *a, const struct query_bounds *b)
{
	return a->name && b->name && a->any_case == b->any_case && strcmp(a->name, b->name) == 0;
}

static void set_name(struct query_bounds *to, const struct query_bounds *from)
{
	to->name = from->name;
	to->literal = from->literal;
	to->any_case = from->any_case;
	to->pattern = from->pattern;
	to->memo = from->memo;
}

/** A measure for the number of names that the bounds' pattern excludes; 0: no pattern. */
static size_t name_strength(const struct query_bounds *bounds)
{
	return !bounds->name ? 0 : 1 + strlen(bounds->name)
	       + (bounds->any_case ? 0 : 1000) + (bounds->literal ? 2000 : 0);
}

/** Assert that a set is marked as empty (`none`) if a range is empty. */
static void bounds_check(struct query_bounds *bounds)
{
#ifndef NDEBUG
	for (size_t i = 0; i < RANGES && !bounds->none; ++i)
		assert(range_of(bounds, i)->min <= range_of(bounds, i)->max);
	for (size_t i = 0; i < TIMES && !bounds->none; ++i)
		assert(times_of(bounds, i)->min <= times_of(bounds, i)->max);
	assert(bounds->none || bounds->types);
	assert(bounds->none || !bounds->literal || bounds->name);
#else
	(void)bounds;
#endif
}

/** Reduce the set `to` to the objects that are also in `with`. */
static void intersect(struct query_bounds *to, struct query_bounds *with)
{
	to->types &= with->types;
	to->none |= with->none || !to->types;
	/* Only one of two patterns of names is kept, so the bounds are exact only if the patterns
	   are equal. */
	to->exact &= with->exact && (!to->name || !with->name || same_name(to, with));
	for (size_t i = 0; i < RANGES; ++i) {
		struct query_range *a = range_of(to, i), *b = range_of(with, i);
		a->min = a->min > b->min ? a->min : b->min;
		a->max = a->max < b->max ? a->max : b->max;
		to->none |= a->min > a->max;
	}
	for (size_t i = 0; i < TIMES; ++i) {
		struct query_times *a = times_of(to, i), *b = times_of(with, i);
		a->min = a->min > b->min ? a->min : b->min;
		a->max = a->max < b->max ? a->max : b->max;
		to->none |= a->min > a->max;
	}
	to->none |= to->literal && with->literal && !to->any_case && !with->any_case
	            && strcmp(to->name, with->name) != 0;
	if (name_strength(with) > name_strength(to))
		set_name(to, with);
}

/** Add the objects of the set `with` to the set `to`. */
static void unite(struct query_bounds *to, struct query_bounds *with)
{
	if (with->none)
		return;
	if (to->none) {
		*to = *with;
		return;
	}
	to->exact = false;
	to->types |= with->types;
	for (size_t i = 0; i < RANGES; ++i) {
		struct query_range *a = range_of(to, i), *b = range_of(with, i);
		a->min = a->min < b->min ? a->min : b->min;
		a->max = a->max > b->max ? a->max : b->max;
	}
	for (size_t i = 0; i < TIMES; ++i) {
		struct query_times *a = times_of(to, i), *b = times_of(with, i);
		a->min = a->min < b->min ? a->min : b->min;
		a->max = a->max > b->max ? a->max : b->max;
	}
	if (!same_name(to, with))
		set_name(to, &everything);
}

/* Tests */

/** Get the range of values for which a test of a number is true.  The test divides the value by the
    unit, and rounds up, before comparison. */
static struct query_range number_range(const struct query_node *node)
{
	const uint64_t n = node->number.n, unit = node->number.unit;
	const struct query_range nothing = {1, 0};
	uint64_t below = 0, most;    /* below, most: the largest values that are less than n units,
	                                and n units, after rounding up */
	if (n > 0 && __builtin_mul_overflow(n - 1, unit, &below))
		below = UINT64_MAX;
	if (__builtin_mul_overflow(n, unit, &most))
		most = UINT64_MAX;
	if (node->number.sign == '+')
		return most == UINT64_MAX ? nothing : (struct query_range){most + 1, UINT64_MAX};
	if (node->number.sign == '-')
		return n == 0 ? nothing : (struct query_range){0, below};
	return n == 0 ? (struct query_range){0, 0}
	       : below == UINT64_MAX ? nothing : (struct query_range){below + 1, most};
}

/** Get all values that are not in a range, if they are a range; else all values.
    @exact [out]  Set to false in the second case. */
static struct query_range range_invert(struct query_range range, bool *exact)
{
	const struct query_range all = {0, UINT64_MAX}, nothing = {1, 0};
	if (range.min > range.max)
		return all;
	if (range.min == 0)
		return range.max == UINT64_MAX ? nothing
		       : (struct query_range){range.max + 1, UINT64_MAX};
	*exact = range.max == UINT64_MAX;
	return *exact ? (struct query_range){0, range.min - 1} : all;
}

/** Get the member of the bounds that a test of a number restricts; NULL: the node is a different
    test. */
static struct query_range *number_member(struct query_bounds *bounds,
                                         const struct query_node *node)
{
	QUERY_TEST((*test)) = node->row->test;
	return test == query_test_size  ? &bounds->size
	       : test == query_test_uid ? &bounds->uid
	       : test == query_test_gid ? &bounds->gid
	       : test == query_test_inum ? &bounds->ino
	       : test == query_test_links ? &bounds->nlink : NULL;
}

static void time_bounds(const struct query_node *node, struct query_bounds *yes,
                        struct query_bounds *no)
{
	char field = node->time.field;
	size_t i = field == 'm' ? 0 : field == 'c' ? 1 : field == 'a' ? 2 : 3;
	times_of(yes, i)->min = node->time.sec;
	yes->exact = no->exact = field != 'B';
	/* For an object without a time of birth, -newerB is false, so no->btime cannot be
	   limited. */
	if (field != 'B')
		times_of(no, i)->max = node->time.sec;
}

/** Get the sets of all objects for which a test is true (`yes`) and false (`no`). */
static void test_bounds(const struct query_node *node, struct query_bounds *yes,
                        struct query_bounds *no)
{
	QUERY_TEST((*test)) = node->row->test;
	struct query_range *range = number_member(yes, node);
	*yes = *no = everything;
	if (range) {
		*range = number_range(node);
		*number_member(no, node) = range_invert(*range, &no->exact);
	} else if (test == query_test_newer) {
		time_bounds(node, yes, no);
	} else if (test == query_test_type) {
		yes->types = node->types;
		no->types = ~node->types;
	} else if (test == query_test_name) {
		no->exact = false;
		yes->name = node->text;
		yes->literal = !strpbrk(node->text, "*?[\\");
		yes->any_case = node->row->param == 'i';
		yes->pattern = node->pattern;
		if (node->memo)
			yes->memo.known = yes->memo.yes = (uint16_t)(1u << (node->memo - 1));
	} else if (test == query_test_true) {
		no->none = true;
	} else if (test == query_test_false) {
		yes->none = true;
	} else {
		yes->exact = no->exact = false;
		if (test == query_test_empty)
			yes->types = 1u << DT_REG | 1u << DT_DIR;
		else if (test == query_test_lname)
			yes->types = 1u << DT_LNK;
	}
}

/* The expression */

/**
 * Divide a set of objects by the value of a node.
 *
 * @in The objects for which the node is evaluated.
 * @yes [out] The objects for which the node is, or may be, true.
 * @no [out] The objects for which the node is, or may be, false.
 * @acted The objects that reach an action are added.
 */
static void divide(const struct query *query, const struct query_node *node,
                   const struct query_bounds *in, struct query_bounds *yes,
                   struct query_bounds *no, struct query_bounds *acted)
{
	struct query_bounds rest = *in, value;
	const struct query_bounds nothing = {.none = true};
	bool ends;
	switch (node->op) {
	case OP_TEST:
		test_bounds(node, yes, no);
		intersect(yes, &rest);
		intersect(no, &rest);
		return;
	case OP_ACTION:
		unite(acted, &rest);
		*yes = *in;
		*no = query_can_fail(&query->actions[node->action]) ? *in : nothing;
		return;
	case OP_PRUNE:
		*yes = *in;
		*no = nothing;
		return;
	case OP_NOT:
		divide(query, node->first, in, no, yes, acted);
		return;
	case OP_COMMA:
		for (node = node->first; node; node = node->next) {
			divide(query, node, &rest, yes, no, acted);
			rest = *yes;
			unite(&rest, no);
		}
		return;
	default:
		/* `value`: objects for which this operand ends the list; `goes_on`: objects for
		   which the next operand is evaluated. */
		ends = node->op == OP_OR;
		*yes = *no = nothing;
		for (const struct query_node *at = node->first; at; at = at->next) {
			struct query_bounds goes_on;
			divide(query, at, &rest, ends ? &value : &goes_on,
			       ends ? &goes_on : &value, acted);
			unite(ends ? yes : no, &value);
			rest = goes_on;
		}
		*(ends ? no : yes) = rest;
		return;
	}
}

void query_bounds(const struct query *query, struct query_bounds *bounds)
{
	struct query_bounds yes, no;
	*bounds = everything;
	if (!query)
		return;
	*bounds = (struct query_bounds){.none = true};
	divide(query, query->root, &everything, &yes, &no, bounds);
	bounds_check(bounds);
}

bool query_bounds_name(const struct query_bounds *bounds, const char *name, size_t len)
{
	return !bounds->pattern || query_pattern_matches(bounds->pattern, name, len);
}
