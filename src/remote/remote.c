/* SPDX-License-Identifier: MIT */
/*
 * Search on other hosts: the states of the hosts, and the exchange of data with them.
 *
 *     WAITING --connect--> TALKING --answer complete--> LEAVING --process gone--> GONE
 *                           ^ |  |                         ^
 *                   RESTING-' |  '--> RESTING, if kept     |
 *                             |                            |
 *                             '--connection ended--> ENDING '   failed: an error for each root
 *
 * A connection ended early in ENDING: its process gets a second (GRACE) to end as well, since its
 * exit status and last messages give the reason.  In LEAVING nothing is received.  At most
 * HOSTS_MOST hosts are between WAITING and LEAVING.
 *
 * The memory is limited: the queue exceeds QUEUE_MOST by at most one read from each host; each
 * conversation keeps less than TALK_KEPT bytes, and the last messages of its process (end.c).
 */
#include "remote/remote_impl.h"

#include "base/array.h"
#include "os/process.h"
#include "remote/wire.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>

enum {
	HOSTS_MOST = 16,
	READ = 64 * 1024,
	QUEUE_MOST = 256 * 1024,
	TICK = 10,             /* milliseconds between checks whether a process has ended */
};

/** Seconds that a process gets to end after its connection ended. */
#define GRACE 1.0

struct remote *remote_new(struct os *os, const struct search_transport *transport)
{
	struct remote *remote = calloc(1, sizeof(*remote));
	if (!remote)
		return NULL;
	remote->os = os;
	remote->transport = *transport;
	return remote;
}

void remote_set_state(struct remote_host *host, enum host_state state)
{
	static const unsigned follow[] = {
		[WAITING] = 1 << TALKING,
		[TALKING] = 1 << RESTING | 1 << ENDING | 1 << LEAVING,
		[RESTING] = 1 << TALKING | 1 << LEAVING,
		[ENDING] = 1 << LEAVING,
		[LEAVING] = 1 << GONE,
		[GONE] = 0,
	};
	assert(follow[host->state] >> state & 1);
	(void)follow;
	host->state = state;
}

void remote_check(const struct remote *remote)
{
#ifndef NDEBUG
	assert(remote->started <= remote->n && (remote->queue.failed
	                                        || remote->at <= remote->queue.len));
	for (size_t i = 0; i < remote->n && !remote->failed; ++i) {
		const struct remote_host *host = &remote->hosts[i];
		assert((host->state == WAITING) == (i >= remote->started) && host->n > 0);
		assert((host->talk != NULL) == (host->state >= TALKING && host->state <= ENDING));
		assert(host->state < LEAVING || (host->link.fd < 0 && host->link.errors < 0));
	}
#else
	(void)remote;
#endif
}

/** The queue contains an entry, then its attributes, path, target, extended attributes and reason
    if present.  A NUL follows each of the last four. */
void remote_queue(struct remote *remote, const struct remote_root *root,
                  const struct talk_entry *e, const char *why)
{
	struct remote_entry queued = {
		.root = root->name, .index = root->index, .entry = *e, .why = why,
	};
	struct strbuf *queue = &remote->queue;
	assert(e->path[e->len] == '\0' && (!e->target || e->target[e->target_len] == '\0')
	       && (!e->xattrs || e->xattrs[e->xattrs_len] == '\0'));
	strbuf_add(queue, (const char *)&queued, sizeof(queued));
	if (e->st)
		strbuf_add(queue, (const char *)e->st, sizeof(*e->st));
	strbuf_add(queue, e->path, e->len + 1);
	if (e->target)
		strbuf_add(queue, e->target, e->target_len + 1);
	if (e->xattrs)
		strbuf_add(queue, e->xattrs, e->xattrs_len + 1);
	if (why)
		strbuf_add(queue, why, strlen(why) + 1);
}

/** Advance `at` by n bytes.
    @return the former value of `at`. */
static const char *step(const char **at, size_t n)
{
	const char *from = *at;
	*at += n;
	return from;
}

