#!/usr/bin/env python3
"""Sends malformed mDNS packets: fuzz.py SECONDS [TYPE]. Good responses with bits, bytes and lengths changed, and packets made to be
wrong: loops of pointers, lengths past the end, counts that lie, odd opcodes, truncation. Prints the number sent, and the seed.
"""

import random
import struct
import sys
import time

import mdns


def header(flags=0x8400, counts=(0, 1, 0, 0)):
    return struct.pack("!HHHHHH", 0, flags, *counts)


def made():
    """Packets that are wrong by construction."""
    yield header() + b"\xc0\x0c" + b"\0\x0c\0\x01\0\0\0\x78\0\x02\xc0\x0c"
    yield header() + b"\x01a\xc0\x0c\0\x21\x80\x01\0\0\0\x78\0\x08\0\0\0\0\x23\x28\xc0\x0c"
    yield header() + b"\x01a\0\0\x10\x80\x01\0\0\0\x78\xff\xff\x01"
    yield header(counts=(65535, 65535, 65535, 65535))
    yield header(counts=(0, 65535, 0, 0)) + b"\x01a\0\0\x01\x80\x01\0\0\0\x78\0\x04\x0a\0\0\x01"
    yield header(flags=0xF80F) + b"\x01a\0\0\x01\x80\x01\0\0\0\x78\0\x04\x0a\0\0\x01"
    yield header(flags=0x8600) + b"\x3f" + b"a" * 20
    yield header() + b"\x01a\0\0\x01\x80\x01\0\0\0\x78\0\x05\x0a\0\0\x01\x01"
    yield header() + b"\x01a\0\0\x2f\x80\x01\0\0\0\x78\0\x06\x01a\0\0\xff\x00"
    yield header() + b"\x40" + b"a" * 64 + b"\0\0\x01\x80\x01\0\0\0\x78\0\x04\x0a\0\0\x01"
    yield header()
    yield b"\0" * 12
    yield b"\0" * 5
    yield header(flags=0, counts=(1, 0, 0, 0)) + b"\xc0\x0c\0\x0c\0\x01"
    yield header() + b"\x01a\0\0\x10\x80\x01\0\0\0\x78\x22\x00" + b"\xff" + b"x" * 8500


def changed(packet):
    packet = bytearray(packet)
    for _ in range(random.choice((1, 1, 2, 5, 20))):
        at = random.randrange(len(packet))
        kind = random.randrange(5)
        if kind == 0:
            packet[at] ^= 1 << random.randrange(8)
        elif kind == 1:
            packet[at] = random.choice((0, 0xC0, 0xFF, 0x3F, 0x40, 0x80))
        elif kind == 2:
            del packet[at:at + random.randrange(1, 9)]
        elif kind == 3:
            packet[at:at] = random.randbytes(random.randrange(1, 9))
        else:
            packet = packet[:at]
        if not packet:
            return b"\0"
    return bytes(packet[:8900])


def main():
    seconds = float(sys.argv[1])
    kind = sys.argv[2] if len(sys.argv) > 2 else "_fault._tcp"
    seed = random.randrange(1 << 32)
    random.seed(seed)
    seeds = []
    for n in range(40):
        service = {"instance": f"fuzz-{n}", "type": kind, "host": f"fuzz-{n}", "txt": ["a=b", "c"] * (n % 5),
                   "addresses": ["10.77.0.3", "fe80::3"][:1 + n % 2], "subtypes": ["_x"] if n % 3 == 0 else []}
        seeds += mdns.packets(mdns.service_records(service))
    wrong = list(made())
    ends = [mdns.open_socket(family, mdns.socket.if_nametoindex("eth0")) for family in "46"]
    sent, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        packet = random.choice(wrong) if random.random() < 0.1 else changed(random.choice(seeds))
        for udp, group in ends:
            try:
                udp.sendto(packet, group)
            except OSError:
                pass
        sent += 1
        time.sleep(0.002)
    print(f"{sent} packets, seed {seed}", flush=True)


if __name__ == "__main__":
    main()
