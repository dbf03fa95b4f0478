/* SPDX-License-Identifier: MIT */
/*
 * What becomes of a mount, and of the lines on its place.
 *
 *     merge_choose()  of the lines on a mount's place, the one that is its own: it mounts
 *                     the same, at boot rather than not, with options rather as they are
 *     merge_decide()  its line is right, is changed, or told; a mount without one gets
 *                     it, or is told.  What would mount something else on its place is put
 *                     aside if it gets one
 */
#include "fstab/edit/merge_impl.h"

#include "base/fstypes.h"
#include "mountopts/shown.h"

#include <string.h>

/** How far a stack is looked into for the mount of a line. */
enum { DEEP_MAX = 64 };

/** How well a line fits a mount; 0: it mounts something else. */
static int fit(struct merger *m, const struct old *old, const struct new *new)
{
	int same = merge_same(m, old, new);
	if (same == 0)
		return 0;
	const char *differ;
	int fits = 1 + 16 * (same > 0) + 8 * !old->noauto + 2 * !old->line->why;
	if (new->line->fate == FSTAB_LINE && new->line->mount && !merge_options(m, old, new, &differ))
		fits += 4;
	return fits;
}

struct old *merge_first_on(struct merger *m, const struct new *new)
{
	uint32_t i = new->key ? map64_get(&m->old_by, map64_text(new->key)) : MAP64_NONE;
	return i != MAP64_NONE && strcmp(m->old[i].key, new->key) == 0 ? &m->old[i] : NULL;
}

struct old *merge_next_on(struct merger *m, const struct old *old)
{
	return old->next == NO_LINE ? NULL : &m->old[old->next];
}

/** Whether a line is of a mount that lies beneath another on its place. */
static bool is_beneath(struct merger *m, const struct old *old, const struct new *top)
{
	unsigned deep = 0;
	for (uint32_t i = top->next; i != NO_LINE && deep < DEEP_MAX; i = m->new[i].next, ++deep) {
		const struct new *new = &m->new[i];
		if (strcmp(new->key, top->key) == 0 && merge_same(m, old, new) != 0)
			return true;
	}
	return false;
}

/** Change a word of a line. */
static struct words *change(struct old *old)
{
	if (old->act != CHANGED)
		old->changed = old->words;
	old->act = CHANGED;
	return &old->changed;
}

void merge_aside(struct merger *m, struct old *old, const char *why)
{
	old->act = ASIDE;
	old->why = why;
	++m->out->aside;
}

/** Have a line mount what is mounted. */
static void change_source(struct merger *m, struct old *old, const struct new *new)
{
	struct words *words = change(old);
	words->source = new->line->source;
	/* Of another type it is checked by another, or not at all, and has that one's options. */
	bool other = new->line->mount && !shown_type(words->fstype, new->line->mount->fstype)
	             && !shown_type(words->fstype, new->line->fstype);
	if (other)
		words->passno = new->line->passno;
	words->fstype = new->line->fstype;
	if (other)
		words->options = merge_inherit(m, new->line->options, words->options);
	else if (new->line->mount)
		words->options = merge_identity(m, words->options, new->line->options);
}

/** Compare how the line of a mount mounts it. */
static void compare_how(struct merger *m, struct old *old, const struct new *new, struct loaded *base, const struct old *of)
{
	const struct fstab_line *line = new->line;
	unsigned fix = m->in->fix;
	const char *differ = NULL;
	const char *options = line->mount && !m->in->keep ? merge_options(m, old, new, &differ) : NULL;
	if (options) {
		bool edited = base && merge_edited_options(m, old, of), mend = fix & FSTAB_FIX_OPTIONS && !edited;
		if (mend)
			change(old)->options = options;
		merge_note_more(m, FSTAB_NOTE_OPTIONS, old, new, differ, mend, edited);
	}
	const struct words *words = old->act == CHANGED ? &old->changed : &old->words;
	const char *kept, *refused = line->mount && !m->in->keep ? merge_refused(m, old, words->options, &kept) : NULL;
	if (refused) {
		bool edited = base && merge_edited_options(m, old, of), mend = fix & FSTAB_FIX_OPTIONS && !edited;
		if (mend) {
			words = change(old);
			old->changed.options = kept;
		}
		merge_note_more(m, FSTAB_NOTE_REFUSED, old, new, refused, mend, edited);
	}
	if (line->fate != FSTAB_LINE)
		return;
	int pass = words->passno > 0 ? words->passno : 0;
	/* What installers write, and does no harm, is told only if it is to be mended. */
	bool device = line->mount && fstype_flags(line->mount->fstype) & FST_DEVICE && strcmp(line->fstype, "none") != 0;
	if (!(fix & FSTAB_FIX_PASS) && device && pass > 0)
		pass = line->passno;
	if (line->mount && pass != line->passno) {
		bool edited = base && merge_edited_pass(m, old, of), mend = fix & FSTAB_FIX_PASS && !edited;
		if (mend)
			change(old)->passno = line->passno;
		merge_note_more(m, FSTAB_NOTE_PASS, old, new, NULL, mend, edited);
	}
}

