/* SPDX-License-Identifier: MIT */
#include "cmd/search/advice.h"

#include "base/command.h"
#include "base/strbuf.h"
#include "cmd/cmd.h"
#include "os/file.h"
#include "os/os.h"
#include "path/resolve.h"
#include "select/query.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATHS_MOST = 3 };          /* number of paths in a suggested command line */

/** Whether an argument is a test, action or operator of find(1), such as -name.  A dash and a
    single letter are an option of search. */
static bool is_find(const char *arg)
{
	return arg[0] == '-' && arg[1] && arg[1] != '-' && arg[2] && query_knows(arg + 1);
}

/** Whether search has a long option with a name. */
static bool is_option(const struct option_table *table, const char *name)
{
	for (size_t i = 0; i < table->count; ++i) {
		const struct option_row *row = &table->rows[i];
		if (row->name && strcmp(row->name, name) == 0 && row->how != OPT_REFUSED)
			return true;
	}
	return false;
}

/** Append words, each after a blank. */
static void put_words(struct strbuf *out, char **words, int n)
{
	command_more(out, (const char *const *)words, n > 0 ? (size_t)n : 0);
}

/** Whether `arg` is an option that takes the next word as its argument: --where X, -e X. */
static bool takes_next(const struct option_table *table, const char *arg)
{
	const char *value;
	size_t count;
	const struct option_row *row = option_find(table, arg, &value, &count);
	for (size_t i = 0; !row && arg[0] == '-' && arg[1] && !arg[2] && i < table->count; ++i) {
		if (table->rows[i].letter == arg[1])
			row = &table->rows[i];
	}
	return row && row->argument && !option_is_optional(row) && !value;
}

int advice_find(const struct option_table *table, int argc, char **argv)
{
	int word = 1;
	while (word < argc && strcmp(argv[word], "--") != 0 && !is_find(argv[word]))
		word += 1 + takes_next(table, argv[word]);
	if (word >= argc || !is_find(argv[word]))
		return 0;
	/* In find, paths come first.  So if the first argument has wildcards, it is a pattern of
	   search, and a later word such as -type is a misspelled long option. */
	bool pattern = word > 1 && *argv[1] != '-' && strpbrk(argv[1], "*?[");
	if (pattern && is_option(table, argv[word] + 1))
		return usage_error("search", "unknown option \"%s\"; type: -%s", argv[word],
		                   argv[word]);
	struct strbuf line = {0};
	command_words(&line, "getmnt", "find", NULL);
	bool last = word == 1 && argc > 2 && *argv[argc - 1] != '-' && !is_find(argv[argc - 2]);
	if (pattern) {
		put_words(&line, argv + 2, word - 2);
		strbuf_puts(&line, word == 2 ? " ." : "");
		strbuf_puts(&line, strchr(argv[1], '/') ? " -path" : " -name");
		put_words(&line, argv + 1, 1);
		put_words(&line, argv + word, argc - word);
	} else {
		/* If the last word is a path (`last`), put it first, as find requires. */
		put_words(&line, argv + argc - 1, last);
		put_words(&line, argv + 1, argc - 1 - last);
	}
	int status = usage_error("search",
	                         "\"%s\" is a word of find's language; type: %s",
	                         argv[word], strbuf_str(&line));
	strbuf_destroy(&line);
	return status;
}

/** Append "getmnt search" and the options of the command line. */
static void put_command(struct strbuf *out, const struct advice *advice)
{
	command_words(out, "getmnt", "search", NULL);
	command_more(out, (const char *const *)advice->options, advice->noptions);
}

/** Append " PATH" for each of the first PATHS_MOST paths; nothing if the current directory is
    searched. */
static void put_paths(struct strbuf *out, const struct advice *advice)
{
	for (size_t i = 0; i < advice->npaths && i < PATHS_MOST; ++i) {
		/* Write "./-NAME": a second "--" before the path would be an operand. */
		struct strbuf path = {0};
		strbuf_printf(&path, "%s%s", *advice->paths[i] == '-' ? "./" : "",
		              advice->paths[i]);
		command_operand(out, strbuf_str(&path));
		strbuf_destroy(&path);
	}
	strbuf_puts(out, advice->npaths > PATHS_MOST ? " ..." : "");
}

/** Open a name, unless the object is on a mount that can block: for path_open_below(). */
static int open_local(void *os, int dirfd, const char *name)
{
	return os_open_entry(os, dirfd, name, O_PATH, ENTRY_LOCAL);
}

