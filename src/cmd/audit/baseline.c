/* SPDX-License-Identifier: MIT */
#include "cmd/audit/audit.h"

#include "base/command.h"
#include "base/escape.h"
#include "base/words.h"
#include "cmd/json.h"
#include "cmd/run.h"
#include "os/change.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#undef JSON_INLINE   /* of jansson.h; cmd/json.h has an enumerator of this name */
#include <stdlib.h>
#include <string.h>

#define HEAD "{\"getmnt_baseline\": "
enum { FORMAT = 1, FILE_MAX = 64 << 20, LINE_BYTES = 1 << 20 };
/* The last second of the year 9999. */
#define TIME_MAX INT64_C(253402300799)

void audit_base_init(struct audit_base_run *base, const char *baseline, const char *save,
                     const char *const *include)
{
	*base = (struct audit_base_run){.baseline = baseline, .save = save};
	audit_baseline_init(&base->old);
	audit_baseline_init(&base->now);
	for (size_t i = 0; include[i]; ++i)
		base->now.include |= audit_baseline_owner(include[i]);
}

void audit_base_destroy(struct audit_base_run *base)
{
	audit_baseline_destroy(&base->old);
	audit_baseline_destroy(&base->now);
}

/* The format. */

/** The first key of an entry, which identifies its kind. */
static const char *const kinds[] = {
    [BASE_MOUNT] = "mount", [BASE_SWAP] = "swap", [BASE_FINDING] = "finding"};

/** Get the JSON key of entry->text[text].  In the entry of a finding, `source` is the target of the
    finding. */
static const char *key_of(const struct audit_base_entry *entry, size_t text)
{
	static const char *const keys[] = {"", "source", "uuid", "fstype", "root", "options",
	                                   "owner"};
	return text == 0 ? kinds[entry->kind]
	       : text == 1 && entry->kind == BASE_FINDING ? "target" : keys[text];
}

enum { TEXTS = sizeof(((struct audit_base_entry *)0)->text) / sizeof(char *) };

static void put(struct json *json, const char *key, const char *value)
{
	struct strbuf safe = {0};
	escape_octal(&safe, value, "\\", true);
	json_put_string(json, key, strbuf_str(&safe));
	json->out->failed |= safe.failed;
	strbuf_destroy(&safe);
}

static void put_list(struct json *json, const struct audit_base_list *list)
{
	for (size_t i = 0; i < list->count; ++i) {
		const struct audit_base_entry *entry = &list->entries[i];
		json_put_object(json, NULL, JSON_INLINE);
		for (size_t k = 0; k < TEXTS; ++k) {
			if (*entry->text[k])
				put(json, key_of(entry, k), entry->text[k]);
		}
		if (entry->light)
			json_put_bool(json, "light", true);
		json_end(json);
		strbuf_putc(json->out, '\n');
	}
}

void audit_base_write(const struct audit_baseline *b, struct strbuf *out)
{
	struct json json = {.out = out};
	json_put_object(&json, NULL, JSON_INLINE);
	json_put_number(&json, "getmnt_baseline", FORMAT);
	json_put_integer(&json, "time", b->time);
	put(&json, "host", b->host);
	put(&json, "root", b->root);
	json_put_array(&json, "include", JSON_INLINE);
	for (size_t i = 0; audit_base_owners[i]; ++i) {
		if (b->include & 1u << i)
			json_put_string(&json, NULL, audit_base_owners[i]);
	}
	json_end(&json);
	audit_put_rules(&json, "rules", b->rules);
	json_end(&json);
	strbuf_putc(out, '\n');
	put_list(&json, &b->mounts);
	put_list(&json, &b->findings);
	json_put_object(&json, NULL, JSON_INLINE);
	json_put_number(&json, "end", 1 + b->mounts.count + b->findings.count);
	json_end(&json);
	strbuf_putc(out, '\n');
}

struct parse {
	struct audit_baseline *to;
	struct strbuf *why;
	bool nomem;
};

