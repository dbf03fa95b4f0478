/* SPDX-License-Identifier: MIT */
/*
 * What a source names, and what is at the places that a line names; types, and the
 * helpers that they need.
 *
 * What is there is what is there now: below the mount point of another line that may
 * be an empty directory, so nothing is told of it.
 */
#include "audit/audit_impl.h"

#include "base/escape.h"
#include "base/fstypes.h"
#include "fstab/fstab_impl.h"
#include "mounttree.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/** Whether a source is TAG=value of any tag. */
static bool is_tag(const char *source)
{
	size_t n = strspn(source, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
	return n >= 2 && source[n] == '=';
}

/** Whether mount(8) takes a tag. */
static bool is_known_tag(const char *source)
{
	static const char *const tags[] = {"UUID=", "LABEL=", "PARTUUID=", "PARTLABEL=", "ID="};
	for (size_t i = 0; i < sizeof(tags) / sizeof(*tags); ++i) {
		if (strncmp(source, tags[i], strlen(tags[i])) == 0)
			return true;
	}
	return false;
}

/** A tag without the quotes around its value. */
static const char *plain(struct audit *audit, const char *source)
{
	const char *equals = is_tag(source) ? strchr(source, '=') : NULL;
	size_t n = strlen(source);
	if (!equals || (equals[1] != '"' && equals[1] != '\'') || source + n < equals + 3 || source[n - 1] != equals[1])
		return source;
	return audit_format(audit, "%.*s=%.*s", (int)(equals - source), source, (int)(source + n - equals - 3), equals + 2);
}

/** Whether a text is a UUID, or the serial of a FAT or NTFS, without its tag (b24). */
static bool looks_like_uuid(const char *text)
{
	size_t n = strlen(text), hex = 0, dashes = 0;
	for (size_t i = 0; i < n; ++i) {
		hex += isxdigit((unsigned char)text[i]) != 0;
		dashes += text[i] == '-';
	}
	return hex + dashes == n && ((n == 36 && dashes == 4) || (n == 9 && dashes == 1 && text[4] == '-')
	                             || (n == 16 && dashes == 0));
}

/** Whether the type stands on a device, by type or source. */
static bool on_device(const struct audit_entry *entry)
{
	if (entry->bind || strcmp(entry->fstype, "ignore") == 0)
		return false;
	if (entry->swap || entry->flags & FST_DEVICE || is_tag(entry->source))
		return true;
	return (strcmp(entry->fstype, "auto") == 0 || !*entry->fstype) && *entry->source != '\0'
	       && strcmp(entry->source, "none") != 0 && !strchr(entry->source, ':');
}

/** Whether the option tells of an image in a file; or the source is one. */
static bool is_image(struct audit *audit, const struct audit_entry *entry)
{
	if (audit_option(audit, entry, "loop") || audit_option(audit, entry, "offset"))
		return true;
	if (*entry->source != '/' || mtree_path_within(entry->source, "/dev"))
		return false;
	const struct fstab_facts *facts = audit->in->facts;
	return !facts->look || facts->look(facts->arg, entry->source, NULL) == FACT_FILE;
}

/** Whether a digit stands behind some bytes: "sda1" of "sd". */
static bool is_numbered(const char *name, const char *head, bool letters)
{
	size_t n = strlen(head);
	if (strncmp(name, head, n) != 0)
		return false;
	return letters ? islower((unsigned char)name[n]) : isdigit((unsigned char)name[n]);
}

/** Judge a name in /dev: whether the kernel gives it in the order that it finds devices. */
static void judge_stable(struct audit *audit, const struct audit_entry *entry)
{
	static const struct {
		const char *head;
		bool letters, boot;
	} heads[] = {
		{"sd", true, true}, {"hd", true, true}, {"vd", true, false}, {"xvd", true, false}, {"nvme", false, true},
		{"mmcblk", false, false}, {"dm-", false, true}, {"loop", false, true}, {"nbd", false, true}, {"rbd", false, true},
		{"pmem", false, false}, {"ram", false, false},
	};
	if (entry->noauto || strncmp(entry->source, "/dev/", 5) != 0)
		return;
	const char *name = entry->source + 5;
	for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); ++i) {
		if (!is_numbered(name, heads[i].head, heads[i].letters))
			continue;
		/* Of a cloud's disk cloud-init writes the line, anew on each instance. */
		const char *by = audit_option(audit, entry, "comment");
		bool cloud = by && strcmp(by, "cloudconfig") == 0;
		audit_tell(audit, entry, FSTAB_SRC_UNSTABLE, &(struct audit_told){
			cloud ? AUDIT_INFO : AUDIT_WARNING, heads[i].boot && !cloud, audit_format(audit, "%s may be another device at the next boot", entry->source),
			"UUID=, LABEL=, PARTUUID= or a name of /dev/disk or /dev/mapper", entry->source,
			"name it by its UUID: getmnt fstab does"});
		return;
	}
}

