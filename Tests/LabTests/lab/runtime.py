#!/usr/bin/env python3
"""Docker's API as its documents and Podman 4.3.1 have it, replayed: runtime.py PATH

Listens at PATH and prints "ready". Each line of its input is a command, answered by "done":
  run NAME JSON     a container of this kind: {"labels": {...}, "port": 8081, "health": "healthy"};
                    with "hang": true its inspection is never answered
  rm NAME
  flap COUNT SECONDS   containers c0, c1, ... that come and go, and are all there in the end
  mode answer|hang|endless|cut   what is answered from now on: as it is, never, without an end, or a part
  requests          prints how many there were, by path, and the methods
"""
import json
import os
import queue
import random
import socketserver
import sys
import threading
import time
import urllib.parse

lock = threading.Lock()
containers = {}  # by id
watchers = []
requests = {}
mode = "answer"
next_id = 0


def inspection(container):
    port = container.get("port")
    return {
        "Id": container["id"], "Created": "2026-11-27T10:05:36.767646891Z", "Path": "/bin/sh", "Name": "/" + container["name"],
        "State": {"Status": "running", "Running": True, "Paused": False, "Restarting": False, "OOMKilled": False,
                  "Health": {"Status": container.get("health", ""), "FailingStreak": 0, "Log": None}},
        "HostConfig": {"NetworkMode": "bridge" if port else "host"},
        "Config": {"Labels": container["labels"], "Image": "localhost/busybox"},
        "NetworkSettings": {"Ports": {"80/tcp": [{"HostIp": "0.0.0.0", "HostPort": str(port)}], "443/tcp": None} if port else {}},
    }


def event(action, container):
    line = json.dumps({
        "status": action, "id": container["id"], "Type": "container", "Action": action, "scope": "local", "time": int(time.time()),
        "Actor": {"ID": container["id"], "Attributes": dict(container["labels"], name=container["name"], image="localhost/busybox")}})
    for watcher in watchers:
        watcher.put((line + "\n").encode())


def run(name, options):
    global next_id
    with lock:
        next_id += 1
        container = dict(options, name=name, id=f"{next_id:064x}")
        containers[container["id"]] = container
        for action in ("create", "init", "start"):
            event(action, container)


def remove(name):
    with lock:
        for container in [c for c in containers.values() if c["name"] == name]:
            del containers[container["id"]]
            for action in ("kill", "die", "destroy"):
                event(action, container)


def flap(count, seconds):
    def options(number):
        return {"labels": {"io.discoverd.publish": "_http._tcp", "io.discoverd.txt.n": str(number)}, "port": 10000 + number}

    end = time.monotonic() + seconds
    names, up = [f"c{n}" for n in range(count)], set()
    while time.monotonic() < end:
        for number in random.sample(range(count), max(1, count // 20)):
            (remove(names[number]), up.discard(number)) if number in up else (run(names[number], options(number)), up.add(number))
        time.sleep(0.05)
    for number in range(count):
        if number not in up:
            run(names[number], options(number))


class Handler(socketserver.StreamRequestHandler):
    def chunk(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def answer(self, status, body):
        data = json.dumps(body).encode() + b"\n"
        self.wfile.write(f"HTTP/1.1 {status} X\r\nApi-Version: 1.41\r\nContent-Type: application/json\r\n"
                         "Transfer-Encoding: chunked\r\n\r\n".encode())
        if mode == "cut":
            return self.wfile.write(b"%x\r\n%s" % (len(data), data[: len(data) // 2]))
        while mode == "endless":
            self.chunk(b"[" * 4096)
        for start in range(0, len(data), 1000):
            self.chunk(data[start:start + 1000])
        self.wfile.write(b"0\r\n\r\n")

    def handle(self):
        try:
            line = self.rfile.readline().decode().split()
            while self.rfile.readline().strip():
                pass
            url = urllib.parse.urlsplit(line[1])
            kind = line[0] + " " + ("/containers/ID/json" if url.path.count("/") == 3 else url.path)
            with lock:
                requests[kind] = requests.get(kind, 0) + 1
            while mode == "hang":
                time.sleep(0.1)
            filters = json.loads(urllib.parse.parse_qs(url.query).get("filters", ["{}"])[0])
            if url.path == "/events":
                self.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
                self.wfile.flush()
                events = queue.Queue()
                with lock:
                    watchers.append(events)
                while mode == "answer":
                    try:
                        self.chunk(events.get(timeout=0.1))
                    except queue.Empty:
                        pass
            elif url.path == "/containers/json":
                with lock:
                    all_ = [{"Id": c["id"], "Names": ["/" + c["name"]], "State": "running", "Labels": c["labels"]}
                            for c in containers.values() if all(wanted in c["labels"] for wanted in filters.get("label", []))]
                self.answer(200, all_)
            else:
                with lock:
                    container = containers.get(url.path.split("/")[2])
                while container and container.get("hang") and container["id"] in containers:
                    time.sleep(0.1)
                with lock:
                    body = inspection(container) if container else {"message": "no such container"}
                self.answer(200 if container else 404, body)
        except OSError:
            pass


class Server(socketserver.ThreadingUnixStreamServer):
    request_queue_size = 64
    daemon_threads = True


path = sys.argv[1]
os.makedirs(os.path.dirname(path), exist_ok=True)
if os.path.exists(path):
    os.unlink(path)
threading.Thread(target=Server(path, Handler).serve_forever, daemon=True).start()
print("ready", flush=True)
for text in sys.stdin:
    words = text.split(maxsplit=2)
    if words[0] == "run":
        run(words[1], json.loads(words[2]))
    elif words[0] == "rm":
        remove(words[1])
    elif words[0] == "flap":
        flap(int(words[1]), float(words[2]))
    elif words[0] == "mode":
        mode = words[1]
    elif words[0] == "requests":
        with lock:
            print(json.dumps(requests, sort_keys=True), flush=True)
    print("done", flush=True)
