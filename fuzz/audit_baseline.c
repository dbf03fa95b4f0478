/* SPDX-License-Identifier: MIT */
/*
 * Any baseline, and another to compare it with.  The input: two texts, separated by a byte 1;
 * "END" as the last line of one becomes an end with the right number of lines.
 *
 * A problem is reported at an existing line.  What is read and written reads the same.
 * Compared with itself nothing came, went or changed; with another, what came one way went the
 * other way.
 */
#include "lib/fuzz.h"

#include "cmd/audit/audit.h"

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

static struct audit_base_counts compare(struct audit_baseline *old, struct audit_baseline *now)
{
	struct audit_report report = {0};
	struct audit_base_counts counts = {0};
	struct audit_baseline found;
	audit_set all = audit_set_of(0);
	audit_baseline_init(&found);
	FUZZ_CHECK(audit_baseline_compare(old, now, -1, &report, &counts) == 0);
	for (size_t i = 0; i < report.count; ++i) {
		const struct audit_finding *f = &report.findings[i];
		FUZZ_CHECK(audit_rules[f->code].flags & AR_BASELINE && f->severity <= AUDIT_WARNING
		           && *f->target && f->expected && f->actual);
	}
	FUZZ_CHECK(counts.came + counts.changed + counts.went == report.count);
	FUZZ_CHECK(counts.came + counts.changed <= now->mounts.count
	           && counts.went <= old->mounts.count);
	FUZZ_CHECK(audit_baseline_findings(old, &report, all, &found, &counts) == 0);
	FUZZ_CHECK(counts.new_findings == 0 && counts.gone_findings <= old->findings.count);
	audit_baseline_destroy(&found);
	audit_report_destroy(&report);
	return counts;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = fuzz_input(data, size);
	struct audit_baseline b[2];
	bool good[2];
	for (int i = 0; i < 2; ++i) {
		struct strbuf text;
		size_t len, lines = 0;
		const char *bytes = i ? fuzz_bytes(&in, size, &len) : fuzz_until(&in, 1, &len);
		bool ends = len >= 4 && memcmp(bytes + len - 4, "END\n", 4) == 0;
		strbuf_init(&text);
		strbuf_add(&text, len ? bytes : "", len - (ends ? 4 : 0));
		for (size_t k = 0; k < text.len; ++k)
			lines += text.data[k] == '\n';
		if (ends)
			strbuf_printf(&text, "{\"end\": %zu}\n", lines);
		/* Of this size, so that a read beyond it is seen. */
		char *copy = malloc(text.len + 1);
		FUZZ_CHECK(copy);
		memcpy(copy, strbuf_str(&text), text.len);
		good[i] = parse(copy, text.len, &b[i]);
		free(copy);
		strbuf_destroy(&text);
		if (good[i])
			check_again(&b[i]);
	}
	for (int i = 0; i < 2; ++i) {
		struct audit_base_counts same = {0};
		if (good[i])
			same = compare(&b[i], &b[i]);
		FUZZ_CHECK(same.came == 0 && same.went == 0 && same.changed == 0);
	}
	if (good[0] && good[1]) {
		struct audit_base_counts there = compare(&b[0], &b[1]),
		                                 back = compare(&b[1], &b[0]);
		FUZZ_CHECK(there.came == back.went && there.went == back.came);
	}
	audit_baseline_destroy(&b[0]);
	audit_baseline_destroy(&b[1]);
	return 0;
}
