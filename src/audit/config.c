/* SPDX-License-Identifier: MIT */
/*
 * The language of the configuration: a line of text becomes a row, or a problem.
 *
 *     line --> words, by blanks --> the verb's function --> row
 *
 * A word is kept as it stands until it is known what it is: words of the language, codes
 * and options are compared so; paths and globs are decoded, each in its way, since of a
 * glob an escaped `*` must stay one.
 */
#include "audit/config.h"

#include "audit/audit_impl.h"
#include "audit/owner.h"
#include "base/escape.h"
#include "base/secret.h"
#include "base/strbuf.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 8 };

/** A word, as it stands. */
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
	struct strbuf text;      /* for use in passing */
	bool failed;             /* ENOMEM */
};

void audit_config_init(struct audit_config *config)
{
	*config = (struct audit_config){.rules = ~UINT64_C(0)};
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

/** Tell what is wrong with the line.  @return false. */
__attribute__((format(printf, 2, 3)))
static bool wrong(struct parser *p, const char *format, ...)
{
	struct audit_config *config = p->config;
	if (config->nproblems++ >= AUDIT_PROBLEMS_MAX)
		return false;
	va_list args;
	struct strbuf text;
	strbuf_init(&text);
	va_start(args, format);
	strbuf_vprintf(&text, format, args);
	va_end(args);
	struct audit_problem *problem = NULL;
	if (!config->problems)
		config->problems = calloc(AUDIT_PROBLEMS_MAX, sizeof(*config->problems));
	if (config->problems)
		problem = &config->problems[config->nproblems - 1];
	if (problem)
		*problem = (struct audit_problem){p->file, p->line, arena_strndup(&config->arena, strbuf_str(&text), text.len)};
	p->failed |= text.failed || !problem || !problem->why;
	strbuf_destroy(&text);
	return false;
}

/* Words. */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool word_is(const struct word *word, const char *text)
{
	return word->n == strlen(text) && memcmp(word->at, text, word->n) == 0;
}

/** What stands behind a word's beginning, or NULL: it does not begin so. */
static const char *word_behind(const struct word *word, const char *head, size_t *n)
{
	size_t len = strlen(head);
	if (word->n < len || memcmp(word->at, head, len) != 0)
		return NULL;
	*n = word->n - len;
	return word->at + len;
}

/** Bytes of p->at as they may be told: without secrets.  @return a string of the configuration's. */
static const char *quoted(struct parser *p, const char *bytes, size_t n)
{
	bool open;
	struct strbuf word, out;
	if (p->config->nproblems >= AUDIT_PROBLEMS_MAX)
		return "";   /* it is not kept */
	strbuf_init(&word);
	strbuf_init(&out);
	if (n && (size_t)(bytes - p->at) >= secret_goes_on(p->at, p->n, &word, &open)) {
		strbuf_puts(&out, "***");
		n = 0;
	}
	strbuf_reset(&word);
	strbuf_add(&word, bytes, n);
	mask_word(strbuf_str(&word), &out);
	if (!word.failed && memchr(bytes, '\\', n)) {
		word.len = unescape_octal(word.data, word.data, word.len);
		word.data[word.len] = '\0';
		if (has_secret(strbuf_str(&word))) {
			strbuf_reset(&out);
			strbuf_puts(&out, "***");
		}
	}
	const char *text = arena_strndup(&p->config->arena, strbuf_str(&out), out.len);
	p->failed |= word.failed || out.failed || !text;
	strbuf_destroy(&word);
	strbuf_destroy(&out);
	return text ? text : "";
}

static const char *quoted_word(struct parser *p, const struct word *word)
{
	return quoted(p, word->at, word->n);
}

/** Cut a line into words.  @return whether it can be. */
static bool cut(struct parser *p, const char *line, size_t n)
{
	size_t at = 0;
	p->nwords = 0;
	for (;;) {
		while (at < n && is_blank(line[at]))
			++at;
		if (at == n || line[at] == '#')
			return true;
		size_t from = at;
		for (; at < n && !is_blank(line[at]); ++at) {
			if (line[at] == '"')
				return wrong(p, "there are no quotation marks here: write a blank as \\040, the mark itself as \\042");
			if (line[at] == '\\' && ++at == n)
				return wrong(p, "it ends in a backslash: a statement is one line; the backslash itself is \\\\");
		}
		if (p->nwords == WORDS_MAX)
			return wrong(p, "it has too many words: write a blank in a path as \\040");
		p->words[p->nwords++] = (struct word){line + from, at - from};
	}
}

static bool is_octal(char c)
{
	return c >= '0' && c <= '7';
}

/** Decode n bytes into p->text: \ooo is a byte, \x is x.
    @glob  For glob_compile(): what was escaped and would be a wildcard stays escaped.
    @return whether they are right. */
static bool decode(struct parser *p, const char *bytes, size_t n, bool glob)
{
	strbuf_reset(&p->text);
	for (size_t i = 0; i < n; ++i) {
		unsigned char c = (unsigned char)bytes[i];
		if (c != '\\') {
			strbuf_putc(&p->text, (char)c);
			continue;
		}
		c = (unsigned char)bytes[++i];   /* cut() has seen to it that there is one */
		if (c >= '0' && c <= '9') {
			if (n - i < 3 || c > '3' || !is_octal(bytes[i + 1]) || !is_octal(bytes[i + 2]))
				return wrong(p, "\"%s\": a backslash and digits are a byte as three octal digits, as \\040; the backslash itself is \\\\",
				             quoted(p, bytes, n));
			c = (unsigned char)((c - '0') << 6 | (bytes[i + 1] - '0') << 3 | (bytes[i + 2] - '0'));
			i += 2;
			if (c == 0)
				return wrong(p, "\"%s\": no path has a NUL in it", quoted(p, bytes, n));
		}
		if (glob && c < 0x80)
			strbuf_putc(&p->text, '\\');
		strbuf_putc(&p->text, (char)c);
	}
	p->failed |= p->text.failed;
	return !p->text.failed;
}

static const char *keep(struct parser *p, const char *bytes, size_t n)
{
	const char *copy = arena_strndup(&p->config->arena, bytes, n);
	p->failed |= !copy;
	return copy;
}

/** Room of the configuration's own. */
static void *room(struct parser *p, size_t size)
{
	void *memory = arena_alloc(&p->config->arena, size ? size : 1);
	p->failed |= !memory;
	return memory;
}

/** Make a glob of n bytes as they stand.  @return it, or NULL after a problem. */
static struct audit_glob *make_glob(struct parser *p, const char *bytes, size_t n, const char *what)
{
	if (n == 0) {
		wrong(p, "%s has no pattern: give one, as %s", what, strcmp(what, "ignore type") == 0 ? "tmpfs" : "/srv/*");
		return NULL;
	}
	if (!decode(p, bytes, n, true))
		return NULL;
	size_t sets = 0, beyond = 0, len = p->text.len;
	const char *text = strbuf_str(&p->text);
	for (size_t i = 0; i < len; ++i) {
		sets += text[i] == '[';
		beyond += (unsigned char)text[i] >= 0x80;
	}
	struct audit_glob *glob = room(p, sizeof(*glob));
	if (!glob)
		return NULL;
	*glob = (struct audit_glob){.pool = {
		.bytes = room(p, len + 1), .tokens = room(p, len * sizeof(uint32_t)),
		.sets = room(p, sets * sizeof(struct glob_set)), .ranges = room(p, beyond * sizeof(struct glob_range))}};
	struct pattern_error error;
	if (p->failed)
		return NULL;
	if (glob_compile(&glob->pool, text, 0, len, 0, &glob->glob, &error) != 0) {
		/* Of a whole string there is no more to it. */
		bool open = strncmp(error.why, "[ without its ]", 15) == 0;
		wrong(p, "\"%s\": %s", quoted(p, bytes, n), open ? "[ without its ]; \\[ is the character itself" : error.why);
		return NULL;
	}
	if (glob->glob.kind == GLOB_EXACT) {
		glob->exact = glob->pool.bytes + glob->glob.bytes;
	} else if (++p->config->wild > AUDIT_WILD_MAX) {
		wrong(p, "more than %d lines have wildcards: let fewer say more", AUDIT_WILD_MAX);
		return NULL;
	}
	return glob;
}

bool audit_glob_matches(const struct audit_glob *glob, const char *text)
{
	return glob->exact ? strcmp(glob->exact, text) == 0
	                   : glob_match(&glob->pool, &glob->glob, text, strlen(text), NULL);
}

/** The glob of mount points. */
static struct audit_glob *make_target(struct parser *p, const char *bytes, size_t n)
{
	struct audit_glob *glob = make_glob(p, bytes, n, "target");
	if (!glob)
		return NULL;
	/* What has an '=' is a swap space of an fstab, by its tag. */
	if (!strchr("/*?[\\", *bytes) && !memchr(bytes, '=', n)) {
		wrong(p, "\"%s\" is no mount point's: they begin with /; *%s takes what ends so", quoted(p, bytes, n), quoted(p, bytes, n));
		return NULL;
	}
	if (n > 1 && bytes[n - 1] == '/') {
		wrong(p, "\"%s\" is no mount point's: they end in no /; %s is the directory itself, %s* what is below it", quoted(p, bytes, n),
		      quoted(p, bytes, n - 1), quoted(p, bytes, n));
		return NULL;
	}
	return glob;
}

/* Dates. */

int64_t audit_day(const char *date, size_t n)
{
	static const char form[] = "0000-00-00";
	static const int before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365};
	if (n != sizeof(form) - 1)
		return -1;
	for (size_t i = 0; i < n; ++i) {
		bool digit = date[i] >= '0' && date[i] <= '9';
		if (form[i] == '-' ? date[i] != '-' : !digit)
			return -1;
	}
	int year = atoi(date), month = (date[5] - '0') * 10 + date[6] - '0', day = (date[8] - '0') * 10 + date[9] - '0';
	bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
	if (year < 1970 || month < 1 || month > 12 || day < 1
	    || day > before[month] - before[month - 1] + (leap && month == 2))
		return -1;
	int64_t y = year - 1;   /* whole years */
	int64_t days = y * 365 + y / 4 - y / 100 + y / 400 - 719162;
	return days + before[month - 1] + (leap && month > 2) + day - 1;
}

