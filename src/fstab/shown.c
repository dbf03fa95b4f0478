/* SPDX-License-Identifier: MIT */
#include "fstab/shown.h"

#include "base/fstypes.h"
#include "base/words.h"
#include "fstab/common.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/** An option, and how it is shown.  Of one that ends with '=' the value stands for '%';
    the value '?' can be any.  Types are separated by blanks and without subtype. */
static const struct {
	const char *types, *asked, *shown;
} rows[] = {
	{"ext2 ext3 ext4", "noload", "norecovery"},
	{"ext2 ext3 ext4", "barrier", ""},
	{"ext2 ext3 ext4", "barrier=0", "nobarrier"},
	{"ext2 ext3 ext4", "barrier=1", ""},
	{"ext2 ext3 ext4", "quota", "quota,usrquota"},
	{"ext2 ext3 ext4", "usrquota", "quota,usrquota"},
	{"ext2 ext3 ext4", "grpquota", "quota,grpquota"},
	{"ext2 ext3 ext4", "prjquota", "quota,prjquota"},
	{"ext2 ext3 ext4", "usrjquota=", "usrjquota=%,usrquota"},
	{"ext2 ext3 ext4", "grpjquota=", "grpjquota=%,grpquota"},
	{"ext2 ext3 ext4", "auto_da_alloc=0", "noauto_da_alloc"},
	{"ext2 ext3 ext4", "auto_da_alloc=1", "auto_da_alloc"},
	{"ext2 ext3 ext4", "dax", "dax=always"},
	{"ext2 ext3 ext4", "init_itable", "init_itable=10"},
	{"ext2 ext3 ext4", "journal_async_commit", "journal_async_commit,journal_checksum"},
	{"ext2 ext3 ext4", "data=journal", "data=journal,nodelalloc,nodioread_nolock"},
	{"ext2 ext3 ext4", "data_err=ignore", ""},
	{"ext2 ext3 ext4", "bsdgroups", "grpid"},
	{"ext2 ext3 ext4", "sysvgroups", "nogrpid"},
	{"ext2 ext3 ext4", "dioread_lock", "nodioread_nolock"},
	{"ext2 ext3 ext4", "no_mbcache", "nombcache"},
	{"xfs", "quota", "usrquota"},
	{"xfs", "uquota", "usrquota"},
	{"xfs", "gquota", "grpquota"},
	{"xfs", "pquota", "prjquota"},
	{"xfs", "qnoenforce", "uqnoenforce"},
	{"xfs", "dax", "dax=always"},
	{"xfs", "bsdgroups", "grpid"},
	{"xfs", "sysvgroups", "nogrpid"},
	{"btrfs", "compress", "compress=zlib:3"},
	{"btrfs", "compress=zlib", "compress=zlib:3"},
	{"btrfs", "compress=zstd", "compress=zstd:3"},
	{"btrfs", "compress-force", "compress-force=zlib:3"},
	{"btrfs", "compress-force=zlib", "compress-force=zlib:3"},
	{"btrfs", "compress-force=zstd", "compress-force=zstd:3"},
	{"btrfs", "compress=no", ""},
	{"btrfs", "nodatacow", "nodatacow,nodatasum"},
	{"btrfs", "discard=sync", "discard"},
	{"btrfs", "space_cache=v1", "space_cache"},
	{"btrfs", "usebackuproot", "rescue=usebackuproot"},
	{"btrfs", "recovery", "rescue=usebackuproot"},
	{"btrfs", "nologreplay", "rescue=nologreplay"},
	{"btrfs", "norecovery", "rescue=nologreplay"},
	{"btrfs", "rescue=all", "rescue=?"},   /* all that a kernel has */
	{"btrfs", "rescue=ibadroots", "rescue=ignorebadroots"},
	{"btrfs", "rescue=idatacsums", "rescue=ignoredatacsums"},
	{"btrfs", "rescue=imetacsums", "rescue=ignoremetacsums"},
	{"btrfs", "rescue=isuperflags", "rescue=ignoresuperflags"},
	{"btrfs", "ssd_spread", "ssd_spread,ssd"},
	{"vfat msdos exfat ntfs3", "umask=", "fmask=%,dmask=%"},
	{"vfat msdos", "utf8=1", "utf8"},
	{"vfat msdos", "utf8=yes", "utf8"},
	{"vfat msdos", "utf8=true", "utf8"},
	{"vfat msdos", "uni_xlate=1", "uni_xlate"},
	{"iso9660", "block=", "block=%,blocksize=%"},
	{"iso9660", "mode=", "mode=%,fmode=%"},
	{"proc", "hidepid=0", ""},
	{"proc", "hidepid=off", ""},
	{"proc", "hidepid=1", "hidepid=noaccess"},
	{"proc", "hidepid=2", "hidepid=invisible"},
	{"proc", "hidepid=4", "hidepid=ptraceable"},
	{"tmpfs", "nr_blocks=", "size=?"},
	{"overlay", "volatile", "volatile,fsync=volatile"},   /* before, and since 6.17 */
	{"overlay", "fsync=volatile", "volatile,fsync=volatile"},
	{"overlay", "uuid=auto", ""},
	{"overlay", "xino=auto", ""},
	{"nfs nfs4", "nfsvers=", "vers=%"},
	{"nfs nfs4", "minorversion=", "vers=4.%"},
	{"nfs nfs4", "v3", "vers=3"},
	{"nfs nfs4", "v4", "vers=4"},
	{"nfs nfs4", "v4.0", "vers=4.0"},
	{"nfs nfs4", "v4.1", "vers=4.1"},
	{"nfs nfs4", "v4.2", "vers=4.2"},
	{"nfs nfs4", "tcp", "proto=tcp"},
	{"nfs nfs4", "udp", "proto=udp"},
	{"nfs nfs4", "rdma", "proto=rdma"},
	{"nfs nfs4", "actimeo=", "acregmin=%,acregmax=%,acdirmin=%,acdirmax=%"},
	{"nfs nfs4", "noac", "noac,sync,acregmin=0,acregmax=0,acdirmin=0,acdirmax=0"},
	{"nfs nfs4", "nolock", "nolock,local_lock=?"},
	{"nfs nfs4", "lookupcache=all", ""},
	{"nfs nfs4", "lookupcache=positive", "lookupcache=pos"},
	{"cifs smb3", "uid=", "uid=%,forceuid"},
	{"cifs smb3", "gid=", "gid=%,forcegid"},
	{"cifs smb3", "user=", "username=%"},
	{"cifs smb3", "dom=", "domain=%"},
	{"cifs smb3", "workgroup=", "domain=%"},
	{"cifs smb3", "ver=", "vers=%"},
	{"9p", "cache=none", ""},
	{"ceph", "secretfile=", ""},
	{"ceph", "fs=", "mds_namespace=%"},
};

