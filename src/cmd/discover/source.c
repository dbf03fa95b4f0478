/* SPDX-License-Identifier: MIT */
#include "cmd/discover/source.h"

#include "cmd/run.h"
#include "cmd/discover/view.h"
#include "path/resolve.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const struct {
	const char *name;
	size_t offset;   /* offset in struct devmap_tags */
} tags[] = {
	[TAG_LABEL] = {"LABEL=", offsetof(struct devmap_tags, label)},
	[TAG_UUID] = {"UUID=", offsetof(struct devmap_tags, uuid)},
	[TAG_PARTLABEL] = {"PARTLABEL=", offsetof(struct devmap_tags, partlabel)},
	[TAG_PARTUUID] = {"PARTUUID=", offsetof(struct devmap_tags, partuuid)},
};

enum tag source_tag(const char *source, const char **value, size_t *len)
{
	for (enum tag tag = 0; source && tag < TAG_NONE; ++tag) {
		size_t n = strlen(tags[tag].name);
		if (strncmp(source, tags[tag].name, n) != 0)
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

const char *tag_value(const struct devmap_tags *of, enum tag tag)
{
	return *(const char *const *)((const char *)of + tags[tag].offset);
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
		const struct devmap_tags *of = run->devices[i].tags;
		if (of->name && value_is(tag_value(of, tag), value, len))
			strbuf_printf(out, "%s%s", found++ ? "\n" : "", of->name);
	}
	return found;
}

void source_spec_init(struct run *run, struct source_spec *spec, const char *text)
{
	*spec = (struct source_spec){.text = text};
	spec->tag = source_tag(text, &spec->value, &spec->len);
	if (spec->tag != TAG_NONE)
		return;
	int n = 0;
	spec->is_dev = strspn(text, "0123456789") <= 7
	               && sscanf(text, "%7" SCNu32 ":%7" SCNu32 "%n", &spec->dev_major,
	                         &spec->dev_minor, &n) == 2 && !text[n];
	if (spec->is_dev || !*text)
		return;
	if (run->opt->nocanonicalize || !run->live) {
		if (*text == '/')
			path_normal(text, &spec->path);
	} else if (mounts_follow(run_paths(run), text, &spec->path) == PATH_SEEN) {
		struct k_statx st;
		if (mounts_look(run_paths(run), strbuf_str(&spec->path), K_STATX_TYPE, &st) == 0
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
	/* As in findmnt, the source of a pseudo file system is compared as text only, not as a
	   path. */
	if (strcmp(mount->source, spec->text) == 0
	    || (spec->path.len && strcmp(mount->source, strbuf_str(&spec->path)) == 0
	        && !fstype_is_pseudo(mount->fstype)))
		return true;
	if (spec->tag == TAG_NONE)
		return false;

	const char *value;
	size_t len;
	if (source_tag(mount->source, &value, &len) == spec->tag)
		return len == spec->len && strncmp(value, spec->value, len) == 0;
	/* Only devices have tags; network file systems, for example, have none. */
	if (!run->devs || mount->line || strncmp(mount->source, "/dev/", 5) != 0)
		return false;
	const struct devmap_tags *of = devmap_mount_tags(run->devs, mount);
	return of && value_is(tag_value(of, spec->tag), spec->value, spec->len);
}

bool source_match_device(const struct source_spec *spec, const struct devmap_device *device)
{
	if (spec->tag != TAG_NONE)
		return value_is(tag_value(device->tags, spec->tag), spec->value, spec->len);
	if (spec->is_dev)
		return device->major == spec->dev_major && device->minor == spec->dev_minor;
	return device->tags->name && strcmp(device->tags->name, spec->text) == 0;
}
