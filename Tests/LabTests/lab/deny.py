#!/usr/bin/env python3
"""Answers probes (RFC 6762 section 8.1) with a conflicting record: deny.py _http._tcp, for the services of a type; deny.py h1.local 1, for a host's
name, once; deny.py h1*.local, for all of a host's names.

Prints READY. What asks without proposing a record is no probe, and is not answered."""

import fnmatch
import select
import struct
import sys

import mdns


def main():
    is_host = not sys.argv[1].startswith("_")
    kind = tuple(label.lower() for label in mdns.labels(sys.argv[1]) + ([] if is_host else [b"local"]))
    left = int(sys.argv[2]) if len(sys.argv) > 2 else -1
    responder = mdns.Responder([], "eth0", "46")
    print("READY", flush=True)
    while True:
        for udp in select.select([udp for udp, _ in responder.sockets], [], [])[0]:
            packet = udp.recv(9000)
            if len(packet) < 12 or not struct.unpack("!H", packet[8:10])[0]:
                continue
            for name in mdns.questions(packet):
                denied = fnmatch.fnmatch(b".".join(name), b".".join(kind)) if is_host else name[1:] == kind
                if not denied or left == 0:
                    continue
                left -= 1
                name = [{"hex": label.hex()} for label in name]
                record = {"name": name, "type": "SRV", "port": 1, "target": "thief.local"}
                if is_host:
                    record = {"name": name, "type": "A", "address": "10.77.0.99"}
                for answer in mdns.packets([record]):
                    responder.send(answer)


main()
