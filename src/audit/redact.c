/* SPDX-License-Identifier: MIT */
/*
 * Each place of a text is looked at once: a key or directory that tells what follows, then
 * forms that tell by themselves (UUID, address, long hex), then names that are known.  What
 * is put in their place is not looked at again.
 *
 * A stand-in has the form of what it stands for, where that matters: its length, and its
 * dashes.
 */
#include "audit/redact.h"

#include "base/words.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { NAME_BYTES = 255, HEX_LONG = 16, UUID_DIGITS = 32 };

/** Words that are of every system: as names of hosts, servers or users they stay. */
static const char common[] =
	"root boot home srv var usr tmp opt mnt media run dev proc sys etc swap local shared share shares data backup "
	"backups user users group default defaults auto none bind rbind nofail ro rw exec noexec suid nosuid nodev "
	"nfs nfs4 cifs smb ext2 ext3 ext4 xfs btrfs vfat tmpfs overlay squashfs zfs fuse sshfs ceph iso9660 proc "
	"sysfs devtmpfs devpts cgroup cgroup2 disk disks by mapper loop md dm system systemd generator unit mount "
	"automount target service device fsck localhost server host tcp o2ib lib lib64 bin sbin pts shm docker "
	"kubelet pods volumes snap cache log logs spool mail www html mysql postgres lost found storage export exports "
	"public nobody daemon file files image images block class devices virtual pci kernel self net modules noauto";

void redact_init(struct redact *r)
{
	*r = (struct redact){0};
	arena_init(&r->arena);
	map64_init(&r->by_value);
}

void redact_destroy(struct redact *r)
{
	arena_destroy(&r->arena);
	map64_destroy(&r->by_value);
	free(r->entries);
}

/* Stand-ins. */

/**
 * A value in the form of another: digits of a number in the places of its letters and
 * digits; first a letter, so that what is in capitals can be told.
 */
static void shape(char *to, const char *of, size_t n, unsigned number)
{
	static const char digits[] = "0123456789abcdef";
	size_t places = 0, first = 0;
	for (size_t i = n; i > 0; --i) {
		to[i - 1] = of[i - 1];
		if (!isalnum((unsigned char)of[i - 1]))
			continue;
		to[i - 1] = digits[number % 16];
		number /= 16;
		first = i - 1;
		++places;
	}
	if (places >= 8)
		to[first] = 'a';
	to[n] = '\0';
}

static void make(enum redact_kind kind, const char *value, size_t n, unsigned number, char *to, size_t size)
{
	switch (kind) {
	case REDACT_HOST:
		snprintf(to, size, "host%u", number);
		break;
	case REDACT_SERVER:
		snprintf(to, size, "server%u", number);
		break;
	case REDACT_USER:
		snprintf(to, size, "user%u", number);
		break;
	case REDACT_LABEL:
		snprintf(to, size, "label%u", number);
		break;
	case REDACT_ADDRESS:   /* those of documentation: RFC 5737, RFC 3849 */
		if (memchr(value, ':', n))
			snprintf(to, size, "2001:db8::%x", number);
		else if (number < 256)
			snprintf(to, size, "192.0.2.%u", number);
		else   /* RFC 2544 */
			snprintf(to, size, "198.18.%u.%u", number / 256 % 256, number % 256);
		break;
	case REDACT_ID:
	case REDACT_KINDS:
		shape(to, value, n, number);
		break;
	}
}

static uint64_t hash_of(enum redact_kind kind, const char *value, size_t n)
{
	char head = (char)kind;
	return map64_bytes(map64_bytes(MAP64_BYTES, &head, 1), value, n);
}

