// SPDX-License-Identifier: GPL-2.0-or-later
/* Options of `hopcap send`; see send_options.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "cmd/send_options.h"
#include "traffic/sender.h"
#include "traffic/source.h"
#include "wire_test_frame.h"

struct send_options send_options = { .queue = -1, .cpu = -1, .stamp = -1, .workers = 1, .flows = 1, .burst = 1 };

static int take_rate(const char *argument)
{
	return rate_parse(argument, &send_options.rate);
}

static int parse_mac(const char *text, unsigned char mac[6])
{
	int used = 0;

	if (sscanf(text, "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx%n", &mac[0], &mac[1], &mac[2], &mac[3], &mac[4], &mac[5],
		   &used) != 6 ||
	    text[used])
		return error_set(EINVAL, "'%s' is no Ethernet address, such as 02:00:00:00:00:01", text);
	return 0;
}

static int take_to_mac(const char *argument)
{
	send_options.to_mac_given = 1;
	return parse_mac(argument, send_options.to_mac);
}

static int take_from_mac(const char *argument)
{
	send_options.from_mac_given = 1;
	return parse_mac(argument, send_options.from_mac);
}

/* "100" or "200,100": outer tag first. */
static int take_vlan(const char *argument)
{
	char *end;

	for (send_options.vlan_count = 0; send_options.vlan_count < 2; argument = end + 1) {
		long id = strtol(argument, &end, 10);

		if (end == argument || (*end && *end != ',') || id < 1 || id > 4094)
			break;
		send_options.vlan[send_options.vlan_count++] = (uint16_t)id;
		if (!*end)
			return 0;
	}
	return error_set(EINVAL, "one VLAN id (100) or two, the outer first (200,100), each from 1 to 4094");
}

const struct option_row send_rows[] = {
	{ "port", 'p', OPTION_TEXT, "PORT",
	  "how frames are sent: af_xdp_zc, live, af_xdp_copy or packet (default: the first of these that works here)",
	  &send_options.port, 0, 0 },
	{ "size", 's', OPTION_TEXT, "SIZES",
	  "frame sizes without FCS: 60, a list 60,512,1514, weights 60:7,566:4, or a mix: imix, imix-csit, nfvbench (default: the smallest)",
	  &send_options.sizes, 0, 0 },
	{ "pcap", 0, OPTION_TEXT, "FILE", "sizes and timing of a capture (pcap, pcapng), our headers; --rate instead of its timing", &send_options.pcap,
	  0, 0 },
	{ "as-captured", 0, OPTION_FLAG, NULL, "with --pcap: its frames as they are, counted where they leave, without a ledger",
	  &send_options.pcap_frames, 0, 0 },
	{ "rate", 'r', OPTION_CALL, "RATE", "10000, 1.5M (frames/s), 400Mbit/s, 2.5Gbit/s (layer 2), 50% (of the line); default: as fast as it goes",
	  take_rate, 0, 0 },
	{ "seconds", 't', OPTION_SECONDS, "S", "how long (default 5)", &send_options.seconds, 0, 0 },
	{ "frames", 'n', OPTION_INTEGER, "N", "how many frames at most", &send_options.frames, 1, 1000000000000 },
	{ "flows", 0, OPTION_INTEGER, "N", "vary the UDP source port over so many flows", &send_options.flows, 1, 16384 },
	{ "burst", 0, OPTION_INTEGER, "N", "with --rate: N frames at once, then a pause", &send_options.burst, 1, 65536 },
	{ "ramp", 0, OPTION_SECONDS, "S", "with --rate: grow from a tenth of it to all of it in S seconds", &send_options.ramp_s, 0, 0 },
	{ "workers", 'w', OPTION_INTEGER, "N", "so many threads, each with a queue and a stream of its own", &send_options.workers, 1,
	  SENDER_MAX_WORKERS },
	{ "queue", 0, OPTION_INTEGER, "N", "AF_XDP: queue of the first worker", &send_options.queue, 0, 4095 },
	{ "cpu", 0, OPTION_INTEGER, "N", "CPU of the first worker, the others next to it (default: not pinned)", &send_options.cpu, 0, 4095 },
	{ "stamp", 0, OPTION_INTEGER, "N",
	  "put the time into 1 of N frames, a power of two; 0: none (default: all up to 200 kpps, 1 of 64 above)", &send_options.stamp, 0,
	  1 << 30 },
	{ "ipv6", '6', OPTION_FLAG, NULL, "IPv6 instead of IPv4", &send_options.ipv6, 0, 0 },
	{ "vlan", 0, OPTION_CALL, "ID[,ID]", "tag the frames (802.1Q; two ids: 802.1ad outside)", take_vlan, 0, 0 },
	{ "to-mac", 0, OPTION_CALL, "MAC", "destination (default: that of SINK)", take_to_mac, 0, 0 },
	{ "from-mac", 0, OPTION_CALL, "MAC", "source address (default: that of SOURCE)", take_from_mac, 0, 0 },
	{ "kind", 'k', OPTION_TEXT, "KIND", "of SINK: xdp, xdp-generic, tc, af_xdp_zc or af_xdp_copy (default xdp, else tc)", &send_options.kind,
	  0, 0 },
	{ "verify", 0, OPTION_FLAG, NULL, "SINK compares every byte of the payload", &send_options.verify, 0, 0 },
	{ "tag", 0, OPTION_INTEGER, "N", "run tag, which tells runs apart (default: random)", &send_options.tag, 1, HOPCAP_PROBE_TAG - 1 },
	{ "busy-poll", 0, OPTION_FLAG, NULL, "AF_XDP: the sending thread drives the device itself (preferred busy polling)",
	  &send_options.busy_poll, 0, 0 },
	{ "qdisc", 0, OPTION_FLAG, NULL, "packet: through the queueing discipline instead of past it", &send_options.qdisc, 0, 0 },
	{ "super", 0, OPTION_INTEGER, "BYTES", "packet: GSO super-frames of so many bytes, which the device cuts", &send_options.super_bytes,
	  1000, 65000 },
	{ "json-lines", 'j', OPTION_FLAG, NULL, "one JSON object a second, the result last", &send_options.json_lines, 0, 0 },
	{ "force-uplink", 0, OPTION_FLAG, NULL, "send even on the interface of the default route or this ssh session",
	  &send_options.force_uplink, 0, 0 },
	{ NULL, 0, OPTION_FLAG, NULL, NULL, NULL, 0, 0 },
};

