/* SPDX-License-Identifier: MIT */
#include "mountopts/shown.h"

#include "base/fstypes.h"
#include "base/words.h"
#include "mountopts/fsopts.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

/** Append the shown form of an option, with the value for each '%'. */
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
	const struct fsopt *row = fsopt_of_mount(fstype, FSOPT_SHOWN, option, n);
	size_t key = opt_name(option, n);
	if (row)
		add_shown(out, row->shown, option + key + 1, n > key ? n - key - 1 : 0);
	else
		opt_add(out, option, n);
}

void shown_list(const char *fstype, const char *options, struct strbuf *out)
{
	size_t n;
	for (const char *o; (o = opt_next(&options, &n)) != NULL;)
		shown_as(fstype, o, n, out);
}

bool shown_any_flag(const char *fstype, const char *flag)
{
	static const struct {
		const char *types, *flags;
	} any[] = {
		{"fuse fuseblk", "nosuid nodev"},   /* mergerfs, glusterfs clear those of libfuse */
		{"9p", "sync dirsync"},             /* until Linux 6.3, without a cache */
		{"vboxsf", "nodev"},                /* set by its helper */
	};
	/* Called for each option of each mount. */
	if (!fstype || !strchr("f9v", *fstype))
		return false;
	for (size_t i = 0; i < sizeof(any) / sizeof(*any); ++i) {
		if (fsopt_type_in(fstype, any[i].types)
		    && word_in(flag, strlen(flag), any[i].flags))
			return true;
	}
	return false;
}

const char *shown_flags(const char *fstype)
{
	return fsopt_type_in(fstype, "fuse") ? "nosuid,nodev"
	       : fsopt_type_in(fstype, "f2fs") ? "lazytime"
	       : fsopt_type_in(fstype, "vboxsf") ? "nodev" : "";
}

/** Whether the device of a mount is an optical disc. */
static bool is_disc(const struct mount *mount)
{
	enum { SCSI_CDROM_MAJOR = 11 };
	const char *source = mount->source ? mount->source : "";
	size_t n = strncmp(source, "/dev/sr", 7) == 0 ? 7
	           : strncmp(source, "/dev/scd", 8) == 0 ? 8 : 0;
	return mount->dev_major == SCSI_CDROM_MAJOR
	       || (n && mount->dev_major && isdigit((unsigned char)source[n]));
}

bool shown_readonly(const struct mount *mount)
{
	const char *fstype = mount->fstype, *options = mount->fs_opts;
	size_t n;
	if (fstype_flags(fstype) & FST_READONLY || is_disc(mount))
		return true;
	if (!fsopt_type_in(fstype, "overlay") || !options)
		return false;
	const char *upper = opt_find(options, "upperdir", 8, &n);
	return !upper || n <= 9;
}

/** Whether n bytes are an address or a name of this host's loopback interface. */
static bool is_loopback(const char *host, size_t n)
{
	if (n > 2 && *host == '[' && host[n - 1] == ']') {
		++host;
		n -= 2;
	}
	return word_in(host, n, "localhost localhost.localdomain ip6-localhost ::1")
	       || (n > 4 && memcmp(host, "127.", 4) == 0 && strspn(host, "0123456789.") >= n);
}

const char *shown_local_port(const struct mount *m, struct strbuf *port)
{
	static const char *const rows[][2] = {
		{"nfs nfs4", "0 2049"}, {"cifs smb3", "0 139 445"}, {"9p", "564"},
	};
	const char *source = m->source ? m->source : "", *ports = NULL;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows) && !ports; ++i)
		ports = fsopt_type_in(m->fstype, rows[i][0]) ? rows[i][1] : NULL;
	if (!ports)
		return NULL;
	source += strspn(source, "/");
	const char *end = strstr(source, ":/");
	bool local = opt_shown_value(m->fs_opts, "addr", port)
	             ? is_loopback(strbuf_str(port), port->len)
	             : is_loopback(source, end ? (size_t)(end - source) : strcspn(source, "/"));
	return local && opt_shown_value(m->fs_opts, "port", port)
	       && !word_in(strbuf_str(port), port->len, ports)
	       ? strbuf_str(port) : NULL;
}

