/* SPDX-License-Identifier: MIT */
/*
 * Which line is of which mount.
 *
 * Lines and mounts are paired in passes, of which each asks for less to be the same
 * than the one before:
 *
 *     target source type options      right; first lines that nothing else is wrong with
 *     target source type              wrong: options
 *     target source                   wrong: type ...
 *     target type
 *     target
 *     source type options             wrong: target
 *     source type                     of sources that are names of something
 *     source
 *
 * What is paired in one is out of the next.  In a pass the mounts that are left lie
 * in chains by a hash of what is asked for; a line takes the first of its chain, so
 * that a thousand mounts on one point are paired with their lines in order, and all
 * is linear.  A line that is left is gone, a mount that is left is missing.
 */
#include "recover/recover_impl.h"

#include "base/array.h"
#include "base/escape.h"
#include "base/map64.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { HINTS_MAX = 64 };   /* of a line */

enum { KERNEL_FIELDS = REC_SOURCE | REC_TARGET | REC_FSTYPE | REC_OPTIONS };

/** Of a pass: only lines that nothing is wrong with. */
enum { FAULTLESS = 1 << REC_NFIELDS };

/** The fields of a line or a row that are compared; a missing one is "". */
struct side {
	const char *source, *target, *fstype;
	struct rec_set options;
	uint64_t hash[4];          /* of each */
	bool out;                  /* paired, or not to be */
};

struct judge {
	const struct rec_input *in;
	struct rec_judgement *out;
	struct side *lines, *rows;
	size_t nlines;
	/* Of a pass. */
	struct map64 map;
	uint32_t *head, *next;
	uint32_t *near;            /* of each row: the number of an unreadable line; 0 */
};

static uint64_t text_hash(const char *text)
{
	return map64_bytes(MAP64_BYTES, text, strlen(text));
}

static void side_hash(struct side *side)
{
	side->hash[0] = text_hash(side->source);
	side->hash[1] = text_hash(side->target);
	side->hash[2] = text_hash(side->fstype);
	side->hash[3] = side->options.hash;
}

static uint64_t side_key(const struct side *side, unsigned fields)
{
	uint64_t key = MAP64_BYTES;
	for (unsigned i = 0; i < 4; ++i) {
		if (fields & 1u << i)
			key = map64_bytes(key, (const char *)&side->hash[i], sizeof(side->hash[i]));
	}
	return key;
}

static bool side_same(const struct side *a, const struct side *b, unsigned fields)
{
	return (!(fields & REC_TARGET) || strcmp(a->target, b->target) == 0)
	       && (!(fields & REC_SOURCE) || strcmp(a->source, b->source) == 0)
	       && (!(fields & REC_FSTYPE) || strcmp(a->fstype, b->fstype) == 0)
	       && (!(fields & REC_OPTIONS) || rec_set_equal(&a->options, &b->options));
}

/** The fields that a format has. */
static unsigned format_fields(enum rec_format format)
{
	return format == REC_SETMNT ? REC_SOURCE | REC_TARGET : KERNEL_FIELDS;
}

static const char *value_of(const struct tabline *line, enum tabline_place place)
{
	const char *value = tabline_value(line, place);
	return value ? value : "";
}

/** Whether an escape of a field is a NUL, which ends its value before its end. */
static bool is_cut_short(const struct tabline_field *field, struct strbuf *scratch)
{
	if (!field->raw || !memchr(field->raw, '\\', field->n))
		return false;
	strbuf_reset(scratch);
	strbuf_add(scratch, field->raw, field->n);
	return !scratch->failed && unescape_octal(scratch->data, scratch->data,
	                                          field->n) != strlen(field->value);
}

