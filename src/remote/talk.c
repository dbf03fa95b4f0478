/* SPDX-License-Identifier: MIT */
/* Functions that all protocols use. */
#include "remote/talk.h"

#include <assert.h>

void talk_init(struct talk *talk, const struct talk_ops *ops)
{
	*talk = (struct talk){.ops = ops, .state = TALK_DONE};
}

void talk_destroy(struct talk *talk)
{
	strbuf_destroy(&talk->out);
	strbuf_destroy(&talk->why);
}

void talk_sent(struct talk *talk, size_t n)
{
	struct strbuf *out = &talk->out;
	assert(n <= out->len);
	size_t left = out->len - n;
	if (n == 0)
		return;
	memmove(out->data, out->data + n, left + 1);
	out->len = left;
}

void talk_fail(struct talk *talk, const char *format, ...)
{
	va_list args;
	if (talk->state == TALK_FAILED)
		return;
	talk->state = TALK_FAILED;
	strbuf_reset(&talk->out);
	va_start(args, format);
	strbuf_vprintf(&talk->why, format, args);
	va_end(args);
}

bool talk_has_attributes(const struct talk_request *request)
{
	return request->flags & SEARCH_METADATA || (request->mask && *request->query);
}

const char *talk_path_wrong(const char *path, size_t len)
{
	if (len > TALK_PATH_MAX)
		return "it is too long";
	if (memchr(path, '\0', len))
		return "it has a NUL";
	if (len > 0 && *path != '/')
		return "it does not begin with \"/\"";
	for (size_t at = 0; at < len;) {
		const char *name = path + at + 1;
		const char *slash = memchr(name, '/', len - at - 1);
		size_t n = slash ? (size_t)(slash - name) : len - at - 1;
		if (n == 0)
			return "it has an empty component";
		if (n <= 2 && memcmp(name, "..", n) == 0)
			return n == 1 ? "it has a component \".\"" : "it has a component \"..\"";
		at += n + 1;
	}
	return NULL;
}
