/* SPDX-License-Identifier: MIT */
#include "remote/chirp_link.h"

#include "os/change.h"
#include "os/process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

/** Whether a host name is certainly a name of this host. */
static bool is_same_host(const char *host)
{
	return strcmp(host, "localhost") == 0 || strncmp(host, "127.", 4) == 0
	       || strcmp(host, "::1") == 0;
}

int chirp_link_start(struct chirp_link *chirp, struct os *os, const struct search_server *server,
                     const char *methods, struct talk **talk, struct search_link *link,
                     struct strbuf *why)
{
	struct chirp_auth auth;
	char port[16] = CHIRP_PORT;
	chirp_auth_init(&auth, is_same_host(server->host));
	const char *wrong = methods ? chirp_auth_read(&auth, methods) : NULL;
	if (wrong) {
		strbuf_printf(why, "methods of authentication: %s", wrong);
		return fail(EINVAL);
	}
	*talk = chirp_talk_new(&auth);
	if (!*talk)
		return -1;
	if (server->port)
		snprintf(port, sizeof(port), "%u", server->port);
	int sock, pid = os_tcp_start(os, server->host, port, &sock);
	if (pid < 0)
		return -1;
	*link = (struct search_link){.fd = sock, .errors = -1, .pid = pid};
	chirp->connecting = true;
	return 0;
}

int chirp_link_take(struct chirp_link *chirp, struct os *os, struct search_link *link,
                    struct strbuf *why)
{
	strbuf_puts(why, "no connection: ");
	int fd = os_tcp_take(os, link->fd, why);
	if (fd < 0)
		return errno == EAGAIN ? 1 : -1;
	os_close(os, link->fd);
	link->fd = fd;
	chirp->connecting = false;
	return 0;
}

int chirp_link_prove(struct chirp_link *chirp, struct os *os, const char *path)
{
	chirp_link_end(chirp, os);
	if (!path)
		return 0;
	char *copy = strdup(path);
	int fd = copy ? os_create_new(os, AT_FDCWD, path) : -1;
	if (fd < 0) {
		int error = errno;
		free(copy);
		return error;
	}
	chirp->prooffd = fd;
	chirp->proof = copy;
	return 0;
}

void chirp_link_end(struct chirp_link *chirp, struct os *os)
{
	struct stat st;
	if (!chirp->proof)
		return;
	/* The server usually removes the file, and a different file may have this name now: remove
	   the name only if our file still has a link. */
	if (os_fstatat(os, chirp->prooffd, "", &st) == 0 && st.st_nlink > 0)
		os_unlinkat(os, AT_FDCWD, chirp->proof);
	os_close(os, chirp->prooffd);
	free(chirp->proof);
	chirp->proof = NULL;
}