/** Whether a file or directory exists; false if the test could block. */
static bool exists(const char *path, int flags)
{
	struct os os;
	os_init(&os, secure_getenv("GETMNT_DISABLE"));
	int fd = os_openat2(&os, AT_FDCWD, path, O_PATH | flags, RESOLVE_CACHED);
	bool found = fd >= 0;
	if (!found && (errno == ENOSYS || errno == EINVAL)) {   /* before Linux 5.12 */
		fd = path_open_below(&os, AT_FDCWD, path, open_local, &os);
		found = fd >= 0 && (!(flags & O_DIRECTORY)
		                    || os_file_type(&os, fd, NULL, NULL) == S_IFDIR);
	}
	os_close(&os, fd);
	return found;
}

/** A pattern without the components that cannot match. */
struct cleaned {
	struct strbuf text;          /* "" : nothing remains */
	const char *why;             /* why the pattern cannot match */
	size_t up;                   /* number of ".." components by which the pattern leaves
	                                PATH */
	bool is_dir;                 /* the pattern ended in a slash */
};

/** Remove the components "", "." and ".." from a pattern without alternatives. */
static void clean(struct cleaned *cleaned, const char *pattern)
{
	struct strbuf *text = &cleaned->text;
	bool anchored = *pattern == '/' || strncmp(pattern, "./", 2) == 0
	                || strncmp(pattern, "../", 3) == 0;
	const char *at = pattern + (*pattern == '/');
	for (size_t n;; at += n + 1) {
		n = strcspn(at, "/");
		bool up = n == 2 && at[0] == '.' && at[1] == '.';
		const char *why = up ? "no name is \"..\""
		                  : n == 1 && *at == '.' ? "no name is \".\""
		                  : n > 0 ? NULL
		                  : !pattern[1] ? "it contains no name"
		                  : !at[0] ? "it ends in a slash" : "it has an empty component";
		cleaned->why = cleaned->why ? cleaned->why : why;
		if (up && text->len > 0) {
			const char *slash = strrchr(text->data, '/');
			text->data[text->len = slash ? (size_t)(slash - text->data) : 0] = '\0';
		} else if (up) {
			++cleaned->up;
		} else if (!why) {
			strbuf_puts(text, anchored || text->len > 0 ? "/" : "");
			strbuf_add(text, at, n);
		}
		if (!at[n])
			break;
	}
	cleaned->is_dir = *at == '\0' && text->len > 0;
}

/** Append the command line to type instead of the given command line, whose pattern can never
    match. */
static void put_instead(struct strbuf *out, const struct advice *advice, const char *pattern,
                        const struct cleaned *cleaned)
{
	const char *text = cleaned->text.len ? strbuf_str(&cleaned->text) : "*";
	bool alone = advice->operand == pattern && advice->here;
	strbuf_puts(out, "; type: ");
	put_command(out, advice);
	if (alone && (exists(pattern, O_DIRECTORY) || cleaned->text.len == 0)) {
		strbuf_puts(out, " '*'");
		command_operand(out, pattern);
		return;
	}
	if (cleaned->is_dir)
		strbuf_puts(out, " --type=d");
	command_operand(out, text);
	for (size_t i = 0; alone && i < cleaned->up; ++i)
		strbuf_puts(out, i ? "/.." : " ..");
	put_paths(out, advice);
}

int advice_never(const struct advice *advice, const char *title, const char *pattern)
{
	struct cleaned cleaned = {0};
	struct strbuf instead = {0};
	bool plain = !strpbrk(pattern, "|{\\");
	bool option = *title == '-';
	if (plain)
		clean(&cleaned, pattern);
	if (plain && cleaned.text.len > 0 && option) {
		strbuf_printf(&instead, "; type: %s", title);
		command_operand(&instead, strbuf_str(&cleaned.text));
	} else if (plain && !option && (advice->here || cleaned.up == 0)) {
		put_instead(&instead, advice, pattern, &cleaned);
	}
	int status = usage_error(title, "the pattern \"%s\" can never match: %s%s", pattern,
	                         cleaned.why ? cleaned.why
	                         : "each alternative has an empty component, \".\" or \"..\"",
	                         strbuf_str(&instead));
	strbuf_destroy(&cleaned.text);
	strbuf_destroy(&instead);
	return status;
}

/* Patterns that may have another meaning */

