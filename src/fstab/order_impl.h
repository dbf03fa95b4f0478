/* SPDX-License-Identifier: MIT */
/**
 * What the files of the order share.
 *
 *     order.c         the graph: which lines each line needs
 *     order_line.c    one line: its flags, and the paths that it needs
 *     order_boot.c    a sequence, cycles, what waits for the network
 *     order_judge.c   findings; which lines are mounted
 */
#ifndef GM_FSTAB_ORDER_IMPL_H
#define GM_FSTAB_ORDER_IMPL_H

#include "fstab/order.h"

/** What matters of a line's type and options: enum order_flags. */
uint16_t order_flags_of(const struct order_line *line);

/**
 * Find the sequence of a graph, and set ORDER_IN_BOOT, ORDER_IN_CYCLE and ORDER_ON_NETWORK.
 *
 * @return 0, or -1.  Errors: ENOMEM.
 */
int order_find_boot(struct order *order);

#endif
