// SPDX-License-Identifier: GPL-2.0-or-later
/* Pinning; see cpu_affinity.h. Called by the threads of traffic/. */
#include <sched.h>

#include "sys/cpu_affinity.h"

void cpu_pin_thread(int cpu)
{
	cpu_set_t set;

	if (cpu < 0 || cpu >= CPU_SETSIZE)
		return;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}
