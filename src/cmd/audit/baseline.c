/* SPDX-License-Identifier: MIT */
#include "cmd/audit/baseline.h"

#include "audit/owner.h"
#include "base/escape.h"
#include "base/sha256.h"
#include "cmd/audit/config.h"
#include "cmd/output.h"
#include "cmd/putfile.h"
#include "cmd/view.h"
#include "os/change.h"
#include "os/file.h"
#include "path/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define HEAD "{\"getmnt_baseline\": "
enum { FORM = 1, FILE_MAX = 64 << 20, LINE_BYTES = 1 << 20 };
/* The last second of the year 9999. */
#define TIME_MAX INT64_C(253402300799)

void audit_base_init(struct audit_base_run *base)
{
	*base = (struct audit_base_run){0};
	audit_baseline_init(&base->old);
	audit_baseline_init(&base->now);
}

void audit_base_destroy(struct audit_base_run *base)
{
	audit_baseline_destroy(&base->old);
	audit_baseline_destroy(&base->now);
}

/* Writing. */

/** Append `, "KEY": "VALUE"`, unless it is "" or NULL. */
static void put(struct strbuf *out, const char *key, const char *value)
{
	struct strbuf safe;
	if (!value || !*value)
		return;
	strbuf_init(&safe);
	escape_octal_terminal(&safe, value, "\\");
	strbuf_printf(out, ", \"%s\": ", key);
	escape_json(out, strbuf_str(&safe));
	out->failed |= safe.failed;
	strbuf_destroy(&safe);
}

/** The same as the first of an object, also if it is "". */
static void put_first(struct strbuf *out, const char *key, const char *value)
{
	if (!*value)
		strbuf_printf(out, "{\"%s\": \"\"", key);
	size_t at = out->len;
	put(out, key, value);
	/* In the place of the comma and the blank. */
	if (out->len > at + 1) {
		out->data[at] = '{';
		memmove(out->data + at + 1, out->data + at + 2, out->len - at - 1);
		--out->len;
	}
}

static void put_entry(struct strbuf *out, const struct audit_base_entry *e)
{
	put_first(out, e->swap ? "swap" : "mount", e->target);
	if (!e->swap) {
		put(out, "source", e->source);
		put(out, "fstype", e->fstype);
	}
	put(out, "name", e->name);
	put(out, "uuid", e->uuid);
	put(out, "root", e->root);
	put(out, "options", e->options);
	put(out, "super", e->super);
	put(out, "propagation", e->propagation);
	put(out, "owner", e->owner);
	strbuf_puts(out, e->noauto ? ", \"noauto\": true}\n" : "}\n");
}

static void put_set(struct strbuf *out, const char *key, const char *const *names, size_t n, uint64_t set)
{
	const char *between = "";
	strbuf_printf(out, ", \"%s\": [", key);
	for (size_t i = 0; i < n; ++i) {
		if (set & UINT64_C(1) << i) {
			strbuf_printf(out, "%s\"%s\"", between, names[i]);
			between = ", ";
		}
	}
	strbuf_putc(out, ']');
}

void audit_base_end(struct strbuf *out, size_t begin)
{
	const char *text = strbuf_str(out) + begin;
	size_t len = out->len - begin, lines = 0;
	char sum[SHA256_HEX];
	for (size_t i = 0; i < len; ++i)
		lines += text[i] == '\n';
	sha256_hex(text, len, sum);
	strbuf_printf(out, "{\"end\": %zu, \"sha256\": \"%s\"}\n", lines, sum);
}

void audit_base_write(const struct audit_baseline *b, struct strbuf *out)
{
	size_t begin = out->len, owners = 0;
	const char *codes[AUDIT_CODES];
	for (int code = 0; code < AUDIT_CODES; ++code)
		codes[code] = audit_rules[code].code;
	while (audit_owners[owners])
		++owners;
	strbuf_printf(out, HEAD "%d", FORM);
	put(out, "version", b->version);
	put(out, "host", b->host);
	put(out, "machine", b->machine);
	put(out, "boot_id", b->boot_id);
	if (b->mntns)
		strbuf_printf(out, ", \"mntns\": %" PRIu64, b->mntns);
	put(out, "table", b->table);
	put(out, "root", b->root);
	strbuf_printf(out, ", \"time\": %" PRId64, b->time);
	put_set(out, "include", audit_owners, owners, b->include);
	put_set(out, "rules", codes, AUDIT_CODES, b->rules);
	strbuf_puts(out, "}\n");
	for (size_t i = 0; i < b->count; ++i)
		put_entry(out, &b->entries[i]);
	for (size_t i = 0; i < b->nfindings; ++i) {
		put_first(out, "finding", b->findings[i].code);
		put(out, "target", b->findings[i].target);
		strbuf_puts(out, "}\n");
	}
	audit_base_end(out, begin);
}

