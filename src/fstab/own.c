/* SPDX-License-Identifier: MIT */
/*
 * What the system mounts by itself.  Where it cannot be told from what somebody
 * mounted, it is held to be somebody's: a line too many is seen, one too few is
 * missed at the next boot.
 */
#include "fstab/fstab_impl.h"

#include "base/fstypes.h"
#include "mounttree.h"

#include <string.h>
#include <strings.h>

/** Types that nobody mounts by an fstab, wherever they are. */
static const struct {
	const char *fstype;
	const char *why;
} own_types[] = {
	{"autofs", "an automounter's trigger"},
	{"binfmt_misc", "an API file system"},
	{"bdev", "an API file system"},
	{"fuse.gvfsd-fuse", "of a session"},
	{"fuse.kio-fuse", "of a session"},
	{"fuse.lxcfs", "of a service"},
	{"fuse.portal", "of a session"},
	{"fuse.snapfuse", "of snapd"},
	{"fuse.rofiles-fuse", "of a session"},
	{"fusectl", "an API file system"},
	{"nfsd", "an API file system"},
	{"nsfs", "of a namespace"},
	{"pipefs", "an API file system"},
	{"rootfs", "the kernel's own"},
	{"rpc_pipefs", "an API file system"},
	{"sockfs", "an API file system"},
	{"zfs", "zfs mounts its data sets by itself"},
};

/** Directories below which everything is one owner's; depth says how far below a
    mount must be to be his: a disk on /var/lib/docker is an admin's, and so is what
    he binds below /var/lib/docker/volumes, where docker's own have one name more. */
enum { LAYERS = 1u << 8 };   /* only what stands on no device, nor on a server */
static const struct {
	const char *dir;
	unsigned depth;
	const char *why;
} own_dirs[] = {
	{"/snap", 1, "of snapd"},
	{"/var/lib/snapd", 1, "of snapd"},
	{"/var/snap", 2, "of snapd"},
	{"/run/credentials", 0, "of a unit"},
	{"/run/initramfs", 0, "of the initial RAM disk"},
	{"/run/lock", 0, "made at boot"},
	{"/run/media", 0, "of udisks"},
	{"/run/netns", 0, "of a namespace"},
	{"/run/schroot", 0, "of a session"},
	{"/run/snapd", 0, "of snapd"},
	{"/run/systemd", 0, "of systemd"},
	{"/run/user", 0, "of a session"},
	{"/run/containerd", 0, "of a container"},
	{"/run/containers", 0, "of a container"},
	{"/run/docker", 0, "of a container"},
	{"/run/k3s", 0, "of a container"},
	{"/run/libpod", 0, "of a container"},
	{"/var/lib/containerd", 2, "of a container"},
	{"/var/lib/containers/storage/btrfs", 0, "of a container"},
	{"/var/lib/containers/storage/overlay", 0, "of a container"},
	{"/var/lib/containers/storage/overlay-containers", 0, "of a container"},
	{"/var/lib/containers/storage/vfs", 0, "of a container"},
	{"/var/lib/containers/storage/volumes", 2, "of a container"},
	{"/var/lib/docker/aufs", 0, "of a container"},
	{"/var/lib/docker/btrfs", 0, "of a container"},
	{"/var/lib/docker/buildkit", 1, "of a container"},
	{"/var/lib/docker/containers", 1, "of a container"},
	{"/var/lib/docker/devicemapper", 1, "of a container"},
	{"/var/lib/docker/fuse-overlayfs", 1, "of a container"},
	{"/var/lib/docker/overlay2", 1, "of a container"},
	{"/var/lib/docker/plugins", 1, "of a container"},
	{"/var/lib/docker/rootfs", 1, "of a container"},
	{"/var/lib/docker/vfs", 1, "of a container"},
	{"/var/lib/docker/volumes", 2, "of a container"},
	{"/var/lib/incus/devices", 0, "of a container"},
	{"/var/lib/incus/guestapi", 0, "of a container"},
	{"/var/lib/incus/shmounts", 0, "of a container"},
	{"/var/lib/incus/storage-pools", 1, "of a container"},
	{"/var/lib/kubelet/plugins", 1, "of a container"},
	{"/var/lib/kubelet/pods", 1, "of a container"},
	{"/var/lib/lxd/devices", 0, "of a container"},
	{"/var/lib/lxd/devlxd", 0, "of a container"},
	{"/var/lib/lxd/shmounts", 0, "of a container"},
	{"/var/lib/lxd/storage-pools", 1, "of a container"},
	{"/var/lib/rancher/k3s/agent", 1, "of a container"},
	{"/var/lib/rancher/rke2/agent", 1, "of a container"},
	{"/var/lib/containers", LAYERS | 2, "of a container"},
	{"/var/lib/docker", LAYERS | 2, "of a container"},
	{"/var/lib/incus", LAYERS | 2, "of a container"},
	{"/var/lib/kubelet", LAYERS | 2, "of a container"},
	{"/var/lib/lxd", LAYERS | 2, "of a container"},
	{"/var/lib/rancher", LAYERS | 2, "of a container"},
	{"/var/lib/schroot", 2, "of a session"},
};

