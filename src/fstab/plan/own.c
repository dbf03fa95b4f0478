/* SPDX-License-Identifier: MIT */
/*
 * What the system mounts by itself.  In doubt it is somebody's: a line too many is noticed, a
 * missing one only at the next boot.
 */
#include "fstab/plan/plan_impl.h"

#include "base/fstypes.h"
#include "mounttree.h"
#include "mountopts/fsopts.h"
#include "mountopts/fuse.h"

#include <string.h>
#include <strings.h>

/** Types that nobody mounts by an fstab, on any mount point. */
static const struct {
	const char *fstype;
	const char *owner, *why;
} own_types[] = {
	{"autofs", "automount", "an automounter's trigger"},
	{"binfmt_misc", "api", "an API file system"},
	{"bdev", "api", "an API file system"},
	{"fuse.gvfsd-fuse", "session", "of a session"},
	{"fuse.kio-fuse", "session", "of a session"},
	{"fuse.lxcfs", "unit", "of a service"},
	{"fuse.portal", "session", "of a session"},
	{"fuse.snapfuse", "snap", "of snapd"},
	{"fuse.rofiles-fuse", "session", "of a session"},
	{"fusectl", "api", "an API file system"},
	{"nfsd", "api", "an API file system"},
	{"nsfs", "nsfs", "of a namespace"},
	{"pipefs", "api", "an API file system"},
	{"rootfs", "api", "the kernel's own"},
	{"rpc_pipefs", "api", "an API file system"},
	{"sockfs", "api", "an API file system"},
	{"zfs", "zfs", "zfs mounts its data sets by itself"},
};

/** Directories below which everything has one owner.  depth is how far below a mount must be: a
   disk on /var/lib/docker is an administrator's, and so is a bind below /var/lib/docker/volumes,
   where Docker's own have one more component. */