/** What is shown of a type though nobody asked for it, beside what no line or no minimal
    one has (fstab_is_dropped()): chosen by the device, by how the kernel was built, by the
    superblock, by a helper or the server.  Names between blanks; with '=' a value as well:
    that one alone, another one must have been asked for. */
static const struct {
	const char *types, *options;
} unasked_rows[] = {
	{"ext2 ext3 ext4", "stripe block_validity delalloc data=ordered"},
	{"xfs", "logbsize"},
	{"btrfs", "space_cache nospace_cache discard=async subvol free_space_tree"},
	{"tmpfs", "inode32"},
	{"overlay", "index metacopy nfs_export redirect_dir uuid xino nouserxattr"},
	{"squashfs", "errors threads"},
	{"erofs", "user_xattr acl cache_strategy dax=never"},
	{"vfat msdos", "codepage iocharset shortname errors utf8 allow_utime"},
	{"exfat", "uid=0 gid=0 allow_utime iocharset errors"},
	{"ntfs3", "uid=0 gid=0 iocharset nls acl noacl prealloc fmask=0022 dmask=0022"},
	{"hfs hfsplus", "umask uid gid nls codepage iocharset part session creator type"},
	{"iso9660", "norock nojoliet check map blocksize iocharset utf8 session sbsector"},
	{"udf", "utf8 iocharset bs lastblock session anchor"},
	{"f2fs", "lazytime active_logs alloc_mode background_gc gc_merge discard nodiscard discard_unit nouser_xattr "
	         "noinline_xattr noacl noinline_data noinline_dentry noflush_merge noextent_cache age_extent_cache mode "
	         "nocheckpoint_merge fsync_mode memory errors lookup_mode "
	         "compress_algorithm=lz4 compress_log_size=2 compress_mode=fs"},   /* of one made to compress */
	{"fuse fuseblk", "default_permissions allow_other"},
	{"nfs nfs4", "vers minorversion rsize wsize bsize sec proto retrans=3 timeo acl noacl"},
	{"cifs smb3", "vers sec username domain uid gid forceuid forcegid file_mode dir_mode unix nounix posix posixpaths "
	              "noserverino mapchars rsize wsize bsize retrans echo_interval acregmax=1 acdirmax=1 iocharset reparse "
	              "nativesocket symlink symlinkroot acl cruid noperm max_channels multichannel"},
	{"ceph", "name acl noacl fsid mon_addr wsize"},   /* 4.x shows its own wsize */
	{"9p", "access cache=none trans uname aname msize sync dirsync"},
	{"lustre", "checksum nochecksum flock user_xattr nouser_xattr lruresize nolruresize lazystatfs nolazystatfs user_fid2path "
	           "nouser_fid2path verbose noverbose encrypt noencrypt statfs_project"},
	{"gfs2", "hostdata lockproto locktable"},
	{"ocfs2", "heartbeat nointr data coherency atime_quantum cluster_stack errors user_xattr nouser_xattr acl noacl"},
	{"zfs", "rw xattr noxattr posixacl noacl casesensitive"},
	{"proc", "gid=0"},
	{"devpts", "mode=600 ptmxmode=000"},
	{"hugetlbfs", "pagesize"},
	{"vboxsf", "iocharset nls ttl tag"},
};

