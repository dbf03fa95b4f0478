/* SPDX-License-Identifier: MIT */
/*
 * The language of the configuration.
 *
 *     ignore CODE[,CODE...] [target=GLOB] [type=GLOB] [owner=GLOB] [until=DATE]
 *     severity LEVEL CODE[,CODE...] [target=GLOB] [type=GLOB] [owner=GLOB] [until=DATE]
 *     require PATH OPTION[,OPTION...]
 *
 * Words are separated by blanks; in paths and patterns \ooo is a byte, as in fstab.
 */
#include "audit/config.h"

#include "audit/audit_impl.h"
#include "audit/owner.h"
#include "base/array.h"
#include "base/escape.h"
#include "base/secret.h"
#include "base/words.h"
#include "mountopts/optlist.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WORDS_MAX = 8 };

/** A word, as it is written. */
struct word {
	const char *at;
	size_t n;
};

struct parser {
	struct audit_config *config;
	const char *file;
	uint32_t line;
	const char *at;          /* the line, of n bytes */
	size_t n;
	struct word words[WORDS_MAX + 1];
	size_t nwords;
	bool failed;             /* ENOMEM */
};

void audit_config_init(struct audit_config *config)
{
	*config = (struct audit_config){.rules = audit_set_of(0)};
	arena_init(&config->arena);
}

void audit_config_destroy(struct audit_config *config)
{
	free(config->rows);
	free(config->problems);
	free(config->silenced);
	arena_destroy(&config->arena);
	audit_config_init(config);
}

/** Note a problem of the line.  @return false. */
__attribute__((format(printf, 2, 3)))
static bool wrong(struct parser *p, const char *format, ...)
{
	struct audit_config *config = p->config;
	if (config->nproblems++ >= AUDIT_PROBLEMS_MAX)
		return false;
	va_list args;
	va_start(args, format);
	const char *why = arena_vprintf(&config->arena, format, args);
	va_end(args);
	if (!config->problems)
		config->problems = calloc(AUDIT_PROBLEMS_MAX, sizeof(*config->problems));
	struct audit_problem *problem = config->problems ? &config->problems[config->nproblems - 1]
	                                                 : NULL;
	if (problem)
		*problem = (struct audit_problem){p->file, p->line, why};
	p->failed |= !problem || !why;
	return false;
}

/** Bytes of the line for a message, without secrets.  @return a string of the configuration's. */
static const char *quoted(struct parser *p, const char *bytes, size_t n)
{
	bool open;
	struct strbuf word, out;
	if (p->config->nproblems >= AUDIT_PROBLEMS_MAX)
		return "";   /* the message is not kept */
	strbuf_init(&word);
	strbuf_init(&out);
	bool secret = n && (size_t)(bytes - p->at) >= secret_goes_on(p->at, p->n, &word, &open);
	strbuf_reset(&word);
	strbuf_add(&word, bytes, secret ? 0 : n);
	mask_word(strbuf_str(&word), &out);
	if (!word.failed && word.len) {
		word.len = unescape_octal(word.data, word.data, word.len);
		word.data[word.len] = '\0';
		secret |= has_secret(strbuf_str(&word)) && memchr(bytes, '\\', n);
	}
	const char *text = secret ? "***"
	                          : arena_strndup(&p->config->arena, strbuf_str(&out), out.len);
	p->failed |= word.failed || out.failed || !text;
	strbuf_destroy(&word);
	strbuf_destroy(&out);
	return text ? text : "";
}

static const char *quoted_word(struct parser *p, const struct word *word)
{
	return quoted(p, word->at, word->n);
}

/** Memory of the configuration's. */
static void *room(struct parser *p, size_t size)
{
	void *memory = arena_alloc(&p->config->arena, size ? size : 1);
	p->failed |= !memory;
	return memory;
}

