// SPDX-License-Identifier: GPL-2.0-or-later
/* QEMU command lines: the old and the new forms, JSON, escapes, who is joined with whom, and lines that no QEMU would take. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "model/qemu_command.h"

#define MAX_ARGUMENTS 64

/* Words between blanks; '~' stands for a blank within a word. */
static struct qemu_command *parse(const char *line)
{
	char copy[2048], *arguments[MAX_ARGUMENTS], *rest = copy, *word;
	struct qemu_command *command;
	int count = 0;

	assert_true(strlen(line) < sizeof(copy));
	strcpy(copy, line);
	while ((word = strsep(&rest, " ")) && count < MAX_ARGUMENTS) {
		for (char *at = word; *at; at++)
			if (*at == '~')
				*at = ' ';
		arguments[count++] = word;
	}
	if (qemu_command_parse(count, arguments, &command))
		fail_msg("%s: %s", line, error_text());
	return command;
}

static const struct qemu_part *only(const struct qemu_command *command, enum qemu_part_kind kind)
{
	const struct qemu_part *part = qemu_next(command, NULL, kind);

	assert_non_null(part);
	assert_null(qemu_next(command, part, kind));
	return part;
}

static void legacy_hub(void **state)
{
	struct qemu_command *command =
		parse("/usr/bin/qemu-system-x86_64 -enable-kvm -smp 2 -net nic,model=virtio,macaddr=52:54:00:12:34:56 "
		      "-net tap,ifname=tap0,script=no,downscript=no -m 4096");
	const struct qemu_part *nic = only(command, QEMU_NIC), *tap = only(command, QEMU_BACKEND);

	(void)state;
	assert_string_equal(nic->token, "-net nic,model=virtio,macaddr=52:54:00:12:34:56");
	assert_string_equal(tap->token, "-net tap,ifname=tap0,script=no,downscript=no");
	assert_true(nic->is_legacy && tap->is_legacy);
	assert_int_equal(qemu_hub_of(command, nic), 0);
	assert_ptr_equal(qemu_backend_of(command, nic), tap);
	assert_ptr_equal(qemu_nic_of(command, tap), nic);
	assert_true(qemu_is_virtio(nic));
	assert_string_equal(qemu_mac(command, nic), "52:54:00:12:34:56");
	assert_int_equal(qemu_wants_vhost(command, tap), 0);
	assert_int_equal(qemu_queue_pairs(command, tap), 1);
	assert_int_equal(command->is_kvm, 1);
	assert_int_equal(command->vcpus, 2);
	assert_string_equal(command->problem, "");
	qemu_command_free(command);
}

static void named_ends(void **state)
{
	struct qemu_command *command =
		parse("qemu-system-x86_64 -machine q35,accel=kvm:tcg -smp sockets=2,cores=4 "
		      "-netdev tap,id=n1,ifname=tap1,vhost=on,queues=4 "
		      "-device virtio-net-pci,netdev=n1,mac=52:54:00:aa:00:01,mq=on,vectors=10,rx_queue_size=1024 "
		      "-device virtio-blk-pci,drive=d -device vfio-pci,host=0000:03:10.0");
	const struct qemu_part *nic = only(command, QEMU_NIC), *tap = only(command, QEMU_BACKEND);

	(void)state;
	assert_int_equal(qemu_hub_of(command, nic), -1);
	assert_ptr_equal(qemu_backend_of(command, nic), tap);
	assert_int_equal(qemu_wants_vhost(command, tap), 1);
	assert_int_equal(qemu_queue_pairs(command, tap), 4);
	assert_int_equal(qemu_switch(command, nic, "mq", 0), 1);
	assert_int_equal(qemu_switch(command, nic, "packed", -1), -1);
	assert_int_equal(qemu_number(command, nic, "vectors"), 10);
	assert_int_equal(qemu_number(command, nic, "host_mtu"), -1);
	assert_int_equal(command->is_kvm, 1);
	assert_int_equal(command->vcpus, 8);
	assert_string_equal(only(command, QEMU_PASSTHROUGH)->type, "vfio-pci");
	assert_string_equal(only(command, QEMU_MACHINE)->type, "q35");
	qemu_command_free(command);
}

