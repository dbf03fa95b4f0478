/* SPDX-License-Identifier: MIT */
#include "index/follow/watch.h"

#include "base/array.h"
#include "index/follow/update.h"
#include "os/change.h"
#include "os/process.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/stat.h>

/* Seconds. */
#define GATHER 0.2         /* events within this time are handled together */
#define LOST_APART 2.0     /* minimum time between updates, if events are lost repeatedly */
#define FRESH 60.0         /* time between commits of index_info.fresh, if there are no events */

enum {
	FOLD = 50000,             /* number of changes between folds */
	EVENTS_MOST = 64 << 20,   /* maximum bytes of events in memory */
	OPENS = 10,               /* attempts to open a handle, a millisecond apart */
	TRIES = 8,                /* attempts to read the directories in `later` without new
	                             events */
};

/** Invariants: an update is due (`why`) as long as events were lost, and at the start;
    `later` contains directories that exist when they are noted. */
struct index_watch {
	struct os *os;
	struct index *index;
	struct tree tree;
	struct file_events events;
	enum index_watch_why why; /* the reason for the next index_watch_apply(); if it is not
	                             WATCH_EVENTS, the call updates the whole index */
	double updated;           /* when the last update ended, as of os_now() */
	double fresh;             /* when index_info.fresh was last set, as of os_now() */
	uint64_t changes;         /* number of changes since the last fold */
	/* Directories that could not be read, to be read after the next events. */
	struct later { uint32_t at; index_dir dir; } *later;
	size_t nlater, later_room;
	unsigned tries;           /* number of calls since `later` was empty */
};

struct index_watch *index_watch_new(struct os *os, struct index *index, int rootfd)
{
	struct index_watch *w = calloc(1, sizeof(*w));
	if (!w)
		return NULL;
	w->os = os;
	w->index = index;
	w->why = WATCH_START;
	w->events = (struct file_events){.self = os_getpid(), .most = EVENTS_MOST};
	w->events.buf = malloc(EVENTS_READ);
	/* Watch before loading: each change after this call causes an event. */
	w->events.group = os_watch_files(os, rootfd);
	if (!w->events.buf || w->events.group < 0 || tree_load(&w->tree, index) != 0) {
		index_watch_free(w);
		return NULL;
	}
	return w;
}

void index_watch_free(struct index_watch *w)
{
	if (!w)
		return;
	int error = errno;
	os_close(w->os, w->events.group);
	tree_destroy(&w->tree);
	file_events_destroy(&w->events);
	free(w->later);
	free(w);
	errno = error;
}

int index_watch_fd(const struct index_watch *w)
{
	return w->why == WATCH_EVENTS && w->events.first > 0 ? -1 : w->events.group;
}

int index_watch_drain(struct index_watch *w)
{
	int rc = file_events_read(&w->events, w->os);
	if (w->events.lost && w->why == WATCH_EVENTS)
		w->why = WATCH_LOST;
	return rc;
}

double index_watch_due(const struct index_watch *w)
{
	if (w->why == WATCH_START)
		return 0;
	if (w->why == WATCH_LOST)
		return w->updated + LOST_APART;
	return w->events.first > 0 ? w->events.first + GATHER : w->fresh + FRESH;
}

/** Open a file handle.  @return a descriptor, or -1.  Errors: ESTALE: the object was removed ... */
static int open_handle(struct index_watch *w, int rootfd, const struct os_handle *handle)
{
	/* While ext4 reuses the number of a removed inode, opening a handle of the inode fails with
	   ENOMEM. */
	for (int i = 0;; ++i) {
		int fd = os_open_handle(w->os, rootfd, handle);
		if (fd >= 0 || errno != ENOMEM || i == OPENS)
			return fd;
		os_poll(w->os, NULL, 0, 1);
	}
}

/** Examine the names that the events of handle i report, and store the differences.
    @return 0, or -1. */
static int apply_handle(struct index_watch *w, struct refresh *r, int rootfd, size_t i)
{
	const struct events_handle *reported = &w->events.handles[i];
	struct os_handle handle;
	struct k_statx st;
	file_events_handle(&w->events, i, &handle);
	int fd = open_handle(w, rootfd, &handle), rc = 0;
	if (fd < 0) {
		/* An object that cannot be opened now is found by an update. */
		if (errno != ESTALE)
			w->why = WATCH_LOST;
		return 0;
	}
	if (chain_look(&r->chain, fd, "", &st) != 0 || chain_is_foreign(&r->chain, &st))
		goto out;
	if (reported->first == EVENTS_NONE) {
		if (!S_ISDIR(st.mode) && st.nlink > 0)
			rc = refresh_link(r, &st);
		goto out;
	}
	uint32_t at = S_ISDIR(st.mode) ? tree_by_ino(&w->tree, st.ino) : TREE_NONE;
	/* A directory that is not in the index is below a directory that is read later, or is not
	   to be indexed. */
	if (at == TREE_NONE)
		goto out;
	if (w->tree.dirs[at].listed == 0) {
		/* The directory is read completely after the events, so its names are not
		   examined. */
		if (w->tree.dirs[at].state != TREE_GONE) {
			w->tree.dirs[at].state = TREE_CHANGED;
			rc = refresh_note_todo(r, at);
		}
		goto out;
	}
	const struct events_place *place;
	for (uint32_t p = reported->first; p != EVENTS_NONE && rc == 0; p = place->next) {
		place = &w->events.places[p];
		const char *name = file_events_name(&w->events, place);
		if (place->len > INDEX_NAME_MAX)
			r->incomplete = true;
		else if (strcmp(name, ".") != 0)
			rc = refresh_entry(r, at, fd, name, place->len);
	}
	/* Store the times that the directory had before its names were examined. */
	if (rc == 0)
		rc = refresh_dir_row(r, at, &st);
	/* refresh_dir_row() has reset `listed`: another directory has this inode number now. */
	if (rc == 0 && w->tree.dirs[at].listed == 0 && w->tree.dirs[at].state != TREE_GONE) {
		w->tree.dirs[at].state = TREE_CHANGED;
		rc = refresh_note_todo(r, at);
	}
out:
	os_close(w->os, fd);
	return rc;
}

