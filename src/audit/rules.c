/* SPDX-License-Identifier: MIT */
/*
 * The rules of an fstab: one table; and the flow, each entry by itself, then against
 * the others.
 *
 * A rule must not cry wolf: what an installer writes, and what works, is not told; nor
 * is what depends on a fact that nobody knows.  A finding is a risk for a boot only if
 * the entry is needed then: not with noauto, nofail or an automount.
 */
#include "audit/audit_impl.h"
#include "audit/host_impl.h"

#include "base/escape.h"
#include "base/fstypes.h"
#include "base/words.h"
#include "fstab/fstab_impl.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

const struct audit_rule audit_rules[AUDIT_CODES] = {
	[FSTAB_SYNTAX] = {"FSTAB-SYNTAX", AUDIT_CRITICAL, true, "a line that is none, or not the one that it looks like"},
	[FSTAB_ESCAPE] = {"FSTAB-ESCAPE", AUDIT_CRITICAL, true, "a backslash or a quotation mark that does not do what it seems to"},
	[FSTAB_ORDER] = {"FSTAB-ORDER", AUDIT_CRITICAL, true, "a line before the one whose mount it needs"},
	[FSTAB_DUP_TARGET] = {"FSTAB-DUP-TARGET", AUDIT_WARNING, true, "a mount point of two lines, or of a line and a unit"},
	[FSTAB_DUP_SOURCE] = {"FSTAB-DUP-SOURCE", AUDIT_WARNING, false, "one swap space or file system twice"},
	[FSTAB_OPT_UNKNOWN] = {"FSTAB-OPT-UNKNOWN", AUDIT_WARNING, true, "an option that the type does not have, or a value that it does not take"},
	[FSTAB_OPT_TYPO] = {"FSTAB-OPT-TYPO", AUDIT_CRITICAL, true, "an option that is nearly a known one"},
	[FSTAB_OPT_CONFLICT] = {"FSTAB-OPT-CONFLICT", AUDIT_WARNING, true, "options that contradict each other, or do not go without another"},
	[FSTAB_PASSNO] = {"FSTAB-PASSNO", AUDIT_WARNING, false, "a number of dump or fsck that does not fit"},
	[FSTAB_SWAP] = {"FSTAB-SWAP", AUDIT_WARNING, false, "a swap space with options that swapon(8) does not take"},
	[FSTAB_SRC_MISSING] = {"FSTAB-SRC-MISSING", AUDIT_CRITICAL, true, "a source that there is not"},
	[FSTAB_SRC_AMBIGUOUS] = {"FSTAB-SRC-AMBIGUOUS", AUDIT_CRITICAL, true, "an identifier that more than one device has"},
	[FSTAB_SRC_UNSTABLE] = {"FSTAB-SRC-UNSTABLE", AUDIT_WARNING, true, "a device by a name that may be another's at the next boot"},
	[FSTAB_BIND_SRC] = {"FSTAB-BIND-SRC", AUDIT_CRITICAL, true, "a bind of what there is not"},
	[FSTAB_OVERLAY_DIR] = {"FSTAB-OVERLAY-DIR", AUDIT_CRITICAL, true, "an overlay without one of its directories"},
	[FSTAB_TGT_MISSING] = {"FSTAB-TGT-MISSING", AUDIT_WARNING, false, "a mount point that there is not"},
	[FSTAB_TGT_SYMLINK] = {"FSTAB-TGT-SYMLINK", AUDIT_INFO, false, "a mount point by the name of a symlink"},
	[FSTAB_TYPE_MISMATCH] = {"FSTAB-TYPE-MISMATCH", AUDIT_CRITICAL, true, "another type than what is on the device"},
	[FSTAB_TYPE_UNSUPPORTED] = {"FSTAB-TYPE-UNSUPPORTED", AUDIT_CRITICAL, true, "a type that the kernel cannot mount"},
	[FSTAB_HELPER_MISSING] = {"FSTAB-HELPER-MISSING", AUDIT_WARNING, false, "a type whose mount or fsck helper is not installed"},
	[FSTAB_NOFAIL] = {"FSTAB-NOFAIL", AUDIT_WARNING, true, "a boot waits for, or fails with, what it could do without"},
	[FSTAB_NETDEV] = {"FSTAB-NETDEV", AUDIT_WARNING, true, "block storage over a network without _netdev"},
	[FSTAB_ESP_MASK] = {"FSTAB-ESP-MASK", AUDIT_INFO, false, "an EFI system partition that all can read"},
	[FSTAB_SECRET] = {"FSTAB-SECRET", AUDIT_WARNING, false, "a secret in a file that all can read"},
	[FSTAB_LOST] = {"FSTAB-LOST", AUDIT_CRITICAL, true, "a mount of the file before that is made no more, or of nothing"},
	[DRIFT_NOT_MOUNTED] = {"DRIFT-NOT-MOUNTED", AUDIT_WARNING, false, "a line that is not mounted"},
	[DRIFT_NOT_IN_FSTAB] = {"DRIFT-NOT-IN-FSTAB", AUDIT_WARNING, false, "a mount that nobody owns, and no line makes"},
	[DRIFT_SOURCE] = {"DRIFT-SOURCE", AUDIT_CRITICAL, false, "something else is mounted than the line says"},
	[DRIFT_TYPE] = {"DRIFT-TYPE", AUDIT_WARNING, false, "mounted as another type than the line says"},
	[DRIFT_OPTIONS] = {"DRIFT-OPTIONS", AUDIT_WARNING, false, "mounted with other options than the line says"},
	[DRIFT_READONLY] = {"DRIFT-READONLY", AUDIT_CRITICAL, false, "read-only, and not meant so"},
	[SWAP_NOT_ACTIVE] = {"SWAP-NOT-ACTIVE", AUDIT_WARNING, false, "a swap space of a line that is not in use"},
	[SWAP_EXTRA] = {"SWAP-EXTRA", AUDIT_WARNING, false, "a swap space in use that no line has"},
	[MNT_DELETED] = {"MNT-DELETED", AUDIT_WARNING, false, "a mount of a directory or file that was removed"},
	[MNT_SHADOWED] = {"MNT-SHADOWED", AUDIT_WARNING, false, "a mount that another hides"},
	[MNT_DUP] = {"MNT-DUP", AUDIT_WARNING, false, "the same mounted again upon itself"},
	[MNT_LIMIT] = {"MNT-LIMIT", AUDIT_CRITICAL, false, "nearly as many mounts as fs.mount-max allows"},
	[MNT_STALE] = {"MNT-STALE", AUDIT_CRITICAL, false, "a mount whose server, daemon or device is gone"},
	[MNT_TIMEOUT] = {"MNT-TIMEOUT", AUDIT_CRITICAL, false, "a mount that does not answer"},
	[BASE_CAME] = {"BASE-CAME", AUDIT_WARNING, false, "a mount or swap space that the baseline has not"},
	[BASE_WENT] = {"BASE-WENT", AUDIT_WARNING, false, "a mount or swap space of the baseline that is gone"},
	[BASE_CHANGED] = {"BASE-CHANGED", AUDIT_WARNING, false, "a mount that is another than in the baseline, or otherwise"},
	[MNT_UNDER_NOT_EMPTY] = {"MNT-UNDER-NOT-EMPTY", AUDIT_WARNING, false, "data in the directory that something is mounted on"},
	[MNT_HELD] = {"MNT-HELD", AUDIT_WARNING, false, "what is unmounted or removed, and still in use"},
	[MTAB_REGULAR] = {"MTAB-REGULAR", AUDIT_INFO, false, "an mtab that is a file of its own"},
	[MTAB_STALE] = {"MTAB-STALE", AUDIT_WARNING, false, "an mtab that says what is not so"},
	[MTAB_CORRUPT] = {"MTAB-CORRUPT", AUDIT_WARNING, false, "an mtab that cannot be read"},
	[FSTAB_MODE] = {"FSTAB-MODE", AUDIT_CRITICAL, false, "an fstab that others than root can write to"},
	[FSTAB_SYSTEMD_STALE] = {"FSTAB-SYSTEMD-STALE", AUDIT_WARNING, false, "a line that systemd has loaded otherwise, or not"},
	[UNIT_FAILED] = {"UNIT-FAILED", AUDIT_WARNING, false, "a mount, automount or swap unit of systemd that has failed"},
	[FS_ERRORS] = {"FS-ERRORS", AUDIT_CRITICAL, false, "a file system that has met errors, or lacks devices"},
	[BOOT_ROOT] = {"BOOT-ROOT", AUDIT_CRITICAL, true, "a root or a swap space of the command line that is another, or is not there"},
	[BOOT_CRYPTTAB] = {"BOOT-CRYPTTAB", AUDIT_CRITICAL, true, "a line of the crypttab that cannot be set up"},
	[POLICY_OPTION] = {"POLICY-OPTION", AUDIT_WARNING, false, "a mount without options that the configuration requires"},
	[POLICY_PARTITION] = {"POLICY-PARTITION", AUDIT_WARNING, false, "no mount point of its own, as the configuration requires"},
	[MNT_PROPAGATION] = {"MNT-PROPAGATION", AUDIT_WARNING, false, "another propagation than the configuration requires"},
};

