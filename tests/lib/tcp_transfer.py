# SPDX-License-Identifier: GPL-2.0-or-later
"""TCP that is checked end to end: `tcp_transfer.py serve PORT STREAMS` and `tcp_transfer.py send ADDRESS PORT STREAMS BYTES`.

Each stream sends numbered blocks; the server says for each connection how many bytes came and their SHA-256, the client the same of
what it sent, and how many segments it sent again. serve prints "ready" first.
"""

import hashlib
import socket
import struct
import sys
import threading

BLOCK = 65536
TIMEOUT_S = 120


def read_all(connection, lines, index):
    digest, count = hashlib.sha256(), 0
    try:
        while True:
            data = connection.recv(BLOCK)
            if not data:
                break
            digest.update(data)
            count += len(data)
        lines[index] = f"{count} {digest.hexdigest()}"
    except OSError as error:
        lines[index] = f"failed after {count} bytes: {error}"
    connection.close()


def serve(port, streams):
    listener = socket.create_server(("", port), backlog=streams)
    listener.settimeout(TIMEOUT_S)
    print("ready", flush=True)
    lines, threads = [None] * streams, []
    for index in range(streams):
        connection, _ = listener.accept()
        connection.settimeout(TIMEOUT_S)
        threads.append(threading.Thread(target=read_all, args=(connection, lines, index)))
        threads[-1].start()
    for thread in threads:
        thread.join()
    print("\n".join(sorted(lines)))


def send_all(address, port, count, stream, lines, retransmits):
    digest = hashlib.sha256()
    try:
        connection = socket.create_connection((address, port), TIMEOUT_S)
        connection.settimeout(TIMEOUT_S)
        pattern = bytes((i * 7 + stream) & 255 for i in range(BLOCK - 8))
        for number in range(count // BLOCK):
            block = struct.pack(">II", stream, number) + pattern
            connection.sendall(block)
            digest.update(block)
        connection.shutdown(socket.SHUT_WR)
        connection.recv(1)  # until the other side has read all
        info = connection.getsockopt(socket.IPPROTO_TCP, 11, 104)  # TCP_INFO
        retransmits[stream] = struct.unpack_from("=I", info, 100)[0]  # tcpi_total_retrans
        connection.close()
        lines[stream] = f"{count // BLOCK * BLOCK} {digest.hexdigest()}"
    except OSError as error:
        lines[stream] = f"failed: {error}"


def send(address, port, streams, count):
    lines, retransmits = [None] * streams, [0] * streams
    threads = [threading.Thread(target=send_all, args=(address, port, count, stream, lines, retransmits))
               for stream in range(streams)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print("\n".join(sorted(lines)))
    print(f"retransmitted {sum(retransmits)}", file=sys.stderr)


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(int(sys.argv[2]), int(sys.argv[3]))
    else:
        send(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5]))
