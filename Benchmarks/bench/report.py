"""docs/performance.md: tables with ratios, from what one run has measured."""

import os
import platform
import subprocess

from . import files
from .connect import DELAY
from .goals import goals
from .inside import GROWTH
from .loss import HOSTS, SERVICES
from .tables import (browse_table, connect_table, idle_table, inside_table, loss_table, names_table, number, publish_table,
                     table, transfer_table, zones_table)
from .transfer import SIZE
from .zones import DOMAINS, EACH

EXPLAINED = {
    "discoverd": "`discoverd browse -r -t --json --no-daemon --finder wire`, on a host with an avahi-daemon",
    "discoverd-avahi": "the same with `--finder avahi`",
    "discoverd-daemon": "`discoverd browse -r -t --json`, answered by a running daemon that has the services",
    "avahi-browse": "`avahi-browse -rtp`",
    "avahi-browse -c": "`avahi-browse -cp`: what avahi-daemon has in its cache, not resolved",
    "avahi-browse -t": "`avahi-browse -tp`: not resolved",
    "yardstick": "`Benchmarks/c/yardstick-browse.c`: the least on libavahi-client, 64 resolvers in flight",
    "python-zeroconf": "python-zeroconf's `get_service_info` in the browser's callback, ended by its caller after N services (no "
                       "avahi-daemon)",
    "python-zeroconf async": "the same with `AsyncServiceInfo`, a task for each service",
    "mdnsd": "Apple's mdnsd, started anew, and `Benchmarks/c/yardstick-dnssd.c`, 256 resolvers in flight; it looks up no addresses",
    "floor": "`Benchmarks/c/floor.c`: asks at once and keeps nothing (no avahi-daemon)",
}


def first_line(*command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10)
        return (done.stdout or done.stderr).splitlines()[0].strip()
    except (OSError, IndexError, subprocess.TimeoutExpired):
        return "?"


def machine(discoverd, root):
    model = "?"
    with open("/proc/cpuinfo") as file:
        for line in file:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    system = "?"
    try:
        system = platform.freedesktop_os_release()["PRETTY_NAME"]
    except OSError:
        pass
    python = os.path.join(root, ".build-tests/venv/bin/python")
    return [
        f"{os.cpu_count()} × {model}, {system}, Linux {platform.release()}",
        f"{first_line(discoverd, '--version')}; {first_line('avahi-browse', '--version')}; "
        f"{first_line('dbus-daemon', '--version')}; python-zeroconf "
        + first_line(python, "-c", "import zeroconf; print(zeroconf.__version__)"),
    ]


def document(measured, discoverd, root, notes=True):
    notes_path = os.path.join(root, "Benchmarks/notes.md")
    parts = ["# Performance", "",
             "Written by `make bench`. Only ratios mean anything: all tools took turns on one machine in one run, in network "
             "namespaces, and other work on that machine met all of them. Figures are medians, times in ms since the command "
             "was started; a row whose runs did not all resolve every service says so and has no ratio.", "",
             "## Goals", "", goals(measured), "",
             "![time until every service was resolved](performance.svg)", "",
             "![time until the command's end](performance-end.svg)", "", "## Machine", ""]
    parts += ["- " + line for line in machine(discoverd, root)]
    load = ", ".join(f"{value:.1f}" for value in measured["load"])
    parts += [f"- load average before and after: {load}", f"- {measured['date']}, `Benchmarks/run {measured['arguments']}`"]
    if measured["check"]:
        parts.append(f"- the responder, in this run: python-zeroconf resolved all of {measured['check']['services']} services, "
                     f"tshark decoded all of its {measured['check']['packets']} packets")
    parts += [f"- **{phase} failed:** {reason}" for phase, reason in measured["failed"].items()]
    if measured["left_out"]:
        parts += ["- left out for want of time, and taken by `make bench-full`:", *(f"  - {row}" for row in measured["left_out"])]
    for chapter in (browsing, losing, naming, publishing, connecting, transferring, sending, paging, zoned, idling, starting, within):
        parts += chapter(measured)
    if notes and os.path.exists(notes_path):
        with open(notes_path) as file:
            parts += ["", file.read().strip()]
    parts += ["", "## How to repeat", "", "```",
              "make bench          # in 20 minutes, and writes this page and its plot",
              "make bench-full     # all of it, however long that takes", "make bench-quick    # prints a few rows",
              "make bench-inside   # the library's inside, and whether it is within its limits", "Benchmarks/run --help", "```", "",
              "No root is needed. The C programs are built into `.build-bench`; `make bench BENCHED=path` measures another build.", ""]
    return "\n".join(parts)