int audit_code(const char *name, size_t n)
{
	for (int i = 0; i < AUDIT_CODES; ++i) {
		if (word_is(name, n, audit_rules[i].code))
			return i;
	}
	return -1;
}

uint64_t audit_codes(const char *name, size_t n)
{
	uint64_t found = 0;
	bool all = n > 0 && name[n - 1] == '*';
	for (int code = 0; code < AUDIT_CODES; ++code) {
		const char *is = audit_rules[code].code;
		if (all ? strncmp(is, name, n - 1) == 0 : strlen(is) == n && memcmp(is, name, n) == 0)
			found |= audit_bit((enum audit_code)code);
	}
	return found;
}

const char *audit_severity_name(enum audit_severity severity)
{
	static const char *const names[] = {
		[AUDIT_INFO] = "info", [AUDIT_WARNING] = "warning", [AUDIT_CRITICAL] = "critical",
	};
	return names[severity];
}

/* Telling. */

const char *audit_format(struct audit *audit, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	const char *text = audit_vformat(audit->report, &audit->text, format, args);
	va_end(args);
	audit->failed |= !text;
	return text ? text : "";
}

void audit_unjudged(struct audit *audit, enum audit_code code)
{
	audit->report->unjudged |= audit_bit(code);
}

/** Copy a string, which may go with the lines. */
static const char *keep(struct audit *audit, const char *text)
{
	const char *copy = text ? arena_strndup(&audit->report->arena, text, strlen(text)) : NULL;
	audit->failed |= text && !copy;
	return copy;
}

