"""Hostile clients of a Unix socket or HOST:PORT, and how long others wait:
hostile_clients.py SOCKET slow|watch|noise|greedy|hasty|keep|status ...

slow N SECONDS     N clients that send a byte of a request each second
watch TARGET       one that asks for a stream and never reads
noise SECONDS SEED random bytes, one connection after the other
greedy N           N clients that ask and ask, never read, and come again when they are cut off, which they tell
hasty              connects and closes, again and again
keep N TARGET      N requests on one connection, a hundred at a time, and reads the answers; then waits until its input ends
status N           N requests for /v1/status, each on a connection of its own; prints each one's milliseconds
"""
import random
import select
import socket
import sys
import time


def connect(path):
    if path.startswith("/"):
        client = socket.socket(socket.AF_UNIX)
        client.settimeout(20)
        client.connect(path)
        return client
    host, port = path.rsplit(":", 1)
    return socket.create_connection((host, int(port)), 20)


def request(target):
    return f"GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode()


def slow(path, count, seconds):
    text = request("/v1/status") * 10
    clients = {}
    print("ready", flush=True)
    for step in range(int(seconds)):
        for number in range(int(count)):
            try:
                if number not in clients:
                    clients[number] = [connect(path), 0]
                client, position = clients[number]
                client.send(text[position:position + 1])
                clients[number][1] += 1
            except OSError:
                clients.pop(number, None)
        time.sleep(1)


def watch(path, target):
    client = connect(path)
    client.send(request(target))
    print("ready", flush=True)
    sys.stdin.read()


def noise(path, seconds, seed):
    source = random.Random(int(seed))
    end, count = time.monotonic() + float(seconds), 0
    while time.monotonic() < end:
        try:
            with connect(path) as client:
                client.sendall(source.randbytes(source.randint(1, 5000)))
                client.shutdown(socket.SHUT_WR)
                while client.recv(65536):
                    pass
        except OSError:
            pass
        count += 1
    print(count, flush=True)


def greedy(path, count):
    text = b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 400
    clients, told = {}, False
    poll = select.poll()
    while True:
        while len(clients) < int(count):
            client = connect(path)
            client.setblocking(False)
            # The less it accepts, the sooner the other side has to wait.
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            clients[client.fileno()] = [client, time.monotonic()]
            poll.register(client, select.POLLOUT | select.POLLRDHUP)
        if not told:
            print("ready", flush=True)
            told = True
        for number, event in poll.poll(100):
            client, began = clients[number]
            try:
                if event & (select.POLLHUP | select.POLLERR | select.POLLRDHUP):
                    raise ConnectionResetError
                client.send(text)
            except BlockingIOError:
                pass
            except OSError:
                poll.unregister(number)
                del clients[number]
                client.close()
                print(f"cut off after {time.monotonic() - began:.1f}", flush=True)
        time.sleep(0.01)


def hasty(path):
    print("ready", flush=True)
    while True:
        client = socket.socket(socket.AF_UNIX)
        client.setblocking(False)
        try:
            client.connect(path)
        except OSError:
            pass
        client.close()


def keep(path, count, target):
    client, rest = connect(path), b""
    many = 100
    text = f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode() * many
    for _ in range(int(count) // many):
        client.sendall(text)
        answered = 0
        while answered < many:
            piece = client.recv(65536)
            if not piece:
                sys.exit("the connection was closed")
            rest += piece
            answered += rest.count(b"HTTP/1.1 ")
            # What may be the beginning of the next answer.
            rest = rest[-8:] if not rest.endswith(b"HTTP/1.1 ") else b""
    print("done", flush=True)
    sys.stdin.read()


def status(path, count):
    for _ in range(int(count)):
        start = time.monotonic()
        with connect(path) as client:
            client.sendall(request("/v1/status"))
            answer = b""
            while piece := client.recv(65536):
                answer += piece
        if not answer.startswith(b"HTTP/1.1 200"):
            sys.exit(f"the answer was {answer[:200]!r}")
        print(f"{(time.monotonic() - start) * 1000:.2f}", flush=True)
        time.sleep(0.05)


if __name__ == "__main__":
    modes = {"slow": slow, "watch": watch, "noise": noise, "greedy": greedy, "hasty": hasty, "keep": keep, "status": status}
    modes[sys.argv[2]](sys.argv[1], *sys.argv[3:])
