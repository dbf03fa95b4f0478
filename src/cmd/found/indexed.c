/* SPDX-License-Identifier: MIT */
#include "cmd/found/indexed.h"

#include "base/array.h"
#include "base/fail.h"
#include "base/fstypes.h"
#include "base/words.h"
#include "cmd/cmd.h"
#include "cmd/json.h"
#include "cmd/stats.h"
#include "cmd/text.h"
#include "discover/discover.h"
#include "index/scan/scan.h"
#include "os/change.h"
#include "os/file.h"
#include "os/inodes.h"
#include "remote/remote.h"
#include "mounts/table.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/** An open index. */
struct opened {
	char *name;               /* name of the index's directory */
	struct index *index;
};

struct indexed {
	struct os os;
	bool fresh;               /* --fresh was given */
	int64_t seconds, now;     /* argument of --fresh, in seconds; start of the search, in
	                             seconds since 1970 */
	struct flow *flow;
	struct search_source source;
	struct mount_table *table;
	struct devmap *devs;      /* NULL: memory ran out */
	int dirfd;                /* the directory of all indexes; -1: it does not exist */
	struct strbuf dir;        /* path of the directory of all indexes */
	const char *given;        /* argument of --index-dir, or NULL */
	struct opened *opened;
	size_t nopened, opened_room;
	struct scan *scan;
	const struct mount *mount;   /* the mount that the current index belongs to */
	struct strbuf why;        /* why a function of struct search_source failed */
	struct strbuf memory;     /* names of in-memory mounts that were not searched */
	struct scan_counts counts;
	int64_t oldest;           /* when the oldest of the indexes used was up to date, in seconds
	                             since 1970 */
	bool used;                /* an index was used */
};

/* Finding an index */

/** Find the mount of the directory where a search starts; NULL: not in the table. */
static const struct mount *mount_of(const struct indexed *indexed, const struct source_start *start)
{
	const struct mount_table *table = indexed->table;
	for (size_t i = 0; i < table->count; ++i) {
		const struct mount *m = &table->mounts[i];
		if (start->mount == (start->unique ? m->uniq_id : m->id))
			return m;
	}
	return NULL;
}

void indexed_uuid(struct os *os, struct devmap *devs, int fd, const struct mount *m,
                  char uuid[INDEX_UUID])
{
	unsigned char bytes[16];
	const struct devmap_tags *tags = NULL;
	if (devs && (fd < 0 || os_fs_uuid(os, fd, bytes) != 0))
		tags = devmap_mount_tags(devs, m);
	index_place_uuid(os, fd, m, tags ? tags->uuid : NULL, uuid);
}

int indexed_open(struct os *os, const char *path, const struct mount *m, bool cached)
{
	const int flags = O_RDONLY | O_DIRECTORY;
	int fd = cached ? os_openat2(os, AT_FDCWD, path, flags, RESOLVE_CACHED)
	         : os_openat(os, AT_FDCWD, path, flags);
	if (fd < 0)
		return -1;
	if (os_is_on_mount(os, fd, m) != 0)
		return fd;
	os_close(os, fd);
	return fail(ESTALE);
}

/** Whether getmnt index build refuses the type of a mount. */
static bool is_never_indexed(const struct mount *m)
{
	const unsigned flags = fstype_flags(m->fstype);
	return flags & FST_NET || (flags & FST_PSEUDO && flags & FST_LAST);
}

/** Get the ID that indexes use for the file system of a mount; "": file systems of this type are
    never indexed.
    @return 0, or -1 with the reason in indexed->why: the file system has no ID, or another mounted
    file system has the same UUID. */
static int get_uuid(struct indexed *indexed, const struct source_start *start,
                    const struct mount *m, char uuid[INDEX_UUID])
{
	struct os *os = &indexed->os;
	char other[INDEX_UUID];
	struct map64 known = {0};
	*uuid = '\0';
	strbuf_reset(&indexed->why);
	if (is_never_indexed(m))
		return 0;
	int fd = os_openat(os, start->fd, ".", O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_NOCTTY);
	/* If the directory is not readable, open the root of the mount. */
	if (fd < 0)
		fd = indexed_open(os, m->point, m, true);
	indexed_uuid(os, indexed->devs, fd, m, uuid);
	os_close(os, fd);
	if (!*uuid)
		strbuf_printf(&indexed->why, "%s has no index: %s; search it without --index",
		              m->point, index_why(PLACE_NAMELESS));
	/* Two in-memory file systems never have the same ID: do not search for another file
	   system. */
	bool unique = fstype_flags(m->fstype) & FST_PSEUDO;
	for (size_t i = 0; i < indexed->table->count && *uuid && !unique; ++i) {
		const struct mount *o = &indexed->table->mounts[i];
		if (mount_dev(o) == mount_dev(m) || !o->fstype || !o->point
		    || strcmp(o->fstype, m->fstype) != 0
		    || map64_get(&known, mount_dev(o)) != MAP64_NONE)
			continue;
		fd = indexed_open(os, o->point, o, true);
		indexed_uuid(os, indexed->devs, fd, o, other);
		os_close(os, fd);
		if (*other)
			map64_put(&known, mount_dev(o), 1);
		if (strcmp(other, uuid) != 0)
			continue;
		strbuf_printf(&indexed->why, "the index of %s could be that of %s, whose file "
		              "system has the same UUID; " INDEX_TWIN_REMEDY, m->point,
		              strcmp(o->point, m->point) == 0 ? "the mount below it" : o->point);
		break;
	}
	map64_destroy(&known);
	return indexed->why.len ? fail(ENOENT) : 0;
}

