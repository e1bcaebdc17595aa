"""The responder, as others understand it: tshark decodes every packet of it, and python-zeroconf finds every service. Each host
sends from its own addresses, and answers what it alone is asked."""

import base64
import json
import os
import re
import subprocess
import sys
import tempfile
import time

from .browse import TYPE
from .connect import PEERS
from .lab import ROOT, stop

COUNT, PORT, TXT = 200, 4711, "path=/check"
RECORD = re.compile(r"\s+(\S+): type SRV, class IN, cache flush, priority 0, weight 0, port (\d+), target (\S+)")

SENDER = re.compile(r"Internet Protocol Version \d, Src: (\S+), ")
# A host that is asked for the list by itself, and of ten services the one that the asker does not know.
ASKED, UNKNOWN = "10.78.0.7", "svc-00063"


class Wrong(Exception):
    """The responder says what others do not understand; every other figure would be of no use."""


def tshark(path, *arguments):
    done = subprocess.run(["tshark", "-n", "-r", path, *arguments], capture_output=True, text=True, timeout=120)
    if done.returncode:
        raise Wrong(f"tshark does not read what was captured: {done.stderr.strip()}")
    return done.stdout.splitlines()


def captured(lab, path):
    """tshark on h1, once it captures: its file has a header then."""
    process = lab.background("h1", ["tshark", "-q", "-i", "eth0", "-f", "udp port 5353", "-w", path])
    deadline = time.monotonic() + 20
    while not os.path.exists(path) or not os.path.getsize(path):
        if process.poll() is not None or time.monotonic() > deadline:
            stop(process)
            raise Wrong("tshark does not capture; is it installed?")
        time.sleep(0.05)
    return process


def browse(lab):
    """{name: what python-zeroconf says of it}."""
    python = os.path.join(ROOT, ".build-tests/venv/bin/python")
    script = os.path.join(ROOT, "Tests/LabTests/lab/zc_browse.py")
    lines = lab.run("h3", python, script, TYPE, "--seconds", "20", "--count", str(COUNT)).splitlines()
    return {event["name"]: event for event in map(json.loads, lines) if event["event"] in ("added", "updated")}


def judge_services(found, wanted):
    if set(found) != wanted:
        raise Wrong(f"python-zeroconf resolves {len(found)} of {len(wanted)} services")
    for name, event in found.items():
        families = sorted(":" in address for address in event["addresses"])
        txt = [base64.b64decode(text).decode() for text in event["txt"]]
        if (event["port"], txt, families) != (PORT, [TXT], [False, True]):
            raise Wrong(f"python-zeroconf understands {name} as {event}")


def ask_one(lab):
    known = [f"svc-{number:05}" for number in range(60, 70)]
    known.remove(UNKNOWN)
    lab.run("h1", sys.executable, PEERS, "direct", ASKED, TYPE, *known)


def judge_answer(path):
    fields = ("ip.src", "udp.dstport", "dns.id", "dns.count.queries", "dns.count.answers", "dns.ptr.domain_name")
    lines = tshark(path, "-Y", "ip.dst == 10.77.0.1", "-T", "fields", *(word for field in fields for word in ("-e", field)))
    if lines != ["\t".join((ASKED, "5353", "0x0000", "0", "1", f"{UNKNOWN}.{TYPE}.local"))]:
        raise Wrong(f"{ASKED} answers a question by unicast with {lines}")


def judge_packets(path, wanted):
    """The number of responses."""
    bad = tshark(path, "-Y", "_ws.malformed or not mdns or _ws.expert.severity == error")
    if bad:
        raise Wrong("tshark does not decode: " + "; ".join(bad[:3]))
    lines = tshark(path, "-O", "mdns", "-Y", "dns.flags.response == 1")
    seen, senders, sender = set(), {}, None
    for line in lines:
        if match := SENDER.match(line):
            sender = match[1]
        elif match := RECORD.match(line):
            seen.add(match.groups())
            senders.setdefault(match[3], set()).add(sender)
    full = {(f"{name}.{TYPE}.local", str(PORT), f"bench-{number // 10:04}.local") for number, name in enumerate(sorted(wanted))}
    if seen != full:
        raise Wrong(f"tshark sees SRV records of {len(seen & full)} of {len(full)} services, and {len(seen - full)} others")
    own = {f"bench-{number:04}.local": {f"10.78.0.{number + 1}", f"fe80::78:0:{number + 1:x}"} for number in range(COUNT // 10)}
    if senders != own:
        raise Wrong(f"hosts send from {senders}")
    return sum(line.startswith("Frame ") for line in lines)


def case(lab, say):
    wanted = {f"svc-{number:05}" for number in range(COUNT)}
    with tempfile.TemporaryDirectory(prefix="discoverd-bench-") as directory:
        path = os.path.join(directory, "capture")
        capture = captured(lab, path)
        try:
            responder = lab.responder("h2", COUNT, "--port", str(PORT), "--txt", TXT)
            try:
                found = browse(lab)
                ask_one(lab)
            finally:
                stop(responder)  # with goodbyes, which are packets too
        finally:
            time.sleep(0.5)  # what the kernel has captured is written now and then
            stop(capture)
        judge_services(found, wanted)
        responses = judge_packets(path, wanted)
        judge_answer(path)
    say(f"  python-zeroconf resolves all {COUNT} services of the responder; tshark decodes all of its {responses} packets")
    return {"services": COUNT, "packets": responses}
