// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Client of the generic netlink family "netdev"; see netdev_features.h.
 *
 * Written on a bare socket: two requests, each with one short answer. First the family's number is asked of the
 * controller (it is given at boot, in order of registration), then one device. Attributes are numbered in the kernel's
 * include/uapi/linux/netdev.h, which the oldest supported headers lack. Called by port/xsk_queue.c.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <linux/genetlink.h>
#include <linux/netlink.h>

#include "base/error.h"
#include "sys/netdev_features.h"

#define FAMILY_NAME "netdev"
#define COMMAND_DEV_GET 1
enum { DEV_IFINDEX = 1, DEV_XDP_FEATURES = 3, DEV_ZERO_COPY_SEGMENTS = 4, DEV_RX_METADATA = 5, DEV_XSK_FEATURES = 6 };

#define ANSWER_BYTES 16384
#define ANSWER_SECONDS 2

/* Part of a message: what is left to read. */
struct span {
	const unsigned char *at;
	size_t bytes;
};

static uint32_t load32(const unsigned char *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

/* Takes the next attribute off *rest: 1, or 0 at the end, or -EBADMSG. */
static int next_attribute(struct span *rest, unsigned int *type, struct span *value)
{
	struct nlattr header;
	size_t whole;

	if (!rest->bytes)
		return 0;
	if (rest->bytes < sizeof(header))
		return -EBADMSG;
	memcpy(&header, rest->at, sizeof(header));
	if (header.nla_len < sizeof(header) || header.nla_len > rest->bytes)
		return -EBADMSG;
	*type = header.nla_type & NLA_TYPE_MASK;
	*value = (struct span){ rest->at + sizeof(header), header.nla_len - sizeof(header) };
	whole = NLA_ALIGN(header.nla_len); /* the last one may lack its padding */
	if (whole > rest->bytes)
		whole = rest->bytes;
	rest->at += whole;
	rest->bytes -= whole;
	return 1;
}

/* An unsigned number of 1, 2, 4 or 8 bytes: 0 or -EBADMSG. */
static int get_number(const struct span *value, uint64_t *number)
{
	uint16_t two;
	uint32_t four;

	switch (value->bytes) {
	case 1:
		*number = value->at[0];
		return 0;
	case 2:
		memcpy(&two, value->at, 2);
		*number = two;
		return 0;
	case 4:
		memcpy(&four, value->at, 4);
		*number = four;
		return 0;
	case 8:
		memcpy(number, value->at, 8);
		return 0;
	}
	return -EBADMSG;
}

/* The attributes of the answer to `sequence` that a family sent. */
static int find_answer(struct span rest, uint32_t sequence, uint16_t family, struct span *attributes)
{
	while (rest.bytes) {
		struct nlmsghdr header;
		size_t whole;

		if (rest.bytes < sizeof(header))
			return -EBADMSG;
		memcpy(&header, rest.at, sizeof(header));
		if (header.nlmsg_len < sizeof(header) || header.nlmsg_len > rest.bytes)
			return -EBADMSG;
		if (header.nlmsg_seq == sequence && header.nlmsg_type == NLMSG_ERROR) {
			int32_t code;

			if (header.nlmsg_len < sizeof(header) + sizeof(code))
				return -EBADMSG;
			code = (int32_t)load32(rest.at + sizeof(header));
			/* 0 is an acknowledgement: the answer, if there is one, is another message */
			if (code)
				return code < 0 && code >= -4095 ? code : -EBADMSG;
		} else if (header.nlmsg_seq == sequence && header.nlmsg_type == family) {
			size_t fixed = sizeof(header) + GENL_HDRLEN;

			if (header.nlmsg_len < fixed)
				return -EBADMSG;
			*attributes = (struct span){ rest.at + fixed, header.nlmsg_len - fixed };
			return 0;
		}
		whole = NLMSG_ALIGN((size_t)header.nlmsg_len);
		if (whole > rest.bytes)
			whole = rest.bytes;
		rest.at += whole;
		rest.bytes -= whole;
	}
	return -ENOMSG;
}

int netdev_features_parse_family(const void *bytes, size_t size, uint32_t sequence, uint16_t *family)
{
	struct span attributes, value;
	uint64_t number = 0;
	unsigned int type;
	int code = find_answer((struct span){ bytes, size }, sequence, GENL_ID_CTRL, &attributes);

	if (code)
		return code;
	while ((code = next_attribute(&attributes, &type, &value)) > 0)
		if (type == CTRL_ATTR_FAMILY_ID && get_number(&value, &number))
			return -EBADMSG;
	if (code)
		return code;
	if (number < NLMSG_MIN_TYPE || number > UINT16_MAX)
		return -EBADMSG;
	*family = (uint16_t)number;
	return 0;
}

int netdev_features_parse(const void *bytes, size_t size, uint32_t sequence, uint16_t family, int ifindex,
			  struct netdev_features *features)
{
	struct netdev_features found = { 0 };
	struct span attributes, value;
	uint64_t number, index = 0;
	unsigned int type;
	int code = find_answer((struct span){ bytes, size }, sequence, family, &attributes);

	if (code)
		return code;
	while ((code = next_attribute(&attributes, &type, &value)) > 0) {
		if (type < DEV_IFINDEX || type > DEV_XSK_FEATURES || type == DEV_IFINDEX + 1)
			continue; /* padding, and what newer kernels add */
		if (get_number(&value, &number))
			return -EBADMSG;
		if (type == DEV_IFINDEX)
			index = number;
		else if (type == DEV_XDP_FEATURES)
			found.xdp = number;
		else if (type == DEV_ZERO_COPY_SEGMENTS)
			found.zero_copy_segments = number > UINT32_MAX ? UINT32_MAX : (unsigned int)number;
		else if (type == DEV_RX_METADATA)
			found.receive_metadata = number;
		else
			found.transmit = number;
	}
	if (code)
		return code;
	if (index != (uint64_t)ifindex)
		return -EBADMSG;
	*features = found;
	return 0;
}

static const char *names_of(uint64_t bits, const char *const *names, unsigned int count, char *buffer, size_t size)
{
	size_t used = 0;

	if (!size)
		return "";
	snprintf(buffer, size, "none");
	for (unsigned int i = 0; i < count && used < size; i++) {
		if (bits >> i & 1)
			used += (size_t)snprintf(buffer + used, size - used, "%s%s", used ? " " : "", names[i]);
		bits &= ~(1ull << i);
	}
	if (bits && used < size)
		snprintf(buffer + used, size - used, "%s%#llx", used ? " " : "", (unsigned long long)bits);
	return buffer;
}

const char *netdev_features_xdp_names(uint64_t bits, char *buffer, size_t size)
{
	static const char *const names[] = { "BASIC",	   "REDIRECT", "NDO_XMIT",   "XSK_ZEROCOPY",
					     "HW_OFFLOAD", "RX_SG",    "NDO_XMIT_SG" };

	return names_of(bits, names, sizeof(names) / sizeof(names[0]), buffer, size);
}

const char *netdev_features_transmit_names(uint64_t bits, char *buffer, size_t size)
{
	static const char *const names[] = { "timestamp", "checksum", "launch time" };

	return names_of(bits, names, sizeof(names) / sizeof(names[0]), buffer, size);
}

/* One request with one attribute, and the bytes of its answer. Returns their number or -errno, without error text. */
static ssize_t ask(int fd, uint16_t family, unsigned char command, uint32_t sequence, const struct nlattr *attribute,
		   const void *value, unsigned char *answer)
{
	unsigned char request[NLMSG_HDRLEN + GENL_HDRLEN + NLA_HDRLEN + 16] = { 0 };
	struct nlmsghdr header = { .nlmsg_type = family, .nlmsg_flags = NLM_F_REQUEST, .nlmsg_seq = sequence };
	const struct genlmsghdr generic = { .cmd = command, .version = 1 };
	ssize_t length;

	header.nlmsg_len = NLMSG_HDRLEN + GENL_HDRLEN + NLA_ALIGN(attribute->nla_len);
	memcpy(request, &header, sizeof(header));
	memcpy(request + NLMSG_HDRLEN, &generic, sizeof(generic));
	memcpy(request + NLMSG_HDRLEN + GENL_HDRLEN, attribute, sizeof(*attribute));
	memcpy(request + NLMSG_HDRLEN + GENL_HDRLEN + NLA_HDRLEN, value, attribute->nla_len - NLA_HDRLEN);
	do
		length = send(fd, request, header.nlmsg_len, 0);
	while (length < 0 && errno == EINTR);
	if (length < 0)
		return -errno;
	do
		length = recv(fd, answer, ANSWER_BYTES, MSG_TRUNC);
	while (length < 0 && errno == EINTR);
	if (length < 0)
		return -errno;
	return length > ANSWER_BYTES ? -EMSGSIZE : length;
}

static int ask_family(int fd, uint16_t *family)
{
	const struct nlattr attribute = { .nla_len = NLA_HDRLEN + sizeof(FAMILY_NAME),
					  .nla_type = CTRL_ATTR_FAMILY_NAME };
	unsigned char answer[ANSWER_BYTES];
	ssize_t length = ask(fd, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 1, &attribute, FAMILY_NAME, answer);
	int code = length < 0 ? (int)length : netdev_features_parse_family(answer, (size_t)length, 1, family);

	return code == -ENOENT ? -EOPNOTSUPP : code;
}

static int ask_device(int fd, uint16_t family, int ifindex, struct netdev_features *features)
{
	const struct nlattr attribute = { .nla_len = NLA_HDRLEN + sizeof(uint32_t), .nla_type = DEV_IFINDEX };
	unsigned char answer[ANSWER_BYTES];
	uint32_t index = (uint32_t)ifindex;
	ssize_t length = ask(fd, family, COMMAND_DEV_GET, 2, &attribute, &index, answer);

	return length < 0 ? (int)length : netdev_features_parse(answer, (size_t)length, 2, family, ifindex, features);
}

int netdev_features_get(const char *interface, int ifindex, struct netdev_features *features)
{
	const struct timeval limit = { .tv_sec = ANSWER_SECONDS };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC), code;
	uint16_t family;

	memset(features, 0, sizeof(*features));
	if (fd < 0)
		return error_set(errno, "%s: cannot ask for its XDP features: no netlink socket: %s", interface,
				 strerror(errno));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	code = ask_family(fd, &family);
	if (!code)
		code = ask_device(fd, family, ifindex, features);
	close(fd);
	if (code == -EOPNOTSUPP)
		return error_set(EOPNOTSUPP,
				 "%s: this kernel does not say what XDP features a driver has (Linux 6.3 does)",
				 interface);
	if (code)
		return error_set(-code, "%s: cannot read its XDP features: %s", interface, strerror(-code));
	return 0;
}