/** Why a line that has fields cannot be read as of a format; NULL: it can. */
static const char *why_unreadable(const struct rec_input *in, const struct tabline *line,
                                  struct strbuf *scratch)
{
	if (line->kind == TABLINE_DAMAGED)
		return line->why ? line->why : "not a line of a mount table";
	if (!line->fields[TABLINE_TARGET].raw)
		return "only one field; at least two are required";
	if (in->format == REC_MTAB)
		return NULL;
	if (in->format == REC_MNTTAB && !line->fields[TABLINE_OPTIONS].raw)
		return "fewer than four fields";
	for (unsigned i = TABLINE_SOURCE; i <= TABLINE_FSTYPE; ++i) {
		if (is_cut_short(&line->fields[i], scratch))
			return "an escape stands for a NUL byte";
	}
	return NULL;
}

/** The time that a line gives, or UINT64_MAX if the mount cannot have been made then. */
static uint64_t line_time(const struct rec_input *in, const struct tabline *line)
{
	const struct tabline_field *field = &line->fields[TABLINE_FREQ];
	uint64_t time = 0;
	if (!field->raw || field->n == 0 || field->n > 18)
		return UINT64_MAX;
	for (size_t i = 0; i < field->n; ++i) {
		if (field->raw[i] < '0' || field->raw[i] > '9')
			return UINT64_MAX;
		time = time * 10 + (uint64_t)(field->raw[i] - '0');
	}
	return time == 0 || (time >= in->first_time && time <= in->last_time) ? time : UINT64_MAX;
}

/** What is wrong with a line whatever its mount. */
static unsigned line_faults(const struct rec_input *in, const struct tabline *line,
                            struct rec_finding *finding)
{
	/* A CR alone, at the end of the file, is an end as well. */
	bool ended = line->size == line->n + 1 && line->bytes[line->n] == '\n';
	unsigned wrong = ended ? 0 : REC_END;
	if (in->format == REC_MTAB) {
		wrong |= line->freq != 0 ? REC_FREQ : 0;
		wrong |= line->passno != 0 ? REC_PASSNO : 0;
		wrong |= line->rest ? REC_REST : 0;
	} else if (in->format == REC_MNTTAB) {
		uint64_t time = line_time(in, line);
		wrong |= line->fields[TABLINE_PASSNO].raw ? REC_REST : 0;
		wrong |= time == UINT64_MAX ? REC_TIME : 0;
		/* Of a line that was cut it may have more digits. */
		finding->time = wrong ? 0 : time;
	} else if (line->fields[TABLINE_FSTYPE].raw) {
		wrong |= REC_REST;
	}
	return wrong;
}

/* Both sides. */

static int take_rows(struct judge *j)
{
	const struct rec_input *in = j->in;
	struct rec_judgement *out = j->out;
	struct strbuf options;
	strbuf_init(&options);
	int rc = 0;
	for (size_t r = 0; r < in->nrows && rc == 0; ++r) {
		const struct mount *m = in->rows[r].mount;
		struct side *side = &j->rows[r];
		strbuf_reset(&options);
		rec_options(m, &options);
		out->options[r] = options.failed ? NULL
		                  : arena_strndup(&out->arena, strbuf_str(&options), options.len);
		side->source = m->source && *m->source ? m->source : "none";
		side->target = in->rows[r].target;
		side->fstype = m->fstype && *m->fstype ? m->fstype : "none";
		rc = !out->options[r] || rec_set_init(&side->options, out->options[r],
		                                      &out->arena) != 0 ? -1 : 0;
		side_hash(side);
		out->finding[r] = REC_NONE;
	}
	strbuf_destroy(&options);
	return rc;
}

