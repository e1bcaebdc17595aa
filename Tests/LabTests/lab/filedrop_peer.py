#!/usr/bin/env python3
"""Speaks filedrop's framed mode (Message.swift) with Python's ssl, and breaks off; the identity is tls_peer.py's in DIR.

    filedrop_peer.py call HOST PORT DIR         sends a file of 300000 bytes for every POINT and HOW, named POINT-HOW, and breaks off there
    filedrop_peer.py answer PORT DIR receive|offer POINT HOW
                                                prints "ready", then breaks off there in one transfer after the other: as a receiver, or
                                                as one that offers a file named POINT-HOW
    filedrop_peer.py points receive|offer       the points
    filedrop_peer.py hold HOST PORT DIR COUNT   makes so many connections, prints "held", and says nothing until its input ends

POINT is what was said last. HOW: close says so in TLS, end ends TCP without a word, reset resets it.
"""

import hashlib
import os
import socket
import ssl
import struct
import sys

from tls_peer import context

CONTENT = bytes(range(256)) * 1172
HOWS = ["close", "end", "reset"]


def message(kind, body=b""):
    return kind + struct.pack(">I", len(body)) + body


def offering(name):
    """What a sender says: the point's name, its bytes, and whether an answer comes before it."""
    entry = struct.pack(">BBqq", 0, 0, len(CONTENT), 0) + b"o" * 16 + name.encode()
    digest = message(b"S", hashlib.sha256(CONTENT).digest())
    half = len(CONTENT) // 2
    return [
        ("handshake", b""),
        ("greeting", b"filedrop/3\n"),
        ("acquainted", message(b"K", b"\1")),
        ("total", message(b"T", struct.pack(">qq", 1, len(CONTENT)))),
        ("entry", message(b"E", entry)),
        ("header", b"D" + struct.pack(">I", half)),
        ("half", CONTENT[:half]),
        ("data", message(b"D", CONTENT[half:])),
        ("almost", digest[:-1]),
    ]


class Peer:
    def __init__(self, link):
        self.link = link

    def take(self, count):
        data = b""
        while len(data) < count:
            part = self.link.recv(count - len(data))
            if not part:
                raise EOFError
            data += part
        return data

    def message(self):
        header = self.take(5)
        return header[:1], self.take(struct.unpack(">I", header[1:])[0])

    def until(self, kind):
        while True:
            got, body = self.message()
            if got == kind:
                return body

    def breaks_off(self, how):
        if how == "close":
            try:
                self.link.unwrap()
            except (OSError, ssl.SSLError):
                pass
        # Not while something is unread, which would reset it.
        plain = socket.socket(fileno=self.link.detach())
        if how == "reset":
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        elif how == "end":
            plain.shutdown(socket.SHUT_WR)
            plain.settimeout(5)
            try:
                while plain.recv(65536):
                    pass
            except OSError:
                pass
        plain.close()


def send(link, point, how):
    peer = Peer(link)
    for name, words in offering(f"{point}-{how}"):
        link.sendall(words)
        if name == "entry":
            peer.take(len(b"filedrop/3\n"))
            peer.until(b"H")
        if name == point:
            return peer.breaks_off(how)


def take(link, point, how):
    """As a receiver."""
    peer = Peer(link)

    def said(name, words=b""):
        link.sendall(words)
        if name == point:
            peer.breaks_off(how)
        return name == point

    if said("handshake") or said("greeting", b"filedrop/3\n") or said("acquainted", message(b"K", b"\1")):
        return
    peer.take(len(b"filedrop/3\n"))
    peer.until(b"E")
    if said("entry") or said("have", message(b"H", bytes(8))):
        return
    peer.until(b"D")
    if said("half"):
        return
    peer.until(b"S")
    if said("digest") or said("complete", message(b"C")):
        return


RECEIVING = ["handshake", "greeting", "acquainted", "entry", "have", "half", "digest", "complete"]


def call(host, port, directory):
    for point, _ in offering(""):
        for how in HOWS:
            with socket.create_connection((host, int(port)), 20) as plain:
                link = context(ssl.PROTOCOL_TLS_CLIENT, directory).wrap_socket(plain)
                send(link, point, how)
    print("done", flush=True)


def answer(port, directory, role, point, how):
    settings = context(ssl.PROTOCOL_TLS_SERVER, directory)
    with socket.create_server(("", int(port)), family=socket.AF_INET6, dualstack_ipv6=True) as server:
        print("ready", flush=True)
        while True:
            plain, _ = server.accept()
            try:
                link = settings.wrap_socket(plain, server_side=True)
                (take if role == "receive" else send)(link, point, how)
            except (OSError, EOFError) as error:
                print(f"ended early: {error!r}", flush=True)


def points(role):
    print("\n".join(RECEIVING if role == "receive" else [name for name, _ in offering("")]))


def hold(host, port, directory, count):
    settings = context(ssl.PROTOCOL_TLS_CLIENT, directory)
    held = [settings.wrap_socket(socket.create_connection((host, int(port)), 20)) for _ in range(int(count))]
    print("held", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    {"call": call, "answer": answer, "points": points, "hold": hold}[sys.argv[1]](*sys.argv[2:])
