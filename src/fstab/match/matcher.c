/* SPDX-License-Identifier: MIT */
#include "fstab/match/matcher.h"

#include <string.h>

void match_init(struct matcher *m, const struct fstab_match_input *in, struct arena *arena)
{
	*m = (struct matcher){
		.in = in, .arena = arena, .entry_by.newest.arena = arena,
		.mount_by.newest.arena = arena, .first_of.arena = arena, .devices.arena = arena,
		.shown.arena = arena, .text.arena = arena, .more.arena = arena};
}

/** Put an index first in the list of a mount point.  @return the former first index, or NO_LINE. */
static uint32_t push(struct pathmap *map, const char *key, uint32_t i)
{
	uint32_t next = pathmap_get(map, key);
	pathmap_add(map, key, i);
	return next;
}

/* Lines of the file. */

int match_follow(struct matcher *m, const char *path, struct strbuf *real)
{
	/* Do not remove ".." by the text of the path: after a symlink, ".." leads to the directory
	   above the target of the link. */
	const char *plain = strstr(path, "/..") ? path : fstab_normal(m->arena, path);
	const struct fstab_facts *facts = m->in->facts;
	enum fact_kind kind = plain && facts->look ? facts->look(facts->arg, plain, real)
	                                           : FACT_UNKNOWN;
	return kind == FACT_UNKNOWN ? -1 : kind != FACT_MISSING;
}

/** Follow the symlinks of the mount point of an entry.  If the resulting path is the mount point of
    a mount, this path becomes the key of the entry. */
static void follow(struct matcher *m, struct candidate *entry)
{
	entry->is.real = entry->key;
	if (!entry->key || match_live(m, entry->key))
		return;
	struct strbuf path = {.arena = m->arena};
	const char *there = match_follow(m, entry->is.target, &path) > 0
	                    ? fstab_normal(m->arena, strbuf_str(&path)) : NULL;
	entry->is.real = there ? there : entry->key;
	entry->key = match_live(m, entry->is.real) ? entry->is.real : entry->key;
}

/** Append to an entry the options of a line that remounts the mount of the entry. */
static void add_options(struct matcher *m, struct candidate *entry, const struct candidate *remount)
{
	for (uint32_t i = 0; i < remount->is.nopts; ++i) {
		const struct opt *option = &remount->is.opts[i];
		const char *text = arena_printf(m->arena, "%.*s", (int)option->n, option->text);
		if (option->meaning == FO_REMOUNT || fstab_entry_has(&entry->is, text))
			continue;
		entry->is.options = arena_printf(m->arena, "%s,%s", entry->is.options, text);
		fstab_entry_complete(&entry->is, m->arena);
	}
}

/** Apply the lines with "remount" that follow an entry on its mount point: add their options to the
    entry, and remove the lines from the list of the mount point. */
static void merge_remounts(struct matcher *m, struct candidate *entry)
{
	for (uint32_t *at = &entry->next; *at != NO_LINE && !m->arena->failed;) {
		struct candidate *next = &m->entries[*at];
		if (!next->is.remount) {
			at = &next->next;
			continue;
		}
		add_options(m, entry, next);
		*at = next->next;
		next->key = NULL;
	}
}

void match_add_file(struct matcher *m, const struct fstab_file *file)
{
	m->nentries = file->count;
	m->entries = arena_new(m->arena, file->count, sizeof(*m->entries));
	for (uint32_t i = (uint32_t)m->nentries; i-- > 0 && !m->arena->failed;) {
		struct candidate *entry = &m->entries[i];
		*entry = (struct candidate){.is = file->entries[i], .next = NO_LINE,
		                            .live = NO_LINE};
		entry->key = entry->is.path;
		follow(m, entry);
		if (entry->key)
			entry->next = push(&m->entry_by, entry->key, i);
		if (entry->key && !entry->is.noauto && !entry->is.remount)
			merge_remounts(m, entry);
	}
}

struct candidate *match_first_on(struct matcher *m, const struct planned *mount)
{
	uint32_t i = mount->key ? pathmap_get(&m->entry_by, mount->key) : NO_LINE;
	return i == NO_LINE ? NULL : &m->entries[i];
}

struct candidate *match_next_on(struct matcher *m, const struct candidate *entry)
{
	return entry->next == NO_LINE ? NULL : &m->entries[entry->next];
}

/* Lines of the plan. */

void match_add_plan(struct matcher *m)
{
	const struct fstab_plan *plan = m->in->plan;
	m->nmounts = plan->count;
	m->mounts = arena_new(m->arena, m->nmounts, sizeof(*m->mounts));
	/* In reverse order, so that the first mount on a mount point is found first: the plan has
	   mounts with a line before the other mounts. */
	for (uint32_t i = (uint32_t)m->nmounts; i-- > 0 && !m->arena->failed;) {
		const struct fstab_line *line = &plan->lines[i];
		struct planned *mount = &m->mounts[i];
		*mount = (struct planned){.line = line, .next = NO_LINE, .entry = NO_LINE,
		                          .instead = NO_LINE, .before = NO_LINE};
		mount->key = line->mount ? fstab_normal(m->arena, line->target) : NULL;
		if (mount->key)
			mount->next = push(&m->mount_by, mount->key, i);
	}
}

const struct planned *match_live(const struct matcher *m, const char *key)
{
	uint32_t i = pathmap_get(&m->mount_by, key);
	return i == NO_LINE ? NULL : &m->mounts[i];
}

const struct planned *match_next_live(const struct matcher *m, const struct planned *mount)
{
	return mount->next == NO_LINE ? NULL : &m->mounts[mount->next];
}
