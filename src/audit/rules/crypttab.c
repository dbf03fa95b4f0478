/* SPDX-License-Identifier: MIT */
/*
 * Check the lines of the crypttab, with the fields name, device, key file and options.
 *
 * Boot needs the mappings of fstab lines that use /dev/mapper/NAME.  If another mapping fails, only
 * cryptsetup.target fails, and boot continues.
 *
 * Source: crypttab(5) of systemd and of Debian's cryptsetup.
 */
#include "audit/audit_impl.h"

#include "base/map64.h"
#include "base/words.h"
#include "mountopts/options.h"

#include <string.h>

enum { NAME, DEVICE, KEY, OPTIONS };

static const char mapper[] = "/dev/mapper/";

/** The options of systemd and of Debian's cryptsetup, for finding misspelled options. */
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

struct crypttab {
	const struct audit_live *in;
	struct audit_report *report;
	struct map64 needed;     /* names of mappings in fstab lines that boot needs */
	struct map64 names;      /* name of a mapping -> number of its first line */
	struct map64 devices;    /* device number -> number of the first line with this device */
};

/** A line of the crypttab; the strings have the lifetime of the report. */
struct crypt {
	const char *field[HOST_CRYPT_FIELDS];   /* NULL: missing */
	struct opt *opts;            /* the options in the field OPTIONS */
	uint32_t nopts;
	struct audit_finding at;     /* members of a finding that name the line */
	unsigned level;              /* severity if the mapping cannot be set up */
	bool optional;               /* noauto or nofail */
	bool again;                  /* an earlier line has the same name */
	bool typo;                   /* an option is misspelled */
	bool more;                   /* text follows the field OPTIONS */
};

/** Whether a line has an option, with any value. */
static bool has_option(const struct crypt *crypt, const char *name)
{
	for (uint32_t i = 0; i < crypt->nopts; ++i) {
		if (strcmp(crypt->opts[i].name, name) == 0)
			return true;
	}
	return false;
}

/** Whether the mapping covers only a part of the device. */
static bool is_part(const struct crypt *crypt)
{
	return has_option(crypt, "offset") || has_option(crypt, "skip");
}

/** Get NAME of an fstab line with the source /dev/mapper/NAME; NULL: the source is different. */
static const char *mapping_of(const struct fstab_entry *line)
{
	return fstab_is_entry(line) && strncmp(line->source, mapper, sizeof(mapper) - 1) == 0
	       ? line->source + sizeof(mapper) - 1 : NULL;
}

/** Count the devices /dev/mapper/NAME of a mapping; -1: unknown. */
static int count_mappings(struct crypttab *tab, const char *name, struct fstab_device *device)
{
	return audit_devices(tab->in->facts, audit_format(tab->report, "%s%s", mapper, name),
	                     device);
}

/** Record the mappings of fstab lines that boot needs. */
static void record_needed(struct crypttab *tab)
{
	for (size_t i = 0; i < tab->in->file->count; ++i) {
		const struct fstab_entry *line = &tab->in->file->entries[i];
		const char *name = mapping_of(line);
		if (name && !line->swap && !line->automount && !line->optional)
			map64_put(&tab->needed, map64_text(name), 0);
	}
}

/** Describe a use of the device of a crypttab line without the mapping: "mounted on /x", "of line 3
    of the fstab"; NULL: no such use. */
static const char *other_use(struct crypttab *tab, const struct fstab_device *device)
{
	const struct fstab_plan *plan = tab->in->plan;
	const struct fstab_facts *facts = tab->in->facts;
	for (size_t i = 0; i < plan->count && facts->device; ++i) {
		const struct fstab_line *line = &plan->lines[i];
		struct fstab_device live = {0};
		if (!line->mount || !line->target)
			continue;
		fstab_device_of(facts, line->mount, NULL, &tab->report->arena, &live);
		if (fstab_same_device(&live, device) == 1)
			return audit_format(tab->report, "mounted on %s", line->target);
	}
	for (size_t i = 0; i < tab->in->file->count; ++i) {
		const struct fstab_entry *line = &tab->in->file->entries[i];
		struct fstab_device named = {0};
		if (fstab_is_entry(line) && audit_names_device(line->source)
		    && audit_devices(tab->in->facts, line->source, &named) == 1
		    && fstab_same_device(&named, device) == 1)
			return audit_format(tab->report, "of line %u of the fstab",
			                    line->number);
	}
	return NULL;
}

