/* SPDX-License-Identifier: MIT */
#include "fuzz.h"

#include "discover/discover.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((weak)) int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc, (void)argv;
	return 0;
}

/* What the tests print goes where it always went, also while stderr is caught. */
static FILE *fuzz_stderr;

_Noreturn void fuzz_failed(const char *property, const char *file, int line)
{
	fprintf(fuzz_stderr ? fuzz_stderr : stderr, "%s:%d: does not hold: %s\n", file, line,
	        property);
	abort();
}

void fuzz_same(const char *got, const char *want, const char *what, const char *file, int line)
{
	if (got && want ? strcmp(got, want) == 0 : got == want)
		return;
	fprintf(fuzz_stderr ? fuzz_stderr : stderr, "%s:%d: %s is \"%s\", not \"%s\"\n", file, line,
	        what, got ? got : "(none)", want ? want : "(none)");
	abort();
}

uint8_t fuzz_byte(struct fuzz_input *in)
{
	return in->at < in->end ? (uint8_t)*in->at++ : 0;
}

uint64_t fuzz_number(struct fuzz_input *in, unsigned n)
{
	uint64_t number = 0;
	for (unsigned i = 0; i < n; ++i)
		number |= (uint64_t)fuzz_byte(in) << (8 * i);
	return number;
}

const char *fuzz_bytes(struct fuzz_input *in, size_t n, size_t *got)
{
	const char *bytes = in->at;
	*got = n < (size_t)(in->end - in->at) ? n : (size_t)(in->end - in->at);
	in->at += *got;
	return bytes;
}

const char *fuzz_until(struct fuzz_input *in, char stop, size_t *got)
{
	const char *bytes = in->at, *found = NULL;
	if (in->at < in->end)
		found = memchr(in->at, stop, (size_t)(in->end - in->at));
	*got = (size_t)((found ? found : in->end) - bytes);
	in->at = found ? found + 1 : in->end;
	return bytes;
}

char *fuzz_string(const char *bytes, size_t n)
{
	const char *nul = n ? memchr(bytes, '\0', n) : NULL;
	if (nul)
		n = (size_t)(nul - bytes);
	char *copy = fuzz_alloc(n + 1);
	if (n)
		memcpy(copy, bytes, n);
	copy[n] = '\0';
	return copy;
}

void *fuzz_alloc(size_t size)
{
	void *memory = malloc(size + !size);
	FUZZ_CHECK(memory);
	return memory;
}

bool fuzz_is_printable(const char *text, size_t n)
{
	/* Not by base/escape, which is on trial too. */
	const unsigned char *s = (const unsigned char *)text;
	for (size_t i = 0; i < n;) {
		unsigned char c = s[i];
		size_t len = c < 0x80 ? 1 : c < 0xc0 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3
		             : c < 0xf8 ? 4 : 0;
		if (len == 0 || n - i < len)
			return false;
		uint32_t code = len == 1 ? c : c & (0x7fu >> len);
		for (size_t k = 1; k < len; ++k) {
			if ((s[i + k] & 0xc0) != 0x80)
				return false;
			code = code << 6 | (s[i + k] & 0x3f);
		}
		static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
		if (code < least[len] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
			return false;
		if ((code < 0x20 && code != '\n') || (code >= 0x7f && code < 0xa0))
			return false;
		i += len;
	}
	return true;
}

/** What a stream of ours is written to.  Whoever prints may close it. */
struct caught {
	struct strbuf text;
	FILE *stream;
	bool closed;
};

static ssize_t caught_write(void *cookie, const char *bytes, size_t n)
{
	struct caught *caught = cookie;
	strbuf_add(&caught->text, bytes, n);
	return (ssize_t)n;
}

static int caught_close(void *cookie)
{
	struct caught *caught = cookie;
	caught->closed = true;
	return 0;
}

static void caught_begin(struct caught *caught)
{
	const cookie_io_functions_t functions = {.write = caught_write, .close = caught_close};
	*caught = (struct caught){.stream = fopencookie(caught, "w", functions)};
	strbuf_init(&caught->text);
	strbuf_add(&caught->text, "", 0);
	FUZZ_CHECK(caught->stream);
}

static void caught_end(struct caught *caught, struct fuzz_capture *capture)
{
	if (!caught->closed)
		FUZZ_CHECK(fclose(caught->stream) == 0);
	capture->len = caught->text.len;
	capture->text = strbuf_take(&caught->text);
	FUZZ_CHECK(capture->text);
}

int fuzz_capture(struct fuzz_capture *out, struct fuzz_capture *err, int (*run)(void *arg),
                 void *arg)
{
	FILE *real_out = stdout, *real_err = stderr;
	struct caught caught_out, caught_err;
	caught_begin(&caught_out);
	caught_begin(&caught_err);
	fuzz_stderr = real_err;
	stdout = caught_out.stream;
	stderr = caught_err.stream;
	int rc = run(arg);
	stdout = real_out;
	stderr = real_err;
	caught_end(&caught_out, out);
	caught_end(&caught_err, err);
	return rc;
}

void fuzz_capture_free(struct fuzz_capture *capture)
{
	free(capture->text);
	*capture = (struct fuzz_capture){NULL, 0};
}

struct discovery *fuzz_discover(const char *mountinfo, size_t n)
{
	struct os os = {.statx_works = true};
	struct discover_opts opts;
	discover_defaults(&opts);
	opts.names = DN_KERNEL;
	struct mount_table *table = table_parse_mountinfo(mountinfo, n);
	struct discovery *d = table ? discover(&os, NULL, table, &opts) : NULL;
	FUZZ_CHECK(d);
	return d;
}

void fuzz_discovery_free(const struct discovery *d)
{
	struct mount_table *table = (struct mount_table *)(uintptr_t)d->table;
	discovery_free((struct discovery *)(uintptr_t)d);
	table_free(table);
}
