#!/usr/bin/env python3
"""Captures what an interface sees: capture.py INTERFACE FILE

Prints "ready"; when its input ends, writes the packets, one after the other, and prints how many there were:
{"tcp": 12, "udp": 3, "mdns": 40}. Datagrams to or from port 5353 are mdns, not udp.
"""
import json
import select
import socket
import struct
import sys

ETH_P_ALL = 3


def kind(frame):
    protocol, rest = struct.unpack("!H", frame[12:14])[0], frame[14:]
    if protocol == 0x0800:
        number, payload = rest[9], rest[(rest[0] & 15) * 4:]
    elif protocol == 0x86DD:
        number, payload = rest[6], rest[40:]
    else:
        return None
    if number == 6:
        return "tcp"
    if number == 17:
        return "mdns" if 5353 in struct.unpack("!HH", payload[:4]) else "udp"
    return None


def main(interface, path):
    seen = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    seen.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 << 20)
    seen.bind((interface, 0))
    print("ready", flush=True)
    counts = {"tcp": 0, "udp": 0, "mdns": 0}
    with open(path, "wb") as out:
        is_over = False
        while True:
            readable, _, _ = select.select([seen] if is_over else [seen, sys.stdin], [], [], 0 if is_over else None)
            if seen in readable:
                frame = seen.recv(1 << 18)
                out.write(frame)
                found = kind(frame)
                if found:
                    counts[found] += 1
            elif is_over:
                break
            if sys.stdin in readable:
                is_over = not sys.stdin.buffer.read1()
    print(json.dumps(counts), flush=True)


main(*sys.argv[1:])