/** Report the device of a line with the option swap or tmp, which each boot overwrites, if the
    device seems to contain data or its name may change. */
static void check_overwritten(struct crypttab *tab, const struct crypt *crypt,
                              const char *source, const struct fstab_device *device)
{
	const char *type = device->tags ? device->tags->type : NULL;
	/* Do not check the content if the mapping is only a part of the device: a small file system
	   before that part may give the device a label. */
	bool part = is_part(crypt);
	const char *use = part || !device->tags ? NULL : other_use(tab, device);
	if (use)
		audit_add_at(tab->report, &crypt->at, BOOT_CRYPTTAB,
			     AUDIT_CRITICAL | (crypt->level & AUDIT_BOOT), "a device of its own",
			     audit_format(tab->report, "%s: %s%s%s", source, type ? type : "",
			                  type ? ", " : "", use),
			     "fix the device before the next boot", "its device is overwritten at "
			     "each boot, but used for something else");
	else if (type && !part && !word_in(type, strlen(type), "swap swsuspend"))
		audit_add_at(tab->report, &crypt->at, BOOT_CRYPTTAB, AUDIT_WARNING,
			     "a swap space, or nothing", type, "fix the device before the next "
			     "boot; wipefs removes a signature that is not needed",
			     "its device is overwritten at each boot, but holds data");
	else if (audit_is_unstable(source))
		audit_add_at(tab->report, &crypt->at, BOOT_CRYPTTAB, AUDIT_WARNING,
			     "a name of /dev/disk/by-partuuid", source, "PARTUUID= of blkid, or a "
			     "name of /dev/disk/by-partuuid or by-id",
			     "its device is overwritten at each boot, and its name may change");
}

/** Report a device without a LUKS header, unless an option names another type. */
static void check_type(struct crypttab *tab, const struct crypt *crypt,
                       const struct fstab_device *device)
{
	static const char *const others[] = {
		"plain", "tcrypt", "tcryptsystem", "tcrypthidden", "tcrypt-hidden", "tcrypt-system",
		"veracrypt", "tcrypt-veracrypt", "bitlk", "loop", "header",
	};
	const struct devmap_tags *tags = device->tags;
	bool blank = tags && tags->known == DEVMAP_UNTAGGED, other = false;
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); ++i)
		other |= has_option(crypt, others[i]);
	if (!other && (blank || (tags && tags->type && !word_in(tags->type, strlen(tags->type),
	                                                         "crypto_LUKS BitLocker"))))
		audit_add_at(tab->report, &crypt->at, BOOT_CRYPTTAB, crypt->level, "crypto_LUKS",
			     blank ? "no known signature" : tags->type,
			     "blkid shows what each device holds; fix the line",
			     "its device has no LUKS header");
}

/** Report a device that an earlier line also names: opening the device a second time fails. */
static void check_shared(struct crypttab *tab, const struct crypt *crypt,
                         const struct fstab_device *device)
{
	/* Two lines may map different parts of one device. */
	if (!device->numbered || crypt->again || has_option(crypt, "noauto") || is_part(crypt))
		return;
	uint32_t first = map64_put(&tab->devices, (uint64_t)device->major << 32 | device->minor,
	                           crypt->at.line);
	if (first != crypt->at.line)
		audit_add_at(tab->report, &crypt->at, BOOT_CRYPTTAB, crypt->level,
			     "a device of its own",
			     audit_format(tab->report, "%s of line %u", crypt->field[DEVICE],
			                  first), "remove one of them",
			     "another line has the same device: the second one fails");
}

