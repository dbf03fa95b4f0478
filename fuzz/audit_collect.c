/* SPDX-License-Identifier: MIT */
/*
 * What hosts have told, put together.  The input: a byte for how it is judged, a list of
 * hosts, a byte 1; the rest is lines.
 *
 * What is unfolded and folded is the same hosts.  A line is blank, taken or told; what is
 * taken another reader of JSON takes for an audit too, with as many findings.  Of a host the
 * newest line counts.  Hosts have one state each, and a group, unfolded, is its hosts.  The
 * screen has 40 lines that harm no terminal, and the document is JSON.
 */
#include "lib/fuzz.h"
#include "lib/json.h"

#include "base/hostlist.h"
#include "cmd/audit_collect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LINES = 64, HOSTS = 512 };

struct names {
	char *of[HOSTS];
	size_t count;
};

static int keep(void *arg, const char *name)
{
	struct names *names = arg;
	names->of[names->count++] = fuzz_string(name, strlen(name));
	return 0;
}

static void drop(struct names *names)
{
	while (names->count > 0)
		free(names->of[--names->count]);
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/** Names, folded and unfolded, are these, each once. */
static void check_fold(const char *const *of, size_t n)
{
	struct names again = {.count = 0};
	struct hostlist list;
	struct strbuf text;
	const char **sorted = fuzz_alloc((n + 1) * sizeof(*sorted));
	size_t k = 0, terms = 0;
	FUZZ_CHECK(n <= HOSTS);
	memcpy(sorted, of, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), compare);
	strbuf_init(&text);
	FUZZ_CHECK(hostlist_fold(of, n, &list) == 0);
	hostlist_put(&list, &text);
	for (size_t i = 0; i < text.len; ++i)
		FUZZ_CHECK(text.data[i] > ' ' && text.data[i] < 0x7f);
	if (n > 0)
		FUZZ_CHECK(hostlist_unfold(strbuf_str(&text), text.len, HOSTS, keep, &again) == 0);
	qsort(again.of, again.count, sizeof(*again.of), compare);
	for (size_t i = 0; i < n; ++i) {
		if (i > 0 && strcmp(sorted[i], sorted[i - 1]) == 0)
			continue;
		FUZZ_CHECK(k < again.count);
		FUZZ_SAME(again.of[k++], sorted[i]);
	}
	for (size_t i = 0; i < list.count; ++i)
		terms += list.terms[i].hosts;
	FUZZ_CHECK(k == again.count && k == list.hosts && terms == k);
	strbuf_destroy(&text);
	hostlist_destroy(&list);
	drop(&again);
	free(sorted);
}

/** What was taken is an audit by another reader's word. */
static void check_taken(const char *text, size_t n, const struct collect_line *line)
{
	FUZZ_CHECK(!memchr(text, '\0', n));
	/* That one reads what may be printed alone. */
	struct json *json = fuzz_is_printable(text, n) ? json_read(text, n) : NULL;
	if (!json && !fuzz_is_printable(text, n))
		return;
	FUZZ_CHECK(json && json->type == JSON_OBJECT);
	const struct json *host = json_member(json, "host"), *findings = json_member(json, "findings"), *failed = json_member(json, "failed");
	FUZZ_CHECK(host && host->type == JSON_STRING && findings && findings->type == JSON_ARRAY && failed);
	FUZZ_SAME(line->host, host->text);
	FUZZ_CHECK(json_count(findings) == line->nfindings && line->exit_status >= 0 && line->exit_status <= 2);
	FUZZ_CHECK((failed->type == JSON_STRING) == (line->failed != NULL));
	FUZZ_CHECK(json_member(json, "complete")->type == (line->complete ? JSON_TRUE : JSON_FALSE));
	json_free(json);
}

/** The lines of a host that counted so far, by a plain list. */
struct newest {
	char *host;
	int64_t time;
	uint32_t line;
};

