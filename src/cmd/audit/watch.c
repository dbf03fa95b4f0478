/* SPDX-License-Identifier: MIT */
/*
 * --watch: print a full audit, then after each change only new and cleared findings.
 *
 *     mountinfo, swaps --poll--.
 *     inotify of files --------+--> pace --> child: audit --> document ---> standard output
 *     fanotify of errors ------|      ^                 |---> state ------> `known` of the next
 *     SIGHUP, interval --------'      '----- cost ------'---> metrics ----> child: --output
 *
 * Each audit is a child with a time limit; metrics are written by another child.  So this process
 * accesses no file system, stays small, and survives a child that hangs or dies.  An audit compares
 * its findings with the state of the last audit: a baseline that has only findings.
 *
 * poll(2) reports every change of a table since the last call, so no change is missed in between.
 * After a change the tables are polled only once a second, so that a storm of mounts does not wake
 * this process more often.
 *
 * The descriptor of inotify is shared with the child, which knows which files it reads and whether
 * these can block.  After a change of a file, a new descriptor without watches replaces it.  The
 * descriptor of fanotify is shared with the child too; when a file system is unmounted, the kernel
 * removes its watch.  An error that the audit itself causes is no reason for another audit; an
 * error that probes of the audit cause is a reason for two.
 */
#include "cmd/audit/audit.h"

#include "base/array.h"
#include "cmd/run.h"
#include "os/process.h"
#include "os/service.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* When an audit is due. */

#define SETTLE 1.0         /* seconds without a change before an audit */
#define SETTLE_MOST 5.0    /* maximum seconds from the first change to an audit, if changes go on */
#define ERROR_SETTLE 0.2   /* seconds from an error of a file system to an audit */
#define APART 2.0          /* minimum seconds from the start of an audit to the start of the next */
#define SHARE 25           /* an audit uses at most 1/SHARE of the processor time */

void audit_pace_began(struct audit_pace *pace, double now)
{
	bool is_again = pace->again > 0 && pace->again <= now;
	*pace = (struct audit_pace){.interval = pace->interval, .began = now,
	                            .again = is_again ? 0 : pace->again,
	                            .after_error = pace->error > 0 || is_again};
}

void audit_pace_ended(struct audit_pace *pace, double now, double cost)
{
	pace->ended = now;
	pace->rest = cost * SHARE;
}

void audit_pace_changed(struct audit_pace *pace, double now)
{
	pace->last = now;
	if (pace->first <= 0)
		pace->first = now;
}

void audit_pace_error(struct audit_pace *pace, double now)
{
	if (pace->error <= 0)
		pace->error = now;
	/* Audit a second time: ext4 counts an error only once its journal has room, on a slow disk
	   seconds later. */
	pace->again = now + SETTLE_MOST;
}

double audit_pace_due(const struct audit_pace *pace)
{
	double soonest = greater(pace->began + APART, pace->ended + pace->rest);
	double due = pace->ended + pace->interval;
	if (pace->first > 0)
		due = lesser(due, lesser(pace->last + SETTLE, pace->first + SETTLE_MOST));
	if (pace->error > 0)
		due = lesser(due, pace->error + ERROR_SETTLE);
	if (pace->again > 0)
		due = lesser(due, pace->again);
	return pace->requested ? soonest : greater(due, soonest);
}

/* During an audit. */

/** Watch the files that the audit will read, or the parent directories of missing files. */
static void watch_files(const struct audit_opts *opts, struct fstab_machine *machine)
{
	const struct {
		const char *named, *usual;
	} files[] = {
		{opts->fstab, "/etc/fstab"}, {opts->config, "/etc/getmnt/audit.conf"},
		{opts->config, "/etc/getmnt/audit.conf.d"}, {opts->baseline, NULL},
		{NULL, "/etc/crypttab"},
	};
	struct run *run = &machine->run;
	struct strbuf path = {0}, place = {0};
	if (opts->way.files < 0)
		return;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); ++i) {
		const char *named = files[i].named;
		enum path_followed known = PATH_MISSING;
		strbuf_reset(&path);
		strbuf_puts(&path, named ? named : files[i].usual ? files[i].usual : "");
		/* For a missing file, watch the nearest existing parent directory. */
		for (size_t n = path.len; n > 0 && !path.failed; n = path.len) {
			const char *at = strbuf_str(&path);
			known = named ? mounts_follow(run_paths(run), at, &place)
			              : host_follow(&machine->host, at, &place);
			if (known != PATH_MISSING)
				break;
			const char *slash = memrchr(at, '/', n);
			path.len = slash ? (size_t)(slash - at) : 0;
			path.data[path.len] = '\0';
		}
		if (known == PATH_SEEN && !place.failed
		    && !mounts_path_block(run_paths(run), strbuf_str(&place)))
			os_files_add(&run->os, opts->way.files, strbuf_str(&place));
	}
	strbuf_destroy(&path);
	strbuf_destroy(&place);
}

