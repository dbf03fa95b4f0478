/* SPDX-License-Identifier: MIT */
#include "mountopts/vfsflags.h"

#include "base/words.h"
#include "mountopts/optlist.h"

const struct vfs_option vfs_options[] = {
	{"rw", VFS_RO, 0}, {"ro", VFS_RO, 1},
	{"suid", VFS_NOSUID, 0}, {"nosuid", VFS_NOSUID, 1},
	{"dev", VFS_NODEV, 0}, {"nodev", VFS_NODEV, 1},
	{"exec", VFS_NOEXEC, 0}, {"noexec", VFS_NOEXEC, 1},
	{"relatime", VFS_ATIME, VFS_RELATIME}, {"noatime", VFS_ATIME, VFS_NOATIME},
	{"strictatime", VFS_ATIME, VFS_STRICTATIME},
	{"norelatime", VFS_ATIME, VFS_RELATIME, true}, {"atime", VFS_ATIME, VFS_NOATIME, true},
	{"nostrictatime", VFS_ATIME, VFS_STRICTATIME, true},
	{"diratime", VFS_NODIRATIME, 0}, {"nodiratime", VFS_NODIRATIME, 1},
	{"symfollow", VFS_NOSYMFOLLOW, 0}, {"nosymfollow", VFS_NOSYMFOLLOW, 1},
	{"async", VFS_SYNC, 0}, {"sync", VFS_SYNC, 1},
	{"nodirsync", VFS_DIRSYNC, 0}, {"dirsync", VFS_DIRSYNC, 1},
	{"nolazytime", VFS_LAZYTIME, 0}, {"lazytime", VFS_LAZYTIME, 1},
	{NULL, VFS_FLAGS, 0, false},
};

const struct vfs_option *vfs_option(const char *option, size_t n)
{
	for (const struct vfs_option *row = vfs_options; row->name; ++row) {
		if (word_is(option, n, row->name))
			return row;
	}
	return NULL;
}

const char *vfs_name(enum vfs_flag flag, unsigned char value)
{
	const struct vfs_option *row = vfs_options;
	while (row->name && (row->flag != flag || row->value != value))
		++row;
	return row->name;
}

/** The values of VFS_ATIME that options have requested and not cancelled. */
struct atimes {
	unsigned char base;   /* the value without options */
	unsigned requested;   /* bits 1 << value */
};

/** Apply an option to flags.  If relatime, noatime and strictatime are combined, the strongest
    takes effect, independent of their order. */
static void vfs_flags_set(struct vfs_flags *flags, const struct vfs_option *option,
                          struct atimes *atimes)
{
	flags->value[option->flag] = option->value;
	if (option->flag != VFS_ATIME)
		return;
	if (option->cancels)
		atimes->requested &= ~(1u << option->value);
	else
		atimes->requested |= 1u << option->value;
	flags->value[VFS_ATIME] = atimes->base;
	for (unsigned char value = 0; value <= VFS_STRICTATIME; ++value) {
		if (atimes->requested >> value & 1)
			flags->value[VFS_ATIME] = value;
	}
}

void vfs_flags_of_line(const char *options, const struct vfs_flags *base, struct vfs_flags *flags)
{
	*flags = base ? *base : (struct vfs_flags){0};
	flags->any = false;
	size_t n;
	struct atimes atimes = {.base = flags->value[VFS_ATIME]};
	for (const char *o; (o = opt_next(&options, &n)) != NULL;) {
		const struct vfs_option *option = vfs_option(o, n);
		bool user = word_is(o, n, "user") || word_is(o, n, "users");
		if (option)
			vfs_flags_set(flags, option, &atimes);
		else if (user || word_is(o, n, "owner") || word_is(o, n, "group"))
			flags->value[VFS_NOSUID] = flags->value[VFS_NODEV] = 1;
		else
			continue;
		if (user)
			flags->value[VFS_NOEXEC] = 1;
		flags->any = true;
	}
}

void vfs_flags_of_mount(const struct mount *mount, struct vfs_flags *flags)
{
	vfs_flags_of_line(mount->vfs_opts, NULL, flags);
	/* The kernel shows strictatime as the absence of relatime and noatime. */
	if (!opt_shown_has(mount->vfs_opts, "relatime")
	    && !opt_shown_has(mount->vfs_opts, "noatime"))
		flags->value[VFS_ATIME] = VFS_STRICTATIME;
}

