#!/usr/bin/env python3
"""Sends more than anyone wants to keep or look at; prints what was sent, and "done".

crowd.py full COUNT TYPE [PER_HOST]  services with SRV, TXT and A, PER_HOST (60) on each made-up host
crowd.py bare COUNT TYPE             PTR records alone
crowd.py drip SECONDS TYPE           one PTR record a second, of a name that no one answers for
crowd.py types COUNT                 announces _cN._tcp, N below COUNT, each with a service
crowd.py typesptr SECONDS COUNT      PTR records of random types of these
crowd.py nsec SECONDS                NSEC records of one name, whose bitmap has 2048 types
"""

import argparse
import os
import random
import socket
import struct
import time

import mdns


def full(count, kind, per_host, address):
    for n in range(count):
        host = f"crowd-{n // per_host}"
        yield from mdns.service_records(
            {"instance": f"full-{n}", "type": kind, "host": host, "txt": ["a=b"], "addresses": [address], "ttl": 4500})


def bare(names, kind):
    return [{"name": kind + ".local", "type": "PTR", "target": f"{name}.{kind}.local", "ttl": 4500} for name in names]


def types(count):
    for n in range(count):
        kind = f"_c{n}._tcp"
        yield {"name": "_services._dns-sd._udp.local", "type": "PTR", "target": kind + ".local", "ttl": 4500}
        yield from mdns.service_records({"instance": "one", "type": kind, "host": f"crowd-{n}", "ttl": 4500})


def nsec(size=90):
    windows = b"".join(bytes([window, 32]) + b"\xff" * 32 for window in range(8))
    name = mdns.encode_name("nsec.local")
    data = name + windows
    for n in range(size):
        yield {"name": f"n{n % 8}.local", "type": "NSEC", "rdata": {"hex": data.hex()}, "ttl": 120}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["full", "bare", "drip", "types", "typesptr", "nsec"])
    parser.add_argument("arguments", nargs="*")
    parser.add_argument("--rate", type=float, default=300, help="packets a second")
    parser.add_argument("--times", type=int, default=1, help="announce so often")
    parser.add_argument("--prefix", default="", help="of the bare names")
    parser.add_argument("--apart", action="store_true", help="a packet for each service of full")
    parser.add_argument("--address", default="10.77.0.9", help="of the hosts of full")
    parser.add_argument("-6", "--ipv6", action="store_true")
    options = parser.parse_args()
    udp, group = mdns.open_socket("6" if options.ipv6 else "4", socket.if_nametoindex("eth0"))
    start, sent, size = time.monotonic(), 0, 0

    def send(packet):
        nonlocal sent, size
        udp.sendto(packet, group)
        sent, size = sent + 1, size + len(packet)
        wait = start + sent / options.rate - time.monotonic()
        if wait > 0.001:
            time.sleep(wait)

    given = options.arguments
    if options.what == "drip":
        for n in range(int(given[0])):
            for packet in mdns.packets(bare([f"drip-{os.getpid()}-{n}"], given[1])):
                udp.sendto(packet, group)
            print(n, flush=True)
            time.sleep(1)
    elif options.what in ("typesptr", "nsec"):
        if options.what == "nsec":
            packets = mdns.packets(list(nsec()))
        else:
            records = [
                bare([f"p{n}"], f"_c{random.randrange(int(given[1]))}._tcp")[0] for n in range(20000)]
            packets = mdns.packets(records)
        while time.monotonic() - start < float(given[0]):
            send(packets[sent % len(packets)])
    else:
        count = int(given[0])
        if options.what == "full":
            records = list(full(count, given[1], int(given[2]) if len(given) > 2 else 60, options.address))
        elif options.what == "bare":
            records = bare([f"bare-{options.prefix}{n}" for n in range(count)], given[1])
        else:
            records = list(types(count))
        # PTR, SRV, TXT and A.
        parts = [records[n:n + 4] for n in range(0, len(records), 4)] if options.apart else [records]
        packets = [packet for part in parts for packet in mdns.packets(part)]
        start = time.monotonic()
        for _ in range(options.times):
            for packet in packets:
                send(packet)
    seconds = time.monotonic() - start
    print(f"{sent} packets, {size} bytes in {seconds:.1f} s, {size / seconds / 1000:.0f} kB/s", flush=True)
    print("done", flush=True)


if __name__ == "__main__":
    main()
