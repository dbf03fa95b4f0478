/* SPDX-License-Identifier: MIT */
#include "cmd/cells.h"

#include "base/escape.h"
#include "base/fstypes.h"
#include "cmd/listing.h"
#include "cmd/source.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libmount.h>
#include <stdlib.h>
#include <string.h>

void cells_init(struct cells *cells, struct run *run, bool machine)
{
	*cells = (struct cells){.run = run, .machine = machine};
	strbuf_init(&cells->text);
	strbuf_init(&cells->scratch);
}

void cells_destroy(struct cells *cells)
{
	strbuf_destroy(&cells->text);
	strbuf_destroy(&cells->scratch);
}

bool cells_failed(const struct cells *cells)
{
	return cells->text.failed || cells->scratch.failed || run_failed(cells->run);
}

/** The node of a row, or NULL: a device, or a line of an fstab. */
static const struct mt_node *node_of(const struct cells *cells, const struct row *row)
{
	return cells->run->d && row->node != MT_NONE ? &cells->run->d->tree.nodes[row->node] : NULL;
}

/** Whether a row's record has IDs and so on: it is no line of an fstab. */
static bool of_kernel(const struct cells *cells, const struct row *row)
{
	return row->change || node_of(cells, row);
}

/** Whether a row is a line of an fstab or mtab. */
static bool of_file(const struct row *row)
{
	return row->mount && row->mount->line != 0;
}

static const char *number(struct cells *cells, uint64_t value)
{
	strbuf_reset(&cells->text);
	strbuf_number(&cells->text, value);
	return strbuf_str(&cells->text);
}

static const char *number_or_none(struct cells *cells, uint64_t value)
{
	return value ? number(cells, value) : NULL;
}

static const char *device(struct cells *cells, uint32_t major, uint32_t minor)
{
	if (!major && !minor)
		return NULL;
	strbuf_reset(&cells->text);
	strbuf_printf(&cells->text, cells->machine ? "%u:%u" : "%3u:%-3u", major, minor);
	return strbuf_str(&cells->text);
}

/* Names and places. */

const char *cell_target(struct cells *cells, const struct row *row)
{
	if (row->change) {
		/* It was gone, or moved on, before it could be asked for its name; no
		   name of the kernel's begins so.  JSON has a key for the ID. */
		if (row->mount->point || cells->run->opt->form == FORM_JSONL
		    || !row->mount->uniq_id)
			return row->mount->point;
		strbuf_reset(&cells->text);
		strbuf_printf(&cells->text, "(ID %" PRIu64 ")", row->mount->uniq_id);
		return strbuf_str(&cells->text);
	}
	return row->node == MT_NONE ? NULL : run_target(cells->run, row->node);
}

const char *cell_fsroot(struct cells *cells, const struct row *row)
{
	(void)cells;
	return row->mount ? row->mount->root : NULL;
}

const char *cell_fstype(struct cells *cells, const struct row *row)
{
	(void)cells;
	return row->mount ? row->mount->fstype : row->device->tags->type;
}

const char *cell_kind(struct cells *cells, const struct row *row)
{
	static const char *const names[] = {
		[DK_UNKNOWN] = NULL, [DK_DIR] = "dir", [DK_FILE] = "file",
	};
	return node_of(cells, row) ? names[cells->run->d->kinds[row->node]] : NULL;
}

const char *cell_error(struct cells *cells, const struct row *row)
{
	const struct mt_node *node = node_of(cells, row);
	if (!node || !cells->run->d->probed)
		return NULL;
	int error = cells->run->d->probed[row->node].error;
	return error ? strerrorname_np(error) : NULL;
}

const char *cell_majmin(struct cells *cells, const struct row *row)
{
	return row->mount ? device(cells, row->mount->dev_major, row->mount->dev_minor)
	                  : device(cells, row->device->major, row->device->minor);
}

const char *cell_mounted_on(struct cells *cells, const struct row *row)
{
	const struct mt_node *node = node_of(cells, row);
	if (!node || node->parent == MT_NONE)
		return NULL;
	const struct mount *parent = run_mount(cells->run, node->parent);
	return device(cells, parent->dev_major, parent->dev_minor);
}

/* Identity. */

const char *cell_id(struct cells *cells, const struct row *row)
{
	return of_kernel(cells, row) ? number_or_none(cells, row->mount->id) : NULL;
}

const char *cell_parent(struct cells *cells, const struct row *row)
{
	return of_kernel(cells, row) ? number_or_none(cells, row->mount->parent_id) : NULL;
}

