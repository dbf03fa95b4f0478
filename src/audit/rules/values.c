/* SPDX-License-Identifier: MIT */
/*
 * Check the values of options for mount(8), swapon(8) and systemd, and options that require other
 * options.
 */
#include "audit/audit_impl.h"

#include "base/fstypes.h"
#include "base/words.h"
#include "fstab/target.h"
#include "mountopts/fsopts.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/** Whether a text is a time span of systemd.time(7): "90", "1min 30s", "infinity". */
static bool is_time(const char *text)
{
	static const char units[] = "s seconds second sec m minutes minute min h hours hour hr d "
	                            "days day w weeks week M months month y years year "
	                            "ms msec us usec \xce\xbcs \xc2\xb5s";
	static const char blanks[] = " \t\n\v\f\r";
	const char *at = text + strspn(text, blanks);
	bool any = false;
	if (strcmp(text, "infinity") == 0)
		return true;
	for (; *at; at += strspn(at, blanks), any = true) {
		size_t digits = strspn(at, "0123456789"), point = at[digits] == '.';
		digits += strspn(at + digits + point, "0123456789");
		if (digits == 0)
			return false;
		at += digits + point;
		at += strspn(at, blanks);
		size_t unit = strcspn(at, " \t\n\v\f\r0123456789");
		if (unit && !word_in(at, unit, units))
			return false;
		at += unit;
	}
	return any;
}

/** Check the value of an option x-* or X-*: a time span or unit of systemd, or an octal mode. */
static void check_x(struct audit *audit, const struct fstab_entry *entry,
                    const struct opt *o)
{
	static const char kinds[] =
		"service socket device mount automount swap target path timer slice scope";
	const char *value = o->value && *o->value ? o->value : NULL;
	const char *dot = value ? strrchr(value, '.') : NULL;
	if (word_in(o->name, o->nname,
	            "x-systemd.device-timeout x-systemd.mount-timeout x-systemd.idle-timeout")
	    && !(value && is_time(value)))
		audit_add_line(audit, entry, FSTAB_OPT_UNKNOWN, AUDIT_WARNING,
			       "a time span, for example 90s or 1min 30s", value,
			       "use a time span: systemd.time(7)",
			       "%.*s is not a time span: systemd ignores it", (int)o->n, o->text);
	if (value && o->meaning >= FO_REQUIRES && o->meaning <= FO_BEFORE && *value != '/'
	    && !(dot && word_in(dot + 1, strlen(dot + 1), kinds)))
		audit_add_line(audit, entry, FSTAB_OPT_UNKNOWN, AUDIT_WARNING,
			       "a path, or a unit such as network-online.target", value,
			       "write the full name of the unit",
			       "the value of %s is neither a path nor a full unit name: systemd "
			       "reads it as %s.mount", o->name, value);
	if (value && word_in(o->name, o->nname, "X-mount.mkdir x-mount.mkdir X-mount.mode")
	    && isdigit((unsigned char)*value) && value[strspn(value, "01234567")])
		audit_add_line(audit, entry, FSTAB_OPT_UNKNOWN, AUDIT_WARNING | AUDIT_BOOT,
			       "an octal number, for example 0755", value, "use an octal number",
			       "%s must be an octal number: mount(8) refuses the line", o->name);
}

/** Whether a line has the option `with`, and for "ro", whether no "rw" follows. */
static bool has_with(const struct fstab_entry *entry, const char *with)
{
	if (strcmp(with, "ro") != 0)
		return fstab_entry_value(entry, with);
	const struct opt *ro = fstab_entry_find(entry, "ro"),
	                 *rw = fstab_entry_find(entry, "rw");
	return ro && (!rw || rw < ro);
}

