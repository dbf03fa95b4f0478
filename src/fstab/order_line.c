/* SPDX-License-Identifier: MIT */
/*
 * One line: the properties of its type and options that affect the order, and the paths it needs.
 */
#include "fstab/order.h"

#include "base/fstypes.h"
#include "base/words.h"
#include "fstab/fstab.h"
#include "fstab/places.h"
#include "mountopts/layers.h"
#include "mountopts/optlist.h"

#include <string.h>

/** Whether systemd assumes that a type needs the network.
    Source: fstype_is_network() of systemd 252. */
static bool is_network_type(const char *fstype)
{
	if (strncmp(fstype, "fuse.", 5) == 0)
		fstype += 5;
	static const char types[] =
	        "afs ceph cifs davfs gfs gfs2 glusterfs lustre ncp ncpfs nfs nfs4 "
	        "ocfs2 orangefs pvfs2 smb3 smbfs sshfs";
	return word_in(fstype, strlen(fstype), types);
}

uint16_t order_flags_of(const struct order_line *line)
{
	unsigned flags = is_network_type(line->fstype) ? ORDER_IS_NETWORK : 0;
	bool noauto = line->absent || strcmp(line->fstype, "ignore") == 0;
	const char *list = line->options;
	size_t n;
	for (const char *o; (o = opt_next(&list, &n)) != NULL;) {
		size_t name = opt_name(o, n);
		/* mount -a skips the line even if "auto" follows. */
		if (word_is(o, n, "noauto"))
			noauto = true;
		else if (word_is(o, n, "nofail"))
			flags |= ORDER_IS_NOFAIL;
		else if (word_is(o, n, "_netdev"))
			flags |= ORDER_IS_NETWORK;
		else if (word_in(o, name, "bind rbind"))
			flags |= ORDER_IS_BIND;
		else if (word_is(o, name, "x-systemd.automount")
		         || word_is(o, n, "comment=systemd.automount"))
			flags |= ORDER_IS_AUTOMOUNT;
	}
	if (strcmp(line->fstype, "swap") == 0)
		flags = (flags & ~(unsigned)(ORDER_IS_BIND | ORDER_IS_AUTOMOUNT)) | ORDER_IS_SWAP;
	if (noauto && (line->absent || !(flags & ORDER_IS_AUTOMOUNT)))
		flags |= ORDER_IS_IDLE;
	return (uint16_t)flags;
}

/** For order_each_path(). */
struct paths {
	struct arena *arena;
	bool (*each)(void *arg, const char *path, enum order_kind kind);
	void *arg;
	bool failed;
};

/** Call for a path of n bytes.  @return whether to go on. */
static bool call(struct paths *paths, const char *path, size_t n, enum order_kind kind)
{
	if (n == 0 || *path != '/')
		return true;
	char *copy = arena_strndup(paths->arena, path, n);
	const char *normal = copy ? fstab_normal(paths->arena, copy) : NULL;
	paths->failed |= !normal;
	return normal && paths->each(paths->arg, normal, kind);
}

static void call_layers(struct paths *paths, const char *options)
{
	struct opt_layers layers;
	bool more = true;
	opt_layers_init(&layers, options, opt_next);
	while (more && opt_layers_next(&layers))
		more = call(paths, strbuf_str(&layers.path), layers.path.len, ORDER_LAYER);
	paths->failed |= !opt_layers_destroy(&layers);
}

/** Call for the branches of a list, each perhaps with "=RW" after it. */
static bool call_branches(struct paths *paths, const char *list, size_t n, const char *between)
{
	for (size_t from = 0, to; from < n; from = to + 1) {
		to = from + strcspn(list + from, between);
		to = to < n ? to : n;
		const char *mode = memchr(list + from, '=', to - from);
		size_t len = mode ? (size_t)(mode - list) - from : to - from;
		if (!call(paths, list + from, len, ORDER_BRANCH))
			return false;
	}
	return true;
}

/** The source of a type of FUSE: "mergerfs#/a:/b" too. */
static void call_fuse(struct paths *paths, const struct order_line *line)
{
	const char *source = line->source, *sharp = strchr(source, '#');
	const char *helper =
		strncmp(line->fstype, "fuse.", 5) == 0 ? line->fstype + 5 : line->fstype;
	size_t n = strlen(helper);
	if (sharp && *source != '/') {
		helper = source;
		n = (size_t)(sharp - source);
		source = sharp + 1;
	}
	if (word_in(helper, n, "mergerfs unionfs unionfs-fuse mhddfs"))
		call_branches(paths, source, strlen(source),
		              word_is(helper, n, "mhddfs") ? "," : ":");
	else
		call(paths, source, strlen(source), ORDER_SOURCE);
}

static void call_aufs(struct paths *paths, const char *options)
{
	size_t n;
	for (const char *o; (o = opt_next(&options, &n)) != NULL;) {
		size_t name = strcspn(o, "=:");
		if (name < n && word_in(o, name, "br dirs")
		    && !call_branches(paths, o + name + 1, n - name - 1, ":"))
			return;
	}
}

int order_each_path(const struct order_line *line, struct arena *arena,
                    bool (*each)(void *arg, const char *path, enum order_kind kind), void *arg)
{
	struct paths paths = {.arena = arena, .each = each, .arg = arg};
	const char *source = line->source, *fstype = line->fstype;
	unsigned type = fstype_line_flags(fstype, source);
	uint16_t flags = order_flags_of(line);
	/* Of a device the kernel's own name is no path that a line mounts. */
	bool path = *source == '/' && source[1] != '/' && strncmp(source, "/dev/", 5) != 0;
	if (flags & ORDER_IS_BIND) {
		call(&paths, source, strlen(source), ORDER_BIND);
	} else if (strcmp(fstype, "overlay") == 0) {
		call_layers(&paths, line->options);
	} else if (strcmp(fstype, "aufs") == 0) {
		call_aufs(&paths, line->options);
	} else if (strncmp(fstype, "fuse", 4) == 0
	           || word_in(fstype, strlen(fstype), "mergerfs unionfs mhddfs")) {
		call_fuse(&paths, line);
	} else if (path && strcmp(fstype, "none") != 0 && strcmp(fstype, "ignore") != 0
	           && (type & FST_DEVICE || !(type & (FST_NET | FST_PSEUDO)))) {
		call(&paths, source, strlen(source),
		     flags & ORDER_IS_SWAP ? ORDER_SWAP : ORDER_SOURCE);
	}
	if (line->real && strcmp(line->real, source) != 0)
		call(&paths, line->real, strlen(line->real), ORDER_LINK);
	return paths.failed ? -1 : 0;
}
