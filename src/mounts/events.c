/* SPDX-License-Identifier: MIT */
#include "mounts/table_impl.h"

#include "base/array.h"
#include "os/service.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/fanotify.h>

enum { PENDING_MAX = 1 << 16 };

unsigned events_ahead(const struct events *e, uint64_t id)
{
	uint32_t ahead = map64_get(&e->ahead, id);
	return ahead == MAP64_NONE ? 0 : ahead;
}

/** Count an event (sign 1 or -1) among the pending events of its mount.
    @return 0, or -1 (ENOMEM; never if the mount already had pending events). */
static int events_count_ahead(struct events *e, const struct event *event, int sign)
{
	unsigned change = event_is_move(event)              ? AHEAD_MOVE
	                  : event->mask & K_FAN_MNT_DETACH ? AHEAD_DETACH : 0;
	if (!change)
		return 0;
	assert(sign > 0 || events_ahead(e, event->id) >= change);
	unsigned ahead = events_ahead(e, event->id) + (unsigned)sign * change;
	map64_remove(&e->ahead, event->id);
	return !ahead || map64_put(&e->ahead, event->id, ahead) != MAP64_NONE ? 0 : -1;
}

struct event events_pop(struct events *e, bool *suspect)
{
	assert(e->first < e->end && e->suspect <= events_count(e));
	struct event event = e->list[e->first++];
	*suspect = e->suspect > 0;
	e->suspect -= *suspect;
	events_count_ahead(e, &event, -1);
	return event;
}

/** Append the events in a buffer read from fanotify.  @return 0, or -1 (ENOMEM, EPROTO). */
static int events_append(struct events *e, const char *at, size_t len)
{
	struct os_event next;
	int rc;
	while ((rc = os_event_next(&at, &len, &next)) > 0) {
		struct event event = {.mask = next.mask};
		struct k_fanotify_mnt info;
		for (size_t i = 0; i + sizeof(info) <= next.size;) {
			memcpy(&info, next.info + i, sizeof(info));
			if (info.type == K_FAN_INFO_TYPE_MNT)
				event.id = info.mnt_id;
			if (info.len == 0)
				break;
			i += info.len;
		}
		if (!event.id && !(event.mask & FAN_Q_OVERFLOW))
			continue;
		if (!ARRAY_ROOM(e->list, e->end, &e->room) || events_count_ahead(e, &event, 1) != 0)
			return -1;
		e->list[e->end++] = event;
	}
	return rc;
}

int events_drain(struct events *e, struct os *os)
{
	char buf[32 * 1024];
	int some = 0;
	if (e->first > 0)
		memmove(e->list, e->list + e->first, events_count(e) * sizeof(*e->list));
	e->end -= e->first;
	e->first = 0;
	while (e->fd >= 0 && e->end < PENDING_MAX) {
		ssize_t n = os_read(os, e->fd, buf, sizeof(buf));
		if (n == 0 || (n < 0 && errno == EAGAIN))
			break;
		if (n < 0 || events_append(e, buf, (size_t)n) != 0)
			return -1;
		some = 1;
	}
	return some;
}

void events_destroy(struct events *e)
{
	map64_destroy(&e->ahead);
	free(e->list);
}