bool shown_lists(const struct mount *mount, const char *option, size_t n)
{
	const char *lists[] = {mount->vfs_opts, mount->fs_opts};
	for (size_t i = 0, k; i < 2; ++i) {
		for (const char *o; (o = opt_next_shown(&lists[i], &k)) != NULL;) {
			if (k == n && memcmp(o, option, n) == 0)
				return true;
		}
	}
	return false;
}

enum shown_fault shown_fault(const struct mount *mount)
{
	return opt_shown_has(mount->fs_opts, "shutdown") ? SHOWN_SHUTDOWN
	       : opt_shown_has(mount->fs_opts, "emergency_ro") ? SHOWN_EMERGENCY : SHOWN_NO_FAULT;
}

bool shown_failed(const struct mount *mount)
{
	return fsopt_type_in(mount->fstype, "ext2 ext3 ext4 xfs f2fs btrfs")
	       && shown_fault(mount) != SHOWN_NO_FAULT;
}

bool shown_is_safe(const struct mount *mount)
{
	return opt_shown_has(mount->vfs_opts, "nosuid") && opt_shown_has(mount->vfs_opts, "nodev");
}

/** Whether a line with a type of n bytes can result in a mount of type `live`. */
static bool makes_type(const char *type, size_t n, const char *live)
{
	static const char *const alike[][2] = {
		{"nfs nfs4", "nfs nfs4"}, {"cifs smb3", "cifs smb3"},
		{"ntfs ntfs3 ntfs-3g", "ntfs ntfs3 ntfs-3g"},
		{"ntfs ntfs3 ntfs-3g lowntfs-3g exfat exfat-fuse", "fuseblk"},
	};
	size_t m = strlen(live);
	if (word_is(type, n, "auto") || word_is(type, n, live))
		return true;
	for (size_t i = 0; i < sizeof(alike) / sizeof(*alike); ++i) {
		for (int k = 0; k < 2; ++k) {
			if (word_in(type, n, alike[i][k]) && word_in(live, m, alike[i][!k]))
				return true;
		}
	}
	/* A FUSE helper can choose any subtype. */
	if (strncmp(live, "fuse", 4) == 0 && n >= 4 && memcmp(type, "fuse", 4) == 0)
		return true;
	return strncmp(live, "fuse.", 5) == 0 && word_is(type, n, live + 5);
}

bool shown_type(const char *types, const char *live)
{
	if (!types || !live)
		return true;
	for (size_t n; *types; types += n + (types[n] == ',')) {
		n = strcspn(types, ",");
		if (makes_type(types, n, live))
			return true;
	}
	return false;
}

bool is_fuse(const char *fstype)
{
	if (!fstype || strncmp(fstype, "fuse", 4) != 0)
		return false;
	fstype += strncmp(fstype + 4, "blk", 3) == 0 ? 7 : 4;
	return *fstype == '\0' || *fstype == '.';
}

uint32_t fuse_user(const char *fstype, const char *options)
{
	static const char name[] = "user_id=";
	size_t n;
	if (!is_fuse(fstype))
		return 0;
	for (const char *option; (option = opt_next_shown(&options, &n)) != NULL;) {
		if (strncmp(option, name, sizeof(name) - 1) != 0)
			continue;
		const char *value = option + sizeof(name) - 1;
		char *end;
		errno = 0;
		unsigned long id = strtoul(value, &end, 10);
		bool valid = errno == 0 && end > value && end == option + n
		    && id < FUSE_USER_UNKNOWN;
		return valid ? (uint32_t)id : FUSE_USER_UNKNOWN;
	}
	return FUSE_USER_UNKNOWN;
}

/* Values. */

/** Parse a number, with a size unit unless the base is 8.  @return whether the text is valid. */
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
		end += end[1] == 'B' ? 2 : 1;   /* memparse() ignores what follows the unit */
	}
	return !*end;
}

/** Whether a list separated by ':' has a word. */
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