void audit_watch_all(const struct audit_opts *opts, struct fstab_machine *machine)
{
	watch_files(opts, machine);
	host_watch_errors(&machine->host, opts->way.errors);
}

/** Whether a finding requires an answer of systemd.  Without the answer, the report lacks the
    finding although its cause may remain. */
static bool is_of_units(const struct audit_base_entry *entry)
{
	int code = audit_code(entry->target, strlen(entry->target));
	bool unit = strcmp(entry->owner, "unit") == 0 || strcmp(entry->owner, "gpt-auto") == 0;
	return code == UNIT_FAILED || code == FSTAB_SYSTEMD_STALE
	       || (unit && (code == DRIFT_NOT_MOUNTED || code == SWAP_NOT_ACTIVE));
}

int audit_watch_compare(const struct audit_way *way, struct audit_report *report,
                        struct audit_base_run *last)
{
	struct audit_baseline *now = &last->now;
	struct strbuf why = {0};
	uint32_t line;
	int rc = 0;
	if (way->watch <= 0)
		return 0;
	now->rules = audit_set_of(0);
	now->detailed = true;
	last->compared = way->known.len > 0;
	if (last->compared)
		rc = audit_base_parse(way->known.data, way->known.len, &last->old, &line, &why);
	if (rc == 0)
		rc = audit_baseline_findings(last->compared ? &last->old : NULL, report,
		                             now->rules, now, &last->counts);
	strbuf_destroy(&why);
	for (size_t i = 0; i < last->old.findings.count && rc == 0; ++i) {
		struct audit_base_entry *old = &last->old.findings.entries[i], *kept;
		if (old->pair || !audit_set_has(report->not_checked, UNIT_FAILED)
		    || !is_of_units(old))
			continue;
		kept = audit_baseline_add(now, BASE_FINDING);
		if (!kept)
			return -1;
		*kept = *old;
		old->pair = old;
	}
	return rc;
}

/* The watching process. */

struct watch {
	struct audit_work audit;
	struct os os;
	int signals, mounts, swaps, reader;   /* descriptors; -1: none */
	int auditor;             /* process ID of the last audit; file system errors that this
	                            process meets cause no audit */
	struct audit_pace pace;
	double poll_at;          /* when to poll the tables again */
	const char *manager;     /* the socket of the service manager; or NULL */
	double ping, pinged;     /* seconds between two messages to the watchdog of the manager, 0:
	                            none; time of the last message */
	bool ready;              /* an audit has succeeded */
	bool reloading;          /* the service manager has requested a reload and waits until the
	                            next audit has ended */
	bool failed;             /* the last audit failed */
	int end;                 /* the signal that ends the watch; 0: none */
	struct strbuf messages;  /* messages of the last audit on standard error */
};

enum { REPORT_SECONDS = 10 /* time limit of a child that does not audit */ };

/* Indexes in `fds` of wait_for(); the first OF_CHILD elements are for os_bounded_wait(). */
enum { OF_CHILD = 2, SIGNALS = OF_CHILD, READER, FILES, ERRORS, MOUNTS, SWAPS, WAITING };

static void notify(struct watch *w, const char *text)
{
	if (w->manager)
		os_notify(&w->os, w->manager, text);
}

/** Read the pending signals. */
static void read_signals(struct watch *w)
{
	char text[80];
	for (int number; (number = os_signalfd_read(&w->os, w->signals)) != 0;) {
		if (number != SIGHUP) {
			w->end = number;
			continue;
		}
		snprintf(text, sizeof(text), "RELOADING=1\nMONOTONIC_USEC=%" PRIu64,
		         (uint64_t)(os_now() * 1e6));
		notify(w, text);
		w->reloading = w->pace.requested = true;
	}
}

/** Wait for an event.
    @child  A running child, whose output and end are events.  While it runs, changes of tables and
            files remain pending.  NULL: none.
    @until  When to return at the latest, as os_now().
    @return as os_bounded_wait(). */
