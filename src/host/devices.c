/* SPDX-License-Identifier: MIT */
#include "host/host.h"

#include "base/array.h"
#include "base/words.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int host_mount_device(struct host *host, const struct mount *mount, struct fstab_device *device)
{
	struct devmap *devs = host->in.devs;
	if (!devs)
		return 0;
	device->tags = devmap_mount_tags(devs, mount);
	if (!device->tags)
		return -1;
	if (devmap_mount_device(devs, mount, &device->major, &device->minor)) {
		device->numbered = true;
		device->remote = devmap_remote(devs, device->major, device->minor);
		devmap_loop(devs, device->major, device->minor, &device->loop);
	}
	return 0;
}

bool host_is_protected(struct host *host, const char *number)
{
	unsigned major, minor;
	return host->in.devs && sscanf(number, "%u:%u", &major, &minor) == 2
	       && devmap_protected(host->in.devs, major, minor);
}

/** The number of the block device at a resolved path.  @return whether it is a block device. */
static bool block_number(struct host *host, const struct strbuf *place, uint32_t *major,
                         uint32_t *minor)
{
	struct k_statx st;
	if (mounts_look(host->in.paths, strbuf_str(place), K_STATX_TYPE, &st) != 0
	    || !S_ISBLK(st.mode))
		return false;
	*major = st.rdev_major;
	*minor = st.rdev_minor;
	return true;
}

/** The device of a swap space. */
static int swap_device(struct host *host, const char *name, struct fstab_device *device)
{
	struct devmap *devs = host->in.devs;
	struct strbuf path = {0};
	device->numbered = devs && mounts_follow(host->in.paths, name, &path) == PATH_SEEN
	                   && block_number(host, &path, &device->major, &device->minor);
	bool failed = path.failed;
	strbuf_destroy(&path);
	if (!device->numbered)
		return failed ? -1 : 0;
	device->tags = devmap_tags(devs, device->major, device->minor);
	device->remote = devmap_remote(devs, device->major, device->minor);
	return device->tags ? 0 : -1;
}

int host_device(void *arg, const struct mount *mount, const char *swap,
                struct fstab_device *device)
{
	assert(mount || swap);
	return mount ? host_mount_device(arg, mount, device) : swap_device(arg, swap, device);
}

/* By identifiers and paths. */

enum { TAG_UUID, TAG_LABEL, TAG_PARTUUID, TAG_PARTLABEL, TAGS };

/** The tag with a name of n bytes, or -1. */
static int tag_named(const char *name, size_t n)
{
	static const char *const names[TAGS] = {"UUID", "LABEL", "PARTUUID", "PARTLABEL"};
	int tag = TAGS - 1;
	while (tag >= 0 && !word_is(name, n, names[tag]))
		--tag;
	return tag;
}

static uint64_t tag_hash(int tag, const char *value)
{
	return map64_text(value) + (uint64_t)tag;
}

static void count_tag(struct host *host, uint32_t device, int tag, const char *value)
{
	if (!value || !*value)
		return;
	uint32_t at = map64_put(&host->tags, tag_hash(tag, value), (uint32_t)host->ncounts);
	if (at != MAP64_NONE && at != host->ncounts)
		++host->counts[at].count;
	else if (at != MAP64_NONE && ARRAY_ROOM(host->counts, host->ncounts, &host->counts_size))
		host->counts[host->ncounts++] = (struct host_tag){.count = 1, .device = device};
	else
		host->nomem = host->unlisted = true;
}

/** The value of a tag of a device, or NULL. */
static const char *tag_value(const struct devmap_tags *tags, int tag)
{
	/* UUID and LABEL that were not verified may be left over from an old file system. */
	bool known = tags->known == DEVMAP_KNOWN || tag >= TAG_PARTUUID;
	const char *const values[] = {tags->uuid, tags->label, tags->partuuid, tags->partlabel};
	return known ? values[tag] : NULL;
}

/** Count the identifiers of all devices. */
static void count_tags(struct host *host)
{
	host->listed = true;
	ssize_t n = -1;
	if (host->in.devs)
		n = devmap_list(host->in.devs, true, &host->devices, &host->complete);
	if (n < 0) {
		host->devices_error = host->in.devs ? errno : 0;
		host->unlisted = true;
		return;
	}
	host->ndevices = (size_t)n;
	for (size_t i = 0; i < host->ndevices; ++i) {
		for (int tag = 0; tag < TAGS; ++tag)
			count_tag(host, (uint32_t)i, tag, tag_value(host->devices[i].tags, tag));
	}
}

