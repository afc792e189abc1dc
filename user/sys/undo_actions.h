/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the records on the undo stack do. main() gives the table to undo_set_handlers().
 *
 *   kind           arguments             undoing it
 *   netns-delete   NAME                  removes a named network namespace with all that is in it
 *   link-delete    NETNS NAME            deletes an interface
 *   clsact-delete  NETNS NAME            deletes a clsact qdisc, with the filters in it
 *   threaded-napi  NETNS NAME VALUE      sets threaded NAPI back to 0 or 1
 *   gro            NETNS NAME VALUE      sets GRO back to 0 or 1
 *   mtu            NETNS NAME VALUE      sets the MTU back, bytes
 *   feature        NETNS NAME FEATURE VALUE  sets a feature (ethtool -k) back to 0 or 1
 *   guests-end     PREFIX DIRECTORY      ends a lab's QEMU processes, and removes their files (guest_process.h)
 *   unlink         PATH                  removes a file
 *   file-remove    PATH                  removes a pinned file or an empty directory under /sys/fs/bpf/hopcap
 *
 * NETNS is a name under /run/netns, or "-" for the caller's namespace. A namespace, interface or file that is gone is
 * as good as undone.
 */
#ifndef SYS_UNDO_ACTIONS_H
#define SYS_UNDO_ACTIONS_H

#include "base/undo.h"

extern const struct undo_handler undo_action_handlers[]; /* ends with kind NULL */

#endif