/** Whether the given value (n bytes) and the shown value (m bytes) of an option are the same. */
static bool is_same_value(const char *fstype, const char *key, size_t nkey, const char *given,
                          size_t n, const char *shown, size_t m)
{
	static const char octals[] =
		"mode umask fmask dmask dmode file_mode dir_mode allow_utime ptmxmode";
	static const char owners[] = "uid gid suid sgid resuid resgid cruid backupuid";
	unsigned long long x, y, other;
	opt_unquote(&given, &n);
	opt_unquote(&shown, &m);
	if (n == m && memcmp(given, shown, n) == 0)
		return true;
	/* A hidden key can have any value. */
	if (word_is(given, n, "<hidden>") || word_is(shown, m, "<hidden>"))
		return true;
	bool octal = word_in(key, nkey, octals), remote = fstype_flags(fstype) & FST_NET;
	/* The kernel reads 0x10 and 020 as 16, some helpers do not. */
	bool first = read_number(given, n, octal ? 8 : 10, &x),
	    second = read_number(shown, m, octal ? 8 : 10, &y);
	if (!octal && second && n > 1 && *given == '0' && read_number(given, n, 0, &other))
		x = !first || other == y ? other : x, first = true;
	/* User names and percentages of the memory cannot be converted here. */
	if (n && (given[n - 1] == '%' || word_is(given, n, "?")
	          || (word_in(key, nkey, owners) && !first)))
		return true;
	if (word_is(key, nkey, "subvol")) {
		for (; n && *given == '/'; --n)
			++given;
		for (; m && *shown == '/'; --m)
			++shown;
		for (; n && given[n - 1] == '/'; --n)
			;
		for (; m && shown[m - 1] == '/'; --m)
			;
		return n == m && memcmp(given, shown, n) == 0;
	}
	/* vers=4 becomes the highest minor version of client and server; proto=tcp becomes tcp6 for
	   an IPv6 address. */
	if (remote && word_is(key, nkey, "vers"))
		return (m > n && memcmp(given, shown, n) == 0 && shown[n] == '.')
		       || (word_is(given, n, "3.11") && word_is(shown, m, "3.1.1"))
		       || word_is(given, n, "default");
	if (remote && word_is(key, nkey, "sec"))
		return has_part(given, n, shown, m);
	if (remote && word_is(key, nkey, "proto"))
		return n + 1 == m && memcmp(given, shown, n) == 0 && shown[n] == '6';
	if (word_is(key, nkey, "subvolid") && first && x == 0)
		x = 5;   /* the top */
	if (first && second) {
		/* btrfs limits it to the size of a sector. */
		if (word_is(key, nkey, "max_inline") && x > y)
			return y >= 4096;
		/* hugetlbfs rounds down to its pages, mostly of 2 MiB. */
		if (fsopt_type_in(fstype, "hugetlbfs") && word_in(key, nkey, "size min_size"))
			return x >= y && x - y < 2 << 20;
		/* A tmpfs rounds to pages; a server may grant less than requested. */
		unsigned long long page = word_is(key, nkey, "size") ? 65535 : 0;
		if (remote && word_in(key, nkey, "rsize wsize bsize"))
			return y <= x || y - x < 4096;
		return x == y || (x > y ? x - y : y - x) <= page;
	}
	/* mpol=interleave is shown with a list of nodes. */
	bool level = nkey >= 8 && memcmp(key, "compress", 8) == 0;
	return !level && n < m && memcmp(given, shown, n) == 0 && shown[n] == ':';
}

bool shown_same(const char *fstype, const char *given, size_t n, const char *shown, size_t m)
{
	size_t key = opt_name(given, n), other = opt_name(shown, m);
	if ((key < n) == (other < m)
	    && (key == n || is_same_value(fstype, given, key, given + key + 1, n - key - 1,
	                             shown + other + 1, m - other - 1)))
		return true;
	/* Names depend on the kernel: "hidepid=1" is "hidepid=noaccess" since Linux 5.8. */
	const struct fsopt *row = fsopt_of_mount(fstype, FSOPT_SHOWN, shown, m);
	return row && word_is(given, n, row->shown);
}

bool shown_has(const char *fstype, const struct opt_set *given, const char *shown, size_t n,
               struct strbuf *use)
{
	size_t k;
	strbuf_reset(use);
	shown_as(fstype, shown, n, use);
	const char *list = strbuf_str(use);
	for (const char *o; (o = opt_next(&list, &k)) != NULL;) {
		const struct opt_entry *mine = opt_set_find(given, o, opt_name(o, k));
		if (!mine || !shown_same(fstype, mine->last, mine->nlast, o, k))
			return false;
	}
	return true;
}

/* Options that a mount lacks. */