static int wait_for(struct watch *w, struct os_bounded *child, double until)
{
	double now = os_now();
	bool polls = !child && now >= w->poll_at;
	if (!child && !polls)
		until = lesser(until, w->poll_at);
	struct audit_way *way = &w->audit.opts->way;
	struct pollfd fds[WAITING] = {
		{.fd = -1}, {.fd = -1},
		[SIGNALS] = {.fd = w->signals, .events = POLLIN}, [READER] = {.fd = w->reader},
		[FILES] = {.fd = child ? -1 : way->files, .events = POLLIN},
		[ERRORS] = {.fd = polls ? way->errors : -1, .events = POLLIN},
		[MOUNTS] = {.fd = polls ? w->mounts : -1, .events = POLLPRI},
		[SWAPS] = {.fd = polls ? w->swaps : -1, .events = POLLPRI},
	};
	if (w->ping > 0)
		until = lesser(until, w->pinged + w->ping);
	int rc = child ? os_bounded_wait(&w->os, child, fds, WAITING, until)
	               : os_poll_until(&w->os, fds, WAITING, until);
	if (rc < 0 && !child)
		return -1;
	now = os_now();
	if (w->ping > 0 && now >= w->pinged + w->ping) {
		notify(w, "WATCHDOG=1");
		w->pinged = now;
	}
	if (fds[SIGNALS].revents)
		read_signals(w);
	if (fds[READER].revents & POLLERR)
		w->end = SIGPIPE;
	else if (fds[READER].revents)
		w->reader = -1;      /* standard output is closed, or a disconnected terminal: no
		                        longer polled */
	if (fds[FILES].revents) {
		os_close(&w->os, way->files);
		way->files = os_files_open(&w->os);
	}
	if (fds[FILES].revents || fds[MOUNTS].revents || fds[SWAPS].revents) {
		audit_pace_changed(&w->pace, now);
		w->poll_at = now + SETTLE;
	}
	if (fds[ERRORS].revents && os_errors_read(&w->os, way->errors, w->auditor)) {
		audit_pace_error(&w->pace, now);
		w->poll_at = now + SETTLE;
	}
	return rc;
}

/** Run work in a child, and get its result.
    @seconds   The time limit.
    @messages  The standard error of the child is appended.
    @return an exit status; -1: no result, for the reason in way->why, or because the watch ends. */
static int run_child(struct watch *w, const struct audit_work *work, double seconds,
                     struct strbuf *document, struct strbuf *messages)
{
	struct os_bounded done;
	int status = -1, rc = os_bounded_start(&w->os, seconds, &done);
	if (rc == 0)
		audit_way_child(work);
	bool started = rc > 0;
	if (work == &w->audit)
		w->auditor = done.pid;
	while (started && !w->end && (rc = wait_for(w, &done, done.end)) > 0)
		;
	if (started)
		os_bounded_end(&w->os, &done);
	if (!w->end)
		status = audit_way_collect(&work->opts->way, rc, &done, document);
	strbuf_add(messages, strbuf_str(&done.err), done.err.len);
	os_bounded_destroy(&done);
	return status;
}

/** Append the document of an audit that failed because of way->why: for struct audit_work. */
static int report_failed(struct audit_opts *opts, struct strbuf *document)
{
	return audit_way_fail(&opts->way, opts->way.why, document);
}

/** Print the document and the messages of an audit.  Messages equal to the messages of the last
    audit are not printed; if both audits failed, the document is not printed either.
    @return 0, or -1: standard output cannot be written. */
static int deliver(struct watch *w, bool failed, struct strbuf *document, struct strbuf *messages)
{
	bool again = strcmp(strbuf_str(messages), strbuf_str(&w->messages)) == 0;
	struct strbuf before = w->messages, copy = {0};
	strbuf_add(&copy, strbuf_str(messages), messages->len);
	if (!again)
		print_stderr(&copy);
	if (!(failed && w->failed && again))
		fwrite(strbuf_str(document), 1, document->len, stdout);
	w->messages = *messages;
	*messages = before;
	w->failed = failed;
	strbuf_destroy(&copy);
	return flush_stdout();
}

/** Reap children that could not be killed in time.  @return whether any still hang. */
static bool reap(struct watch *w)
{
	int status;
	bool ended;
	do {
		status = -1;
		ended = os_reap(&w->os, -1, 0, &status);
	} while (ended && status != -1);
	return !ended;
}

/** Write the metrics in a child, unless an earlier child hangs and cannot be killed.
    @return an exit status; -1 after a message: the child hangs. */
static int put_metrics(struct watch *w, struct strbuf *document, struct strbuf *messages)
{
	const struct audit_work work = {w->audit.opts, audit_way_put_metrics};
	struct audit_way *way = &work.opts->way;
	if (!way->metrics.len)
		return 0;
	int status = reap(w) ? -1 : run_child(w, &work, REPORT_SECONDS, document, messages);
	if (status < 0)
		strbuf_puts(messages, "getmnt: the file of --output cannot be written: a process "
		                      "that writes it hangs\n");
	strbuf_reset(&way->metrics);
	return status;
}