/** Append what is shown, with a value in the places of '%'. */
static void add_shown(struct strbuf *out, const char *shown, const char *value, size_t n)
{
	if (*shown && out->len)
		strbuf_putc(out, ',');
	for (; *shown; ++shown) {
		if (*shown == '%')
			strbuf_add(out, value, n);
		else
			strbuf_putc(out, *shown);
	}
}

void shown_as(const char *fstype, const char *option, size_t n, struct strbuf *out)
{
	for (size_t i = 0; n > 0 && i < sizeof(rows) / sizeof(*rows); ++i) {
		if (*option != *rows[i].asked)
			continue;
		size_t len = strlen(rows[i].asked);
		bool any = rows[i].asked[len - 1] == '=';
		if (n < len || memcmp(option, rows[i].asked, len) != 0 || (n > len && !any) || !fstab_type_in(fstype, rows[i].types))
			continue;
		add_shown(out, rows[i].shown, option + len, n - len);
		return;
	}
	opt_add(out, option, n);
}

void shown_list(const char *fstype, const char *options, struct strbuf *out)
{
	size_t n;
	for (const char *o; (o = opt_next(&options, &n)) != NULL;)
		shown_as(fstype, o, n, out);
}

bool shown_unasked(const char *fstype, const char *option, size_t n)
{
	size_t key = opt_name(option, n);
	if (fstab_is_dropped(fstype, option, n, true))
		return true;
	for (size_t i = 0; i < sizeof(unasked_rows) / sizeof(*unasked_rows); ++i) {
		if (!fstab_type_in(fstype, unasked_rows[i].types))
			continue;
		for (const char *at = unasked_rows[i].options; *at;) {
			size_t len = strcspn(at, " ");
			if ((len == n || (len == key && !memchr(at, '=', len))) && memcmp(at, option, len) == 0)
				return true;
			at += len + (at[len] == ' ');
		}
	}
	return false;
}

bool shown_any_flag(const char *fstype, const char *flag)
{
	static const struct {
		const char *types, *flags;
	} any[] = {
		{"fuse fuseblk", "nosuid nodev"},   /* some helpers take libfuse's away again: mergerfs, glusterfs */
		{"9p", "sync dirsync"},             /* until 6.3, of one without a cache */
		{"vboxsf", "nodev"},                /* its helper's */
	};
	/* It is asked of each option of each mount. */
	if (!fstype || !strchr("f9v", *fstype))
		return false;
	for (size_t i = 0; i < sizeof(any) / sizeof(*any); ++i) {
		if (fstab_type_in(fstype, any[i].types) && word_in(flag, strlen(flag), any[i].flags))
			return true;
	}
	return false;
}

const char *shown_flags(const char *fstype)
{
	return fstab_type_in(fstype, "fuse") ? "nosuid,nodev" : fstab_type_in(fstype, "f2fs") ? "lazytime" : fstab_type_in(fstype, "vboxsf") ? "nodev" : "";
}

