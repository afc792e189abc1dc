// SPDX-License-Identifier: GPL-2.0-or-later
/* Pasted vendor text: each kind in full (the seeds' fixtures), then mangled as mail, terminals and editors do it, cut and hostile. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "doctor/evidence.h"

#define SEEDS "tests/golden/seeds/"

static struct facts *parse(const char *name, const char *text)
{
	struct facts *facts = facts_new();

	assert_non_null(facts);
	if (evidence_parse(name, text, strlen(text), facts))
		fail_msg("%s: %s", name, error_text());
	return facts;
}

static struct facts *read_seed(const char *path)
{
	struct facts *facts = facts_new();

	assert_non_null(facts);
	if (evidence_read(path, facts))
		fail_msg("%s: %s", path, error_text());
	return facts;
}

static void expect(const struct facts *facts, const char *kind, const char *object, const char *key, const char *value)
{
	const struct facts_claim *claim = evidence_find(facts, kind, NULL, object, key);

	if (!claim)
		fail_msg("no claim %s %s %s", kind, object, key);
	else if (strcmp(claim->value, value))
		fail_msg("%s %s %s is '%s', not '%s'", kind, object, key, claim->value, value);
}

static void expect_none(const struct facts *facts, const char *kind, const char *object, const char *key)
{
	const struct facts_claim *claim = evidence_find(facts, kind, NULL, object, key);

	if (claim)
		fail_msg("%s %s %s is '%s'", kind, object, key, claim->value);
}

static void entstat(void **state)
{
	struct facts *facts = read_seed(SEEDS "sea_entstat.txt");
	const struct facts_claim *flags = NULL;
	int flag_lines = 0, with_checksum = 0;

	(void)state;
	expect(facts, "entstat", "ent6", "sea_flag_thread", "1");
	expect_none(facts, "entstat", "ent6", "sea_flag_largesend");
	expect(facts, "entstat", "ent6", "real_side_packets_bridged", "903112040");
	expect(facts, "entstat", "ent6", "virtual_side_packets_received", "1120461203");
	expect(facts, "entstat", "ent6", "virtual_side_packets_fragmented", "0");
	expect(facts, "entstat", "ent6", "other_thread_queue_overflow_packets", "0");
	expect(facts, "entstat", "ent6", "real_adapter", "ent0");
	expect(facts, "entstat", "ent6", "virtual_adapter", "ent4");
	expect(facts, "entstat", "ent0", "transmit_packets", "1120458811");
	expect(facts, "entstat", "ent0", "receive_packets", "903114872");
	expect(facts, "entstat", "ent0", "receive_no_resource_errors", "0");
	expect(facts, "entstat", "ent0", "receive_bad_packets", "0");
	expect(facts, "entstat", "ent0", "transmit_max_packets_on_s_w_transmit_queue", "118");
	expect(facts, "entstat", "ent0", "link_status", "Up");
	expect(facts, "entstat", "ent0", "media_speed_running", "10 Gbps Full Duplex");
	expect(facts, "entstat", "ent4", "hypervisor_send_failures", "214");
	expect(facts, "entstat", "ent4", "active", "True");
	expect(facts, "entstat", "ent4", "port_vlan_id", "1");
	expect(facts, "entstat", "ent4", "registered_small", "557");
	expect(facts, "entstat", "ent4", "lowest_registered_small", "496");
	expect(facts, "entstat", "ent4", "max_allocated_huge", "24");
	expect(facts, "entstat", "ent4", "buffer_size", "65536");
	expect_none(facts, "entstat", "ent0", "lowest_registered_small");
	while ((flags = evidence_next(facts, flags, "entstat", "driver_flags")))
		if (!strcmp(flags->object, "ent0")) {
			flag_lines++;
			with_checksum += strstr(flags->value, "ChecksumOffload") != NULL;
		}
	assert_int_equal(flag_lines, 3);
	assert_int_equal(with_checksum, 1);
	assert_string_equal(facts->claims[0].source, "sea_entstat.txt");
	facts_free(facts);
}

static void every_claim_has_its_line(void **state)
{
	struct facts *facts = read_seed(SEEDS "sea_entstat.txt");
	const struct facts_claim *claim = evidence_find(facts, "entstat", NULL, "ent4", "lowest_registered_small");

	(void)state;
	assert_non_null(claim);
	assert_int_equal(claim->line_number, 163);
	assert_string_equal(claim->line, "Lowest Registered       508      496      126       24       24");
	facts_free(facts);
}

static void attributes(void **state)
{
	struct facts *facts = read_seed(SEEDS "sea_lsdev.txt");

	(void)state;
	expect(facts, "lsattr", "ent6", "jumbo_frames", "no");
	expect(facts, "lsattr", "ent6", "largesend", "0");
	expect(facts, "lsattr", "ent6", "ctl_chan", "");
	expect(facts, "lsattr", "ent6", "real_adapter", "ent0");
	expect(facts, "lsattr", "ent6", "queue_size", "8192");
	facts_free(facts);
	facts = parse(
		"p",
		"# lsattr -El ent4\nbuf_mode  min  Receive Buffer Mode  True\nmin_buf_tiny 512 Min 512 Byte Buffers True+\n"
		"# lsattr -E -l en2\nmtu 1500 Maximum IP Packet Size for This Device True\n# ls\nfoo bar Baz True\n");
	expect(facts, "lsattr", "ent4", "buf_mode", "min");
	expect(facts, "lsattr", "ent4", "min_buf_tiny", "512");
	expect(facts, "lsattr", "en2", "mtu", "1500");
	facts_free(facts);
}

static void clients_of_an_sea(void **state)
{
	struct facts *facts =
		parse("x", "================\nAdvanced Statistics for SEA\nDevice Name: ent6\n================\n"
			   "MAC: 32:43:23:7A:A3:02\n----------------------\nVLAN: None\nVLAN Priority: None\n"
			   "Hostname: lpar1\nIP: 10.1.1.4\n\nTransmit Statistics:     Receive Statistics:\n"
			   "Packets: 92   Packets: 1127\nBytes: 108994   Bytes: 645195\n================\n"
			   "MAC: 5A:00:23:7A:A3:04\nVLAN: 20\nTransmit Statistics:  Receive Statistics:\n"
			   "Packets: 7  Packets: 8\n");

	(void)state;
	expect(facts, "seastat", "ent6 32:43:23:7A:A3:02", "transmit_packets", "92");
	expect(facts, "seastat", "ent6 32:43:23:7A:A3:02", "receive_bytes", "645195");
	expect(facts, "seastat", "ent6 32:43:23:7A:A3:02", "hostname", "lpar1");
	expect(facts, "seastat", "ent6 5A:00:23:7A:A3:04", "vlan", "20");
	expect(facts, "seastat", "ent6 5A:00:23:7A:A3:04", "receive_packets", "8");
	facts_free(facts);
}

static void hypervisors(void **state)
{
	struct facts *facts = read_seed(SEEDS "esx_a.txt");
	const struct facts_claim *claim;

	(void)state;
	assert_int_equal(evidence_read(SEEDS "esx_b.txt", facts), 0);
	claim = evidence_find(facts, "esxcli_vswitch", "esx_a.txt:esx-north", "vSwitch1", "mtu");
	assert_non_null(claim);
	assert_string_equal(claim->value, "9000");
	claim = evidence_find(facts, "esxcli_vswitch", "esx_b.txt:esx-south", "vSwitch1", "mtu");
	assert_non_null(claim);
	assert_string_equal(claim->line, "MTU: 1500");
	expect(facts, "esxcli_vswitch", "vSwitch0", "uplinks", "vmnic0");
	expect(facts, "esxcli_nic", "vmnic2", "driver", "ixgben");
	expect(facts, "esxcli_nic", "vmnic2", "cable_type", "FIBRE"); /* stands in front of the name */
	expect(facts, "esxcli_nic", "vmnic0", "speed", "1000");
	expect(facts, "esxcli_nic", "vmnic0", "description", "Two-port 1GbE adapter");
	expect(facts, "esxcli_vm_port", "67108873", "mac_address", "00:50:56:9a:3f:80");
	expect(facts, "esxcli_vm_port", "67108873", "vswitch", "vSwitch1");
	facts_free(facts);
}

