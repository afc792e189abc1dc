// SPDX-License-Identifier: GPL-2.0-or-later
/* Answers of the netdev family, right and hostile: what stands where, and that no cut or damaged answer is read past
 * its end. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <linux/genetlink.h>
#include <linux/netlink.h>

#include "sys/netdev_features.h"

#define FAMILY 0x1c
#define SEQUENCE 2

struct answer {
	unsigned char bytes[2048];
	size_t size;
	size_t message; /* where the last message starts */
};

static void put(struct answer *answer, const void *data, size_t bytes)
{
	assert_true(answer->size + bytes <= sizeof(answer->bytes));
	memcpy(answer->bytes + answer->size, data, bytes);
	answer->size += bytes;
}

static void end(struct answer *answer)
{
	const uint32_t length = (uint32_t)(answer->size - answer->message);

	memcpy(answer->bytes + answer->message, &length, sizeof(length));
}

static void begin(struct answer *answer, uint16_t type, uint32_t sequence)
{
	const struct nlmsghdr header = { .nlmsg_type = type, .nlmsg_seq = sequence };

	answer->message = answer->size;
	put(answer, &header, sizeof(header));
}

static void begin_generic(struct answer *answer, uint16_t family, uint32_t sequence)
{
	const struct genlmsghdr generic = { .cmd = 1, .version = 1 };

	begin(answer, family, sequence);
	put(answer, &generic, sizeof(generic));
}

static void attribute(struct answer *answer, uint16_t type, const void *value, uint16_t bytes)
{
	const struct nlattr header = { .nla_type = type, .nla_len = NLA_HDRLEN + bytes };
	const unsigned char padding[4] = { 0 };

	put(answer, &header, sizeof(header));
	put(answer, value, bytes);
	put(answer, padding, NLA_ALIGN(bytes) - bytes);
}

static void attribute64(struct answer *answer, uint16_t type, uint64_t value)
{
	attribute(answer, type, &value, sizeof(value));
}

static void attribute32(struct answer *answer, uint16_t type, uint32_t value)
{
	attribute(answer, type, &value, sizeof(value));
}

/* As an Intel driver answers: zero-copy with several buffers, metadata, and an attribute of a newer kernel. */
static void device(struct answer *answer)
{
	memset(answer, 0, sizeof(*answer));
	begin_generic(answer, FAMILY, SEQUENCE);
	attribute32(answer, 1, 7);
	attribute(answer, 2, "", 0);
	attribute64(answer, 3, NETDEV_XDP_BASIC | NETDEV_XDP_REDIRECT | NETDEV_XDP_ZERO_COPY);
	attribute32(answer, 4, 8);
	attribute64(answer, 5, NETDEV_RECEIVE_TIMESTAMP | NETDEV_RECEIVE_HASH);
	attribute64(answer, 6, NETDEV_TRANSMIT_TIMESTAMP | NETDEV_TRANSMIT_CHECKSUM);
	attribute(answer, 99, "abc", 3);
	end(answer);
}

/* From memory of exactly its own size, so that the sanitizer sees a read past its end. */
static int parse(const struct answer *answer, size_t size, struct netdev_features *features)
{
	unsigned char *copy = malloc(size ? size : 1);
	int code;

	assert_non_null(copy);
	memcpy(copy, answer->bytes, size);
	code = netdev_features_parse(copy, size, SEQUENCE, FAMILY, 7, features);
	free(copy);
	return code;
}

static void test_device(void **state)
{
	struct netdev_features features;
	struct answer answer;

	(void)state;
	device(&answer);
	assert_int_equal(parse(&answer, answer.size, &features), 0);
	assert_int_equal(features.xdp, 0xb);
	assert_int_equal(features.zero_copy_segments, 8);
	assert_int_equal(features.receive_metadata, 3);
	assert_int_equal(features.transmit, 3);
}

