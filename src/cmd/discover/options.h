/* SPDX-License-Identifier: MIT */
/** The options of `getmnt discover`. */
#ifndef GM_CMD_DISCOVER_OPTIONS_H
#define GM_CMD_DISCOVER_OPTIONS_H

#include "cmd/listing.h"

/** Print --help. */
void discover_help(FILE *out);

/**
 * Read a command line.
 *
 * @argv   Permuted; operands stay the caller's.
 * @return 0, or an exit status after a message.
 */
int discover_options_read(struct options *opts, int argc, char **argv);

/** Check combinations of options, and set those that others imply.
    @return 0, or an exit status after a message. */
int discover_options_check(struct options *opts);

#endif