/** The stand-in of a value, made if need be. */
static const char *stand_in(struct redact *r, enum redact_kind kind, const char *value, size_t n)
{
	char key[NAME_BYTES + 1], text[NAME_BYTES + 32];
	if (n > NAME_BYTES)
		n = NAME_BYTES;
	for (size_t i = 0; i < n; ++i)
		key[i] = kind == REDACT_ID ? (char)tolower((unsigned char)value[i]) : value[i];
	key[n] = '\0';
	uint32_t at = map64_get(&r->by_value, hash_of(kind, key, n));
	if (at != MAP64_NONE && kind != REDACT_ID)
		return r->entries[at].stand_in;
	if (at == MAP64_NONE && r->count == r->room) {
		size_t room = r->room ? 2 * r->room : 64;
		struct redact_entry *more = reallocarray(r->entries, room, sizeof(*more));
		if (!more)
			goto nomem;
		r->entries = more;
		r->room = room;
	}
	if (at == MAP64_NONE) {
		make(kind, key, n, ++r->of[kind], text, sizeof(text));
		struct redact_entry entry = {arena_strndup(&r->arena, key, n), arena_strndup(&r->arena, text, strlen(text))};
		if (!entry.value || !entry.stand_in || map64_put(&r->by_value, hash_of(kind, key, n), (uint32_t)r->count) == MAP64_NONE)
			goto nomem;
		r->entries[r->count] = entry;
		at = (uint32_t)r->count++;
	}
	/* As it is written here: in capitals, or not. */
	if (kind == REDACT_ID && memcmp(key, value, n) != 0) {
		memcpy(text, r->entries[at].stand_in, n + 1);
		for (size_t i = 0; i < n; ++i)
			text[i] = (char)toupper((unsigned char)text[i]);
		const char *capitals = arena_strndup(&r->arena, text, n);
		if (!capitals)
			goto nomem;
		return capitals;
	}
	return r->entries[at].stand_in;
nomem:
	r->failed = true;
	return "";
}

const char *redact_label(struct redact *r, const char *label)
{
	return stand_in(r, REDACT_LABEL, label, strlen(label));
}

/* Names. */

static bool is_of_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/** Whether a word is a name wherever it stands: no number, and no word of every system. */
static bool is_name(const char *name, size_t n)
{
	bool letters = false;
	for (size_t i = 0; i < n; ++i)
		letters |= isalpha((unsigned char)name[i]) != 0;
	return n > 1 && n <= NAME_BYTES && letters && !word_in(name, n, common);
}

void redact_name(struct redact *r, enum redact_kind kind, const char *name, size_t n)
{
	if (!is_name(name, n))
		return;
	/* One name is of one kind: the first that it was told as. */
	for (int other = REDACT_HOST; other <= REDACT_USER; ++other) {
		if (map64_get(&r->by_value, hash_of((enum redact_kind)other, name, n)) != MAP64_NONE)
			return;
	}
	stand_in(r, kind, name, n);
}

/** A host as it stands in a source, with what is before '@' and behind ':'. */
static void learn_host(struct redact *r, const char *at, size_t n)
{
	const char *sign = memrchr(at, '@', n);
	if (sign) {
		size_t user = (size_t)(sign - at), colon = user;
		const char *end = memchr(at, ':', user);
		colon = end ? (size_t)(end - at) : user;
		redact_name(r, REDACT_USER, at, colon);
		n -= user + 1;
		at = sign + 1;
	}
	const char *port = memchr(at, ':', n);
	if (*at != '[')
		redact_name(r, REDACT_SERVER, at, port ? (size_t)(port - at) : n);
}

