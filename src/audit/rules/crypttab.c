/* SPDX-License-Identifier: MIT */
/*
 * The crypttab: name, device, key file, options.
 *
 * The boot needs the mappings of fstab lines that use /dev/mapper/NAME.  For the others
 * cryptsetup.target waits, and the boot goes on.
 *
 * Source: crypttab(5) of systemd and of Debian's cryptsetup.
 */
#include "audit/rules/host_impl.h"

#include "audit/audit_impl.h"
#include "base/map64.h"
#include "base/near.h"
#include "base/words.h"
#include "mountopts/optlist.h"

#include <string.h>

enum { NAME, DEVICE, KEY, OPTIONS, FIELDS };

static const char mapper[] = "/dev/mapper/";

/** The options of systemd and of Debian's cryptsetup, to find misspelled ones. */
static const char known_options[] =
	"allow-discards bitlk cipher crypto_keyfile_offset discard fido2-cid fido2-device "
	"fido2-rp force-password-dialog hash header headless initramfs integrity "
	"integrity-no-journal key-slot keyfile-erase keyfile-offset keyfile-size "
	"keyfile-timeout keyring keyscript keyslot link-volume-key loop loud luks luks1 luks2 "
	"luksonce no-read-workqueue no-write-workqueue noauto noearly nofail offset "
	"password-cache password-echo perf-no_read_workqueue perf-no_write_workqueue "
	"perf-same_cpu_crypt perf-submit_from_crypt_cpus persistent pkcs11-uri plain precheck "
	"quiet read-only readonly same-cpu-crypt sector-size size skip submit-from-crypt-cpus "
	"swap tcrypt tcrypt-hidden tcrypt-keyfile tcrypt-system tcrypt-veracrypt tcrypthidden "
	"tcryptsystem timeout token-timeout tpm2-device tpm2-measure-bank "
	"tpm2-measure-keyslot-nvpcr tpm2-measure-pcr tpm2-pcrlock tpm2-pcrs tpm2-pin "
	"tpm2-signature tries try-empty-password unlock-ecc veracrypt veracrypt-pim "
	"veracrypt-query-pim verify checkargs fixate-volume-key same-cpu-crypt tmp check";

/** A line; the report keeps the strings. */
struct crypt {
	uint32_t number;
	const char *field[FIELDS];   /* NULL: missing */
	bool needed, optional;
	bool again;                  /* an earlier line has its name */
	bool typo;                   /* an option is misspelled */
	bool more;                   /* text follows the options */
};

/** Whether a line has an option, with any value. */
static bool has_option(const struct crypt *crypt, const char *name)
{
	size_t n;
	return crypt->field[OPTIONS] && opt_find(crypt->field[OPTIONS], name, strlen(name), &n);
}

static void add_finding(struct host_rules *rules, const struct crypt *crypt,
                        enum audit_severity severity,
                        const char *message,
                        const char *expected, const char *actual, const char *hint)
{
	rules_add(rules, &(struct audit_finding){
		.code = BOOT_CRYPTTAB, .severity = severity, .boot = crypt->needed
			&& severity == AUDIT_CRITICAL,
		.file = rules->in->crypttab_name, .line = crypt->number,
			.target = crypt->field[NAME] ? crypt->field[NAME] : "",
		.message = message, .expected = expected, .actual = actual, .hint = hint});
}

static uint64_t hash_of(const char *name)
{
	return map64_bytes(MAP64_BYTES, name, strlen(name));
}

/** Note the mappings of the fstab lines that the boot needs. */
static void take_needed(struct host_rules *rules, struct map64 *needed)
{
	for (size_t i = 0; i < rules->in->lines->count; ++i) {
		const struct tabline *line = &rules->in->lines->lines[i];
		const char *source = line->kind == TABLINE_ENTRY
			? tabline_value(line, TABLINE_SOURCE) : NULL;
		const char *options = source ? tabline_value(line, TABLINE_OPTIONS) : NULL;
		const char *fstype = source ? tabline_value(line, TABLINE_FSTYPE) : NULL;
		size_t n;
		if (source && !(fstype && strcmp(fstype, "swap") == 0)
		    && !opt_find(options ? options : "", "x-systemd.automount",
		                 strlen("x-systemd.automount"), &n)
		    && strncmp(source, mapper, sizeof(mapper) - 1) == 0
		    && !(options && (opt_shown_has(options, "noauto")
		                     || opt_shown_has(options, "nofail"))))
			rules->failed |= map64_put(needed, hash_of(source + sizeof(mapper) - 1),
			                           0) == MAP64_NONE;
	}
}

