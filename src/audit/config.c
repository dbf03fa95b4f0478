/* SPDX-License-Identifier: MIT */
/*
 * Parse the statements of the configuration, and apply them to findings.
 *
 *     ignore CODE[,CODE...] [target=GLOB] [type=GLOB] [owner=GLOB] [until=DATE]
 *     severity LEVEL CODE[,CODE...] [target=GLOB] [type=GLOB] [owner=GLOB] [until=DATE]
 *     require PATH OPTION[,OPTION...]
 *
 * Words are separated by blanks; in paths and patterns \ooo is a byte, as in fstab.
 */
#include "audit/config.h"

#include "audit/audit_impl.h"
#include "base/escape.h"
#include "base/secret.h"
#include "base/words.h"
#include "fstab/target.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

enum { WORDS_MAX = 8 };

struct parser {
	struct audit_config *config;
	const char *file;
	uint32_t line;
	const char *at;          /* the text of the line, of n bytes */
	size_t n;
	const char *copy;        /* a copy of the line, split into words */
	char *words[WORDS_MAX];
	size_t nwords;
	struct arena *arena;     /* memory of the configuration */
};

void audit_config_destroy(struct audit_config *config)
{
	arena_destroy(&config->arena);
	*config = (struct audit_config){0};
}

/** The position of the line for messages: "FILE:LINE". */
static const char *place_of(struct parser *p)
{
	return arena_printf(p->arena, "%s:%" PRIu32, p->file, p->line);
}

/** Record a problem with the line.  @return false. */
__attribute__((format(printf, 2, 3)))
static bool wrong(struct parser *p, const char *format, ...)
{
	struct audit_config *config = p->config;
	if (config->nproblems++ >= AUDIT_PROBLEMS_MAX)
		return false;
	struct strbuf why = {.arena = p->arena};
	va_list args;
	va_start(args, format);
	strbuf_vprintf(&why, format, args);
	va_end(args);
	config->problems[config->nproblems - 1] =
		(struct audit_problem){place_of(p), strbuf_str(&why)};
	return false;
}

/** Get a word for a message, with secrets masked.  If the line contains a secret, which may contain
    blanks, the whole word is "***". */
static const char *quoted(struct parser *p, const char *word)
{
	struct strbuf plain = {.arena = p->arena}, out = plain;
	if (!word || p->config->nproblems >= AUDIT_PROBLEMS_MAX)
		return "";   /* wrong() will not store the message */
	strbuf_add(&plain, p->at, p->n);
	plain.len = plain.failed ? 0 : unescape_octal(plain.data, plain.data, plain.len);
	for (size_t i = 0; i < plain.len; ++i)
		plain.data[i] = plain.data[i] ? plain.data[i] : ' ';
	strbuf_puts(&plain, "");
	mask_text(strbuf_str(&plain), &out);
	bool secret = strcmp(strbuf_str(&plain), strbuf_str(&out)) != 0;
	strbuf_reset(&out);
	mask_word(word, &out);
	return secret ? "***" : strbuf_str(&out);
}

/** Copy a word and decode \ooo.  @return NULL: a problem was recorded. */
static const char *decode(struct parser *p, const char *word)
{
	struct strbuf text = {.arena = p->arena};
	unescape_octal_add(&text, word, strlen(word));
	if (strlen(strbuf_str(&text)) == text.len)
		return strbuf_str(&text);
	wrong(p, "\"%s\" contains a NUL byte", quoted(p, word));
	return NULL;
}

