/* SPDX-License-Identifier: MIT */
/**
 * What a configuration requires of mounts, against what is mounted: POLICY-*.  Pure but
 * for what the facts ask; linear.
 */
#ifndef GM_AUDIT_POLICY_H
#define GM_AUDIT_POLICY_H

#include "audit/config.h"
#include "discover/discover.h"

struct audit_policy_input {
	const struct audit_config *config;
	const struct discovery *d;
	const char *root;        /* the paths of the policy are below it: as the table names it */
	const struct fstab_facts *facts;   /* NULL: none */

	/** Whether options hold a secret; or NULL. */
	bool (*secret)(const char *source, const char *options);
};

/**
 * Judge.  Lines of one path add up; of two that contradict each other the later counts.
 *
 * Where an automount waits, or what is asked for is not known of a mount, it is told in
 * report->unjudged.
 *
 * @return 0, or -1.  Errors: ENOMEM.
 */
int audit_policy(const struct audit_policy_input *in, struct audit_report *report);

#endif
