/* SPDX-License-Identifier: MIT */
/** The options of getmnt audit. */
#ifndef GM_CMD_AUDIT_OPTIONS_H
#define GM_CMD_AUDIT_OPTIONS_H

#include "cmd/audit/audit.h"

enum { AUDIT_OWNERS_MAX = 32 };

struct audit_opts {
	bool help, list_rules, show_config, verbose, version;
	bool only;                /* --only was given */
	struct audit_set rules, without;  /* the rules that are on; those of --disable */
	int fail_on;              /* enum audit_severity; above: never */
	int stats;                /* enum stats_form */
	int probe;                /* enum discover_probe */
	bool under, holders;      /* look at what lies under mounts; at what holds them */
	double timeout;           /* of a probe, in seconds */
	const char *baseline, *config, *fstab, *root, *save, *tab_file, *swaps;
	const char *include[AUDIT_OWNERS_MAX + 1];   /* of audit_owners[] */
	struct audit_way way;
};


/** Print the help. */
void audit_options_help(FILE *out);

/**
 * Parse the options, and check that they go together.
 *
 * @table  audit_table, or what audit_plugin_table() made of it.
 * @return 0, or an exit status after a message.
 */
int audit_options_read(const struct option_table *table, int argc, char **argv,
                       struct audit_opts *opts);

#endif
