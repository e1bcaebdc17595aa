"""The page of `discoverd show` with N services: how long after its load the list is drawn, in Chromium."""

import json
import os
import subprocess
from statistics import median

from .lab import ROOT, stop

COUNT = 1000
DRAWN = (f"document.querySelectorAll('li.service').length >= {COUNT} && document.documentElement.dataset.drawn "
         "? Number(document.documentElement.dataset.drawn) : 0")


class Browser:
    def __init__(self, lab, host):
        self.process = subprocess.Popen(
            [*lab.enter(host), "python3", os.path.join(ROOT, "Tests/LabTests/lab/browser.py")], env=lab.environment(),
            text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.answer()

    def answer(self):
        answer = json.loads(self.process.stdout.readline())
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer["value"]

    def ask(self, **what):
        self.process.stdin.write(json.dumps(what) + "\n")
        self.process.stdin.flush()
        return self.answer()

    def end(self):
        self.process.stdin.close()
        self.process.wait(20)


def case(lab, discoverd, runs, say):
    """{"first": ms of the first load, "again": median ms of the loads after it}: then what there is is known."""
    responder = lab.responder("h2", COUNT)
    show = subprocess.Popen([*lab.enter("h1"), discoverd, "show"], env=lab.environment(), text=True,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    browser = None
    try:
        url = next(word for line in show.stdout for word in line.split() if word.startswith("http://"))
        browser = Browser(lab, "h1")
        browser.ask(do="open", url=url)
        first = browser.ask(do="until", script=DRAWN, within=30)
        again = []
        for _ in range(runs):
            # The key is in the window's sessionStorage; what is after # is spent.
            browser.ask(do="open", url="about:blank")
            browser.ask(do="open", url=url.partition("#")[0])
            again.append(browser.ask(do="until", script=DRAWN, within=30))
    finally:
        if browser:
            browser.end()
        stop(show)
        stop(responder)
    row = {"count": COUNT, "first": first, "again": median(again), "runs": len(again), "all": again}
    say(f"  page: {COUNT} services drawn after {row['first']:.0f} ms, again after {row['again']:.0f} ms")
    return row
