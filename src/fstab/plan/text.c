/* SPDX-License-Identifier: MIT */
/* Parsing of /proc/swaps and utab, and names of units. */
#include "fstab/plan/plan_impl.h"

#include "base/escape.h"
#include "base/words.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

void fstab_unit_name(struct strbuf *out, const char *path)
{
	const char *from = path + strspn(path, "/");
	if (!*from)
		strbuf_putc(out, '-');
	for (const char *at = from; *at; ++at) {
		if (isalnum((unsigned char)*at) || strchr(":_", *at) || (*at == '.' && at > from))
			strbuf_putc(out, *at);
		else if (*at != '/')
			strbuf_printf(out, "\\x%02x", (unsigned char)*at);
		else if (at[1] && at[1] != '/')
			strbuf_putc(out, '-');
	}
}