/** Another use of the device of a line: "mounted on /x", "of line 3 of the fstab"; NULL: none. */
static const char *other_use(struct host_rules *rules, const struct fstab_device *device)
{
	const struct fstab_plan *plan = rules->in->plan;
	const struct fstab_world *world = rules->in->world;
	for (size_t i = 0; i < plan->count && world->device; ++i) {
		const struct fstab_line *line = &plan->lines[i];
		struct fstab_device live = {0};
		if (line->mount && line->target
		    && world->device(world->arg, line->mount, &live) == 0
		    && fstab_same_device(&live, device) == 1)
			return rules_format(rules, "mounted on %s", line->target);
	}
	for (size_t i = 0; i < rules->in->lines->count; ++i) {
		const struct tabline *line = &rules->in->lines->lines[i];
		const char *source = line->kind == TABLINE_ENTRY
			? tabline_value(line, TABLINE_SOURCE) : NULL;
		struct fstab_device named = {0};
		if (source && rules_names_device(source)
		    && rules->in->facts->devices(rules->in->facts->arg, source, &named) == 1
		    && fstab_same_device(&named, device) == 1)
			return rules_format(rules, "of line %u of the fstab", line->number);
	}
	return NULL;
}

/** A device that each boot overwrites, for a swap space or /tmp. */
static void judge_overwritten(struct host_rules *rules, const struct crypt *crypt,
                              const char *source, const struct fstab_device *device)
{
	const char *type = device->tags ? device->tags->type : NULL;
	/* With an offset, a small file system may lie before the mapping to give the device a
	   name. */
	bool beside = has_option(crypt, "offset") || has_option(crypt, "skip");
	const char *use = beside || !device->tags ? NULL : other_use(rules, device);
	if (use)
		add_finding(rules, crypt, AUDIT_CRITICAL,
		            "its device is overwritten at each boot, but used for something else",
		            "a device of its own",
		            rules_format(rules, "%s: %s%s%s", source, type ? type : "",
		                         type ? ", " : "",
		                         use), "fix the device before the next boot");
	else if (type && !beside && strcmp(type, "swap") != 0 && strcmp(type, "swsuspend") != 0)
		add_finding(rules, crypt, AUDIT_WARNING,
		            "its device is overwritten at each boot, but holds data",
		            "a swap space, or nothing", type,
		            "fix the device before the next boot; wipefs removes a signature that "
		            "is not "
		            "needed");
	else if (audit_is_unstable(source))
		add_finding(rules, crypt, AUDIT_WARNING,
		            "its device is overwritten at each boot, and its name may change",
		            "a name of /dev/disk/by-partuuid", source,
		            "PARTUUID= of blkid, or a name of /dev/disk/by-partuuid or by-id");
}

/** The device must have LUKS, unless an option names another type. */
static void judge_type(struct host_rules *rules, const struct crypt *crypt,
                       const struct fstab_device *device)
{
	static const char *const other[] = {
		"plain", "tcrypt", "tcryptsystem", "tcrypthidden", "tcrypt-hidden", "tcrypt-system",
		"veracrypt", "tcrypt-veracrypt", "bitlk", "loop", "header", NULL,
	};
	const char *type = device->tags ? device->tags->type : NULL;
	for (const char *const *name = other; *name; ++name) {
		if (has_option(crypt, *name))
			return;
	}
	if (device->tags && device->tags->known == DEVMAP_UNTAGGED)
		add_finding(rules, crypt, crypt->needed ? AUDIT_CRITICAL : AUDIT_WARNING,
		            "its device has no LUKS header", "crypto_LUKS", "nothing that is known",
		            "blkid shows what each device holds; fix the line");
	else if (type && strcmp(type, "crypto_LUKS") != 0 && strcmp(type, "BitLocker") != 0)
		add_finding(rules, crypt, crypt->needed ? AUDIT_CRITICAL : AUDIT_WARNING,
		            "its device has no LUKS header", "crypto_LUKS", type,
		            "blkid shows what each device holds; fix the line");
}

/** A tag without the quotation marks around its value, as systemd reads it. */
static const char *unquoted(struct host_rules *rules, const char *source)
{
	const char *equals = strchr(source, '=');
	size_t n = strlen(source);
	if (!equals || *source == '/' || (equals[1] != '"' && equals[1] != '\'')
	    || source + n < equals + 3 || source[n - 1] != equals[1])
		return source;
	return rules_format(rules, "%.*s=%.*s", (int)(equals - source), source,
	                    (int)(source + n - equals - 3), equals + 2);
}