/** Open the index in the directory `name`, unless the index is already open.
    @return the index, or NULL with errno. */
static struct index *open_index(struct indexed *indexed, const char *name)
{
	for (size_t i = 0; i < indexed->nopened; ++i) {
		if (strcmp(indexed->opened[i].name, name) == 0)
			return indexed->opened[i].index;
	}
	int fd = os_open_entry(&indexed->os, indexed->dirfd, name, O_RDONLY | O_DIRECTORY,
	                       ENTRY_LOCAL);
	if (fd < 0)
		return NULL;
	struct index *index = index_open(&indexed->os, fd, INDEX_READ);
	int error = errno;
	os_close(&indexed->os, fd);
	char *copy = index ? strdup(name) : NULL;
	if (copy && ARRAY_ROOM(indexed->opened, indexed->nopened, &indexed->opened_room)) {
		indexed->opened[indexed->nopened++] = (struct opened){copy, index};
		return index;
	}
	error = index ? ENOMEM : error;
	index_close(index);
	free(copy);
	return fail_null(error);
}

/** Find the index that contains a directory.
    @path [in,out]  The path of the directory in its file system, "/a/b"; on return the path below
    the index's root, "b".
    @return NULL with errno; ENOENT: no index. */
static struct index *find_index(struct indexed *indexed, const char *uuid, struct strbuf *path)
{
	struct strbuf name = {0};
	struct index *index = NULL;
	size_t len = path->len;
	int error = ENOENT;
	while (indexed->dirfd >= 0 && len > 0 && error == ENOENT) {
		char after = path->data[len];
		path->data[len] = '\0';
		strbuf_reset(&name);
		index_place_name(uuid, path->data, &name);
		index = name.failed ? NULL : open_index(indexed, strbuf_str(&name));
		error = name.failed ? ENOMEM : index ? 0 : errno;
		/* The name of an index contains a hash of its root, which may be the hash of
		   another directory: compare the roots. */
		if (index && strcmp(index_info(index)->root, path->data) != 0)
			error = ENOENT;
		path->data[len] = after;
		if (error == 0)
			break;
		index = NULL;
		size_t parent = len;
		while (parent > 0 && path->data[parent - 1] != '/')
			--parent;
		len = parent > 1 ? parent - 1 : len > 1 ? 1 : 0;
	}
	strbuf_destroy(&name);
	if (index) {
		const char *below = path->data + len;
		below += *below == '/';
		memmove(path->data, below, strlen(below) + 1);
		path->len = strlen(path->data);
	}
	errno = error;
	return index;
}

/** Record in indexed->why that the index of a mount is missing or has failed with `error`.
    @return -1 with errno. */
static int refuse(struct indexed *indexed, const struct mount *m, int error)
{
	struct strbuf *why = &indexed->why;
	strbuf_reset(why);
	if (error == ENOENT && is_never_indexed(m)) {
		strbuf_puts(why, "this type of file system cannot be indexed; search it without "
		            "--index");
	} else if (error == ENOENT) {
		strbuf_printf(why, "the mount %s has no index; ", m->point);
		indexed_command("build", indexed->given, NULL, m->point, why);
		strbuf_puts(why, " creates it");
	} else {
		indexed_error(m->point, strbuf_str(&indexed->dir), indexed->given, error, why);
	}
	return fail(error);
}

/** Report that a mount below a searched root is not searched.  For pseudo file systems, only record
    the names of in-memory mounts, for indexed_report_memory(). */
