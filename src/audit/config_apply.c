/* SPDX-License-Identifier: MIT */
/* The configuration in use: ignored findings and severities. */
#include "audit/config.h"

#include "audit/owner.h"
#include "base/array.h"

#include <errno.h>
#include <string.h>

bool audit_glob_matches(const struct audit_glob *glob, const char *text)
{
	return glob->exact ? strcmp(glob->exact, text) == 0
	                   : glob_match(&glob->pool, &glob->glob, text, strlen(text), NULL);
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
	if (!ARRAY_ROOM(config->silenced, config->nsilenced, &config->silenced_room))
		return false;
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
			config->off.bits |= row->codes.bits;
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