/** Judge whether block storage comes over a network. */
static void judge_network(struct audit *audit, const struct audit_entry *entry, const struct fstab_device *device)
{
	static const char *const marks[] = {"/dev/nbd", "/dev/rbd", "/dev/drbd", "/dev/etherd/"};
	bool remote = device && device->remote;
	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); ++i)
		remote |= strncmp(entry->source, marks[i], strlen(marks[i])) == 0;
	if (strncmp(entry->source, "/dev/disk/by-path/", 18) == 0)
		remote |= strstr(entry->source, "-iscsi-") != NULL;
	if (!remote || entry->netdev || entry->noauto || (entry->flags & FST_NET && entry->flags & FST_DEVICE))
		return;
	audit_tell(audit, entry, FSTAB_NETDEV, &(struct audit_told){
		AUDIT_WARNING, true, "its device is reached over a network, which is not up when it is to be mounted", "_netdev",
		NULL, "give it _netdev"});
}

/** The type that a line gives, and the one on the device. */
static void judge_type(struct audit *audit, const struct audit_entry *entry, const char *type)
{
	if (!entry->path && !entry->swap)
		return;
	static const char *const alike[][2] = {
		{"ext2 ext3 ext4", "ext2 ext3 ext4"}, {"vfat msdos", "vfat msdos"}, {"ntfs ntfs3 ntfs-3g fuseblk", "ntfs"},
		{"udf iso9660", "udf iso9660"}, {"exfat fuse.exfat", "exfat"}, {"swap", "swap swsuspend"},
	};
	if (!type || !*entry->fstype || strcmp(entry->fstype, "auto") == 0 || strcmp(entry->fstype, type) == 0
	    || strchr(entry->fstype, ','))
		return;
	for (size_t i = 0; i < sizeof(alike) / sizeof(*alike); ++i) {
		const char *line = alike[i][0], *disk = alike[i][1];
		size_t n = strlen(entry->fstype), m = strlen(type);
		const char *a = strstr(line, entry->fstype), *b = strstr(disk, type);
		if (a && b && (a == line || a[-1] == ' ') && (!a[n] || a[n] == ' ') && (b == disk || b[-1] == ' ')
		    && (!b[m] || b[m] == ' '))
			return;
	}
	audit_tell(audit, entry, FSTAB_TYPE_MISMATCH, &(struct audit_told){
		AUDIT_CRITICAL, true, audit_format(audit, "what is on the device is %s", type), type, entry->fstype,
		audit_format(audit, "write %s", type)});
}

/** What there may be of a tag in other letters (b24). */
static const char *other_case(struct audit *audit, const char *source)
{
	const struct fstab_facts *facts = audit->in->facts;
	const char *equals = strchr(source, '=');
	for (int upper = 0; equals && upper < 2; ++upper) {
		char *copy = arena_strndup(&audit->report->arena, source, strlen(source));
		if (!copy) {
			audit->failed = true;
			return NULL;
		}
		for (char *c = copy + (equals - source); *c; ++c)
			*c = (char)(upper ? toupper((unsigned char)*c) : tolower((unsigned char)*c));
		if (strcmp(copy, source) != 0 && facts->devices(facts->arg, copy, NULL) > 0)
			return copy;
	}
	return NULL;
}

/** A source that there is not. */
static void tell_missing(struct audit *audit, const struct audit_entry *entry, const char *message, const char *hint)
{
	bool later = entry->noauto || entry->nofail;
	audit_tell(audit, entry, FSTAB_SRC_MISSING, &(struct audit_told){
		later ? AUDIT_INFO : AUDIT_CRITICAL, true, message, NULL,
		audit->in->secret && audit->in->secret(entry->source, NULL) ? NULL : entry->source, hint});
}

