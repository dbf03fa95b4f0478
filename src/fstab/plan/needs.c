/* SPDX-License-Identifier: MIT */
/*
 * Find the mounts that a mount needs: the mounts that contain its mount point, its image, its
 * layers, or the source of a bind.
 */
#include "fstab/plan/plan_impl.h"

#include "base/fstypes.h"
#include "base/words.h"
#include "fstab/entry.h"
#include "mountopts/fsopts.h"
#include "mountopts/shown.h"

#include <string.h>

const char *plan_path(const struct fstab_input *in, const char *name)
{
	return name ? fstab_from_root(in->root, name) : NULL;
}

/** Find the visible mount that contains a path from ROOT; MT_NONE: no mount below ROOT. */
static uint32_t plan_holder(const struct maker *mk, const char *path)
{
	return pathmap_nearest(&mk->by_name, path);
}

uint32_t plan_stack_base(const struct maker *mk, uint32_t node)
{
	const struct mt_node *nodes = mk->tree->nodes;
	while (node != MT_NONE && mtree_stacked(mk->tree, node)) {
		uint32_t on = nodes[node].parent;
		const struct mount *m = plan_mount(mk, node), *beneath = plan_mount(mk, on);
		if (!mk->in->d->targets[on] || nodes[on].states & 1u << MT_OUTSIDE
		    || !mount_shows_same(beneath, m))
			break;
		node = on;
	}
	return node;
}

bool plan_is_ro_view(const struct mount *mount)
{
	return shown_mount_readonly(mount) && !shown_super_readonly(mount);
}

/* The mounts that contain a path or a mount point. */

/** Whether the content of a mount is lost at shutdown: a tmpfs or ramfs not on "/". */
static bool plan_is_volatile(const struct maker *mk, uint32_t node)
{
	return fsopt_type_in(plan_mount(mk, node)->fstype, "tmpfs ramfs")
	       && strcmp(mk->decisions[node].target, "/") != 0;
}

/** Index the lines of the fstab by mount point, also with its symlinks followed. */
static void index_lines(struct maker *mk)
{
	const struct fstab_file *file = mk->in->file;
	const struct fstab_facts *facts = &mk->in->facts;
	mk->has_lines = true;
	for (size_t i = file->count; i-- > 0 && !mk->work.failed;) {
		const struct fstab_entry *entry = &file->entries[i];
		struct strbuf real = {.arena = &mk->work};
		if (!fstab_is_entry(entry) || !entry->path)
			continue;
		pathmap_add(&mk->by_line, entry->path, (uint32_t)i);
		if (facts->look && facts->look(facts->arg, entry->path, &real) > FACT_MISSING
		    && real.len && strcmp(strbuf_str(&real), entry->path) != 0)
			pathmap_add(&mk->by_line, strbuf_str(&real), (uint32_t)i);
	}
}

/** The best line of the fstab for the mount point of a mount.  LINED_NOT: no line; LINED_IDLE: a
    line that nothing mounts; LINED_OTHER: a line that cannot make this mount; LINED: a line that
    can make this mount. */
enum lined { LINED_NOT = 1, LINED_IDLE, LINED_OTHER, LINED };

/** Find the best line of the fstab for a mount.  A line of a whole file system cannot make a mount
    that shows a directory of the file system. */
static enum lined find_line(struct maker *mk, uint32_t node)
{
	const struct mount *m = plan_mount(mk, node);
	const char *target = mk->decisions[node].target;
	enum lined found = LINED_NOT;
	uint8_t *known = &mk->decisions[node].lined;
	if (!mk->in->file || !target)
		return LINED_NOT;
	if (*known)
		return (enum lined)*known;
	if (!mk->has_lines)
		index_lines(mk);
	for (struct pathmap_at at = pathmap_of(target); pathmap_next(&mk->by_line, &at);) {
		const struct fstab_entry *entry = &mk->in->file->entries[at.value];
		bool fits = strcmp(mount_root(m), "/") == 0 || entry->bind
		            || fstype_flags(m->fstype) & (FST_SUBVOL | FST_NET)
		            || fstab_entry_value(entry, "X-mount.subdir");
		enum lined is = entry->idle ? LINED_IDLE : fits ? LINED : LINED_OTHER;
		found = is > found ? is : found;
	}
	*known = (uint8_t)found;
	return found;
}

