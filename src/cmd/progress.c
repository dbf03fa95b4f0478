/* SPDX-License-Identifier: MIT */
/*
 * Progress of a search or of probes: a line on a terminal after a second; otherwise a check whether
 * the reader of the output is gone.
 *
 * A signal that ends or stops the program clears the line first.  Only the thread that draws the
 * line receives signals: bfs_pool_new() and flow.c block the signals of other threads.
 */

#include "base/escape.h"
#include "cmd/progress.h"
#include "cmd/run.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static atomic_int line_shown;

static const char clear_line[] = "\r\033[K";

static void catch_signal(int sig);

/** Clear the line, and perform the default action of the signal. */
static void clear_and_raise(int sig)
{
	int error = errno;
	if (line_shown)
		(void)!write(STDERR_FILENO, clear_line, sizeof(clear_line) - 1);
	raise(sig);
	/* Reached only if the signal stopped the program and the program continues: handle the next
	   signal too. */
	catch_signal(sig);
	errno = error;
}

/** Make a signal clear the line, unless it is ignored or has another handler. */
static void catch_signal(int sig)
{
	/* SA_RESETHAND: when the handler raises the signal again, its default action follows. */
	struct sigaction old, action = {.sa_handler = clear_and_raise,
	                                .sa_flags = SA_RESETHAND | SA_NODEFER | SA_RESTART};
	if (sigaction(sig, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
		sigaction(sig, &action, NULL);
}

/** Count the bytes of the first `columns` characters of a text. */
static int bytes_of_columns(const char *text, int columns)
{
	const char *at = text;
	while (*at && columns-- > 0) {
		size_t n = utf8_len(at);
		at += n ? n : 1;
	}
	return (int)(at - text);
}

void progress_line(const char *head, const char *where)
{
	struct winsize size;
	bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20;
	int width = known ? size.ws_col : 80;
	struct strbuf safe = {0};
	if (where)
		escape_terminal(&safe, where);
	int left = width - 1 - (int)strlen(head);
	int bytes = left > 0 ? bytes_of_columns(strbuf_str(&safe), left) : 0;
	line_shown = 1;
	fprintf(stderr, "%s%.*s%.*s", clear_line, width - 1, head, bytes, strbuf_str(&safe));
	fflush(stderr);
	strbuf_destroy(&safe);
}

static void progress_show(const struct discover_progress *progress, void *arg)
{
	struct run *run = arg;
	if (os_now() - run->start < 1)
		return;
	char head[120];
	snprintf(head, sizeof(head), "%" PRIu64 " %s, %" PRIu32 " of %" PRIu32 " mounts named: ",
	         progress->probes ? progress->probes : progress->dirs,
	         progress->probes ? "not answered yet" : "directories",
	         progress->named, progress->mounts);
	progress_line(head, progress->where);
}

void progress_reader(struct os *os)
{
	if (os_reader_gone(os, STDOUT_FILENO))
		raise(SIGPIPE);
}

static void progress_watch(const struct discover_progress *progress, void *arg)
{
	struct run *run = arg;
	(void)progress;
	progress_reader(&run->os);
}

bool progress_open(void)
{
	const char *term = getenv("TERM");
	if (!isatty(STDERR_FILENO) || !isatty(STDOUT_FILENO) || !term || strcmp(term, "dumb") == 0)
		return false;
	static const int signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGALRM, SIGVTALRM,
	                              SIGUSR1, SIGUSR2, SIGXCPU, SIGXFSZ, SIGIO, SIGPWR, SIGSTKFLT,
	                              SIGTSTP};
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); ++i)
		catch_signal(signals[i]);
	return true;
}

discover_progress_fn *progress_begin(void)
{
	return progress_open() ? progress_show : progress_watch;
}

void progress_end(void)
{
	if (line_shown) {
		fputs(clear_line, stderr);
		fflush(stderr);
		line_shown = 0;
	}
}
