/* SPDX-License-Identifier: MIT */
/*
 * Two texts compared by lines.  The input: a text up to a byte 0x1e, and another one;
 * each byte from 0x80 on stands for a line of its own, so that a short input has many.
 *
 * Applied to the old text the diff gives the new one, hunks are in order and say how
 * long they are, nothing but what differs and its context is in them; the other way
 * round as many lines differ, of texts that are not long.
 */
#include "lib/fuzz.h"

#include "base/linediff.h"

#include <stdlib.h>
#include <string.h>

/** A diff that is applied while it is given. */
struct apply {
	const char *old;
	size_t len, at, line;
	struct strbuf new;
	size_t new_line;
	size_t old_left, new_left, same;
	bool begun;
};

/** Pass the next line of the old text.  @return its length. */
static size_t pass(struct apply *a, bool copy)
{
	FUZZ_CHECK(a->at < a->len);
	const char *end = memchr(a->old + a->at, '\n', a->len - a->at);
	size_t n = end ? (size_t)(end + 1 - a->old) - a->at : a->len - a->at;
	if (copy) {
		strbuf_add(&a->new, a->old + a->at, n);
		++a->new_line;
	}
	a->at += n;
	++a->line;
	return n;
}

static void hunk(void *arg, size_t old_line, size_t old_n, size_t new_line, size_t new_n)
{
	struct apply *a = arg;
	FUZZ_CHECK(a->old_left == 0 && a->new_left == 0 && old_n + new_n > 0);
	FUZZ_CHECK(!a->begun || a->same == LINEDIFF_CONTEXT);
	size_t between = 0;
	for (; a->line + (old_n > 0) < old_line; ++between)
		pass(a, true);
	FUZZ_CHECK(!a->begun || between > 0);
	FUZZ_CHECK(a->line + (old_n > 0) == old_line && a->new_line + (new_n > 0) == new_line);
	a->old_left = old_n;
	a->new_left = new_n;
	a->same = 0;
	a->begun = true;
}

static void line(void *arg, char mark, const char *bytes, size_t n, bool ended)
{
	struct apply *a = arg;
	a->same = mark == ' ' ? a->same + 1 : 0;
	FUZZ_CHECK(a->same <= 2 * LINEDIFF_CONTEXT);
	if (mark != '+') {
		const char *at = a->old + a->at;
		FUZZ_CHECK(a->old_left-- > 0);
		FUZZ_CHECK(pass(a, mark == ' ') == n + ended && memcmp(at, bytes, n) == 0);
	}
	if (mark != '-')
		FUZZ_CHECK(a->new_left-- > 0);
	if (mark == '+') {
		strbuf_add(&a->new, bytes, n);
		if (ended)
			strbuf_putc(&a->new, '\n');
		++a->new_line;
	}
}

static void expand(struct strbuf *out, const char *bytes, size_t n)
{
	for (size_t i = 0; i < n; ++i) {
		if ((unsigned char)bytes[i] >= 0x80)
			strbuf_printf(out, "%u\n", (unsigned char)bytes[i] & 0x1fu);
		else
			strbuf_putc(out, bytes[i]);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = fuzz_input(data, size);
	size_t n;
	const char *first = fuzz_until(&in, 0x1e, &n);
	struct strbuf old, new, diff;
	strbuf_init(&old);
	strbuf_init(&new);
	strbuf_init(&diff);
	expand(&old, first, n);
	expand(&new, in.at, (size_t)(in.end - in.at));
	const char *a = strbuf_str(&old), *b = strbuf_str(&new);

	struct apply apply = {.old = a, .len = old.len};
	struct linediff_to to = {&apply, hunk, line};
	struct linediff_count count = {0}, back = {0}, again = {0};
	strbuf_init(&apply.new);
	FUZZ_CHECK(linediff(a, old.len, b, new.len, &to, &count) == 0);
	FUZZ_CHECK(apply.old_left == 0 && apply.new_left == 0 && apply.same <= LINEDIFF_CONTEXT);
	while (apply.at < apply.len)
		pass(&apply, true);
	FUZZ_CHECK(apply.new.len == new.len
	           && (new.len == 0 || memcmp(apply.new.data, b, new.len) == 0));
	FUZZ_CHECK(linediff(b, new.len, a, old.len, &(struct linediff_to){0}, &back) == 0);
	/* Beyond so many lines it need not be the shortest. */
	FUZZ_CHECK(size > 1000 || (back.removed == count.added && back.added == count.removed));
	FUZZ_CHECK(linediff_unified(&diff, a, old.len, b, new.len, &again) == 0);
	FUZZ_CHECK((diff.len == 0) == (count.removed + count.added == 0)
	           && again.added == count.added);
	strbuf_destroy(&apply.new);
	strbuf_destroy(&old);
	strbuf_destroy(&new);
	strbuf_destroy(&diff);
	return 0;
}