static void json_form(void **state)
{
	struct qemu_command *command = parse(
		"/usr/libexec/qemu-kvm -netdev {\"type\":\"tap\",\"fds\":\"27:28\",\"vhost\":true,\"vhostfds\":\"30:31\",\"id\":\"hostnet0\"} "
		"-device {\"driver\":\"virtio-net-pci\",\"mq\":true,\"vectors\":6,\"netdev\":\"hostnet0\",\"mac\":\"52:54:00:bb:00:02\",\"guest_tso4\":false} "
		"-netdev {\"type\":\"stream\",\"id\":\"s0\",\"addr\":{\"type\":\"inet\",\"port\":\"99\"}} -netdev {\"type\":");
	const struct qemu_part *nic = only(command, QEMU_NIC), *tap = qemu_next(command, NULL, QEMU_BACKEND),
			       *stream = qemu_next(command, tap, QEMU_BACKEND);

	(void)state;
	assert_true(nic->is_json);
	assert_ptr_equal(qemu_backend_of(command, nic), tap);
	assert_int_equal(qemu_wants_vhost(command, tap), 1);
	assert_int_equal(qemu_queue_pairs(command, tap), 2);
	assert_int_equal(qemu_switch(command, nic, "guest_tso4", 1), 0);
	assert_int_equal(qemu_number(command, nic, "vectors"), 6);
	assert_string_equal(qemu_value(command, stream, "addr.type"), "inet");
	assert_null(qemu_nic_of(command, stream));
	assert_non_null(strstr(command->problem, "{\"type\":"));
	assert_int_equal(command->is_kvm, 1);
	qemu_command_free(command);
}

static void short_form(void **state)
{
	struct qemu_command *command =
		parse("qemu-system-aarch64 -nic tap,ifname=t0,model=virtio-net-pci,mac=52:54:00:00:00:09 "
		      "-nic user -nic none -accel tcg");
	const struct qemu_part *first = qemu_next(command, NULL, QEMU_NIC),
			       *second = qemu_next(command, first, QEMU_NIC);

	(void)state;
	assert_non_null(second);
	assert_null(qemu_next(command, second, QEMU_NIC));
	assert_string_equal(qemu_backend_of(command, first)->type, "tap");
	assert_string_equal(qemu_backend_of(command, second)->type, "user");
	assert_int_equal(qemu_hub_of(command, first), -1);
	assert_string_equal(second->type, ""); /* the machine decides */
	assert_string_equal(first->token, "-nic tap,ifname=t0,model=virtio-net-pci,mac=52:54:00:00:00:09");
	assert_int_equal(command->is_kvm, 0);
	qemu_command_free(command);
}

static void hub_ports(void **state)
{
	struct qemu_command *command =
		parse("qemu-system-x86_64 -netdev tap,id=t,ifname=tap7 -netdev hubport,id=h0,hubid=3,netdev=t "
		      "-netdev hubport,id=h1,hubid=3 -device virtio-net-pci,netdev=h1 "
		      "-net nic,netdev=u -netdev user,id=u");
	const struct qemu_part *nic = qemu_next(command, NULL, QEMU_NIC), *direct = qemu_next(command, nic, QEMU_NIC);

	(void)state;
	assert_int_equal(qemu_hub_of(command, nic), 3);
	assert_string_equal(qemu_backend_of(command, nic)->id, "t");
	assert_int_equal(qemu_hub_of(command, direct), -1);
	assert_string_equal(qemu_backend_of(command, direct)->type, "user");
	assert_string_equal(direct->type, "e1000");
	qemu_command_free(command);
}

static void old_vlans(void **state)
{
	struct qemu_command *command =
		parse("kvm -net nic,vlan=1,model=rtl8139 -net user,vlan=0 -net tap,vlan=1,ifname=tap3");
	const struct qemu_part *nic = only(command, QEMU_NIC);

	(void)state;
	assert_int_equal(qemu_hub_of(command, nic), 1);
	assert_string_equal(qemu_value(command, qemu_backend_of(command, nic), "ifname"), "tap3");
	assert_int_equal(command->is_kvm, 1);
	qemu_command_free(command);
}

