/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One kernel that can be asked to do things: the one we run on, a guest's, another host's.
 *
 * Owns: one way to ask, whichever kernel it is. Leaves to others: doing it here (local.c), saying it over a line to `hopcap agent`
 * (remote.c). A network namespace is part of its kernel's domain: same clock, same CPUs.
 *
 * CPU numbers at this interface are those of the run: the CPUs of all kernels are numbered through, those of a domain from first_cpu on
 * (0 for the local one). Everything returns 0 or -errno with error text; -ENOTCONN: the agent is gone, or silent, and every further call
 * fails with it at once.
 */
#ifndef DOMAIN_DOMAIN_H
#define DOMAIN_DOMAIN_H

#include "domain/verbs.h"

#define DOMAINS_MAX RUN_MAX_DOMAINS

struct domain;

struct domain_ops {
	/* Does a verb; request and reply are the structs of verbs.h (NULL where it has none). */
	int (*call)(struct domain *domain, enum verb verb, const void *request, void *reply);
	/* As source_send() of traffic/source.h. */
	int (*send)(struct domain *domain, const struct source_stream *stream, void (*tick)(void *context),
		    void *context, struct verb_send_reply *reply);
	void (*close)(struct domain *domain);
};

struct domain {
	const struct domain_ops *ops;
	char name[RUN_NAME_BYTES];		/* "local" */
	char kernel[80], machine[80], boot[40]; /* boot: "" not known */
	int cpus, first_cpu;
};

int domain_open_local(struct domain **domain);
/* Starts talking to an agent; see transport.h for the text. */
int domain_open_remote(const char *name, const char *transport, struct domain **domain);
/* Undoes everything that was asked of it. */
void domain_close(struct domain *domain);

/* All domains of a run; the first one is local. */
struct domains {
	int count;
	struct domain *list[DOMAINS_MAX];
};

int domains_open(struct domains *domains); /* with the local one */
/* definition: NAME=TRANSPORT. 0 or -errno with error text (EINVAL: no name, known already). */
int domains_add(struct domains *domains, const char *definition);
/* "local" or a name that was added; NULL with error text when there is none. */
struct domain *domains_find(const struct domains *domains, const char *name);
/* 1 for the local one. */
int domain_is_local(const struct domain *domain);
/* 1 when both are served by one kernel (an agent in a container of this machine): the same clock, CPUs, drops. */
int domain_is_same_kernel(const struct domain *a, const struct domain *b);
void domains_close(struct domains *domains);

/* --- interfaces --- */

int domain_link(struct domain *domain, const struct run_point *point, struct domain_link *link);
/* Qdiscs of the point's interface, root first; their number or -errno. */
int domain_queues(struct domain *domain, const struct run_point *point, struct verb_queues_reply *queues);
int domain_announce(struct domain *domain, const struct run_point *point, const unsigned char own[6],
		    const unsigned char other[6]);

/* --- hop probes: as in probe/hop_probe.h --- */

struct domain_probe;

int domain_probe_open(struct domain *domain, const struct run_point *point, struct domain_probe **probe);
void domain_probe_close(struct domain_probe *probe);
int domain_probe_attach(struct domain_probe *probe, char mode[16]); /* mode may be NULL */
void domain_probe_detach(struct domain_probe *probe);
int domain_probe_arm(struct domain_probe *probe, const struct hop_arming *arming);
/* 0 also when it cannot be asked. */
uint64_t domain_probe_count(struct domain_probe *probe);
int domain_probe_read(struct domain_probe *probe, struct hop_reading *reading);

/* --- the source: as in traffic/source.h, one a domain --- */

int domain_source_open(struct domain *domain, const struct source_place *place);
void domain_source_close(struct domain *domain);
/* 1 or 0, why_not holds RUN_TEXT_BYTES; -errno when the domain is lost. */
int domain_source_usable(struct domain *domain, enum run_port port, unsigned int frame_bytes, char *why_not);
int domain_source_set_cpu(struct domain *domain, int cpu);
int domain_source_send(struct domain *domain, const struct source_stream *stream, void (*tick)(void *context),
		       void *context, struct port_sent *sent, double *elapsed_s);
/* Whether a CPU of the domain can be used; one that can and is not `avoid` (-1: none to avoid) into *other, -1 when there is none. */
int domain_cpu(struct domain *domain, int wanted, int avoid, int *usable, int *other);

/* --- evidence --- */

int domain_watch_begin(struct domain *domain);
int domain_watch_end(struct domain *domain, struct domain_machine *machine);
int domain_drops_begin(struct domain *domain, uint16_t run_tag, uint8_t stream);
int domain_drops_end(struct domain *domain, struct verb_drops_reply *drops);

/* One exchange of clocks with another kernel: sent, arrived, returned, heard, each by the clock of where it happened. */
int domain_exchange(struct domain *domain, int64_t times_ns[4]);

#endif
