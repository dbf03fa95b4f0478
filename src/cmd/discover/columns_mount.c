/* SPDX-License-Identifier: MIT */
/* Columns of a mount: its position in the tree, its identity, options and changes. */
#include "cmd/discover/columns.h"

#include "base/escape.h"
#include "base/secret.h"
#include "cmd/discover/output.h"
#include "mountopts/join.h"
#include "mounts/tablediff.h"

#include <errno.h>
#include <inttypes.h>
#include <libmount.h>
#include <libsmartcols/libsmartcols.h>
#include <stdlib.h>
#include <string.h>

const struct mt_node *cell_node(const struct cells *cells, const struct row *row)
{
	const struct discovery *d = cells->list->run.d;
	return d && row->node != MT_NONE ? &d->tree.nodes[row->node] : NULL;
}

bool cell_of_kernel(const struct cells *cells, const struct row *row)
{
	return row->change || cell_node(cells, row);
}

/** Whether a row is a line of an fstab or mtab. */
static bool of_file(const struct row *row)
{
	return row->mount && row->mount->line != 0;
}

const char *cell_number(struct cells *cells, uint64_t value)
{
	strbuf_reset(&cells->text);
	strbuf_number(&cells->text, value);
	return strbuf_str(&cells->text);
}

/** Convert a device number to the text of a cell; NULL for 0:0. */
static const char *device_number(struct cells *cells, uint32_t major, uint32_t minor)
{
	strbuf_reset(&cells->text);
	strbuf_printf(&cells->text, cells->machine ? "%u:%u" : "%3u:%-3u", major, minor);
	return major || minor ? strbuf_str(&cells->text) : NULL;
}

/** Get the string of struct mount whose offset in the struct is cells->arg. */
static const char *cell_string(struct cells *cells, const struct row *row)
{
	if (!row->mount)
		return NULL;
	return *(const char *const *)((const char *)row->mount + cells->arg);
}

const char *cell_target(struct cells *cells, const struct row *row)
{
	if (!row->change)
		return row->node == MT_NONE ? NULL : run_target(&cells->list->run, row->node);
	if (row->mount->point || !row->mount->uniq_id || list_form(cells->list)->flags & FF_OBJECTS)
		return row->mount->point;
	/* The mount was unmounted before its mount point could be read: show the ID instead.  JSON
	   shows the ID in a member of its own.  A mount point never begins with '('. */
	strbuf_reset(&cells->text);
	strbuf_printf(&cells->text, "(ID %" PRIu64 ")", row->mount->uniq_id);
	return strbuf_str(&cells->text);
}

static const char *cell_fstype(struct cells *cells, const struct row *row)
{
	(void)cells;
	return row->mount ? row->mount->fstype : row->device->tags->type;
}

static const char *cell_kind(struct cells *cells, const struct row *row)
{
	static const char *const names[] = {
		[DK_UNKNOWN] = NULL, [DK_DIR] = "dir", [DK_FILE] = "file",
	};
	return names[cells->list->run.d->kinds[row->node]];
}

static const char *cell_error(struct cells *cells, const struct row *row)
{
	const struct discover_probed *probed = cells->list->run.d->probed;
	return probed && probed[row->node].error ? strerrorname_np(probed[row->node].error) : NULL;
}

static const char *cell_majmin(struct cells *cells, const struct row *row)
{
	return row->mount ? device_number(cells, row->mount->dev_major, row->mount->dev_minor)
	                  : device_number(cells, row->device->major, row->device->minor);
}

static const char *cell_mounted_on(struct cells *cells, const struct row *row)
{
	(void)row;
	if (cells->node->parent == MT_NONE)
		return NULL;
	const struct mount *parent = run_mount(&cells->list->run, cells->node->parent);
	return device_number(cells, parent->dev_major, parent->dev_minor);
}

enum { ID_MOUNT, ID_PARENT, ID_UNIQUE, ID_TASK, ID_NAMESPACE };

