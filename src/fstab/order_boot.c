/* SPDX-License-Identifier: MIT */
/*
 * The order of a graph; what systemd mounts at boot, which cycles are among that, and what of it
 * waits for the network.
 */
#include "fstab/order_impl.h"

#include <stdlib.h>

/** Tarjan's algorithm, without recursion. */
struct tarjan {
	struct order *order;
	bool boot;                   /* mark the cycles among lines of ORDER_IN_BOOT; else make
	                                the sequence */
	struct node {
		uint32_t number, low;    /* number: 0 before the line is visited */
		uint32_t at;             /* the need that is looked at next */
		bool on_stack;
	} *nodes;                    /* of each line */
	uint32_t *way, *stack;
	uint32_t count, nstack, nout;
};

static int compare_lines(const void *a, const void *b)
{
	const uint32_t *one = a, *other = b;
	return (*one > *other) - (*one < *other);
}

/** All that a line needs was visited: put out its component, in the order of the file. */
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

/** Find the sequence, or the cycles of a boot.  @return whether there was memory. */
static bool find_cycles(struct order *order, bool boot)
{
	size_t n = (size_t)order->count + 1;
	struct tarjan t = {
		.order = order,
		.boot = boot,
		.nodes = calloc(n, sizeof(*t.nodes)),
		.way = calloc(n, sizeof(*t.way)),
		.stack = calloc(n, sizeof(*t.stack)),
	};
	bool good = t.nodes && t.way && t.stack;
	for (uint32_t i = 0; good && i < order->count; ++i) {
		if (!t.nodes[i].number && (!boot || order->flags[i] & ORDER_IN_BOOT))
			visit(&t, i);
	}
	free(t.nodes);
	free(t.way);
	free(t.stack);
	return good;
}

/** Find what systemd mounts at boot: lines that nothing else has to start, and what those require.
    Of an automount it starts the unit of that name, which requires the directories above.
    @return whether there was memory. */
static bool find_boot(struct order *order)
{
	uint32_t *stack = calloc((size_t)order->count + 1, sizeof(*stack)), n = 0;
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
	bool good = stack;
	free(stack);
	return good;
}

/** Find what waits for the network, in an order in which it is known of what a line needs. */
static void find_network(struct order *order)
{
	for (uint32_t k = 0; k < order->count; ++k) {
		uint32_t i = order->sequence[k];
		if (!(order->flags[i] & ORDER_IN_BOOT) || order->lines[i].absent)
			continue;
		bool waits = order->flags[i] & ORDER_IS_NETWORK;
		for (uint32_t at = order->begin[i]; at < order->begin[i + 1] && !waits; ++at)
			waits = order_is_known(order->needs[at].kind)
			        && order->flags[order->needs[at].line] & ORDER_ON_NETWORK;
		order->flags[i] |= waits ? ORDER_ON_NETWORK : 0;
	}
}

int order_find_boot(struct order *order)
{
	if (!find_cycles(order, false) || !find_boot(order) || !find_cycles(order, true))
		return -1;
	find_network(order);
	return 0;
}
