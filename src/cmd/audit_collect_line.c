/* SPDX-License-Identifier: MIT */
/*
 * A line of what hosts tell, which anybody may have written.
 *
 *     bytes --> bounds (depth, values; whether its end is missing) --> jansson --> keys, judged
 *
 * The JSON library builds a tree of the whole line, of some hundred bytes for a value, and
 * goes as deep as brackets do: so these are counted before.  Of what a line says only what
 * agrees with itself is taken: findings that are not as many as it counts are no audit, and
 * none without a key that it goes by is held to be clean.
 */
#include "cmd/audit_collect.h"

#include "base/escape.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/** Copy a text, of one that is too long the beginning. */
static void keep(char to[COLLECT_REASON_MAX + 1], const char *text)
{
	size_t n = 0;
	for (size_t step; text[n] && (step = utf8_len(text + n)) > 0 && n + step <= COLLECT_REASON_MAX;)
		n += step;
	if (text[n] && n > COLLECT_REASON_MAX - 3) {
		n = COLLECT_REASON_MAX - 3;
		while (n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80)
			--n;
		memcpy(to, text, n);
		memcpy(to + n, "...", 4);
		return;
	}
	memcpy(to, text, n);
	to[n] = '\0';
}

/** Say why a line is none. */
__attribute__((format(printf, 2, 3)))
static int damaged(struct collect_read *read, const char *format, ...)
{
	struct strbuf why;
	va_list args;
	strbuf_init(&why);
	va_start(args, format);
	strbuf_vprintf(&why, format, args);
	va_end(args);
	keep(read->why, strbuf_str(&why));
	strbuf_destroy(&why);
	return COLLECT_DAMAGED;
}

/** See that a line is none that costs more than it may.  @return COLLECT_TAKEN, or a trouble. */
static int check_bounds(const char *text, size_t n, struct collect_read *read)
{
	size_t depth = 0, values = 0;
	bool quoted = false;
	/* The library passes over some of these. */
	if (memchr(text, '\0', n))
		return damaged(read, "a NUL byte");
	for (size_t i = 0; i < n; ++i) {
		char c = text[i];
		if (quoted) {
			i += c == '\\';
			quoted = c != '"';
			continue;
		}
		quoted = c == '"';
		values += c == ',' || c == '[' || c == '{';
		depth += c == '[' || c == '{';
		if (depth > COLLECT_DEPTH_MAX)
			return damaged(read, "brackets within each other, more than %d", COLLECT_DEPTH_MAX);
		if (values > COLLECT_VALUES_MAX)
			return damaged(read, "more than %d values", COLLECT_VALUES_MAX);
		if ((c == ']' || c == '}') && depth-- == 0)
			return damaged(read, "more brackets are closed than opened");
	}
	if ((!quoted && depth == 0) || *text != '{')
		return COLLECT_TAKEN;   /* or no JSON at all */
	keep(read->why, "its end is missing");
	return COLLECT_CUT;
}

/** The text of a key that may be null.  @return whether it is one of both. */
static bool get_text(const json_t *line, const char *key, const char **text)
{
	const json_t *value = json_object_get(line, key);
	*text = json_string_value(value);
	return *text || json_is_null(value);
}