static int take_lines(struct judge *j)
{
	struct strbuf scratch;
	strbuf_init(&scratch);
	int rc = 0;
	for (size_t i = 0; i < j->nlines && rc == 0; ++i) {
		const struct tabline *line = &j->in->lines->lines[i];
		struct rec_finding *finding = &j->out->findings[i];
		struct side *side = &j->lines[i];
		*finding = (struct rec_finding){.verdict = REC_GONE, .line = line, .row = REC_NONE};
		side->source = value_of(line, TABLINE_SOURCE);
		side->target = value_of(line, TABLINE_TARGET);
		side->fstype = value_of(line, TABLINE_FSTYPE);
		side_hash(side);
		side->out = true;
		if (line->kind == TABLINE_BLANK || line->kind == TABLINE_COMMENT) {
			finding->verdict = REC_IGNORED;
			finding->why = line->kind == TABLINE_BLANK ? "a blank line" : "a comment";
		} else if ((finding->why = why_unreadable(j->in, line, &scratch)) != NULL) {
			finding->verdict = REC_UNREADABLE;
		} else {
			side->out = false;
			finding->why = line->why;
			finding->fields = line_faults(j->in, line, finding);
			rc = rec_set_init(&side->options, value_of(line, TABLINE_OPTIONS),
			                  &j->out->arena);
			side->hash[3] = side->options.hash;
		}
	}
	rc = scratch.failed ? -1 : rc;
	strbuf_destroy(&scratch);
	return rc;
}

/* Pairing. */

/** Whether a source identifies itself: a device, a server, a path. */
static bool is_specific(const char *source)
{
	return strpbrk(source, "/:") != NULL;
}

/** Chain the rows that are left by the given keys, the first one first. */
static int chain_rows(struct judge *j, unsigned fields)
{
	uint32_t chains = 0;
	map64_destroy(&j->map);
	map64_init(&j->map);
	if (map64_reserve(&j->map, j->in->nrows) != 0)
		return -1;
	for (size_t r = j->in->nrows; r-- > 0;) {
		if (j->rows[r].out)
			continue;
		uint32_t chain = map64_put(&j->map, side_key(&j->rows[r], fields), chains);
		if (chain == chains)
			j->head[chains++] = REC_NONE;
		j->next[r] = j->head[chain];
		j->head[chain] = (uint32_t)r;
	}
	return 0;
}

/** The place in a chain of the first row that a line fits, or NULL. */
static uint32_t *find_row(struct judge *j, const struct side *line, unsigned fields)
{
	uint32_t chain = map64_get(&j->map, side_key(line, fields));
	if (chain == MAP64_NONE)
		return NULL;
	uint32_t *place = &j->head[chain];
	while (*place != REC_NONE && !side_same(line, &j->rows[*place], fields))
		place = &j->next[*place];
	return *place == REC_NONE ? NULL : place;
}

static void pair(struct judge *j, size_t line, uint32_t row)
{
	j->lines[line].out = j->rows[row].out = true;
	j->out->findings[line].row = row;
	j->out->findings[line].verdict = REC_RIGHT;
	j->out->finding[row] = (uint32_t)line;
}

static int pair_all(struct judge *j)
{
	static const unsigned passes[] = {
		KERNEL_FIELDS | FAULTLESS, KERNEL_FIELDS, REC_TARGET | REC_SOURCE | REC_FSTYPE,
		REC_TARGET | REC_SOURCE,
		REC_TARGET | REC_FSTYPE, REC_TARGET, REC_SOURCE | REC_FSTYPE | REC_OPTIONS,
		REC_SOURCE | REC_FSTYPE, REC_SOURCE,
	};
	unsigned has = format_fields(j->in->format), before = 0;
	for (size_t pass = 0; pass < sizeof(passes) / sizeof(*passes); ++pass) {
		unsigned fields = passes[pass] & (has | FAULTLESS);
		bool telling = !(fields & REC_TARGET) && !(fields & REC_OPTIONS);
		if (fields == before)
			continue;
		before = fields;
		if (chain_rows(j, fields) != 0)
			return -1;
		for (size_t i = 0; i < j->nlines; ++i) {
			if (j->lines[i].out || (fields & FAULTLESS && j->out->findings[i].fields)
			    || (telling && !is_specific(j->lines[i].source)))
				continue;
			uint32_t *place = find_row(j, &j->lines[i], fields);
			if (!place)
				continue;
			uint32_t row = *place;
			*place = j->next[row];
			pair(j, i, row);
		}
	}
	return 0;
}

/* What is wrong with a line that has its mount. */