/** Take until=DATE.  @return whether it is right. */
static bool take_until(struct parser *p, struct audit_row *row, const char *date, size_t n)
{
	row->until = audit_day(date, n);
	if (row->until < 0)
		return wrong(p, "until=%s: no such day; write the last one on which the line has effect as YYYY-MM-DD", quoted(p, date, n));
	return true;
}

/* Statements. */

static bool parse_codes(struct parser *p, struct audit_row *row, const struct word *word)
{
	const char *at = word->at, *end = at + word->n;
	for (;;) {
		const char *comma = memchr(at, ',', (size_t)(end - at));
		size_t n = (size_t)((comma ? comma : end) - at);
		uint64_t found = audit_codes(at, n);
		if (!found)
			return wrong(p, "\"%s\": no such rule; getmnt audit --list-rules shows them", quoted(p, at, n));
		row->codes |= found;
		if (!comma)
			return true;
		at = comma + 1;
	}
}

/** rule CODE[,CODE...] [on|off] [severity=WORD] [target=GLOB] [until=DATE] */
static bool parse_rule(struct parser *p, struct audit_row *row)
{
	static const enum audit_severity severities[] = {AUDIT_INFO, AUDIT_WARNING, AUDIT_CRITICAL};
	row->verb = AUDIT_RULE;
	row->on = row->severity = -1;
	if (p->nwords < 2)
		return wrong(p, "rule: of which?  Name codes: rule DRIFT-OPTIONS off target=/srv");
	if (!parse_codes(p, row, &p->words[1]))
		return false;
	for (size_t i = 2; i < p->nwords; ++i) {
		const struct word *word = &p->words[i];
		const char *value;
		size_t n;
		bool twice = false;
		if (word_is(word, "on") || word_is(word, "off")) {
			twice = row->on >= 0;
			row->on = word->n == 2;
		} else if ((value = word_behind(word, "severity=", &n)) != NULL) {
			twice = row->severity >= 0;
			for (size_t k = 0; k < sizeof(severities) / sizeof(*severities); ++k) {
				const char *name = audit_severity_name(severities[k]);
				if (strlen(name) == n && memcmp(name, value, n) == 0)
					row->severity = (int)severities[k];
			}
			if (row->severity < 0)
				return wrong(p, "severity=%s: known are info, warning, critical", quoted(p, value, n));
		} else if ((value = word_behind(word, "target=", &n)) != NULL) {
			twice = row->glob;
			if (!twice && !(row->glob = make_target(p, value, n)))
				return false;
		} else if ((value = word_behind(word, "until=", &n)) != NULL) {
			twice = row->until != AUDIT_FOREVER;
			if (!take_until(p, row, value, n))
				return false;
		} else {
			return wrong(p, "rule: \"%s\": known are on, off, severity=, target=, until=; write a blank in a path as \\040",
			             quoted_word(p, word));
		}
		if (twice)
			return wrong(p, "rule: \"%s\": that is said twice; leave one", quoted_word(p, word));
	}
	if (row->on < 0 && row->severity < 0)
		return wrong(p, "rule: it says nothing: on, off or severity=info|warning|critical");
	return true;
}