/** A device that another line has, too: opening it a second time fails. */
static void judge_shared(struct host_rules *rules, const struct crypt *crypt,
                         const struct fstab_device *device, struct map64 *lines)
{
	/* Mappings of parts of a device differ by offset. */
	if (!device->numbered || crypt->again || has_option(crypt, "noauto")
	    || has_option(crypt, "offset")
	    || has_option(crypt, "skip"))
		return;
	uint32_t first = map64_put(lines, (uint64_t)device->major << 32 | device->minor,
	                           crypt->number);
	rules->failed |= first == MAP64_NONE;
	if (first != crypt->number)
		add_finding(rules, crypt, crypt->needed ? AUDIT_CRITICAL : AUDIT_WARNING,
		            "another line has the same device: the second one fails",
		            "a device of its own", rules_format(rules, "%s of line %u",
		                                                crypt->field[DEVICE], first),
		                                                "remove one of them");
}

static void judge_device(struct host_rules *rules, const struct crypt *crypt, struct map64 *lines)
{
	const struct fstab_facts *facts = rules->in->facts;
	const char *source = unquoted(rules, crypt->field[DEVICE]);
	struct fstab_device device = {0};
	int n = -1;
	if (!facts) {
		audit_not_checked(rules->report, BOOT_CRYPTTAB);
		return;
	}
	if (*source == '/' && strncmp(source, "/dev/", 5) != 0)
		n = !facts->look ? -1 : facts->look(facts->arg, source, NULL) == FACT_MISSING ? 0
			: 1;
	else if (facts->devices && rules_names_device(source))
		n = facts->devices(facts->arg, source, &device);
	struct fstab_device open = {0};
	if (n < 0)
		audit_not_checked(rules->report, BOOT_CRYPTTAB);
	else if (n == 0 && crypt->optional && !has_option(crypt, "noauto") && facts->devices
	         && facts->devices(facts->arg,
	                           rules_format(rules, "%s%s", mapper, crypt->field[NAME]),
	                           &open) > 0 && open.crypt)
		add_finding(rules, crypt, AUDIT_WARNING,
		            "its device does not exist, though the mapping is open: the next boot "
		            "cannot "
		            "open it", "the device that is open now", source,
		            rules_format(rules, "name the device of cryptsetup status %s shows",
		                         crypt->field[NAME]));
	else if (n == 0)
		add_finding(rules, crypt, crypt->optional ? AUDIT_INFO : crypt->needed
		            ? AUDIT_CRITICAL
		            : AUDIT_WARNING,
		            crypt->optional ? "its device is not there"
		            : "its device does not exist, and the boot waits for it",
		            "a device", source, crypt->optional
		            ? "name a device of blkid, or remove the line"
		            : "name a device of blkid, or add nofail");
	else if (n > 1)
		add_finding(rules, crypt, AUDIT_WARNING, "more than one device has this identifier",
		            "one device",
		            rules_format(rules, "%d with %s", n, source),
		            "give the copy a new one: cryptsetup luksUUID --uuid");
	else if (has_option(crypt, "swap") || has_option(crypt, "tmp"))
		judge_overwritten(rules, crypt, source, &device);
	else if (!crypt->typo)
		judge_type(rules, crypt, &device);
	if (n == 1)
		judge_shared(rules, crypt, &device, lines);
}

/** Misspelled options. */
static void judge_options(struct host_rules *rules, struct crypt *crypt)
{
	const char *list = crypt->field[OPTIONS];
	size_t n;
	for (const char *o; list && (o = opt_next(&list, &n)) != NULL;) {
		size_t key = opt_name(o, n), m;
		const char *found = NULL;
		unsigned best = key < 7 ? 2 : 3;
		if (key < 4 || key > AUDIT_NAME_MAX || word_in(o, key, known_options) || *o == 'x'
		    || *o == 'X')
			continue;
		audit_nearest(known_options, o, key, &best, &found, &m);
		crypt->typo |= found != NULL;
		if (found)
			add_finding(rules, crypt, crypt->needed ? AUDIT_CRITICAL : AUDIT_WARNING,
			            rules_format(rules, "there is no option %.*s", (int)key, o),
			            rules_format(rules, "%.*s", (int)m, found),
			            rules_format(rules, "%.*s", (int)key, o),
			            rules_format(rules, "is %.*s meant?", (int)m, found));
	}
}