/** Examine the names of all events, and read new directories.  @return 0, or -1. */
static int apply_events(struct index_watch *w, struct refresh *r, int rootfd)
{
	int rc = 0;
	for (size_t i = 0; i < w->events.nhandles && rc == 0; ++i)
		rc = apply_handle(w, r, rootfd, i);
	w->changes += w->events.nplaces;
	file_events_clear(&w->events);
	/* The open directories may have been removed, and their inode numbers reused. */
	chain_close(&r->chain);
	return rc == 0 ? refresh_todo(r) : -1;
}

/** Keep the directories that could not be read: they are tried again after the next events, or
    without events up to TRIES times.
    @return 0, or -1. */
static int keep_later(struct index_watch *w, const struct refresh *r)
{
	w->nlater = 0;
	for (size_t i = 0; i < r->later.n; ++i) {
		uint32_t at = r->later.items[i];
		if (w->tree.dirs[at].dir == INDEX_DIR_NONE)
			continue;
		if (!ARRAY_ROOM(w->later, w->nlater, &w->later_room))
			return -1;
		w->later[w->nlater++] = (struct later){at, w->tree.dirs[at].dir};
	}
	w->tries = w->nlater ? w->tries + 1 : 0;
	if (w->nlater && w->tries <= TRIES && w->events.first <= 0)
		w->events.first = os_now();
	return 0;
}

/** Note the kept directories to be read, except those that were removed meanwhile.
    @return 0, or -1. */
static int read_later(struct index_watch *w, struct refresh *r)
{
	for (size_t i = 0; i < w->nlater; ++i) {
		const struct later *later = &w->later[i];
		struct tree_dir *dir = &w->tree.dirs[later->at];
		if (dir->dir != later->dir)
			continue;
		dir->state = TREE_CHANGED;
		if (refresh_note_todo(r, later->at) != 0)
			return -1;
	}
	w->nlater = 0;
	return 0;
}

static int apply(struct index_watch *w, int rootfd, const struct map64 *covered,
                 struct refresh_counts *counts)
{
	struct refresh r;
	int64_t now = os_time().tv_sec;
	int rc = refresh_init(&r, w->os, w->index, &w->tree, rootfd, covered);
	r.watching = true;
	if (rc == 0)
		rc = read_later(w, &r) == 0 ? apply_events(w, &r, rootfd) : -1;
	/* A directory that was not found at its path may just have been moved, so first apply the
	   events that follow. */
	for (int i = 0; i < 2 && rc == 0 && r.gone.n > 0; ++i)
		rc = index_watch_drain(w) == 0 ? apply_events(w, &r, rootfd) : -1;
	if (rc == 0 && (refresh_later(&r) != 0 || refresh_gone(&r) != 0 || keep_later(w, &r) != 0
	                || refresh_links(&r) != 0))
		rc = -1;
	/* If events were lost meanwhile, the index is not fresh; an update follows. */
	if (rc == 0 && w->why == WATCH_EVENTS)
		rc = index_set_fresh(w->index, now,
		                     index_info(w->index)->incomplete || r.incomplete);
	*counts = r.counts;
	refresh_destroy(&r);
	if (rc == 0)
		rc = index_commit(w->index);
	if (rc == 0 && w->changes >= FOLD) {
		w->changes = 0;
		rc = index_fold(w->index, false);
	}
	w->fresh = os_now();
	return rc;
}

int index_watch_apply(struct index_watch *w, int rootfd, const struct map64 *covered,
                      enum index_watch_why *why, struct refresh_counts *counts)
{
	if (index_watch_drain(w) != 0)
		return -1;
	*why = w->why;
	assert(!w->events.lost || w->why != WATCH_EVENTS);
	if (w->why == WATCH_EVENTS)
		return apply(w, rootfd, covered, counts);
	/* The update finds earlier changes; changes from now on cause events. */
	file_events_clear(&w->events);
	w->nlater = 0;
	const struct index_update_opts opts = {
		.rootfd = rootfd, .covered = covered, .max_age = -1, .events = &w->events,
	};
	int rc = index_update(w->os, w->index, &w->tree, &opts, counts);
	w->why = w->events.lost ? WATCH_LOST : WATCH_EVENTS;
	w->updated = w->fresh = os_now();
	return rc;
}
