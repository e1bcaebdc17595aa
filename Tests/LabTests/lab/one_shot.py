#!/usr/bin/env python3
"""Answers one-shot questions for tony on a host, by unicast; multicast questions never. What is forged comes first.

Prints "ready". Each question is answered with wrong addresses from another ID, another source port, and a source that is no neighbour
(10.99.0.9, which must be an address of this host), and then rightly: 10.77.0.1. Ends with a signal.
"""

import socket
import struct

import mdns

GROUP, NAME, HOST = "224.0.0.251", "tony._witap._tcp.local", "mac.local"


def open_socket(address, port):
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.bind((address, port))
    return made


def answer(packet, address, change=0):
    number = struct.unpack("!H", packet[:2])[0] ^ change
    records = [
        {"name": NAME, "type": "SRV", "port": 9000, "target": HOST, "ttl": 10, "flush": False},
        {"name": NAME, "type": "TXT", "strings": ["path=/x"], "ttl": 10, "flush": False},
        {"name": HOST, "type": "A", "address": address, "ttl": 10, "flush": False},
    ]
    body = b"".join(mdns.encode_record(record) for record in records)
    return struct.pack("!HHHHHH", number, 0x8400, 1, len(records), 0, 0) + packet[12:] + body


def main():
    group = open_socket(GROUP, mdns.PORT)
    request = socket.inet_aton(GROUP) + socket.inet_aton("10.77.0.1")
    group.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, request)
    good, far, other = open_socket("10.77.0.1", mdns.PORT), open_socket("10.99.0.9", mdns.PORT), open_socket("10.77.0.1", 0)
    print("ready", flush=True)
    while True:
        packet, source = group.recvfrom(9000)
        if source[1] == mdns.PORT or packet[2] & 0x80 or "tony" not in str(packet):
            continue
        good.sendto(answer(packet, "10.77.0.66", 1), source)
        other.sendto(answer(packet, "10.77.0.67"), source)
        far.sendto(answer(packet, "10.77.0.68"), source)
        good.sendto(answer(packet, "10.77.0.1"), source)


main()