enum state plan_available(struct maker *mk, uint32_t node)
{
	const struct decision *decision = node != MT_NONE ? &mk->decisions[node] : NULL;
	/* Three kinds of mounts exist without a line: the mount outside of ROOT that contains ROOT,
	   the mount of "/", and mounts made before the fstab is read. */
	if (!decision || (decision->visible && strcmp(decision->target, "/") == 0)
	    || (decision->state == OWN && decision->boot))
		return LINE;
	/* The line of its origin makes a copy. */
	if (decision->state == COPIED)
		return LINE;
	bool lacks = decision->state == REFUSED || decision->state == OWN;
	return lacks && find_line(mk, node) == LINED ? LINE : (enum state)decision->state;
}

const char *plan_lack(struct maker *mk, uint32_t node, enum state state)
{
	enum lined lined = find_line(mk, node);
	return lined == LINED_IDLE ? "has a line that nothing mounts at boot"
	       : lined == LINED_OTHER ? "has a line of something else"
	       : state == OWN ? "the system mounts by itself, if at all" : "has no line";
}

enum state plan_needs_path(struct maker *mk, uint32_t i, const char *path, const char *what,
                           uint32_t *node, struct fstab_line *line)
{
	uint32_t in = plan_holder(mk, path);
	if (in == i && i != MT_NONE) {
		in = mk->tree->nodes[i].parent;
		if (in != MT_NONE && mk->decisions[in].state == ELSEWHERE)
			in = MT_NONE;
		if (strcmp(mk->decisions[i].target, "/") == 0
		    || (in != MT_NONE && !mk->decisions[in].visible))
			return plan_refuse(mk, line, "%s %s is covered by itself", what, path);
	}
	if (node)
		*node = in;
	/* The path was recorded when the file was opened.  The file may be in a mount that is
	   hidden now. */
	uint32_t hidden = pathmap_nearest(&mk->by_hidden, path);
	if (hidden != MT_NONE)
		return plan_refuse(mk, line, "%s %s may be that of a mount on %s which is hidden "
		                   "now", what, path, mk->decisions[hidden].target);
	enum state state = plan_available(mk, in);
	if (state == LINE && in != MT_NONE && plan_is_volatile(mk, in))
		return plan_refuse(mk, line, "%s %s is in memory and does not survive a reboot",
		                   what, path);
	if (state == REFUSED || state == OWN)
		return plan_refuse(mk, line, "%s %s lies on %s, which %s", what, path,
		                   mk->decisions[in].target, plan_lack(mk, in, state));
	return state;
}

/** Find the mount that contains the mount point of a node; MT_NONE: no mount below ROOT. */
static uint32_t parent_of(const struct maker *mk, uint32_t i)
{
	const struct mt_node *nodes = mk->tree->nodes;
	uint32_t parent = plan_stack_base(mk, nodes[i].parent);
	/* Skip hidden mounts on the mount point of the node. */
	while (parent != MT_NONE && mk->decisions[parent].target && !mk->decisions[parent].visible
	       && strcmp(mk->decisions[parent].target, mk->decisions[i].target) == 0)
		parent = nodes[parent].parent;
	return parent == MT_NONE || mk->decisions[parent].state == ELSEWHERE ? MT_NONE : parent;
}

bool plan_wants_mkdir(const struct maker *mk, uint32_t i)
{
	uint32_t parent = parent_of(mk, i);
	return parent != MT_NONE && mk->decisions[parent].target && plan_is_volatile(mk, parent);
}

enum state plan_needs_parent(struct maker *mk, uint32_t i, struct fstab_line *line)
{
	uint32_t parent = parent_of(mk, i);
	enum discover_kind kind = (enum discover_kind)mk->in->d->kinds[i];
	/* If the type of the mount point is unknown, assume a directory, unless the mount may be a
	   bind of a file: not of the root of a file system, and without mounts below. */
	bool dir = kind != DK_UNKNOWN ? kind == DK_DIR
	           : !mk->decisions[i].bind || strcmp(mount_root(plan_mount(mk, i)), "/") == 0
	             || mk->tree->nodes[i].first != MT_NONE;
	if (plan_wants_mkdir(mk, i) && !dir)
		return plan_refuse(mk, line, kind == DK_UNKNOWN
			? "its mount point is in memory and does not survive a reboot; whether it "
			  "is a directory is not known"
			: "the file that it is mounted on is in memory and does not survive a "
			  "reboot");
	if (parent == MT_NONE || mk->decisions[i].automount)
		return LINE;
	enum state state = plan_available(mk, parent);
	const char *above = mk->decisions[parent].target;
	if (state == REFUSED || state == OWN)
		line->why = arena_printf(mk->arena, "it is mounted on %s, which %s",
		                         above ? above : "?", plan_lack(mk, parent, state));
	return state;
}

