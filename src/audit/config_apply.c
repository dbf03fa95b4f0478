/* SPDX-License-Identifier: MIT */
/* The configuration in use: ignored findings, severities, and what a required option means. */
#include "audit/config.h"

#include "audit/owner.h"
#include "base/mount.h"
#include "base/words.h"
#include "mountopts/optlist.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool audit_glob_matches(const struct audit_glob *glob, const char *text)
{
	return glob->exact ? strcmp(glob->exact, text) == 0
	                   : glob_match(&glob->pool, &glob->glob, text, strlen(text), NULL);
}

int audit_option_propagation(const char *option, size_t n)
{
	static const struct {
		const char *name;
		int is;
	} kinds[] = {{"shared", MP_SHARED},
	             {"private", MP_PRIVATE},
	             {"slave", MP_SLAVE},
	             {"unbindable", MP_UNBINDABLE}};
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); ++i) {
		if (word_is(option, n, kinds[i].name))
			return kinds[i].is;
	}
	return -1;
}

const char *audit_option_key(const char *option, size_t n, size_t *len, bool *shown)
{
	static const struct {
		const char *shown, *other;
	} pairs[] = {
		{"ro", "rw"}, {"noexec", "exec"}, {"nosuid", "suid"}, {"nodev", "dev"}, {"noatime",
		 "atime"},
		{"relatime", "norelatime"}, {"nodiratime", "diratime"}, {"nosymfollow",
		 "symfollow"}, {"sync", "async"},
		{"mand", "nomand"}, {"lazytime", "nolazytime"},
	};
	*shown = true;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); ++i) {
		*shown = !word_is(option, n, pairs[i].other);
		if (!*shown || word_is(option, n, pairs[i].shown)) {
			*len = strlen(pairs[i].shown);
			return pairs[i].shown;
		}
	}
	*len = opt_name(option, n);
	return option;
}

static bool matches(const struct audit_glob *glob, const char *text)
{
	return !glob || (text && audit_glob_matches(glob, text));
}

/** Whether a row is in force for a finding. */
static bool is_about(const struct audit_row *row, const struct audit_finding *f, int64_t today)
{
	return row->verb != AUDIT_REQUIRE && audit_set_has(&row->codes, f->code)
	       && !audit_row_over(row, today) && matches(row->target, f->target)
	       && matches(row->type, f->fstype) && matches(row->owner, audit_owner_name(f->owner));
}

static bool silence(struct audit_config *config, const struct audit_finding *f,
                    const struct audit_row *row)
{
	if (config->nsilenced == config->silenced_room) {
		size_t more = config->silenced_room ? 2 * config->silenced_room : 16;
		struct audit_silenced *list = reallocarray(config->silenced, more, sizeof(*list));
		if (!list)
			return false;
		config->silenced = list;
		config->silenced_room = more;
	}
	config->silenced[config->nsilenced++] = (struct audit_silenced){*f, row};
	return true;
}

int audit_config_apply(struct audit_report *report, struct audit_config *config, int64_t today)
{
	size_t left = 0;
	bool failed = false;
	config->off = (struct audit_set){0};
	for (size_t i = 0; i < config->count; ++i) {
		const struct audit_row *row = &config->rows[i];
		if (row->verb == AUDIT_IGNORE && !row->target && !row->type && !row->owner
		    && !audit_row_over(row, today))
			audit_set_add_all(&config->off, &row->codes);
	}
	for (size_t i = 0; i < report->count && !failed; ++i) {
		struct audit_finding *f = &report->findings[i];
		const struct audit_row *ignore = NULL;
		--report->of[f->severity];
		for (size_t k = 0; k < config->count && audit_set_has(&config->rules, f->code);
		     ++k) {
			const struct audit_row *row = &config->rows[k];
			if (!is_about(row, f, today))
				continue;
			if (row->verb == AUDIT_SEVERITY)
				f->severity = row->severity;
			else if (!ignore)
				ignore = row;
		}
		if (ignore) {
			failed = !silence(config, f, ignore);
			++report->silenced;
			continue;
		}
		++report->of[f->severity];
		report->findings[left++] = *f;
	}
	report->count = left;
	if (failed)
		errno = ENOMEM;
	return failed ? -1 : 0;
}
