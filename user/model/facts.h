/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Facts: what one kernel, and text that the user pasted, says about interfaces and what serves them. No judgement.
 *
 * Owns: the structs, their creation, growth, look-ups and freeing. Leaves to others: filling them (sys/collect_*.c,
 * doctor/evidence_*.c for pasted text), JSON (model/facts_json_*.c), following paths (discover/), judging (doctor/). No I/O.
 *
 * Everything above sys/ reads facts only, never the system; so facts that were saved on one machine can be judged on another,
 * and a user's bug report is a test fixture.
 *
 * Conventions. Unknown: a count or a number is FACTS_UNKNOWN (-1) where 0 would be an answer, a string "". Every array is
 * malloc'ed, with its count beside it, and grows by facts_add_*() alone (its room follows from the count: elements may be taken
 * off the end, never put there otherwise); pointers into an array become invalid when it grows, so
 * records name each other by (netns, ifindex). Strings that may be long are malloc'ed (char *, never NULL after
 * facts_add_*(): ""). Units stand in the names; 64-bit counters are since boot, unless the facts are a difference.
 */
#ifndef MODEL_FACTS_H
#define MODEL_FACTS_H

#include <stddef.h>
#include <stdint.h>

#define FACTS_UNKNOWN (-1)
#define FACTS_SCHEMA "hopcap.facts/1"

/* A network namespace of this kernel. */
struct facts_netns {
	char name
		[64]; /* as `ip netns` and points say it; "" the namespace of the caller; "pid:N" when it has no name */
	uint64_t inode;	 /* of its nsfs file; tells namespaces apart */
	int could_enter; /* 1 unless told; 0: its links are missing here, `why_not` says why */
	char why_not[128];
};

/* Of IFLA_STATS64 by its member's name ("rx_dropped"), then of ethtool -S; a name that both have is there once, the former's. */
struct facts_counter {
	char name[48];
	uint64_t value;
};

struct facts_feature { /* ethtool -k, by the kernel's own name ("tx-tcp-segmentation", "rx-gro-hw") */
	char name[48];
	int on;
	int fixed; /* the device does not let it be changed */
};

/* Its rate is what it never exceeds: of tbf, cake and netem theirs, of an htb class the ceiling, of an hfsc class the upper limit. */
struct facts_qdisc {
	char kind[16];
	uint32_t handle, parent;   /* TC_H_*; clsact and ingress have parent TC_H_INGRESS (TC_H_CLSACT) */
	int is_class;		   /* a class with a rate (htb, hfsc …), not a qdisc */
	uint64_t rate_bytes_per_s; /* of a shaper or class; 0 none */
	uint64_t limit;		   /* in what the qdisc counts; 0 unknown */
	uint64_t frames, bytes;
	uint64_t drops, overlimits, requeues, backlog_bytes, backlog_frames;
};

struct facts_filter {		     /* a tc filter: who stands in the way of frames at an interface */
	int ingress;		     /* 1 ingress, 0 egress (clsact) or a classful qdisc's */
	char kind[16];		     /* bpf, flower, u32, matchall …; "tcx": a program without a filter (Linux 6.6) */
	char name[64];		     /* program's name of a bpf filter or tcx */
	uint64_t police_bytes_per_s; /* of a police action; 0 none */
};

struct facts_vf { /* a virtual function, as its PF reports it (IFLA_VFINFO) */
	int index;
	uint8_t address[6];
	int64_t max_tx_mbit_per_s; /* 0: no limit; -1 unknown */
	int64_t min_tx_mbit_per_s;
	int spoof_check, trust; /* 0, 1, -1 unknown */
	int link_state;		/* 0 auto, 1 enable, 2 disable, -1 unknown (IFLA_VF_LINK_STATE_*) */
	int vlan, qos;		/* 0 none */
	int rss_query;		/* 0, 1, -1 */
};

struct facts_irq {
	int number;
	char name[64];	    /* last column of /proc/interrupts: "eth0-TxRx-3", "virtio0-input.0" */
	char affinity[64];  /* smp_affinity_list */
	char effective[64]; /* effective_affinity_list; "" unknown */
	uint64_t count;	    /* all CPUs together, since boot */
};

