/* SPDX-License-Identifier: MIT */
/**
 * What the files of the plan share.
 *
 *     plan.c     decides each mount after those that it needs
 *     place.c    what each mount is, and what it needs
 *     own.c      what the system mounts by itself
 *     source.c   how a device is named
 *     options.c  the options of a line
 *     text.c     swaps, utab, names of units
 */
#ifndef GM_FSTAB_PLAN_IMPL_H
#define GM_FSTAB_PLAN_IMPL_H

#include "base/strbuf.h"
#include "base/words.h"
#include "fstab/fstab.h"
#include "fstab/places.h"
#include "mountopts/layers.h"
#include "mountopts/optlist.h"

/* own.c */

/** Who mounts something without an fstab. */
struct fstab_own {
	const char *owner;       /* fstab_line.owner */
	const char *why;         /* for people */
	bool boot;               /* mounted when the fstab is read */
};

/**
 * Whether the system mounts this by itself.
 *
 * @itself     fstab_upon_itself()
 * @all        API file systems get lines.
 * @user       fstab_user(): names that an ordinary user can choose prove nothing.
 * @own [out]  Static strings; set if it does.
 */
bool fstab_own(const struct mount *mount, const char *target, bool itself, bool all, bool user,
               struct fstab_own *own);

/**
 * Whether an ordinary user made a mount, as the kernel or mount(8) says: by the user ID of FUSE, by
 * "user=NAME" in utab, by a place below /run/user/UID.  Its source, and the type of FUSE, are text
 * of that user's choice then.  In a user namespace, the ID is that of the namespace.
 *
 * @target  From ROOT.
 * @kept    fstab_world.kept()
 * @user    Gets the ID or name appended, which may have any bytes; "?": not known of a FUSE mount.
 */
bool fstab_user(const struct mount *mount, const char *target, const char *kept,
                struct strbuf *user);

/* source.c */

/** A line in the making. */
struct fstab_draft {
	const struct fstab_input *in;
	struct arena *arena;
	struct strbuf text;         /* scratch */
	bool failed;                /* ENOMEM */
};

/** A formatted string that stays; NULL on ENOMEM. */
__attribute__((format(printf, 2, 3)))
const char *fstab_format(struct fstab_draft *draft, const char *format, ...);

/**
 * Name a device by the policy.
 *
 * @line  Gets source and note, or the reason why it has no name.
 * @return whether it has a name.
 */
bool fstab_name_device(struct fstab_draft *draft, const struct fstab_device *device,
                       const char *source, struct fstab_line *line);

/** Why the kernel's source of a type cannot be mounted; NULL: it can. */
const char *fstab_type_fault(struct fstab_draft *draft, const struct mount *mount);

/** Name the source of a mount without a device.
    @line  Gets source, or the reason why it has none.
    @return whether it has one. */
bool fstab_name_source(struct fstab_draft *draft, const struct mount *mount,
                       struct fstab_line *line);

/* options.c */

/** Decisions that the options depend on. */
struct fstab_choice {
	const struct mount *mount;
	const struct mount *bound;  /* of a bind: the mount of its source */
	bool bind;
	const char *first;          /* "loop" and the like, or NULL */
	const char *more;           /* after the others, or NULL */
};

/** Choose the options of a line.
    @line  Gets options, or the reason why no line is possible.
    @return whether there can. */
bool fstab_choose_options(struct fstab_draft *draft, const struct fstab_choice *choice,
                          struct fstab_line *line);

#endif
