#!/usr/bin/env python3
"""Says which services of a type say goodbye on a link, whatever programs on it miss: goodbyes.py INTERFACE TYPE, or HOST.local

Prints "ready", then a line for each instance whose PTR record came with a TTL of 0 (RFC 6762 section 10.1), once; and one for the host whose address
did.
"""
import signal
import struct
import subprocess
import sys


def name(packet, at):
    """The labels at an offset, and where what follows them begins."""
    labels, end = [], None
    for _ in range(64):
        length = packet[at]
        if length & 0xC0:
            end = at + 2 if end is None else end
            at = struct.unpack("!H", packet[at:at + 2])[0] & 0x3FFF
        elif length:
            labels.append(packet[at + 1:at + 1 + length])
            at += 1 + length
        else:
            return labels, at + 1 if end is None else end
    raise ValueError("a name without an end")


def goodbyes(packet, kind):
    """The instances of a type whose PTR record ends, or the host whose address does."""
    _, flags, questions, *counts = struct.unpack("!HHHHHH", packet[:12])
    at = 12
    if not flags & 0x8000:
        return
    for _ in range(questions):
        at = name(packet, at)[1] + 4
    for _ in range(sum(counts)):
        owner, at = name(packet, at)
        number, _, ttl, length = struct.unpack("!HHIH", packet[at:at + 10])
        at += 10
        if number == 12 and ttl == 0 and owner[:2] == kind:
            yield name(packet, at)[0][0].decode()
        elif number in (1, 28) and ttl == 0 and owner == kind:
            yield b".".join(owner).decode()
        at += length


def payload(frame):
    """What a datagram of multicast DNS has."""
    protocol, rest = struct.unpack("!H", frame[12:14])[0], frame[14:]
    if protocol == 0x0800 and rest[9] == 17:
        rest = rest[(rest[0] & 15) * 4:]
    elif protocol == 0x86DD and rest[6] == 17:
        rest = rest[40:]
    else:
        return b""
    return rest[8:] if struct.unpack("!HH", rest[:4]) == (5353, 5353) else b""


def frames(interface):
    """What an interface sees. dumpcap keeps 64 MB of what no program here has a processor for."""
    command = ["dumpcap", "-P", "-i", interface, "-B", "64", "-f", "udp port 5353", "-w", "-"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as dump:
        signal.signal(signal.SIGTERM, lambda *_: dump.terminate())
        # The file's header: it listens.
        if len(dump.stdout.read(24)) == 24:
            print("ready", flush=True)
        while head := dump.stdout.read(16):
            yield dump.stdout.read(struct.unpack("=4I", head)[2])


def main(interface, kind):
    told, labels = set(), [label.encode() for label in kind.split(".")]
    for frame in frames(interface):
        packet = payload(frame)
        for instance in goodbyes(packet, labels) if len(packet) > 12 else ():
            if instance not in told:
                told.add(instance)
                print(instance, flush=True)


main(*sys.argv[1:])
