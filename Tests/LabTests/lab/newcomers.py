#!/usr/bin/env python3
"""Connections that begin a handshake with one byte and say no more.

    newcomers.py HOST PORT COUNT [SOURCE]      opens COUNT, each from the address after the one before, from SOURCE on, if that is given; prints
                                               "ready", and opens each that is ended anew, 20 a second, until it is killed
"""

import ipaddress
import select
import socket
import sys
import time


def main(host, port, count, source=None):
    def call(number):
        own = (str(ipaddress.ip_address(source) + number), 0) if source else None
        link = socket.create_connection((host, int(port)), 20, own)
        link.sendall(b"\x16")
        return link

    links = {}
    for number in range(int(count)):
        link = call(number)
        links[link.fileno()] = (link, number)
    print("ready", flush=True)
    while True:
        for ended in select.select(list(links), [], [])[0]:
            link, number = links.pop(ended)
            link.close()
            link = call(number)
            links[link.fileno()] = (link, number)
            time.sleep(0.05)


main(*sys.argv[1:])