/** A word of a table, which may be a source. */
static void learn_source(struct redact *r, const char *word, size_t n)
{
	const char *equals = memchr(word, '=', n);
	if (equals && *word != '/' && (size_t)(equals - word) < 16) {
		n -= (size_t)(equals + 1 - word);
		word = equals + 1;
	}
	if (n > 2 && word[0] == '/' && word[1] == '/') {
		const char *slash = memchr(word + 2, '/', n - 2);
		if (slash && slash > word + 2)
			learn_host(r, word + 2, (size_t)(slash - word - 2));
		return;
	}
	const char *colon = n > 2 && *word != '/' ? memmem(word, n, ":/", 2) : NULL;
	if (!colon)
		return;
	/* "//server" behind a scheme; else several, with commas between. */
	if (colon + 2 < word + n && colon[2] == '/') {
		const char *slash = memchr(colon + 3, '/', (size_t)(word + n - colon - 3));
		learn_host(r, colon + 3, (size_t)((slash ? slash : word + n) - colon - 3));
		return;
	}
	for (const char *at = word; at < colon;) {
		size_t m = strcspn(at, ",");
		if (at + m > colon)
			m = (size_t)(colon - at);
		learn_host(r, at, m);
		at += m + 1;
	}
}

/** The longest name at the beginning of a text.  @return its length, or 0. */
static size_t known_name(struct redact *r, const char *at, const char **found)
{
	size_t n = 0;
	while (n < NAME_BYTES && (is_of_word(at[n]) || at[n] == '.' || at[n] == '-' || at[n] == '+'))
		++n;
	for (; n > 1; --n) {
		if ((is_of_word(at[n]) && is_of_word(at[n - 1])) || !is_name(at, n))
			continue;
		for (int kind = REDACT_HOST; kind <= REDACT_USER; ++kind) {
			uint32_t i = map64_get(&r->by_value, hash_of((enum redact_kind)kind, at, n));
			if (i != MAP64_NONE && strncmp(r->entries[i].value, at, n) == 0) {
				*found = r->entries[i].stand_in;
				return n;
			}
		}
	}
	return 0;
}

/* Forms. */

/** A UUID; in names of units its dashes are \x2d.  @return the length, or 0; without them. */
static size_t uuid_at(const char *at, char plain[UUID_DIGITS + 5], bool *escaped)
{
	static const size_t parts[] = {8, 4, 4, 4, 12};
	const char *start = at;
	size_t out = 0;
	*escaped = false;
	for (size_t i = 0; i < 5; ++i) {
		if (i > 0 && strncmp(at, "\\x2d", 4) == 0) {
			*escaped = true;
			at += 4;
		} else if (i > 0 && *at++ != '-') {
			return 0;
		}
		if (i > 0)
			plain[out++] = '-';
		for (size_t k = 0; k < parts[i]; ++k) {
			if (!isxdigit((unsigned char)*at))
				return 0;
			plain[out++] = *at++;
		}
	}
	plain[out] = '\0';
	return isxdigit((unsigned char)*at) ? 0 : (size_t)(at - start);
}

/** An IPv4 address.  @return its length, or 0. */
static size_t ipv4_at(const char *at)
{
	const char *start = at;
	for (int i = 0; i < 4; ++i) {
		size_t n = strspn(at, "0123456789");
		if (n == 0 || n > 3 || atoi(at) > 255 || (i < 3 && at[n] != '.'))
			return 0;
		at += n + (i < 3);
	}
	return *at == '.' && isdigit((unsigned char)at[1]) ? 0 : (size_t)(at - start);
}

/** Whether an address is that of every host. */
static bool is_own(const char *at)
{
	return strncmp(at, "127.", 4) == 0 || strncmp(at, "0.0.0.0", 7) == 0;
}

static size_t colons_of(const char *at, size_t n)
{
	size_t colons = 0;
	for (size_t i = 0; i < n; ++i)
		colons += at[i] == ':';
	return colons;
}

/** An IPv6 address: hex, at least two colons.  @return its length, or 0. */
static size_t ipv6_at(const char *at)
{
	size_t n = strspn(at, "0123456789abcdefABCDEF:"), colons = colons_of(at, n);
	while (n > 0 && at[n - 1] == ':')
		--n;
	bool is = colons > 1 && colons < 8 && n > 3 && n < 40 && (strchr(at, ':') < at + 5);
	return is && !is_of_word(at[n]) ? n : 0;
}