static void distributed_switch(void **state)
{
	struct facts *facts = parse(
		"d", "DSwitch-Lab\n   Name: DSwitch-Lab\n   VDS ID: 50 1e 77\n   Class: cswitch\n   Num Ports: 2560\n"
		     "   MTU: 9000\n   Uplinks: vmnic3, vmnic2\n   VMware Branded: true\n   DVPort:\n"
		     "         Client: vmnic3\n         Port ID: 12\nPacket statistics for port 50331654\n"
		     "   Packets received: 12\n   Receive packets dropped: 3\nNIC statistics for vmnic2\n"
		     "   Packets received: 99\n   Receive missed errors: 4\n");

	(void)state;
	expect(facts, "esxcli_vswitch", "DSwitch-Lab", "mtu", "9000");
	expect(facts, "esxcli_vswitch", "DSwitch-Lab", "vds_id", "50 1e 77");
	expect(facts, "esxcli_port", "50331654", "receive_packets_dropped", "3");
	expect(facts, "esxcli_nic_stats", "vmnic2", "receive_missed_errors", "4");
	facts_free(facts);
}

static void vsish(void **state)
{
	struct facts *facts =
		parse("v", "~ # vsish -e get /net/pNics/vmnic4/properties\nproperties {\n   Driver Name:ixgben\n"
			   "   Driver Version:1.10\n   System Device Name:vmnic4\n   Link Up:1\n   Speed (Mb/s):10000\n"
			   "   Flags:0x41e0e -> DEVICE_PRESENT\n}\n"
			   "~ # vsish -e get /net/portsets/vSwitch1/ports/50331654/vmxnet3/rxSummary\n"
			   "stats of a vmxnet3 vNIC rx queue {\n   pkts rx ok:77\n   1st ring size:512\n"
			   "   # of times the 1st ring is full:1288\n}\n");

	(void)state;
	expect(facts, "vsish_nic", "vmnic4", "driver_name", "ixgben");
	expect(facts, "vsish_nic", "vmnic4", "speed_mb_s", "10000");
	expect(facts, "vsish_port", "vSwitch1/50331654", "rx_1st_ring_size", "512");
	expect(facts, "vsish_port", "vSwitch1/50331654", "rx_of_times_the_1st_ring_is_full", "1288");
	facts_free(facts);
}