void audit_tell(struct audit *audit, const struct audit_entry *entry, enum audit_code code,
                const struct audit_told *told)
{
	if (entry->ignored & audit_bit(code)) {
		++audit->report->suppressed;
		audit->report->suppressed_codes |= audit_bit(code);
		return;
	}
	const char *target = entry->swap ? entry->source : entry->target;
	if (entry->swap && audit->in->secret && audit->in->secret(target, NULL))
		target = "";
	target = keep(audit, target);
	struct audit_finding finding = {
		.code = code, .severity = told->severity, .boot = told->boot && entry->needed, .line = entry->line->number,
		.target = target ? target : "", .owner = "fstab", .message = told->message, .expected = told->expected,
		.actual = keep(audit, told->actual), .hint = told->hint, .refused = told->refused,
		.option = told->option};
	audit->failed |= audit_add(audit->report, &finding) != 0;
}

/* Entries. */

const char *audit_option(struct audit *audit, const struct audit_entry *entry, const char *name)
{
	size_t m, len = strlen(name);
	const char *found = fstab_kept_find(entry->options, name, len, &m);
	if (!found || m <= len)
		return found ? "" : NULL;
	return audit_format(audit, "%.*s", (int)(m - len - 1), found + len + 1);
}

const struct audit_entry *audit_at(const struct audit *audit, const struct audit_entry *behind,
                                   const char *path, size_t n, uint64_t hash)
{
	uint32_t i = behind ? audit->next_target[behind - audit->entries] : map64_get(&audit->by_target, hash);
	for (; i != MAP64_NONE; i = audit->next_target[i]) {
		const struct audit_entry *entry = &audit->entries[i];
		if (strncmp(entry->path, path, n) == 0 && !entry->path[n])
			return entry;
	}
	return NULL;
}

const struct audit_entry *audit_above(const struct audit *audit, const struct audit_entry *self,
                                      const char *path)
{
	const struct audit_entry *found = NULL;
	uint64_t hash = MAP64_BYTES;
	for (size_t n = 0; path[n] && path[1];) {
		size_t more = 1 + strcspn(path + n + 1, "/");
		hash = map64_bytes(hash, path + n, more);
		n += more;
		const struct audit_entry *entry = audit_at(audit, NULL, path, n, hash);
		if (entry && entry == self)
			entry = audit_at(audit, entry, path, n, hash);
		found = entry ? entry : found;
	}
	return found;
}

const struct audit_entry *audit_asleep(const struct audit *audit, const char *path, const struct audit_entry *above, bool itself)
{
	const struct audit_entry *found = NULL;
	uint64_t hash = MAP64_BYTES;
	for (size_t n = 0; path[n] && path[1];) {
		size_t more = 1 + strcspn(path + n + 1, "/");
		hash = map64_bytes(hash, path + n, more);
		n += more;
		uint32_t i = path[n] || itself ? map64_get(&audit->asleep, hash) : MAP64_NONE;
		const char *target = i == MAP64_NONE ? NULL : audit->entries[i].path;
		if (target && strncmp(target, path, n) == 0 && !target[n] && !audit_at(audit, NULL, path, n, hash))
			found = &audit->entries[i];
	}
	return found && above && strlen(above->path) > strlen(found->path) ? NULL : found;
}

static bool has_secret(const struct audit *audit, const char *source, const char *options)
{
	return audit->in->secret && audit->in->secret(source, options);
}

