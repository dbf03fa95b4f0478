/* SPDX-License-Identifier: MIT */
/*
 *     search thread ---flow_add()--> texts --writev()--> stdout
 *                                      ^
 *     timer thread -----every 0.1 s----'
 *
 * Texts are written with writev(2): stdio would copy them again, and could leave a partial last
 * line when a signal ends the program.
 *
 * Only the timer thread receives signals: it draws the progress line, which signals must clear.  If
 * a process is killed, the kernel ends its write at a page boundary.  If stdout is a file, signals
 * are therefore blocked during each write, and delivered after the write.  If stdout is a pipe or a
 * terminal, a write can block forever, so signals are delivered at once.
 */
#include "cmd/found/flow.h"

#include "cmd/cmd.h"
#include "cmd/progress.h"
#include "os/clock.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum {
	FLOW_TEXTS = 16,
	FLOW_SIZE = 256 * 1024,   /* bytes written at once */
	FLOW_SMALL = 4096,        /* bytes; shorter texts are appended to the previous text */
};

#define TICK 0.1              /* maximum delay of lines, in seconds */
#define LINE_TICK 0.25        /* seconds between updates of the progress line */
#define PATIENCE 1.0          /* seconds before the first progress line */

struct flow {
	struct os os;
	bool file;                /* stdout is a regular file */
	SEARCH *search;           /* the search, which is ended once writing has failed */
	double start;
	double next;              /* time of the next print; used only if there is no timer
	                             thread */

	pthread_mutex_t lock;     /* protects the following members */
	pthread_cond_t wake;
	pthread_t thread;
	bool tried, runs;         /* starting the thread was tried; the thread runs */
	sigset_t mask;            /* signals blocked by the caller */
	sigset_t held;            /* signals blocked before flow_hold() */
	bool quit;
	struct strbuf texts[FLOW_TEXTS];
	unsigned n;               /* number of texts in use */
	size_t size;              /* bytes of these texts */
	int error;                /* errno of a failed write; 0: none */
	bool progress;
	double next_line;
	struct strbuf head, where;
};

struct flow *flow_new(const struct os *os, bool progress, SEARCH *search)
{
	struct flow *flow = calloc(1, sizeof(*flow));
	if (!flow)
		return NULL;
	os_clone_state(&flow->os, os);
	flow->file = os_file_type(&flow->os, STDOUT_FILENO, NULL, NULL) == S_IFREG;
	flow->search = search;
	flow->progress = progress;
	flow->start = os_now();
	pthread_condattr_t attr;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&flow->wake, &attr);
	pthread_condattr_destroy(&attr);
	pthread_mutex_init(&flow->lock, NULL);
	pthread_sigmask(SIG_SETMASK, NULL, &flow->mask);
	return flow;
}

/** Deliver blocked signals.  The lock is held, so that nothing is being printed. */
static void flow_signals(struct flow *flow)
{
	sigset_t held;
	pthread_sigmask(SIG_SETMASK, &flow->mask, &held);
	pthread_sigmask(SIG_SETMASK, &held, NULL);
}

/** Print pieces, unless an error occurred before.  The lock is held. */
static void flow_write(struct flow *flow, struct iovec *pieces, size_t n)
{
	sigset_t all, before;
	if (flow->error)
		return;
	progress_end();
	if (flow->file) {
		sigfillset(&all);
		pthread_sigmask(SIG_SETMASK, &all, &before);
	}
	if (os_write_all(&flow->os, STDOUT_FILENO, &pieces, &n) != 0)
		flow->error = errno;
	if (flow->file) {
		pthread_sigmask(SIG_SETMASK, &before, NULL);
		flow_signals(flow);
	}
	/* If stdout was closed from the start (EBADF), continue the search: messages still report
	   the errors of objects. */
	if (flow->error && flow->error != EBADF)
		getmnt_search_cancel(flow->search);
}

/** Print the texts.  The lock is held. */
static void flow_print(struct flow *flow)
{
	struct iovec pieces[FLOW_TEXTS];
	if (flow->n == 0)
		return;
	for (unsigned i = 0; i < flow->n; ++i)
		pieces[i] = (struct iovec){flow->texts[i].data, flow->texts[i].len};
	int error = flow->error;
	flow_write(flow, pieces, flow->n);
	/* If all texts are empty, nothing was lost: ignore the error of this write. */
	flow->error = flow->size > 0 ? flow->error : error;
	for (unsigned i = 0; i < flow->n; ++i)
		strbuf_reset(&flow->texts[i]);
	flow->n = 0;
	flow->size = 0;
}

/** Print the texts and the progress.  The lock is held. */
static void flow_tick(struct flow *flow)
{
	flow_print(flow);
	if (!flow->progress) {
		progress_reader(&flow->os);
		return;
	}
	double now = os_now();
	if (now - flow->start < PATIENCE || now < flow->next_line || flow->head.len == 0)
		return;
	flow->next_line = now + LINE_TICK;
	progress_line(strbuf_str(&flow->head), strbuf_str(&flow->where));
}

