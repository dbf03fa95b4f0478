/* SPDX-License-Identifier: MIT */
/*
 * Rules about the text of one entry: bytes, blanks, fields, numbers.
 */
#include "audit/audit_impl.h"

#include "base/escape.h"
#include "base/fstypes.h"
#include "base/secret.h"
#include "base/words.h"
#include "mountopts/fsopts.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/** Whether a raw field has a backslash that does not start an escape.  Names of links in /dev have
    backslashes of their own, since udev and the device mapper write a blank as "\x20". */
static bool has_stray_backslash(const struct tabline_field *field)
{
	bool link = field->raw && field->n > 5 && memcmp(field->raw, "/dev/", 5) == 0;
	for (size_t i = 0; field->raw && i < field->n; ++i) {
		if (field->raw[i] != '\\')
			continue;
		const char *at = field->raw + i;
		bool octal = field->n - i >= 4 && at[1] >= '0' && at[1] <= '3' && at[2] >= '0'
		             && at[2] <= '7' && at[3] >= '0' && at[3] <= '7',
		     hex = link && field->n - i >= 4 && at[1] == 'x'
		           && isxdigit((unsigned char)at[2]) && isxdigit((unsigned char)at[3]);
		if (!octal && !hex)
			return true;
		i += 3;
	}
	return false;
}

/** Report control characters in a line, and CR LF at its end. */
static void check_bytes(struct audit *audit, const struct fstab_entry *entry)
{
	const struct tabline *line = entry->line;
	bool cr = line->size == line->n + 2, last = cr && !line->fields[TABLINE_FREQ].raw,
	     odd = false;
	for (size_t i = 0; i < line->n; ++i)
		odd |= ((unsigned char)line->bytes[i] < ' ' && line->bytes[i] != '\t')
		       || line->bytes[i] == 0x7f;
	if (odd)
		audit_add_line(audit, entry, FSTAB_SYNTAX, AUDIT_WARNING, NULL, NULL,
			       "remove them; cat -A shows them",
			       "it contains control characters, which are read as part of a name "
			       "or an option");
	/* getmntent(3) removes only the LF.  If the CR becomes a part of the options (`last`),
	   report every such line, else only the first line of the file with a CR. */
	if (last || (cr && !audit->cr))
		audit_add_line(audit, entry, FSTAB_SYNTAX,
			       last ? AUDIT_CRITICAL | AUDIT_BOOT : AUDIT_WARNING, "LF", "CR LF",
			       "remove the CR: sed -i 's/\\r$//'",
			       last ? "it ends with CR LF: systemd reads the CR as part of the "
			              "last field"
			            : "lines end with CR LF, which not every program accepts");
	audit->cr |= cr;
}

const char *audit_hidden(struct audit *audit, const char *text, struct hidden *hidden)
{
	char before = '\0';
	for (size_t n; *text; before = text[n - 1], text += n) {
		uint32_t code = (unsigned char)*text < 0xc2 ? 0 : escape_hidden(text, before, &n);
		if (code) {
			hidden->n = n;
			hidden->blank = escape_is_blank(code);
			hidden->name = audit_format(audit->report, "U+%04X", code);
			hidden->looks = hidden->blank ? "looks like a blank" : "is invisible";
			hidden->remedy = hidden->blank
				? "remove it, or write \\040 for a blank; cat -A shows its bytes "
				  "as M-..."
				: "remove it; cat -A shows its bytes as M-...";
			return text;
		}
		n = (unsigned char)*text < 0xc2 ? 1 : n;
	}
	return NULL;
}

/** Whether a line was probably intended to continue the line before, which ends in a backslash. */
static bool continues(const struct tabline *line)
{
	return line->number > 1 && line[-1].kind != TABLINE_COMMENT
	       && tabline_is_continued(line - 1);
}

