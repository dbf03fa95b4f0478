/* SPDX-License-Identifier: MIT */
/**
 * Files read line by line, in bounded memory.
 */
#ifndef GM_OS_LINES_H
#define GM_OS_LINES_H

#include "os/os.h"

#include <stdbool.h>
#include <stddef.h>

struct os_lines {
	struct os *os;
	int fd;
	char *buf;
	size_t size, at, end;    /* what was read and not given out is buf[at, end) */
	size_t max;              /* the longest line */
	bool eof;
	bool waits;              /* for the first writer of a FIFO */
};

struct os_line {
	const char *text;        /* n bytes, without the newline; any may be NUL; until the next call */
	size_t n;
	bool ended;              /* by a newline; else by the end of the file */
	bool too_long;           /* its rest was passed over */
};

/**
 * Open a file.
 *
 * @path   NULL: standard input.
 * @max    The most bytes of a line.
 * @lines [out]  To be closed, if it was opened.
 * @return 0, or -1.  Errors: those of openat(2); EISDIR; ENOTSUP for what is neither a
 *         regular file nor a pipe; ENOMEM.
 */
int os_lines_open(struct os *os, const char *path, size_t max, struct os_lines *lines);

/**
 * Read a line.
 *
 * @return 1; 0 at the end; -1.  Errors: those of read(2), ENOMEM; ETIME: nobody
 *         writes to a FIFO, which is waited for some seconds.
 */
int os_lines_next(struct os_lines *lines, struct os_line *line);

void os_lines_close(struct os_lines *lines);

#endif
