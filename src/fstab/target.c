/* SPDX-License-Identifier: MIT */
#include "fstab/target.h"

#include "base/fstypes.h"
#include "base/words.h"
#include "base/secret.h"
#include "mountopts/edit.h"
#include "mountopts/fsopts.h"
#include "mountopts/shown.h"
#include "mountopts/vfsflags.h"
#include "mounttree.h"

#include <ctype.h>
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

const char *fstab_from_root(const char *root, const char *path)
{
	const char *rest = word_below(path, root);
	return rest && !*rest ? "/" : rest;
}

const char *fstab_join(struct arena *arena, const char *dir, const char *rest)
{
	bool itself = !*rest || !rest[1];
	return arena_printf(arena, "%s%s", dir[1] || itself ? dir : "", itself ? "" : rest);
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

bool fstab_root_fault(const struct fstab_entry *line, const struct mount *root,
                      struct strbuf *why)
{
	const char *type = root->fstype ? root->fstype : "",
	           *source = root->source ? root->source : "none";
	bool overlay = strcmp(type, "overlay") == 0, sealed = shown_readonly(root);
	const char *options = root->fs_opts ? root->fs_opts : "";
	/* A transient root of ostree or bootc is an image too, although it has an upper directory
	   and so is not read-only. */
	bool image = overlay ? sealed || strncmp(source, "composefs", 9) == 0
	                       || strstr(options, "/ostree/")
	                     : sealed && !shown_type(line->fstype, type);
	struct vfs_flags flags = {0};
	struct strbuf refused = {.arena = why->arena};
	if (!image || !root->fs_opts)
		return false;
	vfs_flags_named(line->options, &flags);
	/* The kernel refuses all options of an overlay on a remount, since util-linux 2.39 uses
	   the new system calls; other types refuse only options that they do not have. */
	for (uint32_t i = 0; i < line->nopts; ++i) {
		const struct opt *o = &line->opts[i];
		if (!o->is_x && !fsopt_is_general(o->text, o->nname)
		    && (overlay || !fsopt_of_line(type, FSOPT_KNOWN, o->text, o->nname)))
			strbuf_printf(&refused, "%s%.*s", refused.len ? "," : "", (int)o->n,
			              o->text);
	}
	bool writable = sealed && !flags.value[VFS_RO], fails = writable || refused.len;
	if (fails)
		strbuf_printf(why, "the root is an image (%s%s%s), which ",
		              strcmp(source, type) == 0   ? ""
		              : source_has_secret(source) ? "***" : source,
		              strcmp(source, type) == 0 ? "" : ", ", type);
	if (writable)
		strbuf_puts(why, "cannot be remounted read-write");
	else if (fails)
		strbuf_printf(why, "refuses the options of the line: %s",
		              has_secret(strbuf_str(&refused)) ? "***" : strbuf_str(&refused));
	strbuf_destroy(&refused);
	return fails;
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
	           *root = mount_root(parent);
	size_t n = root[1] ? strlen(root) : 0;
	return strncmp(m->root, root, n) == 0 && strcmp(m->root + n, below) == 0;
}

bool fstab_is_kernels(const char *target)
{
	static const char *const dirs[] = {"/proc", "/sys", "/dev", NULL};
	/* Mounts below /dev/shm do not count, since any user can create directories in it. */
	return fstab_below_any(target, dirs) && fstab_depth_below(target, "/dev/shm") < 1;
}

bool fstab_hides_kernels(const struct mount *mount, const char *target)
{
	const char *fstype = mount->fstype ? mount->fstype : "";
	unsigned flags = fstype_flags(fstype);
	if (!fstab_is_kernels(target) || flags & FST_AUTOFS)
		return false;
	/* A mount on the directory of a process hides the process.  Container engines mask files
	   in /proc, but not these directories. */
	if (strncmp(target, "/proc/", 6) == 0 && target[6] >= '0' && target[6] <= '9')
		return true;
	if (strcmp(target, "/proc") == 0)
		return strcmp(fstype, "proc") != 0;
	/* The kubelet binds a file onto /dev/termination-log in every container. */
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

/* Systemd units. */

bool fstab_is_lines_unit(const struct host_unit *unit)
{
	return strcmp(unit->source_path, "/etc/fstab") == 0;
}

/** Find the kind of a unit from its name and the file that defines it. */
static enum fstab_unit kind_of(const struct host_unit *unit)
{
	const char *file = unit->fragment;
	if (strcmp(unit->load_state, "masked") == 0)
		return FSTAB_NO_UNIT;
	if (fstab_is_lines_unit(unit))
		return host_unit_is(unit, ".automount") ? FSTAB_AUTOMOUNT : FSTAB_NO_UNIT;
	/* Only systemd-gpt-auto-generator(8) writes mount units to this directory. */
	if (strncmp(file, "/run/systemd/generator.late/", 28) == 0)
		return FSTAB_GPT_UNIT;
	bool pulled = *unit->wanted_by || *unit->required_by || *unit->triggered_by
	              || strncmp(file, "/run/systemd/generator", 22) == 0;
	return pulled ? FSTAB_OWN_UNIT : FSTAB_IDLE_UNIT;
}

/** Step through the units of a mount point or swap space.  A swap space has a unit for each name of
    its device; for a unit with the property Following=, the unit that it follows is returned.
    @at [in,out]  The position; NULL: begin.
    @return NULL: no further unit. */
static const struct host_unit *next_at(const struct host_units *units, const char *path,
                                       const struct host_unit **at)
{
	*at = !*at ? host_units_at(units, path)
	      : (*at)->next == MAP64_NONE ? NULL : &units->list[(*at)->next];
	const struct host_unit *followed = *at && *(*at)->following && !*(*at)->fragment
	                                   ? host_units_find(units, (*at)->following) : NULL;
	return followed ? followed : *at;
}

enum fstab_unit fstab_unit_of(const struct host_units *units, const char *path)
{
	enum fstab_unit found = FSTAB_NO_UNIT;
	const struct host_unit *at = NULL;
	for (const struct host_unit *unit; (unit = next_at(units, path, &at)) != NULL;) {
		enum fstab_unit kind = *unit->fragment ? kind_of(unit) : FSTAB_NO_UNIT;
		/* An automount unit takes precedence over its mount unit. */
		if (kind != FSTAB_NO_UNIT && (found == FSTAB_NO_UNIT
		                              || host_unit_is(unit, ".automount")))
			found = kind;
	}
	return found;
}

/** Find the mount or swap unit that was generated from an fstab line for a path; NULL: none. */
static const struct host_unit *lines_unit(const struct host_units *units, const char *path)
{
	const struct host_unit *at = NULL, *unit;
	while ((unit = next_at(units, path, &at)) != NULL) {
		if (fstab_is_lines_unit(unit) && !host_unit_is(unit, ".automount"))
			return unit;
	}
	return NULL;
}

bool fstab_has_loaded(const struct host_units *units, const char *path)
{
	return lines_unit(units, path);
}

bool fstab_has_dropins(const struct host_units *units, const char *path)
{
	const struct host_unit *unit = lines_unit(units, path);
	return unit && *unit->dropins;
}

struct fstab_loaded fstab_count_loaded(const struct host_units *units)
{
	struct fstab_loaded loaded = {0};
	for (size_t i = 0; i < units->count; ++i) {
		const struct host_unit *unit = &units->list[i];
		if (!fstab_is_lines_unit(unit))
			continue;
		++loaded.count;
		loaded.stale += strcmp(unit->need_reload, "yes") == 0;
	}
	return loaded;
}

bool fstab_is_boot_target(const char *names)
{
	static const char boot[] =
		"local-fs remote-fs swap sysinit basic multi-user graphical default local-fs-pre "
		"remote-fs-pre network network-online paths sockets timers time-sync getty "
		"cryptsetup snapd.mounts snapd.mounts-pre";
	static const char suffix[] = ".target";
	size_t tail = sizeof(suffix) - 1;
	for (const char *at = names; *(at += strspn(at, " "));) {
		size_t n = strcspn(at, " ");
		if (n > tail && memcmp(at + n - tail, suffix, tail) == 0
		    && word_in(at, n - tail, boot))
			return true;
		at += n;
	}
	return false;
}

bool fstab_is_skipped(const char *path)
{
	static const char paths[] =
		"/dev /dev/console /dev/pts /dev/shm /proc /proc/kmsg /proc/sys "
		"/proc/sys/kernel/random/boot_id /run /run/lock /sys /sys/firmware/efi/efivars "
		"/sys/fs/bpf /sys/fs/pstore /sys/fs/selinux /sys/fs/smackfs /sys/kernel/security";
	static const char *const dirs[] = {"/run/host", "/sys/fs/cgroup", NULL};
	return word_in(path, strlen(path), paths) || fstab_below_any(path, dirs);
}

void fstab_unit_name(struct strbuf *out, const char *path)
{
	const char *from = path + strspn(path, "/");
	if (!*from)
		strbuf_putc(out, '-');
	for (const char *at = from; *at; ++at) {
		if (isalnum((unsigned char)*at) || strchr(":_", *at) || (*at == '.' && at > from))
			strbuf_putc(out, *at);
		else if (*at != '/')
			strbuf_printf(out, "\\x%02x", (unsigned char)*at);
		else if (at[1] && at[1] != '/')
			strbuf_putc(out, '-');
	}
}
