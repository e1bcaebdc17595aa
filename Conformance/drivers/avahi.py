#!/usr/bin/env python3
"""Drives avahi-daemon, with an avahi-publish for each service. The host has a bus, and no avahi-daemon yet."""

import os
import re

import driver

CONFIGURATION = """[server]
use-ipv4=yes
use-ipv6=yes
ratelimit-interval-usec=1000000
ratelimit-burst=1000
[publish]
publish-hinfo=no
publish-workstation=no
"""


class Avahi(driver.EachService):
    name = "avahi-daemon"
    can = ["browse", "publish", "subtypes", "several", "processes", "host", "company", "many"]

    def version(self):
        return driver.said_by("avahi-daemon", "--version").split()[-1]

    def daemon(self):
        os.makedirs("/run/avahi-daemon", exist_ok=True)
        if os.path.exists("/run/avahi-daemon/pid"):
            os.remove("/run/avahi-daemon/pid")
        path = os.path.join(self.folder, "avahi.conf")
        with open(path, "w") as file:
            file.write(CONFIGURATION)
        self.spawn(
            "daemon", "avahi-daemon", "-f", path, "--no-drop-root", "--no-chroot", "--no-rlimits", "--no-proc-title")
        self.until_there("/run/avahi-daemon/socket")

    def browse(self, kind):
        self.daemon()
        self.look("stdbuf", "-oL", "avahi-browse", "-f", "-rp", kind)

    def sighting(self, line):
        fields = line.split(";")
        if len(fields) < 6 or fields[0] not in "+-=":
            return None
        # Bytes that are not letters and digits are a backslash and a number.
        name = re.sub(rb"\\([0-9]{3})", lambda m: bytes([int(m[1])]), fields[3].encode())
        name = re.sub(rb"\\(.)", rb"\1", name).decode(errors="replace")
        return fields[0] != "-", name, int(fields[8]) if fields[0] == "=" else None

    def start(self, services):
        self.daemon()
        self.services = services
        for service in services:
            subtypes = [f"--subtype={s}._sub.{service['type']}" for s in service["subtypes"]]
            self.spawn(
                service["port"], "avahi-publish", "-f", "-s", *subtypes, service["name"], service["type"], str(service["port"]),
                *service["txt"])

    def stop(self):
        super().stop()
        if os.path.exists("/run/avahi-daemon/socket"):
            os.remove("/run/avahi-daemon/socket")


Avahi().serve()