/** Whether two devices with the same UUID are members of one file system, not copies. */
static bool are_one(const struct devmap_tags *a, const struct devmap_tags *b)
{
	if (!a->type || !b->type || strcmp(a->type, b->type) != 0 || !a->uuid || !b->uuid
	    || strcmp(a->uuid, b->uuid) != 0)
		return false;
	if (a->multi_device && b->multi_device)
		return true;
	if (a->uuid_sub && b->uuid_sub)
		return (strcmp(a->type, "btrfs") == 0 || strcmp(a->type, "bcachefs") == 0)
		       && strcmp(a->uuid_sub, b->uuid_sub) != 0;
	return strcmp(a->type, "bcachefs") == 0;
}

/** Count the devices that have a tag, without members of other devices, and with the members of
    one file system counted once.  If all are members, the tag belongs to the device that they
    form. */
static void sort_out(struct host *host, int tag, const char *value, struct host_tag *found)
{
	uint32_t *alone = malloc(found->count * sizeof(*alone));
	unsigned n = 0, count = 0;
	if (!alone) {
		host->nomem = true;
		return;
	}
	for (uint32_t i = found->device; i < host->ndevices && n < found->count; ++i) {
		const struct devmap_device *device = &host->devices[i];
		const char *has = tag_value(device->tags, tag);
		if (!has || strcmp(has, value) != 0
		    || devmap_part(host->in.devs, device->major, device->minor))
			continue;
		bool other = false, copy = false;
		for (unsigned k = 0; k < n && tag <= TAG_LABEL; ++k) {
			const struct devmap_tags *before = host->devices[alone[k]].tags;
			bool same = are_one(before, device->tags);
			other |= same;
			copy |= !same && before->uuid && device->tags->uuid
			        && strcmp(before->uuid, device->tags->uuid) == 0;
		}
		count += !other || copy;
		alone[n++] = i;
	}
	if (n > 0)
		found->device = alone[0];
	found->count = count > 0 ? count : 1;
	found->sorted = true;
	free(alone);
}

/** The devices of a tag, or NULL. */
static const struct host_tag *find_tag(struct host *host, int tag, const char *value)
{
	if (!host->listed)
		count_tags(host);
	uint32_t at = host->unlisted || tag < 0 ? MAP64_NONE
	                                        : map64_get(&host->tags, tag_hash(tag, value));
	if (at == MAP64_NONE)
		return NULL;
	struct host_tag *found = &host->counts[at];
	assert(at < host->ncounts && found->count > 0 && found->device < host->ndevices);
	if (found->count > 1 && !found->sorted)
		sort_out(host, tag, value, found);
	return found;
}

bool host_device_number(struct host *host, const char *path, uint32_t *major, uint32_t *minor)
{
	struct strbuf place = {0};
	enum path_followed known = host_follow(host, path, &place);
	int error = known == PATH_MISSING ? errno : 0;
	bool is = known == PATH_SEEN && block_number(host, &place, major, minor);
	strbuf_destroy(&place);
	errno = error;
	return is;
}

/** Fill a device by its number. */
static void fill_device(struct host *host, uint32_t major, uint32_t minor,
                        struct fstab_device *device)
{
	struct devmap *devs = host->in.devs;
	device->tags = devmap_tags(devs, major, minor);
	device->numbered = true;
	device->major = major;
	device->minor = minor;
	device->remote = devmap_remote(devs, major, minor)
		|| (device->tags && device->tags->remote);
	device->crypt = devmap_crypt(devs, major, minor);
	devmap_loop(devs, major, minor, &device->loop);
}

int host_devices(void *arg, const char *source, struct fstab_device *device)
{
	struct host *host = arg;
	if (*source == '/') {
		uint32_t major, minor;
		if (!host_device_number(host, source, &major, &minor))
			return errno == ENOENT || errno == ENOTDIR ? 0 : -1;
		if (device)
			fill_device(host, major, minor, device);
		return 1;
	}
	const char *equals = strchr(source, '=');
	if (!equals)
		return -1;
	int tag = tag_named(source, (size_t)(equals - source));
	const struct host_tag *found = find_tag(host, tag, equals + 1);
	if (!found)
		return tag >= 0 && host->complete && !host->unlisted ? 0 : -1;
	if (device)
		fill_device(host, host->devices[found->device].major,
		            host->devices[found->device].minor, device);
	return (int)found->count;
}
