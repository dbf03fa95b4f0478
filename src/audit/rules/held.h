/* SPDX-License-Identifier: MIT */
/**
 * MNT-HELD: what still holds a file system that is unmounted here, or whose directory was
 * removed.  Pure: what was seen is handed in.
 */
#ifndef GM_AUDIT_HELD_H
#define GM_AUDIT_HELD_H

#include "audit/rules.h"

enum audit_held_kind {
	AUDIT_HELD_ELSEWHERE,    /* of a line, and mounted in other namespaces alone */
	AUDIT_HELD_ALIVE,        /* of a line, mounted nowhere, and the kernel has not let it go */
	AUDIT_HELD_DELETED,      /* a mount whose directory was removed has files open */
	AUDIT_HELD_DETACHED,     /* of nothing that is mounted files are open */
};

struct audit_held {
	enum audit_held_kind kind;
	const char *target, *owner;  /* of a detached one NULL */
	const char *source;      /* of a line */
	uint32_t line;           /* of the fstab; 0: of none */
	size_t count;            /* namespaces, or open files; 0: nobody was seen */
	int pid;                 /* of the first */
	char comm[32];
	const char *where;       /* where it is mounted there; the file that is open */
};

/**
 * Judge.
 *
 * @secret As in struct audit_input.
 * @return 0, or -1.  Errors: ENOMEM.
 */
int audit_held(const struct audit_held *held, size_t n, bool (*secret)(const char *source, const char *options),
               struct audit_report *report);

#endif
