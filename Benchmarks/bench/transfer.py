"""One large file over the network: `listen` and `connect` beside socat, and `forward` beside other forwarders."""

import functools
import os
import tempfile
import time
from statistics import median

from .browse import TYPE
from .lab import stop
from .timed import Timed

SIZE = 512 << 20
PORT, LOCAL = 9000, 7777
PROXYD = "/usr/lib/systemd/systemd-socket-proxyd"
HERE, THERE = f"TCP:127.0.0.1:{LOCAL}", f"TCP:10.77.0.2:{PORT}"
# As large as discoverd's; socat's own are of 8 KiB.
LARGE = ["socat", "-b", "262144"]
OWN = "discoverd connect to discoverd listen"
# The services that discoverd finds by name.
NEEDED = {OWN: "inbox", "discoverd forward": "svc-00000"}


def ends(socat):
    return [*socat, "-u", f"TCP-LISTEN:{PORT},reuseaddr", "STDOUT"], [*socat, "-u", "STDIN", THERE]


def pairs(discoverd):
    """Name: receiver on h2, sender on h1, which reads the file, and no forwarder."""
    listen = [discoverd, "listen", "inbox", str(PORT), "--type", TYPE, "--avahi", "always", "--no-daemon"]
    connect = [discoverd, "connect", "inbox", TYPE, "--finder", "wire", "--no-daemon"]
    return {
        OWN: (listen, connect, None),
        "socat to socat": (*ends(["socat"]), None),
        "socat to socat, blocks of 256 KiB": (*ends(LARGE), None),
    }


def forwarders(discoverd):
    """Name: receiver and sender, the same for all, and what listens on h1 and passes on to h2."""
    receiver, _ = ends(LARGE)
    sender = [*LARGE, "-u", "STDIN", HERE]
    passed_on = [f"TCP-LISTEN:{LOCAL},reuseaddr", THERE]
    found = {
        "discoverd forward": [discoverd, "forward", "svc-00000", str(LOCAL), TYPE, "--finder", "wire", "--no-daemon"],
        "socat": ["socat", *passed_on],
        "socat, blocks of 256 KiB": [*LARGE, *passed_on],
    }
    if os.access(PROXYD, os.X_OK):
        found["systemd-socket-proxyd"] = [
            "systemd-socket-activate", "-l", f"127.0.0.1:{LOCAL}", PROXYD, f"10.77.0.2:{PORT}"]
    return {name: (receiver, sender, command) for name, command in found.items()}


def listening(lab, host, port, seconds=10):
    """Waits until somebody listens there."""
    deadline = time.monotonic() + seconds
    while f":{port} " not in lab.run(host, "ss", "-Hltn"):
        if time.monotonic() > deadline:
            raise RuntimeError(f"nobody listens on {host} at {port}")
        time.sleep(0.02)


def known(lab, discoverd, name):
    """Waits until the service is published and known on h1: what RFC 6762 §8.1 and a first answer take is no transfer."""
    lab.run("h1", discoverd, "resolve", name, TYPE, "--avahi", "always", "--no-daemon", "--timeout", "10")


def run(lab, path, receiver, sender, forwarder, ready=None):
    """MB/s from the sender's start to the receiver's end, and CPU in ms; None when less than the file came."""
    before, _ = lab.octets("h2")
    passing = None
    with open(os.devnull, "wb") as sink, open(path, "rb") as source:
        into = Timed(lab, "h2", receiver, output=sink)
        try:
            listening(lab, "h2", PORT)
            if forwarder:
                passing = Timed(lab, "h1", forwarder, output=sink)
                listening(lab, "h1", LOCAL)
            if ready:
                ready()
            out = Timed(lab, "h1", sender, source=source)
            out.finish(60)
        finally:
            into.finish(10)
            if passing:
                passing.wait(0.2)
                passing.end()
                passing.finish(10)
    after, _ = lab.octets("h2")
    whole = out.status == 0 and into.status == 0 and into.ended and after - before >= SIZE
    seconds = into.stop - out.start
    return {"rate": SIZE / seconds / 1e6 if whole else None,
            "cpu": (passing.cpu if passing else into.cpu + out.cpu) * 1000,
            "rss": passing.rss if passing else max(into.rss, out.rss)}


def case(lab, discoverd, runs, say):
    """Two tables: {name: row} of the pairs and of the forwarders."""
    responder = lab.responder("h3", 1, "--port", str(PORT), "--address", "10.77.0.2", "--aaaa", "0")
    tables = []
    try:
        with tempfile.NamedTemporaryFile(prefix="discoverd-bench-") as file:
            file.truncate(SIZE)
            for candidates in (pairs(discoverd), forwarders(discoverd)):
                results = {key: [] for key in candidates}
                for _ in range(runs):
                    for key, commands in candidates.items():
                        name = NEEDED.get(key)
                        ready = functools.partial(known, lab, discoverd, name) if name else None
                        results[key].append(run(lab, file.name, *commands, ready))
                say("  transfer: " + ", ".join(f"{key} {values[-1]['rate'] or 0:.0f} MB/s" for key, values in results.items()))
                tables.append({key: summary(values) for key, values in results.items()})
    finally:
        stop(responder)
    return tables


def summary(results):
    row = {}
    for key in ("rate", "cpu", "rss"):
        values = [result[key] for result in results if result[key] is not None]
        row[key] = median(values) if values else None
    row["runs"], row["complete"] = len(results), sum(result["rate"] is not None for result in results)
    return row
