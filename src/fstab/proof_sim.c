/* SPDX-License-Identifier: MIT */
/*
 * The lines of an fstab, mounted one after the other.
 *
 * It begins with ROOT, and what is there when the fstab is read: /proc, /dev and
 * their like.  For each line: where its target is by then, whether there is anything,
 * which file system its source names, or what a bind shows by then.  What differs
 * between the two runs is the order, who makes mount points, and which of two lines
 * of one target counts.
 */
#include "fstab/proof_impl.h"

#include "base/fstypes.h"
#include "mountopts/shown.h"

#include <stdlib.h>
#include <string.h>

enum {
	OPTIONS_MAX = 16384,   /* bytes that are taken: the kernel takes a page */
	STACK_MAX = 64,        /* mounts on each other that are compared with a line */
	LOOKS_MAX = 256,       /* mounts that rbind lines look at for each that there is */
	DEEP_MAX = 4096,       /* lines that wait for each other, by systemd */
};

/** A line that is being mounted. */
struct job {
	const struct mount *entry;
	struct pf_line *line;
	uint32_t index;
	const char *target;          /* without links */
	uint32_t on;                 /* the simulated mount that it is on */
	enum fact_kind kind;         /* of the mount point */
	const struct pf_mount *live; /* what is mounted there live, and to be there; or NULL */
	const struct fstab_line *want;
	uint32_t fs;                 /* what is mounted */
	const char *root;
	unsigned flags, unknown;
};

const char *pf_show(struct pf *pf, const char *source)
{
	const struct fstab_world *world = &pf->in->live->world;
	if (!source)
		return "nothing";
	return world->secret && world->secret(source, NULL) ? "a source with a secret" : source;
}

static bool fail(struct job *job, const char *why)
{
	job->line->fate = PF_FAILED;
	job->line->why = why;
	return false;
}

/** Why the kernel refuses a line; NULL. */
static const char *why_refused(const struct pf *pf, uint32_t i)
{
	return pf->in->refused ? pf->in->refused[i] : NULL;
}

/** Look, and count what is held to be there.  What no live mount shows is not: a tree
    that is like the live one never leads there. */
static enum fact_kind look(struct pf *pf, uint32_t fs, const char *inner, const char **moved)
{
	bool seen;
	enum fact_kind kind = pf_look(pf, fs, inner, moved, &seen);
	if (kind == FACT_UNKNOWN && !seen)
		return FACT_MISSING;
	if (kind == FACT_UNKNOWN && pf->run == 1)
		++pf->proof->held;
	return kind;
}

/** Why something is held not to be there: for words behind it. */
static const char *unseen(struct pf *pf, uint32_t fs, const char *inner)
{
	bool seen;
	return pf_look(pf, fs, inner, NULL, &seen) == FACT_UNKNOWN && !seen
	       ? ", as far as can be seen: nothing mounted shows that place now" : "";
}

/** The mount at a path, where a link is followed; and what is there. */
static uint32_t find_path(struct pf *pf, const char **path, uint32_t beneath, const char **inner,
                          enum fact_kind *kind)
{
	const char *moved;
	uint32_t on = pf_resolve(pf, &pf->sim, *path, beneath, inner);
	*kind = look(pf, pf->sim.mounts[on].fs, *inner, &moved);
	if (moved && (moved = pf_normal(pf, moved)) != NULL) {
		*path = moved;
		on = pf_resolve(pf, &pf->sim, *path, beneath, inner);
		*kind = look(pf, pf->sim.mounts[on].fs, *inner, NULL);
	}
	return on;
}

/** Find where the line goes. */
static bool find_target(struct pf *pf, struct job *job)
{
	const char *inner;
	job->target = job->line->target;
	job->on = find_path(pf, &job->target, PF_NONE, &inner, &job->kind);
	if (pf_failed(pf))
		return false;
	if (job->kind == FACT_MISSING) {
		bool made = pf->run == 2 || pf_option(pf, job->line->options, "X-mount.mkdir")
		            || pf_option(pf, job->line->options, "x-mount.mkdir");
		const struct pf_mount *on = &pf->sim.mounts[job->on];
		if (!made)
			return fail(job, fstab_format(&pf->draft, "there is no directory %s in what is mounted on %s then%s%s",
			                              job->target, on->target,
			                              pf->fs[on->fs].fresh ? ", which is empty: X-mount.mkdir makes one" : "",
			                              unseen(pf, on->fs, inner)));
		if (on->flags & PFF_RO)
			return fail(job, fstab_format(&pf->draft, "no directory %s can be made, for %s is read-only then",
			                              job->target, on->target));
		pf_know(pf, on->fs, inner, FACT_DIR, pf->run);
		job->kind = FACT_DIR;
	}
	uint32_t at = pf_wanted(pf, job->target);
	if (at != PF_NONE) {
		job->live = &pf->live.mounts[at];
		job->want = pf->plan_of[job->live->node];
	}
	return true;
}

