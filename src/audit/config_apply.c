/* SPDX-License-Identifier: MIT */
/*
 * What is configured, put to use: findings that are silenced, or of another severity.
 */
#include "audit/config.h"

#include "audit/owner.h"
#include "base/map64.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/** The rows of a verb and plain string, by the latest: of those that say nothing more than later
    ones there are none, so there are no more than codes. */
struct chain {
	uint32_t last;
	uint64_t on, severity;   /* sets of codes of which there is one that says it */
};

/** Which rows may be of a finding: those without a glob by code, those with a plain string
    by that, the others one by one; of each the latest first. */
struct use {
	const struct audit_config *config;
	uint32_t on[AUDIT_CODES], severity[AUDIT_CODES];   /* row + 1; 0: none */
	struct map64 exact;      /* hash of verb and string -> the latest row of it */
	uint32_t *before;        /* of each row: the one before of the same hash, or MAP64_NONE */
	struct chain *chains;    /* of each row that is the latest of a hash */
	uint32_t *wild;          /* rows with wildcards, latest last */
	size_t nwild;
	uint64_t some;           /* set of codes that are on of some targets */
};

static uint64_t exact_hash(enum audit_verb verb, const char *text)
{
	const char head = (char)verb;
	return map64_bytes(map64_bytes(MAP64_BYTES, &head, 1), text, strlen(text));
}

/** Take a row with a plain string, later ones being taken. */
static bool use_exact(struct use *use, uint32_t i)
{
	const struct audit_row *row = &use->config->rows[i];
	uint64_t hash = exact_hash(row->verb, row->glob->exact);
	uint64_t on = row->on >= 0 ? row->codes : 0, severity = row->severity >= 0 ? row->codes : 0;
	uint32_t latest = map64_get(&use->exact, hash);
	use->before[i] = MAP64_NONE;
	if (latest == MAP64_NONE) {
		use->chains[i] = (struct chain){i, on, severity};
		return map64_put(&use->exact, hash, i) != MAP64_NONE;
	}
	const struct audit_row *other = &use->config->rows[latest];
	struct chain *chain = &use->chains[latest];
	if (other->verb == row->verb && strcmp(other->glob->exact, row->glob->exact) == 0) {
		if (!(on & ~chain->on) && !(severity & ~chain->severity))
			return true;
		chain->on |= on;
		chain->severity |= severity;
	}
	use->before[chain->last] = i;
	chain->last = i;
	return true;
}

/** Take another row, or what it says whatever it is of. */
static void use_row(struct use *use, uint32_t i)
{
	const struct audit_row *row = &use->config->rows[i];
	if (!row->glob) {
		for (int code = 0; code < AUDIT_CODES; ++code) {
			if (!(row->codes & audit_bit((enum audit_code)code)))
				continue;
			if (row->on >= 0)
				use->on[code] = i + 1;
			if (row->severity >= 0)
				use->severity[code] = i + 1;
		}
		return;
	}
	use->some |= row->on > 0 ? row->codes : 0;
	if (!row->glob->exact)
		use->wild[use->nwild++] = i;
}

/** Whether a row is to be used for findings. */
static bool is_used(const struct audit_row *row, int64_t today)
{
	return row->verb <= AUDIT_IGNORE_TARGET && !audit_row_over(row, today);
}

static bool use_make(struct use *use, int64_t today)
{
	const struct audit_config *config = use->config;
	map64_init(&use->exact);
	use->before = calloc(config->count + 1, sizeof(*use->before));
	use->wild = calloc(config->wild + 1, sizeof(*use->wild));
	use->chains = calloc(config->count + 1, sizeof(*use->chains));
	bool made = use->before && use->wild && use->chains;
	for (uint32_t i = 0; made && i < config->count; ++i) {
		if (is_used(&config->rows[i], today))
			use_row(use, i);
	}
	for (uint32_t i = (uint32_t)config->count; made && i-- > 0;) {
		const struct audit_row *row = &config->rows[i];
		if (row->glob && row->glob->exact && is_used(row, today))
			made = use_exact(use, i);
	}
	return made;
}

static void use_end(struct use *use)
{
	map64_destroy(&use->exact);
	free(use->before);
	free(use->chains);
	free(use->wild);
}