/** Take an entry apart. */
static void read_entry(struct audit *audit, struct audit_entry *entry, const struct tabline *line, uint64_t ignored)
{
	const char *source = tabline_value(line, TABLINE_SOURCE), *target = tabline_value(line, TABLINE_TARGET);
	const char *fstype = tabline_value(line, TABLINE_FSTYPE), *raw = tabline_value(line, TABLINE_OPTIONS);
	*entry = (struct audit_entry){.line = line, .source = source ? source : "", .target = target ? target : "",
	                              .fstype = fstype ? fstype : "", .options = "", .ignored = ignored};
	entry->flags = fstype_line_flags(entry->fstype, entry->source);
	size_t n = raw ? strlen(raw) : 0;
	char *options = n ? arena_strndup(&audit->report->arena, raw, n) : NULL;
	if (n && !options)
		audit->failed = true;
	if (options) {
		options[unescape_octal(options, options, n)] = '\0';
		entry->options = options;
	}
	entry->swap = strcmp(entry->fstype, "swap") == 0;
	entry->path = entry->swap ? NULL : fstab_normal(&audit->report->arena, entry->target);
	if (!entry->path && !entry->swap && *entry->target == '/')
		audit->failed = true;
	bool longer = strlen(entry->options) > AUDIT_OPTIONS_MAX;
	if (longer)
		entry->options = "";
	const char *list = entry->options;
	size_t len;
	for (const char *o; (o = fstab_kept_next(&list, &len)) != NULL;) {
		static const char *const words[] = {"bind", "rbind", "noauto", "nofail", "x-systemd.automount", "_netdev",
		                                    "X-mount.mkdir", "x-mount.mkdir"};
		bool *const flags[] = {&entry->bind, &entry->bind, &entry->noauto, &entry->nofail, &entry->automount,
		                       &entry->netdev, &entry->mkdir, &entry->mkdir};
		for (size_t i = 0; i < sizeof(words) / sizeof(*words); ++i) {
			size_t m = strlen(words[i]);
			*flags[i] |= len >= m && memcmp(o, words[i], m) == 0 && (len == m || o[m] == '=');
		}
		if (word_is(o, len, "auto"))
			entry->noauto = false;
	}
	bool remote = entry->flags & FST_NET && !(entry->flags & FST_DEVICE);
	entry->needed = !entry->swap && !entry->noauto && !entry->nofail && !entry->automount && !remote;
	if (longer)
		audit_tell(audit, entry, FSTAB_SYNTAX, &(struct audit_told){
			AUDIT_CRITICAL, true, "its options are longer than the kernel takes, and are not judged", NULL, NULL, NULL});
}

/** A raw field with a backslash that begins no escape. */
static bool has_stray_backslash(const struct tabline_field *field)
{
	for (size_t i = 0; field->raw && i < field->n; ++i) {
		if (field->raw[i] != '\\')
			continue;
		const char *at = field->raw + i;
		if (field->n - i < 4 || at[1] < '0' || at[1] > '3' || at[2] < '0' || at[2] > '7' || at[3] < '0' || at[3] > '7')
			return true;
		i += 3;
	}
	return false;
}

/** Bytes that nobody sees: of another system's editor, or of none. */
static void judge_bytes(struct audit *audit, const struct audit_entry *entry)
{
	const struct tabline *line = entry->line;
	bool cr = line->size == line->n + 2, last = cr && !line->fields[TABLINE_FREQ].raw, odd = false;
	for (size_t i = 0; i < line->n; ++i)
		odd |= ((unsigned char)line->bytes[i] < ' ' && line->bytes[i] != '\t') || line->bytes[i] == 0x7f;
	if (odd)
		audit_tell(audit, entry, FSTAB_SYNTAX, &(struct audit_told){
			AUDIT_WARNING, false, "it holds control characters, which are taken for part of a name or an option", NULL, NULL,
			"take them away: cat -A shows them"});
	/* getmntent(3) cuts a line at its LF alone; of all lines of a file it is told once. */
	if (last || (cr && !audit->cr))
		audit_tell(audit, entry, FSTAB_SYNTAX, &(struct audit_told){
			last ? AUDIT_CRITICAL : AUDIT_WARNING, last,
			last ? "it ends in CR LF, and to systemd the CR is part of its last field"
			     : "lines end in CR LF: not all that reads the file takes a CR for an end", "LF alone", "CR LF",
			"sed -i 's/\\r$//' takes the CR away"});
	audit->cr |= cr;
}

/** What looks like a blank in n bytes, and is none; NULL. */
static const char *find_blank(const char *text, size_t n, const char **name, size_t *len)
{
	static const char *const blanks[][2] = {
		{"\xc2\xa0", "U+00A0"}, {"\xe2\x80\xaf", "U+202F"}, {"\xe2\x80\x82", "U+2002"}, {"\xe2\x80\x83", "U+2003"},
		{"\xe2\x80\x87", "U+2007"}, {"\xe2\x80\x89", "U+2009"}, {"\xe2\x80\x8b", "U+200B"}, {"\xe3\x80\x80", "U+3000"},
	};
	for (size_t i = 0; text && i < n; ++i) {
		/* All others begin below, or are no lead. */
		for (size_t k = 0; (unsigned char)text[i] >= 0xc2 && k < sizeof(blanks) / sizeof(*blanks); ++k) {
			*len = strlen(blanks[k][0]);
			if (n - i >= *len && memcmp(text + i, blanks[k][0], *len) == 0) {
				*name = blanks[k][1];
				return text + i;
			}
		}
	}
	return NULL;
}

