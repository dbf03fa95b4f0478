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
};

/** Whether an option of n bytes names directories.  @list [out]  Several, separated by ':'. */
bool opt_is_layers(const char *option, size_t n, bool *list);

/** Step through the directories of a value.
    @at [in,out]  The decoded value; then what follows the directory.
    @return whether there was one. */
bool opt_layer_next(const char **at, bool list, struct opt_layer *layer);

/** The path of a layer.  @path [out]  Its bytes, without backslashes that escape. */
void opt_layer_path(const struct opt_layer *layer, struct strbuf *path);

/** A step through the directories that an overlay's options name. */
struct opt_layers {
	const char *options;     /* the rest of the options */
	opt_next_fn *next;
	struct strbuf value;     /* of an option, decoded */
	const char *at;          /* the rest of it */
	bool list;               /* ... which is a list */
	struct opt_layer layer;  /* the directory as it is written */
	char of;                 /* 'l'owerdir, 'd'atadir, 'u'pperdir, 'w'orkdir */
	struct strbuf path;      /* the directory, without backslashes that escape */
};

/** @next  opt_next_shown() for options that the kernel shows; opt_next() for those of a line, which
           mount(8) decodes first and separates then. */
void opt_layers_init(struct opt_layers *layers, const char *options, opt_next_fn *next);

/** Step to the next directory.  @return false: there are no more. */
bool opt_layers_next(struct opt_layers *layers);

/** @return whether there was memory. */
bool opt_layers_destroy(struct opt_layers *layers);

#endif
