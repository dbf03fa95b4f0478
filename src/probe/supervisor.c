/* SPDX-License-Identifier: MIT */
/*
 * The supervisor enforces the deadlines.
 *
 * It accepts a question only when a worker is free, so that questions wait in the socket.  A new
 * worker is forked only when all others have been busy for a moment: one worker if every mount
 * responds, two hundred if two hundred servers are dead, which are then waited for simultaneously.
 *
 * Nothing here may block except poll(2), and nothing is allocated: the caller may have had threads.
 */
#include "os/process.h"
#include "os/service.h"
#include "probe/prober_impl.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>

/* Seconds. */
static const double GROW_AFTER = 0.002;   /* a worker that takes longer is busy */
static const double DIES_WITHIN = 0.2;    /* a killed worker that still sleeps after this time is
                                             abandoned */
static const double STARVES = 2;          /* a worker that is not asleep has this time to get a
                                             processor */

static const double REAP_EVERY = 0.001;   /* interval for reaping a worker that closed its socket
                                             and will soon end */

enum { EMPTY_READS_MAX = 100 };

enum worker_state { WORKER_IDLE, WORKER_BUSY, WORKER_KILLED };

struct worker {
	int pid, sock;
	enum worker_state state;
	bool cancelled;                /* the answer is no longer needed */
	bool extended;                 /* the deadline was extended, at most once */
	bool invalid;                  /* it sent an invalid message: do not read from it any
	                                  more */
	bool closed;                   /* it has closed its socket */
	bool recorded;                 /* a record of its question exists */
	unsigned empty_reads;          /* reads without data although poll(2) reported data */
	double until;                  /* when it is killed or abandoned */
	uint64_t start;                /* prober_process(); 0 */
	struct probe_question question;  /* path and device are NULL */
	struct probe_answer seen;      /* its message that it identified the mount */
};

struct supervisor {
	struct os os;
	const struct prober_self *self;
	double timeout;                /* seconds for a question */
	int owner;                     /* the socket to the run, which may have ended */
	bool ending;                   /* the run needs no more answers */
	bool lost;                     /* a message to the run was lost */
	int root;                      /* -1: "/" */
	int memory;                    /* the directory of the records, or -1 */
	int unrecordable;              /* errno of failing to remove a record, or 0 */
	bool cgroups;                  /* moving processes is permitted */
	struct worker workers[PROBER_MAX];
	unsigned n;
	unsigned empty_reads;          /* as in struct worker */
	size_t held;                   /* size of the question that waits for a worker, or 0 */
	double last_given;             /* when a question was last sent to a worker */
	struct probe_message message;
};

static void super_send_answer(struct supervisor *super, const struct probe_answer *answer)
{
	/* The run would wait for the lost answer; closing the socket ends that wait. */
	super->lost |= os_send(&super->os, super->owner, answer, sizeof(*answer), NULL, 0, -1, true)
	               != 0;
}

/** Record what a worker is about to access.  @return 0, or an error number. */
static int super_record(struct supervisor *super, struct worker *worker)
{
	if (super->memory < 0 || super->unrecordable)
		return super->unrecordable;
	if (worker->start == 0)
		prober_process(&super->os, worker->pid, &worker->start);
	worker->recorded = prober_record(&super->os, super->memory, super->self, &worker->question,
	                                 worker->pid, worker->start, false) == 0;
	return worker->recorded ? 0 : errno;
}

/** Remove the record of a worker that has answered or died. */
static void super_unrecord(struct supervisor *super, struct worker *worker)
{
	if (worker->recorded
	    && prober_record(&super->os, super->memory, super->self, &worker->question,
	                     worker->pid, worker->start, true) != 0
	    && errno != ENOENT)
		super->unrecordable = errno;
	worker->recorded = false;
}

/** Remove a worker from the array; the last worker moves to its place. */
static void super_remove(struct supervisor *super, struct worker *worker)
{
	os_close(&super->os, worker->sock);
	*worker = super->workers[--super->n];
}

