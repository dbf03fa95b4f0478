/* SPDX-License-Identifier: MIT */
#include "command.h"

#include "cmd/cmd.h"
#include "cmd/discover/listing.h"

#include <stdlib.h>
#include <string.h>

void command_begin(struct command_line *line, const char *const *words)
{
	memset(line, 0, sizeof(*line));
	for (; *words; ++words)
		line->words[line->argc++] = fuzz_string(*words, strlen(*words));
	command_reset(line);
}

void command_take(struct command_line *line, struct fuzz_input *in)
{
	while (in->at < in->end && line->argc < COMMAND_WORDS) {
		size_t n;
		const char *word = fuzz_until(in, '\n', &n);
		if (n == 0)
			break;
		line->words[line->argc++] = fuzz_string(word, n);
	}
	command_reset(line);
}

void command_reset(struct command_line *line)
{
	memcpy(line->argv, line->words, sizeof(line->argv));
}

void command_end(struct command_line *line)
{
	command_reset(line);
	for (int i = 0; i < line->argc; ++i)
		free(line->words[i]);
}

static int parse(void *arg)
{
	struct command_line *line = arg;
	return discover_options_read(&line->options, line->argc, line->argv);
}

int command_parse(struct command_line *line)
{
	struct fuzz_capture out, err;
	int status = fuzz_capture(&out, &err, parse, line);
	fuzz_capture_free(&out);
	fuzz_capture_free(&err);
	command_reset(line);
	return status;
}

static int run(void *arg)
{
	struct command_line *line = arg;
	return cmd_discover(line->argc, line->argv);
}

int command_run(struct command_line *line, struct fuzz_capture *out, struct fuzz_capture *err)
{
	return fuzz_capture(out, err, run, line);
}
