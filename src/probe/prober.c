/* SPDX-License-Identifier: MIT */
/*
 * The client side: sends questions, receives answers.
 */
#include "probe/prober.h"

#include "os/change.h"
#include "os/process.h"
#include "os/service.h"
#include "probe/prober_impl.h"

#include <fcntl.h>
#include <stdlib.h>

/* Seconds to wait for the supervisor's last message (it needs 0.2, and 2 more if a worker does not
   die); and after that message, or a kill, for the process to end. */
static const double END_WITHIN = 4;
static const double REAP_WITHIN = 0.5;

/* The supervisor is considered stopped after silence for twice the timeout of a question (a worker
   may have been without a processor) plus these seconds. */
static const double QUIET = 2;

enum {
	WAITS_MAX = 100,       /* calls of poll(2) per answer */
	LOCK_MS = 50,
};

/* Seconds, in addition to the timeout of a question, to wait for another prober's lock. */
static const double LOCK_WITHIN = 3;

struct prober {
	struct os *os;
	int sock;
	int pid;                   /* the supervisor */
	double timeout;            /* of a question */
	double quiet;              /* seconds of silence after which the supervisor is suspect */
	double since;              /* the time of the last message, in either direction */
	bool continued;            /* SIGCONT was sent after that */
	bool stopped;              /* SIGCONT had no effect */
	struct prober_self self;
	struct prober_left *left;  /* processes of earlier runs */
	size_t nleft;
	struct prober_use *uses;   /* of nleft processes of earlier runs, then of this run; room for
	                              PROBER_MAX */
	size_t nuses;
	int memory;                /* the directory of the records, locked; or -1 */
};

struct prober *prober_new(struct os *os, double timeout)
{
	struct prober *prober = calloc(1, sizeof(*prober));
	struct prober_use *uses = calloc(PROBER_MAX, sizeof(*uses));
	if (!prober || !uses)
		goto failed;
	*prober = (struct prober){
		.os = os, .memory = -1, .uses = uses, .timeout = timeout,
		.quiet = 2 * timeout + QUIET,
	};
	prober_self_init(os, &prober->self);
	prober->pid = os_fork_socket(os, &prober->sock);
	if (prober->pid < 0)
		goto failed;
	if (prober->pid == 0) {
		struct os own;
		int fds[2] = {prober->sock, -1};
		os_clone_state(&own, os);
		if (os_detach(&own, PROBER_PROCESS, true, fds) != 0)
			os_exit_process(1);
		prober_supervise(&own, fds[0], timeout, &prober->self);
	}
	return prober;
failed:
	free(uses);
	free(prober);
	return NULL;
}

/** Send a message that consists of a tag and a descriptor, or -1.  @return 0, or -1. */
static int prober_send_tag(struct prober *prober, uint32_t tag, int fd)
{
	struct probe_question message = {.tag = tag};
	return os_send(prober->os, prober->sock, &message, sizeof(message), NULL, 0, fd, true);
}

int prober_root(struct prober *prober, int fd)
{
	return prober_send_tag(prober, PROBE_ROOT, fd);
}

int prober_permit_cgroups(struct prober *prober)
{
	return prober_send_tag(prober, PROBE_CGROUPS, -1);
}

int prober_lock(struct prober *prober, const char *dir, double deadline)
{
	struct os *os = prober->os;
	double seconds = prober->timeout + LOCK_WITHIN, end = os_now() + seconds;
	if (deadline > 0 && deadline < end)
		end = deadline;
	int rc, fd = prober_memory_open(os, dir);
	if (fd < 0)
		return -1;
	for (double steps = seconds * 1e3 / LOCK_MS;
	     (rc = os_flock(os, fd)) != 0 && errno == EWOULDBLOCK;) {
		if (os_now() >= end || steps-- <= 0)
			break;
		os_poll(os, NULL, 0, LOCK_MS);
		errno = EWOULDBLOCK;
	}
	if (rc != 0)
		goto failed;
	ssize_t n = prober_recall(os, fd, &prober->self, &prober->left);
	if (n < 0)
		goto failed;
	size_t nleft = prober->nleft = (size_t)n;
	struct prober_use *uses = realloc(prober->uses, (nleft + PROBER_MAX) * sizeof(*uses));
	if (!uses)
		goto failed;
	for (size_t i = 0; i < nleft; ++i)
		uses[i] = (struct prober_use){.owner = prober->left[i].owner};
	prober->uses = uses;
	prober->nuses = nleft;
	/* The supervisor holds the lock while it lives; it may outlive this process. */
	if (prober_send_tag(prober, PROBE_MEMORY, fd) != 0) {
		errno = EPIPE;
		goto failed;
	}
	prober->memory = fd;
	return 0;
failed:
	os_close(os, fd);
	return -1;
}

