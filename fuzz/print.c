/* SPDX-License-Identifier: MIT */
/*
 * `getmnt discover`, whole, on a recorded table: options, tree, judging,
 * filters, rows, and every form of output.
 *
 * The input: a digit or letter whose low bits are enum mode; words of the
 * command line, one on a line, up to an empty line; the text of the table (an
 * fstab or mtab with -s or -m).
 *
 * It ends with a status of its own and touches nothing live.  JSON is JSON,
 * with a key for each; what is for readers harms no terminal; mtab and fstab
 * are read as such; no secret is shown; without a filter every mount has a row.
 */
#include "lib/command.h"
#include "lib/fuzz.h"
#include "lib/json.h"
#include "lib/kernel.h"

#include "base/fstypes.h"
#include "cmd/discover/view.h"
#include "cmd/discover/listing.h"
#include "mounts/table_impl.h"

#include <ctype.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum mode {
	M_UTF8 = 1 << 0,
	M_TERMINAL = 1 << 1,
	M_SECRET = 1 << 2,        /* there is a mount with secrets */
	M_BAD_SECRET = 1 << 3,    /* and lines that are none */
};

#define SECRET "S3CR3T"
#define SECRET_OPTIONS "rw,password=" SECRET ",user=me%" SECRET ",x.key=\"" SECRET "," SECRET "\""
#define SECRET_TAB "//u:" SECRET "@h/s /secret cifs " SECRET_OPTIONS " 0 0\n"
#define SECRET_INFO "777 1 0:777 / /secret rw - cifs //u:" SECRET "@h/s " SECRET_OPTIONS "\n"
#define BAD_LINES "//u:" SECRET "@h/s\nrw,password=" SECRET ",x\n"

static unsigned mode;

/* libsmartcols asks this. */
__attribute__((visibility("default"))) int isatty(int fd)
{
	(void)fd;
	return mode & M_TERMINAL ? 1 : 0;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc, (void)argv;
	static const char *const unset[] = {
		"TERM", "COLUMNS", "LIBMOUNT_FSTAB", "LIBMOUNT_MTAB", "LIBSMARTCOLS_DEBUG",
		"LIBMOUNT_DEBUG",
		"POSIXLY_CORRECT", "GETMNT_MARK",
	};
	for (size_t i = 0; i < sizeof(unset) / sizeof(*unset); ++i)
		unsetenv(unset[i]);
	return 0;
}

/** Whether text is printable ASCII, and line feeds. */
static bool is_ascii(const char *text, size_t n)
{
	for (size_t i = 0; i < n; ++i) {
		if (text[i] != '\n' && (text[i] < 0x20 || text[i] > 0x7e))
			return false;
	}
	return true;
}

static size_t count_bytes(const char *text, size_t n, char byte)
{
	size_t found = 0;
	for (size_t i = 0; i < n; ++i)
		found += text[i] == byte;
	return found;
}

/** Whether every mount is to have a row. */
static bool shows_all(const struct options *o)
{
	return !filter_any(o) && !o->pick.first_only && !o->pick.invert && !o->pick.uniq;
}

/** The mounts of a document: rows, those that hang on them, those stacked. */
static size_t count_rows(const struct json *rows)
{
	size_t n = 0;
	for (const struct json *row = rows ? rows->first : NULL; row; row = row->next)
		n += 1 + count_rows(json_member(row, "children")) + json_count(json_member(row,
		        "stacked"));
	return n;
}

static void check_json(const struct options *o, const struct fuzz_capture *out, int status,
                       size_t mounts)
{
	struct json *document = json_read(out->text, out->len);
	FUZZ_CHECK(document && document->type == JSON_OBJECT);
	static const char *const keys[] = {
		"schema", "version", "host", "boot_id", "mntns", "table", "complete",
		"incomplete_reasons",
	};
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); ++i)
		FUZZ_CHECK(json_member(document, keys[i]));
	FUZZ_SAME(json_member(document, "schema")->text, "1");
	const struct json *complete = json_member(document, "complete");
	FUZZ_CHECK(complete->type == JSON_TRUE || complete->type == JSON_FALSE);
	FUZZ_CHECK((complete->type == JSON_FALSE) == (json_count(json_member(document,
	        "incomplete_reasons")) > 0));
	FUZZ_CHECK(complete->type == JSON_TRUE || status == CX_INCOMPLETE || status == CX_NOTHING);
	const struct json *rows = json_member(document, "filesystems");
	FUZZ_CHECK(rows && rows->type == JSON_ARRAY);
	if (shows_all(o))
		FUZZ_CHECK(count_rows(rows) == mounts && (!o->list || json_count(rows) == mounts));
	json_free(document);
}

static void check_jsonl(const struct fuzz_capture *out)
{
	for (const char *at = out->text, *end = at + out->len; at < end;) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		FUZZ_CHECK(stop);
		struct json *row = json_read(at, (size_t)(stop - at));
		FUZZ_CHECK(row && row->type == JSON_OBJECT && json_member(row, "host"));
		json_free(row);
		at = stop + 1;
	}
}

/** Every line has so many fields. */
static void check_fields(const struct fuzz_capture *out, size_t fields)
{
	for (const char *at = out->text, *end = at + out->len; at < end;) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		FUZZ_CHECK(stop && count_bytes(at, (size_t)(stop - at), ' ') == fields - 1);
		FUZZ_CHECK(!memchr(at, '\t', (size_t)(stop - at)) && *at != '#' && *at != ' ');
		at = stop + 1;
	}
}

