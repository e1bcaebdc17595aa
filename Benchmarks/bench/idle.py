"""The daemon with N services warm and nobody asking: CPU, wake-ups, memory."""

import os
import time

from .browse import Daemon
from .lab import stop, used


def status(pid, *fields):
    """Fields of /proc/PID/status as numbers, summed over all threads where they are a thread's own."""
    total = dict.fromkeys(fields, 0)
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/status") as file:
            for line in file:
                key, _, value = line.partition(":")
                if key in total:
                    number = int(value.split()[0])
                    total[key] = max(total[key], number) if key.startswith("Vm") else total[key] + number
    return total


def look(pid):
    found = status(pid, "voluntary_ctxt_switches", "nonvoluntary_ctxt_switches", "VmRSS", "VmHWM")
    return {"cpu": used(pid), "rss": found["VmRSS"] / 1024, "peak": found["VmHWM"] / 1024,
            "switches": found["voluntary_ctxt_switches"] + found["nonvoluntary_ctxt_switches"]}


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
                  "switches": (after[key]["switches"] - before[key]["switches"]) / took,
                  "rss": after[key]["rss"], "peak": after[key]["peak"]} for key in pids}
    say(f"  idle, finder: {finder}: " + ", ".join(f"{key} {row['cpu']:.3f} %, {row['rss']:.1f} MiB" for key, row in rows.items()))
    return {"finder": finder, "count": count, "seconds": seconds, "rows": rows}
