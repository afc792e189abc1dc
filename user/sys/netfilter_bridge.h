/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether packet filters look at bridged frames in the caller's network namespace.
 *
 * Owns: asking nftables, the list of hooks (Linux 5.14, where it is built in) and br_netfilter's settings.
 */
#ifndef SYS_NETFILTER_BRIDGE_H
#define SYS_NETFILTER_BRIDGE_H

/* 1 there are hooks or chains of the bridge family, br_netfilter's own apart; 0 there are none, as far as this kernel can tell; or
 * -errno with error text. */
int netfilter_bridge_rules(void);
/* 1 when br_netfilter hands bridged frames to iptables, ip6tables or arptables; 0 when not, or when there is no br_netfilter. */
int netfilter_bridge_calls(void);

#endif
