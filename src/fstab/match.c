/* SPDX-License-Identifier: MIT */
#include "fstab/match.h"

#include "base/array.h"
#include "fstab/match/matcher.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

/** Add a difference.
    @actual  Of OPTIONS and NO_LINE. */
static void add(struct fstab_match *match, enum fstab_difference_kind kind,
                const struct candidate *entry, const struct fstab_entry *other,
                const struct planned *mount, const char *actual)
{
	if (!ARRAY_ROOM(match->differences, match->count, &match->capacity)) {
		match->matcher->failed = true;
		return;
	}
	match->differences[match->count++] = (struct fstab_difference){
		.kind = kind, .line = entry ? match_line(match->matcher, entry) : NULL,
		.other = other,
		.live = mount->line, .expected = entry ? entry->is.options : NULL,
		.actual = actual,
	};
}

/** Report a superfluous line. */
static void add_further(struct fstab_match *match, const struct candidate *entry,
                        const struct planned *mount)
{
	struct matcher *m = match->matcher;
	const struct candidate *own = &m->entries[mount->entry];
	enum fstab_difference_kind kind;
	if (entry != own && match_is_further(m, entry, own->is.source, mount, &kind))
		add(match, kind, entry, match_line(m, own), mount, NULL);
}

static void match_mount(struct fstab_match *match, struct planned *mount)
{
	struct matcher *m = match->matcher;
	const struct candidate *entry = NULL;
	const char *differ;
	switch (match_pair(m, mount)) {
	case MATCH_NOTHING:
		break;
	case MATCH_PAIRED:
		entry = &m->entries[mount->entry];
		if (match_compares_options(m, entry, mount)
		    && match_options(m, entry, entry->is.options, mount, &differ))
			add(match, FSTAB_DIFFER_OPTIONS, entry, NULL, mount, differ);
		for (entry = match_first_on(m, mount); entry; entry = match_next_on(m, entry))
			add_further(match, entry, mount);
		for (entry = NULL; (entry = match_next_swap(m, entry, mount)) != NULL;)
			add_further(match, entry, mount);
		break;
	case MATCH_UNPAIRED:
		entry = match_wrong(m, mount);
		add(match, entry ? FSTAB_DIFFER_SOURCE : FSTAB_DIFFER_MISSING, entry, NULL, mount,
		    NULL);
		break;
	case MATCH_INEXPRESSIBLE:
		entry = match_first_on(m, mount);
		if (!entry)
			add(match, FSTAB_DIFFER_NO_LINE, NULL, NULL, mount, mount->line->why);
		else if (!entry->is.noauto)
			add(match, FSTAB_DIFFER_SOURCE, entry, NULL, mount, NULL);
		break;
	}
}

int fstab_match(const struct fstab_match_input *in, struct fstab_match *match)
{
	*match = (struct fstab_match){
		.of = calloc(in->file->count + 1, sizeof(*match->of)),
		.bound = calloc(in->file->count + 1, sizeof(*match->bound)),
		.matcher = malloc(sizeof(*match->matcher)),
	};
	struct matcher *m = match->matcher;
	if (m)
		match_init(m, in, &match->arena);
	if (!match->of || !match->bound || !m)
		goto failed;
	match_take_plan(m);
	if (!m->failed)
		match_take_file(m, in->file);
	for (size_t i = 0; i < m->nmounts && !m->failed; ++i)
		match_mount(match, &m->mounts[i]);
	for (size_t i = 0; i < m->nentries && !m->failed; ++i) {
		const struct candidate *entry = &m->entries[i];
		const struct planned *live = match_elsewhere(m, entry);
		if (live)
			add(match, FSTAB_DIFFER_ELSEWHERE, entry, NULL, live, NULL);
		if (entry->live == NO_LINE)
			continue;
		assert(entry->live < m->nmounts);
		match->of[i] = m->mounts[entry->live].line;
		match_bound(m, entry, &m->mounts[entry->live], &match->bound[i]);
	}
	if (!m->failed && !m->text.failed && !m->more.failed)
		return 0;
failed:
	errno = ENOMEM;
	return -1;
}

const struct fstab_entry *fstab_match_entry(const struct fstab_match *match,
                                            const struct fstab_entry *line)
{
	const struct matcher *m = match->matcher;
	assert(line->number > 0 && line->number <= m->nentries);
	assert(m->entries[line->number - 1].is.number == line->number);
	return &m->entries[line->number - 1].is;
}

void fstab_match_destroy(struct fstab_match *match)
{
	free(match->differences);
	free(match->of);
	free(match->bound);
	if (match->matcher)
		match_destroy(match->matcher);
	free(match->matcher);
	arena_destroy(&match->arena);
	*match = (struct fstab_match){0};
}
