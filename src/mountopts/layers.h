/* SPDX-License-Identifier: MIT */
/**
 * The directories that the options of an overlay name.
 */
#ifndef GM_MOUNTOPTS_LAYERS_H
#define GM_MOUNTOPTS_LAYERS_H

#include "mountopts/optlist.h"

#include <stdbool.h>
#include <stddef.h>

struct opt_layer {
	const char *text;    /* within the decoded value */
	size_t n;
	bool list;           /* of a list, where a backslash escapes */
	char of;             /* 'l'owerdir, 'd'atadir, 'u'pperdir, 'w'orkdir */
};

/** Whether an option of n bytes names directories.  @list [out]  Several, separated by ':'. */
bool opt_is_layers(const char *option, size_t n, bool *list);

/** Step through the directories of a value.
    @at [in,out]  The decoded value; then what follows the directory.
    @return whether there was one. */
bool opt_layer_next(const char **at, bool list, struct opt_layer *layer);

/**
 * Step through the directories that an overlay's options name.
 *
 * @next     opt_next_shown() for options that the kernel shows; opt_next() for those of a line,
 *           which mount(8) decodes first and separates then.
 * @scratch  Holds the decoded values.
 * @each     Returns whether to go on.
 * @return false if each() did, or memory ran out.
 */
bool opt_each_layer(const char *options, opt_next_fn *next, struct strbuf *scratch,
                    bool (*each)(void *arg, const struct opt_layer *layer), void *arg);

/** The path of a layer.  @path [out]  Its bytes, without backslashes that escape. */
void opt_layer_path(const struct opt_layer *layer, struct strbuf *path);

#endif