/** Compile a pattern.  @return NULL: a problem was recorded. */
static struct audit_glob *make_glob(struct parser *p, const char *word)
{
	struct pattern_error error;
	size_t sets = 0;
	if (!*word)
		wrong(p, "an empty pattern; write one, as /srv/*");
	const char *plain = *word ? decode(p, word) : NULL;
	if (!plain)
		return NULL;
	struct strbuf text = {.arena = p->arena};
	for (const char *at = plain; *at; ++at) {
		if (*at == '\\')
			strbuf_putc(&text, '\\');   /* in a pattern, a backslash must be doubled */
		strbuf_putc(&text, *at);
		sets += *at == '[';
	}
	struct audit_glob *glob = arena_new(p->arena, 1, sizeof(*glob));
	struct glob_pool pool = {
		.bytes = arena_new(p->arena, text.len + 1, 1),
		.tokens = arena_new(p->arena, text.len, sizeof(*pool.tokens)),
		.sets = arena_new(p->arena, sets, sizeof(*pool.sets)),
		.ranges = arena_new(p->arena, text.len, sizeof(*pool.ranges)),
	};
	if (p->arena->failed)
		return NULL;
	*glob = (struct audit_glob){.pool = pool};
	if (glob_compile(&glob->pool, strbuf_str(&text), 0, text.len, 0, &glob->glob, &error)
	    != 0) {
		wrong(p, "invalid pattern \"%s\": %s", quoted(p, word), error.why);
		return NULL;
	}
	if (glob->glob.kind == GLOB_EXACT)
		glob->exact = glob->pool.bytes + glob->glob.bytes;
	return glob;
}

bool audit_glob_matches(const struct audit_glob *glob, const char *text)
{
	return glob->exact ? strcmp(glob->exact, text) == 0
	                   : glob_match(&glob->pool, &glob->glob, text, strlen(text));
}

int64_t audit_day(const char *date, size_t n)
{
	char text[] = "YYYY-MM-DD", again[sizeof(text)];
	struct tm tm = {0};
	if (n != sizeof(text) - 1)
		return -1;
	memcpy(text, date, n);
	if (!strptime(text, "%Y-%m-%d", &tm))
		return -1;
	time_t seconds = timegm(&tm);
	/* Format the date again, and compare: strptime(3) accepts fewer digits, and timegm(3) turns
	   30 February into a day of March. */
	bool same = gmtime_r(&seconds, &tm)
	            && strftime(again, sizeof(again), "%Y-%m-%d", &tm) && strcmp(text, again) == 0;
	return same && seconds >= 0 ? seconds / 86400 : -1;
}

/* Statements. */

static bool parse_codes(struct parser *p, struct audit_row *row, char *word)
{
	for (const char *code; (code = strsep(&word, ",")) != NULL;) {
		if (!audit_codes(code, strlen(code), &row->codes))
			return wrong(p, "unknown rule \"%s\"; %s lists them", quoted(p, code),
			             "getmnt audit --list-rules");
	}
	return true;
}

/** Parse the conditions of ignore and severity, starting with word `from`. */
static bool parse_conditions(struct parser *p, struct audit_row *row, size_t from)
{
	static const char *const keys[] = {"target", "type", "owner", "until"};
	struct audit_glob **const globs[] = {&row->target, &row->type, &row->owner, NULL};
	for (size_t i = from; i < p->nwords; ++i) {
		const char *word = p->words[i], *value = strchr(word, '=');
		size_t k = 0;
		while (value && k < 4 && !word_is(word, (size_t)(value - word), keys[k]))
			++k;
		if (!value || k == 4)
			return wrong(p, "unknown word \"%s\"; conditions are target=, type=, "
			                "owner=, until=, and a blank in a path is \\040",
			             quoted(p, word));
		++value;
		if (globs[k] ? *globs[k] != NULL : row->until != AUDIT_FOREVER)
			return wrong(p, "%s= is given twice; write two lines", keys[k]);
		if (globs[k] && !(*globs[k] = make_glob(p, value)))
			return false;
		if (!globs[k] && (row->until = audit_day(value, strlen(value))) < 0)
			return wrong(p, "invalid date \"%s\"; write the last day as "
			                "until=YYYY-MM-DD",
			             quoted(p, value));
	}
	bool known = !row->owner;
	for (size_t i = 0; !known && audit_owners[i]; ++i)
		known = audit_glob_matches(row->owner, audit_owners[i]);
	return known || wrong(p, "owner= matches no owner; getmnt-audit(8) lists them");
}

