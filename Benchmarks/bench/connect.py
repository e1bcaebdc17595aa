"""Connects to a service of which an address may be dead: process start to the first byte of the answer."""

import json
import os
import sys
import tempfile
from statistics import median

from .browse import TYPE, Daemon
from .lab import BITS, HERE, stop
from .timed import Timed

PORT = 9000
DELAY = 0.25  # s; discoverd's (RFC 8305 §5), given to the others
CURL_LIMIT = 4  # s; curl gives a dead address half of what is left, when there is another of its family
PEERS = os.path.join(HERE, "peers.py")
V4, V4B, V6 = "10.77.0.3", "10.77.0.103", "fd00:77::3"
GOOD, FLOOR, SAME_FAMILY = "all addresses good", "an address of the other family dead", "an address of the same family dead"
CASES = {GOOD: (V6, V4), FLOOR: (V6, V4), SAME_FAMILY: (V4, V4B)}
DAEMON = "discoverd connect, through its daemon"


class Server:
    """h3 answers at all its addresses, and its firewall drops what is sent to the dead ones."""

    def __init__(self, lab):
        self.lab = lab
        for host, addresses in (("h3", (f"{V4B}/{BITS}", V6 + "/64")), ("h1", ("fd00:77::1/64",))):
            for address in addresses:
                lab.run(host, "ip", "addr", "add", address, "dev", "eth0", *(["nodad"] if ":" in address else []))
        self.process = lab.background("h3", [sys.executable, PEERS, "answer", str(PORT)], ready="ready")

    def dead(self, *addresses):
        rules = ["table inet bench { chain c {", "type filter hook input priority 0;"]
        rules += [f"{'ip6' if ':' in one else 'ip'} daddr {one} tcp dport {PORT} drop" for one in addresses]
        self.lab.nft("h3", rules + ["}", "}"])

    def end(self):
        stop(self.process)


def tools(discoverd, addresses):
    discover = [discoverd, "connect", "svc-00000", TYPE, "--report", "--json", "--timeout", "10"]
    listed = ",".join(f"[{one}]" if ":" in one else one for one in addresses)
    return {
        DAEMON: discover,
        "discoverd connect": [*discover, "--no-daemon", "--finder", "wire"],
        "curl": ["curl", "-sN", "--connect-timeout", f"{CURL_LIMIT}", "--happy-eyeballs-timeout-ms", f"{DELAY * 1000:.0f}",
                 "--resolve", f"bench:{PORT}:{listed}", f"http://bench:{PORT}/"],
        "python asyncio": [sys.executable, "-u", PEERS, "dial", str(PORT), str(DELAY), *addresses],
    }


def run(lab, command):
    """One run; ms, of which `resolving` before the first dial where the tool says so."""
    with tempfile.TemporaryFile() as errors:
        timed = Timed(lab, "h1", command, errors=errors)
        timed.finish(15)
        errors.seek(0)
        told = errors.read().decode("utf-8", "replace").splitlines()
    result = {"total": None, "cpu": timed.cpu * 1000, "resolving": None, "first": None}
    if timed.text.endswith(b"ok\n"):
        result["total"] = (timed.chunks[0][0] - timed.start) * 1000
    for line in told:
        if line.startswith('{"v":1,"event":"connected"'):
            report = json.loads(line)
            result["resolving"] = report["resolving"]
            result["first"] = report["attempts"][0]["endpoint"]["address"]
    return result


def order(lab, server, command, addresses):
    """The addresses, those first that discoverd dials first: the dead one must be the first for everybody."""
    server.dead()
    first = run(lab, command)["first"]
    return sorted(addresses, key=lambda one: one != first)


def case(lab, discoverd, runs, say):
    server, cases = Server(lab), []
    try:
        for name, addresses in CASES.items():
            options = [word for one in addresses for word in ("--address", one)]
            responder = lab.responder("h3", 1, "--port", str(PORT), *options, *(["--aaaa", "0"] if V6 not in addresses else []))
            daemon = Daemon(lab, "h1", discoverd, 1)
            try:
                asks = tools(discoverd, addresses)["discoverd connect"]
                addresses = order(lab, server, asks, addresses)
                server.dead(*([addresses[0]] if "dead" in name else []))
                candidates = tools(discoverd, addresses)
                results = {key: [] for key in candidates}
                for _ in range(runs):
                    for key, command in candidates.items():
                        results[key].append(run(lab, command))
            finally:
                daemon.stop()
                stop(responder)
                lab.restart_avahi("h1")
            say(f"  connect, {name}: " + ", ".join(
                f"{key} {values[-1]['total'] or 0:.0f} ms" for key, values in results.items()))
            cases.append({"name": name, "addresses": addresses, "rows": {k: summary(v) for k, v in results.items()}})
    finally:
        server.end()
    return cases


def summary(results):
    row = {}
    for key in ("total", "resolving", "cpu"):
        values = [result[key] for result in results if result[key] is not None]
        row[key] = median(values) if values else None
    row["runs"], row["complete"] = len(results), sum(result["total"] is not None for result in results)
    return row
