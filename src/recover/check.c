/* SPDX-License-Identifier: MIT */
/*
 * Which line belongs to which mount.
 *
 * Lines and mounts are paired in passes; each requires fewer fields to be equal than the one
 * before:
 *
 *     target source type options      right; lines without other faults first
 *     target source type              wrong: options
 *     target source                   wrong: type ...
 *     target type
 *     target
 *     source type options             wrong: target
 *     source type                     only sources that identify themselves
 *     source
 *
 * Paired lines and mounts are skipped in later passes.  In each pass the remaining mounts are put
 * in chains by a hash of the compared fields, and a line is paired with the first matching mount
 * of its chain.  So a thousand mounts on one mount point are paired with their lines in order, in
 * linear time.  In the end, an unpaired line is "gone", an unpaired mount is "missing".
 */
#include "recover/recover_impl.h"

#include "base/fail.h"
#include "base/map64.h"
#include "mountopts/join.h"

#include <stdlib.h>
#include <string.h>

enum {
	HINTS_MAX = 64,   /* of a line */
	KERNEL_FIELDS = REC_SOURCE | REC_TARGET | REC_FSTYPE | REC_OPTIONS,
	FAULTLESS = 1 << REC_NFIELDS,   /* in a pass: only lines without faults */
};

/** The fields of a line or a row that are compared, in the order of their bits; a missing one is
    "". */
struct side {
	const char *text[3];
	struct rec_set options;
	uint64_t hash[4];
	bool out;                  /* already paired, or not to be paired */
};

struct checker {
	const struct rec_input *in;
	struct rec_result *out;
	unsigned has;              /* the fields that the format has */
	struct side *lines, *rows;
	/* In a pass: hash of fields -> index in head; the first row of each chain; the next row. */
	struct map64 map;
	uint32_t *head, *next;
};

static void side_hash(struct side *side)
{
	for (int i = 0; i < 3; ++i)
		side->hash[i] = map64_text(side->text[i]);
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

/** The fields that differ. */
static unsigned side_differs(const struct side *a, const struct side *b)
{
	unsigned fields = rec_set_equal(&a->options, &b->options) ? 0 : REC_OPTIONS;
	for (unsigned i = 0; i < 3; ++i)
		fields |= strcmp(a->text[i], b->text[i]) != 0 ? 1u << i : 0;
	return fields;
}

static const char *value_of(const struct tabline *line, enum tabline_place place)
{
	const char *value = tabline_value(line, place);
	return value ? value : "";
}

/** Why a line is not valid in a format; NULL: valid. */
static const char *why_unreadable(const struct rec_input *in, const struct tabline *line)
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
		const struct tabline_field *field = &line->fields[i];
		if (field->raw && memmem(field->raw, field->n, "\\000", 4))
			return "an escape stands for a NUL byte";
	}
	return NULL;
}

/** The mount time in a line; UINT64_MAX: not a possible time. */
static uint64_t line_time(const struct rec_input *in, const struct tabline *line)
{
	const char *text = value_of(line, TABLINE_FREQ);
	size_t n = strspn(text, "0123456789");
	if (n == 0 || n > 18 || text[n])
		return UINT64_MAX;
	uint64_t time = strtoull(text, NULL, 10);
	return time == 0 || (time >= in->first_time && time <= in->last_time) ? time : UINT64_MAX;
}

/** The faults of a line that do not depend on its mount. */
static unsigned line_faults(const struct rec_input *in, const struct tabline *line,
                            struct rec_finding *finding)
{
	/* The parser also takes a CR at the end of the file for a line end. */
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
		/* In a truncated line, the number may lack digits. */
		finding->time = wrong ? 0 : time;
	} else if (line->fields[TABLINE_FSTYPE].raw) {
		wrong |= REC_REST;
	}
	return wrong;
}

static void read_rows(struct checker *c)
{
	struct arena *arena = &c->out->arena;
	struct strbuf options = {0};
	for (size_t r = 0; r < c->in->nrows && !arena->failed; ++r) {
		const struct mount *m = c->in->rows[r].mount;
		struct side *side = &c->rows[r];
		strbuf_reset(&options);
		join_mtab(m, &options);
		const char **fields = c->out->fields[r];
		fields[0] = m->source && *m->source ? m->source : "none";
		fields[1] = c->in->rows[r].target;
		fields[2] = m->fstype && *m->fstype ? m->fstype : "none";
		fields[3] = arena_built(arena, &options);
		rec_set_init(&side->options, fields[3], arena);
		memcpy(side->text, fields, sizeof(side->text));
		side_hash(side);
		c->out->finding[r] = REC_NONE;
	}
	strbuf_destroy(&options);
}