/** Audit once.  @return 0, or an exit status: the watch ends. */
static int audit_once(struct watch *w)
{
	const struct audit_work failure = {w->audit.opts, report_failed};
	struct audit_way *way = &failure.opts->way;
	struct strbuf document = {0}, messages = {0};
	double spent = os_spent(&w->os);
	bool reloading = w->reloading;
	w->reloading = false;
	audit_pace_began(&w->pace, os_now());
	bool hung = run_child(w, &w->audit, way->seconds, &document, &messages) < 0;
	/* Probes are other processes than w->auditor.  If each of them meets the same error, only
	   the first is a reason for more audits. */
	if (w->pace.after_error && failure.opts->probe && way->errors >= 0)
		os_errors_read(&w->os, way->errors, w->auditor);
	if (hung) {
		strbuf_printf(&messages, "getmnt: %s\n", way->why);
		run_child(w, &failure, REPORT_SECONDS, &document, &messages);
	}
	strbuf_destroy(&way->known);
	way->known = way->saved;
	way->saved = (struct strbuf){0};
	bool failed = way->known.len == 0;
	int put = put_metrics(w, &document, &messages);
	/* The killed child may still hang: this cost makes audit_pace_ended() delay the next audit
	   by the time limit. */
	double cost = hung ? way->seconds / SHARE : 0;
	audit_pace_ended(&w->pace, os_now(), greater(cost, os_spent(&w->os) - spent));
	int rc = 0;
	if (!w->end) {
		/* If the first audit fails, an option may be invalid: end as an audit without
		   --watch does. */
		bool wrong = !w->ready && ((failed && !hung) || put > 0);
		rc = deliver(w, failed, &document, &messages) != 0 || wrong ? AX_FAILED : 0;
		if (reloading || (!failed && !w->ready))
			notify(w, "READY=1");
		w->ready |= !failed;
	}
	strbuf_destroy(&document);
	strbuf_destroy(&messages);
	return rc;
}

/** Open the descriptors to wait for.  @return 0, or -1 after a message. */
static int watch_open(struct watch *w)
{
	static const char mounts[] = "/proc/self/mountinfo";
	const char *period = secure_getenv("WATCHDOG_USEC"), *pid = secure_getenv("WATCHDOG_PID");
	uint64_t usec = 0;
	w->manager = secure_getenv("NOTIFY_SOCKET");
	if (period && option_number(period, INT64_MAX, &usec)
	    && (!pid || atoi(pid) == os_getpid()))
		w->ping = (double)usec / 2e6;
	w->pinged = os_now();
	w->signals = os_signalfd_open(&w->os);
	w->mounts = os_openat(&w->os, AT_FDCWD, mounts, O_RDONLY);
	if (w->mounts < 0)
		message(mounts, "%s; is /proc mounted? mount -t proc proc /proc", strerror(errno));
	else if (w->signals < 0)
		message("--watch", "cannot receive signals: %s", strerror(errno));
	w->swaps = os_openat(&w->os, AT_FDCWD, "/proc/swaps", O_RDONLY);
	w->audit.opts->way.files = os_files_open(&w->os);
	if (w->audit.opts->way.files < 0)
		message("--watch", "cannot watch files: %s; a changed fstab is found at the next "
		        "interval", strerror(errno));
	w->audit.opts->way.errors = os_errors_open(&w->os);
	return w->mounts < 0 || w->signals < 0 ? -1 : 0;
}

int audit_watch_run(const struct audit_work *work)
{
	enum { SECONDS_DEFAULT = 60 };
	struct audit_opts *opts = work->opts;
	struct watch w = {.audit = *work, .os = {.statx_works = true},
	                  .reader = STDOUT_FILENO, .pace.interval = opts->way.watch};
	if (opts->way.seconds < 0)
		opts->way.seconds = SECONDS_DEFAULT;
	int status = watch_open(&w) == 0 ? audit_once(&w) : AX_FAILED;
	while (status == 0 && !w.end) {
		/* When an audit is due, poll the tables once more: a new change may delay the
		   audit. */
		double due = audit_pace_due(&w.pace);
		bool waited = os_now() >= due;
		if (wait_for(&w, NULL, due) < 0) {
			message("--watch", "cannot wait: %s", strerror(errno));
			status = AX_FAILED;
		} else if (waited && !w.end && os_now() >= audit_pace_due(&w.pace)) {
			status = audit_once(&w);
		}
	}
	notify(&w, "STOPPING=1");
	if (w.end == SIGPIPE)
		raise(SIGPIPE);   /* the reader is gone: end as a failed write would */
	if (w.end == SIGPIPE || finish_stdout() != 0)
		status = AX_FAILED;
	os_close(&w.os, w.signals);
	os_close(&w.os, w.mounts);
	os_close(&w.os, w.swaps);
	os_close(&w.os, opts->way.files);
	os_close(&w.os, opts->way.errors);
	strbuf_destroy(&w.messages);
	audit_way_destroy(&opts->way);
	return status;
}
