/* SPDX-License-Identifier: MIT */
#include "mountopts/layers.h"

#include "base/escape.h"

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

/** The path of a layer, in the arena. */
static const char *keep_path(struct arena *arena, const struct opt_layer *layer,
                             struct strbuf *path)
{
	opt_layer_path(layer, path);
	return arena_built(arena, path);
}

size_t opt_layers(const char *options, opt_next_fn *next, struct arena *arena,
                  struct opt_dir **dirs)
{
	struct strbuf value = {.arena = arena}, path = value;
	size_t n = 0, len;
	bool list;
	*dirs = NULL;
	for (const char *o; (o = next(&options, &len)) != NULL;) {
		if (!opt_is_layers(o, len, &list))
			continue;
		const char *text = (const char *)memchr(o, '=', len) + 1;
		strbuf_reset(&value);
		unescape_octal_add(&value, text, (size_t)(o + len - text));
		struct opt_layer layer;
		for (const char *at = strbuf_str(&value); *at; at += *at == ':') {
			if (!opt_layer_next(&at, list, &layer))
				continue;
			struct opt_dir dir = {.of = *o, .list = layer.list,
			                      .path = keep_path(arena, &layer, &path)};
			if ((*o == 'u' || *o == 'w') && memchr(layer.text, '\\', layer.n)) {
				layer.list = true;
				dir.other = keep_path(arena, &layer, &path);
			}
			ARENA_PUSH(arena, *dirs, n, dir);
		}
	}
	return n;
}
