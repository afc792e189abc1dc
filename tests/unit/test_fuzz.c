// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The fuzz targets of tests/fuzz for a bounded number of rounds, always the same ones, so that each build runs them under the
 * sanitizers. `make fuzz-run` runs them with libFuzzer for as long as one likes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "../fuzz/mutate.h"
#include "../fuzz/targets.h"

#define SEEDS "tests/golden/seeds/"
#define MAX_SAMPLES 16
#define MAX_BYTES 16384
#define MAX_SECONDS 15 /* on a machine that is far too busy; never reached otherwise */

static struct mutate_sample samples[MAX_SAMPLES];
static int sample_count;

static void add_sample(const void *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);

	assert_non_null(copy);
	assert_true(sample_count < MAX_SAMPLES);
	memcpy(copy, data, size);
	samples[sample_count++] = (struct mutate_sample){ copy, size };
}

static void add_file(const char *path)
{
	char text[MAX_BYTES];
	FILE *file = fopen(path, "re");
	size_t size;

	if (!file)
		fail_msg("%s: cannot be opened", path);
	size = fread(text, 1, sizeof(text), file);
	fclose(file);
	add_sample(text, size);
}

static int forget_samples(void **state)
{
	(void)state;
	while (sample_count)
		free((void *)samples[--sample_count].data);
	return 0;
}

static void run(int (*target)(const uint8_t *data, size_t size), int rounds)
{
	uint8_t *bytes = malloc(MAX_BYTES);
	uint64_t random = 0x9e3779b97f4a7c15;
	time_t start = time(NULL);
	int round = 0;

	assert_non_null(bytes);
	for (int i = 0; i < sample_count; i++)
		target(samples[i].data, samples[i].size);
	for (; round < rounds && time(NULL) - start < MAX_SECONDS; round++) {
		size_t size = mutate(samples, sample_count, &random, bytes, MAX_BYTES);
		uint8_t *exact = malloc(size ? size : 1); /* so that one byte too far is seen */

		assert_non_null(exact);
		memcpy(exact, bytes, size);
		target(exact, size);
		free(exact);
	}
	free(bytes);
	assert_true(round > rounds / 50);
}

