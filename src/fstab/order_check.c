/* SPDX-License-Identifier: MIT */
/*
 * Evaluate the graph: find the lines that systemd tries to mount at boot, the lines that form a
 * cycle, and the lines in the wrong order for mount -a or systemd; predict which lines are mounted
 * after the boot.
 */
#include "fstab/order.h"

#include <stdlib.h>
#include <string.h>

/* The sequence of the lines, and the flags from ORDER_IN_BOOT on. */

/** State of Tarjan's algorithm for strongly connected components, without recursion. */
struct tarjan {
	struct order *order;
	bool boot;                   /* find cycles among lines of ORDER_IN_BOOT; false: make the
	                                sequence */
	struct node {
		uint32_t number, low;    /* number: 0 before the line is visited */
		uint32_t at;             /* index of the next need to follow */
		bool on_stack;
	} *nodes;                    /* by line */
	uint32_t *way, *stack;
	uint32_t count, nstack, nout;
};

static int compare_lines(const void *a, const void *b)
{
	const uint32_t *one = a, *other = b;
	return (*one > *other) - (*one < *other);
}

/** Leave line i, all of whose needs were visited.  If line i completes a component (a cycle, or a
    single line), append the lines of the component to the sequence, in file order; with t->boot,
    flag the lines of a cycle instead. */
static void leave(struct tarjan *t, uint32_t i)
{
	if (t->nodes[i].low != t->nodes[i].number)
		return;
	bool cycle = t->stack[t->nstack - 1] != i;
	uint32_t other, first = t->nout;
	do {
		other = t->stack[--t->nstack];
		t->nodes[other].on_stack = false;
		if (t->boot && cycle)
			t->order->flags[other] |= ORDER_IN_CYCLE;
		else if (!t->boot)
			t->order->sequence[t->nout++] = other;
	} while (other != i);
	if (cycle && !t->boot)
		qsort(t->order->sequence + first, t->nout - first, sizeof(*t->order->sequence),
		      compare_lines);
}

static void visit(struct tarjan *t, uint32_t root)
{
	const struct order *order = t->order;
	uint32_t n = 0;
	for (uint32_t i = root;;) {
		struct node *node = &t->nodes[i];
		if (!node->number) {
			++t->count;
			*node = (struct node){t->count, t->count, order->begin[i], true};
			t->stack[t->nstack++] = i;
			t->way[n++] = i;
		}
		if (node->at == order->begin[i + 1]) {
			leave(t, i);
			if (--n == 0)
				return;
			i = t->way[n - 1];
			if (node->low < t->nodes[i].low)
				t->nodes[i].low = node->low;
			continue;
		}
		uint32_t need = order->needs[node->at++].line;
		if (t->boot && !(order->flags[need] & ORDER_IN_BOOT))
			continue;
		if (!t->nodes[need].number)
			i = need;
		else if (t->nodes[need].on_stack && t->nodes[need].number < node->low)
			node->low = t->nodes[need].number;
	}
}

/** Make the sequence.  @boot  Find the cycles among lines of ORDER_IN_BOOT instead. */
static void find_cycles(struct order *order, bool boot)
{
	size_t n = (size_t)order->count + 1;
	struct tarjan t = {
		.order = order,
		.boot = boot,
		.nodes = arena_new(order->arena, n, sizeof(*t.nodes)),
		.way = arena_new(order->arena, n, sizeof(*t.way)),
		.stack = arena_new(order->arena, n, sizeof(*t.stack)),
	};
	for (uint32_t i = 0; i < order->count && !order->arena->failed; ++i) {
		if (!t.nodes[i].number && (!boot || order->flags[i] & ORDER_IN_BOOT))
			visit(&t, i);
	}
}

/** Flag the lines that systemd mounts at boot: lines that are neither idle nor automounts, and all
    lines that they require.  For an automount line, systemd starts the automount unit, which
    requires only the mounts above the mount point. */
static void find_boot(struct order *order)
{
	uint32_t *stack = arena_new(order->arena, (size_t)order->count + 1, sizeof(*stack)), n = 0;
	uint16_t *flags = order->flags;
	for (uint32_t i = 0; stack && i < order->count; ++i) {
		if (flags[i] & ORDER_IS_IDLE || flags[i] & ORDER_IN_BOOT)
			continue;
		bool automount = flags[i] & ORDER_IS_AUTOMOUNT;
		flags[i] |= automount ? 0 : ORDER_IN_BOOT;
		stack[n++] = i;
		while (n > 0) {
			uint32_t line = stack[--n];
			for (uint32_t at = order->begin[line]; at < order->begin[line + 1]; ++at) {
				const struct order_need *need = &order->needs[at];
				if (!order_is_known(need->kind) || need->kind == ORDER_AFTER
				    || flags[need->line] & ORDER_IN_BOOT
				    || (line == i && automount && need->kind != ORDER_PARENT))
					continue;
				flags[need->line] |= ORDER_IN_BOOT;
				stack[n++] = need->line;
			}
		}
	}
}

