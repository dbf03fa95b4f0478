/* SPDX-License-Identifier: MIT */
/*
 * The JSON document around the rows, which libsmartcols makes.  Its output is printed except
 * for the last bytes, so that further members can be placed before the last brace.
 */
#include "cmd/output.h"

#include "cmd/listing.h"

#include <inttypes.h>
#include <libsmartcols/libsmartcols.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>

enum { HELD = 16, DOCUMENT_BUFFER = 64 * 1024 };

void json_head(const struct run *run, struct json *json)
{
	json_put_number(json, "schema", 1);
	json_put_string(json, "version", GETMNT_VERSION);
	json_put_string(json, "host", run->host);
	json_put_string(json, "boot_id", run->boot_id);
	if (run->mntns)
		json_put_number(json, "mntns", run->mntns);
	else
		json_put_null(json, "mntns");
	json_put_string(json, "table", run->table ? table_source_name(run->table->source) : NULL);
	json_put_bool(json, "complete", run->complete);
	json_put_array(json, "incomplete_reasons", JSON_INLINE);
	for (size_t i = 0; i < run->nreasons; ++i)
		json_put_string(json, NULL, run->reasons[i]);
	json_end(json);
}

static void put_problems(const struct mount_table *table, struct json *json)
{
	struct strbuf masked;
	strbuf_init(&masked);
	json_put_array(json, "problems", JSON_LINES);
	for (size_t i = 0; i < table->nproblems; ++i) {
		const struct table_problem *problem = &table->problems[i];
		strbuf_reset(&masked);
		if (problem->text)
			mask_line(problem->text, strlen(problem->text), &masked);
		json_put_object(json, NULL, JSON_INLINE);
		json_put_number(json, "line", problem->line);
		json_put_string(json, "reason", problem->reason);
		json_put_string(json, "text", strbuf_str(&masked));
		json_end(json);
	}
	json_end(json);
	json->out->failed |= masked.failed;
	strbuf_destroy(&masked);
}

static void put_boundaries(const struct run *run, struct json *json)
{
	json_put_array(json, "boundaries", JSON_LINES);
	for (size_t i = 0; run->d && i < run->d->nboundaries; ++i) {
		const struct discover_boundary *b = &run->d->boundaries[i];
		char device[32];
		snprintf(device, sizeof(device), "%" PRIu32 ":%" PRIu32, b->dev_major,
		         b->dev_minor);
		json_put_object(json, NULL, JSON_INLINE);
		json_put_text(json, "path", b->path);
		json_put_number(json, "mnt_id", b->mnt_id);
		json_put_string(json, "maj:min", device);
		if (b->node != MT_NONE)
			json_put_number(json, "parent", run_mount(run, b->node)->id);
		else
			json_put_null(json, "parent");
		json_put_bool(json, "automount", b->automount);
		json_end(json);
	}
	json_end(json);
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

/** Append what follows the rows, and the end of the document. */
static void put_rest(const struct run *run, struct strbuf *rest)
{
	struct json json;
	json_resume(&json, rest, JSON_LINES, false);
	json_head(run, &json);
	if (run->table && run->table->nproblems)
		put_problems(run->table, &json);
	if (run->opt->boundaries)
		put_boundaries(run, &json);
	if (run->opt->explain)
		explain_json(run, &json);
	json_end(&json);
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
	put_rest(run, &rest);
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
