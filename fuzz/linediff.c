/* SPDX-License-Identifier: MIT */
/*
 * Two texts compared by lines.  The input: a text up to a byte 0x1e, and another one;
 * each byte from 0x80 on stands for a line of its own, so that a short input has many.
 *
 * Applied to the old text the diff gives the new one, hunks are in order and say how
 * long they are, nothing but what differs and its context is in them; the other way
 * round as many lines differ.
 */
#include "lib/fuzz.h"

#include "../tests/lib/apply_diff.h"

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

	struct strbuf made;
	struct linediff_count count = {0}, back = {0};
	strbuf_init(&made);
	FUZZ_CHECK(linediff(&diff, a, old.len, b, new.len, &count) == 0);
	FUZZ_CHECK(apply_diff(a, old.len, &diff, &made));
	FUZZ_CHECK(made.len == new.len && memcmp(strbuf_str(&made), b, new.len) == 0);
	FUZZ_CHECK((diff.len == 0) == (count.removed + count.added == 0));
	FUZZ_CHECK(linediff(NULL, b, new.len, a, old.len, &back) == 0);
	FUZZ_CHECK(size > 1000 || (back.removed == count.added && back.added == count.removed));
	strbuf_destroy(&made);
	strbuf_destroy(&old);
	strbuf_destroy(&new);
	strbuf_destroy(&diff);
	return 0;
}
