"""10,000 services in 100 sub-domains of one zone: published by signed updates, listed from another subnet, withdrawn; beside
nsupdate, which sends the same records."""

import json
import os
import subprocess
import tempfile
import time
from statistics import median

from .lab import LAB, stop, used
from .timed import Timed

DNS = os.path.join(os.path.dirname(LAB), "dns.sh")
TYPE = "_witap._tcp"
SERVERS = {"BIND": ("bind", "wide.example.org", "10.53.0.53"), "Knot": ("knot", "wide-office.example.org", "10.53.0.54"),
           "PowerDNS": ("powerdns", "shop.example.org", "10.53.0.55")}
KEY, TRANSFER = "/run/dns/keys/pub.key", "/run/dns/keys/wide.key"
DOMAINS, EACH = 100, 100
# As many as fifty services have.
RECORDS = 250
LIMIT, LISTING = 600, 120  # s
LIBRARY, NSUPDATE = "discoverd's library", "nsupdate"


class Site:
    """One server's zone, as a host of the other subnet sees it."""

    def __init__(self, lab, name):
        self.lab, self.name = lab, name
        self.server, self.zone, self.address = SERVERS[name]
        self.domains = [f"link{number}.{self.zone}" for number in range(1, DOMAINS + 1)]
        subprocess.run([DNS, lab.directory, "start", self.server], check=True)
        self.pid = int(subprocess.run([DNS, lab.directory, "pid", self.server], check=True, text=True,
                                      stdout=subprocess.PIPE).stdout)

    def end(self):
        subprocess.run([DNS, self.lab.directory, "term", self.server], check=True)

    def transfer(self):
        """All records but the SOA, each as its fields; and how long the transfer took, in ms."""
        began = time.monotonic()
        text = self.lab.run("h3", "dig", "+noall", "+answer", "-k", TRANSFER, f"@{self.address}", self.zone, "AXFR")
        took = (time.monotonic() - began) * 1000
        records = [line.split(None, 4) for line in text.splitlines() if line and not line.startswith(";")]
        return sorted(record for record in records if record[3] != "SOA"), took

    def memory(self):
        with open(f"/proc/{self.pid}/status") as file:
            return next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmRSS:"))


def until(process, word, seconds):
    """When a line with that word came; None when it did not. All lines before it are read, too."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and not process.eof:
        process.read(deadline - time.monotonic())
        for at, line in process.lines():
            if line.startswith(word):
                return at, line
    return None, ""


def by_library(site, discoverd, seen):
    """Published, listed, withdrawn, by discoverd; `seen` takes what is in the zone meanwhile."""
    program = os.path.join(os.path.dirname(discoverd), "PublishInZones")
    before, server = site.transfer()[0], used(site.pid)
    process = Timed(site.lab, "h1", [program, site.zone, KEY, str(DOMAINS), str(EACH), TYPE], held=True)
    try:
        up, line = until(process, "established", LIMIT)
        server = used(site.pid) - server
        seen["records"], took = site.transfer()
        seen["transfer"] = {"time": took, "records": len(seen["records"]), "memory": site.memory()}
        seen["listing"] = listing(site, discoverd)
        left = time.monotonic()
        process.end()
        down, gone = until(process, "withdrawn", LIMIT)
    finally:
        process.finish(10)
    after = site.transfer()[0]
    whole = line == f"established {DOMAINS * EACH}" and gone == f"withdrawn {DOMAINS * EACH}" and after == before
    seen["records"] = [record for record in seen["records"] if record not in before]
    return result(up and up - process.start, down and down - left, process, server, whole)


def listing(site, discoverd):
    """All domains' services, resolved, by the command on the other subnet's host."""
    options = [word for domain in site.domains for word in ("--domain", domain)]
    run = Timed(site.lab, "h3", [discoverd, "browse", TYPE, "-r", "-t", "--json", "--timeout", str(LISTING), *options])
    run.finish(LISTING + 10)
    lines = [(at, json.loads(line).get("service", {})) for at, line in run.lines()]
    # A service that is told again is told when more is known of it.
    found = {(one["name"], one["domain"]): at for at, one in reversed(lines) if one.get("endpoints")}
    return {"found": len(found), "last": (max(found.values()) - run.start) * 1000 if found else None,
            "exit": (run.stop - run.start) * 1000, "cpu": run.cpu * 1000, "rss": run.rss, "status": run.status}


def by_nsupdate(site, records):
    """The same records, in messages as large, by one process."""
    def script(verb, fields):
        parts = [f"server {site.address}", f"zone {site.zone}"]
        for start in range(0, len(records), RECORDS):
            parts += [f"update {verb} " + " ".join(fields(record)) for record in records[start:start + RECORDS]]
            parts.append("send")
        return "\n".join([*parts, ""])

    before, server = site.transfer()[0], used(site.pid)
    added = nsupdate(site, script("add", lambda record: [record[0], record[1], *record[3:]]))
    server = used(site.pid) - server
    whole = all(record in present for present in [set(map(tuple, site.transfer()[0]))] for record in map(tuple, records))
    deleted = nsupdate(site, script("delete", lambda record: [record[0], *record[3:]]))
    whole = whole and added.status == 0 and deleted.status == 0 and site.transfer()[0] == before
    return result(added.stop - added.start, deleted.stop - deleted.start, added, server, whole)


def nsupdate(site, script):
    with tempfile.TemporaryFile("w+") as file:
        file.write(script)
        file.seek(0)
        run = Timed(site.lab, "h1", ["nsupdate", "-v", "-t", "0", "-k", KEY], source=file)
        run.finish(LIMIT)
    return run


def result(up, down, process, server, whole):
    return {"established": up and up * 1000, "removed": down and down * 1000, "cpu": process.cpu * 1000, "rss": process.rss,
            "server": server * 1000, "whole": whole}


def case(lab, discoverd, runs, say, names=("BIND", "Knot")):
    subprocess.run([DNS, lab.directory, "up", "unbound"], check=True)
    cases = []
    for name in names:
        rows, seen = {}, []
        for number in range(runs):
            site, facts = Site(lab, name), {}
            try:
                rows.setdefault(LIBRARY, []).append(by_library(site, discoverd, facts))
                rows.setdefault(NSUPDATE, []).append(by_nsupdate(site, facts.pop("records")))
            finally:
                site.end()
            seen.append(facts)
            say(f"  zones, {name}, round {number + 1}: " + ", ".join(
                f"{key} {(results[-1]['established'] or 0) / 1000:.1f} s, gone {(results[-1]['removed'] or 0) / 1000:.1f} s"
                + ("" if results[-1]["whole"] else " (incomplete)") for key, results in rows.items())
                + f"; listed {facts['listing']['found']} in {facts['listing']['exit'] / 1000:.1f} s")
        cases.append({"server": name, "count": DOMAINS * EACH, "domains": DOMAINS, "raw": rows, "seen": seen,
                      "rows": {key: summary(results) for key, results in rows.items()},
                      "listing": middle([facts["listing"] for facts in seen]),
                      "transfer": middle([facts["transfer"] for facts in seen])})
    return cases


def middle(results):
    return {key: median(values) if values else None for key in results[0]
            for values in [[result[key] for result in results if result[key] is not None]]}


def summary(results):
    row = middle([{key: value for key, value in result.items() if key != "whole"} for result in results])
    row["runs"], row["complete"] = len(results), sum(result["whole"] for result in results)
    return row