/** Copy n bytes, with \ooo decoded.  @return the copy; NULL after a problem. */
static char *decode(struct parser *p, const char *bytes, size_t n)
{
	char *copy = arena_strndup(&p->config->arena, bytes, n);
	p->failed |= !copy;
	if (!copy)
		return NULL;
	size_t len = unescape_octal(copy, copy, n);
	copy[len] = '\0';
	if (strlen(copy) == len)
		return copy;
	wrong(p, "\"%s\" contains a NUL byte", quoted(p, bytes, n));
	return NULL;
}

/** Compile a pattern.  @return it; NULL after a problem. */
static struct audit_glob *make_glob(struct parser *p, const char *bytes, size_t n)
{
	size_t sets = 0, beyond = 0, len = 0;
	if (n == 0) {
		wrong(p, "an empty pattern; write one, as /srv/*");
		return NULL;
	}
	const char *plain = decode(p, bytes, n);
	char *text = plain ? room(p, 2 * strlen(plain) + 1) : NULL;
	if (!text)
		return NULL;
	for (const char *at = plain; *at; ++at) {
		if (*at == '\\')
			text[len++] = '\\';   /* a byte like any other */
		text[len++] = *at;
		sets += *at == '[';
		beyond += (unsigned char)*at >= 0x80;
	}
	struct audit_glob *glob = room(p, sizeof(*glob));
	struct glob_pool pool = {
		.bytes = room(p, len + 1), .tokens = room(p, len * sizeof(uint32_t)),
		.sets = room(p, sets * sizeof(struct glob_set)), .ranges = room(p,
		beyond * sizeof(struct glob_range)),
	};
	struct pattern_error error;
	if (p->failed)
		return NULL;
	*glob = (struct audit_glob){.pool = pool};
	if (glob_compile(&glob->pool, text, 0, len, 0, &glob->glob, &error) != 0) {
		wrong(p, "invalid pattern \"%s\": %s", quoted(p, bytes, n), error.why);
		return NULL;
	}
	if (glob->glob.kind == GLOB_EXACT)
		glob->exact = glob->pool.bytes + glob->glob.bytes;
	return glob;
}

int64_t audit_day(const char *date, size_t n)
{
	static const char form[] = "0000-00-00";
	char text[sizeof(form)] = "";
	struct tm tm = {0};
	if (n != sizeof(form) - 1)
		return -1;
	for (size_t i = 0; i < n; ++i) {
		bool digit = date[i] >= '0' && date[i] <= '9';
		if (form[i] == '-' ? date[i] != '-' : !digit)
			return -1;
		text[i] = date[i];
	}
	if (!strptime(text, "%Y-%m-%d", &tm))
		return -1;
	int day = tm.tm_mday;
	time_t seconds = timegm(&tm);
	/* A day that the month does not have is one of the next month. */
	return seconds < 0 || tm.tm_mday != day ? -1 : seconds / 86400;
}

/* Statements. */

static bool parse_codes(struct parser *p, struct audit_row *row, const struct word *word)
{
	for (const char *at = word->at, *end = at + word->n;; ++at) {
		const char *comma = memchr(at, ',', (size_t)(end - at));
		size_t n = (size_t)((comma ? comma : end) - at);
		if (!audit_codes(at, n, &row->codes))
			return wrong(p,
			             "unknown rule \"%s\"; getmnt audit --list-rules prints them",
			             quoted(p, at, n));
		if (!comma)
			return true;
		at = comma;
	}
}

