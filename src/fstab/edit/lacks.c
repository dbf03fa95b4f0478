/* SPDX-License-Identifier: MIT */
/*
 * Options that a line asks for, and its mount has not.
 *
 * Of most options of a file system it is not known whether a kernel shows them, so that what
 * a line alone has is no difference (options.c).  These rows are of those that it
 * always shows while they are in force, by show_options() of its file systems (5.4 to
 * 6.18) and by trying: tests/fixtures/options/lacks.  Not here is what a kernel shows but
 * where it is not the superblock's own (errors=), a mount's default (inode64, ssd), what
 * every kernel builds otherwise (acl), and what the first mount of a server's decides (nconnect=).
 */
#include "fstab/edit/merge_impl.h"

#include "mountopts/optset.h"
#include "base/words.h"
#include "fstab/common.h"

#include <ctype.h>
#include <string.h>

/** What the value of an option has to be, for that to be known. */
enum value { ANY, NUMBER, SIZE };

/** Names, or whole options, between blanks. */
static const struct lacks_row {
	const char *types;
	const char *asked;    /* in the line */
	const char *shown;    /* by name, any of these; "": by its own name */
	const char *unless;   /* the line has one of these: the default, or what undoes it */
	enum value value;
} rows[] = {
	/* Where SELinux is on, each file system without a label of its own says so. */
	{"*", "context fscontext defcontext rootcontext", "", "", ANY},
	{"ext2 ext3 ext4", "usrquota quota", "usrquota usrjquota", "noquota", ANY},
	{"ext2 ext3 ext4", "grpquota", "grpquota grpjquota", "noquota", ANY},
	{"ext4", "prjquota", "", "noquota", ANY},
	/* Not of "tune2fs -o", nor, as of xfs, where the device cannot: for information. */
	{"ext4", "discard", "", "nodiscard", ANY},
	/* Of "tune2fs -o" the others show it. */
	{"ext3 ext4", "data=journal", "data nodelalloc nodioread_nolock", "", ANY},
	{"ext4", "noauto_da_alloc nouid32 max_dir_size_kb", "", "auto_da_alloc max_dir_size_kb=0", ANY},
	{"ext3 ext4", "commit", "", "commit=0 commit=5", NUMBER},
	{"ext4", "resuid resgid", "", "resuid=0 resgid=0", NUMBER},
	{"xfs", "uquota usrquota quota uqnoenforce qnoenforce", "usrquota uqnoenforce", "noquota", ANY},
	{"xfs", "gquota grpquota gqnoenforce", "grpquota gqnoenforce", "noquota", ANY},
	{"xfs", "pquota prjquota pqnoenforce", "prjquota pqnoenforce", "noquota", ANY},
	{"xfs", "discard", "", "nodiscard", ANY},
	{"xfs", "largeio swalloc filestreams wsync allocsize", "", "nolargeio", ANY},
	{"xfs", "logdev rtdev", "", "", ANY},
	{"btrfs", "compress compress-force", "compress compress-force",
	 "compress=no compress=none compress-force=no compress-force=none nodatacow nodatasum", ANY},
	{"btrfs", "nodatacow", "", "datacow datasum compress compress-force", ANY},
	{"btrfs", "nodatasum", "", "datacow datasum compress compress-force", ANY},
	{"btrfs", "discard", "", "nodiscard", ANY},
	{"btrfs", "autodefrag", "", "noautodefrag", ANY},
	{"btrfs", "flushoncommit", "", "noflushoncommit", ANY},
	{"btrfs", "noacl", "", "acl", ANY},
	{"btrfs", "nobarrier", "", "barrier", ANY},
	{"btrfs", "notreelog", "", "treelog", ANY},
	{"btrfs", "commit", "", "commit=0 commit=30", NUMBER},
	{"btrfs", "user_subvol_rm_allowed skip_balance", "", "", ANY},
	{"tmpfs", "size nr_blocks", "size", "", SIZE},
	{"tmpfs", "nr_inodes", "", "", SIZE},
	{"tmpfs", "mode", "", "mode=1777 mode=01777", NUMBER},
	{"tmpfs hugetlbfs", "uid", "", "uid=0", NUMBER},
	{"tmpfs hugetlbfs", "gid", "", "gid=0", NUMBER},
	{"tmpfs", "huge", "", "huge=never huge=0", ANY},
	{"tmpfs", "noswap", "", "", ANY},
	{"proc", "hidepid", "", "hidepid=0 hidepid=off", ANY},
	{"proc", "gid", "", "gid=0", NUMBER},
	{"proc", "subset=pid", "", "", ANY},
	{"devpts", "uid gid", "", "", NUMBER},
	{"overlay", "volatile", "volatile fsync", "fsync", ANY},
	{"nfs nfs4", "xprtsec=tls xprtsec=mtls", "xprtsec", "", ANY},
	{"nfs nfs4", "nocto", "", "cto", ANY},
	{"nfs nfs4", "noresvport", "", "resvport", ANY},
	{"nfs nfs4", "nosharecache", "", "sharecache", ANY},
	{"nfs nfs4", "lookupcache=none lookupcache=pos lookupcache=positive", "lookupcache", "", ANY},
	{"cifs smb3", "seal multiuser mfsymlinks nobrl", "", "brl", ANY},
	{"vfat msdos", "quiet showexec sys_immutable flush discard tz=UTC", "", "noquiet", ANY},
	{"vfat msdos exfat", "uid", "", "uid=0", NUMBER},
	{"vfat msdos exfat", "gid", "", "gid=0", NUMBER},
	{"f2fs", "compress_algorithm", "", "", ANY},
	/* What libfuse hands on as it is; of the others their helpers make what they like. */
	{"fuse", "allow_other", "", "", ANY},
};