/** ignore owner|type|target GLOB [until=DATE] */
static bool parse_ignore(struct parser *p, struct audit_row *row)
{
	const struct word *what = &p->words[1], *glob = &p->words[2];
	const char *value;
	size_t n;
	if (p->nwords < 3)
		return wrong(p, "ignore: what?  ignore owner, type or target, and a pattern: ignore target /srv/*");
	if (word_is(what, "target")) {
		row->verb = AUDIT_IGNORE_TARGET;
		row->glob = make_target(p, glob->at, glob->n);
	} else if (word_is(what, "type")) {
		row->verb = AUDIT_IGNORE_TYPE;
		row->glob = make_glob(p, glob->at, glob->n, "ignore type");
	} else if (word_is(what, "owner")) {
		row->verb = AUDIT_IGNORE_OWNER;
		row->glob = make_glob(p, glob->at, glob->n, "ignore owner");
		bool any = false;
		for (size_t i = 0; row->glob && audit_owners[i]; ++i)
			any |= audit_glob_matches(row->glob, audit_owners[i]);
		if (row->glob && !any)
			return wrong(p, "ignore owner: \"%s\": known are fstab, unit, gpt-auto, automount, initrd, api, session, "
			             "credentials, snap, container, udisks, user, zfs, nsfs, unknown", quoted_word(p, glob));
	} else {
		return wrong(p, "ignore: \"%s\": known are owner, type, target", quoted_word(p, what));
	}
	if (!row->glob)
		return false;
	if (p->nwords > 3 && (value = word_behind(&p->words[3], "until=", &n)) != NULL && !take_until(p, row, value, n))
		return false;
	size_t last = row->until != AUDIT_FOREVER ? 4 : 3;
	if (p->nwords > last)
		return wrong(p, "ignore: \"%s\": behind the pattern stands until=YYYY-MM-DD or nothing; write a blank in a path as \\040",
		             quoted_word(p, &p->words[last]));
	return true;
}

