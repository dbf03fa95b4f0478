/* SPDX-License-Identifier: MIT */
/*
 * What the lines of an fstab make, against the mounts that are to be there again.
 */
#include "fstab/proof_impl.h"

#include "base/escape.h"
#include "base/fstypes.h"
#include "mountopts/shown.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/** Add an item.  There is room. */
static void add_item(struct pf *pf, const struct proof_item *item)
{
	pf->proof->items[pf->proof->count++] = *item;
}

/** The number of the line of an entry. */
static uint32_t line_number(const struct pf *pf, uint32_t i)
{
	return i == PF_NONE ? 0 : pf->in->entries->mounts[i].line;
}

/** The first line of a target. */
static uint32_t first_line(const struct pf *pf, const char *target)
{
	uint32_t i = map64_get(&pf->by_target, map64_text(target));
	while (i != MAP64_NONE && strcmp(pf->lines[i].target, target) != 0)
		i = pf->lines[i].next;
	return i == MAP64_NONE ? PF_NONE : i;
}

/** Whether the type of a line makes that of a mount. */
static bool is_type(const struct fstab_line *want, const char *fstype)
{
	return strcmp(want->fstype, "none") == 0 || strcmp(want->fstype, "auto") == 0 || shown_type(fstype, want->fstype)
	       || shown_type(fstype, want->mount->fstype);
}

/** Say of a mount whether a file system, its part, type and options are the wanted. */
static enum proof_verdict compare(struct pf *pf, const struct fstab_line *want, const struct pf_mount *live,
                                  const struct pf_mount *got, const char **why)
{
	const struct mount *entry = got->line != PF_NONE ? &pf->in->entries->mounts[got->line] : NULL;
	const char *options = got->line != PF_NONE ? pf->lines[got->line].options : "";
	if (!pf_same_fs(pf, got->fs, live->fs)) {
		const char *fstype = pf->fs[live->fs].fstype;
		const struct pf_fs *other_fs = &pf->fs[got->fs];
		if (entry && entry->fstype && fstype && !is_type(want, entry->fstype) && !pf->fs[got->fs].live) {
			*why = fstab_format(&pf->draft, "it is of type %s, and the line mounts %s", fstype, entry->fstype);
			return PROOF_TYPE;
		}
		const char *is = pf_show(pf, pf->fs[live->fs].name), *other = pf_show(pf, pf->fs[got->fs].name);
		*why = other_fs->unsure && !pf->fs[live->fs].tagged
		       ? fstab_format(&pf->draft, "it is %s, and nobody knows what %s of the line is", is, other)
		       : strcmp(is, other) == 0
		       ? fstab_format(&pf->draft, "it is another file system than the line mounts, though both are of %s", is)
		       : fstab_format(&pf->draft, "it is %s, and the line mounts %s", is, other);
		return PROOF_SOURCE;
	}
	if (strcmp(got->root, live->root) != 0) {
		*why = fstab_format(&pf->draft, "it shows %s of %s, and the line shows %s", live->root,
		                    pf_show(pf, pf->fs[live->fs].name), got->root);
		return PROOF_SOURCE;
	}
	bool binds = pf_option(pf, options, "bind") || pf_option(pf, options, "rbind");
	if (entry && !binds && !is_type(want, entry->fstype)) {
		*why = fstab_format(&pf->draft, "it is of type %s, and the line says %s", want->mount->fstype, entry->fstype);
		return PROOF_TYPE;
	}
	*why = pf_compare_options(pf, want, got, options);
	return *why ? PROOF_OPTIONS : PROOF_SAME;
}

/** The mount of the root is there; its line is what is looked at. */
static enum proof_verdict judge_root(struct pf *pf, const struct fstab_line *want, uint32_t line,
                                     const char **why)
{
	uint32_t at = pf_wanted(pf, "/");
	const struct pf_mount *live = &pf->live.mounts[at != PF_NONE ? at : 0];
	if (pf->lines[line].fate == PF_FAILED) {
		*why = pf->lines[line].why;
		return PROOF_FAILED;
	}
	struct pf_mount got = *live;
	got.line = line;
	got.flags = pf_flags(pf->lines[line].options, NULL);
	got.unknown = 0;
	if (pf->lines[line].fs != PF_NONE)
		got.fs = pf->lines[line].fs;
	const char *subvol = pf_option(pf, pf->lines[line].options, "subvol");
	if (subvol && *subvol && fstype_flags(want->mount->fstype) & FST_SUBVOL)
		got.root = pf_normal(pf, *subvol == '/' ? subvol : fstab_format(&pf->draft, "/%s", subvol));
	if (!got.root)
		return PROOF_SAME;   /* ENOMEM */
	return compare(pf, want, live, &got, why);
}

/** Judge a mount that is to be there.
    @line [out]  The entry that it is about. */