bool audit_blanks(struct audit *audit, const struct fstab_entry *entry)
{
	const struct tabline *line = entry->line;
	struct hidden hidden;
	if (tabline_is_continued(line)) {
		audit_add_line(audit, entry, FSTAB_SYNTAX, AUDIT_CRITICAL | AUDIT_BOOT,
			       "all fields in one line", NULL,
			       "join the next line to it, without the backslash",
			       "it ends in a backslash, which does not continue it in the next "
			       "line");
		return true;
	}
	bool odd = line->kind == TABLINE_DAMAGED || (!entry->path && !entry->swap);
	if (odd && continues(line)) {
		audit_add_line(audit, entry, FSTAB_SYNTAX, AUDIT_CRITICAL | AUDIT_BOOT,
			       "all fields in one line", NULL, "join it to the line before",
			       "the line before ends in a backslash, which does not continue it in "
			       "this line");
		return true;
	}
	const char *text = odd ? arena_strndup(&audit->report->arena, line->bytes, line->n)
	                       : entry->fstype,
	           *found = text ? audit_hidden(audit, text, &hidden) : NULL;
	for (uint32_t i = 0; !found && i < entry->nopts; ++i)
		found = audit_hidden(audit, entry->opts[i].name, &hidden);
	if (!found)
		return false;
	/* If "UUID=x /d" has a character such as U+00A0 (no-break space) where the blank should be,
	   the text after this character was probably intended as the mount point. */
	struct fstab_entry intended = *entry;
	struct hidden first, next;
	const char *in = odd ? audit_hidden(audit, entry->source, &first) : NULL;
	if (in && in[first.n] == '/') {
		const char *target = in + first.n, *end = audit_hidden(audit, target, &next);
		size_t n = end ? (size_t)(end - target) : strlen(target);
		intended.target = audit_format(audit->report, "%.*s", (int)n, target);
	}
	if (hidden.blank)
		audit_add_line(audit, &intended, FSTAB_SYNTAX, AUDIT_CRITICAL | AUDIT_BOOT,
			       "blanks and tabs", hidden.name,
			       "replace it with a blank; cat -A shows its bytes as M-...",
			       "it contains a %s, which looks like a blank but does not separate "
			       "fields", hidden.name);
	else
		audit_add_line(audit, &intended, FSTAB_SYNTAX, AUDIT_CRITICAL | AUDIT_BOOT, NULL,
			       hidden.name, hidden.remedy,
			       "it contains a %s, which is invisible, and part of a name or an "
			       "option", hidden.name);
	return true;
}

/** Report invisible characters in a name.
    @what  The field or option: "mount point". */
static void check_hidden(struct audit *audit, const struct fstab_entry *entry, const char *what,
                         const char *text)
{
	struct hidden hidden;
	if (audit_hidden(audit, text, &hidden))
		audit_add_line(audit, entry, FSTAB_SYNTAX, AUDIT_WARNING | AUDIT_BOOT, NULL,
			       hidden.name, hidden.remedy, "the %s contains a %s, which %s", what,
			       hidden.name, hidden.looks);
}

/** Report invisible characters in the source, the mount point and values of options. */
static void check_names(struct audit *audit, const struct fstab_entry *entry)
{
	/* audit_tag_fault() checks tags. */
	if (!fstab_is_tag(entry->source))
		check_hidden(audit, entry, "source", entry->source);
	if (entry->path)
		check_hidden(audit, entry, "mount point", entry->target);
	for (uint32_t i = 0; i < entry->nopts; ++i) {
		const struct opt *o = &entry->opts[i];
		if (o->value && !o->is_x
		    && !word_in(o->name, o->nname, "comment pass password password2"))
			check_hidden(audit, entry, audit_format(audit->report, "value of %s",
			                                        o->name), o->value);
	}
}

enum { TYPE_WORDS_MAX = 100 };   /* maximum number of words of the third field checked */

/** The words of the third field, separated by commas.  A member is NULL if there is no such
    word. */
struct type_words {
	const char *type;        /* the first word that is a type */
	const char *lower;       /* the first word that is a type only in lower case, converted to
	                            lower case */
	const char *first;       /* the first word, unless it is an option */
	bool option;             /* a word is an option or a number */
	bool bind, swap;         /* a word is an option of binds, of swap spaces */
	bool needed;             /* a word is an option, without effect here, that makes the mount
	                            optional or late */
};

