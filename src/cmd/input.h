/* SPDX-License-Identifier: MIT */
/**
 * What a run works on: the table, and the root that its names are relative to.
 */
#ifndef GM_CMD_INPUT_H
#define GM_CMD_INPUT_H

#include "cmd/cmd.h"

/** The fields of the table (enum mount_fields) that a run needs: its columns and
    its form, what selects, and what the naming goes by. */
unsigned input_fields(const struct options *options, const struct columns *columns);

/**
 * Read the table that the options name, into run->table.
 *
 * Sets run->live, table_name, procfd, rootfd and prefix.  Lines that could
 * not be read are reported.
 *
 * @fields  enum mount_fields that are wanted.
 * @return 0, or an exit status after a message.
 */
int input_read(struct run *run, unsigned fields);

/** Free what input_read() gave. */
void input_destroy(struct run *run);

#endif
