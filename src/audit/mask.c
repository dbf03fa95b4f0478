/* SPDX-License-Identifier: MIT */
/*
 * A text is cut into words: what stands between blanks, slashes, commas, equals signs,
 * colons, brackets and quotation marks.  Each word is judged by itself, by the words before
 * it in its path, and, in a value, by the name before its equals sign.
 */
#include "audit/mask.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_lower_hex(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f');
}

static bool is_hex(char c)
{
	return is_lower_hex(c) || (c >= 'A' && c <= 'F');
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_word(const char *at, size_t n, const char *word)
{
	return strlen(word) == n && memcmp(at, word, n) == 0;
}

static size_t digits(const char *at, size_t n)
{
	size_t i = 0;
	while (i < n && is_digit(at[i]))
		++i;
	return i;
}

static bool all_digits(const char *at, size_t n)
{
	return n > 0 && digits(at, n) == n;
}

/** How many bytes a UUID takes at the beginning: 8-4-4-4-12 hex digits; 0: there is none. */
static size_t uuid_len(const char *at, size_t n)
{
	enum { UUID = 36 };
	if (n < UUID)
		return 0;
	for (size_t i = 0; i < UUID; ++i) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;
		if (dash ? at[i] != '-' && at[i] != '_' : !is_hex(at[i]))
			return 0;
	}
	return n == UUID || !is_hex(at[UUID]) ? UUID : 0;
}

/** The same of a number of hex that is an identifier: 12 digits or more, not all decimal
    unless very long, and not all letters. */
static size_t hex_len(const char *at, size_t n)
{
	enum { ID = 12, LONG = 32 };
	size_t i = 0, numbers = 0;
	while (i < n && is_lower_hex(at[i]))
		numbers += is_digit(at[i++]);
	if (i < ID || (i < n && (is_letter(at[i]) || is_digit(at[i]))))
		return 0;
	return i >= LONG || (numbers > 0 && numbers < i) ? i : 0;
}

/* Of kernel names of disks: what stands behind these is a disk and a partition. */
static const struct {
	const char *stem;
	enum { LETTERS, MULTIPATH, NUMBER, NVME, MMC } behind;
} disks[] = {
	{"sd", LETTERS}, {"vd", LETTERS}, {"xvd", LETTERS}, {"hd", LETTERS}, {"ubd", LETTERS}, {"dasd", LETTERS},
	{"nvme", NVME}, {"mmcblk", MMC}, {"nbd", MMC}, {"md", MMC}, {"loop", MMC}, {"rbd", MMC},
	{"dm-", NUMBER}, {"zram", NUMBER}, {"ram", NUMBER}, {"sr", NUMBER}, {"zd", MMC}, {"drbd", NUMBER},
	{"bcache", MMC}, {"pmem", MMC},
	{"mpath", MULTIPATH},   /* multipathd's, which counts them as it meets them */
};

/** Whether behind a disk's number stands nothing, or a partition: "p1". */
static bool partition(const char *at, size_t n)
{
	return n == 0 || (*at == 'p' && all_digits(at + 1, n - 1));
}

bool mask_is_disk(const char *at, size_t n)
{
	for (size_t i = 0; i < sizeof(disks) / sizeof(*disks); ++i) {
		size_t stem = strlen(disks[i].stem), k = stem;
		if (n <= stem || memcmp(at, disks[i].stem, stem) != 0)
			continue;
		if (disks[i].behind <= MULTIPATH) {
			while (k < n && at[k] >= 'a' && at[k] <= 'z')
				++k;
			bool multipath = disks[i].behind == MULTIPATH, named = k > stem && k - stem <= 3;
			if (multipath && n - k > 5 && memcmp(at + k, "-part", 5) == 0)
				k += 5;
			if (named && digits(at + k, n - k) == n - k)
				return true;
			continue;
		}
		k += digits(at + k, n - k);
		if (k == stem)
			continue;
		if (disks[i].behind == NUMBER && k == n)
			return true;
		if (disks[i].behind == MMC && partition(at + k, n - k))
			return true;
		if (disks[i].behind == NVME && k < n && at[k] == 'n') {
			size_t space = digits(at + k + 1, n - k - 1);
			if (space && partition(at + k + 1 + space, n - k - 1 - space))
				return true;
		}
	}
	return false;
}

/** Where a number stands in a path, by the words before it. */
static const struct {
	const char *parent, *grand;   /* NULL: any */
} numbered[] = {
	{"user", "run"}, {"proc", NULL}, {"task", NULL}, {"fd", NULL}, {"snapshots", NULL}, {".snapshots", NULL},
	{"pts", "dev"}, {"md", "dev"}, {NULL, "snap"},
};

/** Directories of what udev calls devices by what they are. */
static bool is_by(const char *at, size_t n)
{
	static const char *const names[] = {"by-uuid", "by-partuuid", "by-id", "by-path", "by-diskseq"};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); ++i) {
		if (is_word(at, n, names[i]))
			return true;
	}
	return false;
}