const char *cell_uniq_id(struct cells *cells, const struct row *row)
{
	return of_kernel(cells, row) ? number_or_none(cells, row->mount->uniq_id) : NULL;
}

const char *cell_tid(struct cells *cells, const struct row *row)
{
	return of_kernel(cells, row) ? number_or_none(cells, cells->run->tid) : NULL;
}

const char *cell_ns(struct cells *cells, const struct row *row)
{
	return of_kernel(cells, row) ? number_or_none(cells, cells->run->mntns) : NULL;
}

/* Standing. */

const char *cell_node(struct cells *cells, const struct row *row)
{
	if (row->device)
		return "unreferenced";
	const struct mt_node *node = node_of(cells, row);
	return !node ? NULL : node->has_children ? "internal" : "leaf";
}

const char *cell_depth(struct cells *cells, const struct row *row)
{
	const struct mt_node *node = node_of(cells, row);
	return node ? number(cells, node->depth) : NULL;
}

const char *cell_named(struct cells *cells, const struct row *row)
{
	const struct mt_node *node = node_of(cells, row);
	return node ? mtree_named_name(node->named) : NULL;
}

const char *cell_state(struct cells *cells, const struct row *row)
{
	const struct mt_node *node = node_of(cells, row);
	if (!node)
		return NULL;
	enum mt_state state = mtree_shown_state(node);
	if (!cells->machine && !cells->run->cols->state_requested
	    && (state == MT_OK || state == MT_UNTESTED))
		return NULL;
	return mtree_state_name(state);
}

const char *cell_states(struct cells *cells, const struct row *row)
{
	const struct mt_node *node = node_of(cells, row);
	if (!node)
		return NULL;
	strbuf_reset(&cells->text);
	for (enum mt_state state = 0; state < MT_NSTATES; ++state) {
		if (!(node->states & 1u << state))
			continue;
		if (cells->text.len)
			strbuf_putc(&cells->text, '\n');
		strbuf_puts(&cells->text, mtree_state_name(state));
	}
	return cells->text.len ? strbuf_str(&cells->text) : mtree_state_name(MT_OK);
}

const char *cell_covered_by(struct cells *cells, const struct row *row)
{
	const struct mt_node *node = node_of(cells, row);
	if (!node || node->covered_by == MT_NONE)
		return NULL;
	return number_or_none(cells, run_mount(cells->run, node->covered_by)->id);
}

static const char *propagation(struct cells *cells, uint32_t flags)
{
	strbuf_reset(&cells->text);
	strbuf_puts(&cells->text, flags & MP_SHARED ? "shared" : "private");
	if (flags & MP_SLAVE)
		strbuf_puts(&cells->text, ",slave");
	if (flags & MP_UNBINDABLE)
		strbuf_puts(&cells->text, ",unbindable");
	return strbuf_str(&cells->text);
}

const char *cell_propagation(struct cells *cells, const struct row *row)
{
	/* Of what was gone before it was asked for, nothing is known. */
	return of_kernel(cells, row) && (!row->change || row->mount->id)
	       ? propagation(cells, row->mount->propagation) : NULL;
}

const char *cell_opt_fields(struct cells *cells, const struct row *row)
{
	(void)cells;
	return row->mount ? row->mount->opt_fields : NULL;
}

/* Only of an fstab or mtab. */

const char *cell_freq(struct cells *cells, const struct row *row)
{
	return of_file(row)
	       ? number(cells, row->mount->freq > 0 ? (uint64_t)row->mount->freq : 0) : NULL;
}

const char *cell_passno(struct cells *cells, const struct row *row)
{
	return of_file(row)
	       ? number(cells, row->mount->passno > 0 ? (uint64_t)row->mount->passno : 0) : NULL;
}

/* Sources. */

/** Append a source as the options want it written. */
static void source_name(struct cells *cells, const struct mount *mount, struct strbuf *out)
{
	const struct options *o = cells->run->opt;
	const char *value;
	size_t len;
	enum tag tag = o->evaluate ? source_tag(mount->source, &value, &len) : TAG_NONE;
	if (tag != TAG_NONE) {
		strbuf_reset(&cells->scratch);
		if (source_devices(cells->run, tag, value, len, &cells->scratch)) {
			const char *first = strbuf_str(&cells->scratch);
			strbuf_add(out, first, strcspn(first, "\n"));
			return;
		}
	}
	if (o->canonicalize && cells->run->devs && strncmp(mount->source, "/dev/", 5) == 0) {
		const char *device_name = mount->dev_major
		                        ? devmap_name(cells->run->devs, mount->dev_major,
		                                      mount->dev_minor)
		                        : NULL;
		if (device_name) {
			strbuf_puts(out, device_name);
			return;
		}
	}
	if (o->canonicalize && cells->run->devs && mount->source[0] == '/'
	    && mount->source[1] != '/') {
		strbuf_reset(&cells->scratch);
		path_follow(cells->run, mount->source, &cells->scratch);
		strbuf_puts(out, strbuf_str(&cells->scratch));
		return;
	}
	mask_source(mount->source, out);
}