/** Report an option that requires an option which the line does not have. */
static void check_needs(struct audit *audit, const struct fstab_entry *entry,
                        const struct opt *o)
{
	const struct fsopt *row = fsopt_of_line(entry->fstype, FSOPT_NEEDING, o->text, o->nname);
	/* Check only the last of a repeated option, which is in effect. */
	if (!row || fstab_entry_find(entry, o->name) != o || has_with(entry, row->needs))
		return;
	/* With the value 0, or for jquota an empty value, the option is off;
	   rescue=usebackuproot requires no option. */
	const char *option = o->name;
	if ((o->value && word_in(o->value, strlen(o->value), "0 usebackuproot"))
	    || (strstr(option, "jquota") && !(o->value && *o->value)))
		return;
	audit->option = audit_format(audit->report, "%.*s", (int)o->n, o->text);
	audit->refused = audit_format(audit->report, "the line has option %s without %s", option,
	                              row->needs);
	audit_add_line(audit, entry, FSTAB_OPT_CONFLICT, AUDIT_WARNING | AUDIT_BOOT, row->needs,
		       NULL,
		       audit_format(audit->report, "add %s, or remove %s", row->needs, option),
		       "%s requires %s: the kernel refuses the mount", option, row->needs);
	audit->option = audit->refused = NULL;
}

/** Check the values of the options pri and discard of a swap space. */
static void check_swap(struct audit *audit, const struct fstab_entry *entry)
{
	const char *pri = fstab_entry_value(entry, "pri"),
	           *discard = fstab_entry_value(entry, "discard");
	if (pri) {
		char *end;
		long value = strtol(pri, &end, 10);
		if (!*pri || *end || value < -1 || value > 32767)
			audit_add_line(audit, entry, FSTAB_SWAP, AUDIT_WARNING, "-1 to 32767", pri,
				       "use a number in this range",
				       "the swap priority is invalid");
	}
	if (discard && *discard && strcmp(discard, "once") != 0 && strcmp(discard, "pages") != 0)
		audit_add_line(audit, entry, FSTAB_SWAP, AUDIT_WARNING, "once or pages", discard,
			       "use discard, discard=once or discard=pages",
			       "the value of discard is invalid");
}

/** Report a device that boot waits for without a time limit, and a mount that boot needs although
    the system may run without it. */
static void check_waiting(struct audit *audit, const struct fstab_entry *entry)
{
	const char *timeout = fstab_entry_value(entry, "x-systemd.device-timeout");
	char *end;
	if (timeout && *timeout && !entry->idle && !entry->automount
	    && strtoul(timeout, &end, 10) == 0 && end != timeout
	    && (!*end || strcmp(end, "s") == 0))
		audit_add_line(audit, entry, FSTAB_NOFAIL, AUDIT_INFO, "a time", timeout,
			       "use 10s, or add nofail",
			       "x-systemd.device-timeout=0 means no timeout: boot waits for the "
			       "device forever");
	if (!entry->path || !entry->needed)
		return;
	if (!audit_needs_optional(audit, entry) && entry->type & FST_DEVICE && !entry->bind
	    && !fstab_is_system(entry->path)) {
		audit_add_line(audit, entry, FSTAB_NOFAIL, AUDIT_INFO, "nofail", NULL,
			       "add nofail if the system can run without it",
			       "boot ends in emergency mode if it is missing");
	}
}

/** Report an EFI system partition that all users can read.  Of several masks for files, or for
    directories, the last applies. */
static void check_esp(struct audit *audit, const struct fstab_entry *entry)
{
	enum { READ = 4, SEARCH = 1 };
	unsigned long files = 0022, dirs = 0022;   /* the umask of mount(8) at boot */
	if (!entry->path || !word_in(entry->path, strlen(entry->path), "/boot/efi /efi /boot")
	    || strcmp(entry->fstype, "vfat") != 0)
		return;
	for (uint32_t i = 0; i < entry->nopts; ++i) {
		const struct opt *o = &entry->opts[i];
		unsigned long mask = o->value ? strtoul(o->value, NULL, 8) : 0;
		files = word_in(o->name, o->nname, "umask fmask") ? mask : files;
		dirs = word_in(o->name, o->nname, "umask dmask") ? mask : dirs;
	}
	if (dirs & READ && (dirs & SEARCH || files & READ))
		return;
	audit_add_line(audit, entry, FSTAB_ESP_MASK, AUDIT_INFO, "umask=0077",
		       audit_format(audit->report, "fmask=%04lo,dmask=%04lo", files, dirs),
		       "add umask=0077", "all users can read it, with the secrets of boot loaders");
}

