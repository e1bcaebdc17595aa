"""A minimal mDNS responder that can send anything: names of raw bytes, raw rdata, no checks. For tests only."""

import base64
import ipaddress
import select
import socket
import struct
import time

PORT = 5353
TYPES = {"A": 1, "CNAME": 5, "PTR": 12, "HINFO": 13, "TXT": 16, "AAAA": 28, "SRV": 33, "NSEC": 47, "ANY": 255}


def raw(value):
    """Bytes of a JSON value: text, {"b64": ...} or {"hex": ...}."""
    if isinstance(value, str):
        return value.encode()
    return base64.b64decode(value["b64"]) if "b64" in value else bytes.fromhex(value["hex"])


def labels(name):
    """Labels of a JSON name: a list of labels, or text that is split at its dots."""
    if isinstance(name, str):
        name = [label for label in name.split(".") if label]
    return [raw(label) for label in name]


def encode_name(name):
    out = b""
    for label in labels(name):
        if not 1 <= len(label) <= 63:
            raise ValueError(f"a label has 1 to 63 bytes, not {len(label)}; use raw rdata or packets for worse")
        out += bytes([len(label)]) + label
    return out + b"\0"


def encode_strings(strings):
    return b"".join(bytes([len(raw(s))]) + raw(s) for s in strings) or b"\0"


def rdata(record):
    if "rdata" in record:
        return raw(record["rdata"])
    kind = record["type"]
    if kind in ("PTR", "CNAME"):
        return encode_name(record["target"])
    if kind == "SRV":
        head = struct.pack("!HHH", record.get("priority", 0), record.get("weight", 0), record["port"])
        return head + encode_name(record["target"])
    if kind == "TXT":
        return encode_strings(record["strings"])
    if kind in ("A", "AAAA"):
        return ipaddress.ip_address(record["address"]).packed
    raise ValueError(f"a {kind} record needs rdata")


def encode_record(record, ttl=None):
    kind = record["type"]
    # PTR records of a type are shared; the others are one owner's (RFC 6762 section 10.2).
    flush = record.get("flush", kind != "PTR")
    return encode_name(record["name"]) + struct.pack(
        "!HHIH",
        TYPES.get(kind, kind),
        0x8001 if flush else 1,
        record.get("ttl", 120) if ttl is None else ttl,
        len(rdata(record)),
    ) + rdata(record)


def service_records(service):
    """The records of {"instance", "type", "port", "host", "addresses", "txt", "subtypes", "ttl"}."""
    kind = labels(service["type"]) + labels(service.get("domain", "local"))
    kind = [{"hex": label.hex()} for label in kind]
    name = [service["instance"]] + kind
    host = service.get("host", "evil")
    host = [host, "local"] if not isinstance(host, list) else host
    records = [
        {"name": kind, "type": "PTR", "target": name},
        {"name": name, "type": "SRV", "port": service.get("port", 9000), "target": host},
    ]
    if "txt_rdata" in service:
        records.append({"name": name, "type": "TXT", "rdata": service["txt_rdata"]})
    else:
        records.append({"name": name, "type": "TXT", "strings": service.get("txt", [])})
    for address in service.get("addresses", ["10.77.0.3"]):
        records.append({"name": host, "type": "AAAA" if ":" in address else "A", "address": address})
    for subtype in service.get("subtypes", []):
        records.append({"name": [subtype, "_sub"] + kind, "type": "PTR", "target": name})
    for record in records:
        record["ttl"] = service.get("ttl", 120)
    return records


def packets(records, ttl=None, size=1400):
    """Responses that hold the records, each packet within size unless one record alone is larger."""
    out, body, count = [], b"", 0
    for record in records:
        encoded = encode_record(record, ttl)
        if count and len(body) + len(encoded) + 12 > size:
            out.append(struct.pack("!HHHHHH", 0, 0x8400, 0, count, 0, 0) + body)
            body, count = b"", 0
        body += encoded
        count += 1
    if count:
        out.append(struct.pack("!HHHHHH", 0, 0x8400, 0, count, 0, 0) + body)
    return out


def questions(packet):
    """The names that a query asks for, in lower case; empty if the packet is not a plain query."""
    if len(packet) < 12 or packet[2] & 0x80:
        return
    at = 12
    for _ in range(struct.unpack("!H", packet[4:6])[0]):
        if at >= len(packet):
            return
        name, end, jumps = [], None, 0
        while at < len(packet) and packet[at]:
            if packet[at] & 0xC0:
                end = at + 2 if end is None else end
                jumps += 1
                if at + 1 >= len(packet) or jumps > 16:
                    return
                at = struct.unpack("!H", packet[at:at + 2])[0] & 0x3FFF
                continue
            name.append(packet[at + 1:at + 1 + packet[at]].lower())
            at += 1 + packet[at]
        at = (at + 1 if end is None else end) + 4
        yield tuple(name)


