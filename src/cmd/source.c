/* SPDX-License-Identifier: MIT */
#include "cmd/source.h"

#include "cmd/listing.h"
#include "cmd/view.h"
#include "path/resolve.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *const tag_names[] = {
	[TAG_LABEL] = "LABEL=", [TAG_UUID] = "UUID=",
	[TAG_PARTLABEL] = "PARTLABEL=", [TAG_PARTUUID] = "PARTUUID=",
};

enum tag source_tag(const char *source, const char **value, size_t *len)
{
	for (enum tag tag = 0; source && tag < TAG_NONE; ++tag) {
		size_t n = strlen(tag_names[tag]);
		if (strncmp(source, tag_names[tag], n) != 0)
			continue;
		*value = source + n;
		*len = strlen(*value);
		if (*len > 1 && (**value == '"' || **value == '\'')
		    && (*value)[*len - 1] == **value) {
			++*value;
			*len -= 2;
		}
		return tag;
	}
	return TAG_NONE;
}

const char *tag_value(const struct devmap_tags *tags, enum tag tag)
{
	switch (tag) {
	case TAG_LABEL:
		return tags->label;
	case TAG_UUID:
		return tags->uuid;
	case TAG_PARTLABEL:
		return tags->partlabel;
	case TAG_PARTUUID:
		return tags->partuuid;
	case TAG_NONE:
		break;
	}
	return NULL;
}

static bool value_is(const char *have, const char *want, size_t len)
{
	return have && strlen(have) == len && strncmp(have, want, len) == 0;
}

ssize_t run_devices(struct run *run)
{
	bool whole;
	if (!run->devices && run->devs)
		run->ndevices = devmap_list(run->devs, false, &run->devices, &whole);
	return run->devs ? run->ndevices : 0;
}

size_t source_devices(struct run *run, enum tag tag, const char *value, size_t len,
                      struct strbuf *out)
{
	size_t found = 0;
	ssize_t n = run_devices(run);
	for (ssize_t i = 0; i < n; ++i) {
		const struct devmap_tags *tags = run->devices[i].tags;
		if (tags->name && value_is(tag_value(tags, tag), value, len))
			strbuf_printf(out, "%s%s", found++ ? "\n" : "", tags->name);
	}
	return found;
}

/** Read "MAJ:MIN".  @return whether it is that. */
static bool read_majmin(const char *text, uint32_t *major, uint32_t *minor)
{
	unsigned maj, min;
	int n = 0;
	if (strspn(text, "0123456789") > 7)
		return false;
	if (sscanf(text, "%7u:%7u%n", &maj, &min, &n) != 2 || text[n])
		return false;
	*major = maj;
	*minor = min;
	return true;
}

void source_spec_init(struct run *run, struct source_spec *spec, const char *text)
{
	*spec = (struct source_spec){.text = text};
	strbuf_init(&spec->path);
	spec->tag = source_tag(text, &spec->value, &spec->len);
	if (spec->tag != TAG_NONE)
		return;
	spec->is_dev = read_majmin(text, &spec->dev_major, &spec->dev_minor);
	if (spec->is_dev || *text != '/' || text[1] == '/')
		return;

	if (run->opt->nocanonicalize || !run->live) {
		path_normal(text, &spec->path);
	} else if (path_follow(run, text, &spec->path) == HOST_SEEN) {
		struct k_statx st;
		if (path_look(run, strbuf_str(&spec->path), K_STATX_TYPE, &st) == 0
		    && S_ISBLK(st.mode)) {
			spec->is_dev = true;
			spec->dev_major = st.rdev_major;
			spec->dev_minor = st.rdev_minor;
		}
	}
	run->nomem |= spec->path.failed;
}

void source_spec_destroy(struct source_spec *spec)
{
	strbuf_destroy(&spec->path);
}

bool source_match(struct run *run, const struct source_spec *spec, const struct mount *mount)
{
	if (spec->is_dev && (mount->dev_major || mount->dev_minor)
	    && mount->dev_major == spec->dev_major && mount->dev_minor == spec->dev_minor)
		return true;
	if (!mount->source)
		return false;
	if (strcmp(mount->source, spec->text) == 0
	    || (spec->path.len && strcmp(mount->source, strbuf_str(&spec->path)) == 0))
		return true;
	if (spec->tag == TAG_NONE)
		return false;

	const char *value;
	size_t len;
	if (source_tag(mount->source, &value, &len) == spec->tag)
		return len == spec->len && strncmp(value, spec->value, len) == 0;
	/* Network file systems have no tags. */
	if (!run->devs || mount->line || strncmp(mount->source, "/dev/", 5) != 0)
		return false;
	const struct devmap_tags *tags = devmap_mount_tags(run->devs, mount);
	return tags && value_is(tag_value(tags, spec->tag), spec->value, spec->len);
}

bool source_match_device(const struct source_spec *spec, const struct devmap_device *device)
{
	if (spec->tag != TAG_NONE)
		return value_is(tag_value(device->tags, spec->tag), spec->value, spec->len);
	if (spec->is_dev)
		return device->major == spec->dev_major && device->minor == spec->dev_minor;
	return device->tags->name && strcmp(device->tags->name, spec->text) == 0;
}
