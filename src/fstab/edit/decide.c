/* SPDX-License-Identifier: MIT */
/*
 * Decide for each mount whether a line is added, and for each line on its mount point whether the
 * line is kept, changed or commented out.
 *
 * The line of the mount is kept or changed.  If the mount has no line, a line is added, or the
 * mount is only reported.  If a line is added, the lines on the mount point with a different source
 * are commented out.
 */
#include "fstab/edit/merge_impl.h"

#include "base/fstypes.h"
#include "mountopts/edit.h"
#include "mountopts/shown.h"

#include <string.h>

void merge_note(struct merger *m, enum fstab_note_kind kind, const struct candidate *entry,
                const struct planned *mount, struct fstab_note note)
{
	struct fstab_merged *out = m->out;
	note.kind = kind;
	note.line = entry ? match_line(&m->match, entry) : NULL;
	note.live = mount ? mount->line : NULL;
	ARENA_PUSH(m->arena, out->notes, out->nnotes, note);
}

/*
 * Find changes of the file since the base: an earlier text of the file, or the units that systemd
 * generated from the file.  For a mounted unit, systemd does not report the options that it loaded.
 * So if the units are the base, every line counts as changed.
 */

/** Whether a line looks damaged: it contains control characters, or mount(8) refuses it. */
static bool is_hurt(const struct tabline *line)
{
	for (size_t i = 0; i < line->n; ++i) {
		unsigned char c = (unsigned char)line->bytes[i];
		if (c == 0x7f || (c < ' ' && c != '\t' && c != '\r'))
			return true;
	}
	return line->kind == TABLINE_DAMAGED;
}

bool merge_damaged(struct merger *m)
{
	const struct tablines *file = m->in->match.file->lines,
	                      *base = m->in->base ? m->in->base->lines : NULL;
	struct map64 known = {.arena = m->arena};
	bool entry = false, hurt = false;
	for (size_t i = 0; base && i < base->count; ++i) {
		const struct tabline *line = &base->lines[i];
		uint64_t hash = map64_bytes(MAP64_BYTES, line->bytes, line->n);
		if (is_hurt(line))
			map64_put(&known, hash, 0);
	}
	for (size_t i = 0; i < file->count && !hurt; ++i) {
		const struct tabline *line = &file->lines[i];
		uint64_t hash = map64_bytes(MAP64_BYTES, line->bytes, line->n);
		entry |= line->kind == TABLINE_ENTRY;
		hurt = is_hurt(line) && map64_get(&known, hash) == MAP64_NONE;
	}
	return hurt || !entry;
}

/** Find the line for a mount or swap space in the base, an earlier text of the file.  NULL: no such
    line, or the base is not a text.
    @entry  For a swap space: its line in the file.  The line of the base must have the source of
            this line.  NULL: the file has no such line. */
static const struct candidate *find_loaded(struct merger *m, const struct candidate *entry,
                                      const struct planned *mount)
{
	struct matcher *base = &m->base;
	if (!m->in->base)
		return NULL;
	if (mount->key)
		return match_first_on(base, mount);
	for (size_t i = 0; i < base->nentries; ++i) {
		const struct candidate *of = &base->entries[i];
		if (of->is.swap && (entry ? strcmp(of->is.source, entry->is.source) == 0
		                 : match_same(base, of, mount) == 1))
			return of;
	}
	return NULL;
}

/** Whether a line is the last line of the file and lacks its newline: the file may be truncated. */
static bool is_cut(const struct merger *m, const struct candidate *entry)
{
	return !m->in->match.file->lines->ended
	       && entry == &m->match.entries[m->match.nentries - 1];
}

/** Whether the user changed a line since the base: an earlier text of the file, or the units of
    systemd.  A new line counts as changed.
    @of    The line in the base; NULL: no such line, or the base is the units of systemd.
    @what  The part to compare: FSTAB_FIX_SOURCE, FSTAB_FIX_OPTIONS or FSTAB_FIX_PASS. */
static bool is_edited(const struct merger *m, const struct candidate *entry,
                      const struct candidate *of, enum fstab_fix what)
{
	const struct fstab_entry *now = &entry->is, *was = of ? &of->is : NULL;
	if (!m->based || is_cut(m, entry))
		return false;
	/* If the base is the units of systemd, every line counts as changed. */
	if (!m->in->base || !was)
		return true;
	if (what == FSTAB_FIX_PASS)
		return now->passno != was->passno;
	if (what == FSTAB_FIX_OPTIONS)
		return !opt_alike(now->options, was->options, false);
	return strcmp(now->source, was->source) != 0 || strcmp(now->fstype, was->fstype) != 0
	       || !opt_alike(now->options, was->options, true);
}

