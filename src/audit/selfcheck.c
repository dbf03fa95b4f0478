/* SPDX-License-Identifier: MIT */
#include "audit/selfcheck.h"

#include "base/map64.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Texts in the making. */
struct writer {
	struct selfcheck *check;
	struct strbuf text;
	bool failed;             /* ENOMEM */
};

/** A text that stays; a line feed in a name becomes "\012". */
__attribute__((format(printf, 2, 3)))
static const char *keep(struct writer *writer, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	strbuf_reset(&writer->text);
	strbuf_vprintf(&writer->text, format, args);
	va_end(args);
	const char *text = strbuf_str(&writer->text);
	struct strbuf line;
	strbuf_init(&line);
	for (const char *at = text; *at;) {
		size_t n = strcspn(at, "\n");
		strbuf_add(&line, at, n);
		at += n;
		if (*at) {
			strbuf_puts(&line, "\\012");
			++at;
		}
	}
	const char *kept = arena_strndup(&writer->check->arena, strbuf_str(&line), line.len);
	writer->failed |= writer->text.failed || line.failed || !kept;
	strbuf_destroy(&line);
	return kept ? kept : "";
}

static void add_note(struct writer *writer, const char *note)
{
	writer->check->notes[writer->check->nnotes++] = note;
}

struct mount_table *selfcheck_entries(const struct tablines *lines)
{
	struct mount_table *table = table_new(TABLE_FSTAB);
	if (!table)
		return NULL;
	table->fields = MF_IDS | MF_POINT | MF_FSTYPE | MF_SOURCE | MF_FS_OPTS;
	for (size_t i = 0; i < lines->count; ++i) {
		const struct tabline *line = &lines->lines[i];
		if (line->kind != TABLINE_ENTRY)
			continue;
		struct mount *m = table_add(table);
		if (!m) {
			table_free(table);
			return NULL;
		}
		m->key = m->parent_key = table->count;
		m->id = m->parent_id = (uint32_t)table->count;
		m->line = line->number;
		const char **const to[] = {&m->source, &m->point, &m->fstype, &m->fs_opts};
		for (unsigned k = TABLINE_SOURCE; k <= TABLINE_OPTIONS; ++k) {
			const char *value = tabline_value(line, (enum tabline_place)k);
			if (!value || !*value)
				continue;
			*to[k] = arena_strndup(&table->arena, value, strlen(value));
			if (!*to[k]) {
				table_free(table);
				return NULL;
			}
		}
		m->freq = line->freq;
		m->passno = line->passno;
	}
	return table;
}

/** Say what is reproduced, and what not. */
static void tell_proof(struct writer *writer, const struct proof *proof, bool missing_told)
{
	struct selfcheck *check = writer->check;
	check->same = proof->same == proof->mounts && proof->swaps_same == proof->swaps;
	const char *without = "", *swaps = "";
	if (proof->without)
		without = keep(writer, ", %zu can have no line", proof->without);
	if (proof->swaps)
		swaps = keep(writer, ", %zu of %zu swap spaces", proof->swaps_same, proof->swaps);
	check->summary = keep(writer, "reproduces %zu of %zu mounts%s%s", proof->same, proof->mounts, without, swaps);
	for (size_t i = 0; i < proof->count; ++i) {
		const struct proof_item *item = &proof->items[i];
		const char *name = item->source ? item->source : item->target;
		if (item->verdict == PROOF_SAME || (item->verdict == PROOF_NO_LINE && missing_told))
			continue;
		if (item->verdict == PROOF_EXTRA)
			add_note(writer, keep(writer, "line %u mounts %s besides: %s", item->line, name, item->why));
		else if (!item->want)
			add_note(writer, keep(writer, "line %u, of %s, cannot be mounted: %s", item->line, name, item->why));
		else if (item->line)
			add_note(writer, keep(writer, "does not reproduce %s (line %u): %s", name, item->line, item->why));
		else
			add_note(writer, keep(writer, "does not reproduce %s: %s", name, item->why));
	}
	if (proof->systemd != proof->same)
		add_note(writer, keep(writer, "in the order of systemd, which goes by paths, it reproduces %zu of %zu mounts",
		                      proof->systemd, proof->mounts));
	if (proof->held_sources)
		add_note(writer, keep(writer, "%zu source%s could not be looked up, and %s held to be what is mounted there",
		                      proof->held_sources, proof->held_sources == 1 ? "" : "s",
		                      proof->held_sources == 1 ? "is" : "are"));
	if (proof->held)
		add_note(writer, keep(writer, "%zu place%s could not be looked at, and %s held to be there", proof->held,
		                      proof->held == 1 ? "" : "s", proof->held == 1 ? "is" : "are"));
}

