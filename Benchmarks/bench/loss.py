"""Browses where packets are lost, both ways: in how many runs every service was found and resolved."""

from .browse import Answers, run, summary, text

SERVICES, HOSTS, RUNS = 200, 20, 20
PERCENT = (2, 10)


def rules(percent):
    drop = f"udp dport 5353 numgen random mod 100 < {percent} drop"
    return ["table inet bench {"] + [
        line for hook, link in (("input", "iifname"), ("output", "oifname"))
        for line in (f"chain {hook} {{", f"type filter hook {hook} priority 0;", f'{link} "eth0" {drop}', "}")] + ["}"]


def case(lab, tools, say, percents=PERCENT, runs=RUNS):
    """Tools in turn; the firewall is the host's that browses, so that each direction loses this much, and not twice."""
    answers, cases = Answers(lab, SERVICES), []
    try:
        for percent in percents:
            for host in {tool.host for tool in tools}:
                lab.nft(host, rules(percent))
            results = {tool.key: [] for tool in tools}
            for _ in range(runs):
                for tool in tools:
                    answers.renew()
                    results[tool.key].append(run(lab, tool, SERVICES, False, 10))
            rows = {key: summary(value) for key, value in results.items()}
            say(f"  {percent} % lost: " + ", ".join(
                f"{key} {row['complete']} of {row['runs']}, {text(row['exit'])}" for key, row in rows.items()))
            cases.append({"percent": percent, "rows": rows})
    finally:
        answers.end()
    return cases