/** Of an entry: such a blank in the name of an option; NULL. */
static const char *find_option_blank(const struct audit_entry *entry, const char **name, size_t *len)
{
	const char *list = entry->options, *found = NULL;
	size_t n;
	for (const char *o; !found && (o = fstab_kept_next(&list, &n)) != NULL;)
		found = find_blank(o, option_name(o, n), name, len);
	return found;
}

/** Tell of a blank that is none, because of which the line is another than it looks like.  In names of
    files it may well be.  @return whether it was told: then nothing else of the line is right. */
static bool judge_blanks(struct audit *audit, const struct audit_entry *entry)
{
	const struct tabline *line = entry->line;
	const char *name = NULL;
	size_t len = 0;
	bool odd = line->kind == TABLINE_DAMAGED || (!entry->path && !entry->swap);
	const char *found = odd ? find_blank(line->bytes, line->n, &name, &len)
	                    : find_blank(entry->fstype, strlen(entry->fstype), &name, &len);
	if (!found)
		found = find_option_blank(entry, &name, &len);
	if (!found)
		return false;
	/* "UUID=x /d": what is behind was meant as the mount point. */
	struct audit_entry meant = *entry;
	const char *in = find_blank(entry->source, strlen(entry->source), &name, &len);
	if (odd && in && in[len] == '/') {
		const char *next = NULL, *target = in + len;
		size_t n = strlen(target);
		const char *end = find_blank(target, n, &next, &len);
		meant.target = audit_format(audit, "%.*s", end ? (int)(end - target) : (int)n, target);
	}
	audit_tell(audit, &meant, FSTAB_SYNTAX, &(struct audit_told){
		AUDIT_CRITICAL, true, audit_format(audit, "it holds a %s, which looks like a blank and parts nothing", name),
		"blanks and tabs", name, "write a blank in its place: cat -A shows it as M-"});
	return true;
}

static void judge_syntax(struct audit *audit, const struct audit_entry *entry)
{
	const struct tabline *line = entry->line;
	judge_bytes(audit, entry);
	static const char *const names[] = {"source", "mount point", "type"};
	for (unsigned i = TABLINE_SOURCE; i <= TABLINE_FSTYPE; ++i) {
		const struct tabline_field *field = &line->fields[i];
		if (has_stray_backslash(field))
			audit_tell(audit, entry, FSTAB_ESCAPE, &(struct audit_told){
				AUDIT_CRITICAL, true, audit_format(audit, "the %s has a backslash that begins no escape of three octal "
				"digits: it is taken as it stands", names[i]), "\\040 for a blank, \\134 for a backslash", NULL,
				"write three octal digits behind it"});
		if (i < TABLINE_FSTYPE && field->raw && (*field->raw == '"' || *field->raw == '\''))
			audit_tell(audit, entry, FSTAB_ESCAPE, &(struct audit_told){
				AUDIT_CRITICAL, true, audit_format(audit, "the %s begins with a quotation mark, which is held to be part of "
				"its name", names[i]), NULL, NULL, "leave out the quotes, and write \\040 for a blank"});
	}
	if (line->rest && line->nrest)
		audit_tell(audit, entry, FSTAB_SYNTAX, &(struct audit_told){
			AUDIT_WARNING, false, "behind the sixth field stands more, which is passed over", "six fields", NULL,
			"put a comment into a line of its own"});
	bool none = strcmp(entry->target, "none") == 0 || strcmp(entry->target, "swap") == 0;
	if (!entry->swap && !entry->path)
		audit_tell(audit, entry, FSTAB_SYNTAX, &(struct audit_told){
			AUDIT_CRITICAL, true, "the mount point is no absolute path", "/...",
			none ? "none" : NULL, "give the directory that it is to be mounted on"});
	if (entry->swap && !none)
		audit_tell(audit, entry, FSTAB_SWAP, &(struct audit_told){
			AUDIT_WARNING, false, "a swap space has no mount point", "none", entry->target, "write none"});
	if (!audit->in->closed && (has_secret(audit, entry->source, NULL) || has_secret(audit, NULL, entry->fstype) || audit_holds_secret(audit->in->secret, entry->options)))
		audit_tell(audit, entry, FSTAB_SECRET, &(struct audit_told){
			AUDIT_WARNING, false, "it holds a secret, and this file can be read by all", NULL, NULL,
			"put it into a file of root's: credentials=FILE"});
}