/** Set ORDER_ON_NETWORK and ORDER_LACKS_NETDEV.  The flags of a line are set after the flags of the
    lines that it needs. */
static void find_network(struct order *order)
{
	for (uint32_t k = 0; k < order->count; ++k) {
		uint32_t i = order->sequence[k];
		for (uint32_t at = order->begin[i]; at < order->begin[i + 1]; ++at) {
			uint32_t need = order->needs[at].line;
			/* The root is mounted before the fstab is read: no line has to wait for the
			   root. */
			if (!(order->flags[i] & ORDER_IS_NETWORK) && need != order->root
			    && order->flags[need] & (ORDER_IS_NETWORK | ORDER_LACKS_NETDEV))
				order->flags[i] |= ORDER_LACKS_NETDEV;
		}
		if (!(order->flags[i] & ORDER_IN_BOOT) || order->lines[i]->absent)
			continue;
		bool waits = order->flags[i] & ORDER_IS_NETWORK;
		for (uint32_t at = order->begin[i]; at < order->begin[i + 1] && !waits; ++at)
			waits = order_is_known(order->needs[at].kind)
			        && order->flags[order->needs[at].line] & ORDER_ON_NETWORK;
		order->flags[i] |= waits ? ORDER_ON_NETWORK : 0;
	}
}

void order_find_boot(struct order *order)
{
	find_cycles(order, false);
	find_boot(order);
	find_cycles(order, true);
	if (!order->arena->failed)
		find_network(order);
}

/* Faults. */

/** Maximum number of needs that is_after() follows from one line to another. */
enum { REACH_MAX = 256 };

struct checker {
	const struct order *order;
	const uint32_t *position;
	struct order_finding *findings;
	size_t count;
	unsigned reported[ORDER_ROOT + 1];   /* reported[fault]: bit 1 << kind is set if this fault
	                                        is reported for the current line and a need of this
	                                        kind */
};

static bool has(const struct order *order, uint32_t line, unsigned flags)
{
	return order->flags[line] & flags;
}

static uint32_t position_of(const struct checker *c, uint32_t line)
{
	return c->position ? c->position[line] : line;
}

bool order_matters(const struct order *order, uint32_t line, const struct order_need *need)
{
	unsigned out = ORDER_IS_IDLE | ORDER_IS_AUTOMOUNT | ORDER_IS_SWAP;
	return need->kind <= ORDER_BRANCH && !has(order, line, out) && !has(order, need->line, out)
	       && !order->lines[line]->noauto && !order->lines[need->line]->noauto;
}

static void add(struct checker *c, enum order_fault fault, uint32_t line,
                const struct order_need *need)
{
	if (c->reported[fault] & 1u << need->kind)
		return;
	c->reported[fault] |= 1u << need->kind;
	ARENA_PUSH(c->order->arena, c->findings, c->count,
	           (struct order_finding){fault, need->kind, line, need->line, need->path});
}

/** Whether systemd mounts a line before it starts the network: for local-fs.target or
    swap.target. */
static bool is_early(const struct order *order, uint32_t line)
{
	return has(order, line, ORDER_IN_BOOT)
	       && !has(order, line, ORDER_IS_NETWORK | ORDER_IS_NOFAIL);
}

