/* SPDX-License-Identifier: MIT */
/*
 * How a device is named.  An identifier that is missing, or shared by another device, is never
 * replaced silently: the wrong disk might be mounted, perhaps not before the next boot but one.
 */
#include "fstab/plan/plan_impl.h"

#include "base/fstypes.h"

#include <stdarg.h>
#include <string.h>

const char *fstab_format(struct fstab_draft *draft, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	const char *text = arena_vprintf(draft->arena, format, args);
	va_end(args);
	draft->failed |= !text;
	return text;
}

/** Whether a device may be one of several of a file system or pool. */
static bool is_of_many(const struct devmap_tags *tags)
{
	return tags
	       && (tags->multi_device
	           || (tags->type
	               && (fstype_flags(tags->type) & FST_SUBVOL
	                   || strcmp(tags->type, "zfs_member") == 0)));
}

int fstab_same_device(const struct fstab_device *a, const struct fstab_device *b)
{
	const struct devmap_tags *x = a->tags, *y = b->tags;
	bool named = x && y && x->name && y->name, numbered = a->numbered && b->numbered;
	if ((x && x == y) || (named && strcmp(x->name, y->name) == 0) || (numbered
	        && a->major == b->major && a->minor == b->minor))
		return 1;
	if (is_of_many(x) || is_of_many(y))
		return x && y && x->uuid && y->uuid ? strcmp(x->uuid, y->uuid) == 0 : -1;
	return named || numbered ? 0 : -1;
}

static const char *const tag_names[] = {
	[FSTAB_UUID] = "UUID", [FSTAB_LABEL] = "LABEL",
	[FSTAB_PARTUUID] = "PARTUUID", [FSTAB_PARTLABEL] = "PARTLABEL",
};

static const char *tag_of(const struct devmap_tags *tags, enum fstab_id id)
{
	switch (id) {
	case FSTAB_UUID:
		return tags->uuid;
	case FSTAB_LABEL:
		return tags->label;
	case FSTAB_PARTUUID:
		return tags->partuuid;
	case FSTAB_PARTLABEL:
		return tags->partlabel;
	case FSTAB_AUTO:
	case FSTAB_PATH:
		break;
	}
	return NULL;
}

/** Why the tags of a device are not known. */
static const char *unknown(const struct devmap_tags *tags)
{
	switch (tags->known) {
	case DEVMAP_KNOWN:
		break;
	case DEVMAP_ANONYMOUS:
		return "it has no device";
	case DEVMAP_NO_DEVICE:
		return "/sys does not list the device: it is gone, or /sys is not mounted";
	case DEVMAP_DENIED:
		return "not permitted to open the device";
	case DEVMAP_UNSAFE:
		return tags->reason ? tags->reason : "the device must not be opened";
	case DEVMAP_UNTAGGED:
		return "the device holds nothing known";
	case DEVMAP_FAILED:
		return "the device cannot be read";
	case DEVMAP_NO_NODE:
		return "/dev does not have the device";
	case DEVMAP_AMBIVALENT:
		return "the device holds signatures of several types";
	}
	return NULL;
}

/**
 * Why a tag cannot be used; NULL if it can.
 *
 * A quoted value would be read without quotation marks.
 */
static const char *tag_fault(struct fstab_draft *draft, const struct devmap_tags *tags,
                             enum fstab_id id)
{
	const char *value = tag_of(tags, id), *name = tag_names[id];
	const struct fstab_world *world = &draft->in->world;
	if (!value || !*value) {
		const char *why = unknown(tags);
		return fstab_format(draft, "it has no %s%s%s", name, why ? ": " : "",
		                    why ? why : "");
	}
	if (*value == '"' || *value == '\'')
		return fstab_format(draft, "its %s begins with a quotation mark", name);
	unsigned holders = world->holders ? world->holders(world->arg, name, value) : 0;
	if (holders > 1)
		return fstab_format(draft, "%s=%s is shared by %u devices", name, value, holders);
	return NULL;
}

static const char *device_path(const struct fstab_device *device, const char *source)
{
	if (device->tags && device->tags->name)
		return device->tags->name;
	return source && strncmp(source, "/dev/", 5) == 0 ? source : NULL;
}

/** Why a name in /dev may name another device, or none, after the next boot; NULL: no reason is
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

/** Whether a name is chosen and lasts, like those of device mapper. */
static bool is_mapped(const char *path)
{
	return path && strncmp(path, "/dev/mapper/", 12) == 0;
}

/** Note the other names of a device. */
static void add_note(struct fstab_draft *draft, const struct devmap_tags *tags, const char *path,
                     enum fstab_id id)
{
	const char *name = id != FSTAB_PATH && path ? path : "";
	const char *label = id != FSTAB_LABEL && tags->label ? tags->label : "";
	const char *uuid = id != FSTAB_UUID && tags->uuid ? tags->uuid : "";
	strbuf_reset(&draft->text);
	const char *blank = "";
	if (*name) {
		strbuf_puts(&draft->text, name);
		blank = " ";
	}
	if (*uuid) {
		strbuf_printf(&draft->text, "%sUUID=%s", blank, uuid);
		blank = " ";
	}
	if (*label)
		strbuf_printf(&draft->text, "%sLABEL=%s", blank, label);
}

