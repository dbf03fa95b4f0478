/* SPDX-License-Identifier: MIT */
/*
 * Choose the source of a line.  If an identifier of a device is missing, or shared with another
 * device, it is never silently replaced by another identifier: the wrong disk might be mounted,
 * perhaps only several boots later.
 */
#include "fstab/plan/plan_impl.h"

#include "base/fstypes.h"
#include "mountopts/fsopts.h"

#include <string.h>

/** Whether a device may be one of several devices of a file system or pool. */
static bool is_of_many(const struct devmap_tags *tags)
{
	return tags && (tags->multi_device
	                || (tags->type && (fstype_flags(tags->type) & FST_SUBVOL
	                                   || strcmp(tags->type, "zfs_member") == 0)));
}

int fstab_same_device(const struct fstab_device *a, const struct fstab_device *b)
{
	const struct devmap_tags *x = a->tags, *y = b->tags;
	bool named = x && y && x->name && y->name, numbered = a->numbered && b->numbered;
	if ((x && x == y) || (named && strcmp(x->name, y->name) == 0)
	    || (numbered && a->major == b->major && a->minor == b->minor))
		return 1;
	if (is_of_many(x) || is_of_many(y))
		return x && y && x->uuid && y->uuid ? strcmp(x->uuid, y->uuid) == 0 : -1;
	return named || numbered ? 0 : -1;
}

/** A tag of a device. */
struct tag {
	const char *name, *value;
};

static struct tag tag_of(const struct devmap_tags *tags, enum fstab_id id)
{
	const struct tag of[] = {
		[FSTAB_UUID] = {"UUID", tags->uuid}, [FSTAB_LABEL] = {"LABEL", tags->label},
		[FSTAB_PARTUUID] = {"PARTUUID", tags->partuuid},
		[FSTAB_PARTLABEL] = {"PARTLABEL", tags->partlabel}, [FSTAB_PATH] = {NULL, NULL},
	};
	return of[id];
}

/** Why a tag of a device cannot be the source of a line; NULL: it can.  A value that begins with a
    quotation mark is refused, because mount(8) would remove the marks. */
static const char *tag_fault(struct maker *mk, const struct devmap_tags *tags, enum fstab_id id)
{
	/* Why the tags of a device are not known. */
	static const char *const unknown[] = {
		[DEVMAP_ANONYMOUS] = "it has no device",
		[DEVMAP_NO_DEVICE] = "/sys does not list the device: it is gone, or /sys is not "
		                     "mounted",
		[DEVMAP_DENIED] = "not permitted to open the device",
		[DEVMAP_UNSAFE] = "the device must not be opened",
		[DEVMAP_UNTAGGED] = "the device contains no known signature",
		[DEVMAP_FAILED] = "the device cannot be read",
		[DEVMAP_NO_NODE] = "/dev does not have the device",
		[DEVMAP_AMBIVALENT] = "the device has signatures of several types",
	};
	const struct fstab_facts *facts = &mk->in->facts;
	struct tag tag = tag_of(tags, id);
	if (!tag.value || !*tag.value) {
		bool reason = tags->known == DEVMAP_UNSAFE && tags->reason;
		const char *why = reason ? tags->reason : unknown[tags->known];
		return arena_printf(mk->arena, "it has no %s%s%s", tag.name, why ? ": " : "",
		                    why ? why : "");
	}
	if (*tag.value == '"' || *tag.value == '\'')
		return arena_printf(mk->arena, "its %s begins with a quotation mark", tag.name);
	const char *named = arena_printf(mk->arena, "%s=%s", tag.name, tag.value);
	int count = facts->devices ? facts->devices(facts->arg, named, NULL) : 0;
	return count > 1 ? arena_printf(mk->arena, "%s is shared by %d devices", named, count)
	                 : NULL;
}

/** Why a name in /dev may refer to another device, or none, after the next boot; NULL: no reason
    known. */
static const char *path_fault(const char *path)
{
	if (!path)
		return "the device has no name in /dev";
	if (strcmp(path, "/dev/root") == 0)
		return "/dev/root is the kernel's name of its first root, not a device";
	if (strncmp(path, "/dev/dm-", 8) == 0)
		return "/dev/dm-* are numbered anew at every boot";
	return NULL;
}

/** List the names of a device except for the name of the kind `id`, for the comment above the line;
    NULL: no further name. */
static const char *other_names(struct maker *mk, const struct devmap_tags *tags, const char *path,
                               enum fstab_id id)
{
	const char *name = id != FSTAB_PATH && path ? path : "";
	const char *label = id != FSTAB_LABEL && tags->label ? tags->label : "";
	const char *uuid = id != FSTAB_UUID && tags->uuid ? tags->uuid : "";
	struct strbuf names = {.arena = mk->arena};
	if (*name)
		strbuf_printf(&names, " %s", name);
	if (*uuid)
		strbuf_printf(&names, " UUID=%s", uuid);
	if (*label)
		strbuf_printf(&names, " LABEL=%s", label);
	return names.len ? strbuf_str(&names) + 1 : NULL;
}