static void ethtool(void **state)
{
	struct facts *facts =
		parse("e", "root@guest1:~# ethtool -S ens192\nNIC statistics:\n     Tx Queue#: 0\n       ring full: 5\n"
			   "     Tx Queue#: 1\n       ring full: 6\n     Rx Queue#: 0\n       pkts rx OOB: 41\n"
			   "     tx timeout count: 0\nroot@guest1:~# ethtool -k ens192; echo\nFeatures for ens192:\n"
			   "tcp-segmentation-offload: off [fixed]\nlarge-receive-offload: on\n"
			   "Ring parameters for ens192:\nPre-set maximums:\nRX:\t\t4096\nTX:\t4096\n"
			   "Current hardware settings:\nRX:\t\t1024\nRX Jumbo:\t128\n"
			   "root@guest1:~# ethtool -i ens192\ndriver: vmxnet3\nversion: 1.7.0.0-k-NAPI\n");

	(void)state;
	expect(facts, "ethtool_statistics", "ens192", "tx_queue_1_ring_full", "6");
	expect(facts, "ethtool_statistics", "ens192", "rx_queue_0_pkts_rx_oob", "41");
	expect(facts, "ethtool_statistics", "ens192", "tx_timeout_count", "0");
	expect(facts, "ethtool_features", "ens192", "tcp_segmentation_offload", "off [fixed]");
	expect(facts, "ethtool_rings", "ens192", "max_rx", "4096");
	expect(facts, "ethtool_rings", "ens192", "current_rx_jumbo", "128");
	expect(facts, "ethtool_driver", "ens192", "driver", "vmxnet3");
	assert_string_equal(facts->claims[0].source, "e:guest1");
	facts_free(facts);
}

/* What happened to the text on its way must not change what it says. */
static void mangled_text(void **state)
{
	static const char *const texts[] = {
		"ETHERNET STATISTICS (ent0) :\r\nTransmit Statistics:     Receive Statistics:\r\nPackets: 5     Packets: 6\r\n",
		"ETHERNET STATISTICS (ent0) :\nTransmit Statistics: Receive Statistics:\nPackets: 5 Packets: 6\n",
		"ETHERNET STATISTICS (ent0) :\nTransmit Statistics:\tReceive Statistics:\nPackets:\t5\tPackets:\t6",
		"> > ETHERNET STATISTICS (ent0) :\n> > Transmit Statistics:   Receive Statistics:\n> > Packets: 5    Packets: 6\n",
		"\xef\xbb\xbf"
		"ETHERNET STATISTICS (ent0) :\nTransmit Statistics:  \x1b[1mReceive Statistics:\x1b[0m\nPackets: 5    Packets: 6\n",
		"gr\xfc\xdf"
		"e\nETHERNET STATISTICS (ent0) :\n\xff\xfe\xc3\nTransmit Statistics:     Receive\nPackets: 5     Packets: 6\nbye\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct facts *facts = parse("mangled", texts[i]);

		expect(facts, "entstat", "ent0", "transmit_packets", "5");
		expect(facts, "entstat", "ent0", "receive_packets", "6");
		facts_free(facts);
	}
}

static void wide_characters(void **state)
{
	static const char text[] = "Ring parameters for eth0:\r\nCurrent hardware settings:\r\nRX: 256\r\n";

	(void)state;
	for (int big = 0; big < 2; big++) {
		char wide[2 * sizeof(text) + 2] = { (char)(big ? 0xfe : 0xff), (char)(big ? 0xff : 0xfe) };
		struct facts *facts = facts_new();

		for (size_t i = 0; i < sizeof(text) - 1; i++)
			wide[2 + 2 * i + (size_t)big] = text[i];
		assert_int_equal(evidence_parse("wide", wide, 2 * sizeof(text), facts), 0);
		expect(facts, "ethtool_rings", "eth0", "current_rx", "256");
		facts_free(facts);
	}
}

