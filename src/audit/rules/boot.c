/* SPDX-License-Identifier: MIT */
/*
 * The kernel command line: root= and resume=, compared with the devices, the fstab and the mounts.
 *
 * Only names of devices are checked: "root=nfs:...", "ZFS=..." or "live:..." mean something to the
 * initial RAM disk alone, and are reported as not checked.
 *
 * Source: kernel-parameters.txt; dracut.cmdline(7); initramfs-tools(7).
 */
#include "audit/rules/host_impl.h"

#include <stdlib.h>
#include <string.h>

bool rules_names_device(const char *source)
{
	static const char *const tags[] = {"UUID=", "LABEL=", "PARTUUID=", "PARTLABEL=", NULL};
	static const char *const other[] = {"/dev/nfs", "/dev/root", "/dev/cifs",
	                                    NULL};   /* names that only the kernel knows */
	for (const char *const *name = other; *name; ++name) {
		if (strcmp(source, *name) == 0)
			return false;
	}
	for (const char *const *tag = tags; *tag; ++tag) {
		if (strncmp(source, *tag, strlen(*tag)) == 0)
			return !strchr(source, '/');   /* PARTUUID=.../PARTNROFF=1 */
	}
	return strncmp(source, "/dev/", 5) == 0 && strncmp(source, "/dev/ram", 8) != 0;
}

/** The value of the last parameter of a name; "" if it is empty; NULL: the parameter does not
    exist. */
static const char *parameter(struct host_rules *rules, const char *name)
{
	size_t len = strlen(name);
	const char *found = NULL;
	size_t n = 0;
	for (const char *at = rules->in->cmdline; *at;) {
		at += strspn(at, " \t\n");
		const char *word = at;
		bool quoted = false;
		for (; *at && (quoted || !strchr(" \t\n", *at)); ++at)
			quoted ^= *at == '"';
		if (at - word == 2 && memcmp(word, "--", 2) == 0)
			break;   /* the rest is for init */
		if ((size_t)(at - word) > len && memcmp(word, name, len) == 0 && word[len] == '=') {
			found = word + len + 1;
			n = (size_t)(at - found);
		}
	}
	if (!found)
		return NULL;
	if (n >= 2 && *found == '"' && found[n - 1] == '"') {
		++found;
		n -= 2;
	}
	return rules_format(rules, "%.*s", (int)n, found);
}

/** Whether a parameter without a value exists. */
static bool is_given(const struct host_rules *rules, const char *name)
{
	size_t len = strlen(name), n;
	for (const char *at = rules->in->cmdline; *at; at += n) {
		at += strspn(at, " \t\n");
		n = strcspn(at, " \t\n");
		if (n == 2 && memcmp(at, "--", 2) == 0)
			break;
		if (n == len && memcmp(at, name, len) == 0)
			return true;
	}
	return false;
}

/** How many devices a source names; -1: not known. */
static int devices(struct host_rules *rules, const char *source, struct fstab_device *device)
{
	const struct fstab_facts *facts = rules->in->facts;
	*device = (struct fstab_device){0};
	return facts && facts->devices ? facts->devices(facts->arg, source, device) : -1;
}

/** Read a device number as the kernel does: MAJOR:MINOR, or one hexadecimal number. Source:
    devt_from_devnum() in block/early-lookup.c. */
static bool read_number(const char *text, struct fstab_device *device)
{
	size_t hex = strspn(text, "0123456789abcdefABCDEF"), digits = strspn(text, "0123456789");
	char *end;
	if (hex > 0 && hex <= 8 && !text[hex]) {
		unsigned long number = strtoul(text, NULL, 16);
		device->major = number >> 8 & 0xfff;
		device->minor = (number & 0xff) | (number >> 12 & 0xfff00);
	} else if (digits > 0 && digits < 5 && text[digits] == ':'
	           && strspn(text + digits + 1, "0123456789") > 0) {
		device->major = (uint32_t)strtoul(text, NULL, 10);
		device->minor = (uint32_t)strtoul(text + digits + 1, &end, 10);
		if (*end)
			return false;
	} else {
		return false;
	}
	return device->numbered = true;
}

