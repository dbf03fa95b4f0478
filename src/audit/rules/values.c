/* SPDX-License-Identifier: MIT */
/*
 * Options of which the kernel, or the helper of a type, is known to refuse some values.
 *
 * A row stands only for what its parsers have refused in all versions since 5.0: fs_parse(),
 * and match_token() before it.  A plus before a number is let be: some took it, some did not.
 */
#include "audit/audit_impl.h"

#include "base/words.h"

#include "fstab/common.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { VALUE_MAX = 64 };   /* bytes that are judged */

enum form {
	NUMBER,      /* of 32 bits */
	WIDE,        /* of 64 */
	OCTAL,
	ID,          /* a number, or a name that mount(8) looks up */
	SIZE,        /* as memparse() reads it: 16, 16k */
	PART,        /* the same, or of the whole: 50% */
	SUFFIXED,    /* as XFS reads it: 16, 16k */
	WORD,        /* one of a list */
	HEAD,        /* what begins with one of a list */
	WORDS,       /* some of a list, with a colon between each two */
	COUNT,       /* a number above 0 */
	POWER,       /* a power of two */
	BUFFERS,     /* how many of XFS's log: 0, or 2 to 8 */
	LOG_SIZE,    /* a power of two with a suffix, from 16k to 256k, or 0 */
	ALLOC_SIZE,  /* the same from 4k to 1g */
	BYTES,       /* as libmount reads it: 1MiB, 0x400 */
	FLAG,        /* none at all */
};

static const char *const form_names[] = {
	[NUMBER] = "a number", [WIDE] = "a number", [OCTAL] = "an octal number", [ID] = "a number or a name",
	[SIZE] = "a number, with k, m, g for a size", [PART] = "a number, with k, m, g for a size, or %",
	[SUFFIXED] = "a number, with k, m, g for a size", [COUNT] = "a number above 0", [POWER] = "a power of two",
	[BUFFERS] = "0, or 2 to 8", [LOG_SIZE] = "a power of two from 16k to 256k", [ALLOC_SIZE] = "a power of two from 4k to 1g",
	[BYTES] = "a number, with K, M, G for a size", [FLAG] = "no value",
};

