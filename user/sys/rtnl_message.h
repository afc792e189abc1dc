/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One request to the kernel over rtnetlink, and its answers. Used by the rtnl_*.c and collect_*.c files.
 *
 * Owns: the socket (one a request: a socket belongs to the namespace that it was opened in), waiting for the end of
 * the answers, the kernel's own words on a refusal (extended acknowledgement), and starting a dump again that the
 * kernel says was interrupted.
 */
#ifndef SYS_RTNL_MESSAGE_H
#define SYS_RTNL_MESSAGE_H

#include <stddef.h>

#include <netlink/netlink.h>
#include <netlink/msg.h>
#include <netlink/attr.h>

#define RTNL_REASON_BYTES 128

/* Called for each message of the answer. A dump that is started again is announced by message NULL: forget what was
 * seen. 0 or -errno, which ends the request. */
typedef int (*rtnl_visit_function)(struct nlmsghdr *message, void *context);

/* Message of a type with a family header (ifinfomsg, tcmsg …) of header_bytes; NULL with error text when out of
 * memory. */
struct nl_msg *rtnl_message_new(int type, int flags, const void *header, size_t header_bytes);

/* Sends, visits the answers (visit may be NULL), waits for the end, frees the message. 0 or -errno *without* error
 * text; why the kernel refused stands in reason: its own words, or those for the errno. */
int rtnl_message_exchange(struct nl_msg *message, rtnl_visit_function visit, void *context,
			  char reason[RTNL_REASON_BYTES]);

/* All links of this namespace: each answer to RTM_GETLINK goes through parse() (1: *element is filled, 0: nothing for us, -errno)
 * into an array of elements of element_bytes each. Returns their number or -errno with error text; the caller frees *elements. */
int rtnl_links_dump(size_t element_bytes, int (*parse)(struct nlmsghdr *message, void *element), void **elements);

/* By which number this thread's namespace knows the one of a descriptor (what IFLA_LINK_NETNSID says); -1: by none. */
int rtnl_netns_number(int fd);

#endif
