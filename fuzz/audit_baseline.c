/* SPDX-License-Identifier: MIT */
/*
 * Any baseline, and another to compare it with.  The input: a byte, whose low bit says that
 * an end with its sum is put behind each text; two texts, parted by a byte 1.
 *
 * What is wrong is told at a line that there is.  What is read, is written such that it
 * reads the same; against itself nothing came, went or changed; against another what is told
 * is within what the rules say, and what came one way has gone the other way.
 */
#include "lib/fuzz.h"

#include "cmd/audit/baseline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool parse(const char *text, size_t len, struct audit_baseline *b)
{
	struct strbuf why;
	uint32_t line;
	size_t lines = 1;
	for (size_t i = 0; i < len; ++i)
		lines += text[i] == '\n';
	strbuf_init(&why);
	audit_baseline_init(b);
	int rc = audit_base_parse(text, len, b, &line, &why);
	FUZZ_CHECK(rc == 0 || (errno == EBADMSG && why.len > 0 && line > 0 && line <= lines));
	strbuf_destroy(&why);
	return rc == 0;
}

static void check_again(const struct audit_baseline *b)
{
	struct strbuf one, two;
	struct audit_baseline again;
	strbuf_init(&one);
	strbuf_init(&two);
	audit_base_write(b, &one);
	FUZZ_CHECK(!one.failed && parse(one.data, one.len, &again));
	audit_base_write(&again, &two);
	FUZZ_SAME(strbuf_str(&two), strbuf_str(&one));
	for (const char *at = one.data; *at; ++at)
		FUZZ_CHECK(*at == '\n' || ((unsigned char)*at >= ' ' && *at != 0x7f));
	audit_baseline_destroy(&again);
	strbuf_destroy(&one);
	strbuf_destroy(&two);
}

/** Compare.  @of [out] how many of each code from BASE_CAME on. */
static void compare(const struct audit_baseline *old, const struct audit_baseline *now, size_t of[3])
{
	struct audit_report report;
	size_t fresh, gone;
	audit_report_init(&report);
	FUZZ_CHECK(audit_baseline_compare(old, now, NULL, -1, &report) == 0);
	of[0] = of[1] = of[2] = 0;
	for (size_t i = 0; i < report.count; ++i) {
		const struct audit_finding *f = &report.findings[i];
		FUZZ_CHECK(f->code >= BASE_CAME && f->code <= BASE_CHANGED && f->severity <= AUDIT_WARNING && *f->target && f->expected && f->actual);
		++of[f->code - BASE_CAME];
	}
	FUZZ_CHECK(of[0] + of[2] <= now->count && of[1] <= old->count);
	FUZZ_CHECK(audit_baseline_age(old, &report, ~UINT64_C(0), &fresh, &gone) == 0);
	FUZZ_CHECK(fresh == 0 && gone <= old->nfindings);
	audit_report_destroy(&report);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = fuzz_input(data, size);
	bool whole = fuzz_byte(&in) & 1;
	struct audit_baseline b[2];
	bool good[2];
	for (int i = 0; i < 2; ++i) {
		struct strbuf text;
		size_t len;
		const char *bytes = i ? fuzz_bytes(&in, size, &len) : fuzz_until(&in, 1, &len);
		strbuf_init(&text);
		strbuf_add(&text, len ? bytes : "", len);
		if (whole)
			audit_base_end(&text, 0);
		/* Of this size: what is read beyond is seen. */
		char *copy = malloc(text.len + 1);
		FUZZ_CHECK(copy);
		memcpy(copy, strbuf_str(&text), text.len);
		good[i] = parse(copy, text.len, &b[i]);
		free(copy);
		strbuf_destroy(&text);
		if (good[i])
			check_again(&b[i]);
	}
	size_t there[3], back[3];
	for (int i = 0; i < 2; ++i) {
		if (!good[i])
			continue;
		compare(&b[i], &b[i], there);
		FUZZ_CHECK(there[0] == 0 && there[1] == 0 && there[2] == 0);
	}
	if (good[0] && good[1]) {
		compare(&b[0], &b[1], there);
		compare(&b[1], &b[0], back);
		FUZZ_CHECK(there[0] == back[1] && there[1] == back[0]);
	}
	audit_baseline_destroy(&b[0]);
	audit_baseline_destroy(&b[1]);
	return 0;
}
