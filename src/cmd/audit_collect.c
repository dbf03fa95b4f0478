/* SPDX-License-Identifier: MIT */
/*
 * getmnt audit --collect: what many hosts have told.
 *
 *     files, line by line --> collect_take() --> collect_judge() --> one screen, or a document
 *
 * Nothing live is looked at, and what cannot be read is never held to be clean: it is
 * named, and makes the status 2.
 */
#include "cmd/audit_collect.h"

#include "base/hostlist.h"
#include "cmd/options.h"
#include "cmd/output.h"
#include "cmd/view.h"
#include "os/change.h"
#include "os/file.h"
#include "os/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	SCREEN_LINES = 40, SCREEN_WIDTH = 100,   /* of what is no terminal */
	MESSAGES_MAX = 5,        /* of a sort */
	HOSTS_FILE_MAX = 64 << 20, HOSTS_MAX = 1000000,
};

struct collecting {
	const struct collect_asked *asked;
	struct collection c;
	struct os os;
	struct collect_unreadable *unreadable;
	size_t nunreadable;
	unsigned messages;       /* that were printed */
	size_t bad;              /* lines that cannot be taken */
};

int audit_collect_age(const char *text, int64_t *seconds)
{
	static const struct {
		const char *name;
		int64_t seconds;
	} units[] = {{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};
	char *end;
	errno = 0;
	int64_t number = strtoll(text, &end, 10);
	for (size_t i = 0; i < sizeof(units) / sizeof(*units) && *text >= '0' && *text <= '9'; ++i) {
		if (strcmp(end, units[i].name) == 0 && errno == 0 && number <= INT64_MAX / 2 / units[i].seconds) {
			*seconds = number * units[i].seconds;
			return 0;
		}
	}
	return usage_error("--max-age", "\"%s\": a number of seconds, or one with m, h or d behind it, as 26h", text);
}

static const char *unreadable(int error)
{
	static char why[128];
	snprintf(why, sizeof(why), "cannot be read: %s", error == ENOTSUP ? "it is neither a file nor a pipe" : path_error(error));
	return why;
}

/** Note, and tell of, a file that cannot be read, or what is wrong in it.  @return 0, or -1: ENOMEM. */
static int fail_file(struct collecting *co, const char *file, uint64_t line, const char *why)
{
	struct collect_unreadable *more = realloc(co->unreadable, (co->nunreadable + 1) * sizeof(*more));
	struct strbuf place;
	if (!more)
		return -1;
	co->unreadable = more;
	strbuf_init(&place);
	strbuf_puts(&place, file);
	if (line)
		strbuf_printf(&place, ":%" PRIu64, line);
	struct collect_unreadable *bad = &co->unreadable[co->nunreadable];
	bad->file = arena_strndup(&co->c.arena, strbuf_str(&place), place.len);
	bad->why = arena_strndup(&co->c.arena, why, strlen(why));
	int rc = bad->file && bad->why && !place.failed ? 0 : -1;
	strbuf_destroy(&place);
	if (rc == 0 && ++co->nunreadable <= MESSAGES_MAX) {
		message(bad->file, "%s", why);
		++co->messages;
	}
	return rc;
}

/** Tell of a line that cannot be taken. */
static void tell_line(struct collecting *co, const char *file, uint32_t line, int what)
{
	const struct collect_told *told = co->c.told[what];
	const char *why = co->c.ntold[what] > 0 ? told[co->c.ntold[what] - 1].why : NULL;
	if (++co->bad > MESSAGES_MAX)
		return;
	struct strbuf place;
	strbuf_init(&place);
	strbuf_printf(&place, "%s:%" PRIu32, file, line);
	message(strbuf_str(&place), "%s", why ? why : collect_trouble_name((enum collect_trouble)what));
	strbuf_destroy(&place);
	++co->messages;
}

/** Read a file.  @return 0, or -1: ENOMEM. */
static int read_file(struct collecting *co, const char *name)
{
	bool standard = strcmp(name, "-") == 0;
	const char *file = standard ? "standard input" : name;
	struct os_lines lines;
	struct os_line line;
	size_t taken = 0;
	int number = collect_file(&co->c, file), rc;
	if (number < 0)
		return -1;
	if (os_lines_open(&co->os, standard ? NULL : name, COLLECT_LINE_MAX, &lines) != 0)
		return errno == ENOMEM ? -1 : fail_file(co, file, 0, unreadable(errno));
	struct collect_place place = {(uint32_t)number, 0};
	while ((rc = os_lines_next(&lines, &line)) > 0) {
		++place.line;
		int what = COLLECT_DAMAGED;
		if (!line.too_long)
			what = collect_take(&co->c, line.text, line.n, place);
		else if (collect_note(&co->c, COLLECT_DAMAGED, place, "a line of more than 4 MiB") != 0)
			what = COLLECT_NOMEM;
		if (what == COLLECT_NOMEM) {
			os_lines_close(&lines);
			errno = ENOMEM;
			return -1;
		}
		if (what >= 0)
			tell_line(co, file, place.line, what);
		taken += what != COLLECT_BLANK;
	}
	int error = errno;
	os_lines_close(&lines);
	if (rc < 0)
		return error == ENOMEM ? -1 : fail_file(co, file, place.line + 1, unreadable(error));
	/* A host whose audit did not even begin has left such a file. */
	return taken > 0 ? 0 : fail_file(co, file, 0, "has no line: nothing is known of who was to write it");
}

static int expect(void *arg, const char *name)
{
	struct collecting *co = arg;
	return collect_expect(&co->c, name);
}

/** Read the hosts that there should be: names, folded or not, with blanks between; # and what
    is behind it is a comment.  @return 0, or -1: ENOMEM. */
static int read_hosts(struct collecting *co)
{
	const char *name = co->asked->hosts;
	char *text;
	size_t len, number = 0;
	int rc = 0;
	if (os_read_named(&co->os, name, HOSTS_FILE_MAX, &text, &len) != 0)
		return errno == ENOMEM ? -1 : fail_file(co, name, 0, unreadable(errno));
	const char *wrong = NULL;
	for (const char *at = text, *end = text + len; at < end && rc == 0 && !wrong; ++at) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		stop = stop ? stop : end;
		const char *last = memchr(at, '#', (size_t)(stop - at));
		last = last ? last : stop;
		++number;
		if (memchr(at, '\0', (size_t)(last - at)))
			wrong = "a NUL byte";
		while (at < last && rc == 0 && !wrong) {
			size_t n = strcspn(at, " \t\r\n#");
			if (n > 0 && hostlist_unfold(at, n, HOSTS_MAX - co->c.names.count, expect, co) != 0) {
				wrong = errno == E2BIG ? "more than a million hosts" : "no list of hosts, such as node[1-9,12]";
				rc = errno == ENOMEM ? -1 : 0;
			}
			at += n + (at + n < last);
		}
		at = stop;
	}
	free(text);
	if (rc == 0 && wrong)
		rc = fail_file(co, name, number, wrong);
	else if (rc == 0 && !co->c.expects)
		rc = fail_file(co, name, 0, "names no host");
	return rc;
}

