/* SPDX-License-Identifier: MIT */
#include "cmd/cmd.h"

#include "base/escape.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

__attribute__((format(printf, 2, 0)))
static void message_v(const char *object, const char *format, va_list args)
{
	/* What was typed or read may stand in the text as well: escaped as a whole. */
	struct strbuf raw, line;
	strbuf_init(&raw);
	strbuf_init(&line);
	if (object)
		strbuf_printf(&raw, "%s: ", object);
	strbuf_vprintf(&raw, format, args);
	escape_terminal(&line, strbuf_str(&raw));
	if (raw.failed || line.failed)
		fputs("getmnt: out of memory\n", stderr);
	else
		fprintf(stderr, "getmnt: %s\n", strbuf_str(&line));
	strbuf_destroy(&raw);
	strbuf_destroy(&line);
}

void message(const char *object, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	message_v(object, format, args);
	va_end(args);
}

int usage_error(const char *object, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	message_v(object, format, args);
	va_end(args);
	fputs("Try 'getmnt --help' for more information.\n", stderr);
	return CX_ERROR;
}

int finish_stdout(bool whole)
{
	int failed = ferror(stdout);
	if (fflush(stdout) != 0)
		failed = 1;
	if (!failed)
		return 0;
	int error = errno;
	/* Closed before we began: nobody reads, unless it is a document. */
	if (ftello(stdout) < 0 && errno == EBADF && !whole)
		return 0;
	errno = error;
	/* Whoever closed the pipe knows, and has seen enough. */
	if (errno != EPIPE)
		message("standard output", "could not be written: %s; what was printed is cut",
		        strerror(errno));
	return -1;
}
