#!/usr/bin/env python3
"""Drives python-zeroconf, with which it runs: a process of its own for each process. `zeroconf.py publish` is that process."""

import json
import os
import signal
import sys

# This file is called like the package.
sys.path.pop(0)
from zeroconf import IPVersion, ServiceInfo, Zeroconf, __version__  # noqa: E402

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import driver  # noqa: E402


def addresses():
    import socket
    import subprocess

    links = json.loads(subprocess.check_output(["ip", "-j", "addr", "show", "dev", driver.Driver.interface]))
    return [
        socket.inet_pton(socket.AF_INET if a["family"] == "inet" else socket.AF_INET6, a["local"])
        for a in links[0]["addr_info"]
    ]


def service_info(service):
    import socket

    kind = f"{service['type']}.local."
    txt = b"".join(bytes([len(t.encode())]) + t.encode() for t in service["txt"]) or b"\0"
    return ServiceInfo(
        kind, f"{service['name']}.{kind}", addresses=addresses(), port=service["port"], properties=txt,
        server=f"{socket.gethostname()}.local.")


def publish():
    """Publishes what the first line names, then does what the others say."""
    for how in (signal.SIGTERM, signal.SIGINT):
        signal.signal(how, lambda *_: sys.exit(0))
    zeroconf = Zeroconf(ip_version=IPVersion.All)
    infos = {}
    try:
        for line in sys.stdin:
            order = json.loads(line)
            if "publish" in order:
                infos = {s["port"]: service_info(s) for s in order["publish"]}
                for info in infos.values():
                    zeroconf.register_service(info, allow_name_change=True)
            elif "withdraw" in order:
                zeroconf.unregister_service(infos.pop(order["withdraw"]))
            elif "update" in order:
                old = infos[order["update"]["port"]]
                new = service_info(order["update"])
                new.name = old.name
                infos[order["update"]["port"]] = new
                zeroconf.update_service(new)
    finally:
        zeroconf.unregister_all_services()
        zeroconf.close()


def browse(kind):
    """A line of JSON for each sighting, resolved."""
    import queue

    from zeroconf import ServiceBrowser

    seen = queue.Queue()

    def say(sighting):
        # One write: two threads share the output.
        sys.stdout.write(json.dumps(sighting) + "\n")
        sys.stdout.flush()

    class Listener:
        def add_service(self, zeroconf, kind, name):
            say([True, name[: -len(kind) - 1], None])
            seen.put((kind, name))

        update_service = add_service

        def remove_service(self, zeroconf, kind, name):
            say([False, name[: -len(kind) - 1], None])

    zeroconf = Zeroconf(ip_version=IPVersion.All)
    ServiceBrowser(zeroconf, f"{kind}.local.", Listener())
    while True:
        full, name = seen.get()
        info = zeroconf.get_service_info(full, name, 1000)
        if info:
            say([True, name[: -len(full) - 1], info.port])


class PythonZeroconf(driver.Driver):
    name = "python-zeroconf"
    can = ["browse", "follow", "publish", "update", "several", "processes", "host", "company", "beside", "bare"]

    def version(self):
        return __version__

    def start(self, services):
        self.services = {service["port"]: service for service in services}
        for process, these in driver.by_process(services).items():
            self.spawn(process, sys.executable, os.path.abspath(__file__), "publish", stdin=-1)
            self.tell(process, {"publish": these})

    def browse(self, kind):
        self.look(sys.executable, os.path.abspath(__file__), "browse", kind)

    def sighting(self, line):
        return json.loads(line)

    def tell(self, process, order):
        pipe = self.children[process].stdin
        pipe.write(json.dumps(order).encode() + b"\n")
        pipe.flush()

    def update(self, port, txt):
        service = dict(self.services[port], txt=txt)
        self.tell(service["process"], {"update": service})

    def withdraw(self, port):
        self.tell(self.services[port]["process"], {"withdraw": port})


if sys.argv[1:] == ["publish"]:
    publish()
elif sys.argv[1:2] == ["browse"]:
    browse(sys.argv[2])
else:
    PythonZeroconf().serve()