static enum proof_verdict judge(struct pf *pf, const struct fstab_line *want, uint32_t *line, const char **why)
{
	*why = NULL;
	*line = first_line(pf, want->target);
	if (strcmp(want->target, "/") == 0 && *line != PF_NONE)
		return judge_root(pf, want, *line, why);
	uint32_t at = pf_resolve(pf, &pf->sim, want->target, PF_NONE, NULL);
	uint32_t mine = pf_wanted(pf, want->target);
	if (mine == PF_NONE) {
		*why = "its place in the table of mounts is not clear";
		return PROOF_FAILED;
	}
	const struct pf_mount *got = &pf->sim.mounts[at], *live = &pf->live.mounts[mine];
	if (got->line != PF_NONE && strcmp(got->target, want->target) == 0) {
		*line = got->line;
		return compare(pf, want, live, got, why);
	}
	if (*line == PF_NONE) {
		*why = "no line mounts it";
		return PROOF_NO_LINE;
	}
	const struct pf_line *first = &pf->lines[*line];
	switch (first->fate) {
	case PF_FAILED:
		*why = first->why;
		return PROOF_FAILED;
	case PF_MADE:
	case PF_ALREADY:
		if (strcmp(got->target, want->target) != 0) {
			uint32_t by = line_number(pf, got->line);
			*why = by ? fstab_format(&pf->draft, "the mount on %s, of line %u, covers it", got->target, by)
			          : fstab_format(&pf->draft, "the mount on %s covers it", got->target);
			return PROOF_HIDDEN;
		}
		return compare(pf, want, live, got, why);
	default:
		*why = "its line says noauto";
		return PROOF_NOAUTO;
	}
}

/** Judge all mounts in one run.
    @used  For each entry, whether something wanted is of it; NULL: only count. */
static size_t judge_all(struct pf *pf, bool *used)
{
	const struct fstab_plan *plan = pf->in->plan;
	size_t same = 0;
	for (size_t i = 0; i < plan->count && !pf_failed(pf); ++i) {
		const struct fstab_line *want = &plan->lines[i];
		if (used && want->fate == FSTAB_COMMENT && want->mount)
			++pf->proof->without;
		if (want->fate != FSTAB_LINE || !want->mount)
			continue;
		const char *why;
		uint32_t line;
		enum proof_verdict verdict = judge(pf, want, &line, &why);
		same += verdict == PROOF_SAME;
		if (!used)
			continue;
		++pf->proof->mounts;
		if (line != PF_NONE)
			used[line] = true;
		add_item(pf, &(struct proof_item){.verdict = verdict, .want = want, .line = line_number(pf, line),
		                                  .target = want->target, .why = why});
	}
	return same;
}

/** The next line of a swap space that nobody could look up.
    @at  Where to go on. */
static uint32_t hold_swap(struct pf *pf, const bool *used, uint32_t *at)
{
	const struct mount_table *entries = pf->in->entries;
	while (*at < entries->count) {
		uint32_t i = (*at)++;
		const struct pf_line *line = &pf->lines[i];
		const char *fstype = entries->mounts[i].fstype;
		if (fstype && strcmp(fstype, "swap") == 0 && !used[i] && line->fs != PF_NONE && pf->fs[line->fs].unsure) {
			++pf->proof->held_sources;
			return i;
		}
	}
	return MAP64_NONE;
}

/** Judge the swap spaces: by what their sources name. */
static void judge_swaps(struct pf *pf, bool *used)
{
	const struct fstab_plan *plan = pf->in->plan;
	const struct mount_table *entries = pf->in->entries;
	struct map64 by_source;   /* hash of a source, or file system -> entry */
	uint32_t held = 0;
	map64_init(&by_source);
	for (uint32_t i = 0; i < entries->count; ++i) {
		const struct pf_line *line = &pf->lines[i];
		const char *source = entries->mounts[i].source;
		bool swap = entries->mounts[i].fstype && strcmp(entries->mounts[i].fstype, "swap") == 0;
		if (!swap || !source)
			continue;
		uint64_t key = line->fs != PF_NONE ? line->fs : map64_text(source);
		if (map64_put(&by_source, key, i) == MAP64_NONE)
			pf->draft.failed = true;
	}
	for (size_t k = 0; k < plan->count && !pf_failed(pf); ++k) {
		const struct fstab_line *want = &plan->lines[k];
		if (want->fate != FSTAB_LINE || want->mount)
			continue;
		const struct pf_name *name = pf_find_name(pf, want->source, PF_NONE);
		uint32_t i = name ? map64_get(&by_source, name->fs) : MAP64_NONE;
		if (i == MAP64_NONE)
			i = map64_get(&by_source, map64_text(want->source));
		if (i == MAP64_NONE && *want->source == '/' && mtree_path_within(want->source, "/dev"))
			i = hold_swap(pf, used, &held);
		struct proof_item item = {.want = want, .target = "none", .source = want->source};
		if (i == MAP64_NONE) {
			item.verdict = PROOF_NO_LINE;
			item.why = "no line is of it";
		} else {
			used[i] = true;
			item.line = line_number(pf, i);
			item.verdict = pf->lines[i].fate == PF_LATER ? PROOF_NOAUTO : PROOF_SAME;
			item.why = pf->lines[i].fate == PF_LATER ? "its line says noauto"
			           : pf_compare_swap(pf, want, pf->lines[i].options);
			if (item.verdict == PROOF_SAME && item.why)
				item.verdict = PROOF_OPTIONS;
		}
		++pf->proof->swaps;
		pf->proof->swaps_same += item.verdict == PROOF_SAME;
		add_item(pf, &item);
	}
	map64_destroy(&by_source);
}