/** A key whose value is replaced, or a directory whose names are. */
struct context {
	const char *key;
	enum redact_kind kind;
	bool unit;               /* in the name of a unit */
};

static const struct context contexts[] = {
	{"UUID=", REDACT_ID, false}, {"UUID_ENC=", REDACT_ID, false}, {"by-uuid/", REDACT_ID, false},
	{"by-partuuid/", REDACT_ID, false}, {"LABEL=", REDACT_LABEL, false}, {"LABEL_ENC=", REDACT_LABEL, false},
	{"ENTRY_NAME=", REDACT_LABEL, false}, {"by-label/", REDACT_LABEL, false}, {"by-partlabel/", REDACT_LABEL, false},
	{"by-id/", REDACT_ID, false}, {"by-diskseq/", REDACT_ID, false},
	{"by\\x2duuid-", REDACT_ID, true}, {"by\\x2dpartuuid-", REDACT_ID, true}, {"by\\x2dlabel-", REDACT_LABEL, true},
	{"by\\x2dpartlabel-", REDACT_LABEL, true}, {"by\\x2did-", REDACT_ID, true},
	{"username=", REDACT_USER, false}, {"user=", REDACT_USER, false}, {"domain=", REDACT_USER, false},
	{"workgroup=", REDACT_USER, false}, {"addr=", REDACT_SERVER, false},
};

/** Decode \ooo and \xhh. */
static size_t decode(char to[NAME_BYTES + 1], const char *at, size_t n)
{
	size_t out = 0;
	for (size_t i = 0; i < n && out < NAME_BYTES; ++out) {
		unsigned value;
		int used = 0;
		if (at[i] == '\\' && i + 4 <= n && at[i + 1] == 'x' && sscanf(at + i + 2, "%2x%n", &value, &used) == 1 && used == 2) {
			to[out] = (char)value;
			i += 4;
		} else if (at[i] == '\\' && i + 4 <= n && sscanf(at + i + 1, "%3o%n", &value, &used) == 1 && used == 3) {
			to[out] = (char)value;
			i += 4;
		} else {
			to[out] = at[i++];
		}
	}
	to[out] = '\0';
	return out;
}

/** What stands behind a key.  @return how much was taken, or 0. */
static size_t put_context(struct redact *r, const char *at, struct strbuf *out)
{
	for (size_t i = 0; i < sizeof(contexts) / sizeof(*contexts); ++i) {
		const struct context *context = &contexts[i];
		size_t head = strlen(context->key);
		if (strncmp(at, context->key, head) != 0)
			continue;
		const char *value = at + head;
		char quote = *value == '"' || *value == '\'' ? *value : '\0', plain[NAME_BYTES + 1];
		const char stop[] = {quote, '\n', '\0'};
		/* One that is not closed in its line is none. */
		if (quote && value[1 + strcspn(value + 1, stop)] != quote)
			quote = '\0';
		value += quote || *value == '"' || *value == '\'';
		size_t n = quote ? strcspn(value, stop) : strcspn(value, " \t\n,\"'/");
		/* A secret behind the user's name is masked, and still to be seen. */
		if (context->kind == REDACT_USER && n > 0 && !quote)
			n = strcspn(value, " \t\n,\"'/%:");
		if (context->unit) {
			const char *dot = memrchr(value, '.', n);
			n = dot ? (size_t)(dot - value) : n;
		}
		size_t part = 0;   /* "-part1" of a disk's name stays */
		const char *tail = context->kind == REDACT_ID && n > 6 ? memmem(value, n, "-part", 5) : NULL;
		if (tail)
			part = n - (size_t)(tail - value);
		size_t len = decode(plain, value, n - part);
		strbuf_add(out, at, (size_t)(value - at));
		bool word = context->kind == REDACT_USER || context->kind == REDACT_SERVER;
		if (len == 0 || strncmp(plain, "***", 3) == 0 || (context->kind == REDACT_SERVER && is_own(plain))
		    || (word && word_in(plain, len, common))) {
			strbuf_add(out, value, n);
		} else {
			const char *found = NULL;
			if (word && known_name(r, plain, &found) != len)
				found = NULL;
			if (!found && context->kind == REDACT_SERVER)
				found = stand_in(r, ipv4_at(plain) == len || ipv6_at(plain) == len ? REDACT_ADDRESS : REDACT_SERVER, plain, len);
			if (!found)
				found = stand_in(r, context->kind, plain, len);
			for (; *found; ++found) {
				if (context->unit && *found == '-')
					strbuf_puts(out, "\\x2d");
				else if (*found == '\n' || (!quote && (*found == ' ' || *found == '\t')))
					strbuf_printf(out, context->unit ? "\\x%02x" : "\\%03o", (unsigned)*found);   /* as it was */
				else
					strbuf_putc(out, *found);
			}
			strbuf_add(out, value + n - part, part);
		}
		return (size_t)(value - at) + n;
	}
	return 0;
}

