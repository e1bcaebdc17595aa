#!/usr/bin/env python3
"""Asks for a type, over IPv4 and IPv6, so that no one who could answer hears it: unheard.py WAY MAC TYPE [RATE]. Prints "ready"; ends with a signal.

WAY is "mac": in frames to this MAC address alone; "unreadable": to all, beside a question that makes avahi-daemon throw the packet away.
"""

import struct
import sys

import mdns


def main():
    way, mac, kind = sys.argv[1:4]
    rate = float(sys.argv[4]) if len(sys.argv) > 4 else 20
    questions = mdns.encode_name(kind + ".local") + struct.pack("!HH", 12, 1)
    count = 1
    if way == "unreadable":
        questions += b"\x02\xff\xfe\0" + struct.pack("!HH", 12, 1)
        count = 2
    target = mac if way == "mac" else None
    mdns.repeat(list(mdns.frames(struct.pack("!HHHHHH", 0, 0, count, 0, 0, 0) + questions, target)), rate)


main()
