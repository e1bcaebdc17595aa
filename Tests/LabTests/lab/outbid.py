#!/usr/bin/env python3
"""Puts off whoever probes for a host's name (RFC 6762 section 8.2): outbid.py LINK h1.local. Each probe is met with one that wins.

Prints READY, then "probe" for each."""

import select
import struct
import sys

import mdns


def main():
    link, name = sys.argv[1:3]
    responder = mdns.Responder([], link, "46")
    record = mdns.encode_record({"name": name, "type": "A", "address": "250.0.0.1", "flush": False, "ttl": 120})
    mine = struct.pack("!6H", 0, 0, 1, 0, 1, 0) + mdns.encode_name(name) + struct.pack("!HH", mdns.TYPES["ANY"], 1) + record
    print("READY", flush=True)
    while True:
        for udp in select.select([udp for udp, _ in responder.sockets], [], [])[0]:
            packet = udp.recv(9000)
            if len(packet) < 12 or packet == mine or not struct.unpack("!H", packet[8:10])[0]:
                continue
            if any(b".".join(asked).lower() == name.encode() for asked in mdns.questions(packet)):
                print("probe", flush=True)
                responder.send(mine)


main()