/** The words that restrict ignore and severity, from a word on. */
static bool parse_conditions(struct parser *p, struct audit_row *row, size_t from)
{
	struct {
		const char *name;
		struct audit_glob **glob;
	} keys[] = {{"target", &row->target},
	            {"type", &row->type},
	            {"owner", &row->owner},
	            {"until", NULL}};
	enum { KEYS = sizeof(keys) / sizeof(*keys) };
	for (size_t i = from; i < p->nwords; ++i) {
		const struct word *word = &p->words[i];
		size_t name = opt_name(word->at, word->n), k = 0;
		while (k < KEYS && !word_is(word->at, name, keys[k].name))
			++k;
		if (k == KEYS || name == word->n)
			return wrong(
			    p,
			    "unknown word \"%s\"; conditions are target=, type=, owner=, until=, "
			    "and a blank in a path is \\040",
			    quoted_word(p, word));
		const char *value = word->at + name + 1;
		size_t n = word->n - name - 1;
		if (keys[k].glob ? *keys[k].glob != NULL : row->until != AUDIT_FOREVER)
			return wrong(p, "%s= is given twice; write two lines", keys[k].name);
		if (keys[k].glob) {
			*keys[k].glob = make_glob(p, value, n);
			if (!*keys[k].glob)
				return false;
		} else {
			row->until = audit_day(value, n);
		}
		if (row->until < 0)
			return wrong(p,
			             "invalid date \"%s\"; write the last day as until=YYYY-MM-DD",
			             quoted(p, value, n));
	}
	bool known = !row->owner;
	for (size_t i = 0; !known && audit_owners[i]; ++i)
		known = audit_glob_matches(row->owner, audit_owners[i]);
	return known || wrong(p, "owner= matches no owner; getmnt-audit(8) lists them");
}

static bool parse_ignore(struct parser *p, struct audit_row *row)
{
	if (p->nwords < 2)
		return wrong(
		    p,
		    "a code is missing; write ignore CODE[,CODE...] [target=GLOB] [type=GLOB] "
		    "[owner=GLOB] [until=DATE]");
	return parse_codes(p, row, &p->words[1]) && parse_conditions(p, row, 2);
}

static bool parse_severity(struct parser *p, struct audit_row *row)
{
	int level = AUDIT_INFO;
	if (p->nwords < 3)
		return wrong(
		    p,
		    "words are missing; write severity info|warning|critical CODE[,CODE...] "
		    "[target=GLOB] ...");
	while (level <= AUDIT_CRITICAL
	       && !word_is(p->words[1].at, p->words[1].n,
	                   audit_severity_name((enum audit_severity)level)))
		++level;
	if (level > AUDIT_CRITICAL)
		return wrong(p, "unknown severity \"%s\"; must be one of: info, warning, critical",
		             quoted_word(p, &p->words[1]));
	row->severity = (enum audit_severity)level;
	return parse_codes(p, row, &p->words[2]) && parse_conditions(p, row, 3);
}

/** Take the path of a requirement. */
static bool parse_path(struct parser *p, struct audit_row *row, const struct word *word)
{
	const char *path = decode(p, word->at, word->n);
	char *normal = path ? room(p, strlen(path) + 2) : NULL;
	size_t len = 0;
	if (!normal)
		return false;
	if (*path != '/')
		return wrong(p, "\"%s\" is not an absolute path; write the mount point from / on",
		             quoted_word(p, word));
	for (size_t n; *path; path += n) {
		path += strspn(path, "/");
		n = strcspn(path, "/");
		if (word_is(path, n, ".") || word_is(path, n, ".."))
			return wrong(p, "\"%s\" has . or .. in it; write the mount point without",
			             quoted_word(p, word));
		if (n > 0) {
			normal[len++] = '/';
			memcpy(normal + len, path, n);
			len += n;
		}
	}
	if (len == 0)
		normal[len++] = '/';
	normal[len] = '\0';
	row->path = normal;
	return true;
}

/** Whether the kernel shows an option for no mount, so that it cannot be required. */
static bool is_hidden(const char *option, size_t n)
{
	static const char names[] = "defaults auto noauto nomand fail nofail user nouser users "
	                            "owner group _netdev bind rbind "
	                            "remount loop strictatime";
	return word_in(option, n, names) || opt_is_x(option, n)
	       || word_is(option, opt_name(option, n), "comment");
}

