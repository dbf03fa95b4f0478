/* SPDX-License-Identifier: MIT */
/* Write the attributes of an object in a format. */
#include "cmd/find/format.h"

#include "base/escape.h"
#include "os/file.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>

/** An object that is being printed. */
struct putting {
	const struct search_visit *visit;
	const struct k_statx *st;
	const struct format_env *env;
	const struct format_item *item;
	struct strbuf *out;
};

void format_quote(struct strbuf *out, const char *name)
{
	while (*name) {
		size_t len = utf8_len(name);
		if (escape_harms(name))
			strbuf_putc(out, '?');
		else
			strbuf_add(out, name, len);
		name += len ? len : 1;
	}
}

/** Append n blanks or zeros. */
static void fill(struct strbuf *out, char with, size_t n)
{
	char *to = strbuf_extend(out, n);
	if (to)
		memset(to, with, n);
}

/** Append n bytes, truncated and padded as by %s. */
static void put_bytes(const struct putting *p, const char *text, size_t n)
{
	const struct format_item *item = p->item;
	if (item->precision >= 0 && (size_t)item->precision < n)
		n = (size_t)item->precision;
	size_t blanks = (size_t)item->width > n ? (size_t)item->width - n : 0;
	if (!item->left)
		fill(p->out, ' ', blanks);
	strbuf_add(p->out, text, n);
	if (item->left)
		fill(p->out, ' ', blanks);
}

static void put_text(const struct putting *p, const char *text)
{
	put_bytes(p, text, strlen(text));
}

/** Append n bytes of a name as put_bytes() does; if p->env->quote is set, quote the name first. */
static void put_name(const struct putting *p, const char *name, size_t n)
{
	struct strbuf raw = {0}, quoted = {0};
	if (!p->env->quote) {
		put_bytes(p, name, n);
		return;
	}
	strbuf_add(&raw, name, n);
	format_quote(&quoted, strbuf_str(&raw));
	put_bytes(p, strbuf_str(&quoted), quoted.len);
	p->out->failed |= raw.failed || quoted.failed;
	strbuf_destroy(&raw);
	strbuf_destroy(&quoted);
}

static void put_number(const struct putting *p, uint64_t number)
{
	char digits[24];
	snprintf(digits, sizeof(digits), "%" PRIu64, number);
	put_text(p, digits);
}

/** Append a number as printf(3) does, with all flags.  @prefix  A sign, or "". */
static void put_flagged(const struct putting *p, const char *digits, const char *prefix)
{
	const struct format_item *item = p->item;
	size_t n = strlen(digits), before = strlen(prefix);
	size_t least = item->precision > 0 ? (size_t)item->precision : 0;
	if (item->precision == 0 && strcmp(digits, "0") == 0)
		n = 0;
	if (item->zero && !item->left && item->precision < 0 && (size_t)item->width > before)
		least = (size_t)item->width - before;
	size_t zeros = least > n ? least - n : 0;
	if (item->kind == 'm' && item->alternate && zeros == 0 && (n == 0 || *digits != '0'))
		zeros = 1;
	size_t all = before + zeros + n;
	size_t blanks = (size_t)item->width > all ? (size_t)item->width - all : 0;
	if (!item->left)
		fill(p->out, ' ', blanks);
	strbuf_puts(p->out, prefix);
	fill(p->out, '0', zeros);
	strbuf_add(p->out, digits, n);
	if (item->left)
		fill(p->out, ' ', blanks);
}

