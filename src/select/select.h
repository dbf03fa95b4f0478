/* SPDX-License-Identifier: MIT */
/**
 * What to find, compiled once: a pattern of paths, types, depths, and an expression of find.  It
 * enters the kernel only by the functions of query_object.facts.
 *
 *     name, type --select_object()--> no, yes, or "attributes needed"
 *                     + attributes --> no, or yes; whether to enter a directory
 *
 * The pattern is stepped by the caller, who carries its live states down the tree (pattern_step()).
 * A selection never changes after the search has begun: threads may share it.
 */
#ifndef GM_SELECT_SELECT_H
#define GM_SELECT_SELECT_H

#include "select/pattern.h"
#include "select/query.h"

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct selection {
	struct pattern *pattern;
	size_t words;             /* in a set of its live states */
	bool everything;          /* it matches every object */
	struct query *query;      /* NULL: none */
	const struct query_info *info;   /* of it; or NULL */
	unsigned types;           /* 1 << DT_*; 0: all */
	unsigned mindepth, maxdepth;     /* UINT_MAX: no limit */
	bool judges;              /* objects are selected by more than the pattern and the type */
	bool again;               /* the query can be evaluated twice for an object */
	bool plain;               /* an object is printed at most once, and nothing else is done */
	/* What actions need: */
	unsigned act_mask;        /* K_STATX_* */
	bool act_target;          /* the targets of symlinks */
	bool identify;            /* the directory of an object */
	bool alters;              /* they delete or run commands */
};

/**
 * Compile.
 *
 * @sel [out]
 *         selection_destroy() it, also after a failure.
 * @exclude
 *         NULL: nothing is excluded.
 * @flags
 *         enum pattern_flags.
 * @query
 *         Taken over, also on failure; NULL: none.
 * @return 0, or -1.  Errors: those of pattern_compile().
 */
int selection_init(struct selection *sel, const char *pattern, const char *exclude, unsigned flags,
                   struct query *query);

/** Free what it has. */
void selection_destroy(struct selection *sel);

/** Set the types, 0: all, and narrow the depths.  @mindepth, maxdepth  0 and UINT_MAX: no limit. */
void selection_limit(struct selection *sel, unsigned types, unsigned mindepth, unsigned maxdepth);

/** Whether objects of a type are selected; true for an unknown type. */
static inline bool selection_has_type(const struct selection *sel, uint8_t type)
{
	return !sel->types || type == DT_UNKNOWN || sel->types & 1u << type;
}

/** What becomes of an object. */
struct judgment {
	bool look;                /* its attributes are needed first; object and enter may be
	                             wrong */
	bool object;              /* report it */
	bool enter;               /* if it is a directory, it may be entered */
	uint64_t actions;         /* see query_outcome */
	int error;                /* errno of a fact that could not be looked up; 0 */
};

/**
 * Decide what becomes of an object, by its depth and the query.
 *
 * @object
 *         Its st may be NULL: then attributes may be needed first.
 * @only_below
 *         It is not reported in any case: the pattern does not match, or its type is not selected.
 * @known
 *         What a source knows of the query; QUERY_OPEN: nothing.
 * @judged [out]
 */
void select_object(const struct selection *sel, const struct query_object *object, bool only_below,
                   enum query_value known, struct judgment *judged);

#endif
