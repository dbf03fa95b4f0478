/* SPDX-License-Identifier: MIT */
/* libsmartcols writes a JSON document with the rows; further members are inserted before its last
   brace. */
#include "cmd/discover/output.h"

#include "base/secret.h"
#include "cmd/discover/listing.h"
#include "cmd/stats.h"

#include <inttypes.h>
#include <libsmartcols/libsmartcols.h>
#include <string.h>

static void put_problems(const struct mount_table *table, struct json *json)
{
	struct strbuf masked = {0};
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
		json_put_id(json, "parent", b->node == MT_NONE ? 0 : run_mount(run, b->node)->id);
		json_put_bool(json, "automount", b->automount);
		json_end(json);
	}
	json_end(json);
}

int out_document(struct libscols_table *table, const struct listing *list)
{
	const struct run *run = &list->run;
	struct strbuf text = {0}, rest = {0};
	struct json json;
	json_resume(&json, &rest, JSON_LINES, false);
	json_head(run, &json);
	if (run->table && run->table->nproblems)
		put_problems(run->table, &json);
	if (run->opt->boundaries)
		put_boundaries(run, &json);
	if (list->opt->explain)
		explain_json(run, &json);
	json_end(&json);

	/* Insert the members before the brace that ends the JSON document of the table. */
	int rc = rest.failed ? -1 : table_text(table, &text);
	char *end = rc == 0 && text.len ? memrchr(text.data, '}', text.len) : NULL;
	while (end && end > text.data && strchr(" \t\n", end[-1]))
		--end;
	if (end) {
		fwrite(text.data, 1, (size_t)(end - text.data), stdout);
		fwrite(strbuf_str(&rest), 1, rest.len, stdout);
	}
	strbuf_destroy(&text);
	strbuf_destroy(&rest);
	return end ? 0 : -1;
}