/** Whether a mount of which no line can be made is that of its own line, for only that one
    has what it takes: a password, the name that a server of FUSE goes by.  Options of a user's mount,
    which has an owner, are that user's. */
static bool is_by_its_line(struct merger *m, const struct old *old, const struct new *new)
{
	const struct mount *mount = new->line->mount;
	return mount && mount->vfs_opts && old->words.target && new->line->target && mount->source
	       && strcmp(old->words.source, mount->source) == 0 && merge_same(m, old, new) > 0
	       && !new->line->hidden && !new->line->owner;
}

/** Compare the line of a mount with it. */
static void compare(struct merger *m, struct old *old, const struct new *new, struct loaded *base)
{
	const struct old *of = merge_find_loaded(m, base, old, new);
	if (m->in->fix & FSTAB_FIX_SOURCE && !merge_same_name(m, old, new)) {
		bool edited = base && merge_edited_source(m, old, of), known = merge_same(m, old, new) > 0;
		if (known && !edited)
			change_source(m, old, new);
		merge_note_more(m, FSTAB_NOTE_NAME, old, new, NULL, known && !edited, edited);
	}
	compare_how(m, old, new, base, of);
}

/** A further line of a mount that has its own. */
static void decide_further(struct merger *m, struct old *old, const struct old *own, const struct new *new)
{
	bool same = merge_same(m, old, new) != 0;
	if (old->noauto || (!same && (new->line->fate != FSTAB_LINE || is_beneath(m, old, new))))
		return;
	/* One device twice on one place, as two parts of it: one of the lines is broken. */
	const char *source = own->act == CHANGED ? own->changed.source : own->words.source;
	bool again = same || strcmp(old->words.source, source) == 0;
	/* What would cover the mount is in its way. */
	bool aside = again ? m->in->fix & FSTAB_FIX_DAMAGED : m->in->persistent && new->line->fate == FSTAB_LINE;
	struct fstab_note *note = merge_note(m, again ? FSTAB_NOTE_REPEATED : FSTAB_NOTE_BESIDE, old, new, NULL);
	if (note) {
		note->other = own->line;
		note->done = aside;
	}
	if (aside) {
		old->live = (uint32_t)(new - m->new);
		merge_aside(m, old, merge_format(m, same ? "the same as line %u"
		                               : again ? "line %u mounts what is there from this source"
		                                       : "line %u mounts what is there", (unsigned)own->line->number));
	}
}

/** What is mounted, for the reason why another line was put aside. */
static const char *what_is(struct merger *m, const struct fstab_line *line)
{
	return merge_format(m, "%s is mounted from %s, as %s", line->target, line->source, line->fstype);
}

/** Give an added line what the one that goes, or that the base has, had for mount(8),
    systemd and others. */