static void note_mount(struct indexed *indexed, const struct mount *m, const char *name)
{
	if (m && fstype_flags(m->fstype) & FST_PSEUDO) {
		if (!is_never_indexed(m))
			strbuf_printf(&indexed->memory, "%s%s", indexed->memory.len ? ", " : "",
			              name);
		return;
	}
	struct strbuf command = {0};
	indexed_command("build", indexed->given, NULL, m && m->point ? m->point : name, &command);
	flow_hold(indexed->flow);
	if (m && is_never_indexed(m))
		message(name, "not searched: this type of file system cannot be indexed; search it "
		        "without --index");
	else
		message(name, "not searched: this mount has no index; %s creates it",
		        strbuf_str(&command));
	flow_release(indexed->flow);
	strbuf_destroy(&command);
}

/* The functions of struct search_source */

static int begin(void *arg, struct source_start *start)
{
	struct indexed *indexed = arg;
	const struct mount *m = indexed->mount = mount_of(indexed, start);
	const char *below = m && m->point && m->root && *start->path
	                    ? word_below(start->path, m->point) : NULL;
	if (!below && start->is_root) {
		strbuf_reset(&indexed->why);
		strbuf_puts(&indexed->why, "its mount is not known; search it without --index");
		return fail(ENOENT);
	}
	if (!below)
		return 0;
	char uuid[INDEX_UUID];
	struct strbuf path = {0};
	strbuf_puts(&path, m->root);
	/* Avoid "//" after the root "/". */
	if (*below && path.len == 1)
		path.len = 0;
	strbuf_puts(&path, below);
	if (get_uuid(indexed, start, m, uuid) != 0) {
		strbuf_destroy(&path);
		if (start->is_root)
			return fail(ENOENT);
		flow_hold(indexed->flow);
		message(start->name, "not searched: %s", strbuf_str(&indexed->why));
		flow_release(indexed->flow);
		return 0;
	}
	errno = path.failed ? ENOMEM : ENOENT;
	struct index *index = path.failed || !*uuid ? NULL : find_index(indexed, uuid, &path);
	int error = errno, rc = -1;
	if (index && index_lookup(index, path.data, &start->dir) == 0) {
		const struct scan_options options = {
			.start = start->dir, .mark = start->mark, .all = start->all,
			.bounds = start->bounds, .pattern = start->pattern,
			.enter = start->enter, .arg = start->arg,
		};
		int64_t fresh = index_info(index)->fresh;
		start->again = indexed->fresh && indexed->now - fresh > indexed->seconds;
		indexed->oldest = indexed->used && indexed->oldest < fresh ? indexed->oldest
		                  : fresh;
		indexed->used = true;
		indexed->scan = scan_new(index, &options);
		rc = indexed->scan ? 1 : refuse(indexed, m, errno);
	} else if (index && errno == ENOENT) {
		strbuf_reset(&indexed->why);
		indexed_no_dir(m->point, indexed->given, &indexed->why);
	} else if (!index && error == ENOENT && !start->is_root) {
		note_mount(indexed, m, start->name);
		rc = 0;
	} else {
		refuse(indexed, m, index ? errno : error);
	}
	error = errno;
	strbuf_destroy(&path);
	errno = error;
	return rc;
}

static const struct source_object *next(void *arg)
{
	struct indexed *indexed = arg;
	const struct source_object *object = scan_next(indexed->scan);
	if (!object && errno)
		refuse(indexed, indexed->mount, errno);
	return object;
}

static int find(void *arg, const char *path, size_t len, struct source_object *in)
{
	struct indexed *indexed = arg;
	int rc = scan_find(indexed->scan, path, len, in);
	if (rc < 0)
		refuse(indexed, indexed->mount, errno);
	return rc;
}

static bool attributes(void *arg, const struct source_object *object, unsigned mask,
                       struct k_statx *st)
{
	struct indexed *indexed = arg;
	/* If the index is damaged, return false: the search then calls statx. */
	return scan_attributes(indexed->scan, object, mask, st) > 0;
}

static const char *why(void *arg)
{
	struct indexed *indexed = arg;
	return indexed->why.len ? indexed->why.data : NULL;
}

static void end(void *arg)
{
	struct indexed *indexed = arg;
	struct scan_counts counts;
	scan_count(indexed->scan, &counts);
	indexed->counts.clusters += counts.clusters;
	indexed->counts.opened += counts.opened;
	indexed->counts.leaves += counts.leaves;
	indexed->counts.rows += counts.rows;
	scan_free(indexed->scan);
	indexed->scan = NULL;
}

/* The functions of indexed.h, which the commands call. */