/** How long a word is before what is random in it: what mkstemp(3) makes, six letters and
    digits, among which a capital behind the first; what mktemp(1) does, ten behind "tmp.", else
    of all three kinds; what Kubernetes does, five without vowels,
    among which a digit before a letter; what is known to be.  0: nothing is. */
static size_t before_random(const char *at, size_t n)
{
	enum { POD = 5, TEMPORARY = 6, LONG = 10 };
	static const char *const known[] = {"kube-api-access-", "default-token-", ".mount_"};
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); ++i) {
		size_t k = strlen(known[i]);
		if (n > k && memcmp(at, known[i], k) == 0)
			return k;
	}
	size_t k = n;
	bool capital = false, small = false, number = false, pod = true, mixed = false;
	while (k && (is_letter(at[k - 1]) || is_digit(at[k - 1]))) {
		char c = at[--k];
		bool upper = c >= 'A' && c <= 'Z', first = k == 0 || strchr("-._", at[k - 1]);
		capital |= upper && !first;
		small |= c >= 'a' && c <= 'z';
		number |= is_digit(c);
		pod &= strchr("bcdfghjklmnpqrstvwxz2456789", c) != NULL;
		mixed |= is_digit(c) && k + 1 < n && is_letter(at[k + 1]);
	}
	size_t len = n - k;
	bool random = (len == TEMPORARY && capital && (small || number)) || (len == POD && pod && mixed)
	              || (len == LONG && ((capital && small && number) || (k == 4 && memcmp(at, "tmp.", 4) == 0)));
	return random && k >= 2 && strchr("-._", at[k - 1]) ? k : 0;
}

struct words {
	struct strbuf *out;
	const char *host;               /* or NULL */
	size_t host_len, short_len;     /* of the whole name, and of what stands before its first dot */
	enum { PLAIN, COUNTED, NAMED } kind;   /* letters alone; none; both, or more */
	bool value;
	bool server;                    /* it is all of a server's name */
	bool line;                      /* it stands behind the word "line" */
	/* The two words before, in the same path; or NULL. */
	const char *parent, *grand;
	size_t parent_len, grand_len;
	const char *key;                /* before an equals sign; or NULL */
	size_t key_len;
};

static bool has_name(const char *at, size_t n, const char *const names[], size_t count)
{
	for (size_t i = 0; i < count; ++i) {
		if (is_word(at, n, names[i]))
			return true;
	}
	return false;
}

/** Options whose values follow disks and memory, and tags that are a disk's own. */
static bool follows_machine(const char *key, size_t n)
{
	static const char *const names[] = {
		"size", "nr_inodes", "nr_blocks", "sunit", "swidth", "stripe", "rsize", "wsize", "bsize", "max_read", "blksize",
		"subvolid", "UUID", "PARTUUID", "ID", "uuid", "fsid", "addr", "clientaddr", "mountaddr", "port", "fd", "pgrp",
		"pipe_ino",
	};
	return has_name(key, n, names, sizeof(names) / sizeof(*names));
}

/** Whether a word of a value is a size or a share: "65536k", "1.5GiB", "95%"; or a count, or a
    date.  What stands alone and is short is none: a pass number. */
static bool is_amount(const char *at, size_t n)
{
	static const char *const units[] = {
		"k", "K", "m", "M", "g", "G", "t", "T", "KiB", "MiB", "GiB", "TiB", "kB", "KB", "MB", "GB", "TB", "%", "B", "s", "ms",
	};
	enum { COUNT = 5 };
	size_t k = digits(at, n);
	if (k == 0)
		return false;
	if (k == n)
		return n >= COUNT;
	if (k + 1 < n && at[k] == '.' && is_digit(at[k + 1]))
		k += 1 + digits(at + k + 1, n - k - 1);
	if (has_name(at + k, n - k, units, sizeof(units) / sizeof(*units)))
		return true;
	/* 2026-11-22, and with a time behind. */
	return n >= 10 && digits(at, 4) == 4 && at[4] == '-' && digits(at + 5, 2) == 2 && at[7] == '-' && digits(at + 8, 2) == 2
	       && (n == 10 || at[10] == 'T');
}

/** Whether a word has ended, n bytes of which are left. */
static bool ends(const char *at, size_t n)
{
	return n == 0 || !(is_letter(*at) || is_digit(*at));
}

/** How many bytes of a word a name takes, as LVM may have it in a mapper's name: with two dashes
    for one.  0: it is not there. */
static size_t name_len(const char *at, size_t n, const char *name, size_t len)
{
	size_t k = 0;
	for (size_t i = 0; i < len; ++i, ++k) {
		if (k == n || strncasecmp(at + k, name + i, 1) != 0)
			return 0;
		if (name[i] == '-' && k + 1 < n && at[k + 1] == '-' && (i + 1 == len || name[i + 1] != '-'))
			++k;
	}
	return ends(at + k, n - k) ? k : 0;
}