class Responder:
    """Announces records twice, then again every interval, and answers questions for their names."""

    def __init__(self, records, interface="eth0", families="46", interval=1.0, rate=2000, raw_packets=()):
        self.records, self.interval, self.pause = records, interval, 1 / rate
        self.raw_packets = list(raw_packets)
        self.by_name = {}
        for record in records:
            self.by_name.setdefault(tuple(label.lower() for label in labels(record["name"])), []).append(record)
        index = socket.if_nametoindex(interface)
        self.sockets = [open_socket(family, index) for family in families]
        self.stopped = False

    def send(self, packet):
        for udp, group in self.sockets:
            try:
                udp.sendto(packet, group)
            except OSError as error:  # no address of that family on the link
                if error.errno not in (99, 101, 105):
                    raise
        if self.pause > 0.0005:
            time.sleep(self.pause)

    def announce(self, ttl=None):
        for packet in packets(self.records, ttl) + self.raw_packets:
            self.send(packet)

    def run(self, ready=lambda: None, deadline=None):
        self.announce()
        ready()
        following = time.monotonic() + 1
        while not self.stopped and (deadline is None or time.monotonic() < deadline):
            wait = max(0, min(following - time.monotonic(), 0.1))
            readable, _, _ = select.select([udp for udp, _ in self.sockets], [], [], wait)
            for udp in readable:
                for name in questions(udp.recv(9000)):
                    for packet in packets(self.by_name.get(name, [])):
                        self.send(packet)
            if time.monotonic() >= following:
                self.announce()
                following = time.monotonic() + self.interval


def checksum(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def frames(message, mac=None, sources=("10.77.0.3", "fe80::3:3")):
    """Ethernet frames that bring a message to the group, over IPv4 and IPv6: to all, or to a MAC address alone."""
    for source in sources:
        v4 = ":" not in source
        family, group = (socket.AF_INET, "224.0.0.251") if v4 else (socket.AF_INET6, "ff02::fb")
        ends = socket.inet_pton(family, source) + socket.inet_pton(family, group)
        length = 8 + len(message)
        udp = struct.pack("!HHHH", PORT, PORT, length, 0) + message
        udp = udp[:6] + struct.pack("!H", checksum(ends + struct.pack("!II", length, 17) + udp) or 0xFFFF) + message
        if v4:
            head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + length, 0, 0, 255, 17, 0) + ends
            head = head[:10] + struct.pack("!H", checksum(head)) + head[12:]
            kind, everyone = 0x0800, "01005e0000fb"
        else:
            head = struct.pack("!IHBB", 6 << 28, length, 17, 255) + ends
            kind, everyone = 0x86DD, "3333000000fb"
        target = bytes.fromhex(mac.replace(":", "") if mac else everyone)
        yield target + b"\x02\0\0\0\0\x33" + struct.pack("!H", kind) + head + udp


def repeat(frames, rate):
    """Sends frames on eth0, all of them so many times a second, and never returns; prints "ready" after the first time."""
    link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    link.bind(("eth0", 0))
    is_first = True
    while True:
        for frame in frames:
            link.send(frame)
        if is_first:
            print("ready", flush=True)
        is_first = False
        time.sleep(1 / rate)


def open_socket(family, index):
    v4 = family == "4"
    udp = socket.socket(socket.AF_INET if v4 else socket.AF_INET6, socket.SOCK_DGRAM)
    udp.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    udp.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    if v4:
        member = struct.pack("=4s4si", socket.inet_aton("224.0.0.251"), b"\0\0\0\0", index)
        udp.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, member)
        udp.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 255)
        udp.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_LOOP, 0)
        udp.bind(("", PORT))
        udp.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, member)
        return udp, ("224.0.0.251", PORT)
    udp.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    udp.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_IF, index)
    udp.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_HOPS, 255)
    udp.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_LOOP, 0)
    udp.bind(("::", PORT))
    member = socket.inet_pton(socket.AF_INET6, "ff02::fb") + struct.pack("=i", index)
    udp.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP, member)
    return udp, ("ff02::fb", PORT, 0, index)
