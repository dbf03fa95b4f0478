/* SPDX-License-Identifier: MIT */
/*
 * The kernel command line: root= and resume=, compared with the devices, the fstab and the mounts.
 *
 * Only names of devices are checked: "root=nfs:...", "ZFS=..." or "live:..." are for the initial
 * RAM disk alone, and are reported as not checked.
 *
 * Source: kernel-parameters.txt; dracut.cmdline(7); initramfs-tools(7).
 */
#include "audit/audit_impl.h"

#include "base/words.h"

#include <stdlib.h>
#include <string.h>

bool audit_names_device(const char *source)
{
	/* The kernel interprets these names itself. */
	if (word_in(source, strlen(source), "/dev/nfs /dev/root /dev/cifs"))
		return false;
	for (size_t i = 0; i < FSTAB_TAGS; ++i) {
		if (strncmp(source, fstab_tags[i].tag, strlen(fstab_tags[i].tag)) == 0)
			return !strchr(source, '/');   /* not PARTUUID=.../PARTNROFF=1 */
	}
	return strncmp(source, "/dev/", 5) == 0 && strncmp(source, "/dev/ram", 8) != 0;
}

/** Get the value of the last parameter with a name on the kernel command line; "" without a value;
    NULL: no such parameter. */
static const char *parameter(const struct audit_live *in, struct audit_report *report,
                             const char *name)
{
	size_t len = strlen(name), n = 0;
	const char *found = NULL;
	for (const char *at = in->cmdline; *at;) {
		at += strspn(at, " \t\n");
		const char *word = at;
		bool quoted = false;
		for (; *at && (quoted || !strchr(" \t\n", *at)); ++at)
			quoted ^= *at == '"';
		size_t size = (size_t)(at - word);
		if (word_is(word, size, "--"))
			break;   /* after "--", the words are arguments of init */
		if (size >= len && memcmp(word, name, len) == 0
		    && (size == len || word[len] == '=')) {
			found = word + len + (size > len);
			n = (size_t)(at - found);
		}
	}
	if (found && n >= 2 && *found == '"' && found[n - 1] == '"') {
		++found;
		n -= 2;
	}
	return found ? audit_format(report, "%.*s", (int)n, found) : NULL;
}

/** Count the devices that a source names; -1: unknown.  @device [out]  The first device. */
static int devices(const struct audit_live *in, const char *source, struct fstab_device *device)
{
	*device = (struct fstab_device){0};
	return audit_devices(in->facts, source, device);
}

/** Read a device number as the kernel does: MAJOR:MINOR, or one hexadecimal number.
    Source: devt_from_devnum() in block/early-lookup.c. */
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

/** Format root=VALUE, with the name of its device if it is known, for a finding. */
static const char *root_form(struct audit_report *report, const char *root,
                             const struct fstab_device *named)
{
	const char *name = named->tags ? named->tags->name : NULL;
	return name ? audit_format(report, "root=%s (%s)", root, name)
	            : audit_format(report, "root=%s", root);
}

/** Find the line of "/" in the fstab; NULL: no such line.  @any [out]  The fstab has entries. */
static const struct fstab_entry *root_line(const struct audit_live *in, bool *any)
{
	const struct fstab_entry *found = NULL;
	*any = false;
	for (size_t i = 0; i < in->file->count; ++i) {
		const struct fstab_entry *line = &in->file->entries[i];
		*any |= fstab_is_entry(line);
		if (line->root)
			found = line;
	}
	return found;
}

/** Find the mount of "/"; NULL: the device of the mount is unknown.
    @device [out]  The device. */
static const struct mount *mounted_root(const struct audit_live *in, struct arena *arena,
                                        struct fstab_device *device)
{
	*device = (struct fstab_device){0};
	for (size_t i = 0; i < in->plan->count; ++i) {
		const struct fstab_line *line = &in->plan->lines[i];
		const struct mount *m = line->mount;
		if (!m || !line->target || strcmp(line->target, "/") != 0 || line->hidden)
			continue;
		fstab_device_of(in->facts, m, NULL, arena, device);
		return device->tags && (device->tags->name || device->numbered) ? m : NULL;
	}
	return NULL;
}