/** What was printed as an mtab or fstab is one. */
static void check_tab(const struct fuzz_capture *out, enum table_source source)
{
	check_fields(out, 6);
	struct mount_table *table = table_parse_tabfile(out->text, out->len, source);
	FUZZ_CHECK(table && table->nproblems == 0
	           && table->count == count_bytes(out->text, out->len, '\n'));
	for (size_t i = 0; i < table->count; ++i) {
		const struct mount *m = &table->mounts[i];
		FUZZ_CHECK(m->source && m->point && m->fs_opts && m->freq >= 0 && m->passno >= 0);
	}
	table_free(table);
}

static void check_output(const struct options *o, const struct fuzz_capture *out, int status,
                         size_t mounts)
{
	if (o->quiet) {
		FUZZ_CHECK(out->len == 0);
		return;
	}
	size_t lines = count_bytes(out->text, out->len, '\n');
	FUZZ_CHECK(out->len == 0 || out->text[out->len - 1] == '\n');
	const char *form = output_forms[o->form].name;
	if (o->form == FORM_DEFAULT) {
		FUZZ_CHECK(mode & M_UTF8 ? fuzz_is_printable(out->text, out->len)
		           : is_ascii(out->text, out->len));
	} else if (o->form == FORM_RAW || o->form == FORM_PAIRS) {
		FUZZ_CHECK(is_ascii(out->text, out->len));
		if (shows_all(o))
			FUZZ_CHECK(lines == mounts + (o->form == FORM_RAW && !o->noheadings
			                              && mounts));
	} else if (o->form == FORM_JSON) {
		check_json(o, out, status, mounts);
	} else if (strcmp(form, "jsonl") == 0) {
		check_jsonl(out);
		if (shows_all(o))
			FUZZ_CHECK(lines == mounts);
	} else if (strcmp(form, "mtab") == 0 || strcmp(form, "fstab") == 0) {
		check_tab(out, *form == 'm' ? TABLE_MTAB : TABLE_FSTAB);
	} else if (strcmp(form, "setmnt") == 0) {
		check_fields(out, 2);
	} else {
		for (size_t i = 0; i < out->len; ++i) {
			/* The lines of a graph begin with a tab. */
			if (out->text[i] == '\t' && i && out->text[i - 1] == '\n')
				out->text[i] = ' ';
		}
		FUZZ_CHECK(fuzz_is_printable(out->text, out->len));
	}
}

/** The number of mounts that the run has to see. */
static size_t count_mounts(const struct options *o, const char *text, size_t len)
{
	struct mount_table *table;
	if (o->in.source == TABLE_FSTAB || o->in.source == TABLE_MTAB)
		table = table_parse_tabfile(text, len, (enum table_source)o->in.source);
	else
		table = table_parse_mountinfo(text, len);
	size_t count = table ? table->count : 0;
	table_free(table);
	return count;
}

/** Whether the run is over before a table is looked at. */
static bool is_other(const struct options *o)
{
	return o->help || o->version || o->list_columns;
}

static void try_line(struct command_line *line, const struct strbuf *table, bool own_secret)
{
	struct fuzz_capture out, err;
	int refused = command_parse(line);
	struct options o = line->options;

	struct fuzz_file file = {
		.path = "/cwd/t", .kind = FK_FILE, .bytes = strbuf_str(table), .len = table->len,
	};
	struct fuzz_kernel kernel = {.files = &file, .nfiles = 1};
	fuzz_kernel_set(&kernel);
	int status = command_run(line, &out, &err);
	fuzz_kernel_set(NULL);

	FUZZ_CHECK(status == CX_OK || status == CX_ERROR || status == CX_NOTHING
	           || status == CX_INCOMPLETE);
	FUZZ_CHECK(!refused || status == CX_ERROR);
	FUZZ_CHECK(fuzz_is_printable(err.text, err.len));
	FUZZ_CHECK(status != CX_ERROR || err.len > 0);
	if (own_secret) {
		FUZZ_CHECK(!strstr(out.text, SECRET));
		FUZZ_CHECK(!strstr(err.text, SECRET));
	}
	if (status == CX_ERROR)
		FUZZ_CHECK(out.len == 0);
	else if (!is_other(&o))
		check_output(&o, &out, status, count_mounts(&o, strbuf_str(table), table->len));
	fuzz_capture_free(&out);
	fuzz_capture_free(&err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int locale = -1;
	struct fuzz_input in = fuzz_input(data, size);
	mode = fuzz_byte(&in);
	if (locale != (int)(mode & M_UTF8)) {
		locale = mode & M_UTF8;
		/* The command takes it from the environment, where it shows names. */
		FUZZ_CHECK(setenv("LC_ALL", locale ? "C.UTF-8" : "C", 1) == 0
		           && setlocale(LC_CTYPE, ""));
	}
	struct command_line line;
	command_begin(&line, (const char *const[]){"getmnt", "-F", "t", NULL});
	command_take(&line, &in);

	size_t n;
	const char *text = fuzz_bytes(&in, size, &n);
	struct strbuf table;
	strbuf_init(&table);
	strbuf_add(&table, text, n);
	bool own_secret = mode & (M_SECRET | M_BAD_SECRET);
	if (own_secret && n && text[n - 1] != '\n')
		strbuf_putc(&table, '\n');
	if (mode & M_SECRET)
		strbuf_puts(&table, SECRET_INFO SECRET_TAB);
	if (mode & M_BAD_SECRET)
		strbuf_puts(&table, BAD_LINES);
	/* What is not ours cannot be held to be secret: parts of it are anywhere. */
	own_secret = own_secret && !memmem(data, size, "S3C", 3) && !memmem(data, size, "\"", 1);
	try_line(&line, &table, own_secret);

	command_end(&line);
	strbuf_destroy(&table);
	return 0;
}
