"""Browse and resolve N services: time to the first, to all found, to all resolved, and what it cost."""

import json
import os
import shutil
import subprocess
import tempfile
import time
from statistics import median

from .lab import BIN, ROOT, stop
from .timed import Timed

TYPE = "_bench._tcp"


def avahi_lines(line):
    """avahi-browse -p and the yardstick: `+` found, `=` resolved."""
    fields = line.split(";")
    if len(fields) > 1 and fields[0] in "+=":
        return (fields[3] if len(fields) > 4 and fields[2] in ("IPv4", "IPv6") else fields[1]), fields[0] == "="
    return None


def avahi_found(line):
    """Without -r, what was found is all there is."""
    parsed = avahi_lines(line)
    return parsed and (parsed[0], True)


def json_lines(line):
    """discoverd --json and zc_browse.py."""
    try:
        event = json.loads(line)
    except ValueError:
        return None
    if event.get("event") not in ("added", "updated"):
        return None
    service = event.get("service", event)
    return service["name"], service.get("state", "resolved") == "resolved"


class Tool:
    """`daemon` is the host whose avahi-daemon it asks or runs beside, `asks_daemon` whether discoverd's is asked instead.
    `most` is the largest number of services that it is asked for. What is done within milliseconds scatters by as much:
    then it has so many runs at a time. `responder` is the command of a daemon of its own, which each run starts anew, and
    the file that says it serves."""

    AT_ONCE = 4

    def __init__(self, key, command, host, parse, daemon=None, warm=True, cold=True, most=16000, asks_daemon=False,
                 is_short=False, responder=None):
        self.is_short, self.responder = is_short, responder
        self.key, self.command, self.host, self.parse = key, command, host, parse
        self.daemon, self.warm, self.cold, self.most, self.asks_daemon = daemon, warm, cold, most, asks_daemon


# No client of an avahi-daemon finds more than its cache holds (docs/performance.md).
AVAHI_MOST, ZEROCONF_MOST = 1000, 4000
# Apple's mDNSResponder, where somebody has built it: a directory with mdnsd and libdns_sd.so.
MDNSD = os.environ.get("MDNSD")


def tools(discoverd, has_daemon):
    """Who is compared. h1 has an avahi-daemon, h3 has none; {n} is the number of services, {limit} a time in s."""
    browse = [discoverd, "browse", "-r", "-t", "--json", "--timeout", "{limit}", TYPE]
    python = os.path.join(ROOT, ".build-tests/venv/bin/python")
    counted = [TYPE, "--seconds", "{limit}", "--count", "{n}"]
    found = [
        Tool("discoverd", [*browse, "--no-daemon", "--finder", "wire"], "h1", json_lines, daemon="h1", warm=False),
        Tool("discoverd-avahi", [*browse, "--no-daemon", "--avahi", "always", "--finder", "avahi"], "h1", json_lines,
             daemon="h1", most=AVAHI_MOST),
        Tool("avahi-browse", ["stdbuf", "-oL", "avahi-browse", "-rtp", TYPE], "h1", avahi_lines, daemon="h1",
             most=AVAHI_MOST),
        Tool("yardstick", [os.path.join(BIN, "yardstick-browse"), TYPE, "64"], "h1", avahi_lines, daemon="h1",
             most=AVAHI_MOST),
        Tool("python-zeroconf", [python, "-u", os.path.join(ROOT, "Tests/LabTests/lab/zc_browse.py"), *counted], "h3",
             json_lines, warm=False, most=ZEROCONF_MOST),
        Tool("python-zeroconf async", [python, "-u", os.path.join(ROOT, "Benchmarks/bench/zc_async.py"), *counted], "h3",
             json_lines, warm=False, most=AVAHI_MOST),
        Tool("floor", [os.path.join(BIN, "floor"), TYPE, "{n}", "{limit}"], "h3", avahi_lines, warm=False),
    ]
    if MDNSD:
        found.insert(-1, Tool("mdnsd", [os.path.join(BIN, "yardstick-dnssd"), os.path.join(MDNSD, "libdns_sd.so"), TYPE, "{n}",
                                        "{limit}"], "h3", avahi_lines, warm=False, most=ZEROCONF_MOST,
                              responder=([os.path.join(MDNSD, "mdnsd"), "-debug"], "/run/mdnsd")))
    for option in ("-c", "-t"):
        found.append(Tool(f"avahi-browse {option}", ["avahi-browse", f"{option}p", TYPE], "h1", avahi_found,
                          daemon="h1", cold=False, most=1, is_short=option == "-c"))
    if has_daemon:
        asked = [word for word in browse if word not in ("--timeout", "{limit}")]
        found.insert(2, Tool("discoverd-daemon", asked, "h1", json_lines, daemon="h1", cold=False,
                             asks_daemon=True, is_short=True))
    return found