def browsing(measured):
    if not measured["browse"]:
        return []
    shown = {key for case in measured["browse"] for key in case["rows"]}
    parts = ["", "## Browse and resolve", "",
             "N services on N/10 hosts unless said (`Benchmarks/c/responder.c`), each with addresses of its own. *Cold*: avahi-daemon was "
             "restarted before each run, and the responder too. *Warm*: avahi-daemon, or discoverd's, knows all records. *First*, *all "
             "resolved*: when the line was read from the tool's output. CPU in ms, avahi-daemon's until it has done with what it heard; "
             "packets as the host's eth0 counts them, before the command's end. Clients of an avahi-daemon are left out for N > 1000, more "
             "than it keeps.", ""]
    if not any("mdnsd" in case["rows"] for case in measured["browse"]):
        parts += ["Apple's mdnsd was not there; `make bench MDNSD=DIRECTORY`, with mdnsd and libdns_sd.so in it, has it measured.", ""]
    parts += [f"- {key}: {text}" for key, text in EXPLAINED.items() if key in shown]
    for case in measured["browse"]:
        parts += ["", f"### N = {case['count']}, {'cold' if case['cold'] else 'warm'}, {case['stack']}", "",
                  browse_table(case["rows"])]
    return parts


def losing(measured):
    return ["", "## Packets lost", "",
            f"{SERVICES} services on {HOSTS} hosts, IPv4; the browsing host's firewall drops packets at random, in and out. Complete: "
            "runs of `-t` that showed all of them resolved.", "", loss_table(measured["loss"])] if measured["loss"] else []


def naming(measured):
    if not measured["names"]:
        return []
    parts = ["", "## One name", "",
             "A service of another host by its name; connect: to the first byte of an answer. A responder that has just answered "
             "keeps silent for a second (RFC 6762 §6). avahi-daemon is restarted before, except where another process asked."]
    for case in measured["names"]:
        parts += ["", f"### {case['name'].capitalize()}", "", names_table(case["rows"])]
    for case in measured["lists"]:
        parts += ["", f"### Ten services on three hosts, listed: {case['name']}", "", names_table(case["rows"])]
    beside = measured["beside"]
    if beside:
        parts += ["", f"While a browse on the wire runs beside it, avahi-daemon answers {beside['answered']} of {beside['asked']} "
                      "questions that are put to its host directly, and what it publishes is "
                      f"{'found' if beside['found'] else '**not** found'} from another."]
    return parts


def publishing(measured):
    if not measured["publish"]:
        return []
    parts = ["", "## Publish and withdraw", "",
             "Established: the tool's own word. Visible, removed: by `avahi-browse` on another host. CPU in ms and packets until "
             "all was established and visible. The floor is RFC 6762 §8.1 (three probes, 250 ms apart) and §10.1 (a goodbye "
             "counts after 1 s). C: `Tests/LabTests/lab/publish-many.c`, the least on libavahi-client; one group of so many "
             "services needs raised limits. Many services of discoverd's are one process on the library, `PublishMany`."]
    for case in measured["publish"]:
        parts += ["", f"### N = {case['count']}", "", publish_table(case["rows"])]
    return parts


