/* SPDX-License-Identifier: MIT */
/*
 * The hosts of a search.
 *
 *     WAITING --connect--> TALKING --answer complete--> LEAVING --process gone--> GONE
 *                           ^ |  |                         ^
 *                   RESTING-' |  '--> RESTING, if kept     |
 *                             |                            |
 *                             '--connection ended--> ENDING '   failed: an error for each root
 *
 * In ENDING the process of a connection that ended early has a second to end as well: its exit
 * status and its last messages are the reason.  In LEAVING nothing is received any more.  At most
 * HOSTS_MOST hosts are between WAITING and LEAVING.
 *
 * What is kept is bounded: the queue gets at most one read of each host more than QUEUE_MOST; each
 * conversation keeps less than TALK_KEPT, and the last ERRORS_MOST bytes of messages.
 */
#include "search/remote.h"

#include "base/array.h"
#include "os/process.h"
#include "search/chirp_link.h"
#include "search/wire.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

enum {
	HOSTS_MOST = 16,
	READ = 64 * 1024,
	QUEUE_MOST = 256 * 1024,
	ERRORS_MOST = 4096,
	TICK = 10,             /* milliseconds between looks at a process that should end */
};

/** Seconds that a process has to end after its connection; and after SIGTERM. */
#define GRACE 1.0
#define TERM_GRACE 0.5

enum host_state { WAITING, TALKING, RESTING, ENDING, LEAVING, GONE };

struct root {
	const char *name, *path;       /* as given; on the server */
	size_t index;                  /* as given */
};

struct host {
	struct search_server server;
	struct root *roots;
	const char **paths;            /* of the roots, for the request */
	size_t n, room;
	enum host_state state;
	struct talk *talk;
	struct chirp_link chirp;       /* of a Chirp server */
	struct search_link link;       /* -1: closed; pid 0: none, or it is gone */
	int status;                    /* of its process, as of waitpid(2); -1: unknown */
	double since;                  /* the last sign of life, or the begin of its state */
	struct strbuf errors;          /* the end of its messages */
};

/** An entry in the queue, followed by its attributes, path, target, extended attributes and reason,
    each of the last four with a NUL. */
struct queued {
	struct root root;
	size_t len, target_len, xattrs_len, why_len;
	int err, errsource;
	unsigned char type;
	bool has_st, has_target, has_xattrs, has_why;
};

struct remote {
	struct os *os;
	struct search_transport transport;
	struct host *hosts;
	size_t n, room;
	size_t started;                /* hosts that are no longer WAITING */
	size_t turn;                   /* the host to begin with */
	char **texts;                  /* the strings of hosts and roots */
	size_t ntexts, texts_room;
	struct strbuf queue;
	size_t at;
	bool keep;                     /* a host is ASKED again */
	bool failed;                   /* memory ran out */
};

struct remote *remote_new(struct os *os, const struct search_transport *transport)
{
	struct remote *remote = calloc(1, sizeof(*remote));
	if (!remote)
		return NULL;
	remote->os = os;
	remote->transport = *transport;
	return remote;
}

/** Queue an entry.  @why  Of an error of the host; else NULL. */
static void queue_entry(struct remote *remote, const struct root *root, const struct talk_entry *e,
                        const char *why)
{
	struct queued q = {
		.root = *root, .len = e->len, .target_len = e->target ? e->target_len : 0,
		.xattrs_len = e->xattrs_len, .why_len = why ? strlen(why) : 0, .err = e->err,
		.errsource = e->errsource, .type = e->type, .has_st = e->st,
		.has_target = e->target, .has_xattrs = e->xattrs, .has_why = why,
	};
	struct strbuf *queue = &remote->queue;
	strbuf_add(queue, (const char *)&q, sizeof(q));
	if (e->st)
		strbuf_add(queue, (const char *)e->st, sizeof(*e->st));
	strbuf_add(queue, e->path, e->len + 1);
	if (e->target)
		strbuf_add(queue, e->target, e->target_len + 1);
	if (e->xattrs)
		strbuf_add(queue, e->xattrs, e->xattrs_len + 1);
	if (why)
		strbuf_add(queue, why, q.why_len + 1);
}