/** Fork a worker.  @return the worker, or NULL. */
static struct worker *super_fork(struct supervisor *super)
{
	int sock;
	if (super->n == PROBER_MAX)
		return fail_null(EAGAIN);
	int pid = os_fork_socket(&super->os, &sock);
	if (pid < 0)
		return NULL;
	if (pid == 0) {
		/* The sockets of the other workers may use up all descriptors. */
		for (unsigned i = 0; i < super->n; ++i)
			os_close(&super->os, super->workers[i].sock);
		os_close(&super->os, super->owner);
		int fds[2] = {sock, super->root};
		if (os_detach(&super->os, PROBER_PROCESS, false, fds) != 0)
			os_exit_process(1);
		prober_work(&super->os, fds[0], fds[1]);
	}
	struct worker *worker = &super->workers[super->n++];
	*worker = (struct worker){.pid = pid, .sock = sock};
	return worker;
}

/** Abandon a worker that does not die: move it to the root of a cgroup hierarchy, if permitted. */
static void super_abandon(struct supervisor *super, const struct worker *worker)
{
	static const char *const roots[] = {
		PROBER_CGROUP_DIR "/cgroup.procs", PROBER_CGROUP_DIR "/unified/cgroup.procs",
		PROBER_CGROUP_DIR "/systemd/cgroup.procs",
	};
	char pid[16];
	int n = snprintf(pid, sizeof(pid), "%d", worker->pid);
	for (size_t i = 0; super->cgroups && i < sizeof(roots) / sizeof(*roots); ++i) {
		int fd = os_openat(&super->os, AT_FDCWD, roots[i], O_WRONLY | O_NOFOLLOW);
		if (fd >= 0)
			os_write(&super->os, fd, pid, (size_t)n);
		os_close(&super->os, fd);
	}
}

/** Report that a worker did not answer. */
static void super_report_hung(struct supervisor *super, struct worker *worker, bool left)
{
	if (worker->cancelled)
		return;
	struct probe_answer answer = worker->seen;
	answer.tag = worker->question.tag;
	answer.how = PROBE_HUNG;
	answer.error = ETIMEDOUT;
	answer.left = left;
	answer.pid = left ? worker->pid : 0;
	super_send_answer(super, &answer);
}

static void super_kill(struct supervisor *super, struct worker *worker, double now)
{
	os_kill(&super->os, worker->pid, SIGKILL);
	worker->state = WORKER_KILLED;
	worker->extended = false;
	worker->until = now + DIES_WITHIN;
}

/** Check whether a worker that has closed its socket has died, killed or not; if so, remove it.
    @return whether it was removed. */
static bool super_reap(struct supervisor *super, struct worker *worker)
{
	if (!worker->closed || !os_reap(&super->os, worker->pid, 0, NULL))
		return false;
	super_unrecord(super, worker);
	if (worker->state == WORKER_KILLED)
		super_report_hung(super, worker, false);
	super_remove(super, worker);
	return true;
}

/** Receive a message from a worker.  @return whether the worker still exists. */
static bool super_receive_answer(struct supervisor *super, struct worker *worker)
{
	struct probe_answer answer = {.how = PROBE_SEEN};
	ssize_t n = 0;
	while (!worker->invalid && answer.how == PROBE_SEEN) {
		n = os_recv(&super->os, worker->sock, &answer, sizeof(answer), NULL, false);
		if (n != (ssize_t)sizeof(answer))
			break;
		if (answer.how == PROBE_SEEN)
			worker->seen = answer;
	}
	if (n < 0 && errno == EAGAIN && ++worker->empty_reads < EMPTY_READS_MAX)
		return true;
	if (n == (ssize_t)sizeof(answer)) {
		worker->empty_reads = 0;
		if (worker->state == WORKER_BUSY && answer.tag == worker->question.tag) {
			worker->state = WORKER_IDLE;
			super_unrecord(super, worker);
			super_send_answer(super, &answer);
		}
		return true;
	}
	int error = n == 0 ? ECHILD : n < 0 ? errno : EPROTO;
	if (worker->state == WORKER_BUSY && !worker->cancelled) {
		struct probe_answer none = {
			.tag = worker->question.tag, .how = PROBE_NOT_MADE, .error = error,
		};
		super_send_answer(super, &none);
	}
	/* An invalid message, or the end of the socket: no answer will come. */
	if (worker->state != WORKER_KILLED) {
		worker->cancelled = true;
		super_kill(super, worker, os_now());
	}
	worker->invalid = true;
	worker->closed = n == 0;
	return !super_reap(super, worker);
}

