#!/usr/bin/env python3
"""Says records in frames of its own, again and again: forge.py [--to MAC] [--from ADDRESS]... [--rate N] JSON

JSON is a list of records as inject.py has them. --to: in frames to this MAC address alone, though to the group. --from: with these source addresses.
Prints "ready"; ends with a signal.
"""

import argparse
import json

import mdns


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("json")
    parser.add_argument("--to")
    parser.add_argument("--from", dest="sources", action="append")
    parser.add_argument("--rate", type=float, default=50)
    options = parser.parse_args()
    sources = options.sources or ["10.77.0.3", "fe80::3:3"]
    frames = [
        frame for packet in mdns.packets(json.loads(options.json))
        for frame in mdns.frames(packet, options.to, sources)
    ]
    mdns.repeat(frames, options.rate)


main()
