/* SPDX-License-Identifier: MIT */
/*
 * The parser of proc_pid_mountinfo(5).  Pure.
 *
 *   36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue
 *   (1)(2)(3)  (4)   (5)   (6)        (7..)   (8)(9)  (10)     (11)
 *
 * The strings of a record are parts of its line, decoded in place and terminated by a NUL once the
 * whole line is parsed.
 *
 * Fields are separated by exactly one blank: two blanks in a row enclose an empty field.  Only the
 * source may be empty (mount("", ...)).  The source (old versions of cifs) and the options (9p,
 * overlay) may contain unescaped blanks: the options begin at the first "rw" or "ro".
 */
#include "base/mountinfo.h"

#include "base/escape.h"

/** The unparsed rest of a line; at is NULL at the end. */
struct rest {
	char *at, *end;
};

/** A part of a line. */
struct slice {
	char *at;
	size_t n;
};

/** Messages for enum number. */
#define NUMBER_REASONS(what) {NULL, what ": missing", what ": not a number", what ": too large"}

enum number { NUMBER_OK, NUMBER_MISSING, NUMBER_BAD, NUMBER_LARGE };

static const char *const id_reasons[] = NUMBER_REASONS("mount ID");
static const char *const parent_reasons[] = NUMBER_REASONS("parent ID");
static const char *const dev_reasons[] = NUMBER_REASONS("device number");

/** Read a field and the blank after it.  @return whether a field exists. */
static bool take_field(struct rest *rest, struct slice *field)
{
	if (!rest->at)
		return false;
	char *blank = memchr(rest->at, ' ', (size_t)(rest->end - rest->at));
	field->at = rest->at;
	field->n = (size_t)((blank ? blank : rest->end) - rest->at);
	rest->at = blank ? blank + 1 : NULL;
	return true;
}

/** Parse a decimal number of at most max.  Advances *at to its end. */
static enum number parse_number(const char **at, const char *end, uint64_t max, uint64_t *value)
{
	const char *s = *at;
	uint64_t v = 0;
	if (s == end)
		return NUMBER_MISSING;
	for (; s < end && *s >= '0' && *s <= '9'; ++s) {
		unsigned digit = (unsigned)(*s - '0');
		if (v > (max - digit) / 10)
			return NUMBER_LARGE;
		v = v * 10 + digit;
	}
	if (s == *at)
		return NUMBER_BAD;
	*at = s;
	*value = v;
	return NUMBER_OK;
}

/** Read a field that is a 32-bit number; if b is not NULL, two numbers separated by ':'. */
static enum number take_number(struct rest *rest, uint32_t *a, uint32_t *b)
{
	struct slice field;
	uint64_t values[2] = {0};
	if (!take_field(rest, &field))
		return NUMBER_MISSING;
	const char *at = field.at, *end = field.at + field.n;
	enum number rc = parse_number(&at, end, UINT32_MAX, &values[0]);
	if (rc == NUMBER_OK && b)
		rc = end - at > 1 && *at++ == ':' ? parse_number(&at, end, UINT32_MAX, &values[1])
		                                  : NUMBER_BAD;
	if (rc == NUMBER_OK && at != end)
		rc = NUMBER_BAD;
	*a = (uint32_t)values[0];
	if (b)
		*b = (uint32_t)values[1];
	return rc;
}

/** The number after a tag such as "shared:"; 0 if the field has another tag. */
static uint64_t tagged(const struct slice *field, const char *tag)
{
	size_t n = strlen(tag);
	uint64_t value = 0;
	if (field->n <= n || memcmp(field->at, tag, n) != 0)
		return 0;
	const char *at = field->at + n, *end = field->at + field->n;
	return parse_number(&at, end, UINT64_MAX, &value) == NUMBER_OK && at == end ? value : 0;
}

/** Parse an optional field; unknown ones are ignored here. */
static void read_optional(const struct slice *field, struct mount *m)
{
	uint64_t value;
	if ((value = tagged(field, "shared:")) != 0) {
		m->propagation |= MP_SHARED;
		m->peer_group = value;
	} else if ((value = tagged(field, "master:")) != 0) {
		m->propagation |= MP_SLAVE;
		m->master = value;
	} else if ((value = tagged(field, "propagate_from:")) != 0) {
		m->propagate_from = value;
	} else if (field->n == 10 && memcmp(field->at, "unbindable", 10) == 0) {
		m->propagation |= MP_UNBINDABLE;
	}
}

