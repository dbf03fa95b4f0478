/* SPDX-License-Identifier: MIT */
#include "cmd/cmd.h"

#include "base/escape.h"
#include "os/os.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>

/** The buffer to which messages are also appended, or NULL; silent: messages are not printed. */
static struct strbuf *noted;
static bool silent;
/** The command whose --help usage errors suggest. */
static const char *verb;

void message_verb(const char *name)
{
	verb = name;
}

void message_note(struct strbuf *to, bool alone)
{
	noted = to;
	silent = alone;
}

/** Whether a part of the output was not printed, and the exit status of such a run. */
static bool lost;
static int lost_status = CX_ERROR;

void lose_output(void)
{
	lost = true;
}

void set_lost_status(int status)
{
	lost_status = status;
}

int output_status(int status)
{
	return lost && status < lost_status ? lost_status : status;
}

void print_stderr(struct strbuf *text)
{
	struct os os = {0};
	const char *whole = text->failed ? "getmnt: out of memory\n" : strbuf_str(text);
	struct iovec piece = {(void *)(uintptr_t)whole, strlen(whole)}, *pieces = &piece;
	size_t n = 1;
	if (text->failed)
		lose_output();
	/* Do not write by stdio, which loses text if a non-blocking pipe is full.  Ignore errors:
	   the exit status does not depend on the reader of standard error. */
	fflush(stderr);
	if (piece.iov_len > 0)
		(void)!os_write_all(&os, fileno(stderr), &pieces, &n);
	strbuf_destroy(text);
}

__attribute__((format(printf, 2, 0)))
static void message_v(const char *object, const char *format, va_list args)
{
	/* The text may contain user input: escape the whole line. */
	struct strbuf raw = {0}, line = {0};
	if (object)
		strbuf_printf(&raw, "%s: ", object);
	strbuf_vprintf(&raw, format, args);
	escape_terminal(&line, strbuf_str(&raw));
	if (noted) {
		strbuf_puts(noted, strbuf_str(&line));
		strbuf_putc(noted, '\n');
	}
	struct strbuf text = {.failed = raw.failed || line.failed};
	strbuf_destroy(&raw);
	if (!silent) {   /* if silent, the output of the command contains the message */
		strbuf_printf(&text, "getmnt: %s\n", strbuf_str(&line));
		print_stderr(&text);
	}
	strbuf_destroy(&line);
}

void message(const char *object, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	message_v(object, format, args);
	va_end(args);
}

void message_no_devices(const char *object, const char *effect)
{
	message(object, "devices cannot be listed: %s%s%s", strerror(errno), effect,
	        errno == ENOENT ? "; is /sys mounted? mount -t sysfs sysfs /sys" : "");
}

int message_error(const char *object, int error, int status)
{
	message(object, "%s", strerror(error));
	return status;
}

int usage_error(const char *object, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	message_v(object, format, args);
	va_end(args);
	struct strbuf hint = {0};
	strbuf_puts(&hint, "Try 'getmnt ");
	if (verb)
		strbuf_printf(&hint, "%s ", verb);
	strbuf_puts(&hint, "--help' for more information.\n");
	if (silent)
		strbuf_destroy(&hint);
	else
		print_stderr(&hint);
	return CX_ERROR;
}

int print_buffer(struct strbuf *text)
{
	bool failed = text->failed;
	if (!failed)
		fwrite(strbuf_str(text), 1, text->len, stdout);
	strbuf_destroy(text);
	return failed ? -1 : 0;
}

static int stdout_error;
static bool stdout_reported;   /* the error was printed */

void fail_stdout(int error)
{
	stdout_error = error;
}

/** Flush stdout; if `end`, close stdout too.  @return 0, or -1 after a message. */
static int settle_stdout(bool end)
{
	/* An earlier write may have failed and left nothing to flush. */
	bool failed = ferror(stdout) || stdout_error;
	errno = stdout_error ? stdout_error : failed ? errno : 0;
	if (fflush(stdout) != 0)
		failed = true;
	/* Check fclose() too: a server or a quota may report an error only on close. */
	if (!failed && (!end || fclose(stdout) == 0))
		return 0;
	errno = errno ? errno : EIO;
	/* The reader closed the pipe: no message. */
	if (errno != EPIPE && !stdout_reported)
		message("standard output", "cannot be written: %s; the output is truncated",
		        strerror(errno));
	stdout_reported = true;
	return -1;
}

int flush_stdout(void)
{
	return settle_stdout(false);
}

int finish_stdout(void)
{
	return settle_stdout(true);
}
