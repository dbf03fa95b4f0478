/* SPDX-License-Identifier: MIT */
/* The end of a connection: the messages of its process, the reason of a failure, and closing. */
#include "remote/remote_impl.h"

#include "os/process.h"

#include <errno.h>
#include <string.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

enum { ERRORS_MOST = 4096 };   /* maximum bytes of messages that are kept for a host */

/** Seconds that processes get to end after the connection is closed, after SIGTERM and after
    SIGKILL. */
#define TERM_GRACE 0.5

void remote_read_errors(struct remote *remote, struct remote_host *host)
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

void remote_quote_errors(const struct remote_host *host, struct strbuf *why)
{
	enum { LINES = 3 };
	const char *text = strbuf_str(&host->errors), *from = text + host->errors.len;
	int lines = 0;
	/* Find the start of the last LINES lines that are not empty. */
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

void remote_why_ended(const struct remote_host *host, struct strbuf *why)
{
	enum { NOT_EXECUTABLE = 126, NOT_FOUND = 127, SSH_FAILED = 255 };
	bool exited = host->status != -1 && WIFEXITED(host->status);
	int code = exited ? WEXITSTATUS(host->status) : -1;
	bool met = host->talk->met;
	if (!met && (code == NOT_FOUND || code == NOT_EXECUTABLE))
		strbuf_puts(why, "getmnt cannot be run there; it must be in the PATH of a shell "
		            "that is not interactive");
	else if (!met && code == SSH_FAILED)
		strbuf_puts(why, "no connection");
	else
		strbuf_puts(why, strbuf_str(&host->talk->why));
	if (host->status != -1 && WIFSIGNALED(host->status))
		strbuf_printf(why, " (killed by signal %d)", WTERMSIG(host->status));
	else if (code > 0)
		strbuf_printf(why, " (status %d)", code);
	remote_quote_errors(host, why);
	if (strstr(strbuf_str(&host->errors), "Permission denied ("))
		strbuf_puts(why, "; a password is only asked for on a terminal and for one host: "
		            "use a key");
}

void remote_close(struct remote *remote, struct remote_host *host)
{
	os_close(remote->os, host->link.fd);
	host->link.fd = -1;
	if (host->state == ENDING)
		return;
	os_close(remote->os, host->link.errors);
	host->link.errors = -1;
}

bool remote_is_gone(struct remote *remote, struct remote_host *host)
{
	if (host->link.pid > 0 && os_reap(remote->os, host->link.pid, 0, &host->status))
		host->link.pid = 0;
	return host->link.pid == 0;
}

void remote_leave(struct remote *remote, struct remote_host *host, bool kill)
{
	remote_set_state(host, LEAVING);
	host->since = os_now();
	remote_close(remote, host);
	chirp_link_end(&host->chirp, remote->os);
	if (kill && !remote_is_gone(remote, host))
		os_kill(remote->os, host->link.pid, SIGTERM);
	if (host->talk)
		host->talk->ops->free(host->talk);
	host->talk = NULL;
}

void remote_fail_host(struct remote *remote, struct remote_host *host, int error, const char *why)
{
	for (size_t i = 0; i < host->n; ++i)
		remote_queue(remote, &host->roots[i], &(struct talk_entry){
			.path = "", .err = error, .errsource = SEARCH_ERR_HOST,
		}, why);
	remote_leave(remote, host, true);
}

void remote_free(struct remote *remote, bool child)
{
	static const int signals[] = {0, SIGTERM, SIGKILL};
	if (!remote)
		return;
	/* Close all connections first: most processes then end by themselves. */
	for (size_t i = 0; i < remote->started; ++i) {
		struct remote_host *host = &remote->hosts[i];
		bool talking = host->state == TALKING || host->state == RESTING
		               || host->state == ENDING;
		if (child)
			host->link.pid = 0;
		host->state = LEAVING;
		remote_close(remote, host);
		chirp_link_end(&host->chirp, remote->os);
		if (talking && !remote_is_gone(remote, host))
			os_kill(remote->os, host->link.pid, SIGTERM);
	}
	for (size_t s = 0; s < sizeof(signals) / sizeof(*signals); ++s) {
		double end = os_now() + TERM_GRACE;
		for (size_t i = 0; i < remote->started && signals[s]; ++i) {
			if (!remote_is_gone(remote, &remote->hosts[i]))
				os_kill(remote->os, remote->hosts[i].link.pid, signals[s]);
		}
		for (size_t i = 0; i < remote->started; ++i) {
			struct search_link *link = &remote->hosts[i].link;
			if (link->pid > 0 && os_reap(remote->os, link->pid, end - os_now(), NULL))
				link->pid = 0;
		}
	}
	for (size_t i = 0; i < remote->n; ++i) {
		struct remote_host *host = &remote->hosts[i];
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