/* Reading: every byte of it is somebody else's. */

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

/** A string of an object, decoded; *value stays as it is if it is not there.
    @return whether there is nothing wrong with it. */
static bool take(struct parse *p, const json_t *object, const char *key, const char **value)
{
	const json_t *given = json_object_get(object, key);
	if (!given)
		return true;
	if (!json_is_string(given))
		return wrong(p, "\"%s\" is no string", key);
	size_t n = json_string_length(given);
	char *text = arena_strndup(&p->to->arena, json_string_value(given), n);
	if (!text) {
		p->nomem = true;
		return false;
	}
	size_t len = unescape_octal(text, text, n);
	text[len] = '\0';
	if (strlen(text) != len)
		return wrong(p, "\"%s\" has a NUL in it", key);
	*value = text;
	return true;
}

static bool take_flag(struct parse *p, const json_t *object, const char *key, bool *value)
{
	const json_t *given = json_object_get(object, key);
	if (given && !json_is_boolean(given))
		return wrong(p, "\"%s\" is neither true nor false", key);
	*value = json_is_true(given);
	return true;
}

static bool take_number(struct parse *p, const json_t *object, const char *key, int64_t max, int64_t *value)
{
	const json_t *given = json_object_get(object, key);
	if (!given)
		return true;
	*value = json_integer_value(given);
	if (!json_is_integer(given) || *value < 0 || *value > max)
		return wrong(p, "\"%s\" is no number from 0 to %" PRId64, key, max);
	return true;
}

/** A list of names, as a set; names that are not known are passed over. */
static bool take_set(struct parse *p, const json_t *object, const char *key, bool owners, uint64_t *set)
{
	const json_t *given = json_object_get(object, key);
	if (given && !json_is_array(given))
		return wrong(p, "\"%s\" is no list", key);
	for (size_t i = 0; i < json_array_size(given); ++i) {
		const char *name = json_string_value(json_array_get(given, i));
		if (!name)
			return wrong(p, "\"%s\" is no list of strings", key);
		int code = owners ? -1 : audit_code(name, strlen(name));
		*set |= owners ? audit_owner_bit(name) : code < 0 ? 0 : audit_bit((enum audit_code)code);
	}
	return true;
}

static bool parse_head(struct parse *p, const json_t *object)
{
	struct audit_baseline *b = p->to;
	const json_t *form = json_object_get(object, "getmnt_baseline");
	int64_t mntns = 0;
	if (!json_is_integer(form) || json_integer_value(form) < 1)
		return wrong(p, "it is no baseline of getmnt: its first line is not the head of one");
	if (json_integer_value(form) != FORM)
		return wrong(p, "it is of form %" JSON_INTEGER_FORMAT ", and this getmnt reads form %d: save a new one, or take a newer getmnt",
		             json_integer_value(form), FORM);
	if (!json_object_get(object, "time"))
		return wrong(p, "\"time\" is missing");
	bool good = take(p, object, "version", &b->version) && take(p, object, "host", &b->host) && take(p, object, "machine", &b->machine)
	            && take(p, object, "boot_id", &b->boot_id) && take(p, object, "table", &b->table) && take(p, object, "root", &b->root)
	            && take_number(p, object, "time", TIME_MAX, &b->time) && take_number(p, object, "mntns", INT64_MAX, &mntns)
	            && take_set(p, object, "include", true, &b->include) && take_set(p, object, "rules", false, &b->rules);
	b->mntns = (uint64_t)mntns;
	return good;
}