static void read_lines(struct checker *c)
{
	struct arena *arena = &c->out->arena;
	for (size_t i = 0; i < c->out->nlines && !arena->failed; ++i) {
		const struct tabline *line = &c->in->lines->lines[i];
		struct rec_finding *finding = &c->out->findings[i];
		struct side *side = &c->lines[i];
		*finding = (struct rec_finding){.verdict = REC_GONE, .line = line, .row = REC_NONE};
		for (unsigned k = 0; k < 3; ++k)
			side->text[k] = value_of(line, (enum tabline_place)k);
		if (line->kind == TABLINE_BLANK || line->kind == TABLINE_COMMENT) {
			finding->verdict = REC_IGNORED;
			finding->why = line->kind == TABLINE_BLANK ? "a blank line" : "a comment";
		} else if ((finding->why = why_unreadable(c->in, line)) != NULL) {
			finding->verdict = REC_UNREADABLE;
		} else {
			finding->why = line->why;
			finding->fields = line_faults(c->in, line, finding);
			rec_set_init(&side->options, value_of(line, TABLINE_OPTIONS), arena);
		}
		side->out = finding->verdict != REC_GONE;
		side_hash(side);
	}
}

/* Pairing. */

/** Put the unpaired rows in chains, in their order, by a hash of the given fields. */
static void chain_rows(struct checker *c, unsigned fields)
{
	uint32_t chains = 0;
	map64_destroy(&c->map);
	if (map64_reserve(&c->map, c->in->nrows) != 0)
		arena_fail(&c->out->arena);
	for (size_t r = c->in->nrows; r-- > 0 && !c->out->arena.failed;) {
		if (c->rows[r].out)
			continue;
		uint32_t chain = map64_put(&c->map, side_key(&c->rows[r], fields), chains);
		if (chain == chains)
			c->head[chains++] = REC_NONE;
		c->next[r] = c->head[chain];
		c->head[chain] = (uint32_t)r;
	}
}

/** The link to the first row of a chain that matches a line, or NULL. */
static uint32_t *find_row(struct checker *c, const struct side *line, unsigned fields)
{
	uint32_t chain = map64_get(&c->map, side_key(line, fields));
	if (chain == MAP64_NONE)
		return NULL;
	uint32_t *place = &c->head[chain];
	while (*place != REC_NONE && side_differs(line, &c->rows[*place]) & fields)
		place = &c->next[*place];
	return *place == REC_NONE ? NULL : place;
}

static void pair_all(struct checker *c)
{
	static const unsigned passes[] = {
		KERNEL_FIELDS | FAULTLESS, KERNEL_FIELDS, REC_TARGET | REC_SOURCE | REC_FSTYPE,
		REC_TARGET | REC_SOURCE, REC_TARGET | REC_FSTYPE, REC_TARGET,
		REC_SOURCE | REC_FSTYPE | REC_OPTIONS, REC_SOURCE | REC_FSTYPE, REC_SOURCE,
	};
	unsigned before = 0;
	for (size_t pass = 0; pass < sizeof(passes) / sizeof(*passes); ++pass) {
		unsigned fields = passes[pass] & (c->has | FAULTLESS);
		bool by_source = !(fields & (REC_TARGET | REC_OPTIONS));
		if (fields == before)
			continue;
		before = fields;
		chain_rows(c, fields);
		for (size_t i = 0; i < c->out->nlines; ++i) {
			struct side *line = &c->lines[i];
			struct rec_finding *finding = &c->out->findings[i];
			/* A device, server or path identifies a mount; "tmpfs" does not. */
			if (line->out || (fields & FAULTLESS && finding->fields)
			    || (by_source && !strpbrk(line->text[0], "/:")))
				continue;
			uint32_t *place = find_row(c, line, fields);
			if (!place)
				continue;
			finding->row = *place;
			*place = c->next[finding->row];
			line->out = c->rows[finding->row].out = true;
			c->out->finding[finding->row] = (uint32_t)i;
		}
	}
}

/* Lines with a mount. */

/** Set the faults and the verdict of a line with a mount. */
static void check_line(struct checker *c, size_t i)
{
	struct rec_finding *finding = &c->out->findings[i];
	const struct rec_set *a = &c->lines[i].options, *b = &c->rows[finding->row].options;
	unsigned wrong = side_differs(&c->lines[i], &c->rows[finding->row]);
	if (a->nhints > HINTS_MAX)
		wrong |= REC_OPTIONS;
	for (size_t k = 0; k < b->nhints && !(wrong & REC_OPTIONS); ++k)
		wrong |= rec_set_has_hint(a, &b->hints[k]) ? 0 : REC_OPTIONS;
	wrong &= c->has;
	finding->fields |= wrong;
	if (wrong)
		finding->time = 0;

	/* The line precedes the line of its parent mount, which the kernel lists first. */
	uint32_t parent = c->in->rows[finding->row].parent;
	uint32_t at = parent < finding->row ? c->out->finding[parent] : REC_NONE;
	if (at < c->out->nlines && c->out->findings[at].line->number > finding->line->number) {
		finding->fields |= REC_ORDER;
		finding->other = c->out->findings[at].line->number;
	}
	finding->verdict = finding->fields ? REC_WRONG : REC_RIGHT;
}