struct facts_bridge { /* of kind "bridge" */
	int stp, vlan_filtering, vlan_default_pvid, multicast_snooping, multicast_querier, nf_call_iptables,
		nf_call_ip6tables, nf_call_arptables; /* all: -1 unknown */
	int64_t ageing_ms, forward_delay_ms;
};

struct facts_bridge_port { /* of a link whose master is a bridge */
	int state; /* BR_STATE_*: 0 disabled, 1 listening, 2 learning, 3 forwarding, 4 blocking; -1 no bridge port */
	int learning, unicast_flood, isolated, hairpin, vlan_tunnel; /* -1 unknown */
	int pvid;						     /* 0 none, -1 unknown */
	char vlans[128];    /* VLANs whose frames may come in and leave here: "1,10-20", "none"; "" unknown, or too many ranges */
	char untagged[128]; /* those of them that leave without their tag, in the same form */
};

struct facts_link {
	int netns; /* index into facts.netns */
	int ifindex;
	char name[16];
	char kind
		[32]; /* IFLA_INFO_KIND: veth, bridge, tun, macvlan, macvtap, vlan, vxlan, bond, team, openvswitch, ifb …; "" for a device */
	char driver
		[32]; /* ethtool's driver name or the device's driver link: "virtio_net", "mlx5_core", "veth"; "" unknown */
	char driver_version[32], firmware[40];
	char bus[16];				  /* "pci", "virtio", "vio", "vmbus", "xen" … ("" virtual) */
	char bus_address[40];			  /* "0000:03:00.1", "virtio0", "30000002" */
	char bus_parents[160];			  /* PCI addresses of the bridges above the device, nearest first, one space between */
	uint16_t pci_vendor, pci_device;	  /* 0 unknown */
	uint8_t address[6], permanent_address[6]; /* permanent all 0: unknown */
	uint32_t flags; /* IFF_*: IFF_UP 1, IFF_LOOPBACK 8, IFF_RUNNING 0x40, IFF_PROMISC 0x100 … */
	int operstate;	/* IF_OPER_*: 2 down, 6 up …; -1 unknown */
	int carrier;	/* 0, 1, -1 */
	int64_t carrier_changes;
	int mtu_bytes, min_mtu_bytes, max_mtu_bytes; /* -1 unknown */
	int tx_queue_len;
	int rx_queues, tx_queues;	  /* real number at the moment; -1 unknown */
	int rx_queues_max, tx_queues_max; /* what ethtool -l allows (combined counts for both); -1 unknown */
	int rx_ring, rx_ring_max, tx_ring, tx_ring_max;	  /* descriptors; -1 unknown or none */
	int64_t speed_mbit_per_s;			  /* -1 unknown (virtual devices) */
	int duplex;					  /* 0 half, 1 full, -1 unknown */
	int autonegotiation;				  /* 0, 1, -1 */
	int pause_rx, pause_tx, pause_auto;		  /* -1 unknown */
	int eee;					  /* energy-efficient Ethernet active: 0, 1, -1 */
	int rx_usecs, tx_usecs, adaptive_rx, adaptive_tx; /* ethtool -c; -1 unknown */
	int64_t gro_flush_timeout_ns;
	int napi_defer_hard_irqs, threaded_napi; /* -1 unknown */
	int numa_node;				 /* -1 unknown or none */
	int udp4_hash_ports; /* receive-side scaling looks at the ports of UDP over IPv4 (ethtool -n X rx-flow-hash udp4): 0, 1, -1 */
	int group;

	/* Where frames go from here. (netns, ifindex) pairs; ifindex 0: none. netns -1: in a namespace that could not be told. */
	int master_ifindex; /* in the same namespace */
	int lower_netns,
		lower_ifindex; /* IFLA_LINK: the peer of a veth, the device below a vlan, macvlan, vxlan; same netns unless told */
	struct facts_bridge bridge;
	struct facts_bridge_port port;
	int vlan_id, vlan_protocol;		/* kind vlan: 0x8100 or 0x88a8 */
	char macvlan_mode[16];			/* bridge, vepa, private, passthru, source */
	int vxlan_id;				/* -1 none */
	char vxlan_local[48], vxlan_remote[48]; /* addresses as text */
	int vxlan_port;
	char bond_mode[24], bond_hash[24];	     /* "802.3ad", "layer3+4"; team: runner's name when known */
	int bond_is_active;			     /* of a slave: 0, 1, -1 */
	int tun_flags;				     /* /sys/class/net/X/tun_flags; -1 no tun */
	char phys_switch_id[40], phys_port_name[32]; /* representors share the id */
	char physfn_address[40];		     /* of a VF: PCI address of its PF */
	int vf_index;				     /* of a VF: its number; -1 */
	int vf_count, vf_total;			     /* of a PF: sriov_numvfs, sriov_totalvfs; -1 no SR-IOV */