static void refused(const char *text, size_t size, const char *words)
{
	struct facts *facts = facts_new();

	assert_non_null(facts_add_claim(facts)); /* what was there stays */
	assert_int_equal(evidence_parse("file", text, size, facts), -EINVAL);
	assert_int_equal(facts->claim_count, 1);
	if (!strstr(error_text(), words))
		fail_msg("'%s' does not say '%s'", error_text(), words);
	facts_free(facts);
}

static void nothing_recognised(void **state)
{
	static const char binary[] = "\x7f"
				     "ELF\0\0\0\1\2\3\xff\xfe\0\n\0\n: :\n";

	(void)state;
	refused("", 0, "nothing in it is recognised");
	refused("Dear all,\nthe network: it is slow.\n", 36, "`ethtool -S`");
	refused("Dear all,\nthe network: it is slow.\n", 36, "entstat -all");
	refused(binary, sizeof(binary), "nothing in it is recognised");
	refused("ETHERNET STATISTICS (ent0) :\n", 29, "complete");
}

static void too_much(void **state)
{
	static const char heading[] = "ETHERNET STATISTICS (ent0) :\n";
	size_t size = EVIDENCE_MAX_BYTES + 1;
	char *text = malloc(size);

	(void)state;
	assert_non_null(text);
	memset(text, 'x', size);
	refused(text, size, "MB");
	for (size_t i = 0; i + 5 <= size; i += 5)
		memcpy(text + i, "a: 1\n", 5);
	memcpy(text, heading, sizeof(heading) - 1);
	refused(text, 1 << 20, "statements");
	for (size_t i = 0; i < size; i++) /* one line, no end, all of it a name and a value */
		text[i] = ": "[i & 1];
	memcpy(text, heading, sizeof(heading) - 1);
	refused(text, EVIDENCE_MAX_BYTES, "complete");
	free(text);
}

/* Cut anywhere: no claim may be wrong that would not be, and nothing may break. */
static void truncated(void **state)
{
	char text[16384];
	FILE *file = fopen(SEEDS "sea_entstat.txt", "re");
	size_t size;

	(void)state;
	assert_non_null(file);
	size = fread(text, 1, sizeof(text), file);
	fclose(file);
	assert_true(size > 4000 && size < sizeof(text));
	for (size_t length = 0; length < size; length += 7) {
		struct facts *facts = facts_new();
		int result = evidence_parse("cut", text, length, facts);

		assert_true(result == 0 || result == -EINVAL);
		assert_true((result == 0) == (facts->claim_count > 0));
		facts_free(facts);
	}
}

static void files(void **state)
{
	struct facts *facts = facts_new();

	(void)state;
	assert_int_equal(evidence_read("/nonexistent/evidence", facts), -ENOENT);
	assert_non_null(strstr(error_text(), "/nonexistent/evidence"));
	assert_int_equal(evidence_read("/", facts), -EISDIR);
	assert_int_equal(evidence_read("/dev/zero", facts), -EINVAL);
	assert_int_equal(facts->claim_count, 0);
	facts_free(facts);
}

static void numbers(void **state)
{
	static const struct {
		char *value;
		int64_t number;
	} cases[] = {
		{ "12", 12 },
		{ "1,234,567", 1234567 },
		{ "10 Gbps", 10 },
		{ "0x41e0e", 0x41e0e },
		{ "", -1 },
		{ "Up", -1 },
		{ "-5", -1 },
		{ "0x", -1 },
		{ "9223372036854775807", INT64_MAX },
		{ "9223372036854775808", -1 },
		{ "0xffffffffffffffff", -1 },
	};

	(void)state;
	assert_int_equal(evidence_number(NULL), FACTS_UNKNOWN);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct facts_claim claim = { .value = cases[i].value };

		if (evidence_number(&claim) != cases[i].number)
			fail_msg("'%s' is %lld", cases[i].value, (long long)evidence_number(&claim));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entstat),
		cmocka_unit_test(every_claim_has_its_line),
		cmocka_unit_test(attributes),
		cmocka_unit_test(clients_of_an_sea),
		cmocka_unit_test(hypervisors),
		cmocka_unit_test(distributed_switch),
		cmocka_unit_test(vsish),
		cmocka_unit_test(ethtool),
		cmocka_unit_test(mangled_text),
		cmocka_unit_test(wide_characters),
		cmocka_unit_test(nothing_recognised),
		cmocka_unit_test(too_much),
		cmocka_unit_test(truncated),
		cmocka_unit_test(files),
		cmocka_unit_test(numbers),
	};

	return cmocka_run_group_tests_name("evidence", tests, NULL, NULL);
}