__attribute__((format(printf, 2, 3)))
static bool wrong(struct parse *p, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	strbuf_reset(p->why);
	strbuf_vprintf(p->why, format, args);
	va_end(args);
	return false;
}

/** Decode a string member of an object into `value`; do nothing if the member does not exist.
    @return false: the member is invalid, or memory ran out. */
static bool decode_member(struct parse *p, const json_t *object, const char *key,
                          const char **value)
{
	const json_t *given = json_object_get(object, key);
	if (!given)
		return true;
	if (!json_is_string(given))
		return wrong(p, "\"%s\" is not a string", key);
	size_t n = json_string_length(given);
	char *text = arena_strndup(&p->to->arena, json_string_value(given), n);
	p->nomem |= !text;
	if (!text)
		return false;
	size_t len = unescape_octal(text, text, n);
	text[len] = '\0';
	*value = text;
	return strlen(text) == len || wrong(p, "\"%s\" contains a NUL byte", key);
}

/** Check that an object has only known keys.  An unknown key of a later version may change the
    meaning of the known keys.  @keys  The known keys, separated by blanks. */
static bool has_only(struct parse *p, json_t *object, const char *keys)
{
	const char *key;
	json_t *value;
	json_object_foreach(object, key, value) {
		if (!word_in(key, strlen(key), keys))
			return wrong(p, "unknown key \"%s\"", key);
	}
	return true;
}

/** Get the rule whose code is a JSON string.  @return -1: unknown. */
static int rule_of(const json_t *name)
{
	return json_is_string(name) ? audit_code(json_string_value(name), json_string_length(name))
	                            : -1;
}

static bool parse_include(struct parse *p, const json_t *include)
{
	const json_t *name;
	size_t i;
	json_array_foreach(include, i, name) {
		const char *text = json_is_string(name) ? json_string_value(name) : "";
		unsigned owner = audit_baseline_owner(text);
		if (!owner)
			return wrong(p, "unknown owner \"%s\" in \"include\"", text);
		p->to->include |= owner;
	}
	return json_is_array(include) || wrong(p, "\"include\" is not a list");
}

static bool parse_rules(struct parse *p, const json_t *rules)
{
	const json_t *name;
	size_t i;
	json_array_foreach(rules, i, name) {
		int code = rule_of(name);
		if (code < 0)
			return wrong(p, "unknown rule \"%s\" in \"rules\"",
			             json_is_string(name) ? json_string_value(name) : "");
		p->to->rules |= audit_set_only((enum audit_code)code);
	}
	return json_is_array(rules) || wrong(p, "\"rules\" is not a list");
}

static bool parse_head(struct parse *p, json_t *object)
{
	static const char *const texts[] = {"host", "root"};
	const char **const values[] = {&p->to->host, &p->to->root};
	const json_t *time = json_object_get(object, "time");
	if (json_integer_value(json_object_get(object, "getmnt_baseline")) != FORMAT)
		return wrong(p, "not a baseline that this version of getmnt reads");
	p->to->time = json_integer_value(time);
	if (!json_is_integer(time) || p->to->time < 0 || p->to->time > TIME_MAX)
		return wrong(p, "\"time\" is not a number of seconds");
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); ++i) {
		if (!json_object_get(object, texts[i]))
			return wrong(p, "\"%s\" is missing", texts[i]);
		if (!decode_member(p, object, texts[i], values[i]))
			return false;
	}
	return parse_include(p, json_object_get(object, "include"))
	       && parse_rules(p, json_object_get(object, "rules"))
	       && has_only(p, object, "getmnt_baseline time host root include rules");
}

