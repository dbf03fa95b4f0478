/* SPDX-License-Identifier: MIT */
/*
 * Connect to another host by ssh, or by a different remote shell.
 *
 * The process of ssh stays in getmnt's process group, so that ssh can ask for a password on the
 * terminal, and a Ctrl-C ends ssh as well.  Without a terminal, as in a cron job, ssh fails instead
 * of asking.  With several hosts ssh does not ask either (BatchMode), since the user would not know
 * which host needs the password.
 */
#include "remote/remote.h"

#include "base/fail.h"
#include "os/process.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

enum { WORDS_MOST = 64, OURS = 24 };

/** Whether a command is ssh, so that options of ssh can be added. */
static bool is_ssh(const char *word)
{
	const char *slash = strrchr(word, '/');
	return strcmp(slash ? slash + 1 : word, "ssh") == 0;
}

int remote_run(char *const argv[], struct search_link *link)
{
	struct os os = {0};
	int talk[2] = {-1, -1}, errors[2] = {-1, -1}, fds[3] = {-1, -1, -1}, pid = -1;
	struct os_command command = {.argv = argv, .dirfd = -1, .fds = fds};
	sigemptyset(&command.mask);
	/* The descriptors must be above 2: os_run_start() replaces 0 to 2 one after the other. */
	if (os_socketpair(&os, SOCK_STREAM, talk) == 0
	    && os_socketpair(&os, SOCK_STREAM, errors) == 0
	    && (fds[0] = fds[1] = os_dupfd(&os, talk[1], 3)) >= 0
	    && (fds[2] = os_dupfd(&os, errors[1], 3)) >= 0)
		pid = os_run_start(&os, &command);
	os_close(&os, fds[0]);
	os_close(&os, fds[2]);
	os_close(&os, talk[1]);
	os_close(&os, errors[1]);
	if (pid >= 0) {
		*link = (struct search_link){.fd = talk[0], .errors = errors[0], .pid = pid};
		return 0;
	}
	os_close(&os, talk[0]);
	os_close(&os, errors[0]);
	return -1;
}

int getmnt_search_ssh(void *command, const struct search_server *server, struct search_link *link)
{
	char *words[WORDS_MOST + OURS], port[16], seconds[40];
	char *text = strdup(command ? (const char *)command : "ssh");
	if (!text)
		return -1;
	int n = remote_words(text, words, WORDS_MOST);
	if (n <= 0) {
		free(text);
		return fail(EINVAL);
	}
	const char *more[OURS] = {NULL};
	int m = 0;
	if (is_ssh(words[0])) {
		/* The options of scp.  They follow the user's options, which win: ssh uses the
		   first value of an option. */
		static const char *const options[] = {
			"-T", "-x", "-a", "-oPermitLocalCommand=no", "-oClearAllForwardings=yes",
			"-oRemoteCommand=none",
		};
		for (size_t i = 0; i < sizeof(options) / sizeof(*options); ++i)
			more[m++] = options[i];
		if (!server->alone)
			more[m++] = "-oBatchMode=yes";
		if (server->timeout > 0) {
			snprintf(seconds, sizeof(seconds), "-oConnectTimeout=%u", server->timeout);
			more[m++] = seconds;
		}
	}
	if (server->port) {
		snprintf(port, sizeof(port), "%u", server->port);
		more[m++] = "-p";
		more[m++] = port;
	}
	if (server->user) {
		more[m++] = "-l";
		more[m++] = server->user;
	}
	more[m++] = server->host;
	more[m++] = "getmnt";
	more[m++] = "serve";
	more[m++] = "--stdio";
	for (int i = 0; i <= m; ++i)
		words[n + i] = (char *)(uintptr_t)more[i];
	int rc = remote_run(words, link), error = errno;
	free(text);
	errno = error;
	return rc;
}
