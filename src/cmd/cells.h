/* SPDX-License-Identifier: MIT */
/**
 * The cells of the columns, one function each; see struct column.
 */
#ifndef GM_CMD_CELLS_H
#define GM_CMD_CELLS_H

#include "cmd/columns.h"

typedef const char *cell_fn(struct cells *cells, const struct row *row);

cell_fn cell_action, cell_avail, cell_covered_by, cell_depth, cell_error, cell_freq,
	cell_fs_options, cell_fsroot, cell_fstype, cell_id, cell_ino_avail, cell_ino_total,
	cell_ino_use, cell_ino_used, cell_kind, cell_label, cell_majmin, cell_mounted_on,
	cell_named, cell_node, cell_ns, cell_old_options, cell_old_propagation, cell_old_target,
	cell_opt_fields, cell_options, cell_parent, cell_partlabel, cell_partuuid, cell_passno,
	cell_propagation, cell_size, cell_source, cell_sources, cell_state, cell_states,
	cell_target, cell_tid, cell_uniq_id, cell_use, cell_used, cell_uuid, cell_vfs_options;

#endif
