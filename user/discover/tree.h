/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Everything that facts know of links, as a tree: bridges and bonds with their ports, devices with what stands above them, PFs with
 * their VFs, taps with their holder, pairs with their peer; then guests whose network needs no interface here. The order is that
 * of namespaces and interface numbers, so the same facts give the same tree. Pure.
 */
#ifndef DISCOVER_TREE_H
#define DISCOVER_TREE_H

#include "model/facts.h"
#include "model/facts_tree.h"

/* 0 or -ENOMEM with error text; tree_free() in any case. */
int tree_build(const struct facts *facts, struct facts_tree *tree);
void tree_free(struct facts_tree *tree);

#endif