/** Parse an "ignore" or "severity" statement. */
static bool parse_findings(struct parser *p, struct audit_row *row)
{
	bool severity = row->verb == AUDIT_SEVERITY;
	const char *level = p->words[1];
	if (p->nwords < 2u + severity)
		return wrong(p, "words are missing; write %s CODE[,CODE...] [target=GLOB] "
		                "[type=GLOB] [owner=GLOB] [until=DATE]",
		             severity ? "severity info|warning|critical" : "ignore");
	while (severity && row->severity <= AUDIT_CRITICAL
	       && strcmp(level, audit_severity_name(row->severity)) != 0)
		++row->severity;
	if (row->severity > AUDIT_CRITICAL)
		return wrong(p, "unknown severity \"%s\"; must be one of: info, warning, critical",
		             quoted(p, level));
	return parse_codes(p, row, p->words[1 + severity])
	       && parse_conditions(p, row, 2 + severity);
}

/** Parse the path of a "require" statement. */
static bool parse_path(struct parser *p, struct audit_row *row, const char *word)
{
	const char *path = decode(p, word);
	if (!path)
		return false;
	if (*path != '/')
		return wrong(p, "\"%s\" is not an absolute path; write the mount point from / on",
		             quoted(p, word));
	for (const char *at = path; *at; at += strcspn(at, "/")) {
		at += strspn(at, "/");
		if (word_in(at, strcspn(at, "/"), ". .."))
			return wrong(p, "\"%s\" has . or .. in it; write the mount point without",
			             quoted(p, word));
	}
	row->path = fstab_normal(p->arena, path);
	return true;
}

static bool parse_require(struct parser *p, struct audit_row *row)
{
	static const char hidden[] = "defaults auto noauto nomand fail nofail user nouser users "
	                             "owner group _netdev bind rbind remount loop strictatime";
	static const char flags[] =
	    "nosuid nodev noexec nosymfollow noatime nodiratime relatime lazytime dirsync "
	    "mountpoint shared private slave unbindable";
	if (p->nwords != 3)
		return wrong(p, "require takes two words; write require PATH OPTION[,OPTION...], a "
		                "blank in the path as \\040");
	if (!parse_path(p, row, p->words[1]))
		return false;
	row->options = p->words[2];
	const char *list = row->options;
	size_t len;
	if (*list == ',' || list[strlen(list) - 1] == ',' || strstr(list, ",,"))
		return wrong(p, "an empty option: remove the comma");
	row->nopts = opts_read(list, opt_next_shown, p->arena, &row->opts);
	for (uint32_t i = 0; i < row->nopts; ++i) {
		const char *o = row->opts[i].text, *near = NULL;
		size_t n = row->opts[i].n;
		unsigned best = 2;
		if (word_in(o, n, hidden) || row->opts[i].is_x
		    || strcmp(row->opts[i].name, "comment") == 0)
			return wrong(p, "\"%s\" cannot be required: the kernel does not show it "
			                "for a mount", quoted(p, arena_textn(p->arena, o, n)));
		audit_nearest(flags, o, n, &best, &near, &len);
		if (near && best > 0)
			return wrong(p, "unknown option \"%s\"; did you mean \"%.*s\"?",
			             quoted(p, arena_textn(p->arena, o, n)), (int)len, near);
	}
	return true;
}

static const struct {
	const char *word;
	bool (*parse)(struct parser *p, struct audit_row *row);
} verbs[] = {
	[AUDIT_IGNORE] = {"ignore", parse_findings},
	[AUDIT_SEVERITY] = {"severity", parse_findings},
	[AUDIT_REQUIRE] = {"require", parse_require},
};

/* Lines. */

/** Split the line into p->words.
    @return false: the line has no word, or a problem was recorded. */
