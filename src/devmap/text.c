/* SPDX-License-Identifier: MIT */
/*
 * Parsers for the udev database and blkid.tab.  Both files are untrusted: values that are too long
 * or contain a NUL, and malformed lines, are ignored.
 *
 * The udev database has one file for each device:
 *     E:ID_FS_LABEL_ENC=two\x20words
 * blkid.tab has one line for each device; '\' escapes '"' and '\':
 *     <device DEVNO="0x0801" TIME="1700000000.5" UUID="..." TYPE="ext4">/dev/sda1</device>
 */
#include "devmap/devmap_impl.h"

#include "base/words.h"

#include <blkid/blkid.h>
#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sysmacros.h>

const char *devmap_usage(const char *type)
{
	const char *name;
	int usage;
	for (size_t i = 0; blkid_superblocks_get_name(i, &name, &usage) == 0; ++i) {
		if (name && strcmp(name, type) == 0)
			return usage == BLKID_USAGE_FILESYSTEM ? "filesystem"
			       : usage == BLKID_USAGE_RAID     ? "raid"
			       : usage == BLKID_USAGE_CRYPTO   ? "crypto" : "other";
	}
	/* libblkid does not know udev's mpath_member. */
	return word_ends(type, "_member") ? "raid" : NULL;
}

/** If str starts with \xhh, decode it.  @return whether it does. */
static bool devmap_take_hex(const char *str, size_t n, char *byte)
{
	if (n < 4 || str[0] != '\\' || str[1] != 'x' || !isxdigit((unsigned char)str[2])
	    || !isxdigit((unsigned char)str[3]))
		return false;
	*byte = (char)strtoul((char[]){str[2], str[3], '\0'}, NULL, 16);
	return true;
}

/** Copy a value into the map, optionally decoding \xhh; NULL if it is empty or invalid. */
static const char *devmap_value(struct devmap *map, const char *str, size_t n, bool decode)
{
	char buf[DEVMAP_TAG_MAX];
	size_t len = 0;
	for (size_t i = 0; i < n; ++len) {
		if (len == sizeof(buf))
			return NULL;
		if (decode && devmap_take_hex(str + i, n - i, &buf[len]))
			i += 4;
		else
			buf[len] = str[i++];
		if (!buf[len])
			return NULL;
	}
	return len > 0 ? arena_strndup(&map->arena, buf, len) : NULL;
}

/** Whether udev's by-path name is for a device on the network: "ip-192.0.2.9:3260-iscsi-...". */
static bool devmap_is_over_net(const char *path, size_t n)
{
	return n > 3 && memcmp(path, "ip-", 3) == 0 && memmem(path, n, "-iscsi-", 7);
}

void devmap_parse_udev(struct devmap *map, const char *text, size_t len,
                       struct devmap_tags *tags, struct devmap_udev *udev)
{
	const char *plain_uuid = NULL, *plain_label = NULL, *plain_sub = NULL;
	struct {
		const char *key;
		const char **value;
		bool decode;
	} const keys[] = {
		{"ID_FS_TYPE", &tags->type, false},
		{"ID_FS_USAGE", &tags->usage, false},
		{"ID_FS_UUID_ENC", &tags->uuid, true},
		{"ID_FS_LABEL_ENC", &tags->label, true},
		{"ID_FS_UUID_SUB_ENC", &tags->uuid_sub, true},
		/* In these properties unsafe characters are replaced. */
		{"ID_FS_UUID", &plain_uuid, false},
		{"ID_FS_LABEL", &plain_label, false},
		{"ID_FS_UUID_SUB", &plain_sub, false},
		{"ID_PART_ENTRY_UUID", &tags->partuuid, true},
		{"ID_PART_ENTRY_NAME", &tags->partlabel, true},
	};
	static const struct {
		const char *key, *value, *unsafe;
	} marks[] = {
		{"DM_MULTIPATH_DEVICE_PATH", "1", "path of a multipath"},
		{"DM_SUSPENDED", "1", "suspended"},
		{"DM_NOSCAN", "1", "not to be scanned, by udev"},
		{"DM_UDEV_DISABLE_OTHER_RULES_FLAG", "1", "not to be scanned, by udev"},
	};

	static const char by_path[] = "S:disk/by-path/";
	const size_t skip = sizeof(by_path) - 1;
	const char *stop, *end = text + len;
	for (const char *line = text; line < end; line = stop + 1) {
		stop = memchr(line, '\n', (size_t)(end - line));
		stop = stop ? stop : end;
		size_t n = (size_t)(stop - line);
		tags->remote |= n > skip && memcmp(line, by_path, skip) == 0
		                && devmap_is_over_net(line + skip, n - skip);
		const char *equals = memchr(line, '=', n);
		if (!equals || equals - line <= 2 || line[0] != 'E' || line[1] != ':')
			continue;
		const char *key = line + 2, *value = equals + 1;
		size_t key_len = (size_t)(equals - key), value_len = (size_t)(stop - value);
		for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); ++i) {
			if (!*keys[i].value && word_is(key, key_len, keys[i].key))
				*keys[i].value = devmap_value(map, value, value_len,
				                              keys[i].decode);
		}
		for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); ++i) {
			if (word_is(key, key_len, marks[i].key)
			    && word_is(value, value_len, marks[i].value)) {
				udev->unsafe = marks[i].unsafe;
				udev->path |= i == 0;
			}
		}
		udev->ambivalent |= word_is(key, key_len, "ID_FS_AMBIVALENT");
		tags->remote |= word_is(key, key_len, "ID_PATH")
		                && devmap_is_over_net(value, value_len);
	}
	if (!tags->uuid)
		tags->uuid = plain_uuid;
	if (!tags->label)
		tags->label = plain_label;
	if (!tags->uuid_sub)
		tags->uuid_sub = plain_sub;
}