/** Enforce the deadline of a worker.  @return whether the worker still exists. */
static bool super_keep_deadline(struct supervisor *super, struct worker *worker, double now)
{
	if (super_reap(super, worker))
		return false;
	if (worker->state == WORKER_IDLE || now < worker->until)
		return true;
	uint64_t start;
	char state = prober_process(&super->os, worker->pid, &start);
	if (worker->state == WORKER_BUSY) {
		/* The worker is not asleep but lacks a processor: the machine is busy. */
		if (state == 'R' && !worker->extended) {
			worker->extended = true;
			worker->until = now + super->timeout;
			return true;
		}
		super_kill(super, worker, now);
		return true;
	}
	bool stuck = state == 'D' || state == '\0';
	super_report_hung(super, worker, stuck);
	if (!stuck && !worker->extended) {
		/* It will die: it needs no record. */
		worker->extended = worker->cancelled = true;
		worker->until = now + STARVES;
		return true;
	}
	if (stuck)
		super_abandon(super, worker);
	super_remove(super, worker);
	return false;
}

/** The run has ended, or needs no more answers: kill all workers. */
static void super_cancel_all(struct supervisor *super, double now)
{
	for (unsigned i = 0; i < super->n; ++i) {
		struct worker *worker = &super->workers[i];
		worker->cancelled = true;
		if (worker->state != WORKER_KILLED)
			super_kill(super, worker, now);
	}
}

/** Send the question in super->message to a worker.
    @return PROBE_END for success, or the reason of the failure. */
static enum probe_how super_send_question(struct supervisor *super, struct worker *worker,
                                          size_t size)
{
	worker->question = super->message.question;
	int error = super_record(super, worker);
	if (error) {
		errno = error;
		return PROBE_NO_RECORD;
	}
	if (os_send(&super->os, worker->sock, &super->message, size, NULL, 0, -1, false) != 0) {
		error = errno;
		super_unrecord(super, worker);
		errno = error;
		return PROBE_NOT_MADE;
	}
	super->last_given = os_now();
	worker->state = WORKER_BUSY;
	worker->extended = false;
	worker->seen = (struct probe_answer){0};
	worker->until = super->last_given + super->timeout;
	return PROBE_END;
}

/** Send the pending question to a worker.  If no worker can be forked, the question waits for a
    busy worker, or fails if no worker exists.
    @idle  An idle worker; NULL: fork one. */
static void super_dispatch(struct supervisor *super, struct worker *idle, size_t size)
{
	enum probe_how how = idle ? super_send_question(super, idle, size) : PROBE_NOT_MADE;
	struct worker *forked = NULL;
	super->held = 0;
	if (how == PROBE_NOT_MADE && (forked = super_fork(super)))
		how = super_send_question(super, forked, size);
	if (how == PROBE_END)
		return;
	struct probe_answer none = {
		.tag = super->message.question.tag, .how = (uint8_t)how, .error = errno};
	for (unsigned i = 0; how == PROBE_NOT_MADE && !forked && i < super->n; ++i) {
		if (super->workers[i].state != WORKER_IDLE)
			super->held = size;
	}
	if (super->held == 0)
		super_send_answer(super, &none);
}

/** Receive a question from the run.
    @idle  An idle worker; NULL: fork one.
    @return whether the run may send more. */
