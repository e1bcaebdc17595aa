#!/usr/bin/env python3
"""Browses with python-zeroconf. One JSON object a line: {"event": "added"|"updated"|"removed", "name", "type", ...}.

"unresolved" is an added one without an answer. added and updated have: host, port, txt (its strings as base64, in order), txt_raw (all of it as base64), addresses
(IPv6 link-local ones with their scope). Ends with {"event": "end"} after --count services or --seconds.
"""

import argparse
import base64
import json
import queue
import socket
import threading
import time

from zeroconf import BadTypeInNameException, IPVersion, ServiceBrowser, ServiceListener, Zeroconf


def text(data):
    return base64.b64encode(data).decode()


def strings(data):
    out = []
    while data:
        out.append(text(data[1:1 + data[0]]))
        data = data[1 + data[0]:]
    return out


def with_name_of_scope(address):
    address, _, scope = address.partition("%")
    if not scope:
        return address
    return f"{address}%{socket.if_indextoname(int(scope)) if scope.isdigit() else scope}"


class Printer(ServiceListener):
    def __init__(self, found, wanted):
        self.found, self.wanted = found, wanted

    def say(self, event, zc, kind, name):
        base = kind.split("._sub.")[-1]
        line = {"event": event, "name": name.removesuffix("." + base), "type": base}
        if self.wanted is not None and line["name"] != self.wanted:
            return
        if event != "removed":
            try:
                info = zc.get_service_info(base, name, 3000 if self.wanted is None else 20000)
            except BadTypeInNameException as error:  # a name that RFC 6763 forbids
                info, line["reason"] = None, str(error)
            if info is None:
                line["event"] = "unresolved"
            else:
                line.update(
                    host=info.server, port=info.port, txt=strings(info.text or b""), txt_raw=text(info.text or b""),
                    addresses=sorted(map(with_name_of_scope, info.parsed_scoped_addresses(IPVersion.All))))
        print(json.dumps(line, ensure_ascii=True), flush=True)
        self.found.put(line)

    def add_service(self, zc, type_, name):
        self.say("added", zc, type_, name)

    def update_service(self, zc, type_, name):
        self.say("updated", zc, type_, name)

    def remove_service(self, zc, type_, name):
        self.say("removed", zc, type_, name)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("type", help="_witap._tcp, or a subtype: _printer._sub._http._tcp")
    parser.add_argument("--name", help="nothing is asked of others: each that has ended takes 3 s, one after the other")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--count", type=int, help="end when so many services are resolved")
    options = parser.parse_args()

    found = queue.Queue()
    deadline = time.monotonic() + options.seconds
    zc = Zeroconf(ip_version=IPVersion.All)
    ServiceBrowser(zc, options.type.rstrip(".").removesuffix(".local") + ".local.", Printer(found, options.name))
    names = set()
    while options.count is None or len(names) < options.count:
        try:
            line = found.get(timeout=max(0, deadline - time.monotonic()))
        except queue.Empty:
            break
        if line["event"] in ("added", "updated"):
            names.add(line["name"])
    print(json.dumps({"event": "end"}), flush=True)
    # closing may wait for pending queries
    threading.Thread(target=zc.close, daemon=True).start()


if __name__ == "__main__":
    main()
