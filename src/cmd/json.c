/* SPDX-License-Identifier: MIT */
#include "cmd/json.h"

#include "base/escape.h"
#include "cmd/cmd.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void json_resume(struct json *json, struct strbuf *out, enum json_layout layout, bool key_written)
{
	*json = (struct json){
		.out = out, .depth = 1, .key_written = key_written,
		.levels = {{.end = '}', .layout = (unsigned char)layout, .any = true}},
	};
}

static void new_line(struct json *json, unsigned depth)
{
	strbuf_putc(json->out, '\n');
	for (unsigned i = 0; i < depth; ++i)
		strbuf_puts(json->out, "   ");
}

/** Write the comma, white space and key before a value. */
static void put_before(struct json *json, const char *key)
{
	struct json_level *level = json->depth ? &json->levels[json->depth - 1] : NULL;
	assert(!level || (level->end == '}') == (key != NULL));
	if (json->key_written || !level) {
		json->key_written = false;
		return;
	}
	if (level->any)
		strbuf_puts(json->out, level->layout == JSON_INLINE ? ", " : ",");
	if (level->layout == JSON_LINES)
		new_line(json, json->depth);
	level->any = true;
	if (!key)
		return;
	strbuf_putc(json->out, '"');
	for (const char *c = key; *c; ++c) {
		assert(*c != '"' && *c != '\\' && (unsigned char)*c >= ' ');
		strbuf_putc(json->out, (char)(*c >= 'A' && *c <= 'Z' ? *c + 'a' - 'A' : *c));
	}
	strbuf_puts(json->out, level->layout == JSON_TIGHT ? "\":" : "\": ");
}

static void begin(struct json *json, const char *key, enum json_layout layout, const char *ends)
{
	put_before(json, key);
	assert(json->depth < JSON_DEPTH);
	strbuf_putc(json->out, ends[0]);
	json->levels[json->depth++] = (struct json_level){ends[1], (unsigned char)layout, false};
}

void json_put_object(struct json *json, const char *key, enum json_layout layout)
{
	begin(json, key, layout, "{}");
}

void json_put_array(struct json *json, const char *key, enum json_layout layout)
{
	begin(json, key, layout, "[]");
}

void json_end(struct json *json)
{
	assert(json->depth > 0);
	struct json_level *level = &json->levels[--json->depth];
	if (level->any && level->layout == JSON_LINES)
		new_line(json, json->depth);
	strbuf_putc(json->out, level->end);
	if (json->depth == 0 && level->layout == JSON_LINES)
		strbuf_putc(json->out, '\n');
}

bool json_put_string(struct json *json, const char *key, const char *text)
{
	put_before(json, key);
	if (text)
		return escape_json(json->out, text);
	strbuf_puts(json->out, "null");
	return true;
}

void json_put_text(struct json *json, const char *key, const char *text)
{
	if (json_put_string(json, key, text))
		return;
	char pair[64];
	snprintf(pair, sizeof(pair), "%s-b64", key);
	put_before(json, pair);
	strbuf_putc(json->out, '"');
	escape_base64(json->out, text, strlen(text));
	strbuf_putc(json->out, '"');
}

void json_put_literal(struct json *json, const char *key, const char *digits)
{
	assert(*digits && digits[strspn(digits, "0123456789.-")] == '\0');
	put_before(json, key);
	strbuf_puts(json->out, digits);
}

void json_put_number(struct json *json, const char *key, uint64_t number)
{
	put_before(json, key);
	strbuf_printf(json->out, "%" PRIu64, number);
}

void json_put_integer(struct json *json, const char *key, int64_t number)
{
	put_before(json, key);
	strbuf_printf(json->out, "%" PRId64, number);
}

void json_put_real(struct json *json, const char *key, double number, int digits)
{
	assert(isfinite(number));
	put_before(json, key);
	strbuf_printf(json->out, "%.*f", digits, number);
}

void json_put_bool(struct json *json, const char *key, bool value)
{
	put_before(json, key);
	strbuf_puts(json->out, value ? "true" : "false");
}

void json_put_id(struct json *json, const char *key, uint64_t id)
{
	if (id)
		json_put_number(json, key, id);
	else
		json_put_string(json, key, NULL);
}

int json_print(struct json *json)
{
	assert(json->depth == 0);
	return print_buffer(json->out);
}

void json_print_stderr(struct json *json)
{
	assert(json->depth == 0);
	strbuf_putc(json->out, '\n');
	print_stderr(json->out);
}
