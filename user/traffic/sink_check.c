// SPDX-License-Identifier: GPL-2.0-or-later
/* Corrupted frames; see sink_check.h. Called by traffic/sink_xsk.c. */
#include <string.h>

#include "traffic/frame.h"
#include "traffic/sink_check.h"
#include "wire_test_frame.h"

#define IPV4_BYTES 20
#define IPV6_BYTES 40
#define UDP_BYTES 8
#define TAG_BYTES 4
#define LONGEST_PADDED_BYTES 64 /* frames that are as short may have been padded by a device */

int sink_check_headers(const unsigned char *frame, unsigned int bytes, const struct parsed_frame *parsed)
{
	const unsigned char *ip = frame + parsed->ip_offset;
	unsigned int udp_bytes = port_get16(frame + parsed->udp_offset + 4), end = parsed->udp_offset + udp_bytes;

	if (parsed->flags & ~HOPCAP_FRAME_FLAGS)
		return 0;
	if (parsed->is_ipv6) {
		if (port_get16(ip + 4) != udp_bytes)
			return 0;
	} else if (port_get16(ip + 2) != udp_bytes + IPV4_BYTES || frame_checksum(ip, IPV4_BYTES)) {
		return 0;
	}
	if (udp_bytes < UDP_BYTES + HOPCAP_TEST_HEADER_BYTES)
		return 0;
	return end == bytes || (end < bytes && bytes <= LONGEST_PADDED_BYTES);
}

/* The pattern as frame_build() writes it, twice and more, so that a frame of any size can be compared in one go. */
static const unsigned char *pattern_at(unsigned char value)
{
	static unsigned char pattern[256 + HOPCAP_MAX_FRAME_BYTES];

	/* Several threads may fill it at once, with the same bytes; the last one is written last. */
	if (__atomic_load_n(&pattern[sizeof(pattern) - 1], __ATOMIC_ACQUIRE) != ((sizeof(pattern) - 1) & 0xff)) {
		for (unsigned int i = 0; i < sizeof(pattern) - 1; i++)
			__atomic_store_n(&pattern[i], i & 0xff, __ATOMIC_RELAXED);
		__atomic_store_n(&pattern[sizeof(pattern) - 1], (sizeof(pattern) - 1) & 0xff, __ATOMIC_RELEASE);
	}
	return pattern + value;
}

int sink_check_payload(const unsigned char *frame, unsigned int readable, const struct parsed_frame *parsed)
{
	unsigned int offset = parsed->header_offset + HOPCAP_TEST_HEADER_BYTES;
	unsigned int end = parsed->udp_offset + port_get16(frame + parsed->udp_offset + 4);
	unsigned char moved;

	if (end > readable)
		end = readable;
	if (end <= offset)
		return 1;
	if (end - offset > HOPCAP_MAX_FRAME_BYTES)
		return 0;
	/* Up to two tags may have come or gone on the way. */
	moved = (unsigned char)(frame[offset] - offset + 2 * TAG_BYTES);
	if (moved > 4 * TAG_BYTES || moved % TAG_BYTES)
		return 0;
	return !memcmp(frame + offset, pattern_at(frame[offset]), end - offset);
}
