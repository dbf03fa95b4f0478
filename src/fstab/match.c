/* SPDX-License-Identifier: MIT */
#include "fstab/match.h"

#include "base/array.h"
#include "fstab/match/matcher.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/** Add a difference.  @return it, until the next; NULL on ENOMEM. */
static struct fstab_difference *add(struct fstab_match *match, struct matcher *m,
                                    enum fstab_difference_kind kind,
                                    const struct entry *entry, const struct planned *mount)
{
	if (!ARRAY_ROOM(match->differences, match->count, &match->capacity)) {
		m->failed = true;
		return NULL;
	}
	struct fstab_difference *difference = &match->differences[match->count++];
	*difference = (struct fstab_difference){
		.kind = kind, .line = entry ? entry->line : NULL, .live = mount ? mount->line
		        : NULL,
	};
	return difference;
}

/** Compare the options of a paired line. */
static void compare_options(struct fstab_match *match, struct matcher *m, const struct entry *entry,
                            const struct planned *mount)
{
	const char *differ;
	if (!match_compares_options(m, entry, mount)
	    || !match_options(m, entry, entry->words.options, mount, &differ))
		return;
	struct fstab_difference *difference = add(match, m, FSTAB_DIFFER_OPTIONS, entry, mount);
	if (difference) {
		difference->expected = entry->words.options;
		difference->actual = differ;
	}
}

/** Report a line that is too much. */
static void add_further(struct fstab_match *match, struct matcher *m, const struct entry *entry,
                        const struct entry *own,
                        const struct planned *mount)
{
	enum fstab_difference_kind kind;
	if (entry == own || !match_is_further(m, entry, own->words.source, mount, &kind))
		return;
	struct fstab_difference *difference = add(match, m, kind, entry, mount);
	if (difference)
		difference->other = own->line;
}

static void match_mount(struct fstab_match *match, struct matcher *m, struct planned *mount)
{
	const struct entry *entry = NULL;
	struct fstab_difference *difference;
	switch (match_pair(m, mount)) {
	case MATCH_NOTHING:
		break;
	case MATCH_PAIRED:
		compare_options(match, m, &m->entries[mount->entry], mount);
		for (entry = match_first_on(m, mount); entry; entry = match_next_on(m, entry))
			add_further(match, m, entry, &m->entries[mount->entry], mount);
		for (entry = NULL; (entry = match_next_swap(m, entry, mount)) != NULL;)
			add_further(match, m, entry, &m->entries[mount->entry], mount);
		break;
	case MATCH_UNPAIRED:
		entry = match_wrong(m, mount);
		add(match, m, entry ? FSTAB_DIFFER_SOURCE : FSTAB_DIFFER_MISSING, entry, mount);
		break;
	case MATCH_INEXPRESSIBLE:
		entry = match_first_on(m, mount);
		if (entry && entry->noauto)
			break;
		difference = add(match, m, entry ? FSTAB_DIFFER_SOURCE : FSTAB_DIFFER_NO_LINE,
		                 entry,
		                 mount);
		if (difference && !entry)
			difference->actual = mount->line->why;
		break;
	}
}

/** Look for the sources of lines that are not mounted. */
static void match_rest(struct fstab_match *match, struct matcher *m)
{
	struct map64 by;
	map64_init(&by);
	match_index_devices(m, &by);
	for (size_t i = 0; i < m->nentries && !m->failed; ++i) {
		const struct planned *live = match_elsewhere(m, &m->entries[i], &by);
		if (live)
			add(match, m, FSTAB_DIFFER_ELSEWHERE, &m->entries[i], live);
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
	for (size_t i = 0; i < m.nmounts && !m.failed; ++i)
		match_mount(match, &m, &m.mounts[i]);
	match_rest(match, &m);
	for (size_t i = 0; i < m.nentries && !m.failed; ++i) {
		if (m.entries[i].live == NO_LINE)
			continue;
		match->of[i] = m.mounts[m.entries[i].live].line;
		match_bound(&m, &m.entries[i], &m.mounts[m.entries[i].live], &match->bound[i]);
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