/** Read the optional fields and the "-".  @return whether the "-" was found. */
static bool take_optional(struct rest *rest, struct slice *all, struct mount *m)
{
	struct slice field;
	all->at = rest->at;
	all->n = 0;
	while (take_field(rest, &field)) {
		if (field.n == 1 && field.at[0] == '-')
			return true;
		read_optional(&field, m);
		all->n = (size_t)(field.at - all->at) + field.n;
	}
	return false;
}

/** Whether the file system options start here: the kernel prints "rw" or "ro" first. */
static bool at_fs_options(const char *at, const char *end)
{
	return end - at >= 2 && at[0] == 'r' && (at[1] == 'w' || at[1] == 'o')
	       && (end - at == 2 || at[2] == ',');
}

/** Read the end of a line: source and options.  Some file systems print options with unescaped
    blanks (9p; overlay since Linux 6.5), so the last blank need not be the one that separates them.
    @return NULL, or an error message. */
static const char *take_tail(struct rest *rest, struct slice *source, struct slice *options)
{
	if (!rest->at)
		return "source: missing";
	char *blank = memchr(rest->at, ' ', (size_t)(rest->end - rest->at));
	while (blank && !at_fs_options(blank + 1, rest->end))
		blank = memchr(blank + 1, ' ', (size_t)(rest->end - blank - 1));
	if (!blank)
		blank = memrchr(rest->at, ' ', (size_t)(rest->end - rest->at));
	if (!blank || blank + 1 == rest->end)
		return "file system options: missing";
	*source = (struct slice){rest->at, (size_t)(blank - rest->at)};
	*options = (struct slice){blank + 1, (size_t)(rest->end - blank - 1)};
	return NULL;
}

/** The strings of a record, in the order of the line. */
enum { S_ROOT, S_POINT, S_VFS_OPTS, S_OPT_FIELDS, S_FSTYPE, S_SOURCE, S_FS_OPTS, S_COUNT };

const char *mountinfo_parse(char *line, char *end, struct mount *m)
{
	struct rest rest = {line, end};
	struct slice s[S_COUNT];
	bool escaped = memchr(rest.at, '\\', (size_t)(rest.end - rest.at)) != NULL;

	const char *reason = id_reasons[take_number(&rest, &m->id, NULL)];
	if (reason)
		return reason;
	if (m->id == 0)
		return "mount ID: zero";
	if ((reason = parent_reasons[take_number(&rest, &m->parent_id, NULL)]) != NULL)
		return reason;
	if ((reason = dev_reasons[take_number(&rest, &m->dev_major, &m->dev_minor)]) != NULL)
		return reason;
	if (!take_field(&rest, &s[S_ROOT]) || s[S_ROOT].n == 0)
		return "root: missing";
	if (!take_field(&rest, &s[S_POINT]) || s[S_POINT].n == 0)
		return "mount point: missing";
	if (*s[S_POINT].at != '/')
		return "mount point: not an absolute path";
	if (!take_field(&rest, &s[S_VFS_OPTS]) || s[S_VFS_OPTS].n == 0)
		return "mount options: missing";
	if (!take_optional(&rest, &s[S_OPT_FIELDS], m))
		return "separator \" - \": missing";
	if (!take_field(&rest, &s[S_FSTYPE]) || s[S_FSTYPE].n == 0)
		return "file system type: missing";
	if ((reason = take_tail(&rest, &s[S_SOURCE], &s[S_FS_OPTS])) != NULL)
		return reason;
	for (int i = 0; escaped && i < S_COUNT; ++i) {
		/* A decoded NUL would truncate the string. */
		if (memmem(s[i].at, s[i].n, "\\000", 4))
			return "escaped NUL";
	}

	for (int i = 0; i < S_COUNT; ++i) {
		if (escaped && i != S_FS_OPTS && i != S_OPT_FIELDS)
			s[i].n = unescape_octal(s[i].at, s[i].at, s[i].n);
		s[i].at[s[i].n] = '\0';
	}
	m->key = m->id;
	m->parent_key = m->parent_id;
	m->root = s[S_ROOT].at;
	m->point = s[S_POINT].at;
	m->vfs_opts = s[S_VFS_OPTS].at;
	m->opt_fields = s[S_OPT_FIELDS].n ? s[S_OPT_FIELDS].at : NULL;
	m->fstype = s[S_FSTYPE].at;
	m->source = s[S_SOURCE].n ? s[S_SOURCE].at : NULL;
	m->fs_opts = s[S_FS_OPTS].at;
	return NULL;
}
