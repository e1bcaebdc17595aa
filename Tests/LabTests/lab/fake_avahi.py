#!/usr/bin/env python3
"""Owns org.freedesktop.Avahi on the host's bus and answers with nonsense: fake_avahi.py KIND

KIND is what is wrong:
  silent   every call succeeds, and no entry group ever tells of itself
  paths    every object has the same path, at which there is none
  types    answers have texts where object paths and numbers belong
  invalid  object paths that are none; the bus ends the connection for that, and it comes again
  states   entry groups tell of states that do not exist, of objects that do not exist, and of failure without a reason
  items    browsers tell of services whose names, types, interfaces and families cannot be

It speaks D-Bus itself (D-Bus specification, "Message Protocol"), for a library would not send all of this. Prints READY.
"""

import os
import socket
import struct
import sys

BUS = "/run/dbus/system_bus_socket"
CALL, RETURN, ERROR, SIGNAL = 1, 2, 3, 4
PATH, INTERFACE, MEMBER, ERROR_NAME, REPLY_SERIAL, DESTINATION, SENDER, SIGNATURE = range(1, 9)
AVAHI = "org.freedesktop.Avahi"


def pad(data, to):
    return data + b"\0" * (-len(data) % to)


def text(value):
    data = value.encode()
    return struct.pack("<I", len(data)) + data + b"\0"


def body(signature, values):
    data = b""
    for kind, value in zip(signature, values):
        if kind in "so":
            data = pad(data, 4) + text(value)
        elif kind in "iu":
            data = pad(data, 4) + struct.pack("<" + {"i": "i", "u": "I"}[kind], value)
        else:
            raise ValueError(kind)
    return data


class Bus:
    def __init__(self):
        self.serial = 0
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(BUS)
        uid = str(os.getuid()).encode().hex().encode()
        self.socket.sendall(b"\0AUTH EXTERNAL " + uid + b"\r\n")
        assert self.socket.recv(1024).startswith(b"OK")
        self.socket.sendall(b"BEGIN\r\n")
        self.call("Hello")
        self.call("RequestName", "su", [AVAHI, 4])

    def call(self, member, signature="", values=()):
        self.send(CALL, {PATH: "/org/freedesktop/DBus", INTERFACE: "org.freedesktop.DBus", MEMBER: member,
                         DESTINATION: "org.freedesktop.DBus"}, signature, values)

    def send(self, kind, fields, signature="", values=()):
        self.serial += 1
        data = b""
        if signature:
            fields = {**fields, SIGNATURE: signature}
        for number, value in fields.items():
            data = pad(data, 8) + bytes([number])
            if number == REPLY_SERIAL:
                data = data + b"\1u\0"
                data = pad(data, 4) + struct.pack("<I", value)
            elif number == SIGNATURE:
                data += b"\1g\0" + bytes([len(value)]) + value.encode() + b"\0"
            else:
                data += b"\1" + (b"o" if number == PATH else b"s") + b"\0"
                data = pad(data, 4) + text(value)
        content = body(signature, values)
        head = struct.pack("<cBBBIII", b"l", kind, 0, 1, len(content), self.serial, len(data))
        self.socket.sendall(pad(head + data, 8) + content)

    def exactly(self, count):
        data = b""
        while len(data) < count:
            more = self.socket.recv(count - len(data))
            if not more:
                raise ConnectionError
            data += more
        return data

    def receive(self):
        head = self.exactly(16)
        order = "<" if head[:1] == b"l" else ">"
        kind = head[1]
        length, serial, fields_length = struct.unpack(order + "III", head[4:])
        rest = self.exactly(fields_length + -fields_length % 8 + length)
        fields, at = {}, 0
        while at < fields_length:
            at += -at % 8
            number, signature = rest[at], chr(rest[at + 2])
            at += 4
            if signature == "g":
                at += rest[at] + 2
                continue
            at += -at % 4
            (value,) = struct.unpack_from(order + "I", rest, at)
            at += 4
            if signature in "so":
                fields[number] = rest[at : at + value].decode()
                at += value + 1
        return kind, serial, fields


class Fake:
    def __init__(self, kind):
        self.kind = kind
        self.bus = Bus()
        self.groups = 0

    def answer(self, to, serial, signature="", values=()):
        self.bus.send(RETURN, {REPLY_SERIAL: serial, DESTINATION: to}, signature, values)

    def refuse(self, to, serial, name="org.freedesktop.DBus.Error.UnknownObject"):
        self.bus.send(ERROR, {REPLY_SERIAL: serial, DESTINATION: to, ERROR_NAME: name}, "s", ["no such thing"])

    def signal(self, to, path, interface, member, signature, values):
        fields = {PATH: path, INTERFACE: f"{AVAHI}.{interface}", MEMBER: member, DESTINATION: to}
        self.bus.send(SIGNAL, fields, signature, values)

    def run(self):
        while True:
            kind, serial, fields = self.bus.receive()
            if kind == CALL:
                self.called(serial, fields)

    def called(self, serial, fields):
        to, member, path = fields[SENDER], fields[MEMBER], fields.get(PATH, "/")
        if member == "Ping":
            self.answer(to, serial)
        elif member == "GetAPIVersion":
            self.answer(to, serial, "u", [515])
        elif member == "GetState" and path == "/":
            self.answer(to, serial, "i", [2])
        elif member == "GetState" and self.kind != "paths":
            self.answer(to, serial, "i", [99 if self.kind == "states" else 0])
        elif member in ("GetHostName", "GetHostNameFqdn", "GetVersionString", "GetDomainName"):
            self.answer(to, serial, "s", ["fake"])
        elif member.endswith(("New", "Prepare")):
            self.made(to, serial, member)
        elif self.kind == "paths":
            self.refuse(to, serial)
        else:
            self.answer(to, serial)
            if self.kind == "states" and member == "Commit":
                self.signal(to, path, "EntryGroup", "StateChanged", "is", [99, "org.freedesktop.Avahi.Nonsense"])
                self.signal(to, "/no/such/group", "EntryGroup", "StateChanged", "is", [2, ""])
                self.signal(to, path, "EntryGroup", "StateChanged", "is", [4, "org.freedesktop.Avahi.Nonsense"])

    def made(self, to, serial, member):
        self.groups += 1
        what = member.removesuffix("New")
        path = f"/Client1/{what}{self.groups}"
        if self.kind == "paths":
            path = "/no/such/object"
        if self.kind == "types":
            return self.answer(to, serial, "si", ["text", 7])
        if self.kind == "invalid":
            path = "no path//at all/"
        self.answer(to, serial, "o", [path])
        if self.kind == "items" and what == "ServiceBrowser":
            for interface, family, name, type in [
                (-7, 0, "a", "_xy._tcp"), (2**31 - 1, 1, "b", "_xy._tcp"), (2, 77, "c", "_xy._tcp"), (2, 0, "", "_xy._tcp"),
                (2, 0, "n" * 300, "_xy._tcp"), (2, 0, "d", "nonsense"), (2, 0, "e", ""), (2, 0, "f\x1b[2J", "_xy._tcp"),
            ]:
                self.signal(to, path, what, "ItemNew", "iisssu", [interface, family, name, type, "no..domain", 2**32 - 1])
            self.signal(to, path, what, "Failure", "s", ["org.freedesktop.Avahi.Nonsense"])
            self.signal(to, path, what, "AllForNow", "", [])


def main():
    kind = sys.argv[1]
    said = False
    while True:
        try:
            fake = Fake(kind)
            if not said:
                print("READY", flush=True)
                said = True
            fake.run()
        except (ConnectionError, BrokenPipeError):
            continue


main()
