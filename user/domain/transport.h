/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How an agent is reached: a command that talks through its standard input and output, or a socket.
 *
 * Owns: starting and ending the command, connecting. Leaves to others: what is said (remote.c). There is nothing of ours to secure: the
 * command is ssh, `docker exec`, `kubectl exec`; a socket belongs to whoever may open its file.
 *
 *   'ssh root@vm hopcap agent --stdio'    run by `sh -c 'exec …'`, so quoting is the shell's
 *   'unix:/run/guest.sock'                a socket, for example QEMU's of a virtio-serial port
 */
#ifndef DOMAIN_TRANSPORT_H
#define DOMAIN_TRANSPORT_H

#include <stddef.h>
#include <sys/types.h>

struct transport {
	int in, out;	/* read from, write to; do not block. One and the same for a socket */
	int complaints; /* what the command writes to its standard error, does not block; -1: a socket has none */
	pid_t pid;	/* of the command; 0: a socket */
};

/* 0 or -errno with error text. */
int transport_open(const char *text, struct transport *transport);
/* Closes both directions, which tells the agent to go, and waits for the command; one that stays is ended. */
void transport_close(struct transport *transport);

/*
 * For --push: copies this program, or the static one beside it, to the machine that `text` reaches, and writes the command that runs the
 * copy to *command. `text` must be a command that ends in "hopcap agent --stdio" (any path before hopcap). The agent removes the copy when
 * it starts. 0 or -errno with error text.
 */
int transport_push(const char *text, char *command, size_t size);

#endif