const char *cell_source(struct cells *cells, const struct row *row)
{
	if (!row->mount)
		return row->device->tags->name;
	const struct mount *mount = row->mount;
	if (!mount->source)
		return NULL;
	strbuf_reset(&cells->text);
	source_name(cells, mount, &cells->text);
	if (mount->root && strcmp(mount->root, "/") != 0 && !cells->run->opt->nofsroot) {
		strbuf_putc(&cells->text, '[');
		strbuf_puts(&cells->text, mount->root);
		strbuf_putc(&cells->text, ']');
	}
	return strbuf_str(&cells->text);
}

static const struct devmap_tags *row_tags(struct cells *cells, const struct row *row)
{
	if (row->device)
		return row->device->tags;
	if (!cells->run->devs || !of_kernel(cells, row))
		return NULL;
	return devmap_mount_tags(cells->run->devs, row->mount);
}

const char *cell_sources(struct cells *cells, const struct row *row)
{
	const char *value;
	size_t len;
	enum tag tag = row->mount ? source_tag(row->mount->source, &value, &len) : TAG_NONE;
	strbuf_reset(&cells->text);
	if (tag != TAG_NONE) {
		if (cells->run->opt->evaluate && source_devices(cells->run, tag, value, len,
		                                                &cells->text))
			return strbuf_str(&cells->text);
		return cell_source(cells, row);
	}
	const struct devmap_tags *tags = row_tags(cells, row);
	if (tags && tags->uuid
	    && source_devices(cells->run, TAG_UUID, tags->uuid, strlen(tags->uuid), &cells->text))
		return strbuf_str(&cells->text);
	return cell_source(cells, row);
}

/** A tag of a row's device; of an fstab, the one that its source names. */
static const char *tag_cell(struct cells *cells, const struct row *row, enum tag want)
{
	const char *value;
	size_t len;
	if (row->mount && source_tag(row->mount->source, &value, &len) == want) {
		strbuf_reset(&cells->text);
		strbuf_add(&cells->text, value, len);
		return strbuf_str(&cells->text);
	}
	const struct devmap_tags *tags = row_tags(cells, row);
	return tags ? tag_value(tags, want) : NULL;
}

const char *cell_label(struct cells *cells, const struct row *row)
{
	return tag_cell(cells, row, TAG_LABEL);
}

const char *cell_uuid(struct cells *cells, const struct row *row)
{
	return tag_cell(cells, row, TAG_UUID);
}

const char *cell_partlabel(struct cells *cells, const struct row *row)
{
	return tag_cell(cells, row, TAG_PARTLABEL);
}

const char *cell_partuuid(struct cells *cells, const struct row *row)
{
	return tag_cell(cells, row, TAG_PARTUUID);
}

/* Options. */

/** The options of a record as it merges them, its secrets masked. */
static const char *options(struct cells *cells, const struct mount *mount)
{
	struct mount masked = *mount;
	struct strbuf vfs, fs;
	strbuf_init(&vfs);
	strbuf_init(&fs);
	/* Masked before it is decoded: a decoded ',' would end a secret early. */
	if (masked.vfs_opts && has_secret(masked.vfs_opts)) {
		mask_options(masked.vfs_opts, &vfs);
		masked.vfs_opts = strbuf_str(&vfs);
	}
	if (masked.fs_opts && has_secret(masked.fs_opts)) {
		mask_options(masked.fs_opts, &fs);
		masked.fs_opts = strbuf_str(&fs);
	}
	strbuf_reset(&cells->text);
	table_options(&masked, &cells->text);
	cells->text.failed |= vfs.failed || fs.failed;
	strbuf_destroy(&vfs);
	strbuf_destroy(&fs);
	return strbuf_str(&cells->text);
}

const char *cell_options(struct cells *cells, const struct row *row)
{
	return row->mount ? options(cells, row->mount) : NULL;
}

