#!/usr/bin/env python3
"""The other ends of the connect and transfer benchmarks, run on a host of the lab.

    peers.py answer PORT              an HTTP/1.0 server, on IPv4 and IPv6: the same two bytes to everyone
    peers.py dial PORT DELAY ADDRESS...    asyncio's happy eyeballs over these addresses; prints the answer
"""

import asyncio
import socket
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


def main():
    what, port, *rest = sys.argv[1:]
    asyncio.run(answer(int(port)) if what == "answer" else dial(int(port), float(rest[0]), rest[1:]))


if __name__ == "__main__":
    main()
