// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Checks of what a QEMU command line joins to a guest: which NIC, through what, served by whom. Called through doctor/tables.c.
 *
 * Hub, vnet header and vhost are three findings although one old command line causes all of them: each costs by itself, and each can
 * be lost alone. A hub port has no vnet header, so a virtio NIC behind it offers the guest neither checksum nor segmentation offload;
 * vhost needs the tap as the NIC's direct peer.
 */
#include <string.h>

#include "doctor/backend_case.h"
#include "doctor/tables.h"

#define TUN_VNET_HEADER 0x4000 /* IFF_VNET_HDR */
#define VHOST_MATTERS_GBPS 1

static void judge_unread(struct check_context *context)
{
	struct qemu_command *command;

	if (!context->process->is_qemu)
		return;
	if (!context->process->argument_count) {
		check_report(context, FINDING_UNKNOWN,
			     check_text("/proc/%d/cmdline: empty or not readable", context->process->pid),
			     "the command line says how the guest's NICs are served", "run as root");
		return;
	}
	command = backend_command(context);
	if (command && command->problem[0])
		check_report(context, FINDING_UNKNOWN,
			     check_text("/proc/%d/cmdline: \"%s\"", context->process->pid, command->problem),
			     "what is not understood of the command line is not judged", "");
	qemu_command_free(command);
}

static void judge_hub(struct check_context *context, const struct backend_case *backend)
{
	if (backend->hub < 0)
		return;
	check_report(
		context, FINDING_FAIL,
		backend->backend ? check_text("%s and %s: joined by hub %d", backend_quote(backend->nic),
					      backend_quote(backend->backend), backend->hub)
				 : check_text("%s: at hub %d", backend_quote(backend->nic), backend->hub),
		"a NIC and its back end must name each other: QEMU's internal hub copies each frame in user space and "
		"carries no offloads",
		backend_remedy(backend));
}

static void judge_hubs(struct check_context *context)
{
	backend_for_each_nic(context, judge_hub);
}

/* Says where the header is lost: at the hub, by the command line, or by who made the tap. */
static void judge_vnet_header(struct check_context *context, const struct backend_case *backend)
{
	static const char rule[] = "without a vnet header between tap and virtio NIC the guest has no checksum and no "
				   "segmentation offload: each frame of 1500 is handled by itself";
	const struct facts_link *tap = backend->tap;
	const char *quoted;

	if (!backend_is_virtio_tap(backend))
		return;
	quoted = backend_quote(backend->backend);
	if (backend->hub >= 0)
		check_report(context, FINDING_FAIL,
			     check_text("%s: behind hub %d, whose ports have no vnet_hdr%s", quoted, backend->hub,
					tap && tap->tun_flags >= 0
						? check_text(" (tun_flags of %s: 0x%x)", tap->name, tap->tun_flags)
						: ""),
			     rule, backend_remedy(backend));
	else if (!qemu_switch(backend->command, backend->backend, "vnet_hdr", 1))
		check_report(context, FINDING_FAIL, check_text("%s: vnet_hdr=off", quoted), rule, "vnet_hdr=on");
	else if (tap && tap->tun_flags >= 0 && !(tap->tun_flags & TUN_VNET_HEADER))
		check_report(context, FINDING_FAIL,
			     check_text("/sys/class/net/%s/tun_flags: 0x%x, 0x4000 (vnet_hdr) is not set; %s",
					tap->name, tap->tun_flags, quoted),
			     rule,
			     check_text("create the tap with it: ip tuntap add dev %s mode tap vnet_hdr", tap->name));
	else if (!tap || tap->tun_flags < 0)
		check_report(context, FINDING_UNKNOWN,
			     check_text("%s: the tap's tun_flags are not among the facts", quoted),
			     "the tap must have a vnet header", "run as root in the tap's namespace");
}

static void judge_vnet_headers(struct check_context *context)
{
	backend_for_each_nic(context, judge_vnet_header);
}

