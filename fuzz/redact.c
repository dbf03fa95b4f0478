/* SPDX-License-Identifier: MIT */
/*
 * A text without what tells whose it is.  The input: a name of a host up to a newline, and
 * texts with a newline behind each.
 *
 * No line comes or goes, the same text becomes the same again, and neither the name, as a
 * word, nor a UUID that was planted is in what comes out.
 */
#include "lib/fuzz.h"

#include "audit/redact.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char uuid[] = "c0ffee00-1234-4abc-8def-0123456789ab";

/** Whether bytes stand in a text with one of these, or its end, on both sides. */
static bool stands(const char *text, const char *word, size_t n, const char *around)
{
	for (const char *at = text; *at; ++at) {
		if (strncasecmp(at, word, n) == 0 && (at == text || strchr(around, at[-1]))
		    && (!at[n] || strchr(around, at[n])))
			return true;
	}
	return false;
}

static size_t lines(const char *text)
{
	size_t count = 0;
	for (; *text; ++text)
		count += *text == '\n';
	return count;
}

/** A name that is one: what is a word of every system stays. */
static bool is_name(const char *name, size_t n)
{
	bool digit = false, letter = false;
	for (size_t i = 0; i < n; ++i) {
		if (!isalnum((unsigned char)name[i]))
			return false;
		digit |= isdigit((unsigned char)name[i]) != 0;
		letter |= strchr("ghjklmnopqrstuvwxyz", name[i]) != NULL;
	}
	return n > 4 && n < 40 && digit && letter;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = fuzz_input(data, size);
	size_t n;
	const char *bytes = fuzz_until(&in, '\n', &n);
	char *name = strndup(bytes, n), *text = strndup(in.at, (size_t)(in.end - in.at));
	FUZZ_CHECK(name && text);
	n = strlen(name);
	struct redact r;
	struct strbuf all, out, again;
	strbuf_init(&all);
	strbuf_init(&out);
	strbuf_init(&again);
	/* What is planted stands once where a table has it. */
	strbuf_printf(&all, "%s\nUUID=%s /%s/x ext4 defaults 0 2\n", text, uuid, is_name(name, n) ? name : "x");
	redact_init(&r);
	if (is_name(name, n))
		redact_name(&r, REDACT_HOST, name, n);
	redact_learn(&r, strbuf_str(&all));
	redact_text(&r, strbuf_str(&all), &out);
	redact_text(&r, strbuf_str(&all), &again);
	FUZZ_CHECK(!r.failed && !out.failed);
	FUZZ_SAME(strbuf_str(&again), strbuf_str(&out));
	FUZZ_CHECK(lines(strbuf_str(&out)) == lines(strbuf_str(&all)));
	FUZZ_CHECK(out.len <= 40 * all.len);
	FUZZ_CHECK(!stands(strbuf_str(&out), uuid, sizeof(uuid) - 1, " \t\n/=,\"'"));
	FUZZ_CHECK(!is_name(name, n) || !strstr(strbuf_str(&out), name) || !stands(strbuf_str(&out), name, n, " \t\n/=,"));
	redact_destroy(&r);
	strbuf_destroy(&all);
	strbuf_destroy(&out);
	strbuf_destroy(&again);
	free(name);
	free(text);
	return 0;
}
