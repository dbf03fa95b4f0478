/* SPDX-License-Identifier: MIT */
/*
 * The side of the run: questions out, answers in.
 */
#include "os/prober.h"

#include "os/change.h"
#include "os/file.h"
#include "os/process.h"
#include "os/prober_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* Seconds that the end of a supervisor is waited for; it takes 0.2, and 2 more
   where a worker is kept from dying. */
static const double END_WITHIN = 4;

/* Seconds beyond the time of a question, and as much again for a worker that
   got no processor, after which a supervisor that says nothing is held to be
   stopped. */
static const double QUIET = 3;

enum {
	WAITS_MAX = 100,       /* for one answer: each ends when there is one */
	LOCK_MS = 50,
};

struct prober {
	struct os *os;
	int sock;
	int pid;                   /* of the supervisor */
	double quiet;              /* seconds that it may say nothing */
	double since;              /* when it last said, or was asked, something */
	bool continued;            /* it was told to go on since then */
	char boot_id[PROBE_BOOT_ID_MAX];
	struct prober_left *left;
	size_t nleft;
	int lock;                  /* the directory of those, ours alone; -1 */
};

struct prober *prober_new(struct os *os, double timeout)
{
	struct prober_setup setup = {.timeout = timeout, .boot_id = "unknown"};
	struct prober *prober = calloc(1, sizeof(*prober));
	if (!prober)
		return NULL;
	*prober = (struct prober){.os = os, .sock = -1, .lock = -1, .quiet = 2 * timeout + QUIET};

	char *text;
	size_t len;
	if (os_read_file(os, AT_FDCWD, "/proc/sys/kernel/random/boot_id", 128, &text, &len) == 0) {
		len = strcspn(text, "\n");
		if (len > 0 && len < sizeof(setup.boot_id) && !memchr(text, '/', len)) {
			memcpy(setup.boot_id, text, len);
			setup.boot_id[len] = '\0';
		}
		free(text);
	}
	memcpy(prober->boot_id, setup.boot_id, sizeof(prober->boot_id));

	int socks[2];
	int error = 0;
	os_fork(&setup.os, os);
	if (os_socketpair(os, socks) != 0) {
		error = errno;
	} else {
		prober->sock = socks[0];
		prober->pid = os_fork_process(os);
		if (prober->pid == 0) {
			int fds[2] = {socks[1], -1};
			if (os_detach(&setup.os, "getmnt-probe", true, fds) != 0)
				os_exit_process(1);
			setup.owner = fds[0];
			prober_supervise(&setup);
		}
		if (prober->pid < 0)
			error = errno;
		os_close(os, socks[1]);
	}
	if (error) {
		os_close(os, prober->sock);
		free(prober);
		errno = error;
		return NULL;
	}
	return prober;
}

int prober_root(struct prober *prober, int fd)
{
	struct probe_request request = {.tag = PROBE_ROOT};
	return os_send(prober->os, prober->sock, &request, sizeof(request), NULL, 0, fd, true);
}

int prober_permit(struct prober *prober, unsigned places)
{
	struct probe_request request = {.tag = PROBE_PERMIT, .flags = places};
	if (places & PROBER_MEMORY && !prober->left)
		prober->nleft = prober_recall(prober->os, prober->boot_id, &prober->left);
	return os_send(prober->os, prober->sock, &request, sizeof(request), NULL, 0, -1, true);
}

int prober_lock(struct prober *prober, double seconds)
{
	struct os *os = prober->os;
	double end = os_now() + seconds;
	int rc, fd = prober_memory_open(os, true);
	if (fd < 0)
		return -1;
	while ((rc = os_flock(os, fd)) != 0 && errno == EWOULDBLOCK && os_now() < end)
		os_poll(os, NULL, 0, LOCK_MS);
	if (rc == 0)
		prober->lock = fd;
	else
		os_close(os, fd);
	return rc;
}