void vfs_flags_shown(const struct mount *mount, struct vfs_flags *flags)
{
	struct vfs_flags super;
	vfs_flags_of_mount(mount, flags);
	vfs_flags_of_line(mount->fs_opts, NULL, &super);
	for (int flag = VFS_OF_MOUNT; flag < VFS_FLAGS; ++flag)
		flags->value[flag] |= super.value[flag];
}

bool vfs_flags_differ(const struct vfs_flags *a, const struct vfs_flags *b, struct strbuf *differ)
{
	bool any = false;
	for (int flag = 0; flag < VFS_FLAGS; ++flag) {
		if (a->value[flag] == b->value[flag])
			continue;
		any = true;
		opt_puts(differ, vfs_name(flag, b->value[flag]));
	}
	return any;
}

void vfs_flags_add_list(const char *options, struct strbuf *list)
{
	size_t n;
	for (const char *o; (o = opt_next(&options, &n)) != NULL;) {
		if (vfs_option(o, n))
			opt_add(list, o, n);
	}
}

void vfs_flags_add(const struct vfs_flags *want, const struct vfs_flags *base, struct strbuf *list)
{
	struct vfs_flags have;
	vfs_flags_of_line(strbuf_str(list), base, &have);
	for (const struct vfs_option *row = vfs_options; row->name; ++row) {
		enum vfs_flag flag = row->flag;
		if (row->value != want->value[flag] || want->value[flag] == have.value[flag])
			continue;
		opt_puts(list, row->name);
		have.value[flag] = want->value[flag];
	}
}

void vfs_flags_named(const char *options, struct vfs_flags *flags)
{
	size_t n;
	struct atimes atimes = {.base = flags->value[VFS_ATIME]};
	for (const char *o; (o = opt_next(&options, &n)) != NULL;) {
		const struct vfs_option *option = vfs_option(o, n);
		if (option)
			vfs_flags_set(flags, option, &atimes);
	}
}

/* Propagation. */

static const struct {
	const char *name;
	int is;
} propagations[] = {{"shared", MP_SHARED},
                    {"private", MP_PRIVATE},
                    {"slave", MP_SLAVE},
                    {"unbindable", MP_UNBINDABLE}};

int vfs_propagation(const char *option, size_t n, bool *deep)
{
	bool below = deep && n > 0 && *option == 'r';
	for (size_t i = 0; i < sizeof(propagations) / sizeof(*propagations); ++i) {
		if (!word_is(option + below, n - below, propagations[i].name))
			continue;
		if (deep)
			*deep = below;
		return propagations[i].is;
	}
	return -1;
}

const char *vfs_propagation_options(unsigned flags, bool deep)
{
	static const char *const options[][2] = {
		[MP_PRIVATE] = {"private", "rprivate"},
		[MP_SHARED] = {"shared", "rshared"},
		[MP_SLAVE] = {"slave", "rslave"},
		[MP_SHARED | MP_SLAVE] = {"slave,shared", "rslave,rshared"},
		[MP_UNBINDABLE] = {"unbindable", "runbindable"},
	};
	return options[flags & MP_UNBINDABLE ? MP_UNBINDABLE : flags][deep];
}

unsigned vfs_propagation_of_line(const char *options, unsigned usual, bool *named)
{
	size_t n;
	bool deep;
	*named = false;
	for (const char *o; (o = opt_next(&options, &n)) != NULL;) {
		int is = vfs_propagation(o, n, &deep);
		if (is < 0)
			continue;
		/* A slave that is made shared remains a slave. */
		usual = (is == MP_SHARED ? usual & MP_SLAVE : 0) | (unsigned)is;
		*named = true;
	}
	return usual;
}

bool vfs_propagation_alone(const char *options)
{
	size_t n;
	bool deep, alone = true;
	for (const char *o; alone && (o = opt_next(&options, &n)) != NULL;)
		alone = vfs_propagation(o, n, &deep) >= 0;
	return alone;
}

void vfs_propagation_replace(const char *list, const char *propagation, struct strbuf *out)
{
	size_t n;
	bool deep;
	for (const char *o; (o = opt_next(&list, &n)) != NULL;) {
		if (vfs_propagation(o, n, &deep) < 0)
			opt_add(out, o, n);
	}
	if (propagation)
		opt_puts(out, propagation);
}
