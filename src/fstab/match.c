/* SPDX-License-Identifier: MIT */
#include "fstab/match.h"

#include "fstab/match/matcher.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/** Add a difference.  @return it, until the next; NULL on ENOMEM. */
static struct fstab_difference *add(struct fstab_match *match, struct matcher *m,
                                    enum fstab_difference_kind kind,
                                    const struct old *old, const struct new *new)
{
	if (match->count == match->capacity) {
		size_t capacity = match->capacity ? 2 * match->capacity : 64;
		struct fstab_difference *more =
		    reallocarray(match->differences, capacity, sizeof(*more));
		if (!more) {
			m->failed = true;
			return NULL;
		}
		match->differences = more;
		match->capacity = capacity;
	}
	struct fstab_difference *difference = &match->differences[match->count++];
	*difference = (struct fstab_difference){
		.kind = kind, .line = old ? old->line : NULL, .live = new ? new->line : NULL,
	};
	return difference;
}

/** Compare the options of a paired line. */
static void compare_options(struct fstab_match *match, struct matcher *m, const struct old *old,
                            const struct new *new)
{
	const char *differ;
	if (!match_compares_options(m, old, new)
	    || !match_options(m, old, old->words.options, new, &differ))
		return;
	struct fstab_difference *difference = add(match, m, FSTAB_DIFFER_OPTIONS, old, new);
	if (difference) {
		difference->expected = old->words.options;
		difference->actual = differ;
	}
}

/** Report a line that is too much. */
static void add_further(struct fstab_match *match, struct matcher *m, const struct old *old,
                        const struct old *own,
                        const struct new *new)
{
	enum fstab_difference_kind kind;
	if (old == own || !match_is_further(m, old, own->words.source, new, &kind))
		return;
	struct fstab_difference *difference = add(match, m, kind, old, new);
	if (difference)
		difference->other = own->line;
}

static void match_mount(struct fstab_match *match, struct matcher *m, struct new *new)
{
	const struct old *old = NULL;
	struct fstab_difference *difference;
	switch (match_pair(m, new)) {
	case MATCH_NOTHING:
		break;
	case MATCH_PAIRED:
		compare_options(match, m, &m->old[new->old], new);
		for (old = match_first_on(m, new); old; old = match_next_on(m, old))
			add_further(match, m, old, &m->old[new->old], new);
		for (old = NULL; (old = match_next_swap(m, old, new)) != NULL;)
			add_further(match, m, old, &m->old[new->old], new);
		break;
	case MATCH_UNPAIRED:
		old = match_wrong(m, new);
		add(match, m, old ? FSTAB_DIFFER_SOURCE : FSTAB_DIFFER_MISSING, old, new);
		break;
	case MATCH_INEXPRESSIBLE:
		old = match_first_on(m, new);
		if (old && old->noauto)
			break;
		difference = add(match, m, old ? FSTAB_DIFFER_SOURCE : FSTAB_DIFFER_NO_LINE, old,
		                 new);
		if (difference && !old)
			difference->actual = new->line->why;
		break;
	}
}

/** Look for the sources of lines that are not mounted. */
static void match_rest(struct fstab_match *match, struct matcher *m)
{
	struct map64 by;
	map64_init(&by);
	match_index_devices(m, &by);
	for (size_t i = 0; i < m->nold && !m->failed; ++i) {
		const struct new *live = match_elsewhere(m, &m->old[i], &by);
		if (live)
			add(match, m, FSTAB_DIFFER_ELSEWHERE, &m->old[i], live);
	}
	map64_destroy(&by);
}

int fstab_match(const struct fstab_match_input *in, struct fstab_match *match)
{
	struct matcher m;
	*match = (struct fstab_match){
		.of = calloc(in->file->count + 1, sizeof(*match->of)),
		    .bound = calloc(in->file->count + 1, sizeof(*match->bound)),
	};
	arena_init(&match->arena);
	match_init(&m, in, &match->arena);
	m.failed = !match->of || !match->bound;
	match_take_plan(&m);
	if (!m.failed)
		match_take_file(&m, in->file);
	for (size_t i = 0; i < m.nnew && !m.failed; ++i)
		match_mount(match, &m, &m.new[i]);
	match_rest(match, &m);
	for (size_t i = 0; i < m.nold && !m.failed; ++i) {
		if (m.old[i].live == NO_LINE)
			continue;
		match->of[i] = m.new[m.old[i].live].line;
		match_bound(&m, &m.old[i], &m.new[m.old[i].live], &match->bound[i]);
	}
	int rc = m.failed || m.text.failed || m.more.failed ? -1 : 0;
	match_destroy(&m);
	if (rc != 0)
		errno = ENOMEM;
	return rc;
}

void fstab_match_destroy(struct fstab_match *match)
{
	free(match->differences);
	free(match->of);
	free(match->bound);
	match->differences = NULL;
	match->of = NULL;
	match->bound = NULL;
	arena_destroy(&match->arena);
}
