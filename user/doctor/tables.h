/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables of checks, one a file doctor/checks_*.c. A new table: its name here and in tables.c. */
#ifndef DOCTOR_TABLES_H
#define DOCTOR_TABLES_H

#include "doctor/check.h"

/* Defines a file's table under its name from its rows. */
#define CHECK_TABLE(name, rows) const struct check_table name = { rows, (int)(sizeof(rows) / sizeof((rows)[0])) }

extern const struct check_table checks_mtu, checks_xdp, checks_xdp_use, checks_nic, checks_nic_counters, checks_cpu,
	checks_cpu_place, checks_bridge, checks_queueing, checks_sriov, checks_backend, checks_backend_virtio,
	checks_backend_host, checks_powervm, checks_powervm_vios, checks_vendor, checks_probe;

#endif
