"""What this project asks of itself, beside what the run has measured."""

from math import log

from .connect import DAEMON, FLOOR as OTHER_FAMILY, GOOD, SAME_FAMILY
from .files import PLAIN, SECURED
from .inside import GROWTH
from .names import AGAIN, COLD
from .publish import FLOOR, LIBRARY
from .tables import ANCHOR, OTHER_ANCHOR, number, table
from .transfer import OWN


def browse(measured, count, cold, stack="IPv4 only"):
    """The rows of a case."""
    for case in measured["browse"]:
        if case["count"] == count and case["cold"] == cold and case["stack"] == stack:
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
                if one.get("complete", 0) < one.get("runs", 0)]
        value, anchor = row.get(key), floor.get(key)
        if value is None or not anchor:
            return self.add(what, wanted, "; ".join(runs) or "not measured", False if runs else None)
        found = value / anchor
        text = f"{found:.3f}" if found < 0.1 else f"{found:.2f}"
        whole = row.get("complete") == row.get("runs")
        self.add(what, wanted, "; ".join([text, *runs]), found <= limit and whole)

    def most(self, what, limit, value, unit, digits=1):
        if value is None:
            return self.add(what, f"≤ {limit:g} {unit}", "not measured", None)
        self.add(what, f"≤ {limit:g} {unit}", f"{number(value, digits)} {unit}", value <= limit)

    def complete(self, what, row):
        """Every run is to be."""
        self.add(what, "all", f"{row['complete']} of {row['runs']}" if row else "not measured",
                 row["complete"] == row["runs"] if row else None)

    def add(self, what, wanted, found, met):
        self.rows.append([what, wanted, found, "–" if met is None else "yes" if met else "**no**"])


def goals(measured):
    """Lines of a table: goal, asked, measured, met."""
    out = Goals()
    finding(out, measured)
    one_name(out, measured)
    idle(out, measured)
    publishing_and_connecting(out, measured)
    sending(out, measured)
    out.most("the page: 1000 services drawn after its load", 300, (measured.get("page") or {}).get("again"), "ms", 0)
    return table(["goal", "asked", "measured", "met"], out.rows)


def finding(out, measured):
    cold, warm, one, single = (browse(measured, *case) for case in ((1000, True), (1000, False), (1, False), (1, True)))
    own = cold.get("discoverd")
    for other, limit in ((OTHER_ANCHOR, 0.4), (ANCHOR, 0.1), ("mdnsd", 1)):
        out.ratio(f"1000 cold, resolved: discoverd ÷ {other}", limit, own, cold.get(other), "resolved")
    out.ratio("1000 cold: avahi-daemon's CPU beside discoverd ÷ for avahi-browse", 0.6, own, cold.get(ANCHOR), "avahi")
    large = browse(measured, 4000, True)
    for stack in ("IPv4 only", "IPv4 and IPv6"):
        rows = browse(measured, 4000, True, stack)
        out.complete(f"4000 cold, {stack}: runs in which all were resolved", rows.get("discoverd"))
        out.ratio(f"4000 cold, {stack}, resolved: discoverd ÷ {OTHER_ANCHOR}", 0.05, rows.get("discoverd"),
                  rows.get(OTHER_ANCHOR), "resolved")
    for hosts in ("400 hosts", "one host"):
        row = browse(measured, 16000, True, f"IPv4 only, {hosts}").get("discoverd")
        out.complete(f"16,000 cold, {hosts}: runs in which all were resolved", row)
        out.ratio(f"16,000 cold, {hosts}, resolved ÷ 4000", 5, row, large.get("discoverd"), "resolved")
        out.most(f"16,000 cold, {hosts}: memory", 48, row and row["rss"], "MiB")
    for count, limit, stack in ((1000, 1.6, "IPv4 only"), (4000, 2, "IPv4 only"), (16000, 5, "IPv4 only, 400 hosts")):
        rows = browse(measured, count, True, stack)
        out.ratio(f"{count} cold, resolved: discoverd ÷ the floor", limit, rows.get("discoverd"), rows.get("floor"), "resolved")
    out.most("1000 cold, to the command's end", 600, own and own["exit"], "ms", 0)
    for what, row, limit in (("1", single.get("discoverd"), 13), ("1000", own, 40),
                             ("16,000", browse(measured, 16000, True, "IPv4 only, 400 hosts").get("discoverd"), 450)):
        out.most(f"{what} cold: CPU of the command", limit, row and row["cpu"], "ms", 0)
    out.ratio(f"first of 1 cold: discoverd ÷ {ANCHOR}", 1, single.get("discoverd"), single.get(ANCHOR), "first")
    lossy = rows_of(measured["loss"], "percent", 2).get("discoverd")
    out.complete("2 % of packets lost, 20 hosts: runs in which all were resolved", lossy)
    out.ratio(f"1000 warm, resolved: discoverd's daemon ÷ {ANCHOR}", 1 / 100, warm.get("discoverd-daemon"), warm.get(ANCHOR),
              "resolved", "≤ 1/100")
    out.most("1000 warm, resolved by discoverd's daemon", 8, (warm.get("discoverd-daemon") or {}).get("resolved"), "ms")
    out.ratio("1 warm, to its exit: discoverd's daemon ÷ avahi-browse -cp", 0.4, one.get("discoverd-daemon"),
              one.get("avahi-browse -c"), "exit")


