#!/usr/bin/env python3
"""Connections that begin a handshake with one byte and say no more.

    newcomers.py HOST PORT COUNT [SOURCE ADDRESSES]    opens COUNT, in turn from so many addresses, from SOURCE on, if that is given; prints "ready",
                                                       and opens each that is ended anew, at once, until it is killed; by SIGTERM it prints how many
"""

import ipaddress
import select
import signal
import socket
import sys


def main(host, port, count, source=None, addresses=1):
    opened = 0

    def ended(*_):
        print(opened, flush=True)
        sys.exit(0)

    signal.signal(signal.SIGTERM, ended)

    def call(number):
        nonlocal opened
        own = (str(ipaddress.ip_address(source) + number % int(addresses)), 0) if source else None
        link = socket.create_connection((host, int(port)), 20, own)
        opened += 1
        try:
            link.sendall(b"\x16")
        except ConnectionError:
            pass
        return link

    links = {}
    for number in range(int(count)):
        link = call(number)
        links[link.fileno()] = (link, number)
    print("ready", flush=True)
    poll = select.epoll()
    for descriptor in links:
        poll.register(descriptor, select.EPOLLIN | select.EPOLLRDHUP)
    while True:
        for descriptor, _ in poll.poll():
            link, number = links.pop(descriptor)
            poll.unregister(descriptor)
            link.close()
            link = call(number)
            links[link.fileno()] = (link, number)
            poll.register(link.fileno(), select.EPOLLIN | select.EPOLLRDHUP)


main(*sys.argv[1:])
