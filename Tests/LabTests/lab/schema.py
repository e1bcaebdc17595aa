#!/usr/bin/env python3
"""Compares docs/discoverd.schema.json with the parser of the configuration: schema.py DOCS DISCOVERD

Both know the same keys at each place, and judge the same files alike. What only the parser can know is in BEYOND.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

import jsonschema
import referencing
import yaml

# A file with an unknown key, and where the keys of that place are in the schema.
PLACES = {
    "": "colour: 1", "limits": "limits: {colour: 1}", "access": "access: {colour: 1}",
    "access/labels": "access: {labels: {colour: 1}}",
    "access/allow/items": "access: {allow: [{user: a, types: '*', colour: 1}]}",
    "listen/oneOf/1": "listen: {address: 9331, colour: 1}",
    "domains/items": "domains: [{name: example.org, colour: 1}]",
    "export/items": "export: [{interface: e, domain: example.org, types: [_http._tcp], colour: 1}]",
    "$service": "services: [{name: a, type: _http._tcp, port: 1, colour: 1}]",
    "$record": "services: [{host: a.local, addresses: [10.0.0.9], on-conflict: fail}]",
    "$service/check/oneOf/1": "services: [{name: a, type: _http._tcp, port: 1, check: {what: tcp, colour: 1}}]",
    "$service/txt/additionalProperties/oneOf/1": "services: [{name: a, type: _http._tcp, port: 1, txt: {k: {base64: '', colour: 1}}}]",
}
SERVICE = "services: [{name: a, type: _http._tcp, port: 80, %s}]"
DOMAIN = "domains: [{name: example.org, %s}]"
CHECK = SERVICE % "check: %s"
VALID = [
    "reload: explicit", "reload:", "log-level: debug", "browse: _http._tcp", "browse: [_http._tcp, printer]", "browse:",
    "listen: 9331", "listen: 127.0.0.1:9331", "listen: '[::1]:9331'", "listen: {address: 9331, hosts: example.org}",
    "access: {attached: rules}", "access: {group: 4711}", "access: {allow: [{user: 0, types: '*'}]}",
    "access: {allow: [{group: a, types: [_http._tcp], domains: example.org, hosts: [a.local]}]}",
    "labels: podman", "labels: [docker, systemd, traefik]", "labels: []", "labels:", "access: {labels: }",
    "access: {labels: {types: '*', names: ['*', '!a'], aliases: wiki, number: 0}}",
    "limits: {clients: 1, services-per-user: 0}", "limits:", "services:", "services: []", "domains: []",
    DOMAIN % "ttl: 60, lease: 2h, host: web1.hosts, addresses: 10.0.0.7", DOMAIN % "server: 'ns.example.org:53'",
    SERVICE % "domain: local, family: ipv4, on-conflict: fail, interfaces: 'en*', subtypes: [_printer]",
    SERVICE % "txt: {a: 1, b: true, c: , d: x, e: {base64: /wA=}}", SERVICE % "host: a.local, addresses: [10.0.0.9, 'fd00::9']",
    "services: [{name: 7, type: _http._tcp, port: 65535}]", "services: [{host: a.local, addresses: 10.0.0.9, family: ipv4}]",
    CHECK % "tcp", CHECK % "'http:/a?b'", CHECK % "'unit:web.service'", CHECK % "'pid:1'", CHECK % "'exec:/bin/true'", CHECK % "",
    CHECK % "{exec: [/bin/true, -x], interval: 10, timeout: 500ms, rise: 1, fall: 100}",
]
INVALID = [
    "labels: traefik", "labels: all", "labels: true", "labels: [podman, podman]", "access: {labels: []}",
    "access: {labels: {number: -1}}", "access: {labels: {names: []}}",
    "colour: red", "7", "[]", "reload: never", "reload: true", "log-level: loud", "browse: {}", "browse: ['']",
    "listen: nowhere", "listen: 0", "listen: 65536", "listen: '::1:9331'", "listen: {hosts: [a]}", "listen: [9331]",
    "access: rules", "access: {attached: all}", "access: {allow: [{types: '*'}]}", "access: {allow: [{user: a}]}",
    "access: {allow: [{user: a, group: b, types: '*'}]}", "limits: {clients: 0}", "limits: {clients: '5'}", "limits: {clients: 1.5}",
    "limits: {request-bytes: 1}", "limits: 5", "domains: [{}]", "domains: [example.org]", DOMAIN % "ttl: soon", DOMAIN % "ttl: -1",
    DOMAIN % "host: -a", DOMAIN % "host: a.b.c.d.e", DOMAIN % "key: ''", "export: [{interface: e, types: [_http._tcp]}]",
    "export: [{interface: [], domain: example.org, types: [_http._tcp]}]", "services: {}", "services: [{}]", "services: [web]",
    "services: [{name: a, type: _http._tcp}]", "services: [{name: a, type: _http._tcp, port: 0}]",
    "services: [{name: a, type: _http._tcp, port: '80'}]", "services: [{name: , type: _http._tcp, port: 80}]",
    "services: [{host: a.local}]", "services: [{host: a.local, addresses: [10.0.0.9], txt: {a: b}}]",
    SERVICE % "family: both", SERVICE % "on-conflict: ask", SERVICE % "txt: [a]", SERVICE % "txt: {a: {base65: x}}", SERVICE % "txt: {a: [b]}",
    CHECK % "ping", CHECK % "{}", CHECK % "{what: tcp, exec: [a]}", CHECK % "{what: tcp, rise: 0}", CHECK % "{what: tcp, interval: 5d}",
]
# Wrong, and a schema cannot say so.
BEYOND = [
    "labels: [traefik]", "access: {labels: {types: [a b]}}", "access: {labels: {aliases: [_x]}}",
    "browse: [_http._tcp, http]", "browse: [a b]", DOMAIN % "ttl: 25h", "domains: [{name: local}]", DOMAIN % "addresses: [127.0.0.1]",
    "export: [{interface: e, domain: example.org, types: [_http._tcp]}]", SERVICE % "host: a.local, addresses: [here]",
    "services: [{name: a, type: _http._tcp, port: 1}, {name: a, type: _http._tcp, port: 2}]", SERVICE % "interfaces: ['!']",
    "services: [{name: '%x', type: _http._tcp, port: 1}]", CHECK % "{what: tcp, interval: 1ms}", SERVICE % "txt: {a: {base64: x}}",
]
DROP_INS = [
    ("name: a\ntype: _http._tcp\nport: 80", True), ("services: [{name: a, type: _http._tcp, port: 80}]", True), ("services:", True),
    ("host: a.local\naddresses: [10.0.0.9]", True), ("reload: auto", False), ("services: []\nreload: auto", False), ("port: 80", False),
]


def check(program, name, text):
    """What the parser says of a file; nothing if it is right."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/{name}"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text + "\n")
        done = subprocess.run([program, "daemon", "--check", "--config", folder], capture_output=True, text=True, check=False)
    assert done.returncode in (0, 78), f"{text}: {done}"
    return done.stderr if done.returncode else ""


