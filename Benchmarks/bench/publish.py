"""Publish N services on h1: until they are established, until another host sees them, until they are gone there."""

import os
import time
from statistics import median

from .lab import BIN
from .timed import Timed

TYPE = "_bench._tcp"
# s
LIMIT = 60
FLOOR, LIBRARY = "C, one group", "discoverd's library"


class Publisher:
    def __init__(self, command, established, held=False):
        """`established` is what its output has for one service, or once for all of them."""
        self.command, self.established, self.held = command, established, held


def tools(discoverd, count):
    """The one-group client needs raised limits. Many publications of one process are a program on the library."""
    yardstick = [os.path.join(BIN, "publish-many")]
    names = [str(count), "svc", TYPE]
    found = {
        "C, a group each": Publisher([*yardstick, *names], lambda text: b"ready" in text),
        FLOOR: Publisher([*yardstick, "--one-group", *names], lambda text: b"ready" in text),
    }
    many = os.path.join(os.path.dirname(discoverd), "PublishMany")
    if count == 1:
        found["discoverd publish"] = Publisher(
            [discoverd, "publish", "svc-0000", "9000", "--type", TYPE, "--json", "--avahi", "always"],
            lambda text: b'"state":"established"' in text)
    elif os.access(many, os.X_OK):
        found[LIBRARY] = Publisher(
            [many, *names], lambda text: text.count(b'"state":"established"') >= count, held=True)
    return found


def names(text, sign):
    return {line.split(b";")[3] for line in text.split(b"\n")[:-1] if line.startswith(sign) and line.count(b";") > 4}


def reached(conditions, sources, seconds):
    """Reads from all sources; when each condition came true, or None."""
    times = [None] * len(conditions)
    deadline = time.monotonic() + seconds
    while None in times and time.monotonic() < deadline:
        news = [source.read(0.002) for source in sources]
        for number, condition in enumerate(conditions):
            if times[number] is None and any(news) and condition():
                times[number] = time.monotonic()
    return times


def run(lab, tool, count, limit):
    """One run; times in ms, None where it was not reached."""
    # After its answer to the last run an avahi-daemon is still busy with what it had published.
    lab.restart_avahi("h1")
    watcher = Timed(lab, "h2", ["stdbuf", "-oL", "avahi-browse", "-p", TYPE])
    try:
        watcher.read(0.3)
        before, (_, sent) = lab.cpu("h1", "avahi"), lab.packets("h1")
        publisher = Timed(lab, "h1", tool.command, held=tool.held)
        said = [lambda: tool.established(publisher.text), lambda: len(names(watcher.text, b"+")) >= count]
        up, seen = reached(said, (publisher, watcher), limit)
        avahi, (_, sent_after) = lab.cpu("h1", "avahi"), lab.packets("h1")
        stopped = time.monotonic()
        publisher.end()
        gone, = reached([lambda: len(names(watcher.text, b"-")) >= count], (watcher,), limit)
        publisher.finish(10)
    finally:
        watcher.finish(0)
    since = {"established": (up, publisher.start), "visible": (seen, publisher.start), "removed": (gone, stopped)}
    result = {key: None if at is None else (at - start) * 1000 for key, (at, start) in since.items()}
    result.update(cpu=publisher.cpu * 1000, avahi=(avahi - before) * 1000, sent=sent_after - sent, rss=publisher.rss)
    return result


def turns(lab, candidates, case, number, say, spared=()):
    """All tools in turn, and their results by key; those that are `spared` have two rounds only."""
    results = {key: [run(lab, tool, case.count, LIMIT)] for key, tool in candidates.items()
               if number < 2 or key not in spared}
    say(f"  {case}, round {number + 1}: " + ", ".join(f"{key} {text(runs[-1])}" for key, runs in results.items()))
    return results


def text(result):
    missing = [key for key in ("established", "visible", "removed") if result[key] is None]
    return "not " + ", ".join(missing) if missing else f"{result['established']:.0f} ms"


def summary(results):
    row = {}
    for key in ("established", "visible", "removed", "cpu", "avahi", "sent", "rss"):
        values = [result[key] for result in results if result[key] is not None]
        row[key] = median(values) if values else None
    row["runs"] = len(results)
    row["complete"] = sum(None not in (result["established"], result["visible"], result["removed"]) for result in results)
    return row