enum {
	LAYERS = 1u << 8,   /* only mounts without a device or server */
	BOUND = 1u << 9,    /* only parts of a file system */
	DEPTH = LAYERS - 1,
};
static const struct {
	const char *dir;
	unsigned depth;
	const char *owner, *why;
} own_dirs[] = {
	{"/snap", 1, "snap", "of snapd"},
	{"/var/lib/snapd", 1, "snap", "of snapd"},
	{"/var/snap", 2, "snap", "of snapd"},
	{"/run/credentials", 0, "credentials", "of a unit"},
	{"/run/initramfs", 0, "initrd", "of the initial RAM disk"},
	{"/run/lock", 0, "api", "made at boot"},
	{"/run/media", 0, "udisks", "of udisks"},
	{"/run/netns", 0, "nsfs", "of a namespace"},
	{"/run/schroot", 0, "session", "of a session"},
	{"/run/snapd", 0, "snap", "of snapd"},
	{"/run/systemd", 0, "unit", "of systemd"},
	{"/mnt/pve", 1, "unit", "a storage of Proxmox VE"},
	{"/run/user", 0, "session", "of a session"},
	{"/run/containerd", 0, "container:containerd", "of a container"},
	{"/run/containers", 0, "container:podman", "of a container"},
	{"/run/docker", 0, "container:docker", "of a container"},
	{"/run/k0s", 0, "container:k0s", "of a container"},
	{"/run/k3s", 0, "container:k3s", "of a container"},
	{"/run/libpod", 0, "container:podman", "of a container"},
	{"/var/lib/containerd", 2, "container:containerd", "of a container"},
	{"/var/lib/containers/storage/btrfs", 0, "container:podman", "of a container"},
	{"/var/lib/containers/storage/overlay", 0, "container:podman", "of a container"},
	{"/var/lib/containers/storage/overlay-containers", 0, "container:podman", "of a container"},
	{"/var/lib/containers/storage/vfs", 0, "container:podman", "of a container"},
	{"/var/lib/containers/storage/volumes", 2, "container:podman", "of a container"},
	{"/var/lib/docker/aufs", 0, "container:docker", "of a container"},
	{"/var/lib/docker/btrfs", 0, "container:docker", "of a container"},
	{"/var/lib/docker/buildkit", 1, "container:docker", "of a container"},
	{"/var/lib/docker/containers", 1, "container:docker", "of a container"},
	{"/var/lib/docker/devicemapper", 1, "container:docker", "of a container"},
	{"/var/lib/docker/fuse-overlayfs", 1, "container:docker", "of a container"},
	{"/var/lib/docker/overlay2", 1, "container:docker", "of a container"},
	{"/var/lib/docker/plugins", 1, "container:docker", "of a container"},
	{"/var/lib/docker/rootfs", 1, "container:docker", "of a container"},
	{"/var/lib/docker/vfs", 1, "container:docker", "of a container"},
	{"/var/lib/docker/volumes", 2, "container:docker", "of a container"},
	{"/var/lib/incus/devices", 0, "container:incus", "of a container"},
	{"/var/lib/incus/guestapi", 0, "container:incus", "of a container"},
	{"/var/lib/incus/shmounts", 0, "container:incus", "of a container"},
	{"/var/lib/incus/storage-pools", 1, "container:incus", "of a container"},
	{"/var/lib/kubelet/plugins", 1, "container:kubelet", "of a container"},
	{"/var/lib/kubelet/pods", 1, "container:kubelet", "of a container"},
	{"/var/data/kubelet/plugins", 1, "container:kubelet", "of a container"},
	{"/var/data/kubelet/pods", 1, "container:kubelet", "of a container"},
	{"/var/lib/k0s/kubelet/plugins", 1, "container:k0s", "of a container"},
	{"/var/lib/k0s/kubelet/pods", 1, "container:k0s", "of a container"},
	{"/var/lib/lxd/devices", 0, "container:lxd", "of a container"},
	{"/var/lib/lxd/devlxd", 0, "container:lxd", "of a container"},
	{"/var/lib/lxd/shmounts", 0, "container:lxd", "of a container"},
	{"/var/lib/lxd/storage-pools", 1, "container:lxd", "of a container"},
	{"/var/lib/rancher/k3s/agent", 1, "container:k3s", "of a container"},
	{"/var/lib/rancher/rke2/agent", 1, "container:k3s", "of a container"},
	{"/var/lib/containers", LAYERS | 2, "container:podman", "of a container"},
	{"/var/lib/docker", LAYERS | 2, "container:docker", "of a container"},
	{"/var/lib/incus", LAYERS | 2, "container:incus", "of a container"},
	{"/var/lib/kubelet", LAYERS | 2, "container:kubelet", "of a container"},
	{"/var/lib/lxd", LAYERS | 2, "container:lxd", "of a container"},
	{"/var/lib/rancher", LAYERS | 2, "container:k3s", "of a container"},
	{"/var/lib/schroot", 2, "session", "of a session"},
	{"/var/named/chroot", BOUND | 1, "unit", "of named-chroot"},
};

/** Mount points of programs.  The type and other properties must fit as well; else the mount is
    somebody's. */
