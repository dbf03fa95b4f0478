/* SPDX-License-Identifier: MIT */
/*
 * Time spans of systemd, and options that require others.
 */
#include "audit/audit_impl.h"

#include "base/words.h"
#include "mountopts/fsopts.h"
#include "mountopts/optlist.h"

#include <ctype.h>
#include <string.h>

bool audit_is_time(const char *text, size_t n)
{
	static const char units[] = "s seconds second sec m minutes minute min h hours hour hr d "
	                            "days day w weeks week M months month y years year "
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

/** Whether a line has an option that another one requires. */
static bool has_with(struct audit *audit, const struct audit_entry *entry, const char *with)
{
	if (strcmp(with, "ro") != 0)
		return audit_option(audit, entry, with);
	size_t n, m;
	const char *ro = opt_find(entry->options, "ro", 2, &n),
	           *rw = opt_find(entry->options, "rw", 2, &m);
	return ro && (!rw || rw < ro);
}

void audit_pairs(struct audit *audit, const struct audit_entry *entry)
{
	const char *at = entry->options;
	size_t n, m;
	for (const char *o; !entry->bind && (o = opt_next(&at, &n)) != NULL;) {
		size_t key = opt_name(o, n);
		const struct fsopt *row = fsopt_needing(entry->fstype, o, key);
		/* Of several with one name the last counts. */
		if (!row || opt_find(entry->options, o, key, &m) != o
		    || has_with(audit, entry, row->needs))
			continue;
		/* 0 or an empty value means no option; rescue=usebackuproot requires nothing. */
		const char *value =
		        audit_format(audit, "%.*s", n > key ? (int)(n - key - 1) : 0, o + key + 1);
		const char *option = audit_format(audit, "%.*s", (int)key, o);
		if (strcmp(value, "0") == 0 || strcmp(value, "usebackuproot") == 0
		    || (strstr(option, "jquota") && !*value))
			continue;
		audit_add_for(
		        audit, entry, FSTAB_OPT_CONFLICT,
		        &(struct audit_details){
		                AUDIT_WARNING, true,
		                audit_format(audit, "%s requires %s: the kernel refuses the mount",
				             option, row->needs),
		                row->needs, NULL,
		                audit_format(audit, "add %s, or remove %s", row->needs, option),
		                audit_format(audit, "the line has option %s without %s", option,
				             row->needs),
		                option});
	}
}