int prober_ask(struct prober *prober, const struct probe_question *question)
{
	char texts[sizeof(((struct probe_message *)NULL)->text)];
	size_t path = strlen(question->path) + 1;
	size_t device = question->device ? strlen(question->device) + 1 : 0;
	if (path > PROBE_PATH_MAX || path + device > sizeof(texts))
		return fail(ENAMETOOLONG);
	int full = prober_room(prober->uses, prober->nuses, question->owner);
	if (full)
		return fail(full == EBUSY && question->owner == 0 ? EAGAIN : full);
	memcpy(texts, question->path, path);
	if (device)
		memcpy(texts + path, question->device, device);
	int rc = os_send(prober->os, prober->sock, question, sizeof(*question), texts,
	                 path + device, -1, false);
	prober->since = os_now();
	if (rc == 0)
		prober->uses[prober->nuses++] = (struct prober_use){
			.owner = question->owner, .tag = question->tag, .open = true};
	else if (errno != EAGAIN && errno != EMSGSIZE)
		errno = EPIPE;
	return rc;
}

/** Close the answered question.  A hung mount counts until the end of the run even if its process
    was killed, which limits the time that the mounts of one user can take. */
static void prober_close(struct prober *prober, const struct probe_answer *answer)
{
	for (size_t i = prober->nleft; i < prober->nuses; ++i) {
		struct prober_use *use = &prober->uses[i];
		if (!use->open || use->tag != answer->tag)
			continue;
		use->open = false;
		if (answer->how != PROBE_HUNG)
			*use = prober->uses[--prober->nuses];
		return;
	}
}

/** Receive a message.  @return as os_recv(). */
static ssize_t prober_receive(struct prober *prober, struct probe_answer *answer)
{
	ssize_t n = os_recv(prober->os, prober->sock, answer, sizeof(*answer), NULL, false);
	if (n == (ssize_t)sizeof(*answer)) {
		for (int i = 0; i < OS_NCALLS; ++i)
			prober->os->calls[i] += answer->calls[i];
		prober->since = os_now();
		prober->continued = false;
		if (answer->how != PROBE_END)
			prober_close(prober, answer);
	}
	return n;
}

/** Wait for a message until a time.  @return whether one has arrived. */
static bool prober_wait(struct prober *prober, double until)
{
	struct pollfd fd = {.fd = prober->sock, .events = POLLIN};
	return os_poll_until(prober->os, &fd, 1, until) > 0;
}

/** Send SIGCONT to a supervisor that may be stopped. */
static void prober_continue(struct prober *prober)
{
	os_kill(prober->os, prober->pid, SIGCONT);
	prober->since = os_now();
	prober->continued = true;
}

int prober_answer(struct prober *prober, struct probe_answer *answer, double deadline)
{
	for (unsigned waits = 0;; ++waits) {
		ssize_t n = prober_receive(prober, answer);
		if (n == (ssize_t)sizeof(*answer))
			return 1;
		if (n >= 0 || errno != EAGAIN || waits == WAITS_MAX)
			return fail(EPIPE);
		double end = prober->since + prober->quiet;
		if (prober_wait(prober, deadline > 0 && deadline < end ? deadline : end))
			continue;
		double now = os_now();
		if (deadline > 0 && now >= deadline)
			return 0;
		if (now < end)
			continue;
		/* A signal may have stopped it. */
		if (prober->continued) {
			prober->stopped = true;
			return fail(EPIPE);
		}
		prober_continue(prober);
	}
}

int prober_left(const struct prober *prober, uint32_t dev_major, uint32_t dev_minor, int64_t *since)
{
	for (size_t i = 0; i < prober->nleft; ++i) {
		const struct prober_left *left = &prober->left[i];
		if (left->dev_major == dev_major && left->dev_minor == dev_minor) {
			*since = left->since;
			return left->pid;
		}
	}
	return 0;
}

/** Wait for the end of the supervisor.  @return whether it ended. */
static bool prober_wait_end(struct prober *prober)
{
	struct probe_answer answer;
	double until = os_now() + END_WITHIN;
	for (unsigned waits = 0; waits < WAITS_MAX && os_now() < until;) {
		ssize_t n = prober_receive(prober, &answer);
		if ((n < 0 && errno != EAGAIN) || n == 0 || (n > 0 && answer.how == PROBE_END))
			return true;
		if (n < 0) {
			prober_wait(prober, until);
			++waits;
		}
	}
	return false;
}

void prober_free(struct prober *prober)
{
	if (!prober)
		return;
	int error = errno;
	/* If this fails, closing the socket below has the same effect. */
	bool is_shut = !prober->stopped && os_shutdown(prober->os, prober->sock) == 0;
	bool ended = is_shut && prober_wait_end(prober);
	if (is_shut && !ended) {
		prober_continue(prober);
		ended = prober_wait_end(prober);
	}
	os_close(prober->os, prober->sock);
	/* The kernel kills its workers when it ends: os_fork_process(). */
	if (!ended || !os_reap(prober->os, prober->pid, REAP_WITHIN, NULL)) {
		os_kill(prober->os, prober->pid, SIGKILL);
		os_reap(prober->os, prober->pid, REAP_WITHIN, NULL);
	}
	/* From here on, all processes left behind are recorded. */
	os_close(prober->os, prober->memory);
	free(prober->uses);
	free(prober->left);
	free(prober);
	errno = error;
}
