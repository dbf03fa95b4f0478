/* SPDX-License-Identifier: MIT */
/*
 * Recognize mounts that the system makes by itself.  In doubt, a mount counts as the
 * administrator's and gets a line: a redundant line is noticed at once, a missing line only at the
 * next boot.
 */
#include "fstab/plan/plan_impl.h"

#include "base/fstypes.h"
#include "base/words.h"
#include "mounttree.h"
#include "mountopts/fsopts.h"
#include "mountopts/shown.h"

#include <fnmatch.h>
#include <string.h>
#include <strings.h>

static const char container[] = "of a container";

/** File system types that are never mounted by an fstab line, on any mount point. */
static const struct {
	const char *types;
	struct fstab_own own;
} own_types[] = {
	{"autofs", {"automount", "an automounter's trigger"}},
	{"binfmt_misc bdev fusectl nfsd pipefs rpc_pipefs sockfs",
	 {"api", "an API file system", true}},
	{"fuse.gvfsd-fuse fuse.kio-fuse fuse.portal fuse.revokefs-fuse fuse.rofiles-fuse",
	 {"session", "of a session"}},
	{"fuse.lxcfs", {"unit", "of a service"}},
	{"fuse.snapfuse", {"snap", "of snapd"}},
	{"nsfs", {"nsfs", "of a namespace", true}},
	{"rootfs", {"api", "the kernel's own", true}},
	{"zfs", {"zfs", "zfs mounts its data sets by itself"}},
};

/** Directories below which all mounts have one owner: `dir` or, if `in` is not NULL, each directory
    in `dir` with a name in the list `in`.  depth: the flags below, and the minimum number of
    components of a mount point below the directory.  With a minimum of 1, for example, a disk on
    the directory itself is the administrator's. */
enum {
	LAYERS = 1u << 8,   /* only mounts without a device or server */
	BOUND = 1u << 9,    /* only binds of a directory */
	DEPTH = LAYERS - 1,
};
static const struct {
	const char *dir, *in;
	unsigned depth;
	struct fstab_own own;
} own_dirs[] = {
	{"/snap", NULL, 1, {"snap", "of snapd"}},
	{"/var/lib/snapd", NULL, 1, {"snap", "of snapd"}},
	{"/var/snap", NULL, 2, {"snap", "of snapd"}},
	{"/mnt/pve", NULL, 1, {"unit", "a storage of Proxmox VE"}},
	{"/run", "credentials", 0, {"credentials", "of a unit"}},
	{"/run", "host", 0, {"api", "of the container manager"}},
	{"/run", "initramfs", 0, {"initrd", "of the initial RAM disk"}},
	{"/run", "lock", 0, {"api", "made at boot"}},
	{"/run", "media", 0, {"udisks", "of udisks"}},
	{"/run", "netns", 0, {"nsfs", "of a namespace"}},
	{"/run", "schroot user", 0, {"session", "of a session"}},
	{"/run", "snapd", 0, {"snap", "of snapd"}},
	{"/run", "systemd", 0, {"unit", "of systemd"}},
	{"/run", "buildkit", 0, {"container:buildkit", container}},
	{"/run", "containerd", 0, {"container:containerd", container}},
	{"/run", "containers libpod", 0, {"container:podman", container}},
	{"/run", "docker", 0, {"container:docker", container}},
	{"/run", "k0s", 0, {"container:k0s", container}},
	{"/run", "k3s", 0, {"container:k3s", container}},
	{"/run", "kata-containers", 0, {"container:kata", container}},
	{"/run", "libvirt", 1, {"unit", "of libvirt"}},
	{"/run/gluster", "snaps", 1, {"unit", "of GlusterFS"}},
	{"/var/lib/buildkit", NULL, 2, {"container:buildkit", container}},
	{"/var/lib/containerd", NULL, 2, {"container:containerd", container}},
	{"/var/lib", "containerd-fuse-overlayfs-grpc containerd-nydus containerd-stargz-grpc "
	 "soci-snapshotter-grpc", 1, {"container:containerd", container}},
	{"/var/lib/containers/storage", "btrfs overlay overlay-containers vfs", 0,
	 {"container:podman", container}},
	{"/var/lib/containers/storage/volumes", NULL, 2, {"container:podman", container}},
	{"/var/lib/docker", "aufs btrfs", 0, {"container:docker", container}},
	{"/var/lib/docker", "buildkit containers devicemapper fuse-overlayfs overlay2 plugins "
	 "rootfs vfs", 1, {"container:docker", container}},
	{"/var/lib/docker/volumes", NULL, 2, {"container:docker", container}},
	{"/var/lib/incus", "devices guestapi shmounts", 0, {"container:incus", container}},
	{"/var/lib/incus/storage-pools", NULL, 1, {"container:incus", container}},
	{"/var/lib/kubelet", "plugins pods", 1, {"container:kubelet", container}},
	{"/var/data/kubelet", "plugins pods", 1, {"container:kubelet", container}},
	{"/var/lib/k0s/kubelet", "plugins pods", 1, {"container:k0s", container}},
	{"/var/lib/k0s/containerd", NULL, 1, {"container:k0s", container}},
	{"/var/lib/lxc", ".pve-staged-mounts", 0, {"unit", "of Proxmox VE"}},
	{"/var/lib/lxd", "devices devlxd shmounts", 0, {"container:lxd", container}},
	{"/var/lib/lxd/storage-pools", NULL, 1, {"container:lxd", container}},
	{"/var/lib/rancher/k3s/agent", NULL, 1, {"container:k3s", container}},
	{"/var/lib/rancher/rke2/agent", NULL, 1, {"container:k3s", container}},
	{"/var/lib/containers", NULL, LAYERS | 2, {"container:podman", container}},
	{"/var/lib/docker", NULL, LAYERS | 2, {"container:docker", container}},
	{"/var/lib/incus", NULL, LAYERS | 2, {"container:incus", container}},
	{"/var/lib/kubelet", NULL, LAYERS | 2, {"container:kubelet", container}},
	{"/var/lib/lxd", NULL, LAYERS | 2, {"container:lxd", container}},
	{"/var/lib/nerdctl", NULL, LAYERS | 2, {"container:nerdctl", container}},
	{"/var/lib/rancher", NULL, LAYERS | 2, {"container:k3s", container}},
	{"/home/virtfs", NULL, 2, {"unit", "of cPanel"}},
	{"/usr/share/cagefs-skeleton", NULL, 1, {"unit", "of CageFS"}},
	{"/var/cache/pbuilder/build", NULL, 2, {"session", "of pbuilder"}},
	{"/var/lib/mock", NULL, 2, {"session", "of mock"}},
	{"/var/lib/schroot", NULL, 2, {"session", "of a session"}},
	{"/var/named/chroot", NULL, BOUND | 1, {"unit", "of named-chroot"}},
};

