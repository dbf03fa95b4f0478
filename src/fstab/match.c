/* SPDX-License-Identifier: MIT */
/*
 * Find the line that made a mount: a line with the same mount point and source.  Of several such
 * lines, prefer a line that is mounted at boot, and a line with the options of the mount.  Then
 * compare the line and the mount.
 */
#include "fstab/match.h"

#include "base/fstypes.h"
#include "fstab/match/matcher.h"
#include "mountopts/optlist.h"

#include <assert.h>
#include <string.h>

/* Pairing mounts with lines. */

/** Maximum number of mounts on one mount point that is_beneath() compares with a line. */
enum { DEEP_MAX = 64 };

/** Rate how well a line fits a mount; 0: the source, the type, or the part of the file system
    differs. */
static int fit(struct matcher *m, const struct candidate *entry, const struct planned *mount)
{
	int same = match_same(m, entry, mount);
	if (same == 0)
		return 0;
	const char *differ;
	int fits = 1 + 16 * (same > 0) + 8 * !entry->is.noauto + 2 * !entry->is.line->why;
	if (mount->line->fate == FSTAB_LINE && mount->line->mount
	    && !match_options(m, entry, entry->is.options, mount, &differ))
		fits += 4;
	return fits;
}

/** Whether a line makes a mount beneath `top`, on the same mount point. */
static bool is_beneath(struct matcher *m, const struct candidate *entry, const struct planned *top)
{
	unsigned deep = 0;
	for (uint32_t i = top->next; i != NO_LINE && deep < DEEP_MAX; i = m->mounts[i].next,
	     ++deep) {
		if (match_same(m, entry, &m->mounts[i]) != 0)
			return true;
	}
	return false;
}

/** Whether a mount is a bind of its mount point onto itself, stacked on the mount for which the
    plan has a line. */
static bool is_above(const struct matcher *m, const struct planned *mount)
{
	return mount->line->beneath && match_live(m, mount->key) != mount;
}

/** Find the line that made a mount; or NULL. */
static struct candidate *choose(struct matcher *m, const struct planned *mount)
{
	bool swap = mount->line->swap, above = is_above(m, mount);
	struct candidate *own = NULL, *first = match_first_on(m, mount);
	int best = 0;
	/* If the mount point has a single line, options need not be compared. */
	if (first && first->next == NO_LINE && !swap && !above)
		return match_same(m, first, mount) != 0 ? first : NULL;
	for (struct candidate *entry = swap ? m->entries : first, *end = m->entries + m->nentries;
	     entry && entry < end; entry = swap ? entry + 1 : match_next_on(m, entry)) {
		bool may = swap ? entry->is.swap && entry->live == NO_LINE
		           : !above || (entry->live == NO_LINE
		                        && entry->is.bind);
		int fits = may ? fit(m, entry, mount) : 0;
		if (fits > best) {
			best = fits;
			own = entry;
		}
	}
	return own;
}

enum match_pairing match_pair(struct matcher *m, struct planned *mount)
{
	const struct fstab_line *line = mount->line;
	/* A mount made by the system has no line, but a swap space made by the system, on zram, may
	   have a line. */
	if ((line->fate == FSTAB_OWN && !line->swap)
	    || (mount->key && match_live(m, mount->key) != mount && !is_above(m, mount)))
		return MATCH_NOTHING;
	struct candidate *own = choose(m, mount);
	if (line->fate == FSTAB_OWN) {
		if (own && match_same(m, own, mount) > 0)
			own->live = (uint32_t)(mount - m->mounts);
		return MATCH_NOTHING;
	}
	if (!own && (line->fate == FSTAB_COPY
	             || (line->fate == FSTAB_LINE && match_came_along(m, mount))))
		return MATCH_NOTHING;
	if (!own)
		return line->fate == FSTAB_LINE ? MATCH_UNPAIRED
		       : is_above(m, mount) ? MATCH_NOTHING : MATCH_INEXPRESSIBLE;
	mount->entry = (uint32_t)(own - m->entries);
	own->live = (uint32_t)(mount - m->mounts);
	if (line->mount && fstype_flags(line->mount->fstype) & FST_SUBVOL)
		map64_put(&m->first_of, mount_dev(line->mount), mount->entry);
	if (line->fate == FSTAB_COPY)
		return own->is.noauto ? MATCH_NOTHING : MATCH_AGAIN;
	return MATCH_PAIRED;
}

