#!/usr/bin/env python3
"""Drives Chromium with chromedriver (W3C WebDriver) as lines of JSON say: one request a line, one answer a line.

  {"do":"open","url":U}                        a page in the window
  {"do":"window"}                              another window, whose pages share nothing with the first's sessionStorage
  {"do":"value","script":JS}                   what the expression is
  {"do":"until","script":JS,"within":SECONDS}  the first value of it that is true
  {"do":"type","at":SELECTOR,"text":TEXT}      keys into an element
  {"do":"click","at":SELECTOR}
  {"do":"size","width":W,"height":H,"scale":S,"phone":false,"dark":false}
  {"do":"picture","path":FILE}                 what the window shows, as PNG
  {"do":"problems","origin":U}                 errors of the console, and requests to other origins, since it was last asked

Answers are {"value":…} or {"error":"…"}. Ends with its input. Everything that the browser writes is in a directory that goes too.
"""

import base64
import http.client
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ARGUMENTS = [
    # A lab's only user is root, and its namespaces are the sandbox.
    "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--no-first-run", "--force-color-profile=srgb",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-default-browser-check",
    "--disable-features=MediaRouter,DialMediaRouteProvider,OptimizationHints,Translate", "--lang=en-US", "--hide-scrollbars",
]


class Driver:
    def __init__(self, directory):
        environment = dict(os.environ, HOME=directory, TMPDIR=directory, XDG_CONFIG_HOME=directory, XDG_CACHE_HOME=directory)
        self.process = subprocess.Popen(
            ["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment, text=True,
            start_new_session=True)
        port = None
        for line in self.process.stdout:
            if "successfully on port" in line:
                port = int(line.rstrip().rstrip(".").rsplit(" ", 1)[1])
                break
        if port is None:
            raise RuntimeError("chromedriver does not start")
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        options = {"args": ARGUMENTS + [f"--user-data-dir={directory}/profile"], "binary": shutil.which("chromium")}
        wanted = {
            "browserName": "chrome", "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }
        session = self.call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self.base = f"/session/{session['sessionId']}"

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body)
        self.connection.request(method, path, data, {"Content-Type": "application/json"})
        value = json.loads(self.connection.getresponse().read())["value"]
        if isinstance(value, dict) and "error" in value:
            raise RuntimeError(f"{value['error']}: {value.get('message', '').splitlines()[:1]}")
        return value

    def post(self, path, **body):
        return self.call("POST", self.base + path, body)

    def developer(self, command, **parameters):
        return self.post("/goog/cdp/execute", cmd=command, params=parameters)

    def script(self, text):
        return self.post("/execute/sync", script=f"return ({text});", args=[])

    def element(self, selector):
        found = self.post("/element", using="css selector", value=selector)
        return f"/element/{next(iter(found.values()))}"

    def end(self):
        try:
            self.call("DELETE", self.base)
        except Exception:
            pass
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def do(driver, what):
    match what["do"]:
        case "open":
            driver.post("/url", url=what["url"])
        case "window":
            handle = driver.post("/window/new", type="window")["handle"]
            driver.post("/window", handle=handle)
        case "value":
            return driver.script(what["script"])
        case "until":
            deadline = time.monotonic() + what["within"]
            while not (value := driver.script(what["script"])):
                if time.monotonic() > deadline:
                    raise RuntimeError(f"not within {what['within']} s: {what['script']}")
                time.sleep(0.05)
            return value
        case "type":
            driver.post(driver.element(what["at"]) + "/value", text=what["text"])
        case "click":
            driver.post(driver.element(what["at"]) + "/click")
        case "size":
            driver.developer(
                "Emulation.setDeviceMetricsOverride", width=what["width"], height=what["height"],
                deviceScaleFactor=what.get("scale", 1), mobile=what.get("phone", False))
            scheme = "dark" if what.get("dark") else "light"
            driver.developer("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        case "picture":
            with open(what["path"], "wb") as file:
                file.write(base64.b64decode(driver.call("GET", driver.base + "/screenshot")))
        case "problems":
            return problems(driver, what["origin"])
        case other:
            raise RuntimeError(f"no such thing to do: {other}")
    return None


def problems(driver, origin):
    found = []
    for entry in driver.post("/se/log", type="browser"):
        if entry["level"] in ("SEVERE", "WARNING"):
            found.append(f"{entry['level']}: {entry['message']}")
    for entry in driver.post("/se/log", type="performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] != "Network.requestWillBeSent":
            continue
        url = message["params"]["request"]["url"]
        # The browser's own pages are not the page's.
        if not url.startswith((origin + "/", "chrome://", "about:", "data:")):
            found.append(f"request: {url}")
    return found


def main():
    with tempfile.TemporaryDirectory(prefix="browser-", ignore_cleanup_errors=True) as directory:
        driver = Driver(directory)
        try:
            print(json.dumps({"value": "ready"}), flush=True)
            # Not by iteration, which reads ahead.
            while line := sys.stdin.readline():
                try:
                    answer = {"value": do(driver, json.loads(line))}
                except Exception as error:
                    answer = {"error": str(error)}
                print(json.dumps(answer), flush=True)
        finally:
            driver.end()


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    main()