static void judge_numbers(struct audit *audit, const struct audit_entry *entry)
{
	int freq = entry->line->freq, pass = entry->line->passno;
	bool root = entry->path && !entry->path[1];
	/* Of an entry a field that is none of these is a number below 0. */
	const struct tabline_field *first = &entry->line->fields[TABLINE_FREQ], *second = &entry->line->fields[TABLINE_PASSNO];
	if (freq > 1 || (freq < 0 && first->raw))
		audit_tell(audit, entry, FSTAB_PASSNO, &(struct audit_told){
			AUDIT_WARNING, false, "the fifth field is for dump(8)", "0 or 1",
			audit_format(audit, "%.*s", (int)first->n, first->raw), "write 0"});
	if (pass > 2 || (pass < 0 && second->raw)) {
		audit_tell(audit, entry, FSTAB_PASSNO, &(struct audit_told){
			AUDIT_WARNING, false, "the sixth field is the pass of fsck(8)", "0, 1 or 2",
			audit_format(audit, "%.*s", (int)second->n, second->raw), "write 1 for the root, 2 for others, 0 for what is not checked"});
	} else if (pass > 0) {
		const char *what = entry->bind ? "a bind" : entry->swap ? "a swap space"
		                   : entry->flags & FST_NET && !(entry->flags & FST_DEVICE) ? "a network file system"
		                   : entry->flags & FST_PSEUDO ? "a file system without a device"
		                   : strcmp(entry->fstype, "overlay") == 0 ? "an overlay" : NULL;
		if (what)
			audit_tell(audit, entry, FSTAB_PASSNO, &(struct audit_told){
				AUDIT_WARNING, false, audit_format(audit, "%s has nothing that fsck(8) could check", what), "0",
				audit_format(audit, "%d", pass), "write 0"});
	}
	/* Installers write it: Debian's of the ESP, Ubuntu's of all that it mounts; to systemd it is as 2. */
	const struct audit_entry *first_root = audit_at(audit, NULL, "/", 1, map64_text("/"));
	if (!root && pass == 1 && entry->flags & FST_FSCK && !entry->noauto && strcmp(entry->fstype, "vfat") != 0 && first_root
	    && first_root->flags & FST_FSCK && first_root->line->passno == 1)
		audit_tell(audit, entry, FSTAB_PASSNO, &(struct audit_told){
			AUDIT_INFO, false, "it is checked with the root: fsck(8) -A may check both at once, on one disk", "2", "1", "write 2"});
	if (root && entry->flags & FST_FSCK && !entry->bind && pass <= 2 && pass != 1)
		audit_tell(audit, entry, FSTAB_PASSNO, &(struct audit_told){
			pass > 1 ? AUDIT_WARNING : AUDIT_INFO, false,
			pass > 1 ? "the root is checked after others" : "the root is not checked by fsck(8)", "1",
			audit_format(audit, "%d", pass < 0 ? 0 : pass), "write 1"});
}

/* Entries against each other. */

/** The first entry at a path, of those that are mounted in the order of the file, but
    for one. */
static const struct audit_entry *steady_at(const struct audit *audit, const struct audit_entry *self,
                                           const char *path, size_t n, uint64_t hash)
{
	uint32_t i = map64_get(&audit->by_target, hash);
	if (i != MAP64_NONE && audit->entries[i].automount)
		i = audit->next_steady[i];
	for (; i != MAP64_NONE; i = audit->next_steady[i]) {
		const struct audit_entry *entry = &audit->entries[i];
		if (entry != self && strncmp(entry->path, path, n) == 0 && !entry->path[n])
			return entry;
	}
	return NULL;
}

/** The first entry that mounts what is on the way to a path: one behind a line, if none
    is before it. */
static const struct audit_entry *find_later(const struct audit *audit, const struct audit_entry *self,
                                            const char *path, bool itself)
{
	uint64_t hash = MAP64_BYTES;
	const struct audit_entry *found = NULL;
	for (size_t n = 0; path[n];) {
		size_t more = path[1] ? 1 + strcspn(path + n + 1, "/") : 1;
		hash = map64_bytes(hash, path + n, more);
		n += more;
		if (!path[n] && !itself)
			break;
		const struct audit_entry *entry = steady_at(audit, self, path, n, hash);
		if (entry && entry > self)
			found = entry;
	}
	return found;
}

/** What an entry needs, and which entry mounts that behind it. */
struct needs {
	struct audit *audit;
	const struct audit_entry *entry, *later;
	const char *what;
};

static bool each_need(void *arg, const char *path, const char *what)
{
	struct needs *needs = arg;
	needs->what = what;
	needs->later = find_later(needs->audit, needs->entry, path, true);
	/* "/" is mounted before the file is read. */
	if (needs->later && !needs->later->path[1])
		needs->later = NULL;
	return !needs->later;
}

static void judge_order(struct audit *audit, const struct audit_entry *entry)
{
	if (entry->noauto || entry->automount || !entry->path || !entry->path[1])
		return;
	const struct audit_entry *later = find_later(audit, entry, entry->path, false);
	if (later) {
		audit_tell(audit, entry, FSTAB_ORDER, &(struct audit_told){
			AUDIT_CRITICAL, true, audit_format(audit, "%s of line %u is mounted after it, and covers it", later->path,
			later->line->number), "mounts above come first", NULL,
			audit_format(audit, "move it behind line %u", later->line->number)});
	} else {
		/* "/" is mounted before the file is read: Raspberry Pi OS writes it last. */
		const struct audit_entry *root = audit_at(audit, NULL, "/", 1, map64_text("/"));
		if (root && root > entry)
			audit_tell(audit, entry, FSTAB_ORDER, &(struct audit_told){
				AUDIT_INFO, false, audit_format(audit, "it stands before / of line %u", root->line->number),
				"mounts above come first", NULL, "put / first"});
	}
	struct needs needs = {.audit = audit, .entry = entry};
	audit_each_need(audit, entry, each_need, &needs);
	if (needs.later)
		audit_tell(audit, entry, FSTAB_ORDER, &(struct audit_told){
			AUDIT_CRITICAL, true, audit_format(audit, "%s lies on %s, which line %u mounts after it", needs.what,
			needs.later->path, needs.later->line->number), "a source is mounted first", NULL,
			audit_format(audit, "move it behind line %u", needs.later->line->number)});
}

