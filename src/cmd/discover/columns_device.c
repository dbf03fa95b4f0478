/* SPDX-License-Identifier: MIT */
/* Columns of the device or file system of a mount: its source, identifiers and sizes. */
#include "cmd/discover/columns.h"

#include "base/fstypes.h"
#include "base/secret.h"
#include "cmd/discover/listing.h"
#include "cmd/discover/source.h"
#include "os/file.h"
#include "path/resolve.h"

#include <fcntl.h>
#include <inttypes.h>
#include <libsmartcols/libsmartcols.h>
#include <string.h>

/** Append the source of a mount in the form that --evaluate and --canonicalize request. */
static void source_name(struct cells *cells, const struct mount *mount, struct strbuf *out)
{
	struct run *run = &cells->list->run;
	const char *value, *device = NULL, *source = mount->source;
	size_t len;
	enum tag tag = cells->list->opt->evaluate ? source_tag(source, &value, &len) : TAG_NONE;
	bool canonical = cells->list->opt->canonicalize && run->devs;
	strbuf_reset(&cells->scratch);
	if (tag != TAG_NONE && source_devices(run, tag, value, len, &cells->scratch)) {
		device = strbuf_str(&cells->scratch);
		strbuf_add(out, device, strcspn(device, "\n"));
		return;
	}
	if (canonical && mount->dev_major && strncmp(source, "/dev/", 5) == 0)
		device = devmap_name(run->devs, mount->dev_major, mount->dev_minor);
	if (device)
		strbuf_puts(out, device);
	else if (canonical && source[0] == '/' && source[1] != '/')
		mounts_follow(run_paths(run), source, out);
	else
		mask_source(source, out);
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
	if (mount->root && strcmp(mount->root, "/") != 0 && !cells->list->opt->nofsroot)
		strbuf_printf(&cells->text, "[%s]", mount->root);
	return strbuf_str(&cells->text);
}

static const struct devmap_tags *row_tags(struct cells *cells, const struct row *row)
{
	if (row->device)
		return row->device->tags;
	if (!cells->list->run.devs || !cell_of_kernel(cells, row))
		return NULL;
	return devmap_mount_tags(cells->list->run.devs, row->mount);
}

static const char *cell_sources(struct cells *cells, const struct row *row)
{
	const char *value;
	size_t len;
	enum tag tag = row->mount ? source_tag(row->mount->source, &value, &len) : TAG_NONE;
	const struct devmap_tags *tags = tag == TAG_NONE ? row_tags(cells, row) : NULL;
	if (tags && tags->uuid) {
		tag = TAG_UUID;
		value = tags->uuid;
		len = strlen(value);
	} else if (!cells->list->opt->evaluate) {
		tag = TAG_NONE;
	}
	strbuf_reset(&cells->text);
	if (tag != TAG_NONE && source_devices(&cells->list->run, tag, value, len, &cells->text))
		return strbuf_str(&cells->text);
	return cell_source(cells, row);
}

/** Get the value of a tag, such as LABEL, of the device of a row.  If the source is written as this
    tag, as in an fstab, the value is taken from the source. */