bool remote_next(struct remote *remote, struct remote_entry *entry)
{
	struct queued q;
	if (remote->at == remote->queue.len || remote->queue.failed)
		return false;
	const char *at = remote->queue.data + remote->at;
	memcpy(&q, at, sizeof(q));
	at += sizeof(q);
	const struct k_statx *st = (const void *)at;
	at += q.has_st ? sizeof(*st) : 0;
	const char *path = at, *target = path + q.len + 1;
	const char *xattrs = target + (q.has_target ? q.target_len + 1 : 0);
	const char *why = xattrs + (q.has_xattrs ? q.xattrs_len + 1 : 0);
	at = why + (q.has_why ? q.why_len + 1 : 0);
	remote->at = (size_t)(at - remote->queue.data);
	*entry = (struct remote_entry){
		.root = q.root.name,
		.index = q.root.index,
		.entry = {
			.path = path, .len = q.len, .target = q.has_target ? target : NULL,
			.target_len = q.target_len, .xattrs = q.has_xattrs ? xattrs : NULL,
			.xattrs_len = q.xattrs_len, .st = q.has_st ? st : NULL, .type = q.type,
			.err = q.err, .errsource = q.errsource,
		},
		.why = q.has_why ? why : NULL,
	};
	return true;
}

static bool is_same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/** The host of a server; it is added if necessary.  @return NULL: memory ran out. */
static struct host *host_of(struct remote *remote, const struct search_server *server)
{
	for (size_t i = 0; i < remote->n; ++i) {
		const struct search_server *s = &remote->hosts[i].server;
		if (is_same(s->host, server->host) && is_same(s->user, server->user)
		    && s->port == server->port && is_same(s->scheme, server->scheme))
			return &remote->hosts[i];
	}
	if (!ARRAY_ROOM(remote->hosts, remote->n, &remote->room))
		return NULL;
	struct host *host = &remote->hosts[remote->n++];
	*host = (struct host){
		.server = *server, .link = {.fd = -1, .errors = -1}, .status = -1,
	};
	return host;
}

/** Copy a text, which lives as long as the search.  @return NULL: memory ran out. */
static char *keep_text(struct remote *remote, const char *text)
{
	if (!ARRAY_ROOM(remote->texts, remote->ntexts, &remote->texts_room))
		return NULL;
	char *copy = strdup(text);
	if (copy)
		remote->texts[remote->ntexts++] = copy;
	return copy;
}

int remote_add(struct remote *remote, const char *name, size_t index)
{
	struct search_server server;
	struct root root = {.name = name, .index = index};
	char *text = keep_text(remote, name);
	if (!text)
		return -1;
	const char *wrong = remote_parse(text, &server, &root.path);
	if (wrong) {
		queue_entry(remote, &root, &(struct talk_entry){
			.path = "", .err = EINVAL, .errsource = SEARCH_ERR_HOST,
		}, wrong);
		return remote->queue.failed ? -1 : 0;
	}
	struct host *host = host_of(remote, &server);
	if (!host || !ARRAY_ROOM(host->roots, host->n, &host->room))
		return -1;
	host->roots[host->n++] = root;
	return 0;
}

/** Close a connection. */
static void link_close(struct remote *remote, struct host *host)
{
	os_close(remote->os, host->link.fd);
	host->link.fd = -1;
	if (host->state == ENDING)
		return;
	os_close(remote->os, host->link.errors);
	host->link.errors = -1;
}

/** Whether the process of a host is gone. */
static bool is_gone(struct remote *remote, struct host *host)
{
	if (host->link.pid > 0 && os_reap(remote->os, host->link.pid, 0, &host->status))
		host->link.pid = 0;
	return host->link.pid == 0;
}

/** Nothing more comes from a host.  @kill  Its process ends at once. */
static void leave(struct remote *remote, struct host *host, bool kill)
{
	host->state = LEAVING;
	host->since = os_now();
	link_close(remote, host);
	chirp_link_end(&host->chirp, remote->os);
	if (kill && !is_gone(remote, host))
		os_kill(remote->os, host->link.pid, SIGTERM);
	if (host->talk)
		host->talk->ops->free(host->talk);
	host->talk = NULL;
}