/** One part of the options of an fstab, whose lines do not part them. */
static const char *split_options(struct cells *cells, const struct row *row, bool of_fs)
{
	char *vfs = NULL, *fs = NULL;
	int rc = mnt_split_optstr(cell_options(cells, row), NULL, &vfs, &fs, 0, 0);
	cells->text.failed |= rc == -ENOMEM;
	if (rc != 0)
		return NULL;
	const char *part = of_fs ? fs : vfs;
	strbuf_reset(&cells->text);
	strbuf_puts(&cells->text, part ? part : "");
	free(vfs);
	free(fs);
	return strbuf_str(&cells->text);
}

const char *cell_fs_options(struct cells *cells, const struct row *row)
{
	if (of_file(row))
		return split_options(cells, row, true);
	if (!row->mount || !row->mount->fs_opts)
		return NULL;
	strbuf_reset(&cells->text);
	mask_options(row->mount->fs_opts, &cells->text);
	if (cells->text.len) {
		cells->text.len = unescape_octal(cells->text.data, cells->text.data,
		                                 cells->text.len);
		cells->text.data[cells->text.len] = '\0';
	}
	return strbuf_str(&cells->text);
}

/** VFS options with those that are in force without being said. */
static const char *vfs_options_all(struct cells *cells, const struct mount *mount)
{
	struct libmnt_fs *fs = mnt_new_fs();
	char *all = NULL;
	int rc = fs ? mnt_fs_set_options(fs, mount->vfs_opts) : -ENOMEM;
	if (rc == 0)
		all = mnt_fs_get_vfs_options_all(fs);
	cells->text.failed |= rc == -ENOMEM || (rc == 0 && !all);
	strbuf_reset(&cells->text);
	strbuf_puts(&cells->text, all ? all : mount->vfs_opts);
	free(all);
	mnt_unref_fs(fs);
	return strbuf_str(&cells->text);
}

const char *cell_vfs_options(struct cells *cells, const struct row *row)
{
	if (of_file(row))
		return split_options(cells, row, false);
	if (!row->mount || !row->mount->vfs_opts)
		return NULL;
	if (cells->run->opt->vfs_all)
		return vfs_options_all(cells, row->mount);
	strbuf_reset(&cells->text);
	mask_options(row->mount->vfs_opts, &cells->text);
	return strbuf_str(&cells->text);
}

/* Sizes. */

/**
 * Open the root of a mount that was found in order, through no link.
 *
 * @return a descriptor; -1: it is not there any more.
 */
static int mount_open(struct run *run, const struct mount *mount, const char *target)
{
	struct os *os = &run->os;
	if (run->rootfd != AT_FDCWD) {
		target += strspn(target, "/");
		target = *target ? target : ".";
	}
	int flags = O_PATH | O_NOFOLLOW;
	int fd = os->caps & OSC_OPENAT2
	         ? os_openat2(os, run->rootfd, target, flags,
	                      RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS)
	         : os_openat(os, run->rootfd, target, flags);
	if (fd < 0)
		return -1;
	struct k_statx st;
	bool unique = run->table->unique_ids, same = false;
	unsigned mask = unique ? K_STATX_MNT_ID_UNIQUE : K_STATX_MNT_ID;
	if (os_statx(os, fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, mask, &st) == 0) {
		uint64_t id = os_statx_mnt_id(&st, unique);
		/* Before 5.8 there is but the device. */
		same = id != 0 ? id == mount->key
		       : st.dev_major == mount->dev_major && st.dev_minor == mount->dev_minor;
	}
	if (!same) {
		os_close(os, fd);
		return -1;
	}
	return fd;
}

/** Ask the file system of a row, unless that could block or miss it. */
static bool sizes_of(struct cells *cells, const struct row *row)
{
	if (row->mount && cells->sized == row->mount)
		return cells->has_sizes;
	cells->sized = row->mount;
	cells->has_sizes = false;

	struct run *run = cells->run;
	const struct mt_node *node = node_of(cells, row);
	const char *target = cell_target(cells, row);
	const struct discover_probed *probed = node && run->d->probed
	                                       ? &run->d->probed[node - run->d->tree.nodes] : NULL;
	if (probed && probed->sized) {
		cells->has_sizes = true;
		cells->sizes = probed->sizes;
		return true;
	}
	if (!run->live || !node || !target || mtree_shown_state(node) != MT_OK
	    || fstype_flags(row->mount->fstype) & FST_BLOCKS)
		return false;
	int fd = mount_open(run, row->mount, target);
	if (fd < 0)
		return false;
	cells->has_sizes = os_fs_sizes(&run->os, fd, &cells->sizes) == 0;
	os_close(&run->os, fd);
	return cells->has_sizes;
}

