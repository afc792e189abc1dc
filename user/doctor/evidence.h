/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pasted vendor text as a source of facts: hops that no program of ours can look into (VIOS, ESXi) and interfaces of other
 * machines are described by what their own tools print.
 *
 * Owns: reading the file, recognising what is in it, turning it into claims (facts_claim). Leaves to others: judging claims
 * (doctor/checks_*.c), facts of this kernel (sys/collect_*.c). Parsing is pure; only evidence_read() does I/O. Called by
 * cmd/doctor.c and cmd/facts.c.
 *
 * The kind is recognised from the text, and one file may hold several outputs, with prompts, mail quoting and other junk between
 * them. A claim's fields:
 *
 *   kind                object                       what it is
 *   entstat             adapter ("ent6", "en0")      VIOS `entstat -all`, AIX `entstat -d`
 *   seastat             "ent6 MAC"                   VIOS `seastat -d`: one object a client
 *   lsattr              adapter, "" unknown          VIOS `lsdev -dev X -attr`, AIX `lsattr -El X`
 *   esxcli_nic          vmnicN                       `esxcli network nic get -n`, and each row of `esxcli network nic list`
 *   esxcli_nic_stats    vmnicN                       `esxcli network nic stats get -n`
 *   esxcli_vswitch      vSwitchN or a vDS            `esxcli network vswitch standard list`, `… dvs vmware list`
 *   esxcli_port         port number                  `esxcli network port stats get -p`
 *   esxcli_vm_port      port number                  `esxcli network vm port list -w`
 *   vsish_nic           vmnicN                       `vsish -e get /net/pNics/vmnicN/properties` (or stats)
 *   vsish_port          "SWITCH/PORT", "" unknown    `vsish -e get /net/portsets/…/vmxnet3/…`
 *   ethtool_statistics, ethtool_features, ethtool_rings, ethtool_channels, ethtool_driver, ethtool_settings
 *                       interface, "" unknown        `ethtool -S`, -k, -g, -l, -i and without option
 *
 * source is the file's name, with ":HOST" behind it when a prompt in front of the output names the host. Keys of outputs with two
 * columns or with sections have a prefix: transmit_packets, receive_no_resource_errors, real_side_packets_fragmented,
 * other_thread_queue_overflow_packets, max_rx, current_rx, tx_queue_0_ring_full. Rows with several numbers have the column's name
 * behind: registered_small. A flag in angle brackets is sea_flag_thread = "1"; "Driver Flags" may be several claims of one key.
 */
#ifndef DOCTOR_EVIDENCE_H
#define DOCTOR_EVIDENCE_H

#include <stddef.h>
#include <stdint.h>

#include "model/facts.h"

#define EVIDENCE_MAX_BYTES (16 << 20)
#define EVIDENCE_MAX_CLAIMS 16384 /* of one facts, all files together */

/* Reads a file ("-": standard input) and adds its claims. 0; -EINVAL with error text when nothing in it is recognised (the
 * text lists what is), when it is larger than EVIDENCE_MAX_BYTES or holds more than EVIDENCE_MAX_CLAIMS; another -errno
 * when it cannot be read. After a failure facts hold the claims that they held before. */
int evidence_read(const char *path, struct facts *facts);

/* The same of text in memory (any bytes). name: what the claims' source and the error text call it. */
int evidence_parse(const char *name, const char *text, size_t size, struct facts *facts);

/* The claim with this kind and key, of this object and source (NULL: any); of several the last one, since that was pasted last.
 * NULL when there is none. */
const struct facts_claim *evidence_find(const struct facts *facts, const char *kind, const char *source,
					const char *object, const char *key);

/* The next claim behind `claim` (NULL: the first) with this kind and key (NULL: any). */
const struct facts_claim *evidence_next(const struct facts *facts, const struct facts_claim *claim, const char *kind,
					const char *key);

/* A claim's value as a whole number, decimal or 0x…, thousands' commas allowed, text behind it ignored ("10 Gbps");
 * FACTS_UNKNOWN when it is none, or claim is NULL. */
int64_t evidence_number(const struct facts_claim *claim);

#endif