/** Why nothing that is wanted is of a line. */
static const char *why_extra(struct pf *pf, const struct pf_line *line)
{
	uint32_t at = pf_resolve(pf, &pf->live, line->target, PF_NONE, NULL);
	const struct pf_mount *live = &pf->live.mounts[at];
	const struct fstab_line *plan = live->node != MT_NONE ? pf->plan_of[live->node] : NULL;
	if (strcmp(live->target, line->target) != 0 || !plan)
		return "nothing is mounted there now";
	if (plan->fate == FSTAB_LINE)
		return "another line mounts upon it";
	return fstab_format(&pf->draft, "what is mounted there now is no matter of the fstab: %s",
	                    plan->why ? plan->why : "?");
}

/** Whether what is mounted at a line's place is as the line has it, though no line could
    be made of it: an automount that is set up or was entered, or what only the line's own
    words can mount. */
static bool is_as_live(struct pf *pf, uint32_t i)
{
	const struct pf_line *line = &pf->lines[i];
	const struct mount *entry = &pf->in->entries->mounts[i];
	const struct discovery *d = pf->in->live->d;
	if (!line->target)
		return false;
	const struct pf_mount *live = &pf->live.mounts[pf_resolve(pf, &pf->live, line->target, PF_NONE, NULL)];
	if (live->node == MT_NONE || strcmp(live->target, line->target) != 0)
		return false;
	uint32_t parent = d->tree.nodes[live->node].parent;
	const struct mount *m = d->tree.nodes[live->node].mount, *below = parent == MT_NONE ? NULL : d->tree.nodes[parent].mount;
	if (pf_option(pf, line->options, "x-systemd.automount")
	    && (fstype_flags(m->fstype) & FST_AUTOFS || (below && fstype_flags(below->fstype) & FST_AUTOFS)))
		return true;
	return m->source && entry->source && strcmp(m->source, entry->source) == 0
	       && m->root && strcmp(m->root, "/") == 0 && entry->fstype && shown_type(entry->fstype, m->fstype);
}

/** Tell of lines that are mounted, or fail, beside what is wanted. */
static void add_extra(struct pf *pf, const bool *used)
{
	const struct mount_table *entries = pf->in->entries;
	for (uint32_t i = 0; i < entries->count && !pf_failed(pf); ++i) {
		const struct pf_line *line = &pf->lines[i];
		if (used[i] || (line->fate != PF_MADE && line->fate != PF_FAILED) || (line->fate == PF_MADE && is_as_live(pf, i)))
			continue;
		const char *target = line->target ? line->target : entries->mounts[i].point;
		add_item(pf, &(struct proof_item){
			.verdict = line->fate == PF_MADE ? PROOF_EXTRA : PROOF_FAILED, .line = entries->mounts[i].line,
			.target = target ? target : "none",
			.why = line->fate == PF_MADE ? why_extra(pf, line) : line->why});
	}
}

/** Make the lines ready. */
static void read_lines(struct pf *pf)
{
	const struct mount_table *entries = pf->in->entries;
	/* From the last: so the first of a hash is the first line. */
	for (uint32_t i = (uint32_t)entries->count; i-- > 0 && !pf_failed(pf);) {
		const struct mount *m = &entries->mounts[i];
		struct pf_line *line = &pf->lines[i];
		size_t n = m->fs_opts ? strlen(m->fs_opts) : 0;
		char *options = arena_strndup(pf->draft.arena, m->fs_opts ? m->fs_opts : "", n);
		if (!options) {
			pf->draft.failed = true;
			return;
		}
		n = unescape_octal(options, options, n);
		options[n] = '\0';
		line->options = options;
		line->target = pf_normal(pf, m->point);
		line->next = MAP64_NONE;
		if (!line->target || (m->fstype && strcmp(m->fstype, "swap") == 0))
			continue;
		uint64_t hash = map64_text(line->target);
		line->next = map64_remove(&pf->by_target, hash);
		if (map64_put(&pf->by_target, hash, i) == MAP64_NONE)
			pf->draft.failed = true;
	}
}