/** Report a line with more than one NFS version, which mount.nfs(8) refuses. */
static void check_versions(struct audit *audit, const struct fstab_entry *entry)
{
	static const char names[] = "vers nfsvers v2 v3 v4 v4.0 v4.1 v4.2";
	const struct opt *first = NULL;
	if (!word_in(entry->fstype, strlen(entry->fstype), "nfs nfs4"))
		return;
	for (uint32_t i = 0; i < entry->nopts; ++i) {
		const struct opt *o = &entry->opts[i];
		if (!word_in(o->name, o->nname, names))
			continue;
		if (first && strcmp(first->name, o->name) != 0) {
			audit_add_line(audit, entry, FSTAB_OPT_CONFLICT, AUDIT_WARNING | AUDIT_BOOT,
				       "one version", NULL, "remove one",
				       "%.*s and %.*s: mount.nfs(8) refuses more than one version",
				       (int)first->n, first->text, (int)o->n, o->text);
			return;
		}
		first = o;
	}
}

/** Report an option, such as x-systemd.after=, that orders a line and a target against the order of
    a boot: local file systems, local-fs.target, sysinit.target, basic.target, the network. */
static void check_target(struct audit *audit, const struct fstab_entry *entry,
                         const struct opt *o)
{
	static const char late[] = "sysinit.target basic.target multi-user.target graphical.target",
	                  online[] = "network-online.target",
	                  early[] = "local-fs-pre.target local-fs.target sysinit.target "
	                            "basic.target";
	const char *value = o->value ? o->value : "";
	size_t len = strlen(value);
	bool online_too = word_in(value, len, online);
	bool after = o->meaning == FO_REQUIRES || o->meaning == FO_AFTER;
	if (entry->idle || entry->automount || !len || !audit_is_systemd(audit))
		return;
	/* Only an info for x-systemd.after=network-online.target: the option does not require the
	   target, so systemd may never start it. */
	bool info = online_too && o->meaning == FO_AFTER;
	if (after && !entry->network && !entry->nofail
	    && (online_too || word_in(value, len, late)))
		audit_add_line(audit, entry, FSTAB_ORDER, info ? AUDIT_INFO : AUDIT_WARNING,
			       online_too ? "_netdev" : "nofail", NULL,
			       online_too ? "add _netdev" : "remove the option, or add nofail",
			       "systemd reaches %s after local-fs.target%s, and mounts this line "
			       "before local-fs.target: to break the cycle it skips a unit",
			       value,
			       online_too ? " if a service such as NetworkManager sets up the "
			                    "network" : "");
	else if (entry->network && o->meaning == FO_BEFORE && word_in(value, len, early))
		audit_add_line(audit, entry, FSTAB_ORDER, AUDIT_WARNING, NULL, NULL,
			       "remove the option", "systemd starts the network after %s, and "
			       "mounts this line after the network: to break the cycle it skips "
			       "a unit", value);
}

void audit_values(struct audit *audit, const struct fstab_entry *entry)
{
	for (uint32_t i = 0; i < entry->nopts; ++i) {
		const struct opt *o = &entry->opts[i];
		if (o->is_x) {
			check_x(audit, entry, o);
			check_target(audit, entry, o);
		}
		if (!entry->bind)
			check_needs(audit, entry, o);
	}
	check_versions(audit, entry);
	if (entry->swap)
		check_swap(audit, entry);
	check_waiting(audit, entry);
	check_esp(audit, entry);
}
