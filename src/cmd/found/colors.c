/* SPDX-License-Identifier: MIT */
#include "cmd/found/colors.h"

#include "base/array.h"
#include "base/escape.h"
#include "os/kernel.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SGR_MAX = 64 };        /* maximum bytes of a color, such as "01;34" */

/** Kinds of files, named after the two letters that LS_COLORS has for each kind. */
enum kind {
	CK_FI, CK_DI, CK_LN, CK_PI, CK_SO, CK_BD, CK_CD, CK_EX, CK_SU, CK_SG, CK_ST, CK_OW, CK_TW,
	CK_MH, CK_COUNT,
};

/* `value` is the color that ls(1) uses without LS_COLORS. */
static const struct {
	char letters[3];
	bool mode;                /* the kind depends on the mode or on the number of links */
	const char *value;
} kinds[CK_COUNT] = {
	[CK_FI] = {"fi", false, ""}, [CK_DI] = {"di", false, "01;34"},
	[CK_LN] = {"ln", false, "01;36"}, [CK_PI] = {"pi", false, "33"},
	[CK_SO] = {"so", false, "01;35"}, [CK_BD] = {"bd", false, "01;33"},
	[CK_CD] = {"cd", false, "01;33"}, [CK_EX] = {"ex", true, "01;32"},
	[CK_SU] = {"su", true, "37;41"}, [CK_SG] = {"sg", true, "30;43"},
	[CK_ST] = {"st", true, "37;44"}, [CK_OW] = {"ow", true, "34;42"},
	[CK_TW] = {"tw", true, "30;42"}, [CK_MH] = {"mh", true, ""},
};

struct colors {
	char *text;               /* a copy of LS_COLORS, which the rules point into */
	struct ending {
		const char *name, *value;
		size_t len;
	} *endings;               /* colors of file names by suffix */
	size_t nendings, room;
	const char *of[CK_COUNT]; /* color of each kind; "": none */
};

/** Store a rule, "di=01;34" or "*.gz=31".  @return 0, or -1 (ENOMEM). */
static int store_rule(struct colors *colors, char *rule)
{
	char *value = strchr(rule, '=');
	if (!value)
		return 0;
	*value++ = '\0';
	size_t n = strlen(value);
	if (n > SGR_MAX || strspn(value, "0123456789;") < n)
		return 0;
	/* "0" and "00" set no color. */
	if (strspn(value, "0;") == n)
		value = rule + strlen(rule);
	for (int kind = 0; kind < CK_COUNT; ++kind) {
		if (strcmp(rule, kinds[kind].letters) == 0)
			colors->of[kind] = value;
	}
	if (*rule != '*')
		return 0;
	if (!ARRAY_ROOM(colors->endings, colors->nendings, &colors->room))
		return -1;
	colors->endings[colors->nendings++] = (struct ending){rule + 1, value, strlen(rule + 1)};
	return 0;
}

struct colors *colors_new(const char *text)
{
	struct colors *colors = calloc(1, sizeof(*colors));
	if (!colors || !(colors->text = strdup(text ? text : "")))
		goto failed;
	for (int kind = 0; kind < CK_COUNT; ++kind)
		colors->of[kind] = kinds[kind].value;
	for (char *next = colors->text, *rule; (rule = strsep(&next, ":"));) {
		if (store_rule(colors, rule) != 0)
			goto failed;
	}
	return colors;

failed:
	colors_free(colors);
	return NULL;
}

void colors_free(struct colors *colors)
{
	if (!colors)
		return;
	free(colors->text);
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

/** Get the color of a name by its suffix; "": none.  The last matching rule wins. */
static const char *ending_of(const struct colors *colors, const char *name)
{
	size_t len = strlen(name);
	for (size_t i = colors->nendings; i-- > 0;) {
		const struct ending *ending = &colors->endings[i];
		if (ending->len <= len && strcmp(name + len - ending->len, ending->name) == 0)
			return ending->value;
	}
	return "";
}

static const char *color_of_dir(const struct colors *colors, mode_t mode)
{
	const mode_t both = S_ISVTX | S_IWOTH;
	if ((mode & both) == both && *colors->of[CK_TW])
		return colors->of[CK_TW];
	if (mode & S_IWOTH && *colors->of[CK_OW])
		return colors->of[CK_OW];
	return colors->of[mode & S_ISVTX && *colors->of[CK_ST] ? CK_ST : CK_DI];
}

static const char *color_of_file(const struct colors *colors, const char *name,
                                 const struct k_statx *st)
{
	const struct {
		bool is;
		enum kind kind;
	} rows[] = {
		{st && st->mode & S_ISUID, CK_SU}, {st && st->mode & S_ISGID, CK_SG},
		{st && st->mode & (S_IXUSR | S_IXGRP | S_IXOTH), CK_EX},
		{st && st->nlink > 1, CK_MH},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); ++i) {
		if (rows[i].is && *colors->of[rows[i].kind])
			return colors->of[rows[i].kind];
	}
	const char *color = ending_of(colors, name);
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

/** Append a text in a color, escaped for a terminal.  @color  "": none. */
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
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	struct strbuf dirs = {0};
	strbuf_add(&dirs, path, (size_t)(name - path));
	if (name > path)
		put_colored(out, colors->of[CK_DI], strbuf_str(&dirs));
	put_colored(out, color_of(colors, name, type, st), name);
	out->failed |= dirs.failed;
	strbuf_destroy(&dirs);
}