static void judge_key(struct host_rules *rules, const struct crypt *crypt)
{
	const struct fstab_facts *facts = rules->in->facts;
	const char *key = crypt->field[KEY], *at = key;
	size_t n;
	bool options = key && !crypt->field[OPTIONS], scripted = has_option(crypt, "keyscript");
	for (const char *o; options && (o = opt_next(&at, &n)) != NULL;)
		options = word_in(o, opt_name(o, n), known_options);
	if (key && *key != '/' && strcmp(key, "none") != 0 && strcmp(key, "-") != 0
	    && !strchr(key, ':') && !scripted) {
		add_finding(rules, crypt, AUDIT_WARNING,
		            options ? "options in place of the key file are ignored"
		            : "the path of its key file is not absolute: it is ignored, and the "
		              "boot asks "
		              "for a passphrase",
		            "name device key options", key,
		            options ? rules_format(rules, "put none before %s", key)
		            : "write the absolute path, or none");
		return;
	}
	/* With a colon the key is on another device; a key script defines the field itself. */
	if (!key || *key != '/' || strncmp(key, "/dev/", 5) == 0 || strchr(key, ':') || !facts
	    || !facts->look || scripted)
		return;
	enum fact_kind kind = facts->look(facts->arg, key, NULL);
	if (kind == FACT_FILE && facts->open_to_all && facts->open_to_all(facts->arg, key) > 0)
		add_finding(rules, crypt, AUDIT_WARNING, "its key file is readable by all users",
		            "readable by root only", key,
		            rules_format(rules, "chmod 600 %s", key));
	if (kind == FACT_MISSING)
		add_finding(rules, crypt, crypt->optional ? AUDIT_INFO : AUDIT_WARNING,
		            "its key file does not exist: the boot asks for a passphrase",
		            "a file", key, "create the key file, or write none");
}

/** Split a line into fields.  @return whether it has any. */
static bool take_line(struct host_rules *rules, const char *line, size_t n, struct crypt *crypt)
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
		crypt->field[i] = rules_format(rules, "%.*s", (int)(at - field), field);
	}
	at += strspn(at, " \t\r");
	crypt->more = at < end && *at != '#';
	return true;
}

/** Find the line that may have been meant for a mapping without a line: a line in a comment, or
    one with a similar name whose own mapping does not exist.  A mapping without such a line
    belongs to the initial RAM disk or LVM.
    @wanted Its name, of at most NEAR_BYTES.
    @comment [out] The line is a comment.
    @return whether there is one. */
static bool find_unmade(struct host_rules *rules, const char *wanted, struct crypt *found,
                        bool *comment)
{
	const struct fstab_facts *facts = rules->in->facts;
	size_t n, len = strlen(wanted);
	uint32_t number = 0;
	for (const char *at = rules->in->crypttab; *at
	     && !rules->failed; at += n + (at[n] == '\n')) {
		n = strcspn(at, "\n");
		const char *name = at + strspn(at, "# \t"), *end = at + n;
		size_t m = name < end ? strcspn(name, " \t\r\n") : 0;
		++number;
		if (m == 0 || m > len + 2 || len > m + 2)
			continue;
		*comment = memchr(at, '#', (size_t)(name - at));
		unsigned d = near_distance(name, m, wanted, len, false);
		*found = (struct crypt){.number = number};
		if (d > (*comment ? 0 : len < 7 ? 1 : 2)
		    || !take_line(rules, name, (size_t)(end - name), found) || !found->field[DEVICE]
		    || !(*found->field[DEVICE] == '/' || rules_names_device(found->field[DEVICE])))
			continue;
		if (*comment || facts->devices(facts->arg,
		                               rules_format(rules, "%s%s", mapper,
		                                            found->field[NAME]), NULL) == 0)
			return true;
	}
	return false;
}

/** Whether the initial RAM disk may open mappings without a line here: by the kernel command
    line, by its own crypttab, or on NixOS. */
static bool is_made_early(const struct host_rules *rules)
{
	static const char *const signs[] = {"/etc/crypttab.initramfs", "/etc/NIXOS"};
	const struct fstab_facts *facts = rules->in->facts;
	const char *cmdline = rules->in->cmdline;
	bool early = !cmdline || strstr(cmdline, "luks") || strstr(cmdline, "crypt")
		|| !facts->look;
	for (size_t i = 0; !early && i < sizeof(signs) / sizeof(*signs); ++i)
		early = facts->look(facts->arg, signs[i], NULL) != FACT_MISSING;
	return early;
}

