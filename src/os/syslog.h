/* SPDX-License-Identifier: MIT */
/**
 * Lines for the system's log, by the socket /dev/log, as syslog(3) writes them (RFC 3164),
 * but waiting no longer than a second in all: what a daemon that does not read has no room
 * for by then is not sent, and that is told.
 */
#ifndef GM_OS_SYSLOG_H
#define GM_OS_SYSLOG_H

#include "os/os.h"

/** The priorities that we use, and the facility. */
enum { SYSLOG_CRIT = 2, SYSLOG_ERR = 3, SYSLOG_WARNING = 4, SYSLOG_INFO = 6, SYSLOG_DAEMON = 3 << 3 };

/** The most bytes of a line with what stands before it: what rsyslog takes by default. */
enum { SYSLOG_MAX = 8000 };

struct os_syslog {
	int fd;
	bool stream;      /* lines end by a NUL */
	double waited;    /* for room, in seconds */
	bool broken;      /* a part of a line was sent: nothing more can be */
};

/** Connect.  @return 0, or -1.  Errors: those of socket(2) and connect(2): ENOENT:
    there is no log; EAGAIN: nobody takes who would connect. */
int os_syslog_open(struct os *os, struct os_syslog *log);

/**
 * Send a line: one without control characters.  What is too long is cut, where a
 * character of UTF-8 ends, and ends in "...".
 *
 * @return 0, or -1.  Errors: EAGAIN: there is no room; ECONNREFUSED, ENOTCONN, EPIPE:
 *         the daemon has gone.
 */
int os_syslog_send(struct os *os, struct os_syslog *log, int priority, const char *tag, const char *line);

void os_syslog_close(struct os *os, struct os_syslog *log);

#endif