/** The devices that root= names, as devices().  A device number counts as existing. */
static int root_devices(struct host_rules *rules, const char *root, struct fstab_device *device)
{
	*device = (struct fstab_device){0};
	if (read_number(root, device))
		return 1;
	return rules_names_device(root) ? devices(rules, root, device) : -1;
}

/** root= and the device that it names. */
static const char *root_form(struct host_rules *rules, const char *root,
                             const struct fstab_device *named)
{
	const char *name = named->tags ? named->tags->name : NULL;
	return rules_format(rules, name ? "root=%s (%s)" : "root=%s", root, name);
}

/** The line of the fstab for the root; NULL: none. */
static const struct tabline *root_line(const struct host_rules *rules, bool *any)
{
	const struct tabline *found = NULL;
	*any = false;
	for (size_t i = 0; i < rules->in->lines->count; ++i) {
		const struct tabline *line = &rules->in->lines->lines[i];
		const char *target = line->kind == TABLINE_ENTRY
			? tabline_value(line, TABLINE_TARGET) : NULL;
		const char *fstype = target ? tabline_value(line, TABLINE_FSTYPE) : NULL;
		*any |= target != NULL;
		if (target && strcmp(target, "/") == 0 && (!fstype || strcmp(fstype, "swap") != 0))
			found = line;
	}
	return found;
}

/** The mounted root; NULL: it is not on a device. */
static const struct mount *mounted_root(struct host_rules *rules, struct fstab_device *device)
{
	const struct fstab_plan *plan = rules->in->plan;
	const struct fstab_world *world = rules->in->world;
	for (size_t i = 0; i < plan->count; ++i) {
		const struct fstab_line *line = &plan->lines[i];
		const struct mount *m = line->mount;
		if (!m || !line->target || strcmp(line->target, "/") != 0 || line->hidden)
			continue;
		*device = (struct fstab_device){0};
		if (!world->device || world->device(world->arg, m, device) != 0 || !device->tags
		    || !(device->tags->name || device->numbered))
			return NULL;
		return m;
	}
	return NULL;
}

static void judge_root(struct host_rules *rules, const char *root)
{
	struct fstab_device named, live, lined;
	bool any;
	const struct tabline *line = root_line(rules, &any);
	const struct mount *m = mounted_root(rules, &live);
	int n = m ? root_devices(rules, root, &named) : -1;
	if (m && any && !line)
		rules_add(rules, &(struct audit_finding){
			.code = BOOT_ROOT, .severity = AUDIT_INFO, .target = "/", .owner = "initrd",
			.message = "no line in the fstab: it keeps the options of the kernel, and "
			           "is not checked by fsck",
			.expected = "a line", .actual = "none",
				.hint = "getmnt fstab --merge --add=/ --diff"});
	if (n < 0) {
		audit_not_checked(rules->report, BOOT_ROOT);
		return;
	}
	if (n == 0) {
		rules_add(rules, &(struct audit_finding){
			.code = BOOT_ROOT, .severity = AUDIT_CRITICAL, .boot = true, .target = "/",
				.owner = "initrd",
			.message = "the root on the kernel command line does not exist any more: "
			           "with it the next boot fails",
			.expected = "a device", .actual = rules_format(rules, "root=%s", root),
			.hint = "set root= in the boot loader configuration to what blkid shows"});
		return;
	}
	if (fstab_same_device(&named, &live) == 0)
		rules_add(rules, &(struct audit_finding){
			.code = BOOT_ROOT, .severity = AUDIT_WARNING, .target = "/",
				.owner = "initrd",
			.message = "the root is not the device on the kernel command line",
			.expected = root_form(rules, root, &named),
				.actual = live.tags->name ? live.tags->name : m->source,
			.hint = "the root may have been copied: decide which of the two to use"});
	const char *source = line ? tabline_value(line, TABLINE_SOURCE) : NULL;
	if (source && rules_names_device(source) && devices(rules, source, &lined) > 0
	    && fstab_same_device(&named, &lined) == 0)
		rules_add(rules, &(struct audit_finding){
			.code = BOOT_ROOT, .severity = AUDIT_WARNING, .target = "/",
				.owner = "fstab", .line = line->number,
			.message = "the kernel command line and the fstab name different roots",
			.expected = root_form(rules, root, &named),
			.actual = lined.tags && lined.tags->name
				? rules_format(rules, "%s (%s)", source, lined.tags->name) : source,
			.hint = "fix one of them, and the boot loader configuration with it"});
}

