// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One request to the kernel over rtnetlink, and its answers. See rtnl_message.h for what it owns.
 *
 * libnl's own receive functions translate error numbers into a coarser set of theirs and drop the kernel's words;
 * therefore the callbacks here take both from the message itself.
 */
#include "sys/rtnl_message.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include <linux/netlink.h>
#include <netlink/errno.h>
#include <netlink/handlers.h>
#include <netlink/socket.h>

#include "base/error.h"

#define DUMP_ATTEMPTS 10

struct exchange {
	rtnl_visit_function visit;
	void *context;
	char *reason;
	int result; /* 0 or -errno */
	int done;
	int interrupted; /* the table changed during the dump: entries may be missing */
};

struct nl_msg *rtnl_message_new(int type, int flags, const void *header, size_t header_bytes)
{
	struct nl_msg *message = nlmsg_alloc_simple(type, flags);

	if (!message || nlmsg_append(message, (void *)header, header_bytes, NLMSG_ALIGNTO) < 0) {
		nlmsg_free(message);
		error_set(ENOMEM, "out of memory for a netlink message");
		return NULL;
	}
	return message;
}

static int on_valid(struct nl_msg *message, void *argument)
{
	struct exchange *exchange = argument;

	if (exchange->visit)
		exchange->result = exchange->visit(nlmsg_hdr(message), exchange->context);
	if (!exchange->result)
		return NL_OK;
	exchange->done = 1; /* the rest of the answer goes with the socket */
	return NL_STOP;
}

static int on_ack(struct nl_msg *message, void *argument)
{
	struct exchange *exchange = argument;

	(void)message;
	exchange->done = 1;
	return NL_STOP;
}

/* The end of a dump carries an error number of its own. */
static int on_finish(struct nl_msg *message, void *argument)
{
	struct exchange *exchange = argument;
	struct nlmsghdr *header = nlmsg_hdr(message);
	int error = 0;

	if (nlmsg_datalen(header) >= (int)sizeof(error))
		memcpy(&error, nlmsg_data(header), sizeof(error));
	if (error < 0 && !exchange->result)
		exchange->result = error;
	exchange->done = 1;
	return NL_STOP;
}

static int on_interrupted(struct nl_msg *message, void *argument)
{
	struct exchange *exchange = argument;

	(void)message;
	exchange->interrupted = 1;
	return NL_OK;
}

/* The refusal: struct nlmsgerr, our request (or only its header), then attributes with the kernel's words. */
static int on_error(struct sockaddr_nl *address, struct nlmsgerr *refusal, void *argument)
{
	struct exchange *exchange = argument;
	struct nlmsghdr *header = (struct nlmsghdr *)((char *)refusal - NLMSG_HDRLEN);
	size_t offset = NLMSG_HDRLEN + sizeof(*refusal);
	struct nlattr *words;

	(void)address;
	exchange->result = refusal->error < 0 ? refusal->error : -EPROTO;
	exchange->done = 1;
	if (!(header->nlmsg_flags & NLM_F_ACK_TLVS))
		return NL_STOP;
	if (!(header->nlmsg_flags & NLM_F_CAPPED) && refusal->msg.nlmsg_len >= NLMSG_HDRLEN)
		offset += refusal->msg.nlmsg_len - NLMSG_HDRLEN;
	offset = NLMSG_ALIGN(offset);
	if (offset >= header->nlmsg_len)
		return NL_STOP;
	words = nla_find((struct nlattr *)((char *)header + offset), (int)(header->nlmsg_len - offset),
			 NLMSGERR_ATTR_MSG);
	if (words)
		nla_strlcpy(exchange->reason, words, RTNL_REASON_BYTES);
	return NL_STOP;
}

static int exchange_once(struct nl_sock *socket, struct nl_cb *callbacks, struct nl_msg *message,
			 struct exchange *exchange)
{
	int result;

	exchange->done = exchange->interrupted = exchange->result = 0;
	nlmsg_hdr(message)->nlmsg_seq = NL_AUTO_SEQ;
	result = nl_send_auto(socket, message);
	while (result >= 0 && !exchange->done)
		result = nl_recvmsgs(socket, callbacks);
	if (result < 0 && !exchange->result) {
		snprintf(exchange->reason, RTNL_REASON_BYTES, "netlink: %s", nl_geterror(result));
		exchange->result = result == -NLE_NOMEM ? -ENOMEM : -EIO;
	}
	return exchange->result;
}

static struct nl_cb *callbacks_new(struct exchange *exchange)
{
	struct nl_cb *callbacks = nl_cb_alloc(NL_CB_DEFAULT);

	if (!callbacks)
		return NULL;
	nl_cb_set(callbacks, NL_CB_VALID, NL_CB_CUSTOM, on_valid, exchange);
	nl_cb_set(callbacks, NL_CB_ACK, NL_CB_CUSTOM, on_ack, exchange);
	nl_cb_set(callbacks, NL_CB_FINISH, NL_CB_CUSTOM, on_finish, exchange);
	nl_cb_set(callbacks, NL_CB_DUMP_INTR, NL_CB_CUSTOM, on_interrupted, exchange);
	nl_cb_err(callbacks, NL_CB_CUSTOM, on_error, exchange);
	return callbacks;
}

int rtnl_message_exchange(struct nl_msg *message, rtnl_visit_function visit, void *context,
			  char reason[RTNL_REASON_BYTES])
{
	struct exchange exchange = { .visit = visit, .context = context, .reason = reason };
	struct nl_cb *callbacks = callbacks_new(&exchange);
	struct nl_sock *socket = nl_socket_alloc();
	int attempts = 0, one = 1, result = -ENOMEM;

	reason[0] = '\0';
	if (!socket || !callbacks)
		goto out;
	result = nl_connect(socket, NETLINK_ROUTE);
	if (result < 0) {
		snprintf(reason, RTNL_REASON_BYTES, "cannot open a netlink socket: %s", nl_geterror(result));
		result = -EIO;
		goto out;
	}
	/* Without it, refusals only lack their words. */
	(void)setsockopt(nl_socket_get_fd(socket), SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
	do {
		if (attempts > 0)
			result = visit ? visit(NULL, context) : 0;
		if (attempts == 0 || !result)
			result = exchange_once(socket, callbacks, message, &exchange);
	} while (!result && exchange.interrupted && ++attempts < DUMP_ATTEMPTS);
	if (!result && exchange.interrupted) {
		snprintf(reason, RTNL_REASON_BYTES, "the table kept changing while it was read; try again");
		result = -EAGAIN;
	}
out:
	if (result < 0 && !reason[0])
		snprintf(reason, RTNL_REASON_BYTES, "%s", strerror(-result));
	nl_socket_free(socket);
	nl_cb_put(callbacks);
	nlmsg_free(message);
	return result;
}