/** Whether a volume group is named by its host, as installers do: node-vg, rhel_node. */
static bool names_group(const char *at, size_t n, size_t i, size_t len)
{
	static const char *const systems[] = {"rhel", "fedora", "centos", "cl", "almalinux", "rocky", "ol"};
	size_t k = i + len, dashes = strspn(at + k, "-");
	if (i == 0 && (dashes == 1 || dashes == 2) && n - k >= dashes + 2 && memcmp(at + k + dashes, "vg", 2) == 0
	    && ends(at + k + dashes + 2, n - k - dashes - 2))
		return true;
	return i > 1 && at[i - 1] == '_' && has_name(at, i - 1, systems, sizeof(systems) / sizeof(*systems));
}

/** How many bytes the host's own name takes where a word may begin in a word; 0: it is not there. */
static size_t host_len(const struct words *w, const char *at, size_t n, size_t i)
{
	if (!w->host)
		return 0;
	bool whole = w->server || w->kind == COUNTED;   /* "node1.elsewhere:/srv" is another host */
	size_t len = name_len(at + i, n - i, w->host, w->host_len);
	if (len && (w->kind == NAMED || w->short_len < w->host_len || w->kind == COUNTED) && (!whole || (i == 0 && len == n)))
		return len;
	len = name_len(at + i, n - i, w->host, w->short_len);
	if (!len || (whole && (i > 0 || len < n)))
		return 0;
	return w->kind != PLAIN || (!w->server && names_group(at, n, i, len)) ? len : 0;
}

static void put_word(struct words *w, const char *at, size_t n)
{
	struct strbuf *out = w->out;
	size_t k;
	bool number = all_digits(at, n), all = w->parent && is_by(w->parent, w->parent_len);
	for (size_t i = 0; number && !all && i < sizeof(numbered) / sizeof(*numbered); ++i) {
		const char *parent = numbered[i].parent, *grand = numbered[i].grand;
		all = (!parent || (w->parent && is_word(w->parent, w->parent_len, parent)))
		      && (!grand || (w->grand && is_word(w->grand, w->grand_len, grand)));
	}
	all = all || mask_is_disk(at, n) || (number && n >= 5);
	if (w->value && !all)
		all = is_amount(at, n) || (w->key && follows_machine(w->key, w->key_len)) || (number && w->line);
	if (all) {
		strbuf_putc(out, '*');
		return;
	}
	/* What is an identifier in part: cni-UUID, systemd-private-HEX-name-X7dQ2b. */
	size_t end = before_random(at, n);
	bool random = end > 0;
	if (!random)
		end = n;
	for (size_t i = 0; i < end; i += k) {
		bool begins = i == 0 || !(is_letter(at[i - 1]) || is_digit(at[i - 1]));
		k = begins ? uuid_len(at + i, end - i) : 0;
		if (!k && begins)
			k = hex_len(at + i, end - i);
		if (!k && begins)
			k = host_len(w, at, end, i);
		if (k) {
			strbuf_putc(out, '*');
		} else {
			k = 1;
			strbuf_putc(out, at[i]);
		}
	}
	if (random)
		strbuf_putc(out, '*');
}

/** Append a text, word by word. */
static void put_words(struct words *w, const char *text, const char *between)
{
	const char *first = text;
	while (*text) {
		/* What udev makes of an identifier may have all of these in it. */
		bool by = w->parent && is_by(w->parent, w->parent_len);
		size_t n = strcspn(text, by ? "/ \t\n,()" : between);
		/* A device number is two words with a colon. */
		size_t major = digits(text, n), minor = text[n] == ':' ? strspn(text + n + 1, "0123456789") : 0;
		if (w->value && n && major == n && minor && (!text[n + 1 + minor] || strchr(between, text[n + 1 + minor]))) {
			strbuf_puts(w->out, "*:*");
			text += n + 1 + minor;
			continue;
		}
		char c = text[n];
		w->server = (c == ':' && text[n + 1] == '/') || (text - first >= 2 && memcmp(text - 2, "//", 2) == 0);
		if (n)
			put_word(w, text, n);
		w->line = c == ' ' && is_word(text, n, "line");
		if (c == '/') {
			w->grand = n ? w->parent : NULL;
			w->grand_len = w->parent_len;
			w->parent = n ? text : NULL;
			w->parent_len = n;
		} else {
			w->parent = w->grand = NULL;
			w->key = c == '=' && n ? text : NULL;
			w->key_len = n;
		}
		if (c)
			strbuf_putc(w->out, c);
		text += n + (c != '\0');
	}
}

/** Set the name of the host. */
static void set_host(struct words *w, const char *host)
{
	size_t letters = 0, n = 0;
	if (!host || !*host)
		return;
	w->host = host;
	w->host_len = strlen(host);
	for (w->short_len = strcspn(host, "."); n < w->short_len; ++n)
		letters += is_letter(host[n]);
	w->kind = letters == n ? PLAIN : letters ? NAMED : COUNTED;
}

void mask_path(struct strbuf *out, const char *path, const char *host)
{
	struct words w = {.out = out};
	set_host(&w, host);
	put_words(&w, path, "/");
}

void mask_value(struct strbuf *out, const char *value, const char *host)
{
	struct words w = {.out = out, .value = true};
	set_host(&w, host);
	put_words(&w, value, "/ \t\n,=:;()[]\"'@");
}
