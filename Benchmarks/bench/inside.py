"""The library's inside, by package-benchmark in a package of its own (Benchmarks/Package.swift)."""

import json
import os
import subprocess
import tempfile

from .lab import ROOT

PACKAGE = os.path.join(ROOT, "Benchmarks")
SCRATCH = os.path.join(ROOT, ".build-inside")
BASELINE = "bench"
# A ratio in thousandths, not a time.
GROWTH = "Growth from 1000 to 4000 services"
# package-benchmark: equal, and better.
FINE = (0, 4)


def command(*arguments):
    return [os.environ.get("SWIFT", "swift"), "package", "--package-path", PACKAGE, "--scratch-path", SCRATCH,
            "--allow-writing-to-package-directory", "benchmark", *arguments, "--no-progress"]


def swift(*arguments, **options):
    return subprocess.run(command(*arguments), cwd=PACKAGE, **options)


def build():
    """Builds, which takes minutes. Returns the exit status."""
    return swift("list", stdout=subprocess.DEVNULL).returncode


def measure(keep=False):
    """{name: the least, p50 and p90 in µs, and the number of samples}, ordered by name and number. Builds what
    is not built. With `keep`, what was measured can be compared with Thresholds/."""
    with tempfile.TemporaryDirectory() as directory:
        export = ("--format", "jmh", "--path", directory)
        if keep:
            swift("baseline", "update", BASELINE, "--quiet", check=True, stdout=subprocess.DEVNULL)
            swift("baseline", "read", BASELINE, *export, check=True, stdout=subprocess.DEVNULL)
        else:
            swift("run", *export, "--quiet", check=True, stdout=subprocess.DEVNULL)
        found = {}
        for name in os.listdir(directory):
            with open(os.path.join(directory, name)) as file:
                for element in json.load(file):
                    name = element["benchmark"].split(".", 3)[3].replace("_", " ")
                    metric = element["secondaryMetrics"]["growth" if name == GROWTH else "Time (wall clock)"]
                    low, p50, p90 = (metric["scorePercentiles"][share] for share in ("0.0", "50.0", "90.0"))
                    found[name] = {
                        "low": low, "p50": p50, "p90": p90, "samples": element["measurementIterations"]}
    return dict(sorted(found.items(), key=lambda item: [word.zfill(9) if word.isdigit() else word for word in item[0].split()]))


def check():
    """Whether the last measurement is within Thresholds/; says what is not."""
    return swift("thresholds", "check", BASELINE).returncode in FINE


def update():
    """Takes the last measurement as the new Thresholds/."""
    swift("thresholds", "update", BASELINE, check=True)
