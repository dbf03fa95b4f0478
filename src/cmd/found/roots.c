/* SPDX-License-Identifier: MIT */
#include "cmd/found/roots.h"

#include "base/intern.h"
#include "cmd/cmd.h"
#include "cmd/found/flow.h"
#include "os/file.h"
#include "remote/chirp.h"
#include "remote/remote.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILE_MAX = 1 << 30 };   /* maximum size of the file with the roots, in bytes */

void roots_destroy(struct roots *roots)
{
	free(roots->names);
	free(roots->text);
	*roots = (struct roots){0};
}

/** Make room for n names.  @return 0, or an exit status after a message. */
static int make_room(struct roots *roots, size_t n)
{
	roots->names = calloc(n + 1, sizeof(*roots->names));
	if (!roots->names)
		message(NULL, "%s", strerror(ENOMEM));
	return roots->names ? 0 : CX_ERROR;
}

/** Read the roots from a file.  @return 0, or an exit status after a message. */
static int read_file(struct roots *roots, struct os *os, const char *file)
{
	size_t len = 0, n = 0;
	bool input = strcmp(file, "-") == 0;
	int fd = input ? STDIN_FILENO : os_openat(os, AT_FDCWD, file, O_RDONLY | O_NOCTTY);
	int rc = fd < 0 ? -1 : os_read_fd(os, fd, FILE_MAX, &roots->text, &len);
	if (!input)
		os_close(os, fd);
	if (rc != 0) {
		message(input ? "standard input" : file, "%s", strerror(errno));
		return CX_ERROR;
	}
	for (size_t at = 0; at < len; at += strlen(roots->text + at) + 1)
		++n;
	if (make_room(roots, n) != 0)
		return CX_ERROR;
	n = 0;
	for (size_t at = 0; at < len; at += strlen(roots->text + at) + 1) {
		++n;
		if (roots->text[at]) {
			roots->names[roots->n++] = roots->text + at;
			continue;
		}
		message(input ? "standard input" : file,
		        "name %zu is empty; each name ends with a NUL", n);
		roots->errors = true;
	}
	return 0;
}

int roots_choose(struct roots *roots, struct os *os, const char *const words[], size_t n,
                 const char *title, const char *file)
{
	if (file && n > 0)
		return usage_error(title, "cannot be combined with the path \"%s\"", words[0]);
	if (file)
		return read_file(roots, os, file);
	if (make_room(roots, n) != 0)
		return CX_ERROR;
	for (size_t i = 0; i < n; ++i) {
		if (*words[i]) {
			roots->names[roots->n++] = words[i];
			continue;
		}
		message("\"\"", "%s; the current directory is \".\"", strerror(ENOENT));
		roots->errors = true;
	}
	if (n == 0)
		roots->names[roots->n++] = ".";
	return 0;
}

int roots_once(struct roots *roots, struct os *os)
{
	struct intern seen = {0};
	size_t n = 0;
	int rc = 0;
	for (size_t i = 0; i < roots->n && rc == 0; ++i) {
		const char *key = roots->names[i];
		char id[64];
		struct k_statx st;
		const bool here = !remote_is(key);
		if (here
		    && os_statx(os, AT_FDCWD, key, AT_STATX_DONT_SYNC, K_STATX_INO, &st) == 0) {
			snprintf(id, sizeof(id), "%u:%u %ju", st.dev_major, st.dev_minor,
			         (uintmax_t)st.ino);
			key = id;
		}
		const size_t before = seen.count;
		uint32_t number;
		rc = intern_put(&seen, key, strlen(key), &number);
		/* Keep a root that does not exist even if it was given before: the search reports
		   each argument that does not exist. */
		if (seen.count > before || (here && key != id))
			roots->names[n++] = roots->names[i];
	}
	roots->n = rc == 0 ? n : roots->n;
	intern_destroy(&seen);
	return rc;
}

int roots_parse_chirp_auth(void *to, const struct option_row *row, const char *text)
{
	struct chirp_auth auth;
	const char *wrong = chirp_auth_read(&auth, text);
	if (wrong)
		return usage_error("--chirp-auth", "\"%s\": %s", text, wrong);
	memcpy((char *)to + row->offset, &text, sizeof(text));
	return 0;
}

/* The output flow blocks signals in this thread.  A child started between a Ctrl-C and the end of
   getmnt would miss the signal.  So before the child starts, pending signals are delivered, and
   signals are unblocked until the child has started. */

static void hold_signals(const struct reach *reach, bool hold)
{
	if (!reach->flow || !*reach->flow)
		return;
	if (hold)
		flow_hold(*reach->flow);
	else
		flow_release(*reach->flow);
}

int roots_connect(void *reach, const struct search_server *server, struct search_link *link)
{
	const struct reach *to = reach;
	hold_signals(to, true);
	int rc = getmnt_search_ssh((void *)(uintptr_t)to->rsh, server, link), error = errno;
	hold_signals(to, false);
	errno = error;
	return rc;
}

int roots_connect_here(void *reach, struct search_link *link)
{
	static char exe[] = "/proc/self/exe", serve[] = "serve", stdio[] = "--stdio";
	char *const argv[] = {exe, serve, stdio, NULL};
	hold_signals(reach, true);
	int rc = remote_run(argv, link), error = errno;
	hold_signals(reach, false);
	errno = error;
	return rc;
}

void roots_reach(struct reach *reach, struct search_options *options, struct flow *const *flow)
{
	reach->flow = flow;
	reach->transport.arg = reach;
	options->transport = &reach->transport;
}
