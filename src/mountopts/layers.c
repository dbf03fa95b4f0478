/* SPDX-License-Identifier: MIT */
#include "mountopts/layers.h"

#include "base/array.h"
#include "base/escape.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool opt_layer_next(const char **at, bool list, struct opt_layer *layer)
{
	const char *text = *at;
	size_t n = list ? 0 : strlen(text);
	for (; list && text[n] && text[n] != ':'; ++n)
		n += text[n] == '\\' && text[n + 1];
	*layer = (struct opt_layer){.text = text, .n = n, .list = list};
	*at += n;
	return n > 0;
}

bool opt_is_layers(const char *option, size_t n, bool *list)
{
	static const char *const names[] =
	    {"lowerdir=", "lowerdir+=", "datadir+=", "upperdir=", "workdir="};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); ++i) {
		size_t len = strlen(names[i]);
		*list = i == 0;
		if (n > len && memcmp(option, names[i], len) == 0)
			return true;
	}
	return false;
}

void opt_layer_path(const struct opt_layer *layer, struct strbuf *path)
{
	strbuf_reset(path);
	for (size_t i = 0; i < layer->n; ++i) {
		i += layer->list && layer->text[i] == '\\' && i + 1 < layer->n;
		strbuf_putc(path, layer->text[i]);
	}
}

/** A list of directories that grows. */
struct dirs {
	struct arena *arena;
	struct opt_dir *list;
	size_t n, room;
	struct strbuf text;
	bool failed;
};

/** The path of a layer, in the arena. */
static const char *keep_path(struct dirs *dirs, const struct opt_layer *layer)
{
	opt_layer_path(layer, &dirs->text);
	const char *path = strbuf_text(&dirs->text);
	const char *kept = path ? arena_strndup(dirs->arena, path, dirs->text.len) : NULL;
	dirs->failed |= !kept;
	return kept;
}

/** Add a directory. */
static void add_dir(struct dirs *dirs, char of, struct opt_layer layer)
{
	if (!ARRAY_ROOM(dirs->list, dirs->n, &dirs->room)) {
		dirs->failed = true;
		return;
	}
	struct opt_dir dir = {.of = of, .list = layer.list, .path = keep_path(dirs, &layer)};
	if ((of == 'u' || of == 'w') && memchr(layer.text, '\\', layer.n)) {
		layer.list = true;
		dir.other = keep_path(dirs, &layer);
	}
	dirs->list[dirs->n++] = dir;
}

int opt_layers(const char *options, opt_next_fn *next, struct arena *arena, struct opt_dir **dirs,
               size_t *n)
{
	struct dirs found = {.arena = arena};
	struct strbuf value = {0};
	size_t len;
	bool list;
	for (const char *o; !found.failed && (o = next(&options, &len)) != NULL;) {
		if (!opt_is_layers(o, len, &list))
			continue;
		const char *text = (const char *)memchr(o, '=', len) + 1;
		strbuf_reset(&value);
		unescape_octal_add(&value, text, (size_t)(o + len - text));
		found.failed |= value.failed;
		struct opt_layer layer;
		for (const char *at = strbuf_str(&value); *at; at += *at == ':') {
			if (opt_layer_next(&at, list, &layer))
				add_dir(&found, *o, layer);
		}
	}
	*n = found.n;
	*dirs = arena_alloc(arena, (found.n + 1) * sizeof(**dirs));
	if (*dirs && found.n)
		memcpy(*dirs, found.list, found.n * sizeof(**dirs));
	found.failed |= !*dirs;
	free(found.list);
	strbuf_destroy(&found.text);
	strbuf_destroy(&value);
	errno = found.failed ? ENOMEM : errno;
	return found.failed ? -1 : 0;
}