enum { READ_ONLY = 1, SAFE = 2 /* nosuid, nodev */, AT_BOOT = 4 };
static const struct {
	const char *dir;
	unsigned char least, most;   /* components below it */
	const char *types;           /* separated by blanks; NULL: those of a device */
	const char *source;          /* its prefix; NULL: any */
	unsigned how;
	const char *owner, *why;
} own_places[] = {
	{"/var/lib/ceph/osd", 1, 1, "tmpfs", NULL, 0, "unit", "of Ceph"},
	{"/run/timeshift", 2, 2, NULL, "/dev/", 0, "session", "of Timeshift"},
	{"/var/lib/os-prober/mount", 0, 0, NULL, "/dev/", READ_ONLY, "session", "of os-prober"},
	{"/var/lib/apptainer/mnt/session", 0, 255, "tmpfs overlay", NULL, 0, "container:apptainer",
	 "of a container"},
	{"/var/lib/singularity/mnt/session", 0, 255, "tmpfs overlay", NULL, 0,
	 "container:apptainer", "of a container"},
	{"/var/lib/waydroid/rootfs", 0, 255, NULL, "/dev/loop", 0, "container:waydroid",
	 "of a container"},
	{"/var/lib/waydroid/rootfs", 0, 255, "overlay tmpfs", NULL, 0, "container:waydroid",
	 "of a container"},
	{"/media/psf", 0, 1, "prl_fs", NULL, 0, "unit", "of Parallels"},
	{"/home/ubuntu", 1, 255, "fuse.sshfs", ":", SAFE, "unit", "of Multipass"},
	{"/mnt/wsl", 0, 0, "tmpfs", "none", AT_BOOT, "api", "of WSL"},
	{"/mnt/wslg", 0, 0, "tmpfs", "none", AT_BOOT, "api", "of WSL"},
	{"/mnt/wslg/distro", 0, 0, "ext4", "/dev/sd", READ_ONLY, "api", "of WSL"},
	{"/mnt/wslg/doc", 0, 0, "overlay", "none", 0, "api", "of WSL"},
	{"/usr/lib/wsl/drivers", 0, 0, "9p", NULL, READ_ONLY, "api", "of WSL"},
	{"/usr/lib/wsl/lib", 0, 0, "overlay", NULL, 0, "api", "of WSL"},
};

/** Set the owner.  @return true. */
static bool owned(struct fstab_own *own, const char *owner, const char *why, bool boot)
{
	*own = (struct fstab_own){owner, why, boot};
	return true;
}

/** Whether a type is one of a list of words. */
static bool is_word(const char *words, const char *type)
{
	size_t n = strlen(type);
	for (const char *at = words; n && (at = strstr(at, type)) != NULL; at += n) {
		if ((at == words || at[-1] == ' ') && (!at[n] || at[n] == ' '))
			return true;
	}
	return false;
}

static bool has(const char *options, const char *name)
{
	return options && opt_shown_has(options, name);
}

/** Whether a program mounted this on a mount point of its own. */
static bool is_of_place(const struct mount *mount, const char *target, struct fstab_own *own)
{
	const char *fstype = mount->fstype ? mount->fstype : "",
	           *source = mount->source ? mount->source : "";
	for (size_t i = 0; i < sizeof(own_places) / sizeof(*own_places); ++i) {
		int depth = fstab_depth_below(target, own_places[i].dir);
		unsigned how = own_places[i].how;
		if (depth >= own_places[i].least && depth <= own_places[i].most
		    && (own_places[i].types ? is_word(own_places[i].types, fstype)
		                            : (fstype_flags(fstype) & FST_DEVICE) != 0)
		    && (!own_places[i].source
		        || strncmp(source, own_places[i].source, strlen(own_places[i].source)) == 0)
		    && (!(how & READ_ONLY) || has(mount->vfs_opts, "ro"))
		    && (!(how & SAFE)
		        || (has(mount->vfs_opts, "nosuid") && has(mount->vfs_opts, "nodev"))))
			return owned(own, own_places[i].owner, own_places[i].why, how & AT_BOOT);
	}
	/* A drive of Windows by its letter. */
	if (strncmp(target, "/mnt/", 5) == 0 && target[5] >= 'a' && target[5] <= 'z' && !target[6]
	    && (strcmp(fstype, "drvfs") == 0
	        || (strcmp(fstype, "9p") == 0 && mount->fs_opts
	            && strstr(mount->fs_opts, "aname=drvfs;"))))
		return owned(own, "api", "of WSL", true);
	/* The home of NAME, from the device home-NAME. */
	static const char home[] = "/home/", mapper[] = "/dev/mapper/home-";
	if (strncmp(target, home, sizeof(home) - 1) == 0
	    && strncmp(source, mapper, sizeof(mapper) - 1) == 0
	    && strcmp(target + sizeof(home) - 1, source + sizeof(mapper) - 1) == 0
	    && !strchr(source + sizeof(mapper) - 1, '/') && fstype_flags(fstype) & FST_DEVICE
	    && has(mount->vfs_opts, "nosuid") && has(mount->vfs_opts, "nodev"))
		return owned(own, "unit", "of systemd-homed", false);
	return false;
}

