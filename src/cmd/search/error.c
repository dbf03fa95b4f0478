/* SPDX-License-Identifier: MIT */
#include "cmd/search/out.h"

#include "base/fstypes.h"

#include <errno.h>
#include <string.h>

void search_error_text(const struct searchent *e, struct strbuf *text)
{
	static const char *const what[] = {
		[SEARCH_ERR_OPEN] = "cannot be opened",
		[SEARCH_ERR_READ] = "cannot be read to its end",
		[SEARCH_ERR_CLOSE] = "was not closed",
		[SEARCH_ERR_STAT] = "attributes not available",
		[SEARCH_ERR_ACCESS] = "access cannot be checked",
	};
	const char *last = e->path ? strrchr(e->path, '/') : NULL;
	if (e->err == EREMOTE && last && fstype_dir_waits("proc", last + 1))
		strbuf_puts(text, "not entered: reading it waits for a process"
		                  " (--blocking enters it)");
	else if (e->err == EREMOTE)
		strbuf_puts(text, "not entered: its file system can block (--blocking enters it)");
	else if (e->err == EXDEV && e->errsource == SEARCH_ERR_OPEN)
		strbuf_puts(text, "not entered: unknown whether its mount can block"
		                  " (--blocking enters it)");
	else if (e->err == ELOOP && e->errsource == SEARCH_ERR_OPEN)
		strbuf_puts(text, "not entered: leads to itself or to a directory above it");
	else if (e->errsource == SEARCH_ERR_LIMIT)
		strbuf_puts(text, "not entered: deeper than --depth");
	else
		strbuf_printf(text, "%s: %s", what[e->errsource], strerror(e->err));
}
