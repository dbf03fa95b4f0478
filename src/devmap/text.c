/* SPDX-License-Identifier: MIT */
/*
 * Parsers of the udev database and blkid.tab.  Both files are untrusted: values that are too long
 * or contain a NUL, and lines of another form, are ignored.
 *
 * The udev database has one file for each device:
 *     E:ID_FS_LABEL_ENC=two\x20words
 * blkid.tab has one line for each device; '\' escapes '"' and '\':
 *     <device DEVNO="0x0801" TIME="1700000000.5" UUID="..." TYPE="ext4">/dev/sda1</device>
 */
#include "devmap/devmap_impl.h"

#include "base/words.h"
#include "os/file.h"

#include <blkid/blkid.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

const char *devmap_usage(const char *type)
{
	const char *name;
	int usage;
	for (size_t i = 0; blkid_superblocks_get_name(i, &name, &usage) == 0; ++i) {
		if (!name || strcmp(name, type) != 0)
			continue;
		switch (usage) {
		case BLKID_USAGE_FILESYSTEM:
			return "filesystem";
		case BLKID_USAGE_RAID:
			return "raid";
		case BLKID_USAGE_CRYPTO:
			return "crypto";
		default:
			return "other";
		}
	}
	/* udev's mpath_member is unknown to libblkid. */
	size_t n = strlen(type);
	return n > 7 && strcmp(type + n - 7, "_member") == 0 ? "raid" : NULL;
}

/** The value of a hexadecimal digit. */
static unsigned devmap_hex(char c)
{
	int digit = isdigit((unsigned char)c) ? c - '0' : tolower((unsigned char)c) - 'a' + 10;
	return (unsigned)digit;
}

/** Whether str begins with \xhh; decode it. */
static bool devmap_take_hex(const char *str, size_t n, char *byte)
{
	if (n < 4 || str[0] != '\\' || str[1] != 'x' || !isxdigit((unsigned char)str[2])
	    || !isxdigit((unsigned char)str[3]))
		return false;
	*byte = (char)(devmap_hex(str[2]) << 4 | devmap_hex(str[3]));
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
	return len > 0 ? devmap_strndup(map, buf, len) : NULL;
}

/** Whether a by-path name of udev is over a network: "ip-192.0.2.9:3260-iscsi-...". */
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
		/* In these, unsafe characters are replaced. */
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

	for (const char *line = text, *end = text + len; line < end;) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));
		stop = stop ? stop : end;
		const char *equals = memchr(line, '=', (size_t)(stop - line));
		if (equals && equals - line > 2 && line[0] == 'E' && line[1] == ':') {
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
			if (word_is(key, key_len, "ID_FS_AMBIVALENT"))
				udev->ambivalent = true;
			tags->remote |= word_is(key, key_len, "ID_PATH")
			                && devmap_is_over_net(value, value_len);
		}
		static const char link[] = "S:disk/by-path/";
		size_t n = (size_t)(stop - line), skip = sizeof(link) - 1;
		tags->remote |= n > skip && memcmp(line, link, skip) == 0
		                && devmap_is_over_net(line + skip, n - skip);
		line = stop + 1;
	}
	if (!tags->uuid)
		tags->uuid = plain_uuid;
	if (!tags->label)
		tags->label = plain_label;
	if (!tags->uuid_sub)
		tags->uuid_sub = plain_sub;
}

/** An attribute of a line of blkid.tab; the value is escaped. */
struct devmap_attribute {
	const char *name, *value;
	size_t name_len, value_len;
};

/** Read the next attribute of a line.  @return false at the end. */
static bool devmap_next_attribute(const char **pos, const char *end, struct devmap_attribute *attr)
{
	const char *p = *pos;
	while (p < end && *p == ' ')
		++p;
	attr->name = p;
	while (p < end && (isalnum((unsigned char)*p) || *p == '_'))
		++p;
	attr->name_len = (size_t)(p - attr->name);
	if (attr->name_len == 0 || end - p < 2 || p[0] != '=' || p[1] != '"')
		return false;
	p += 2;
	attr->value = p;
	while (p < end && *p != '"')
		p += *p == '\\' && end - p > 1 ? 2 : 1;
	if (p >= end)
		return false;
	attr->value_len = (size_t)(p - attr->value);
	*pos = p + 1;
	return true;
}

/** Decode the value of an attribute into the map. */
static const char *devmap_attribute_value(struct devmap *map, const struct devmap_attribute *attr)
{
	char buf[DEVMAP_TAG_MAX];
	size_t len = 0;
	for (size_t i = 0; i < attr->value_len; ++len) {
		if (len == sizeof(buf))
			return NULL;
		/* Releases of libblkid differ: \" and \x22. */
		if (devmap_take_hex(attr->value + i, attr->value_len - i, &buf[len])) {
			i += 4;
			continue;
		}
		i += attr->value[i] == '\\' && i + 1 < attr->value_len;
		buf[len] = attr->value[i++];
	}
	return devmap_value(map, buf, len, false);
}

