/* SPDX-License-Identifier: MIT */
#include "host/host.h"

#include "base/array.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
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

bool host_is_protected(struct host *host, const struct mount *mount)
{
	struct devmap *devs = host->in.devs;
	uint32_t major, minor;
	return devs && devmap_mount_device(devs, mount, &major, &minor)
	       && devmap_protected(devs, major, minor);
}

int host_swap_device(struct host *host, const char *name, struct fstab_device *device)
{
	const struct host_paths *paths = &host->in.paths;
	struct devmap *devs = host->in.devs;
	struct k_statx st;
	struct strbuf path;
	strbuf_init(&path);
	bool seen = devs && paths->follow(paths->arg, name, &path) == HOST_SEEN
	            && paths->look(paths->arg, strbuf_str(&path), K_STATX_TYPE, &st) == 0
	            && S_ISBLK(st.mode);
	bool failed = path.failed;
	strbuf_destroy(&path);
	if (!seen)
		return failed ? -1 : 0;
	device->tags = devmap_tags(devs, st.rdev_major, st.rdev_minor);
	device->remote = devmap_remote(devs, st.rdev_major, st.rdev_minor);
	device->numbered = true;
	device->major = st.rdev_major;
	device->minor = st.rdev_minor;
	return device->tags ? 0 : -1;
}

/* By identifiers and paths. */

static uint64_t tag_hash(const char *tag, const char *value)
{
	return map64_bytes(map64_bytes(MAP64_BYTES, tag, strlen(tag) + 1), value, strlen(value));
}

static void count_tag(struct host *host, uint32_t device, const char *tag, const char *value)
{
	if (!value || !*value)
		return;
	uint32_t at = map64_put(&host->tags, tag_hash(tag, value), (uint32_t)host->ncounts);
	if (at != MAP64_NONE && at != host->ncounts) {
		++host->counts[at].count;
		return;
	}
	if (at == MAP64_NONE || !ARRAY_ROOM(host->counts, host->ncounts, &host->counts_size)) {
		host->nomem = true;
		host->unlisted = true;
		return;
	}
	host->counts[host->ncounts++] = (struct host_tag){.count = 1, .device = device};
}

enum { TAG_UUID, TAG_LABEL, TAG_PARTUUID, TAG_PARTLABEL, TAGS };
static const char *const tag_names[TAGS] = {"UUID", "LABEL", "PARTUUID", "PARTLABEL"};

/** The value of a tag of a device, or NULL. */
static const char *tag_value(const struct devmap_tags *tags, int tag)
{
	/* A tag that was not verified may be a leftover of an old file system. */
	bool known = tags->known == DEVMAP_KNOWN;
	switch (tag) {
	case TAG_UUID:
		return known ? tags->uuid : NULL;
	case TAG_LABEL:
		return known ? tags->label : NULL;
	case TAG_PARTUUID:
		return tags->partuuid;
	default:
		return tags->partlabel;
	}
}

/** Count the identifiers of all devices. */
static void count_tags(struct host *host)
{
	host->listed = true;
	ssize_t n = host->in.devs ? devmap_list_all(host->in.devs, &host->devices, &host->complete)
		: -1;
	if (n < 0) {
		host->devices_error = host->in.devs ? errno : 0;
		host->unlisted = true;
		return;
	}
	host->ndevices = (size_t)n;
	for (size_t i = 0; i < host->ndevices; ++i) {
		for (int tag = 0; tag < TAGS; ++tag)
			count_tag(host, (uint32_t)i, tag_names[tag],
			          tag_value(host->devices[i].tags, tag));
	}
}

/** Whether two devices with the same UUID are members of one file system, and not copies. */
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

/** Count the devices of a tag without members of others, and members of one file system once. If
    all are members, the tag is that of the device which they form. */
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
		bool again = n > 0 && tag <= TAG_LABEL;
		bool other = false, copy = false;
		for (unsigned k = 0; k < n && again; ++k) {
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
static const struct host_tag *find_tag(struct host *host, const char *tag, const char *value)
{
	if (!host->listed)
		count_tags(host);
	uint32_t at = host->unlisted ? MAP64_NONE : map64_get(&host->tags, tag_hash(tag, value));
	if (at == MAP64_NONE)
		return NULL;
	struct host_tag *found = &host->counts[at];
	for (int i = 0; i < TAGS && found->count > 1 && !found->sorted; ++i) {
		if (strcmp(tag, tag_names[i]) == 0)
			sort_out(host, i, value, found);
	}
	return found;
}

unsigned host_tag_holders(struct host *host, const char *tag, const char *value)
{
	const struct host_tag *found = find_tag(host, tag, value);
	return found ? found->count : 0;
}

bool host_device_number(struct host *host, const char *path, uint32_t *major, uint32_t *minor)
{
	struct k_statx st;
	struct strbuf place;
	strbuf_init(&place);
	enum host_followed known = host_follow(host, path, &place);
	int error = known == HOST_MISSING ? errno : 0;
	bool is = known == HOST_SEEN && host->in.paths.look(host->in.paths.arg, strbuf_str(&place),
	                                                    K_STATX_TYPE, &st) == 0
	          && S_ISBLK(st.mode);
	if (is) {
		*major = st.rdev_major;
		*minor = st.rdev_minor;
	}
	strbuf_destroy(&place);
	errno = error;
	return is;
}

/** Fill in a device by its number. */
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

int host_devices(struct host *host, const char *source, struct fstab_device *device)
{
	if (*source == '/') {
		uint32_t major, minor;
		if (!host_device_number(host, source, &major, &minor))
			return errno == ENOENT || errno == ENOTDIR ? 0 : -1;
		if (device)
			fill_device(host, major, minor, device);
		return 1;
	}
	const char *equals = strchr(source, '=');
	char tag[16];
	if (!equals || (size_t)(equals - source) >= sizeof(tag))
		return -1;
	memcpy(tag, source, (size_t)(equals - source));
	tag[equals - source] = '\0';
	const struct host_tag *found = find_tag(host, tag, equals + 1);
	bool is_known = false;
	for (int i = 0; i < TAGS; ++i)
		is_known |= strcmp(tag, tag_names[i]) == 0;
	if (!found)
		return is_known && host->complete && !host->unlisted ? 0 : -1;
	if (device)
		fill_device(host, host->devices[found->device].major,
		            host->devices[found->device].minor, device);
	return (int)found->count;
}
