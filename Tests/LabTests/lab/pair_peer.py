#!/usr/bin/env python3
"""Pairs as another program would, and as one in the middle does, with Python's ssl (PairingExchange says what goes over the wire).

    pair_peer.py call HOST PORT DIR WHAT       dials a waiting machine with the identity of tls_peer.py in DIR, and prints the code; WHAT: yes and no
                                               answer so, and print the other's answer; leave ends at the code, go before it; wrong reveals another number than it
                                               committed to, early sends it with its commitment, silent says nothing
    pair_peer.py middle PORT HOST PORT LEFT RIGHT WHAT
                                               prints "ready", ends the TLS of one caller, as LEFT, and of a waiting machine, as RIGHT; WHAT: relay
                                               passes on what they say, play pairs with each
"""

import hashlib
import os
import socket
import ssl
import subprocess
import sys
import threading

from tls_peer import context


def spki(*source, data=None):
    made = subprocess.run(["openssl", *source], input=data, check=True, capture_output=True).stdout
    der = subprocess.run(["openssl", "pkey", "-pubin", "-outform", "DER"], input=made, check=True, capture_output=True).stdout
    return hashlib.sha256(der).digest()


def own_key(directory):
    return spki("pkey", "-in", f"{directory}/key.pem", "-pubout")


def peer_key(link):
    return spki("x509", "-inform", "DER", "-noout", "-pubkey", data=link.getpeercert(True))


def commitment(key, number):
    return hashlib.sha256(b"discoverd pairing commitment 1\n" + key + number).digest()


def code(caller, answerer, calling, answering):
    digest = hashlib.sha256(b"discoverd pairing code 1\n" + caller + answerer + calling + answering).digest()
    text = f"{int.from_bytes(digest[:8], 'big') % 1000000:06}"
    return f"{text[:3]} {text[3:]}"


def take(link, count):
    data = b""
    while len(data) < count:
        part = link.recv(count - len(data))
        if not part:
            raise SystemExit(f"ended after {len(data)} of {count} bytes")
        data += part
    return data


def connect(host, port, directory):
    # $SOURCE: the address to dial from.
    plain = socket.create_connection((host, int(port)), 20, (os.environ.get("SOURCE", ""), 0))
    return context(ssl.PROTOCOL_TLS_CLIENT, directory).wrap_socket(plain)


def call(host, port, directory, what):
    with connect(host, port, directory) as link:
        own, peer, number = own_key(directory), peer_key(link), os.urandom(32)
        if what == "silent":
            print("silent", flush=True)
            link.settimeout(None)
            link.recv(1)
            return
        link.sendall(commitment(own, number) + (number if what == "early" else b""))
        theirs = take(link, 32)
        link.sendall(os.urandom(32) if what == "wrong" else number)
        if what == "go":
            print("gone", flush=True)
            return
        revealed = take(link, 32)
        assert commitment(peer, revealed) == theirs, "another number than it committed to"
        print(code(own, peer, number, revealed), flush=True)
        if what == "leave":
            return
        link.settimeout(None)
        link.sendall(what[:1].encode())
        print(take(link, 1).decode(), flush=True)


def relay(source, sink):
    try:
        while part := source.recv(4096):
            sink.sendall(part)
        sink.unwrap()
    except OSError:
        pass


def play(left, right, left_key, right_key):
    number = os.urandom(32)
    take(left, 32)
    left.sendall(commitment(left_key, number))
    take(left, 32)
    left.sendall(number)
    right.sendall(commitment(right_key, number))
    take(right, 32)
    right.sendall(number)
    take(right, 32)
    print("played", flush=True)
    for link in (left, right):
        print(link.recv(1).decode() or "nothing", flush=True)


def middle(port, host, target, left_folder, right_folder, what):
    with socket.create_server(("", int(port)), family=socket.AF_INET6, dualstack_ipv6=True) as server:
        print("ready", flush=True)
        plain, _ = server.accept()
        left = context(ssl.PROTOCOL_TLS_SERVER, left_folder).wrap_socket(plain, server_side=True)
        right = connect(host, target, right_folder)
        right.settimeout(None)
        if what == "play":
            play(left, right, own_key(left_folder), own_key(right_folder))
        else:
            threads = [threading.Thread(target=relay, args=pair) for pair in ((left, right), (right, left))]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()


if __name__ == "__main__":
    {"call": call, "middle": middle}[sys.argv[1]](*sys.argv[2:])
