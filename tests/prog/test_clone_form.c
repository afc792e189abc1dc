// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The form of AF_PACKET's clones: whatever their size, the linear part holds the headers and no more. A frame that is linear gets
 * a head of its whole length for each clone, and sizes of different forms cannot be compared (port/packet_clones.c).
 */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <net/if.h>

#include "base/error.h"
#include "port/port.h"
#include "skip_because.h"
#include "sys/bpf_attach.h"
#include "sys/link_settings.h"
#include "sys/rtnl.h"
#include "traffic/frame.h"

#define OUT "hc-out"
#define IN "hc-in"
#define FRAMES 512
#define HEADERS_BYTES 128 /* most that may be linear: headers of a test frame, and room to spare */

#define INSTRUCTION(CODE, DST, SRC, OFF, IMM) \
	((struct bpf_insn){ .code = (CODE), .dst_reg = (DST), .src_reg = (SRC), .off = (OFF), .imm = (IMM) })

static int values; /* map: [0] frames seen, [1] bytes of the largest linear part */

/* A tc program by hand: counts frames, and keeps the greatest data_end - data. */
static int load_meter(void)
{
	const struct bpf_insn code[] = {
		INSTRUCTION(BPF_LDX | BPF_W | BPF_MEM, 6, 1, offsetof(struct __sk_buff, data_end), 0),
		INSTRUCTION(BPF_LDX | BPF_W | BPF_MEM, 7, 1, offsetof(struct __sk_buff, data), 0),
		INSTRUCTION(BPF_ALU64 | BPF_SUB | BPF_X, 6, 7, 0, 0),
		INSTRUCTION(BPF_LD | BPF_DW | BPF_IMM, 8, BPF_PSEUDO_MAP_VALUE, 0, values),
		INSTRUCTION(0, 0, 0, 0, 0),
		INSTRUCTION(BPF_ALU64 | BPF_MOV | BPF_K, 1, 0, 0, 1),
		INSTRUCTION(BPF_STX | BPF_DW | BPF_ATOMIC, 8, 1, 0, BPF_ADD),
		INSTRUCTION(BPF_LDX | BPF_DW | BPF_MEM, 1, 8, 8, 0),
		INSTRUCTION(BPF_JMP | BPF_JGE | BPF_X, 1, 6, 1, 0),
		INSTRUCTION(BPF_STX | BPF_DW | BPF_MEM, 8, 6, 8, 0),
		INSTRUCTION(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, TC_ACT_SHOT),
		INSTRUCTION(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};

	return bpf_prog_load(BPF_PROG_TYPE_SCHED_CLS, "linear_part", "GPL", code, sizeof(code) / sizeof(code[0]), NULL);
}

static void send_frames(unsigned int bytes)
{
	static unsigned char frame[HOPCAP_MAX_FRAME_BYTES];
	const struct frame_spec spec = { .frame_bytes = bytes, .run_tag = 0xcafe };
	const struct port_template template = frame_template(&spec, frame);
	const struct port_config config = { .interface = OUT, .ifindex = (int)if_nametoindex(OUT) };
	atomic_int stop = 0;
	struct port_stream stream = { .templates = &template,
				      .template_count = 1,
				      .flows = 1,
				      .interval_ns = 5000,
				      .frames = FRAMES,
				      .stop = &stop };
	static struct port_sent sent;
	struct port *port;

	if (port_packet.open(&config, &port) || port_packet.send(port, &stream, &sent))
		fail_msg("%u bytes: %s", bytes, error_text());
	port_packet.close(port);
	assert_int_equal(sent.frames, FRAMES);
}

static void headers_alone_are_linear(void **state)
{
	static const unsigned int sizes[] = { 64, 512, 1514, 4014, 4096, 9014 };
	struct bpf_attachment attachment;
	int program;

	(void)state;
	if (unshare(CLONE_NEWNET))
		SKIP_BECAUSE("a network namespace needs root");
	if (rtnl_veth_create(OUT, IN, "", 9000) || rtnl_link_set_up(OUT) || rtnl_link_set_up(IN) ||
	    link_set_gro(IN, 1) || link_set_segmentation(OUT, 0))
		fail_msg("%s", error_text());
	values = bpf_map_create(BPF_MAP_TYPE_ARRAY, "values", sizeof(uint32_t), 2 * sizeof(uint64_t), 1, NULL);
	program = load_meter();
	assert_true(values >= 0 && program >= 0);
	if (bpf_attach_tcx(program, (int)if_nametoindex(IN), 1, &attachment))
		SKIP_BECAUSE("this kernel has no tcx (Linux 6.6), so AF_PACKET makes each frame by itself");
	for (unsigned int i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		uint64_t seen[2] = { 0 };
		uint32_t key = 0;

		assert_int_equal(bpf_map_update_elem(values, &key, seen, BPF_ANY), 0);
		send_frames(sizes[i]);
		for (int wait = 0; wait < 2000 && seen[0] < FRAMES; wait++) {
			assert_int_equal(bpf_map_lookup_elem(values, &key, seen), 0);
			usleep(1000);
		}
		assert_true(seen[0] >= FRAMES);
		if (seen[1] > HEADERS_BYTES)
			fail_msg("frames of %u bytes: %llu of them are linear", sizes[i], (unsigned long long)seen[1]);
	}
	bpf_detach(&attachment);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(headers_alone_are_linear),
	};

	return cmocka_run_group_tests_name("form of clones", tests, NULL, NULL);
}
