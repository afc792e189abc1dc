// SPDX-License-Identifier: GPL-2.0-or-later
/* The list of tables, in the order of the manual. */
#include "doctor/tables.h"

#include "doctor/doctor.h"

static const struct check_table *const listed[] = {
	&checks_mtu,	      &checks_probe, &checks_bridge,  &checks_queueing,     &checks_nic,
	&checks_nic_counters, &checks_sriov,   &checks_cpu,	     &checks_cpu_place,
	&checks_xdp,	      &checks_xdp_use, &checks_backend,	     &checks_backend_virtio,
	&checks_backend_host, &checks_powervm, &checks_powervm_vios, &checks_vendor,
};

const struct check_table *const *doctor_tables(int *count)
{
	*count = (int)(sizeof(listed) / sizeof(listed[0]));
	return listed;
}
