/* SPDX-License-Identifier: MIT */
/*
 * Options of which the kernel, or the helper of a type, is known to refuse some values.
 *
 * A row stands only for what its parsers have refused in all versions since 5.0: fs_parse(),
 * and match_token() before it.  A sign before a number is let be: some took it, some did not.
 */
#include "audit/audit_impl.h"

#include "base/words.h"

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
};

static const char *const form_names[] = {
	[NUMBER] = "a number", [WIDE] = "a number", [OCTAL] = "an octal number", [ID] = "a number or a name",
	[SIZE] = "a number, with k, m, g for a size", [PART] = "a number, with k, m, g for a size, or %",
	[SUFFIXED] = "a number, with k, m, g for a size",
};

static const struct value_row {
	const char *types, *names;
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
	{"ext4", "min_batch_time max_batch_time stripe inode_readahead_blks journal_ioprio max_dir_size_kb", NUMBER, false, NULL},
	{"ext4", "init_itable auto_da_alloc", NUMBER, true, NULL},
	{"ext4 xfs", "dax", WORD, true, "always, inode, never"},
	{"xfs", "logbufs sunit swidth", NUMBER, false, NULL},
	{"xfs", "logbsize allocsize", SUFFIXED, false, NULL},
	{"btrfs", "compress compress-force", HEAD, true, "zlib, lzo, zstd, no"},
	{"btrfs", "commit thread_pool metadata_ratio", NUMBER, false, NULL},
	{"btrfs", "subvolid", WIDE, false, NULL},
	{"btrfs", "discard", WORD, true, "sync, async"},
	{"btrfs", "space_cache", WORD, true, "v1, v2"},
	{"btrfs", "fatal_errors", WORD, false, "bug, panic"},
	{"tmpfs", "size", PART, false, NULL},
	{"tmpfs", "nr_blocks nr_inodes", SIZE, false, NULL},
	{"tmpfs", "mode", OCTAL, false, NULL},
	{"tmpfs", "huge", WORD, false, "never, always, within_size, advise"},
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
	value += *value == '+' || *value == '-';
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

static bool is_taken(const struct value_row *row, char *value)
{
	size_t n = strlen(value);
	switch (row->form) {
	case NUMBER:
		return is_number(value, UINT32_MAX);
	case WIDE:
		return is_number(value, UINT64_MAX);
	case ID:
		return !isdigit((unsigned char)*value) || is_number(value, UINT32_MAX);
	case OCTAL:
		value += *value == '+' || *value == '-';
		return !value[strspn(value, "01234567")];
	case SIZE:
	case PART:
		return is_size(value, row->form == PART);
	case SUFFIXED:
		return is_suffixed(value);
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
		if (word_in(fstype, strlen(fstype), rows[i].types) && word_in(option, key, rows[i].names))
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
