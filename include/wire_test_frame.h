/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The test frame as it stands on the wire.
 *
 * Owns: the 18 bytes that follow the UDP header of every frame that hopcap makes, and the meaning of each of them.
 * Leaves to others: the Ethernet/IP/UDP headers in front (user/traffic/frame.c), finding this header in a frame
 * (bpf/parse.bpf.h). Read by: bpf/ and user/ alike.
 *
 * All fields are big-endian, since source and sink may be kernels of different byte order (Power BE, x86 LE).
 *
 *   offset  size  field
 *     0      2    run_tag      random, never 0; frames of another run carry another tag and are not counted
 *     2      1    flags        HOPCAP_FRAME_*
 *     3      1    stream       number of the trial, modulo 256: a straggler of the previous trial is not counted
 *     4      4    sequence     0, 1, 2 … within the stream
 *     8      6    origin_ns    CLOCK_MONOTONIC of the source, low 48 bits: when the frame left (78 hours before it wraps)
 *    14      4    last_ns      ns after origin_ns of the last point that stamped this frame (0 at the source)
 *
 * origin_ns and last_ns mean something only in frames with HOPCAP_FRAME_STAMP; the source sets it in 1 of N frames,
 * because a clock read costs 30 to 60 ns and stamping all frames at full load would change what is measured.
 */
#ifndef HOPCAP_WIRE_TEST_FRAME_H
#define HOPCAP_WIRE_TEST_FRAME_H

#define HOPCAP_FRAME_STAMP 0x01u /* origin_ns and last_ns are valid; points add to their histograms and overwrite last_ns */
/* An announcement, no frame of the stream, sent several times: the stream is over, sequence says how many frames there were; 0 of
 * them: it is about to begin. */
#define HOPCAP_FRAME_END 0x02u
#define HOPCAP_FRAME_REFLECTED 0x04u /* was sent back by a reflector, and is not again */
#define HOPCAP_FRAME_FLAGS (HOPCAP_FRAME_STAMP | HOPCAP_FRAME_END | HOPCAP_FRAME_REFLECTED) /* all that there are */

#define HOPCAP_PROBE_TAG 0xffffu /* run tag of the few frames that find out whether a port delivers: no sink takes it for its run */

#define HOPCAP_TEST_HEADER_BYTES 18
#define HOPCAP_OFFSET_RUN_TAG 0
#define HOPCAP_OFFSET_FLAGS 2
#define HOPCAP_OFFSET_STREAM 3
#define HOPCAP_OFFSET_SEQUENCE 4
#define HOPCAP_OFFSET_ORIGIN_HIGH16 8 /* bits 47…32 of origin_ns */
#define HOPCAP_OFFSET_ORIGIN_LOW32 10 /* bits 31…0 of origin_ns */
#define HOPCAP_OFFSET_LAST 14

/* The whole of a smallest untagged IPv4 test frame: Ethernet 14 + IPv4 20 + UDP 8 + header 18. A "64-byte frame" of the
 * standards counts 4 bytes of FCS as well; sizes in hopcap never do. */
#define HOPCAP_MIN_FRAME_BYTES 60
#define HOPCAP_MAX_FRAME_BYTES 9018 /* 9000 of MTU, Ethernet, one tag */

/* Default UDP destination port of test frames (discard). The run tag decides, the port only saves work. */
#define HOPCAP_UDP_PORT 9

#endif
