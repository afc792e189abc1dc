# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# For lab scripts, after harness.sh: a path over three namespaces, and agents that stand in for other kernels.

# domain_path TAG: a0 (TAGa) - b0, bridge br0, b1 (TAGb) - c0 (TAGc), all up and forwarding; removed at exit.
domain_path() {
	local tag=$1 ns end
	for ns in a b c; do
		ip netns add "$tag$ns" || return 1
		defer ip netns del "$tag$ns"
		ip netns exec "$tag$ns" sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
	done
	ip -n "${tag}a" link add a0 type veth peer name b0 netns "${tag}b"
	ip -n "${tag}b" link add b1 type veth peer name c0 netns "${tag}c"
	ip -n "${tag}b" link add br0 type bridge forward_delay 0 mcast_snooping 0
	ip -n "${tag}b" link set b0 master br0
	ip -n "${tag}b" link set b1 master br0
	for end in a:a0 b:b0 b:b1 b:br0 c:c0; do
		ip -n "$tag${end%:*}" link set "${end#*:}" up
	done
	wait_until 10 domain_forwards "$tag"
}

domain_forwards() {
	[[ $(ip -n "${1}b" -d link show b0) == *"state forwarding"* && $(ip -n "${1}b" -d link show b1) == *"state forwarding"* ]]
}

# Writes $TMP/agent, a command "NETNS" that runs an agent there (-: in our own) which looks like one on another kernel: agents of one kernel are known by
# its boot id, and share its clock. AGENT_ENVIRONMENT: NAME=VALUE… for the agent alone.
domain_agent() {
	echo 00000000-0000-4000-8000-000000000001 >"$TMP/boot_id"
	cat >"$TMP/agent" <<-SCRIPT
		#!/bin/sh
		echo \$\$ >$TMP/agent.pid
		[ "\$1" = - ] || set -- ip netns exec "\$1"
		[ "\$1" = - ] && shift
		exec "\$@" unshare -m sh -c 'mount --bind $TMP/boot_id /proc/sys/kernel/random/boot_id && exec ${AGENT_ENVIRONMENT:+env $AGENT_ENVIRONMENT }$HOPCAP agent --stdio'
	SCRIPT
	chmod +x "$TMP/agent"
}

# agent_runs: whether the agent that was started last is there. It never was a child of ours, so its number may be somebody else's by now.
agent_runs() {
	[[ $(tr '\0' ' ' 2>/dev/null <"/proc/$(cat "$TMP/agent.pid")/cmdline") == "$HOPCAP agent --stdio " ]]
}

# domain_is_clean TAG: the agent does not run, no program of ours is attached in the namespaces.
domain_is_clean() {
	local ns
	! agent_runs 2>/dev/null || return 1
	for ns in a b c; do
		ip netns exec "$1$ns" bpftool net 2>/dev/null | grep -qE 'hop_(xdp|tc)|source_|hopcap' && return 1
		tc -n "$1$ns" qdisc show | grep -q clsact && return 1
	done
	return 0
}