static void inherit(struct merger *m, struct new *new, const struct old *old)
{
	struct fstab_line *line = arena_alloc(m->arena, sizeof(*line));
	if (!line) {
		m->failed = true;
		return;
	}
	*line = *new->line;
	line->options = merge_inherit(m, line->options, old->words.options);
	new->line = line;
}
/** A mount whose place has no line that makes it. */
static void decide_without(struct merger *m, struct new *new, struct loaded *base)
{
	const struct fstab_line *line = new->line;
	struct old *best = NULL;
	for (struct old *old = merge_first_on(m, new); old && !best; old = merge_next_on(m, old))
		best = old->noauto || is_beneath(m, old, new) ? NULL : old;
	const struct old *loaded = merge_find_loaded(m, base, NULL, new);
	/* Taken out since then, or made another. */
	bool edited = base && (best ? merge_edited_source(m, best, loaded) : merge_taken_out(m, loaded, new));
	if (m->damaged && (m->in->persistent || !best))
		edited = false;
	bool mend = best && m->in->fix & FSTAB_FIX_SOURCE && !edited;
	/* A file that was cut between two lines looks whole: what systemd has loaded, and is mounted, comes back. */
	bool back = m->in->persistent && edited && !best && !m->in->base;
	bool add = !mend && (new->named || (m->in->persistent && !edited) || back);
	if (mend) {
		new->old = (uint32_t)(best - m->old);
		best->live = (uint32_t)(new - m->new);
		change_source(m, best, new);
	}
	for (struct old *old = best; old && add; old = merge_next_on(m, old)) {
		if (old->noauto || is_beneath(m, old, new))
			continue;
		merge_aside(m, old, what_is(m, line));
		old->live = (uint32_t)(new - m->new);
		if (new->instead == NO_LINE)
			new->instead = (uint32_t)(old - m->old);
		inherit(m, new, old);
	}
	bool lost = !best || m->damaged || merge_cut(m, best);
	if (add && lost && loaded && !loaded->noauto)
		inherit(m, new, loaded);
	/* Of two lines of one place systemd takes the first. */
	for (struct old *old = add ? merge_first_on(m, new) : NULL; old && new->before == NO_LINE; old = merge_next_on(m, old)) {
		if (old->noauto)
			new->before = (uint32_t)(old - m->old);
	}
	new->add = add;
	m->out->added += add;
	struct fstab_note *note = merge_note(m, best ? FSTAB_NOTE_SOURCE : FSTAB_NOTE_MISSING, best, new, NULL);
	if (note) {
		note->done = mend || add;
		note->edited = edited && !add;
		note->back = back && !new->named;
	}
	if (mend)
		compare_how(m, best, new, base, loaded);
	for (struct old *old = mend ? merge_first_on(m, new) : NULL; old; old = merge_next_on(m, old)) {
		if (old != best)
			decide_further(m, old, best, new);
	}
}

struct old *merge_choose(struct merger *m, const struct new *new)
{
	struct old *own = NULL;
	const struct fstab_line *line = new->line;
	int best = 0;
	struct old *first = merge_first_on(m, new);
	/* Of one alone it does not matter how well it fits. */
	if (first && !merge_next_on(m, first) && !line->swap)
		return merge_same(m, first, new) != 0 ? first : NULL;
	for (struct old *old = first; old; old = merge_next_on(m, old)) {
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

void merge_decide(struct merger *m, struct new *new, struct loaded *base)
{
	const struct fstab_line *line = new->line;
	/* A swap space of somebody else's may have a line all the same: zram. */
	if ((line->fate == FSTAB_OWN && !line->swap) || (new->key && merge_live(m, new->key) != new))
		return;
	m->out->mounts += line->fate == FSTAB_LINE;
	struct old *own = merge_choose(m, new);
	if (line->fate == FSTAB_OWN) {
		if (own && merge_same(m, own, new) > 0)
			own->live = (uint32_t)(new - m->new);
		return;
	}
	if (own) {
		new->old = (uint32_t)(own - m->old);
		own->live = (uint32_t)(new - m->new);
		if (line->mount && fstype_flags(line->mount->fstype) & FST_SUBVOL)
			m->failed |= map64_put(&m->first_of, mount_dev(line->mount), new->old) == MAP64_NONE;
		if (line->fate == FSTAB_LINE)
			compare(m, own, new, base);
		else if (is_by_its_line(m, own, new))
			compare_how(m, own, new, base, merge_find_loaded(m, base, own, new));
		for (struct old *old = merge_first_on(m, new); old; old = merge_next_on(m, old)) {
			if (old != own)
				decide_further(m, old, own, new);
		}
		for (size_t i = 0; line->swap && i < m->nold; ++i) {
			struct old *old = &m->old[i];
			if (old != own && old->swap && old->live == NO_LINE && merge_same(m, old, new) == 1)
				decide_further(m, old, own, new);
		}
	} else if (line->fate == FSTAB_LINE) {
		decide_without(m, new, base);
	} else {
		struct old *on = merge_first_on(m, new);
		if (!on)
			merge_note(m, FSTAB_NOTE_NO_LINE, NULL, new, line->why);
		else if (!on->noauto)
			merge_note(m, FSTAB_NOTE_SOURCE, on, new, NULL);
	}
	m->out->reproduced += line->fate == FSTAB_LINE && (new->old != NO_LINE || new->add);
}
