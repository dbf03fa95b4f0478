/* SPDX-License-Identifier: MIT */
/**
 * The one table of file system options: which options each type takes, which values, and how
 * the kernel shows them.
 *
 * Each struct fsopt is a row.  Options of a type with the same facts share a row, and an option may
 * have several rows: a lookup of a fact returns the first row that states it.  To add an option, or
 * a fact about an option, add a row to fsopts_local.c or fsopts_remote.c.
 *
 * Types of lines and of mounts differ: "sshfs" in a line is "fuse.sshfs" in the kernel.  Facts
 * about what the kernel shows ignore a ".subtype".  Pure.
 */
#ifndef GM_MOUNTOPTS_FSOPTS_H
#define GM_MOUNTOPTS_FSOPTS_H

#include <stdbool.h>
#include <stddef.h>

enum fsopt_flags {
	OPT_FOUND_OUT   = 1 << 0,
	    /* found out while mounting, or may not be given: never in a line */
	OPT_DEFAULT     = 1 << 1,  /* the default without this option */
	OPT_UNREQUESTED = 1 << 2,  /* the kernel, a helper or a server may set it by itself */
	OPT_NOT_GIVEN   = 1 << 3,  /* never in a line, or only for some types */
	OPT_USERSPACE   = 1 << 4,  /* for mount(8) and systemd: not passed to the kernel */
	OPT_UNCOMPARED  = 1 << 5,  /* the kernel accepts it, but does not always show it */
	OPT_IDENTITY    = 1 << 6,  /* part of the source, such as subvol= */
	OPT_REPEATS     = 1 << 7,  /* may be given more than once */
	OPT_ANY_CASE    = 1 << 8,  /* its helper ignores the case of the names in this row */
	OPT_KEY_FILE    = 1 << 9,  /* its value is the file with the secret; the first name in the
	                              row is the usual name */
};

/** Which values an option takes. */
enum fsopt_value {
	OPT_ANY_VALUE,   /* unknown */
	OPT_NUMBER,      /* of 32 bits */
	OPT_WIDE,        /* of 64 bits */
	OPT_OCTAL,
	OPT_ID,          /* a number, or a name that mount(8) looks up */
	OPT_SIZE,        /* as memparse() reads it: 16, 16k */
	OPT_PART,        /* OPT_SIZE, or a share of the memory: 50% */
	OPT_WORD,        /* one of .words */
	OPT_HEAD,        /* begins with one of .words */
	OPT_WORDS,       /* some of .words, separated by colons */
	OPT_COUNT,       /* a number above 0 */
	OPT_POWER,       /* a power of two */
	OPT_BUFFERS,     /* log buffers of XFS: 0, or 2 to 8 */
	OPT_LOG_SIZE,    /* 0, or a power of two from 16k to 256k */
	OPT_ALLOC_SIZE,  /* a power of two from 4k to 1g */
	OPT_BYTES,       /* as libmount reads it: 1MiB, 0x400 */
	OPT_FLAG,        /* no value */
};

struct fsopt {
	const char *names;       /* separated by blanks: "name", also with a value; "name=" with any
	                            value; "name=value" with this one */
	enum fsopt_value value;  /* accepted values */
	const char *types;       /* only these of the family; NULL: all */
	unsigned flags;          /* enum fsopt_flags */
	bool bare;               /* the value is optional */
	const char *words;       /* separated by ", " */
	const char *shown;       /* how the kernel shows it: '%' is the value, the value '?' matches
	                            any, "" is not shown; a name alone has no value; NULL: unchanged
	                            */
	const char *visible;     /* always shown by one of these names while in force; "": by its
	                            own name; NULL: not always shown */
	const char *unless;      /* `visible` and `ended` do not hold if the line has one of these
	                            options */
	enum fsopt_value digits; /* `visible` holds only for a number of this kind */
	const char *given;       /* how mount(8) accepts what the kernel shows: this text and the
	                            value */
	const char *needs;       /* the kernel refuses it without this option */
	const char *ended;       /* Linux refuses the option since this version: "6.8" */
	const char *where;       /* the file systems on which Linux refuses the option, as text for
	                            messages: " on ..."; NULL: all */
	const char *instead;     /* the option that replaces an ended option; or NULL */
	const char *vendor;      /* only kernels of this vendor have the option */
};