/** Count the components of a path below `dir` or, if `in` is not NULL, below a directory in `dir`
    with a name in the list `in`; -1: the path is not below such a directory. */
static int depth_below(const char *target, const char *dir, const char *in)
{
	int depth = fstab_depth_below(target, dir);
	if (!in || depth < 1)
		return in ? -1 : depth;
	const char *name = target + strlen(dir) + 1;
	return word_in(name, strcspn(name, "/"), in) ? depth - 1 : -1;
}

/** Mount points on which a program mounts a file system of certain types and properties.  A mount
    with other types or properties is the administrator's. */
enum { READ_ONLY = 1, SAFE = 2 /* nosuid, nodev */, ANY = 255 };
static const struct {
	const char *dir;
	unsigned char least, most;   /* number of components of a mount point below `dir`; ANY:
	                                no maximum */
	const char *types;           /* separated by blanks; NULL: any type on a device */
	const char *source;          /* prefix of the source */
	unsigned how;
	struct fstab_own own;
} own_targets[] = {
	{"/var/lib/ceph/osd", 1, 1, "tmpfs", "", 0, {"unit", "of Ceph"}},
	/* systemd-machined mounts an image file next to this directory. */
	{"/var/lib/machines", 0, 0, "btrfs", "/dev/loop", 0, {"unit", "of systemd-machined"}},
	{"/usr", 0, 0, "overlay", "sysext", 0, {"unit", "of systemd-sysext"}},
	{"/opt", 0, 0, "overlay", "sysext", 0, {"unit", "of systemd-sysext"}},
	{"/etc", 0, 0, "overlay", "confext", 0, {"unit", "of systemd-confext"}},
	{"/run/timeshift", 2, 2, NULL, "/dev/", 0, {"session", "of Timeshift"}},
	{"/var/lib/os-prober/mount", 0, 0, NULL, "/dev/", READ_ONLY, {"session", "of os-prober"}},
	{"/var/lib/apptainer/mnt/session", 0, ANY, "tmpfs overlay", "", 0,
	 {"container:apptainer", container}},
	{"/var/lib/singularity/mnt/session", 0, ANY, "tmpfs overlay", "", 0,
	 {"container:apptainer", container}},
	{"/var/lib/waydroid/rootfs", 0, ANY, NULL, "/dev/loop", 0,
	 {"container:waydroid", container}},
	{"/var/lib/waydroid/rootfs", 0, ANY, "overlay tmpfs", "", 0,
	 {"container:waydroid", container}},
	{"/media/psf", 0, 1, "prl_fs", "", 0, {"unit", "of Parallels"}},
	{"/home/ubuntu", 1, ANY, "fuse.sshfs", ":", SAFE, {"unit", "of Multipass"}},
	{"/mnt/wsl", 0, 0, "tmpfs", "none", 0, {"api", "of WSL", true}},
	{"/mnt/wslg", 0, 0, "tmpfs", "none", 0, {"api", "of WSL", true}},
	{"/mnt/wslg/distro", 0, 0, "ext4", "/dev/sd", READ_ONLY, {"api", "of WSL"}},
	{"/mnt/wslg/doc", 0, 0, "overlay", "none", 0, {"api", "of WSL"}},
	{"/usr/lib/wsl/drivers", 0, 0, "9p", "", READ_ONLY, {"api", "of WSL"}},
	{"/usr/lib/wsl/lib", 0, 0, "overlay", "", 0, {"api", "of WSL"}},
	/* A drive of Windows, on /mnt/LETTER. */
	{"/mnt", 1, 1, "drvfs 9p", "", 0, {"api", "of WSL", true}},
	/* The home directory /home/NAME, from the device /dev/mapper/home-NAME. */
	{"/home", 1, 1, NULL, "/dev/mapper/home-", SAFE, {"unit", "of systemd-homed"}},
};