static void test_device_of_few_words(void **state)
{
	struct netdev_features features;
	struct answer answer = { 0 };

	(void)state;
	begin_generic(&answer, FAMILY, SEQUENCE);
	attribute32(&answer, 1, 7);
	attribute64(&answer, 3, 0);
	end(&answer);
	assert_int_equal(parse(&answer, answer.size, &features), 0);
	assert_int_equal(features.xdp, 0);
	assert_int_equal(features.zero_copy_segments, 0);
}

/* Numbers may be sent as narrow as they fit (the kernel's "uint"). */
static void test_numbers_of_any_width(void **state)
{
	const uint8_t one = 7;
	const uint16_t two = 0x4b;
	struct netdev_features features;
	struct answer answer = { 0 };

	(void)state;
	begin_generic(&answer, FAMILY, SEQUENCE);
	attribute(&answer, 1, &one, 1);
	attribute(&answer, 3, &two, 2);
	attribute64(&answer, 4, UINT64_MAX);
	end(&answer);
	assert_int_equal(parse(&answer, answer.size, &features), 0);
	assert_int_equal(features.xdp, 0x4b);
	assert_int_equal(features.zero_copy_segments, UINT32_MAX);
}

static void test_answer_behind_others(void **state)
{
	struct netdev_features features;
	struct answer answer = { 0 }, own;
	const int32_t acknowledged = 0, failed = -EPERM;

	(void)state;
	begin(&answer, NLMSG_ERROR, SEQUENCE); /* an acknowledgement */
	put(&answer, &acknowledged, sizeof(acknowledged));
	end(&answer);
	begin(&answer, NLMSG_ERROR, SEQUENCE + 1); /* somebody else's failure */
	put(&answer, &failed, sizeof(failed));
	end(&answer);
	begin_generic(&answer, FAMILY, SEQUENCE - 1); /* a late answer to an older question */
	attribute32(&answer, 1, 8);
	end(&answer);
	device(&own);
	put(&answer, own.bytes, own.size);
	assert_int_equal(parse(&answer, answer.size, &features), 0);
	assert_int_equal(features.zero_copy_segments, 8);
}

static void test_kernel_says_no(void **state)
{
	const int32_t codes[] = { -ENODEV, 5, INT32_MIN };
	const int expected[] = { -ENODEV, -EBADMSG, -EBADMSG };
	struct netdev_features features;

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct answer answer = { 0 };

		begin(&answer, NLMSG_ERROR, SEQUENCE);
		put(&answer, &codes[i], sizeof(codes[i]));
		end(&answer);
		assert_int_equal(parse(&answer, answer.size, &features), expected[i]);
	}
}

static void test_no_answer(void **state)
{
	struct netdev_features features;
	struct answer answer;

	(void)state;
	device(&answer);
	assert_int_equal(parse(&answer, 0, &features), -ENOMSG);
	assert_int_equal(netdev_features_parse(answer.bytes, answer.size, SEQUENCE + 1, FAMILY, 7, &features), -ENOMSG);
	assert_int_equal(netdev_features_parse(answer.bytes, answer.size, SEQUENCE, FAMILY + 1, 7, &features), -ENOMSG);
	assert_int_equal(netdev_features_parse(answer.bytes, answer.size, SEQUENCE, FAMILY, 8, &features), -EBADMSG);
}

/* Every cut of an answer is refused, or leaves out what was cut away (an attribute's padding). */
static void test_cut(void **state)
{
	struct netdev_features features;
	struct answer answer;

	(void)state;
	device(&answer);
	for (size_t size = 1; size < answer.size; size++)
		assert_int_equal(parse(&answer, size, &features), -EBADMSG);
	/* Cut, with the length made to fit: the same, but for cuts between attributes. */
	for (size_t size = sizeof(struct nlmsghdr) + GENL_HDRLEN; size < answer.size; size++) {
		struct answer cut = answer;
		int code;

		cut.size = size;
		end(&cut);
		code = parse(&cut, size, &features);
		assert_true(code == 0 || code == -EBADMSG);
		assert_true(code != 0 || size >= sizeof(struct nlmsghdr) + GENL_HDRLEN + 8);
	}
}