static void judge_device(struct audit *audit, const struct audit_entry *entry)
{
	const struct fstab_facts *facts = audit->in->facts;
	const char *source = plain(audit, entry->source);
	judge_stable(audit, entry);
	if (!is_tag(source) && *source != '/') {
		/* bcachefs of several devices; what is a name of its own. */
		bool uuid = looks_like_uuid(source);
		tell_missing(audit, entry, uuid ? "it is a path that there is not, and looks like a UUID" : "it is neither a path nor a tag",
		             uuid ? audit_format(audit, "write UUID=%s", source) : "give a path, or TAG=value");
		return;
	}
	if (is_tag(source) && !is_known_tag(source)) {
		tell_missing(audit, entry, "mount(8) knows no such tag", "UUID, LABEL, PARTUUID, PARTLABEL or ID");
		return;
	}
	if (is_image(audit, entry)) {
		const struct audit_entry *above = audit_above(audit, entry, source);
		if (above)
			return;
		if (!facts->look)
			audit_unjudged(audit, FSTAB_SRC_MISSING);
		else if (facts->look(facts->arg, source, NULL) == FACT_MISSING)
			tell_missing(audit, entry, "there is no such file", "give the file, or take the line away");
		return;
	}
	struct fstab_device device = {0};
	int count = facts->devices ? facts->devices(facts->arg, source, &device) : -1;
	judge_network(audit, entry, count > 0 ? &device : NULL);
	if (count < 0) {
		audit_unjudged(audit, FSTAB_SRC_MISSING);
		audit_unjudged(audit, FSTAB_SRC_AMBIGUOUS);
		audit_unjudged(audit, FSTAB_TYPE_MISMATCH);
	} else if (count == 0) {
		const char *other = is_tag(source) ? other_case(audit, source) : NULL;
		tell_missing(audit, entry, is_tag(source) ? "no device has it" : "there is no such device",
		             other ? audit_format(audit, "is %s meant?  Upper and lower case are not the same", other)
		             : "see lsblk -f; give what is there, or nofail if it may be missing");
	} else if (count > 1) {
		audit_tell(audit, entry, FSTAB_SRC_AMBIGUOUS, &(struct audit_told){
			entry->noauto ? AUDIT_WARNING : AUDIT_CRITICAL, true,
			audit_format(audit, "%d devices have it, and which of them is mounted is not told", count), "one device",
			source, "name it by PARTUUID= or its path of /dev/disk/by-id, or give one of them another"});
	} else if (device.tags) {
		judge_type(audit, entry, device.tags->type);
	}
}

/** What is at a path now; where the mount of another line will hide it, unknown. */
static enum fact_kind look(struct audit *audit, const struct audit_entry *entry, const char *path,
                           enum audit_code code)
{
	const struct fstab_facts *facts = audit->in->facts;
	if (!facts->look) {
		audit_unjudged(audit, code);
		return FACT_UNKNOWN;
	}
	enum fact_kind kind = facts->look(facts->arg, path, NULL);
	if (kind == FACT_UNKNOWN)
		audit_unjudged(audit, code);
	return kind == FACT_MISSING && audit_above(audit, entry, path) ? FACT_UNKNOWN : kind;
}

static void judge_bind(struct audit *audit, const struct audit_entry *entry)
{
	const char *path = fstab_normal(&audit->report->arena, entry->source);
	if (!path) {
		/* Told by a quotation mark already. */
		if (*entry->source != '"' && *entry->source != '\'')
			audit_tell(audit, entry, FSTAB_BIND_SRC, &(struct audit_told){
				AUDIT_CRITICAL, true, "what is bound is no absolute path", "/...", NULL, "give the directory or file"});
		return;
	}
	if (look(audit, entry, path, FSTAB_BIND_SRC) == FACT_MISSING)
		audit_tell(audit, entry, FSTAB_BIND_SRC, &(struct audit_told){
			entry->noauto || entry->nofail ? AUDIT_INFO : AUDIT_CRITICAL, true,
			audit_format(audit, "what it binds is not there: %s", path), NULL, NULL, "make it, or take the line away"});
}

/** Layers of an overlay. */
struct layers {
	struct audit *audit;
	const struct audit_entry *entry;
	struct strbuf path;
};

static bool each_layer(void *arg, const struct fstab_layer *layer)
{
	struct layers *layers = arg;
	struct audit *audit = layers->audit;
	fstab_layer_path(layer, &layers->path);
	const char *path = fstab_normal(&audit->report->arena, strbuf_str(&layers->path));
	if (!path)
		return !layers->path.failed;
	enum fact_kind kind = look(audit, layers->entry, path, FSTAB_OVERLAY_DIR);
	if (kind == FACT_MISSING || kind == FACT_FILE)
		audit_tell(audit, layers->entry, FSTAB_OVERLAY_DIR, &(struct audit_told){
			layers->entry->noauto || layers->entry->nofail ? AUDIT_INFO : AUDIT_CRITICAL, true,
			audit_format(audit, "its directory %s is not there", path), NULL, NULL, "make it"});
	return true;
}

