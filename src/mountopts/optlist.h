/* SPDX-License-Identifier: MIT */
/**
 * Option strings: "rw,noatime,context=\"a:b:c1,c2\"".  The one tokenizer.
 *
 * Three writers quote differently:
 *
 *     lines    mount(8) reads an fstab: quotation marks keep commas, a backslash keeps the
 *              next character
 *     shown    the kernel writes mountinfo: only SELinux labels are quoted; any other
 *              quotation mark is a byte of a name
 *     mtab     mount(8) writes an mtab: a pair of quotation marks keeps commas
 *
 * Options are pointers into the string, with their length.  They are not decoded, unless stated
 * otherwise.
 */
#ifndef GM_MOUNTOPTS_OPTLIST_H
#define GM_MOUNTOPTS_OPTLIST_H

#include "base/map64.h"
#include "base/strbuf.h"

/**
 * Step through the options of a line.
 *
 * mount(8) drops an option with an unclosed quotation mark: the list ends there, and *list keeps
 * pointing to that option.
 *
 * @list [in,out]  The string, or NULL; then what follows the option.
 * @n [out]        The length of the option.
 * @return the option, or NULL at the end.
 */
typedef const char *opt_next_fn(const char **list, size_t *n);
opt_next_fn opt_next;

/** Step through options that the kernel shows. */
opt_next_fn opt_next_shown;

/** Step through the options of an mtab. */
opt_next_fn opt_next_mtab;

/** Whether nothing can be appended to the options of a line: they end within quotation marks,
    or with a backslash. */
bool opt_is_open(const char *list);

/** The last option of a line with a name of n bytes.
    @m [out]  Its length.
    @return the option, or NULL. */
const char *opt_find(const char *list, const char *name, size_t n, size_t *m);

/** The value of the last option of a line with this name, without quotation marks.
    @n [out]  Its length.
    @return the value, or NULL. */
const char *opt_value(const char *list, const char *name, size_t *n);

/** Whether a line has exactly this option. */
bool opt_has(const char *list, const char *option);

/** Whether a line has noauto: mount -a skips the line even if `auto` follows. */
static inline bool opt_noauto(const char *list)
{
	return opt_has(list, "noauto");
}

/** Whether the options of a line make it a bind mount. */
static inline bool opt_is_bind(const char *list)
{
	return opt_has(list, "bind") || opt_has(list, "rbind");
}

/** Whether the kernel shows exactly this option. */
bool opt_shown_has(const char *list, const char *option);

/** Get the value of the first option with this name that the kernel shows.
    @value [out]  The value, decoded.
    @return whether there is one. */
bool opt_shown_value(const char *list, const char *name, struct strbuf *value);

/** The length of an SELinux label in quotation marks with its name, at the start of an option
    that the kernel shows; 0: not a label. */
size_t opt_label_length(const char *option);

/** The length of the name of an option of n bytes: the bytes before '='. */
static inline size_t opt_name(const char *option, size_t n)
{
	const char *equals = memchr(option, '=', n);
	return equals ? (size_t)(equals - option) : n;
}

/** Remove quotation marks around a value of n bytes. */
static inline void opt_unquote(const char **value, size_t *n)
{
	if (*n >= 2 && **value == '"' && (*value)[*n - 1] == '"') {
		++*value;
		*n -= 2;
	}
}

/** Whether an option is for other programs: "x-systemd.automount", "X-mount.mkdir". */
static inline bool opt_is_x(const char *option, size_t n)
{
	return n > 2 && (*option == 'x' || *option == 'X') && option[1] == '-';
}

/** Append an option of n bytes to a list. */
static inline void opt_add(struct strbuf *list, const char *option, size_t n)
{
	if (list->len)
		strbuf_putc(list, ',');
	strbuf_add(list, option, n);
}

/** Append an option to a list. */
static inline void opt_puts(struct strbuf *list, const char *option)
{
	opt_add(list, option, strlen(option));
}

/*
 * Sets: the options of a string, indexed by name.  Comparing two strings with a set takes time
 * proportional to the sum of their lengths, instead of the product.
 */

/** The options with one name.  All pointers are into the strings that were added. */
struct opt_entry {
	const char *first, *last;   /* the first and the last option with this name */
	size_t nfirst, nlast;       /* their lengths */
	const char *bare;           /* the first without a value; NULL: none */
	size_t nname;
	unsigned times;
};

struct opt_set {
	bool whole;                 /* the key is the whole option, not its name */
	bool failed;                /* out of memory: options are missing */
	struct opt_entry *entries;
	size_t count, capacity;
	struct map64 map;
};

/** Make an empty set.  Allocates nothing.
    @whole  The key is the whole option with its value. */
void opt_set_init(struct opt_set *set, bool whole);

void opt_set_destroy(struct opt_set *set);

/** Add an option of n bytes, which must outlive the set. */
void opt_set_add(struct opt_set *set, const char *option, size_t n);

/** Add the options of a string, which may be NULL. */
void opt_set_add_list(struct opt_set *set, const char *list, opt_next_fn *next);

/** Find the options by a name of n bytes, or by a whole option.  @return the entry, or NULL. */
const struct opt_entry *opt_set_find(const struct opt_set *set, const char *name, size_t n);

#endif