/** Take the path of a policy: words in all, of which it is the second. */
static bool parse_path(struct parser *p, struct audit_row *row, size_t words, const char *form)
{
	const struct word *word = &p->words[1];
	if (p->nwords < words)
		return wrong(p, "it lacks a word: %s", form);
	if (p->nwords > words)
		return wrong(p, "\"%s\" is a word too many: %s; write a blank in a path as \\040", quoted_word(p, &p->words[words]), form);
	if (!decode(p, word->at, word->n, false))
		return false;
	const char *path = strbuf_str(&p->text);
	char *normal = room(p, p->text.len + 2);
	size_t len = 0;
	if (!normal)
		return false;
	if (*path != '/')
		return wrong(p, "\"%s\" is no absolute path: give the mount point from / on", quoted_word(p, word));
	for (size_t n; *path; path += n) {
		path += strspn(path, "/");
		n = strcspn(path, "/");
		if ((n == 1 && *path == '.') || (n == 2 && memcmp(path, "..", 2) == 0))
			return wrong(p, "\"%s\": a mount point has no . or .. in it", quoted_word(p, word));
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

const char *audit_next_option(const char **list, size_t *n)
{
	const char *at = *list;
	if (!at)
		return NULL;
	*n = strcspn(at, ",");
	*list = at[*n] ? at + *n + 1 : NULL;
	return at;
}

/** What the kernel shows, and what says that it does not. */
static const struct {
	const char *shown, *other;
} pairs[] = {
	{"ro", "rw"}, {"noexec", "exec"}, {"nosuid", "suid"}, {"nodev", "dev"}, {"noatime", "atime"}, {"relatime", "norelatime"},
	{"nodiratime", "diratime"}, {"nosymfollow", "symfollow"}, {"sync", "async"}, {"mand", "nomand"}, {"lazytime", "nolazytime"},
};

static bool same(const char *bytes, size_t n, const char *text)
{
	return strlen(text) == n && memcmp(bytes, text, n) == 0;
}

const char *audit_option_key(const char *option, size_t n, size_t *len, bool *shown)
{
	*shown = true;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); ++i) {
		*shown = !same(option, n, pairs[i].other);
		if (!*shown || same(option, n, pairs[i].shown)) {
			*len = strlen(pairs[i].shown);
			return pairs[i].shown;
		}
	}
	const char *equals = memchr(option, '=', n);
	*len = equals ? (size_t)(equals - option) : n;
	return option;
}