static const char *cell_id(struct cells *cells, const struct row *row)
{
	if (!cell_of_kernel(cells, row))
		return NULL;
	const uint64_t ids[] = {
		[ID_MOUNT] = row->mount->id, [ID_PARENT] = row->mount->parent_id,
		[ID_UNIQUE] = row->mount->uniq_id, [ID_TASK] = cells->list->run.tid,
		[ID_NAMESPACE] = cells->list->run.mntns,
	};
	return ids[cells->arg] ? cell_number(cells, ids[cells->arg]) : NULL;
}

static const char *cell_place(struct cells *cells, const struct row *row)
{
	if (row->device)
		return "unreferenced";
	return !cells->node ? NULL : cells->node->has_children ? "internal" : "leaf";
}

static const char *cell_depth(struct cells *cells, const struct row *row)
{
	(void)row;
	return cell_number(cells, cells->node->depth);
}

static const char *cell_named(struct cells *cells, const struct row *row)
{
	(void)row;
	return mtree_named_name(cells->node->named);
}

static const char *cell_state(struct cells *cells, const struct row *row)
{
	(void)row;
	enum mt_state state = mtree_shown_state(cells->node);
	bool blank = state == MT_OK && !cells->machine && !cells->list->cols->state_requested;
	return blank ? NULL : mtree_state_name(state);
}

static const char *cell_states(struct cells *cells, const struct row *row)
{
	(void)row;
	strbuf_reset(&cells->text);
	for (enum mt_state state = 0; state < MT_NSTATES; ++state) {
		if (cells->node->states & 1u << state)
			strbuf_printf(&cells->text, "%s%s", cells->text.len ? "\n" : "",
			              mtree_state_name(state));
	}
	return cells->text.len ? strbuf_str(&cells->text) : mtree_state_name(MT_OK);
}

static const char *cell_covered_by(struct cells *cells, const struct row *row)
{
	(void)row;
	uint32_t by = cells->node->covered_by;
	return by == MT_NONE ? NULL : cell_number(cells, run_mount(&cells->list->run, by)->id);
}

static const char *propagation(struct cells *cells, uint32_t flags)
{
	strbuf_reset(&cells->text);
	strbuf_printf(&cells->text, "%s%s%s", flags & MP_SHARED ? "shared" : "private",
	              flags & MP_SLAVE ? ",slave" : "", flags & MP_UNBINDABLE ? ",unbindable" : "");
	return strbuf_str(&cells->text);
}

static const char *cell_propagation(struct cells *cells, const struct row *row)
{
	/* The record of a mount that was unmounted before it could be read has no ID: the
	   propagation of this mount is unknown. */
	return cell_of_kernel(cells, row) && (!row->change || row->mount->id)
	       ? propagation(cells, row->mount->propagation) : NULL;
}

/** Get FREQ or PASSNO: the number of struct mount whose offset in the struct is cells->arg. */
static const char *cell_file_number(struct cells *cells, const struct row *row)
{
	if (!of_file(row))
		return NULL;
	int value = *(const int *)(const void *)((const char *)row->mount + cells->arg);
	return cell_number(cells, value > 0 ? (uint64_t)value : 0);
}

/** Get the options of a mount, with secrets masked. */
static const char *options(struct cells *cells, const struct mount *mount)
{
	struct mount masked = *mount;
	struct strbuf *text = &cells->scratch;
	/* Mask before decoding: a decoded ',' would end a secret early. */
	strbuf_reset(text);
	mask_options(mount->vfs_opts ? mount->vfs_opts : "", text);
	strbuf_putc(text, '\0');
	size_t fs = text->len;
	mask_options(mount->fs_opts ? mount->fs_opts : "", text);
	masked.vfs_opts = mount->vfs_opts ? strbuf_str(text) : NULL;
	masked.fs_opts = mount->fs_opts ? strbuf_str(text) + fs : NULL;
	strbuf_reset(&cells->text);
	join_findmnt(&masked, &cells->text);
	return strbuf_str(&cells->text);
}