static const struct value_row {
	const char *types, *names;   /* types: NULL for all */
	enum form form;
	bool bare;               /* without a value it is an option too */
	const char *words;
} rows[] = {
	{"ext2 ext3 ext4", "errors", WORD, false, "continue, remount-ro, panic"},
	{"ext2 ext3 ext4", "sb resuid resgid", NUMBER, false, NULL},
	{"ext3 ext4", "data", WORD, false, "journal, ordered, writeback"},
	{"ext3 ext4", "data_err", WORD, false, "abort, ignore"},
	{"ext3 ext4", "jqfmt", WORD, false, "vfsold, vfsv0, vfsv1"},
	{"ext3 ext4", "commit", NUMBER, false, NULL},
	{"ext3 ext4", "barrier", NUMBER, true, NULL},
	{"ext4", "min_batch_time max_batch_time stripe max_dir_size_kb journal_dev", NUMBER, false, NULL},
	{"ext4", "inode_readahead_blks", POWER, false, NULL},
	{"ext4", "journal_ioprio", WORD, false, "0, 1, 2, 3, 4, 5, 6, 7"},
	{"ext4", "init_itable auto_da_alloc", NUMBER, true, NULL},
	{"ext4 xfs", "dax", WORD, true, "always, inode, never"},
	{"xfs", "logbufs", BUFFERS, false, NULL},
	{"xfs", "sunit swidth", NUMBER, false, NULL},
	{"xfs", "logbsize", LOG_SIZE, false, NULL},
	{"xfs", "allocsize", ALLOC_SIZE, false, NULL},
	{"btrfs", "compress compress-force", HEAD, true, "zlib, lzo, zstd, no"},
	{"btrfs", "commit metadata_ratio", NUMBER, false, NULL},
	{"btrfs", "thread_pool", COUNT, false, NULL},
	{"btrfs", "rescue", WORDS, false,
	 "usebackuproot, nologreplay, ignorebadroots, ibadroots, ignoredatacsums, idatacsums, ignoremetacsums, imetacsums, "
	 "ignoresuperflags, isuperflags, all"},
	{"btrfs", "subvolid", WIDE, false, NULL},
	{"btrfs", "discard", WORD, true, "sync, async"},
	{"btrfs", "space_cache", WORD, true, "v1, v2"},
	{"btrfs", "fatal_errors", WORD, false, "bug, panic"},
	{"tmpfs", "size", PART, false, NULL},
	{"tmpfs", "nr_blocks nr_inodes", SIZE, false, NULL},
	{"tmpfs", "mode", OCTAL, false, NULL},
	{"tmpfs", "huge", WORD, false, "never, always, within_size, advise"},
	{"tmpfs", "mpol", HEAD, false, "default, prefer, bind, interleave, local, weighted"},
	{"tmpfs vfat msdos", "uid gid", ID, false, NULL},
	{"vfat msdos", "umask dmask fmask allow_utime", OCTAL, false, NULL},
	{"vfat msdos", "codepage", NUMBER, false, NULL},
	{"vfat msdos", "errors", WORD, false, "continue, panic, remount-ro"},
	{"vfat", "shortname", WORD, false, "lower, win95, winnt, mixed"},
	{"exfat ntfs3", "umask dmask fmask", OCTAL, false, NULL},
	{"exfat ntfs3", "uid gid", ID, false, NULL},
	{"nfs nfs4", "vers nfsvers", WORD, false, "2, 3, 4, 4.0, 4.1, 4.2"},
	{"nfs nfs4", "sec", WORDS, false, "none, null, sys, krb5, krb5i, krb5p, lkey, lkeyi, lkeyp, spkm3, spkm3i, spkm3p"},
	{"nfs nfs4", "proto", WORD, false, "tcp, udp, rdma, tcp6, udp6, rdma6"},
	{"nfs nfs4", "lookupcache", WORD, false, "all, none, pos, positive"},
	{"nfs nfs4", "local_lock", WORD, false, "all, flock, posix, none"},
	{"nfs nfs4", "timeo retrans rsize wsize acregmin acregmax acdirmin acdirmax actimeo nconnect retry port", NUMBER, false, NULL},
	{"cifs smb3", "vers", WORD, false, "default, 1.0, 2.0, 2.1, 3, 3.0, 3.0.2, 3.02, 3.1.1, 3.11"},
	{"cifs smb3", "sec", WORD, false,
	 "none, krb5, krb5i, krb5p, ntlm, ntlmi, ntlmv2, ntlmv2i, ntlmssp, ntlmsspi, nontlm, lanman"},
	{"cifs smb3", "cache", WORD, false, "none, strict, loose, ro, singleclient"},
	{"cifs smb3", "file_mode dir_mode", OCTAL, false, NULL},
	{"cifs smb3", "uid gid", ID, false, NULL},
	{"cifs smb3", "rsize wsize actimeo port", NUMBER, false, NULL},
	{"proc", "hidepid", WORD, false, "0, 1, 2, 4, off, noaccess, invisible, ptraceable"},
	{"proc", "subset", WORDS, false, "pid"},
	{"overlay", "index nfs_export metacopy", WORD, false, "on, off"},
	{"overlay", "redirect_dir", WORD, false, "on, off, follow, nofollow"},
	{"overlay", "xino", WORD, false, "on, off, auto"},
	{"squashfs", "errors", WORD, false, "continue, panic"},
	{"f2fs", "background_gc", WORD, false, "on, off, sync"},
	{NULL, "offset sizelimit", BYTES, false, NULL},
	/* Of others mount(8) or the kernel passes a value by: ro, sync, lazytime, mand, user. */
	{"ext2 ext3 ext4 xfs btrfs tmpfs vfat msdos",
	 "suid nosuid dev nodev exec noexec atime noatime diratime nodiratime relatime norelatime strictatime nostrictatime nosymfollow "
	 "iversion noiversion silent loud auto noauto users nousers owner noowner group nogroup nouser nofail _netdev", FLAG, true, NULL},
	{"ext2 ext3 ext4", "acl noacl user_xattr nouser_xattr bsddf minixdf debug grpid nogrpid bsdgroups sysvgroups nouid32", FLAG, true, NULL},
	{"ext3 ext4",
	 "nobarrier journal_async_commit journal_checksum nojournal_checksum delalloc nodelalloc discard nodiscard dioread_lock dioread_nolock "
	 "noauto_da_alloc noinit_itable block_validity noblock_validity noload norecovery noquota quota usrquota grpquota prjquota i_version",
	 FLAG, true, NULL},
	{"xfs",
	 "attr2 noattr2 discard nodiscard grpid bsdgroups nogrpid sysvgroups filestreams ikeep noikeep inode32 inode64 largeio nolargeio "
	 "noalign norecovery nouuid noquota uquota usrquota uqnoenforce quota gquota grpquota gqnoenforce pquota prjquota pqnoenforce "
	 "qnoenforce swalloc wsync", FLAG, true, NULL},
	{"btrfs",
	 "acl noacl autodefrag noautodefrag barrier nobarrier datacow nodatacow datasum nodatasum degraded flushoncommit noflushoncommit "
	 "nodiscard skip_balance nospace_cache ssd ssd_spread nossd nossd_spread treelog notreelog usebackuproot norecovery "
	 "user_subvol_rm_allowed rescan_uuid_tree clear_cache", FLAG, true, NULL},
	{"tmpfs", "inode32 inode64 noswap", FLAG, true, NULL},
	{"vfat msdos", "quiet sys_immutable discard flush rodir showexec", FLAG, true, NULL},
};

