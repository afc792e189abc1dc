/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Interrupts of links, and the CPUs that serve them.
 *
 * A PCI device lists its numbers (msi_irqs); a virtio device is served by those of the PCI device above it. Elsewhere (virtio-mmio,
 * ibmveth, Xen) the name in /proc/interrupts starts with the device's or the link's.
 */
#ifndef SYS_COLLECT_IRQ_H
#define SYS_COLLECT_IRQ_H

#include "model/facts.h"

struct collect_irq_table {
	int count;
	struct facts_irq *irqs; /* number, name, count over all CPUs; sorted by number */
};

/* Adds interrupts to every link that has a device and none yet. `sysroot`: directory with sys/ and proc/ of another machine; NULL:
 * this one. 0 or -errno with error text: out of memory, or no such sysroot; what cannot be read becomes a gap. */
int collect_irqs(const char *sysroot, struct facts *facts);

/* The text of /proc/interrupts. Pure: lines that have another form are passed over. 0, or -ENOMEM without error text; the table is
 * to be freed in both cases. */
int collect_parse_interrupts(const char *text, struct collect_irq_table *table);
void collect_irq_table_free(struct collect_irq_table *table);

#endif
