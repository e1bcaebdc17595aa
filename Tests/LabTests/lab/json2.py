#!/usr/bin/env python3
"""Judges what commands print with --json=2 by docs/json-v2.schema.json: json2.py SCHEMA DISCOVERD

Members that the schema does not name are wrong here. A command that fails says so in its last line.
"""
import json
import signal
import subprocess
import sys
import threading

import jsonschema

from api import strict

# Words, the exit status, and the events, each at least once and none besides.
COMMANDS = [
    ("browse _witap._tcp -t", 0, "added complete"), ("browse _witap._tcp -r -t", 0, "added complete"),
    ("--json=2 browse --all -r -t", 0, "added complete"), ("browse _nosuch._tcp -t", 1, "complete"),
    ("browse --types -t", 0, "added complete"), ("browse --domains -t --domain local", 1, "complete"),
    ("browse _witap._tcp -r -t --socket none", 0, "added complete"),
    ("resolve tony", 0, "found"), ("resolve h2.local", 0, "found"), ("resolve h2.local 10.77.0.2", 0, "found"), ("resolve nosuch _witap._tcp --timeout 1", 1, "error"),
    ("resolve h2.local nosuch.local --timeout 1", 1, "found error"), ("resolve fe80::1%nosuch", 1, "error"), ("wait _witap._tcp", 0, "found"),
    ("wait _nosuch._tcp --timeout 1", 1, "error"), ("query tony._witap._tcp.local SRV", 0, "found"),
    ("query tony._witap._tcp.local TXT", 0, "found"), ("query h2.local A", 0, "found"), ("query nosuch.local A --timeout 1", 1, "error"),
    ("doctor", None, "check"), ("doctor tony", None, "diagnosis"), ("doctor _witap._tcp", None, "diagnosis"),
    ("doctor h2.local", 0, "diagnosis"), ("doctor nosuch --timeout 2", 1, "diagnosis"),
    ("publish held 9100 --detach", 0, "publication"), ("publish held 9101 --detach", 0, "publication"),
    ("publish printer.local 10.77.0.9 --detach", 0, "publication"), ("status --services", 0, "found"), ("status", 0, "status"),
    ("publish held 9101 --on-conflict fail --type _other", 64, "error"), ("connect held --probe", 76, "failed error"),
    ("connect live --probe", 0, "connected"), ("unpublish held", 0, ""), ("unpublish nosuch", 1, "error"), ("reload --socket none", 69, "error"),
    ("key list", 0, ""), ("key add @anna SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU", None, None), ("key list", 0, "found"),
    ("key show", 0, "found"), ("browse tcp --live", 64, "error"), ("nosuch", 64, "error"), ("browse", 64, "error"),
]
# Until a line has come; then they are ended.
RUNNING = [
    ("publish live2 9200", "publication"), ("browse _witap._tcp -r", "added complete"), ("forward live 0", "forwarding"),
    ("status --services --live", "added"), ("status --live", "status"), ("show", "page"),
]


def judge(validator, words, lines):
    """The events of lines; fails where one is not as the schema says."""
    events = []
    for line in lines:
        value = json.loads(line)
        fault = jsonschema.exceptions.best_match(validator.iter_errors(value))
        assert not fault, f"{words}: {line}: {fault.message}"
        events.append(value["event"])
    return events


def main(path, program):
    with open(path) as file:
        document = json.load(file)
    validator = jsonschema.Draft202012Validator(strict(document, set()))
    count = 0
    for words, status, wanted in COMMANDS:
        arguments = words.split() if wanted is None or "--json=2" in words else words.split() + ["--json=2"]
        done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=60, check=False)
        assert status is None or done.returncode == status, f"{words}: {done}"
        if wanted is None:
            continue
        events = judge(validator, words, done.stdout.splitlines())
        # A list that a busy machine cuts short says so.
        assert set(events) - {"incomplete"} == set(wanted.split()), f"{words}: {done}"
        assert words != "resolve h2.local" or len(events) == 1, f"a host is one line: {done}"
        if "error" in events:
            last = json.loads(done.stdout.splitlines()[-1])
            assert last["error"]["status"] == done.returncode and done.stderr, f"{words}: {done}"
        count += len(events)
    for words, wanted in RUNNING:
        with subprocess.Popen([program, *words.split(), "--json=2"], stdout=subprocess.PIPE, text=True) as running:
            timer = threading.Timer(30, running.kill)
            timer.start()
            events = []
            while not set(wanted.split()) <= set(events) and (line := running.stdout.readline()):
                events += judge(validator, words, [line])
            running.send_signal(signal.SIGTERM)
            events += judge(validator, words, running.stdout.read().splitlines())
            timer.cancel()
        assert set(wanted.split()) <= set(events), f"{words}: {events}"
        count += len(events)
    print(f"{count} lines of {len(COMMANDS) + len(RUNNING)} commands")


if __name__ == "__main__":
    main(*sys.argv[1:])