static bool parse_entry(struct parse *p, const json_t *object, bool swap)
{
	struct audit_base_entry *e = audit_baseline_add(p->to);
	p->nomem |= !e;
	if (!e)
		return false;
	e->swap = swap;
	bool good = take(p, object, swap ? "swap" : "mount", &e->target) && take(p, object, "source", &e->source)
	            && take(p, object, "name", &e->name) && take(p, object, "uuid", &e->uuid) && take(p, object, "fstype", &e->fstype)
	            && take(p, object, "root", &e->root) && take(p, object, "options", &e->options) && take(p, object, "super", &e->super)
	            && take(p, object, "propagation", &e->propagation) && take(p, object, "owner", &e->owner)
	            && take_flag(p, object, "noauto", &e->noauto);
	if (good && (swap ? !*e->target : *e->target != '/'))
		return wrong(p, swap ? "\"swap\" is empty" : "\"mount\" is no absolute path");
	if (swap)
		e->source = e->target;
	return good;
}

static bool parse_finding(struct parse *p, const json_t *object)
{
	const char *code = "", *target = "";
	if (!take(p, object, "finding", &code) || !take(p, object, "target", &target))
		return false;
	if (!*code)
		return wrong(p, "\"finding\" is empty");
	p->nomem |= audit_baseline_add_finding(p->to, code, target) != 0;
	return !p->nomem;
}

/** @above  How many lines stand above, and bytes. */
static bool parse_end(struct parse *p, const json_t *object, const char *text, size_t bytes, uint32_t above)
{
	const json_t *end = json_object_get(object, "end");
	const char *given = json_string_value(json_object_get(object, "sha256"));
	char sum[SHA256_HEX];
	if (!json_is_integer(end) || json_integer_value(end) != (json_int_t)above)
		return wrong(p, "the end tells of %" JSON_INTEGER_FORMAT " lines, and there are %" PRIu32 ": lines were lost, or added",
		             json_integer_value(end), above);
	sha256_hex(text, bytes, sum);
	if (!given || strcmp(given, sum) != 0)
		return wrong(p, "the sum is not that of the lines above: they were changed since they were saved");
	return true;
}

/** Read a line.
    @at, n  Without the newline; text is the whole.
    @ended [out]
    @return whether there is nothing wrong with it. */
static bool parse_line(struct parse *p, const char *text, const char *at, size_t n, uint32_t number, bool *ended)
{
	json_error_t error;
	if (number == 1 && (n < sizeof(HEAD) - 1 || memcmp(at, HEAD, sizeof(HEAD) - 1) != 0))
		return wrong(p, "it is no baseline of getmnt: its first line is not the head of one");
	if (n > LINE_BYTES)
		return wrong(p, "it is longer than %d bytes", LINE_BYTES);
	json_t *object = json_loadb(at, n, JSON_REJECT_DUPLICATES, &error);
	bool good = false;
	if (!object && json_error_code(&error) == json_error_out_of_memory)
		p->nomem = true;
	else if (!object)
		wrong(p, "it is no JSON: %s, at byte %d", error.text, error.position);
	else if (!json_is_object(object))
		wrong(p, "it is no object");
	else if (number == 1)
		good = parse_head(p, object);
	else if (json_object_get(object, "mount") || json_object_get(object, "swap"))
		good = parse_entry(p, object, !json_object_get(object, "mount"));
	else if (json_object_get(object, "finding"))
		good = parse_finding(p, object);
	else if ((*ended = json_object_get(object, "end") != NULL))
		good = parse_end(p, object, text, (size_t)(at - text), number - 1);
	else
		wrong(p, "it is neither a mount, a swap space, a finding nor the end");
	json_decref(object);
	return good;
}

int audit_base_parse(const char *text, size_t len, struct audit_baseline *baseline, uint32_t *line, struct strbuf *why)
{
	struct parse p = {.to = baseline, .why = why};
	bool good = true, ended = false;
	uint32_t number = 0;
	for (size_t at = 0; good && at < len;) {
		const char *end = memchr(text + at, '\n', len - at);
		size_t n = end ? (size_t)(end - (text + at)) : len - at;
		++number;
		if (ended)
			good = wrong(&p, "there is something behind the end");
		else if (!end)
			good = wrong(&p, "the file is cut: this line has no end");
		else
			good = parse_line(&p, text, text + at, n, number, &ended);
		at += n + 1;
	}
	if (good && !ended) {
		good = len ? wrong(&p, "the file is cut behind this line: its end is missing") : wrong(&p, "the file is empty");
		number += number == 0;
	}
	*line = number;
	if (!good)
		errno = p.nomem || why->failed ? ENOMEM : EBADMSG;
	return good ? 0 : -1;
}

/* The files. */

/** Read a file that was named, as one that is to be replaced is read.
    @option  By which.
    @return 1; 0: it does not exist; -1 after a message. */