/** The latest row of rules for a finding that says on or off, and severity: row + 1. */
static void find_rule(const struct use *use, const struct audit_finding *f, uint32_t *on, uint32_t *severity)
{
	const struct audit_row *rows = use->config->rows;
	*on = use->on[f->code];
	*severity = use->severity[f->code];
	uint32_t i = map64_get(&use->exact, exact_hash(AUDIT_RULE, f->target));
	for (; i != MAP64_NONE && (i + 1 > *on || i + 1 > *severity); i = use->before[i]) {
		const struct audit_row *row = &rows[i];
		if (row->verb != AUDIT_RULE || !(row->codes & audit_bit(f->code)) || strcmp(row->glob->exact, f->target) != 0)
			continue;
		if (row->on >= 0 && i + 1 > *on)
			*on = i + 1;
		if (row->severity >= 0 && i + 1 > *severity)
			*severity = i + 1;
	}
	for (size_t k = use->nwild; k > 0; --k) {
		i = use->wild[k - 1];
		const struct audit_row *row = &rows[i];
		bool says_on = row->on >= 0 && i + 1 > *on, says_severity = row->severity >= 0 && i + 1 > *severity;
		if (i + 1 < *on && i + 1 < *severity)
			break;
		if (row->verb != AUDIT_RULE || !(row->codes & audit_bit(f->code)) || !(says_on || says_severity)
		    || !audit_glob_matches(row->glob, f->target))
			continue;
		if (says_on)
			*on = i + 1;
		if (says_severity)
			*severity = i + 1;
	}
}

/** The row that ignores a mount by one of its names, or NULL. */
static const struct audit_row *find_ignore(const struct use *use, enum audit_verb verb, const char *text)
{
	const struct audit_row *rows = use->config->rows;
	if (!text)
		return NULL;
	uint32_t i = map64_get(&use->exact, exact_hash(verb, text));
	for (; i != MAP64_NONE; i = use->before[i]) {
		if (rows[i].verb == verb && strcmp(rows[i].glob->exact, text) == 0)
			return &rows[i];
	}
	for (size_t k = 0; k < use->nwild; ++k) {
		const struct audit_row *row = &rows[use->wild[k]];
		if (row->verb == verb && audit_glob_matches(row->glob, text))
			return row;
	}
	return NULL;
}

/** Whether a rule is of mounts: what an fstab says, and a policy, is not theirs. */
static bool is_of_mounts(enum audit_code code)
{
	bool policy = code == POLICY_OPTION || code == POLICY_PARTITION || code == MNT_PROPAGATION;
	bool host = code >= MTAB_REGULAR && code <= BOOT_CRYPTTAB && code != FS_ERRORS;
	return !policy && !host && strncmp(audit_rules[code].code, "FSTAB-", 6) != 0;
}

/** The row that silences a finding, or NULL. */
static const struct audit_row *silences(const struct use *use, const struct audit_finding *f, uint32_t on)
{
	const struct audit_row *row = NULL;
	if (is_of_mounts(f->code)) {
		row = *f->target ? find_ignore(use, AUDIT_IGNORE_TARGET, f->target) : NULL;
		row = row ? row : find_ignore(use, AUDIT_IGNORE_TYPE, f->fstype);
		row = row ? row : find_ignore(use, AUDIT_IGNORE_OWNER, audit_owner_name(f->owner));
	}
	if (!row && on && !use->config->rows[on - 1].on)
		row = &use->config->rows[on - 1];
	return row;
}

static bool silence(struct audit_config *config, const struct audit_finding *f, const struct audit_row *row)
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
	struct use use = {.config = config};
	bool failed = !use_make(&use, today);
	size_t left = 0, i = 0;
	config->off = 0;
	for (int code = 0; code < AUDIT_CODES && !failed; ++code) {
		uint64_t bit = audit_bit((enum audit_code)code);
		config->off |= use.on[code] && !config->rows[use.on[code] - 1].on && !(use.some & bit) ? bit : 0;
	}
	for (; i < report->count && !failed; ++i) {
		struct audit_finding *f = &report->findings[i];
		uint32_t on, severity;
		if (config->rules & audit_bit(f->code)) {
			find_rule(&use, f, &on, &severity);
			if (severity) {
				--report->of[f->severity];
				f->severity = (enum audit_severity)config->rows[severity - 1].severity;
				++report->of[f->severity];
			}
			const struct audit_row *row = silences(&use, f, on);
			if (row) {
				failed = !silence(config, f, row);
				--report->of[f->severity];
				++report->silenced;
				continue;
			}
		}
		report->findings[left++] = *f;
	}
	report->count = left;
	use_end(&use);
	if (failed)
		errno = ENOMEM;
	return failed ? -1 : 0;
}