static void commas_and_globals(void **state)
{
	struct qemu_command *command = parse(
		"qemu-system-x86_64 --chardev socket,id=c,path=/run/a,,b~c.sock,server "
		"-object memory-backend-file,id=m,mem-path=/dev/hugepages,share=on,size=2G -object rng-random,id=r "
		"-global virtio-net-pci.mq=on -global driver=virtio-net-pci,property=vectors,value=0x12 "
		"-netdev vhost-user,id=v,chardev=c,queues=2 -device virtio-net-pci,netdev=v -mem-path /dev/shm");
	const struct qemu_part *chardev = only(command, QEMU_CHARDEV), *nic = only(command, QEMU_NIC),
			       *memory = qemu_next(command, NULL, QEMU_MEMORY);

	(void)state;
	assert_string_equal(qemu_value(command, chardev, "path"), "/run/a,b c.sock");
	assert_int_equal(qemu_switch(command, chardev, "server", 0), 1);
	assert_int_equal(qemu_switch(command, nic, "mq", 0), 1);
	assert_int_equal(qemu_number(command, nic, "vectors"), 18);
	assert_int_equal(qemu_switch(command, memory, "share", 0), 1);
	assert_int_equal(qemu_number(command, memory, "size"), 2LL << 30);
	assert_string_equal(qemu_next(command, memory, QEMU_MEMORY)->type, "mem-path");
	assert_int_equal(qemu_wants_vhost(command, qemu_backend_of(command, nic)), 1);
	qemu_command_free(command);
}

static void vhost_forms(void **state)
{
	static const struct {
		const char *netdev;
		int vhost;
	} cases[] = {
		{ "tap,id=n", 0 },
		{ "tap,id=n,vhost", 1 },
		{ "tap,id=n,vhost=on", 1 },
		{ "tap,id=n,vhost=off", 0 },
		{ "tap,id=n,vhostfd=4", 1 },
		{ "tap,id=n,vhost=off,vhostfd=4", 0 },
		{ "tap,id=n,vhostforce=on", 1 },
		{ "tap,id=n,novhost", 0 },
		{ "vhost-vdpa,id=n,vhostdev=/dev/vhost-vdpa-0", 1 },
		{ "user,id=n", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char line[160];
		struct qemu_command *command;

		snprintf(line, sizeof(line), "qemu-system-x86_64 -netdev %s", cases[i].netdev);
		command = parse(line);
		if (qemu_wants_vhost(command, only(command, QEMU_BACKEND)) != cases[i].vhost)
			fail_msg("%s", cases[i].netdev);
		qemu_command_free(command);
	}
}

static void odd_lines(void **state)
{
	static const char *const lines[] = {
		"qemu -netdev",
		"qemu -netdev ,,,,",
		"qemu -net =",
		"qemu -device {}",
		"qemu -device []",
		"qemu -nic ,",
		"qemu - -- -netdev",
		"qemu -smp",
		"qemu -smp 99999999999999999999",
		"qemu -global =",
		"qemu -global a.b",
		"qemu -machine accel=",
		"qemu -netdev hubport,id=a,hubid=99999999,netdev=a -device e1000,netdev=a",
		"qemu -device {\"driver\":{\"driver\":{\"driver\":{\"driver\":{\"driver\":{\"driver\":{\"driver\":{\"driver\":1}}}}}}}}",
	};
	struct qemu_command *command;

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		const struct qemu_part *nic = NULL;

		command = parse(lines[i]);
		while ((nic = qemu_next(command, nic, QEMU_NIC)))
			qemu_backend_of(command, nic);
		qemu_command_free(command);
	}
	command = parse("qemu -netdev");
	assert_non_null(strstr(command->problem, "-netdev"));
	qemu_command_free(command);
	assert_int_equal(qemu_command_parse(0, NULL, &command), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(legacy_hub),	      cmocka_unit_test(named_ends),  cmocka_unit_test(json_form),
		cmocka_unit_test(short_form),	      cmocka_unit_test(hub_ports),   cmocka_unit_test(old_vlans),
		cmocka_unit_test(commas_and_globals), cmocka_unit_test(vhost_forms), cmocka_unit_test(odd_lines),
	};

	return cmocka_run_group_tests_name("QEMU command line", tests, NULL, NULL);
}