bool remote_next(struct remote *remote, struct remote_entry *entry)
{
	struct talk_entry *e = &entry->entry;
	if (remote->at == remote->queue.len || remote->queue.failed)
		return false;
	const char *at = remote->queue.data + remote->at;
	memcpy(entry, step(&at, sizeof(*entry)), sizeof(*entry));
	if (e->st)
		e->st = (const void *)step(&at, sizeof(*e->st));
	e->path = step(&at, e->len + 1);
	if (e->target)
		e->target = step(&at, e->target_len + 1);
	if (e->xattrs)
		e->xattrs = step(&at, e->xattrs_len + 1);
	if (entry->why)
		entry->why = step(&at, strlen(at) + 1);
	remote->at = (size_t)(at - remote->queue.data);
	assert(remote->at <= remote->queue.len);
	return true;
}

/** Copy a text to memory that remote_free() frees.
    @return NULL: memory ran out. */
static char *keep_text(struct remote *remote, const char *text)
{
	if (!ARRAY_ROOM(remote->texts, remote->ntexts, &remote->texts_room))
		return NULL;
	char *copy = strdup(text);
	if (copy)
		remote->texts[remote->ntexts++] = copy;
	return copy;
}

/** Find the host of a root, or add the host.
    @return NULL: memory ran out. */
static struct remote_host *host_of(struct remote *remote, const char *root,
                                   const struct search_server *server)
{
	const size_t n = remote_prefix(root);
	for (size_t i = 0; i < remote->n; ++i) {
		struct remote_host *host = &remote->hosts[i];
		if (strncmp(host->prefix, root, n) == 0 && !host->prefix[n])
			return host;
	}
	char *prefix = keep_text(remote, root);
	if (!prefix || !ARRAY_ROOM(remote->hosts, remote->n, &remote->room))
		return NULL;
	prefix[n] = '\0';
	struct remote_host *host = &remote->hosts[remote->n++];
	*host = (struct remote_host){
		.server = *server, .prefix = prefix, .link = {.fd = -1, .errors = -1},
		.status = -1,
	};
	return host;
}

int remote_add(struct remote *remote, const char *name, size_t index)
{
	struct search_server server;
	struct remote_root root = {.name = name, .index = index};
	char *text = keep_text(remote, name);
	if (!text)
		return -1;
	const char *wrong = remote_parse(text, &server, &root.path);
	if (wrong) {
		remote_queue(remote, &root, &(struct talk_entry){
			.path = "", .err = EINVAL, .errsource = SEARCH_ERR_HOST,
		}, wrong);
		return remote->queue.failed ? -1 : 0;
	}
	struct remote_host *host = host_of(remote, name, &server);
	if (!host || !ARRAY_ROOM(host->roots, host->n, &host->room))
		return -1;
	host->roots[host->n++] = root;
	return 0;
}

/** Connect to a host by the caller's transport, and make a conversation.
    @return 0, or -1. */
static int start_wire(struct remote *remote, struct remote_host *host)
{
	struct search_link link = {.fd = -1, .errors = -1};
	host->talk = wire_talk_new();
	if (!host->talk
	    || remote->transport.connect(remote->transport.arg, &host->server, &link) != 0)
		return -1;
	host->link = link;
	return 0;
}

/** Send the request to a host, with the host's roots. */
static void ask(struct remote *remote, struct remote_host *host, const struct talk_request *request)
{
	struct talk_request own = *request;
	assert(host->state == TALKING && host->talk->state == TALK_DONE);
	host->since = os_now();
	own.roots = host->paths;
	own.n = host->n;
	own.prefix = host->prefix;
	host->talk->ops->ask(host->talk, &own);
	if (host->talk->state == TALK_FAILED)
		remote_fail_host(remote, host, EMSGSIZE, strbuf_str(&host->talk->why));
}

/** Connect to a host, and start the search on it. */
static void start(struct remote *remote, struct remote_host *host,
                  const struct talk_request *request)
{
	host->server.alone = remote->n == 1;
	host->server.timeout = remote->transport.timeout;
	remote_set_state(host, TALKING);
	host->since = os_now();
	host->paths = malloc(host->n * sizeof(*host->paths));
	if (!host->paths) {
		remote->failed = true;
		return;
	}
	for (size_t i = 0; i < host->n; ++i)
		host->paths[i] = host->roots[i].path;
	struct strbuf why = {0};
	bool chirp = strcmp(host->server.scheme, "chirp") == 0;
	const char *methods = remote->transport.chirp_auth;
	int rc = chirp ? chirp_link_start(&host->chirp, remote->os, &host->server, methods,
	                                  &host->talk, &host->link, &why)
	         : start_wire(remote, host);
	if (rc != 0) {
		int error = errno;
		if (why.len == 0)
			strbuf_printf(&why, "the connection cannot be started: %s",
			              strerror(error));
		remote_fail_host(remote, host, error, strbuf_str(&why));
		strbuf_destroy(&why);
		return;
	}
	ask(remote, host, request);
}

