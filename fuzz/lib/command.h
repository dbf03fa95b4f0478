/* SPDX-License-Identifier: MIT */
/**
 * A command line that comes from an input.
 */
#ifndef GM_FUZZ_COMMAND_H
#define GM_FUZZ_COMMAND_H

#include "fuzz.h"

#include "cmd/discover/listing.h"

enum { COMMAND_WORDS = 40 };

struct command_line {
	char *words[COMMAND_WORDS + 8];   /* as they were given */
	char *argv[COMMAND_WORDS + 8];    /* what is permuted, and changed */
	int argc;
	struct options options;           /* by command_parse() */
};

/** Begin a command line with some words, up to a NULL. */
void command_begin(struct command_line *line, const char *const *words);

/** Add words, one on a line, up to an empty line or the end. */
void command_take(struct command_line *line, struct fuzz_input *in);

/** Let argv be as it was given. */
void command_reset(struct command_line *line);

/** Free the words. */
void command_end(struct command_line *line);

/** Read the options; what it prints goes nowhere.  argv is reset.
    @return as discover_options_read(). */
int command_parse(struct command_line *line);

/** Run the command. */
int command_run(struct command_line *line, struct fuzz_capture *out, struct fuzz_capture *err);

#endif
