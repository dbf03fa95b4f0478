/* SPDX-License-Identifier: MIT */
/*
 * What was collected, told.
 *
 * A screen has so many lines, whatever there is to be told: what is fixed has its lines
 * first, the codes that were found those that are left, gravest first.  A line is cut where
 * the screen ends; the number of hosts stands before their names, and is never cut.
 */
#include "cmd/audit_collect.h"

#include "base/escape.h"
#include "base/hostlist.h"

#include <inttypes.h>
#include <string.h>

enum { CODE_WIDTH = 24, REASONS_SHOWN = 3, CODES_LEAST = 4 };

/* Hosts, folded. */

static void put_hosts(struct strbuf *out, const char *const *names, size_t n)
{
	struct hostlist list;
	if (hostlist_fold(names, n, &list) == 0)
		hostlist_put(&list, out);
	else
		out->failed = true;
	hostlist_destroy(&list);
}

/** Hosts that nobody expects. */
static void put_unexpected(struct strbuf *out, const struct collection *c)
{
	struct arena arena;
	size_t n = 0;
	arena_init(&arena);
	const char **names = arena_alloc(&arena, (c->unexpected + 1) * sizeof(*names));
	for (size_t i = 0; names && i < c->names.count; ++i) {
		if (c->expects && !c->hosts[i].expected)
			names[n++] = c->names.of[i];
	}
	if (names)
		put_hosts(out, names, n);
	else
		out->failed = true;
	arena_destroy(&arena);
}

/* The screen. */

struct screen {
	const struct collect_result *result;
	struct strbuf *out;
	struct strbuf text;      /* of a cell */
	unsigned digits;         /* of the largest number */
};

/** Append as much of a text as there is room for; 0: all. */
static void put_cut(struct strbuf *out, const char *text, size_t n, size_t room)
{
	if (room == 0 || n <= room) {
		strbuf_add(out, text, n);
		return;
	}
	size_t keep = room > 3 ? room - 3 : 0, at = keep;
	while (at > keep / 2 && text[at - 1] != ',')
		--at;
	keep = at > keep / 2 ? at : keep;
	while (keep > 0 && ((unsigned char)text[keep] & 0xc0) == 0x80)
		--keep;
	strbuf_add(out, text, keep);
	strbuf_puts(out, "...");
}

/** Put a line: what, how many, which, and why (NULL: nothing). */
static void put_row(struct screen *s, const char *what, const char *code, size_t n, const char *which, const char *why)
{
	struct strbuf *out = s->out, because;
	size_t begun = out->len, width = s->result->width;
	strbuf_init(&because);
	if (why && *why) {
		strbuf_puts(&because, ": ");
		escape_terminal(&because, why);
	}
	strbuf_printf(out, "  %-12s%-*s%*zu  ", what, CODE_WIDTH, code, (int)s->digits, n);
	size_t left = out->len - begun, room = width == 0 ? 0 : width > left + 20 ? width - left : 20;
	size_t tail = room && because.len > room / 2 ? room / 2 : because.len, list = strlen(which);
	if (room && list + tail < room)
		tail = room - list;      /* what the list leaves is for the reason */
	put_cut(out, which, list, room ? room - (because.len ? tail : 0) : 0);
	if (because.len)
		put_cut(out, strbuf_str(&because), because.len, room ? tail : 0);
	strbuf_putc(out, '\n');
	out->failed |= because.failed;
	strbuf_destroy(&because);
}

static void put_group(struct screen *s, const char *what, const char *code, const struct collect_group *group, const char *why)
{
	strbuf_reset(&s->text);
	put_hosts(&s->text, group->hosts, group->count);
	put_row(s, what, code, group->count, strbuf_str(&s->text), why);
}

/** Put the lines that something is the matter with: FILE:1,3-5. */
static void put_places(struct screen *s, enum collect_trouble trouble)
{
	static const char *const names[COLLECT_TROUBLES] = {
		[COLLECT_DUPLICATE] = "duplicate", [COLLECT_CUT] = "cut", [COLLECT_DAMAGED] = "damaged", [COLLECT_OLDER] = "of an older schema",
		[COLLECT_NEWER] = "of a newer schema",
	};
	const struct collection *c = s->result->c;
	struct strbuf *text = &s->text;
	size_t n = c->ntold[trouble];
	strbuf_reset(text);
	for (size_t i = 0, next; i < n; i = next) {
		const struct collect_place *place = &c->told[trouble][i].place;
		uint32_t last = place->line;
		bool begins = i == 0 || place[0].file != c->told[trouble][i - 1].place.file;
		for (next = i + 1; next < n && c->told[trouble][next].place.file == place->file && c->told[trouble][next].place.line <= last + 1; ++next)
			last = c->told[trouble][next].place.line;
		if (i > 0)
			strbuf_puts(text, begins ? ", " : ",");
		if (begins) {
			escape_terminal(text, c->files[place->file]);
			strbuf_putc(text, ':');
		}
		strbuf_printf(text, "%" PRIu32, place->line);
		if (last > place->line)
			strbuf_printf(text, "-%" PRIu32, last);
	}
	if (c->troubles[trouble] > n)
		strbuf_printf(text, ", and %zu more", c->troubles[trouble] - n);
	put_row(s, "lines", names[trouble], c->troubles[trouble], strbuf_str(text), NULL);
}