/** Whether the kernel calls a device one of discs. */
static bool is_disc(const struct mount *mount)
{
	enum { SCSI_CDROM_MAJOR = 11 };
	const char *source = mount->source ? mount->source : "";
	size_t n = strncmp(source, "/dev/sr", 7) == 0 ? 7 : strncmp(source, "/dev/scd", 8) == 0 ? 8 : 0;
	return mount->dev_major == SCSI_CDROM_MAJOR || (n && mount->dev_major && isdigit((unsigned char)source[n]));
}

bool shown_readonly(const struct mount *mount)
{
	const char *fstype = mount->fstype, *options = mount->fs_opts;
	size_t n;
	if (fstype_flags(fstype) & FST_READONLY || is_disc(mount))
		return true;
	if (!fstab_type_in(fstype, "overlay") || !options)
		return false;
	for (const char *o; (o = opt_next(&options, &n)) != NULL;) {
		if (n > 9 && memcmp(o, "upperdir=", 9) == 0)
			return false;
	}
	return true;
}

bool shown_failed(const char *fstype, const char *options)
{
	return options && fstab_type_in(fstype, "ext2 ext3 ext4 xfs f2fs btrfs")
	       && (opt_shown_has(options, "emergency_ro") || opt_shown_has(options, "shutdown"));
}

/** Whether a line of one type of n bytes makes a mount of a type. */
static bool makes_type(const char *asked, size_t n, const char *live)
{
	static const char *const alike[][2] = {
		{"nfs", "nfs4"}, {"cifs", "smb3"}, {"ntfs", "ntfs3"}, {"ntfs", "ntfs-3g"}, {"ntfs3", "ntfs-3g"},
		{"ntfs", "fuseblk"}, {"ntfs-3g", "fuseblk"}, {"ntfs3", "fuseblk"}, {"lowntfs-3g", "fuseblk"}, {"exfat", "fuseblk"},
		{"exfat-fuse", "fuseblk"},
	};
	if (word_is(asked, n, "auto") || word_is(asked, n, live))
		return true;
	for (size_t i = 0; i < sizeof(alike) / sizeof(*alike); ++i) {
		for (int k = 0; k < 2; ++k) {
			if (word_is(asked, n, alike[i][k]) && strcmp(live, alike[i][!k]) == 0)
				return true;
		}
	}
	/* What a helper of FUSE calls itself is its own affair. */
	if (strncmp(live, "fuse", 4) == 0 && n >= 4 && memcmp(asked, "fuse", 4) == 0)
		return true;
	return strncmp(live, "fuse.", 5) == 0 && word_is(asked, n, live + 5);
}

bool shown_type(const char *asked, const char *live)
{
	if (!asked || !live)
		return true;
	for (size_t n; *asked; asked += n + (asked[n] == ',')) {
		n = strcspn(asked, ",");
		if (makes_type(asked, n, live))
			return true;
	}
	return false;
}

/* Values. */

/** A number with a unit of size; of base 8 without.  @return whether it is one. */
static bool read_number(const char *text, size_t n, int base, unsigned long long *value)
{
	static const char units[] = "kmgtpe";
	char copy[32], *end;
	if (n == 0 || !isdigit((unsigned char)*text) || n > 24)
		return false;
	memcpy(copy, text, n);
	copy[n] = '\0';
	*value = strtoull(copy, &end, base);
	const char *unit = *end ? strchr(units, tolower((unsigned char)*end)) : NULL;
	if (unit && base != 8) {
		*value <<= 10 * (unsigned)(unit - units + 1);
		end += end[1] == 'B' ? 2 : 1;   /* memparse() takes what is behind the unit for nothing */
	}
	return !*end;
}

/** Take quotes off a value. */
static void unquote(const char **value, size_t *n)
{
	if (*n >= 2 && **value == '"' && (*value)[*n - 1] == '"') {
		++*value;
		*n -= 2;
	}
}

/** Whether a list with ':' between has a word. */
static bool has_part(const char *list, size_t n, const char *word, size_t m)
{
	for (size_t at = 0, len; at <= n; at += len + 1) {
		const char *colon = memchr(list + at, ':', n - at);
		len = colon ? (size_t)(colon - list) - at : n - at;
		if (len == m && memcmp(list + at, word, m) == 0)
			return true;
	}
	return false;
}