void redact_learn(struct redact *r, const char *text)
{
	static const char *const homes[] = {"/home/", "/media/", "/Users/"};
	for (const char *at = text; *at;) {
		size_t n = strcspn(at, " \t\n");
		learn_source(r, at, n);
		at += n;
		at += strspn(at, " \t\n");
	}
	for (size_t i = 0; i < sizeof(homes) / sizeof(*homes); ++i) {
		for (const char *at = text; (at = strstr(at, homes[i])) != NULL;) {
			at += strlen(homes[i]);
			redact_name(r, REDACT_USER, at, strcspn(at, "/ \t\n,\"'\\:="));
		}
	}
	/* A name in an option stands before it as well, and in other texts. */
	struct strbuf out;
	strbuf_init(&out);
	for (const char *at = text; *at; ++at) {
		strbuf_reset(&out);
		put_context(r, at, &out);
	}
	r->failed |= out.failed;
	strbuf_destroy(&out);
}

/** What is replaced for its form or for being a known name.  @return how much, or 0. */
static size_t put_form(struct redact *r, const char *at, struct strbuf *out)
{
	char plain[UUID_DIGITS + 5];
	bool escaped;
	size_t n = uuid_at(at, plain, &escaped);
	if (n) {
		for (const char *c = stand_in(r, REDACT_ID, plain, strlen(plain)); *c; ++c)
			strbuf_puts(out, *c == '-' && escaped ? "\\x2d" : (char[]){*c, '\0'});
		return n;
	}
	n = ipv4_at(at);
	if (n && !is_own(at)) {
		strbuf_puts(out, stand_in(r, REDACT_ADDRESS, at, n));
		return n;
	}
	n = ipv6_at(at);
	if (n && (memmem(at, n, "::", 2) || colons_of(at, n) == 7)) {
		strbuf_puts(out, stand_in(r, REDACT_ADDRESS, at, n));
		return n;
	}
	n = strspn(at, "0123456789abcdefABCDEF");
	size_t digits = strcspn(at, "0123456789");
	if (n >= HEX_LONG && !is_of_word(at[n]) && digits < n) {
		strbuf_puts(out, stand_in(r, REDACT_ID, at, n));
		return n;
	}
	const char *found;
	n = known_name(r, at, &found);
	if (n)
		strbuf_puts(out, found);
	return n;
}

void redact_text(struct redact *r, const char *text, struct strbuf *out)
{
	for (const char *at = text; *at;) {
		size_t n = put_context(r, at, out);
		/* "\x2d" is a dash: what follows begins a word. */
		bool begins = at == text || !is_of_word(at[-1])
		              || (at - text >= 4 && strncmp(at - 4, "\\x2d", 4) == 0);
		if (n == 0 && begins)
			n = put_form(r, at, out);
		if (n == 0) {
			strbuf_putc(out, *at);
			n = 1;
		}
		at += n;
	}
	r->failed |= out->failed;
}