def keys(schema, place):
    """Those that the schema has at a place, without those of the version before, which no message names."""
    root, *path = place.split("/")
    node = schema["$defs"][root[1:]] if root.startswith("$") else schema["properties"][root] if root else schema
    for part in path:
        node = node[int(part)] if part.isdigit() else node.get("properties", {}).get(part) or node[part]
    return {key for key, value in node["properties"].items() if not value.get("deprecated")}


def main(docs, program):
    schemas = {}
    for name in ("discoverd.schema.json", "discoverd-services.schema.json", "json-v2.schema.json"):
        with open(f"{docs}/{name}") as file:
            schemas[name] = json.load(file)
        jsonschema.Draft202012Validator.check_schema(schemas[name])
    schema = schemas["discoverd.schema.json"]
    known = referencing.Registry().with_contents(schemas.items())
    judge = jsonschema.Draft202012Validator(schema, registry=known)
    judge_drop_in = jsonschema.Draft202012Validator(schemas["discoverd-services.schema.json"], registry=known)

    faults = []
    for place, text in PLACES.items():
        told = re.search(r"known keys: (.*)", check(program, "discoverd.yaml", text))
        parsed = set(told[1].split(", ")) if told else None
        if parsed != keys(schema, place):
            faults.append(f"keys at {place or 'the root'}: {parsed} of the parser, {keys(schema, place)} of the schema")
    texts = [(one, True, True) for one in VALID] + [(one, False, False) for one in INVALID] + [(one, True, False) for one in BEYOND]
    # Its key is on no machine: ConfigurationLoadTests has the parser read it.
    with open(f"{docs}/discoverd.yaml.example") as file:
        judge.validate(yaml.safe_load(file))
    for text, is_valid, is_right in texts:
        said = check(program, "discoverd.yaml", text)
        wrong = [one.message for one in judge.iter_errors(yaml.safe_load(text))]
        if (not said) != is_right or (not wrong) != is_valid:
            faults.append(f"{text[:100]}: the parser says {said.strip() or 'right'}; the schema says {wrong or 'valid'}")
    for text, is_valid in DROP_INS:
        said = check(program, "services.d/a.yaml", text)
        wrong = [one.message for one in judge_drop_in.iter_errors(yaml.safe_load(text))]
        if (not said) != is_valid or (not wrong) != is_valid:
            faults.append(f"services.d: {text}: the parser says {said.strip() or 'right'}; the schema says {wrong or 'valid'}")
    print(f"{len(PLACES)} places, {len(texts) + len(DROP_INS)} files")
    assert not faults, "\n" + "\n".join(faults)


if __name__ == "__main__":
    main(*sys.argv[1:])