/** How many lines the reasons of a state take, and how many of them are reasons. */
static size_t reason_rows(const struct screen *s, int state, size_t *shown)
{
	const struct collection *c = s->result->c;
	size_t n = 0;
	for (size_t i = 0; i < c->nreasons; ++i)
		n += c->reasons[i].kind == state;
	*shown = s->result->lines && n > REASONS_SHOWN ? REASONS_SHOWN : n;
	return *shown + (n > *shown);
}

static void put_state(struct screen *s, int state)
{
	const struct collection *c = s->result->c;
	size_t shown, put = 0, hosts = 0, reasons = 0;
	struct strbuf why;
	if (c->of[state] == 0)
		return;
	reason_rows(s, state, &shown);
	strbuf_init(&why);
	for (size_t i = 0; i < c->nreasons; ++i) {
		const struct collect_group *group = &c->reasons[i];
		if (group->kind != state)
			continue;
		if (put++ < shown) {
			if (state == COLLECT_STALE && c->ahead > 0)
				strbuf_printf(&why, "%zu of a time to come", c->ahead);
			put_group(s, collect_state_name((enum collect_state)state), "", group, why.len ? strbuf_str(&why) : group->text);
		} else {
			hosts += group->count;
			++reasons;
		}
	}
	strbuf_reset(&why);
	strbuf_printf(&why, "of %zu more reasons, shown with --verbose", reasons);
	if (reasons > 0)
		put_row(s, collect_state_name((enum collect_state)state), "", hosts, strbuf_str(&why), NULL);
	s->out->failed |= why.failed;
	strbuf_destroy(&why);
}

/** The states that have lines of their own, in their order. */
static const int told_states[] = {COLLECT_FAILED, COLLECT_INCOMPLETE, COLLECT_STALE, COLLECT_UNREAD, COLLECT_MISSING};
enum { TOLD_STATES = sizeof(told_states) / sizeof(*told_states) };

/** How many lines there are beside those of codes. */
static size_t fixed_rows(const struct screen *s)
{
	const struct collection *c = s->result->c;
	size_t rows = 2 + (c->unexpected > 0) + (s->result->nunreadable > 0), shown;
	for (int i = 0; i < TOLD_STATES; ++i)
		rows += c->of[told_states[i]] ? reason_rows(s, told_states[i], &shown) : 0;
	for (int i = 0; i < COLLECT_TROUBLES; ++i)
		rows += c->troubles[i] > 0;
	return rows;
}

static const char *kind_name(int kind)
{
	return kind == COLLECT_UNJUDGED ? "not judged" : audit_severity_name((enum audit_severity)kind);
}

/** Put the codes that were found, in so many lines at most; 0: in any. */
static void put_codes(struct screen *s, size_t rows)
{
	const struct collection *c = s->result->c;
	const struct collect_asked *asked = s->result->asked;
	bool all = asked->verbose || asked->fail_on == AUDIT_INFO;
	size_t n = 0;
	/* By severity: what is not told is last, but for what was not judged. */
	while (n < c->ncodes_found && (c->codes_found[n].kind != AUDIT_INFO || all)
	       && (c->codes_found[n].kind != COLLECT_UNJUDGED || asked->verbose))
		++n;
	size_t shown = rows > 0 && n > rows ? rows - 1 : n;
	for (size_t i = 0; i < shown; ++i)
		put_group(s, kind_name(c->codes_found[i].kind), c->codes_found[i].text, &c->codes_found[i], NULL);
	if (n > shown)
		strbuf_printf(s->out, "  and %zu more codes; --verbose shows all\n", n - shown);
}

/** Append ", N WHAT", if there are any. */
static void put_part(struct strbuf *out, size_t n, const char *before, const char *what)
{
	if (n > 0)
		strbuf_printf(out, "%s%zu %s", before, n, what);
}