/** Whether the options are those of the mount, apart from hints. */
static bool options_right(const struct side *line, const struct side *row)
{
	if (!rec_set_equal(&line->options, &row->options) || line->options.nhints > HINTS_MAX)
		return false;
	for (size_t i = 0; i < row->options.nhints; ++i) {
		if (!rec_set_has_hint(&line->options, &row->options.hints[i]))
			return false;
	}
	return true;
}

static void judge_line(struct judge *j, struct rec_finding *finding)
{
	const struct rec_input *in = j->in;
	const struct side *a = &j->lines[finding - j->out->findings], *b = &j->rows[finding->row];
	unsigned has = format_fields(in->format), wrong = 0;
	if (strcmp(a->source, b->source) != 0)
		wrong |= REC_SOURCE;
	if (strcmp(a->target, b->target) != 0)
		wrong |= REC_TARGET;
	if (strcmp(a->fstype, b->fstype) != 0)
		wrong |= REC_FSTYPE;
	if (!options_right(a, b))
		wrong |= REC_OPTIONS;
	wrong &= has;
	finding->fields |= wrong;
	if (wrong)
		finding->time = 0;
}

/** A line stands before that of the mount it is mounted on, and the kernel does not
    have them so. */
static void judge_order(struct judge *j, struct rec_finding *finding)
{
	const struct rec_input *in = j->in;
	uint32_t parent = in->rows[finding->row].parent;
	uint32_t at = parent < in->nrows ? j->out->finding[parent] : REC_NONE;
	if (at == REC_NONE || parent >= finding->row
	    || j->out->findings[at].line->number < finding->line->number)
		return;
	finding->fields |= REC_ORDER;
	finding->other = j->out->findings[at].line->number;
}

static int add_hint(struct judge *j, size_t *room, const char *option, bool kept)
{
	struct rec_judgement *out = j->out;
	if (!ARRAY_ROOM(out->hints, out->nhints, room))
		return -1;
	out->hints[out->nhints++] = (struct rec_hint){option, kept};
	out->dropped += !kept;
	return 0;
}

/** Take the hints of the lines that are right, their order apart. */
static int take_hints(struct judge *j)
{
	const struct rec_input *in = j->in;
	size_t room = 0;
	for (size_t i = 0; i < j->nlines; ++i) {
		struct rec_finding *finding = &j->out->findings[i];
		finding->hint = j->out->nhints;
		if (finding->row == REC_NONE || (finding->fields & ~(unsigned)REC_ORDER)
		    || in->format == REC_SETMNT)
			continue;
		const struct rec_set *set = &j->lines[i].options,
		                            *known = &j->rows[finding->row].options;
		const struct rec_row *row = &in->rows[finding->row];
		for (size_t k = 0; k < set->nhints; ++k) {
			const char *option = set->hints[k].raw;
			const struct rec_set before = {.hints = set->hints, .nhints = k};
			if (rec_set_has_hint(known, &set->hints[k])
			    || rec_set_has_hint(&before, &set->hints[k]))
				continue;
			bool kept = in->keep == REC_ALL
			            || (in->keep == REC_CHECKED && in->confirmed
			                && in->confirmed(in->arg, row, option));
			if (add_hint(j, &room, option, kept) != 0)
				return -1;
			++finding->nhints;
		}
	}
	return 0;
}

/* What is left. */

/** The first row of a line's target, of those that are in the chains. */
static uint32_t *find_place(struct judge *j, size_t line)
{
	return *j->lines[line].target ? find_row(j, &j->lines[line], REC_TARGET) : NULL;
}

/** Set the reason why a line is gone, and the line that has the mount there. */
static void explain_gone(struct judge *j, size_t line)
{
	struct rec_finding *finding = &j->out->findings[line];
	const uint32_t *place = find_place(j, line);
	uint32_t at = place ? j->out->finding[*place] : REC_NONE;
	finding->fields = 0;
	finding->time = 0;
	finding->why = place ? "fewer mounts than lines" : "nothing is mounted there";
	finding->other = at == REC_NONE ? 0 : j->out->findings[at].line->number;
}

