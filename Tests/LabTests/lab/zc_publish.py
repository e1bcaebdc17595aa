#!/usr/bin/env python3
"""Publishes with python-zeroconf until SIGTERM or SIGINT. Prints "ready NAME" when it is announced."""

import argparse
import base64
import json
import signal
import socket
import subprocess
import threading

from zeroconf import IPVersion, ServiceInfo, Zeroconf

import mdns


def own_addresses():
    links = json.loads(subprocess.check_output(["ip", "-j", "addr", "show", "dev", "eth0"]))
    return [
        socket.inet_pton(socket.AF_INET if a["family"] == "inet" else socket.AF_INET6, a["local"])
        for a in links[0]["addr_info"]
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name")
    parser.add_argument("type", help="_witap._tcp")
    parser.add_argument("port", type=int)
    parser.add_argument("txt", nargs="?", default="[]", help="a JSON list of the strings, each in base64")
    parser.add_argument("--subtype", action="append", default=[], help="_printer")
    options = parser.parse_args()

    if "." in options.name:
        parser.error("python-zeroconf splits names at dots, so it cannot publish this one")
    strings = [base64.b64decode(s) for s in json.loads(options.txt)]
    kind = options.type.rstrip(".").removesuffix(".local") + ".local."
    info = ServiceInfo(
        kind, f"{options.name}.{kind}", addresses=own_addresses(), port=options.port,
        properties=b"".join(bytes([len(s)]) + s for s in strings) or b"\0",
        server=f"zeroconf-{socket.gethostname()}.local.")

    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    signal.signal(signal.SIGINT, lambda *_: stop.set())
    zc = Zeroconf(ip_version=IPVersion.All)
    zc.register_service(info, allow_name_change=True)
    # python-zeroconf does not publish the subtype's own pointer, so add it here.
    instance = [info.name.removesuffix("." + kind)] + mdns.labels(kind)
    instance = [label if isinstance(label, str) else {"hex": label.hex()} for label in instance]
    pointers = [
        {"name": f"{subtype}._sub.{kind}", "type": "PTR", "target": instance} for subtype in options.subtype
    ]
    responder = mdns.Responder(pointers) if pointers else None
    if responder:
        threading.Thread(target=responder.run, daemon=True).start()
    print("ready", instance[0], flush=True)
    stop.wait()
    if responder:
        responder.stopped = True
        responder.announce(ttl=0)
    zc.unregister_service(info)
    zc.close()


if __name__ == "__main__":
    main()
