/* SPDX-License-Identifier: MIT */
/**
 * Building lists of options from other lists.  Pure.
 *
 * All functions append to a list; if memory runs out, its buffer has failed.
 */
#ifndef GM_MOUNTOPTS_EDIT_H
#define GM_MOUNTOPTS_EDIT_H

#include "mountopts/optlist.h"

/** Append options, and after them the options of a replaced line that are for mount(8), systemd
    and other programs: nofail, _netdev, x-systemd...  If a list ends within quotation marks, only
    `options` are appended.
    @from  The options of the replaced line. */
void opt_inherit(const char *options, const char *from, struct strbuf *out);

/** Append options, but from the mount the options that select the mounted tree: subvol=, bind,
    lowerdir= ...
    @live  The options of the mount, in the form of a line. */
void opt_identity(const char *options, const char *live, struct strbuf *out);

/** Append the options of a list that another list lacks.  The kernel shows both. */
void opt_lacking(const char *list, const char *other, struct strbuf *out);

/** Append the options that occur more often in a list of an mtab than in another.  Of each, the
    first hundred are looked at. */
void opt_surplus(const char *list, const char *other, struct strbuf *out);

/** Append the options with a name from a list that the kernel shows. */
void opt_add_named(struct strbuf *out, const char *list, const char *name);

/** Append an option unless the list has it. */
void opt_add_once(struct strbuf *list, const char *option);

/** Append the options for other programs, "x-..." and _netdev, that mount(8) has recorded for a
    mount, unless the list has them.
    @kept  The recorded options.
    @return whether an option holds a secret: this option and all after it are not appended. */
bool opt_add_kept(struct strbuf *list, const char *kept);

/** Append each option of a list to `in` if the set has the option, else to `out`. */
void opt_divide(const char *options, const struct opt_set *set, struct strbuf *in,
                struct strbuf *out);

/** Whether two lists have the same options that select the mounted tree.
    @identity  false: compare the other options instead. */
bool opt_alike(const char *a, const char *b, bool identity);

#endif