/** Append the ratio of the disk space of a file to its size. */
static void put_sparseness(const struct putting *p)
{
	const struct k_statx *st = p->st;
	double blocks = 512.0 * (double)st->blocks, ratio = 1;
	struct strbuf text = {0};
	if (st->size > 0)
		ratio = blocks / (double)st->size;
	else if (st->blocks > 0)
		ratio = HUGE_VAL;
	strbuf_printf(&text, p->item->alternate ? "%#.*g" : "%.*g",
	              p->item->precision >= 0 ? p->item->precision : 6, ratio);
	struct format_item item = *p->item;
	struct putting flagged = *p;
	item.precision = -1;
	flagged.item = &item;
	put_flagged(&flagged, strbuf_str(&text), item.plus ? "+" : item.blank ? " " : "");
	p->out->failed |= text.failed;
	strbuf_destroy(&text);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
/** Call strftime(3) with a format that is not constant. */
static size_t time_text(char *text, size_t size, const char *format, const struct tm *tm)
{
	return strftime(text, size, format, tm);
}
#pragma GCC diagnostic pop

/** Append a time in a format of strftime(3), with a fraction after the seconds. */
static void put_strftime(const struct putting *p, const char *format, const struct tm *tm,
                         const char *fraction)
{
	char text[512], other[512];
	struct tm then = *tm;
	struct strbuf all = {0};
	/* The format starts with a blank, so that an empty result differs from an error. */
	size_t n = time_text(text, sizeof(text), format, tm), at = 0;
	/* To find where the seconds are in the text, format the time again with different seconds:
	   only these two digits differ. */
	then.tm_sec += then.tm_sec >= 11 ? -11 : 11;
	if (*fraction && time_text(other, sizeof(other), format, &then) == n) {
		while (at < n && text[at] == other[at])
			++at;
	}
	bool seconds = *fraction && at + 2 <= n && strcmp(text + at + 2, other + at + 2) == 0;
	size_t head = seconds ? at + 2 : n;
	if (n > 0) {
		strbuf_add(&all, text + 1, head - 1);
		strbuf_puts(&all, seconds ? fraction : "");
		strbuf_add(&all, text + head, n - head);
	}
	put_bytes(p, strbuf_str(&all), all.len);
	p->out->failed |= all.failed;
	strbuf_destroy(&all);
}

/** Append a time.  @letter  As in struct format_item; '\0': as ctime(3). */
static void put_time(const struct putting *p, struct k_statx_time t, char letter)
{
	char fraction[24] = "", format[8] = " %", text[96];
	time_t sec = (time_t)t.sec;
	struct tm tm;
	/* The fraction has ten digits, as in find(1). */
	if (letter == '\0' || strchr("STX+@", letter))
		snprintf(fraction, sizeof(fraction), ".%09" PRIu32 "0", t.nsec);
	if (letter == '@' || !localtime_r(&sec, &tm)) {
		snprintf(text, sizeof(text), "%" PRId64 "%s", t.sec, fraction);
		put_text(p, text);
		return;
	}
	if (letter == '\0') {
		static const char days[] = "SunMonTueWedThuFriSat";
		static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
		snprintf(text, sizeof(text), "%.3s %.3s %2d %02d:%02d:%02d%s %04d",
		         days + 3 * tm.tm_wday, months + 3 * tm.tm_mon, tm.tm_mday, tm.tm_hour,
		         tm.tm_min, tm.tm_sec, fraction, 1900 + tm.tm_year);
		put_text(p, text);
		return;
	}
	format[2] = letter;
	put_strftime(p, letter == '+' ? " %F+%T" : format, &tm, fraction);
}

/** Append the target of a symlink. */
static void put_target(const struct putting *p)
{
	const struct query_facts *facts = p->visit->object.facts;
	struct strbuf target = {0};
	if (p->visit->object.type == DT_LNK && facts->target(facts->arg, &target) != 0)
		p->env->failed(p->env->arg, errno, false);
	put_name(p, strbuf_str(&target), target.len);
	p->out->failed |= target.failed;
	strbuf_destroy(&target);
}

/** Append a type, DT_*, as a letter. */
static void put_type(const struct putting *p, uint8_t type)
{
	char letter[] = {type_letter(type), '\0'};
	put_text(p, *letter ? letter : "U");
}

/** Append the type of the object or, for a symlink, of its target.  N: the target is missing; L: a
    loop of symlinks; ?: it cannot be read, which is a warning in GNU find. */
static void put_xtype(const struct putting *p)
{
	const struct query_facts *facts = p->visit->object.facts;
	uint8_t type = p->visit->object.type;
	if (type != DT_LNK) {
		put_type(p, type);
	} else if (facts->xtype(facts->arg, &type) != 0) {
		int error = errno;
		if (error != ELOOP)
			p->env->failed(p->env->arg, error, true);
		put_text(p, error == ELOOP ? "L" : "?");
	} else if (type == DT_LNK) {
		/* The target was looked up.  If the type is still that of a symlink, the target is
		   missing. */
		put_text(p, "N");
	} else {
		put_type(p, type);
	}
}

static void put_owner(const struct putting *p, struct owners *owners, uint32_t id)
{
	const char *name = owners_name(owners, id);
	if (name)
		put_text(p, name);
	else
		put_number(p, id);
}

/** Append the security context. */
static void put_context(const struct putting *p)
{
	char context[4096];
	int dir = search_visit_dir(p->visit);
	ssize_t n = dir < 0 ? -1 : os_context(p->env->os, dir, p->visit->object.name, context,
	                                      sizeof(context) - 1);
	if (n < 0) {
		p->env->failed(p->env->arg, errno, false);
		n = 0;
	}
	put_bytes(p, context, strnlen(context, (size_t)n));
}

/** Get the length of a path without trailing slashes; 0: the path has only slashes. */
static size_t length_stripped(const char *path)
{
	size_t len = strlen(path);
	while (len > 0 && path[len - 1] == '/')
		--len;
	return len;
}

const char *format_base(const char *path)
{
	size_t end = length_stripped(path);
	if (end == 0)
		return *path ? path + strlen(path) - 1 : path;
	while (end > 0 && path[end - 1] != '/')
		--end;
	return path + end;
}

/** Append the directory of the path, as GNU find does: "a/" for "a//b/", "/" for "//". */
static void put_dir(const struct putting *p)
{
	const char *path = p->visit->path + p->visit->prefix;
	size_t len = length_stripped(path);
	const char *slash = len > 0 ? memrchr(path, '/', len) : strrchr(path, '/');
	if (slash)
		put_name(p, p->visit->path, (size_t)(slash - p->visit->path));
	else
		put_text(p, ".");
}

size_t format_base_len(const char *base)
{
	size_t n = strlen(base);
	while (n > 1 && base[n - 1] == '/' && base[n - 2] == '/')
		--n;
	return n;
}

static void put_item(const struct putting *p)
{
	const struct search_visit *visit = p->visit;
	const struct query_facts *facts = visit->object.facts;
	const struct k_statx *st = p->st;
	const char *base = format_base(visit->path + visit->prefix), time = p->item->time;
	struct strbuf text = {0};
	char digits[16];
	switch (p->item->kind) {
	case 'a': case 'A':
		put_time(p, st->atime, time);
		break;
	case 'B':
		if (st->mask & K_STATX_BTIME)
			put_time(p, st->btime, time);
		else
			put_text(p, "");
		break;
	case 'c': case 'C':
		put_time(p, st->ctime, time);
		break;
	case 't': case 'T':
		put_time(p, st->mtime, time);
		break;
	case 'b':
		put_number(p, st->blocks);
		break;
	case 'd':
		snprintf(digits, sizeof(digits), "%u", visit->object.depth);
		put_flagged(p, digits, p->item->plus ? "+" : p->item->blank ? " " : "");
		break;
	case 'D':
		put_number(p, makedev(st->dev_major, st->dev_minor));
		break;
	case 'f':
		put_name(p, base, format_base_len(base));
		break;
	case 'F':
		put_text(p, facts->fstype(facts->arg));
		break;
	case 'g':
		put_owner(p, p->env->groups, st->gid);
		break;
	case 'G':
		put_number(p, st->gid);
		break;
	case 'h':
		put_dir(p);
		break;
	case 'H':
		put_name(p, visit->root, strlen(visit->root));
		break;
	case 'i':
		put_number(p, st->ino);
		break;
	case 'k':
		put_number(p, st->blocks / 2 + st->blocks % 2);
		break;
	case 'l':
		put_target(p);
		break;
	case 'm':
		snprintf(digits, sizeof(digits), "%o", st->mode & 07777u);
		put_flagged(p, digits, "");
		break;
	case 'M':
		permissions(st->mode, &text);
		put_text(p, strbuf_str(&text));
		strbuf_destroy(&text);
		break;
	case 'n':
		put_number(p, st->nlink);
		break;
	case 'p':
		put_name(p, visit->path, strlen(visit->path));
		break;
	case 'P':
		put_name(p, visit->below, strlen(visit->below));
		break;
	case 's':
		put_number(p, st->size);
		break;
	case 'S':
		put_sparseness(p);
		break;
	case 'u':
		put_owner(p, p->env->users, st->uid);
		break;
	case 'U':
		put_number(p, st->uid);
		break;
	case 'y':
		put_type(p, visit->object.type);
		break;
	case 'Y':
		put_xtype(p);
		break;
	case 'Z':
		put_context(p);
		break;
	}
}

void format_put(const struct format *format, const struct search_visit *visit,
                const struct format_env *env, struct strbuf *out)
{
	static const struct k_statx unknown;
	struct putting p = {visit, visit->object.st ? visit->object.st : &unknown, env, NULL, out};
	for (size_t i = 0; i < format->n; ++i) {
		p.item = &format->items[i];
		if (p.item->kind)
			put_item(&p);
		else
			strbuf_add(out, strbuf_str(&format->text) + p.item->from, p.item->len);
	}
}
