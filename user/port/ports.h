/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of ports: which operations belong to a kind. */
#ifndef PORT_PORTS_H
#define PORT_PORTS_H

#include "port/port.h"

/* NULL for a kind that is not built in. */
const struct port_ops *port_ops_of(enum run_port kind);

#endif
