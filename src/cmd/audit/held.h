/* SPDX-License-Identifier: MIT */
/**
 * Who holds what is not mounted here: processes and other mount namespaces, seen in /proc.
 */
#ifndef GM_CMD_AUDIT_HELD_H
#define GM_CMD_AUDIT_HELD_H

#include "audit/rules/held.h"
#include "cmd/view.h"

struct audit_holders {
	struct audit_held *held;
	size_t count;
	struct arena arena;      /* their strings */
	bool partly;             /* not all processes could be looked at */
};

/**
 * Look.  Only /proc, /sys and /dev are read: links are read and not followed, so that no
 * file system is touched.
 *
 * @lines    Of the fstab.
 * @out [out] To be destroyed, also after an error.
 * @return 0, or -1.  Errors: ENOMEM.
 */
int audit_holders_read(struct run *run, const struct tablines *lines, const struct fstab_facts *facts,
                       struct audit_holders *out);

void audit_holders_destroy(struct audit_holders *holders);

#endif
