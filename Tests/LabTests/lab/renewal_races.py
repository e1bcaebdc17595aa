"""Stops publishers for longer than their lease, and wakes each up at the moment at which it is taken back. For tests only.

renewal_races.py SERVER ROUNDS PID,INSTANCE,LEASE...

Wakes up with the janitor's first change of the lease, when the service's records are gone, or about when the lease ends, in turn;
says "ready" once all of them are back after the last round, and "race PID WHEN" for each wake-up.
"""

import os
import random
import signal
import socket
import struct
import sys
import time

LEASE = 10.0
TXT, SRV = 16, 33


class Publisher:
    def __init__(self, pid, instance, lease):
        self.pid = int(pid)
        self.names = {SRV: encode(instance), TXT: encode(lease)}
        self.seen = {SRV: None, TXT: None}
        self.changed = None  # when the lease's text was seen for the first time
        self.session = None  # what its own texts begin with; a janitor's is another
        self.round = -1
        self.texts = {}  # as they were when it was stopped last
        self.is_stopped = False
        self.wake = None


def encode(name):
    labels = [label.encode() for label in name.rstrip(".").split(".")]
    return b"".join(bytes([len(label)]) + label for label in labels) + b"\0"


def records(answer):
    """The answer section as bytes without its TTLs; None for nothing."""
    count = struct.unpack("!H", answer[6:8])[0]
    if answer[3] & 15 or not count:
        return None
    return answer[12:]


def main():
    server, rounds = sys.argv[1], int(sys.argv[2])
    publishers = [Publisher(*argument.split(",")) for argument in sys.argv[3:]]
    link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    link.connect((server, 53))
    asked = {}
    number = 0
    while any(one.round < rounds for one in publishers):
        for one in publishers:
            for kind, name in one.names.items():
                number = (number + 1) & 0xFFFF
                asked[number] = (one, kind)
                link.send(struct.pack("!6H", number, 0, 1, 0, 0, 0) + name + struct.pack("!2H", kind, 1))
        end = time.monotonic() + 0.03
        while (left := end - time.monotonic()) > 0:
            link.settimeout(left)
            try:
                answer = link.recv(4096)
            except TimeoutError:
                break
            one, kind = asked.pop(struct.unpack("!H", answer[:2])[0], (None, None))
            if one is not None:
                look(one, kind, records(answer), rounds)
    print("ready", flush=True)


def look(one, kind, text, rounds):
    now = time.monotonic()
    if kind == TXT and text != one.seen[TXT]:
        one.changed = now
    one.seen[kind] = text
    if not one.is_stopped:
        # The next round begins once its service is there, and a lease that it has renewed itself.
        if None in one.seen.values():
            return
        if one.session is None:
            one.session = session(one.seen[TXT])
        if session(one.seen[TXT]) != one.session or one.seen[TXT] == one.texts.get(TXT):
            return
        one.round += 1
        if one.round < rounds:
            one.texts, one.is_stopped = dict(one.seen), True
            os.kill(one.pid, signal.SIGSTOP)
        return
    when = ("lease", "records", "end")[one.round % 3]
    if one.wake is None:
        if when == "end":
            one.wake = one.changed + LEASE + random.uniform(0.2, 1.5)
        elif one.seen[TXT if when == "lease" else SRV] != one.texts[TXT if when == "lease" else SRV]:
            one.wake = now + random.uniform(0, 0.03)
    if one.wake is not None and one.wake <= now:
        os.kill(one.pid, signal.SIGCONT)
        print("race", one.pid, when, flush=True)
        one.is_stopped, one.wake, one.changed = False, None, None
        one.seen = {SRV: None, TXT: None}


def session(text):
    """The part of a lease's text that stays the same while a publisher runs."""
    return text[text.index(b"nonce=") :].split(b"-")[0]


main()