/** Whether a value of n bytes, or but what it begins with, is one of a row. */
static bool in_list(const char *list, const char *word, size_t n, bool head)
{
	while (*list) {
		size_t m = strcspn(list, ", ");
		if ((m == n || (head && m < n)) && memcmp(list, word, m) == 0)
			return true;
		list += m;
		list += strspn(list, ", ");
	}
	return false;
}

/** Read digits as the kernel does: with 0x or 0 before, and no blank or sign. */
static uint64_t read_digits(const char *text, int base, const char **end)
{
	*end = text;
	if (!isdigit((unsigned char)*text))
		return 0;
	char *stop;
	uint64_t value = strtoull(text, &stop, base);
	*end = stop;
	return value;
}

/** Whether a value is a number that is not too great, as one of the kernel's parsers
    reads it: 08 is one to some. */
static bool is_number(const char *value, uint64_t max)
{
	const char *end;
	value += *value == '+';
	for (int base = 0; *value && base <= 10; base += 10) {
		if (read_digits(value, base, &end) <= max && !*end)
			return true;
	}
	return false;
}

static bool is_size(const char *value, bool part)
{
	const char *end;
	read_digits(value, 0, &end);
	end += *end && strchr("kKmMgGtTpPeE", *end);
	end += part && *end == '%';
	return !*end;
}

static bool is_suffixed(char *value)
{
	size_t n = strlen(value);
	if (n && strchr("kKmMgG", value[n - 1]))
		value[n - 1] = '\0';
	return is_number(value, UINT64_MAX);
}

/** Whether a number, with a suffix, is a power of two within bounds. */
static bool is_power(const char *value, uint64_t min, uint64_t max)
{
	static const char units[] = "kKmMgG";
	const char *end, *unit;
	value += *value == '+';
	uint64_t number = read_digits(value, 0, &end);
	unit = *end ? strchr(units, *end) : NULL;
	if (end == value || (*end && (!unit || end[1])) || number > max)
		return false;
	if (unit)
		number <<= 10 * ((unit - units) / 2 + 1);
	return number >= min && number <= max && (number & (number - 1)) == 0;
}

/** Whether libmount reads it as a size. */
static bool is_bytes(const char *value)
{
	return isdigit((unsigned char)*value) && !value[strspn(value, "0123456789abcdefABCDEFxXkKmMgGtTpPeEzZyYiB.")];
}

static bool is_taken(const struct value_row *row, char *value)
{
	size_t n = strlen(value);
	switch (row->form) {
	case NUMBER:
		return is_number(value, UINT32_MAX);
	case WIDE:
		return is_number(value, UINT64_MAX);
	case ID:
		return (*value != '-' && !isdigit((unsigned char)*value)) || is_number(value, UINT32_MAX);
	case OCTAL:
		value += *value == '+';
		return !value[strspn(value, "01234567")];
	case SIZE:
	case PART:
		return is_size(value, row->form == PART);
	case SUFFIXED:
		return is_suffixed(value);
	case COUNT:
		return is_number(value, UINT32_MAX) && value[strspn(value, "+0")];
	case POWER:
		return is_number(value, UINT32_MAX) && is_power(value, 0, UINT32_MAX);
	case BUFFERS:
		return is_number(value, 8) && is_number(value, 1) == is_number(value, 0);
	case LOG_SIZE:
		return strcmp(value, "0") == 0 || is_power(value, 16 << 10, 256 << 10);
	case ALLOC_SIZE:
		return is_power(value, 4 << 10, 1 << 30);
	case BYTES:
		return is_bytes(value);
	case FLAG:
		return false;
	case WORDS:
		for (size_t m; *value; value += m + (value[m] == ':')) {
			m = strcspn(value, ":");
			if (!in_list(row->words, value, m, false))
				return false;
		}
		return n > 0;
	case WORD:
	case HEAD:
		return in_list(row->words, value, n, row->form == HEAD);
	}
	return true;
}