/** Whether the user removed the line of a mount since the base: the file has no line with the mount
    point and source of the line of the base, not even a noauto line.
    @loaded  The line of the base, if the base is a text; or NULL. */
static bool is_removed(struct merger *m, const struct candidate *loaded,
                       const struct planned *mount)
{
	if (!m->based || !m->in->match.file->lines->ended)
		return false;
	if (!m->in->base)
		return fstab_has_loaded(m->in->loaded, mount->key ? mount->key : mount->line->swap);
	if (!loaded)
		return false;
	for (const struct candidate *entry = match_first_on(&m->match, mount); entry;
	     entry = match_next_on(&m->match, entry)) {
		if (!is_edited(m, entry, loaded, FSTAB_FIX_SOURCE))
			return false;
	}
	return true;
}

/* Changing and keeping lines. */

/** Mark a line as changed, and get its new fields.  At first these are the fields in the file. */
static struct fstab_entry *change(struct candidate *entry)
{
	if (entry->act != CHANGED)
		entry->becomes = entry->is;
	entry->act = CHANGED;
	return &entry->becomes;
}

void merge_aside(struct candidate *entry, const char *why)
{
	entry->act = ASIDE;
	entry->why = why;
}

/** Copy options, and append the options in `from` that are for mount(8), systemd and other
    programs: opt_inherit(). */
static const char *inherit_options(struct merger *m, const char *options, const char *from)
{
	struct strbuf list = {.arena = m->arena};
	opt_inherit(options, from, &list);
	return strbuf_str(&list);
}

/** Change a line so that it has the source, type and subvolume of a mount. */
static void change_source(struct merger *m, struct candidate *entry, const struct planned *mount)
{
	struct fstab_entry *new = change(entry);
	new->source = mount->line->source;
	/* other: the type changes, so replace the pass and the options, which belong to the former
	   type. */
	bool other = mount->line->mount && !shown_type(new->fstype, mount->line->mount->fstype)
	             && !shown_type(new->fstype, mount->line->fstype);
	if (other)
		new->passno = mount->line->passno;
	new->fstype = mount->line->fstype;
	if (other)
		new->options = inherit_options(m, mount->line->options, new->options);
	if (other || !mount->line->mount)
		return;
	struct strbuf list = {.arena = m->arena};
	opt_identity(new->options, mount->line->options, &list);
	new->options = strbuf_str(&list);
}

/** Add a note about a difference between a line and its mount.
    @of     The line in the base, an earlier text of the file; or NULL.  A part that the user
            changed since is not fixed.
    @fix    The part of the line that differs: fixed only if in->fix contains it.
    @known  The right value is known: fix the difference only in this case.
    @return whether the caller must fix the difference. */
static bool note_fix(struct merger *m, enum fstab_note_kind kind, const struct candidate *entry,
                     const struct candidate *of, const struct planned *mount, const char *text,
                     enum fstab_fix fix, bool known)
{
	bool edited = is_edited(m, entry, of, fix);
	bool done = known && m->in->fix & fix && !edited;
	merge_note(m, kind, entry, mount,
	           (struct fstab_note){.text = text, .done = done, .edited = edited});
	return done;
}

static const struct fstab_entry *entry_of(const struct candidate *entry)
{
	return entry->act == CHANGED ? &entry->becomes : &entry->is;
}

/** List the options of a line that the kernel is known to refuse; NULL: no such option.  The
    existing mount was made without these options.
    @options     The options of the line, perhaps already changed by a fix.
    @kept [out]  The options that the kernel accepts; set unless NULL is returned. */
static const char *refused_of(struct merger *m, const struct candidate *entry, const char *options,
                              const char **kept)
{
	struct opt_set known = {.whole = true};
	struct strbuf refused = {.arena = m->arena}, others = {.arena = m->arena};
	for (uint32_t i = 0; i < entry->is.nopts; ++i) {
		if (entry->is.opts[i].refused)
			opt_set_add(&known, entry->is.opts[i].text, entry->is.opts[i].n);
	}
	if (!known.count && !known.failed)
		return NULL;
	opt_divide(options, &known, &refused, &others);
	if (known.failed)
		arena_fail(m->arena);
	opt_set_destroy(&known);
	*kept = others.len ? strbuf_str(&others) : "defaults";
	return refused.len ? strbuf_str(&refused) : NULL;
}

/** Compare the options and the pass of a line with its mount, and change the line if requested.
    @of  The line of the mount in an earlier text of the file, the base; or NULL. */
