/* SPDX-License-Identifier: MIT */
/*
 * What the base has of a line, and what was changed since: a text that the file once was,
 * or the units that systemd has made of it.
 */
#include "fstab/edit/merge_impl.h"

#include <stdlib.h>
#include <string.h>

/** Whether a line is not as somebody writes one. */
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
			m->failed |= map64_put(&known, map64_bytes(MAP64_BYTES, line->bytes, line->n), 0) == MAP64_NONE;
	}
	for (size_t i = 0; i < file->count && !hurt; ++i) {
		const struct tabline *line = &file->lines[i];
		entry |= line->kind == TABLINE_ENTRY;
		hurt = is_hurt(line) && map64_get(&known, map64_bytes(MAP64_BYTES, line->bytes, line->n)) == MAP64_NONE;
	}
	map64_destroy(&known);
	return hurt || !entry;
}

/** Take what systemd has loaded. */
static void take_units(struct merger *m, const struct units *units)
{
	merge_room(m, units->count);
	for (uint32_t i = 0; i < m->nold && !m->failed; ++i) {
		const struct units_line *unit = &units->lines[i];
		const char *options = merge_unit_options(m, unit);
		struct old *old = &m->old[i];
		*old = (struct old){
			.unit = unit, .next = NO_LINE, .live = NO_LINE, .swap = unit->swap, .noauto = merge_noauto(options),
			.words = {unit->source, unit->target, unit->fstype, options, unit->check ? 1 : -1},
		};
		if (!unit->swap)
			old->key = merge_normal(m, unit->target);
		merge_index(m, i);
	}
}

void merge_take_base(struct loaded *base, const struct merger *file)
{
	const struct fstab_merge_input *in = file->in;
	struct merger *m = &base->m;
	merge_take_plan(m);
	if (in->base) {
		merge_take_file(m, in->base);
		return;
	}
	take_units(m, in->loaded);
	for (size_t i = 0; i < file->nold && !m->failed; ++i) {
		const struct tabline *line = &in->file->lines[i];
		if (line->kind != TABLINE_DAMAGED)
			continue;
		const char *target = tabline_value(line, TABLINE_TARGET);
		const char *key = target && *target == '/' ? merge_normal(m, target) : NULL;
		key = key ? merge_lead(m, key) : NULL;
		m->failed |= key && map64_put(&base->damaged, map64_text(key), 0) == MAP64_NONE;
		base->any_damaged = true;
		base->blind |= memchr(line->bytes, '\0', line->n) != NULL;
	}
}

const struct old *merge_find_loaded(struct merger *m, struct loaded *base, const struct old *old, const struct new *new)
{
	if (!base)
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
		if (!of->swap)
			continue;
		if (!old ? merge_same(&base->m, of, new) == 1
		    : of->unit ? merge_loaded_source(m, old, of->unit) : strcmp(of->words.source, old->words.source) == 0)
			return of;
	}
	return NULL;
}

bool merge_cut(const struct merger *m, const struct old *old)
{
	return !m->in->file->ended && old == &m->old[m->nold - 1];
}

/** Whether a line can be compared with what the base has on its place, or has not. */
static bool is_comparable(struct merger *m, const struct old *old, struct loaded *base, const struct old *of)
{
	if (merge_cut(m, old))
		return false;
	if (!m->in->loaded || m->in->base)
		return true;
	if (base->blind || (old->swap && base->any_damaged))
		return false;
	if (old->key && map64_get(&base->damaged, map64_text(old->key)) != MAP64_NONE)
		return false;
	uint32_t first = old->key ? map64_get(&m->old_by, map64_text(old->key)) : MAP64_NONE;
	bool is_first = first == MAP64_NONE || &m->old[first] == old, alone = is_first && old->next == NO_LINE;
	return merge_loads(old, is_first) && (merge_loads_kind(m, old) || (of && alone));
}

bool merge_edited_source(struct merger *m, const struct old *old, struct loaded *base, const struct old *of)
{
	if (!is_comparable(m, old, base, of))
		return false;
	if (of && of->unit)
		return !merge_loaded_source(m, old, of->unit);
	return !of || strcmp(old->words.source, of->words.source) != 0
	       || strcmp(old->words.fstype, of->words.fstype) != 0 || !merge_alike(old->words.options, of->words.options, true);
}

bool merge_edited_options(struct merger *m, const struct old *old, struct loaded *base, const struct old *of)
{
	if (!is_comparable(m, old, base, of))
		return false;
	if (of && of->unit)
		return !merge_loaded_options(m, old, of->unit);
	return !of || !merge_alike(old->words.options, of->words.options, false);
}

bool merge_edited_pass(struct merger *m, const struct old *old, struct loaded *base, const struct old *of)
{
	if (!is_comparable(m, old, base, of))
		return false;
	if (of && of->unit)
		return !merge_loaded_pass(m, old, of->unit);
	return !of || old->words.passno != of->words.passno;
}

bool merge_taken_out(struct merger *m, struct loaded *base, const struct old *loaded, const struct new *new)
{
	if (!loaded || !m->in->file->ended)
		return false;
	for (const struct old *old = merge_first_on(m, new); old; old = merge_next_on(m, old)) {
		if (!merge_edited_source(m, old, base, loaded))
			return false;
	}
	return true;
}