/** Collect the hints of a line that is right, or only in the wrong order. */
static void collect_hints(struct checker *c, size_t i)
{
	const struct rec_input *in = c->in;
	struct rec_result *out = c->out;
	struct rec_finding *finding = &out->findings[i];
	finding->hint = out->nhints;
	if (finding->fields & ~(unsigned)REC_ORDER || in->format == REC_SETMNT)
		return;
	const struct rec_set *set = &c->lines[i].options, *known = &c->rows[finding->row].options;
	for (size_t k = 0; k < set->nhints; ++k) {
		const struct rec_set before = {.hints = set->hints, .nhints = k};
		if (rec_set_has_hint(known, &set->hints[k])
		    || rec_set_has_hint(&before, &set->hints[k]))
			continue;
		ARENA_PUSH(&out->arena, out->hints, out->nhints, (struct rec_hint){
			set->hints[k].raw, finding->row, in->keep == REC_ALL,
		});
		++finding->nhints;
	}
}

/* Unpaired lines and mounts. */

/** Add a finding for each mount without a line. */
static void add_missing(struct checker *c)
{
	struct rec_result *out = c->out;
	for (size_t r = 0; r < c->in->nrows; ++r) {
		c->rows[r].out = false;
		if (out->finding[r] != REC_NONE)
			continue;
		out->finding[r] = (uint32_t)out->count;
		out->findings[out->count++] = (struct rec_finding){
			.verdict = REC_MISSING, .row = (uint32_t)r,
		};
	}
}

/** Explain why a line has no mount, if another line has the mount on its mount point. */
static void explain_gone(struct checker *c, size_t i)
{
	struct rec_finding *finding = &c->out->findings[i];
	const uint32_t *place = find_row(c, &c->lines[i], REC_TARGET);
	const struct rec_finding *other = place ? &c->out->findings[c->out->finding[*place]] : NULL;
	finding->fields = 0;
	finding->time = 0;
	finding->why = place ? "fewer mounts than lines" : "nothing is mounted there";
	finding->other = other && other->line ? other->line->number : 0;
}

/** Find a missing mount to which an unreadable line may have belonged. */
static void explain_missing(struct checker *c, size_t i)
{
	uint32_t *place;
	while (*c->lines[i].text[1] && (place = find_row(c, &c->lines[i], REC_TARGET)) != NULL) {
		struct rec_finding *missing = &c->out->findings[c->out->finding[*place]];
		*place = c->next[*place];
		if (!missing->line) {
			missing->other = c->out->findings[i].line->number;
			return;
		}
	}
}

static void explain_rest(struct checker *c)
{
	chain_rows(c, REC_TARGET);
	for (size_t i = 0; i < c->out->nlines; ++i) {
		if (c->out->findings[i].verdict == REC_GONE)
			explain_gone(c, i);
	}
	for (size_t i = 0; i < c->out->nlines; ++i) {
		if (c->out->findings[i].verdict == REC_UNREADABLE)
			explain_missing(c, i);
	}
}

static void check_all(struct checker *c)
{
	struct rec_result *out = c->out;
	read_rows(c);
	read_lines(c);
	if (out->arena.failed)
		return;
	pair_all(c);
	for (size_t i = 0; i < out->nlines; ++i) {
		if (out->findings[i].row == REC_NONE)
			continue;
		check_line(c, i);
		collect_hints(c, i);
	}
	add_missing(c);
	explain_rest(c);
	for (size_t i = 0; i < out->count; ++i)
		++out->of[out->findings[i].verdict];
}

int rec_check(const struct rec_input *in, struct rec_result *out)
{
	size_t n = in->lines->count, rows = in->nrows;
	*out = (struct rec_result){.count = n, .nlines = n};
	struct arena *arena = &out->arena;
	struct checker c = {
		.in = in, .out = out,
		.has = in->format == REC_SETMNT ? REC_SOURCE | REC_TARGET : KERNEL_FIELDS,
	};
	if (n + rows >= REC_NONE)
		return fail(ENOMEM);
	c.lines = arena_new(arena, n, sizeof(*c.lines));
	c.rows = arena_new(arena, rows, sizeof(*c.rows));
	c.head = arena_new(arena, rows, sizeof(*c.head));
	c.next = arena_new(arena, rows, sizeof(*c.next));
	out->findings = arena_new(arena, n + rows, sizeof(*out->findings));
	out->fields = arena_new(arena, rows, sizeof(*out->fields));
	out->finding = arena_new(arena, rows, sizeof(*out->finding));
	if (!arena->failed)
		check_all(&c);
	map64_destroy(&c.map);
	return arena_check(arena);
}

void rec_result_destroy(struct rec_result *result)
{
	arena_destroy(&result->arena);
	*result = (struct rec_result){0};
}

bool rec_is_right(const struct rec_result *c)
{
	return c->of[REC_WRONG] + c->of[REC_GONE] + c->of[REC_MISSING] + c->of[REC_UNREADABLE] == 0;
}