int indexed_new(struct os *os, const struct indexed_args *args, const char *refused,
                const struct roots *roots, struct indexed **now)
{
	int64_t fresh = 0;
	*now = NULL;
	int status = args->fresh ? indexed_seconds("--fresh", args->fresh, &fresh) : 0;
	if (status)
		return status;
	if (!args->index && (args->dir || args->fresh))
		return usage_error(args->dir ? "--index-dir" : "--fresh", "requires --index");
	if (!args->index)
		return 0;
	for (size_t i = 0; i < roots->n; ++i) {
		if (remote_is(roots->names[i]))
			refused = "a PATH on another host";
	}
	if (refused)
		return usage_error("--index", "cannot be combined with %s", refused);
	struct indexed *indexed = calloc(1, sizeof(*indexed));
	if (!indexed)
		return message_error("--index", errno, CX_ERROR);
	os_clone_state(&indexed->os, os);
	indexed->fresh = args->fresh;
	indexed->seconds = fresh;
	indexed->now = time(NULL);
	indexed->given = args->dir;
	indexed->source = (struct search_source){
		.arg = indexed, .begin = begin, .next = next, .find = find,
		.attributes = attributes, .why = why, .end = end,
	};
	indexed->table = table_read_kernel(&indexed->os, TABLE_AUTO,
	                                   MF_DEV | MF_ROOT | MF_POINT | MF_FSTYPE | MF_SOURCE);
	if (!indexed->table) {
		message("--index", "the mounts cannot be read: %s", strerror(errno));
		indexed_free(indexed);
		return CX_ERROR;
	}
	indexed->devs = mounts_devmap(&indexed->os, indexed->table);
	indexed->dirfd = index_place_open(&indexed->os, args->dir, false, &indexed->dir);
	if (indexed->dirfd < 0 && (errno != ENOENT || !indexed->dir.len)) {
		status = indexed_dir_error(strbuf_str(&indexed->dir));
		indexed_free(indexed);
		return status;
	}
	*now = indexed;
	return 0;
}

void indexed_free(struct indexed *indexed)
{
	if (!indexed)
		return;
	for (size_t i = 0; i < indexed->nopened; ++i) {
		index_close(indexed->opened[i].index);
		free(indexed->opened[i].name);
	}
	free(indexed->opened);
	table_free(indexed->table);
	devmap_free(indexed->devs);
	os_close(&indexed->os, indexed->dirfd);
	strbuf_destroy(&indexed->dir);
	strbuf_destroy(&indexed->why);
	strbuf_destroy(&indexed->memory);
	free(indexed);
}

const struct search_source *indexed_source(struct indexed *indexed, struct flow *flow)
{
	if (!indexed)
		return NULL;
	indexed->flow = flow;
	return &indexed->source;
}

/** Get the age of the oldest index used, in seconds; 0: none was used. */
static int64_t age_of(const struct indexed *indexed)
{
	int64_t age = indexed->used ? indexed->now - indexed->oldest : 0;
	return age > 0 ? age : 0;
}

/** Append an age in the largest unit that fits. */
static void put_age(int64_t age, struct strbuf *out)
{
	static const struct {
		const char *name;
		int64_t seconds;
	} units[] = {{"day", 86400}, {"hour", 3600}, {"minute", 60}, {"second", 1}};
	size_t i = 0;
	while (i < 3 && age < 2 * units[i].seconds)
		++i;
	int64_t n = age / units[i].seconds;
	strbuf_printf(out, "%" PRId64 " %s%s", n, units[i].name, n == 1 ? "" : "s");
}

void indexed_report_memory(const struct indexed *indexed)
{
	if (indexed && indexed->memory.len)
		message(strbuf_str(&indexed->memory), "not searched: kept in memory only; search "
		        "without --index to find what is there");
}

void indexed_report(const struct indexed *indexed)
{
	struct strbuf age = {0};
	if (!indexed || !indexed->used || !isatty(STDERR_FILENO))
		return;
	put_age(age_of(indexed), &age);
	message(NULL, "from an index that is %s old", strbuf_str(&age));
	strbuf_destroy(&age);
}

void indexed_stats_json(const struct indexed *indexed, struct json *json)
{
	if (!indexed)
		return;
	json_put_object(json, "index", JSON_TIGHT);
	json_put_integer(json, "age", age_of(indexed));
	json_put_number(json, "clusters", indexed->counts.clusters);
	json_put_number(json, "opened", indexed->counts.opened);
	json_put_number(json, "leaves", indexed->counts.leaves);
	json_put_number(json, "rows", indexed->counts.rows);
	stats_calls_json(&indexed->os, json);
	json_end(json);
}

void indexed_stats_text(const struct indexed *indexed, struct text *out)
{
	if (!indexed)
		return;
	struct strbuf age = {0};
	put_age(age_of(indexed), &age);
	text_put(out, "index: %s old, %" PRIu64 " of %" PRIu64 " clusters opened, %" PRIu64
	              " rows compared, %" PRIu64 " calls\n", strbuf_str(&age),
	         indexed->counts.opened, indexed->counts.clusters, indexed->counts.rows,
	              os_calls_total(&indexed->os));
	text_lack(out, age.failed);
	strbuf_destroy(&age);
}
