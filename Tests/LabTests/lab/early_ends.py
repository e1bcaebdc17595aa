#!/usr/bin/env python3
"""Connects to a server repeatedly and ends each connection early, in every way that TCP allows.

Each round is one connection: nothing, a part, or all of a request is sent, and then it is reset, closed, closed only for
sending, or left open until others (--hold) have come. The address is HOST:PORT, or the path of a Unix socket.
Prints "done" and how many connections there were.
"""

import argparse
import random
import socket
import struct
import sys

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("address")
parser.add_argument("--rounds", type=int, default=1000)
parser.add_argument("--request", action="append", default=[], help="a request in hexadecimal; several are taken in turn")
parser.add_argument("--hold", type=int, default=32, help="connections that are left open at a time, at most")
parser.add_argument("--seed", type=int, default=1)
options = parser.parse_args()

random.seed(options.seed)
requests = [bytes.fromhex(request) for request in options.request] or [b"hello\r\n\r\n"]
unix = options.address.startswith("/")
host, _, port = options.address.rpartition(":")


def connect():
    if unix:
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(20)
        connection.connect(options.address)
        return connection
    return socket.create_connection((host.strip("[]"), int(port)), timeout=20)


def end(connection, how):
    try:
        if how == "reset" and not unix:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        if how == "half":
            connection.shutdown(socket.SHUT_WR)
            connection.settimeout(0.05)
            connection.recv(65536)
    except OSError:
        pass
    connection.close()


held = []
made = 0
for number in range(options.rounds):
    request = requests[number % len(requests)]
    try:
        connection = connect()
    except OSError:
        # A full queue refuses the connection; try the next.
        continue
    made += 1
    try:
        connection.sendall(request[: random.choice([0, 1, len(request) // 2, len(request) - 1, len(request)])])
    except OSError:
        pass
    how = random.choice(["reset", "reset", "close", "half", "hold"])
    if how == "hold":
        held.append(connection)
        if len(held) > options.hold:
            end(held.pop(0), random.choice(["reset", "close"]))
    else:
        end(connection, how)
for connection in held:
    end(connection, "reset")
print("done", made)
sys.exit(0 if made > options.rounds // 2 else 1)
