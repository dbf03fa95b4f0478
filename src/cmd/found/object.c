/* SPDX-License-Identifier: MIT */
#include "cmd/found/object.h"

#include "cmd/cmd.h"

#include <dirent.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

void object_cells_init(struct object_cells *cells, struct os *os)
{
	*cells = (struct object_cells){0};
	owners_init(&cells->users, os, "/etc/passwd");
	owners_init(&cells->groups, os, "/etc/group");
}

void object_cells_destroy(struct object_cells *cells)
{
	owners_destroy(&cells->users);
	owners_destroy(&cells->groups);
	strbuf_destroy(&cells->text);
}

const char *object_cell(const struct search_column *column, const struct object *o)
{
	struct strbuf *text = &o->cells->text;
	strbuf_reset(text);
	if (!search_is_known(column, o))
		return NULL;
	if (column->cell == search_cell_path)
		return o->path;
	return column->cell(o, text) ? strbuf_str(text) : NULL;
}

void object_json(struct json *json, const struct column_info *const columns[], size_t n,
                 const struct object *o)
{
	json_put_object(json, NULL, JSON_INLINE);
	for (size_t i = 0; i < n; ++i) {
		const struct search_column *column = (const void *)columns[i];
		const char *text = object_cell(column, o);
		/* If the value is unknown, write null; an empty list is a known value. */
		bool known = search_is_known(column, o);
		column_json(json, column->info.name,
		            known ? column->info.type : (unsigned)CT_STRING, text);
	}
	json_end(json);
}

bool search_cell_path(const struct object *o, struct strbuf *text)
{
	strbuf_puts(text, o->path);
	return true;
}

const char *search_name_of(const struct object *o)
{
	const char *slash = strrchr(o->path, '/');
	return slash ? slash + 1 : o->path;
}

bool search_cell_name(const struct object *o, struct strbuf *text)
{
	strbuf_puts(text, search_name_of(o));
	return true;
}

static bool cell_type(const struct object *o, struct strbuf *text)
{
	char letter = type_letter(o->type);
	if (letter)
		strbuf_putc(text, letter);
	return letter;
}

static bool cell_mode(const struct object *o, struct strbuf *text)
{
	strbuf_printf(text, "%04o", o->st->mode & 07777u);
	return true;
}

bool search_cell_perms(const struct object *o, struct strbuf *text)
{
	permissions(o->st->mode, text);
	return true;
}

static bool number(struct strbuf *text, uint64_t value)
{
	strbuf_number(text, value);
	return true;
}

/** Append a time: seconds since 1970, with nanoseconds. */
static bool time_of(struct strbuf *text, struct k_statx_time t)
{
	/* Nanoseconds count upwards from t.sec, even before 1970: -0.25 s is stored as -1 s and
	   750,000,000 ns. */
	bool before = t.sec < 0 && t.nsec > 0;
	int64_t sec = before ? -(t.sec + 1) : t.sec;
	strbuf_printf(text, "%s%" PRId64 ".%09" PRIu32, before ? "-" : "", sec,
	              before ? 1000000000 - t.nsec : t.nsec);
	return true;
}

/** Append a word to a list that starts at `from`.  A newline, the separator, is escaped. */
static void list_put(struct strbuf *text, size_t from, const char *word)
{
	if (text->len > from)
		strbuf_putc(text, '\n');
	for (size_t n; (n = strcspn(word, "\n")), word[n]; word += n + 1) {
		strbuf_add(text, word, n);
		strbuf_puts(text, "\\x0a");
	}
	strbuf_puts(text, word);
}

static bool cell_attrs(const struct object *o, struct strbuf *text)
{
	static const struct {
		uint64_t bit;
		const char *word;
	} words[] = {
		{K_STATX_ATTR_IMMUTABLE, "immutable"}, {K_STATX_ATTR_APPEND, "append"},
		{K_STATX_ATTR_NODUMP, "nodump"}, {K_STATX_ATTR_COMPRESSED, "compressed"},
		{K_STATX_ATTR_ENCRYPTED, "encrypted"}, {K_STATX_ATTR_VERITY, "verity"},
		{K_STATX_ATTR_DAX, "dax"}, {K_STATX_ATTR_AUTOMOUNT, "automount"},
		{K_STATX_ATTR_MOUNT_ROOT, "mount-root"},
	};
	const size_t from = text->len;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); ++i) {
		if (o->st->attributes & words[i].bit)
			list_put(text, from, words[i].word);
	}
	return text->len > from;
}

static bool cell_xattrs(const struct object *o, struct strbuf *text)
{
	for (const char *name = o->xattrs; *name; name += strlen(name) + 1)
		list_put(text, 0, name);
	return text->len > 0;
}

static bool cell_acl(const struct object *o, struct strbuf *text)
{
	static const char *const kinds[][2] = {
		{"system.posix_acl_access", "access"}, {"system.posix_acl_default", "default"},
		{"system.nfs4_acl", "nfs4"},
	};
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); ++i) {
		const char *name = o->xattrs;
		while (*name && strcmp(name, kinds[i][0]) != 0)
			name += strlen(name) + 1;
		if (*name)
			list_put(text, 0, kinds[i][1]);
	}
	return text->len > 0;
}

/** Define the function of a cell that shows an attribute.  @put  Appends the attribute. */
#define STATX_CELL(field, put) \
	static bool cell_##field(const struct object *o, struct strbuf *text) \
	{ \
		return put(text, o->st->field); \
	}

