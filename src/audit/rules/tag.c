/* SPDX-License-Identifier: MIT */
/*
 * Find tags that no device can have: UUID=<uuid>, LABEL= without a value, the serial number of a
 * FAT as the UUID of an ext4.
 *
 * libblkid writes the UUID of each type of file system in one form, and udev makes a link in
 * /dev/disk with the UUID in this form.  mount(8) and systemd do not find a UUID written in a
 * different form, even if only upper and lower case differ.
 *
 * Source: libblkid/src/superblocks/ and partitions/ of util-linux 2.38.
 */
#include "audit/audit_impl.h"

#include "base/words.h"

#include <ctype.h>
#include <string.h>

/* Forms: 'x' stands for a digit or a letter from a to f, 'X' for a digit or a letter from A to F,
   'd' for a digit. */
static const char long_form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx", fat_form[] = "XXXX-XXXX",
                  ntfs_form[] = "XXXXXXXXXXXXXXXX";

/** The forms of the UUIDs of all file systems. */
static const char *const any_forms[] = {
	long_form, fat_form, ntfs_form, "xxxxxxxxxxxxxxxx", "dddd-dd-dd-dd-dd-dd-dd", NULL,
};

/** The form of a UUID by the type of the line. */
static const struct {
	const char *types, *form;
} uuid_forms[] = {
	{"ext2 ext3 ext4 xfs btrfs f2fs jfs reiserfs swap nilfs2 ocfs2 gfs2 bcachefs erofs "
	 "hfsplus", long_form},
	{"vfat msdos exfat", fat_form},
	{"ntfs ntfs3 ntfs-3g lowntfs-3g", ntfs_form},
};

/** The forms of a PARTUUID: of a GPT, of an MBR. */
static const char *const partuuid_forms[] = {long_form, "xxxxxxxx-xx", "xxxxxxxx-xxx", NULL};

/** The maximum length of a label by the type of the line, in bytes. */
static const struct {
	const char *types;
	size_t most;
} label_sizes[] = {
	{"ext2 ext3 ext4 reiserfs jfs swap", 16},
	{"xfs", 12},
	{"vfat msdos", 11},
};

/** Whether a value has a form.
    @other [out]  Set to true if the value would have the form in a different case. */
static bool has_form(const char *value, const char *form, bool *other)
{
	bool same = true;
	if (strlen(value) != strlen(form))
		return false;
	for (size_t i = 0; form[i]; ++i) {
		unsigned char c = (unsigned char)value[i];
		bool hex = form[i] == 'x' || form[i] == 'X';
		if (hex ? !isxdigit(c) : form[i] == 'd' ? !isdigit(c) : c != form[i])
			return false;
		same &= !(form[i] == 'x' ? isupper(c) : form[i] == 'X' && islower(c));
	}
	*other |= !same;
	return same;
}

static bool has_any_form(const char *value, const char *const *forms, bool *other)
{
	for (; *forms; ++forms) {
		if (has_form(value, *forms, other))
			return true;
	}
	return false;
}

size_t audit_quote(const char *text)
{
	/* Typographic quotation marks: U+00AB; U+2018 to U+201F. */
	if (strncmp(text, "\xc2\xab", 2) == 0)
		return 2;
	if (strncmp(text, "\xe2\x80", 2) == 0 && (text[2] & 0xf8) == 0x98)
		return 3;
	return *text == '"' || *text == '\'';
}

bool audit_is_placeholder(const char *text)
{
	size_t n = strlen(text);
	return (n > 1 && *text == '<' && text[n - 1] == '>')
	       || (*text == '$' && (isalpha((unsigned char)text[1]) || text[1] == '_'))
	       || strstr(text, "${") || strstr(text, "$(") || strstr(text, "{{");
}

/** Find the form of the UUIDs of a type; NULL: unknown. */
static const char *find_form(const char *fstype)
{
	for (size_t i = 0; i < sizeof(uuid_forms) / sizeof(*uuid_forms); ++i) {
		if (word_in(fstype, strlen(fstype), uuid_forms[i].types))
			return uuid_forms[i].form;
	}
	return NULL;
}

/** Why no device can have a UUID, or PARTUUID if `part`; or NULL.
    @hint [in,out]  Replaced if there is a better remedy. */
