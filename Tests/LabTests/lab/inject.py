#!/usr/bin/env python3
"""Puts handmade mDNS responses on the wire, announces them repeatedly, and answers questions for them.

Input (argument or standard input) is JSON: {"services": [...], "records": [...], "raw": [...]}, each part optional.
  service: {"instance": LABEL, "type": "_witap._tcp", "port": 9000, "host": LABEL, "addresses": ["10.77.0.3"],
            "txt": [BYTES, ...] or "txt_rdata": BYTES, "subtypes": [LABEL], "ttl": 120}
  record:  {"name": NAME, "type": "PTR", "target": NAME, "ttl": 120, "flush": false}; SRV has port and target, TXT has
           strings, A and AAAA have address; any type, also as a number, may have "rdata": BYTES instead
  raw:     a whole packet as BYTES
BYTES and LABEL are text, {"b64": "..."} or {"hex": "..."}; a NAME is a list of labels, or text split at its dots.

Prints "ready" when all was sent once. SIGTERM and SIGINT withdraw it (TTL 0), and end this with 0.
"""

import argparse
import json
import signal
import sys
import time

import mdns


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("json", nargs="?", help="the input; standard input if it is missing")
    parser.add_argument("--interface", default="eth0")
    parser.add_argument("-4", "--ipv4", action="store_true", help="IPv4 only")
    parser.add_argument("-6", "--ipv6", action="store_true", help="IPv6 only")
    parser.add_argument("--interval", type=float, default=1.0, help="seconds between announcements")
    parser.add_argument("--rate", type=float, default=2000, help="packets a second at most")
    parser.add_argument("--seconds", type=float, help="end after this time")
    parser.add_argument("--no-goodbye", action="store_true", help="end without withdrawing")
    options = parser.parse_args()

    given = json.loads(options.json if options.json is not None else sys.stdin.read())
    records = list(given.get("records", []))
    for service in given.get("services", []):
        records += mdns.service_records(service)
    families = "4" if options.ipv4 else "6" if options.ipv6 else "46"
    responder = mdns.Responder(
        records, options.interface, families, options.interval, options.rate, map(mdns.raw, given.get("raw", [])))

    def stop(*_):
        responder.stopped = True

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    deadline = time.monotonic() + options.seconds if options.seconds else None
    responder.run(lambda: print("ready", flush=True), deadline)
    if not options.no_goodbye:
        responder.raw_packets = []
        responder.announce(ttl=0)


if __name__ == "__main__":
    main()
