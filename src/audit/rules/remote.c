/* SPDX-License-Identifier: MIT */
/*
 * Sources of network and FUSE file systems, and the files with secrets that their options name.
 */
#include "audit/audit_impl.h"

#include "base/fstypes.h"
#include "base/secret.h"
#include "base/words.h"
#include "mountopts/fsopts.h"

#include <string.h>
#include <strings.h>

/** Get the form that the source of a network file system must have, if the source has a different
    form; or NULL. */
static const char *other_form(const struct fstab_entry *entry)
{
	static const char *const rows[][2] = {
		{"nfs nfs4", "SERVER:/PATH"},
		{"fuse.sshfs sshfs", "[USER@]HOST:[PATH]"},
		{"cifs smb3", "//SERVER/SHARE"},
	};
	const char *source = entry->source;
	/* mount.fuse(8) runs the text before '#' as a program. */
	if (strcmp(entry->fstype, "fuse") == 0 && strchr(source, ':') && !strchr(source, '#'))
		return "PROGRAM#SOURCE";
	/* Not for the root, which is already mounted: a diskless host has the source /dev/nfs. */
	for (size_t i = 0; *source && !entry->root && i < sizeof(rows) / sizeof(*rows); ++i) {
		const char *form = rows[i][1];
		if (!word_in(entry->fstype, strlen(entry->fstype), rows[i][0]))
			continue;
		if (*form != '/')
			return strchr(source, ':') ? NULL : form;
		size_t n = strspn(source, "/\\") == 2 ? strcspn(source + 2, "/\\") : 0;
		return (n && source[2 + n] && source[2 + n + 1])
		       || fstab_entry_value(entry, "unc") || fstab_entry_value(entry, "target")
		       || fstab_entry_value(entry, "path") ? NULL : form;
	}
	return NULL;
}

/** Whether a source contains a placeholder for a server or path. */
static bool has_placeholder(const char *source)
{
	const char *open = strchr(source, '<');
	return audit_is_placeholder(source) || (open && strchr(open, '>'));
}

/** Whether a line is of the type sshfs. */
static bool is_sshfs(const struct fstab_entry *entry)
{
	return word_in(entry->fstype, strlen(entry->fstype), "fuse.sshfs sshfs");
}

/** The length of the program before the source of an sshfs, or of a type with paths as sources:
    "sshfs#USER@HOST:", "bindfs#/DIR"; 0: none.  mount.fuse(8) removes the program only for the type
    fuse. */
static size_t program_length(const struct fstab_entry *entry)
{
	const char *program = strncmp(entry->fstype, "fuse.", 5) == 0 ? entry->fstype + 5 : "",
	           *source = entry->source;
	size_t n = is_sshfs(entry) ? strcspn(source, "#@:") : strlen(program);
	bool found = is_sshfs(entry) ? source[n] == '#'
	             : strncmp(source, program, n) == 0 && strncmp(source + n, "#/", 2) == 0;
	return found ? n : 0;
}

/** Get the value of the last option with a name.  The case of the name is ignored if the helper of
    the type ignores it. */
static const char *value_in_any_case(const struct fstab_entry *entry, const char *name)
{
	const char *value = fstab_entry_value(entry, name);
	for (uint32_t i = entry->nopts; !value && i-- > 0;) {
		const struct opt *o = &entry->opts[i];
		if (strcasecmp(o->name, name) == 0
		    && fsopt_of_line(entry->fstype, FSOPT_KNOWN, o->text, o->nname))
			value = o->value;
	}
	return value;
}

/** Report a file with a secret, named by an option, that all users can read or that does not exist:
    without the file, the mount fails or asks for the secret. */
static void check_keys(struct audit *audit, const struct fstab_entry *entry)
{
	static const char *const names[] = {"credentials",  "cred",         "secretfile",
	                                    "IdentityFile", "passwordfile", "passwd_file"};
	const struct fstab_facts *facts = audit->in->facts;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); ++i) {
		const char *path = value_in_any_case(entry, names[i]);
		if (!path || *path != '/' || strchr(path, '%') || audit_above(audit, entry, path))
			continue;
		enum fact_kind kind = audit_look(facts, path);
		if (kind == FACT_FILE && fstab_answer(facts, FSTAB_IS_OPEN, path) > 0)
			audit_add_line(audit, entry, FSTAB_SECRET, AUDIT_WARNING,
				       "readable by root only", path,
				       audit_command(audit->report,
				                     "make it readable for root only",
				                     "chmod", "600", path, NULL),
				       "all users can read the file of %s", names[i]);
		if (kind == FACT_MISSING)
			audit_add_line(audit, entry, FSTAB_SRC_MISSING, AUDIT_WARNING, "a file",
				       path, "create it, readable for root only",
				       "the file of %s does not exist", names[i]);
	}
}

/** Report a source that the helper of the type cannot use. */
static void report_source(struct audit *audit, const struct fstab_entry *entry,
                          const char *expected, const char *hint, const char *message)
{
	bool secret = source_has_secret(entry->source);
	audit_add_line(audit, entry, FSTAB_SRC_MISSING,
		       (entry->optional ? AUDIT_WARNING : AUDIT_CRITICAL) | AUDIT_BOOT,
		       secret ? NULL : expected, secret ? NULL : entry->source, hint, "%s",
		       message);
}

bool audit_remote(struct audit *audit, const struct fstab_entry *entry)
{
	bool helper = entry->type & FST_NET || entry->network
	              || strncmp(entry->fstype, "fuse", 4) == 0;
	if (helper)
		check_keys(audit, entry);
	if (entry->bind)
		return false;
	const char *form = other_form(entry), *source = entry->source;
	struct audit_report *report = audit->report;
	int program = (int)program_length(entry);
	if (form)
		report_source(audit, entry, form, "correct the server and the directory",
		              audit_format(report, "the source of %s must be %s", entry->fstype,
		                           form));
	else if (program)
		report_source(audit, entry, source + program + 1,
		              audit_format(report, "remove %.*s#, or use the type fuse", program,
		                           source),
		              audit_format(report, "with the type %s, \"%.*s#\" is part of the "
		                           "%s", entry->fstype, program, source,
		                           is_sshfs(entry) ? "name of the user or host"
		                                           : "source"));
	else if (helper && !(entry->type & FST_DEVICE) && has_placeholder(source))
		report_source(audit, entry, NULL, "write the name of the server or directory",
		              "the source contains a placeholder");
	else
		return false;
	return true;
}