static void judge_vhost(struct check_context *context, const struct backend_case *backend)
{
	static const char rule[] = "without vhost each frame crosses from the kernel to QEMU's main loop and back: "
				   "one thread, two copies and a system call a frame";
	const struct facts_process *process = context->process;
	enum finding_severity severity = FINDING_FAIL;

	if (!backend_is_virtio_tap(backend))
		return;
	if (context->goal_gbps > 0 && context->goal_gbps < VHOST_MATTERS_GBPS)
		severity = FINDING_WARN;
	if (!qemu_wants_vhost(backend->command, backend->backend))
		check_report(context, severity,
			     check_text("%s: no vhost=on, no vhostfd=", backend_quote(backend->backend)), rule,
			     backend_remedy(backend));
	else if (process->vhost_net == 0)
		check_report(context, severity,
			     check_text("%s: asked for, but /proc/%d/fd has no descriptor of /dev/vhost-net",
					backend_quote(backend->backend), process->pid),
			     rule, "modprobe vhost_net, let QEMU's user open /dev/vhost-net, start the guest again");
	else if (process->vhost_net < 0)
		check_report(context, FINDING_UNKNOWN,
			     check_text("%s: asked for; /proc/%d/fd could not be read", backend_quote(backend->backend),
					process->pid),
			     "QEMU goes on without vhost when the kernel refuses it", "run as root");
}

static void judge_vhosts(struct check_context *context)
{
	backend_for_each_nic(context, judge_vhost);
}

static void judge_emulated(struct check_context *context, const struct backend_case *backend)
{
	const struct qemu_part *nic = backend->nic;

	if (qemu_is_virtio(nic) || !strncmp(nic->type, "vmxnet3", 7) || !strncmp(nic->type, "spapr-vlan", 10) ||
	    !nic->type[0])
		return;
	check_report(context, FINDING_FAIL,
		     check_text("%s: %s%s", backend_quote(nic), nic->type,
				strstr(nic->token, nic->type) ? "" : ", what this machine has when no model is named"),
		     "an emulated adapter leaves the guest at each register access, several times a frame",
		     backend_remedy(backend));
}

static void judge_emulations(struct check_context *context)
{
	backend_for_each_nic(context, judge_emulated);
}

static void judge_user_net(struct check_context *context, const struct backend_case *backend)
{
	const char *type = backend->backend ? backend->backend->type : "";

	if (strcmp(type, "user") && strcmp(type, "passt"))
		return;
	check_report(
		context, FINDING_FAIL, backend_quote(backend->backend),
		"user-mode networking ends each connection in QEMU and opens another one: it is for convenience, not "
		"for throughput, and no test frame passes it",
		backend_remedy(backend));
}

static void judge_user_nets(struct check_context *context)
{
	backend_for_each_nic(context, judge_user_net);
}

static void judge_no_kvm(struct check_context *context)
{
	const struct facts_process *process = context->process;
	struct qemu_command *command = backend_command(context);
	const struct qemu_part *accelerator = command ? qemu_next(command, NULL, QEMU_ACCELERATOR) : NULL;

	if (command && process->kvm <= 0 && !command->is_kvm)
		check_report(context, FINDING_FAIL,
			     accelerator ? backend_quote(accelerator)
					 : check_text("%s … without -accel kvm or -enable-kvm", command->program),
			     "without KVM each instruction of the guest is translated: an order of magnitude slower",
			     "-accel kvm");
	else if (command && process->kvm == 0)
		check_report(context, FINDING_FAIL,
			     check_text("%s: asked for, but /proc/%d/fd has no descriptor of /dev/kvm",
					accelerator ? backend_quote(accelerator) : command->program, process->pid),
			     "without KVM each instruction of the guest is translated: an order of magnitude slower",
			     "load kvm_intel or kvm_amd and let QEMU's user open /dev/kvm");
	qemu_command_free(command);
}