static void judge_overlay(struct audit *audit, const struct audit_entry *entry)
{
	bool upper = audit_option(audit, entry, "upperdir"), work = audit_option(audit, entry, "workdir");
	bool lower = audit_option(audit, entry, "lowerdir") || audit_option(audit, entry, "lowerdir+");
	const char *lack = !lower ? "lowerdir" : upper && !work ? "workdir" : !upper && work ? "upperdir" : NULL;
	if (lack)
		audit_tell(audit, entry, FSTAB_OVERLAY_DIR, &(struct audit_told){
			AUDIT_CRITICAL, true, audit_format(audit, "it has no %s", lack), audit_format(audit, "%s=", lack), NULL,
			"give all that it needs"});
	struct layers layers = {.audit = audit, .entry = entry};
	struct strbuf scratch;
	strbuf_init(&layers.path);
	strbuf_init(&scratch);
	const char *raw = tabline_value(entry->line, TABLINE_OPTIONS);
	if (raw && *entry->options)
		fstab_each_layer(raw, &scratch, each_layer, &layers);
	audit->failed |= scratch.failed || layers.path.failed;
	strbuf_destroy(&scratch);
	strbuf_destroy(&layers.path);
}

void audit_source(struct audit *audit, const struct audit_entry *entry)
{
	if (entry->bind)
		judge_bind(audit, entry);
	else if (strcmp(entry->fstype, "overlay") == 0)
		judge_overlay(audit, entry);
	else if (on_device(entry) && *entry->source != '"' && *entry->source != '\'')
		judge_device(audit, entry);
}

/** Whether mount(8) cannot do without a helper of the type; of fuse it is one for all. */
static bool wants_helper(const char *fstype, const char **name)
{
	static const char *const types[] = {
		"nfs", "nfs4", "cifs", "smb3", "glusterfs", "davfs", "ntfs-3g", "lustre", "beegfs", "moosefs", "s3fs",
		"vmhgfs-fuse", "fuse", "zfs",
	};
	*name = fstype;
	if (strncmp(fstype, "fuse.", 5) == 0) {
		*name = "fuse";
		return true;
	}
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); ++i) {
		if (strcmp(fstype, types[i]) == 0)
			return true;
	}
	return false;
}

/** Judge the helpers of a type, and whether the kernel has it. */
static void judge_helpers(struct audit *audit, const struct audit_entry *entry)
{
	const struct fstab_facts *facts = audit->in->facts;
	const char *name;
	bool wanted = wants_helper(entry->fstype, &name);
	if (wanted || (entry->line->passno > 0 && entry->flags & FST_FSCK)) {
		const char *helper = audit_format(audit, "%s.%s", wanted ? "mount" : "fsck", name);
		int there = facts->helper ? facts->helper(facts->arg, helper) : -1;
		if (there < 0)
			audit_unjudged(audit, FSTAB_HELPER_MISSING);
		else if (there == 0)
			audit_tell(audit, entry, FSTAB_HELPER_MISSING, &(struct audit_told){
				AUDIT_WARNING, false, audit_format(audit, "%s is not installed", helper), helper, NULL,
				wanted ? "install what it is in" : "install it, or write 0 as the pass"});
	}
	if (entry->bind || entry->swap || wanted || !*entry->fstype || strchr(entry->fstype, ',')
	    || strcmp(entry->fstype, "auto") == 0 || strcmp(entry->fstype, "none") == 0
	    || strcmp(entry->fstype, "ignore") == 0)
		return;
	int known = facts->fstype ? facts->fstype(facts->arg, entry->fstype) : -1;
	const char *helper = known == 0 ? audit_format(audit, "mount.%s", entry->fstype) : "";
	/* With a helper of its own it may be anything. */
	if (known < 0 || (known == 0 && facts->helper && facts->helper(facts->arg, helper) != 0))
		audit_unjudged(audit, FSTAB_TYPE_UNSUPPORTED);
	else if (known == 0)
		audit_tell(audit, entry, FSTAB_TYPE_UNSUPPORTED, &(struct audit_told){
			entry->noauto || entry->nofail ? AUDIT_WARNING : AUDIT_CRITICAL, true,
			audit_format(audit, "the kernel cannot mount the type %s", entry->fstype), NULL, NULL,
			"mend the name, or install the module"});
}