static void put_heads(struct screen *s)
{
	const struct collection *c = s->result->c;
	struct strbuf *out = s->out;
	size_t found[COLLECT_UNJUDGED + 1] = {0};
	strbuf_printf(out, "%zu hosts: %zu clean", c->names.count - c->of[COLLECT_MISSING], c->of[COLLECT_CLEAN]);
	put_part(out, c->of[COLLECT_FINDINGS], ", ", "with findings");
	put_part(out, c->of[COLLECT_INCOMPLETE], ", ", "incomplete");
	put_part(out, c->of[COLLECT_FAILED], ", ", "failed");
	put_part(out, c->of[COLLECT_STALE], ", ", "stale");
	put_part(out, c->of[COLLECT_UNREAD], ", ", "unread");
	put_part(out, c->of[COLLECT_MISSING], "; ", "missing");
	put_part(out, c->unexpected, "; ", "unexpected");
	for (size_t i = 0; i < c->ncodes_found; ++i)
		found[c->codes_found[i].kind] += c->codes_found[i].findings;
	strbuf_printf(out, "\nfindings: %zu critical, %zu warning, %zu info\n", found[AUDIT_CRITICAL], found[AUDIT_WARNING], found[AUDIT_INFO]);
}

void audit_collect_text(const struct collect_result *result, struct strbuf *out)
{
	const struct collection *c = result->c;
	struct screen s = {.result = result, .out = out};
	size_t most = c->names.count;
	strbuf_init(&s.text);
	for (int i = 0; i < COLLECT_TROUBLES; ++i)
		most = c->troubles[i] > most ? c->troubles[i] : most;
	for (s.digits = 1; most >= 10; most /= 10)
		++s.digits;
	put_heads(&s);
	size_t fixed = fixed_rows(&s);
	put_codes(&s, result->lines == 0 ? 0 : result->lines > fixed + CODES_LEAST ? result->lines - fixed : CODES_LEAST);
	for (int i = 0; i < TOLD_STATES; ++i)
		put_state(&s, told_states[i]);
	if (c->unexpected) {
		strbuf_reset(&s.text);
		put_unexpected(&s.text, c);
		put_row(&s, "unexpected", "", c->unexpected, strbuf_str(&s.text), NULL);
	}
	for (int i = 0; i < COLLECT_TROUBLES; ++i) {
		if (c->troubles[i] > 0)
			put_places(&s, (enum collect_trouble)i);
	}
	strbuf_reset(&s.text);
	for (size_t i = 0; i < result->nunreadable; ++i) {
		strbuf_puts(&s.text, i ? ", " : "");
		escape_terminal(&s.text, result->unreadable[i].file);
	}
	if (result->nunreadable)
		put_row(&s, "files", "unreadable", result->nunreadable, strbuf_str(&s.text), NULL);
	out->failed |= s.text.failed;
	strbuf_destroy(&s.text);
}

/* The document. */

static void put_place(struct strbuf *out, const struct collection *c, struct collect_place place)
{
	struct strbuf text;
	strbuf_init(&text);
	strbuf_printf(&text, "%s:%" PRIu32, c->files[place.file], place.line);
	escape_json(out, strbuf_str(&text));
	out->failed |= text.failed;
	strbuf_destroy(&text);
}

static void put_host(struct strbuf *out, const struct collection *c, size_t i)
{
	const struct collect_host *host = &c->hosts[i];
	bool is_there = host->state != COLLECT_MISSING, is_read = is_there && !host->unread;
	size_t of[COLLECT_UNJUDGED + 1] = {0};
	strbuf_puts(out, "{\"host\": ");
	escape_json(out, c->names.of[i]);
	strbuf_printf(out, ", \"state\": \"%s\", \"source\": ", collect_state_name(host->state));
	if (is_there)
		put_place(out, c, host->place);
	else
		strbuf_puts(out, "null");
	if (is_there && host->time != INT64_MAX)
		strbuf_printf(out, ", \"time\": %" PRId64, host->time);
	else
		strbuf_puts(out, ", \"time\": null");
	strbuf_printf(out, ", \"complete\": %s, \"expected\": %s", is_read && host->complete ? "true" : "false",
	              !c->expects ? "null" : host->expected ? "true" : "false");
	audit_member(out, "reason", host->why == INTERN_NONE ? NULL : c->texts.of[host->why]);
	for (uint32_t k = 0; k < host->nfound; ++k)
		of[host->found[k].severity] += c->on[host->found[k].code] ? host->found[k].count : 0;
	strbuf_printf(out, ", \"critical\": %zu, \"warning\": %zu, \"info\": %zu}", of[AUDIT_CRITICAL], of[AUDIT_WARNING], of[AUDIT_INFO]);
}