/** Report the device of a line, `source`, which does not exist. */
static void report_missing(struct crypttab *tab, const struct crypt *crypt, const char *source)
{
	struct fstab_device open = {0};
	bool maybe;
	const char *where = audit_opened_at_boot(tab->report, tab->in->facts, source,
	                                         &maybe);
	if (where && !*where)
		audit_not_checked(tab->report, BOOT_CRYPTTAB);
	else if (where)
		audit_add_at(tab->report, &crypt->at, BOOT_CRYPTTAB, AUDIT_INFO, "a device",
			     source, "open that mapping to check this line",
			     "its device does not exist now%s: %s opens it at boot",
			     maybe ? ", but may be in a mapping that is not open" : "", where);
	else if (!crypt->optional)
		audit_add_at(tab->report, &crypt->at, BOOT_CRYPTTAB, crypt->level, "a device",
			     source, "name a device of blkid, or add nofail",
			     "its device does not exist, and the boot waits for it");
	else if (!has_option(crypt, "noauto")
	         && count_mappings(tab, crypt->field[NAME], &open) > 0 && open.crypt)
		audit_add_at(tab->report, &crypt->at, BOOT_CRYPTTAB, AUDIT_WARNING,
			     "the device that is open now", source,
			     audit_format(tab->report, "name the device that this shows: %s",
			                  audit_command(tab->report, "the status of the mapping",
			                                "cryptsetup", "status", "--",
			                                crypt->field[NAME], NULL)),
			     "its device does not exist, though the mapping is open: the next "
			     "boot cannot open it");
	else
		audit_add_at(tab->report, &crypt->at, BOOT_CRYPTTAB, AUDIT_INFO, "a device",
			     source, "name a device of blkid, or remove the line",
			     "its device does not exist");
}

static void check_device(struct crypttab *tab, const struct crypt *crypt)
{
	const struct fstab_facts *facts = tab->in->facts;
	const char *source = audit_unquoted(tab->report, crypt->field[DEVICE]);
	struct fstab_device device = {0};
	int n = -1;
	if (*source != '/' || strncmp(source, "/dev/", 5) == 0)
		n = audit_names_device(source) ? audit_devices(facts, source, &device) : -1;
	else if (facts->look)
		n = audit_look(facts, source) != FACT_MISSING;
	if (n < 0)
		audit_not_checked(tab->report, BOOT_CRYPTTAB);
	else if (n == 0)
		report_missing(tab, crypt, source);
	else if (n > 1)
		audit_add_at(tab->report, &crypt->at, BOOT_CRYPTTAB, AUDIT_WARNING, "one device",
			     audit_format(tab->report, "%d with %s", n, source),
			     "give the copy a new one: cryptsetup luksUUID --uuid",
			     "more than one device has this identifier");
	else if (has_option(crypt, "swap") || has_option(crypt, "tmp"))
		check_overwritten(tab, crypt, source, &device);
	else if (!crypt->typo)
		check_type(tab, crypt, &device);
	if (n == 1)
		check_shared(tab, crypt, &device);
}

/** Report misspelled options. */
static void check_options(struct crypttab *tab, struct crypt *crypt)
{
	for (uint32_t i = 0; i < crypt->nopts; ++i) {
		const char *name = crypt->opts[i].name, *found = NULL;
		size_t key = crypt->opts[i].nname, m;
		unsigned best = key < 7 ? 2 : 3;
		if (key < 4 || key > AUDIT_NAME_MAX || word_in(name, key, known_options)
		    || *name == 'x' || *name == 'X')
			continue;
		audit_nearest(known_options, name, key, &best, &found, &m);
		if (!found)
			continue;
		crypt->typo = true;
		const char *known = audit_format(tab->report, "%.*s", (int)m, found);
		audit_add_at(tab->report, &crypt->at, BOOT_CRYPTTAB, crypt->level, known, name,
			     audit_format(tab->report, "did you mean \"%s\"?", known),
			     "unknown option \"%s\"", name);
	}
}

