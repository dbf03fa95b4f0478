/* SPDX-License-Identifier: MIT */
/**
 * The directories in the options of an overlay.
 */
#ifndef GM_MOUNTOPTS_LAYERS_H
#define GM_MOUNTOPTS_LAYERS_H

#include "mountopts/optlist.h"

struct opt_layer {
	const char *text;    /* within the decoded value */
	size_t n;
	bool list;           /* part of a list, where a backslash escapes */
};

/** Whether an option of n bytes names directories.  @list [out]  It may name several, separated by
    ':'. */
bool opt_is_layers(const char *option, size_t n, bool *list);

/** Step through the directories of a value.
    @at [in,out]  The decoded value; then what follows the directory.
    @return false: no more. */
bool opt_layer_next(const char **at, bool list, struct opt_layer *layer);

/** Get the path of a layer.  @path [out]  Without escaping backslashes. */
void opt_layer_path(const struct opt_layer *layer, struct strbuf *path);

/** An iterator over the directories in the options of an overlay. */
struct opt_layers {
	const char *options;     /* the rest of the options */
	opt_next_fn *next;
	struct strbuf value;     /* of an option, decoded */
	const char *at;          /* the rest of value */
	bool list;               /* the value is a list */
	struct opt_layer layer;  /* the directory as it is written */
	char of;                 /* 'l'owerdir, 'd'atadir, 'u'pperdir, 'w'orkdir */
	struct strbuf path;      /* the directory, without escaping backslashes */
};

/** Initialize an iterator.  @next  opt_next_shown() for options that the kernel shows; opt_next()
    for those of a line, which mount(8) decodes before splitting them. */
void opt_layers_init(struct opt_layers *layers, const char *options, opt_next_fn *next);

/** Step to the next directory.  @return false: no more. */
bool opt_layers_next(struct opt_layers *layers);

/** Free an iterator.  @return false: memory ran out. */
bool opt_layers_destroy(struct opt_layers *layers);

#endif
