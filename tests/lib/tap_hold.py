# SPDX-License-Identifier: GPL-2.0-or-later
"""A station behind a tap, as a guest would be: `tap_hold.py NAME MAC PEER [vnet_hdr]`.

Holds the tap, says "ready", sends one frame to PEER so that the bridge learns MAC, and answers each frame for MAC with one that has the
addresses exchanged. Ends at the end of its standard input and says how many frames it got, and how many of them were not as they should
be ("got N wrong N"): bytes behind the addresses are 88b5 and a count of bytes.
"""

import fcntl
import os
import select
import struct
import sys

TUNSETIFF, IFF_TAP, IFF_NO_PI, IFF_VNET_HDR = 0x400454ca, 2, 0x1000, 0x4000
HEADER = 10


def main():
    name, mac, peer, with_header = sys.argv[1], bytes.fromhex(sys.argv[2]), bytes.fromhex(sys.argv[3]), len(sys.argv) > 4
    tap = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(tap, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TAP | IFF_NO_PI | (IFF_VNET_HDR if with_header else 0)))
    lead = bytes(HEADER) if with_header else b""
    print("ready", flush=True)
    got = wrong = 0
    body = b"\x88\xb5" + bytes(i & 255 for i in range(100))
    os.set_blocking(tap, False)
    announced = False
    while True:
        ready, _, _ = select.select([tap, sys.stdin], [], [], 0.2)
        if not announced:
            try:
                os.write(tap, lead + peer + mac + body)
                announced = True
            except OSError:
                pass  # it is not up yet
        if sys.stdin in ready and not sys.stdin.readline():
            break
        try:
            frame = os.read(tap, 65536)[len(lead):] if tap in ready else b""
        except OSError:
            continue
        if frame[:6] != mac:
            continue
        got += 1
        wrong += frame[12:12 + len(body)] != body
        os.write(tap, lead + frame[6:12] + frame[:6] + frame[12:])
    print(f"got {got} wrong {wrong}")


main()
