"""How long a command takes that does nothing: `--version`."""

from statistics import median

from .timed import Timed


def case(lab, commands, runs):
    results = {key: [] for key in commands}
    for _ in range(runs):
        for key, command in commands.items():
            timed = Timed(lab, "h1", command)
            timed.finish(10)
            results[key].append(((timed.stop - timed.start) * 1000, timed.cpu * 1000, timed.rss))
    return {key: [median(column) for column in zip(*rows)] for key, rows in results.items()}
