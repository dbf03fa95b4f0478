/* SPDX-License-Identifier: MIT */
/**
 * What the fuzz targets share.
 *
 * A target is one file, ../NAME.c, with LLVMFuzzerTestOneInput() in it.  It is
 * linked to libFuzzer, or to driver.c, which replays files.
 */
#ifndef GM_FUZZ_FUZZ_H
#define GM_FUZZ_FUZZ_H

#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Try one input.  A property that does not hold ends the program. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** Prepare a run of many inputs; each target that has nothing to prepare has
    the one of fuzz.c. */
int LLVMFuzzerInitialize(int *argc, char ***argv);

/** A property that must hold of every input. */
#define FUZZ_CHECK(property) \
	((property) ? (void)0 : fuzz_failed(#property, __FILE__, __LINE__))

/** Tell of a property that does not hold, and abort. */
_Noreturn void fuzz_failed(const char *property, const char *file, int line);

/** The same of two strings, NULL being like NULL alone; both are told. */
#define FUZZ_SAME(got, want) fuzz_same((got), (want), #got, __FILE__, __LINE__)
void fuzz_same(const char *got, const char *want, const char *what, const char *file, int line);

/** What is left of an input. */
struct fuzz_input {
	const char *at, *end;
};

static inline struct fuzz_input fuzz_input(const uint8_t *data, size_t size)
{
	return (struct fuzz_input){(const char *)data, (const char *)data + size};
}

/** Take a byte; 0 at the end. */
uint8_t fuzz_byte(struct fuzz_input *in);

/** Take a number of n bytes, the low one first; what is missing is 0. */
uint64_t fuzz_number(struct fuzz_input *in, unsigned n);

/** Take up to n bytes.  @return them; *got says how many there were. */
const char *fuzz_bytes(struct fuzz_input *in, size_t n, size_t *got);

/** Take what stands before a byte, and that byte; all that is left if there is
    none. */
const char *fuzz_until(struct fuzz_input *in, char stop, size_t *got);

/** Copy bytes and end them with a NUL; a NUL among them ends the string too.
    @return a string of exactly that size, to be freed. */
char *fuzz_string(const char *bytes, size_t n);

/** Allocate, or end the run. */
void *fuzz_alloc(size_t size);

/** Whether text may be shown on any terminal: valid UTF-8 without C0, C1 and
    DEL, but for line feeds. */
bool fuzz_is_printable(const char *text, size_t n);

/** What is printed on a stream, into memory. */
struct fuzz_capture {
	char *text;
	size_t len;
};

/** Run a function with stdout and stderr in memory; to be freed by
    fuzz_capture_free().  @return what it returned. */
int fuzz_capture(struct fuzz_capture *out, struct fuzz_capture *err, int (*run)(void *arg),
                 void *arg);

void fuzz_capture_free(struct fuzz_capture *capture);

struct discovery;

/** Discover from the text of a mountinfo file alone, or end the run.
    @return to be freed by fuzz_discovery_free(). */
struct discovery *fuzz_discover(const char *mountinfo, size_t n);

/** Free a discovery and its table. */
void fuzz_discovery_free(const struct discovery *d);

#endif