/* The source of a bind. */

/** Maximum number of mounts that plan_bind_source() tries for each directory at or above a
    source. */
enum { CANDIDATES_MAX = 32 };

/** Try the path `rest` within the mount of the node `candidate` as the source of bind i.
    @line  Gets the source; or the reason why not, unless line->why is set.
    @return LINE: the source is visible at this path; WAITING: the candidate is not decided yet;
            REFUSED: the source is not visible at this path. */
static enum state try_source(struct maker *mk, uint32_t i, uint32_t candidate, const char *rest,
                             struct fstab_line *line)
{
	const char *above = mk->decisions[candidate].target;
	enum state state = plan_available(mk, candidate);
	/* Do not look for a second reason: on a container host, thousands of binds have many
	   candidates. */
	if (state != LINE && line->why)
		return state == WAITING ? WAITING : REFUSED;
	rest += strspn(rest, "/");
	const char *source = !*rest ? above
	                     : arena_printf(mk->arena, "%s/%s", above[1] ? above : "", rest);
	if (mk->arena->failed)
		return REFUSED;
	uint32_t found = plan_holder(mk, source);
	bool onto_itself = found == i && strcmp(source, mk->decisions[i].target) == 0
	                   && plan_stack_base(mk, mk->tree->nodes[i].parent) == candidate;
	bool covered = found != candidate && !onto_itself;
	if (!covered && state == WAITING)
		return WAITING;
	const char *why = covered
		? arena_printf(mk->arena, "is covered by the mount on %s",
		               mk->decisions[found].target)
		: state != LINE
		? arena_printf(mk->arena, "lies on %s, which %s", above,
		               plan_lack(mk, candidate, state))
		: *rest && plan_is_volatile(mk, candidate)
		? "is in memory and does not survive a reboot" : NULL;
	if (why) {
		line->why = line->why ? line->why
		                      : arena_printf(mk->arena, "its source %s %s", source, why);
		return REFUSED;
	}
	line->source = source;
	return LINE;
}

enum state plan_bind_source(struct maker *mk, uint32_t i, struct fstab_line *line, uint32_t *in)
{
	const struct mount *m = plan_mount(mk, i);
	const char *root = mount_root(m);
	uint64_t hash = fstab_device_hash(m);
	size_t hashed = 0;
	bool waiting = false;
	for (size_t n = *root != '\0';; n += strcspn(root + n, "/")) {
		hash = map64_bytes(hash, root + hashed, n - hashed);
		hashed = n;
		uint32_t node = map64_get(&mk->by_root, hash);
		for (int tries = 0; node != MAP64_NONE && tries < CANDIDATES_MAX; ++tries) {
			const struct mount *other = plan_mount(mk, node);
			if (node != i && mount_dev(other) == mount_dev(m)
			    && word_is(root, n, mount_root(other))) {
				enum state state = try_source(mk, i, node, root + n, line);
				waiting |= state == WAITING;
				*in = node;
				if (state == LINE)
					return LINE;
			}
			node = mk->decisions[node].next_root;
		}
		if (!root[n])
			break;
		n += root[n] == '/';
	}
	uint32_t hidden = map64_get(&mk->hidden, mount_dev(m));
	if (!line->why && !waiting && hidden != MAP64_NONE && hidden != i
	    && word_below(root, mount_root(plan_mount(mk, hidden))))
		line->why = arena_printf(mk->arena, "its source, %s of %s, is hidden: it lies on "
		                         "a mount on %s that another covers", root,
		                         m->source ? m->source : "none",
		                         mk->decisions[hidden].target);
	return waiting ? WAITING : REFUSED;
}

const char *plan_bind_fault(struct maker *mk, uint32_t i)
{
	const struct mount *m = plan_mount(mk, i);
	uint32_t whole = map64_get(&mk->primary, mount_dev(m));
	/* No fault if the bind or its file system is read-only, or if no line mounts the root of
	   the file system read-only. */
	if (shown_mount_readonly(m) || shown_super_readonly(m)
	    || whole == MAP64_NONE || mk->decisions[whole].state == OWN
	    || !plan_is_ro_view(plan_mount(mk, whole)))
		return NULL;
	return arena_printf(mk->arena, "it is writable, but the line of %s makes its file system "
	                    "read-only", mk->decisions[whole].target);
}
