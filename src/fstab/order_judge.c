/* SPDX-License-Identifier: MIT */
/*
 * Faults of the order of lines, for mount -a and for systemd, and which lines get mounted.
 */
#include "fstab/order.h"

#include "base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/** Maximum of lines visited in the search for a path from one line to another. */
enum { REACH_MAX = 256 };

struct judge {
	const struct order *order;
	const uint32_t *place;
	struct order_finding *findings;
	size_t count, room;
	unsigned reported[ORDER_ROOT + 1];   /* of one line: by fault, a bit for each kind */
	bool failed;                     /* ENOMEM */
};

static bool has(const struct order *order, uint32_t line, unsigned flags)
{
	return order->flags[line] & flags;
}

static uint32_t place_of(const struct judge *j, uint32_t line)
{
	return j->place ? j->place[line] : line;
}

bool order_matters(const struct order *order, uint32_t line, const struct order_need *need)
{
	unsigned out = ORDER_IS_IDLE | ORDER_IS_AUTOMOUNT | ORDER_IS_SWAP;
	return need->kind <= ORDER_BRANCH && !has(order, line, out) && !has(order, need->line, out);
}

static void add(struct judge *j, enum order_fault fault, uint32_t line,
                const struct order_need *need)
{
	if (j->reported[fault] & 1u << need->kind)
		return;
	j->reported[fault] |= 1u << need->kind;
	if (!ARRAY_ROOM(j->findings, j->count, &j->room)) {
		j->failed = true;
		return;
	}
	j->findings[j->count++] =
		(struct order_finding){fault, need->kind, line, need->line, need->path};
}

/** Whether systemd mounts a line before it starts the network: for local-fs.target or
    swap.target. */
static bool is_early(const struct order *order, uint32_t line)
{
	return has(order, line, ORDER_IN_BOOT)
	       && !has(order, line, ORDER_IS_NETWORK | ORDER_IS_NOFAIL);
}

/** Whether systemd mounts a line after another: by what it knows, as far as that is looked at. */
static bool is_after(const struct order *order, uint32_t line, uint32_t other)
{
	uint32_t stack[REACH_MAX], n = 0, looked = 0;
	/* local-fs.target is reached before the network. */
	if (has(order, line, ORDER_IS_NETWORK) && is_early(order, other))
		return true;
	stack[n++] = line;
	while (n > 0) {
		uint32_t i = stack[--n];
		for (uint32_t at = order->begin[i]; at < order->begin[i + 1]; ++at) {
			const struct order_need *need = &order->needs[at];
			if (!order_is_known(need->kind))
				continue;
			if (need->line == other || n == REACH_MAX || ++looked > REACH_MAX)
				return true;
			stack[n++] = need->line;
		}
	}
	return false;
}

/** Judge one need of a line. */
static void judge_need(struct judge *j, uint32_t i, const struct order_need *need)
{
	const struct order *order = j->order;
	uint32_t other = need->line;
	if (has(order, i, ORDER_IN_CYCLE) && has(order, other, ORDER_IN_CYCLE))
		add(j, ORDER_CYCLE, i, need);
	/* The mount of an overlay or union looks into its directories, and so mounts them. */
	bool known = order_is_known(need->kind);
	bool mounts = !known && has(order, other, ORDER_IS_AUTOMOUNT)
	              && has(order, other, ORDER_IS_NETWORK);
	bool waits = has(order, other, ORDER_ON_NETWORK) || mounts;
	bool first = has(order, other, ORDER_IS_NETWORK) || !is_early(order, other);
	/* Of an automount systemd starts the automount unit, for local-fs.target. */
	bool automount = need->kind == ORDER_PARENT && has(order, i, ORDER_IS_AUTOMOUNT)
	                 && !has(order, i, ORDER_IS_IDLE);
	if (waits && ((is_early(order, i) && first) || automount))
		add(j, ORDER_DEADLOCK, i, need);
	if (has(order, i, ORDER_IS_IDLE) || !need->nearest || need->kind == ORDER_AFTER)
		return;
	if (has(order, other, ORDER_IS_IDLE) && !order->lines[other].absent)
		add(j, ORDER_NOAUTO, i, need);
	else if (has(order, other, ORDER_IS_NOFAIL)
	         && !has(order, i, ORDER_IS_NOFAIL | ORDER_IS_AUTOMOUNT))
		add(j, ORDER_OPTIONAL, i, need);
	/* A mount made on first access finds its prerequisites mounted, or mounts them. */
	if (!known && !(waits && is_early(order, i))
	    && !has(order, other, ORDER_IS_IDLE | ORDER_IS_AUTOMOUNT)
	    && !has(order, i, ORDER_IS_AUTOMOUNT) && !is_after(order, i, other))
		add(j, ORDER_UNORDERED, i, need);
}