static const char *cell_tag(struct cells *cells, const struct row *row)
{
	enum tag want = (enum tag)cells->arg;
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

/** Open the root of a mount with state ok, without following symlinks.
    @return a descriptor; -1: the name no longer leads to the mount. */
static int mount_open(struct run *run, const struct mount *mount, const char *target)
{
	struct os *os = &run->os;
	if (run->rootfd != AT_FDCWD) {
		target += strspn(target, "/");
		target = *target ? target : ".";
	}
	struct k_statx st;
	int fd = path_open_plain(os, run->rootfd, target, O_PATH, 0);
	int same = fd < 0 ? 0 : os_is_on_mount(os, fd, mount);
	/* Without /proc, kernels before Linux 5.8 report no mount ID: compare device numbers. */
	if (same < 0 && os_statx(os, fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, 0, &st) == 0)
		same = st.dev_major == mount->dev_major && st.dev_minor == mount->dev_minor;
	if (fd < 0 || same > 0)
		return fd;
	os_close(os, fd);
	return -1;
}

/** Read the sizes of the file system of a row into cells->sizes, unless reading them could block or
    reach another mount.  @return whether the sizes are known. */
static bool sizes_of(struct cells *cells, const struct row *row)
{
	if (cells->sized == row->mount)
		return cells->has_sizes;
	cells->sized = row->mount;
	cells->has_sizes = false;

	struct run *run = &cells->list->run;
	const char *target = cell_target(cells, row);
	const struct discover_probed *probed = run->d->probed ? &run->d->probed[row->node] : NULL;
	if (probed && probed->sized) {
		cells->sizes = probed->sizes;
		return cells->has_sizes = true;
	}
	enum mt_state state = mtree_shown_state(cells->node);
	cells->list->unsized += state == MT_UNTESTED;
	cells->list->hidden += state == MT_HIDDEN;
	if (!run->live || !target || state != MT_OK
	    || mounts_block_itself(run->d->mounts, row->node))
		return false;
	int fd = mount_open(run, row->mount, target);
	if (fd < 0)
		return false;
	cells->has_sizes = os_fs_sizes(&run->os, fd, &cells->sizes) == 0;
	os_close(&run->os, fd);
	return cells->has_sizes;
}

/** Convert `number` - `less` to the text of a cell.
    @block  Bytes of a block: the numbers count blocks, and the text is a size; 0: the text is the
    number. */
static const char *difference(struct cells *cells, uint64_t number, uint64_t less, uint64_t block)
{
	strbuf_reset(&cells->text);
	if (number < less)
		strbuf_putc(&cells->text, '-');
	number = number < less ? less - number : number - less;
	if (block && !cells->list->opt->bytes)
		column_size(&cells->text, number * block);
	else
		strbuf_number(&cells->text, block ? number * block : number);
	return strbuf_str(&cells->text);
}

static const char *percent(struct cells *cells, uint64_t total, uint64_t left, uint64_t available)
{
	strbuf_reset(&cells->text);
	column_percent(&cells->text, total, left, available);
	return strbuf_str(&cells->text);
}

enum { SZ_SIZE, SZ_AVAIL, SZ_USED, SZ_USE, SZ_INO_TOTAL, SZ_INO_AVAIL, SZ_INO_USED, SZ_INO_USE };

static const char *cell_size(struct cells *cells, const struct row *row)
{
	const struct os_sizes *s = &cells->sizes;
	if (!sizes_of(cells, row))
		return NULL;
	/* If the superuser has used reserved blocks, a server can report a negative number of
	   available blocks: use 0. */
	uint64_t available = (int64_t)s->bavail < 0 ? 0 : s->bavail;
	switch (cells->arg) {
	case SZ_SIZE:      return difference(cells, s->blocks, 0, s->frsize);
	case SZ_AVAIL:     return difference(cells, available, available - s->bavail, s->frsize);
	case SZ_USED:      return difference(cells, s->blocks, s->bfree, s->frsize);
	case SZ_USE:       return percent(cells, s->blocks, s->bfree, s->bavail);
	case SZ_INO_TOTAL: return difference(cells, s->files, 0, 0);
	case SZ_INO_AVAIL: return difference(cells, s->ffree, 0, 0);
	case SZ_INO_USED:  return difference(cells, s->files, s->ffree, 0);
	default:           return percent(cells, s->files, s->ffree, s->ffree);
	}
}

#define SIZE_COLUMN(which) SCOLS_FL_RIGHT, 0, cell_size, CW_NODE, which
#define TAG_COLUMN(tag) 0, MF_DEV | MF_SOURCE, cell_tag, CW_ALWAYS, tag

static const struct column rows[] = {
	{{"AVAIL", "file system size available", CT_SIZE}, 5, SIZE_COLUMN(SZ_AVAIL)},
	{{"INO.AVAIL", "number of available inodes"}, 5, SIZE_COLUMN(SZ_INO_AVAIL)},
	{{"INO.TOTAL", "total number of inodes"}, 5, SIZE_COLUMN(SZ_INO_TOTAL)},
	{{"INO.USE%", "percentage of inodes used"}, 3, SIZE_COLUMN(SZ_INO_USE)},
	{{"INO.USED", "number of used inodes"}, 5, SIZE_COLUMN(SZ_INO_USED)},
	{{"LABEL", "file system label"}, 0.10, TAG_COLUMN(TAG_LABEL)},
	{{"PARTLABEL", "partition label"}, 0.10, TAG_COLUMN(TAG_PARTLABEL)},
	{{"PARTUUID", "partition UUID"}, 36, TAG_COLUMN(TAG_PARTUUID)},
	{{"SIZE", "file system size", CT_SIZE}, 5, SIZE_COLUMN(SZ_SIZE)},
	{{"SOURCE", "source device"},
	 0.25, SCOLS_FL_NOEXTREMES, MF_SOURCE | MF_ROOT | MF_DEV, cell_source},
	{{"SOURCES", "all possible source devices", CT_LIST},
	 0.25, SCOLS_FL_WRAP, MF_SOURCE | MF_ROOT | MF_DEV, cell_sources},
	{{"USE%", "file system use percentage"}, 3, SIZE_COLUMN(SZ_USE)},
	{{"USED", "file system size used", CT_SIZE}, 5, SIZE_COLUMN(SZ_USED)},
	{{"UUID", "file system UUID"}, 36, TAG_COLUMN(TAG_UUID)},
};

const struct column_table discover_columns = COLUMN_TABLE(rows, "getmnt -H", &mount_columns);
