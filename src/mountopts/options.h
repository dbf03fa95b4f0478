/* SPDX-License-Identifier: MIT */
/**
 * The options of a list as an array: names, values and meanings.
 *
 * Pure.  Source of the meanings: mount(8), systemd.mount(5).
 */
#ifndef GM_MOUNTOPTS_OPTIONS_H
#define GM_MOUNTOPTS_OPTIONS_H

#include "base/arena.h"
#include "mountopts/optlist.h"

/** The meaning of an option for mount(8) and systemd; all other options are FO_PLAIN. */
enum opt_meaning {
	FO_PLAIN,
	FO_NOAUTO,
	FO_NOFAIL,
	FO_NETDEV,          /* _netdev */
	FO_BIND,            /* bind, rbind */
	FO_REMOUNT,
	FO_MKDIR,           /* X-mount.mkdir, x-mount.mkdir */
	FO_AUTOMOUNTED,     /* x-systemd.automount, comment=systemd.automount */
	FO_UNIT_STARTS,     /* x-systemd.wanted-by=, x-systemd.required-by= */
	FO_REQUIRES,        /* x-systemd.requires= */
	FO_AFTER,           /* x-systemd.after= */
	FO_BEFORE,          /* x-systemd.before= */
	FO_MOUNTS_FOR,      /* x-systemd.requires-mounts-for= */
};

/** An option of a line. */
struct opt {
	const char *text;      /* within the list */
	uint32_t n;            /* length of the option */
	uint32_t nname;        /* length of its name */
	const char *name;      /* the bytes before '=' */
	const char *value;     /* the bytes after '=', with their quotation marks; NULL: no '=' */
	enum opt_meaning meaning;
	bool is_x;             /* for other programs than the kernel: "x-...", "X-..." */
	bool refused;          /* the kernel is known to refuse it; set by the caller */
};

/** Read a list.
    @list   Must outlive the options.
    @next   The tokenizer for the writer of the list: opt_next(), opt_next_shown() or
            opt_next_mtab().
    @arena  Keeps the options.
    @opts [out]  In the order of the list.
    @return the number of options; 0 after a failure of the arena. */
uint32_t opts_read(const char *list, opt_next_fn *next, struct arena *arena, struct opt **opts);

/** Whether options contain a secret, not only the name of a program that prompts for it; true if
    memory runs out.
    @options  Of a line, decoded; or NULL. */
bool opts_hold_secret(const char *options);

#endif