	/* XDP. */
	uint32_t xdp_program_id; /* 0 none */
	char xdp_program_name[32];
	int xdp_mode;			       /* XDP_ATTACHED_*: 0 none, 1 native, 2 generic, 3 offloaded, 4 several */
	int64_t xdp_features;		       /* NETDEV_XDP_ACT_* bits; -1: the kernel does not say (before 6.3) */
	int64_t xdp_rx_metadata, xsk_features; /* NETDEV_XDP_RX_METADATA_*, NETDEV_XSK_FLAGS_*; -1 */
	int xdp_zc_max_segments;	       /* -1 */

	int feature_count, counter_count, qdisc_count, filter_count, vf_info_count, irq_count;
	struct facts_feature *features;
	struct facts_counter *counters;
	struct facts_qdisc *qdiscs;
	struct facts_filter *filters;
	struct facts_vf *vfs;
	struct facts_irq *irqs;
};

struct facts_fdb {
	int netns;
	int bridge_ifindex; /* 0: of a vxlan device (self) */
	int port_ifindex;
	uint8_t address[6];
	int vlan;			      /* 0 none */
	int is_local, is_static, is_external; /* permanent; static (noarp) or external learned */
	char vxlan_remote[48];		      /* "" none */
};

struct facts_address { /* of an interface; the routes that matter are in `routes` */
	int netns, ifindex, prefix_length;
	char address[48];
};

struct facts_route {
	int netns;
	int out_ifindex, prefix_length;
	int metric, mtu_bytes;		   /* 0 none */
	char destination[48], gateway[48]; /* "" default, "" on link */
};

struct facts_neighbour {
	int netns, ifindex;
	char address[48];
	uint8_t mac[6];
};

struct facts_thread {
	int tid;
	char name[20];	       /* "vhost-4711", "CPU 0/KVM" */
	char cpus_allowed[64]; /* list */
	int last_cpu;
	uint64_t cpu_time_ms; /* utime + stime */
	uint64_t wait_ns;     /* schedstat's run-queue wait */
};

/* A process that holds an end of a path: a tun/tap descriptor, vhost, KVM. */
struct facts_process {
	int pid;
	char name[20];
	int argument_count;
	char **arguments; /* command line, as in /proc/PID/cmdline */
	int is_qemu;
	int vhost_net, vhost_vdpa, kvm, vfio; /* open descriptors of these devices; -1: could not be read */
	int tun_count;
	struct facts_tun_holder {
		int netns; /* -1 unknown */
		char interface[16];
		int descriptors; /* one a queue */
	} * tuns;
	int thread_count;
	struct facts_thread *threads;
};

/* A file of sysfs or procfs that was read, whole (at most 64 KB), or why it was not. The evidence line of a finding comes from
 * here. Sorted by (netns, path). */
struct facts_file {
	char *path; /* "/proc/sys/net/bridge/bridge-nf-call-iptables"; of a namespace: its netns in `netns` */
	int netns;  /* index; 0 for what belongs to the machine */
	char *text; /* without the last newline; "" when unreadable */
	int error;  /* errno when unreadable, else 0 */
};

/* One statement of pasted vendor text: kind of text, object it is about, key, value, and the very line. */
struct facts_claim {
	char kind[24];	 /* "entstat", "seastat", "lsdev", "lsattr", "esxcli_nic", "esxcli_vswitch", "vsish_nic" … */
	char source[64]; /* file it came from, for the evidence */
	char object[64]; /* "ent6", "vmnic2", "vSwitch0" */
	char key[64];	 /* normalised: lower case, words joined by '_': "lowest_registered_small" */
	char *value;
	int line_number; /* 1… */
	char *line;	 /* as pasted, trimmed */
};

struct facts_gap { /* something that could not be read, for the user: "ethtool statistics of eth0: Operation not permitted (run as root)" */
	char *text;
};