/** Say what nobody could tell. */
static void tell_unjudged(struct writer *writer, const struct audit_set *unjudged)
{
	struct strbuf codes;
	strbuf_init(&codes);
	for (int code = 0; code < AUDIT_CODES; ++code) {
		if (audit_set_has(unjudged, (enum audit_code)code))
			strbuf_printf(&codes, "%s%s", codes.len ? ", " : "", audit_rules[code].code);
	}
	if (codes.len)
		writer->check->unjudged = keep(writer, "not judged of every line: %s", strbuf_str(&codes));
	writer->failed |= codes.failed;
	strbuf_destroy(&codes);
}

/** A text that is judged. */
struct judged {
	struct tablines *lines;
	struct audit_report report;
	struct mount_table *entries;   /* once it was simulated */
};

/** Judge a text.  @return 0, or -1 (ENOMEM). */
static int judge_text(const struct selfcheck_input *in, const char *text, size_t len, struct judged *judged)
{
	*judged = (struct judged){.lines = tablines_parse(len ? text : "", len)};
	arena_init(&judged->report.arena);
	return judged->lines
	       ? audit_fstab(&(struct audit_input){judged->lines, &in->facts, in->live->world.secret, in->live->d},
	                     &judged->report)
	       : -1;
}

static void judged_destroy(struct judged *judged)
{
	int error = errno;
	audit_report_destroy(&judged->report);
	table_free(judged->entries);
	tablines_free(judged->lines);
	errno = error;
}

/** Simulate a text: what the kernel is known to refuse, it does not mount.
    @proof  Zero, with an arena.
    @return 0, or -1 (ENOMEM). */
static int simulate(struct writer *writer, const struct selfcheck_input *in, struct judged *judged,
                    struct proof *proof)
{
	judged->entries = selfcheck_entries(judged->lines);
	const struct mount_table *entries = judged->entries;
	const char **refused = entries ? calloc(entries->count + 1, sizeof(*refused)) : NULL;
	if (!refused)
		return -1;
	/* Both go by lines. */
	size_t k = 0;
	for (size_t i = 0; i < judged->report.count; ++i) {
		const struct audit_finding *finding = &judged->report.findings[i];
		while (k < entries->count && entries->mounts[k].line < finding->line)
			++k;
		if (finding->refused && k < entries->count && entries->mounts[k].line == finding->line && !refused[k])
			refused[k] = keep(writer, "%s: %s", finding->refused, audit_rules[finding->code].code);
	}
	int rc = proof_make(&(struct proof_input){entries, in->live, in->plan, in->facts, refused}, proof);
	free(refused);
	return rc;
}

/** What was made as it is live, by the old text and the new one. */
struct lost {
	struct writer *writer;
	const struct selfcheck_input *in;
	struct judged *old;
	const struct proof *new_proof;
	struct map64 same[2];    /* hash of a target -> its item, of old and new */
	bool read, failed;       /* ENOMEM */
};

