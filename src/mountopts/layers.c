/* SPDX-License-Identifier: MIT */
#include "mountopts/layers.h"

#include "base/escape.h"

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

void opt_layers_init(struct opt_layers *layers, const char *options, opt_next_fn *next)
{
	*layers = (struct opt_layers){.options = options, .next = next, .at = ""};
}

bool opt_layers_destroy(struct opt_layers *layers)
{
	bool failed = layers->value.failed || layers->path.failed;
	strbuf_destroy(&layers->value);
	strbuf_destroy(&layers->path);
	return !failed;
}

bool opt_layers_next(struct opt_layers *layers)
{
	size_t n;
	for (;;) {
		while (*layers->at) {
			bool found = opt_layer_next(&layers->at, layers->list, &layers->layer);
			layers->at += *layers->at == ':';
			if (found) {
				opt_layer_path(&layers->layer, &layers->path);
				return true;
			}
		}
		const char *o = layers->next(&layers->options, &n);
		if (!o)
			return false;
		if (!opt_is_layers(o, n, &layers->list))
			continue;
		const char *value = (const char *)memchr(o, '=', n) + 1;
		strbuf_reset(&layers->value);
		unescape_octal_add(&layers->value, value, (size_t)(o + n - value));
		layers->at = strbuf_str(&layers->value);
		layers->of = *o;
	}
}
