# SPDX-License-Identifier: GPL-2.0-or-later
"""Frames as bytes: `raw_frames.py send INTERFACE HEX COUNT` and `raw_frames.py hear INTERFACE HEX SECONDS`.

hear prints "ready", then how many frames came in that begin with these bytes, tags where they were, and ends with the first one that
does: exit status 0; 1 when none came.
"""

import socket
import struct
import sys
import time

SOL_PACKET, PACKET_AUXDATA, VLAN_VALID = 263, 8, 1 << 4


def send(interface, frame, count):
    link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    link.bind((interface, 0))
    for _ in range(count):
        link.send(frame)


def with_tag(data, ancillary):
    """The kernel takes a tag off before packet sockets see the frame, and tells it beside it."""
    for level, kind, value in ancillary:
        if level == SOL_PACKET and kind == PACKET_AUXDATA and len(value) >= 20:
            status, _, _, _, _, tci, protocol = struct.unpack_from("=IIIHHHH", value)
            if status & VLAN_VALID:
                return data[:12] + struct.pack(">HH", protocol or 0x8100, tci) + data[12:]
    return data


def hear(interface, begin, seconds):
    link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    link.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
    link.bind((interface, 3))
    link.setsockopt(SOL_PACKET, 1, struct.pack("iHH8s", socket.if_nametoindex(interface), 1, 0, b""))  # promiscuous
    print("ready", flush=True)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        link.settimeout(max(0.01, deadline - time.monotonic()))
        try:
            data, ancillary, _, address = link.recvmsg(2048, 256)
        except TimeoutError:
            break
        if address[2] != 4 and with_tag(data, ancillary).startswith(begin):  # 4: our own
            print("came")
            return 0
    print("none came")
    return 1


if __name__ == "__main__":
    if sys.argv[1] == "send":
        sys.exit(send(sys.argv[2], bytes.fromhex(sys.argv[3]), int(sys.argv[4])))
    sys.exit(hear(sys.argv[2], bytes.fromhex(sys.argv[3]), float(sys.argv[4])))