class Incomplete(RuntimeError):
    """Not all services were found."""

    def __init__(self, missing):
        super().__init__(f"{missing} services were not found")
        self.missing = missing


class Daemon:
    """discoverd's own daemon on a host, once it knows `count` services."""

    def __init__(self, lab, host, discoverd, count, finder="wire"):
        self.directory = tempfile.mkdtemp(prefix="discoverd-bench-daemon-")
        with open(os.path.join(self.directory, "discoverd.yaml"), "w") as file:
            file.write(f"browse: [{TYPE}]\nbackend: system\nfinder: {finder}\n")
        self.process = lab.background(host, [discoverd, "daemon", "--config", self.directory])
        deadline = time.monotonic() + 60
        ask = [*lab.enter(host), discoverd, "status", "--json"]
        most = 0
        while time.monotonic() < deadline:
            done = subprocess.run(ask, env=lab.environment(), capture_output=True, text=True)
            warm = json.loads(done.stdout)["warm"] if done.stdout else []
            if any(feed["services"] == count and feed.get("settled", True) for feed in warm):
                return
            most = max([most, *(feed["services"] for feed in warm)])
            time.sleep(0.2)
        self.stop()
        raise Incomplete(count - most)

    def stop(self):
        stop(self.process)
        shutil.rmtree(self.directory, ignore_errors=True)


def run(lab, tool, count, cold, limit):
    """One run; a dictionary of figures. `incomplete` is the number of services that were not resolved."""
    if cold and tool.daemon:
        lab.restart_avahi(tool.daemon)
    daemons = ("avahi", "dbus")
    own = lab.background(tool.host, tool.responder[0]) if tool.responder else None
    if own:
        lab.wait_for_file(tool.host, tool.responder[1])
    before = {d: lab.cpu(tool.daemon, d) for d in daemons} if tool.daemon else {}
    received, sent = lab.packets(tool.host)
    timed = Timed(lab, tool.host, [part.format(n=count, limit=limit) for part in tool.command])
    timed.finish(limit + 10)
    received_after, sent_after = lab.packets(tool.host)
    if own:
        stop(own)
    if tool.daemon:
        lab.until_idle(tool.daemon, "avahi")
    found, resolved = {}, {}
    for at, line in timed.lines():
        parsed = tool.parse(line)
        if parsed:
            found.setdefault(parsed[0], at)
            if parsed[1]:
                resolved.setdefault(parsed[0], at)
    ms = {
        "first": min(resolved.values()) if resolved else None,
        "found": max(found.values()) if len(found) == count else None,
        "resolved": max(resolved.values()) if len(resolved) == count else None,
        "exit": timed.stop if timed.ended else None,
    }
    # Of one that had to be killed not even the start is known.
    result = {key: None if at is None or not timed.ended else (at - timed.start) * 1000 for key, at in ms.items()}
    result.update(cpu=timed.cpu * 1000, rss=timed.rss, sent=sent_after - sent, received=received_after - received,
                  incomplete=count - len(resolved), status=timed.status)
    for daemon, value in before.items():
        after = lab.cpu(tool.daemon, daemon)
        result[daemon] = (after - value) * 1000 if after is not None and value is not None else None
    return result


