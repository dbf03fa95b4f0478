/* SPDX-License-Identifier: MIT */
#include "cmd/colors.h"

#include "base/escape.h"
#include "os/kernel.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SGR_MAX = 64 };        /* bytes of a value */

/** What a file can be, with the two letters that LS_COLORS has for it. */
enum kind {
	CK_FI, CK_DI, CK_LN, CK_PI, CK_SO, CK_BD, CK_CD, CK_EX, CK_SU, CK_SG, CK_ST, CK_OW, CK_TW,
	CK_MH,
	CK_COUNT,
};

/* The values are those of ls(1) without LS_COLORS. */
static const struct {
	char letters[3];
	bool mode;                /* the mode tells it, or the link count */
	const char *value;
} kinds[CK_COUNT] = {
	[CK_FI] = {"fi", false, NULL}, [CK_DI] = {"di", false, "01;34"},
	[CK_LN] = {"ln", false, "01;36"},
	[CK_PI] = {"pi", false, "33"}, [CK_SO] = {"so", false, "01;35"},
	[CK_BD] = {"bd", false, "01;33"},
	[CK_CD] = {"cd", false, "01;33"}, [CK_EX] = {"ex", true, "01;32"},
	[CK_SU] = {"su", true, "37;41"},
	[CK_SG] = {"sg", true, "30;43"}, [CK_ST] = {"st", true, "37;44"},
	[CK_OW] = {"ow", true, "34;42"},
	[CK_TW] = {"tw", true, "30;42"}, [CK_MH] = {"mh", true, NULL},
};

/** The colour of names that end so. */
struct ending {
	size_t at, len;           /* in text */
	size_t value;
};

struct colors {
	struct strbuf text;       /* endings and values, each with a NUL */
	struct ending *endings;
	size_t nendings;
	char of[CK_COUNT][SGR_MAX + 1];   /* "": none */
};

/** Whether a value is harmless: digits and semicolons. */
static bool value_plain(const char *value, size_t n)
{
	return n <= SGR_MAX && strspn(value, "0123456789;") >= n;
}

/** Whether a value sets a colour: "0" and "00" do not. */
static bool value_sets(const char *value, size_t n)
{
	return value_plain(value, n) && strspn(value, "0;") < n;
}

static int add_ending(struct colors *colors, const char *name, size_t len, const char *value,
                      size_t n)
{
	struct ending *more = reallocarray(colors->endings, colors->nendings + 1, sizeof(*more));
	if (!more)
		return -1;
	colors->endings = more;
	struct ending *ending = &more[colors->nendings++];
	*ending = (struct ending){.at = colors->text.len, .len = len};
	strbuf_add(&colors->text, name, len);
	strbuf_putc(&colors->text, '\0');
	ending->value = colors->text.len;
	strbuf_add(&colors->text, value, value_sets(value, n) ? n : 0);
	strbuf_putc(&colors->text, '\0');
	return 0;
}

/** Take "di=01;34" or "*.gz=31".  @return 0, or -1 (ENOMEM). */
static int take_rule(struct colors *colors, const char *rule, size_t len)
{
	const char *equals = memchr(rule, '=', len);
	if (!equals)
		return 0;
	const char *value = equals + 1;
	size_t name = (size_t)(equals - rule), n = len - name - 1;
	if (!value_plain(value, n))
		return 0;
	if (*rule == '*')
		return add_ending(colors, rule + 1, name - 1, value, n);
	for (int kind = 0; name == 2 && kind < CK_COUNT; ++kind) {
		if (strncmp(rule, kinds[kind].letters, 2) == 0) {
			size_t set = value_sets(value, n) ? n : 0;
			memcpy(colors->of[kind], value, set);
			colors->of[kind][set] = '\0';
		}
	}
	return 0;
}

