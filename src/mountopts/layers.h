/* SPDX-License-Identifier: MIT */
/**
 * The directories in the options of an overlay.
 */
#ifndef GM_MOUNTOPTS_LAYERS_H
#define GM_MOUNTOPTS_LAYERS_H

#include "base/arena.h"
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

/** A directory in the options of an overlay. */
struct opt_dir {
	char of;             /* 'l'owerdir, 'd'atadir, 'u'pperdir, 'w'orkdir */
	bool list;           /* it is one of a list, where a backslash escapes */
	const char *path;    /* decoded */
	const char *other;   /* of upperdir and workdir with a backslash, which escapes for some
	                        kernels: what they read; else NULL */
};

/** Read the directories in the options of an overlay.
    @next  opt_next_shown() for options that the kernel shows; opt_next() for those of a line, which
    mount(8) decodes before splitting them.
    @dirs [out]  In the arena, as their paths.
    @return their number. */
size_t opt_layers(const char *options, opt_next_fn *next, struct arena *arena,
                  struct opt_dir **dirs);

#endif
