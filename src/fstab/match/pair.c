/* SPDX-License-Identifier: MIT */
/*
 * Which line on a mount point makes its mount: one that mounts the same, preferably at boot, and
 * preferably with the same options.
 */
#include "fstab/match/matcher.h"

#include "base/fstypes.h"

#include <string.h>

/** How many mounts of a stack are searched for that of a line. */
enum { DEEP_MAX = 64 };

/** How well a line fits a mount; 0: it mounts something else. */
static int fit(struct matcher *m, const struct old *old, const struct new *new)
{
	int same = match_same(m, old, new);
	if (same == 0)
		return 0;
	const char *differ;
	int fits = 1 + 16 * (same > 0) + 8 * !old->noauto + 2 * !old->line->why;
	if (new->line->fate == FSTAB_LINE && new->line->mount
	    && !match_options(m, old, old->words.options, new, &differ))
		fits += 4;
	return fits;
}

struct old *match_first_on(struct matcher *m, const struct new *new)
{
	uint32_t i = new->key ? map64_get(&m->old_by, map64_text(new->key)) : MAP64_NONE;
	return i != MAP64_NONE && strcmp(m->old[i].key, new->key) == 0 ? &m->old[i] : NULL;
}

struct old *match_next_on(struct matcher *m, const struct old *old)
{
	return old->next == NO_LINE ? NULL : &m->old[old->next];
}

/** Whether a line makes a mount that is covered by another one on its mount point. */
static bool is_beneath(struct matcher *m, const struct old *old, const struct new *top)
{
	unsigned deep = 0;
	for (uint32_t i = top->next; i != NO_LINE && deep < DEEP_MAX; i = m->new[i].next, ++deep) {
		const struct new *new = &m->new[i];
		if (strcmp(new->key, top->key) == 0 && match_same(m, old, new) != 0)
			return true;
	}
	return false;
}

struct old *match_choose(struct matcher *m, const struct new *new)
{
	struct old *own = NULL;
	const struct fstab_line *line = new->line;
	int best = 0;
	struct old *first = match_first_on(m, new);
	/* A single line need not be compared with others. */
	if (first && !match_next_on(m, first) && !line->swap)
		return match_same(m, first, new) != 0 ? first : NULL;
	for (struct old *old = first; old; old = match_next_on(m, old)) {
		int fits = fit(m, old, new);
		if (fits > best) {
			best = fits;
			own = old;
		}
	}
	for (size_t i = 0; line->swap && i < m->nold; ++i) {
		struct old *old = &m->old[i];
		int fits = old->swap && old->live == NO_LINE ? fit(m, old, new) : 0;
		if (fits > best) {
			best = fits;
			own = old;
		}
	}
	return own;
}

enum match_pairing match_pair(struct matcher *m, struct new *new)
{
	const struct fstab_line *line = new->line;
	/* A swap space that the system made, on zram, may have a line all the same. */
	if ((line->fate == FSTAB_OWN && !line->swap)
	    || (new->key && match_live(m, new->key) != new))
		return MATCH_NOTHING;
	struct old *own = match_choose(m, new);
	if (line->fate == FSTAB_OWN) {
		if (own && match_same(m, own, new) > 0)
			own->live = (uint32_t)(new - m->new);
		return MATCH_NOTHING;
	}
	if (!own)
		return line->fate == FSTAB_LINE ? MATCH_UNPAIRED : MATCH_INEXPRESSIBLE;
	new->old = (uint32_t)(own - m->old);
	own->live = (uint32_t)(new - m->new);
	if (line->mount && fstype_flags(line->mount->fstype) & FST_SUBVOL)
		m->failed |= map64_put(&m->first_of, mount_dev(line->mount),
		                       new->old) == MAP64_NONE;
	return MATCH_PAIRED;
}

bool match_compares_options(struct matcher *m, const struct old *old, const struct new *new)
{
	const struct mount *mount = new->line->mount;
	if (!mount || new->line->fate == FSTAB_LINE)
		return mount;
	/* Only its line has a password, or the name that a server of FUSE goes by.  Options of a
	   user's mount, which has an owner, are that user's. */
	return mount->vfs_opts && old->words.target && new->line->target && mount->source
	       && strcmp(old->words.source, mount->source) == 0 && match_same(m, old, new) > 0
	       && !new->line->hidden && !new->line->owner;
}

bool match_is_in_the_way(struct matcher *m, const struct old *old, const struct new *new)
{
	return !old->noauto && !is_beneath(m, old, new);
}

struct old *match_wrong(struct matcher *m, const struct new *new)
{
	struct old *old = match_first_on(m, new);
	while (old && !match_is_in_the_way(m, old, new))
		old = match_next_on(m, old);
	return old;
}

bool match_is_further(struct matcher *m, const struct old *old, const char *source,
                      const struct new *new,
                      enum fstab_difference_kind *kind)
{
	bool same = match_same(m, old, new) != 0;
	if (old->noauto || (!same && (new->line->fate != FSTAB_LINE || is_beneath(m, old, new))))
		return false;
	/* One device twice on one mount point, as two parts of it: one of the lines is broken. */
	bool again = same || strcmp(old->words.source, source) == 0;
	*kind = again ? FSTAB_DIFFER_REPEATED : FSTAB_DIFFER_BESIDE;
	return true;
}

struct old *match_next_swap(struct matcher *m, const struct old *old, const struct new *new)
{
	for (size_t i = old ? (size_t)(old - m->old) + 1 : 0; new->line->swap && i < m->nold; ++i) {
		struct old *next = &m->old[i];
		if (i != new->old && next->swap && next->live == NO_LINE
		    && match_same(m, next, new) == 1)
			return next;
	}
	return NULL;
}
