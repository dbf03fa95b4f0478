/* SPDX-License-Identifier: MIT */
/* Small texts of the machine that an fstab is made with. */
#include "fstab/common.h"

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

const char *fstab_normal(struct arena *arena, const char *path)
{
	if (!path || *path != '/')
		return NULL;
	char *out = arena_strndup(arena, path, strlen(path));
	if (!out)
		return NULL;
	size_t len = 0;
	for (const char *at = path; *at;) {
		at += strspn(at, "/");
		size_t n = strcspn(at, "/");
		if (n == 2 && at[0] == '.' && at[1] == '.') {
			while (len > 0 && out[--len] != '/')
				;
		} else if (n > 0 && !(n == 1 && *at == '.')) {
			out[len] = '/';
			memmove(out + len + 1, at, n);
			len += n + 1;
		}
		at += n;
	}
	if (len == 0)
		out[len++] = '/';
	out[len] = '\0';
	return out;
}