class Answers:
    """The services. A new responder may answer at once what another has just said (RFC 6762 §6: once in a second), so that
    every cold run begins with one; it is killed because it would say goodbye."""

    def __init__(self, lab, count, per_host=10):
        self.lab, self.count, self.per_host, self.process = lab, count, per_host, None

    def renew(self):
        self.end()
        self.process = self.lab.responder("h2", self.count, per_host=self.per_host)

    def end(self):
        if self.process:
            self.process.kill()
            stop(self.process)


class Turns:
    """All tools in turn, so that what else the machine does meets all of them; use it with `with`."""

    def __init__(self, lab, tools, case, say, spared={}):
        """`spared` are tools that have few rounds, by their number."""
        self.lab, self.case, self.say, self.spared = lab, case, say, spared
        self.tools = [tool for tool in tools if (tool.cold if case.cold else tool.warm) and case.count <= tool.most]
        self.answers = Answers(lab, case.count, case.per_host)
        self.primed = None

    def __enter__(self):
        for host in {tool.daemon for tool in self.tools if tool.daemon}:
            self.lab.restart_avahi(host)  # it has what was there in the case before
        self.answers.renew()
        return self

    def __exit__(self, *_):
        self.answers.end()

    def round(self, number):
        """The results of every tool, by its key."""
        results = {tool.key: self.turn(tool) for tool in self.tools
                   if number < self.spared.get(tool.key, number + 1)}
        self.say(f"  {self.case}, round {number + 1}: " + ", ".join(
            f"{key} {text(runs[-1].get('resolved'))}" for key, runs in results.items()))
        return results

    def turn(self, tool):
        if self.case.cold:
            self.answers.renew()
            return [self.run(tool)]
        self.prime()
        times = range(tool.AT_ONCE if tool.is_short and self.case.count == 1 else 1)
        if not tool.asks_daemon:
            return [self.run(tool) for _ in times]
        # For its own runs only: avahi-daemon has done with others at once while somebody watches the type, and for some
        # time afterwards.
        try:
            daemon = Daemon(self.lab, tool.host, tool.command[0], self.case.count)
        except Incomplete as incomplete:
            return [dict(incomplete=incomplete.missing)]
        try:
            return [self.run(tool) for _ in times]
        finally:
            daemon.stop()
            self.lab.restart_avahi(tool.host)
            self.primed = None

    def run(self, tool):
        return run(self.lab, tool, self.case.count, self.case.cold, self.case.limit)

    def prime(self):
        """Has avahi-daemon know all records, which live for 120 s; where packets are lost that takes more than one attempt."""
        tool = next((tool for tool in self.tools if tool.key == "avahi-browse"), None)
        if tool is None or self.primed is not None and time.monotonic() - self.primed < 45:
            return
        for _ in range(3):
            if not run(self.lab, tool, self.case.count, False, self.case.limit)["incomplete"]:
                break
        self.primed = time.monotonic()


def text(value):
    return "incomplete" if value is None else f"{value:.0f} ms"


def summary(results):
    """Medians of what every run has; a time that a run has not reached makes the row incomplete."""
    row = {}
    for key in ("first", "found", "resolved", "exit", "cpu", "avahi", "dbus", "rss", "sent", "received"):
        values = [result.get(key) for result in results if result.get(key) is not None]
        row[key] = median(values) if values else None
    complete = [result for result in results if not result["incomplete"]]
    row["runs"], row["complete"] = len(results), len(complete)
    row["missing"] = max(result["incomplete"] for result in results)
    times = [result["resolved"] for result in complete if result["resolved"] is not None]
    row["low"], row["high"] = (min(times), max(times)) if times else (None, None)
    return row
