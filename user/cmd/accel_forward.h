/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `hopcap accel forward`: the user-space forwarder in the foreground. Called by cmd/accel.c. */
#ifndef CMD_ACCEL_FORWARD_H
#define CMD_ACCEL_FORWARD_H

struct accel_forward_options {
	double seconds; /* 0: until interrupted */
	long cpu;	/* of the first worker; -1 nowhere */
	int set_offloads, force_uplink, busy_poll, copy_only, json;
};

/* points: the two interfaces. 0 or -errno with error text. */
int accel_forward(const struct accel_forward_options *options, int count, char **points);

#endif