/** Of a line that cannot be read: may it have been that of a mount that is missing? */
static void explain_missing(struct judge *j, size_t line)
{
	uint32_t *place;
	while ((place = find_place(j, line)) != NULL) {
		uint32_t row = *place;
		*place = j->next[row];
		if (j->out->finding[row] == REC_NONE) {
			j->near[row] = j->out->findings[line].line->number;
			return;
		}
	}
}

static int explain_rest(struct judge *j)
{
	for (size_t r = 0; r < j->in->nrows; ++r)
		j->rows[r].out = false;
	if (chain_rows(j, REC_TARGET) != 0)
		return -1;
	for (size_t i = 0; i < j->nlines; ++i) {
		if (j->out->findings[i].verdict == REC_GONE)
			explain_gone(j, i);
	}
	for (size_t i = 0; i < j->nlines; ++i) {
		if (j->out->findings[i].verdict == REC_UNREADABLE)
			explain_missing(j, i);
	}
	return 0;
}

static void add_missing(struct judge *j)
{
	struct rec_judgement *out = j->out;
	for (size_t r = 0; r < j->in->nrows; ++r) {
		if (out->finding[r] != REC_NONE)
			continue;
		out->finding[r] = (uint32_t)out->count;
		out->findings[out->count++] = (struct rec_finding){
			.verdict = REC_MISSING, .row = (uint32_t)r, .other = j->near[r],
		};
	}
}

static void judge_destroy(struct judge *j)
{
	free(j->lines);
	free(j->rows);
	free(j->head);
	free(j->next);
	free(j->near);
	map64_destroy(&j->map);
}

int rec_judge(const struct rec_input *in, struct rec_judgement *out)
{
	size_t n = in->lines->count, rows = in->nrows;
	*out = (struct rec_judgement){0};
	arena_init(&out->arena);
	if (n + rows >= REC_NONE) {
		errno = ENOMEM;
		return -1;
	}
	struct judge j = {
		.in = in, .out = out, .nlines = n,
		.lines = calloc(n + 1, sizeof(*j.lines)), .rows = calloc(rows + 1, sizeof(*j.rows)),
		.head = calloc(rows + 1, sizeof(*j.head)),
		.next = calloc(rows + 1, sizeof(*j.next)),
		.near = calloc(rows + 1, sizeof(*j.near)),
	};
	map64_init(&j.map);
	out->findings = calloc(n + rows + 1, sizeof(*out->findings));
	out->options = calloc(rows + 1, sizeof(*out->options));
	out->finding = calloc(rows + 1, sizeof(*out->finding));
	out->count = out->nlines = n;
	int rc = -1;
	if (!j.lines || !j.rows || !j.head || !j.next || !j.near || !out->findings || !out->options
	    || !out->finding
	    || take_rows(&j) != 0 || take_lines(&j) != 0 || pair_all(&j) != 0
	    || explain_rest(&j) != 0)
		goto out;
	for (size_t i = 0; i < n; ++i) {
		if (out->findings[i].row != REC_NONE)
			judge_line(&j, &out->findings[i]);
	}
	for (size_t i = 0; i < n; ++i) {
		struct rec_finding *finding = &out->findings[i];
		if (finding->row == REC_NONE)
			continue;
		judge_order(&j, finding);
		if (finding->fields)
			finding->verdict = REC_WRONG;
	}
	add_missing(&j);
	for (size_t i = 0; i < out->count; ++i)
		++out->of[out->findings[i].verdict];
	rc = take_hints(&j);
out:
	judge_destroy(&j);
	return rc;
}

void rec_judgement_destroy(struct rec_judgement *judgement)
{
	free(judgement->findings);
	free(judgement->options);
	free(judgement->finding);
	free(judgement->hints);
	arena_destroy(&judgement->arena);
	*judgement = (struct rec_judgement){0};
}

bool rec_is_right(const struct rec_judgement *j)
{
	return j->of[REC_WRONG] + j->of[REC_GONE] + j->of[REC_MISSING] + j->of[REC_UNREADABLE] == 0;
}