/** Check what own_targets cannot express: that the mount point /mnt/LETTER shows a drive of
    Windows, and that the device of /home/NAME is home-NAME. */
static bool is_named_so(const struct mount *mount, const char *target, const char *dir)
{
	if (strcmp(dir, "/mnt") == 0)
		return target[5] >= 'a' && target[5] <= 'z' && !target[6]
		       && (strcmp(mount->fstype, "drvfs") == 0
		           || (mount->fs_opts && strstr(mount->fs_opts, "aname=drvfs;")));
	if (strcmp(dir, "/home") == 0)
		return strcmp(target + strlen("/home/"),
		              mount->source + strlen("/dev/mapper/home-")) == 0;
	return true;
}

/** Look up the program that made a mount in the table own_targets.  @return NULL: the table has no
    such program. */
static const struct fstab_own *own_program(const struct mount *mount, const char *target)
{
	const char *fstype = mount->fstype ? mount->fstype : "",
	           *source = mount->source ? mount->source : "";
	for (size_t i = 0; i < sizeof(own_targets) / sizeof(*own_targets); ++i) {
		const char *prefix = own_targets[i].source, *types = own_targets[i].types;
		int depth = fstab_depth_below(target, own_targets[i].dir);
		unsigned how = own_targets[i].how;
		if (depth >= own_targets[i].least && depth <= own_targets[i].most
		    && (types ? word_in(fstype, strlen(fstype), types)
		        : (fstype_flags(fstype) & FST_DEVICE) != 0)
		    && strncmp(source, prefix, strlen(prefix)) == 0
		    && (!(how & READ_ONLY) || shown_mount_readonly(mount))
		    && (!(how & SAFE) || shown_is_safe(mount))
		    && is_named_so(mount, target, own_targets[i].dir))
			return &own_targets[i].own;
	}
	return NULL;
}

/** Find the container engine whose images are layers of an overlay, on any mount point.  NULL: no
    engine. */
static const struct fstab_own *own_layers(const struct mount *mount)
{
	static const struct {
		const char *part;        /* a part of the paths of layers */
		struct fstab_own own;
	} stores[] = {
		{"/io.containerd.snapshotter.v1.", {"container:containerd", container}},
		{"/docker/overlay2/", {"container:docker", container}},
		{"/containers/storage/overlay/", {"container:podman", container}},
	};
	for (size_t i = 0; mount->fs_opts && i < sizeof(stores) / sizeof(*stores); ++i) {
		if (strstr(mount->fs_opts, stores[i].part))
			return &stores[i].own;
	}
	return NULL;
}