static void check_result(struct collection *c, const struct collect_asked *asked, unsigned width)
{
	struct collect_result result = {.c = c, .asked = asked, .now = 1000, .status = 1, .width = width, .lines = width ? 40 : 0};
	struct strbuf out;
	size_t lines = 0, sum = 0, hosts = 0;
	strbuf_init(&out);
	audit_collect_text(&result, &out);
	FUZZ_CHECK(!out.failed && fuzz_is_printable(strbuf_str(&out), out.len));
	for (const char *at = strbuf_str(&out); *at; at += strcspn(at, "\n") + 1)
		++lines;
	FUZZ_CHECK(width == 0 || lines <= 40);
	strbuf_reset(&out);
	audit_collect_json(&result, &out);
	struct json *json = out.failed ? NULL : json_read(strbuf_str(&out), out.len);
	FUZZ_CHECK(json && fuzz_is_printable(strbuf_str(&out), out.len));
	FUZZ_CHECK(json_count(json_member(json, "hosts")) == c->names.count);
	json_free(json);
	strbuf_destroy(&out);
	for (int i = 0; i < COLLECT_STATES; ++i)
		sum += c->of[i];
	FUZZ_CHECK(sum == c->names.count);
	for (size_t i = 0; i < c->nreasons; ++i) {
		hosts += c->reasons[i].count;
		check_fold(c->reasons[i].hosts, c->reasons[i].count);
	}
	FUZZ_CHECK(hosts == c->names.count - c->of[COLLECT_CLEAN]);
	for (size_t i = 0; i < c->ncodes_found; ++i) {
		FUZZ_CHECK(c->codes_found[i].count > 0 && c->codes_found[i].count <= c->names.count);
		if (i < 8)
			check_fold(c->codes_found[i].hosts, c->codes_found[i].count);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = fuzz_input(data, size);
	uint8_t how = fuzz_byte(&in);
	size_t n;
	const char *list = fuzz_until(&in, 1, &n);
	struct names names = {.count = 0};
	struct collection c;
	struct audit_way way = {.form = AF_TEXT};
	struct collect_asked asked = {.way = &way, .max_age = how & 1 ? 500 : -1, .fail_on = how >> 1 & 3, .verbose = how & 8};
	struct collect_rules rules = {
		.fail_on = asked.fail_on > AUDIT_CRITICAL ? AUDIT_WARNING : (enum audit_severity)asked.fail_on,
		.rules = how & 16 ? audit_bit(MNT_DUP) : ~UINT64_C(0), .others = how & 32, .now = 1000, .max_age = asked.max_age,
	};
	int rc = hostlist_unfold(list, n, 100, keep, &names);
	FUZZ_CHECK(rc == 0 || errno == EINVAL || errno == E2BIG);
	FUZZ_CHECK(rc != 0 || names.count > 0);
	check_fold((const char *const *)names.of, names.count);
	collect_init(&c);
	FUZZ_CHECK(collect_file(&c, "F\033") == 0);
	for (size_t i = 0; i < names.count && how & 64; ++i)
		FUZZ_CHECK(collect_expect(&c, names.of[i]) == 0);
	drop(&names);
	struct newest newest[LINES];
	size_t known = 0, taken = 0, told = 0, again = 0;
	for (uint32_t number = 1; number <= LINES && in.at < in.end; ++number) {
		const char *bytes = fuzz_until(&in, '\n', &n);
		char *text = fuzz_alloc(n + 1);   /* of that size, so that what reads beyond is seen */
		memcpy(text, bytes, n);
		struct collect_read read;
		int what = collect_read_line(text, n, &read);
		FUZZ_CHECK(what != COLLECT_NOMEM && (what < 0) == !*read.why);
		bool counts = what == COLLECT_TAKEN || ((what == COLLECT_OLDER || what == COLLECT_NEWER) && read.line.host);
		if (what == COLLECT_TAKEN)
			check_taken(text, n, &read.line);
		size_t k = 0;
		while (counts && k < known && strcmp(newest[k].host, read.line.host) != 0)
			++k;
		if (counts && k == known)
			newest[known++] = (struct newest){fuzz_string(read.line.host, strlen(read.line.host)), read.line.time, number};
		else if (counts && ++again && read.line.time >= newest[k].time)
			newest[k] = (struct newest){newest[k].host, read.line.time, number};
		taken += counts;
		told += what >= 0;
		collect_read_destroy(&read);
		FUZZ_CHECK(collect_take(&c, text, n, (struct collect_place){0, number}) == what);
		free(text);
	}
	size_t troubles = 0;
	for (int i = 0; i < COLLECT_TROUBLES; ++i)
		troubles += i == COLLECT_DUPLICATE ? 0 : c.troubles[i];
	FUZZ_CHECK(c.lines == taken && troubles == told && c.troubles[COLLECT_DUPLICATE] == again);
	FUZZ_CHECK(collect_judge(&c, &rules) == 0);
	for (size_t k = 0; k < known; ++k) {
		uint32_t host = intern_find(&c.names, newest[k].host, strlen(newest[k].host));
		FUZZ_CHECK(host != INTERN_NONE && c.hosts[host].place.line == newest[k].line);
		free(newest[k].host);
	}
	check_result(&c, &asked, 100);
	check_result(&c, &asked, how & 128 ? 25 : 0);
	collect_destroy(&c);
	return 0;
}