/** A host has failed: an error for each root. */
static void fail_host(struct remote *remote, struct host *host, int error, const char *why)
{
	for (size_t i = 0; i < host->n; ++i)
		queue_entry(remote, &host->roots[i], &(struct talk_entry){
			.path = "", .err = error, .errsource = SEARCH_ERR_HOST,
		}, why);
	leave(remote, host, true);
}

/** Connect by the caller's transport.  @return 0, or -1. */
static int start_wire(struct remote *remote, struct host *host)
{
	struct search_link link = {.fd = -1, .errors = -1};
	host->talk = wire_talk_new();
	if (!host->talk
	    || remote->transport.connect(remote->transport.arg, &host->server, &link) != 0)
		return -1;
	host->link = link;
	return 0;
}

/** Ask a host. */
static void ask(struct remote *remote, struct host *host, const struct talk_request *request)
{
	struct talk_request own = *request;
	host->state = TALKING;
	host->since = os_now();
	own.roots = host->paths;
	own.n = host->n;
	host->talk->ops->ask(host->talk, &own);
	if (host->talk->state == TALK_FAILED)
		fail_host(remote, host, EMSGSIZE, strbuf_str(&host->talk->why));
}

/** Start the search on a host. */
static void start(struct remote *remote, struct host *host, const struct talk_request *request)
{
	host->server.alone = remote->n == 1;
	host->server.timeout = remote->transport.timeout;
	host->state = TALKING;
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
		fail_host(remote, host, error, strbuf_str(&why));
		strbuf_destroy(&why);
		return;
	}
	ask(remote, host, request);
}

void remote_path(struct remote *remote, const char *path)
{
	remote->hosts[0].roots[0].path = path;
}

void remote_keep(struct remote *remote)
{
	remote->keep = true;
}

bool remote_again(struct remote *remote, const struct talk_request *request)
{
	struct host *host = &remote->hosts[0];
	if (host->state != RESTING)
		return false;
	remote->keep = false;
	ask(remote, host, request);
	return true;
}

/** Where the entries of a conversation go. */
struct sink {
	struct talk_sink sink;
	struct remote *remote;
	struct host *host;
};

static void sink_entry(struct talk_sink *talk_sink, const struct talk_entry *e)
{
	struct sink *sink = (struct sink *)talk_sink;
	queue_entry(sink->remote, &sink->host->roots[e->root], e, NULL);
}

static int sink_prove(struct talk_sink *talk_sink, const char *path)
{
	struct sink *sink = (struct sink *)talk_sink;
	return chirp_link_prove(&sink->host->chirp, sink->remote->os, path);
}

/** Keep the end of what a host's process says on standard error. */
static void read_errors(struct remote *remote, struct host *host)
{
	char bytes[ERRORS_MOST];
	ssize_t n = os_recv(remote->os, host->link.errors, bytes, sizeof(bytes), NULL, false);
	if (n > 0) {
		strbuf_add(&host->errors, bytes, (size_t)n);
		size_t spare = host->errors.len > ERRORS_MOST ? host->errors.len - ERRORS_MOST : 0;
		if (spare > 0) {
			memmove(host->errors.data, host->errors.data + spare, ERRORS_MOST + 1);
			host->errors.len = ERRORS_MOST;
		}
	} else if (n == 0 || errno != EAGAIN) {
		os_close(remote->os, host->link.errors);
		host->link.errors = -1;
	}
}

/** Append the last messages, in one line. */
static void quote_errors(const struct host *host, struct strbuf *why)
{
	enum { LINES = 3 };
	const char *text = strbuf_str(&host->errors), *from = text + host->errors.len;
	int lines = 0;
	/* Go back over LINES lines that are not empty. */
	for (const char *end = from; end > text && lines < LINES;) {
		const char *begin = end;
		while (begin > text && begin[-1] != '\n')
			--begin;
		size_t n = (size_t)(end - begin);
		n -= n > 0 && begin[n - 1] == '\r';
		if (n > 0) {
			++lines;
			from = begin;
		}
		end = begin - (begin > text);
	}
	const char *between = ": ";
	while (*from) {
		size_t n = strcspn(from, "\r\n");
		if (n > 0) {
			strbuf_puts(why, between);
			strbuf_add(why, from, n);
			between = "; ";
		}
		from += n + (from[n] != '\0');
	}
}

