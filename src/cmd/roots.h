/* SPDX-License-Identifier: MIT */
/**
 * Where a search begins: the PATHs of the command line, or those in a file.
 */
#ifndef GM_CMD_ROOTS_H
#define GM_CMD_ROOTS_H

#include "os/os.h"

#include <stdbool.h>
#include <stddef.h>

struct roots {
	const char **names;
	size_t n;
	char *text;                  /* the file; or NULL */
	bool errors;                 /* a name was empty, and reported */
};

/** Free the members. */
void roots_destroy(struct roots *roots);

/** Collect the roots: n words, or those of a file in which each ends with a NUL, or the current
    directory.
    @title  The option that names the file, for messages.
    @file  "-": standard input; NULL: none.
    @return 0, or an exit status after a message. */
int roots_choose(struct roots *roots, struct os *os, const char *const words[], size_t n,
                 const char *title, const char *file);

#endif
