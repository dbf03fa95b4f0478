/* SPDX-License-Identifier: MIT */
/*
 * What was changed in the file since a base: a text that the file once was, or what systemd has
 * loaded of it.
 *
 * systemd does not report which options it has loaded for a mount that is mounted.  So where the
 * file was changed since systemd read it, any line may have been changed.
 */
#include "fstab/edit/merge_impl.h"

#include <string.h>

/** Whether a line looks damaged: with control characters, or invalid. */
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
	const struct tablines *file = m->in->file, *base = m->in->base;
	struct map64 known;
	bool entry = false, hurt = false;
	map64_init(&known);
	for (size_t i = 0; base && i < base->count; ++i) {
		const struct tabline *line = &base->lines[i];
		if (is_hurt(line))
			m->failed |= map64_put(&known, map64_bytes(MAP64_BYTES, line->bytes,
			                                           line->n), 0) == MAP64_NONE;
	}
	for (size_t i = 0; i < file->count && !hurt; ++i) {
		const struct tabline *line = &file->lines[i];
		entry |= line->kind == TABLINE_ENTRY;
		hurt = is_hurt(line) && map64_get(&known,
		                                  map64_bytes(MAP64_BYTES, line->bytes,
		                                              line->n)) == MAP64_NONE;
	}
	map64_destroy(&known);
	return hurt || !entry;
}

void merge_take_base(struct loaded *base, const struct merger *file)
{
	merge_take_plan(&base->m);
	merge_take_file(&base->m, file->in->base);
}

const struct old *merge_find_loaded(struct merger *m, struct loaded *base, const struct old *old,
                                    const struct new *new)
{
	if (!base || !m->in->base)
		return NULL;
	if (new->key) {
		uint32_t i = map64_get(&base->m.old_by, map64_text(new->key));
		for (; i != MAP64_NONE && i != NO_LINE; i = base->m.old[i].next) {
			if (strcmp(base->m.old[i].key, new->key) == 0)
				return &base->m.old[i];
		}
		return NULL;
	}
	for (size_t i = 0; i < base->m.nold; ++i) {
		const struct old *of = &base->m.old[i];
		if (of->swap && (old ? strcmp(of->words.source, old->words.source) == 0
		                 : merge_same(&base->m, of, new) == 1))
			return of;
	}
	return NULL;
}

bool merge_cut(const struct merger *m, const struct old *old)
{
	return !m->in->file->ended && old == &m->old[m->nold - 1];
}

/** Whether a line is new since the base, or may have been changed because the base is what
    systemd has loaded. */
static bool may_be_edited(const struct merger *m, const struct old *of)
{
	return !m->in->base || !of;
}

bool merge_edited_source(struct merger *m, const struct old *old, const struct old *of)
{
	return !merge_cut(m, old)
	       && (may_be_edited(m, of) || strcmp(old->words.source, of->words.source) != 0
	           || strcmp(old->words.fstype, of->words.fstype) != 0
	           || !merge_alike(old->words.options, of->words.options, true));
}

bool merge_edited_options(struct merger *m, const struct old *old, const struct old *of)
{
	return !merge_cut(m, old) && (may_be_edited(m, of)
	                              || !merge_alike(old->words.options, of->words.options,
	                                              false));
}

bool merge_edited_pass(struct merger *m, const struct old *old, const struct old *of)
{
	return !merge_cut(m, old) && (may_be_edited(m, of)
	                              || old->words.passno != of->words.passno);
}

bool merge_taken_out(struct merger *m, const struct old *loaded, const struct new *new)
{
	if (!m->in->file->ended)
		return false;
	if (!m->in->base)
		return fstab_has_loaded(m->in->loaded, new->key ? new->key : new->line->swap);
	if (!loaded)
		return false;
	for (const struct old *old = merge_first_on(m, new); old; old = merge_next_on(m, old)) {
		if (!merge_edited_source(m, old, loaded))
			return false;
	}
	return true;
}
