/* SPDX-License-Identifier: MIT */
/**
 * The configuration files of `getmnt audit`: found, read, shown.
 *
 * ROOT/etc/getmnt/audit.conf, then ROOT/etc/getmnt/audit.conf.d/NAME.conf in the order of names; or
 * one named file.  Nothing that can block is touched.  Root does not read a file that others may
 * write.
 */
#ifndef GM_CMD_AUDIT_CONFIG_H
#define GM_CMD_AUDIT_CONFIG_H

#include "audit/config.h"
#include "cmd/machine.h"

/**
 * Read the configuration.
 *
 * @machine  After machine_know().
 * @given    A file instead of those, or "none"; NULL: those, and none for a recorded table.
 * @config [out]  To be destroyed, also after an error.
 * @return 0, or -1 after messages: a file cannot be read, or has an invalid line.
 */
int audit_config_read(struct fstab_machine *machine, const char *given,
                      struct audit_config *config);

/** Print the configuration, each line with its place, and which have expired.
    @looked  The ROOT whose files were read; NULL: another file, or none.
    @return 0, or -1 (ENOMEM). */
int audit_config_show(const struct audit_config *config, const char *looked, int64_t today);

/**
 * Read a file that an option names, but not through a symlink of another user, and not if it can
 * block. Root reads no file that others may write.
 *
 * @option  The option, for messages.
 * @max     The greatest size in bytes.
 * @text [out]  To be freed.
 * @return 1; 0: it does not exist; -1 after a message.
 */
int audit_read_named(struct fstab_machine *machine, const char *name, const char *option,
                     size_t max, char **text, size_t *len);

/** Today, for audit_config_apply(): in UTC. */
int64_t audit_today(void);

#endif