struct colors *colors_new(const char *text)
{
	struct colors *colors = calloc(1, sizeof(*colors));
	if (!colors)
		return NULL;
	strbuf_init(&colors->text);
	for (int kind = 0; kind < CK_COUNT; ++kind) {
		if (kinds[kind].value)
			strcpy(colors->of[kind], kinds[kind].value);
	}
	int rc = 0;
	for (; text && *text && rc == 0; text += *text == ':') {
		size_t n = strcspn(text, ":");
		rc = take_rule(colors, text, n);
		text += n;
	}
	if (rc == 0 && !colors->text.failed)
		return colors;
	colors_free(colors);
	return NULL;
}

void colors_free(struct colors *colors)
{
	if (!colors)
		return;
	strbuf_destroy(&colors->text);
	free(colors->endings);
	free(colors);
}

bool colors_need_mode(const struct colors *colors)
{
	for (int kind = 0; kind < CK_COUNT; ++kind) {
		if (kinds[kind].mode && *colors->of[kind])
			return true;
	}
	return false;
}

/** The colour of names that end as this one; of two rules the later. */
static const char *ending_of(const struct colors *colors, const char *name)
{
	size_t len = strlen(name);
	for (size_t i = colors->nendings; i-- > 0;) {
		const struct ending *ending = &colors->endings[i];
		if (ending->len <= len
		    && memcmp(name + len - ending->len, colors->text.data + ending->at,
		              ending->len) == 0)
			return colors->text.data + ending->value;
	}
	return "";
}

/** The first of kinds that has a colour; what is no kind ends the list. */
static const char *first_of(const struct colors *colors, const enum kind *list, size_t n)
{
	for (size_t i = 0; i < n; ++i) {
		if (*colors->of[list[i]])
			return colors->of[list[i]];
	}
	return "";
}

static const char *color_of_dir(const struct colors *colors, mode_t mode)
{
	enum kind list[4];
	size_t n = 0;
	if ((mode & (S_ISVTX | S_IWOTH)) == (S_ISVTX | S_IWOTH))
		list[n++] = CK_TW;
	if (mode & S_IWOTH)
		list[n++] = CK_OW;
	if (mode & S_ISVTX)
		list[n++] = CK_ST;
	list[n++] = CK_DI;
	return first_of(colors, list, n);
}

static const char *color_of_file(const struct colors *colors, const char *name,
                                 const struct k_statx *st)
{
	enum kind list[4];
	size_t n = 0;
	if (st && st->mode & S_ISUID)
		list[n++] = CK_SU;
	if (st && st->mode & S_ISGID)
		list[n++] = CK_SG;
	if (st && st->mode & (S_IXUSR | S_IXGRP | S_IXOTH))
		list[n++] = CK_EX;
	if (st && st->nlink > 1)
		list[n++] = CK_MH;
	const char *color = first_of(colors, list, n);
	if (!*color)
		color = ending_of(colors, name);
	return *color ? color : colors->of[CK_FI];
}

static const char *color_of(const struct colors *colors, const char *name, unsigned char type,
                            const struct k_statx *st)
{
	switch (type) {
	case DT_DIR:  return color_of_dir(colors, st ? st->mode : 0);
	case DT_LNK:  return colors->of[CK_LN];
	case DT_FIFO: return colors->of[CK_PI];
	case DT_SOCK: return colors->of[CK_SO];
	case DT_BLK:  return colors->of[CK_BD];
	case DT_CHR:  return colors->of[CK_CD];
	case DT_REG:  return color_of_file(colors, name, st);
	default:      return "";
	}
}

/** Append text in a colour. */
static void put_colored(struct strbuf *out, const char *color, const char *text)
{
	if (*color)
		strbuf_printf(out, "\033[%sm", color);
	escape_terminal(out, text);
	if (*color)
		strbuf_puts(out, "\033[0m");
}

void colors_path(const struct colors *colors, const char *path, unsigned char type,
                 const struct k_statx *st, struct strbuf *out)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	if (name > path) {
		struct strbuf dirs;
		strbuf_init(&dirs);
		strbuf_add(&dirs, path, (size_t)(name - path));
		put_colored(out, colors->of[CK_DI], strbuf_str(&dirs));
		out->failed |= dirs.failed;
		strbuf_destroy(&dirs);
	}
	put_colored(out, color_of(colors, name, type, st), name);
}