const char *cell_options(struct cells *cells, const struct row *row)
{
	return row->mount ? options(cells, row->mount) : NULL;
}

/** Copy a string allocated by libmount into the cell's text, and free it; NULL becomes "". */
static const char *copied(struct cells *cells, char *text, int rc)
{
	cells->text.failed |= rc == -ENOMEM;
	strbuf_reset(&cells->text);
	strbuf_puts(&cells->text, text ? text : "");
	free(text);
	return strbuf_str(&cells->text);
}

/** Get the VFS options or, if cells->arg is 1, the options of the file system. */
static const char *cell_some_options(struct cells *cells, const struct row *row)
{
	bool of_fs = cells->arg;
	const char *text = !row->mount ? NULL : of_fs ? row->mount->fs_opts : row->mount->vfs_opts;
	char *parts[2] = {NULL, NULL}, *all = NULL;
	if (of_file(row)) {
		int rc = mnt_split_optstr(cell_options(cells, row), NULL, &parts[0], &parts[1], 0,
		                          0);
		free(parts[!of_fs]);
		text = copied(cells, parts[of_fs], rc);
		return rc == 0 ? text : NULL;
	}
	if (!text)
		return NULL;
	if (!of_fs && cells->list->opt->vfs_all) {
		struct libmnt_fs *fs = mnt_new_fs();
		int rc = fs ? mnt_fs_set_options(fs, text) : -ENOMEM;
		if (rc == 0)
			all = mnt_fs_get_vfs_options_all(fs);
		mnt_unref_fs(fs);
		if (rc == 0 || rc == -ENOMEM)
			return copied(cells, all, all ? 0 : -ENOMEM);
	}
	strbuf_reset(&cells->scratch);
	strbuf_reset(&cells->text);
	mask_options(text, of_fs ? &cells->scratch : &cells->text);
	if (of_fs)
		unescape_octal_add(&cells->text, strbuf_str(&cells->scratch), cells->scratch.len);
	return strbuf_str(&cells->text);
}

/* Changes. */

static const char *cell_action(struct cells *cells, const struct row *row)
{
	(void)cells;
	switch (row->change ? row->change->kind : 0) {
	case CHANGE_MOUNT:       return "mount";
	case CHANGE_UMOUNT:      return "umount";
	case CHANGE_REMOUNT:     return "remount";
	case CHANGE_MOVE:        return "move";
	case CHANGE_PROPAGATION: return "propagation";
	case CHANGE_LOST:        return "lost";
	default:                 return NULL;
	}
}

/** Get the mount as it was before a change, if the kind of the change is in `kinds`; else NULL. */
static const struct mount *before(const struct row *row, unsigned kinds)
{
	return row->change && row->change->kind & kinds ? row->change->before : NULL;
}

static const char *cell_old_target(struct cells *cells, const struct row *row)
{
	(void)cells;
	const struct mount *old = before(row, CHANGE_MOVE | CHANGE_UMOUNT);
	return old ? old->point : NULL;
}

static const char *cell_old_options(struct cells *cells, const struct row *row)
{
	const struct mount *old = before(row, CHANGE_REMOUNT | CHANGE_UMOUNT);
	return old ? options(cells, old) : NULL;
}

static const char *cell_old_propagation(struct cells *cells, const struct row *row)
{
	const struct mount *old = before(row, CHANGE_PROPAGATION);
	return old ? propagation(cells, old->propagation) : NULL;
}