/** @return the exit status. */
static int status_of(const struct collecting *co)
{
	const struct collection *c = &co->c;
	const size_t *of = c->of;
	bool whole = of[COLLECT_FAILED] + of[COLLECT_INCOMPLETE] == 0;
	for (size_t i = 0; i < c->names.count; ++i)
		whole &= c->hosts[i].complete || c->hosts[i].state != COLLECT_FINDINGS;
	whole |= !co->asked->way->whole;
	if (co->bad > 0 || co->nunreadable > 0 || c->names.count == 0 || !whole)
		return AX_FAILED;
	size_t bad = of[COLLECT_INCOMPLETE] + of[COLLECT_FAILED] + of[COLLECT_STALE] + of[COLLECT_UNREAD] + of[COLLECT_MISSING];
	bool found = of[COLLECT_FINDINGS] > 0 && co->asked->fail_on <= AUDIT_CRITICAL;
	return bad > 0 || found ? AX_FINDINGS : AX_CLEAN;
}

/** Read all, and tell.  @return an exit status. */
static int collect(void *arg, struct strbuf *document)
{
	struct collecting co = {.asked = arg, .os.statx_works = true};
	const struct collect_asked *asked = co.asked;
	struct collect_rules rules = {
		.fail_on = asked->fail_on > AUDIT_CRITICAL ? AUDIT_WARNING : (enum audit_severity)asked->fail_on,
		.rules = asked->rules, .others = !asked->only, .now = os_time_ms() / 1000, .max_age = asked->max_age,
	};
	int rc = 0, status = AX_FAILED;
	collect_init(&co.c);
	for (char **file = asked->files; *file && rc == 0; ++file)
		rc = read_file(&co, *file);
	if (rc == 0 && asked->hosts)
		rc = read_hosts(&co);
	if (rc == 0)
		rc = collect_judge(&co.c, &rules);
	if (rc == 0) {
		if (co.bad > MESSAGES_MAX || co.nunreadable > MESSAGES_MAX) {
			message(NULL, "%zu lines and %zu files cannot be taken; --json names all", co.bad, co.nunreadable);
			++co.messages;
		}
		status = status_of(&co);
		bool terminal = asked->way->terminal && !asked->way->output;
		struct collect_result result = {
			.c = &co.c, .asked = asked, .unreadable = co.unreadable, .nunreadable = co.nunreadable, .now = rules.now, .status = status,
			.width = asked->verbose ? 0 : terminal ? (unsigned)terminal_width(STDOUT_FILENO) : SCREEN_WIDTH,
			.lines = asked->verbose ? 0 : SCREEN_LINES - co.messages,
		};
		if (asked->way->form == AF_JSON)
			audit_collect_json(&result, document);
		else
			audit_collect_text(&result, document);
	} else {
		message("--collect", "%s", strerror(ENOMEM));
	}
	free(co.unreadable);
	collect_destroy(&co.c);
	return status;
}

int audit_collect(struct collect_asked *asked)
{
	return audit_way_run(asked->way, collect, asked);
}
