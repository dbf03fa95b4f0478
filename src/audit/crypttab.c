/* SPDX-License-Identifier: MIT */
/*
 * The crypttab: name, device, key file, options.
 *
 * What a boot cannot do without is known by the fstab: a line that needs
 * /dev/mapper/NAME.  Of the rest cryptsetup.target waits, and goes on.
 *
 * Source: crypttab(5) of systemd and of Debian's cryptsetup.
 */
#include "audit/host_impl.h"

#include "base/map64.h"
#include "fstab/fstab_impl.h"

#include <string.h>

enum { NAME, DEVICE, KEY, OPTIONS, FIELDS };

/** A line; strings stay the arena's. */
struct crypt {
	uint32_t number;
	const char *field[FIELDS];   /* NULL: it has no such */
	bool needed, optional;
	bool more;                   /* something stands behind the options */
};

static bool says(const struct crypt *crypt, const char *name)
{
	return crypt->field[OPTIONS] && fstab_has_option(crypt->field[OPTIONS], name);
}

static void tell(struct host *host, const struct crypt *crypt, enum audit_severity severity, const char *message,
                 const char *expected, const char *actual, const char *hint)
{
	host_tell(host, &(struct audit_finding){
		.code = BOOT_CRYPTTAB, .severity = severity, .boot = crypt->needed && severity == AUDIT_CRITICAL,
		.file = host->in->crypttab_name, .line = crypt->number, .target = crypt->field[NAME] ? crypt->field[NAME] : "",
		.message = message, .expected = expected, .actual = actual, .hint = hint});
}

static uint64_t hash_of(const char *name)
{
	return map64_bytes(MAP64_BYTES, name, strlen(name));
}

/** Take the mappings that lines of the fstab stand on without which there is no boot. */
static void take_needed(struct host *host, struct map64 *needed)
{
	static const char mapper[] = "/dev/mapper/";
	for (size_t i = 0; i < host->in->lines->count; ++i) {
		const struct tabline *line = &host->in->lines->lines[i];
		const char *source = line->kind == TABLINE_ENTRY ? tabline_value(line, TABLINE_SOURCE) : NULL;
		const char *options = source ? tabline_value(line, TABLINE_OPTIONS) : NULL;
		const char *fstype = source ? tabline_value(line, TABLINE_FSTYPE) : NULL;
		size_t n;
		if (source && !(fstype && strcmp(fstype, "swap") == 0)
		    && !fstab_kept_find(options ? options : "", "x-systemd.automount", strlen("x-systemd.automount"), &n)
		    && strncmp(source, mapper, sizeof(mapper) - 1) == 0
		    && !(options && (fstab_has_option(options, "noauto") || fstab_has_option(options, "nofail"))))
			host->failed |= map64_put(needed, hash_of(source + sizeof(mapper) - 1), 0) == MAP64_NONE;
	}
}

/** A device of LUKS, as it should be unless the line says otherwise. */
static void judge_type(struct host *host, const struct crypt *crypt, const struct fstab_device *device)
{
	static const char *const other[] = {
		"plain", "swap", "tmp", "tcrypt", "tcryptsystem", "tcrypthidden", "tcrypt-hidden", "tcrypt-system",
		"veracrypt", "tcrypt-veracrypt", "bitlk", "loop", "header", NULL,
	};
	const char *type = device->tags ? device->tags->type : NULL;
	for (const char *const *name = other; *name; ++name) {
		if (says(crypt, *name))
			return;
	}
	if (type && strcmp(type, "crypto_LUKS") != 0 && strcmp(type, "BitLocker") != 0)
		tell(host, crypt, crypt->needed ? AUDIT_CRITICAL : AUDIT_WARNING, "its device holds no LUKS", "crypto_LUKS", type,
		     "see which device is meant; blkid shows what they hold");
}

/** A tag without the quotation marks around its value, which systemd takes off. */
static const char *unquoted(struct host *host, const char *source)
{
	const char *equals = strchr(source, '=');
	size_t n = strlen(source);
	if (!equals || *source == '/' || (equals[1] != '"' && equals[1] != '\'') || source + n < equals + 3 || source[n - 1] != equals[1])
		return source;
	return host_form(host, "%.*s=%.*s", (int)(equals - source), source, (int)(source + n - equals - 3), equals + 2);
}

