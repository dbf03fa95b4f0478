/* SPDX-License-Identifier: MIT */
/**
 * MNT-HELD: processes and namespaces that hold a file system which is unmounted here, or whose
 * directory was removed.  Pure.
 */
#ifndef GM_AUDIT_HOLDERS_H
#define GM_AUDIT_HOLDERS_H

#include "audit/rules.h"
#include "host/host.h"

/**
 * Judge.
 *
 * @secret As in struct audit_input.
 * @return 0, or -1.  Errors: ENOMEM.
 */
int audit_holders(const struct host_holder *held, size_t n,
               bool (*secret)(const char *source, const char *options),
               struct audit_report *report);

#endif
