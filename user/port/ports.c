// SPDX-License-Identifier: GPL-2.0-or-later
/* The ports that are built in; see ports.h. Called by traffic/source.c, traffic/sender.c. */
#include <stddef.h>

#include "port/ports.h"

static const struct port_ops *const all_ports[] = { &port_live, &port_xsk_zero_copy, &port_xsk_copy, &port_packet };

const struct port_ops *port_ops_of(enum run_port kind)
{
	for (unsigned int i = 0; i < sizeof(all_ports) / sizeof(all_ports[0]); i++)
		if (all_ports[i]->kind == kind)
			return all_ports[i];
	return NULL;
}
