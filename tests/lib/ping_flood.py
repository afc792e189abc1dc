# SPDX-License-Identifier: GPL-2.0-or-later
"""A checked flood ping: `ping_flood.py ADDRESS COUNT [BYTES]`.

Sends COUNT echo requests, up to 32 unanswered at a time, and looks at every byte of every answer. Prints "sent N received N wrong N
doubled N"; exit status 0 when each was answered once and rightly.
"""

import os
import socket
import struct
import sys
import time

WINDOW = 32
PATIENCE_S = 2


def checksum(data):
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def request(kind, number, payload):
    head = struct.pack(">BBHHH", kind, 0, 0, number >> 16, number & 0xffff)
    return struct.pack(">BBHHH", kind, 0, checksum(head + payload), number >> 16, number & 0xffff) + payload


def main():
    address, count, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 56
    pattern, tag = bytes(i & 255 for i in range(size - 8)), os.urandom(8)
    link = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
    link.connect((address, 0))
    link.settimeout(PATIENCE_S)
    answered, sent, wrong, doubled = set(), 0, 0, 0
    deadline = time.monotonic() + 120
    while len(answered) < count and time.monotonic() < deadline:
        while sent < count and sent - len(answered) < WINDOW:
            link.send(request(8, sent, tag + pattern))
            sent += 1
        try:
            packet = link.recv(65536)
        except TimeoutError:
            break
        answer = packet[(packet[0] & 15) * 4:]
        number = struct.unpack(">HH", answer[4:8])
        number = number[0] << 16 | number[1]
        if answer[0] != 0 or answer[8:16] != tag:
            continue
        wrong += answer != request(0, number, tag + pattern)
        doubled += number in answered
        answered.add(number)
    print(f"sent {sent} received {len(answered)} wrong {wrong} doubled {doubled}")
    return 0 if len(answered) == count and not wrong and not doubled else 1


if __name__ == "__main__":
    sys.exit(main())