/** Whether an option is one of a list, by its name or whole. */
static bool is_of(const char *option, size_t n, const char *list)
{
	size_t key = opt_name(option, n);
	return word_in(option, n, list) || (key < n && word_in(option, key, list));
}

/** Whether a list has an option that is one of these. */
static bool has_any(const char *options, const char *list)
{
	size_t n;
	for (const char *o; (o = opt_next(&options, &n)) != NULL;) {
		if (is_of(o, n, list))
			return true;
	}
	return false;
}

/** Whether it is known what an option asks for: a size that is no share of the memory, a
    user that is a number. */
static bool is_known(const struct lacks_row *row, const char *option, size_t n)
{
	size_t key = opt_name(option, n);
	if (row->value == ANY)
		return true;
	for (size_t i = key + 1; i < n; ++i) {
		bool unit = row->value == SIZE && i + 1 == n && strchr("kmgtpe", tolower((unsigned char)option[i]));
		if (!isdigit((unsigned char)option[i]) && !(unit && i > key + 1))
			return false;
	}
	return n > key + 1;
}

/** Whether a mount shows what a row says.
    @key  The option's name. */
static bool is_shown(const struct lacks_row *row, const struct mount *mount, const char *key, size_t n)
{
	size_t m;
	if (row->shown[0])
		return has_any(mount->fs_opts, row->shown);
	/* Without SELinux mount(8) takes its options away. */
	if (*row->types == '*' && !opt_shown_has(mount->fs_opts, "seclabel"))
		return true;
	return opt_find(mount->fs_opts, key, n, &m);
}

void fstab_lacks(const struct mount *mount, const char *options, struct strbuf *lacks)
{
	const struct lacks_row *mine[sizeof(rows) / sizeof(*rows)];
	bool unless[sizeof(rows) / sizeof(*rows)];
	size_t count = 0, n;
	if (!mount->vfs_opts || !mount->fs_opts || !mount->fstype)
		return;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); ++i) {
		if (fstab_type_in(mount->fstype, rows[i].types))
			mine[count++] = &rows[i];
	}
	struct opt_set asked;
	opt_set_init(&asked, false);
	opt_set_add_list(&asked, options, opt_next);
	for (size_t i = 0; i < count; ++i)
		unless[i] = has_any(options, mine[i]->unless);
	for (const char *at = options, *o; (o = opt_next(&at, &n)) != NULL;) {
		size_t key = opt_name(o, n);
		for (size_t i = 0; i < count; ++i) {
			/* Of more with one name the last counts. */
			const struct opt_entry *entry = unless[i] || !is_of(o, n, mine[i]->asked) ? NULL : opt_set_find(&asked, o, key);
			if (entry && entry->last == o && is_known(mine[i], o, n) && !is_shown(mine[i], mount, o, key))
				opt_add(lacks, o, n);
		}
	}
	lacks->failed |= asked.failed;
	opt_set_destroy(&asked);
}
