#!/usr/bin/env python3
"""Drives discoverd's own responder: discoverd.py PROGRAM. A daemon publishes what a command hands it, or if there are several, what it is
configured to: a changed configuration withdraws a service and publishes it anew."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import driver

# How its own responder is chosen.
OWN = ["--avahi", "never"]


class Discoverd(driver.Driver):
    name = "discoverd"
    can = ["browse", "follow", "publish", "subtypes", "update", "many", "several", "processes", "host", "company", "beside", "bare"]

    def version(self):
        return driver.said_by(sys.argv[1], "--version").removeprefix("discoverd ")

    def start(self, services):
        self.services = driver.by_process(services)
        alone = services[0] if len(services) == 1 else None
        for process in self.services:
            folder = os.path.join(self.folder, str(process))
            shutil.rmtree(folder, ignore_errors=True)
            os.makedirs(folder)
            self.configure(process, [] if alone else self.services[process])
            self.spawn(
                process, sys.argv[1], "daemon", "--config", folder, "--state", f"{folder}/state", "--socket",
                f"{folder}/s.sock", *OWN,
                env=dict(os.environ, DBUS_SYSTEM_BUS_ADDRESS="unix:path=/nonexistent"))
        if alone:
            while not os.path.exists(f"{folder}/s.sock"):
                if self.children[process].poll() is not None:
                    raise RuntimeError("the daemon has ended")
                time.sleep(0.005)
            self.spawn("command", *self.hand_over(alone))

    def hand_over(self, service):
        options = [f"--txt={t}" for t in service["txt"]] + [f"--subtype={s}" for s in service["subtypes"]]
        socket = os.path.join(self.folder, str(service["process"]), "s.sock")
        return [
            sys.argv[1], "publish", "--detach", "--socket", socket, "--type", service["type"], *options, "--",
            service["name"], str(service["port"])]

    def configure(self, process, wanted):
        """YAML has all of JSON."""
        services = [
            {"name": s["name"].replace("%", "%%"), "type": s["type"], "port": s["port"],
             "txt": {k: v if is_value else None for k, is_value, v in (t.partition("=") for t in s["txt"])},
             "subtypes": s["subtypes"]}
            for s in wanted
        ]
        with open(os.path.join(self.folder, str(process), "discoverd.yaml"), "w") as file:
            json.dump({"services": services, "reload": "explicit"}, file)

    def update(self, port, txt):
        service = dict(self.services[1][0], txt=txt)
        subprocess.run(self.hand_over(service), check=True, stdout=subprocess.DEVNULL)

    def withdraw(self, port):
        for process, services in self.services.items():
            if any(s["port"] == port for s in services):
                self.services[process] = [s for s in services if s["port"] != port]
                self.configure(process, self.services[process])
                self.children[process].send_signal(signal.SIGHUP)

    def browse(self, kind):
        self.look(sys.argv[1], "browse", kind, "--resolve", "--json", "--finder", "wire", "--socket", "none")

    def sighting(self, line):
        event = json.loads(line)
        service = event.get("service")
        return service and (event["event"] != "removed", service["name"], service.get("port"))

    def end(self, process, how):
        super().end(process, how)
        if "command" in self.children:
            super().end("command", signal.SIGKILL)


Discoverd().serve()
