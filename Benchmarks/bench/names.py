"""One service by its name, and a short list: when nobody asked before, and 0.3 s after another process did."""

import os
import sys
import time
from statistics import median

from . import connect
from .browse import TYPE, avahi_found, json_lines
from .lab import BIN, stop
from .timed import Timed

NAME, HOST = "svc-00000", "bench-0000.local"
COLD, AGAIN = "nobody asked before", "another process asked 0.3 s before"
PAUSE = 0.3  # s
FINDERS = {"discoverd": "wire", "discoverd-avahi": "avahi"}


def commands(discoverd, finder):
    own = ["--json", "--no-daemon", "--finder", finder]
    return {
        "resolve": [discoverd, "resolve", NAME, TYPE, *own],
        "connect": [discoverd, "connect", NAME, TYPE, "--report", "--timeout", "10", *own],
        "browse -r -t": [discoverd, "browse", TYPE, "-r", "-t", *own],
    }


def tools(discoverd):
    """What is done: who does it, and how."""
    found = {}
    for key, finder in FINDERS.items():
        for what, command in commands(discoverd, finder).items():
            found.setdefault(what, {})[key] = command
    found["resolve"]["avahi-resolve"] = ["avahi-resolve", "-n", HOST]
    return found


def timed(lab, what, command):
    """One run: to its answer, and to its exit, in ms; None without an answer."""
    if what == "connect":
        result = connect.run(lab, command)
        return {"answer": result["total"], "exit": result["total"], "cpu": result["cpu"]}
    run = Timed(lab, "h1", command)
    run.finish(15)
    lines = [at for at, line in run.lines() if what != "browse -r -t" or json_lines(line)]
    good = bool(lines) and run.status == 0
    return {"answer": (lines[-1] - run.start) * 1000 if good else None,
            "exit": (run.stop - run.start) * 1000 if good else None, "cpu": run.cpu * 1000}


class Answers:
    """The service, on h3; a new responder owes nobody a second of silence (RFC 6762 §6)."""

    def __init__(self, lab):
        self.lab, self.process = lab, None

    def renew(self):
        self.end()
        self.process = self.lab.responder("h3", 1, "--port", str(connect.PORT), "--address", connect.V4,
                                          "--address", connect.V6)

    def end(self):
        if self.process:
            self.process.kill()
            stop(self.process)


def case(lab, discoverd, runs, say):
    server, answers, cases = connect.Server(lab), Answers(lab), {COLD: {}, AGAIN: {}}
    try:
        for number in range(runs):
            for what, candidates in tools(discoverd).items():
                for key, command in candidates.items():
                    answers.renew()
                    lab.restart_avahi("h1")
                    row = f"{what}, {key}"
                    cases[COLD].setdefault(row, []).append(timed(lab, what, command))
                    if key in FINDERS:
                        time.sleep(PAUSE)
                        cases[AGAIN].setdefault(row, []).append(timed(lab, what, command))
            say(f"  names, round {number + 1}: " + ", ".join(
                f"{row} {results[-1]['exit'] or 0:.0f} ms" for row, results in cases[COLD].items()))
    finally:
        answers.end()
        server.end()
    return [{"name": name, "rows": {row: summary(results) for row, results in rows.items()}} for name, rows in cases.items()]


LISTED = {"h2": 4, "h3": 3, "h4": 3}
# After it avahi-daemon says again to the group what it has just said there (RFC 6762 §6).
SILENCE = 1.2  # s


def listed(lab, command, parse):
    """One run of a list that ends: to its last line and to its exit, in ms; None where one of its services was missing."""
    run = Timed(lab, "h1", command)
    run.finish(15)
    found = [(at, parse(line)) for at, line in run.lines()]
    found = [(at, name[0]) for at, name in found if name]
    good = run.status == 0 and len({name for _, name in found}) == sum(LISTED.values())
    return {"answer": (found[-1][0] - run.start) * 1000 if good else None,
            "exit": (run.stop - run.start) * 1000 if good else None, "cpu": run.cpu * 1000}


def lists(lab, discoverd, runs, say):
    """Ten services of three hosts, which avahi-daemon publishes, listed by a program that begins and ends."""
    published = [
        lab.background(host, ["avahi-publish", "-s", f"{host}-{number}", TYPE, str(9000 + number)])
        for host, count in LISTED.items() for number in range(count)]
    ways = {"browse -t, discoverd": ([discoverd, "browse", TYPE, "-t", "--json", "--no-daemon", "--finder", "wire"], json_name),
            "browse -t, avahi-browse": (["avahi-browse", "-tp", TYPE], avahi_found)}
    cases = {COLD: {}, AGAIN: {}}
    try:
        # Announced twice, a second apart (RFC 6762 §8.3).
        time.sleep(2 * SILENCE)
        for number in range(runs):
            for row, (command, parse) in ways.items():
                lab.restart_avahi("h1")
                time.sleep(SILENCE)
                cases[COLD].setdefault(row, []).append(listed(lab, command, parse))
                time.sleep(PAUSE)
                cases[AGAIN].setdefault(row, []).append(listed(lab, command, parse))
            say(f"  lists, round {number + 1}: " + ", ".join(
                f"{row} {results[-1]['exit'] or 0:.0f} ms" for row, results in cases[COLD].items()))
    finally:
        for process in published:
            stop(process)
    return [{"name": name, "rows": {row: summary(results) for row, results in rows.items()}} for name, rows in cases.items()]


def json_name(line):
    """What a list shows is found, whether it is resolved or not."""
    found = json_lines(line)
    return found and (found[0], True)


def summary(results):
    row = {}
    for key in ("answer", "exit", "cpu"):
        values = [result[key] for result in results if result[key] is not None]
        row[key] = median(values) if values else None
    row["runs"], row["complete"] = len(results), sum(result["exit"] is not None for result in results)
    return row


def beside(lab, discoverd, say):
    """While h1 browses on the wire: how many of twenty questions that are put to it directly its avahi-daemon answers, and
    whether what it publishes is found from elsewhere."""
    published = lab.background("h1", ["avahi-publish", "-s", "own", TYPE, "9000"])
    browser = lab.background("h1", [discoverd, "browse", TYPE, "--json", "--no-daemon", "--finder", "wire"],
                             ready='{"v":1,"event":"added"')
    try:
        asked = lab.run("h3", sys.executable, connect.PEERS, "ask", "10.77.0.1", "20")
        found = Timed(lab, "h3", [os.path.join(BIN, "floor"), TYPE, "1", "5"])
        found.finish(10)
    finally:
        for process in (browser, published):
            stop(process)
    answered = int(asked)
    say(f"  beside: avahi-daemon answered {answered} of 20 direct questions; its service was "
        f"{'found' if found.status == 0 else 'not found'}")
    return {"answered": answered, "asked": 20, "found": found.status == 0}
