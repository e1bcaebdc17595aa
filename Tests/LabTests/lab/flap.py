#!/usr/bin/env python3
"""Announces services and withdraws them again, RATE times a second: flap.py COUNT RATE SECONDS [TYPE].

With TTL 1 and TTL 0 in turn. Ends with all of them announced for good (TTL 120), and prints "ready" then; answers questions.
"""

import signal
import sys
import time

import mdns


def main():
    count, rate, seconds = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])
    kind = sys.argv[4] if len(sys.argv) > 4 else "_fault._tcp"
    services = [{"instance": f"flap-{n}", "type": kind, "host": "flapper", "txt": ["a=b"]} for n in range(count)]
    records = [record for service in services for record in mdns.service_records(service)]
    responder = mdns.Responder(records)
    signal.signal(signal.SIGTERM, lambda *_: setattr(responder, "stopped", True))
    start = time.monotonic()
    turn = 0
    while time.monotonic() < start + seconds:
        responder.announce(ttl=1 if turn % 2 == 0 else 0)
        turn += 1
        time.sleep(max(0, start + turn / rate - time.monotonic()))
    print(f"flapped {turn}", flush=True)
    responder.run(lambda: print("ready", flush=True))


if __name__ == "__main__":
    main()
