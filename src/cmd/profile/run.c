/* SPDX-License-Identifier: MIT */
/*
 * Run and measure one row of a study.
 *
 *     parent                          child
 *     profile_run_row() --fork------> the options of `getmnt discover`, parsed
 *           |                         listing_show(), as often as requested
 *           | <--progress, at times-------  sent by runner.own, whose calls are not measured
 *           | <--struct profile_turn------  the results of the measured runs
 *
 * Each run has its own process, so that it starts with a fresh heap, descriptors and limits, and
 * can be killed.  Clocks and samples are taken in two different processes, because the signals of
 * the sampler change the calls: getdents64 returns early.
 */
#include "cmd/discover/columns.h"
#include "cmd/discover/listing.h"
#include "cmd/profile/profile.h"

#include "cmd/progress.h"
#include "cmd/run.h"
#include "os/process.h"
#include "os/service.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>

enum {
	GRACE_SECONDS = 2,     /* from the time limit of a child until the child is killed */
	END_SECONDS = 2,       /* for a child to exit after its last message */
	SAMPLE_EVERY = 97000,  /* nanoseconds between samples; not a multiple of the kernel's timer
	                          tick */
};

/** A message of the child. */
struct report {
	bool done;                 /* the last message */
	int status;                /* not 0: an error was printed, and turn is undefined */
	struct profile_turn turn;
	char where[200];           /* the directory that the run searches now */
};

/** State of the child. */
struct runner {
	struct listing list;       /* must be the first member: its `run` is the argument of
	                              run_progress() */
	struct os own;             /* counts the calls for measuring */
	const struct profile_study *study;
	const struct profile_row *row;
	enum profile_look look;
	int sock;
	struct report report;
};

static void send_report(struct runner *r, bool wait)
{
	os_send(&r->own, r->sock, &r->report, sizeof(r->report), NULL, 0, -1, wait);
}

static void run_progress(const struct discover_progress *progress, void *arg)
{
	struct runner *r = arg;
	struct profile_counts kept = r->report.turn.counts;
	r->report.turn.counts.dirs = progress->dirs;
	r->report.turn.counts.entries = progress->entries;
	snprintf(r->report.where, sizeof(r->report.where), "%s",
	         progress->where ? progress->where : "");
	send_report(r, false);
	r->report.turn.counts = kept;
}

/** Perform a run, with clocks or a sampler if requested.  Calls made for clocks and sampler are not
    counted.  @return an exit status. */
static int run_observed(struct runner *r)
{
	struct profile_turn *turn = &r->report.turn;
	struct os *os = &r->list.run.os;
	struct os_clock clock;
	bool sampled = r->look == PROFILE_SAMPLED;
	uint64_t before[OS_NCALLS];
	if (r->look == PROFILE_PLAIN)
		return listing_show(&r->list);
	memcpy(before, os->calls, sizeof(before));
	os_clock_start(os, &clock, sampled, r->study->procfd);
	sampled = sampled && os_sampler_start(&clock, SAMPLE_EVERY) == 0;
	int status = listing_show(&r->list);
	if (sampled)
		os_sampler_stop(&turn->samples);
	os_clock_stop(os);
	os_clock_add(&turn->clock, &clock);
	for (int i = 0; i < OS_NCALLS; ++i)
		os->calls[i] = before[i] + clock.calls[i];
	return status;
}

/** Store the counts of the first run; of a later run, store only whether its counts differ. */
static void store_results(struct profile_turn *turn, const struct run *run, bool first)
{
	const struct discovery *d = run->d;
	struct profile_counts counts = {
		.dirs = d->stats.dirs,
		.entries = d->stats.entries,
		.mounts = d->tree.count - d->stats.states[MT_OUTSIDE],
		.errors = d->stats.errors,
		.named = d->stats.named[MT_NAMED_WALKED],
	};
	memcpy(counts.calls, run->os.calls, sizeof(counts.calls));
	turn->varies |= !first && memcmp(&counts, &turn->counts, sizeof(counts)) != 0;
	if (!first)
		return;
	turn->counts = counts;
	snprintf(turn->reason, sizeof(turn->reason), "%s", run->nreasons ? run->reasons[0] : "");
	const char *type = NULL;
	if (d->root != MT_NONE)
		type = d->tree.nodes[d->root].mount->fstype;
	snprintf(turn->fstype, sizeof(turn->fstype), "%s", type ? type : "");
}

/** Perform and measure a run.  The results of a stopped run are used only if it is the first run.
    @limit  Seconds for the run.
    @stopped [out]  The time limit was reached.
    @return 0, or an exit status. */
static int run_once(struct runner *r, double limit, bool first, bool *stopped)
{
	const char *root = r->study->opts->path;
	struct options o = OPTIONS_DEFAULT;
	struct columns columns;
	struct profile_turn *turn = &r->report.turn;
	struct os_usage before, after;
	o.in.names = DN_WALK;
	o.quiet = true;
	o.in.threads = 1;
	o.in.algorithm = r->row->algorithm;
	o.in.max_time = limit;
	o.in.prune_off = r->row->rule >= 0 ? 1u << r->row->rule : 0;
	o.in.root = root;
	o.in.part = root;
	int status = columns_choose(&columns, &o);
	if (status)
		return status;
	listing_init(&r->list, &o, &columns);
	r->list.run.progress = run_progress;
	os_usage(&r->own, &before);
	run_start(&r->list.run);
	status = run_observed(r);
	os_mark(MARK_END);
	double real = os_now() - r->list.run.start;
	os_usage(&r->own, &after);
	/* A run can be stopped although all mounts were named: the algorithms getmnt1 and getmnt2
	   continue after the last mount.  So only the time shows whether the run was stopped. */
	*stopped = real >= limit;
	status = status == CX_INCOMPLETE || status == CX_NOTHING ? CX_OK : status;
	if (!status && r->list.run.d && (first || !*stopped)) {
		store_results(turn, &r->list.run, first);
		turn->state = *stopped ? PROFILE_STOPPED : PROFILE_DONE;
		turn->times.real += real;
		turn->times.user += after.user - before.user;
		turn->times.system += after.system - before.system;
		turn->times.discovery += r->list.run.d->stats.seconds;
		++turn->times.loops;
	}
	run_destroy(&r->list.run);
	return status;
}

