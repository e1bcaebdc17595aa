#!/usr/bin/env python3
"""Asks for a type, over IPv4 and IPv6, so that no one who could answer hears it: unheard.py WAY MAC TYPE [RATE]. Prints "ready"; ends with a signal.

WAY is "mac": in frames to this MAC address alone; "unreadable": to all, beside a question that makes avahi-daemon throw the packet away.
"""

import socket
import struct
import sys
import time

import mdns


def checksum(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def frames(way, mac, message):
    for family, source, group in (
        (socket.AF_INET, "10.77.0.3", "224.0.0.251"),
        (socket.AF_INET6, "fe80::3:3", "ff02::fb"),
    ):
        ends = socket.inet_pton(family, source) + socket.inet_pton(family, group)
        length = 8 + len(message)
        udp = struct.pack("!HHHH", mdns.PORT, mdns.PORT, length, 0) + message
        udp = udp[:6] + struct.pack("!H", checksum(ends + struct.pack("!II", length, 17) + udp) or 0xFFFF) + message
        if family == socket.AF_INET:
            head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + length, 0, 0, 255, 17, 0) + ends
            head = head[:10] + struct.pack("!H", checksum(head)) + head[12:]
            kind, everyone = 0x0800, "01005e0000fb"
        else:
            head = struct.pack("!IHBB", 6 << 28, length, 17, 255) + ends
            kind, everyone = 0x86DD, "3333000000fb"
        target = bytes.fromhex(mac.replace(":", "") if way == "mac" else everyone)
        yield target + b"\x02\0\0\0\0\x33" + struct.pack("!H", kind) + head + udp


def main():
    way, mac, kind = sys.argv[1:4]
    rate = float(sys.argv[4]) if len(sys.argv) > 4 else 20
    questions = mdns.encode_name(kind + ".local") + struct.pack("!HH", 12, 1)
    count = 1
    if way == "unreadable":
        questions += b"\x02\xff\xfe\0" + struct.pack("!HH", 12, 1)
        count = 2
    packets = list(frames(way, mac, struct.pack("!HHHHHH", 0, 0, count, 0, 0, 0) + questions))
    link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    link.bind(("eth0", 0))
    is_first = True
    while True:
        for packet in packets:
            link.send(packet)
        if is_first:
            print("ready", flush=True)
        is_first = False
        time.sleep(1 / rate)


main()