/** The process of a connection that ended early is gone, or does not end: report why. */
static void report_end(struct remote *remote, struct host *host)
{
	enum { NOT_EXECUTABLE = 126, NOT_FOUND = 127, SSH_FAILED = 255 };
	struct strbuf why = {0};
	bool exited = host->status != -1 && WIFEXITED(host->status);
	int code = exited ? WEXITSTATUS(host->status) : -1;
	bool met = host->talk->met;
	if (!met && (code == NOT_FOUND || code == NOT_EXECUTABLE))
		strbuf_puts(&why, "getmnt cannot be run there; it must be in the PATH of a shell "
		            "that is not interactive");
	else if (!met && code == SSH_FAILED)
		strbuf_puts(&why, "no connection");
	else
		strbuf_puts(&why, strbuf_str(&host->talk->why));
	if (host->status != -1 && WIFSIGNALED(host->status))
		strbuf_printf(&why, " (killed by signal %d)", WTERMSIG(host->status));
	else if (code > 0)
		strbuf_printf(&why, " (status %d)", code);
	quote_errors(host, &why);
	if (strstr(strbuf_str(&host->errors), "Permission denied ("))
		strbuf_puts(&why, "; a password is only asked for on a terminal and for one host: "
		            "use a key");
	fail_host(remote, host, met ? ECONNRESET : EHOSTUNREACH, strbuf_str(&why));
	strbuf_destroy(&why);
}

/** Send what there is. */
static void send_some(struct remote *remote, struct host *host)
{
	struct strbuf *out = &host->talk->out;
	ssize_t n = os_send_some(remote->os, host->link.fd, out->data, out->len);
	if (n > 0)
		talk_sent(host->talk, (size_t)n);
	else if (n < 0 && errno != EAGAIN && errno != EINTR)
		strbuf_reset(out);   /* reading shows what happened */
}

/** Receive what has come.  @chunk  READ bytes. */
static void receive(struct remote *remote, struct host *host, char *chunk,
                    struct search_counts *counts)
{
	struct talk *talk = host->talk;
	if (host->chirp.connecting) {
		struct strbuf why = {0};
		int rc = chirp_link_take(&host->chirp, remote->os, &host->link, &why);
		host->since = rc == 0 ? os_now() : host->since;
		if (rc < 0)
			fail_host(remote, host, EHOSTUNREACH, strbuf_str(&why));
		strbuf_destroy(&why);
		return;
	}
	ssize_t n = os_recv(remote->os, host->link.fd, chunk, READ, NULL, false);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	host->since = os_now();
	if (n <= 0) {
		talk->ops->end(talk);
		host->state = ENDING;
		link_close(remote, host);
		return;
	}
	struct sink sink = {{.entry = sink_entry, .prove = sink_prove}, remote, host};
	talk->ops->take(talk, chunk, (size_t)n, &sink.sink);
	if (talk->state == TALK_FAILED) {
		fail_host(remote, host, EPROTO, strbuf_str(&talk->why));
	} else if (talk->state == TALK_DONE) {
		counts->dirs += talk->counts.dirs;
		counts->entries += talk->counts.entries;
		if (counts->threads < talk->counts.threads)
			counts->threads = talk->counts.threads;
		if (remote->keep)
			host->state = RESTING;
		else
			leave(remote, host, false);
	}
}