/** Whether mount(8) can take a word of the third field for a type. */
static bool is_type(const char *word)
{
	return fstype_flags(word) & FST_KNOWN || strcmp(word, "auto") == 0;
}

/** Whether a word is the name of a type whose options are known, or that only mount(8) knows. */
static bool is_type_name(const char *word)
{
	return is_type(word) || fsopt_names(word, 0)
	       || word_in(word, strlen(word), "swap none lowntfs-3g davfs zfs");
}

/* Words that stand in the third field, though no file system has the name. */
static const struct {
	const char *name;        /* upper and lower case are equal */
	const char *hint;        /* NULL: a placeholder */
} no_types[] = {
	{"fstype", NULL}, {"fs_type", NULL}, {"vfstype", NULL}, {"fs_vfstype", NULL},
	{"type", NULL}, {"filesystem", NULL}, {"-", NULL},
	{"fat", "use vfat"}, {"fat16", "use vfat"}, {"fat32", "use vfat"}, {"hfs+", "use hfsplus"},
	{"iso", "use iso9660"}, {"linux-swap", "use swap"}, {"nfsv3", "use nfs"},
	{"nfs3", "use nfs"}, {"nfsv4", "use nfs4"}, {"smb", "use cifs"}, {"samba", "use cifs"},
	/* What blkid(8) shows of devices that contain other devices. */
	{"crypto_luks", "use the device in /dev/mapper that crypttab(5) opens, and its type"},
	{"lvm2_member", "use a logical volume, and its type"},
	{"linux_raid_member", "use the array, and its type"},
	{"zfs_member", "use the name of the dataset, and the type zfs"},
};

/** The index in no_types[] of a word; -1: it may be a type. */
static int find_no_type(const char *word)
{
	for (size_t i = 0; i < sizeof(no_types) / sizeof(*no_types); ++i) {
		if (strcasecmp(word, no_types[i].name) == 0)
			return (int)i;
	}
	return -1;
}

/** Whether a text contains bytes that the name of no type has.  The program in "fuse.PROGRAM" may
    have such bytes in its name. */