static bool parse_entry(struct parse *p, json_t *object, enum audit_base_kind kind)
{
	/* The `uuid` of a finding's entry is the severity of the finding. */
	static const char *const known[] = {
		[BASE_MOUNT] = "mount source uuid fstype root options owner light",
		[BASE_SWAP] = "swap source uuid fstype root options owner light",
		[BASE_FINDING] = "finding target uuid owner",
	};
	const json_t *light = json_object_get(object, "light");
	struct audit_base_entry *entry = audit_baseline_add(p->to, kind);
	p->nomem |= !entry;
	bool good = entry;
	for (size_t i = 0; good && i < TEXTS; ++i)
		good = decode_member(p, object, key_of(entry, i), &entry->text[i]);
	if (!good)
		return false;
	entry->light = json_is_true(light);
	if (kind == BASE_MOUNT && *entry->target != '/')
		return wrong(p, "\"mount\" is not an absolute path");
	if (!*entry->target)
		return wrong(p, "\"%s\" is empty", kinds[kind]);
	if (kind == BASE_FINDING && rule_of(json_object_get(object, kinds[kind])) < 0)
		return wrong(p, "unknown rule \"%s\"", entry->target);
	if (light && !entry->light)
		return wrong(p, "\"light\" is not true");
	return has_only(p, object, known[kind]);
}

/** Parse the JSON object of a line.
    @number       Line number, from 1.
    @ended [out]  Set if the object is the end of the baseline. */
static bool parse_object(struct parse *p, json_t *object, uint32_t number, bool *ended)
{
	const json_t *end = json_object_get(object, "end");
	if (number == 1)
		return parse_head(p, object);
	for (int kind = 0; kind <= BASE_FINDING; ++kind) {
		if (json_object_get(object, kinds[kind]))
			return parse_entry(p, object, (enum audit_base_kind)kind);
	}
	if (!json_is_integer(end))
		return wrong(p, "neither a mount, a swap space, a finding nor the end");
	if (json_integer_value(end) != (json_int_t)number - 1)
		return wrong(p, "lines are missing or were added: there are %" PRIu32
		                " lines above, of %" JSON_INTEGER_FORMAT,
		             number - 1, json_integer_value(end));
	return *ended = has_only(p, object, "end");
}

/** Parse a line of n bytes.  @number, ended  As for parse_object(). */
static bool parse_line(struct parse *p, const char *at, size_t n, uint32_t number, bool *ended)
{
	json_error_t error;
	if (number == 1 && (n < sizeof(HEAD) - 1 || memcmp(at, HEAD, sizeof(HEAD) - 1) != 0))
		return wrong(p, "not a baseline of getmnt");
	if (n > LINE_BYTES)
		return wrong(p, "the line is longer than %d bytes", LINE_BYTES);
	json_t *object = json_loadb(at, n, JSON_REJECT_DUPLICATES, &error);
	p->nomem |= !object && json_error_code(&error) == json_error_out_of_memory;
	bool good = object ? parse_object(p, object, number, ended)
	                   : wrong(p, "invalid JSON at byte %d: %s", error.position, error.text);
	json_decref(object);
	return good;
}

int audit_base_parse(const char *text, size_t len, struct audit_baseline *baseline, uint32_t *line,
                     struct strbuf *why)
{
	struct parse p = {.to = baseline, .why = why};
	bool good = true, ended = false;
	/* Without a seed, jansson opens /dev/urandom.  This seed is as secret as map64_seed(). */
	json_object_seed((size_t)map64_text("jansson") | 1);
	*line = 0;
	for (size_t at = 0; good && at < len;) {
		const char *end = memchr(text + at, '\n', len - at);
		size_t n = end ? (size_t)(end - (text + at)) : len - at;
		++*line;
		if (ended || !end)
			good = wrong(&p, ended ? "text after the end"
			                       : "the file is truncated: the line does not end");
		else
			good = parse_line(&p, text + at, n, *line, &ended);
		at += n + 1;
	}
	if (good && !ended)
		good = wrong(&p,
		             len ? "the file is truncated after this line" : "the file is empty");
	*line += *line == 0;
	audit_baseline_sort(baseline);
	if (!good)
		errno = p.nomem || why->failed ? ENOMEM : EBADMSG;
	return good ? 0 : -1;
}

/* The files. */