/** Find mappings of fstab lines that exist now, but will not at the next boot. */
static void judge_wanted(struct host_rules *rules, const struct map64 *names)
{
	enum { WANTED_MAX = 64 };
	const struct fstab_facts *facts = rules->in->facts;
	unsigned count = 0;
	for (size_t i = 0; facts && facts->devices && i < rules->in->lines->count
	     && count < WANTED_MAX; ++i) {
		const struct tabline *line = &rules->in->lines->lines[i];
		const char *source = line->kind == TABLINE_ENTRY
			? tabline_value(line, TABLINE_SOURCE) : NULL;
		const char *target = source ? tabline_value(line, TABLINE_TARGET) : NULL;
		const char *options = source ? tabline_value(line, TABLINE_OPTIONS) : NULL;
		const char *fstype = source ? tabline_value(line, TABLINE_FSTYPE) : NULL;
		if (!source || strncmp(source, mapper, sizeof(mapper) - 1) != 0
		    || (options && opt_shown_has(options, "noauto"))
		    || (target && strcmp(target, "/") == 0))
			continue;
		const char *name = source + sizeof(mapper) - 1;
		if (!*name || strlen(name) > NEAR_BYTES
		    || map64_get(names, hash_of(name)) != MAP64_NONE
		    || (rules->in->cmdline && strstr(rules->in->cmdline, name)))
			continue;
		++count;
		struct crypt crypt = {0};
		struct fstab_device device = {0};
		bool comment = false, swap = fstype && strcmp(fstype, "swap") == 0, nofail = options
			&& opt_shown_has(options, "nofail");
		/* The rules for the fstab report devices that do not exist now. */
		int there = facts->devices(facts->arg, source, &device);
		bool unmade = there != 0 && find_unmade(rules, name, &crypt, &comment);
		if (there == 0 || (!unmade && !(there > 0 && device.crypt
		                                && !is_made_early(rules))))
			continue;
		if (!unmade)
			crypt = (struct crypt){0};
		const char *is = unmade ? crypt.field[NAME] : NULL;
		crypt.field[NAME] = name;
		crypt.needed = !swap && !nofail;
		/* The initial RAM disk may open it. */
		bool sure = unmade && there > 0 && device.crypt;
		add_finding(rules, &crypt, nofail ? (sure ? AUDIT_WARNING : AUDIT_INFO) : swap
		            || !unmade ? AUDIT_WARNING : AUDIT_CRITICAL,
		            rules_format(rules, "line %u of the fstab needs %s, which no line sets "
		                                "up at "
		                                "the next boot", line->number, source), name,
		            comment ? "a comment" : is,
		            !unmade ? "add a line, unless something else opens it" : comment
		            ? "remove the #, or the line of the fstab"
		            : "use the same name in both");
	}
}

void rules_crypttab(struct host_rules *rules)
{
	const char *text = rules->in->crypttab;
	struct map64 names, needed, devices;
	uint32_t number = 0;
	if (rules->in->crypttab_unknown)
		audit_not_checked(rules->report, BOOT_CRYPTTAB);
	map64_init(&names);
	map64_init(&needed);
	map64_init(&devices);
	if (text)
		take_needed(rules, &needed);
	for (const char *at = text; at && *at && !rules->failed;) {
		size_t n = strcspn(at, "\n");
		struct crypt crypt = {.number = ++number};
		const char *line = at;
		at += n + (at[n] == '\n');
		if (!take_line(rules, line, n, &crypt))
			continue;
		const char *name = crypt.field[NAME];
		crypt.needed = map64_get(&needed, hash_of(name)) != MAP64_NONE;
		crypt.optional = has_option(&crypt, "nofail") || has_option(&crypt, "noauto");
		uint32_t first = map64_put(&names, hash_of(name), number);
		rules->failed |= first == MAP64_NONE;
		crypt.again = first != number;
		if (crypt.again)
			add_finding(rules, &crypt, AUDIT_WARNING, "two lines have this name",
			            "one line",
			            rules_format(rules, "line %u as well", first),
			            "remove one, or rename it");
		judge_options(rules, &crypt);
		if (crypt.field[DEVICE])
			judge_device(rules, &crypt, &devices);
		else
			add_finding(rules, &crypt, AUDIT_WARNING, "the line has no device",
			            "name device key options", name,
			            "give the device, as UUID=...");
		judge_key(rules, &crypt);
		if (crypt.more)
			add_finding(rules, &crypt, AUDIT_WARNING,
			            "text after a blank in the options is ignored",
			            "name device key options",
			            crypt.field[OPTIONS],
			            "separate options by commas without blanks");
	}
	if (text && !rules->failed)
		judge_wanted(rules, &names);
	map64_destroy(&names);
	map64_destroy(&needed);
	map64_destroy(&devices);
}