static void check_key(struct crypttab *tab, const struct crypt *crypt)
{
	const struct fstab_facts *facts = tab->in->facts;
	const char *key = crypt->field[KEY];
	struct opt *opts;
	/* Not checked: with a colon, the key file is on another device; with a key script, the
	   field is an argument of the script. */
	if (!key || word_in(key, strlen(key), "none -") || strchr(key, ':')
	    || strncmp(key, "/dev/", 5) == 0 || has_option(crypt, "keyscript"))
		return;
	bool options = !crypt->field[OPTIONS];
	uint32_t nopts = options ? opts_read(key, opt_next, &tab->report->arena, &opts) : 0;
	for (uint32_t i = 0; i < nopts; ++i)
		options &= word_in(opts[i].name, opts[i].nname, known_options);
	enum fact_kind kind = *key == '/' ? audit_look(facts, key) : FACT_UNKNOWN;
	if (*key != '/' && options)
		audit_add_at(tab->report, &crypt->at, BOOT_CRYPTTAB, AUDIT_WARNING,
			     "name device key options", key,
			     audit_format(tab->report, "put none before %s", key),
			     "options in place of the key file are ignored");
	else if (*key != '/')
		audit_add_at(tab->report, &crypt->at, BOOT_CRYPTTAB, AUDIT_WARNING,
			     "name device key options", key, "write the absolute path, or none",
			     "the path of its key file is not absolute: it is ignored, and the "
			     "boot asks for a passphrase");
	if (kind == FACT_FILE && fstab_answer(facts, FSTAB_IS_OPEN, key) > 0)
		audit_add_at(tab->report, &crypt->at, BOOT_CRYPTTAB, AUDIT_WARNING,
			     "readable by root only", key,
			     audit_command(tab->report, "make it readable for root only", "chmod",
			                   "600", key, NULL),
			     "its key file is readable by all users");
	if (kind == FACT_MISSING)
		audit_add_at(tab->report, &crypt->at, BOOT_CRYPTTAB,
			     crypt->optional ? AUDIT_INFO : AUDIT_WARNING, "a file", key,
			     "create the key file, or write none",
			     "its key file does not exist: the boot asks for a passphrase");
}

/** Split a line of n bytes into fields.  @return false: the line is empty or a comment. */
static bool read_line(struct crypttab *tab, const char *line, size_t n, struct crypt *crypt)
{
	struct host_field fields[HOST_CRYPT_FIELDS];
	unsigned count = host_crypt_fields(line, n, fields, &crypt->more);
	for (unsigned i = 0; i < count; ++i)
		crypt->field[i] = audit_format(tab->report, "%.*s", (int)fields[i].n, fields[i].at);
	return count > 0;
}

/** Find a line that was probably intended for a mapping without a line: a line that is commented
    out, or a line with a similar name whose mapping does not exist.
    @wanted  The name of the mapping, of at most NEAR_BYTES.
    @found [out]    The fields of the line.
    @comment [out]  The line is commented out.
    @return false: no such line: the initial RAM disk or LVM may make the mapping without a line. */
static bool find_similar(struct crypttab *tab, const char *wanted, struct crypt *found,
                         bool *comment)
{
	size_t n, len = strlen(wanted);
	uint32_t number = 0;
	for (const char *at = tab->in->crypttab; *at && !tab->report->arena.failed;
	     at += n + (at[n] == '\n')) {
		n = strcspn(at, "\n");
		const char *name = at + strspn(at, "# \t"), *end = at + n;
		size_t m = name < end ? strcspn(name, " \t\r\n") : 0;
		++number;
		if (m == 0 || m > len + 2 || len > m + 2)
			continue;
		*comment = memchr(at, '#', (size_t)(name - at));
		*found = (struct crypt){.at.line = number};
		if (near_distance(name, m, wanted, len, false)
		    <= (*comment ? 0 : len < 7 ? 1u : 2u)
		    && read_line(tab, name, (size_t)(end - name), found) && found->field[DEVICE]
		    && (*found->field[DEVICE] == '/' || audit_names_device(found->field[DEVICE]))
		    && (*comment || count_mappings(tab, found->field[NAME], NULL) == 0))
			return true;
	}
	return false;
}

/** Report an fstab line whose mapping has no line in the crypttab, unless something else seems to
    make the mapping.
    @return whether the mapping was looked up, which takes time. */
