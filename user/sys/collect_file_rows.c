// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The table of files that become facts; see collect_files.h. Grouped by what they are read for. Read by collect_files.c.
 *
 * Nothing here may cost more than its reading: no scaling_cur_freq (asks another CPU), no files that only root may read unless a check
 * needs them.
 */
#include "sys/collect_files.h"

#include <stddef.h>

/* A row is a line. */
/* clang-format off */

#define MACHINE(path) { COLLECT_FILE_MACHINE, path, 0 }
#define NETNS(path) { COLLECT_FILE_NETNS, path, 0 }
#define LINK(path) { COLLECT_FILE_LINK, "/sys/class/net/%/" path, 0 }
#define PCI(path) { COLLECT_FILE_PCI, "/sys/bus/pci/devices/%/" path, 0 }
#define CPU "/sys/devices/system/cpu/"

const struct collect_file_row collect_file_rows[] = {
	/* What it is, and what it runs on. */
	MACHINE("/proc/sys/kernel/osrelease"),
	MACHINE("/proc/version"),
	MACHINE("/proc/cmdline"),
	MACHINE("/sys/class/dmi/id/sys_vendor"),
	MACHINE("/sys/class/dmi/id/product_name"),
	MACHINE("/sys/class/dmi/id/bios_vendor"),
	MACHINE("/sys/hypervisor/type"),
	MACHINE("/proc/xen/capabilities"),
	MACHINE("/proc/device-tree/hypervisor/compatible"),
	MACHINE("/proc/device-tree/model"),
	MACHINE("/proc/ppc64/lparcfg"),
	{ COLLECT_FILE_MACHINE, "/proc/cpuinfo", 4096 }, /* the first CPU is enough */

	/* CPUs: which, how they sleep, how fast they may run, who shares a core. */
	MACHINE(CPU "online"),
	MACHINE(CPU "possible"),
	MACHINE(CPU "isolated"),
	MACHINE(CPU "nohz_full"),
	MACHINE(CPU "smt/active"),
	MACHINE(CPU "intel_pstate/no_turbo"),
	MACHINE(CPU "cpufreq/boost"),
	MACHINE(CPU "cpuidle/current_driver"),
	MACHINE(CPU "cpuidle/current_governor"),
	MACHINE(CPU "cpu*/cpufreq/scaling_governor"),
	MACHINE(CPU "cpu*/cpufreq/scaling_driver"),
	MACHINE(CPU "cpu*/cpufreq/scaling_min_freq"),
	MACHINE(CPU "cpu*/cpufreq/scaling_max_freq"),
	MACHINE(CPU "cpu*/cpufreq/cpuinfo_max_freq"),
	MACHINE(CPU "cpu*/cpuidle/state*/name"),
	MACHINE(CPU "cpu*/cpuidle/state*/latency"),
	MACHINE(CPU "cpu*/cpuidle/state*/usage"),
	MACHINE(CPU "cpu*/cpuidle/state*/disable"),
	MACHINE(CPU "cpu*/topology/core_id"),
	MACHINE(CPU "cpu*/topology/physical_package_id"),
	MACHINE(CPU "cpu*/topology/thread_siblings_list"),
	MACHINE("/sys/devices/system/node/node*/cpulist"),
	MACHINE("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
	MACHINE("/sys/devices/system/clocksource/clocksource0/available_clocksource"),
	MACHINE("/sys/class/ptp/ptp*/clock_name"),

	/* Work of CPUs. */
	MACHINE("/proc/stat"),
	MACHINE("/proc/loadavg"),
	MACHINE("/proc/uptime"),
	MACHINE("/proc/interrupts"),
	MACHINE("/proc/softirqs"),
	MACHINE("/proc/net/softnet_stat"),
	MACHINE("/proc/sys/net/core/netdev_budget"),
	MACHINE("/proc/sys/net/core/netdev_budget_usecs"),
	MACHINE("/proc/sys/net/core/netdev_max_backlog"),
	MACHINE("/proc/sys/net/core/dev_weight"),
	MACHINE("/proc/sys/net/core/rps_sock_flow_entries"),
	MACHINE("/proc/sys/net/core/busy_poll"),
	MACHINE("/proc/sys/net/core/busy_read"),
	MACHINE("/proc/sys/net/core/default_qdisc"),
	MACHINE("/proc/sys/net/core/bpf_jit_enable"),
	MACHINE("/proc/sys/kernel/numa_balancing"),
	MACHINE("/proc/sys/kernel/sched_rt_runtime_us"),

	/* Hypervisor side: KVM, vhost, Xen. */
	MACHINE("/sys/module/kvm/parameters/halt_poll_ns"),
	MACHINE("/sys/module/kvm_intel/parameters/enable_apicv"),
	MACHINE("/sys/module/kvm_intel/parameters/nested"),
	MACHINE("/sys/module/kvm_intel/parameters/ept"),
	MACHINE("/sys/module/kvm_amd/parameters/avic"),
	MACHINE("/sys/module/kvm_amd/parameters/nested"),
	MACHINE("/sys/class/misc/vhost-net/dev"), /* there while the module is */
	MACHINE("/sys/module/vhost_net/parameters/experimental_zcopytx"),
	MACHINE("/sys/module/haltpoll/parameters/guest_halt_poll_ns"),
	MACHINE("/sys/module/xen_netback/parameters/max_queues"),
	MACHINE("/sys/kernel/mm/transparent_hugepage/enabled"),
	MACHINE("/sys/kernel/mm/hugepages/*/nr_hugepages"),
	MACHINE("/sys/module/ibmveth/parameters/*"),

	/* Filters and sockets, per namespace. */
	NETNS("/proc/sys/net/bridge/bridge-nf-call-iptables"),
	NETNS("/proc/sys/net/bridge/bridge-nf-call-ip6tables"),
	NETNS("/proc/sys/net/bridge/bridge-nf-call-arptables"),
	NETNS("/proc/sys/net/bridge/bridge-nf-filter-vlan-tagged"),
	NETNS("/proc/sys/net/netfilter/nf_conntrack_count"),
	NETNS("/proc/sys/net/netfilter/nf_conntrack_max"),
	NETNS("/proc/sys/net/netfilter/nf_conntrack_buckets"),
	NETNS("/proc/net/stat/nf_conntrack"),
	NETNS("/proc/net/ip_tables_names"),
	NETNS("/proc/net/ip6_tables_names"),
	NETNS("/proc/sys/net/ipv4/tcp_rmem"),
	NETNS("/proc/sys/net/ipv4/tcp_wmem"),
	NETNS("/proc/sys/net/ipv4/tcp_mtu_probing"),
	NETNS("/proc/sys/net/ipv4/tcp_congestion_control"),
	NETNS("/proc/sys/net/ipv4/ip_no_pmtu_disc"),
	NETNS("/proc/sys/net/ipv4/ip_forward"),
	NETNS("/proc/sys/net/ipv4/conf/all/rp_filter"),
	NETNS("/proc/sys/net/core/rmem_max"),
	NETNS("/proc/sys/net/core/wmem_max"),
	NETNS("/proc/net/snmp"),
	NETNS("/proc/net/netstat"),
	NETNS("/proc/net/bonding/*"),

	/* Links: what findings cite. */
	LINK("mtu"),
	LINK("tx_queue_len"),
	LINK("operstate"),
	LINK("carrier"),
	LINK("carrier_changes"),
	LINK("speed"),
	LINK("duplex"),
	LINK("tun_flags"),
	LINK("threaded"),
	LINK("gro_flush_timeout"),
	LINK("napi_defer_hard_irqs"),
	LINK("queues/rx-*/rps_cpus"),
	LINK("queues/rx-*/rps_flow_cnt"),
	LINK("queues/tx-*/xps_cpus"),
	LINK("statistics/rx_dropped"),
	LINK("statistics/tx_dropped"),
	LINK("statistics/rx_missed_errors"),
	LINK("bridge/stp_state"),
	LINK("bridge/vlan_filtering"),
	LINK("bridge/default_pvid"),
	LINK("bridge/ageing_time"),
	LINK("bridge/forward_delay"),
	LINK("bridge/multicast_snooping"),
	LINK("bridge/multicast_querier"),
	LINK("bridge/nf_call_iptables"),
	LINK("bridge/nf_call_ip6tables"),
	LINK("bridge/nf_call_arptables"),
	LINK("brport/state"),
	LINK("brport/learning"),
	LINK("brport/unicast_flood"),
	LINK("brport/isolated"),
	LINK("brport/hairpin_mode"),
	LINK("bonding/mode"),
	LINK("bonding/xmit_hash_policy"),
	LINK("bonding/slaves"),
	LINK("bonding/active_slave"),
	LINK("bonding/miimon"),
	LINK("bonding/lacp_rate"),
	LINK("device/features"), /* of a virtio device: its negotiated bits */
	LINK("device/numa_node"),
	LINK("device/local_cpulist"),
	LINK("device/current_link_speed"),
	LINK("device/current_link_width"),
	LINK("device/max_link_speed"),
	LINK("device/max_link_width"),
	LINK("device/sriov_numvfs"),
	LINK("device/sriov_totalvfs"),
	LINK("device/iommu_group/type"),
	LINK("device/pool*/active"), /* ibmveth: receive buffer pools */
	LINK("device/pool*/num"),
	LINK("device/pool*/size"),

	/* Slots and bridges above a device. */
	PCI("current_link_speed"),
	PCI("current_link_width"),
	PCI("max_link_speed"),
	PCI("max_link_width"),
	PCI("class"),
	PCI("vendor"),
	PCI("device"),
	PCI("numa_node"),
	PCI("iommu_group/type"),
	PCI("link/l1_aspm"),

	{ COLLECT_FILE_MACHINE, NULL, 0 }
};

/* clang-format on */
