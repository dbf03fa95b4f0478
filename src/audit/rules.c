/* SPDX-License-Identifier: MIT */
/* The table of rules, and functions that several rules use: entries by mount point, kinds of
   files. */
#include "audit/audit_impl.h"

#include "base/words.h"

#include <string.h>

#define INFO AUDIT_INFO
#define WARN AUDIT_WARNING
#define CRIT AUDIT_CRITICAL
#define LINT AR_STATIC
#define BOOT_LINT (AR_BOOT | AR_STATIC)
#define RULE(name, code, severity, flags, what) [name] = {code, severity, flags, what},
const struct audit_rule audit_rules[AUDIT_CODES] = {AUDIT_RULES(RULE)};

audit_set audit_set_of(unsigned flags)
{
	audit_set set = 0;
	for (int code = 0; code < AUDIT_CODES; ++code) {
		if (!flags || audit_rules[code].flags & flags)
			set |= audit_set_only((enum audit_code)code);
	}
	return set;
}

int audit_code(const char *name, size_t n)
{
	for (int i = 0; i < AUDIT_CODES; ++i) {
		if (word_is(name, n, audit_rules[i].code))
			return i;
	}
	return -1;
}

bool audit_codes(const char *name, size_t n, audit_set *set)
{
	bool found = false, all = n > 0 && name[n - 1] == '*';
	for (int i = 0; i < AUDIT_CODES; ++i) {
		const char *code = audit_rules[i].code;
		if (all ? strncmp(code, name, n - 1) == 0 : word_is(name, n, code)) {
			*set |= audit_set_only((enum audit_code)i);
			found = true;
		}
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

/* Lookups of entries by mount point, and of files. */

const struct fstab_entry *audit_at(const struct audit *audit, const char *path)
{
	uint32_t i = pathmap_get(&audit->by_target, path);
	return i == PATHMAP_NONE ? NULL : &audit->entries[i];
}

const struct fstab_entry *audit_above(const struct audit *audit, const struct fstab_entry *self,
                                      const char *path)
{
	const struct fstab_entry *found = NULL;
	for (struct pathmap_at at = pathmap_of(path);
	     pathmap_next_newest(&audit->by_target, &at);) {
		struct pathmap_at other = at;
		bool is_self = &audit->entries[at.value] == self;
		if (at.n > 0 && (!is_self || pathmap_next(&audit->by_target, &other)))
			found = &audit->entries[other.value];
	}
	return found;
}

bool audit_begins(const char *text, const char *heads)
{
	for (size_t n; *heads; heads += n + (heads[n] == ' ')) {
		n = strcspn(heads, " ");
		if (strncmp(text, heads, n) == 0)
			return true;
	}
	return false;
}

enum fact_kind audit_look_for(struct audit *audit, const struct fstab_entry *entry,
                              const char *path, enum audit_code code)
{
	enum fact_kind kind = audit_look(audit->in->facts, path);
	if (kind == FACT_UNKNOWN)
		audit_not_checked(audit->report, code);
	return kind == FACT_MISSING && audit_above(audit, entry, path) ? FACT_UNKNOWN : kind;
}
