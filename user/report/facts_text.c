// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Facts for the eye; see facts_text.h. Called by cmd/facts.c. What is wrong with them says doctor, not this.
 */
#include "report/facts_text.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"

/* Names are bytes to the kernel, and facts may come from anybody: nothing of them reaches the terminal as a control. */
static const char *clean(const char *text, char *buffer, size_t size)
{
	size_t used = 0;

	for (; *text && used + 1 < size; text++)
		buffer[used++] = (unsigned char)*text < ' ' || *text == 0x7f ? '?' : *text;
	buffer[used] = '\0';
	return buffer;
}

static const char *or_unknown(const char *text)
{
	return text[0] ? text : "-";
}

static void print_machine(const struct facts *facts, FILE *stream)
{
	char text[128];

	fprintf(stream, "Linux %s", clean(or_unknown(facts->kernel), text, sizeof(text)));
	if (facts->cpu_count > 0)
		fprintf(stream, ", %d CPU%s", facts->cpu_count, facts->cpu_count == 1 ? "" : "s");
	if (facts->machine[0])
		fprintf(stream, " (%s)", clean(facts->machine, text, sizeof(text)));
	fprintf(stream, ", %s%s\n", facts->hypervisor[0] ? "guest of " : "no hypervisor seen",
		clean(facts->hypervisor, text, sizeof(text)));
	if (facts->uplink[0])
		fprintf(stream, "Uplink %s\n", clean(facts->uplink, text, sizeof(text)));
}

static const char *state_of(const struct facts_link *link)
{
	if (!(link->flags & 1))
		return "off";
	return link->carrier == 0 ? "no carrier" : "up";
}

static void print_number(FILE *stream, int width, int64_t number)
{
	if (number < 0)
		fprintf(stream, " %*s", width, "-");
	else
		fprintf(stream, " %*lld", width, (long long)number);
}

static void print_link(const struct facts *facts, const struct facts_link *link, FILE *stream)
{
	const struct facts_link *master = facts_link_at(facts, link->netns, link->master_ifindex);
	char name[16], kind[32], above[16];

	fprintf(stream, "  %-15s %-14.14s %-10s", clean(link->name, name, sizeof(name)),
		clean(or_unknown(link->kind[0] ? link->kind : link->driver), kind, sizeof(kind)), state_of(link));
	print_number(stream, 6, link->mtu_bytes);
	print_number(stream, 8, link->speed_mbit_per_s);
	print_number(stream, 4, link->rx_queues);
	print_number(stream, 4, link->tx_queues);
	fprintf(stream, " %s\n", master ? clean(master->name, above, sizeof(above)) : "-");
}

static void print_namespace(const struct facts *facts, int index, FILE *stream)
{
	const struct facts_netns *netns = &facts->netns[index];
	char name[64], why[128];
	int count = 0;

	for (int i = 0; i < facts->link_count; i++)
		count += facts->links[i].netns == index;
	if (netns->name[0])
		fprintf(stream, "\nNamespace %s", clean(netns->name, name, sizeof(name)));
	else
		fprintf(stream, "\nOwn namespace");
	if (!netns->could_enter) {
		fprintf(stream, ": closed to us: %s\n", clean(netns->why_not, why, sizeof(why)));
		return;
	}
	fprintf(stream, ", %d link%s\n", count, count == 1 ? "" : "s");
	if (count == 0)
		return;
	fprintf(stream, "  %-15s %-14s %-10s %6s %8s %4s %4s %s\n", "link", "kind", "state", "MTU", "Mbit/s", "rx",
		"tx", "master");
	for (int i = 0; i < facts->link_count; i++)
		if (facts->links[i].netns == index)
			print_link(facts, &facts->links[i], stream);
}

static void print_processes(const struct facts *facts, FILE *stream)
{
	char name[64], interface[16];

	if (facts->process_count)
		fprintf(stream, "\nProcesses that hold taps, vhost, KVM or VFIO\n");
	for (int i = 0; i < facts->process_count; i++) {
		const struct facts_process *process = &facts->processes[i];

		fprintf(stream, "  %-8d %-16s %d thread%s", process->pid, clean(process->name, name, sizeof(name)),
			process->thread_count, process->thread_count == 1 ? "" : "s");
		if (process->vhost_net < 0)
			fprintf(stream, ", descriptors unknown");
		for (int k = 0; k < process->tun_count; k++) {
			const struct facts_tun_holder *tun = &process->tuns[k];

			fprintf(stream, ", %s", clean(tun->interface, interface, sizeof(interface)));
			if (tun->netns > 0)
				fprintf(stream, "@ns:%s", clean(facts->netns[tun->netns].name, name, sizeof(name)));
			if (tun->descriptors > 1)
				fprintf(stream, " (%d queues)", tun->descriptors);
		}
		if (process->vhost_net > 0)
			fprintf(stream, ", vhost-net %d", process->vhost_net);
		if (process->vhost_vdpa > 0)
			fprintf(stream, ", vhost-vdpa %d", process->vhost_vdpa);
		fprintf(stream, "\n");
	}
}

static void print_rest(const struct facts *facts, FILE *stream)
{
	int read = 0, unreadable = 0;
	char text[256];

	for (int i = 0; i < facts->file_count; i++) {
		read += !facts->files[i].error;
		unreadable += facts->files[i].error == EACCES || facts->files[i].error == EPERM;
	}
	fprintf(stream,
		"\n%d files of sysfs and procfs, %d more closed to us; %d entries of forwarding tables, %d routes",
		read, unreadable, facts->fdb_count, facts->route_count);
	if (facts->claim_count)
		fprintf(stream, "; %d statements of pasted text", facts->claim_count);
	fprintf(stream, "\n");
	if (facts->gap_count)
		fprintf(stream, "\nNot read\n");
	for (int i = 0; i < facts->gap_count; i++)
		fprintf(stream, "  %s\n", clean(facts->gaps[i].text, text, sizeof(text)));
}

int facts_text(const struct facts *facts, FILE *stream)
{
	print_machine(facts, stream);
	for (int i = 0; i < facts->netns_count; i++)
		print_namespace(facts, i, stream);
	print_processes(facts, stream);
	print_rest(facts, stream);
	if (fflush(stream) || ferror(stream))
		return errno == EPIPE ? 0
				      : error_set(errno ? errno : EIO, "cannot write the facts: %s",
						  strerror(errno ? errno : EIO));
	return 0;
}
