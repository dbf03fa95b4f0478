/* SPDX-License-Identifier: MIT */
/* Small texts of the machine that an fstab is made with. */
#include "fstab/common.h"

#include "base/escape.h"
#include "base/words.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/** Take the next word of a line.  @return it, of *n bytes; NULL at the end. */
static const char *next_word(const char **line, size_t *n)
{
	*line += strspn(*line, " \t");
	const char *word = *line;
	*n = strcspn(word, " \t\n");
	*line += *n;
	return *n ? word : NULL;
}

/** Whether words are a line of /proc/swaps: name, type, size, used, priority. */
static bool is_swap(const char *const *word, const size_t *n)
{
	static const char digits[] = "0123456789";
	if (!word[4] || !(word_is(word[1], n[1], "partition") || word_is(word[1], n[1], "file")))
		return false;
	size_t sign = *word[4] == '-' && n[4] > 1;
	return strspn(word[2], digits) == n[2] && strspn(word[3], digits) == n[3]
	       && strspn(word[4] + sign, digits) == n[4] - sign;
}

ssize_t fstab_parse_swaps(const char *text, struct arena *arena, struct fstab_swap **swaps, size_t *damaged)
{
	static const char deleted[] = "\\040(deleted)", heading[] = "Filename";
	size_t lines = 1, count = 0, number = 1;
	for (const char *at = text; (at = strchr(at, '\n')) != NULL; ++at)
		++lines;
	struct fstab_swap *list = calloc(lines, sizeof(*list));
	if (!list)
		return -1;
	*damaged = strncmp(text, heading, sizeof(heading) - 1) == 0 ? 0 : 1;
	for (const char *line = strchr(text, '\n'); line && *++line; line = strchr(line, '\n')) {
		const char *at = line, *word[5];
		size_t n[5] = {0};
		for (int i = 0; i < 5; ++i)
			word[i] = next_word(&at, &n[i]);
		++number;
		if (!is_swap(word, n)) {
			if (!*damaged && word[0])
				*damaged = number;
			continue;
		}
		struct fstab_swap *swap = &list[count];
		*swap = (struct fstab_swap){.file = *word[1] == 'f', .priority = atoi(word[4])};
		size_t tail = sizeof(deleted) - 1;
		if (n[0] > tail && memcmp(word[0] + n[0] - tail, deleted, tail) == 0) {
			swap->deleted = true;
			n[0] -= tail;
		}
		char *name = arena_strndup(arena, word[0], n[0]);
		if (!name) {
			free(list);
			errno = ENOMEM;
			return -1;
		}
		name[unescape_octal(name, name, n[0])] = '\0';
		swap->name = name;
		swap->deleted |= *name != '/';   /* as "(unreachable)/x" */
		++count;
	}
	*swaps = list;
	return (ssize_t)count;
}

bool fstab_utab_next(char **text, struct fstab_kept *kept)
{
	while (**text) {
		char *line = *text, *end = line + strcspn(line, "\n");
		*text = end + (*end == '\n');
		*end = '\0';
		*kept = (struct fstab_kept){0};
		for (char *at = line; *at;) {
			at += strspn(at, " ");
			char *word = at;
			at += strcspn(at, " ");
			if (*at)
				*at++ = '\0';
			char *value = strchr(word, '=');
			if (!value)
				continue;
			*value++ = '\0';
			value[unescape_octal(value, value, strlen(value))] = '\0';
			if (strcmp(word, "TARGET") == 0)
				kept->target = value;
			else if (strcmp(word, "OPTS") == 0)
				kept->options = value;
			else if (strcmp(word, "SRC") == 0)
				kept->source = value;
			else if (strcmp(word, "ROOT") == 0)
				kept->root = value;
			else if (strcmp(word, "ID") == 0)
				kept->id = strtoul(value, NULL, 10);
		}
		if (kept->target && kept->options)
			return true;
	}
	return false;
}

/** Whether two sources are the same but for a '/' at the end. */
static bool same_source(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b);
	n -= n > 1 && a[n - 1] == '/';
	m -= m > 1 && b[m - 1] == '/';
	return n == m && memcmp(a, b, n) == 0;
}

bool fstab_utab_fits(const struct fstab_kept *kept, const struct mount *mount)
{
	const char *source = mount->source ? mount->source : "";
	if (kept->id && kept->id != mount->id)
		return false;
	if (kept->root && strcmp(kept->root, mount->root ? mount->root : "/") != 0)
		return false;
	/* The kernel's own name of the root's device; mount(8) has another. */
	return !kept->source || strcmp(source, "/dev/root") == 0 || same_source(kept->source, source);
}

/** The value of a hexadecimal digit, -1 if it is none. */
static int hex_digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c ? strchr(digits, tolower((unsigned char)c)) : NULL;
	return at ? (int)(at - digits) : -1;
}

bool fstab_unit_path(const char *name, char *path, bool *automount)
{
	const char *dot = strrchr(name, '.');
	if (!dot || dot == name || (strcmp(dot, ".mount") != 0 && strcmp(dot, ".automount") != 0))
		return false;
	*automount = dot[1] == 'a';
	char *to = path;
	*to++ = '/';
	if (dot - name == 1 && *name == '-')
		++name;
	while (name < dot) {
		if (name[0] == '\\' && name[1] == 'x' && hex_digit(name[2]) >= 0 && hex_digit(name[3]) >= 0) {
			*to++ = (char)(hex_digit(name[2]) << 4 | hex_digit(name[3]));
			name += 4;
		} else {
			*to++ = *name == '-' ? '/' : *name;
			++name;
		}
	}
	*to = '\0';
	return true;
}

void fstab_unit_name(struct strbuf *out, const char *path)
{
	const char *from = path + strspn(path, "/");
	if (!*from)
		strbuf_putc(out, '-');
	for (const char *at = from; *at; ++at) {
		if (isalnum((unsigned char)*at) || strchr(":_", *at) || (*at == '.' && at > from))
			strbuf_putc(out, *at);
		else if (*at != '/')
			strbuf_printf(out, "\\x%02x", (unsigned char)*at);
		else if (at[1] && at[1] != '/')
			strbuf_putc(out, '-');
	}
}

const char *fstab_normal(struct arena *arena, const char *path)
{
	if (!path || *path != '/')
		return NULL;
	char *out = arena_strndup(arena, path, strlen(path));
	if (!out)
		return NULL;
	size_t len = 0;
	for (const char *at = path; *at;) {
		at += strspn(at, "/");
		size_t n = strcspn(at, "/");
		if (n == 2 && at[0] == '.' && at[1] == '.') {
			while (len > 0 && out[--len] != '/')
				;
		} else if (n > 0 && !(n == 1 && *at == '.')) {
			out[len] = '/';
			memmove(out + len + 1, at, n);
			len += n + 1;
		}
		at += n;
	}
	if (len == 0)
		out[len++] = '/';
	out[len] = '\0';
	return out;
}