static void check_root(const struct audit_live *in, struct audit_report *report, const char *root)
{
	struct fstab_device named = {0}, live, lined;
	struct audit_finding at = {.target = "/", .owner = "initrd"};
	bool any;
	const struct fstab_entry *line = root_line(in, &any);
	const struct mount *m = mounted_root(in, &report->arena, &live);
	if (m && any && !line)
		audit_add_at(report, &at, BOOT_ROOT, AUDIT_INFO, "a line", "none",
			     audit_command(report, "add a line to the fstab", "getmnt", "fstab",
			                   report->merge, "--add=/", "--diff", NULL),
			     "no line in the fstab: it keeps the options of the kernel, and is "
			     "not checked by fsck");
	/* A device given by its number is assumed to exist. */
	int n = !m ? -1 : read_number(root, &named) ? 1
		: audit_names_device(root) ? devices(in, root, &named) : -1;
	if (n < 0)
		audit_not_checked(report, BOOT_ROOT);
	if (n == 0)
		audit_add_at(report, &at, BOOT_ROOT, AUDIT_CRITICAL | AUDIT_BOOT, "a device",
			     audit_format(report, "root=%s", root),
			     "set root= in the boot loader configuration to what blkid shows",
			     "the root on the kernel command line does not exist any more: with "
			     "it the next boot fails");
	if (n <= 0)
		return;
	if (fstab_same_device(&named, &live) == 0)
		audit_add_at(report, &at, BOOT_ROOT, AUDIT_WARNING,
			     root_form(report, root, &named),
			     live.tags->name ? live.tags->name : m->source,
			     "the root may have been copied: decide which of the two to use",
			     "the root is not the device on the kernel command line");
	const char *source = line ? line->source : NULL;
	if (!source || !audit_names_device(source) || devices(in, source, &lined) <= 0
	    || fstab_same_device(&named, &lined) != 0)
		return;
	const char *name = lined.tags ? lined.tags->name : NULL;
	at.owner = "fstab";
	at.line = line->number;
	audit_add_at(report, &at, BOOT_ROOT, AUDIT_WARNING, root_form(report, root, &named),
		     name ? audit_format(report, "%s (%s)", source, name) : source,
		     "fix one of them, and the boot loader configuration with it",
		     "the kernel command line and the fstab name different roots");
}

/** Find a swap space in use on a disk, if the device `named` is certainly neither in use as swap
    nor the source of a swap line; or NULL. */
static const char *other_swap(const struct audit_live *in, const struct fstab_device *named)
{
	const char *found = NULL;
	struct fstab_device device;
	for (size_t i = 0; i < in->plan->count; ++i) {
		const char *swap = in->plan->lines[i].swap;
		if (!swap || strncmp(swap, "/dev/", 5) != 0 || strncmp(swap, "/dev/zram", 9) == 0)
			continue;
		if (devices(in, swap, &device) <= 0 || fstab_same_device(named, &device) != 0)
			return NULL;
		found = swap;
	}
	for (size_t i = 0; i < in->file->count && found; ++i) {
		const struct fstab_entry *line = &in->file->entries[i];
		const char *source = line->swap ? line->source : NULL;
		int n = source && audit_names_device(source) ? devices(in, source, &device) : 0;
		if (n < 0 || (n > 0 && fstab_same_device(named, &device) != 0))
			return NULL;
	}
	return found;
}

static void check_resume(const struct audit_live *in, struct audit_report *report,
                         const char *resume)
{
	static const char hint[] = "set it to a device of swapon --show or remove it, and rebuild "
	                           "the initial RAM disk";
	const struct audit_finding at = {.target = resume};
	struct fstab_device named;
	int n = audit_names_device(resume) ? devices(in, resume, &named) : -1;
	const char *type = n > 0 && named.tags ? named.tags->type : NULL;
	bool swap = type && strcmp(type, "swap") == 0;
	const char *other = swap ? other_swap(in, &named) : NULL;
	if (n < 0)
		audit_not_checked(report, BOOT_ROOT);
	else if (n == 0)
		audit_add_at(report, &at, BOOT_ROOT, AUDIT_WARNING, "a swap space",
			     "no such device", hint, "the resume device on the kernel command "
			     "line does not exist: each boot waits for it");
	else if (type && !swap && strcmp(type, "swsuspend") != 0
	         && !parameter(in, report, "resume_offset"))
		audit_add_at(report, &at, BOOT_ROOT, AUDIT_WARNING, "a swap space", type, hint,
			     "the resume device on the kernel command line is not a swap space");
	else if (other)
		audit_add_at(report, &at, BOOT_ROOT, AUDIT_WARNING, other,
			     named.tags->name ? named.tags->name : resume, hint,
			     "the kernel command line resumes from a swap space that is not in "
			     "use, while another is: resuming fails");
}

void audit_boot(const struct audit_live *in, struct audit_report *report)
{
	const char *root = in->cmdline ? parameter(in, report, "root") : NULL;
	const char *resume = in->cmdline ? parameter(in, report, "resume") : NULL;
	if (root && *root)
		check_root(in, report, root);
	else
		audit_not_checked(report, BOOT_ROOT);
	if (resume && *resume && strcmp(resume, "none") != 0 && !parameter(in, report, "noresume"))
		check_resume(in, report, resume);
}