/** Whether it is a code: letters, digits and "-". */
static bool is_code(const char *code)
{
	size_t n = code ? strspn(code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") : 0;
	return n > 0 && n <= COLLECT_CODE_MAX && !code[n];
}

/** @return the severity of this name, or -1. */
static int severity_of(const char *name)
{
	for (int severity = AUDIT_INFO; name && severity <= AUDIT_CRITICAL; ++severity) {
		if (strcmp(name, audit_severity_name((enum audit_severity)severity)) == 0)
			return severity;
	}
	return -1;
}

static int read_findings(const json_t *json, struct collect_read *read)
{
	const json_t *findings = json_object_get(json, "findings"), *counts = json_object_get(json, "counts");
	json_int_t of[AUDIT_CRITICAL + 1] = {0};
	if (!json_is_array(findings))
		return damaged(read, json_object_get(json, "codes") ? "it has no findings, as with --format=ansible; give what --jsonl prints"
		                                                      : "it has no array \"findings\"");
	size_t n = json_array_size(findings);
	if (!(read->findings = malloc((n + 1) * sizeof(*read->findings))))
		return COLLECT_NOMEM;
	for (size_t i = 0; i < n; ++i) {
		const json_t *finding = json_array_get(findings, i);
		const char *code = json_string_value(json_object_get(finding, "code"));
		int severity = severity_of(json_string_value(json_object_get(finding, "severity")));
		if (!is_code(code) || severity < 0)
			return damaged(read, "finding %zu has no %s", i + 1, severity < 0 ? "severity" : "code");
		read->findings[i] = (struct collect_finding){code, (enum audit_severity)severity};
		++of[severity];
	}
	for (int severity = AUDIT_INFO; severity <= AUDIT_CRITICAL; ++severity) {
		const char *name = audit_severity_name((enum audit_severity)severity);
		const json_t *count = json_object_get(counts, name);
		if (!json_is_integer(count) || json_integer_value(count) != of[severity])
			return damaged(read, "\"counts\" does not say that of its findings %lld are %s", (long long)of[severity], name);
	}
	read->line.findings = read->findings;
	read->line.nfindings = n;
	if (n == 0 && read->line.exit_status == 1)
		return damaged(read, "\"exit_status\" is 1, and it has no finding");
	return COLLECT_TAKEN;
}

static int read_unjudged(const json_t *json, struct collect_read *read)
{
	const json_t *unjudged = json_object_get(json, "not_judged");
	if (!json_is_array(unjudged))
		return damaged(read, "it has no array \"not_judged\"");
	size_t n = json_array_size(unjudged);
	if (!(read->unjudged = malloc((n + 1) * sizeof(*read->unjudged))))
		return COLLECT_NOMEM;
	for (size_t i = 0; i < n; ++i) {
		read->unjudged[i] = json_string_value(json_array_get(unjudged, i));
		if (!is_code(read->unjudged[i]))
			return damaged(read, "\"not_judged\" has what is no code");
	}
	read->line.unjudged = read->unjudged;
	read->line.nunjudged = n;
	return COLLECT_TAKEN;
}

/** Whether all is known, and if not, why. */
static int read_whole(const json_t *json, struct collect_read *read)
{
	struct collect_line *line = &read->line;
	const json_t *complete = json_object_get(json, "complete"), *status = json_object_get(json, "exit_status");
	const json_t *reasons = json_object_get(json, "incomplete_reasons");
	const char *text;
	if (!json_is_boolean(complete))
		return damaged(read, "\"complete\" is neither true nor false");
	line->complete = json_is_true(complete);
	line->exit_status = (int)json_integer_value(status);
	if (!json_is_integer(status) || json_integer_value(status) < 0 || json_integer_value(status) > 2)
		return damaged(read, "\"exit_status\" is not 0, 1 or 2");
	if (!get_text(json, "failed", &text))
		return damaged(read, "\"failed\" is neither a text nor null");
	if (text) {
		keep(read->failed, text);
		line->failed = read->failed;
	}
	if (!json_is_array(reasons))
		return damaged(read, "it has no array \"incomplete_reasons\"");
	if (line->complete && json_array_size(reasons))
		return damaged(read, "it says \"complete\": true, and in \"incomplete_reasons\" why not");
	if ((text = json_string_value(json_array_get(reasons, 0)))) {
		keep(read->reason, text);
		line->reason = read->reason;
	}
	return COLLECT_TAKEN;
}

/** Read what says whose line it is.  @return COLLECT_TAKEN, or a trouble. */
static int read_head(const json_t *json, struct collect_read *read)
{
	struct collect_line *line = &read->line;
	const json_t *schema = json_object_get(json, "schema"), *time = json_object_get(json, "time");
	const char *host = json_string_value(json_object_get(json, "host"));
	if (!json_is_object(json))
		return damaged(read, "it is no object");
	if (!json_is_integer(schema))
		return damaged(read, "it has no number \"schema\"");
	line->schema = json_integer_value(schema);
	line->host = host && *host && strlen(host) <= COLLECT_NAME_MAX ? host : NULL;
	line->time = json_is_integer(time) && json_integer_value(time) >= 0 ? json_integer_value(time) : INT64_MAX;
	if (line->schema != COLLECT_SCHEMA) {
		struct strbuf why;
		strbuf_init(&why);
		strbuf_printf(&why, "schema %lld, where %d is known", (long long)line->schema, COLLECT_SCHEMA);
		if (line->host)
			strbuf_printf(&why, "; host %s", line->host);
		keep(read->why, strbuf_str(&why));
		strbuf_destroy(&why);
		return line->schema < COLLECT_SCHEMA ? COLLECT_OLDER : COLLECT_NEWER;
	}
	if (json_is_null(json_object_get(json, "host")))
		return damaged(read, "it names no host, as of a recorded table");
	if (!line->host)
		return damaged(read, "\"host\" is no name");
	if (line->time == INT64_MAX)
		return damaged(read, "it has no number \"time\"");
	return COLLECT_TAKEN;
}

int collect_read_line(const char *text, size_t n, struct collect_read *read)
{
	json_error_t error;
	size_t blanks = 0;
	*read = (struct collect_read){.line = {.schema = COLLECT_SCHEMA}};
	while (blanks < n && strchr(" \t\r", text[blanks]) && text[blanks])
		++blanks;
	if (blanks == n)
		return COLLECT_BLANK;
	text += blanks;
	n -= blanks;
	int what = check_bounds(text, n, read);
	if (what != COLLECT_TAKEN)
		return what;
	json_t *json = json_loadb(text, n, JSON_REJECT_DUPLICATES, &error);
	if (!json && json_error_code(&error) == json_error_out_of_memory)
		return COLLECT_NOMEM;
	if (!json)
		return damaged(read, "it is no JSON: %s, byte %d", error.text, error.position);
	read->json = json;
	what = read_head(json, read);
	if (what == COLLECT_TAKEN)
		what = read_whole(json, read);
	if (what == COLLECT_TAKEN)
		what = read_findings(json, read);
	if (what == COLLECT_TAKEN)
		what = read_unjudged(json, read);
	return what;
}

void collect_read_destroy(struct collect_read *read)
{
	json_decref(read->json);
	free(read->findings);
	free(read->unjudged);
	*read = (struct collect_read){0};
}

int collect_take(struct collection *c, const char *text, size_t n, struct collect_place place)
{
	struct collect_read read;
	int what = collect_read_line(text, n, &read), rc = 0;
	bool other = what == COLLECT_OLDER || what == COLLECT_NEWER;
	if (what == COLLECT_NOMEM)
		rc = -1;
	else if (what == COLLECT_TAKEN || (other && read.line.host))
		rc = collect_add(c, &read.line, place);
	if (rc == 0 && what >= 0)
		rc = collect_note(c, (enum collect_trouble)what, place, read.why);
	collect_read_destroy(&read);
	return rc == 0 ? what : COLLECT_NOMEM;
}