/** Whether a list has an option with one of these names. */
static bool has_any(const char *options, const char *names)
{
	size_t n;
	for (const char *o; names && (o = opt_next(&options, &n)) != NULL;) {
		if (fsopt_is_named(names, o, n))
			return true;
	}
	return false;
}

/** Whether the value that the mount must show follows from an option: not for percentages of the
    memory or user names. */
static bool is_definite(const struct fsopt *row, const char *option, size_t n)
{
	size_t start = opt_name(option, n) + 1;
	if (row->digits == OPT_ANY_VALUE)
		return true;
	for (size_t i = start; i < n; ++i) {
		bool unit = row->digits == OPT_SIZE && i + 1 == n && i > start
		            && strchr("kmgtpe", tolower((unsigned char)option[i]));
		if (!isdigit((unsigned char)option[i]) && !unit)
			return false;
	}
	return n > start;
}

/** Whether a mount shows an option by any name of its row. */
static bool is_visible(const struct fsopt *row, const struct mount *mount, const char *option,
                       size_t n)
{
	size_t m;
	if (row->visible[0])
		return has_any(mount->fs_opts, row->visible);
	/* Without SELinux, mount(8) drops its options. */
	if (strstr(row->names, "context") && !opt_shown_has(mount->fs_opts, "seclabel"))
		return true;
	return opt_find(mount->fs_opts, option, opt_name(option, n), &m);
}

void shown_lacks(const struct mount *mount, const char *options, struct strbuf *lacks)
{
	struct opt_set set;
	size_t n;
	if (!mount->vfs_opts || !mount->fs_opts || !mount->fstype)
		return;
	opt_set_init(&set, false);
	opt_set_add_list(&set, options, opt_next);
	for (const char *at = options, *o; (o = opt_next(&at, &n)) != NULL;) {
		const struct opt_entry *entry = opt_set_find(&set, o, opt_name(o, n));
		/* If an option is repeated, the last counts. */
		const struct fsopt *row = entry && entry->last == o
		    ? fsopt_of_mount(mount->fstype, FSOPT_VISIBLE, o, n) : NULL;
		if (row && is_definite(row, o, n) && !has_any(options, row->unless)
		    && !is_visible(row, mount, o, n))
			opt_add(lacks, o, n);
	}
	if (set.failed)
		strbuf_fail(lacks);
	opt_set_destroy(&set);
}

bool shown_names(const struct mount *mount, const char *option, size_t n)
{
	const char *list = mount->fs_opts;
	size_t m;
	for (const char *o; (o = opt_next(&list, &m)) != NULL;) {
		if ((m == n || opt_name(o, m) == n) && memcmp(o, option, n) == 0)
			return true;
	}
	return false;
}

bool shown_same_value(const char *line, const char *live, const char *name, bool missing)
{
	size_t n, k, len = strlen(name);
	const char *x = opt_find(line, name, len, &n), *y = opt_find(live, name, len, &k);
	return !x || !y ? missing || (!x && !y) : shown_same(NULL, x, n, y, k);
}

/** Append the layers of a list of options, as one list. */
static void add_layers(const char *options, struct strbuf *out)
{
	static const char *const names[][2] = {
		{"lowerdir=", ""}, {"lowerdir+=", ":"}, {"datadir+=", "::"},
	};
	size_t n;
	for (const char *o; (o = opt_next(&options, &n)) != NULL;) {
		for (size_t i = 0; i < sizeof(names) / sizeof(*names); ++i) {
			size_t len = strlen(names[i][0]);
			if (n < len || memcmp(o, names[i][0], len) != 0)
				continue;
			strbuf_puts(out, out->len ? names[i][1] : "");
			bool quoted = n >= len + 2 && o[len] == '"' && o[n - 1] == '"';
			strbuf_add(out, o + len + quoted, n - len - 2 * (size_t)quoted);
		}
	}
}

int shown_same_layers(const char *line, const char *live)
{
	struct strbuf one = {0}, other = {0};
	add_layers(line, &one);
	add_layers(live, &other);
	int same = shown_same_value(line, live, "upperdir", false)
	           && shown_same_value(line, live, "workdir", false)
	           && strcmp(strbuf_str(&one), strbuf_str(&other)) == 0;
	same = one.failed || other.failed ? -1 : same;
	strbuf_destroy(&one);
	strbuf_destroy(&other);
	return same;
}
