#!/usr/bin/env python3
"""Answers as hashicorp/mdns does: to the asker alone, by unicast from port 5353, with id 0 and without the question.

Usage: lone.py ADDRESS INSTANCE TYPE PORT. ADDRESS is this host's. Prints "ready"; ends with a signal, without goodbyes.
"""

import socket
import struct
import sys

import mdns

GROUP, TTL = "224.0.0.251", 20


def main():
    address, instance, kind, port = sys.argv[1:]
    service = {"instance": instance, "type": kind, "port": int(port), "host": "lone", "addresses": [address], "ttl": TTL}
    records = mdns.service_records(service)
    types = [{"name": "_services._dns-sd._udp.local", "type": "PTR", "target": kind + ".local", "ttl": TTL}]
    answers = {
        tuple(label.lower() for label in mdns.labels(name)): part
        for name, part in [(kind + ".local", records), (f"{instance}.{kind}.local", records[1:]),
                           ("lone.local", records[3:]), ("_services._dns-sd._udp.local", types)]
    }
    group = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    group.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    group.bind(("", mdns.PORT))
    member = socket.inet_aton(GROUP) + socket.inet_aton(address)
    group.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, member)
    print("ready", flush=True)
    while True:
        packet, source = group.recvfrom(9000)
        for name in mdns.questions(packet):
            part = answers.get(name, [])
            if part:
                body = b"".join(mdns.encode_record({**record, "flush": False}) for record in part)
                group.sendto(struct.pack("!HHHHHH", 0, 0x8400, 0, len(part), 0, 0) + body, source)


main()