static void judge_device(struct host *host, const struct crypt *crypt)
{
	const struct fstab_facts *facts = host->in->facts;
	const char *source = unquoted(host, crypt->field[DEVICE]);
	struct fstab_device device = {0};
	int n = -1;
	if (!facts) {
		host_unjudged(host, BOOT_CRYPTTAB);
		return;
	}
	if (*source == '/' && strncmp(source, "/dev/", 5) != 0)
		n = !facts->look ? -1 : facts->look(facts->arg, source, NULL) == FACT_MISSING ? 0 : 1;
	else if (facts->devices && host_names_device(source))
		n = facts->devices(facts->arg, source, &device);
	if (n < 0)
		host_unjudged(host, BOOT_CRYPTTAB);
	else if (n == 0)
		tell(host, crypt, crypt->optional ? AUDIT_INFO : crypt->needed ? AUDIT_CRITICAL : AUDIT_WARNING,
		     crypt->optional ? "its device is not there" : "its device is not there, and a boot waits for it",
		     "a device", source, crypt->optional ? "put in what blkid shows, or take the line away" : "put in what blkid shows, or give it nofail");
	else if (n > 1)
		tell(host, crypt, AUDIT_WARNING, "more than one device has this identifier", "one device",
		     host_form(host, "%d with %s", n, source), "cryptsetup luksUUID --uuid gives a copy one of its own");
	else
		judge_type(host, crypt, &device);
}

static void judge_key(struct host *host, const struct crypt *crypt)
{
	const struct fstab_facts *facts = host->in->facts;
	const char *key = crypt->field[KEY];
	/* With a colon it is on another device; a script takes what it likes. */
	if (!key || *key != '/' || strncmp(key, "/dev/", 5) == 0 || strchr(key, ':') || !facts || !facts->look
	    || (crypt->field[OPTIONS] && strstr(crypt->field[OPTIONS], "keyscript=")))
		return;
	if (facts->look(facts->arg, key, NULL) == FACT_MISSING)
		tell(host, crypt, crypt->optional ? AUDIT_INFO : AUDIT_WARNING, "its key file is not there: somebody is asked for a passphrase",
		     "a file", key, "put the key there, or none in its place");
}

/** Take a line apart.  @return whether it is one. */
static bool take_line(struct host *host, const char *line, size_t n, struct crypt *crypt)
{
	const char *at = line, *end = line + n;
	for (unsigned i = 0; i < FIELDS; ++i) {
		while (at < end && (*at == ' ' || *at == '\t' || *at == '\r'))
			++at;
		const char *field = at;
		while (at < end && *at != ' ' && *at != '\t' && *at != '\r')
			++at;
		if (field == at || (i == 0 && *field == '#'))
			return i > 0;
		crypt->field[i] = host_form(host, "%.*s", (int)(at - field), field);
	}
	at += strspn(at, " \t\r");
	crypt->more = at < end && *at != '#';
	return true;
}

void host_crypttab(struct host *host)
{
	const char *text = host->in->crypttab;
	struct map64 names, needed;
	uint32_t number = 0;
	if (host->in->crypttab_unknown)
		host_unjudged(host, BOOT_CRYPTTAB);
	map64_init(&names);
	map64_init(&needed);
	if (text)
		take_needed(host, &needed);
	for (const char *at = text; at && *at && !host->failed;) {
		size_t n = strcspn(at, "\n");
		struct crypt crypt = {.number = ++number};
		const char *line = at;
		at += n + (at[n] == '\n');
		if (!take_line(host, line, n, &crypt))
			continue;
		const char *name = crypt.field[NAME];
		crypt.needed = map64_get(&needed, hash_of(name)) != MAP64_NONE;
		crypt.optional = says(&crypt, "nofail") || says(&crypt, "noauto");
		uint32_t first = map64_put(&names, hash_of(name), number);
		host->failed |= first == MAP64_NONE;
		if (first != number)
			tell(host, &crypt, AUDIT_WARNING, "two lines have this name", "one line", host_form(host, "line %u as well", first),
			     "take one away, or give it another name");
		if (crypt.field[DEVICE])
			judge_device(host, &crypt);
		else
			tell(host, &crypt, AUDIT_WARNING, "the line has no device", "name device key options", name, "give the device, as UUID=...");
		judge_key(host, &crypt);
		if (crypt.more)
			tell(host, &crypt, AUDIT_WARNING, "what stands behind a blank in the options is passed over", "name device key options",
			     crypt.field[OPTIONS], "options are parted by commas without blanks");
	}
	map64_destroy(&names);
	map64_destroy(&needed);
}
