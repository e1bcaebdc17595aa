"""Tables of docs/performance.md, each with ratios to what others do in the same run."""

from .inside import GROWTH
from .publish import FLOOR

# What every ratio of browsing is taken to.
ANCHOR, OTHER_ANCHOR = "avahi-browse", "python-zeroconf"


def number(value, digits=0):
    return "–" if value is None else f"{value:,.{digits}f}"


def ratio(value, anchor):
    return "–" if value is None or not anchor else f"{value / anchor:.2f}"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def browse_table(rows):
    # Where there are more than avahi-daemon's clients can find.
    against = ANCHOR if ANCHOR in rows else OTHER_ANCHOR
    head = ["tool", "complete", "first", "all found", "all resolved (range)", "exit", "resolved ÷ " + against,
            "exit ÷ " + against, "CPU tool", "CPU avahi", "CPU dbus", "RSS MiB", "packets out/in"]
    anchor = rows.get(against, {})
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
    anchor = rows.get(FLOOR, {})
    out = [[key, complete(row), number(row["established"]), number(row["visible"]), number(row["removed"]),
            ratio(row["established"], anchor.get("established")), ratio(row["removed"], anchor.get("removed")),
            number(row["cpu"], 1), number(row["avahi"]), number(row["sent"])] for key, row in rows.items()]
    return table(["tool", "complete", "established", "visible there", "removed there", f"established ÷ {FLOOR}",
                  f"removed ÷ {FLOOR}", "CPU tool", "CPU avahi", "packets out"], out)


def complete(row):
    return f"{row['complete']}/{row['runs']}"


def connect_table(rows):
    floor = rows.get("curl", {}).get("total")
    return table(["tool", "complete", "first byte", "of it until the first dial", "÷ curl", "CPU tool"],
                 [[key, complete(row), number(row["total"]), number(row["resolving"]), ratio(row["total"], floor),
                   number(row["cpu"], 1)] for key, row in rows.items()])


def names_table(rows):
    return table(["what", "complete", "answer", "exit", "CPU tool"],
                 [[key, complete(row), number(row["answer"], 1), number(row["exit"], 1), number(row["cpu"], 1)]
                  for key, row in rows.items()])


def loss_table(cases):
    return table(["packets lost", "tool", "complete", "most missing", "all resolved, where complete (range)", "exit"],
                 [[f"{case['percent']} %", key, complete(row), number(row["missing"]),
                   number(row["resolved"]) + ("" if row["low"] is None else f" ({number(row['low'])}–{number(row['high'])})"),
                   number(row["exit"])] for case in cases for key, row in case["rows"].items()])


def transfer_table(rows, floor):
    best = rows.get(floor, {}).get("rate")
    return table(["what", "complete", "MB/s", f"÷ {floor}", "CPU, ms", "RSS MiB"],
                 [[key, complete(row), number(row["rate"]), ratio(row["rate"], best), number(row["cpu"]), number(row["rss"], 1)]
                  for key, row in rows.items()])


def zones_table(cases):
    out = []
    for case in cases:
        floor = case["rows"].get("nsupdate", {})
        for key, row in case["rows"].items():
            own = key != "nsupdate"
            listing, transfer = (case["listing"], case["transfer"]) if own else ({}, {})
            out.append([case["server"], key, complete(row), number(row["established"]), number(row["removed"]),
                        ratio(row["established"], floor.get("established")), number(row["cpu"]), number(row["server"]),
                        number(row["rss"], 1), f"{number(listing['found'])} in {number(listing['last'])}" if own else "–",
                        number(listing.get("cpu")), f"{number(transfer['records'])} in {number(transfer['time'])}" if own else "–",
                        number(transfer.get("memory"), 1)])
    return table(["server", "tool", "complete", "published", "withdrawn", "published ÷ nsupdate", "CPU tool", "CPU server",
                  "RSS MiB", "listed", "CPU of that", "transferred", "server's RSS MiB"], out)


def idle_table(rows):
    return table(["process", "CPU, % of a core", "wake-ups a second", "RSS MiB", "peak MiB"],
                 [[key, number(row["cpu"], 3), number(row["switches"], 2), number(row["rss"], 1), number(row["peak"], 1)]
                  for key, row in rows.items()])


def inside_table(rows):
    return table(["work", "samples", "least, µs", "median", "90 %", "least ÷ half the work (N log N: 2.2)"],
                 [[key, number(row["samples"]), *(number(row[share]) for share in ("low", "p50", "p90")), doubling(key, rows)]
                  for key, row in rows.items() if key != GROWTH])


def doubling(key, rows):
    """How much more it takes than the same work on half as many services."""
    words = key.split()
    halves = (" ".join([*words[:at], str(int(word) // 2), *words[at + 1:]]) for at, word in enumerate(words) if word.isdigit())
    half = next((rows[name] for name in halves if name in rows), None)
    return ratio(rows[key]["low"], half["low"]) if half else ""