static bool check_wanted(struct crypttab *tab, const struct fstab_entry *line)
{
	const char *name = mapping_of(line), *cmdline = tab->in->cmdline;
	if (!name || !*name || strlen(name) > NEAR_BYTES || line->idle || line->root
	    || map64_get(&tab->names, map64_text(name)) != MAP64_NONE
	    || (cmdline && strstr(cmdline, name)))
		return false;
	struct crypt crypt = {0};
	struct fstab_device device = {0};
	bool comment = false, swap = line->swap, nofail = line->nofail;
	/* A mapping that does not exist now (count is 0) is reported by the rules for the fstab. */
	int count = audit_devices(tab->in->facts, line->source, &device);
	bool similar = count != 0 && find_similar(tab, name, &crypt, &comment);
	bool open = count > 0 && device.crypt;
	/* late: nothing else opens the mapping at boot.  The initial RAM disk may open a mapping
	   without a line in the crypttab: because of the kernel command line, of its own crypttab,
	   or on NixOS. */
	bool late = !similar && open && cmdline && !strstr(cmdline, "luks")
	            && !strstr(cmdline, "crypt")
	            && audit_look(tab->in->facts, "/etc/crypttab.initramfs") == FACT_MISSING
	            && audit_look(tab->in->facts, "/etc/NIXOS") == FACT_MISSING;
	if (count == 0 || (!similar && !late))
		return true;
	/* Critical only if a similar line was found; else the initial RAM disk may open the
	   mapping. */
	unsigned level = nofail ? (similar && open ? AUDIT_WARNING : AUDIT_INFO)
	                 : swap || !similar ? AUDIT_WARNING : AUDIT_CRITICAL | AUDIT_BOOT;
	struct audit_finding at = {.file = tab->in->crypttab_name, .target = name,
	                           .line = similar ? crypt.at.line : 0};
	audit_add_at(tab->report, &at, BOOT_CRYPTTAB, level, name,
		     comment ? "a comment" : similar ? crypt.field[NAME] : NULL,
		     !similar ? "add a line, unless something else opens it"
		     : comment ? "remove the #, or the line of the fstab"
		               : "use the same name in both",
		     "line %u of the fstab needs %s, which no line sets up at the next boot",
		     line->number, line->source);
	return true;
}

static void check_line(struct crypttab *tab, struct crypt *crypt)
{
	uint64_t key = map64_text(crypt->field[NAME]);
	bool needed = map64_get(&tab->needed, key) != MAP64_NONE;
	crypt->at.file = tab->in->crypttab_name;
	crypt->at.target = crypt->field[NAME];
	crypt->level = needed ? AUDIT_CRITICAL | AUDIT_BOOT : AUDIT_WARNING;
	crypt->optional = has_option(crypt, "nofail") || has_option(crypt, "noauto");
	uint32_t first = map64_put(&tab->names, key, crypt->at.line);
	crypt->again = first != crypt->at.line;
	if (crypt->again)
		audit_add_at(tab->report, &crypt->at, BOOT_CRYPTTAB, AUDIT_WARNING, "one line",
			     audit_format(tab->report, "line %u as well", first),
			     "remove one, or rename it", "two lines have this name");
	check_options(tab, crypt);
	if (crypt->field[DEVICE])
		check_device(tab, crypt);
	else
		audit_add_at(tab->report, &crypt->at, BOOT_CRYPTTAB, AUDIT_WARNING,
			     "name device key options", crypt->field[NAME],
			     "give the device, as UUID=...", "the line has no device");
	check_key(tab, crypt);
	if (crypt->more)
		audit_add_at(tab->report, &crypt->at, BOOT_CRYPTTAB, AUDIT_WARNING,
			     "name device key options", crypt->field[OPTIONS],
			     "separate options by commas without blanks",
			     "text after a blank in the options is ignored");
}

void audit_crypttab(const struct audit_live *in, struct audit_report *report)
{
	enum { WANTED_MAX = 64 };
	struct arena *arena = &report->arena;
	struct crypttab tab = {.in = in, .report = report, .needed.arena = arena,
	                       .names.arena = arena, .devices.arena = arena};
	uint32_t number = 0;
	unsigned wanted = 0;
	if (in->crypttab_unknown)
		audit_not_checked(report, BOOT_CRYPTTAB);
	if (!in->crypttab)
		return;
	record_needed(&tab);
	for (const char *at = in->crypttab; *at && !arena->failed;) {
		size_t n = strcspn(at, "\n");
		struct crypt crypt = {.at.line = ++number};
		if (read_line(&tab, at, n, &crypt)) {
			const char *options = crypt.field[OPTIONS] ? crypt.field[OPTIONS] : "";
			crypt.nopts = opts_read(options, opt_next, arena, &crypt.opts);
			check_line(&tab, &crypt);
		}
		at += n + (at[n] == '\n');
	}
	for (size_t i = 0; in->facts->devices && i < in->file->count
	     && wanted < WANTED_MAX && !arena->failed; ++i)
		wanted += check_wanted(&tab, &in->file->entries[i]);
}