/** The start of the value of an attribute in a line of blkid.tab; or NULL.  A value may contain
    anything that looks like another attribute, so values are skipped one by one.
    @name  With its blank and its equals sign: " UUID=". */
static const char *find_attribute(const char *line, const char *end, const char *name)
{
	size_t n = strlen(name);
	while (line < end) {
		const char *quote = memchr(line, '"', (size_t)(end - line));
		if (!quote)
			return NULL;
		if ((size_t)(quote - line) >= n && memcmp(quote - n, name, n) == 0)
			return quote + 1;
		for (line = quote + 1; line < end && *line != '"'; ++line)
			line += *line == '\\' && end - line > 1;
		++line;
	}
	return NULL;
}

/** The decoded value of an attribute in a line of blkid.tab; or NULL. */
static const char *devmap_attribute(struct devmap *map, const char *line, const char *end,
                                    const char *name)
{
	char buf[DEVMAP_TAG_MAX];
	const char *at = find_attribute(line, end, name);
	if (!at)
		return NULL;
	size_t len = 0;
	for (; at < end && *at != '"'; ++len) {
		if (len == sizeof(buf))
			return NULL;
		/* Releases of libblkid differ: some write \", others \x22. */
		if (devmap_take_hex(at, (size_t)(end - at), &buf[len])) {
			at += 4;
			continue;
		}
		at += *at == '\\' && end - at > 1;
		buf[len] = *at++;
	}
	return at < end ? devmap_value(map, buf, len, false) : NULL;
}

/** Read blkid.tab on first use.  @return its text, or NULL. */
static const char *devmap_cache(struct devmap *map)
{
	char path[DEVMAP_PATH_MAX];
	size_t len;
	if (map->cache_read)
		return map->cache;
	map->cache_read = true;
	if (devmap_at(path, sizeof(path), map->roots.run, "blkid/blkid.tab")
	    && os_read_file(map->os, AT_FDCWD, path, DEVMAP_CACHE_MAX, &map->cache, &len) != 0)
		devmap_note(map, path);
	return map->cache;
}

bool devmap_paths_failed(const char *status)
{
	/* The number of other words depends on handlers and selectors: look for "MAJ:MIN A|F". */
	bool any = false, path = false;
	for (const char *word = status + strspn(status, " "); *word; word += strspn(word, " ")) {
		size_t n = strcspn(word, " ");
		if (path && n == 1 && *word == 'A')
			return false;
		any |= path && n == 1 && *word == 'F';
		size_t major = strspn(word, "0123456789");
		path = major > 0 && word[major] == ':'
		       && (major + 1) + strspn(word + major + 1, "0123456789") == n
		       && n > major + 1;
		word += n;
	}
	return any;
}

bool devmap_cached(struct devmap *map, const struct devmap_dev *dev, struct devmap_tags *tags)
{
	struct {
		const char *name;
		const char **value;
	} const names[] = {
		{" TYPE=", &tags->type}, {" UUID=", &tags->uuid}, {" LABEL=", &tags->label},
		{" PARTUUID=", &tags->partuuid}, {" PARTLABEL=", &tags->partlabel},
	};
	static const char head[] = "<device ", time[] = " TIME=";
	char number[48];
	const char *text = devmap_cache(map), *line = NULL, *end = NULL;
	unsigned long long latest = 0;
	snprintf(number, sizeof(number), "DEVNO=\"0x%04llx\"",
	         (unsigned long long)makedev(dev->major, dev->minor));
	for (const char *at = text; at && (at = strstr(at, number)) != NULL; ++at) {
		const char *begin = at;
		while (begin > text && begin[-1] != '\n')
			--begin;
		const char *stop = strchrnul(at, '\n');
		const char *made = find_attribute(begin, stop, time);
		unsigned long long when = made ? strtoull(made, NULL, 10) : 0;
		if (strncmp(begin, head, sizeof(head) - 1) == 0 && (!line || when > latest)) {
			line = begin;
			end = stop;
			latest = when;
		}
	}
	for (size_t i = 0; line && i < sizeof(names) / sizeof(*names); ++i) {
		if (!*names[i].value)
			*names[i].value = devmap_attribute(map, line, end, names[i].name);
	}
	if (tags->type && !tags->usage)
		tags->usage = devmap_usage(tags->type);
	return tags->type != NULL;
}
