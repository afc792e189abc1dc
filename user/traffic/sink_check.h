/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a test frame in user space is still what was sent: what bpf/hop_verify.bpf.h is for sinks in the kernel, which says
 * what is seen and what is not. Pure.
 */
#ifndef TRAFFIC_SINK_CHECK_H
#define TRAFFIC_SINK_CHECK_H

#include "traffic/frame_parse.h"

/* 1 when the headers of a frame that frame_parse() found a test header in, `bytes` long in all, are those that were sent. */
int sink_check_headers(const unsigned char *frame, unsigned int bytes, const struct parsed_frame *parsed);
/* 1 when its payload is, as far as it lies in the first `readable` bytes. The headers have been checked. */
int sink_check_payload(const unsigned char *frame, unsigned int readable, const struct parsed_frame *parsed);

#endif