static int read_named(struct fstab_machine *machine, const char *name, const char *option, char **text, size_t *len)
{
	struct run *run = &machine->run;
	struct os *os = &run->os;
	bool live = run->live;
	struct replace_name named = {.path = name, .may_create = true, .may_pipe = true, .blocks = live ? put_blocks : NULL, .blocks_arg = run};
	struct replace_error error;
	struct replace file;
	int rc = -1;
	if (replace_open(os, &named, &file, &error) != 0) {
		if (error.why == RP_ERROR && error.error == ENOENT)
			rc = 0;
		else if (error.why == RP_BLOCKS)
			message(name, "touching it can block; give another place with %s", option);
		else
			put_open_failed(name, &error);
	} else if (file.missing) {
		rc = 0;
	} else if (file.len > FILE_MAX) {
		message(name, "larger than %d bytes: not a baseline", FILE_MAX);
	} else if (os_geteuid(os) != 0 || audit_is_trusted(name, &file.st, option)) {
		*text = file.text;
		*len = file.len;
		file.text = NULL;
		rc = 1;
	}
	replace_close(&file);
	return rc;
}

/** What tells this installation of the system from others, without telling its id. */
static int machine_hash(struct fstab_machine *machine, struct audit_baseline *now)
{
	static const char salt[] = "getmnt audit baseline\n";
	struct run *run = &machine->run;
	struct strbuf place, text;
	char *id = NULL, hash[SHA256_HEX];
	size_t len;
	strbuf_init(&place);
	strbuf_init(&text);
	bool seen = run->live && host_follow(&machine->host, "/etc/machine-id", &place) == HOST_SEEN
	            && !place.failed && !path_blocks(run, strbuf_str(&place))
	            && os_read_regular(&run->os, AT_FDCWD, strbuf_str(&place), 4096, &id, &len) == 0;
	enum { DIGITS = 32 };
	/* An image has an empty one, or "uninitialized". */
	if (seen && strspn(id, "0123456789abcdef") == DIGITS) {
		strbuf_puts(&text, salt);
		strbuf_add(&text, id, DIGITS);
		sha256_hex(strbuf_str(&text), text.len, hash);
		now->machine = arena_strndup(&now->arena, hash, DIGITS);
	}
	bool failed = place.failed || text.failed || (seen && text.len && !now->machine);
	free(id);
	strbuf_destroy(&place);
	strbuf_destroy(&text);
	return failed ? -1 : 0;
}

/** What heads the next baseline, as far as it is known by now.  @return 0, or -1 (ENOMEM). */
static int know_here(struct audit_base_run *base, struct fstab_machine *machine)
{
	struct audit_baseline *now = &base->now;
	struct run *run = &machine->run;
	if ((!run->host && machine_read(run) != 0) || machine_hash(machine, now) != 0)
		return -1;
	now->host = run->host;
	now->boot_id = run->boot_id;
	now->mntns = run->mntns;
	now->version = GETMNT_VERSION;
	now->table = table_source_name(run->table->source);
	now->root = strbuf_str(&machine->root);
	now->include = base->include & audit_baseline_left_out();
	return 0;
}

/** Tell of a baseline that is not of here.  @return whether it can be compared. */
static bool is_of_here(const struct audit_base_run *base)
{
	const struct audit_baseline *old = &base->old, *now = &base->now;
	const char *name = base->baseline;
	uint64_t lacks = now->include & ~old->include;
	enum audit_base_host host = audit_baseline_host(old, now);
	if (host == AUDIT_BASE_OTHER && old->host && now->host && strcmp(old->host, now->host) != 0)
		message(name, "it is of another host, %s, and this is %s: save one here with --save", old->host, now->host);
	else if (host == AUDIT_BASE_OTHER)
		message(name, "it is of another installation (the machine-id differs): save one here with --save");
	else if (strcmp(old->root, now->root) != 0)
		message(name, "it was saved with --root=%s, and this is %s: save one for each", old->root, now->root);
	else if (lacks) {
		for (unsigned i = 0; audit_owners[i]; ++i) {
			if (lacks & UINT64_C(1) << i)
				message(name, "it was saved without --include=%s: save one with it, or leave it out here too", audit_owners[i]);
		}
	} else {
		if (host == AUDIT_BASE_RENAMED)
			message(name, "this host was %s when it was saved, and is %s now", old->host, now->host);
		if (old->boot_id && now->boot_id && strcmp(old->boot_id, now->boot_id) == 0 && old->mntns && now->mntns && old->mntns != now->mntns)
			message(name, "it was saved in another mount namespace of this boot: what differs may be that");
		return true;
	}
	return false;
}

