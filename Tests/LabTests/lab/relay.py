#!/usr/bin/env python3
"""Carries every Ethernet frame between two links, each after a delay of its own, so that frames overtake one another.

relay.py LINK LINK --delay MILLISECONDS: each frame waits between 0 and that long. Prints "ready". Ends with a signal.
"""

import argparse
import heapq
import itertools
import random
import select
import socket
import time

ALL = 0x0003
OUTGOING = 4


def complete(frame):
    """The frame with its UDP checksum, which the sender left to a network card that does not exist."""
    frame = bytearray(frame)
    kind = frame[12:14]
    if kind == b"\x08\x00" and frame[23] == 17:
        udp = 14 + (frame[14] & 15) * 4
        frame[udp + 6:udp + 8] = b"\0\0"  # IPv4 does without
    elif kind == b"\x86\xdd" and frame[20] == 17:
        udp = 54
        frame[udp + 6:udp + 8] = b"\0\0"
        end = udp + int.from_bytes(frame[udp + 4:udp + 6], "big")
        data = frame[22:54] + frame[udp + 4:udp + 6] + b"\0\x11" + frame[udp:end]
        total = sum(int.from_bytes(data[i:i + 2].ljust(2, b"\0"), "big") for i in range(0, len(data), 2))
        while total >> 16:
            total = (total & 0xFFFF) + (total >> 16)
        frame[udp + 6:udp + 8] = ((~total & 0xFFFF) or 0xFFFF).to_bytes(2, "big")
    return bytes(frame)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("links", nargs=2)
    parser.add_argument("--delay", type=float, default=500)
    options = parser.parse_args()
    ends = []
    for link in options.links:
        end = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ALL))
        end.bind((link, 0))
        ends.append(end)
    waiting, numbers = [], itertools.count()
    print("ready", flush=True)
    while True:
        limit = max(0, waiting[0][0] - time.monotonic()) if waiting else None
        readable, _, _ = select.select(ends, [], [], limit)
        for end in readable:
            frame, address = end.recvfrom(65535)
            # This program's own frames arrive too. The queue must not grow without limit.
            if address[2] == OUTGOING or len(waiting) > 20000:
                continue
            due = time.monotonic() + random.uniform(0, options.delay / 1000)
            heapq.heappush(waiting, (due, next(numbers), ends[1 - ends.index(end)], complete(frame)))
        while waiting and waiting[0][0] <= time.monotonic():
            _, _, end, frame = heapq.heappop(waiting)
            try:
                end.send(frame)
            except OSError:  # the link is down
                pass


if __name__ == "__main__":
    main()
