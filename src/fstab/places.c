/* SPDX-License-Identifier: MIT */
#include "fstab/places.h"

#include "base/fstypes.h"
#include "base/words.h"
#include "mountopts/shown.h"
#include "mounttree.h"

#include <string.h>

const char *fstab_normal(struct arena *arena, const char *path)
{
	if (!path || *path != '/')
		return NULL;
	char *out = arena_strndup(arena, path, strlen(path));
	if (!out)
		return NULL;
	size_t len = 0;
	for (const char *at = path; *at;) {
		at += strspn(at, "/");
		size_t n = strcspn(at, "/");
		if (n == 2 && at[0] == '.' && at[1] == '.') {
			while (len > 0 && out[--len] != '/')
				;
		} else if (n > 0 && !(n == 1 && *at == '.')) {
			out[len] = '/';
			memmove(out + len + 1, at, n);
			len += n + 1;
		}
		at += n;
	}
	if (len == 0)
		out[len++] = '/';
	out[len] = '\0';
	return out;
}

int fstab_depth_below(const char *path, const char *dir)
{
	if (!word_below(path, dir))
		return -1;
	int n = 0;
	for (const char *at = path + strlen(dir); *at; ++at)
		n += *at == '/' && at[1];
	return n;
}

bool fstab_below_any(const char *target, const char *const *dirs)
{
	for (; *dirs; ++dirs) {
		if (word_below(target, *dirs))
			return true;
	}
	return false;
}

bool fstab_upon_itself(const struct discovery *d, uint32_t node)
{
	const struct mount *m = d->tree.nodes[node].mount;
	uint32_t on = d->tree.nodes[node].parent;
	const struct mount *parent = on == MT_NONE ? NULL : d->tree.nodes[on].mount;
	const char *target = d->targets[node], *above = on == MT_NONE ? NULL : d->targets[on];
	if (!m || !m->root || !parent || !target || !above || mount_dev(parent) != mount_dev(m)
	    || !word_below(target, above))
		return false;
	const char *below = target + (above[1] ? strlen(above) : 0),
	           *root = parent->root ? parent->root : "/";
	size_t n = root[1] ? strlen(root) : 0;
	return strncmp(m->root, root, n) == 0 && strcmp(m->root + n, below) == 0;
}

bool fstab_is_kernels(const char *target)
{
	static const char *const dirs[] = {"/proc", "/sys", "/dev", NULL};
	/* Directories in /dev/shm are anybody's. */
	return fstab_below_any(target, dirs) && fstab_depth_below(target, "/dev/shm") < 1;
}

bool fstab_hides_kernels(const struct mount *mount, const char *target)
{
	const char *fstype = mount->fstype ? mount->fstype : "";
	unsigned flags = fstype_flags(fstype);
	if (!fstab_is_kernels(target) || flags & FST_AUTOFS)
		return false;
	/* Container engines mask files in /proc, but no processes. */
	if (strncmp(target, "/proc/", 6) == 0 && target[6] >= '0' && target[6] <= '9')
		return true;
	if (strcmp(target, "/proc") == 0)
		return strcmp(fstype, "proc") != 0;
	/* The kubelet binds a file there into every container. */
	if (strcmp(target, "/dev/termination-log") == 0)
		return false;
	bool fuse = is_fuse(fstype);
	if (strcmp(fstype, "fuse.lxcfs") == 0
	    || (fuse && mount->source && strcmp(mount->source, "sysboxfs") == 0))
		return false;
	return mount->dev_major != 0 || fuse || flags & (FST_DEVICE | FST_NET | FST_LAYERED)
	       || strcmp(fstype, "zfs") == 0;
}

bool fstab_is_system(const char *target)
{
	static const char *const dirs[] = {
		"/boot", "/efi", "/etc", "/usr", "/var", "/home", "/opt", "/root", "/tmp", NULL,
	};
	return strcmp(target, "/") == 0 || fstab_below_any(target, dirs);
}
