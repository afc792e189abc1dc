/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the bridge fast path is told and what it counts: the bytes in its maps.
 *
 * Owns: the layout shared by bpf/bridge_xdp.bpf.c and user/accel/fast_path.c. Fixed width, padding named, sizes asserted. One
 * set of maps belongs to one bridge; each port has a program of its own, loaded with its slot as a constant.
 *
 * Maps: bridge_stations (hash: key, station), bridge_ports (array: slot), bridge_targets (devmap: slot), bridge_lanes (per CPU,
 * array: slot of the port that a frame came in at), bridge_cpus (per CPU, one), bridge_control (one, memory-mapped).
 */
#ifndef HOPCAP_MAP_BRIDGE_H
#define HOPCAP_MAP_BRIDGE_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#define HOPCAP_BRIDGE_PORTS 256u      /* slots */
#define HOPCAP_BRIDGE_NO_PORT 0xffffu /* in place of a slot */
#define HOPCAP_BRIDGE_STATIONS 32768u

/* The bridge's VLAN context beside the address. 0 today: with VLAN filtering the fast path takes nothing, and without it a
 * bridge has one table for all tags. */
struct bridge_station_key {
	__u8 address[6];
	__u16 vlan;
};

/*
 * Behind which port a station is. Written by user space; programs write `seen`, and both slots when a station shows up at
 * another port. A change is valid from epoch `since` on; before, the slot is slot_before.
 */
struct bridge_station {
	__u16 slot;
	__u16 slot_before;
	__u32 since;
	__u32 seen; /* bridge_control.scan when a frame from it last took the fast path */
	__u32 padding;
};

struct bridge_control {
	__u32 epoch;  /* of the table of stations; a CPU adopts a new one between two polls */
	__u32 urgent; /* grows when something changed that must not wait for that: ports, and stations that moved */
	__u32 scan;   /* grows about once a second */
	__u32 padding;
};

#define HOPCAP_BRIDGE_PORT_SOURCE 1u   /* frames that come in here may take the fast path */
#define HOPCAP_BRIDGE_PORT_TARGET 2u   /* frames may be redirected to it */
#define HOPCAP_BRIDGE_PORT_ISOLATED 4u /* never between two of these */
#define HOPCAP_BRIDGE_PORT_BUFFERS 8u  /* takes frames of several buffers */

struct bridge_port {
	__u32 flags;
	__u32 max_bytes; /* of a frame, with its Ethernet header and all tags */
};

/* Why a frame went to the stack, that is, to the bridge. Names for people: user/accel/reasons.c, in this order. */
enum bridge_reason {
	BRIDGE_REASON_MULTICAST,      /* broadcast, too */
	BRIDGE_REASON_CONTROL,	      /* 01:80:c2:…, pause, ARP, MACsec and others that bridges look at */
	BRIDGE_REASON_BAD_SOURCE,     /* a source address that none can have */
	BRIDGE_REASON_SOURCE_UNKNOWN, /* to be learned */
	BRIDGE_REASON_SOURCE_MOVED,   /* known at another port: to be learned anew */
	BRIDGE_REASON_UNKNOWN,	      /* destination not known, or the bridge's own */
	BRIDGE_REASON_SAME_PORT,      /* destination behind the port that the frame came from */
	BRIDGE_REASON_SOURCE_PORT,    /* the port it came from leaves frames to the bridge */
	BRIDGE_REASON_TARGET_PORT,    /* the port it is for does */
	BRIDGE_REASON_ISOLATED,	      /* between two isolated ports */
	BRIDGE_REASON_TOO_LONG,	      /* for the target's MTU */
	BRIDGE_REASON_BUFFERS,	      /* several buffers, which the target does not take */
	BRIDGE_REASON_SHORT,	      /* no whole Ethernet header */
	BRIDGE_REASONS
};

/*
 * One CPU's, of one incoming port: its counters, and what it decided last (addresses as they stand in the frame). The memory is
 * right while epoch and urgent are those it was filled under.
 */
struct bridge_lane {
	__u64 addresses_head; /* first eight bytes of the frame, … */
	__u32 addresses_tail; /* … the four behind them: both addresses */
	__u32 epoch;
	__u32 urgent;
	__u32 target;	      /* slot + 1; 0: nothing is remembered */
	__u32 target_flags;
	__u32 max_bytes;
	__u64 frames;	      /* redirected: handed to the target's queue */
	__u64 bytes;	      /* of these, without FCS */
	__u64 stack[BRIDGE_REASONS];
	__u64 padding[1];
};

struct bridge_cpu {
	__u32 polls;	  /* NAPI polls that ended */
	__u32 polls_seen; /* when epoch was adopted */
	__u32 epoch;
	__u32 jiffies;	  /* when it was adopted */
};

_Static_assert(sizeof(struct bridge_station_key) == 8, "bridge_station_key");
_Static_assert(sizeof(struct bridge_station) == 16, "bridge_station");
_Static_assert(sizeof(struct bridge_control) == 16, "bridge_control");
_Static_assert(sizeof(struct bridge_lane) == 160, "bridge_lane");

#endif