/** Why an option can be required of no mount, or NULL. */
static const char *option_fault(const char *option, size_t n)
{
	static const char *const none[] = {
		"defaults", "auto", "noauto", "fail", "nofail", "user", "nouser", "users", "owner", "group", "_netdev", "bind", "rbind",
		"remount", "loop", "strictatime",
	};
	static const char *const heads[] = {"x-", "X-", "comment="};
	if (n == 0)
		return "nothing stands between two commas";
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); ++i) {
		if (same(option, n, none[i]))
			return "the kernel shows it of no mount, so that it cannot be required";
	}
	for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); ++i) {
		if (n >= strlen(heads[i]) && memcmp(option, heads[i], strlen(heads[i])) == 0)
			return "it is for the fstab alone: the kernel shows it of no mount";
	}
	return NULL;
}

/** What every mount may be asked for, nearly which an option is, and which it is not; or NULL. */
static const char *nearly(const char *option, size_t n, size_t *len)
{
	static const char flags[] = "nosuid nodev noexec nosymfollow noatime nodiratime relatime lazytime dirsync";
	const char *found = NULL;
	unsigned best = 2;
	audit_nearest(flags, option, n, &best, &found, len);
	return best > 0 ? found : NULL;
}

/** require PATH OPT[,OPT...] */
static bool parse_require(struct parser *p, struct audit_row *row)
{
	row->verb = AUDIT_REQUIRE;
	if (!parse_path(p, row, 3, "require PATH OPTION[,OPTION...], as require /tmp nosuid,nodev"))
		return false;
	row->options = keep(p, p->words[2].at, p->words[2].n);
	struct map64 keys;
	map64_init(&keys);
	const char *list = row->options, *why = NULL, *o;
	size_t n = 0, len;
	bool right = true, shown;
	for (uint32_t i = 0; right && (o = audit_next_option(&list, &n)) != NULL; ++i) {
		why = option_fault(o, n);
		right = !why || wrong(p, "require: \"%s\": %s", quoted(p, p->words[2].at + (o - row->options), n), why);
		const char *meant = right ? nearly(o, n, &len) : NULL;
		if (meant)
			right = wrong(p, "require: \"%s\": there is no such option: is %.*s meant?",
			              quoted(p, p->words[2].at + (o - row->options), n), (int)len, meant);
		const char *key = audit_option_key(o, n, &len, &shown);
		uint32_t other = right ? map64_put(&keys, map64_bytes(MAP64_BYTES, key, len), i) : i;
		p->failed |= other == MAP64_NONE;
		if (other != i && other != MAP64_NONE)
			right = wrong(p, "require: \"%s\": it stands here twice, or contradicts another: leave one",
			              quoted(p, p->words[2].at + (o - row->options), n));
	}
	map64_destroy(&keys);
	return right && !p->failed;
}

/** separate PATH */
static bool parse_separate(struct parser *p, struct audit_row *row)
{
	row->verb = AUDIT_SEPARATE;
	return parse_path(p, row, 2, "separate PATH, as separate /var");
}

