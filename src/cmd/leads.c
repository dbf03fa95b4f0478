/* SPDX-License-Identifier: MIT */
/* What a merge asks of the machine: whether a source leads to what a mount stands on. */
#include "cmd/machine.h"

#include <errno.h>
#include <string.h>

/** Whether two paths from ROOT lead to the same place: 1, 0; -1: not known. */
static int same_place(const struct machine_merge *merge, const char *a, const char *b)
{
	struct strbuf one, other;
	strbuf_init(&one);
	strbuf_init(&other);
	int same = -1;
	if (host_follow(merge->host, a, &one) == HOST_SEEN
	    && host_follow(merge->host, b, &other) == HOST_SEEN)
		same = strcmp(strbuf_str(&one), strbuf_str(&other)) == 0;
	strbuf_destroy(&one);
	strbuf_destroy(&other);
	return same;
}

enum { LOOP_MAJOR = 7 };

/** Whether a name in /dev is the kernel's own, of a device with no other kernel name. */
static bool is_plain_name(const char *name)
{
	return name && strncmp(name, "/dev/", 5) == 0 && !strchr(name + 5, '/')
	       && strncmp(name + 5, "dm-", 3) != 0;
}

/** Whether a tag belongs to the device of a line of the plan: 1, 0; -1: not known. */
static int tag_leads(const struct machine_merge *merge, const char *tag,
                     const struct fstab_line *line)
{
	const struct fstab_world *world = &merge->in->world;
	struct fstab_device named = {0}, own = {0};
	if (host_devices(merge->host, tag, &named) != 1
	    || (line->swap ? world->swap(world->arg, line->swap, &own)
	        : world->device(world->arg, line->mount, &own)) != 0)
		return -1;
	int same = fstab_same_device(&named, &own);
	const char *name = named.tags ? named.tags->name : NULL;
	/* Nothing but its name is known of the swap device. */
	if (same < 0 && line->swap && !own.numbered && is_plain_name(line->swap)
	    && is_plain_name(name))
		same = strcmp(line->swap, name) == 0;
	/* A multipath path or a member can show the same tag as the device on top. */
	bool part = same == 0 && (devmap_part(merge->host->in.devs, named.major, named.minor)
	                          || (own.numbered
	                              && devmap_part(merge->host->in.devs, own.major, own.minor)));
	return part ? -1 : same;
}

static int leads(void *arg, const char *path, const struct fstab_line *line)
{
	const struct machine_merge *merge = arg;
	const struct host_input *in = &merge->host->in;
	uint32_t major, minor, own_major = 0, own_minor = 0;
	bool known = false;
	if (!in->live || !in->devs)
		return -1;
	if (*path != '/')
		return tag_leads(merge, path, line);
	if (line->swap) {
		known = host_device_number(merge->host, line->swap, &own_major, &own_minor);
		if (!known)
			return line->source && *line->source == '/'
			       ? same_place(merge, path, line->source) : -1;
	} else if (line->mount) {
		known = devmap_mount_device(in->devs, line->mount, &own_major, &own_minor);
		/* Compare the image of a loop device by path. */
		if (line->source && *line->source == '/' && strncmp(line->source, "/dev/", 5) != 0
		    && strncmp(path, "/dev/", 5) != 0)
			return same_place(merge, path, line->source);
	}
	if (!known)
		return -1;
	/* The file of this loop device is not known. */
	struct devmap_loop loop;
	if (own_major == LOOP_MAJOR && strncmp(path, "/dev/", 5) != 0
	    && !devmap_loop(in->devs, own_major, own_minor, &loop))
		return -1;
	if (!host_device_number(merge->host, path, &major, &minor))
		return errno == ENOENT || strncmp(path, "/dev/", 5) != 0 ? 0 : -1;
	return major == own_major && minor == own_minor;
}

static int follow(void *arg, const char *target, struct strbuf *path)
{
	const struct machine_merge *merge = arg;
	const char *root = merge->in->root;
	struct strbuf here;
	if (!merge->host->in.live)
		return -1;
	strbuf_init(&here);
	enum host_followed known = host_follow(merge->host, target, &here);
	bool none = known == HOST_MISSING && (errno == ENOENT || errno == ENOTDIR);
	const char *found = strbuf_str(&here);
	size_t n = strcmp(root, "/") == 0 ? 0 : strlen(root);
	bool inside = strncmp(found, root, n) == 0 && (n == 0 || !found[n] || found[n] == '/');
	if (inside && known == HOST_SEEN)
		strbuf_puts(path, found[n] ? found + n : "/");
	path->failed |= here.failed;
	strbuf_destroy(&here);
	return !inside ? -1 : known == HOST_SEEN ? 1 : none ? 0 : -1;
}

struct fstab_match_input machine_match_input(struct machine_merge *merge,
                                             const struct fstab_plan *plan,
                                     const struct tablines *file)
{
	return (struct fstab_match_input){
		.file = file, .in = merge->in, .plan = plan, .arg = merge, .leads = leads,
			.follow = follow,
	};
}
