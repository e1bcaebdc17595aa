#!/usr/bin/env python3
"""Drives systemd-resolved: resolved.py PROGRAM. Services are files; it reads them when it starts and at SIGHUP."""

import glob
import os
import re
import socket
import subprocess
import sys

import driver

FOLDER = "/run/systemd/dnssd"


class Resolved(driver.Driver):
    name = "systemd-resolved"
    can = ["publish", "host", "company", "beside", "many"]

    def version(self):
        library = glob.glob(os.path.join(os.path.dirname(os.path.realpath(sys.argv[1])), "libsystemd-shared*"))
        found = re.search(r"[0-9]+", driver.said_by(sys.argv[1], "--version") + " ".join(library))
        return found.group() if found else "?"

    def __init__(self):
        super().__init__()
        # A link that it is not told to use it does not.
        self.can = [each for each in self.can if each != "links"]
        for folder in (FOLDER, "/run/systemd/resolved.conf.d", "/run/systemd/resolve/netif"):
            os.makedirs(folder, exist_ok=True)
        with open("/run/systemd/resolved.conf.d/conformance.conf", "w") as file:
            file.write("[Resolve]\nMulticastDNS=yes\nLLMNR=no\nDNSStubListener=no\n")
        index = socket.if_nametoindex(self.interface)
        with open(f"/run/systemd/resolve/netif/{index}", "w") as file:
            file.write("MDNS=yes\nLLMNR=no\n")
        # It becomes the user systemd-resolve, and there is only one here.
        for name, line in (("passwd", "systemd-resolve:x:0:0::/:/usr/sbin/nologin"), ("group", "systemd-resolve:x:0:")):
            with open(f"/etc/{name}") as file:
                lines = [each for each in file.read().splitlines() if not each.startswith("systemd-resolve:")]
            copy = os.path.join(self.folder, name)
            with open(copy, "w") as file:
                file.write("\n".join(lines + [line, ""]))
            subprocess.run(["mount", "--bind", copy, f"/etc/{name}"], check=True)

    def start(self, services):
        for old in glob.glob(f"{FOLDER}/*"):
            os.remove(old)
        for service in services:
            with open(f"{FOLDER}/{service['port']}.dnssd", "w") as file:
                name = service["name"].replace("%", "%%")
                file.write(f"[Service]\nName={name}\nType={service['type']}\nPort={service['port']}\n")
                strings = " ".join(f'"{t}"' for t in service["txt"])
                file.write(f"TxtText={strings}\n" if strings else "")
        self.spawn(1, sys.argv[1])

    def end(self, process, how):
        super().end(1, how)


Resolved().serve()
