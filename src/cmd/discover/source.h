/* SPDX-License-Identifier: MIT */
/**
 * Sources of mounts: device names, and the tags LABEL=, UUID=, PARTLABEL=, PARTUUID=.
 */
#ifndef GM_CMD_SOURCE_H
#define GM_CMD_SOURCE_H

#include "cmd/run.h"

enum tag { TAG_LABEL, TAG_UUID, TAG_PARTLABEL, TAG_PARTUUID, TAG_NONE };

/** Parse a source of the form TAG=VALUE.  @value, len [out]  The value without surrounding quotes.
    @return the tag; TAG_NONE: the source is NULL or has another form. */
enum tag source_tag(const char *source, const char **value, size_t *len);

/** Get the value of a tag of a device, or NULL.  @tag  Not TAG_NONE. */
const char *tag_value(const struct devmap_tags *of, enum tag tag);

/** Store the devices that have a file system in run->devices, unless the devices are stored
    already.
    @return the number of devices, or -1.  Errors: those of devmap_list(). */
ssize_t run_devices(struct run *run);

/** Append the names of the devices whose tag has a value of len bytes, one name per line.
    @return the number of devices. */
size_t source_devices(struct run *run, enum tag tag, const char *value, size_t len,
                      struct strbuf *out);

/** A source given by --source or as an operand. */
struct source_spec {
	const char *text;
	enum tag tag;
	const char *value;            /* value of the tag */
	size_t len;
	bool is_dev;                  /* the source is a device number or the path of a block
	                                 device */
	uint32_t dev_major, dev_minor;
	struct strbuf path;           /* resolved path, if the text is a path */
};

/** Parse a source.  Sets run->nomem if memory runs out. */
void source_spec_init(struct run *run, struct source_spec *spec, const char *text);
void source_spec_destroy(struct source_spec *spec);

/** Whether the source of a mount matches `spec`.  Comparing a tag with a device requires
    run->devs. */
bool source_match(struct run *run, const struct source_spec *spec, const struct mount *mount);

/** Whether `spec` names the given device, which is not mounted. */
bool source_match_device(const struct source_spec *spec, const struct devmap_device *device);

#endif