static const char *uuid_fault(struct audit *audit, const struct fstab_entry *entry, bool part,
                              const char *value, const char **hint)
{
	static const char bytes[] =
		"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-";
	const char *tag = part ? "PARTUUID" : "UUID";
	const char *const of_type[] = {find_form(entry->fstype), NULL};
	const char *const *forms = part ? partuuid_forms : of_type;
	struct audit_report *report = audit->report;
	bool other = false, unused = false;
	if (value[strspn(value, bytes)])
		return audit_format(report, "a %s has only letters, digits and dashes", tag);
	if (!value[strspn(value, "0-")])
		return audit_format(report, "no device has a %s of zeros", tag);
	if (!part && (strcmp(entry->fstype, "auto") == 0 || strchr(entry->fstype, ',')))
		forms = any_forms;
	else if (!*forms)
		return NULL;
	if (has_any_form(value, forms, &other))
		return NULL;
	if (other) {
		bool upper = strlen(value) != strlen(long_form) && !part;
		*hint = audit_format(report, "did you mean %s=%s? Upper and lower case differ", tag,
		                     audit_in_case(report, value, upper));
		return audit_format(report, "a %s of this form has %s-case letters: mount(8) and "
		                    "systemd find no other", tag, upper ? "upper" : "lower");
	}
	bool other_tag = part ? has_any_form(value, any_forms, &unused)
	                 : !has_form(value, long_form, &unused)
	                   && has_any_form(value, partuuid_forms, &unused);
	if (other_tag)
		*hint = audit_format(report, "use %s=%s", part ? "UUID" : "PARTUUID", value);
	return part || forms == any_forms
	       ? audit_format(report, "no device has a %s of this form", tag)
	       : audit_format(report, "a UUID of %s has another form, such as %s", entry->fstype,
	                      *forms == long_form  ? "0a1b2c3d-4e5f-4789-8abc-def012345678"
	                      : *forms == fat_form ? "0A1B-2C3D" : "0A1B2C3D4E5F6789");
}

/** Why no file system of the type of a line can have a label; or NULL. */
static const char *label_fault(struct audit *audit, const struct fstab_entry *entry,
                               const char *value)
{
	size_t n = strlen(value), type = strlen(entry->fstype);
	/* ASCII quotation marks, of one byte, are allowed around a value. */
	if (audit_quote(value) > 1)
		return "the label begins with a quotation mark that is not ASCII, and a part of it";
	for (size_t i = 0; i < sizeof(label_sizes) / sizeof(*label_sizes); ++i) {
		if (word_in(entry->fstype, type, label_sizes[i].types) && n > label_sizes[i].most)
			return audit_format(audit->report, "a label of %s has at most %zu bytes",
			                    entry->fstype, label_sizes[i].most);
	}
	return NULL;
}

const char *audit_tag_fault(struct audit *audit, const struct fstab_entry *entry, const char *tag,
                            bool searched, const char **hint)
{
	const char *value = strchr(tag, '=') + 1;
	int n = (int)(value - tag);
	if (!*value)
		return audit_format(audit->report, "%.*s has no value", n, tag);
	struct hidden hidden;
	if (audit_hidden(audit, value, &hidden)) {
		*hint = hidden.remedy;
		return audit_format(audit->report, "the value of %.*s contains a %s, which %s", n,
		                    tag, hidden.name, hidden.looks);
	}
	if (audit_is_placeholder(value))
		return audit_format(audit->report, "the value of %.*s is a placeholder", n, tag);
	if (strncmp(value, "/dev/", 5) == 0 || fstab_is_tag(value)) {
		*hint = audit_format(audit->report, "use %s", value);
		return audit_format(audit->report, "the value of %.*s is a %s", n, tag,
		                    *value == '/' ? "path of a device" : "tag");
	}
	if (searched)
		return NULL;
	if (strncmp(tag, "UUID=", 5) == 0)
		return uuid_fault(audit, entry, false, value, hint);
	if (strncmp(tag, "PARTUUID=", 9) == 0)
		return uuid_fault(audit, entry, true, value, hint);
	return strncmp(tag, "LABEL=", 6) == 0 ? label_fault(audit, entry, value) : NULL;
}
