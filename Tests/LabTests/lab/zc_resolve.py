#!/usr/bin/env python3
"""Resolves a host's name with python-zeroconf: zc_resolve.py HOST.local [--seconds N]

Prints its addresses, one a line, sorted; nothing, and status 1, if there is none.
"""
import argparse
import sys

from zeroconf import AddressResolver, Zeroconf


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("host")
    parser.add_argument("--seconds", type=float, default=3)
    options = parser.parse_args()
    zeroconf = Zeroconf()
    resolver = AddressResolver(options.host.rstrip(".") + ".")
    resolver.request(zeroconf, options.seconds * 1000)
    addresses = sorted(resolver.parsed_scoped_addresses())
    for address in addresses:
        print(address, flush=True)
    zeroconf.close()
    sys.exit(0 if addresses else 1)


main()