/** Whether systemd mounts the lines: it makes the directories. */
static bool is_systemd(struct audit *audit)
{
	static const char *const places[] = {
		"/run/systemd/system", "/run/systemd/generator", "/usr/lib/systemd/systemd", "/lib/systemd/systemd", NULL,
	};
	const struct fstab_facts *facts = audit->in->facts;
	for (size_t i = 0; places[i] && !audit->systemd; ++i) {
		enum fact_kind kind = facts->look(facts->arg, places[i], NULL);
		audit->systemd = kind == FACT_DIR || kind == FACT_FILE ? 1 : places[i + 1] ? 0 : -1;
	}
	return audit->systemd > 0;
}

/** A unit of the admin's for the mount point of a line: systemd takes that, and nothing of the line. */
static void judge_unit(struct audit *audit, const struct audit_entry *entry, const char *target)
{
	static const char *const dirs[] = {"/etc/systemd/system", "/run/systemd/system"};
	const struct fstab_facts *facts = audit->in->facts;
	struct strbuf name, real;
	strbuf_init(&name);
	strbuf_init(&real);
	for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs); ++i) {
		if (facts->look(facts->arg, dirs[i], NULL) != FACT_DIR)
			continue;
		strbuf_reset(&name);
		strbuf_printf(&name, "%s/", dirs[i]);
		fstab_unit_name(&name, target);
		strbuf_puts(&name, ".mount");
		strbuf_reset(&real);
		enum fact_kind kind = facts->look(facts->arg, strbuf_str(&name), &real);
		bool masked = real.len && strcmp(strbuf_str(&real), "/dev/null") == 0;
		if (kind != FACT_FILE && !masked)
			continue;
		const char *path = audit_format(audit, "%s", strbuf_str(&name));
		strbuf_reset(&real);
		escape_operand(&real, strrchr(path, '/') + 1);
		audit_tell(audit, entry, FSTAB_DUP_TARGET, &(struct audit_told){
			entry->noauto ? AUDIT_INFO : AUDIT_WARNING, true,
			masked ? "its unit is masked: systemd does not mount it" : "a unit has this mount point too: systemd takes that, and nothing of the line",
			masked ? "no mask" : "one of both", path,
			masked ? audit_format(audit, "take the line away, or: systemctl unmask %s", strbuf_str(&real))
			       : "take the line away, or the unit, and systemctl daemon-reload"});
		break;
	}
	audit->failed |= name.failed || real.failed;
	strbuf_destroy(&name);
	strbuf_destroy(&real);
}

void audit_place(struct audit *audit, const struct audit_entry *entry)
{
	const struct fstab_facts *facts = audit->in->facts;
	/* Of a line that lacks a field, the one behind it is none of a type. */
	if (entry->path || entry->swap)
		judge_helpers(audit, entry);
	if (!entry->path || !entry->path[1])
		return;
	if (!facts->look) {
		audit_unjudged(audit, FSTAB_TGT_MISSING);
		audit_unjudged(audit, FSTAB_TGT_SYMLINK);
		return;
	}
	struct strbuf real;
	strbuf_init(&real);
	enum fact_kind kind = facts->look(facts->arg, entry->path, &real);
	if (kind == FACT_UNKNOWN) {
		audit_unjudged(audit, FSTAB_TGT_MISSING);
		audit_unjudged(audit, FSTAB_TGT_SYMLINK);
	} else if (kind == FACT_MISSING) {
		if (!entry->mkdir && !audit_above(audit, entry, entry->path))
			audit_tell(audit, entry, FSTAB_TGT_MISSING, &(struct audit_told){
				entry->noauto || entry->nofail || is_systemd(audit) ? AUDIT_INFO : AUDIT_WARNING, false,
				"there is no such directory; systemd would make it, mount(8) not", NULL, NULL,
				"make it, or give X-mount.mkdir"});
	} else if (kind == FACT_FILE && !entry->bind) {
		audit_tell(audit, entry, FSTAB_TGT_MISSING, &(struct audit_told){
			AUDIT_WARNING, false, "the mount point is a file", "a directory", NULL, "give a directory"});
	} else if (real.len && strcmp(strbuf_str(&real), entry->path) != 0) {
		audit_tell(audit, entry, FSTAB_TGT_SYMLINK, &(struct audit_told){
			AUDIT_INFO, false, audit_format(audit, "it leads to %s, as which it is mounted", strbuf_str(&real)),
			NULL, NULL, "write the name that it leads to"});
	}
	if (is_systemd(audit))
		judge_unit(audit, entry, real.len && kind != FACT_UNKNOWN && kind != FACT_MISSING ? strbuf_str(&real) : entry->path);
	audit->failed |= real.failed;
	strbuf_destroy(&real);
}