/** Do what is due for a host after poll(2). */
static void advance(struct remote *remote, struct host *host, bool heard)
{
	double waited = os_now() - host->since;
	unsigned limit = remote->transport.timeout;
	if (host->state == TALKING && !heard && limit > 0 && waited > limit) {
		struct strbuf why = {0};
		strbuf_printf(&why, "no answer for %u seconds", limit);
		quote_errors(host, &why);
		fail_host(remote, host, ETIMEDOUT, strbuf_str(&why));
		strbuf_destroy(&why);
	} else if (host->state == ENDING && (is_gone(remote, host) || waited > GRACE)) {
		/* Its last messages may have come after the last look. */
		if (host->link.errors >= 0)
			read_errors(remote, host);
		report_end(remote, host);
	} else if (host->state == LEAVING) {
		if (is_gone(remote, host)) {
			host->state = GONE;
		} else if (waited > GRACE) {
			os_kill(remote->os, host->link.pid, SIGKILL);
			host->since = os_now();
		}
	}
}

/** Start hosts while few are connected.  @return the number of connected ones. */
static size_t start_more(struct remote *remote, const struct talk_request *request)
{
	size_t connected = 0;
	for (size_t i = 0; i < remote->started; ++i)
		connected += remote->hosts[i].state == TALKING || remote->hosts[i].state == ENDING;
	while (connected < HOSTS_MOST && remote->started < remote->n) {
		struct host *host = &remote->hosts[remote->started++];
		start(remote, host, request);
		connected += host->state == TALKING;
	}
	return connected;
}

int remote_turn(struct remote *remote, const struct talk_request *request, int ms,
                struct search_counts *counts)
{
	struct pollfd fds[2 * HOSTS_MOST];
	struct host *polled[2 * HOSTS_MOST];
	size_t n = 0;
	if (remote->at < remote->queue.len)
		return 1;
	strbuf_reset(&remote->queue);
	remote->at = 0;
	bool more = start_more(remote, request) > 0 || remote->queue.len > 0;
	for (size_t k = 0; k < remote->started; ++k) {
		struct host *host = &remote->hosts[(remote->turn + k) % remote->started];
		bool talking = host->state == TALKING;
		if (talking || host->state == ENDING) {
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
		struct host *host = polled[i];
		bool heard = fds[i].revents & (POLLIN | POLLHUP | POLLERR);
		if (fds[i + 1].revents)
			read_errors(remote, host);
		if (fds[i].revents & POLLOUT)
			send_some(remote, host);
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
	return more || remote->queue.len > 0 || remote->started < remote->n;
}

bool remote_asks(const struct remote *remote)
{
	const struct host *host = remote->hosts;
	return remote->n == 1 && (host->state == WAITING
	                          || (host->state == TALKING && !host->talk->met));
}

void remote_free(struct remote *remote, bool child)
{
	static const int signals[] = {0, SIGTERM, SIGKILL};
	if (!remote)
		return;
	/* All at once: the connections first, so that what is at their ends ends by itself. */
	for (size_t i = 0; i < remote->started; ++i) {
		struct host *host = &remote->hosts[i];
		bool talking = host->state == TALKING || host->state == RESTING
		               || host->state == ENDING;
		if (child)
			host->link.pid = 0;
		host->state = LEAVING;
		link_close(remote, host);
		chirp_link_end(&host->chirp, remote->os);
		if (talking && !is_gone(remote, host))
			os_kill(remote->os, host->link.pid, SIGTERM);
	}
	for (size_t s = 0; s < sizeof(signals) / sizeof(*signals); ++s) {
		double end = os_now() + TERM_GRACE;
		for (size_t i = 0; i < remote->started && signals[s]; ++i) {
			if (!is_gone(remote, &remote->hosts[i]))
				os_kill(remote->os, remote->hosts[i].link.pid, signals[s]);
		}
		for (size_t i = 0; i < remote->started; ++i) {
			struct search_link *link = &remote->hosts[i].link;
			if (link->pid > 0 && os_reap(remote->os, link->pid, end - os_now(), NULL))
				link->pid = 0;
		}
	}
	for (size_t i = 0; i < remote->n; ++i) {
		struct host *host = &remote->hosts[i];
		if (host->talk)
			host->talk->ops->free(host->talk);
		free(host->roots);
		free((void *)(uintptr_t)host->paths);
		strbuf_destroy(&host->errors);
	}
	for (size_t i = 0; i < remote->ntexts; ++i)
		free(remote->texts[i]);
	free(remote->texts);
	free(remote->hosts);
	strbuf_destroy(&remote->queue);
	free(remote);
}