static bool cut(struct parser *p)
{
	p->nwords = 0;
	if (p->line == 1 && p->n >= 3 && memcmp(p->at, "\xef\xbb\xbf", 3) == 0)
		return wrong(p, "the file begins with a byte order mark; save it without one");
	if (p->n > AUDIT_LINE_MAX)
		return wrong(p, "the line is longer than %d bytes; write several", AUDIT_LINE_MAX);
	for (size_t i = 0; i < p->n; ++i) {
		unsigned char c = (unsigned char)p->at[i];
		if ((c < 0x20 && c != '\t') || c == 0x7f)
			return wrong(p, "control character at byte %zu; remove it, or write it in "
			                "a path as \\%03o",
			             i + 1, c);
	}
	char *rest = arena_strndup(p->arena, p->at, p->n);
	p->copy = rest;
	for (char *word; (word = strsep(&rest, " \t")) != NULL && *word != '#';) {
		if (!*word)
			continue;
		if (p->nwords == WORDS_MAX)
			return wrong(p, "too many words; write a blank in a path as \\040");
		p->words[p->nwords++] = word;
	}
	return p->nwords > 0;
}

static void parse_line(struct parser *p)
{
	struct audit_config *config = p->config;
	if (!cut(p))
		return;
	const char *verb = p->words[0], *last = p->words[p->nwords - 1];
	struct audit_row row = {
		.file = p->file, .line = p->line, .place = place_of(p), .until = AUDIT_FOREVER,
		.text = arena_textn(p->arena, p->at + (verb - p->copy),
		                    (size_t)(last + strlen(last) - verb))};
	size_t i = 0;
	while (i < sizeof(verbs) / sizeof(*verbs) && strcmp(verb, verbs[i].word) != 0)
		++i;
	if (i == sizeof(verbs) / sizeof(*verbs)) {
		wrong(p, "unknown statement \"%s\"; must be one of: ignore, severity, require",
		      quoted(p, verb));
	} else if (config->count == AUDIT_ROWS_MAX) {
		wrong(p, "more than %d statements; use patterns", AUDIT_ROWS_MAX);
	} else {
		row.verb = (enum audit_verb)i;
		if (verbs[i].parse(p, &row))
			ARENA_PUSH(p->arena, config->rows, config->count, row);
	}
}

int audit_config_parse(struct audit_config *config, const char *file, const char *text, size_t len)
{
	struct parser p = {.config = config, .arena = &config->arena};
	p.file = arena_text(p.arena, file);
	for (size_t at = 0; at < len && !p.arena->failed;) {
		const char *end = memchr(text + at, '\n', len - at);
		size_t n = end ? (size_t)(end - text) - at : len - at;
		++p.line;
		p.at = text + at;
		p.n = n && text[at + n - 1] == '\r' ? n - 1 : n;
		parse_line(&p);
		at += n + 1;
	}
	return arena_check(p.arena);
}

/* Using the configuration. */

static bool matches(const struct audit_glob *glob, const char *text)
{
	return !glob || (text && audit_glob_matches(glob, text));
}

int audit_config_apply(struct audit_report *report, struct audit_config *config, int64_t today)
{
	size_t left = 0;
	config->off = 0;
	for (size_t i = 0; i < config->count; ++i) {
		const struct audit_row *row = &config->rows[i];
		if (row->verb == AUDIT_IGNORE && !row->target && !row->type && !row->owner
		    && !audit_row_over(row, today))
			config->off |= row->codes;
	}
	for (size_t i = 0; i < report->count; ++i) {
		struct audit_finding *f = &report->findings[i];
		const struct audit_row *ignore = NULL;
		--report->of[f->severity];
		for (size_t k = 0; k < config->count; ++k) {
			const struct audit_row *row = &config->rows[k];
			if (row->verb == AUDIT_REQUIRE || !audit_set_has(row->codes, f->code)
			    || audit_row_over(row, today) || !matches(row->target, f->target)
			    || !matches(row->type, f->fstype)
			    || !matches(row->owner, audit_owner_name(f->owner)))
				continue;
			if (row->verb == AUDIT_SEVERITY)
				f->severity = row->severity;
			else if (!ignore)
				ignore = row;
		}
		if (!ignore) {
			++report->of[f->severity];
			report->findings[left++] = *f;
			continue;
		}
		++report->silenced;
		ARENA_PUSH(&config->arena, config->silenced, config->nsilenced,
		           (struct audit_silenced){*f, ignore});
	}
	report->count = left;
	return arena_check(&config->arena);
}