/** What a source is found by: the number of its device, if that is known; or its name. */
static uint64_t source_key(const struct audit_entry *entry)
{
	const uint32_t number[] = {entry->major, entry->minor};
	return entry->numbered ? map64_bytes(MAP64_BYTES, (const char *)number, sizeof(number)) : map64_text(entry->source);
}

static bool is_same_source(const struct audit_entry *a, const struct audit_entry *b)
{
	bool one = a->numbered && b->numbered && a->major == b->major && a->minor == b->minor;
	return one || strcmp(a->source, b->source) == 0;
}

/** Note the device of a source. */
static void number_source(const struct audit *audit, struct audit_entry *entry)
{
	const struct fstab_facts *facts = audit->in->facts;
	struct fstab_device device = {0};
	if (facts && facts->devices && host_names_device(entry->source) && facts->devices(facts->arg, entry->source, &device) == 1
	    && device.numbered) {
		entry->numbered = true;
		entry->major = device.major;
		entry->minor = device.minor;
	}
}

/** Whether two entries are of the same, so that one of them is too many. */
static bool is_same_part(struct audit *audit, const struct audit_entry *a, const struct audit_entry *b)
{
	if (!(a->flags & FST_SUBVOL))
		return true;
	const char *x = audit_option(audit, a, "subvol"), *y = audit_option(audit, b, "subvol");
	const char *v = audit_option(audit, a, "subvolid"), *w = audit_option(audit, b, "subvolid");
	return strcmp(x ? x : "", y ? y : "") == 0 && strcmp(v ? v : "", w ? w : "") == 0;
}

static void judge_twice(struct audit *audit, const struct audit_entry *entry)
{
	if (entry->noauto)
		return;
	if (entry->path) {
		size_t n = strlen(entry->path);
		const struct audit_entry *first = audit_at(audit, NULL, entry->path, n, map64_text(entry->path));
		if (first && first < entry)
			audit_tell(audit, entry, FSTAB_DUP_TARGET, &(struct audit_told){
				AUDIT_WARNING, true, audit_format(audit, "line %u has this mount point too: mount(8) mounts one upon the "
				"other, systemd the first alone", first->line->number), "one line", NULL,
				"take one away, or give it noauto"});
	}
	/* One device, without parts, twice. */
	if (!*entry->source || entry->bind || strcmp(entry->source, "none") == 0
	    || !(entry->swap || entry->flags & FST_DEVICE))
		return;
	uint32_t i = map64_get(&audit->by_source, source_key(entry));
	const struct audit_entry *first = i != MAP64_NONE ? &audit->entries[i] : NULL;
	if (!first || first >= entry || !is_same_source(first, entry) || first->swap != entry->swap
	    || !is_same_part(audit, first, entry)
	    || (first->path && entry->path && strcmp(first->path, entry->path) == 0))
		return;
	audit_tell(audit, entry, FSTAB_DUP_SOURCE, &(struct audit_told){
		entry->swap ? AUDIT_WARNING : AUDIT_INFO, false,
		audit_format(audit, "line %u is of the same %s", first->line->number, entry->swap ? "swap space" : "file system"),
		"one line", NULL, entry->swap ? "take one away" : "bind the one to the other, if that is meant"});
}

/* The flow. */

/** Take the lines apart; damaged ones are told. */
static void read_lines(struct audit *audit)
{
	const struct tablines *lines = audit->in->lines;
	uint64_t ignored = 0;
	audit->report->ignored = calloc(lines->count + 1, sizeof(*audit->report->ignored));
	audit->report->nlines = lines->count;
	audit->failed |= !audit->report->ignored;
	for (size_t i = 0; i < lines->count && !audit->failed; ++i) {
		const struct tabline *line = &lines->lines[i];
		if (line->kind == TABLINE_COMMENT) {
			ignored |= audit_ignored(audit, line);
			continue;
		}
		if (line->kind == TABLINE_ENTRY) {
			read_entry(audit, &audit->entries[audit->count++], line, ignored);
		} else if (line->kind == TABLINE_DAMAGED) {
			const char *target = tabline_value(line, TABLINE_TARGET);
			bool blank = line->nfields >= 5 && line->freq < 0;
			struct audit_entry entry = {.line = line, .target = target ? target : "", .source = "", .fstype = "", .options = "", .ignored = ignored,
			                            .needed = true};
			const char *source = tabline_value(line, TABLINE_SOURCE);
			entry.source = source ? source : "";
			if (!judge_blanks(audit, &entry))
				audit_tell(audit, &entry, FSTAB_SYNTAX, &(struct audit_told){
					AUDIT_CRITICAL, true, line->why ? line->why : "not a line of fstab(5)",
					"source, mount point, type, options, and two numbers", NULL,
					blank ? "options are parted by commas without blanks; \\040 stands for a blank in a name"
					      : "mend it, or make it a comment"});
		}
		audit->report->ignored[i] = ignored;
		ignored = 0;
	}
}

