/* SPDX-License-Identifier: MIT */
/*
 *     the thread of the search --flow_take()--> texts --writev()--> stdout
 *                                                 ^
 *     the other thread -----ten times a second----'
 *
 * Texts that threads have made are printed as they are: the C library's buffer would be
 * one copy more of all, and ends in the middle of a line, which is then the last one when
 * a signal ends the program.
 *
 * Signals come to the other thread alone, which draws the line of progress that they
 * clear.  The kernel ends a write of a process that is to die where a page ends: where
 * stdout is a file they come between writes, in the thread that has written, and where
 * something is told on standard error.  Where it is what others wait at, as a pipe or a
 * terminal, they come at once: it must be possible to end us there.
 */
#include "cmd/search/flow.h"

#include "cmd/cmd.h"
#include "cmd/output.h"
#include "os/clock.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum {
	FLOW_TEXTS = 16,
	FLOW_SIZE = 256 * 1024,   /* bytes that are printed at once; a text more may wait */
	FLOW_SMALL = 4096,        /* of a text that is not worth a place of its own */
};

#define TICK 0.1              /* seconds that lines may wait */
#define LINE_TICK 0.25        /* that the line of progress stands */
#define PATIENCE 1.0          /* before there is one */

struct flow {
	struct os os;
	bool file;                /* stdout is one */
	void (*failed)(void *arg);
	void *arg;
	double start;
	double next;              /* when it is time to print; without the thread */

	pthread_mutex_t lock;     /* of the rest */
	pthread_cond_t wake;
	pthread_t thread;
	bool tried, runs;         /* to start it; it was */
	sigset_t mask;            /* the signals that we were called with held back, */
	sigset_t held;            /* and those that are, while something else is told */
	bool quit;
	struct strbuf texts[FLOW_TEXTS];
	unsigned n;               /* of them, that something is in */
	size_t size;
	int error;                /* why they could not be printed; 0 */
	bool progress;
	double next_line;
	struct strbuf head, where;
};

struct flow *flow_new(const struct os *os, bool progress, void (*failed)(void *arg), void *arg)
{
	struct flow *flow = calloc(1, sizeof(*flow));
	if (!flow)
		return NULL;
	os_clone_state(&flow->os, os);
	flow->file = os_file_type(&flow->os, STDOUT_FILENO, NULL, NULL) == S_IFREG;
	flow->failed = failed;
	flow->arg = arg;
	flow->progress = progress;
	flow->start = os_now();
	pthread_condattr_t attr;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&flow->wake, &attr);
	pthread_condattr_destroy(&attr);
	pthread_mutex_init(&flow->lock, NULL);
	pthread_sigmask(SIG_SETMASK, NULL, &flow->mask);
	for (int i = 0; i < FLOW_TEXTS; ++i)
		strbuf_init(&flow->texts[i]);
	strbuf_init(&flow->head);
	strbuf_init(&flow->where);
	return flow;
}

/** Have signals come that were held back.  With the lock, so that nothing is being printed. */
static void flow_signals(struct flow *flow)
{
	sigset_t held;
	pthread_sigmask(SIG_SETMASK, &flow->mask, &held);
	pthread_sigmask(SIG_SETMASK, &held, NULL);
}

/** Print pieces; after an error none.  With the lock. */
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
	/* Closed before we began, nobody wants it: what could not be examined is told all the same. */
	if (flow->error && flow->error != EBADF)
		flow->failed(flow->arg);
}

/** Print what there is.  With the lock. */
static void flow_print(struct flow *flow)
{
	struct iovec pieces[FLOW_TEXTS];
	if (flow->n == 0)
		return;
	for (unsigned i = 0; i < flow->n; ++i)
		pieces[i] = (struct iovec){flow->texts[i].data, flow->texts[i].len};
	flow_write(flow, pieces, flow->n);
	for (unsigned i = 0; i < flow->n; ++i)
		strbuf_reset(&flow->texts[i]);
	flow->n = 0;
	flow->size = 0;
}

/** What is done ten times a second.  With the lock. */
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
		while (!flow->quit && pthread_cond_timedwait(&flow->wake, &flow->lock, &then) != ETIMEDOUT)
			;
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
	/* Nobody may read standard error. */
	if (flow->file)
		pthread_sigmask(SIG_SETMASK, &flow->mask, &flow->held);
}

void flow_release(struct flow *flow)
{
	if (flow->file)
		pthread_sigmask(SIG_SETMASK, &flow->held, NULL);
	pthread_mutex_unlock(&flow->lock);
}

/** A text more; print, if that is enough.  With the lock. */
static void flow_count(struct flow *flow, size_t n)
{
	flow->size += n;
	if (flow->size >= FLOW_SIZE)
		flow_print(flow);
}

void flow_take(struct flow *flow, struct strbuf *text)
{
	if (text->len < FLOW_SMALL) {
		flow_add(flow, text);
		strbuf_reset(text);
		return;
	}
	pthread_mutex_lock(&flow->lock);
	if (flow->n == FLOW_TEXTS)
		flow_print(flow);
	struct strbuf *to = &flow->texts[flow->n++], empty = *to;
	*to = *text;
	*text = empty;
	flow_count(flow, to->len);
	pthread_mutex_unlock(&flow->lock);
}

void flow_add(struct flow *flow, const struct strbuf *text)
{
	pthread_mutex_lock(&flow->lock);
	flow->n += flow->n == 0;
	struct strbuf *to = &flow->texts[flow->n - 1];
	size_t len = to->len;
	strbuf_add(to, strbuf_str(text), text->len);
	if (to->failed) {
		/* Without memory for it, at once. */
		flow_print(flow);
		to->failed = false;
		flow_write(flow, &(struct iovec){text->data, text->len}, 1);
	} else {
		flow_count(flow, to->len - len);
	}
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

/** Start the other thread, and leave signals to it, but for those of what this one does: it
    writes (nobody reads, the file is too large, the terminal is others'), or it fails. */
static void flow_start(struct flow *flow)
{
	static const int own[] = {SIGPIPE, SIGXFSZ, SIGTTOU, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
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