void remote_path(struct remote *remote, const char *path)
{
	assert(remote->n == 1 && remote->hosts[0].n == 1);
	remote->hosts[0].roots[0].path = path;
}

void remote_keep(struct remote *remote)
{
	remote->keep = true;
}

bool remote_again(struct remote *remote, const struct talk_request *request)
{
	struct remote_host *host = &remote->hosts[0];
	if (host->state != RESTING)
		return false;
	remote->keep = false;
	remote_set_state(host, TALKING);
	ask(remote, host, request);
	return true;
}

/** A sink that appends the entries of a conversation to the queue. */
struct sink {
	struct talk_sink sink;
	struct remote *remote;
	struct remote_host *host;
};

static void sink_entry(struct talk_sink *talk_sink, const struct talk_entry *e)
{
	struct sink *sink = (struct sink *)talk_sink;
	assert(e->root < sink->host->n);
	remote_queue(sink->remote, &sink->host->roots[e->root], e, NULL);
}

static int sink_prove(struct talk_sink *talk_sink, const char *path)
{
	struct sink *sink = (struct sink *)talk_sink;
	return chirp_link_prove(&sink->host->chirp, sink->remote->os, path);
}

/** Send bytes of the host's request, as many as the connection accepts. */
static void send_some(struct remote *remote, struct remote_host *host)
{
	struct strbuf *out = &host->talk->out;
	const char *bytes = strbuf_text(out);
	if (!bytes) {
		/* Memory ran out, so a part of the request is missing: do not send the rest. */
		remote->failed = true;
		return;
	}
	ssize_t n = os_send_some(remote->os, host->link.fd, bytes, out->len);
	if (n > 0)
		talk_sent(host->talk, (size_t)n);
	else if (n < 0 && errno != EAGAIN && errno != EINTR)
		strbuf_reset(out);   /* reading from the connection will report the error */
}

/** Receive bytes from a host, or the connection from the process that connects.
    @chunk  A buffer of READ bytes. */
static void receive(struct remote *remote, struct remote_host *host, char *chunk,
                    struct search_counts *counts)
{
	struct talk *talk = host->talk;
	if (host->chirp.connecting) {
		struct strbuf why = {0};
		int rc = chirp_link_take(&host->chirp, remote->os, &host->link, &why);
		host->since = rc == 0 ? os_now() : host->since;
		if (rc < 0)
			remote_fail_host(remote, host, EHOSTUNREACH, strbuf_str(&why));
		strbuf_destroy(&why);
		return;
	}
	ssize_t n = os_recv(remote->os, host->link.fd, chunk, READ, NULL, false);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	host->since = os_now();
	if (n <= 0) {
		talk->ops->end(talk);
		remote_set_state(host, ENDING);
		remote_close(remote, host);
		return;
	}
	struct sink sink = {{.entry = sink_entry, .prove = sink_prove}, remote, host};
	talk->ops->take(talk, chunk, (size_t)n, &sink.sink);
	if (talk->state == TALK_FAILED) {
		remote_fail_host(remote, host, EPROTO, strbuf_str(&talk->why));
	} else if (talk->state == TALK_DONE) {
		counts->dirs += talk->counts.dirs;
		counts->entries += talk->counts.entries;
		if (counts->threads < talk->counts.threads)
			counts->threads = talk->counts.threads;
		if (remote->keep)
			remote_set_state(host, RESTING);
		else
			remote_leave(remote, host, false);
	}
}

/** Check the time limits of a host, and the end of its process, after poll(2).
    @heard  The connection was readable. */