/* Columns that findmnt has too have the same name, width, meaning and JSON type as in findmnt. */
static const struct column rows[] = {
	{{"ACTION", "mount, umount, remount, move or propagation [--poll only]"},
	 10, SCOLS_FL_STRICTWIDTH, 0, cell_action, CW_POLL},
	{{"COVERED-BY", "ID of the mount that hides this one", CT_NUMBER},
	 2, 0, 0, cell_covered_by, CW_NODE},
	{{"DEPTH", "number of mounts between this mount and the root", CT_NUMBER},
	 2, 0, 0, cell_depth, CW_NODE},
	{{"ERROR", "error of --probe, such as ETIMEDOUT for a hung mount"},
	 0, 0, 0, cell_error, CW_NODE},
	{{"FREQ", "dump(8) period in days [fstab only]", CT_NUMBER},
	 1, 0, 0, cell_file_number, .arg = offsetof(struct mount, freq)},
	{{"FS-OPTIONS", "mount options of the file system"},
	 0.10, SCOLS_FL_TRUNC, MF_FS_OPTS, cell_some_options, .arg = 1},
	{{"FSROOT", "file system root"},
	 0.25, SCOLS_FL_NOEXTREMES, MF_ROOT, cell_string, .arg = offsetof(struct mount, root)},
	{{"FSTYPE", "file system type"}, 0, 0, MF_FSTYPE, cell_fstype},
	{{"ID", "mount ID", CT_NUMBER}, 2, 0, 0, cell_id, .arg = ID_MOUNT},
	{{"KIND", "type of the mount point: dir or file"}, 0, 0, 0, cell_kind, CW_NODE},
	{{"MAJ:MIN", "major:minor device number"}, 6, 0, MF_DEV, cell_majmin},
	{{"MOUNTED-ON", "major:minor of the mount that holds the mount point"},
	 0, 0, MF_DEV, cell_mounted_on, CW_NODE},
	{{"NAMED", "how the name was established"}, 0, 0, 0, cell_named, CW_NODE},
	{{"NODE", "leaf or internal in the mount tree; unreferenced: a device not mounted"},
	 0, 0, 0, cell_place, CW_STILL},
	{{"NS", "mount namespace", CT_NUMBER}, 10, 0, 0, cell_id, .arg = ID_NAMESPACE},
	{{"OLD-OPTIONS", "options before a remount or umount [--poll only]"},
	 0.10, SCOLS_FL_TRUNC, 0, cell_old_options, CW_POLL},
	{{"OLD-PROPAGATION", "propagation flags before a change [--poll only]"},
	 0.10, 0, MF_PROPAGATION, cell_old_propagation, CW_POLL},
	{{"OLD-TARGET", "mount point before a move or umount [--poll only]"},
	 0.30, 0, 0, cell_old_target, CW_POLL},
	{{"OPT-FIELDS", "optional mount fields"}, 0.10, SCOLS_FL_TRUNC, MF_PROPAGATION,
	 cell_string, .arg = offsetof(struct mount, opt_fields)},
	{{"OPTIONS", "all mount options"},
	 0.10, SCOLS_FL_TRUNC, MF_VFS_OPTS | MF_FS_OPTS, cell_options},
	{{"PARENT", "mount ID of the parent", CT_NUMBER}, 2, 0, 0, cell_id, .arg = ID_PARENT},
	{{"PASSNO", "pass number of parallel fsck(8) [fstab only]", CT_NUMBER},
	 1, 0, 0, cell_file_number, .arg = offsetof(struct mount, passno)},
	{{"PROPAGATION", "VFS propagation flags"}, 0.10, 0, MF_PROPAGATION, cell_propagation},
	{{"STATE", "state; in the default table blank for ok, and left out if all are ok"},
	 0, 0, 0, cell_state, CW_NODE},
	{{"STATES", "all states", CT_LIST}, 0, 0, 0, cell_states, CW_NODE},
	{{"TARGET", "mount point"},
	 0.30, SCOLS_FL_TREE | SCOLS_FL_NOEXTREMES, MF_POINT, cell_target},
	{{"TID", "task ID of --task", CT_NUMBER}, 4, 0, 0, cell_id, .arg = ID_TASK},
	{{"UNIQ-ID", "64-bit mount ID", CT_NUMBER}, 10, 0, 0, cell_id, .arg = ID_UNIQUE},
	{{"VFS-OPTIONS", "mount options of the VFS"},
	 0.20, SCOLS_FL_TRUNC, MF_VFS_OPTS, cell_some_options},
};

const struct column_table mount_columns = COLUMN_TABLE(rows, "getmnt -H", NULL);