def one_name(out, measured):
    cold, again = (rows_of(measured["names"], "name", name) for name in (COLD, AGAIN))
    out.ratio("resolve NAME cold, to its exit ÷ avahi-resolve -n", 0.2, cold.get("resolve, discoverd"),
              cold.get("resolve, avahi-resolve"), "exit")
    out.most("connect to a name that nobody asked for, good addresses", 20, cold.get("connect, discoverd", {}).get("exit"), "ms")
    for what in ("resolve", "connect", "browse -r -t"):
        out.ratio(f"{what} 0.3 s after another process, to its exit ÷ with --finder avahi", 1, again.get(f"{what}, discoverd"),
                  again.get(f"{what}, discoverd-avahi"), "exit")
    lists = {name: rows_of(measured["lists"], "name", name) for name in (COLD, AGAIN)}
    for name, limit in ((COLD, 0.35), (AGAIN, 0.5)):
        out.ratio(f"browse -t of ten services on three hosts, {name}, to its end ÷ avahi-browse -t", limit,
                  lists[name].get("browse -t, discoverd"), lists[COLD].get("browse -t, avahi-browse"), "exit")
    beside = measured["beside"]
    out.add("avahi-daemon beside it: questions to it alone that it answers", "20 of 20",
            f"{beside['answered']} of {beside['asked']}" if beside else "not measured",
            beside and beside["answered"] == beside["asked"] and beside["found"])


def idle(out, measured):
    wire, avahi = (rows_of(measured["idle"], "finder", finder) for finder in ("wire", "avahi"))
    own = wire.get("discoverd's daemon", {})
    out.most("idle daemon, 1000 services watched: CPU", 0.1, own.get("cpu"), "% of a core", 3)
    out.most("idle daemon, 1000 services watched: RSS", 32, own.get("rss"), "MiB")
    out.ratio("idle, 1000 services watched: avahi-daemon's CPU ÷ with finder: avahi", 1, wire.get("avahi-daemon"),
              avahi.get("avahi-daemon"), "cpu", "< 1")


def publishing_and_connecting(out, measured):
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
    in_zones(out, measured)
    inside = measured.get("inside") or {}
    what, allowed = "time within our process for 4000 services ÷ for 1000 (N log N)", 4 * log(4000) / log(1000)
    if GROWTH in inside:
        found = inside[GROWTH]["p50"] / 1000
        out.add(what, f"≤ {allowed:.2f}", f"{found:.2f}", found <= allowed)
    else:
        out.add(what, f"≤ {allowed:.2f}", "not measured", None)


def sending(out, measured):
    rates = [(measured.get("files") or {}).get(key, {}).get("rate") for key in (SECURED, PLAIN)]
    what = "1 GiB by filedrop: MB/s with TLS ÷ without"
    if all(rates):
        out.add(what, "≥ 0.8", f"{rates[0] / rates[1]:.2f}", rates[0] / rates[1] >= 0.8)
    else:
        out.add(what, "≥ 0.8", "not measured", None)
    pairs = (measured["transfer"] or [{}])[0]
    rates = [pairs.get(key, {}).get("rate") for key in (OWN, "socat to socat, blocks of 256 KiB")]
    what = "512 MiB by connect and listen: MB/s ÷ socat's with blocks of 256 KiB"
    if all(rates):
        out.add(what, "≥ 0.9", f"{rates[0] / rates[1]:.2f}", rates[0] / rates[1] >= 0.9)
    else:
        out.add(what, "≥ 0.9", "not measured", None)


def in_zones(out, measured):
    for server, limit in (("BIND", 30), ("Knot", 60)):
        case = next((case for case in measured.get("zones", []) if case["server"] == server), None)
        row = case["rows"][LIBRARY] if case else {}
        what = f"10,000 in 100 sub-domains on {server}"
        out.most(f"{what}, published", limit, row.get("established") and row["established"] / 1000, "s")
        out.complete(f"{what}: runs in which all were there, and the zone was as before at the end", row)
        out.add(f"{what}: listed and resolved by one browse", "all", f"{case['listing']['found']:,.0f}" if case else "not measured",
                case and case["listing"]["found"] == case["count"])
