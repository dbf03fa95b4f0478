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

bool opt_each_layer(const char *options, opt_next_fn *next, struct strbuf *scratch,
                    bool (*each)(void *arg, const struct opt_layer *layer), void *arg)
{
	size_t n;
	bool list, more = true;
	for (const char *o; more && (o = next(&options, &n)) != NULL;) {
		if (!opt_is_layers(o, n, &list))
			continue;
		const char *value = (const char *)memchr(o, '=', n) + 1;
		strbuf_reset(scratch);
		unescape_octal_add(scratch, value, (size_t)(o + n - value));
		struct opt_layer layer;
		for (const char *at = strbuf_str(scratch); *at && more; at += *at == ':') {
			if (!opt_layer_next(&at, list, &layer))
				continue;
			layer.of = *o;
			more = each(arg, &layer);
		}
	}
	return more && !scratch->failed;
}

void opt_layer_path(const struct opt_layer *layer, struct strbuf *path)
{
	strbuf_reset(path);
	for (size_t i = 0; i < layer->n; ++i) {
		i += layer->list && layer->text[i] == '\\' && i + 1 < layer->n;
		strbuf_putc(path, layer->text[i]);
	}
}
