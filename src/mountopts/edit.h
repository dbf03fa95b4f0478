/* SPDX-License-Identifier: MIT */
/**
 * Rewriting the options of a line: taking over those of a replaced line, and those that select what
 * is mounted (subvol=).  Pure.
 */
#ifndef GM_MOUNTOPTS_EDIT_H
#define GM_MOUNTOPTS_EDIT_H

#include "mountopts/optlist.h"

/** Append options, and those of a replaced line that are for mount(8), systemd and other programs:
    nofail, _netdev, x-systemd...  If a list ends within quotation marks, nothing is appended.
    @from  The options of the replaced line. */
void opt_inherit(const char *options, const char *from, struct strbuf *out);

/** Append options with those of the mount that say what is mounted: subvol=, bind, lowerdir= ... in
    place of their own.
    @live  The options of the mount, as a line has them. */
void opt_identity(const char *options, const char *live, struct strbuf *out);

/** Append the options that the kernel shows in a list, and not in another one. */
void opt_lacking(const char *list, const char *other, struct strbuf *out);

/** Append the options of a name that the kernel shows in a list. */
void opt_add_named(struct strbuf *out, const char *list, const char *name);

/** Append an option to a list that has not got it. */
void opt_add_once(struct strbuf *list, const char *option);

/** Append the options for other programs, "x-..." and _netdev, that mount(8) has recorded for a
    mount, unless the list has them.
    @return whether one of them holds a secret; it is not appended, nor are those after it. */
bool opt_add_kept(struct strbuf *list, const char *kept);

/** Append each option of a list either to `in`, if a set has it, or to `out`. */
void opt_divide(const char *options, const struct opt_set *set, struct strbuf *in,
                struct strbuf *out);

/** Whether two lists have the same options that say what is mounted; or the same others. */
bool opt_alike(const char *a, const char *b, bool identity);

#endif