/** What the plan says, by node. */
static void read_plan(struct pf *pf)
{
	const struct fstab_plan *plan = pf->in->plan;
	const struct mtree *tree = &pf->in->live->d->tree;
	struct map64 by_mount;
	map64_init(&by_mount);
	for (uint32_t i = 0; i < tree->count; ++i) {
		if (map64_put(&by_mount, (uintptr_t)tree->nodes[i].mount, i) == MAP64_NONE)
			pf->draft.failed = true;
	}
	for (size_t i = 0; i < plan->count; ++i) {
		const struct fstab_line *line = &plan->lines[i];
		uint32_t node = line->mount ? map64_get(&by_mount, (uintptr_t)line->mount) : MAP64_NONE;
		if (node != MAP64_NONE)
			pf->plan_of[node] = line;
	}
	map64_destroy(&by_mount);
}

/** Name the swap spaces that are in use. */
static void name_swaps(struct pf *pf)
{
	const struct fstab_input *live = pf->in->live;
	for (size_t i = 0; i < live->nswaps && !pf_failed(pf); ++i) {
		const struct fstab_swap *swap = &live->swaps[i];
		struct fstab_device device = {0};
		const char *file = swap->name;
		if (swap->deleted)
			continue;
		if (swap->file) {
			if (!mtree_path_within(file, live->root))
				continue;
			file = pf_rest(file, live->root);
		} else if (live->world.swap && live->world.swap(live->world.arg, swap->name, &device) != 0) {
			pf->draft.failed = true;
			return;
		}
		uint32_t fs = pf_add_fs(pf, &(struct pf_fs){.name = swap->name, .fstype = "swap"});
		pf_add_name(pf, file, fs, NULL);
		if (device.tags)
			pf_name_tags(pf, device.tags, fs);
	}
}

int proof_make(const struct proof_input *in, struct proof *proof)
{
	size_t nodes = in->live->d->tree.count, lines = in->entries->count;
	*proof = (struct proof){0};
	arena_init(&proof->arena);
	struct pf pf = {
		.in = in, .proof = proof, .draft = {.in = in->live, .arena = &proof->arena}, .run = 1,
		.plan_of = calloc(nodes + 1, sizeof(*pf.plan_of)), .lines = calloc(lines + 1, sizeof(*pf.lines)),
	};
	bool *used = calloc(lines + 1, sizeof(*used));
	proof->items = calloc(in->plan->count + lines + 1, sizeof(*proof->items));
	strbuf_init(&pf.draft.text);
	strbuf_init(&pf.real);
	struct map64 *const maps[] = {&pf.fs_by_dev, &pf.live.by_place, &pf.sim.by_place, &pf.by_place, &pf.by_name,
	                              &pf.by_target};
	for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); ++i)
		map64_init(maps[i]);
	pf.draft.failed = !pf.plan_of || !pf.lines || !used || !proof->items;
	if (!pf_failed(&pf))
		read_plan(&pf);
	if (!pf_failed(&pf))
		pf_make_live(&pf);
	if (!pf_failed(&pf)) {
		name_swaps(&pf);
		read_lines(&pf);
	}
	if (!pf_failed(&pf)) {
		pf_simulate(&pf);
		proof->same = judge_all(&pf, used);
		judge_swaps(&pf, used);
		add_extra(&pf, used);
	}
	if (!pf_failed(&pf)) {
		pf.run = 2;
		pf_simulate(&pf);
		proof->systemd = judge_all(&pf, NULL);
	}
	bool failed = pf_failed(&pf) || pf.draft.text.failed || pf.real.failed;
	for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); ++i)
		map64_destroy(maps[i]);
	strbuf_destroy(&pf.draft.text);
	strbuf_destroy(&pf.real);
	free(pf.plan_of);
	free(pf.lines);
	free(used);
	free(pf.fs);
	free(pf.live.mounts);
	free(pf.sim.mounts);
	free(pf.places);
	free(pf.names);
	if (failed)
		errno = ENOMEM;
	return failed ? -1 : 0;
}

void proof_destroy(struct proof *proof)
{
	free(proof->items);
	proof->items = NULL;
	arena_destroy(&proof->arena);
}

const char *proof_verdict_name(enum proof_verdict verdict)
{
	static const char *const names[] = {
		[PROOF_SAME] = "same", [PROOF_NO_LINE] = "no line", [PROOF_NOAUTO] = "noauto",
		[PROOF_FAILED] = "failed", [PROOF_HIDDEN] = "hidden", [PROOF_SOURCE] = "source",
		[PROOF_TYPE] = "type", [PROOF_OPTIONS] = "options", [PROOF_EXTRA] = "extra",
	};
	return names[verdict];
}
