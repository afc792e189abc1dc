// SPDX-License-Identifier: GPL-2.0-or-later
/* Sends test frames back out of the interface they came in by, in the driver. Used by user/traffic/reflector.c. */
#include "reflect_body.bpf.h"

SEC("xdp")
int reflect_xdp(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data, *data_end = (void *)(long)ctx->data_end;

	return turn_round(data, data_end, data_end - data) ? XDP_TX : XDP_PASS;
}

char _license[] SEC("license") = "GPL";