/** Whether n bytes are hexadecimal digits or dashes. */
static bool is_id(const char *text, size_t n)
{
	return strspn(text, "0123456789abcdef-") == n;
}

/** The container engine of a mount by the form of its path alone, wherever the engine keeps its
   data (data-root, graphroot or root-dir on another disk); or NULL. */
static const char *container_of(const char *target, unsigned flags)
{
	static const struct {
		const char *before;      /* followed by an ID of id bytes */
		size_t id;
		const char *behind;      /* after the ID; more may follow a pod's */
		const char *owner;
	} forms[] = {
		{"/overlay2/", 64, "/merged", "container:docker"},
		{"/overlay/", 64, "/merged", "container:podman"},
		{"/containers/", 64, "/mounts/shm", "container:docker"},
		{"/overlay-containers/", 64, "/userdata/shm", "container:podman"},
		{"/io.containerd.grpc.v1.cri/sandboxes/", 64, "/shm", "container:containerd"},
		{"/io.containerd.runtime.v2.task/k8s.io/", 64, "/rootfs", "container:containerd"},
		{"/io.containerd.runtime.v2.task/moby/", 64, "/rootfs", "container:containerd"},
		{"/pods/", 36, "/volumes/kubernetes.io~", "container:kubelet"},
		{"/pods/", 36, "/volume-subpaths/", "container:kubelet"},
		{"/pods/", 32, "/volumes/kubernetes.io~", "container:kubelet"},
	};
	/* A disk may be an administrator's, but not below a pod. */
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); ++i) {
		bool pod = strcmp(forms[i].before, "/pods/") == 0;
		const char *found = pod || !(flags & (FST_DEVICE | FST_NET)) ? strstr(target,
		        forms[i].before) : NULL;
		const char *id = found ? found + strlen(forms[i].before) : NULL;
		size_t n = strlen(forms[i].behind);
		if (id && is_id(id, forms[i].id) && strncmp(id + forms[i].id, forms[i].behind,
		                                            n) == 0 && (pod
		        || !id[forms[i].id + n]))
			return forms[i].owner;
	}
	return NULL;
}

/** Whether ostree mounted it in the initial RAM disk: the parts of a deployment on their mount
   points, and the whole on /sysroot. */
static bool is_of_ostree(const struct mount *mount, const char *target)
{
	static const char deploy[] = "/ostree/deploy/";
	const char *at = mount->root ? strstr(mount->root, deploy) : NULL;
	if (strcmp(target, "/sysroot") == 0)
		return true;
	if (!at)
		return false;
	if (mtree_path_within(target, "/sysroot"))
		return true;
	/* OS/var, or OS/deploy/COMMIT/etc. */
	at += sizeof(deploy) - 1;
	at += strcspn(at, "/");
	if (strncmp(at, "/deploy/", 8) == 0) {
		at += 8;
		at += strcspn(at, "/");
	}
	return *at && strcmp(at, target) == 0;
}

/** Append a user's name of n bytes unless it is empty or root.  @return whether it is appended. */
static bool named_user(struct strbuf *user, const char *name, size_t n)
{
	if (n == 0 || word_is(name, n, "0") || word_is(name, n, "root"))
		return false;
	strbuf_add(user, name, n);
	return true;
}

