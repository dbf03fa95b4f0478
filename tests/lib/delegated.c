/* SPDX-License-Identifier: MIT */
/*
 * delegated MODE GETMNT RSH PATTERN DIRECTORY...   delegated searches of a program with the library
 *
 * For tests/system/delegate.py.  Each DIRECTORY is a search of its own; all run at the same time.
 * Prints a line for each entry, and at the end how often the transport was called.  MODE: both, or
 * what is missing or fails: nologin, nohere, noconnect, badhere; or "first": each search is closed
 * after its first entry.
 */
#include "getmnt/search.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct program {
	const char *mode, *getmnt;
	char *rsh;
	int connects, heres;
};

static int count_connect(void *arg, const struct search_server *server, struct search_link *link)
{
	struct program *program = arg;
	++program->connects;
	if (strcmp(program->mode, "noconnect") == 0) {
		errno = EHOSTDOWN;
		return -1;
	}
	return getmnt_search_ssh(program->rsh, server, link);
}

static int run_here(void *arg, struct search_link *link)
{
	struct program *program = arg;
	int ends[2];
	++program->heres;
	if (strcmp(program->mode, "badhere") == 0) {
		errno = EMFILE;
		return -1;
	}
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		return -1;
	pid_t pid = fork();
	if (pid == 0) {
		dup2(ends[1], STDIN_FILENO);
		dup2(ends[1], STDOUT_FILENO);
		execl(program->getmnt, "getmnt", "serve", "--stdio", (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	if (pid < 0)
		close(ends[0]);
	*link = (struct search_link){.fd = ends[0], .errors = -1, .pid = pid};
	return pid < 0 ? -1 : 0;
}

int main(int argc, char **argv)
{
	enum { MODE = 1, GETMNT, RSH, PATTERN, DIRECTORIES };
	if (argc <= DIRECTORIES)
		return 2;
	struct program program = {argv[MODE], argv[GETMNT], argv[RSH], 0, 0};
	struct search_transport transport = {
		.connect = count_connect, .arg = &program, .timeout = 20,
		.delegate = strcmp(program.mode, "nologin") == 0 ? NULL : "",
		.here = strcmp(program.mode, "nohere") == 0 ? NULL : run_here,
	};
	struct getmnt_search *searches[16] = {NULL};
	int n = argc - DIRECTORIES, left = n, status = 0;
	for (int i = 0; i < n && i < 16; ++i) {
		const char *root = argv[DIRECTORIES + i];
		searches[i] = getmnt_search_open(&root, 1, argv[PATTERN], &(struct search_options){
			.size = sizeof(struct search_options), .transport = &transport,
			.flags = SEARCH_INCLUDEROOT | SEARCH_METADATA, .blocking = true,
		});
	}
	/* The library has copied it. */
	memset(&transport, 0, sizeof(transport));
	while (left > 0) {
		for (int i = 0; i < n; ++i) {
			struct searchent *e = searches[i] ? getmnt_search_read(searches[i]) : NULL;
			if (e && e->err)
				printf("%s: %s\n", e->path, strerror(e->err));
			else if (e)
				printf("%o %jd %s\n", e->info->st_mode,
				       (intmax_t)e->info->st_size, e->path);
			if (searches[i] && (!e || strcmp(program.mode, "first") == 0)) {
				status |= !e && errno != 0;
				getmnt_search_close(searches[i]);
				searches[i] = NULL;
				--left;
			}
		}
	}
	fprintf(stderr, "%d %d\n", program.connects, program.heres);
	return status;
}
