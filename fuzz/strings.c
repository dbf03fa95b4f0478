/* SPDX-License-Identifier: MIT */
/*
 * Strings of one mount and of the command line that are taken apart: options,
 * sources, paths, tags.  The input: options of the mount, of the file system,
 * a source, a path, one on a line.
 *
 * A secret is not shown, wherever it stands; what holds none is left alone.
 */
#include "lib/fuzz.h"

#include "base/secret.h"
#include "base/words.h"
#include "cmd/cmd.h"
#include "cmd/discover/listing.h"
#include "cmd/discover/source.h"
#include "cmd/discover/view.h"
#include "mountopts/join.h"
#include "mounttree.h"
#include "path/resolve.h"

#include <stdlib.h>
#include <string.h>

#define SECRET "S3CR3T"

/** Take a line as a string, to be freed. */
static char *take_line(struct fuzz_input *in)
{
	size_t n;
	const char *line = fuzz_until(in, '\n', &n);
	return fuzz_string(line, n);
}

static char *masked(void (*mask)(const char *text, struct strbuf *out), const char *text)
{
	struct strbuf out;
	strbuf_init(&out);
	strbuf_add(&out, "", 0);
	mask(text, &out);
	char *result = strbuf_take(&out);
	FUZZ_CHECK(result);
	return result;
}

static void try_secrets(const char *options)
{
	char *once = masked(mask_options, options), *twice = masked(mask_options, once);
	FUZZ_SAME(twice, once);
	if (!has_secret(options))
		FUZZ_SAME(once, options);
	else
		FUZZ_CHECK(strstr(once, "***"));
	free(twice);
	free(once);

	static const char *const secrets[] = {
		"password=" SECRET, "PassWd=" SECRET ",rw", "username=a%" SECRET, "x.key=" SECRET,
		"password=\"a," SECRET "\"", "pasword=" SECRET, "user=a:" SECRET,
		"x=user=a%" SECRET, "u=http://a:" SECRET "@h/",
	};
	bool known = strstr(options, SECRET);
	for (size_t i = 0; i < sizeof(secrets) / sizeof(*secrets) && !known; ++i) {
		struct strbuf with;
		strbuf_init(&with);
		strbuf_printf(&with, "%s,%s", options, secrets[i]);
		char *shown = masked(mask_options, strbuf_str(&with));
		FUZZ_CHECK(has_secret(strbuf_str(&with)));
		FUZZ_CHECK(!strstr(shown, SECRET));
		free(shown);
		strbuf_destroy(&with);
	}
}

static void try_source(const char *source)
{
	char *once = masked(mask_source, source), *twice = masked(mask_source, once);
	FUZZ_SAME(twice, once);
	if (!strchr(source, '@') && !has_secret(source))
		FUZZ_SAME(once, source);
	free(twice);
	free(once);

	const char *value;
	size_t len;
	enum tag tag = source_tag(source, &value, &len);
	if (tag != TAG_NONE) {
		const char *equals = strchr(source, '=');
		FUZZ_CHECK(equals && value > equals && len <= strlen(value));
		bool quoted = value == equals + 2;
		FUZZ_CHECK(quoted ? value[-1] == value[len]
		           && value[len + 1] == '\0' : value[len] == '\0');
	}

	struct input_opts options = {.source = TABLE_AUTO};
	struct run run = {.opt = &options, .procfd = -1, .rootfd = -1};
	struct source_spec spec;
	source_spec_init(&run, &spec, source);
	FUZZ_CHECK(!run.nomem);
	struct mount mount = {.source = source, .dev_major = spec.dev_major,
	                      .dev_minor = spec.dev_minor};
	FUZZ_CHECK(source_match(&run, &spec, &mount));
	mount.source = NULL;
	FUZZ_CHECK(source_match(&run, &spec, &mount) == (spec.is_dev
	                                                 && (spec.dev_major || spec.dev_minor)));
	source_spec_destroy(&spec);
}

static void try_path(const char *path, const char *other)
{
	struct strbuf once, twice;
	strbuf_init(&once);
	strbuf_init(&twice);
	path_normal(path, &once);
	const char *text = strbuf_str(&once);
	path_normal(text, &twice);
	FUZZ_SAME(strbuf_str(&twice), text);
	FUZZ_CHECK(strlen(text) == once.len && once.len > 0 && (*text == '/') == (*path == '/'));
	FUZZ_CHECK(!strstr(text, "//") && !strstr(text, "/./"));
	FUZZ_CHECK(once.len == 1 || text[once.len - 1] != '/');
	if (*text == '/')
		FUZZ_CHECK(!strstr(text, "/../")
		           && (once.len < 3 || strcmp(text + once.len - 3, "/..") != 0));
	strbuf_destroy(&twice);

	/* A path lies in itself, in "/", and in nothing that it does not begin with. */
	if (*text == '/') {
		FUZZ_CHECK(word_below(text, text) && word_below(text, "/"));
		if (word_below(text, other))
			FUZZ_CHECK(strspn(other, "/") == strlen(other)
			           || strncmp(text, other, 1) == 0);
	}
	strbuf_destroy(&once);
}

static void try_options(const char *vfs, const char *fs)
{
	const struct mount mounts[] = {
		{.vfs_opts = vfs, .fs_opts = fs}, {.vfs_opts = vfs}, {.fs_opts = fs},
		{.fs_opts = fs, .line = 1}, {.line = 1},
	};
	for (size_t i = 0; i < sizeof(mounts) / sizeof(*mounts); ++i) {
		struct strbuf out;
		strbuf_init(&out);
		strbuf_puts(&out, "before ");
		join_findmnt(&mounts[i], &out);
		const char *text = strbuf_str(&out) + 7;
		FUZZ_CHECK(strlen(text) + 7 == out.len && memcmp(out.data, "before ", 7) == 0);
		if (mounts[i].line == 0)
			FUZZ_CHECK(strncmp(text, "ro", 2) == 0 || strncmp(text, "rw", 2) == 0);
		else if (fs && !strchr(fs, '\\'))
			FUZZ_SAME(text, mounts[i].fs_opts ? mounts[i].fs_opts : "");
		strbuf_destroy(&out);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = fuzz_input(data, size);
	char *vfs = take_line(&in), *fs = take_line(&in), *source = take_line(&in),
	            *path = take_line(&in);
	try_options(vfs, fs);
	try_secrets(vfs);
	try_secrets(fs);
	try_source(source);
	try_path(path, source);
	free(vfs);
	free(fs);
	free(source);
	free(path);
	return 0;
}
