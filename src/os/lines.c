/* SPDX-License-Identifier: MIT */
#include "os/lines.h"

#include "os/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 256 << 10 };

int os_lines_open(struct os *os, const char *path, size_t max, struct os_lines *lines)
{
	int fd = path ? os_open_named(os, path) : STDIN_FILENO;
	if (fd < 0)
		return -1;
	unsigned type = path ? os_file_type(os, fd, NULL, NULL) : S_IFIFO;
	size_t size = PIECE;
	char *buf = malloc(size);
	if (!buf) {
		if (path)
			os_close(os, fd);
		return -1;
	}
	*lines = (struct os_lines){.os = os, .fd = fd, .buf = buf, .size = size, .max = max, .waits = path && type == S_IFIFO};
	return 0;
}

/** Read more; what there is moves to the beginning.  @return 0, or -1. */
static int fill(struct os_lines *lines)
{
	if (lines->at > 0) {
		memmove(lines->buf, lines->buf + lines->at, lines->end - lines->at);
		lines->end -= lines->at;
		lines->at = 0;
	}
	if (lines->end == lines->size) {
		char *more = realloc(lines->buf, 2 * lines->size);
		if (!more)
			return -1;
		lines->buf = more;
		lines->size *= 2;
	}
	for (bool late = false;;) {
		ssize_t n = os_read(lines->os, lines->fd, lines->buf + lines->end, lines->size - lines->end);
		/* A pipe whose writer is slow. */
		if (n < 0 && errno == EAGAIN && os_wait_readable(lines->os, lines->fd) == 0) {
			lines->waits = late = false;
			continue;
		}
		if (n < 0)
			return -1;
		if (n == 0 && late) {
			errno = ETIME;
			return -1;
		}
		if (n == 0 && lines->waits) {
			int come = os_wait_writer(lines->os, lines->fd);
			lines->waits = false;
			late = come > 0;
			if (come < 0)
				return -1;
			if (late)
				continue;
		}
		lines->waits = false;
		lines->end += (size_t)n;
		lines->eof = n == 0;
		return 0;
	}
}

int os_lines_next(struct os_lines *lines, struct os_line *line)
{
	size_t seen = 0;
	bool too_long = false;
	for (;;) {
		char *from = lines->buf + lines->at, *newline = memchr(from + seen, '\n', lines->end - lines->at - seen);
		size_t n = newline ? (size_t)(newline - from) : lines->end - lines->at;
		too_long |= n > lines->max;
		if (newline || (lines->eof && (n > 0 || too_long))) {
			*line = (struct os_line){from, too_long ? 0 : n, newline, too_long};
			lines->at += n + (newline != NULL);
			return 1;
		}
		if (lines->eof)
			return 0;
		if (too_long)
			lines->at = lines->end;
		seen = too_long ? 0 : n;
		if (fill(lines) != 0)
			return -1;
	}
}

void os_lines_close(struct os_lines *lines)
{
	if (lines->fd != STDIN_FILENO)
		os_close(lines->os, lines->fd);
	free(lines->buf);
	*lines = (struct os_lines){.fd = -1};
}