bool audit_is_time(const char *text, size_t n)
{
	static const char units[] =
		"s seconds second sec m minutes minute min h hours hour hr d days day w weeks week M months month y years year "
		"ms msec us usec \xce\xbcs \xc2\xb5s";
	const char *at = text, *end = text + n;
	bool any = false;
	if (word_is(text, n, "infinity"))
		return true;
	for (;;) {
		while (at < end && isspace((unsigned char)*at))
			++at;
		if (at == end)
			return any;
		const char *number = at;
		size_t digits = 0;
		for (; at < end && (isdigit((unsigned char)*at) || *at == '.'); ++at)
			digits += *at != '.';
		if (digits == 0 || (size_t)(at - number) > digits + 1)
			return false;
		while (at < end && isspace((unsigned char)*at))
			++at;
		const char *unit = at;
		while (at < end && !isspace((unsigned char)*at) && !isdigit((unsigned char)*at))
			++at;
		if (at > unit && !word_in(unit, (size_t)(at - unit), units))
			return false;
		any = true;
	}
}

const char *audit_value(const char *fstype, const char *option, size_t key, size_t n)
{
	char value[VALUE_MAX + 1];
	size_t len = n > key ? n - key - 1 : 0;
	const struct value_row *row = NULL;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows) && !row; ++i) {
		if ((!rows[i].types || word_in(fstype, strlen(fstype), rows[i].types)) && word_in(option, key, rows[i].names))
			row = &rows[i];
	}
	if (!row || len > VALUE_MAX || memchr(option, '"', n))
		return NULL;
	memcpy(value, option + n - len, len);
	value[len] = '\0';
	if (n == key ? row->bare : is_taken(row, value))
		return NULL;
	return row->words ? row->words : form_names[row->form];
}

/** Options that go only with another one. */
static const struct {
	const char *types, *option, *with;
} pairs[] = {
	{"ext3 ext4", "usrjquota", "jqfmt"}, {"ext3 ext4", "grpjquota", "jqfmt"}, {"xfs", "sunit", "swidth"}, {"xfs", "swidth", "sunit"},
	{"xfs", "norecovery", "ro"}, {"btrfs", "norecovery", "ro"}, {"btrfs", "nologreplay", "ro"}, {"btrfs", "rescue", "ro"},
};

/** Whether a line has what another option goes only with. */
static bool has_with(struct audit *audit, const struct audit_entry *entry, const char *with)
{
	if (strcmp(with, "ro") != 0)
		return audit_option(audit, entry, with);
	size_t n, m;
	const char *ro = opt_find(entry->options, "ro", 2, &n), *rw = opt_find(entry->options, "rw", 2, &m);
	return ro && (!rw || rw < ro);
}

void audit_pairs(struct audit *audit, const struct audit_entry *entry)
{
	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs) && !entry->bind; ++i) {
		if (!word_in(entry->fstype, strlen(entry->fstype), pairs[i].types))
			continue;
		/* What is 0 or empty is as if it was not there; of rescue one goes without. */
		const char *option = pairs[i].option, *value = audit_option(audit, entry, option);
		if (!value || strcmp(value, "0") == 0 || strcmp(value, "usebackuproot") == 0 || (strstr(option, "jquota") && !*value)
		    || has_with(audit, entry, pairs[i].with))
			continue;
		audit_tell(audit, entry, FSTAB_OPT_CONFLICT, &(struct audit_told){
			AUDIT_WARNING, true, audit_format(audit, "%s goes only with %s: the kernel would refuse the mount", option, pairs[i].with),
			pairs[i].with, NULL, audit_format(audit, "give it %s as well, or take %s away", pairs[i].with, option),
			audit_format(audit, "the line has the option %s without %s", option, pairs[i].with), option});
	}
}