enum state source_of_device(struct maker *mk, const struct fstab_device *device,
                            const char *source, struct fstab_line *line)
{
	static const struct devmap_tags none = {.known = DEVMAP_UNSAFE,
	                                        .reason = "devices are not read"};
	const struct devmap_tags *tags = device->tags ? device->tags : &none;
	enum fstab_id id = mk->in->id;
	const char *fault = NULL, *path = tags->name ? tags->name
	                                  : source && strncmp(source, "/dev/", 5) == 0 ? source
	                                  : NULL;
	/* n: the length of the name without its number, if the device is zram or a RAM disk. */
	size_t n = !path ? 0 : strncmp(path, "/dev/zram", 9) == 0 ? 9
	           : strncmp(path, "/dev/ram", 8) == 0 ? 8 : 0;
	if (n && path[n] && !path[n + strspn(path + n, "0123456789")])
		return plan_refuse(mk, line, "its device is in memory: its data and its UUID do "
		                   "not survive a reboot");
	/* The name of a device-mapper device is chosen by the administrator and is stable. */
	if (id == FSTAB_AUTO && path && strncmp(path, "/dev/mapper/", 12) == 0) {
		id = FSTAB_PATH;
	} else if (id == FSTAB_AUTO) {
		id = FSTAB_UUID;
		fault = tag_fault(mk, tags, id);
		if (fault && !tag_fault(mk, tags, FSTAB_PARTUUID)) {
			line->warning = arena_printf(
				mk->arena, "%s: its partition is named instead", fault);
			id = FSTAB_PARTUUID;
			fault = NULL;
		}
	} else if (id != FSTAB_PATH) {
		fault = tag_fault(mk, tags, id);
	}
	if (!fault && id == FSTAB_PATH)
		fault = path_fault(path);
	if (fault && path_fault(path))
		return plan_refuse(mk, line, "%s", fault);
	if (fault)
		return plan_refuse(mk, line, "%s; --id=path would name it %s", fault, path);
	struct tag tag = tag_of(tags, id);
	line->source = tag.value ? arena_printf(mk->arena, "%s=%s", tag.name, tag.value) : path;
	line->note = other_names(mk, tags, path, id);
	return LINE;
}

bool fstab_is_tag(const char *source)
{
	size_t n = strcspn(source, "=");
	return source[n] && word_in(source, n, "UUID LABEL PARTUUID PARTLABEL ID");
}

const char *source_type_fault(struct maker *mk, const struct mount *mount)
{
	const char *fstype = plan_type(mount);
	if (fsopt_type_in(fstype, "aufs unionfs"))
		return "only the kernel knows its branches";
	if (strcmp(fstype, "ecryptfs") == 0)
		return "only the kernel knows its key";
	if (strchr(fstype, ','))
		return "its type has a comma, which mount(8) takes for a list of types";
	/* A FUSE server chooses the shown source and type freely; of all types, only sshfs shows a
	   source that can be mounted. */
	bool sshfs = strcmp(fstype, "fuse.sshfs") == 0 && mount->source
	             && strchr(mount->source, ':');
	return strncmp(fstype, "fuse.", 5) == 0 && !sshfs
	       ? arena_printf(mk->arena, "only its server knows what %s is mounted from", fstype)
	       : NULL;
}

enum state source_of_mount(struct maker *mk, const struct mount *mount, struct fstab_line *line)
{
	const char *source = mount->source && *mount->source ? mount->source : "none";
	unsigned flags = fstype_flags(mount->fstype);
	/* The source of a pseudo file system or overlay is an arbitrary name.  A name that looks
	   like an option or a device is replaced: systemd would wait for the device. */
	bool name = flags & FST_PSEUDO || strcmp(plan_type(mount), "overlay") == 0;
	if (name && (*source == '-' || fstab_is_tag(source) || strncmp(source, "/dev/", 5) == 0))
		source = mount->fstype;
	else if (fstab_is_tag(source))
		return plan_refuse(mk, line, "its source %s would be taken for a device", source);
	if (*source == '-')
		return plan_refuse(mk, line, "its source %s would be taken for options by "
		                   "mount(8)", source);
	/* For an unknown type, it is unknown whether a source that looks like a path is below
	   ROOT. */
	if (!(flags & FST_KNOWN) && *source == '/' && source[1] != '/'
	    && strcmp(mk->in->root, "/") != 0)
		return plan_refuse(mk, line, "whether its source %s lies in ROOT is not known",
		                   source);
	line->source = source;
	return LINE;
}