/** Whether a value of n bytes that was asked for is what is shown, of the option of a name. */
static bool is_value(const char *fstype, const char *key, size_t nkey, const char *asked, size_t n, const char *shown,
                     size_t m)
{
	static const char *const octals[] = {"mode", "umask", "fmask", "dmask", "dmode", "file_mode", "dir_mode", "allow_utime", "ptmxmode"};
	static const char *const owners[] = {"uid", "gid", "suid", "sgid", "resuid", "resgid", "cruid", "backupuid"};
	static const char *const agreed[] = {"rsize", "wsize", "bsize"};
	unsigned long long x, y, other;
	unquote(&asked, &n);
	unquote(&shown, &m);
	if (n == m && memcmp(asked, shown, n) == 0)
		return true;
	/* Of a key that a kernel does not show nothing is known. */
	if (word_is(asked, n, "<hidden>") || word_is(shown, m, "<hidden>"))
		return true;
	bool octal = WORD_OF(key, nkey, octals), remote = fstype_flags(fstype) & FST_NET;
	/* The kernel takes 0x10 and 020 for 16 where it takes a number, some helpers do not. */
	bool first = read_number(asked, n, octal ? 8 : 10, &x), second = read_number(shown, m, octal ? 8 : 10, &y);
	if (!octal && second && n > 1 && *asked == '0' && read_number(asked, n, 0, &other))
		x = !first || other == y ? other : x, first = true;
	/* A user by his name; a share of the memory. */
	if (n && (asked[n - 1] == '%' || word_is(asked, n, "?") || (WORD_OF(key, nkey, owners) && !first)))
		return true;
	if (word_is(key, nkey, "subvol")) {
		for (; n && *asked == '/'; --n)
			++asked;
		for (; m && *shown == '/'; --m)
			++shown;
		return n == m && memcmp(asked, shown, n) == 0;
	}
	/* Linux 5.8 shows names for numbers. */
	if (word_is(key, nkey, "hidepid")) {
		static const char *const names[] = {"0", "noaccess", "invisible", "3", "ptraceable"};
		return m == 1 && *shown >= '0' && *shown <= '4' && word_is(asked, n, names[*shown - '0']);
	}
	/* vers=4 is that minor version that both have; other protocols are of an address. */
	if (remote && word_is(key, nkey, "vers"))
		return (m > n && memcmp(asked, shown, n) == 0 && shown[n] == '.') || word_is(asked, n, "default");
	if (remote && word_is(key, nkey, "sec"))
		return has_part(asked, n, shown, m);
	if (remote && word_is(key, nkey, "proto"))
		return n + 1 == m && memcmp(asked, shown, n) == 0 && shown[n] == '6';
	if (first && second) {
		/* A tmpfs has whole pages; a server gives less than is asked for. */
		unsigned long long page = word_is(key, nkey, "size") ? 65535 : 0;
		if (remote && WORD_OF(key, nkey, agreed))
			return y <= x || y - x < 4096;
		return x == y || (x > y ? x - y : y - x) <= page;
	}
	/* A level that old kernels do not show. */
	if (n == m + 2 && memcmp(asked, shown, m) == 0 && memcmp(asked + m, ":3", 2) == 0)
		return true;
	/* mpol=interleave, which is shown with its nodes; others with a level. */
	bool level = nkey >= 8 && memcmp(key, "compress", 8) == 0;
	return !level && n < m && memcmp(asked, shown, n) == 0 && shown[n] == ':';
}

/** Whether what is shown is but a name that other kernels have for an option. */
static bool is_name_of(const char *fstype, const char *shown, size_t m, const char *option, size_t n)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); ++i) {
		if (word_is(shown, m, rows[i].asked) && word_is(option, n, rows[i].shown) && fstab_type_in(fstype, rows[i].types))
			return true;
	}
	return false;
}

bool shown_same(const char *fstype, const char *asked, size_t n, const char *shown, size_t m)
{
	size_t key = opt_name(asked, n), other = opt_name(shown, m);
	if ((key < n) == (other < m)
	    && (key == n || is_value(fstype, asked, key, asked + key + 1, n - key - 1, shown + other + 1, m - other - 1)))
		return true;
	return is_name_of(fstype, shown, m, asked, n);
}

bool shown_has(const char *fstype, const struct opt_set *asked, const char *shown, size_t n, struct strbuf *use)
{
	size_t k;
	strbuf_reset(use);
	shown_as(fstype, shown, n, use);
	const char *list = strbuf_str(use);
	for (const char *o; (o = opt_next(&list, &k)) != NULL;) {
		const struct opt_entry *mine = opt_set_find(asked, o, opt_name(o, k));
		if (!mine || !shown_same(fstype, mine->last, mine->nlast, o, k))
			return false;
	}
	return true;
}