/** An attribute as a number, or 0. */
static unsigned long long devmap_attribute_number(const struct devmap_attribute *attr, int base)
{
	char buf[32];
	if (attr->value_len >= sizeof(buf))
		return 0;
	memcpy(buf, attr->value, attr->value_len);
	buf[attr->value_len] = '\0';
	return strtoull(buf, NULL, base);
}

/** Find the attributes of a line.  @return whether the line is of a device. */
static bool devmap_line(const char *str, size_t len, const char **attrs, const char **end)
{
	static const char open[] = "<device ";
	if (len < sizeof(open) || memcmp(str, open, sizeof(open) - 1) != 0)
		return false;
	*attrs = str + sizeof(open) - 1;
	*end = str + len;
	return true;
}

/** Index the latest line of each device.  @return 0, or -1 (ENOMEM). */
static int devmap_cache_index(struct devmap_cache *cache, size_t len)
{
	size_t room = 1, used = 0;
	for (size_t i = 0; i < len; ++i)
		room += cache->text[i] == '\n';
	cache->lines = malloc(room * sizeof(*cache->lines));
	if (!cache->lines)
		return -1;
	for (const char *str = cache->text, *stop = str + len; str < stop;) {
		const char *next = memchr(str, '\n', (size_t)(stop - str));
		struct devmap_line line = {.str = str, .len = (size_t)((next ? next : stop) - str)};
		str += line.len + 1;

		const char *pos, *end;
		struct devmap_attribute attr;
		unsigned long long number = 0;
		if (!devmap_line(line.str, line.len, &pos, &end))
			continue;
		while (devmap_next_attribute(&pos, end, &attr)) {
			if (word_is(attr.name, attr.name_len, "DEVNO"))
				number = devmap_attribute_number(&attr, 16);
			else if (word_is(attr.name, attr.name_len, "TIME"))
				line.time = devmap_attribute_number(&attr, 10);
		}
		if (number == 0)
			continue;
		uint64_t key = (uint64_t)major(number) << 32 | minor(number);
		uint32_t at = map64_put(&cache->index, key, (uint32_t)used);
		if (at == MAP64_NONE)
			return -1;
		if (at == used)
			cache->lines[used++] = line;
		else if (line.time > cache->lines[at].time)
			cache->lines[at] = line;
	}
	return 0;
}

static void devmap_cache_read(struct devmap *map)
{
	struct devmap_cache *cache = &map->cache;
	char path[DEVMAP_PATH_MAX];
	size_t len;
	if (cache->read)
		return;
	cache->read = true;
	if (!devmap_at(path, sizeof(path), map->roots.run, "blkid/blkid.tab"))
		return;
	if (os_read_file(map->os, AT_FDCWD, path, DEVMAP_CACHE_MAX, &cache->text, &len) != 0) {
		devmap_note(map, path);
	} else if (devmap_cache_index(cache, len) != 0) {
		map->failed = true;
		devmap_cache_destroy(cache);
	}
}

bool devmap_paths_failed(const char *status)
{
	/* The number of other words depends on handlers and selectors: find "MAJ:MIN A|F". */
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
	devmap_cache_read(map);
	uint32_t at = map64_get(&map->cache.index, (uint64_t)dev->major << 32 | dev->minor);
	if (at == MAP64_NONE)
		return false;
	struct {
		const char *name;
		const char **value;
	} const names[] = {
		{"TYPE", &tags->type},         {"UUID", &tags->uuid},
		{"LABEL", &tags->label},       {"PARTUUID", &tags->partuuid},
		{"PARTLABEL", &tags->partlabel},
	};
	const struct devmap_line *line = &map->cache.lines[at];
	const char *pos, *end;
	struct devmap_attribute attr;
	if (!devmap_line(line->str, line->len, &pos, &end))
		return false;
	while (devmap_next_attribute(&pos, end, &attr)) {
		for (size_t i = 0; i < sizeof(names) / sizeof(*names); ++i) {
			if (!*names[i].value && word_is(attr.name, attr.name_len, names[i].name))
				*names[i].value = devmap_attribute_value(map, &attr);
		}
	}
	if (tags->type && !tags->usage)
		tags->usage = devmap_usage(tags->type);
	return tags->type != NULL;
}

void devmap_cache_destroy(struct devmap_cache *cache)
{
	free(cache->text);
	free(cache->lines);
	map64_destroy(&cache->index);
	*cache = (struct devmap_cache){0};
}