/** Note which targets are made as they are live. */
static void note_same(struct lost *lost, struct map64 *same, const struct proof *proof)
{
	for (size_t i = 0; i < proof->count; ++i) {
		const struct proof_item *item = &proof->items[i];
		if (item->verdict == PROOF_SAME && item->want && !item->source)
			lost->failed |= map64_put(same, map64_text(item->target), (uint32_t)i)
			                == MAP64_NONE;
	}
}

/** Whether the old text made a mount as it is, and the new one does not: the old text is
    simulated when that is first asked. */
static bool is_lost(void *arg, const char *path)
{
	struct lost *lost = arg;
	if (!lost->read && !lost->failed) {
		struct proof proof = {0};
		arena_init(&proof.arena);
		lost->failed = simulate(lost->writer, lost->in, lost->old, &proof) != 0;
		if (!lost->failed) {
			note_same(lost, &lost->same[0], &proof);
			note_same(lost, &lost->same[1], lost->new_proof);
		}
		lost->read = true;
		proof_destroy(&proof);
	}
	uint64_t hash = map64_text(path);
	return map64_get(&lost->same[0], hash) != MAP64_NONE && map64_get(&lost->same[1], hash) == MAP64_NONE;
}

/** Tell the risks that only the new text has. */
static int tell_risks(struct writer *writer, const struct selfcheck_input *in, struct judged *new,
                      const struct proof *proof)
{
	struct selfcheck *check = writer->check;
	struct judged old;
	const struct audit_finding **risks = NULL;
	struct lost lost = {.writer = writer, .in = in, .old = &old, .new_proof = proof};
	map64_init(&lost.same[0]);
	map64_init(&lost.same[1]);
	int rc = -1;
	if (judge_text(in, in->old, in->old_len, &old) != 0)
		goto out;
	if (audit_compare(&old.report, &new->report, is_lost, &lost) != 0)
		goto out;
	if (lost.failed) {
		errno = ENOMEM;
		goto out;
	}
	ssize_t n = audit_new_risks(&old.report, &new->report, &risks);
	check->risks = n >= 0 ? calloc((size_t)n + 1, sizeof(*check->risks)) : NULL;
	if (!check->risks)
		goto out;
	for (ssize_t i = 0; i < n; ++i) {
		const struct audit_finding *risk = risks[i];
		const char *code = audit_rules[risk->code].code;
		check->risks[check->nrisks++] = risk->line
		    ? keep(writer, "%s %s (line %u): %s", code, risk->target, risk->line, risk->message)
		    : keep(writer, "%s %s: %s", code, risk->target, risk->message);
	}
	tell_unjudged(writer, &new->report.not_checked);
	rc = 0;
out:;
	int error = errno;
	free(risks);
	map64_destroy(&lost.same[0]);
	map64_destroy(&lost.same[1]);
	judged_destroy(&old);
	errno = error;
	return rc;
}

int selfcheck_make(const struct selfcheck_input *in, struct selfcheck *check)
{
	*check = (struct selfcheck){.summary = ""};
	arena_init(&check->arena);
	struct writer writer = {.check = check};
	strbuf_init(&writer.text);
	struct proof proof = {0};
	arena_init(&proof.arena);
	struct judged new;
	int rc = -1;
	if (judge_text(in, in->new, in->len, &new) != 0 || simulate(&writer, in, &new, &proof) != 0)
		goto out;
	check->notes = calloc(proof.count + 5, sizeof(*check->notes));
	if (!check->notes)
		goto out;
	tell_proof(&writer, &proof, in->missing_told);
	rc = tell_risks(&writer, in, &new, &proof);
	if (writer.failed) {
		errno = ENOMEM;
		rc = -1;
	}
out:;
	int error = errno;
	proof_destroy(&proof);
	judged_destroy(&new);
	strbuf_destroy(&writer.text);
	errno = error;
	return rc;
}

void selfcheck_destroy(struct selfcheck *check)
{
	free(check->notes);
	free(check->risks);
	check->notes = check->risks = NULL;
	arena_destroy(&check->arena);
}
