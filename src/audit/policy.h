/* SPDX-License-Identifier: MIT */
/**
 * What the configuration requires of mounts, compared with what is mounted: POLICY-*,
 * MNT-PROPAGATION. Pure but for the facts.
 */
#ifndef GM_AUDIT_POLICY_H
#define GM_AUDIT_POLICY_H

#include "audit/config.h"
#include "discover/discover.h"

struct audit_policy_input {
	const struct audit_config *config;
	const struct discovery *d;
	const char *root;        /* the paths of the configuration are below it, as the table names
	                            it */
	const struct fstab_facts *facts;   /* NULL: none */

	/** Whether options hold a secret; or NULL. */
	bool (*secret)(const char *source, const char *options);
};

/**
 * Check the requirements.  The mount at a path is the visible one, the uppermost of a stack.  The
 * options of an automounter's trigger are not checked.
 *
 * @return 0, or -1.  Errors: ENOMEM.
 */
int audit_policy(const struct audit_policy_input *in, struct audit_report *report);

#endif
