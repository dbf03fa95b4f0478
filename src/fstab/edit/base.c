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
	const struct tablines *file = m->in->match.file, *base = m->in->base;
	struct map64 known;
	bool entry = false, hurt = false;
	map64_init(&known);
	for (size_t i = 0; base && i < base->count; ++i) {
		const struct tabline *line = &base->lines[i];
		uint64_t hash = map64_bytes(MAP64_BYTES, line->bytes, line->n);
		if (is_hurt(line))
			m->match.failed |= map64_put(&known, hash, 0) == MAP64_NONE;
	}
	for (size_t i = 0; i < file->count && !hurt; ++i) {
		const struct tabline *line = &file->lines[i];
		uint64_t hash = map64_bytes(MAP64_BYTES, line->bytes, line->n);
		entry |= line->kind == TABLINE_ENTRY;
		hurt = is_hurt(line) && map64_get(&known, hash) == MAP64_NONE;
	}
	map64_destroy(&known);
	return hurt || !entry;
}

const struct entry *merge_find_loaded(struct merger *m, const struct entry *entry,
                                      const struct planned *mount)
{
	struct matcher *base = &m->base;
	if (!m->in->base)
		return NULL;
	if (mount->key)
		return match_first_on(base, mount);
	for (size_t i = 0; i < base->nentries; ++i) {
		const struct entry *of = &base->entries[i];
		if (of->swap && (entry ? strcmp(of->words.source, entry->words.source) == 0
		                 : match_same(base, of, mount) == 1))
			return of;
	}
	return NULL;
}

bool merge_cut(const struct merger *m, const struct entry *entry)
{
	return !m->in->match.file->ended && entry == &m->match.entries[m->match.nentries - 1];
}

bool merge_edited(const struct merger *m, const struct entry *entry, const struct entry *of,
                  enum fstab_fix what)
{
	const struct words *now = &entry->words, *was = of ? &of->words : NULL;
	if (!m->based || merge_cut(m, entry))
		return false;
	/* Any line may have been changed since systemd loaded it. */
	if (!m->in->base || !was)
		return true;
	if (what == FSTAB_FIX_PASS)
		return now->passno != was->passno;
	if (what == FSTAB_FIX_OPTIONS)
		return !merge_alike(now->options, was->options, false);
	return strcmp(now->source, was->source) != 0 || strcmp(now->fstype, was->fstype) != 0
	       || !merge_alike(now->options, was->options, true);
}

bool merge_taken_out(struct merger *m, const struct entry *loaded, const struct planned *mount)
{
	if (!m->based || !m->in->match.file->ended)
		return false;
	if (!m->in->base)
		return fstab_has_loaded(m->in->loaded, mount->key ? mount->key : mount->line->swap);
	if (!loaded)
		return false;
	for (const struct entry *entry = match_first_on(&m->match, mount); entry;
	     entry = match_next_on(&m->match, entry)) {
		if (!merge_edited(m, entry, loaded, FSTAB_FIX_SOURCE))
			return false;
	}
	return true;
}
