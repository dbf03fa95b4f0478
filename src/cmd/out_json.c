/* SPDX-License-Identifier: MIT */
/*
 * The JSON document around the rows, which libsmartcols makes.
 *
 * It is printed as it is made, but for its last bytes, which are held back:
 * our keys go before its last brace.
 */
#include "cmd/output.h"

#include "base/escape.h"
#include "cmd/listing.h"

#include <inttypes.h>
#include <libsmartcols/libsmartcols.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>

enum { HELD = 16, DOCUMENT_BUFFER = 64 * 1024 };

static void json_string_or_null(struct strbuf *out, const char *str)
{
	if (str)
		escape_json(out, str);
	else
		strbuf_puts(out, "null");
}

void json_head(struct run *run, struct strbuf *out)
{
	strbuf_puts(out, "\"schema\": 1,\n   \"version\": ");
	escape_json(out, GETMNT_VERSION);
	strbuf_puts(out, ",\n   \"host\": ");
	json_string_or_null(out, run->host);
	strbuf_puts(out, ",\n   \"boot_id\": ");
	json_string_or_null(out, run->boot_id);
	strbuf_puts(out, ",\n   \"mntns\": ");
	if (run->mntns)
		strbuf_printf(out, "%" PRIu64, run->mntns);
	else
		strbuf_puts(out, "null");
	strbuf_puts(out, ",\n   \"table\": ");
	json_string_or_null(out, run->table ? table_source_name(run->table->source) : NULL);
	strbuf_printf(out, ",\n   \"complete\": %s,\n   \"incomplete_reasons\": [",
	              run->complete ? "true" : "false");
	for (size_t i = 0; i < run->nreasons; ++i) {
		strbuf_puts(out, i ? ", " : "");
		escape_json(out, run->reasons[i]);
	}
	strbuf_putc(out, ']');
}

/** A line that could not be read, its secrets masked word by word. */
static void json_masked_line(const char *line, struct strbuf *out)
{
	struct strbuf masked, word;
	strbuf_init(&masked);
	strbuf_init(&word);
	while (*line) {
		size_t n = strcspn(line, " \t");
		strbuf_reset(&word);
		strbuf_add(&word, line, n);
		if (has_secret(strbuf_str(&word)))
			mask_options(strbuf_str(&word), &masked);
		else
			mask_source(strbuf_str(&word), &masked);
		line += n;
		if (*line)
			strbuf_putc(&masked, *line++);
	}
	out->failed |= masked.failed || word.failed;
	json_string_or_null(out, strbuf_str(&masked));
	strbuf_destroy(&masked);
	strbuf_destroy(&word);
}

static void json_problems(const struct mount_table *table, struct strbuf *out)
{
	strbuf_puts(out, ",\n   \"problems\": [");
	for (size_t i = 0; i < table->nproblems; ++i) {
		const struct table_problem *problem = &table->problems[i];
		strbuf_printf(out, "%s\n      {\"line\": %" PRIu32 ", \"reason\": ", i ? "," : "",
		              problem->line);
		json_string_or_null(out, problem->reason);
		strbuf_puts(out, ", \"text\": ");
		json_masked_line(problem->text ? problem->text : "", out);
		strbuf_putc(out, '}');
	}
	strbuf_puts(out, "\n   ]");
}

static void json_boundaries(const struct run *run, struct strbuf *out)
{
	strbuf_puts(out, ",\n   \"boundaries\": [");
	for (size_t i = 0; run->d && i < run->d->nboundaries; ++i) {
		const struct discover_boundary *b = &run->d->boundaries[i];
		strbuf_printf(out, "%s\n      {", i ? "," : "");
		if (b->path)
			json_text(out, "path", b->path);
		else
			strbuf_puts(out, "\"path\": null");
		strbuf_printf(out, ", \"mnt_id\": %" PRIu64 ", \"maj:min\": \"%" PRIu32 ":%" PRIu32 "\"",
		              b->mnt_id, b->dev_major, b->dev_minor);
		strbuf_puts(out, ", \"parent\": ");
		if (b->node != MT_NONE)
			strbuf_printf(out, "%" PRIu32, run_mount(run, b->node)->id);
		else
			strbuf_puts(out, "null");
		strbuf_printf(out, ", \"automount\": %s}", b->automount ? "true" : "false");
	}
	strbuf_puts(out, "\n   ]");
}

/** The end of what was printed, not yet passed on. */
struct tail {
	char held[HELD];
	size_t n;
};

static ssize_t tail_write(void *cookie, const char *bytes, size_t n)
{
	struct tail *tail = cookie;
	char both[2 * HELD];
	size_t whole = n;
	if (n > HELD) {
		fwrite(tail->held, 1, tail->n, stdout);
		fwrite(bytes, 1, n - HELD, stdout);
		bytes += n - HELD;
		tail->n = 0;
		n = HELD;
	}
	memcpy(both, tail->held, tail->n);
	memcpy(both + tail->n, bytes, n);
	n += tail->n;
	size_t out = n > HELD ? n - HELD : 0;
	fwrite(both, 1, out, stdout);
	tail->n = n - out;
	memcpy(tail->held, both + out, tail->n);
	return (ssize_t)whole;
}

/** Append what stands beside the rows, and the end of the document. */
static void json_rest(struct run *run, struct strbuf *rest)
{
	strbuf_puts(rest, ",\n   ");
	json_head(run, rest);
	if (run->table && run->table->nproblems)
		json_problems(run->table, rest);
	if (run->opt->boundaries)
		json_boundaries(run, rest);
	if (run->opt->explain) {
		strbuf_puts(rest, ",\n   \"rules\": ");
		explain_json(run, rest);
	}
	strbuf_puts(rest, "\n}\n");
}

int out_document(struct libscols_table *table, struct run *run)
{
	struct tail tail = {0};
	FILE *stream = fopencookie(&tail, "w", (cookie_io_functions_t){.write = tail_write});
	char *buffer = malloc(DOCUMENT_BUFFER);
	struct strbuf rest;
	strbuf_init(&rest);
	int rc = -1;
	if (!stream || !buffer)
		goto out;
	json_rest(run, &rest);
	if (rest.failed)
		goto out;
	setvbuf(stream, buffer, _IOFBF, DOCUMENT_BUFFER);
	__fsetlocking(stream, FSETLOCKING_BYCALLER);
	scols_table_set_stream(table, stream);
	rc = print_table(table);
	scols_table_set_stream(table, stdout);
	if (fclose(stream) != 0)
		rc = -1;
	stream = NULL;
	if (rc != 0)
		goto out;

	char *end = memrchr(tail.held, '}', tail.n);
	size_t len = end ? (size_t)(end - tail.held) : 0;
	while (len && strchr(" \t\n", tail.held[len - 1]))
		--len;
	fwrite(tail.held, 1, len, stdout);
	fwrite(strbuf_str(&rest), 1, rest.len, stdout);
out:
	if (stream)
		fclose(stream);
	free(buffer);
	strbuf_destroy(&rest);
	return rc;
}
