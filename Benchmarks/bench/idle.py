"""The daemon with N services warm and nobody asking: CPU, wake-ups, memory."""

import os
import time

from .browse import Daemon
from .lab import stop, used


def status(path):
    """The numbers of a file as /proc/PID/status."""
    with open(path) as file:
        return {key: int(value.split()[0]) for key, _, value in (line.partition(":") for line in file)
                if key.startswith("Vm") or key.endswith("ctxt_switches")}


def look(pid):
    found = status(f"/proc/{pid}/status")
    threads = {task: status(f"/proc/{pid}/task/{task}/status") for task in os.listdir(f"/proc/{pid}/task")}
    return {"cpu": used(pid), "rss": found["VmRSS"] / 1024, "peak": found["VmHWM"] / 1024,
            "switches": {task: one["voluntary_ctxt_switches"] + one["nonvoluntary_ctxt_switches"]
                         for task, one in threads.items()}}


def switched(before, after):
    """Those of threads that have ended meanwhile are not known."""
    return sum(count - before.get(task, 0) for task, count in after.items())


def case(lab, discoverd, count, seconds, say, finder="wire"):
    responder = lab.responder("h2", count)
    try:
        daemon = Daemon(lab, "h1", discoverd, count, finder)
        try:
            time.sleep(3)  # what was asked to see whether it is warm
            pids = {"discoverd's daemon": daemon.process.pid, "avahi-daemon": lab.daemon("h1", "avahi"),
                    "dbus-daemon": lab.daemon("h1", "dbus")}
            before = {key: look(pid) for key, pid in pids.items()}
            began = time.monotonic()
            time.sleep(seconds)
            took = time.monotonic() - began
            after = {key: look(pid) for key, pid in pids.items()}
        finally:
            daemon.stop()
    finally:
        stop(responder)
    rows = {key: {"cpu": (after[key]["cpu"] - before[key]["cpu"]) / took * 100,
                  "switches": switched(before[key]["switches"], after[key]["switches"]) / took,
                  "rss": after[key]["rss"], "peak": after[key]["peak"]} for key in pids}
    say(f"  idle, finder: {finder}: " + ", ".join(f"{key} {row['cpu']:.3f} %, {row['rss']:.1f} MiB" for key, row in rows.items()))
    return {"finder": finder, "count": count, "seconds": seconds, "rows": rows}
