/* SPDX-License-Identifier: MIT */
/*
 * The command line.  The input is its words, one on a line.
 *
 * What is taken is in range and goes together; what is refused is told, on
 * any terminal; the words are left as they were.
 */
#include "lib/command.h"
#include "lib/fuzz.h"

#include "cmd/discover/columns.h"
#include "cmd/discover/view.h"
#include "cmd/discover/listing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct parsed {
	struct command_line line;
	struct columns columns;
};

static int parse(void *arg)
{
	struct parsed *parsed = arg;
	struct command_line *line = &parsed->line;
	int status = discover_options_read(&line->options, line->argc, line->argv);
	if (!status && line->options.poll)
		status = discover_options_check(&line->options);
	return status ? status : columns_choose(&parsed->columns, &line->options);
}

static bool is_word(const struct command_line *line, const char *text)
{
	for (int i = 1; i < line->argc; ++i) {
		size_t n = strlen(line->argv[i]);
		if (text >= line->argv[i] && text <= line->argv[i] + n)
			return true;
	}
	return text == NULL;
}

static void check_options(const struct command_line *line, const struct columns *columns)
{
	const struct options *o = &line->options;
	FUZZ_CHECK(o->in.source >= TABLE_AUTO && o->in.source <= TABLE_MTAB
	           && o->in.source != TABLE_RECORDED);
	FUZZ_CHECK(o->form >= FORM_DEFAULT && o->form <= FORM_JSONL);
	FUZZ_CHECK(o->in.names >= -1 && o->in.names <= DN_KERNEL);
	FUZZ_CHECK(o->in.algorithm >= DA_GETMNT3 && o->in.algorithm <= DA_GETMNT1);
	FUZZ_CHECK(o->in.identity == DI_MNTID || o->in.identity == DI_DEV);
	FUZZ_CHECK(o->pick.backward == 0 || o->pick.backward == 1);
	FUZZ_CHECK(o->nest == 0 || o->nest == 1);
	FUZZ_CHECK(o->in.task <= INT_MAX && o->in.depth <= 1000000 && o->in.threads <= 256);
	const double times[] = {o->in.search_seconds, o->in.max_time, o->in.timeout};
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); ++i)
		FUZZ_CHECK(isfinite(times[i]) && times[i] >= 0 && times[i] <= 1e6);
	FUZZ_CHECK(!(o->in.prune_on & o->in.prune_off));
	for (int i = 0; i < 32; ++i)
		FUZZ_CHECK(!((o->in.prune_on | o->in.prune_off) & 1u << i)
		           || (i < DISCOVER_RULES_MAX && discover_rules[i].name));
	FUZZ_CHECK(!(o->tree && o->list) && !(o->df && o->dfi));
	FUZZ_CHECK(!(o->pick.real && o->pick.pseudo));
	FUZZ_CHECK(!(o->pick.mountpoint && o->pick.target));
	FUZZ_CHECK(!(o->in.tab_file && (o->in.task || o->in.root)));
	FUZZ_CHECK(!(o->canonicalize && o->in.nocanonicalize));

	const char *const strings[] = {
		o->in.tab_file, o->in.root, o->pick.mount_options, o->pick.types,
		o->pick.mountpoint, o->pick.target, o->pick.spec, o->output,
	};
	for (size_t i = 0; i < sizeof(strings) / sizeof(*strings); ++i)
		FUZZ_CHECK(is_word(line, strings[i]));
	FUZZ_CHECK(o->pick.noperands >= 0 && o->pick.noperands < line->argc);
	/* After --help nothing is read. */
	const struct pick_options *pick = &o->pick;
	FUZZ_CHECK(o->help ? !pick->operands
	           : pick->operands + pick->noperands == line->argv + line->argc);

	FUZZ_CHECK(columns->count > 0 || o->output);
	FUZZ_CHECK(columns->count <= sizeof(columns->of) / sizeof(*columns->of));
	for (size_t i = 0; i < columns->count; ++i)
		FUZZ_CHECK(columns_have(columns, columns->of[i]->name));
	FUZZ_CHECK(!(listing_fields(o, columns) & ~(unsigned)MF_ALL));
}

static void check_message(const char *text, size_t len)
{
	FUZZ_CHECK(len > 0 && text[len - 1] == '\n' && strncmp(text, "getmnt: ", 8) == 0);
	FUZZ_CHECK(fuzz_is_printable(text, len));
	/* One message, and where help is. */
	const char *end = strchr(text, '\n') + 1;
	FUZZ_CHECK(!*end || strcmp(end, "Try 'getmnt --help' for more information.\n") == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = fuzz_input(data, size);
	struct parsed *parsed = fuzz_alloc(sizeof(*parsed));
	struct command_line *line = &parsed->line;
	command_begin(line, (const char *const[]){"getmnt", NULL});
	command_take(line, &in);

	struct fuzz_capture out, err;
	int status = fuzz_capture(&out, &err, parse, parsed);
	FUZZ_CHECK(status == CX_OK || status == CX_ERROR);
	FUZZ_CHECK(out.len == 0);
	if (status == CX_OK) {
		FUZZ_CHECK(err.len == 0);
		check_options(line, &parsed->columns);
	} else {
		check_message(err.text, err.len);
	}
	FUZZ_CHECK(line->argv[line->argc] == NULL);
	command_end(line);
	free(parsed);
	fuzz_capture_free(&out);
	fuzz_capture_free(&err);
	return 0;
}
