#!/usr/bin/env python3
"""Answers every probe (RFC 6762 section 8.1) for a service of a type with a conflicting record: deny.py _http._tcp

Prints READY. What asks without proposing a record is no probe, and is not answered."""

import select
import struct
import sys

import mdns


def main():
    kind = tuple(label.lower() for label in mdns.labels(sys.argv[1]) + [b"local"])
    responder = mdns.Responder([], "eth0", "46")
    print("READY", flush=True)
    while True:
        for udp in select.select([udp for udp, _ in responder.sockets], [], [])[0]:
            packet = udp.recv(9000)
            if len(packet) < 12 or not struct.unpack("!H", packet[8:10])[0]:
                continue
            for name in mdns.questions(packet):
                if name[1:] != kind:
                    continue
                name = [{"hex": label.hex()} for label in name]
                record = {"name": name, "type": "SRV", "port": 1, "target": "thief.local"}
                for answer in mdns.packets([record]):
                    responder.send(answer)


main()
