#!/usr/bin/env python3
"""The other ends of benchmarks, run on a host of the lab.

    peers.py answer PORT              an HTTP/1.0 server, on IPv4 and IPv6: the same two bytes to everyone
    peers.py dial PORT DELAY ADDRESS...    asyncio's happy eyeballs over these addresses; prints the answer
    peers.py ask ADDRESS COUNT        so many questions for the list of types to that host's port 5353, each from a socket of
                                      its own; prints how many were answered
    peers.py direct ADDRESS TYPE SERVICE...   one question for the type, from port 5353 to that host's, with these services of it
                                      as known answers; ends with an answer, or after a second
"""

import asyncio
import socket
import struct
import sys

ANSWER = b"HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nok\n"


async def serve(reader, writer):
    # The end of the input, or of a request: what is closed with something unread would be reset.
    await asyncio.wait({asyncio.ensure_future(reader.read(4096))}, timeout=5)
    writer.write(ANSWER)
    await writer.drain()
    writer.close()


async def answer(port):
    server = await asyncio.start_server(serve, ["0.0.0.0", "::"], port)
    print("ready", flush=True)
    await server.serve_forever()


async def dial(port, delay, addresses):
    """asyncio asks for the addresses of one name: it is given them, as curl is with --resolve."""
    loop = asyncio.get_running_loop()

    async def given(*_, **__):
        return [(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "",
                 (address, port, 0, 0) if ":" in address else (address, port)) for address in addresses]

    loop.getaddrinfo = given
    reader, writer = await asyncio.open_connection("bench", port, happy_eyeballs_delay=delay)
    writer.write_eof()
    print((await reader.read()).decode(), end="", flush=True)
    writer.close()


def ask(address, count):
    question = bytes(3) + b"\1" + bytes(6) + b"\x09_services\x07_dns-sd\x04_udp\x05local\0" + b"\0\x0c\0\1"
    answered = 0
    for number in range(count):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
            asking.settimeout(2)
            asking.sendto(number.to_bytes(2, "big") + question, (address, 5353))
            try:
                answered += asking.recv(9000)[:2] == number.to_bytes(2, "big")
            except TimeoutError:
                pass
    print(answered)


def direct(address, kind, *known):
    labels = [label.encode() for label in f"{kind}.local".split(".")]
    packet = struct.pack("!6H", 0, 0, 1, len(known), 0, 0)
    packet += b"".join(bytes([len(label)]) + label for label in labels) + struct.pack("!BHH", 0, 12, 1)
    for name in known:
        there = b"\xc0\x0c"  # the question's name
        body = bytes([len(name)]) + name.encode() + there
        packet += there + struct.pack("!HHIH", 12, 1, 4500, len(body)) + body
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        asking.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        asking.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, 255)
        asking.bind(("", 5353))
        asking.settimeout(1)
        asking.sendto(packet, (address, 5353))
        try:
            asking.recv(9000)
        except TimeoutError:
            pass


def main():
    what, port, *rest = sys.argv[1:]
    if what == "ask":
        return ask(port, int(rest[0]))
    if what == "direct":
        return direct(port, *rest)
    asyncio.run(answer(int(port)) if what == "answer" else dial(int(port), float(rest[0]), rest[1:]))


if __name__ == "__main__":
    main()
