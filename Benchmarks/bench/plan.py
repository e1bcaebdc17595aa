"""What is measured, in which order, and what is left out when there is no time for it."""

import time
from dataclasses import dataclass

# A figure that a goal names begins with so many runs, before anything gets more.
FIRST_RUNS = 3


@dataclass(frozen=True)
class Browse:
    count: int
    cold: bool
    ipv4: bool = True
    goal: bool = False
    hosts: int | None = None  # one for ten services if not said

    @property
    def per_host(self):
        return -(-self.count // self.hosts) if self.hosts else 10

    @property
    def limit(self):
        """A run's time, in s."""
        return 10 if self.count < 1000 else 20 if self.count == 1000 else 30

    @property
    def stack(self):
        hosts = "" if self.hosts is None else ", one host" if self.hosts == 1 else f", {self.hosts} hosts"
        return ("IPv4 only" if self.ipv4 else "IPv4 and IPv6") + hosts

    @property
    def about(self):
        """A round's time on a slow machine, in s; all tools are in it."""
        return {1: 15, 100: 20, 1000: 35 if self.cold else 15, 4000: 25}.get(self.count, 15)

    def __str__(self):
        return f"browse {self.count} {'cold' if self.cold else 'warm'}, {self.stack}"


@dataclass(frozen=True)
class Publish:
    count: int
    goal: bool = False

    @property
    def about(self):
        return 12 if self.count <= 100 else 75

    def __str__(self):
        return f"publish {self.count}"


BROWSE = [Browse(1000, True, goal=True), Browse(4000, True, goal=True), Browse(4000, True, ipv4=False, goal=True),
          Browse(16000, True, goal=True, hosts=400), Browse(16000, True, goal=True, hosts=1),
          Browse(1, True, goal=True), Browse(1, False, goal=True), Browse(1000, False, goal=True),
          Browse(1000, True, ipv4=False), Browse(100, True), Browse(1, True, ipv4=False), Browse(100, True, ipv4=False),
          Browse(4000, True, hosts=1), Browse(16000, True, ipv4=False, hosts=400), Browse(4000, False),
          Browse(100, False), Browse(1, False, ipv4=False), Browse(100, False, ipv4=False),
          Browse(1000, False, ipv4=False), Browse(4000, False, ipv4=False)]
PUBLISH = [Publish(1, goal=True), Publish(1000), Publish(100)]
QUICK = [Browse(1, True), Browse(1, False), Browse(1000, True), Browse(1000, False)]


class Clock:
    """Until when there is time; without an end there always is."""

    def __init__(self, end=None):
        self.end = end
        self.left_out = []

    def allows(self, seconds, what):
        """Whether something that takes so long is over in time; what is not is remembered."""
        if self.end is None or time.time() + seconds < self.end:
            return True
        if what not in self.left_out:
            self.left_out.append(what)
        return False


class Rounds:
    """The results of one case, which gets more of them as time permits."""

    def __init__(self, case):
        self.case, self.results, self.done, self.took = case, {}, 0, case.about

    def may(self, wanted, clock):
        """Whether one more is to be done. What a goal names gets its first ones in any case."""
        if self.done >= wanted:
            return False
        needed = self.case.goal and self.done < FIRST_RUNS
        what = f"{self.case}, after {self.done} runs" if self.done else str(self.case)
        return needed or clock.allows(self.took, what)

    def more(self, wanted, clock, one):
        """Calls `one(number)`, whose results by tool are added, until there are `wanted`."""
        while self.may(wanted, clock):
            began = time.time()
            for key, results in one(self.done).items():
                self.results.setdefault(key, []).extend(results)
            self.took = time.time() - began
            self.done += 1