/** A file system that is not live. */
static uint32_t foreign(struct pf *pf, const char *name, const char *fstype, bool fresh)
{
	return pf_add_fs(pf, &(struct pf_fs){.name = name ? name : "", .fstype = fstype, .fresh = fresh});
}

/** A source without the quotes that mount(8) takes around the value of a tag. */
static const char *plain_tag(struct pf *pf, const char *source)
{
	const char *equals = strchr(source, '=');
	size_t n = strlen(source);
	if (!equals || (equals[1] != '"' && equals[1] != '\'') || source + n < equals + 3
	    || source[n - 1] != equals[1])
		return source;
	const char *plain = fstab_format(&pf->draft, "%.*s=%.*s", (int)(equals - source), source,
	                                 (int)(source + n - equals - 3), equals + 2);
	return plain ? plain : source;
}

/** Whether a source is TAG=value. */
static bool is_tag(const char *source)
{
	size_t n = strspn(source, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
	return n >= 2 && source[n] == '=';
}

/** Whether a line's type can mount what is on a device. */
static bool may_be(const char *line, const char *disk)
{
	static const char *const families[][4] = {
		{"ext2", "ext3", "ext4"}, {"vfat", "msdos"}, {"udf", "iso9660"}, {"ntfs", "ntfs3", "ntfs-3g"},
	};
	if (!line || !disk || strcmp(line, "auto") == 0 || strcmp(line, disk) == 0 || strchr(line, ',')
	    || strcmp(disk, "fuseblk") == 0 || strncmp(line, "fuse", 4) == 0)
		return true;
	for (size_t i = 0; i < sizeof(families) / sizeof(*families); ++i) {
		unsigned found = 0;
		for (size_t k = 0; k < 4 && families[i][k]; ++k)
			found += strcmp(families[i][k], line) == 0 || strcmp(families[i][k], disk) == 0;
		if (found == 2)
			return true;
	}
	return false;
}

/** Whether a name is one that a device has but once: "/dev/sda1", "/dev/mapper/a", and
    not a link, or what may be any device. */
static bool is_own_name(const char *name)
{
	if (!name || strncmp(name, "/dev/", 5) != 0 || strncmp(name, "/dev/dm-", 8) == 0 || strcmp(name, "/dev/root") == 0)
		return false;
	return !strchr(name + (strncmp(name, "/dev/mapper/", 12) == 0 ? 12 : 5), '/');
}

/**
 * What a source that nobody can look up is held to be: what is mounted live where the
 * line mounts, if it can be it.
 *
 * @live  That mount; NULL: none.
 */
static bool hold_source(struct pf *pf, const char *source, const char *fstype, const struct pf_mount *live, uint32_t *fs)
{
	const struct mount *m = live && live->node != MT_NONE ? pf->in->live->d->tree.nodes[live->node].mount : NULL;
	if (!m || !(m->dev_major || fstype_flags(m->fstype) & FST_SUBVOL) || !may_be(fstype, m->fstype))
		return false;
	/* Of a device that was read all tags are known. */
	const struct pf_fs *held = &pf->fs[live->fs];
	if (is_tag(source) ? held->tagged : is_own_name(source) && is_own_name(held->name))
		return false;
	*fs = live->fs;
	pf->proof->held_sources += pf->run == 1;
	pf_rename(pf, fstab_format(&pf->draft, "%s", source), *fs);
	return true;
}

/** The file system on the device that a source names.
    @fstype  Of the line. */
static bool find_device(struct pf *pf, const char *source, const char *fstype, const struct pf_mount *live,
                        uint32_t *fs, const char **why)
{
	const struct fstab_world *world = &pf->in->live->world;
	const struct fstab_facts *facts = &pf->in->facts;
	source = plain_tag(pf, source);
	bool tag = is_tag(source);
	const struct pf_name *name = pf_find_name(pf, source, PF_NONE);
	struct fstab_device device = {0};
	int count = -1;
	if (tag && name && world->holders) {
		char word[16];
		size_t n = strcspn(source, "=");
		if (n < sizeof(word)) {
			memcpy(word, source, n);
			word[n] = '\0';
			unsigned holders = world->holders(world->arg, word, source + n + 1);
			count = holders > 1 ? (int)holders : -1;
		}
	} else if (!name && facts->devices) {
		count = facts->devices(facts->arg, source, &device);
	} else if (!name && !tag && world->swap) {
		if (world->swap(world->arg, source, &device) != 0)
			pf->draft.failed = true;
	}
	if (count > 1 || (tag && name && name->twice)) {
		*fs = foreign(pf, count > 1 ? fstab_format(&pf->draft, "one of the %d devices of %s", count, source)
		                            : fstab_format(&pf->draft, "one of the devices of %s", source), NULL, false);
		return true;
	}
	if (count == 0) {
		*why = tag ? fstab_format(&pf->draft, "no device has %s", source)
		           : fstab_format(&pf->draft, "there is no device %s", pf_show(pf, source));
		return false;
	}
	if (!name && device.tags && device.tags->name)
		name = pf_find_name(pf, device.tags->name, PF_NONE);
	bool unsure = name ? pf->fs[name->fs].unsure : count < 0 && !device.tags;
	if (unsure && hold_source(pf, source, fstype, live, fs))
		return true;
	if (name) {
		*fs = name->fs;
		return true;
	}
	const char *known = device.tags && device.tags->name ? device.tags->name : pf_show(pf, source);
	*fs = foreign(pf, known, device.tags ? device.tags->type : NULL, false);
	if (*fs != PF_NONE)
		pf->fs[*fs].unsure = unsure && !is_own_name(source);
	/* So that the next line that names it names the same. */
	pf_add_name(pf, fstab_format(&pf->draft, "%s", known), *fs, NULL);
	if (known != source)
		pf_add_name(pf, fstab_format(&pf->draft, "%s", source), *fs, NULL);
	return true;
}

/** The number that an option gives; 0 for none. */
static unsigned long long number_of(struct pf *pf, const char *options, const char *name)
{
	const char *value = pf_option(pf, options, name);
	return value ? strtoull(value, NULL, 10) : 0;
}

/** What an image holds. */
static bool find_image(struct pf *pf, struct job *job, const char *path)
{
	const char *inner;
	enum fact_kind kind;
	uint32_t on = find_path(pf, &path, PF_NONE, &inner, &kind);
	if (pf_failed(pf))
		return false;
	if (kind == FACT_MISSING)
		return fail(job, fstab_format(&pf->draft, "there is no file %s then%s", path,
		                              unseen(pf, pf->sim.mounts[on].fs, inner)));
	if (kind == FACT_DIR)
		return fail(job, fstab_format(&pf->draft, "%s is a directory", path));
	const char *key = fstab_format(&pf->draft, "loop %u %llu %llu %s", pf->sim.mounts[on].fs,
	                               number_of(pf, job->line->options, "offset"),
	                               number_of(pf, job->line->options, "sizelimit"), inner);
	const struct pf_name *name = key ? pf_find_name(pf, key, PF_NONE) : NULL;
	job->fs = name ? name->fs : foreign(pf, path, NULL, false);
	if (!name)
		pf_add_name(pf, key, job->fs, NULL);
	return true;
}

/** Whether two sources of what stands on no device are the same; of what has none, the
    word is any. */
static bool same_source(const char *fstype, const char *a, const char *b)
{
	size_t n = a ? strlen(a) : 0, m = b ? strlen(b) : 0;
	unsigned flags = fstype_flags(fstype);
	if (flags & FST_PSEUDO || (fstype && strcmp(fstype, "overlay") == 0))
		return true;
	n -= n > 1 && a[n - 1] == '/';
	m -= m > 1 && b[m - 1] == '/';
	return n == m && (n == 0 || memcmp(a, b, n) == 0);
}

/** Look at the layers of an overlay. */
struct layers {
	struct pf *pf;
	struct job *job;
	struct strbuf path;
	bool good, other;
};

static bool each_layer(void *arg, const struct opt_layer *layer)
{
	struct layers *layers = arg;
	struct pf *pf = layers->pf;
	opt_layer_path(layer, &layers->path);
	const char *path = pf_normal(pf, strbuf_str(&layers->path)), *inner, *live;
	enum fact_kind kind;
	if (!path)
		return !layers->path.failed;
	uint32_t on = find_path(pf, &path, PF_NONE, &inner, &kind);
	if (pf_failed(pf))
		return false;
	if (kind == FACT_MISSING || kind == FACT_FILE) {
		layers->good = fail(layers->job, fstab_format(&pf->draft, "its layer %s is not there then%s", path,
		                                              unseen(pf, pf->sim.mounts[on].fs, inner)));
		return false;
	}
	if (!layers->job->live)
		return true;
	uint32_t self = (uint32_t)(layers->job->live - pf->live.mounts);
	uint32_t shown = pf_resolve(pf, &pf->live, path, self, &live);
	layers->other |= !live || !pf_same_fs(pf, pf->sim.mounts[on].fs, pf->live.mounts[shown].fs)
	                 || strcmp(inner, live) != 0;
	return true;
}

/** What stands on no device is the live one, if line and live are told alike. */
static bool find_other(struct pf *pf, struct job *job)
{
	const struct mount *entry = job->entry, *m = job->want ? job->want->mount : NULL;
	const char *fstype = entry->fstype ? entry->fstype : "";
	if (!*fstype || strcmp(fstype, "auto") == 0 || strcmp(fstype, "none") == 0)
		return fail(job, "it stands on no device that could tell its type");
	bool alike = m && strcmp(job->want->fstype, "none") != 0 && shown_type(fstype, m->fstype)
	             && same_source(fstype, entry->source, job->want->source);
	if (strcmp(fstype, "overlay") == 0) {
		struct layers layers = {.pf = pf, .job = job, .good = true};
		strbuf_init(&layers.path);
		struct strbuf scratch;
		strbuf_init(&scratch);
		if (entry->fs_opts)
			opt_each_layer_of_line(entry->fs_opts, &scratch, each_layer, &layers);
		pf->draft.failed |= scratch.failed || layers.path.failed;
		strbuf_destroy(&scratch);
		strbuf_destroy(&layers.path);
		if (!layers.good || pf_failed(pf))
			return false;
		const char *upper = pf_normal(pf, pf_option(pf, job->line->options, "upperdir"));
		uint32_t on = upper ? pf_resolve(pf, &pf->sim, upper, PF_NONE, NULL) : PF_NONE;
		if (on != PF_NONE && pf->sim.mounts[on].flags & PFF_RO)
			return fail(job, fstab_format(&pf->draft, "its upper layer lies on %s, which is read-only then",
			                              pf->sim.mounts[on].target));
		alike &= !layers.other;
	}
	bool fresh = strcmp(fstype, "tmpfs") == 0 || strcmp(fstype, "ramfs") == 0;
	if (alike) {
		struct pf_fs fs = pf->fs[job->live->fs];
		fs.fresh = fresh;
		fs.kept = !fresh;
		job->fs = fresh ? pf_add_fs(pf, &fs) : job->live->fs;
		job->root = job->live->root;
	} else {
		job->fs = foreign(pf, pf_show(pf, entry->source), entry->fstype, fresh);
	}
	return true;
}

/** Which subvolume is asked for. */
static bool find_subvolume(struct pf *pf, struct job *job)
{
	const char *path = pf_option(pf, job->line->options, "subvol");
	const char *id = pf_option(pf, job->line->options, "subvolid");
	if (path && *path) {
		job->root = pf_normal(pf, *path == '/' ? path : fstab_format(&pf->draft, "/%s", path));
	} else if (id && *id) {
		unsigned long long n = strtoull(id, NULL, 10);
		const struct pf_name *name = pf_find_name(pf, id, job->fs);
		job->root = n == 0 || n == 5 ? "/" : name ? name->root : fstab_format(&pf->draft, "/subvolid=%llu", n);
	}
	if (job->root && !pf_is_top(job->root) && pf_look(pf, job->fs, job->root, NULL, NULL) == FACT_MISSING)
		return fail(job, fstab_format(&pf->draft, "%s has no subvolume %s", pf->fs[job->fs].name, job->root));
	return job->root;
}

/** Go down to the directory that alone is to be seen. */
static bool find_subdir(struct pf *pf, struct job *job)
{
	const char *dir = pf_option(pf, job->line->options, "X-mount.subdir");
	if (!dir || !*dir || !job->root)
		return true;
	job->root = pf_normal(pf, fstab_format(&pf->draft, "%s/%s", job->root, dir));
	if (job->root && !pf_is_top(job->root) && pf_look(pf, job->fs, job->root, NULL, NULL) == FACT_MISSING)
		return fail(job, fstab_format(&pf->draft, "%s has no directory %s", pf_show(pf, pf->fs[job->fs].name), job->root));
	return job->root;
}

/** Whether a line is of a type that stands on a device, by type or source. */
static bool on_device(const struct mount *entry)
{
	unsigned flags = fstype_flags(entry->fstype);
	const char *source = entry->source ? entry->source : "";
	if (flags & FST_DEVICE)
		return true;
	if (flags & (FST_PSEUDO | FST_NET | FST_LAYERED) || (entry->fstype && strncmp(entry->fstype, "fuse.", 5) == 0)
	    || (entry->fstype && (strcmp(entry->fstype, "zfs") == 0 || strcmp(entry->fstype, "virtiofs") == 0)))
		return false;
	return *source == '/' || is_tag(source);
}

/** Whether what is live at the place stands on no device, and is told like the line. */
static bool is_live_other(const struct job *job)
{
	const struct mount *entry = job->entry, *m = job->want ? job->want->mount : NULL;
	return m && m->dev_major == 0 && !(fstype_flags(m->fstype) & FST_SUBVOL) && entry->source && entry->fstype
	       && strcmp(entry->source, job->want->source) == 0 && strcmp(entry->fstype, job->want->fstype) == 0;
}

static bool find_source(struct pf *pf, struct job *job)
{
	const struct mount *entry = job->entry;
	const char *source = entry->source, *why = NULL;
	job->root = "/";
	job->flags = pf_flags(job->line->options, NULL);
	if (!on_device(entry) || is_live_other(job)) {
		/* mount(8) looks for what a tag names all the same. */
		if (source && is_tag(source) && !find_device(pf, source, entry->fstype, NULL, &job->fs, &why))
			return fail(job, why);
		return find_other(pf, job);
	}
	if (!source)
		return fail(job, "it has no source");
	bool part = pf_option(pf, job->line->options, "offset") || pf_option(pf, job->line->options, "sizelimit");
	bool loop = part || pf_option(pf, job->line->options, "loop");
	const char *path = is_tag(source) ? NULL : pf_normal(pf, source);
	if (!loop && path && !pf_find_name(pf, path, PF_NONE) && !mtree_path_within(path, "/dev")) {
		const char *inner;
		uint32_t on = pf_resolve(pf, &pf->sim, path, PF_NONE, &inner);
		loop = pf_look(pf, pf->sim.mounts[on].fs, inner, NULL, NULL) == FACT_FILE;
	}
	if (loop && path && !mtree_path_within(path, "/dev")) {
		if (!find_image(pf, job, path))
			return false;
	} else if (!find_device(pf, !path || pf_find_name(pf, source, PF_NONE) ? source : path, entry->fstype, job->live,
	                        &job->fs, &why)) {
		return fail(job, why);
	}
	if (job->fs == PF_NONE)
		return false;
	/* mount(8) makes a loop device of a part of another device, too. */
	if (part && (!path || mtree_path_within(path, "/dev")))
		job->fs = foreign(pf, fstab_format(&pf->draft, "a part of %s", pf_show(pf, source)), NULL, false);
	if (job->fs == PF_NONE)
		return false;
	const char *fstype = pf->fs[job->fs].fstype;
	if (!may_be(entry->fstype, fstype))
		return fail(job, fstab_format(&pf->draft, "%s holds %s, and cannot be mounted as %s",
		                              pf_show(pf, pf->fs[job->fs].name), fstype, entry->fstype));
	bool subvolumes = fstype_flags(fstype ? fstype : entry->fstype) & FST_SUBVOL;
	if (subvolumes && !find_subvolume(pf, job))
		return false;
	if (!find_subdir(pf, job))
		return false;
	/* One superblock is for reading, or for writing. */
	struct pf_fs *fs = &pf->fs[job->fs];
	bool ro = job->flags & PFF_RO;
	if (!loop && !subvolumes && !(fstype_flags(fstype) & FST_READONLY) && fs->is_mounted && fs->is_ro != ro)
		return fail(job, fstab_format(&pf->draft, "%s is mounted %s by then, and cannot be %s here", fs->name,
		                              fs->is_ro ? "read-only" : "for writing", ro ? "read-only" : "for writing"));
	if (!why_refused(pf, job->index)) {
		fs->is_mounted = true;
		fs->is_ro = ro;
		if (fs->line == PF_NONE)
			fs->line = job->index;
	}
	return true;
}

/** What a bind shows. */
static bool find_bound(struct pf *pf, struct job *job, uint32_t *from, const char **path)
{
	enum fact_kind kind;
	*path = pf_normal(pf, job->entry->source);
	if (!*path)
		return fail(job, "the source of a bind is a path, and this is none");
	*from = find_path(pf, path, PF_NONE, &job->root, &kind);
	if (pf_failed(pf))
		return false;
	if (kind == FACT_MISSING)
		return fail(job, fstab_format(&pf->draft, "its source %s is not there then%s", *path,
		                              unseen(pf, pf->sim.mounts[*from].fs, job->root)));
	bool file = kind == FACT_FILE || kind == FACT_BLOCK, onto = job->kind == FACT_FILE || job->kind == FACT_BLOCK;
	if ((file && job->kind == FACT_DIR) || (kind == FACT_DIR && onto))
		return fail(job, fstab_format(&pf->draft, "its source %s is %s, and its mount point %s", *path,
		                              file ? "a file" : "a directory", onto ? "a file" : "a directory"));
	const struct pf_mount *source = &pf->sim.mounts[*from];
	unsigned given, flags = pf_flags(job->line->options, &given);
	job->fs = source->fs;
	job->unknown = source->unknown & ~given;
	if (!flags && !(given & PFF_ATIME)) {
		/* mount(8) of 2.39 takes away what is told of, an older one nothing. */
		job->flags = source->flags;
		job->unknown |= source->flags & given;
	} else {
		/* ... and what is not told of stays, or goes. */
		job->flags = (source->flags & ~given) | flags;
		job->unknown |= source->flags & ~given & ~(unsigned)(PFF_ATIME | PFF_NODIRATIME);
	}
	return true;
}

/**
 * Whether such a mount is there already: what mount -a passes over, which looks at the
 * table once, when it begins; or what the kernel refuses, a file system upon itself.
 */
static uint32_t find_same(const struct pf *pf, const struct job *job, bool bind)
{
	const struct pf_fs *fs = &pf->fs[job->fs];
	uint32_t at = job->on;
	for (unsigned i = 0; i < STACK_MAX && at != PF_NONE; ++i) {
		const struct pf_mount *m = &pf->sim.mounts[at];
		const struct pf_fs *other = &pf->fs[m->fs];
		if (strcmp(m->target, job->target) != 0)
			break;
		bool alike = !bind && other->live && fs->fstype && other->fstype && other->name
		             && strcmp(fs->fstype, other->fstype) == 0 && strcmp(fs->name, other->name) == 0;
		if (m->line == PF_NONE && at != 0 && (alike || pf_same_fs(pf, m->fs, job->fs)) && strcmp(m->root, job->root) == 0)
			return at;
		if (i == 0 && !bind && !fs->fresh && m->fs == job->fs)
			return at;
		at = m->parent;
	}
	return PF_NONE;
}

/** Copy what is mounted below a bind's source. */
static void copy_below(struct pf *pf, const struct job *job, uint32_t from, uint32_t top, const char *path,
                       unsigned depth)
{
	uint32_t *list = NULL, n = 0;
	size_t room = 0;
	for (uint32_t at = pf->sim.mounts[from].first; at != PF_NONE && pf->copies > 0 && pf->looks > 0;
	     at = pf->sim.mounts[at].next) {
		--pf->looks;
		if (at == top || !mtree_path_within(pf->sim.mounts[at].target, path))
			continue;
		if (n == room) {
			room = room ? 2 * room : 16;
			uint32_t *more = reallocarray(list, room, sizeof(*list));
			if (!more) {
				pf->draft.failed = true;
				break;
			}
			list = more;
		}
		list[n++] = at;
	}
	/* The newest first, as they are listed: the oldest must come first. */
	for (; n > 0 && pf->copies > 0 && !pf_failed(pf); --n) {
		struct pf_mount copy = pf->sim.mounts[list[n - 1]];
		if (strcmp(copy.target, path) == 0)
			continue;   /* on the source itself: shown already */
		uint32_t below = list[n - 1];
		const char *old = copy.target;
		copy.target = pf_move(pf, old, path, job->target);
		copy.parent = top;
		copy.line = job->index;
		if (!copy.target)
			break;
		uint32_t made = pf_add_mount(pf, &pf->sim, &copy);
		--pf->copies;
		if (made == PF_NONE)
			break;
		struct job deeper = *job;
		deeper.target = copy.target;
		if (pf->sim.mounts[below].first != PF_NONE && depth < STACK_MAX)
			copy_below(pf, &deeper, below, made, old, depth + 1);
	}
	free(list);
}

/** Mount a line. */
static void mount_line(struct pf *pf, uint32_t i)
{
	struct pf_line *line = &pf->lines[i];
	struct job job = {.entry = &pf->in->entries->mounts[i], .line = line, .index = i, .fs = PF_NONE};
	const char *options = line->options;
	if (strlen(options) > OPTIONS_MAX) {
		fail(&job, "its options are longer than the kernel takes");
		return;
	}
	if (!line->target) {
		fail(&job, "its target is no absolute path");
		return;
	}
	if (pf_option(pf, options, "remount") || pf_option(pf, options, "move")) {
		fail(&job, "what it does to a mount is not simulated: remount or move");
		return;
	}
	uint32_t from = PF_NONE;
	const char *path = NULL;
	bool rbind = pf_option(pf, options, "rbind"), bind = rbind || pf_option(pf, options, "bind");
	if (!find_target(pf, &job) || !(bind ? find_bound(pf, &job, &from, &path) : find_source(pf, &job)))
		return;
	if (pf_failed(pf) || job.fs == PF_NONE || !job.root)
		return;
	if (!bind && (job.kind == FACT_FILE || job.kind == FACT_BLOCK)) {
		fail(&job, fstab_format(&pf->draft, "its mount point %s is a file", job.target));
		return;
	}
	uint32_t same = find_same(pf, &job, bind);
	if (same != PF_NONE) {
		line->fate = PF_ALREADY;
		line->mount = same;
		return;
	}
	if (why_refused(pf, i)) {
		fail(&job, why_refused(pf, i));
		return;
	}
	uint32_t made = pf_add_mount(pf, &pf->sim, &(struct pf_mount){
		.parent = job.on, .fs = job.fs, .line = i, .node = MT_NONE, .root = job.root, .target = job.target,
		.flags = job.flags, .unknown = job.unknown});
	line->fate = PF_MADE;
	line->mount = made;
	if (rbind && made != PF_NONE)
		copy_below(pf, &job, from, made, path, 0);
}

/** Take a line: most are mounted. */
static void take_line(struct pf *pf, uint32_t i)
{
	const struct mount *entry = &pf->in->entries->mounts[i];
	struct pf_line *line = &pf->lines[i];
	const char *why;
	bool later = pf_option(pf, line->options, "noauto") && !pf_option(pf, line->options, "x-systemd.automount");
	line->fs = PF_NONE;
	if (entry->fstype && strcmp(entry->fstype, "swap") == 0) {
		line->fate = later ? PF_LATER : PF_SWAP;
		if (!entry->source || !find_device(pf, entry->source, entry->fstype, NULL, &line->fs, &why))
			line->fs = PF_NONE;
	} else if (line->target && strcmp(line->target, "/") == 0) {
		line->fate = PF_ROOT;
		uint32_t at = pf_wanted(pf, "/");
		if (on_device(entry) && entry->source
		    && !find_device(pf, entry->source, entry->fstype, at != PF_NONE ? &pf->live.mounts[at] : NULL, &line->fs, &why)) {
			line->fate = PF_FAILED;
			line->why = why;
		} else if (why_refused(pf, i)) {
			line->fate = PF_FAILED;   /* it is mounted anew, with these */
			line->why = why_refused(pf, i);
		} else if (at != PF_NONE && pf->fs[pf->live.mounts[at].fs].line == PF_NONE) {
			pf->fs[pf->live.mounts[at].fs].line = i;
		}
	} else if (later && line->fate != PF_LATER) {
		line->fate = PF_LATER;
	} else if (entry->fstype && strcmp(entry->fstype, "ignore") == 0) {
		line->fate = PF_LATER;
	} else {
		mount_line(pf, i);
	}
}

/* The order of systemd. */

/** The first line of a target of n bytes. */
static uint32_t line_of(const struct pf *pf, const char *target, size_t n, uint64_t hash)
{
	uint32_t i = map64_get(&pf->by_target, hash);
	for (; i != MAP64_NONE; i = pf->lines[i].next) {
		if (strncmp(pf->lines[i].target, target, n) == 0 && !pf->lines[i].target[n])
			return i;
	}
	return PF_NONE;
}

static void visit(struct pf *pf, uint32_t i, unsigned depth);

/** Visit the lines that a path needs. */
static void visit_path(struct pf *pf, const char *path, bool itself, unsigned depth)
{
	uint64_t hash = MAP64_BYTES;
	for (size_t n = 0; path && path[n] && path[1];) {
		size_t more = 1 + strcspn(path + n + 1, "/");
		hash = map64_bytes(hash, path + n, more);
		n += more;
		if (!path[n] && !itself)
			return;
		uint32_t line = line_of(pf, path, n, hash);
		if (line != PF_NONE)
			visit(pf, line, depth + 1);
	}
}

/** Mount a line behind those that it needs.  One that is noauto is mounted if needed. */
static void visit(struct pf *pf, uint32_t i, unsigned depth)
{
	struct pf_line *line = &pf->lines[i];
	if (line->fate != PF_UNUSED || depth > DEEP_MAX || pf_failed(pf))
		return;
	line->fate = PF_LATER;   /* whoever needs this one while it waits, goes without */
	const struct mount *entry = &pf->in->entries->mounts[i];
	const char *rest = line->options;
	size_t n, len = strlen("x-systemd.requires-mounts-for=");
	visit_path(pf, line->target, false, depth);
	if (entry->source && *entry->source == '/')
		visit_path(pf, pf_normal(pf, entry->source), true, depth);
	for (const char *o; (o = opt_next(&rest, &n)) != NULL;) {
		if (n > len && memcmp(o, "x-systemd.requires-mounts-for=", len) == 0)
			visit_path(pf, pf_normal(pf, fstab_format(&pf->draft, "%.*s", (int)(n - len), o + len)), true, depth);
	}
	if (line->target && line_of(pf, line->target, strlen(line->target),
	                            map64_text(line->target)) != i
	    && (!entry->fstype || strcmp(entry->fstype, "swap") != 0)) {
		line->fate = PF_FAILED;
		line->why = "systemd takes the first line of a target, and this is another";
		return;
	}
	take_line(pf, i);
}

/* The runs. */

/** What is there when the fstab is read. */
static void add_first(struct pf *pf)
{
	for (uint32_t i = 0; i < pf->live.count && !pf_failed(pf); ++i) {
		struct pf_mount m = pf->live.mounts[i];
		const struct fstab_line *line = m.node != MT_NONE ? pf->plan_of[m.node] : NULL;
		if (i > 0 && !(line && line->fate == FSTAB_OWN && line->boot))
			continue;
		if (i > 0)
			m.parent = pf_resolve(pf, &pf->sim, m.target, PF_NONE, NULL);
		pf_add_mount(pf, &pf->sim, &m);
		const struct mount *record = m.node != MT_NONE ? pf->in->live->d->tree.nodes[m.node].mount : NULL;
		pf->fs[m.fs].is_mounted = true;
		pf->fs[m.fs].is_ro = record && opt_shown_has(record->fs_opts, "ro");
	}
}

void pf_simulate(struct pf *pf)
{
	const struct mount_table *entries = pf->in->entries;
	pf_clear_tree(&pf->sim);
	for (uint32_t i = 0; i < pf->nfs; ++i) {
		pf->fs[i].is_mounted = false;
		pf->fs[i].line = PF_NONE;
	}
	pf->copies = 4 * (uint32_t)(entries->count + pf->live.count);
	pf->looks = (size_t)LOOKS_MAX * (entries->count + pf->live.count);
	add_first(pf);
	for (uint32_t i = 0; i < entries->count; ++i)
		pf->lines[i].fate = PF_UNUSED;
	for (uint32_t i = 0; i < entries->count && !pf_failed(pf); ++i) {
		/* A noauto line is not begun with; others may need it. */
		if (pf->run == 1) {
			take_line(pf, i);
		} else if (!pf_option(pf, pf->lines[i].options, "noauto")
		           || pf_option(pf, pf->lines[i].options, "x-systemd.automount")) {
			visit(pf, i, 0);
		}
	}
	for (uint32_t i = 0; i < entries->count; ++i) {
		if (pf->lines[i].fate == PF_UNUSED)
			pf->lines[i].fate = PF_LATER;
	}
}