/** A size in bytes, or with one letter and at most one decimal: findmnt's. */
static const char *size(struct cells *cells, uint64_t bytes)
{
	if (cells->run->opt->bytes || bytes == 0)
		return number(cells, bytes);
	unsigned exp = 0;
	while (exp < 60 && bytes >> (exp + 10))
		exp += 10;
	uint64_t whole = bytes >> exp;
	uint64_t rest = bytes & (((uint64_t)1 << exp) - 1);
	/* In thousandths; a shift first where the product would not fit. */
	uint64_t frac = exp > 50 ? ((rest >> 10) * 1000) >> (exp - 10) : (rest * 1000) >> exp;
	frac = (frac + 50) / 100;
	if (frac == 10) {
		++whole;
		frac = 0;
	}
	strbuf_reset(&cells->text);
	strbuf_printf(&cells->text, "%" PRIu64, whole);
	if (frac)
		strbuf_printf(&cells->text, ".%u", (unsigned)frac);
	strbuf_putc(&cells->text, "BKMGTPE"[exp / 10]);
	return strbuf_str(&cells->text);
}

static const char *percent(struct cells *cells, uint64_t part, uint64_t whole)
{
	if (whole == 0)
		return "-";
	strbuf_reset(&cells->text);
	strbuf_printf(&cells->text, "%.0f%%", (double)part / (double)whole * 100);
	return strbuf_str(&cells->text);
}

const char *cell_size(struct cells *cells, const struct row *row)
{
	return sizes_of(cells, row) ? size(cells, cells->sizes.frsize * cells->sizes.blocks) : NULL;
}

const char *cell_avail(struct cells *cells, const struct row *row)
{
	return sizes_of(cells, row) ? size(cells, cells->sizes.frsize * cells->sizes.bavail) : NULL;
}

const char *cell_used(struct cells *cells, const struct row *row)
{
	return sizes_of(cells, row)
	       ? size(cells, cells->sizes.frsize * (cells->sizes.blocks - cells->sizes.bfree))
	       : NULL;
}

const char *cell_use(struct cells *cells, const struct row *row)
{
	return sizes_of(cells, row)
	       ? percent(cells, cells->sizes.blocks - cells->sizes.bfree, cells->sizes.blocks)
	       : NULL;
}

const char *cell_ino_total(struct cells *cells, const struct row *row)
{
	return sizes_of(cells, row) ? number(cells, cells->sizes.files) : NULL;
}

const char *cell_ino_avail(struct cells *cells, const struct row *row)
{
	return sizes_of(cells, row) ? number(cells, cells->sizes.ffree) : NULL;
}

const char *cell_ino_used(struct cells *cells, const struct row *row)
{
	return sizes_of(cells, row) ? number(cells, cells->sizes.files - cells->sizes.ffree) : NULL;
}

const char *cell_ino_use(struct cells *cells, const struct row *row)
{
	return sizes_of(cells, row)
	       ? percent(cells, cells->sizes.files - cells->sizes.ffree, cells->sizes.files) : NULL;
}

/* Changes. */

const char *cell_action(struct cells *cells, const struct row *row)
{
	(void)cells;
	if (!row->change)
		return NULL;
	switch (row->change->kind) {
	case CHANGE_MOUNT:
		return "mount";
	case CHANGE_UMOUNT:
		return "umount";
	case CHANGE_REMOUNT:
		return "remount";
	case CHANGE_MOVE:
		return "move";
	case CHANGE_PROPAGATION:
		return "propagation";
	case CHANGE_LOST:
		return "lost";
	}
	return NULL;
}

/** The record before a change of one of some kinds, or NULL. */
static const struct mount *before(const struct row *row, unsigned kinds)
{
	return row->change && row->change->kind & kinds ? row->change->before : NULL;
}

const char *cell_old_target(struct cells *cells, const struct row *row)
{
	(void)cells;
	const struct mount *old = before(row, CHANGE_MOVE | CHANGE_UMOUNT);
	return old ? old->point : NULL;
}

const char *cell_old_options(struct cells *cells, const struct row *row)
{
	const struct mount *old = before(row, CHANGE_REMOUNT | CHANGE_UMOUNT);
	return old ? options(cells, old) : NULL;
}

const char *cell_old_propagation(struct cells *cells, const struct row *row)
{
	const struct mount *old = before(row, CHANGE_PROPAGATION);
	return old ? propagation(cells, old->propagation) : NULL;
}
