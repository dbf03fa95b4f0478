/* SPDX-License-Identifier: MIT */
#include "mountopts/layers.h"

#include "base/escape.h"
#include "mountopts/optlist.h"

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

/** Go through the directories of an option that may name some.  @return false if each() did. */
static bool each_of_option(const char *option, size_t n, struct strbuf *scratch,
                           bool (*each)(void *arg, const struct opt_layer *layer), void *arg)
{
	bool list;
	if (!opt_is_layers(option, n, &list))
		return true;
	const char *equals = memchr(option, '=', n);
	strbuf_reset(scratch);
	unescape_octal_add(scratch, equals + 1, (size_t)(option + n - equals - 1));
	struct opt_layer layer;
	for (const char *at = strbuf_str(scratch); *at; at += *at == ':') {
		if (!opt_layer_next(&at, list, &layer))
			continue;
		layer.of = *option;
		if (!each(arg, &layer))
			return false;
	}
	return true;
}

bool opt_each_layer(const char *options, struct strbuf *scratch,
                      bool (*each)(void *arg, const struct opt_layer *layer), void *arg)
{
	size_t n;
	for (const char *o; (o = opt_next_shown(&options, &n)) != NULL;) {
		if (!each_of_option(o, n, scratch, each, arg))
			return false;
	}
	return !scratch->failed;
}

bool opt_each_layer_of_line(const char *options, struct strbuf *scratch,
                            bool (*each)(void *arg, const struct opt_layer *layer), void *arg)
{
	size_t n;
	bool all = true;
	for (const char *o; all && (o = opt_next(&options, &n)) != NULL;)
		all = each_of_option(o, n, scratch, each, arg);
	return all && !scratch->failed;
}

void opt_layer_path(const struct opt_layer *layer, struct strbuf *path)
{
	strbuf_reset(path);
	for (size_t i = 0; i < layer->n; ++i) {
		i += layer->list && layer->text[i] == '\\' && i + 1 < layer->n;
		strbuf_putc(path, layer->text[i]);
	}
}
