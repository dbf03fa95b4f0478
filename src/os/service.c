/* SPDX-License-Identifier: MIT */
#include "os/service.h"

#include "os/clock.h"
#include "os/process.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

int os_signalfd_open(struct os *os)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	OS_CALL(os, OS_SIGMASK, pthread_sigmask, SIG_BLOCK, &set, NULL);
	return (int)OS_SYSCALL(os, OS_SIGNALFD, signalfd4, -1, &set, _NSIG / 8,
	                       SFD_CLOEXEC | SFD_NONBLOCK);
}

int os_signalfd_read(struct os *os, int fd)
{
	struct signalfd_siginfo info;
	return os_read(os, fd, &info, sizeof(info)) == sizeof(info) ? (int)info.ssi_signo : 0;
}

int os_files_open(struct os *os)
{
	return OS_CALL(os, OS_INOTIFY_INIT, inotify_init1, IN_CLOEXEC | IN_NONBLOCK);
}

int os_files_add(struct os *os, int fd, const char *path)
{
	/* A file that is replaced by rename(2) loses a link, which is IN_ATTRIB. */
	const uint32_t mask = IN_MODIFY | IN_ATTRIB | IN_MOVE_SELF | IN_DELETE_SELF | IN_CREATE
	                      | IN_DELETE | IN_MOVE | IN_DONT_FOLLOW;
	return OS_CALL(os, OS_INOTIFY_ADD, inotify_add_watch, fd, path, mask) < 0 ? -1 : 0;
}

int os_notify(struct os *os, const char *address, const char *text)
{
	enum { WAIT_MS = 1000 };
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	size_t n = strlen(address);
	if ((*address != '/' && *address != '@') || n < 2 || n >= sizeof(to.sun_path)) {
		errno = EINVAL;
		return -1;
	}
	memcpy(to.sun_path, address, n);
	if (*address == '@')
		*to.sun_path = '\0';   /* the length ends an abstract name */
	else
		++n;
	int fd = OS_CALL(os, OS_SOCKET, socket, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n);
	int rc = (int)OS_RETRY(OS_CALL(os, OS_CONNECT, connect, fd, &to, size));
	if (rc == 0 && os_send(os, fd, text, strlen(text), NULL, 0, -1, false) != 0) {
		struct pollfd room = {.fd = fd, .events = POLLOUT};
		rc = errno == EAGAIN && os_poll(os, &room, 1, WAIT_MS) > 0
		     ? os_send(os, fd, text, strlen(text), NULL, 0, -1, false) : -1;
	}
	int error = errno;
	os_close(os, fd);
	errno = error;
	return rc;
}
