/* SPDX-License-Identifier: MIT */
/**
 * The criteria of a search, compiled once: a pattern of paths, file types, depths, and a query (an
 * expression of find(1)).  The kernel is called only through the functions of query_object.facts.
 *
 *     name, type --select_object()--> no, yes, or "attributes needed"
 *                     + attributes --> no, or yes; whether to enter a directory
 *
 * The caller matches the pattern: it gives pattern_step() the live states of a directory
 * (select/pattern.h) and gets those of an entry.  A selection never changes after the search has
 * begun, so threads may share it.
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
	size_t words;             /* words in a set of live states of the pattern */
	bool everything;          /* the pattern matches every object */
	struct query *query;      /* NULL: the search has no query */
	const struct query_info *info;   /* properties of the query; NULL: no query */
	unsigned types;           /* 1 << DT_*; 0: all */
	unsigned mindepth, maxdepth;     /* UINT_MAX: no limit */
	bool judges;              /* the depth or the query decides as well which objects are
	                             selected */
	bool again;               /* the query may be evaluated more than once for an object */
	bool plain;               /* the only actions are -print or -print0, and each object reaches
	                             at most one */
	/* Needs of the actions of the query: */
	unsigned act_mask;        /* attributes: K_STATX_* */
	bool act_target;          /* the targets of symlinks */
	bool identify;            /* the directory that contains an object: for -execdir, -okdir,
	                             -delete */
	bool alters;              /* an action deletes files or runs commands */
};

/**
 * Compile the pattern, and store the properties of the query.
 *
 * @sel [out]
 *         Call selection_destroy() for it, also after a failure.
 * @exclude
 *         A pattern: objects that match it, and everything below them, are left out; NULL: leave
 *         out nothing.
 * @flags
 *         enum pattern_flags.
 * @query
 *         Owned by `sel` from now on, also after a failure; NULL: no query.
 * @return 0, or -1.  Errors: as pattern_compile().
 */
int selection_init(struct selection *sel, const char *pattern, const char *exclude, unsigned flags,
                   struct query *query);

/** Free the pattern and the query of a selection. */
void selection_destroy(struct selection *sel);

/** Set the file types to select, and limit the depths further: the query may already limit them.
    @types  1 << DT_*; 0: all.
    @mindepth, maxdepth  0 and UINT_MAX: no limit. */
void selection_limit(struct selection *sel, unsigned types, unsigned mindepth, unsigned maxdepth);

/** Whether objects of a type are selected; true for an unknown type. */
static inline bool selection_has_type(const struct selection *sel, uint8_t type)
{
	return !sel->types || type == DT_UNKNOWN || sel->types & 1u << type;
}

/** Whether to report and to enter an object. */
struct judgment {
	bool look;                /* the attributes of the object are needed for the decision;
	                             object and enter may be wrong */
	bool object;              /* report the object */
	bool enter;               /* if the object is a directory, it may be entered */
	uint64_t actions;         /* as query_outcome.actions */
	int error;                /* errno of a fact that could not be looked up; 0 */
};

/**
 * Decide by the depth of an object and by the query whether to report and to enter the object.
 *
 * @object
 *         If its st is NULL, the result may be `look`: the attributes are needed.
 * @only_below
 *         Do not report the object, because the pattern does not match or the type is not selected;
 *         decide only whether to enter it.
 * @known
 *         The value of the query for this object, if the source of the object, such as an index,
 *         has determined it; else QUERY_OPEN.
 * @judged [out]
 */
void select_object(const struct selection *sel, const struct query_object *object, bool only_below,
                   enum query_value known, struct judgment *judged);

#endif
