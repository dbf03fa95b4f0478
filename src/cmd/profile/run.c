/* SPDX-License-Identifier: MIT */
/*
 * One row of a study, run and measured.
 *
 *     parent                          child
 *     profile_run_row() --fork------> the options of `getmnt discover`, parsed
 *           |                         run_listed(), as often as wanted
 *           | <--progress, now and then--  by a struct os of its own, which counts nothing
 *           | <--struct profile_turn------ of the run that is measured
 *
 * In a separate process, so that each run starts with a fresh heap, descriptors and limits, and can
 * be killed.
 */
#include "cmd/profile/profile.h"

#include "base/fstypes.h"
#include "cmd/columns.h"
#include "cmd/listing.h"
#include "cmd/output.h"
#include "os/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* Seconds to wait for a child that should have ended. */
#define GRACE 2.0

enum { WHERE_BYTES = 200 };

/* Seconds to wait for a child that has sent its last message. */
static const double END_SECONDS = 2;

/** A message of the child. */
struct word {
	bool done;                 /* the last message */
	int status;                /* not 0: an error was printed, and turn is undefined */
	struct profile_turn turn;
	char where[WHERE_BYTES];   /* while it runs */
};

/** The child. */
struct runner {
	struct os own;             /* counts the calls of measuring */
	const struct profile_row *row;
	const struct profile_how *how;
	int sock;
	struct word word;
};

/** A measured run. */
struct measured {
	struct run run;            /* first: the argument of run_progress() */
	struct runner *runner;
	struct profile_watch watch;
};

/** The options of the discovery that a row stands for. */
static struct options row_options(const struct runner *r, double limit)
{
	struct options o = OPTIONS_DEFAULT;
	o.names = DN_WALK;
	o.names_given = true;
	o.threads = 1;
	o.quiet = true;
	o.algorithm = r->row->algorithm;
	o.max_time = limit;
	o.prune_off = r->row->rule >= 0 ? 1u << r->row->rule : 0;
	o.root = r->how->root;
	o.part = r->how->root;
	return o;
}

/** Send to the parent. */
static void send_word(struct runner *r, bool wait)
{
	os_send(&r->own, r->sock, &r->word, sizeof(r->word), NULL, 0, -1, wait);
}

static void run_progress(const struct discover_progress *progress, void *arg)
{
	struct runner *r = ((struct measured *)arg)->runner;
	struct profile_counts kept = r->word.turn.counts;
	r->word.turn.counts.dirs = progress->dirs;
	r->word.turn.counts.entries = progress->entries;
	snprintf(r->word.where, sizeof(r->word.where), "%s",
	         progress->where ? progress->where : "");
	send_word(r, false);
	r->word.turn.counts = kept;
}

/** Keep the results of the first run. */
static void take_first(struct profile_turn *turn, const struct run *run)
{
	const struct discovery *d = run->d;
	turn->complete = run->complete;
	snprintf(turn->reason, sizeof(turn->reason), "%s", run->nreasons ? run->reasons[0] : "");
	if (d->root != MT_NONE) {
		const char *type = d->tree.nodes[d->root].mount->fstype;
		snprintf(turn->fstype, sizeof(turn->fstype), "%s", type ? type : "");
	}
	turn->in_memory = strcmp(turn->fstype, "tmpfs") == 0 || strcmp(turn->fstype, "ramfs") == 0;
}

/** Run once, and take down what it did.
    @cut [out]  It is not the first, and the time has cut it short: nothing of it was taken.
    @return 0, or an exit status. */