struct facts {
	char created[32]; /* RFC 3339, UTC */
	char version[32];
	char kernel[80], machine[80],
		hypervisor[32]; /* "kvm", "vmware", "microsoft", "xen", "powervm"; "" none or unknown */
	int cpu_count;
	int is_root;
	char uplink[16];	/* interface of the default route in the caller's namespace; "" none */
	char ssh_interface[16]; /* that carries the ssh session; "" none */

	int netns_count, link_count, fdb_count, address_count, route_count, neighbour_count, process_count, file_count,
		claim_count, gap_count;
	struct facts_netns *netns; /* [0] is the caller's */
	struct facts_link *links;  /* sorted by (netns, ifindex) */
	struct facts_fdb *fdb;
	struct facts_address *addresses;
	struct facts_route *routes;
	struct facts_neighbour *neighbours;
	struct facts_process *processes;
	struct facts_file *files;
	struct facts_claim *claims;
	struct facts_gap *gaps;

	struct facts_link *
		*links_by_name; /* of facts_sort(), for facts_link_named(); NULL: not sorted since a link was added */
};

/* Empty facts with the caller's namespace at netns[0]; NULL when out of memory. */
struct facts *facts_new(void);
void facts_free(struct facts *facts);

/* A new record at the end, everything unknown; NULL when out of memory. Invalidates pointers into that array. */
struct facts_netns *facts_add_netns(struct facts *facts);
struct facts_link *facts_add_link(struct facts *facts);
struct facts_fdb *facts_add_fdb(struct facts *facts);
struct facts_address *facts_add_address(struct facts *facts);
struct facts_route *facts_add_route(struct facts *facts);
struct facts_neighbour *facts_add_neighbour(struct facts *facts);
struct facts_process *facts_add_process(struct facts *facts);
struct facts_claim *facts_add_claim(struct facts *facts);
struct facts_feature *facts_add_feature(struct facts_link *link);
struct facts_counter *facts_add_counter(struct facts_link *link);
struct facts_qdisc *facts_add_qdisc(struct facts_link *link);
struct facts_filter *facts_add_filter(struct facts_link *link);
struct facts_vf *facts_add_vf(struct facts_link *link);
struct facts_irq *facts_add_irq(struct facts_link *link);
struct facts_tun_holder *facts_add_tun(struct facts_process *process);
struct facts_thread *facts_add_thread(struct facts_process *process);
/* Copies argument and text. 0 or -ENOMEM. */
int facts_add_argument(struct facts_process *process, const char *argument);
int facts_add_file(struct facts *facts, int netns, const char *path, const char *text, int error);
int facts_add_gap(struct facts *facts, const char *format, ...) __attribute__((format(printf, 2, 3)));
int facts_set_text(char **text, const char *value); /* frees what was there */

/* Sorts links and files, so that look-ups find them; call it once after filling (the JSON reader does). */
void facts_sort(struct facts *facts);

/* Look-ups: binary search among links and files, which need facts_sort() first; NULL or -1 when there is none. Of counters or
 * features with one name the first counts. Changing a link's netns, ifindex or name calls for facts_sort() again. */
const struct facts_link *facts_link_at(const struct facts *facts, int netns, int ifindex);
const struct facts_link *facts_link_named(const struct facts *facts, int netns, const char *name);
const struct facts_file *facts_file_at(const struct facts *facts, int netns, const char *path);
/* All files whose path starts with prefix, in order: *count of them from the one returned on; NULL: none. */
const struct facts_file *facts_files_below(const struct facts *facts, int netns, const char *prefix, int *count);
int facts_netns_named(const struct facts *facts, const char *name);	   /* index */
int64_t facts_counter_of(const struct facts_link *link, const char *name); /* -1 unknown */
int facts_feature_of(const struct facts_link *link, const char *name,
		     int *fixed); /* 1 on, 0 off, -1 unknown; fixed may be NULL */
/* A whole number in a file ("1\n", "0x1003"); FACTS_UNKNOWN when there is none. */
int64_t facts_number_at(const struct facts *facts, int netns, const char *path);

/* All as JSON (jansson) and back; model/facts_json_*.c. The writer returns a new reference or NULL; the reader refuses what does
 * not fit (wrong types, indices out of range, more than 65536 links) with -EINVAL and error text that names the member. */
struct json_t;
struct json_t *facts_to_json(const struct facts *facts);
int facts_from_json(const struct json_t *json, struct facts **facts);

#endif
