/* SPDX-License-Identifier: MIT */
/**
 * The configuration files of `getmnt audit`: found, read, shown.
 *
 * ROOT/etc/getmnt/audit.conf, then ROOT/etc/getmnt/audit.conf.d/NAME.conf in the order of
 * names; or one file that is named.  Nothing that can block is touched.  Root takes no
 * file that others may write.
 */
#ifndef GM_CMD_AUDIT_CONFIG_H
#define GM_CMD_AUDIT_CONFIG_H

#include "audit/config.h"
#include "cmd/machine.h"

#include <sys/stat.h>

/**
 * Read what is configured.
 *
 * @machine  After machine_know().
 * @given    A file instead of those, or "none"; NULL: those, but of a recorded table
 *           none.
 * @config [out]  To be destroyed, also after an error.
 * @return 0, or -1 after messages: a file cannot be read, or has a line that is none.
 */
int audit_config_read(struct fstab_machine *machine, const char *given, struct audit_config *config);

/** Print what is configured, each line with its place, and what has run out.
    @looked  The ROOT whose files were read; NULL: others, or none.
    @return 0, or -1 (ENOMEM). */
int audit_config_show(const struct audit_config *config, const char *looked, int64_t today);

/** Tell why a file or directory, as it was opened, is none that root takes what it is told by.
    @option  By which another is named.
    @return whether it is. */
bool audit_is_trusted(const char *name, const struct stat *st, const char *option);

/** Today, as audit_config_apply() has it: by UTC. */
int64_t audit_today(void);

#endif
