/* SPDX-License-Identifier: MIT */
/**
 * The input of a run: the table, and the root that its names are relative to.
 */
#ifndef GM_CMD_INPUT_H
#define GM_CMD_INPUT_H

#include "cmd/cmd.h"

/** The fields of the table (enum mount_fields) that the columns, the output format, the
    selection and the naming need. */
unsigned input_fields(const struct options *options, const struct columns *columns);

/**
 * Read the table that the options name, into run->table.
 *
 * Sets run->live, table_name, procfd, rootfd and prefix.  Reports lines that cannot be parsed.
 *
 * @fields  A set of enum mount_fields.
 * @return 0, or an exit status after a message.
 */
int input_read(struct run *run, unsigned fields);

/** Free what input_read() has read. */
void input_destroy(struct run *run);

#endif
