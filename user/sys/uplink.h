/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The machine's lifeline: nothing is generated on it unless the user insists.
 */
#ifndef SYS_UPLINK_H
#define SYS_UPLINK_H

#include "sys/rtnl.h"

/*
 * 0; -EPERM with error text when the link carries the default route of its namespace or this ssh session, or is a port of
 * the bridge or bond that does; another -errno when that cannot be told. Runs in the namespace of the link.
 */
int uplink_guard(const char *point_name, const struct rtnl_link *link);

/* Interface in this thread's namespace that carries this ssh session; "" when there is none, or it is in another namespace. */
void uplink_ssh_interface(char name[16]);

#endif