bool match_compares_options(struct matcher *m, const struct candidate *entry,
                            const struct planned *mount)
{
	const struct mount *actual = mount->line->mount;
	bool upon = mount->line->beneath && entry->is.bind;
	if (!actual || mount->line->fate == FSTAB_LINE || upon)
		return actual;
	/* This mount cannot be expressed in fstab.  If the line has the source that the kernel
	   shows, the obstacle may be a password or a FUSE server that only the line names: compare.
	   If the mount has an owner, a user made the mount and chose the options: do not
	   compare. */
	return actual->vfs_opts && entry->is.target && mount->line->target && actual->source
	       && strcmp(entry->is.source, actual->source) == 0 && match_same(m, entry,
	        mount) > 0
	       && !mount->line->hidden && !mount->line->owner;
}

bool match_is_in_the_way(struct matcher *m, const struct candidate *entry,
                         const struct planned *mount)
{
	return !entry->is.noauto && !is_beneath(m, entry, mount);
}

struct candidate *match_wrong(struct matcher *m, const struct planned *mount)
{
	struct candidate *entry = match_first_on(m, mount);
	while (entry && !match_is_in_the_way(m, entry, mount))
		entry = match_next_on(m, entry);
	return entry;
}

bool match_is_further(struct matcher *m, const struct candidate *entry, const char *source,
                      const struct planned *mount, enum fstab_difference_kind *kind)
{
	bool same = match_same(m, entry, mount) != 0;
	bool bind = entry->is.bind;
	if (entry->is.noauto || is_above(m, mount) || (!same && mount->line->fate != FSTAB_LINE)
	    || ((!same || bind) && is_beneath(m, entry, mount)))
		return false;
	/* A second line with the same source is redundant, even if it names another subvolume. */
	bool again = same || strcmp(entry->is.source, source) == 0;
	*kind = again ? FSTAB_DIFFER_REPEATED : FSTAB_DIFFER_CONFLICT;
	return true;
}

struct candidate *match_next_swap(struct matcher *m, const struct candidate *entry,
                              const struct planned *mount)
{
	for (size_t i = entry ? (size_t)(entry - m->entries) + 1 : 0; mount->line->swap
	     && i < m->nentries; ++i) {
		struct candidate *next = &m->entries[i];
		if (i != mount->entry && next->is.swap && next->live == NO_LINE
		    && match_same(m, next, mount) == 1)
			return next;
	}
	return NULL;
}

/* Differences between mounts and lines. */

/** Add a difference.
    @actual  fstab_difference.actual, for OPTIONS, NO_LINE and AGAIN; else NULL. */
static void add(struct fstab_match *match, enum fstab_difference_kind kind,
                const struct candidate *entry, const struct fstab_entry *other,
                const struct planned *mount, const char *actual)
{
	ARENA_PUSH(&match->arena, match->differences, match->count, (struct fstab_difference){
		.kind = kind, .line = entry ? match_line(match->matcher, entry) : NULL,
		.other = other,
		.live = mount->line, .expected = entry ? entry->is.options : NULL,
		.actual = actual,
	});
}

/** Report a line if it repeats the line of a mount or conflicts with the line of the mount. */
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
	case MATCH_AGAIN:
		entry = &m->entries[mount->entry];
		add(match, FSTAB_DIFFER_AGAIN, entry, match_origin_line(m, mount), mount,
		    mount->line->why);
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
	struct arena *arena = &match->arena;
	*match = (struct fstab_match){0};
	match->of = arena_new(arena, in->file->count, sizeof(*match->of));
	match->bound = arena_new(arena, in->file->count, sizeof(*match->bound));
	struct matcher *m = match->matcher = arena_new(arena, 1, sizeof(*m));
	if (!m)
		return arena_check(arena);
	match_init(m, in, arena);
	match_add_plan(m);
	match_add_file(m, in->file);
	for (size_t i = 0; i < m->nmounts && !arena->failed; ++i)
		match_mount(match, &m->mounts[i]);
	for (size_t i = 0; i < m->nentries && !arena->failed; ++i) {
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
	return arena_check(arena);
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
	arena_destroy(&match->arena);
	*match = (struct fstab_match){0};
}