/** Find the container engine that made a mount by the form of the mount point alone, since an
    engine may be configured to keep its data in any directory (data-root, graphroot, root-dir); or
    by the layers of the mount.  NULL: no form and no layer matches. */
static const struct fstab_own *own_container(const struct mount *mount, const char *target)
{
	const char *fstype = mount->fstype ? mount->fstype : "";
	unsigned flags = fstype_flags(fstype);
	bool layered = mount->dev_major == 0
	               && (flags & FST_LAYERED || strcmp(fstype, "fuse.fuse-overlayfs") == 0);
	/* A disk, unlike other mounts in the data of an engine, may be mounted by an
	   administrator. */
	bool disk = flags & (FST_DEVICE | FST_NET)
	            && (!mount->root || strcmp(mount->root, "/") == 0);
	/* Mount points of rootless engines in any home directory, and temporary mount points, of
	   which engines leave thousands behind. */
	static const struct {
		const char *pattern;
		enum { OF_ANY, OF_LAYERS, OF_NO_DISK } type;
		struct fstab_own own;
	} patterns[] = {
		{"/?*/.local/share/buildkit/?*/?*", OF_ANY, {"container:buildkit", container}},
		{"/?*/.local/share/containerd/?*/?*", OF_ANY, {"container:containerd", container}},
		{"/?*/.local/share/containers/storage/?*", OF_ANY,
		 {"container:podman", container}},
		{"/?*/.local/share/docker/?*", OF_LAYERS, {"container:docker", container}},
		{"/?*/.local/share/nerdctl/?*", OF_LAYERS, {"container:nerdctl", container}},
		{"*/buildkit-mount[0-9]*", OF_ANY, {"container:buildkit", container}},
		{"*/containerd-mount[0-9]*", OF_ANY, {"container:containerd", container}},
		{"*/ctd-volume[0-9]*", OF_ANY, {"container:containerd", container}},
		{"*/io.containerd.?*/?*", OF_NO_DISK, {"container:containerd", container}},
		{"/var/tmp/buildah[0-9]*/mnt/?*", OF_ANY, {"container:buildah", container}},
	};
	static const struct {
		const char *before;      /* text before an ID of `id` bytes */
		size_t id;
		const char *after;       /* text after the ID, which ends the mount point except
		                            for pods and Nomad */
		struct fstab_own own;
	} forms[] = {
		{"/overlay2/", 64, "/merged", {"container:docker", container}},
		{"/overlay/", 64, "/merged", {"container:podman", container}},
		{"/containers/", 64, "/mounts/shm", {"container:docker", container}},
		{"/overlay-containers/", 64, "/userdata/shm", {"container:podman", container}},
		{"/alloc/", 36, "/", {"container:nomad", container}},
		{"/pods/", 36, "/volumes/kubernetes.io~", {"container:kubelet", container}},
		{"/pods/", 36, "/volume-subpaths/", {"container:kubelet", container}},
		{"/pods/", 32, "/volumes/kubernetes.io~", {"container:kubelet", container}},
	};
	for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); ++i) {
		if ((layered || patterns[i].type != OF_LAYERS)
		    && !(disk && patterns[i].type == OF_NO_DISK)
		    && fnmatch(patterns[i].pattern, target, 0) == 0)
			return &patterns[i].own;
	}
	/* A mount of a disk or server counts as the administrator's, except below a pod or a Nomad
	   allocation. */
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); ++i) {
		bool pod = word_in(forms[i].before, strlen(forms[i].before), "/pods/ /alloc/");
		const char *found = pod || !(flags & (FST_DEVICE | FST_NET))
		                    ? strstr(target, forms[i].before) : NULL;
		const char *id = found ? found + strlen(forms[i].before) : NULL;
		size_t n = strlen(forms[i].after);
		if (id && strspn(id, "0123456789abcdef-") == forms[i].id
		    && strncmp(id + forms[i].id, forms[i].after, n) == 0
		    && (pod || !id[forms[i].id + n]))
			return &forms[i].own;
	}
	/* In a container, such an overlay is the root. */
	return layered && target[1] ? own_layers(mount) : NULL;
}

/** Whether ostree made a mount in the initial RAM disk: the file system on /sysroot, or a directory
    of a deployment on the mount point of the same name. */
