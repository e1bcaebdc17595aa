"""Publish N services on h1: until they are established, until another host sees them, until they are gone there."""

import os
import time
from statistics import median

from .lab import BIN, settle
from .timed import Timed

TYPE = "_bench._tcp"


def tools(discoverd, count, raised):
    """Name, command and how its output says that all is established. The one-group client needs raised limits."""
    yardstick = os.path.join(BIN, "yardstick-publish")
    found = {"yardstick, a group each": ([yardstick, str(count), "each", TYPE], b"established")}
    if count <= 32 or raised:
        found["yardstick, one group"] = ([yardstick, str(count), "one", TYPE], b"established")
    if count == 1:
        found["discoverd publish"] = (
            [discoverd, "publish", "svc-00000", "9000", "--type", TYPE, "--json", "--backend", "system"],
            b'"state":"established"')
    return found


def names(text, sign):
    return {line.split(b";")[3] for line in text.split(b"\n")[:-1] if line.startswith(sign) and line.count(b";") > 4}


def reached(conditions, sources, seconds):
    """Reads from all sources; when each condition came true, or None."""
    times = [None] * len(conditions)
    deadline = time.monotonic() + seconds
    while None in times and time.monotonic() < deadline:
        for source in sources:
            source.read(0.002)
        for number, condition in enumerate(conditions):
            if times[number] is None and condition():
                times[number] = time.monotonic()
    return times


def run(lab, command, established, count, limit):
    """One run; times in ms, None where it was not reached."""
    watcher = Timed(lab, "h2", ["stdbuf", "-oL", "avahi-browse", "-p", TYPE])
    try:
        watcher.read(0.3)
        publisher = Timed(lab, "h1", command)
        said = [lambda: established in publisher.text, lambda: len(names(watcher.text, b"+")) >= count]
        up, seen = reached(said, (publisher, watcher), limit)
        time.sleep(0.2)
        stopped = time.monotonic()
        publisher.process.terminate()
        gone, = reached([lambda: len(names(watcher.text, b"-")) >= count], (watcher,), limit)
        publisher.finish(10)
    finally:
        watcher.finish(0)
    since = {"established": (up, publisher.start), "visible": (seen, publisher.start), "removed": (gone, stopped)}
    result = {key: None if at is None else (at - start) * 1000 for key, (at, start) in since.items()}
    result["cpu"] = publisher.cpu * 1000
    return result


def case(lab, candidates, count, runs, limit, say):
    results = {key: [] for key in candidates}
    for number in range(runs):
        for key, (command, established) in candidates.items():
            results[key].append(run(lab, command, established, count, limit))
            settle()
        say(f"  publish {count} round {number + 1}/{runs}")
    return results


def summary(results):
    row = {}
    for key in ("established", "visible", "removed", "cpu"):
        values = [result[key] for result in results if result[key] is not None]
        row[key] = median(values) if values else None
    row["runs"] = len(results)
    row["complete"] = sum(result["removed"] is not None and result["established"] is not None for result in results)
    return row