static void compare_how(struct merger *m, struct candidate *entry, const struct planned *mount,
                        const struct candidate *of)
{
	const struct fstab_line *line = mount->line;
	const char *differ, *options;
	if (!line->mount)
		return;
	options = m->in->keep ? NULL
	          : match_options(&m->match, entry, entry_of(entry)->options, mount, &differ);
	if (options && note_fix(m, FSTAB_NOTE_OPTIONS, entry, of, mount, differ,
	                        FSTAB_FIX_OPTIONS, true))
		change(entry)->options = options;
	const char *refused = m->in->keep ? NULL
	                      : refused_of(m, entry, entry_of(entry)->options, &options);
	if (refused && note_fix(m, FSTAB_NOTE_REFUSED, entry, of, mount, refused,
	                        FSTAB_FIX_OPTIONS, true))
		change(entry)->options = options;
	int pass = entry_of(entry)->passno > 0 ? entry_of(entry)->passno : 0;
	/* A pass greater than 0, which installers write for every type on a device, is harmless
	   except for a bind: report it only with FSTAB_FIX_PASS. */
	bool harmless = fstype_flags(line->mount->fstype) & FST_DEVICE && pass > 0
	                && !(m->in->fix & FSTAB_FIX_PASS);
	if (line->fate == FSTAB_LINE && pass != line->passno
	    && (!harmless || strcmp(line->fstype, "none") == 0)
	    && note_fix(m, FSTAB_NOTE_PASS, entry, of, mount, NULL, FSTAB_FIX_PASS, true))
		change(entry)->passno = line->passno;
}

/** Compare the name of the source, the options and the pass of a line with its mount, and change
    the line if requested. */
static void compare(struct merger *m, struct candidate *entry, const struct planned *mount)
{
	const struct candidate *of = find_loaded(m, entry, mount);
	if (m->in->fix & FSTAB_FIX_SOURCE && !match_same_name(entry, mount)) {
		bool known = match_same(&m->match, entry, mount) > 0;
		if (note_fix(m, FSTAB_NOTE_NAME, entry, of, mount, NULL, FSTAB_FIX_SOURCE, known))
			change_source(m, entry, mount);
	}
	compare_how(m, entry, mount, of);
}

/** Report a line, other than `own`, if it is redundant or conflicts with `own`, the line of a
    mount; comment the line out if requested. */
static void decide_further(struct merger *m, struct candidate *entry, const struct candidate *own,
                           const struct planned *mount)
{
	const char *source = entry_of(own)->source;
	enum fstab_difference_kind kind;
	if (entry == own || !match_is_further(&m->match, entry, source, mount, &kind))
		return;
	/* again: the line repeats the line of the mount; else the line conflicts, and would be
	   mounted over the mount. */
	bool again = kind == FSTAB_DIFFER_REPEATED, same = match_same(&m->match, entry, mount) != 0;
	bool aside = again ? m->in->fix & FSTAB_FIX_DAMAGED
	             : m->in->persistent && mount->line->fate == FSTAB_LINE;
	merge_note(m, again ? FSTAB_NOTE_REPEATED : FSTAB_NOTE_CONFLICT, entry, mount,
	           (struct fstab_note){.other = match_line(&m->match, own), .done = aside});
	if (aside) {
		entry->live = (uint32_t)(mount - m->match.mounts);
		merge_aside(entry, arena_printf(m->arena, same ? "the same as line %u"
		                                   : again ? "line %u mounts this source here"
		                                   : "line %u mounts what is mounted here",
		                                   (unsigned)own->is.number));
	}
}

/** Report, or comment out, each line except `own` that boot would mount over a mount; for a swap
    space, each line except `own` that names the swap space. */
static void decide_others(struct merger *m, const struct candidate *own,
                          const struct planned *mount)
{
	struct candidate *entry = match_first_on(&m->match, mount);
	for (; entry; entry = match_next_on(&m->match, entry))
		decide_further(m, entry, own, mount);
	while ((entry = match_next_swap(&m->match, entry, mount)) != NULL)
		decide_further(m, entry, own, mount);
}

/** Give the added line of a mount the options of `entry` that are for mount(8), systemd and other
    programs.
    @entry  The line that the added line replaces, or the line of the mount in an earlier text of
            the file. */
static void inherit(struct merger *m, struct planned *mount, const struct candidate *entry)
{
	struct fstab_line *line = arena_new(m->arena, 1, sizeof(*line));
	if (!line)
		return;
	*line = *mount->line;
	line->options = inherit_options(m, line->options, entry->is.options);
	mount->line = line;
}

/** For a mount that no line makes: add a line, change a line with a different source, or only
    report the mount. */