static void judge_line(struct judge *j, uint32_t i)
{
	const struct order *order = j->order;
	memset(j->reported, 0, sizeof(j->reported));
	/* The lowest mount that is late, of the first path of a kind that has one. */
	const struct order_need *late[ORDER_KINDS] = {NULL};
	for (uint32_t at = order->begin[i]; at < order->begin[i + 1]; ++at) {
		const struct order_need *need = &order->needs[at], *before = late[need->kind];
		if (order_matters(order, i, need) && place_of(j, need->line) > place_of(j, i)
		    && (!before || before->path == need->path))
			late[need->kind] = need;
	}
	for (int kind = 0; kind < ORDER_KINDS; ++kind) {
		if (late[kind])
			add(j, ORDER_LATE, i, late[kind]);
	}
	for (uint32_t at = order->begin[i]; at < order->begin[i + 1]; ++at)
		judge_need(j, i, &order->needs[at]);
	uint32_t root = order->root;
	const char *path = order->lines[i].path;
	if (root != ORDER_NONE && path && path[1]
	    && !has(order, i, ORDER_IS_AUTOMOUNT | ORDER_IS_IDLE)
	    && place_of(j, root) > place_of(j, i) && !late[ORDER_PARENT])
		add(j, ORDER_ROOT, i,
		    &(struct order_need){.line = root, .kind = ORDER_PARENT, .path = path});
}

ssize_t order_judge(const struct order *order, const uint32_t *place,
                    struct order_finding **findings)
{
	struct judge j = {.order = order, .place = place};
	uint32_t nowhere = 0;
	for (uint32_t i = 0; i < order->count && !j.failed; ++i) {
		judge_line(&j, i);
		for (; nowhere < order->nnowhere && order->nowhere[nowhere].line == i; ++nowhere) {
			const struct order_need need = {ORDER_NONE, ORDER_REQUIRES, false,
			                                order->nowhere[nowhere].path};
			if (!has(order, i, ORDER_IS_IDLE))
				add(&j, ORDER_NOWHERE, i, &need);
		}
	}
	if (j.failed) {
		free(j.findings);
		errno = ENOMEM;
		return -1;
	}
	*findings = j.findings;
	return (ssize_t)j.count;
}

/* Which lines are mounted. */

/** Whether a need of a line is not met by what was mounted before it. */
static bool is_unmet(const struct order *order, bool systemd, uint32_t i,
                     const struct order_need *need, const struct order_outcome *outcomes)
{
	uint32_t other = need->line;
	if (need->kind == ORDER_AFTER || (need->kind == ORDER_REQUIRES && !systemd))
		return false;
	if (!systemd && order_matters(order, i, need) && other > i)
		return true;
	if (systemd && has(order, i, ORDER_IN_CYCLE) && has(order, other, ORDER_IN_CYCLE))
		return true;
	enum order_lack lack = outcomes[other].lack;
	/* A line covered by another line on its mount point does not count. */
	return need->nearest && lack != ORDER_LACKS_NOTHING && lack != ORDER_LACKS_PLACE
	       && !(systemd && lack == ORDER_LACKS_BOOT && !order->lines[other].absent);
}

static struct order_outcome outcome(const struct order *order, bool systemd, uint32_t i,
                                    bool broken, const struct order_outcome *outcomes)
{
	struct order_outcome out = {ORDER_LACKS_NOTHING, ORDER_PARENT, ORDER_NONE};
	uint32_t other = systemd ? order->first[i] : order->last[i];
	if (broken || has(order, i, ORDER_IS_IDLE)) {
		out.lack = broken ? ORDER_LACKS_ITSELF : ORDER_LACKS_BOOT;
		return out;
	}
	for (uint32_t at = order->begin[i]; at < order->begin[i + 1]; ++at) {
		const struct order_need *need = &order->needs[at];
		if (is_unmet(order, systemd, i, need, outcomes))
			return (struct order_outcome){ORDER_LACKS_OTHER, need->kind, need->line};
	}
	if (order->lines[i].path && other != i)
		out = (struct order_outcome){ORDER_LACKS_PLACE, ORDER_PARENT, other};
	return out;
}

void order_run(const struct order *order, bool systemd, const bool *broken,
               struct order_outcome *outcomes)
{
	for (uint32_t k = 0; k < order->count; ++k)
		outcomes[k].lack = ORDER_LACKS_NOTHING;
	for (uint32_t k = 0; k < order->count; ++k) {
		uint32_t i = order->sequence[k];
		outcomes[i] = outcome(order, systemd, i, broken && broken[i], outcomes);
	}
}