static bool is_of_ostree(const struct mount *mount, const char *target)
{
	static const char deploy[] = "/ostree/deploy/";
	const char *at = mount->root ? strstr(mount->root, deploy) : NULL;
	if (!at || word_below(target, "/sysroot"))
		return at || strcmp(target, "/sysroot") == 0;
	/* `at` is OS/var, or OS/deploy/COMMIT/etc: skip to "/var" or "/etc". */
	at += sizeof(deploy) - 1;
	at += strcspn(at, "/");
	if (strncmp(at, "/deploy/", 8) == 0)
		at += 8 + strcspn(at + 8, "/");
	return *at && strcmp(at, target) == 0;
}

/** Append a user's name or ID of n bytes, unless it is empty or that of root.
    @return whether the name was appended. */
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
	/* The user ID of a FUSE mount is an option.  It is unknown if the mount was recorded
	   without options. */
	if (id == FUSE_USER_UNKNOWN && !mount->fs_opts) {
		strbuf_putc(user, '?');
		return true;
	}
	/* An ID other than that of root is the ID of the user who called fusermount(1). */
	if (id != 0 && id != FUSE_USER_UNKNOWN) {
		strbuf_printf(user, "%u", (unsigned)id);
		return true;
	}
	/* mount(8) records the user who mounted a line with "user" or "users". */
	o = kept ? opt_find(kept, "user", 4, &n) : NULL;
	if (o && n > 5 && named_user(user, o + 5, n - 5))
		return true;
	/* systemd-logind mounts /run/user/UID; only mounts below it are made by the user. */
	if (strncmp(target, session, sizeof(session) - 1) != 0)
		return false;
	target += sizeof(session) - 1;
	n = strspn(target, "0123456789");
	return target[n] == '/' && named_user(user, target, n);
}

const struct fstab_own *fstab_own(const struct mount *mount, const char *target, bool itself,
                                  bool all, bool user)
{
	static const struct fstab_own app_image = {"session", "of an AppImage"},
		ostree = {"initrd", "of ostree", true}, api = {"api", "an API file system", true},
		run = {"api", "made at boot", true}, below_run = {"api", "made at boot"};
	static const char *const runs[] = {"/run", "/var/run", NULL};
	const char *fstype = mount->fstype ? mount->fstype : "";
	unsigned flags = fstype_flags(fstype);
	bool real = mount->dev_major != 0 || flags & (FST_NET | FST_DEVICE);
	if (fstab_hides_kernels(mount, target))
		return NULL;
	for (size_t i = 0; i < sizeof(own_types) / sizeof(*own_types); ++i) {
		/* If a user made a FUSE mount, the user chose its type, which then counts only for
		   the owner "session". */
		const struct fstab_own *own = &own_types[i].own;
		if (word_in(fstype, strlen(fstype), own_types[i].types)
		    && (!user || !is_fuse(fstype) || strcmp(own->owner, "session") == 0))
			return own;
	}
	for (size_t i = 0; i < sizeof(own_dirs) / sizeof(*own_dirs); ++i) {
		const struct fstab_own *own = &own_dirs[i].own;
		unsigned how = own_dirs[i].depth;
		int depth = depth_below(target, own_dirs[i].dir, own_dirs[i].in);
		bool whole = mount->root && strcmp(mount->root, "/") == 0;
		/* A container engine also binds its directories, at any depth, onto themselves, to
		   make them private or shared. */
		if ((depth >= 0 && itself && strncmp(own->owner, "container:", 10) == 0)
		    || (depth >= (int)(how & DEPTH) && !(how & BOUND && whole)
		        && !(how & LAYERS && real)))
			return own;
	}
	size_t len = strlen(fstype);
	if (strncmp(fstype, "fuse.", 5) == 0 && len > 8
	    && strcasecmp(fstype + len - 8, "AppImage") == 0)
		return &app_image;
	/* The following checks rely on names of directories, which any user can create. */
	if (user)
		return NULL;
	const struct fstab_own *own = own_container(mount, target);
	if (!own)
		own = own_program(mount, target);
	if (own || all)
		return own;
	if (is_of_ostree(mount, target))
		return &ostree;
	if (fstab_is_kernels(target)
	    || (word_below(target, "/dev/shm") && flags & FST_PSEUDO))
		return &api;
	if (fstab_below_any(target, runs) && flags & FST_PSEUDO)
		return strcmp(target, "/run") == 0 ? &run : &below_run;
	return NULL;
}