/** Whether a device is in memory: zram, or a RAM disk. */
static bool is_memory(const char *path)
{
	size_t n = !path                                ? 0
	           : strncmp(path, "/dev/zram", 9) == 0 ? 9
	           : strncmp(path, "/dev/ram", 8) == 0  ? 8
	                                                : 0;
	return n && path[n] && strspn(path + n, "0123456789") == strlen(path + n);
}

bool fstab_name_device(struct fstab_draft *draft, const struct fstab_device *device,
                       const char *source, struct fstab_line *line)
{
	static const struct devmap_tags none = {.known = DEVMAP_UNSAFE,
	                                        .reason = "devices are not read"};
	const struct devmap_tags *tags = device->tags ? device->tags : &none;
	enum fstab_id id = draft->in->id;
	const char *path = device_path(device, source), *fault = NULL;

	if (is_memory(path)) {
		line->why =
		        "its device is in memory: its data and its UUID do not survive a reboot";
		return false;
	}
	if (id == FSTAB_AUTO) {
		id = is_mapped(path) ? FSTAB_PATH : FSTAB_UUID;
		fault = id == FSTAB_UUID ? tag_fault(draft, tags, id) : NULL;
		if (fault && !tag_fault(draft, tags, FSTAB_PARTUUID)) {
			line->warning =
			        fstab_format(draft, "%s: its partition is named instead", fault);
			id = FSTAB_PARTUUID;
			fault = NULL;
		}
	} else if (id != FSTAB_PATH) {
		fault = tag_fault(draft, tags, id);
	}
	if (!fault && id == FSTAB_PATH)
		fault = path_fault(path);
	if (fault || draft->failed) {
		line->why =
		        fault && !path_fault(path)
		                ? fstab_format(draft, "%s; --id=path would name it %s", fault, path)
		                : fault;
		return false;
	}
	const char *value = tag_of(tags, id);
	line->source = value ? fstab_format(draft, "%s=%s", tag_names[id], value) : path;
	add_note(draft, tags, path, id);
	if (draft->text.len)
		line->note = arena_strndup(draft->arena, strbuf_str(&draft->text), draft->text.len);
	draft->failed |= draft->text.failed || (draft->text.len && !line->note) || !line->source;
	return !draft->failed;
}

bool fstab_is_tag(const char *source)
{
	static const char *const tags[] = {"UUID=", "LABEL=", "PARTUUID=", "PARTLABEL=", "ID="};
	for (size_t i = 0; i < sizeof(tags) / sizeof(*tags); ++i) {
		if (strncmp(source, tags[i], strlen(tags[i])) == 0)
			return true;
	}
	return false;
}

const char *fstab_type_fault(struct fstab_draft *draft, const struct mount *mount)
{
	static const char *const rows[][2] = {
		{"aufs", "only the kernel knows its branches"},
		{"ecryptfs", "only the kernel knows its key"},
		{"unionfs", "only the kernel knows its branches"},
	};
	const char *fstype = mount->fstype ? mount->fstype : "";
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); ++i) {
		if (strcmp(fstype, rows[i][0]) == 0)
			return rows[i][1];
	}
	if (strchr(fstype, ','))
		return "its type has a comma, which mount(8) takes for a list of types";
	/* A FUSE server chooses both names; only those of sshfs can be mounted. */
	if (strncmp(fstype, "fuse.", 5) == 0
	    && (strcmp(fstype, "fuse.sshfs") != 0 || !mount->source || !strchr(mount->source, ':')))
		return fstab_format(draft, "only its server knows what %s is mounted from", fstype);
	return NULL;
}

bool fstab_name_source(struct fstab_draft *draft, const struct mount *mount,
                       struct fstab_line *line)
{
	const char *source = mount->source && *mount->source ? mount->source : "none";
	unsigned flags = fstype_flags(mount->fstype);
	/* systemd would wait for a mere name in /dev. */
	bool name = flags & FST_PSEUDO || (mount->fstype && strcmp(mount->fstype, "overlay") == 0);
	if (name && (*source == '-' || fstab_is_tag(source) || strncmp(source, "/dev/", 5) == 0)) {
		source = mount->fstype;
	} else if (fstab_is_tag(source)) {
		line->why =
		        fstab_format(draft, "its source %s would be taken for a device", source);
		return false;
	}
	if (*source == '-') {
		line->why = fstab_format(
		        draft, "its source %s would be taken for options by mount(8)", source);
		return false;
	}
	/* The path of an unknown type may be that of a system with another root. */
	if (!(flags & FST_KNOWN) && *source == '/' && source[1] != '/'
	    && strcmp(draft->in->root, "/") != 0) {
		line->why = fstab_format(draft, "whether its source %s lies in ROOT is not known",
		                         source);
		return false;
	}
	line->source = source;
	return true;
}
