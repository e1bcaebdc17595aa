"""What all drivers share: lines of JSON in, one for each out; and what happens to the host.

A driver runs on the host of what is judged, beside nothing else that answers there. It says {"ok": true, "name": …, "version": …, "can": […]}
first, then answers each order. When standard input ends, nothing that it has started is left."""

import json
import os
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

GROUP4, GROUP6, PORT = "224.0.0.251", "ff02::fb", 5353


class Driver:
    name = "?"
    # Besides starting and ending; Ability in Bench/Implementation.swift has the words.
    can = []
    interface = "eth0"

    def __init__(self):
        self.children = {}
        self.squatters = []
        self.seen = []
        self.avahi = None
        # The lab's own command (Tests/LabTests/lab), where it is one.
        self.lab = os.environ.get("CONFORMANCE_LAB")
        if self.lab:
            self.can = self.can + ["links"]
        self.folder = tempfile.mkdtemp(prefix="conformance-")

    # What a driver has of its own.

    def version(self):
        return "?"

    def start(self, services):
        """Starts processes, without waiting for what they publish."""
        raise NotImplementedError

    def update(self, port, txt):
        raise NotImplementedError

    def withdraw(self, port):
        raise NotImplementedError

    def end(self, process, how):
        """Ends a process by a signal, and waits for its end."""
        child = self.children.pop(process)
        child.send_signal(how)
        child.wait(10)

    def browse(self, kind):
        """Starts a program that looks for services, one sighting on each line of its output."""
        raise NotImplementedError

    def sighting(self, line):
        """Whether it is there, its name and its port, of a line; None for another line."""
        raise NotImplementedError

    def look(self, *command):
        self.seen = []
        child = self.spawn("browser", *command, stdout=subprocess.PIPE)
        threading.Thread(target=self.read, args=(child.stdout, self.seen), daemon=True).start()

    def read(self, lines, seen):
        for line in lines:
            found = self.sighting(line.decode(errors="replace").rstrip("\n"))
            if found:
                seen.append({"at": time.time(), "isThere": found[0], "name": found[1], "port": found[2]})

    def stop(self):
        for child in self.children.values():
            child.terminate()
        for child in self.children.values():
            try:
                child.wait(10)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
        self.children = {}

    # What happens to the host.

    def spawn(self, process, *command, **options):
        log = open(os.path.join(self.folder, f"{process}.log"), "ab")
        self.children[process] = subprocess.Popen(
            command, stdin=options.pop("stdin", subprocess.DEVNULL), stdout=options.pop("stdout", log), stderr=log, **options)
        return self.children[process]

    def ip(self, *arguments):
        subprocess.run(["ip", *arguments], check=True, stderr=subprocess.DEVNULL)

    def squat(self, there):
        for held in self.squatters:
            held.close()
        self.squatters = [self.shared(socket.AF_INET), self.shared(socket.AF_INET6)] if there else []

    def shared(self, family):
        """A socket as programs that share the port have it."""
        made = socket.socket(family, socket.SOCK_DGRAM)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        if family == socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        made.bind(("", PORT))
        return made

    def ask(self, question):
        """Asks the group as a program of this host, and counts the answers that it hears."""
        index = socket.if_nametoindex(self.interface)
        asking = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        asking.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        asking.bind((GROUP4, PORT))
        request = struct.pack("4s4si", socket.inet_aton(GROUP4), b"\0" * 4, index)
        asking.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, request)
        asking.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, request)
        asking.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 255)
        asking.sendto(question, (GROUP4, PORT))
        heard, end = 0, time.monotonic() + 0.8
        while (left := end - time.monotonic()) > 0:
            if select.select([asking], [], [], left)[0]:
                heard += asking.recv(9000)[2] & 0x80 != 0
        asking.close()
        return heard

    def second(self, there, on_first):
        """A second interface: on a link of its own, or beside the first one."""
        if not there:
            subprocess.run([self.lab, "unlink", "h1", "eth1"], check=True)
            return
        subprocess.run([self.lab, "link", "h1", "eth1", "10.77.0.11/24" if on_first else "10.78.0.1/24"], check=True)
        if on_first:
            subprocess.run([self.lab, "exec", "sw", "ip", "link", "set", "h1-eth1", "master", "br0"], check=True)

    def beside(self, there):
        """An avahi-daemon of another host name."""
        if self.avahi:
            self.avahi.terminate()
            self.avahi.wait()
            self.avahi = None
        if there:
            os.makedirs("/run/avahi-daemon", exist_ok=True)
            path = os.path.join(self.folder, "beside.conf")
            with open(path, "w") as file:
                file.write("[server]\nhost-name=other\n")
            self.avahi = subprocess.Popen(
                ["avahi-daemon", "-f", path, "--no-drop-root", "--no-chroot", "--no-rlimits", "--no-proc-title"],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)

    def serve(self):
        print(json.dumps({"ok": True, "name": self.name, "version": self.version(), "can": self.can}), flush=True)
        for line in sys.stdin:
            order = json.loads(line)
            answer = {"ok": True}
            try:
                self.obey(order, answer)
            except Exception as error:  # whatever it is, the suite is told
                answer = {"ok": False, "error": f"{order['do']}: {type(error).__name__}: {error}"[:300]}
            print(json.dumps(answer), flush=True)
        self.squat(False)
        self.beside(False)
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def obey(self, order, answer):
        do = order["do"]
        if do == "start":
            self.start(order["services"])
        elif do == "update":
            self.update(order["port"], order["txt"])
        elif do == "withdraw":
            self.withdraw(order["port"])
        elif do == "end":
            self.end(order["process"], signal.Signals[f"SIG{order['signal']}"])
        elif do == "stop":
            self.stop()
        elif do == "address":
            self.ip("addr", "add" if order["add"] else "del", order["address"], "dev", self.interface)
        elif do == "link":
            state = "up" if order["up"] else "down"
            if self.lab:
                # The other end of its cable.
                subprocess.run([self.lab, "exec", "sw", "ip", "link", "set", "p1", state], check=True)
            else:
                self.ip("link", "set", self.interface, state)
        elif do == "route":
            self.ip("route", "replace", order["block"], "dev", self.interface)
        elif do == "squat":
            self.squat(order["there"])
        elif do == "browse":
            self.browse(order["type"])
        elif do == "shown":
            answer["shown"] = list(self.seen)
        elif do == "second":
            self.second(order["there"], order["first"])
        elif do == "beside":
            self.beside(order["there"])
        elif do == "ask":
            answer["heard"] = self.ask(bytes(order["bytes"]))
        else:
            raise ValueError(f"unknown order {do}")


class EachService(Driver):
    """A driver of a daemon with a program for each service."""

    def end(self, process, how):
        """The programs that publish; the daemon stays, as it does for users."""
        for service in self.services:
            if service["process"] == process:
                super().end(service["port"], how)

    def withdraw(self, port):
        super().end(port, signal.SIGTERM)

    def until_there(self, path):
        """Waits for the daemon's socket."""
        while not os.path.exists(path):
            if self.children["daemon"].poll() is not None:
                raise RuntimeError(f"{self.name} has ended")
            time.sleep(0.01)


def said_by(*command):
    """What a program says, on one line."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return " ".join(done.stdout.split())


def by_process(services):
    found = {}
    for service in services:
        found.setdefault(service["process"], []).append(service)
    return found
