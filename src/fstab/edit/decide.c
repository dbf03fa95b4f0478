/* SPDX-License-Identifier: MIT */
/*
 * What becomes of a mount and of the lines on its mount point.
 *
 * Its line is right, is changed, or is reported; a mount without one gets one, or is reported.  A
 * line that would mount something else there is put aside if the mount gets one.
 */
#include "fstab/edit/merge_impl.h"

#include "base/fstypes.h"
#include "mountopts/shown.h"

#include <string.h>

/** The fields of a line, to be changed. */
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

/** Change the source of a line to that of the mount. */
static void change_source(struct merger *m, struct old *old, const struct new *new)
{
	struct words *words = change(old);
	words->source = new->line->source;
	/* Another type has another fsck pass and other options. */
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

/** Compare the options and the pass of a line with the mount. */
static void compare_how(struct merger *m, struct old *old, const struct new *new,
                        const struct old *of)
{
	const struct fstab_line *line = new->line;
	unsigned fix = m->in->fix;
	const struct words *words = old->act == CHANGED ? &old->changed : &old->words;
	const char *differ = NULL;
	const char *options = line->mount && !m->in->keep
	    ? match_options(&m->match, old, words->options, new, &differ) : NULL;
	if (options) {
		bool edited = m->base && merge_edited_options(m, old, of),
		    mend = fix & FSTAB_FIX_OPTIONS && !edited;
		if (mend)
			change(old)->options = options;
		merge_note_more(m, FSTAB_NOTE_OPTIONS, old, new, differ, mend, edited);
	}
	words = old->act == CHANGED ? &old->changed : &old->words;
	const char *kept, *refused = line->mount && !m->in->keep
	    ? merge_refused(m, old, words->options, &kept) : NULL;
	if (refused) {
		bool edited = m->base && merge_edited_options(m, old, of),
		    mend = fix & FSTAB_FIX_OPTIONS && !edited;
		if (mend) {
			words = change(old);
			old->changed.options = kept;
		}
		merge_note_more(m, FSTAB_NOTE_REFUSED, old, new, refused, mend, edited);
	}
	if (line->fate != FSTAB_LINE)
		return;
	int pass = words->passno > 0 ? words->passno : 0;
	/* A harmless pass, as installers write it, is reported only if it is to be fixed. */
	bool device = line->mount && fstype_flags(line->mount->fstype) & FST_DEVICE
	    && strcmp(line->fstype, "none") != 0;
	if (!(fix & FSTAB_FIX_PASS) && device && pass > 0)
		pass = line->passno;
	if (line->mount && pass != line->passno) {
		bool edited = m->base && merge_edited_pass(m, old, of), mend = fix & FSTAB_FIX_PASS
		    && !edited;
		if (mend)
			change(old)->passno = line->passno;
		merge_note_more(m, FSTAB_NOTE_PASS, old, new, NULL, mend, edited);
	}
}

/** Compare a line with its mount. */
static void compare(struct merger *m, struct old *old, const struct new *new)
{
	const struct old *of = merge_find_loaded(m, old, new);
	if (m->in->fix & FSTAB_FIX_SOURCE && !match_same_name(&m->match, old, new)) {
		bool edited = m->base && merge_edited_source(m, old, of),
		    known = match_same(&m->match, old, new) > 0;
		if (known && !edited)
			change_source(m, old, new);
		merge_note_more(m, FSTAB_NOTE_NAME, old, new, NULL, known && !edited, edited);
	}
	compare_how(m, old, new, of);
}

/** Decide about a further line of a mount that has its own. */
static void decide_further(struct merger *m, struct old *old, const struct old *own,
                           const struct new *new)
{
	const char *source = own->act == CHANGED ? own->changed.source : own->words.source;
	enum fstab_difference_kind kind;
	if (old == own || !match_is_further(&m->match, old, source, new, &kind))
		return;
	/* A line that would cover the mount is in its way. */
	bool again = kind == FSTAB_DIFFER_REPEATED, same = match_same(&m->match, old, new) != 0;
	bool aside = again ? m->in->fix & FSTAB_FIX_DAMAGED : m->in->persistent
	    && new->line->fate == FSTAB_LINE;
	struct fstab_note *note =
	    merge_note(m, again ? FSTAB_NOTE_REPEATED : FSTAB_NOTE_BESIDE, old, new, NULL);
	if (note) {
		note->other = own->line;
		note->done = aside;
	}
	if (aside) {
		old->live = (uint32_t)(new - m->match.new);
		merge_aside(m, old, match_format(&m->match, same ? "the same as line %u"
		                               : again ? "line %u mounts this source here"
		                                       : "line %u mounts what is mounted here",
		                                           (unsigned)own->line->number));
	}
}

/** Decide about all further lines. */
static void decide_others(struct merger *m, const struct old *own, const struct new *new)
{
	for (struct old *old = match_first_on(&m->match, new); old; old = match_next_on(&m->match,
	                                                                                old))
		decide_further(m, old, own, new);
}

/** What is mounted, as the reason why a line is put aside. */
static const char *what_is(struct merger *m, const struct fstab_line *line)
{
	return match_format(&m->match, "%s is mounted from %s, as %s", line->target, line->source,
	                    line->fstype);
}

/** Give an added line the options for mount(8), systemd and other programs of the line that it
    replaces, or that the base has. */
static void inherit(struct merger *m, struct new *new, const struct old *old)
{
	struct fstab_line *line = arena_alloc(m->match.arena, sizeof(*line));
	if (!line) {
		m->match.failed = true;
		return;
	}
	*line = *new->line;
	line->options = merge_inherit(m, line->options, old->words.options);
	new->line = line;
}
/** Decide about a mount that no line makes. */
static void decide_without(struct merger *m, struct new *new)
{
	const struct fstab_line *line = new->line;
	struct old *best = match_wrong(&m->match, new);
	const struct old *loaded = merge_find_loaded(m, NULL, new);
	/* Removed or changed since the base. */
	bool edited = m->base
	    && (best ? merge_edited_source(m, best, loaded) : merge_taken_out(m, loaded, new));
	if (m->damaged && (m->in->persistent || !best))
		edited = false;
	bool mend = best && m->in->fix & FSTAB_FIX_SOURCE && !edited;
	/* A file cut between two lines looks undamaged: what systemd loaded comes back. */
	bool back = m->in->persistent && edited && !best && !m->in->base;
	bool add = !mend && (new->named || (m->in->persistent && !edited) || back);
	if (mend) {
		new->old = (uint32_t)(best - m->match.old);
		best->live = (uint32_t)(new - m->match.new);
		change_source(m, best, new);
	}
	for (struct old *old = best; old && add; old = match_next_on(&m->match, old)) {
		if (!match_is_in_the_way(&m->match, old, new))
			continue;
		merge_aside(m, old, what_is(m, line));
		old->live = (uint32_t)(new - m->match.new);
		if (new->instead == NO_LINE)
			new->instead = (uint32_t)(old - m->match.old);
		inherit(m, new, old);
	}
	bool lost = !best || m->damaged || merge_cut(m, best);
	if (add && lost && loaded && !loaded->noauto)
		inherit(m, new, loaded);
	/* Of two lines with one mount point systemd uses the first. */
	for (struct old *old = add ? match_first_on(&m->match, new) : NULL; old
	     && new->before == NO_LINE; old = match_next_on(&m->match, old)) {
		if (old->noauto)
			new->before = (uint32_t)(old - m->match.old);
	}
	new->add = add;
	m->out->added += add;
	struct fstab_note *note =
	    merge_note(m, best ? FSTAB_NOTE_SOURCE : FSTAB_NOTE_MISSING, best, new, NULL);
	if (note) {
		note->done = mend || add;
		note->edited = edited && !add;
		note->back = back && !new->named;
	}
	if (mend) {
		compare_how(m, best, new, loaded);
		decide_others(m, best, new);
	}
}

void merge_decide(struct merger *m, struct new *new)
{
	struct matcher *match = &m->match;
	const struct fstab_line *line = new->line;
	struct old *own, *old;
	switch (match_pair(match, new)) {
	case MATCH_NOTHING:
		return;
	case MATCH_PAIRED:
		own = &match->old[new->old];
		if (line->fate == FSTAB_LINE)
			compare(m, own, new);
		else if (match_compares_options(match, own, new))
			compare_how(m, own, new, merge_find_loaded(m, own, new));
		decide_others(m, own, new);
		for (old = NULL; (old = match_next_swap(match, old, new)) != NULL;)
			decide_further(m, old, own, new);
		break;
	case MATCH_UNPAIRED:
		decide_without(m, new);
		break;
	case MATCH_INEXPRESSIBLE:
		old = match_first_on(match, new);
		if (!old)
			merge_note(m, FSTAB_NOTE_NO_LINE, NULL, new, line->why);
		else if (!old->noauto)
			merge_note(m, FSTAB_NOTE_SOURCE, old, new, NULL);
		break;
	}
	m->out->mounts += line->fate == FSTAB_LINE;
	m->out->reproduced += line->fate == FSTAB_LINE && (new->old != NO_LINE || new->add);
}