static int run_once(struct runner *r, double limit, bool first, bool *cut)
{
	struct measured m = {.runner = r};
	struct options o = row_options(r, limit);
	struct columns columns;
	struct profile_turn *turn = &r->word.turn;
	struct os_usage before, after;
	int status = columns_choose(&columns, &o);
	if (status)
		return status;
	run_init(&m.run, &o, &columns);
	m.run.progress = run_progress;
	os_usage(&r->own, &before);
	run_start(&m.run);
	profile_watch_start(&m.watch, &m.run.os, r->how->look, r->how->procfd);
	status = run_listed(&m.run);
	profile_watch_stop(&m.watch, &m.run.os, &turn->looked);
	os_mark(MARK_END);
	double real = os_now() - m.run.start;
	os_usage(&r->own, &after);
	/* It may have named all there is before it was stopped: getmnt1 and getmnt2 go on. */
	bool stopped = real >= limit;
	status = status == CX_INCOMPLETE || status == CX_NOTHING ? CX_OK : status;
	*cut = stopped && !first;
	if (!status && m.run.d && !*cut) {
		struct profile_counts counts = {.dirs = m.run.d->stats.dirs,
		                                .entries = m.run.d->stats.entries,
		                                .mounts = m.run.d->tree.count
		                                          - m.run.d->stats.states[MT_OUTSIDE],
		                                .errors = m.run.d->stats.errors,
		                                .named = m.run.d->stats.named[MT_NAMED_WALKED]};
		memcpy(counts.calls, m.run.os.calls, sizeof(counts.calls));
		if (first) {
			turn->counts = counts;
			take_first(turn, &m.run);
		}
		turn->varies |= memcmp(&counts, &turn->counts, sizeof(counts)) != 0;
		turn->state = stopped ? PROFILE_STOPPED : PROFILE_DONE;
		turn->times.real += real;
		turn->times.user += after.user - before.user;
		turn->times.system += after.system - before.system;
		turn->times.discovery += m.run.d->stats.seconds;
		++turn->times.loops;
	}
	run_destroy(&m.run);
	return status;
}

/** All that the child does. */
static int run_child(struct runner *r)
{
	const struct profile_how *how = r->how;
	struct profile_turn *turn = &r->word.turn;
	double end = os_now() + how->limit;
	int status = CX_OK;
	bool cut = false;
	message_note(NULL, how->silent);
	for (unsigned i = 0;
	     !status && i < (how->loops ? how->loops : 1) && (i == 0 || os_now() < end); ++i) {
		double left = end - os_now();
		status = run_once(r, left > 1e-3 ? left : 1e-3, i == 0, &cut);
		message_note(NULL, true);
		if (turn->state != PROFILE_DONE || cut)
			break;
	}
	double n = turn->times.loops ? turn->times.loops : 1;
	turn->times.user /= n;
	turn->times.system /= n;
	turn->times.real /= n;
	turn->times.discovery /= n;
	return status;
}

/** Receive from the child until it is done or the time is over.  @return whether it is done. */
static bool hear(struct os *os, int sock, const struct profile_how *how, struct word *last)
{
	struct word word;
	for (double end = os_now() + how->limit * 1.1 + GRACE; os_now() < end;) {
		struct pollfd fd = {.fd = sock, .events = POLLIN};
		double left = end - os_now();
		if (os_poll(os, &fd, 1, left < 1 ? 100 : 1000) <= 0)
			continue;
		if (os_recv(os, sock, &word, sizeof(word), NULL, false) != (ssize_t)sizeof(word))
			return false;   /* it has died */
		*last = word;
		if (word.done)
			return true;
		if (how->progress)
			how->progress(how->arg, &word.turn.counts, word.where);
	}
	return false;
}

int profile_run_row(struct os *os, const struct profile_row *row, const struct profile_how *how,
                    struct profile_turn *turn)
{
	struct runner r = {.row = row, .how = how};
	struct word last = {0};
	int socks[2] = {-1, -1}, self = os_getpid(), status = CX_ERROR, pid = -1;
	memset(turn, 0, sizeof(*turn));
	if (os_socketpair(os, socks) != 0 || (pid = os_fork_process(os)) < 0) {
		message(profile_algorithm(row->algorithm),
		        "cannot start a process: %s", strerror(errno));
		goto out;
	}
	if (pid == 0) {
		r.sock = socks[1];
		if (!os_die_with(&r.own, self))
			os_exit_process(CX_ERROR);
		r.word.status = run_child(&r);
		r.word.done = true;
		send_word(&r, true);
		os_exit_process(CX_OK);
	}
	os_close(os, socks[1]);
	socks[1] = -1;
	double begun = os_now();
	bool done = hear(os, socks[0], how, &last);
	*turn = last.turn;
	status = last.status;
	if (done) {
		os_reap(os, pid, END_SECONDS, NULL);
	} else {
		os_kill(os, pid, SIGKILL);
		os_reap(os, pid, 0, NULL);
		turn->state = PROFILE_STOPPED;
		turn->times.real = os_now() - begun;
		if (turn->times.real < how->limit) {
			turn->died = true;
			progress_end();
			message(profile_algorithm(row->algorithm),
			        "%s%sits process has died; is there enough memory?",
			        row->rule < 0 ? "" : "without ",
			        row->rule < 0 ? "" : discover_rules[row->rule].name);
		}
	}
out:
	for (int i = 0; i < 2; ++i)
		os_close(os, socks[i]);
	return status;
}
