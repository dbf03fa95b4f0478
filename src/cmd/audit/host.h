/* SPDX-License-Identifier: MIT */
/**
 * What a host has to do with mounts beside its fstab, read for audit_host().
 */
#ifndef GM_CMD_AUDIT_HOST_H
#define GM_CMD_AUDIT_HOST_H

#include "audit/rules/host.h"
#include "cmd/machine.h"

struct audit_gathered {
	struct audit_host host;      /* its strings are of what follows */
	char *cmdline, *crypttab;
	struct audit_errors *errors;
	struct strbuf text;          /* for use in passing */
	struct arena arena;
	bool failed;                 /* ENOMEM */
};

void audit_gathered_init(struct audit_gathered *g);
void audit_gathered_destroy(struct audit_gathered *g);

/**
 * Read.  Of a recorded table nothing is, and all of it is not known.
 *
 * @plan  Of the fstab, with its owners; outlives what is read.
 * @return 0, or -1 after a message.
 */
int audit_gather(struct audit_gathered *g, struct fstab_machine *machine, const struct fstab_plan *plan);

/** A number at the beginning of a small file of the kernel's; -1: it is not known. */
long audit_read_number(struct os *os, const char *path);

#endif
