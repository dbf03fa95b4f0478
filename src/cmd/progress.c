/* SPDX-License-Identifier: MIT */
/*
 * One line on a terminal while a search goes on for more than a second.
 *
 * A signal that ends the program clears the line first.  There is one line,
 * so there is one state of it; a signal handler has no other way to know.
 */
#include "cmd/output.h"

#include "base/escape.h"
#include "cmd/options.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static volatile sig_atomic_t line_shown;

static const char clear_line[] = "\r\033[K";

static void clear_and_die(int sig)
{
	if (line_shown)
		(void)!write(STDERR_FILENO, clear_line, sizeof(clear_line) - 1);
	/* The handler is one-shot: this ends the program by the signal itself. */
	raise(sig);
}

/** The first n characters of a text, at most. */
static int fit(const char *text, int columns)
{
	const char *at = text;
	while (*at && columns-- > 0) {
		size_t n = utf8_len(at);
		at += n ? n : 1;
	}
	return (int)(at - text);
}

static void progress_show(const struct discover_progress *progress, void *arg)
{
	struct run *run = arg;
	if (os_now() - run->start < 1)
		return;
	struct winsize size;
	int width = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
	char head[120];
	int n = snprintf(head, sizeof(head), "%" PRIu64 " directories, %" PRIu32 " of %" PRIu32
	                 " mounts named: ", progress->dirs, progress->named, progress->mounts);
	struct strbuf where;
	strbuf_init(&where);
	if (progress->where)
		escape_terminal(&where, progress->where);
	int left = width - 1 - n;
	int bytes = left > 0 ? fit(strbuf_str(&where), left) : 0;
	line_shown = 1;
	fprintf(stderr, "%s%.*s%.*s", clear_line, width - 1, head, bytes, strbuf_str(&where));
	fflush(stderr);
	strbuf_destroy(&where);
}

progress_fn *progress_begin(struct run *run)
{
	const char *term = getenv("TERM");
	if (run->opt->quiet || !isatty(STDERR_FILENO) || !isatty(STDOUT_FILENO) || !term
	    || strcmp(term, "dumb") == 0)
		return NULL;
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); ++i) {
		struct sigaction old, action = {.sa_handler = clear_and_die, .sa_flags = SA_RESETHAND | SA_NODEFER};
		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
			sigaction(signals[i], &action, NULL);
	}
	return progress_show;
}

void progress_end(void)
{
	if (line_shown) {
		fputs(clear_line, stderr);
		fflush(stderr);
		line_shown = 0;
	}
}