static bool parse_require(struct parser *p, struct audit_row *row)
{
	static const char flags[] =
	    "nosuid nodev noexec nosymfollow noatime nodiratime relatime lazytime dirsync "
	    "mountpoint shared private slave unbindable";
	if (p->nwords != 3)
		return wrong(
		    p,
		    "require takes two words; write require PATH OPTION[,OPTION...], a blank in "
		    "the path as \\040");
	const struct word *options = &p->words[2];
	row->options = arena_strndup(&p->config->arena, options->at, options->n);
	p->failed |= !row->options;
	if (p->failed || !parse_path(p, row, &p->words[1]))
		return false;
	const char *list = row->options;
	size_t n, len;
	if (*list == ',' || list[options->n - 1] == ',' || strstr(list, ",,"))
		return wrong(p, "an empty option: remove the comma");
	for (const char *o; (o = opt_next_shown(&list, &n)) != NULL;) {
		const char *as_written = options->at + (o - row->options), *near = NULL;
		unsigned best = 2;
		if (is_hidden(o, n))
			return wrong(
			    p, "\"%s\" cannot be required: the kernel does not show it for a mount",
			    quoted(p, as_written, n));
		audit_nearest(flags, o, n, &best, &near, &len);
		if (near && best > 0)
			return wrong(p, "unknown option \"%s\"; did you mean \"%.*s\"?",
			             quoted(p, as_written, n), (int)len, near);
	}
	return true;
}

static const struct {
	const char *word;
	enum audit_verb verb;
	bool (*parse)(struct parser *p, struct audit_row *row);
} verbs[] = {
	{"ignore", AUDIT_IGNORE, parse_ignore}, {"severity", AUDIT_SEVERITY, parse_severity},
	 {"require", AUDIT_REQUIRE, parse_require},
};

/* Lines. */

/** Cut a line into words.  @return whether there is one; false also after a problem. */
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
			return wrong(
			    p,
			    "control character at byte %zu; remove it, or write it in a path as "
			    "\\%03o",
			    i + 1, c);
	}
	for (size_t at = 0; at < p->n;) {
		size_t from = at;
		while (at < p->n && p->at[at] != ' ' && p->at[at] != '\t')
			++at;
		if (at == from) {
			++at;
			continue;
		}
		if (p->at[from] == '#')
			break;
		if (p->nwords == WORDS_MAX)
			return wrong(p, "too many words; write a blank in a path as \\040");
		p->words[p->nwords++] = (struct word){p->at + from, at - from};
	}
	return p->nwords > 0;
}

static void parse_line(struct parser *p)
{
	struct audit_config *config = p->config;
	if (!cut(p))
		return;
	if (!ARRAY_ROOM(config->rows, config->count, &config->room)) {
		p->failed = true;
		return;
	}
	const struct word *verb = &p->words[0], *last = &p->words[p->nwords - 1];
	struct audit_row *row = &config->rows[config->count];
	*row = (struct audit_row){.file = p->file, .line = p->line, .until = AUDIT_FOREVER};
	row->text = arena_strndup(&config->arena, verb->at,
	                          (size_t)(last->at + last->n - verb->at));
	p->failed |= !row->text;
	size_t i = 0;
	while (i < sizeof(verbs) / sizeof(*verbs) && !word_is(verb->at, verb->n, verbs[i].word))
		++i;
	if (i == sizeof(verbs) / sizeof(*verbs)) {
		wrong(p, "unknown statement \"%s\"; must be one of: ignore, severity, require",
		      quoted_word(p, verb));
	} else if (config->count == AUDIT_ROWS_MAX) {
		wrong(p, "more than %d statements; use patterns", AUDIT_ROWS_MAX);
	} else {
		row->verb = verbs[i].verb;
		config->count += verbs[i].parse(p, row) && !p->failed;
	}
}

int audit_config_parse(struct audit_config *config, const char *file, const char *text, size_t len)
{
	struct parser p = {.config = config};
	p.file = arena_strndup(&config->arena, file, strlen(file));
	p.failed = !p.file;
	for (size_t at = 0; at < len && !p.failed;) {
		const char *end = memchr(text + at, '\n', len - at);
		size_t n = end ? (size_t)(end - text) - at : len - at;
		++p.line;
		p.at = text + at;
		p.n = n && text[at + n - 1] == '\r' ? n - 1 : n;
		parse_line(&p);
		at += n + 1;
	}
	if (p.failed)
		errno = ENOMEM;
	return p.failed ? -1 : 0;
}
