/* SPDX-License-Identifier: MIT */
#include "index/scan/export.h"

#include "base/fail.h"
#include "index/store/objects.h"

#include <dirent.h>
#include <errno.h>

struct exporting {
	struct index *index;
	int (*visit)(void *arg, const struct export_object *object);
	void *arg;
	uint32_t cluster;
	/* The paths of the directories of the cluster, each with a final NUL; at[slot] - 1 is the
	   offset of a path, at[slot] == 0: not made yet. */
	struct strbuf paths;
	size_t at[INDEX_SLOTS];
	struct strbuf path;      /* path of an object that is not a directory */
};

/** Get the path of a directory; NULL: EBADMSG, ENOMEM. */
static const char *dir_path(struct exporting *e, index_dir dir)
{
	size_t *at = &e->at[index_dir_slot(dir)];
	if (index_dir_cluster(dir) != e->cluster) {
		e->cluster = index_dir_cluster(dir);
		strbuf_reset(&e->paths);
		memset(e->at, 0, sizeof(e->at));
	}
	if (!*at) {
		*at = e->paths.len + 1;
		if (index_path(e->index, dir, index_root(e->index), &e->paths) != 0)
			return fail_null(errno == ENOENT ? EBADMSG : errno);
		strbuf_putc(&e->paths, '\0');
	}
	return e->paths.failed ? fail_null(ENOMEM) : e->paths.data + *at - 1;
}

static int visit_object(void *arg, index_dir dir, const char *name, size_t len,
                        const struct index_row *row)
{
	struct exporting *e = arg;
	struct export_object object = {index_dir_cluster(dir), dir_path(e, dir), row};
	if (!object.path)
		return -1;
	if (index_row_type(row) != DT_DIR) {
		strbuf_reset(&e->path);
		strbuf_puts(&e->path, object.path);
		strbuf_putc(&e->path, '/');
		strbuf_add(&e->path, name, len);
		if (e->path.failed)
			return fail(ENOMEM);
		object.path = e->path.data;
	}
	return e->visit(e->arg, &object);
}

int index_export(struct index *index,
                 int (*visit)(void *arg, const struct export_object *object), void *arg)
{
	struct exporting e = {.index = index, .visit = visit, .arg = arg};
	const struct objects_visit all = {IC_DIR, objects_may_any, visit_object, &e, true};
	int rc = 0;
	for (uint32_t cluster = 0; cluster < index_clusters(index) && rc == 0; ++cluster)
		rc = objects_visit(index, cluster, &all);
	int error = errno;
	strbuf_destroy(&e.paths);
	strbuf_destroy(&e.path);
	errno = error;
	return rc;
}
