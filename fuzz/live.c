/* SPDX-License-Identifier: MIT */
/*
 * `getmnt discover` on a made-up machine: lib/world.h.
 *
 * The input: words of the command line, one on a line, up to an empty line;
 * then the world.
 *
 * Whatever is asked for, nothing that can block is touched; what is printed is
 * what the form says, and harms no terminal; every mount has a row in a list
 * without a filter.
 */
#include "lib/command.h"
#include "lib/fuzz.h"
#include "lib/json.h"
#include "lib/world.h"

#include "cmd/cmd.h"
#include "cmd/discover/view.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc, (void)argv;
	static const char *const unset[] = {
		"TERM", "COLUMNS", "LIBMOUNT_FSTAB", "LIBMOUNT_MTAB", "LIBSMARTCOLS_DEBUG",
		"LIBMOUNT_DEBUG",
		"POSIXLY_CORRECT", "GETMNT_MARK", "GETMNT_DISABLE",
	};
	for (size_t i = 0; i < sizeof(unset) / sizeof(*unset); ++i)
		unsetenv(unset[i]);
	setenv("LC_ALL", "C.UTF-8", 1);
	setlocale(LC_CTYPE, "C.UTF-8");
	return 0;
}

/** Whether the command is another, or of a process, or opens a file that is
    named, wherever it lies. */
static bool is_other(const struct options *o)
{
	return o->help || o->version || o->list_columns || o->poll || o->in.probe
	       || o->in.threads > 1 || o->in.tab_file;
}

/** The mounts that there are, as long as nothing is known by device alone. */
static size_t count_mounts(const struct world *world)
{
	size_t n = 0;
	for (unsigned i = 0; i < world->n; ++i)
		n += !world->mounts[i].gone;
	return n;
}

static void check_output(const struct options *o, const struct fuzz_capture *out, int status,
                         const struct world *world)
{
	bool all = !filter_any(o) && !o->pick.first_only && !o->pick.invert && !o->pick.uniq
	           && o->in.source <= TABLE_MOUNTINFO
	           && !o->in.tab_file && !o->pick.unmounted;
	if (o->quiet) {
		FUZZ_CHECK(out->len == 0);
	} else if (o->form == FORM_JSON) {
		struct json *document = json_read(out->text, out->len);
		FUZZ_CHECK(document && document->type == JSON_OBJECT);
		const struct json *complete = json_member(document, "complete");
		FUZZ_CHECK(complete && (complete->type == JSON_FALSE) == (status == CX_INCOMPLETE
		        || (status == CX_NOTHING && complete->type == JSON_FALSE)));
		if (all && o->list)
			FUZZ_CHECK(json_count(json_member(document,
			                                  "filesystems")) == count_mounts(world));
		json_free(document);
	} else if (o->form == FORM_DEFAULT && !o->explain) {
		FUZZ_CHECK(fuzz_is_printable(out->text, out->len));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = fuzz_input(data, size);
	struct command_line line;
	command_begin(&line, (const char *const[]){"getmnt", NULL});
	command_take(&line, &in);
	int refused = command_parse(&line);
	struct options o = line.options;
	if (!refused && is_other(&o))
		goto out;

	struct world world;
	world_begin(&world, &in);
	struct fuzz_capture out, err;
	int status = command_run(&line, &out, &err);
	FUZZ_CHECK(status == CX_OK || status == CX_ERROR || status == CX_NOTHING
	           || status == CX_INCOMPLETE);
	FUZZ_CHECK(!refused || status == CX_ERROR);
	FUZZ_CHECK(fuzz_is_printable(err.text, err.len));
	FUZZ_CHECK(status != CX_ERROR || (err.len > 0 && out.len == 0));
	if (status != CX_ERROR)
		check_output(&o, &out, status, &world);
	fuzz_capture_free(&out);
	fuzz_capture_free(&err);
	world_end(&world);
out:
	command_end(&line);
	return 0;
}