/** propagation PATH shared|private|slave|unbindable */
static bool parse_propagation(struct parser *p, struct audit_row *row)
{
	static const struct {
		const char *name;
		unsigned is;
	} kinds[] = {{"shared", MP_SHARED}, {"private", MP_PRIVATE}, {"slave", MP_SLAVE}, {"unbindable", MP_UNBINDABLE}};
	row->verb = AUDIT_PROPAGATION;
	if (!parse_path(p, row, 3, "propagation PATH shared|private|slave|unbindable"))
		return false;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); ++i) {
		if (word_is(&p->words[2], kinds[i].name)) {
			row->propagation = kinds[i].is;
			return true;
		}
	}
	return wrong(p, "propagation: \"%s\": known are shared, private, slave, unbindable", quoted_word(p, &p->words[2]));
}

static const struct {
	const char *word;
	bool (*parse)(struct parser *p, struct audit_row *row);
} verbs[] = {
	{"rule", parse_rule}, {"ignore", parse_ignore}, {"require", parse_require}, {"separate", parse_separate},
	{"propagation", parse_propagation},
};

/** Add a row.  @return it, or NULL. */
static struct audit_row *add_row(struct parser *p)
{
	struct audit_config *config = p->config;
	if (config->count == config->room) {
		size_t more = config->room ? 2 * config->room : 16;
		struct audit_row *rows = reallocarray(config->rows, more, sizeof(*rows));
		if (!rows)
			return NULL;
		config->rows = rows;
		config->room = more;
	}
	struct audit_row *row = &config->rows[config->count];
	*row = (struct audit_row){.file = p->file, .line = p->line, .until = AUDIT_FOREVER, .on = -1, .severity = -1};
	return row;
}

/** What bytes of a line make it none that a person wrote; NULL: nothing. */
static bool check_bytes(struct parser *p, const char *line, size_t n)
{
	if (p->line == 1 && n >= 3 && memcmp(line, "\xef\xbb\xbf", 3) == 0)
		return wrong(p, "it begins with a byte order mark: save it as plain text, without one");
	if (n > AUDIT_LINE_MAX)
		return wrong(p, "the line is longer than %d bytes: make more of it", AUDIT_LINE_MAX);
	for (size_t i = 0; i < n; ++i) {
		unsigned char c = (unsigned char)line[i];
		if (c == 0)
			return wrong(p, "there is a NUL in it: the file is damaged, or no text");
		if ((c < 0x20 && c != '\t') || c == 0x7f)
			return wrong(p, "there is a control character in it, of byte %u: take it away, or in a path write \\%03o", i ? (unsigned)i + 1 : 1u, c);
	}
	return true;
}

static void parse_line(struct parser *p, const char *line, size_t n)
{
	p->at = line;
	p->n = n;
	if (!check_bytes(p, line, n) || !cut(p, line, n) || p->nwords == 0)
		return;
	const struct word *verb = &p->words[0], *last = &p->words[p->nwords - 1];
	struct audit_row *row = add_row(p);
	if (!row) {
		p->failed = true;
		return;
	}
	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); ++i) {
		if (!word_is(verb, verbs[i].word))
			continue;
		row->text = keep(p, verb->at, (size_t)(last->at + last->n - verb->at));
		p->config->count += verbs[i].parse(p, row) && !p->failed;
		return;
	}
	wrong(p, "\"%s\": a line begins with rule, ignore, require, separate or propagation; a comment with #", quoted_word(p, verb));
}

int audit_config_parse(struct audit_config *config, const char *file, const char *text, size_t len)
{
	struct parser p = {.config = config};
	strbuf_init(&p.text);
	p.file = keep(&p, file, strlen(file));
	for (size_t at = 0; at < len && !p.failed;) {
		const char *end = memchr(text + at, '\n', len - at);
		size_t n = end ? (size_t)(end - text) - at : len - at;
		++p.line;
		parse_line(&p, text + at, n && text[at + n - 1] == '\r' ? n - 1 : n);
		at += n + 1;
	}
	strbuf_destroy(&p.text);
	if (p.failed)
		errno = ENOMEM;
	return p.failed ? -1 : 0;
}