/** How many components a path has below a directory; -1 if it is not below. */
static int components_below(const char *path, const char *dir)
{
	if (!mtree_path_within(path, dir))
		return -1;
	int n = 0;
	for (const char *at = path + strlen(dir); *at; ++at)
		n += *at == '/' && at[1];
	return n;
}

static bool below_any(const char *target, const char *const *dirs)
{
	for (; *dirs; ++dirs) {
		if (mtree_path_within(target, *dirs))
			return true;
	}
	return false;
}

const char *fstab_own(const struct mount *mount, const char *target, bool all, bool *boot)
{
	static const char *const kernels[] = {"/proc", "/sys", "/dev", NULL};
	static const char *const run[] = {"/run", "/var/run", NULL};
	const char *fstype = mount->fstype ? mount->fstype : "";
	unsigned flags = fstype_flags(fstype);
	*boot = false;
	for (size_t i = 0; i < sizeof(own_types) / sizeof(*own_types); ++i) {
		if (strcmp(fstype, own_types[i].fstype) == 0) {
			*boot = flags & FST_PSEUDO && !(flags & FST_AUTOFS);
			return own_types[i].why;
		}
	}
	for (size_t i = 0; i < sizeof(own_dirs) / sizeof(*own_dirs); ++i) {
		int depth = components_below(target, own_dirs[i].dir);
		bool layers = own_dirs[i].depth & LAYERS;
		if (depth >= (int)(own_dirs[i].depth & ~LAYERS) && (!layers || (mount->dev_major == 0 && !(flags & (FST_NET | FST_DEVICE)))))
			return own_dirs[i].why;
	}
	/* Of an ordinary user, wherever his home is. */
	const char *storage = strstr(target, "/.local/share/containers/storage/");
	if (storage && storage != target)
		return "of a container";
	size_t len = strlen(fstype);
	if (strncmp(fstype, "fuse.", 5) == 0 && len > 8 && strcasecmp(fstype + len - 8, "AppImage") == 0)
		return "of an AppImage";

	if (all)
		return NULL;
	if (below_any(target, kernels)) {
		*boot = true;
		return "an API file system";
	}
	if (below_any(target, run) && flags & FST_PSEUDO) {
		*boot = strcmp(target, "/run") == 0;
		return "made at boot";
	}
	return NULL;
}

bool fstab_is_system(const char *target)
{
	static const char *const dirs[] = {
		"/boot", "/efi", "/etc", "/usr", "/var", "/home", "/opt", "/root", "/tmp", NULL,
	};
	return strcmp(target, "/") == 0 || below_any(target, dirs);
}
