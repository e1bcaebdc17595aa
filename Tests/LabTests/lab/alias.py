#!/usr/bin/env python3
"""Sends packets with a CNAME record whose target expires a moment later. Each announces one service under a name of its own.

avahi-daemon 0.8 aborts when that happens while somebody looks the record up: browse.c:298, lookup_multicast_callback. The alias stands
at the service's host ("host"), at the service itself ("service"), or there beside records of its own ("beside"), or at the type
("type"), which every browser of the type looks up for as long as it runs.
Prints a line with the service's name after each packet.
"""

import argparse
import sys
import time

import mdns


def record(name, kind, ttl=120, **more):
    return {"name": name, "type": kind, "ttl": ttl, **more}


def packet(options, number):
    service = [f"{options.prefix}-{number}", *mdns.labels(options.type), "local"]
    service = [label if isinstance(label, str) else label.decode() for label in service]
    kind, host, alias = service[1:], [f"host-{service[0]}", "local"], [f"alias-{service[0]}", "local"]
    other = [f"other-{service[0]}", *kind]
    records = [record(kind, "PTR", target=service, ttl=4500)]

    def text_and_place(name, ttl):
        return [record(name, "SRV", ttl, port=9, target=host), record(name, "TXT", ttl, strings=[])]

    if options.at == "type":
        other_kind = [f"_other-{number}", "_tcp", "local"]
        records += text_and_place(service, 120) + [record(host, "A", address="10.77.0.9")]
        records += [record(kind, "CNAME", target=other_kind)]
        records += [record(other_kind, "PTR", options.ttl, target=[f"other-{service[0]}", *other_kind])]
    elif options.at == "host":
        records += text_and_place(service, 120)
        records += [record(host, "CNAME", target=alias), record(alias, "A", options.ttl, address="10.77.0.9")]
    else:
        if options.at == "beside":
            records += text_and_place(service, 120)
        records += [record(service, "CNAME", target=other)] + text_and_place(other, options.ttl)
        records += [record(host, "A", address="10.77.0.9")]
    return service[0], mdns.packets(records)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("type")
    parser.add_argument("prefix", help="names are PREFIX-0, PREFIX-1, ...")
    parser.add_argument("--at", choices=["host", "service", "beside", "type"], default="host")
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--ttl", type=int, default=1)
    parser.add_argument("--pause", type=float, default=0.3, help="seconds between packets")
    parser.add_argument("--ask", action="store_true", help="each packet waits for a line on standard input")
    options = parser.parse_args()
    responder = mdns.Responder([], families="4")
    for number in range(options.count):
        if options.ask and not sys.stdin.readline():
            return
        name, packets = packet(options, number)
        for one in packets:
            responder.send(one)
        print(name, flush=True)
        if not options.ask:
            time.sleep(options.pause)


if __name__ == "__main__":
    main()