static const struct check rows[] = {
	{ .id = "qemu-hub",
	  .subject = CHECK_PROCESS,
	  .applies = backend_is_qemu,
	  .judge = judge_hubs,
	  .explains = RUN_CAUSE_CPU,
	  .title = "NIC and tap are joined by QEMU's internal hub",
	  .why = "The old -net options (and -netdev hubport) join all ends through a hub inside QEMU. Every frame is copied "
		 "in user space to each port, the hub knows no vnet header, so virtio loses its offloads, and vhost is "
		 "impossible because the tap is not the NIC's direct peer. In a field report the same hosts made 3.6 "
		 "Gbit/s this way and 9.4 without it.",
	  .remedy = "Replace -net by a -netdev and a -device that name each other; libvirt has done so for years. "
		    "`info network` in the monitor then shows the pair without a hub.",
	  .effect = "from 3 to 4 Gbit/s to line rate at 10 Gbit/s, together with vnet_hdr and vhost",
	  .reference = "qemu",
	  .weight = 1.0 },
	{ .id = "qemu-vnet-header",
	  .subject = CHECK_PROCESS,
	  .applies = backend_is_qemu,
	  .judge = judge_vnet_headers,
	  .explains = RUN_CAUSE_CPU,
	  .title = "No vnet header between tap and virtio NIC",
	  .why = "The vnet header tells the other side where a checksum is still to be made and how a unit of up to 64 KB is "
		 "to be cut. Where it is missing the guest must checksum and cut everything itself and receives frames one "
		 "by one: a tap was measured at 3.3 Gbit/s without offloads, and reports of 3 to 4 are frequent.",
	  .remedy =
		  "Let QEMU or libvirt make the tap, or make it with vnet_hdr, and do not put a hub between. In the guest, "
		  "`ethtool -k` then shows tcp-segmentation-offload as on and not [fixed].",
	  .effect = "units of up to 64 KB cross to the host; 2 to 3 times the throughput",
	  .reference = "qemu",
	  .weight = 0.97 },
	{ .id = "qemu-vhost",
	  .subject = CHECK_PROCESS,
	  .applies = backend_is_qemu,
	  .judge = judge_vhosts,
	  .explains = RUN_CAUSE_CPU,
	  .title = "No vhost: QEMU moves each frame itself",
	  .why = "With vhost a kernel thread copies between the guest's rings and the tap. Without it QEMU's main loop "
		 "reads and writes the tap a frame at a time, on one CPU, and also does everything else there. A web "
		 "server in a guest went from 1.4 to 4.6 Gbit/s, and its time-outs from 25000 to none.",
	  .remedy =
		  "vhost=on on the -netdev, or <driver name='vhost'/> in libvirt. Threads named vhost-PID then appear.",
	  .effect = "about three times the rate; QEMU's main thread becomes idle",
	  .reference = "qemu",
	  .weight = 0.95 },
	{ .id = "qemu-emulated-nic",
	  .subject = CHECK_PROCESS,
	  .applies = backend_is_qemu,
	  .judge = judge_emulations,
	  .explains = RUN_CAUSE_CPU,
	  .title = "The guest has an emulated adapter",
	  .why = "e1000, rtl8139 and their like are models of real chips: each register access leaves the guest. When no "
		 "model is named, x86 machines give one.",
	  .remedy = "Use virtio-net-pci (Windows needs its driver). The driver in the guest is then virtio_net.",
	  .effect = "from about one Gbit/s to ten",
	  .reference = "qemu",
	  .weight = 0.96 },
	{ .id = "qemu-user-net",
	  .subject = CHECK_PROCESS,
	  .applies = backend_is_qemu,
	  .judge = judge_user_nets,
	  .explains = RUN_CAUSE_CPU,
	  .title = "User-mode networking",
	  .why = "QEMU (or passt) terminates the guest's TCP and UDP and speaks through sockets of its own. There is no layer 2 "
		 "to the outside.",
	  .remedy = "A tap in a bridge, or macvtap. The guest then has an address of the outside network.",
	  .effect = "a path on layer 2 that can be measured, several times the rate",
	  .reference = "qemu",
	  .weight = 0.9 },
	{ .id = "qemu-no-kvm",
	  .subject = CHECK_PROCESS,
	  .applies = backend_is_qemu,
	  .judge = judge_no_kvm,
	  .explains = RUN_CAUSE_CPU,
	  .title = "The guest runs without hardware virtualisation",
	  .why = "TCG translates the guest's instructions; the guest's own stack then limits every path.",
	  .remedy = "-accel kvm, with /dev/kvm there and open to QEMU's user.",
	  .effect = "an order of magnitude",
	  .reference = "qemu",
	  .weight = 1.0 },
	{ .id = "qemu-unread",
	  .subject = CHECK_PROCESS,
	  .judge = judge_unread,
	  .title = "The command line of a guest could not be read or understood",
	  .why = "Which NIC the guest has and what serves it stands in the command line only.",
	  .remedy = "Run as root; send us the token when it is a new form.",
	  .effect = "the checks of this guest can be made",
	  .reference = "qemu",
	  .weight = 0.5 },
};

CHECK_TABLE(checks_backend, rows);
