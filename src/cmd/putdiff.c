/* SPDX-License-Identifier: MIT */
/* Show a file, or the changes of a file, with secrets masked. */
#include "cmd/putfile.h"

#include "base/escape.h"
#include "base/secret.h"
#include "cmd/cmd.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/** Text to show. */
struct shown {
	struct strbuf out, line;
	bool terminal;
	bool colored;            /* the text is a diff to be printed in colors */
	bool octal;              /* escape harmful bytes as \ooo, as in an fstab; else as \xhh */
	bool masked;             /* a secret was masked */
};

/** Print a diff in colors, like git. */
static void print_colored(const char *text)
{
	for (const char *line = text; *line;) {
		size_t n = strcspn(line, "\n");
		bool file = strncmp(line, "--- ", 4) == 0 || strncmp(line, "+++ ", 4) == 0;
		const char *color = file ? "\033[1m" : *line == '@' ? "\033[36m"
		                    : *line == '-' ? "\033[31m" : *line == '+' ? "\033[32m" : "";
		printf("%s%.*s%s\n", color, (int)n, line, *color ? "\033[m" : "");
		line += n + (line[n] == '\n');
	}
}

/** Free the text, after printing it if `prints` is set and memory did not run out.
    @return whether the text is complete. */
static bool shown_end(struct shown *s, bool prints)
{
	bool complete = !s->out.failed && !s->line.failed;
	if (complete && prints && s->colored)
		print_colored(strbuf_str(&s->out));
	else if (complete && prints)
		fwrite(strbuf_str(&s->out), 1, s->out.len, stdout);
	strbuf_destroy(&s->out);
	strbuf_destroy(&s->line);
	return complete;
}

/** Append a line without its newline: secrets masked, and escaped on a terminal. */
static void show_bytes(struct shown *s, const char *bytes, size_t n)
{
	strbuf_reset(&s->line);
	s->masked |= mask_line(bytes, n, &s->line);
	if (!s->terminal && !s->colored) {
		strbuf_add(&s->out, strbuf_str(&s->line), s->line.len);
		return;
	}
	/* Split the line at tabs, which are kept, and at NULs, at which strings end; escape each
	   piece. */
	for (size_t at = 0; at < s->line.len; ++at) {
		char *text = s->line.data + at, *tab = strchr(text, '\t');
		if (tab)
			*tab = '\0';
		if (s->octal)
			escape_octal(&s->out, text, "", true);
		else
			escape_terminal(&s->out, text);
		at += strlen(text);
		if (tab)
			strbuf_putc(&s->out, '\t');
		else if (at < s->line.len)
			strbuf_puts(&s->out, s->octal ? "\\000" : "\\x00");
	}
}

/** Append the lines of a text.  @diff  The text is from linediff(): lines begin with a mark. */
static void show_lines(struct shown *s, const char *text, size_t len, bool diff)
{
	for (size_t at = 0; at < len;) {
		const char *line = text + at, *newline = memchr(line, '\n', len - at);
		size_t n = newline ? (size_t)(newline - line) : len - at;
		bool plain = diff && (*line == '@' || *line == '\\');
		strbuf_add(&s->out, line, plain ? n : diff);
		if (!plain)
			show_bytes(s, line + diff, n - diff);
		strbuf_puts(&s->out, newline ? "\n" : "");
		at += n + (newline != NULL);
	}
}

/** Append a line that names a file, as diff -u does: quoted if necessary. */
static void put_name(struct strbuf *out, const char *mark, const char *name)
{
	bool plain = true;
	for (const char *at = name; *at; ++at)
		plain &= *at >= ' ' && *at != 0x7f && *at != '"' && *at != '\\';
	strbuf_puts(out, mark);
	strbuf_puts(out, plain ? "" : "\"");
	for (const char *at = name; *at; ++at) {
		unsigned char c = (unsigned char)*at;
		bool harms = c < ' ' || c >= 0x7f || c == '"' || c == '\\';
		strbuf_printf(out, !plain && harms ? "\\%03o" : "%c", c);
	}
	strbuf_puts(out, plain ? "\n" : "\"\n");
}

int put_diff(const struct put *put, const char *new, size_t len, struct linediff_count *count)
{
	const struct put_options *o = put->options;
	struct shown s = {.terminal = isatty(STDOUT_FILENO)};
	bool shows = o->diff || o->write;
	s.colored = color_is_on(o->color, s.terminal);
	put_name(&s.out, "--- ", put->file.missing ? "/dev/null" : put->file.path);
	put_name(&s.out, "+++ ", put->file.path);
	bool masks = s.terminal || s.colored || !o->diff;
	struct strbuf diff = {0};
	int rc = linediff(!shows ? NULL : masks ? &diff : &s.out, put->file.text, put->file.len,
	                  new, len, count);
	int error = rc != 0 ? errno : ENOMEM;
	show_lines(&s, strbuf_str(&diff), diff.len, true);
	s.out.failed |= diff.failed;
	strbuf_destroy(&diff);
	bool prints = shows && rc == 0 && count->removed + count->added > 0;
	if (shown_end(&s, prints) && rc == 0)
		return 0;
	message(put->file.path, "cannot be compared: %s", strerror(error));
	return PX_NOT_CHECKED;
}

bool put_show(const char *text, size_t len)
{
	if (!isatty(STDOUT_FILENO)) {
		fwrite(text, 1, len, stdout);
		return true;
	}
	struct shown s = {.terminal = true, .octal = true};
	show_lines(&s, text, len, false);
	bool shown = shown_end(&s, true);
	if (!shown)
		message(NULL, "%s", strerror(ENOMEM));
	else if (s.masked)
		message(NULL, "secrets are masked as ***; output to a file or pipe contains them");
	return shown;
}