/** In the child: perform `loops` runs, or as many as fit into `limit` seconds.  Only the first run
    prints messages; if `silent`, no run does.  @return an exit status. */
static int run_child(struct runner *r, double limit, unsigned loops, bool silent)
{
	struct profile_times *times = &r->report.turn.times;
	double end = os_now() + limit;
	int status = CX_OK;
	bool stopped = false;
	const unsigned files = os_nofile(&r->own, UINT_MAX, false);
	message_note(NULL, silent);
	for (unsigned i = 0; !status && i < loops && (i == 0 || os_now() < end); ++i) {
		double left = end - os_now();
		status = run_once(r, left > 1e-3 ? left : 1e-3, i == 0, &stopped);
		message_note(NULL, true);
		/* A run raises the limit of open files: restore the limit for the next run. */
		os_set_nofile(&r->own, files);
		if (stopped || times->loops == 0)
			break;
	}
	double n = times->loops ? times->loops : 1;
	times->user /= n;
	times->system /= n;
	times->real /= n;
	times->discovery /= n;
	return status;
}

/** Show the progress of a row: the number of directories, and the current directory. */
static void show_progress(const struct profile_study *study, const struct profile_row *row,
                          uint64_t dirs, const char *where)
{
	char head[160];
	bool rule = row->rule >= 0;
	if (!study->shows || os_now() - study->start < 1)
		return;
	snprintf(head, sizeof(head), "%s%s%s, turn %u: %" PRIu64 " directories: ",
	         rule ? study->rows[PROFILE_ALGORITHMS - 1].name : row->name,
	         rule ? " without " : "", rule ? row->name : "", study->turn + 1, dirs);
	progress_line(head, where);
}

/** Receive messages from the child until its last message or the time limit.
    @last [out]  The message received last.
    @return whether the child has finished. */
static bool receive(const struct profile_study *study, const struct profile_row *row, int sock,
                    double limit, struct report *last)
{
	struct report report;
	for (double end = os_now() + limit * 1.1 + GRACE_SECONDS; os_now() < end;) {
		struct pollfd fd = {.fd = sock, .events = POLLIN};
		if (os_poll_until(study->os, &fd, 1, end) <= 0)
			continue;
		if (os_recv(study->os, sock, &report, sizeof(report), NULL, false)
		    != (ssize_t)sizeof(report))
			return false;   /* the child died */
		*last = report;
		if (report.done)
			return true;
		show_progress(study, row, report.turn.counts.dirs, report.where);
	}
	return false;
}

/** Drop the caches of the kernel.  @return 0, or an exit status after a message. */
static int drop_caches(struct os *os)
{
	static const char path[] = "/proc/sys/vm/drop_caches";
	int fd = os_openat(os, AT_FDCWD, path, O_WRONLY | O_NOFOLLOW);
	ssize_t n = fd < 0 ? -1 : os_write(os, fd, "3", 1);
	int error = errno;
	os_close(os, fd);
	if (n == 1)
		return 0;
	message("--cold", "%s: cannot be written: %s; run as root outside of a container", path,
	        strerror(error));
	return CX_ERROR;
}

int profile_run_row(struct profile_study *study, size_t i, enum profile_look look, double limit,
                    unsigned loops, struct profile_turn *turn)
{
	const struct profile_row *row = &study->rows[i];
	struct os *os = study->os;
	struct report last = {0};
	int sock;
	memset(turn, 0, sizeof(*turn));
	int status = study->opts->cold ? drop_caches(os) : 0;
	if (status)
		return status;
	show_progress(study, row, row->counts.dirs, "");
	int pid = os_fork_socket(os, &sock);
	if (pid < 0) {
		message(row->name, "cannot start a process: %s", strerror(errno));
		return CX_ERROR;
	}
	if (pid == 0) {
		struct runner r = {.study = study, .row = row, .look = look, .sock = sock};
		/* Only the first run of getmnt3 prints messages, such as errors of the path or the
		   mount table: all rows would print the same messages. */
		bool reports = look == PROFILE_PLAIN && study->turn == 0
		               && i + 1 == PROFILE_ALGORITHMS;
		r.report.status = run_child(&r, limit, loops, !reports);
		r.report.done = true;
		send_report(&r, true);
		os_exit_process(CX_OK);
	}
	double begun = os_now();
	bool done = receive(study, row, sock, limit, &last);
	*turn = last.turn;
	status = last.status;
	if (!done)
		os_kill(os, pid, SIGKILL);
	os_reap(os, pid, done ? END_SECONDS : 0, NULL);
	if (!done) {
		turn->state = PROFILE_STOPPED;
		turn->times.real = os_now() - begun;
		turn->died = turn->times.real < limit;
	}
	if (turn->died) {
		study->died = true;
		progress_end();
		message(study->rows[row->rule < 0 ? i : PROFILE_ALGORITHMS - 1].name,
		        "%s%s%sthe process of a run died; is there enough memory?",
		        profile_without(row), row->rule < 0 ? "" : row->name,
		        row->rule < 0 ? "" : ": ");
	}
	os_close(os, sock);
	return status;
}