static bool super_receive_question(struct supervisor *super, struct worker *idle)
{
	int passed;
	ssize_t n = os_recv(&super->os, super->owner, &super->message, sizeof(super->message),
	                    &passed, false);
	if (n < 0 && errno == EAGAIN)
		return ++super->empty_reads < EMPTY_READS_MAX;
	super->empty_reads = 0;
	if (n < (ssize_t)sizeof(super->message.question))
		return false;
	uint32_t tag = super->message.question.tag;
	if (tag == PROBE_ROOT || tag == PROBE_MEMORY) {
		int *place = tag == PROBE_ROOT ? &super->root : &super->memory;
		os_close(&super->os, *place);
		*place = passed;
		return passed >= 0;   /* -1: no descriptor was free */
	}
	os_close(&super->os, passed);
	if (tag == PROBE_CGROUPS)
		super->cgroups = true;
	else
		super_dispatch(super, idle, (size_t)n);
	return true;
}

/** One iteration.  @return whether there is more to do. */
static bool super_turn(struct supervisor *super)
{
	struct pollfd fds[PROBER_MAX + 1];
	struct worker *idle = NULL;
	double now = os_now(), next = now + 1000;
	if (super->lost && !super->ending) {
		super->ending = true;
		super_cancel_all(super, now);
	}
	for (unsigned i = 0; i < super->n; ++i) {
		struct worker *worker = &super->workers[i];
		/* poll(2) reports the end of the socket in any case. */
		fds[i] = (struct pollfd){.fd = worker->closed ? -1 : worker->sock,
		                         .events = worker->invalid ? 0 : POLLIN};
		if (worker->closed && now + REAP_EVERY < next)
			next = now + REAP_EVERY;
		if (worker->state == WORKER_IDLE)
			idle = worker;
		else if (worker->until < next)
			next = worker->until;
	}
	if (super->held > 0 && !super->ending && (idle || super->n == 0)) {
		super_dispatch(super, idle, super->held);
		return true;
	}
	unsigned n = super->n;
	bool grows = n < PROBER_MAX && super->held == 0;
	bool may = super->held == 0
	           && (idle || n == 0 || (grows && now >= super->last_given + GROW_AFTER));
	if (super->ending && n == 0)
		return false;
	if (!super->ending) {
		fds[n] = (struct pollfd){.fd = super->owner, .events = POLLRDHUP};
		if (may)
			fds[n].events |= POLLIN;
		else if (grows && super->last_given + GROW_AFTER < next)
			next = super->last_given + GROW_AFTER;
	}
	int ready = os_poll_until(&super->os, fds, n + !super->ending, next);
	if (ready < 0 || (ready == 0 && os_now() < next && ++super->empty_reads == EMPTY_READS_MAX))
		return false;

	/* Do this before workers are removed, which moves them. */
	if (!super->ending && fds[n].revents) {
		bool more = may && !(fds[n].revents & POLLRDHUP);
		if (!more || !super_receive_question(super, idle)) {
			super->ending = true;
			super_cancel_all(super, os_now());
		}
	}
	now = os_now();
	/* Backwards: a removed worker is replaced by one that was already handled. */
	for (unsigned i = n; i-- > 0;) {
		struct worker *worker = &super->workers[i];
		if (fds[i].revents && !super_receive_answer(super, worker))
			continue;
		super_keep_deadline(super, worker, now);
	}
	return true;
}

void prober_supervise(const struct os *os, int owner, double timeout,
                      const struct prober_self *self)
{
	/* static: too large for the stack; each process has one. */
	static struct supervisor super;
	super.os = *os;
	super.self = self;
	super.owner = owner;
	super.timeout = timeout;
	super.root = super.memory = -1;
	while (super_turn(&super))
		;
	struct probe_answer end = {.how = PROBE_END};
	prober_counts(&end, &super.os);
	super_send_answer(&super, &end);
	os_exit_process(0);
}