static void test_impossible_lengths(void **state)
{
	const uint16_t lengths[] = { 0, 1, 3, 7, 17, 4096, UINT16_MAX };
	struct netdev_features features;
	struct answer answer;

	(void)state;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		device(&answer);
		memcpy(answer.bytes + sizeof(struct nlmsghdr) + GENL_HDRLEN, &lengths[i],
		       2); /* of the interface index */
		assert_int_not_equal(parse(&answer, answer.size, &features), 0);
	}
}

/* Random damage: whatever comes out, nothing is read past the end (the sanitizer's word) and it ends. */
static void test_damage(void **state)
{
	struct netdev_features features;
	uint32_t random = 12345;
	struct answer answer;
	uint16_t family;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		device(&answer);
		for (int i = 0; i < 4; i++) {
			random = random * 1664525 + 1013904223;
			answer.bytes[(random >> 8) % answer.size] = (unsigned char)(random >> 24);
		}
		parse(&answer, answer.size, &features);
		netdev_features_parse_family(answer.bytes, answer.size, SEQUENCE, &family);
	}
}

static void test_family(void **state)
{
	const uint16_t number = FAMILY, too_low = 3;
	const int32_t unknown = -ENOENT;
	struct answer answer = { 0 };
	uint16_t family = 0;

	(void)state;
	begin_generic(&answer, GENL_ID_CTRL, 1);
	attribute(&answer, CTRL_ATTR_FAMILY_NAME, "netdev", 7);
	attribute(&answer, CTRL_ATTR_FAMILY_ID, &number, 2);
	end(&answer);
	assert_int_equal(netdev_features_parse_family(answer.bytes, answer.size, 1, &family), 0);
	assert_int_equal(family, FAMILY);
	memset(&answer, 0, sizeof(answer));
	begin_generic(&answer, GENL_ID_CTRL, 1);
	attribute(&answer, CTRL_ATTR_FAMILY_ID, &too_low, 2);
	end(&answer);
	assert_int_equal(netdev_features_parse_family(answer.bytes, answer.size, 1, &family), -EBADMSG);
	memset(&answer, 0, sizeof(answer));
	begin_generic(&answer, GENL_ID_CTRL, 1);
	end(&answer);
	assert_int_equal(netdev_features_parse_family(answer.bytes, answer.size, 1, &family), -EBADMSG);
	memset(&answer, 0, sizeof(answer));
	begin(&answer, NLMSG_ERROR, 1);
	put(&answer, &unknown, sizeof(unknown));
	end(&answer);
	assert_int_equal(netdev_features_parse_family(answer.bytes, answer.size, 1, &family), -ENOENT);
}

static void test_names(void **state)
{
	char buffer[128], small[12];

	(void)state;
	assert_string_equal(netdev_features_xdp_names(0, buffer, sizeof(buffer)), "none");
	assert_string_equal(netdev_features_xdp_names(0xb, buffer, sizeof(buffer)), "BASIC REDIRECT XSK_ZEROCOPY");
	assert_string_equal(netdev_features_xdp_names(0x101, buffer, sizeof(buffer)), "BASIC 0x100");
	assert_string_equal(netdev_features_transmit_names(7, buffer, sizeof(buffer)),
			    "timestamp checksum launch time");
	assert_string_equal(netdev_features_xdp_names(UINT64_MAX, small, sizeof(small)), "BASIC REDIR");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_device),
		cmocka_unit_test(test_device_of_few_words),
		cmocka_unit_test(test_numbers_of_any_width),
		cmocka_unit_test(test_answer_behind_others),
		cmocka_unit_test(test_kernel_says_no),
		cmocka_unit_test(test_no_answer),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_impossible_lengths),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_family),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