/** Whether systemd is known to mount `line` after `other`; true if REACH_MAX ends the search. */
static bool is_after(const struct order *order, uint32_t line, uint32_t other)
{
	uint32_t stack[REACH_MAX], n = 0, looked = 0;
	/* systemd mounts `other` before it starts the network, and `line` after. */
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

/** Report the faults of one need of line i, except for ORDER_LATE. */
static void check_need(struct checker *c, uint32_t i, const struct order_need *need)
{
	const struct order *order = c->order;
	uint32_t other = need->line;
	if (has(order, i, ORDER_IN_CYCLE) && has(order, other, ORDER_IN_CYCLE))
		add(c, ORDER_CYCLE, i, need);
	/* Mounting an overlay or union looks up its layers or branches.  If a layer is an automount
	   of a network file system, this lookup waits for the network. */
	bool known = order_is_known(need->kind);
	bool mounts = !known && has(order, other, ORDER_IS_AUTOMOUNT)
	              && has(order, other, ORDER_IS_NETWORK);
	bool waits = has(order, other, ORDER_ON_NETWORK) || mounts;
	bool first = has(order, other, ORDER_IS_NETWORK) || !is_early(order, other);
	/* If line i is an automount, systemd starts its automount unit before local-fs.target, and
	   so before the network. */
	bool automount = need->kind == ORDER_PARENT && has(order, i, ORDER_IS_AUTOMOUNT)
	                 && !has(order, i, ORDER_IS_IDLE);
	if (waits && ((is_early(order, i) && first) || automount))
		add(c, ORDER_DEADLOCK, i, need);
	if (has(order, i, ORDER_IS_IDLE) || !need->nearest || need->kind == ORDER_AFTER)
		return;
	if (has(order, other, ORDER_IS_IDLE) && !order->lines[other]->absent)
		add(c, ORDER_NOAUTO, i, need);
	else if (has(order, other, ORDER_IS_NOFAIL)
	         && !has(order, i, ORDER_IS_NOFAIL | ORDER_IS_AUTOMOUNT))
		add(c, ORDER_OPTIONAL, i, need);
	/* The order does not matter if either mount is made on first access. */
	if (!known && !(waits && is_early(order, i))
	    && !has(order, other, ORDER_IS_IDLE | ORDER_IS_AUTOMOUNT)
	    && !has(order, i, ORDER_IS_AUTOMOUNT) && !is_after(order, i, other))
		add(c, ORDER_UNORDERED, i, need);
}

static void check_line(struct checker *c, uint32_t i)
{
	const struct order *order = c->order;
	memset(c->reported, 0, sizeof(c->reported));
	/* late[kind]: a need of this kind whose line stands after line i.  If several lines are
	   needed for the same path, the need with the deepest mount point. */
	const struct order_need *late[ORDER_KINDS] = {NULL};
	for (uint32_t at = order->begin[i]; at < order->begin[i + 1]; ++at) {
		const struct order_need *need = &order->needs[at], *before = late[need->kind];
		if (order_matters(order, i, need) && position_of(c, need->line) > position_of(c, i)
		    && (!before || before->path == need->path))
			late[need->kind] = need;
	}
	for (int kind = 0; kind < ORDER_KINDS; ++kind) {
		if (late[kind])
			add(c, ORDER_LATE, i, late[kind]);
	}
	for (uint32_t at = order->begin[i]; at < order->begin[i + 1]; ++at)
		check_need(c, i, &order->needs[at]);
	uint32_t root = order->root;
	const char *path = fstab_entry_target(order->lines[i]);
	if (root != ORDER_NONE && path && path[1]
	    && !has(order, i, ORDER_IS_AUTOMOUNT | ORDER_IS_IDLE)
	    && position_of(c, root) > position_of(c, i) && !late[ORDER_PARENT])
		add(c, ORDER_ROOT, i,
		    &(struct order_need){.line = root, .kind = ORDER_PARENT, .path = path});
}

size_t order_check(const struct order *order, const uint32_t *position,
                   struct order_finding **findings)
{
	struct checker c = {.order = order, .position = position};
	uint32_t nowhere = 0;
	for (uint32_t i = 0; i < order->count && !order->arena->failed; ++i) {
		check_line(&c, i);
		for (; nowhere < order->nnowhere && order->nowhere[nowhere].line == i; ++nowhere) {
			const struct order_need need = {ORDER_NONE, ORDER_REQUIRES, false,
			                                order->nowhere[nowhere].path};
			if (!has(order, i, ORDER_IS_IDLE))
				add(&c, ORDER_NOWHERE, i, &need);
		}
	}
	*findings = c.findings;
	return c.count;
}

/* Which lines get mounted. */

/** Whether a need of line i is not met when line i is mounted.
    @systemd   true: by systemd; false: by mount -a.
    @outcomes  The outcomes of the lines that precede line i in the sequence are set. */
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
	/* With ORDER_LACKS_TARGET another line is mounted on the needed mount point, so the need is
	   met.  systemd mounts a needed line even if it is noauto. */
	return need->nearest && lack != ORDER_LACKS_NOTHING && lack != ORDER_LACKS_TARGET
	       && !(systemd && lack == ORDER_LACKS_BOOT && !order->lines[other]->absent);
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
	if (fstab_entry_target(order->lines[i]) && other != i)
		out = (struct order_outcome){ORDER_LACKS_TARGET, ORDER_PARENT, other};
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