static bool has_odd_bytes(const char *fstype)
{
	static const char bytes[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	                            "0123456789._-+#/@,\\";
	return fstype[strspn(fstype, bytes)] && strncmp(fstype, "fuse.", 5) != 0;
}

/** Whether a text has no bytes but digits; true for an empty text. */
static bool is_number(const char *text)
{
	return !text[strspn(text, "0123456789")];
}

static void read_type_words(struct audit *audit, const char *list, struct type_words *words)
{
	struct opt *opts;
	uint32_t n = opts_read(list, opt_next_shown, &audit->report->arena, &opts);
	for (uint32_t i = 0; i < n && i < TYPE_WORDS_MAX; ++i) {
		const struct opt *o = &opts[i];
		bool name = !o->value && is_type_name(o->name);
		if (!o->value && is_type(o->name))
			words->type = words->type ? words->type : o->name;
		if (!name && find_no_type(o->name) < 0
		    && (o->value || o->is_x || fsopt_is_any(o->text, o->n)
		        || strcmp(o->name, "sw") == 0 || is_number(o->name))) {
			words->option = true;
			words->bind |= o->meaning == FO_BIND;
			words->needed |= o->meaning == FO_NOFAIL || o->meaning == FO_NOAUTO
			                 || o->meaning == FO_NETDEV
			                 || o->meaning == FO_AUTOMOUNTED;
			words->swap |= word_in(o->name, o->nname, "sw pri");
			continue;
		}
		words->first = i == 0 ? o->name : words->first;
		if (name || words->lower)
			continue;
		const char *lower = audit_in_case(audit->report, o->name, false);
		words->lower = is_type_name(lower) ? lower : NULL;
	}
}

/** The type that was probably intended in a line without a type; NULL: a file system on a disk. */
static const char *probable_type(const struct fstab_entry *entry, const struct type_words *words)
{
	const char *source = entry->source;
	if (words->swap || !entry->path)
		return "swap";
	if (words->bind)
		return "none";
	if (fstype_flags(source) & (FST_PSEUDO | FST_LAYERED))
		return source;
	return strncmp(source, "//", 2) == 0               ? "cifs"
	       : *source != '/' && strstr(source, ":/") ? "nfs" : NULL;
}

/** Whether the second field is "none" or "swap", as for a swap space. */
static bool is_no_target(const char *target)
{
	return strcmp(target, "none") == 0 || strcmp(target, "swap") == 0;
}

/** The remedy for a third field that is a number, or contains only options. */
static const char *missing_type_hint(struct audit *audit, const struct fstab_entry *entry,
                                     const struct type_words *words, bool number)
{
	struct audit_report *report = audit->report;
	const char *type = probable_type(entry, words);
	const char *next = entry->line->fields[TABLINE_OPTIONS].raw ? entry->options : "";
	bool last = is_number(next);   /* only numbers follow */
	if (number)
		return "insert the type and the options, such as auto defaults";
	if (last)
		return type ? audit_format(report, "insert the type %s before it", type)
		            : "insert the type before it, such as ext4, or auto";
	if (is_type(next))
		return audit_format(report, "write %s before the options", next);
	return type ? audit_format(report, "write %s as the third field, and the options as the "
	                           "fourth", type)
	            : "write the type as the third field, such as ext4, or auto, and the options "
	              "as the fourth";
}

/** Report a third field that contains only options. */
static void report_no_type(struct audit *audit, const struct fstab_entry *entry,
                           const struct type_words *words)
{
	bool number = is_number(entry->fstype);
	audit_add_line(audit, entry, FSTAB_SYNTAX, AUDIT_CRITICAL | AUDIT_BOOT,
		       "source, mount point, type, options, two numbers", entry->fstype,
		       missing_type_hint(audit, entry, words, number),
		       "the type is missing: mount(8) and systemd read %s as the type",
		       number ? "a number" : "the options");
}

bool audit_fields(struct audit *audit, const struct fstab_entry *entry)
{
	struct type_words words = {0};
	if (entry->bind || entry->swap || (!entry->path && !is_no_target(entry->target)))
		return true;
	read_type_words(audit, entry->fstype, &words);
	int no_type = find_no_type(entry->fstype);
	if (words.option || (!words.type && (words.lower || no_type >= 0
	                                     || has_odd_bytes(entry->fstype))))
		audit->typed = entry;
	/* mount(8) tries each word as a type until a mount succeeds. */
	bool number = is_number(entry->options),
	     works = words.type && !(words.option && number);
	if (audit->typed == entry && !works)
		audit->refused = "the line has no type that mount(8) knows";
	if (words.option && !words.first && !words.type) {
		report_no_type(audit, entry, &words);
	} else if (words.option) {
		audit_add_line(audit, entry, FSTAB_SYNTAX,
			       (works && !words.needed ? AUDIT_WARNING : AUDIT_CRITICAL)
			       | AUDIT_BOOT,
			       "a type, a blank, and options", entry->fstype,
			       audit_format(audit->report, "separate %s from the options by a "
			                    "blank", words.type ? words.type : words.first),
			       "the type field contains options, which %s",
			       works ? "have no effect" : "mount(8) reads as types");
	} else if (audit->typed == entry) {
		audit_add_line(audit, entry, FSTAB_TYPE_UNSUPPORTED,
			       (entry->optional ? AUDIT_WARNING : AUDIT_CRITICAL) | AUDIT_BOOT,
			       words.lower, entry->fstype,
			       words.lower ? audit_format(audit->report, "did you mean %s? Upper "
			                                  "and lower case differ", words.lower)
			       : no_type >= 0 && no_types[no_type].hint ? no_types[no_type].hint
			                   : "write the type, such as ext4, or auto",
			       "unknown type %s", entry->fstype);
	}
	audit->refused = NULL;
	return !words.option;
}

/** Report paths that systemd's generator cannot write to a unit file: the parser of unit files
    removes blanks at the end of a value, ends the value at a newline, and joins the next line to a
    value that ends in a backslash. */
static void check_unit_text(struct audit *audit, const struct fstab_entry *entry)
{
	const char *const paths[] = {entry->path, *entry->source == '/' ? entry->source : NULL};
	for (size_t i = 0; i < 2; ++i) {
		const char *path = paths[i];
		size_t n = path ? strlen(path) : 0;
		bool newline = n && strpbrk(path, "\n\r");
		if (!n || (!newline && !strchr(" \t\\", path[n - 1])))
			continue;
		const char *what = i ? "source" : "mount point",
		           *why = newline ? "contains a line break"
		                : path[n - 1] == '\\' ? "ends in a backslash" : "ends in a blank";
		audit_add_line(audit, entry, FSTAB_SYNTAX, AUDIT_WARNING | AUDIT_BOOT, NULL, NULL,
			       "rename the directory, and correct the line",
			       i ? "the %s %s: systemd reads another path from the unit that it "
			           "generates, and mounts that"
			         : "the %s %s: systemd generates a unit whose Where= does not "
			           "match its name, and refuses it", what, why);
	}
}

/** Make the hint for a line with a secret: in which file to put the secret. */
static const char *secret_hint(struct audit *audit, const struct fstab_entry *entry)
{
	size_t n;
	const char *option = fsopt_key_file(entry->fstype, &n);
	return option ? audit_format(audit->report, "move it to a file that only root can read: "
	                             "%.*s=FILE", (int)n, option)
	              : "move it to a file that only root can read: see the manual page of the "
	                "type";
}

void audit_syntax(struct audit *audit, const struct fstab_entry *entry)
{
	const struct tabline *line = entry->line;
	check_bytes(audit, entry);
	check_names(audit, entry);
	check_unit_text(audit, entry);
	static const char *const names[] = {"source", "mount point", "type"};
	for (unsigned i = TABLINE_SOURCE; i <= TABLINE_FSTYPE; ++i) {
		const struct tabline_field *field = &line->fields[i];
		if (has_stray_backslash(field))
			audit_add_line(audit, entry, FSTAB_ESCAPE, AUDIT_CRITICAL | AUDIT_BOOT,
				       "\\040 for a blank, \\134 for a backslash", NULL,
				       "write three octal digits after it",
				       "the %s has a backslash that starts no escape of three "
				       "octal digits: it is read literally", names[i]);
		if (i < TABLINE_FSTYPE && field->raw && (*field->raw == '"' || *field->raw == '\''))
			audit_add_line(audit, entry, FSTAB_ESCAPE, AUDIT_CRITICAL | AUDIT_BOOT,
				       NULL, NULL,
				       "remove the quotation marks; write \\040 for a blank",
				       "the %s begins with a quotation mark, which is read as part "
				       "of the name", names[i]);
	}
	if (line->rest && line->nrest)
		audit_add_line(audit, entry, FSTAB_SYNTAX,
			       *line->rest == '#' ? AUDIT_INFO : AUDIT_WARNING, "six fields", NULL,
			       *line->rest == '\\'
			       ? "remove the backslash: a line cannot be continued"
			       : "put comments on lines of their own",
			       "text after the sixth field is ignored");
	bool none = is_no_target(entry->target), missing = !none && is_type(entry->target);
	if (!entry->swap && !entry->path && !(none && audit->typed == entry))
		audit_add_line(audit, entry, FSTAB_SYNTAX, AUDIT_CRITICAL | AUDIT_BOOT, "/...",
			       none ? "none" : NULL,
			       missing ? "insert the mount point before the type"
			               : "use the absolute path of a directory",
			       "the mount point is %s", missing ? "missing: the second field is a "
			       "type" : "not an absolute path");
	if (entry->swap && !none)
		audit_add_line(audit, entry, FSTAB_SWAP, AUDIT_WARNING, "none", entry->target,
			       "use none", "a swap space has no mount point");
	if (!audit->in->closed
	    && (source_has_secret(entry->source) || has_secret(entry->fstype)
	        || (!entry->path && has_secret(entry->target))
	        || opts_hold_secret(entry->options)))
		audit_add_line(audit, entry, FSTAB_SECRET, AUDIT_WARNING, NULL, NULL,
			       secret_hint(audit, entry),
			       "it contains a secret, and all users can read this file");
}

/** The reason, as the subject of a sentence, why no fsck can check the file system of a line; NULL:
    an fsck may check it.  systemd checks only devices, fsck -A also images in files. */
static const char *uncheckable(const struct fstab_entry *entry)
{
	const char *fstype = entry->fstype, *source = entry->source;
	size_t n = strlen(fstype);
	if (entry->bind)
		return "a bind";
	if (entry->swap)
		return "a swap space";
	if (entry->type & FST_NET && !(entry->type & FST_DEVICE))
		return "a network file system";
	if (entry->type & FST_PSEUDO)
		return "a file system without a device";
	if (strcmp(fstype, "overlay") == 0)
		return "an overlay";
	if (strcmp(fstype, "fuse") == 0 || strncmp(fstype, "fuse.", 5) == 0)
		return "a FUSE file system";
	if (word_in(fstype, n, "iso9660 squashfs romfs efs"))
		return "a read-only file system";
	if (entry->type & FST_DEVICE || fstab_is_tag(source) || word_below(source, "/dev")
	    || word_in(fstype, n, "auto none ignore") || strchr(fstype, ',')
	    || fstab_entry_value(entry, "loop"))
		return NULL;
	return entry->network && !entry->netdev ? "a network file system"
	                                        : "a file system without a device";
}

void audit_numbers(struct audit *audit, const struct fstab_entry *entry)
{
	int freq = entry->line->freq, pass = entry->line->passno;
	bool root = entry->root;
	/* A missing field is -1.  If the field exists but is less than 0, it is a negative number,
	   since a field that is not a number makes the line damaged. */
	const struct tabline_field *first = &entry->line->fields[TABLINE_FREQ],
	                           *second = &entry->line->fields[TABLINE_PASSNO];
	if (freq > 1 || (freq < 0 && first->raw))
		audit_add_line(audit, entry, FSTAB_PASSNO, AUDIT_WARNING, "0 or 1",
			       audit_format(audit->report, "%.*s", (int)first->n, first->raw),
			       "use 0", "the fifth field (dump) is invalid");
	const char *what = pass > 0 ? uncheckable(entry) : NULL;
	bool late = root && entry->type & FST_FSCK && !entry->bind && pass > 1;
	if (what)
		audit_add_line(audit, entry, FSTAB_PASSNO, AUDIT_WARNING, "0",
			       audit_format(audit->report, "%d", pass), "use 0",
			       "%s cannot be checked by fsck(8)", what);
	else if ((pass > 2 && !late) || (pass < 0 && second->raw))
		audit_add_line(audit, entry, FSTAB_PASSNO, pass > 2 ? AUDIT_INFO : AUDIT_WARNING,
			       "0, 1 or 2",
			       audit_format(audit->report, "%.*s", (int)second->n, second->raw),
			       "use 1 for the root, 2 for other file systems, 0 for no check",
			       pass > 2 ? "fsck -A checks it after those with a lower number; for "
			                  "systemd the number is 2"
			                : "the sixth field (fsck pass) is invalid");
	/* A pass of 1 for a file system other than the root is only an info: the installer of
	   Debian writes 1 for the EFI system partition (vfat), the installer of Ubuntu writes 1 for
	   all file systems, and systemd treats 1 as 2. */
	const struct fstab_entry *first_root = audit_at(audit, "/");
	if (!root && pass == 1 && entry->type & FST_FSCK && !entry->noauto
	    && strcmp(entry->fstype, "vfat") != 0 && first_root && first_root->type & FST_FSCK
	    && first_root->line->passno == 1)
		audit_add_line(audit, entry, FSTAB_PASSNO, AUDIT_INFO, "2", "1", "use 2",
			       "it has the fsck pass of the root: fsck -A may check both at once, "
			       "on one disk");
	if (root && entry->type & FST_FSCK && !entry->bind && pass != 1)
		audit_add_line(audit, entry, FSTAB_PASSNO, late ? AUDIT_WARNING : AUDIT_INFO,
			       "1", audit_format(audit->report, "%d", pass < 0 ? 0 : pass), "use 1",
			       late ? "the root is checked after other file systems"
			       : "the root is not checked by fsck(8)");
}