/** Whether a pattern is certainly a regular expression. */
static bool is_regex(const char *pattern)
{
	size_t n = strlen(pattern);
	if (n > 1 && (*pattern == '^' || (pattern[n - 1] == '$' && pattern[n - 2] != '\\')))
		return true;
	for (const char *at = pattern; *at; ++at) {
		if (*at == '\\' && at[1]) {
			if (strchr("dDwWsSbB", at[1]))
				return true;
			++at;
		} else if ((*at == '.' || *at == ']' || *at == ')') && at[1] == '+') {
			return true;
		} else if (at > pattern && isalnum((unsigned char)at[-1]) && *at == '.'
		           && at[1] == '*' && isalnum((unsigned char)at[2])) {
			return true;
		}
	}
	return false;
}

/** Append a pattern that matches the names that a regular expression matches.
    @return whether there is such a pattern. */
static bool put_as_pattern(struct strbuf *out, const char *regex)
{
	bool start = *regex == '^', end = false;
	const char *at = regex + start;
	if (!start && strncmp(at, ".*", 2) != 0)
		strbuf_putc(out, '*');
	for (; *at; ++at) {
		if (*at == '\\' && ispunct((unsigned char)at[1])) {
			++at;
			strbuf_puts(out, strchr("*?[\\|/{},", *at) ? "\\" : "");
			strbuf_putc(out, *at);
		} else if (*at == '.' && (at[1] == '*' || at[1] == '+')) {
			strbuf_puts(out, *++at == '*' ? "*" : "?*");
		} else if (*at == '.') {
			strbuf_putc(out, '?');
		} else if (*at == '[') {
			const char *close = strchr(at + 1 + (at[1] == '^') + 1, ']');
			if (!close)
				return false;
			strbuf_add(out, at, (size_t)(close - at) + 1);
			at = close;
		} else if (*at == '$' && !at[1]) {
			end = true;
		} else if (strchr("*+?(){}|\\^$/", *at)) {
			return false;
		} else {
			strbuf_putc(out, *at);
		}
	}
	if (!end && out->len > 0 && out->data[out->len - 1] != '*')
		strbuf_putc(out, '*');
	return !out->failed;
}

/** If the pattern is a regular expression, print a note.  @return whether a note was printed. */
static bool note_regex(const struct advice *advice)
{
	const char *regex = advice->operand;
	struct strbuf pattern = {0}, line = {0};
	if (!is_regex(regex))
		return false;
	if (put_as_pattern(&pattern, regex)) {
		put_command(&line, advice);
		command_operand(&line, strbuf_str(&pattern));
		put_paths(&line, advice);
		message("search", "nothing found; \"%s\" looks like a regular expression, which "
		        "as a pattern is: %s", regex, strbuf_str(&line));
	} else {
		command_words(&line, "getmnt", "find", NULL);
		put_paths(&line, advice);
		message("search", "nothing found; \"%s\" looks like a regular expression; those "
		        "match whole paths in: %s -regextype egrep -regex '.*/REGEX'",
		        regex, strbuf_str(&line));
	}
	strbuf_destroy(&pattern);
	strbuf_destroy(&line);
	return true;
}

/** If the pattern is the absolute path of an existing file, or begins with one of the searched
    paths, print a note.
    @return whether a note was printed. */
static bool note_path(const struct advice *advice)
{
	const char *pattern = advice->operand, *below = NULL;
	size_t n = 0;
	struct strbuf line = {0};
	for (size_t i = 0; !below && i < advice->npaths; ++i) {
		const char *path = advice->paths[i];
		n = strlen(path);
		while (n > 0 && path[n - 1] == '/')
			--n;
		if (n > 0 && *path == '/' && strncmp(pattern, path, n) == 0 && pattern[n] == '/')
			below = pattern + n;
	}
	bool is_dir = !below && advice->here && *pattern == '/'
	              && exists(pattern, O_DIRECTORY);
	bool is_file = !below && !is_dir && advice->here && *pattern == '/'
	               && exists(pattern, O_NOFOLLOW);
	const char *slash = strrchr(pattern, '/');
	if (!below && !is_dir && !is_file)
		return false;
	put_command(&line, advice);
	if (below) {
		command_operand(&line, below);
		put_paths(&line, advice);
	} else if (is_dir) {
		strbuf_puts(&line, " '*'");
		command_operand(&line, pattern);
	} else {
		size_t len = slash == pattern ? 1 : (size_t)(slash - pattern);
		char *dir = strndup(pattern, len);
		command_operand(&line, slash);
		command_operand(&line, dir ? dir : "");
		free(dir);
	}
	message("search", "nothing found; the pattern \"%s\" begins at PATH, not at the root "
	        "directory; type: %s", pattern, strbuf_str(&line));
	strbuf_destroy(&line);
	return true;
}

void advice_nothing(const struct advice *advice)
{
	if (advice->operand && !note_path(advice))
		note_regex(advice);
}