static void evidence(void **state)
{
	static const char *const files[] = { SEEDS "sea_entstat.txt", SEEDS "sea_lsdev.txt", SEEDS "esx_a.txt",
					     SEEDS "esx_b.txt" };
	static const char text[] =
		"# ethtool -S eth0\nNIC statistics:\n  Rx Queue#: 0\n  ring full: 3\nRing parameters for eth0:\n"
		"Pre-set maximums:\nRX: 4096\n~ # vsish -e get /net/pNics/vmnic4/properties\nproperties {\n"
		"   Driver Name:ixgben\n}\nAdvanced Statistics for SEA\nDevice Name: ent6\nMAC: 0A:00:00:00:00:01\n"
		"Transmit Statistics:   Receive Statistics:\nPackets: 1   Packets: 2\n";

	(void)state;
	for (unsigned int i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		add_file(files[i]);
	add_sample(text, sizeof(text) - 1);
	run(fuzz_evidence, 3000);
}

static void qemu(void **state)
{
	static const char old[] =
		"qemu\0-net\0nic,model=virtio,vlan=1\0-net\0tap,ifname=tap0,vlan=1\0-smp\0sockets=2,cores=4";
	static const char new[] =
		"kvm\0-netdev\0tap,id=n0,ifname=tap0,vhost=on,queues=4,,x\0-device\0virtio-net-pci,netdev=n0,mq=on,"
		"vectors=4,rx_queue_size=1K\0-machine\0q35,accel=kvm:tcg\0-global\0virtio-net-pci.mrg_rxbuf=off";
	static const char json[] =
		"qemu-system-x86_64\0-netdev\0{\"type\":\"tap\",\"fds\":\"3:4\",\"id\":\"n\",\"vhost\":true}\0-device\0"
		"{\"driver\":\"virtio-net-pci\",\"netdev\":\"n\",\"host_mtu\":9000}\0-nic\0user,model=e1000";
	static const char hub[] =
		"q\0-netdev\0hubport,id=h,hubid=2,netdev=h2\0-netdev\0hubport,id=h2,hubid=2,netdev=h\0-device\0"
		"e1000,netdev=h\0-object\0memory-backend-file,id=m,share=off\0-netdev\0vhost-user,id=v,chardev=c";

	(void)state;
	add_sample(old, sizeof(old));
	add_sample(new, sizeof(new));
	add_sample(json, sizeof(json));
	add_sample(hub, sizeof(hub));
	run(fuzz_qemu, 6000);
}

static void facts_json(void **state)
{
	static const char *const files[] = { SEEDS "sea.json", SEEDS "kvm_bad.json", SEEDS "kvm_good.json",
					     SEEDS "esx.json" };

	(void)state;
	for (unsigned int i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		add_file(files[i]);
	run(fuzz_facts_json, 2500);
}

static void point(void **state)
{
	static const char *const points[] = { "ent0@ns:lpar:in:xdp", "eth0.100:out:tc", "tap0@local",
					      "abcdefghijklmno@ns:in:generic" };

	(void)state;
	for (unsigned int i = 0; i < sizeof(points) / sizeof(points[0]); i++)
		add_sample(points[i], strlen(points[i]));
	run(fuzz_point, 20000);
}

static void path(void **state)
{
	uint64_t random = 4;

	(void)state;
	for (int i = 0; i < 8; i++) {
		uint8_t bytes[1200];

		for (size_t k = 0; k < sizeof(bytes); k++) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			bytes[k] = (uint8_t)(random >> 40);
		}
		add_sample(bytes, sizeof(bytes) - (size_t)i * 100);
	}
	run(fuzz_path, 1500);
}

/* Lines of both directions, short ones and such with arrays. */
static void message(void **state)
{
	static const char *const lines[] = {
		"{\"id\":1,\"verb\":\"hello\",\"protocol\":1,\"version\":\"0.1.0\",\"nonce\":\"0123456789abcdef\"}",
		"{\"id\":2,\"verb\":\"probe-arm\",\"handle\":0,\"run_tag\":7,\"first_stream\":1,\"streams\":1,\"sink\":1,\"drop\":1,"
		"\"verify\":0,\"learn\":0,\"clock_offset_ns\":-5}",
		"{\"id\":3,\"verb\":\"announce\",\"name\":\"c0\",\"interface\":\"c0\",\"netns\":\"\",\"own\":\"020000000001\","
		"\"other\":\"020000000002\"}",
		"{\"id\":4,\"arrived_ns\":1000,\"returned_ns\":2000}",
		"{\"id\":5,\"error\":19,\"text\":\"eth0@guest: no such interface\"}",
		"{\"id\":6,\"drops\":[{\"reason\":\"TC_INGRESS\",\"ifindex\":2,\"netns_inode\":3,\"count\":4}]}",
		"{\"id\":7,\"cpus\":[{\"cpu\":0,\"busy\":1,\"softirq\":0.5,\"system\":0,\"user\":0,\"steal\":null}],\"hogs\":[]}",
		"{\"id\":8,\"verb\":\"source-send\",\"port\":0,\"frame_bytes\":60,\"stream\":0,\"pps\":0,\"duration_s\":1,"
		"\"frames\":1,\"stamp_interval\":0}",
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		add_sample(lines[i], strlen(lines[i]));
	run(fuzz_message, 3000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(evidence, forget_samples),   cmocka_unit_test_teardown(qemu, forget_samples),
		cmocka_unit_test_teardown(facts_json, forget_samples), cmocka_unit_test_teardown(point, forget_samples),
		cmocka_unit_test_teardown(path, forget_samples),       cmocka_unit_test_teardown(message, forget_samples),
	};

	return cmocka_run_group_tests_name("fuzz targets, bounded", tests, NULL, NULL);
}
