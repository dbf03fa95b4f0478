/* SPDX-License-Identifier: MIT */
/* Which mounts are binds, and where the source of each is visible. */
#include "fstab/plan/plan_impl.h"

#include "base/fstypes.h"
#include "base/words.h"
#include "mountopts/fsopts.h"
#include "mountopts/shown.h"

#include <string.h>

/** Places of one part of a file system that are tried for the source of a bind. */
enum { CANDIDATES_MAX = 32 };

uint64_t bind_hash(const struct mount *mount, const char *root)
{
	return map64_bytes(fstab_device_hash(mount), root, strlen(root));
}

/** Whether the file system can be written to, and this mount of it cannot. */
static bool is_ro_view(const struct mount *mount)
{
	return shown_mount_readonly(mount) && !shown_super_readonly(mount);
}

/** Whether a mount of the root of a device has the source of this mount. */
static bool is_top_source(const struct maker *mk, const struct mount *m)
{
	for (uint32_t i = 0; i < mk->tree->count; ++i) {
		const struct mount *top = place_mount(mk, i);
		if (top && mount_dev(top) == mount_dev(m) && strcmp(place_root(top), "/") == 0
		    && top->source && strcmp(top->source, m->source) == 0)
			return true;
	}
	return false;
}

/**
 * Whether a mount shows the directory of a share that its source names: //server/share/dir.
 *
 * Only SMB shows the requested directory as the root.  A bind of a directory shows the source of
 * the mount that it is of, and can look the same if that mount exists.
 */
static bool shows_source(const struct maker *mk, const struct mount *m)
{
	const char *rest = m->source;
	if (!fsopt_type_in(m->fstype, "cifs smb3") || !rest || strncmp(rest, "//", 2) != 0)
		return false;
	rest += 2 + strcspn(rest + 2, "/");
	if (*rest)
		rest += 1 + strcspn(rest + 1, "/");
	return strcmp(rest, place_root(m)) == 0 && !is_top_source(mk, m);
}

static bool is_network(const struct mount *m)
{
	return (fstype_flags(m->fstype) & (FST_NET | FST_DEVICE)) == FST_NET;
}

/** Whether a mount is a file system or subvolume by itself, by its source alone. */
static bool stands_alone(struct maker *mk, const struct mount *m)
{
	const char *root = place_root(m);
	/* A directory of a subvolume is not a subvolume. */
	if (strcmp(place_type(m), "btrfs") == 0)
		return !opt_shown_value(m->fs_opts, "subvol", &mk->scratch)
		       || strcmp(strbuf_str(&mk->scratch), root) == 0;
	return strcmp(root, "/") == 0 || (is_network(m) && shows_source(mk, m));
}

void bind_index(struct maker *mk, uint32_t i)
{
	const struct mount *m = place_mount(mk, i);
	uint32_t later = map64_get(&mk->primary, mount_dev(m));
	if (!stands_alone(mk, m)
	    || (later != MAP64_NONE && is_ro_view(m) && !is_ro_view(place_mount(mk, later))))
		return;
	map64_remove(&mk->primary, mount_dev(m));
	mk->failed |= map64_put(&mk->primary, mount_dev(m), i) == MAP64_NONE;
}

bool bind_is(struct maker *mk, uint32_t node)
{
	const struct mount *m = place_mount(mk, node);
	if (!stands_alone(mk, m))
		return true;
	if (fstype_flags(m->fstype) & FST_SUBVOL || is_network(m))
		return false;
	uint32_t first = map64_get(&mk->primary, mount_dev(m));
	if (first == MAP64_NONE || first == node)
		return false;
	/* A device can be mounted twice, but not once for reading and once for writing; without a
	   device, it would be a new file system. */
	return m->dev_major == 0 || is_ro_view(m) != is_ro_view(place_mount(mk, first));
}

/** Try the directory "rest" of a mount for the source of a bind.
    @return LINE; WAITING: that may be it; REFUSED with a reason, or none. */
static enum state try_source(struct maker *mk, uint32_t i, uint32_t candidate, const char *rest,
                             struct fstab_line *line)
{
	const char *above = mk->places[candidate].target;
	enum state state = place_available(mk, candidate);
	/* One reason is enough: of a container host thousands of binds have many candidates. */
	if (state != LINE && line->why)
		return state == WAITING ? WAITING : REFUSED;
	rest += strspn(rest, "/");
	const char *source = !*rest ? above
	                     : plan_format(mk, "%s/%s", strcmp(above, "/") == 0 ? "" : above, rest);
	if (!source)
		return REFUSED;
	uint32_t found = place_holder(mk, source);
	bool onto_itself = found == i && strcmp(source, mk->places[i].target) == 0
	                   && place_base(mk, mk->tree->nodes[i].parent) == candidate;
	bool covered = found != candidate && !onto_itself;
	if (!covered && state == WAITING)
		return WAITING;
	const char *why = covered
		? plan_format(mk, "is covered by the mount on %s", mk->places[found].target)
		: state != LINE ? plan_format(mk, "lies on %s, which %s", above, place_lack(state))
		: *rest && place_is_volatile(mk, candidate)
		? "is in memory and does not survive a reboot" : NULL;
	if (why) {
		line->why = line->why ? line->why
		                      : plan_format(mk, "its source %s %s", source, why);
		return REFUSED;
	}
	line->source = source;
	return LINE;
}

enum state bind_find(struct maker *mk, uint32_t i, struct fstab_line *line, uint32_t *in)
{
	const struct mount *m = place_mount(mk, i);
	const char *root = place_root(m);
	uint64_t hash = fstab_device_hash(m);
	size_t hashed = 0;
	bool waiting = false;
	for (size_t n = *root != '\0';; n += strcspn(root + n, "/")) {
		hash = map64_bytes(hash, root + hashed, n - hashed);
		hashed = n;
		uint32_t node = map64_get(&mk->by_root, hash);
		for (int tries = 0; node != MAP64_NONE && tries < CANDIDATES_MAX; ++tries) {
			const struct mount *other = place_mount(mk, node);
			if (node != i && mount_dev(other) == mount_dev(m)
			    && word_is(root, n, place_root(other))) {
				enum state state = try_source(mk, i, node, root + n, line);
				waiting |= state == WAITING;
				*in = node;
				if (state == LINE)
					return LINE;
			}
			node = mk->places[node].next_root;
		}
		if (!root[n])
			break;
		n += root[n] == '/';
	}
	uint32_t hidden = map64_get(&mk->hidden, mount_dev(m));
	if (!line->why && !waiting && hidden != MAP64_NONE && hidden != i
	    && word_below(root, place_root(place_mount(mk, hidden))))
		line->why = plan_format(mk, "its source, %s of %s, is hidden: it lies on a mount "
		                        "on %s that another covers", root,
		                        m->source ? m->source : "none", mk->places[hidden].target);
	return waiting ? WAITING : REFUSED;
}

const char *bind_writes_refused(struct maker *mk, uint32_t i)
{
	const struct mount *m = place_mount(mk, i);
	uint32_t whole = map64_get(&mk->primary, mount_dev(m));
	/* What exists at boot has been mounted by others, who know how. */
	if (shown_mount_readonly(m) || shown_super_readonly(m)
	    || whole == MAP64_NONE || mk->places[whole].state == OWN
	    || !is_ro_view(place_mount(mk, whole)))
		return NULL;
	return plan_format(mk, "it is writable, but the line of %s makes its file system read-only",
	                   mk->places[whole].target);
}