/** A group of hosts, and what stands before. */
static void put_group_json(struct strbuf *out, const char *const *names, size_t n)
{
	struct strbuf hosts;
	strbuf_init(&hosts);
	put_hosts(&hosts, names, n);
	strbuf_printf(out, "\"count\": %zu, \"hosts\": ", n);
	escape_json(out, strbuf_str(&hosts));
	strbuf_putc(out, '}');
	out->failed |= hosts.failed;
	strbuf_destroy(&hosts);
}

static void put_codes_json(struct strbuf *out, const struct collection *c, bool unjudged)
{
	const char *part = "";
	for (size_t i = 0; i < c->ncodes_found; ++i) {
		const struct collect_group *group = &c->codes_found[i];
		if ((group->kind == COLLECT_UNJUDGED) != unjudged)
			continue;
		strbuf_printf(out, "%s\n      {\"code\": \"%s\", ", part, group->text);
		if (!unjudged)
			strbuf_printf(out, "\"severity\": \"%s\", \"findings\": %zu, ", kind_name(group->kind), group->findings);
		put_group_json(out, group->hosts, group->count);
		part = ",";
	}
	strbuf_puts(out, *part ? "\n   ]" : "]");
}

static void put_lines_json(struct strbuf *out, const struct collection *c)
{
	strbuf_printf(out, ",\n   \"lines\": {\"taken\": %zu", c->lines);
	for (int i = 0; i < COLLECT_TROUBLES; ++i) {
		strbuf_printf(out, ",\n      \"%s\": {\"count\": %zu, \"places\": [", collect_trouble_name((enum collect_trouble)i), c->troubles[i]);
		for (size_t k = 0; k < c->ntold[i]; ++k) {
			strbuf_puts(out, k ? ",\n         {\"source\": " : "\n         {\"source\": ");
			put_place(out, c, c->told[i][k].place);
			audit_member(out, "why", c->told[i][k].why);
			strbuf_putc(out, '}');
		}
		strbuf_puts(out, "]}");
	}
	strbuf_puts(out, "},\n   \"unreadable\": [");
}

void audit_collect_json(const struct collect_result *result, struct strbuf *out)
{
	const struct collection *c = result->c;
	const struct collect_asked *asked = result->asked;
	const char *part = "";
	strbuf_puts(out, "{\n   \"hosts\": [");
	for (size_t i = 0; i < c->names.count; ++i) {
		strbuf_puts(out, i ? ",\n      " : "\n      ");
		put_host(out, c, i);
	}
	strbuf_printf(out, "%s],\n   \"counts\": {\"hosts\": %zu", c->names.count ? "\n   " : "", c->names.count - c->of[COLLECT_MISSING]);
	for (int i = 0; i < COLLECT_STATES; ++i)
		strbuf_printf(out, ", \"%s\": %zu", collect_state_name((enum collect_state)i), c->of[i]);
	strbuf_printf(out, ", \"unexpected\": %zu, \"ahead\": %zu},\n   \"findings\": [", c->unexpected, c->ahead);
	put_codes_json(out, c, false);
	strbuf_puts(out, ",\n   \"not_judged\": [");
	put_codes_json(out, c, true);
	strbuf_puts(out, ",\n   \"states\": [");
	for (size_t i = 0; i < c->nreasons; ++i) {
		const struct collect_group *group = &c->reasons[i];
		strbuf_printf(out, "%s\n      {\"state\": \"%s\"", part, collect_state_name((enum collect_state)group->kind));
		audit_member(out, "reason", *group->text ? group->text : NULL);
		strbuf_puts(out, ", ");
		put_group_json(out, group->hosts, group->count);
		part = ",";
	}
	strbuf_puts(out, *part ? "\n   ]" : "]");
	put_lines_json(out, c);
	for (size_t i = 0; i < result->nunreadable; ++i) {
		strbuf_puts(out, i ? ", {\"file\": " : "{\"file\": ");
		escape_json(out, result->unreadable[i].file);
		audit_member(out, "why", result->unreadable[i].why);
		strbuf_putc(out, '}');
	}
	strbuf_printf(out, "],\n   \"fail_on\": \"%s\"", asked->fail_on > AUDIT_CRITICAL ? "never" : audit_severity_name((enum audit_severity)asked->fail_on));
	if (asked->max_age >= 0)
		strbuf_printf(out, ",\n   \"max_age\": %" PRId64, asked->max_age);
	else
		strbuf_puts(out, ",\n   \"max_age\": null");
	strbuf_printf(out, ",\n   \"exit_status\": %d,\n   \"time\": %" PRId64 ",\n   \"schema\": %d,\n   \"version\": \"%s\"\n}\n", result->status,
	              result->now, COLLECT_DOCUMENT, GETMNT_VERSION);
}
