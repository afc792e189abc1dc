/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of `hopcap send`: their values, their rows. Filled by options_parse(); read by cmd/send.c. */
#ifndef CMD_SEND_OPTIONS_H
#define CMD_SEND_OPTIONS_H

#include <stdint.h>

#include "base/options.h"
#include "traffic/rate.h"

extern struct send_options {
	const char *sizes, *port, *kind, *pcap;
	struct rate rate;
	double seconds, ramp_s;
	long frames, flows, workers, queue, cpu, stamp, burst, tag, super_bytes;
	unsigned char to_mac[6], from_mac[6];
	int to_mac_given, from_mac_given, vlan_count;
	uint16_t vlan[2];
	int ipv6, busy_poll, qdisc, pcap_frames, verify, json_lines, force_uplink;
} send_options;

extern const struct option_row send_rows[];

/* What no option can say of itself: combinations, with so many points given. 0, or -EINVAL or -EPERM with error text. */
int send_options_check(int points);

#endif