bool fstab_user(const struct mount *mount, const char *target, const char *kept,
                struct strbuf *user)
{
	static const char session[] = "/run/user/";
	const char *o;
	size_t n;
	uint32_t id = fuse_user(mount->fstype, mount->fs_opts);
	/* The kernel shows the ID, but not in a record without options, of a new mount. */
	if (id == FUSE_USER_UNKNOWN && !mount->fs_opts) {
		strbuf_putc(user, '?');
		return true;
	}
	/* fusermount(1) passes the ID of its caller to the kernel. */
	if (id != 0 && id != FUSE_USER_UNKNOWN) {
		strbuf_printf(user, "%u", (unsigned)id);
		return true;
	}
	/* mount(8) keeps the name of the user who mounted a line with "user" or "users". */
	o = kept ? opt_find(kept, "user", 4, &n) : NULL;
	if (o && n > 5 && named_user(user, o + 5, n - 5))
		return true;
	/* The directory itself is mounted by systemd-logind. */
	if (strncmp(target, session, sizeof(session) - 1) != 0)
		return false;
	target += sizeof(session) - 1;
	n = strspn(target, "0123456789");
	return target[n] == '/' && named_user(user, target, n);
}

bool fstab_own(const struct mount *mount, const char *target, bool itself, bool all, bool user,
               struct fstab_own *own)
{
	static const char *const run[] = {"/run", "/var/run", NULL};
	const char *fstype = mount->fstype ? mount->fstype : "";
	unsigned flags = fstype_flags(fstype);
	if (fstab_hides_kernels(mount, target))
		return false;
	for (size_t i = 0; i < sizeof(own_types) / sizeof(*own_types); ++i) {
		/* A user names a FUSE file system freely. */
		bool may = !(user && is_fuse(fstype)) || strcmp(own_types[i].owner, "session") == 0;
		if (may && strcmp(fstype, own_types[i].fstype) == 0)
			return owned(own, own_types[i].owner, own_types[i].why, flags & FST_PSEUDO
			             && !(flags & FST_AUTOFS));
	}
	for (size_t i = 0; i < sizeof(own_dirs) / sizeof(*own_dirs); ++i) {
		int depth = fstab_depth_below(target, own_dirs[i].dir);
		bool layers = own_dirs[i].depth & LAYERS, whole = own_dirs[i].depth & BOUND
		                                                  && mount->root
		                                                  && strcmp(mount->root, "/") == 0;
		/* Engines bind directories onto themselves, to make them private or shared. */
		if (depth >= 0 && itself && strncmp(own_dirs[i].owner, "container:", 10) == 0)
			return owned(own, own_dirs[i].owner, own_dirs[i].why, false);
		if (depth >= (int)(own_dirs[i].depth & DEPTH) && !whole && (!layers
		        || (mount->dev_major == 0 && !(flags & (FST_NET | FST_DEVICE)))))
			return owned(own, own_dirs[i].owner, own_dirs[i].why, false);
	}
	size_t len = strlen(fstype);
	if (strncmp(fstype, "fuse.", 5) == 0 && len > 8
	    && strcasecmp(fstype + len - 8, "AppImage") == 0)
		return owned(own, "session", "of an AppImage", false);
	/* Any user can create directories with the following names. */
	if (user)
		return false;
	/* Rootless engines, in any home directory. */
	const char *storage = strstr(target, "/.local/share/containers/storage/");
	if (storage && storage != target)
		return owned(own, "container:podman", "of a container", false);
	const char *layers = strstr(target, "/.local/share/docker/");
	if (layers && layers != target && mount->dev_major == 0
	    && (flags & FST_LAYERED || strcmp(fstype, "fuse.fuse-overlayfs") == 0))
		return owned(own, "container:docker", "of a container", false);
	const char *engine = container_of(target, flags);
	if (engine)
		return owned(own, engine, "of a container", false);
	if (is_of_place(mount, target, own))
		return true;
	if (all)
		return false;
	if (is_of_ostree(mount, target))
		return owned(own, "initrd", "of ostree", true);
	if (fstab_is_kernels(target)
	    || (mtree_path_within(target, "/dev/shm") && flags & FST_PSEUDO))
		return owned(own, "api", "an API file system", true);
	if (fstab_below_any(target, run) && flags & FST_PSEUDO)
		return owned(own, "api", "made at boot", strcmp(target, "/run") == 0);
	return false;
}