int prober_ask(struct prober *prober, const struct probe_question *question)
{
	struct probe_message message;
	memset(&message.request, 0, sizeof(message.request));
	size_t path = strlen(question->path) + 1;
	size_t device = question->device ? strlen(question->device) + 1 : 0;
	if (path > PROBE_PATH_MAX || path + device > sizeof(message.text)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	message.request = (struct probe_request){
		.tag = question->tag,
		.flags = question->flags,
		.id = question->id,
		.dev_major = question->dev_major,
		.dev_minor = question->dev_minor,
		.path_size = (uint32_t)path,
		.device_size = (uint32_t)device,
		.device_major = question->device_major,
		.device_minor = question->device_minor,
		.key = question->key,
	};
	memcpy(message.text, question->path, path);
	if (device)
		memcpy(message.text + path, question->device, device);
	int rc = os_send(prober->os, prober->sock, &message.request, sizeof(message.request),
	                 message.text, path + device, -1, false);
	prober->since = os_now();
	if (rc != 0 && errno != EAGAIN && errno != EMSGSIZE)
		errno = EPIPE;
	return rc;
}

/** Take in one message.  @return its size, or as os_recv(). */
static ssize_t prober_hear(struct prober *prober, struct probe_answer *answer)
{
	ssize_t n = os_recv(prober->os, prober->sock, answer, sizeof(*answer), NULL, false);
	if (n == (ssize_t)sizeof(*answer)) {
		for (int i = 0; i < OS_NCALLS; ++i)
			prober->os->calls[i] += answer->calls[i];
		prober->since = os_now();
		prober->continued = false;
	}
	return n;
}

/** Wait for a message until a moment.  @return whether there is one. */
static bool prober_wait(struct prober *prober, double until)
{
	struct pollfd fd = {.fd = prober->sock, .events = POLLIN};
	double left = until - os_now();
	if (left < 0)
		left = 0;
	return os_poll(prober->os, &fd, 1, left > 1000 ? 1000000 : (int)(left * 1e3) + (left > 0)) > 0;
}

/** Let a supervisor that was stopped go on. */
static void prober_continue(struct prober *prober)
{
	os_kill(prober->os, prober->pid, SIGCONT);
	prober->since = os_now();
	prober->continued = true;
}

int prober_answer(struct prober *prober, struct probe_answer *answer, double deadline)
{
	for (unsigned waits = 0;; ++waits) {
		ssize_t n = prober_hear(prober, answer);
		if (n == (ssize_t)sizeof(*answer))
			return 1;
		if (n >= 0 || errno != EAGAIN || waits == WAITS_MAX) {
			errno = EPIPE;
			return -1;
		}
		double end = prober->since + prober->quiet;
		if (prober_wait(prober, deadline > 0 && deadline < end ? deadline : end))
			continue;
		double now = os_now();
		if (deadline > 0 && now >= deadline)
			return 0;
		if (now < end)
			continue;
		/* Stopped, perhaps, by someone. */
		if (prober->continued) {
			errno = EPIPE;
			return -1;
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

/** Wait for the end of the supervisor.  @return whether it has come. */
static bool prober_ends(struct prober *prober)
{
	struct probe_answer answer;
	double until = os_now() + END_WITHIN;
	for (unsigned waits = 0; waits < WAITS_MAX && os_now() < until;) {
		ssize_t n = prober_hear(prober, &answer);
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
	/* Who cannot be told learns it when the socket is closed. */
	bool told = os_shutdown(prober->os, prober->sock) == 0;
	bool ended = !told || prober_ends(prober);
	if (!ended) {
		prober_continue(prober);
		ended = prober_ends(prober);
	}
	os_close(prober->os, prober->sock);
	if (!ended)
		os_kill(prober->os, prober->pid, SIGKILL);
	os_reap(prober->os, prober->pid, ended);
	/* Now what it left is remembered. */
	os_close(prober->os, prober->lock);
	free(prober->left);
	free(prober);
}
