/* SPDX-License-Identifier: MIT */
/*
 * Reading threads add up the objects of a batch of directories.  Their text is a sequence of parts,
 * each a directory's path followed by a struct part, so that the last parts can be found from the
 * end of the text and added to.  A file that may be found again has its own part.  The thread that
 * owns the search adds the parts to rows.
 */
#include "cmd/search/usage.h"

#include "base/fail.h"
#include "base/map64.h"
#include "remote/remote.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

enum { LOOK_BACK = 8 };       /* number of last parts that an object may be added to */

/** The end of a part. */
struct part {
	uint64_t size, count;
	uint64_t dev, ino;        /* device and inode numbers, of a file that is counted once */
	uint32_t key;
	uint32_t dir_len : 31, once : 1;
};

/** Add an object to one of the last LOOK_BACK parts, if one has the directory and key of the
    object.
    @return whether such a part was found. */
static bool add_to_part(struct strbuf *text, const struct part *new, const char *dir)
{
	size_t end = text->len;
	struct part part;
	for (int i = 0; i < LOOK_BACK && end > 0; ++i) {
		size_t at = end - sizeof(part);
		memcpy(&part, text->data + at, sizeof(part));
		end = at - part.dir_len;
		if (part.once || part.key != new->key || part.dir_len != new->dir_len
		    || memcmp(text->data + end, dir, new->dir_len) != 0)
			continue;
		part.size += new->size;
		part.count += new->count;
		memcpy(text->data + at, &part, sizeof(part));
		return true;
	}
	return false;
}

void usage_note(const struct usage_options *options, const struct search_object *object,
                struct strbuf *text)
{
	const struct k_statx *st = (const void *)object->st;
	/* If memory ran out, the last part of `text` may be truncated: do not add the object. */
	if (text->failed || (options->xdev && os_statx_is_mount_root(st)))
		return;
	bool sized = S_ISREG(st->mode) || S_ISLNK(st->mode), dir = S_ISDIR(st->mode);
	struct part part = {
		.size = !options->apparent ? st->blocks * 512 : sized ? st->size : 0,
		.count = 1,
		.key = options->by == USAGE_USER ? st->uid : options->by == USAGE_GROUP ? st->gid
		       : options->by == USAGE_TYPE ? IFTODT(st->mode) : 0,
		.dir_len = options->depth ? (uint32_t)object->dir_len : 0,
		.once = options->once || (st->nlink > 1 && !dir),
	};
	bool own = dir && options->depth;   /* the object is a directory that may have a row */
	if (!part.once && !own && add_to_part(text, &part, object->dir))
		return;
	if (part.once) {
		part.dev = (uint64_t)st->dev_major << 32 | st->dev_minor;
		part.ino = st->ino;
	}
	strbuf_add(text, object->dir, part.dir_len);
	if (own) {
		strbuf_puts(text, object->name);
		part.dir_len += (uint32_t)strlen(object->name);
	}
	strbuf_add(text, (const char *)&part, sizeof(part));
}

int usage_merge(struct usage *usage, size_t root, struct strbuf *text)
{
	int rc = 0;
	struct part part;
	/* Two hosts may use equal device and inode numbers: combine the device with the host. */
	const char *name = usage_root(usage, root);
	const size_t prefix = remote_prefix(name);
	const uint64_t host = prefix ? map64_bytes(MAP64_BYTES, name, prefix) : 0;
	for (size_t end = text->len; end > 0 && rc == 0;) {
		end -= sizeof(part);
		memcpy(&part, text->data + end, sizeof(part));
		end -= part.dir_len;
		const struct usage_sum sum = {.size = part.size, .count = part.count};
		uint32_t row = usage_find(usage, root, text->data + end, part.dir_len, part.key);
		if (row == USAGE_NONE)
			rc = -1;
		else if (part.once)
			rc = usage_add_once(usage, row, part.dev ^ host, part.ino, &sum);
		else
			usage_add(usage, row, &sum);
	}
	strbuf_reset(text);
	return rc;
}

int usage_object(struct usage *usage, const struct usage_options *options, size_t root,
                 const char *path, const struct k_statx *st, struct strbuf *text)
{
	struct k_statx copy = *st;
	const char *name = usage_root(usage, root), *slash = strrchr(path, '/');
	size_t dir = slash ? (size_t)(slash + 1 - path) : 0;
	/* A root counts in its own row, even if it is a file or the root of a mount. */
	if (strcmp(path, name) == 0) {
		dir = strlen(name);
		dir -= dir > 0 && name[dir - 1] == '/';
		copy.attributes = 0;
	}
	usage_note(options, &(struct search_object){
		.dir = path, .dir_len = dir, .name = path + dir,
		.st = (const struct statx *)(const void *)&copy,
	}, text);
	if (!text->failed)
		return usage_merge(usage, root, text);
	return fail(ENOMEM);
}
