/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a QEMU command line says about networking: back ends, NICs, how they are joined, memory, acceleration. Pure.
 *
 * Owns: splitting the options that matter (also in their JSON form), the old `-net` forms and what they mean. Leaves to others:
 * where the command line comes from (facts_process.arguments), judging it (doctor/checks_backend*.c), following a path through a
 * guest (discover/).
 *
 * A process that runs was accepted by its QEMU, and QEMUs differ: so nothing unknown is an error. What could not be understood is left
 * out, and `problem` quotes the first such token.
 *
 * The legacy forms. `-net nic` and `-net tap` do not name each other; QEMU joins all of them through an internal hub (number 0; old
 * releases: vlan=N). `-netdev hubport` asks for a hub by name. A hub port has no vnet header, so a NIC behind one has neither checksum
 * nor segmentation offload, and vhost needs the tap as its direct peer. `-nic` is short for `-netdev` plus `-device` and makes no hub.
 */
#ifndef MODEL_QEMU_COMMAND_H
#define MODEL_QEMU_COMMAND_H

#include <stdint.h>

enum qemu_part_kind {
	QEMU_BACKEND, /* -netdev, -net but nic, -nic: the host's end; type: tap, user, vhost-user, hubport … */
	QEMU_NIC, /* -device of a NIC, -net nic, -nic: the guest's end; type: driver or model, "" the machine's own choice */
	QEMU_PASSTHROUGH, /* -device vfio-pci; type: the driver */
	QEMU_CHARDEV,	  /* -chardev; type: socket … */
	QEMU_MEMORY,	  /* -object memory-backend-*, -mem-path; type: memory-backend-file, "mem-path" … */
	QEMU_MACHINE,	  /* -machine, -M; type: the machine */
	QEMU_ACCELERATOR, /* -accel, -enable-kvm, machine's accel=; type: kvm, tcg … */
	QEMU_GLOBAL,	  /* -global; type: the driver whose default it sets */
	QEMU_SMP,	  /* -smp; type: "" */
};

struct qemu_setting {
	char *name;  /* nested members of the JSON form joined by '.': "addr.type" */
	char *value; /* "" bare; JSON's true and false are "on" and "off" */
};

struct qemu_part {
	enum qemu_part_kind kind;
	char *token; /* to be quoted: "-net tap,ifname=tap0" */
	char *type;
	char *id;      /* "" none */
	int is_legacy; /* of -net */
	int is_json;
	int hub; /* that it is a port of: -1 none */
	int setting_count;
	struct qemu_setting *settings;
};

struct qemu_command {
	char *program; /* argument 0 */
	int part_count;
	struct qemu_part *parts; /* in the order of the command line */
	int vcpus;		 /* of -smp; 1 without; -1 could not be read */
	int is_kvm;		 /* accelerated by KVM if it can be: 1, 0 */
	char problem[160];	 /* the first token that was not understood, and why; "" none */
};

/* Parses count arguments, the program first. 0, -EINVAL when there are none (error text says so), -ENOMEM. *command is the caller's,
 * to be freed. */
int qemu_command_parse(int count, char *const *arguments, struct qemu_command **command);
void qemu_command_free(struct qemu_command *command);

/* The next part of this kind behind `part` (NULL: the first); NULL at the end. */
const struct qemu_part *qemu_next(const struct qemu_command *command, const struct qemu_part *part,
				  enum qemu_part_kind kind);

/* Value of a setting, of several the last one; for NICs, what -global says when the NIC itself does not. NULL: not given. */
const char *qemu_value(const struct qemu_command *command, const struct qemu_part *part, const char *name);
/* The same as a switch (on, yes, true, y; a bare name is on), `otherwise` when it is not given or none of these. */
int qemu_switch(const struct qemu_command *command, const struct qemu_part *part, const char *name, int otherwise);
/* The same as a whole number (0x…, suffixes K, M, G); -1 when it is not given or none. */
int64_t qemu_number(const struct qemu_command *command, const struct qemu_part *part, const char *name);

/* Back end of a NIC: by its netdev=, or the first one in its hub that is no hub port; NULL when there is none. */
const struct qemu_part *qemu_backend_of(const struct qemu_command *command, const struct qemu_part *nic);
/* NIC of a back end, likewise. */
const struct qemu_part *qemu_nic_of(const struct qemu_command *command, const struct qemu_part *backend);
/* The hub between a NIC and its back end: -1 none. */
int qemu_hub_of(const struct qemu_command *command, const struct qemu_part *nic);

int qemu_is_virtio(const struct qemu_part *nic);
/* MAC as written, "" when QEMU chose it. */
const char *qemu_mac(const struct qemu_command *command, const struct qemu_part *nic);
/* Queue pairs of a back end: queues=, or the number of descriptors that were handed over; at least 1. */
int qemu_queue_pairs(const struct qemu_command *command, const struct qemu_part *backend);
/* vhost serves this back end, as far as the command line says (QEMU goes on without it when the kernel refuses): 1, 0. */
int qemu_wants_vhost(const struct qemu_command *command, const struct qemu_part *backend);

#endif
