"""What this project asks of itself, beside what the run has measured."""

from math import log

from .connect import DAEMON, FLOOR as OTHER_FAMILY, GOOD, SAME_FAMILY
from .inside import GROWTH
from .publish import FLOOR, LIBRARY
from .tables import ANCHOR, number, table


def browse(measured, count, cold):
    """The rows of a case over IPv4 only."""
    for case in measured["browse"]:
        if case["count"] == count and case["cold"] == cold and "only" in case["stack"]:
            return case["rows"]
    return {}


def rows_of(cases, key, value):
    return next((case["rows"] for case in cases if case[key] == value), {})


class Goals:
    def __init__(self):
        self.rows = []

    def ratio(self, what, limit, row, floor, key, wanted=None):
        """One row's figure over another's; only a row of which every run was complete can meet it."""
        row, floor = row or {}, floor or {}
        wanted = wanted or f"≤ {limit:g}"
        runs = [f"{one['complete']} of {one['runs']} runs {of}complete" for one, of in ((row, ""), (floor, "of the other "))
                if one and one["complete"] < one["runs"]]
        value, anchor = row.get(key), floor.get(key)
        if value is None or not anchor:
            return self.add(what, wanted, "; ".join(runs) or "not measured", False if runs else None)
        found = value / anchor
        text = f"{found:.3f}" if found < 0.1 else f"{found:.2f}"
        self.add(what, wanted, "; ".join([text, *runs]), found <= limit and row["complete"] == row["runs"])

    def most(self, what, limit, value, unit, digits=1):
        if value is None:
            return self.add(what, f"≤ {limit:g} {unit}", "not measured", None)
        self.add(what, f"≤ {limit:g} {unit}", f"{number(value, digits)} {unit}", value <= limit)

    def add(self, what, wanted, found, met):
        self.rows.append([what, wanted, found, "–" if met is None else "yes" if met else "**no**"])


def goals(measured):
    """Lines of a table: goal, asked, measured, met."""
    out = Goals()
    cold, warm, one, large = (browse(measured, *case) for case in ((1000, True), (1000, False), (1, False), (4000, True)))
    out.ratio(f"1000 cold, resolved: discoverd ÷ {ANCHOR}", 0.6, cold.get("discoverd"), cold.get(ANCHOR), "resolved")
    out.ratio("1000 cold, resolved: discoverd ÷ yardstick", 1, cold.get("discoverd"), cold.get("yardstick"), "resolved")
    private = large.get("discoverd-private")
    out.add("4000 cold, private backend: runs in which all were resolved", "all",
            f"{private['complete']} of {private['runs']}" if private else "not measured",
            private and private["complete"] == private["runs"] or (False if private else None))
    out.ratio(f"1000 warm, resolved: discoverd's daemon ÷ {ANCHOR}", 1 / 50, warm.get("discoverd-daemon"), warm.get(ANCHOR),
              "resolved", "≤ 1/50")
    out.ratio("1 warm, to its exit: discoverd's daemon ÷ avahi-browse -cp", 1 / 2, one.get("discoverd-daemon"),
              one.get("avahi-browse -c"), "exit", "≤ 1/2")
    out.ratio("1 warm, to its exit: discoverd's daemon ÷ avahi-browse -tp", 1 / 50, one.get("discoverd-daemon"),
              one.get("avahi-browse -t"), "exit", "≤ 1/50")
    single, many = (rows_of(measured["publish"], "count", count) for count in (1, 1000))
    out.ratio("publish 1, established ÷ the C client", 1.05, single.get("discoverd publish"), single.get(FLOOR), "established")
    out.ratio("publish 1000, established ÷ the C client with one group", 1.2, many.get(LIBRARY), many.get(FLOOR), "established")
    out.ratio("publish 1000, established ÷ the C client with a group each", 1.2, many.get(LIBRARY),
              many.get("C, a group each"), "established")
    other, same, good = (rows_of(measured["connect"], "name", name) for name in (OTHER_FAMILY, SAME_FAMILY, GOOD))
    out.ratio("connect, an address of the other family dead ÷ curl", 1.05, other.get(DAEMON), other.get("curl"), "total")
    out.ratio("connect, an address of the same family dead ÷ curl with one of the other family dead", 1.05, same.get(DAEMON),
              other.get("curl"), "total")
    out.most("connect, addresses known and good, process start included", 10, good.get(DAEMON, {}).get("total"), "ms")
    out.most("memory of browse -r at 4000", 32, max((large[key]["rss"] for key in ("discoverd", "discoverd-private")
                                                     if large.get(key)), default=None), "MiB")
    idle = (measured.get("idle") or {}).get("rows", {}).get("discoverd's daemon", {})
    out.most("idle daemon, 1000 services warm: CPU", 0.2, idle.get("cpu"), "% of a core", 3)
    out.most("idle daemon, 1000 services warm: RSS", 32, idle.get("rss"), "MiB")
    inside = measured.get("inside") or {}
    what, allowed = "time within our process for 4000 services ÷ for 1000 (N log N)", 4 * log(4000) / log(1000)
    if GROWTH in inside:
        found = inside[GROWTH]["p50"] / 1000
        out.add(what, f"≤ {allowed:.2f}", f"{found:.2f}", found <= allowed)
    else:
        out.add(what, f"≤ {allowed:.2f}", "not measured", None)
    return table(["goal", "asked", "measured", "met"], out.rows)
