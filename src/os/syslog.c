/* SPDX-License-Identifier: MIT */
#include "os/syslog.h"

#include "os/clock.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "os/crossing.h"   /* after the C library */

/** Milliseconds that a daemon has to make room, of a whole log: one that reads needs few. */
enum { WAIT_MS = 1000 };

static int connect_as(struct os *os, int type)
{
	static const struct sockaddr_un where = {.sun_family = AF_UNIX, .sun_path = "/dev/log"};
	int fd = OS_CALL(os, OS_SOCKET, socket(AF_UNIX, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
	if (fd < 0)
		return -1;
	if (OS_CALL(os, OS_CONNECT, connect(fd, (const struct sockaddr *)&where, sizeof(where))) != 0) {
		os_close(os, fd);
		return -1;
	}
	return fd;
}

int os_syslog_open(struct os *os, struct os_syslog *log)
{
	*log = (struct os_syslog){.fd = connect_as(os, SOCK_DGRAM)};
	if (log->fd < 0 && errno == EPROTOTYPE) {
		log->stream = true;
		log->fd = connect_as(os, SOCK_STREAM);
	}
	return log->fd < 0 ? -1 : 0;
}

/** The time as the C locale has it: "Nov 22 15:04:05". */
static int put_time(char *to, size_t size)
{
	static const char months[12][4] = {
		"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
	};
	time_t now = time(NULL);
	struct tm tm;
	/* The first time it reads the time zone's file; what syslog(3) does as well. */
	if (!localtime_r(&now, &tm))
		gmtime_r(&now, &tm);
	return snprintf(to, size, "%s %2d %02d:%02d:%02d", months[tm.tm_mon % 12], tm.tm_mday, tm.tm_hour, tm.tm_min,
	                tm.tm_sec);
}

/** Wait for room, while there is time.  @return whether there may be. */
static bool wait_for_room(struct os *os, struct os_syslog *log)
{
	struct pollfd polled = {.fd = log->fd, .events = POLLOUT};
	double began = os_now();
	int ms = WAIT_MS - (int)(log->waited * 1000);
	if (ms <= 0 || os_poll(os, &polled, 1, ms) < 0) {
		errno = EAGAIN;
		return false;
	}
	log->waited += os_now() - began;
	return true;
}

/** Send bytes.  @return how many were, or -1. */
static ssize_t send_piece(struct os *os, struct os_syslog *log, const char *bytes, size_t n)
{
	ssize_t sent;
	unsigned tries = 0;
	do {
		sent = OS_CALL(os, OS_SEND, send(log->fd, bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT));
	} while (sent < 0 && (os_again(&tries) || (errno == EAGAIN && wait_for_room(os, log))));
	return sent;
}

int os_syslog_send(struct os *os, struct os_syslog *log, int priority, const char *tag, const char *line)
{
	static const char dots[] = "...";
	char text[SYSLOG_MAX + 1], when[32];
	if (log->broken) {
		errno = EPIPE;
		return -1;
	}
	put_time(when, sizeof(when));
	int length = snprintf(text, sizeof(text), "<%d>%s %s[%d]: %s", SYSLOG_DAEMON | priority, when, tag, (int)getpid(), line);
	size_t n = length > 0 ? (size_t)length : 0;
	if (n >= SYSLOG_MAX) {
		n = SYSLOG_MAX - sizeof(dots);
		while (n && ((unsigned char)text[n] & 0xc0) == 0x80)
			--n;
		memcpy(text + n, dots, sizeof(dots));
		n += sizeof(dots) - 1;
	}
	n += log->stream;
	size_t done = 0;
	while (done < n) {
		ssize_t sent = send_piece(os, log, text + done, n - done);
		if (sent < 0)
			break;
		done += (size_t)sent;
	}
	/* Of a stream; what follows would be taken for its end. */
	log->broken = done > 0 && done < n;
	return done == n ? 0 : -1;
}

void os_syslog_close(struct os *os, struct os_syslog *log)
{
	os_close(os, log->fd);
	log->fd = -1;
}
