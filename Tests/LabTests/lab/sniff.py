#!/usr/bin/env python3
"""Listens to what passes a link, and says which texts were in it.

    sniff.py LINK TEXT...     prints "ready"; at SIGTERM the number of packets, then each TEXT that was seen in one direction's bytes
"""

import signal
import socket
import sys

ALL = 3  # ETH_P_ALL, <linux/if_ether.h>
AUXILIARY = 40


class Stop(Exception):
    pass


def stop(*_):
    raise Stop


def main(link, *texts):
    wanted = [text.encode() for text in texts]
    seen, packets, tails = set(), 0, {}
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ALL)) as sniffer:
        sniffer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 << 20)
        sniffer.bind((link, 0))
        signal.signal(signal.SIGTERM, stop)
        print("ready", flush=True)
        try:
            while True:
                packet, address = sniffer.recvfrom(1 << 17)
                packets += 1
                # A text may begin in one packet and end in the next: of TCP (IPv4, IPv6) what follows the longest header.
                before = tails.get(address[2], b"")
                for text in wanted:
                    if text in packet or any(text in before + packet[start:] for start in (54, 66, 74, 86)):
                        seen.add(text)
                tails[address[2]] = packet[-AUXILIARY:]
        except Stop:
            pass
    print(packets)
    for text in texts:
        if text.encode() in seen:
            print(text)


main(*sys.argv[1:])