int send_options_check(int count)
{
	if (count < 1 || count > 2)
		return error_set(EINVAL, "give the interface that sends and, when frames are to be counted, the one they arrive at");
	if (send_options.stamp > 0 && (send_options.stamp & (send_options.stamp - 1)))
		return error_set(EINVAL, "--stamp: %ld is no power of two", send_options.stamp);
	for (long worker = 0; send_options.cpu >= 0 && worker < send_options.workers; worker++)
		if (!source_cpu_usable((int)(send_options.cpu + worker)))
			return error_set(EINVAL, "--cpu: there is no CPU %ld here that this process may use", send_options.cpu + worker);
	if (send_options.super_bytes || send_options.qdisc) {
		if (send_options.port && strcmp(send_options.port, "packet"))
			return error_set(EINVAL, "--super and --qdisc belong to --port packet");
		send_options.port = "packet";
	}
	if (send_options.queue >= 0 && send_options.port && strncmp(send_options.port, "af_xdp_", 7))
		return error_set(EINVAL, "--queue belongs to --port af_xdp_zc and af_xdp_copy");
	if (send_options.busy_poll && send_options.port && strcmp(send_options.port, "auto") && strncmp(send_options.port, "af_xdp_", 7) &&
	    (!send_options.kind || strncmp(send_options.kind, "af_xdp_", 7)))
		return error_set(EINVAL, "--busy-poll belongs to --port and --kind af_xdp_zc and af_xdp_copy");
	if (send_options.rate.unit == RATE_FULL && (send_options.burst > 1 || send_options.ramp_s > 0))
		return error_set(EINVAL, "--burst and --ramp need --rate");
	if ((send_options.kind || send_options.verify) && count < 2)
		return error_set(EINVAL, "--kind and --verify belong to SINK, which is not named");
	if (send_options.pcap_frames && !send_options.pcap)
		return error_set(EINVAL, "--as-captured belongs to --pcap");
	if (send_options.pcap && (send_options.sizes || send_options.workers > 1 || send_options.burst > 1 || send_options.ramp_s > 0))
		return error_set(EINVAL, "--pcap gives sizes and order, for one worker: leave out --size, --workers, --burst and --ramp");
	if (send_options.pcap && send_options.port && strcmp(send_options.port, "packet"))
		return error_set(EINVAL, "--pcap: a capture is sent by --port packet");
	if (send_options.pcap_frames && count > 1)
		return error_set(EINVAL, "--as-captured: frames of a capture have no ledger, so SINK would count none of them");
	if (count < 2 && !send_options.to_mac_given && !send_options.pcap_frames)
		return error_set(EINVAL, "where to? name SINK, or give its address with --to-mac");
	if (geteuid() != 0)
		return error_set(EPERM, "needs root: BPF programs and raw frames take CAP_BPF, CAP_NET_ADMIN and CAP_NET_RAW");
	return 0;
}