/** Check that the old baseline is of this host and of this ROOT, and contains the owners of
    --include.
    @return 0, or -1 after a message. */
static int check_origin(const struct audit_base_run *base)
{
	const struct audit_baseline *old = &base->old, *now = &base->now;
	int rc = -1;
	if (*old->host && *now->host && strcmp(old->host, now->host) != 0)
		message(base->baseline, "saved on host %s, this is %s; save one here with --save",
		        old->host, now->host);
	else if (strcmp(old->root, now->root) != 0)
		message(base->baseline, "saved below another root, %s, this is %s; save one for "
		        "each", old->root, now->root);
	else
		rc = 0;
	for (unsigned i = 0; audit_base_owners[i]; ++i) {
		if (now->include & ~old->include & 1u << i) {
			message(base->baseline, "saved without %s of --include; save one with it",
			        audit_base_owners[i]);
			rc = -1;
		}
	}
	return rc;
}

/** Report that a baseline does not exist, and which command makes the baseline. */
static void report_absent(const char *name)
{
	struct strbuf option = {0};
	command_option(&option, "--save", name);
	message(name, "does not exist;%s creates it", strbuf_str(&option));
	strbuf_destroy(&option);
}

static int read_old(struct audit_base_run *base, struct fstab_machine *machine)
{
	const char *name = base->baseline;
	struct strbuf why = {0}, place = {0};
	char *text = NULL;
	size_t len;
	uint32_t line;
	int rc = audit_read_named(machine, name, "--baseline", FILE_MAX, &text, &len);
	if (rc == 0)
		report_absent(name);
	if (rc <= 0)
		return -1;
	rc = audit_base_parse(text, len, &base->old, &line, &why);
	bool nomem = rc != 0 && errno == ENOMEM;
	strbuf_printf(&place, "%s:%" PRIu32, name, line);
	if (nomem || place.failed)
		message(name, "%s", strerror(ENOMEM));
	else if (rc != 0)
		message(strbuf_str(&place),
		        "%s; nothing was compared: use an intact copy, or --save a new one",
		        strbuf_str(&why));
	strbuf_destroy(&why);
	strbuf_destroy(&place);
	free(text);
	return rc == 0 ? check_origin(base) : -1;
}

/** Check that the file of --save is a baseline or empty, or does not exist.
    @return 0, or -1 after a message. */
static int may_save(struct audit_base_run *base, struct fstab_machine *machine)
{
	char *text = NULL;
	size_t len = 0;
	int rc = audit_read_named(machine, base->save, "--save", FILE_MAX, &text, &len);
	if (rc > 0 && len > 0 && strncmp(text, HEAD, sizeof(HEAD) - 1) != 0) {
		message(base->save, "not overwritten: not a baseline of getmnt; name another file");
		rc = -1;
	}
	free(text);
	return rc < 0 ? -1 : 0;
}

int audit_base_read(struct audit_base_run *base, struct fstab_machine *machine)
{
	struct run *run = &machine->run;
	if (!base->baseline && !base->save)
		return 0;
	if (!run->host && machine_read(run, false) != 0)
		return message_error(NULL, ENOMEM, -1);
	base->now.host = run->host ? run->host : "";
	base->now.root = strbuf_str(&machine->root);
	if (base->baseline && read_old(base, machine) != 0)
		return -1;
	base->compared = base->baseline;
	return base->save ? may_save(base, machine) : 0;
}

int audit_base_text(struct audit_base_run *base, const struct audit_reported *reported,
                    struct strbuf *out)
{
	if (!audit_is_complete(reported)) {
		message(base->save, "not saved: not all mounts are known");
		return -1;
	}
	base->now.time = reported->began;
	base->now.rules = reported->rules
	                  & ~(reported->not_checked | reported->config->off
	                      | audit_set_of(AR_BASELINE | AR_MERGE));
	audit_base_write(&base->now, out);
	if (out->failed)
		message(base->save, "not saved: %s", strerror(ENOMEM));
	return out->failed ? -1 : 0;
}