static void decide_without(struct merger *m, struct planned *mount)
{
	const struct fstab_line *line = mount->line;
	struct candidate *best = match_wrong(&m->match, mount);
	const struct candidate *loaded = find_loaded(m, NULL, mount);
	/* edited: the user changed or removed the line since the base. */
	bool edited = best ? is_edited(m, best, loaded, FSTAB_FIX_SOURCE)
	              : is_removed(m, loaded, mount);
	if (m->damaged && (m->in->persistent || !best))
		edited = false;
	bool fix_it = best && m->in->fix & FSTAB_FIX_SOURCE && !edited;
	/* A file truncated between lines looks undamaged, so restore the lines that systemd
	   loaded. */
	bool back = m->in->persistent && edited && !best && !m->in->base;
	bool add = !fix_it && (mount->named || (m->in->persistent && !edited) || back);
	if (fix_it) {
		mount->entry = (uint32_t)(best - m->match.entries);
		best->live = (uint32_t)(mount - m->match.mounts);
		change_source(m, best, mount);
	}
	for (struct candidate *entry = best; entry && add;
	     entry = match_next_on(&m->match, entry)) {
		if (!match_is_in_the_way(&m->match, entry, mount))
			continue;
		merge_aside(entry, arena_printf(m->arena, "%s is mounted from %s, as %s",
		                                   line->target, line->source, line->fstype));
		entry->live = (uint32_t)(mount - m->match.mounts);
		if (mount->instead == NO_LINE)
			mount->instead = (uint32_t)(entry - m->match.entries);
		inherit(m, mount, entry);
	}
	bool lost = !best || m->damaged || is_cut(m, best);
	if (add && lost && loaded && !loaded->is.noauto)
		inherit(m, mount, loaded);
	/* Of several lines with one mount point systemd uses the first, so the added line must
	   precede noauto lines. */
	for (struct candidate *entry = add ? match_first_on(&m->match, mount) : NULL;
	     entry && mount->before == NO_LINE; entry = match_next_on(&m->match, entry)) {
		if (entry->is.noauto)
			mount->before = (uint32_t)(entry - m->match.entries);
	}
	mount->add = add;
	merge_note(m, best ? FSTAB_NOTE_SOURCE : FSTAB_NOTE_MISSING, best, mount,
	           (struct fstab_note){.done = fix_it || add, .edited = edited && !add,
	                               .back = back && !mount->named});
	if (fix_it) {
		compare_how(m, best, mount, loaded);
		decide_others(m, best, mount);
	}
}

void merge_decide(struct merger *m, struct planned *mount)
{
	struct matcher *match = &m->match;
	const struct fstab_line *line = mount->line;
	struct candidate *own, *entry;
	switch (match_pair(match, mount)) {
	case MATCH_NOTHING:
		return;
	case MATCH_PAIRED:
		own = &match->entries[mount->entry];
		if (line->fate == FSTAB_LINE)
			compare(m, own, mount);
		else if (match_compares_options(match, own, mount))
			compare_how(m, own, mount, find_loaded(m, own, mount));
		decide_others(m, own, mount);
		break;
	case MATCH_UNPAIRED:
		decide_without(m, mount);
		break;
	case MATCH_AGAIN:
		own = &match->entries[mount->entry];
		merge_note(m, FSTAB_NOTE_AGAIN, own, mount,
		           (struct fstab_note){.text = line->why,
		                               .other = match_origin_line(match, mount),
		                               .done = m->in->fix & FSTAB_FIX_DAMAGED});
		if (m->in->fix & FSTAB_FIX_DAMAGED)
			merge_aside(own, line->why);
		break;
	case MATCH_INEXPRESSIBLE:
		entry = match_first_on(match, mount);
		if (!entry)
			merge_note(m, FSTAB_NOTE_NO_LINE, NULL, mount,
			           (struct fstab_note){.text = line->why});
		else if (!entry->is.noauto)
			merge_note(m, FSTAB_NOTE_SOURCE, entry, mount, (struct fstab_note){0});
		break;
	}
	m->out->mounts += line->fate == FSTAB_LINE;
	m->out->reproduced += line->fate == FSTAB_LINE && (mount->entry != NO_LINE || mount->add);
}

/** Put an added line before the line of another mount, if the file has that line.
    @line, other  In the plan. */
static void precede(struct merger *m, const struct fstab_line *line, const struct fstab_line *other)
{
	const struct fstab_line *plan = m->in->match.plan->lines;
	struct planned *mount = &m->match.mounts[line - plan];
	uint32_t entry = m->match.mounts[other - plan].entry;
	if (mount->add && entry != NO_LINE && (mount->before == NO_LINE || entry < mount->before))
		mount->before = entry;
}

void merge_precede(struct merger *m)
{
	const struct fstab_plan *plan = m->in->match.plan;
	for (size_t i = 0; i < plan->count; ++i) {
		const struct fstab_line *line = &plan->lines[i];
		if (line->fate == FSTAB_COPY && line->holder && !line->came_along)
			precede(m, line->holder, line->origin);
		else if (line->fate == FSTAB_LINE && line->before)
			precede(m, line, line->before);
	}
}