def connecting(measured):
    if not measured["connect"]:
        return []
    parts = ["", "## Connect", "",
             f"From the command's start to the first byte of an answer. Every tool waits {DELAY * 1000:.0f} ms before it dials the "
             "next address too (RFC 8305 §5). *Dead*: the other host's firewall drops what is sent there; it is the address "
             "that is dialled first. discoverd finds the addresses by the service's name, the others are given them."]
    for case in measured["connect"]:
        parts += ["", f"### {case['name'].capitalize()}: {', '.join(case['addresses'])}", "", connect_table(case["rows"])]
    return parts


def transferring(measured):
    if not measured["transfer"]:
        return []
    pairs, forwarders = measured["transfer"]
    return ["", "## Transfer", "",
            f"{SIZE >> 20} MiB from a file of zeros over IPv4, both ends on this machine: MB/s from the sender's start to the "
            "receiver's end. CPU of both ends, or of the forwarder alone.", "",
            transfer_table(pairs, "socat to socat, blocks of 256 KiB"), "",
            "Passed on by a forwarder; the ends are socat's with blocks of 256 KiB.", "",
            transfer_table(forwarders, "socat, blocks of 256 KiB")]


def sending(measured):
    if not measured.get("files"):
        return []
    return ["", "## Files", "",
            f"{files.SIZE >> 20} MiB of random bytes over IPv4, both ends on this machine: MB/s from the sender's start to its end, which "
            "for filedrop is when the receiver has checked and synced the file. CPU of both ends.", "",
            transfer_table(measured["files"], files.PLAIN)]


def paging(measured):
    page = measured.get("page")
    if not page:
        return []
    return ["", "## The page", "",
            f"`discoverd show` with {page['count']} services of another host, in Debian's Chromium, headless: ms from the load of the page until its "
            "list is drawn. First: `show` begins to look with it, and a list settles after a second. Again: what there is is known.", "",
            table(["load", "ms"], [["first", number(page["first"], 0)], [f"again, median of {page['runs']}", number(page["again"], 0)]])]


def zoned(measured):
    if not measured.get("zones"):
        return []
    return ["", "## Zones", "",
            f"{DOMAINS * EACH:,} services in {DOMAINS} sub-domains of one zone, a host and a DNS server of Debian's in two subnets "
            "([beyond one link](beyond-link.md)). discoverd: one process on the library, `PublishInZones`, with 50 services in a message "
            "at most and 16 messages under way; nsupdate: the same records in as large messages, by one process, one after the other and "
            "without conditions. Complete: runs in which all were there, and the zone was as before at the end. Listed: all of them "
            "resolved by one `discoverd browse -r -t` with so many `--domain`, through Unbound, from the other subnet; transferred: "
            "the whole zone by `dig AXFR`.", "", zones_table(measured["zones"])]


def idling(measured):
    parts = ["", "## Idle", "", "discoverd's daemon watches services; nobody asks it. Wake-ups: context switches of all threads."]
    for idle in measured["idle"]:
        parts += ["", f"### `finder: {idle['finder']}`, {idle['count']} services, {idle['seconds']} s", "", idle_table(idle["rows"])]
    return parts if measured["idle"] else []


def starting(measured):
    return ["", "## Start-up", "", table(
        ["command", "ms", "CPU ms", "RSS MiB"],
        [[f"`{key}`", *(number(value, 1) for value in row)] for key, row in measured["startup"].items()])
    ] if measured["startup"] else []


def within(measured):
    rows = measured.get("inside")
    return ["", "## Inside", "",
            "`Benchmarks/Inside` with package-benchmark. *Facts to JSON lines* is all that `browse -r --json` does within its "
            "process. `make bench-inside` compares with `Benchmarks/Thresholds`.", "", inside_table(rows), *growing(rows)] if rows else []


def growing(rows):
    row = rows.get(GROWTH)
    return ["", f"Facts to JSON lines of 4000 services, in turn with four times 1000, take {row['p50'] / 1000:.2f} times as "
            f"long as 1000. It is the median of {row['samples']}; 90 % of them are within {row['low'] / 1000:.2f} to "
            f"{row['p90'] / 1000:.2f}."] if row else []
