/* SPDX-License-Identifier: MIT */
#include "os/tcp.h"

#include "os/clock.h"
#include "os/process.h"

#include <netdb.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

enum { WHY = 256 };   /* bytes of a reason */

/** Connect to one of the addresses of a server.  @return a descriptor, or -1. */
static int connect_any(struct os *os, const char *host, const char *port, char why[WHY])
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
	struct addrinfo *list = NULL;
	int fd = -1, wrong = getaddrinfo(host, port, &hints, &list);
	if (wrong)
		snprintf(why, WHY, "%s", wrong == EAI_SYSTEM ? strerror(errno)
		         : gai_strerror(wrong));
	for (const struct addrinfo *at = list; at && fd < 0; at = at->ai_next) {
		fd = OS_CALL(os, OS_SOCKET, socket, at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (fd >= 0 && OS_CALL(os, OS_CONNECT, connect, fd, at->ai_addr,
		                       at->ai_addrlen) == 0)
			break;
		snprintf(why, WHY, "%s", strerror(errno));
		os_close(os, fd);
		fd = -1;
	}
	return fd;
}

int os_tcp_start(struct os *os, const char *host, const char *port, int *sock)
{
	char why[WHY] = "";
	int parent = getpid(), pid = os_fork_socket(os, sock);
	if (pid != 0)
		return pid;
	if (os_die_with(parent)) {
		int fd = connect_any(os, host, port, why);
		os_send(os, *sock, why, sizeof(why), NULL, 0, fd, true);
	}
	os_exit_process(0);
}

int os_tcp_take(struct os *os, int sock, struct strbuf *why)
{
	char text[WHY];
	int fd = -1;
	ssize_t n = os_recv(os, sock, text, sizeof(text), &fd, false);
	if (fd >= 0)
		return fd;
	if (n < 0 && errno == EAGAIN)
		return -1;
	strbuf_puts(why, n == (ssize_t)sizeof(text) && !text[WHY - 1] ? text
	            : "the process that connects has ended");
	return fail(ECONNREFUSED);
}