static int read_old(struct audit_base_run *base, struct fstab_machine *machine)
{
	const char *name = base->baseline;
	struct strbuf why, place;
	char *text = NULL;
	size_t len;
	uint32_t line;
	int rc = read_named(machine, name, "--baseline", &text, &len);
	if (rc == 0)
		message(name, "there is no such baseline: --save=%s makes it", name);
	if (rc <= 0)
		return -1;
	strbuf_init(&why);
	strbuf_init(&place);
	/* Left to itself the library would open /dev/urandom. */
	json_object_seed((size_t)os_time_ms() | 1);
	rc = audit_base_parse(text, len, &base->old, &line, &why);
	int error = errno;
	strbuf_printf(&place, "%s:%" PRIu32, name, line);
	if (rc != 0 && (error == ENOMEM || place.failed))
		message(name, "%s", strerror(ENOMEM));
	else if (rc != 0)
		message(strbuf_str(&place), "%s; nothing was compared: take a copy that is whole, or --save a new one", strbuf_str(&why));
	strbuf_destroy(&why);
	strbuf_destroy(&place);
	free(text);
	return rc;
}

/** Whether a file may be replaced by a baseline.  @return 0, or -1 after a message. */
static int may_save(struct audit_base_run *base, struct fstab_machine *machine)
{
	char *text = NULL;
	size_t len = 0;
	int rc = read_named(machine, base->save, "--save", &text, &len);
	bool fine = rc == 0 || (rc > 0 && (len == 0 || (len > sizeof(HEAD) - 1 && memcmp(text, HEAD, sizeof(HEAD) - 1) == 0)));
	if (rc > 0 && !fine)
		message(base->save, "it is no baseline of getmnt, and is not overwritten: name another file, or take it away");
	free(text);
	return fine ? 0 : -1;
}

int audit_base_read(struct audit_base_run *base, struct fstab_machine *machine)
{
	if (!base->baseline && !base->save)
		return 0;
	if (know_here(base, machine) != 0) {
		message(NULL, "%s", strerror(ENOMEM));
		return -1;
	}
	if (base->baseline && (read_old(base, machine) != 0 || !is_of_here(base)))
		return -1;
	base->compared = base->baseline;
	return base->save ? may_save(base, machine) : 0;
}

int audit_base_judge(struct audit_base_run *base, struct audit_base_input *in, long uptime, struct audit_report *report)
{
	if (!base->baseline && !base->save)
		return 0;
	in->mask_options = mask_options;
	in->mask_source = mask_source;
	int rc = audit_baseline_take(in, &base->now);
	if (rc == 0 && base->compared)
		rc = audit_baseline_compare(&base->old, &base->now, in->lines, uptime, report);
	return rc;
}

int audit_base_age(struct audit_base_run *base, uint64_t rules, struct audit_report *report)
{
	return base->compared ? audit_baseline_age(&base->old, report, rules, &base->fresh, &base->gone) : 0;
}

int audit_base_text(struct audit_base_run *base, const struct audit_told_run *told, struct strbuf *out)
{
	struct audit_baseline *now = &base->now;
	/* FSTAB-LOST is of two texts. */
	const uint64_t own = audit_bit(BASE_CAME) | audit_bit(BASE_WENT) | audit_bit(BASE_CHANGED) | audit_bit(FSTAB_LOST);
	if (!audit_is_complete(told)) {
		message(base->save, "not saved: not all of the mounts is known");
		return -1;
	}
	now->time = told->began;
	now->rules = told->rules & ~told->unjudged & ~told->config->off & ~own;
	bool good = true;
	for (size_t i = 0; good && i < told->report->count; ++i) {
		const struct audit_finding *f = &told->report->findings[i];
		if (audit_is_on(told, f) && !(own & audit_bit(f->code)))
			good = audit_baseline_add_finding(now, audit_rules[f->code].code, f->target) == 0;
	}
	if (good)
		audit_base_write(now, out);
	good = good && !out->failed;
	if (!good)
		message(base->save, "not saved: %s", strerror(ENOMEM));
	return good ? 0 : -1;
}
