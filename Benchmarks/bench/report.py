"""docs/performance.md: tables with ratios, from what one run has measured."""

import os
import platform
import subprocess

# What every ratio is taken to.
ANCHOR = "avahi-browse"
EXPLAINED = {
    "discoverd": "`discoverd browse -r -t --json --no-daemon --backend system`",
    "discoverd-private": "the same with `--backend private`: it starts dbus-daemon and avahi-daemon itself, every time",
    "discoverd-daemon": "`discoverd browse -r -t --json`, answered by a running daemon",
    "avahi-browse": "`avahi-browse -rtp`",
    "avahi-browse -c": "`avahi-browse -rcp`: what avahi-daemon has in its cache",
    "yardstick": "`Benchmarks/c/yardstick-browse.c`: the least on libavahi-client, 64 resolvers in flight",
    "python-zeroconf": "python-zeroconf, ended by its caller after N services (no avahi-daemon)",
}


def number(value, digits=0):
    return "–" if value is None else f"{value:,.{digits}f}"


def ratio(value, anchor):
    return "–" if value is None or not anchor else f"{value / anchor:.2f}"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def browse_table(rows):
    head = ["tool", "complete", "first", "all found", "all resolved (range)", "exit", "resolved ÷ " + ANCHOR,
            "exit ÷ " + ANCHOR, "CPU tool", "CPU avahi", "CPU dbus", "RSS MiB", "packets out/in"]
    anchor = rows.get(ANCHOR, {})
    out = []
    for key, row in rows.items():
        complete = f"{row['complete']}/{row['runs']}" + (f", {row['missing']} missing" if row["missing"] else "")
        resolved = number(row["resolved"])
        if row["low"] is not None:
            resolved += f" ({number(row['low'])}–{number(row['high'])})"
        whole = row["complete"] == row["runs"]
        anchor_whole = anchor and anchor["complete"] == anchor["runs"]
        out.append([key, complete, number(row["first"]), number(row["found"]),
                    resolved if whole else f"incomplete; {resolved}", number(row["exit"]),
                    ratio(row["resolved"], anchor.get("resolved")) if whole and anchor_whole else "–",
                    ratio(row["exit"], anchor.get("exit")) if whole and anchor_whole else "–", number(row["cpu"]),
                    number(row["avahi"]), number(row["dbus"]), number(row["rss"], 1),
                    f"{number(row['sent'])}/{number(row['received'])}"])
    return table(head, out)


def publish_table(rows):
    anchor = next((row for key, row in rows.items() if key.endswith("one group")), None) or next(iter(rows.values()))
    out = [[key, f"{row['complete']}/{row['runs']}", number(row["established"]), number(row["visible"]),
            number(row["removed"]), ratio(row["established"], anchor["established"]), number(row["cpu"], 1)]
           for key, row in rows.items()]
    return table(["tool", "complete", "established", "visible on the other host", "removed there", "established ÷ yardstick",
                  "CPU tool"], out)


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


def document(measured, discoverd, root):
    notes_path = os.path.join(root, "Benchmarks/notes.md")
    parts = ["# Performance", "",
             "Written by `make bench`. Only ratios mean anything: all tools took turns on one machine in one run, in network "
             "namespaces, and other work on that machine met all of them. Figures are medians, times in ms since the command "
             "was started; a row whose runs did not all resolve every service says so and has no ratio.", "",
             "![time until every service was resolved](performance.svg)", "", "## Machine", ""]
    parts += ["- " + line for line in machine(discoverd, root)]
    load = ", ".join(f"{value:.1f}" for value in measured["load"])
    parts += [f"- load average before and after: {load}", f"- {measured['date']}, `Benchmarks/run {measured['arguments']}`", "",
              "## Browse and resolve", "",
              "N services on N/10 hosts (`Benchmarks/c/responder.c`). *Cold*: avahi-daemon was restarted before each run. "
              "*Warm*: avahi-daemon knows all records. *First*, *all resolved*: when the line was read from the tool's "
              "output. CPU in ms; packets as the host's eth0 counts them, before the command's end. For N > 1000 "
              "avahi-daemon's limits are raised; the private backend always has raised limits.", ""]
    shown = {key for case in measured["browse"] for key in case["rows"]}
    parts += [f"- {key}: {text}" for key, text in EXPLAINED.items() if key in shown]
    for case in measured["browse"]:
        parts += ["", f"### N = {case['count']}, {'cold' if case['cold'] else 'warm'}, {case['stack']}", "",
                  browse_table(case["rows"])]
    parts += ["", "## Publish and withdraw", "",
              "Established: the tool's own word. Visible, removed: by `avahi-browse` on another host. The floor is RFC 6762 "
              "§8.1 (three probes, 250 ms apart) and §10.1 (a goodbye counts after 1 s)."]
    for case in measured["publish"]:
        parts += ["", f"### N = {case['count']}", "", publish_table(case["rows"])]
    parts += ["", "## Start-up", "", table(
        ["command", "ms", "CPU ms", "RSS MiB"],
        [[f"`{key}`", *(number(value, 1) for value in row)] for key, row in measured["startup"].items()])]
    if os.path.exists(notes_path):
        with open(notes_path) as file:
            parts += ["", file.read().strip()]
    parts += ["", "## How to repeat", "", "```",
              "make bench          # everything, and writes this page and its plot", "make bench-quick    # prints a few rows",
              "Benchmarks/run --help", "```", "",
              "No root is needed. The C programs are built into `.build-bench`; `make bench BENCHED=path` measures another build.", ""]
    return "\n".join(parts)