static void advance(struct remote *remote, struct remote_host *host, bool heard)
{
	double waited = os_now() - host->since;
	unsigned limit = remote->transport.timeout;
	if (host->state == TALKING && !heard && limit > 0 && waited > limit) {
		struct strbuf why = {0};
		strbuf_printf(&why, "no answer for %u seconds", limit);
		remote_quote_errors(host, &why);
		remote_fail_host(remote, host, ETIMEDOUT, strbuf_str(&why));
		strbuf_destroy(&why);
	} else if (host->state == ENDING && (remote_is_gone(remote, host) || waited > GRACE)) {
		/* Messages may have arrived since the last read. */
		if (host->link.errors >= 0)
			remote_read_errors(remote, host);
		struct strbuf why = {0};
		remote_why_ended(host, &why);
		remote_fail_host(remote, host, host->talk->met ? ECONNRESET : EHOSTUNREACH,
		          strbuf_str(&why));
		strbuf_destroy(&why);
	} else if (host->state == LEAVING) {
		if (remote_is_gone(remote, host)) {
			remote_set_state(host, GONE);
		} else if (waited > GRACE) {
			os_kill(remote->os, host->link.pid, SIGKILL);
			host->since = os_now();
		}
	}
}

/** Start hosts while fewer than HOSTS_MOST are connected.
    @return the number of connected hosts. */
static size_t start_more(struct remote *remote, const struct talk_request *request)
{
	size_t connected = 0;
	for (size_t i = 0; i < remote->started; ++i)
		connected += remote->hosts[i].state == TALKING || remote->hosts[i].state == ENDING;
	while (connected < HOSTS_MOST && remote->started < remote->n) {
		struct remote_host *host = &remote->hosts[remote->started++];
		start(remote, host, request);
		connected += host->state == TALKING;
	}
	return connected;
}

int remote_turn(struct remote *remote, const struct talk_request *request, int ms,
                struct search_counts *counts)
{
	struct pollfd fds[2 * HOSTS_MOST];
	struct remote_host *polled[2 * HOSTS_MOST];
	size_t n = 0;
	if (remote->at < remote->queue.len)
		return 1;
	strbuf_reset(&remote->queue);
	remote->at = 0;
	bool more = start_more(remote, request) > 0 || remote->queue.len > 0;
	for (size_t k = 0; k < remote->started; ++k) {
		struct remote_host *host = &remote->hosts[(remote->turn + k) % remote->started];
		bool talking = host->state == TALKING;
		if (talking || host->state == ENDING) {
			assert(n + 2 <= sizeof(fds) / sizeof(*fds));
			bool sends = talking && !host->chirp.connecting && host->talk->out.len > 0;
			short out = sends ? POLLOUT : 0;
			polled[n] = host;
			fds[n++] = (struct pollfd){talking ? host->link.fd : -1, POLLIN | out, 0};
			polled[n] = host;
			fds[n++] = (struct pollfd){host->link.errors, POLLIN, 0};
		}
		if (host->state == ENDING)
			ms = ms < TICK ? ms : TICK;
	}
	++remote->turn;
	if (remote->queue.len > 0)
		ms = 0;
	if (n > 0 && !remote->failed)
		os_poll(remote->os, fds, n, ms);
	char *chunk = n > 0 ? malloc(READ) : NULL;
	remote->failed |= n > 0 && !chunk;
	for (size_t i = 0; i < n && !remote->failed; i += 2) {
		struct remote_host *host = polled[i];
		bool heard = fds[i].revents & (POLLIN | POLLHUP | POLLERR);
		if (fds[i + 1].revents)
			remote_read_errors(remote, host);
		if (fds[i].revents & POLLOUT)
			send_some(remote, host);
		if (remote->failed)
			break;
		if (heard && remote->queue.len < QUEUE_MOST)
			receive(remote, host, chunk, counts);
		advance(remote, host, heard);
	}
	free(chunk);
	for (size_t i = 0; i < remote->started; ++i) {
		if (remote->hosts[i].state == LEAVING)
			advance(remote, &remote->hosts[i], false);
	}
	if (remote->failed || remote->queue.failed)
		return fail(ENOMEM);
	remote_check(remote);
	return more || remote->queue.len > 0 || remote->started < remote->n;
}

bool remote_asks(const struct remote *remote)
{
	const struct remote_host *host = remote->hosts;
	return remote->n == 1 && (host->state == WAITING
	                          || (host->state == TALKING && !host->talk->met));
}