static void *flow_main(void *arg)
{
	struct flow *flow = arg;
	struct timespec then;
	if (!flow->file)
		pthread_sigmask(SIG_SETMASK, &flow->mask, NULL);
	pthread_mutex_lock(&flow->lock);
	while (!flow->quit) {
		clock_gettime(CLOCK_MONOTONIC, &then);
		then.tv_nsec += (long)(TICK * 1e9);
		then.tv_sec += then.tv_nsec / 1000000000;
		then.tv_nsec %= 1000000000;
		int rc = 0;
		while (!flow->quit && rc != ETIMEDOUT)
			rc = pthread_cond_timedwait(&flow->wake, &flow->lock, &then);
		if (flow->quit)
			break;
		flow_tick(flow);
		if (flow->file)
			flow_signals(flow);
	}
	pthread_mutex_unlock(&flow->lock);
	return NULL;
}

void flow_hold(struct flow *flow)
{
	pthread_mutex_lock(&flow->lock);
	progress_end();
	/* Deliver signals until flow_release(): a write to standard error can block, and a started
	   process must not miss a signal. */
	pthread_sigmask(SIG_SETMASK, &flow->mask, &flow->held);
}

void flow_release(struct flow *flow)
{
	pthread_sigmask(SIG_SETMASK, &flow->held, NULL);
	pthread_mutex_unlock(&flow->lock);
}

void flow_add(struct flow *flow, struct strbuf *text)
{
	size_t len = text->len;
	bool small = len < FLOW_SMALL;
	pthread_mutex_lock(&flow->lock);
	if (!small && flow->n == FLOW_TEXTS)
		flow_print(flow);
	flow->n += !small || flow->n == 0;
	struct strbuf *to = &flow->texts[flow->n - 1], was = *to;
	if (small) {
		if (!strbuf_try(to, strbuf_str(text), len)) {
			/* If memory ran out, print the text immediately. */
			flow_print(flow);
			flow_write(flow, &(struct iovec){text->data, len}, 1);
			len = 0;
		}
		strbuf_reset(text);
	} else {
		*to = *text;
		*text = was;
	}
	flow->size += len;
	if (flow->size >= FLOW_SIZE)
		flow_print(flow);
	pthread_mutex_unlock(&flow->lock);
}

void flow_flush(struct flow *flow)
{
	pthread_mutex_lock(&flow->lock);
	flow_print(flow);
	pthread_mutex_unlock(&flow->lock);
}

void flow_progress(struct flow *flow, const char *head, const char *where)
{
	pthread_mutex_lock(&flow->lock);
	strbuf_reset(&flow->head);
	strbuf_puts(&flow->head, head);
	strbuf_reset(&flow->where);
	strbuf_puts(&flow->where, where);
	pthread_mutex_unlock(&flow->lock);
}

/** Start the timer thread, which then receives all signals except those caused by this thread's
    own writes and faults. */
static void flow_start(struct flow *flow)
{
	static const int own[] = {
		SIGPIPE, SIGXFSZ, SIGTTOU, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS,
		SIGABRT,
	};
	sigset_t others;
	sigfillset(&others);
	for (size_t i = 0; i < sizeof(own) / sizeof(*own); ++i)
		sigdelset(&others, own[i]);
	flow->tried = true;
	pthread_sigmask(SIG_BLOCK, &others, NULL);
	flow->runs = os_thread(&flow->thread, flow_main, flow) == 0;
	if (!flow->runs)
		pthread_sigmask(SIG_SETMASK, &flow->mask, NULL);
}

void flow_turn(struct flow *flow)
{
	if (!flow->tried)
		flow_start(flow);
	if (flow->runs)
		return;
	double now = os_now();
	if (now < flow->next)
		return;
	flow->next = now + TICK;
	pthread_mutex_lock(&flow->lock);
	flow_tick(flow);
	pthread_mutex_unlock(&flow->lock);
}

void flow_end(struct flow *flow)
{
	if (!flow)
		return;
	pthread_mutex_lock(&flow->lock);
	flow->quit = true;
	pthread_cond_signal(&flow->wake);
	pthread_mutex_unlock(&flow->lock);
	if (flow->runs) {
		pthread_join(flow->thread, NULL);
		pthread_sigmask(SIG_SETMASK, &flow->mask, NULL);
	}
	flow_print(flow);
	progress_end();
	if (flow->error)
		fail_stdout(flow->error);
	for (int i = 0; i < FLOW_TEXTS; ++i)
		strbuf_destroy(&flow->texts[i]);
	strbuf_destroy(&flow->head);
	strbuf_destroy(&flow->where);
	pthread_cond_destroy(&flow->wake);
	pthread_mutex_destroy(&flow->lock);
	free(flow);
}