STATX_CELL(nlink, number) STATX_CELL(uid, number) STATX_CELL(gid, number)
STATX_CELL(blocks, number) STATX_CELL(ino, number)
STATX_CELL(mnt_id, number)
STATX_CELL(atime, time_of) STATX_CELL(btime, time_of)
STATX_CELL(ctime, time_of) STATX_CELL(mtime, time_of)

static bool cell_size(const struct object *o, struct strbuf *text)
{
	if (!o->human)
		return number(text, o->st->size);
	column_size(text, o->st->size);
	return true;
}

bool object_owner(struct owners *owners, uint32_t id, struct strbuf *text)
{
	const char *name = owners_name(owners, id);
	if (!name)
		return number(text, id);
	strbuf_puts(text, name);
	return true;
}

static bool cell_user(const struct object *o, struct strbuf *text)
{
	return object_owner(&o->cells->users, o->st->uid, text);
}

static bool cell_group(const struct object *o, struct strbuf *text)
{
	return object_owner(&o->cells->groups, o->st->gid, text);
}

static bool cell_dev(const struct object *o, struct strbuf *text)
{
	strbuf_printf(text, "%u:%u", o->st->dev_major, o->st->dev_minor);
	return true;
}

bool search_is_device(const struct object *o)
{
	return S_ISBLK(o->st->mode) || S_ISCHR(o->st->mode);
}

static bool cell_rdev(const struct object *o, struct strbuf *text)
{
	if (!search_is_device(o))
		return false;
	strbuf_printf(text, "%u:%u", o->st->rdev_major, o->st->rdev_minor);
	return true;
}

static bool cell_link(const struct object *o, struct strbuf *text)
{
	if (o->target)
		strbuf_puts(text, o->target);
	return o->target;
}

/** A column whose cell needs only one attribute. */
#define ATTRIBUTE(name, help, type, field, mask) \
	{{name, help, CT_##type}, SN_METADATA, cell_##field, K_STATX_##mask}

static const struct search_column rows[] = {
	{{"ACL", "its access control lists: access,default or nfs4", CT_LIST},
	 SN_METADATA | SN_XATTRS, cell_acl},
	ATTRIBUTE("ATIME", "last access, in seconds since 1970", DECIMAL, atime, ATIME),
	{{"ATTRS", "what chattr sets, and more: immutable,append ...", CT_LIST},
	 SN_METADATA, cell_attrs},
	ATTRIBUTE("BLOCKS", "disk space, in units of 512 bytes", NUMBER, blocks, BLOCKS),
	ATTRIBUTE("BTIME", "creation, if known", DECIMAL, btime, BTIME),
	ATTRIBUTE("CTIME", "last change of the attributes", DECIMAL, ctime, CTIME),
	{{"DEV", "major:minor of the device that contains it", CT_STRING},
	 SN_METADATA, cell_dev, .pair = true},
	ATTRIBUTE("GID", "numeric group", NUMBER, gid, GID),
	{{"GROUP", "group name in /etc/group, else the number", CT_STRING},
	 SN_METADATA | SN_OWNERS, cell_group, K_STATX_GID},
	ATTRIBUTE("INO", "inode number", NUMBER, ino, INO),
	{{"LINK", "where a symbolic link leads", CT_STRING}, SN_TYPE | SN_LINK, cell_link},
	{{"MNT-ID", "mount ID: the column ID of getmnt discover", CT_NUMBER},
	 SN_METADATA | SN_MOUNT, cell_mnt_id, K_STATX_MNT_ID},
	ATTRIBUTE("MODE", "permissions in octal, as 0644", STRING, mode, MODE),
	ATTRIBUTE("MTIME", "time of the last change of its contents", DECIMAL, mtime, MTIME),
	{{"NAME", "the last component of the path", CT_STRING}, 0, search_cell_name},
	ATTRIBUTE("NLINK", "number of hard links", NUMBER, nlink, NLINK),
	{{"PATH", "PATH as it was given, and the path below it", CT_STRING}, 0, search_cell_path},
	{{"PERMS", "type and permissions, as -rw-r--r--", CT_STRING},
	 SN_METADATA, search_cell_perms, K_STATX_TYPE | K_STATX_MODE},
	{{"RDEV", "major:minor of a device file", CT_STRING},
	 SN_METADATA, cell_rdev, K_STATX_TYPE, .pair = true},
	ATTRIBUTE("SIZE", "size in bytes", NUMBER, size, SIZE),
	{{"TYPE", "type: b, c, d, f, l, p, s, as for --type", CT_STRING}, SN_TYPE, cell_type},
	ATTRIBUTE("UID", "numeric owner", NUMBER, uid, UID),
	{{"USER", "owner name in /etc/passwd, else the number", CT_STRING},
	 SN_METADATA | SN_OWNERS, cell_user, K_STATX_UID},
	{{"XATTR", "the names of its extended attributes", CT_LIST},
	 SN_METADATA | SN_XATTRS, cell_xattrs},
};

const struct column_table search_columns = COLUMN_TABLE(rows, "getmnt search -H", NULL);

const struct search_column search_long_cells[SEARCH_LONG_CELLS] = {
	ATTRIBUTE("", "", NUMBER, nlink, NLINK), ATTRIBUTE("", "", STRING, user, UID),
	ATTRIBUTE("", "", STRING, group, GID), ATTRIBUTE("", "", NUMBER, size, SIZE),
};

bool search_is_known(const struct search_column *column, const struct object *o)
{
	if (column->needs & SN_XATTRS && !o->xattrs)
		return false;
	return !(column->needs & SN_METADATA)
	       || (o->st && (o->st->mask & column->mask) == column->mask);
}