/** Index the entries, from the last: so the first of a hash is the first line. */
static void index_entries(struct audit *audit)
{
	for (uint32_t i = (uint32_t)audit->count; i-- > 0 && !audit->failed;) {
		struct audit_entry *entry = &audit->entries[i];
		audit->next_target[i] = audit->next_steady[i] = MAP64_NONE;
		if (entry->path && !entry->noauto) {
			uint64_t hash = map64_text(entry->path);
			uint32_t next = map64_remove(&audit->by_target, hash);
			audit->next_target[i] = next;
			audit->next_steady[i] = next != MAP64_NONE && audit->entries[next].automount ? audit->next_steady[next] : next;
			audit->failed |= map64_put(&audit->by_target, hash, i) == MAP64_NONE;
		}
		if (entry->path && entry->noauto && !entry->automount) {
			map64_remove(&audit->asleep, map64_text(entry->path));
			audit->failed |= map64_put(&audit->asleep, map64_text(entry->path), i) == MAP64_NONE;
		}
		if (entry->noauto || entry->bind)
			continue;
		number_source(audit, entry);
		uint64_t source = source_key(entry);
		map64_remove(&audit->by_source, source);
		audit->failed |= map64_put(&audit->by_source, source, i) == MAP64_NONE;
	}
}

/** Keep what another text is compared by. */
static void keep_mounts(struct audit *audit)
{
	struct audit_report *report = audit->report;
	report->mounts = calloc(audit->count + 1, sizeof(*report->mounts));
	audit->failed |= !report->mounts;
	for (size_t i = 0; i < audit->count && !audit->failed; ++i) {
		const struct audit_entry *entry = &audit->entries[i];
		const char *type = entry->fstype;
		if (!entry->path || strcmp(type, "ignore") == 0)
			continue;
		bool none = entry->flags & (FST_PSEUDO | FST_LAYERED) || strcmp(type, "none") == 0;
		report->mounts[report->nmounts++] = (struct audit_mount){
			.path = entry->path, .line = entry->line->number, .ignored = entry->ignored,
			.boots = !entry->noauto || entry->automount,
			.optional = entry->noauto || entry->nofail || entry->automount, .needed = entry->needed,
			.device = entry->bind || !none,
		};
	}
}

int audit_fstab(const struct audit_input *in, struct audit_report *report)
{
	static const struct fstab_facts none;
	struct audit_input input = *in;
	if (!input.facts)
		input.facts = &none;
	audit_report_init(report);
	size_t n = in->lines->count;
	struct audit audit = {
		.in = &input, .report = report, .entries = calloc(n + 1, sizeof(*audit.entries)),
		.next_target = calloc(n + 1, sizeof(*audit.next_target)),
		.next_steady = calloc(n + 1, sizeof(*audit.next_steady)),
	};
	map64_init(&audit.by_target);
	map64_init(&audit.by_source);
	map64_init(&audit.asleep);
	map64_init(&audit.written);
	map64_init(&audit.keys);
	map64_init(&audit.shown);
	strbuf_init(&audit.text);
	audit.failed = !audit.entries || !audit.next_target || !audit.next_steady;
	if (!audit.failed)
		read_lines(&audit);
	if (!audit.failed)
		index_entries(&audit);
	for (size_t i = 0; i < audit.count && !audit.failed; ++i) {
		const struct audit_entry *entry = &audit.entries[i];
		if (judge_blanks(&audit, entry))
			continue;
		judge_syntax(&audit, entry);
		judge_numbers(&audit, entry);
		judge_order(&audit, entry);
		judge_twice(&audit, entry);
		audit_options(&audit, entry);
		audit_source(&audit, entry);
		audit_place(&audit, entry);
	}
	if (!audit.failed)
		keep_mounts(&audit);
	if (!audit.failed)
		audit_report_sort(report);
	free(audit.entries);
	free(audit.next_target);
	free(audit.next_steady);
	map64_destroy(&audit.by_target);
	map64_destroy(&audit.by_source);
	map64_destroy(&audit.asleep);
	map64_destroy(&audit.written);
	map64_destroy(&audit.keys);
	map64_destroy(&audit.shown);
	strbuf_destroy(&audit.text);
	if (audit.failed)
		errno = ENOMEM;
	return audit.failed ? -1 : 0;
}