/** The x-* options that every system supports: x-systemd.*, X-mount.* */
extern const char fsopt_x_names[];

/** Whether a type, without its ".subtype", is in a list separated by blanks; "*" matches any
    type, even an unknown one (NULL). */
bool fsopt_type_in(const char *fstype, const char *types);

/** Whether an option of n bytes has a name of a row. */
bool fsopt_is_named(const char *names, const char *option, size_t n);

/** Whether all options of the type of a line are known. */
bool fsopt_complete(const char *fstype);

/** Whether the kernel refuses every unknown option in a line of this type: no helper has options of
    its own. */
bool fsopt_strict(const char *fstype);

/** Find a type that has an option of n bytes which the type of a line lacks.
    @len [out]  The length of the name of the type.
    @return the name, without a NUL at its end; NULL: no such type is known. */
const char *fsopt_other_type(const char *fstype, const char *option, size_t n, size_t *len);

/** Whether a name of n bytes is an option of the kernel's VFS, mount(8), swapon(8) or a security
    module. */
bool fsopt_is_general(const char *name, size_t n);

/** Whether an option of n bytes is a general option or an option of any type. */
bool fsopt_is_any(const char *option, size_t n);

/** Get names of options, to find the option that a misspelled word resembles.  Options that few
    kernels have are left out.
    @fstype  Of a line; NULL: general options.
    @i  From 0.
    @return names separated by blanks, perhaps with "=" and a value; NULL: there are no more. */
const char *fsopt_names(const char *fstype, size_t i);

/** The first row with one of these flags that has an option of n bytes; or NULL.
    @fstype  Of a mount; NULL: unknown. */
const struct fsopt *fsopt_flagged(const char *fstype, const char *option, size_t n, unsigned flags);

/** Find the option that names the file with the secret of a mount; NULL: unknown.
    @fstype  The type of a line; of a list of types, only the first counts.
    @len [out]  The length of the option. */
const char *fsopt_key_file(const char *fstype, size_t *len);

/** Whether an option of any type has one of these flags. */
static inline bool fsopt_has(const char *option, size_t n, unsigned flags)
{
	return fsopt_flagged(NULL, option, n, flags);
}

/** The facts that a row can state about an option. */
enum fsopt_fact {
	FSOPT_SHOWN,     /* how the kernel shows it; no row: unchanged */
	FSOPT_GIVEN,     /* how mount(8) accepts what the kernel shows; no row: unchanged */
	FSOPT_VISIBLE,   /* that a mount always shows it */
	FSOPT_VALUED,    /* which values it takes */
	FSOPT_NEEDING,   /* what it needs */
	FSOPT_ENDED,     /* which kernels refuse it */
	FSOPT_VENDOR,    /* which kernels alone have it */
	FSOPT_KNOWN,     /* that it is an option of the type of a line, not a general one */
	FSOPT_FLAGGED,   /* fsopt_flagged() */
};

/** The first row that states a fact about an option of n bytes; or NULL.
    @fstype  Of a mount; NULL: unknown. */
const struct fsopt *fsopt_of_mount(const char *fstype, enum fsopt_fact fact, const char *option,
                                   size_t n);

/** The same for the type of a line. */
const struct fsopt *fsopt_of_line(const char *fstype, enum fsopt_fact fact, const char *option,
                                  size_t n);

/**
 * Check the value of an option that the kernel, or the helper of the type, is known to check.
 *
 * Only values that all versions since 5.0 refuse are reported.
 *
 * @fstype  Of a line.
 * @return NULL: accepted or unknown; else the accepted values, as text for people.
 */
const char *fsopt_check_value(const char *fstype, const char *option, size_t n);

/** Options of file systems that contradict each other: the last takes effect.  Ends with NULL. */
extern const char *const fsopt_conflicts[][2];

#endif
