/* SPDX-License-Identifier: MIT */
/* Texts about indexes, for all commands. */
#include "cmd/found/indexed.h"

#include "base/command.h"
#include "cmd/cmd.h"
#include "select/query.h"

#include <errno.h>
#include <string.h>

const char *indexed_phrase(int error)
{
	switch (error) {
	case ENOENT: return "is not complete";
	case EBADMSG: return "is damaged";
	case EIO: return "has an input/output error";
	case EPROTONOSUPPORT: return "has the format of another version of getmnt";
	case EWOULDBLOCK: return "is being written by another process";
	default: return NULL;
	}
}

void indexed_command(const char *verb, const char *given, const char *option, const char *name,
                     struct strbuf *text)
{
	command_words(text, "getmnt", "index", verb, NULL);
	command_option(text, "--index-dir", given);
	if (option)
		command_more(text, &option, 1);
	if (name)
		command_operand(text, name);
}

void indexed_no_dir(const char *title, const char *given, struct strbuf *text)
{
	strbuf_printf(text, "not a directory in the index of %s; ", title);
	indexed_command("update", given, NULL, title, text);
	strbuf_puts(text, " adds new directories, but not the contents of subvolumes, which must "
	            "be mounted to have an index");
}

void indexed_error(const char *title, const char *dir, const char *given, int error,
                   struct strbuf *text)
{
	const bool full = error == ENOSPC || error == EDQUOT;
	const char *phrase = indexed_phrase(error);
	if (error == EWOULDBLOCK) {
		strbuf_printf(text, "its index %s; try again when it has finished", phrase);
	} else if (phrase) {
		strbuf_printf(text, "its index %s; ", phrase);
		indexed_command(*title == '/' ? "build" : "drop", given, NULL, title, text);
		strbuf_puts(text, *title == '/' ? " replaces it" : " removes it");
	} else if (full) {
		strbuf_printf(text, "its index in %s cannot be written: %s; remove files, or use "
		              "--index-dir=DIR on another file system", dir, strerror(error));
	} else if (error == EXDEV || error == EREMOTE) {
		strbuf_printf(text, "its index in %s cannot be used: another file system is "
		              "mounted on one of its files; unmount it", dir);
	} else {
		strbuf_printf(text, "its index in %s cannot be used: %s%s", dir, strerror(error),
		              error == EACCES || error == EPERM || error == EROFS
		              ? "; run as the owner of that directory, or use --index-dir=DIR"
		              : "");
	}
}

int indexed_seconds(const char *title, const char *text, int64_t *seconds)
{
	struct timespec duration = {0};
	uint64_t number = 0;
	bool is_number = option_number(text, INT32_MAX, &number);
	if (!is_number && query_duration(text, &duration) != 0)
		return usage_error(title, "\"%s\": must be a number of seconds, or a duration such "
		                   "as 30min, 3h, 2d or 1w", text);
	*seconds = is_number ? (int64_t)number : duration.tv_sec;
	return 0;
}

int indexed_dir_error(const char *dir)
{
	int error = errno;
	if (error == ENOENT && !*dir)
		message("index", "neither XDG_CACHE_HOME nor HOME is set; use --index-dir=DIR");
	else if (error == ELOOP)
		message(dir, "cannot be used: a symlink on the path belongs to another user, or "
		        "there are too many; name the directory itself");
	else
		message(dir, "cannot be used: %s%s", strerror(error),
		        error == EACCES || error == EROFS
		                ? "; run as its owner, or use another --index-dir=DIR" : "");
	return CX_ERROR;
}