/** A swap space in use on a disk, if the device itself is neither in use nor in a line; or NULL. */
static const char *other_swap(struct host_rules *rules, const struct fstab_device *named)
{
	const struct fstab_plan *plan = rules->in->plan;
	const char *found = NULL;
	struct fstab_device device;
	for (size_t i = 0; plan && i < plan->count; ++i) {
		const char *swap = plan->lines[i].swap;
		if (!swap || strncmp(swap, "/dev/", 5) != 0 || strncmp(swap, "/dev/zram", 9) == 0)
			continue;
		if (devices(rules, swap, &device) <= 0 || fstab_same_device(named, &device) != 0)
			return NULL;
		found = swap;
	}
	for (size_t i = 0; i < rules->in->lines->count && found; ++i) {
		const struct tabline *line = &rules->in->lines->lines[i];
		const char *fstype = line->kind == TABLINE_ENTRY
			? tabline_value(line, TABLINE_FSTYPE) : NULL;
		const char *source = fstype && strcmp(fstype, "swap") == 0
			? tabline_value(line, TABLINE_SOURCE) : NULL;
		int n = source && rules_names_device(source) ? devices(rules, source, &device) : 0;
		if (n < 0 || (n > 0 && fstab_same_device(named, &device) != 0))
			return NULL;
	}
	return found;
}

static void judge_resume(struct host_rules *rules, const char *resume)
{
	struct fstab_device named;
	int n = rules_names_device(resume) ? devices(rules, resume, &named) : -1;
	if (n < 0) {
		audit_not_checked(rules->report, BOOT_ROOT);
		return;
	}
	struct audit_finding finding = {
		.code = BOOT_ROOT, .severity = AUDIT_WARNING, .target = resume,
			.expected = "a swap space",
		.hint = "set it to a device of swapon --show or remove it, and rebuild the initial "
		        "RAM disk",
	};
	if (n == 0) {
		finding.message = "the resume device on the kernel command line does not exist: "
		                  "each boot waits for it";
		finding.actual = "no such device";
		rules_add(rules, &finding);
	} else if (named.tags && named.tags->type && !parameter(rules, "resume_offset")
	           && strcmp(named.tags->type, "swap") != 0
	           && strcmp(named.tags->type, "swsuspend") != 0) {
		finding.message = "the resume device on the kernel command line is not a swap "
		                  "space";
		finding.actual = named.tags->type;
		rules_add(rules, &finding);
	} else if (named.tags && named.tags->type && strcmp(named.tags->type, "swap") == 0
	           && other_swap(rules, &named)) {
		finding.message = "the kernel command line resumes from a swap space that is not "
		                  "in use, while another is: resuming fails";
		finding.expected = other_swap(rules, &named);
		finding.actual = named.tags->name ? named.tags->name : resume;
		rules_add(rules, &finding);
	}
}

void rules_boot_root(struct host_rules *rules)
{
	if (!rules->in->cmdline) {
		audit_not_checked(rules->report, BOOT_ROOT);
		return;
	}
	const char *root = parameter(rules, "root"), *resume = parameter(rules, "resume");
	if (root && *root)
		judge_root(rules, root);
	else
		audit_not_checked(rules->report, BOOT_ROOT);
	if (resume && *resume && strcmp(resume, "none") != 0 && !is_given(rules, "noresume"))
		judge_resume(rules, resume);
}
