#!/usr/bin/env python3
"""Compares a daemon's answers with docs/openapi.yaml: api.py DESCRIPTION SOCKET EXAMPLES

The description is valid OpenAPI; schemathesis sends requests that it allows, and others; what comes back has a status, a type and
members that it describes. Streams are read for two seconds, line by line.
"""
import http.client
import json
import os
import socket
import subprocess
import sys
import tempfile
import time

import jsonschema
import openapi_spec_validator
import yaml

HOOKS = """
import json
import schemathesis

@schemathesis.hook
def map_query(context, query):
    names = {one.name for one in context.operation.query}
    if "wait" in names:
        query = {**(query or {}), "wait": "0.05"}
    if "attached" in names:
        query = {**(query or {}), "attached": "0"}
    return query

@schemathesis.hook
def after_call(context, case, response):
    kind = response.headers.get("content-type", [""])[0]
    with open("answers", "a") as file:
        file.write(json.dumps([case.operation.path, case.operation.method.lower(), response.status_code, kind, response.text]) + "\\n")
"""
STREAMS = {
    "/v1/services/watch?type=_witap._tcp": "ServiceLine", "/v1/services/watch?view=page": "ServiceLine",
    "/v1/types/watch": "TypeLine", "/v1/domains/watch": "DomainLine", "/v1/backend/watch": "BackendLine",
    "/v2/services/watch?type=_witap._tcp": "ServiceLine", "/v2/services/watch?view=page": "ServiceLine",
    "/v2/types/watch": "TypeLine", "/v2/domains/watch": "DomainLine", "/v2/availability/watch": "AvailabilityLine",
}
# Shapes of version 2 have a name of their own beside those of version 1.
SHAPES = "json-v2.schema.json"


class Connection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=2)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def strict(node, shared, is_part=False):
    """Has no object members but those that it names. What other objects are made of (allOf) is judged there."""
    if isinstance(node, list):
        return [strict(one, shared) for one in node]
    if not isinstance(node, dict):
        return node
    made = {}
    for key, value in node.items():
        made[key] = [strict(one, shared, True) for one in value] if key == "allOf" else strict(value, shared)
    if is_part:
        return made
    if "allOf" in node or node.get("$ref", "").split("/")[-1] in shared:
        made["unevaluatedProperties"] = False
    elif isinstance(node.get("properties"), dict) and "additionalProperties" not in node:
        made["additionalProperties"] = False
    return made


def parts(node):
    """The schemas that others are made of."""
    if isinstance(node, list):
        return set().union(*map(parts, node)) if node else set()
    if not isinstance(node, dict):
        return set()
    own = {one["$ref"].split("/")[-1] for one in node.get("allOf", []) if "$ref" in one}
    return own.union(*map(parts, node.values()))


def whole(description):
    """The description with the shapes of version 2 in it."""
    with open(description) as file:
        text = file.read().replace(f'"{SHAPES}#/$defs/', '"#/components/schemas/V2')
    document = yaml.safe_load(text)
    with open(os.path.join(os.path.dirname(description), SHAPES)) as file:
        shapes = json.loads(file.read().replace('"#/$defs/', '"#/components/schemas/V2'))
    document["components"]["schemas"].update({f"V2{name}": shape for name, shape in shapes["$defs"].items()})
    return document


def lines(path, target):
    """What a stream says in two seconds."""
    connection = Connection(path)
    connection.request("GET", target)
    answer = connection.getresponse()
    assert answer.status == 200, f"{target}: {answer.status}"
    assert answer.headers["Content-Type"] == "application/x-ndjson", answer.headers["Content-Type"]
    end = time.monotonic() + 2
    try:
        while time.monotonic() < end and (line := answer.readline()):
            yield json.loads(line)
    except TimeoutError:
        pass
    connection.close()


def judge(judged, path, method, status, kind, text):
    """What is wrong with an answer; nothing if it is as it says."""
    responses = judged["paths"][path][method]["responses"]
    if str(status) not in responses:
        return "its status is not described"
    response = responses[str(status)]
    if "$ref" in response:
        response = judged["components"]["responses"][response["$ref"].split("/")[-1]]
    if "content" not in response:
        return "it has a body" if text else None
    kind = kind.split(";")[0]
    if kind not in response["content"]:
        return f"{kind} is not described"
    if kind != "application/json":
        return None
    schema = {**response["content"][kind]["schema"], "components": judged["components"]}
    faults = list(jsonschema.Draft202012Validator(schema).iter_errors(json.loads(text)))
    return faults[0].message if faults else None


def main(description, path, examples):
    document = whole(description)
    openapi_spec_validator.validate(document)
    shared = parts(document)
    judged = strict(document, shared)
    for name in shared:
        judged["components"]["schemas"][name].pop("additionalProperties", None)

    count = 0
    for target, name in STREAMS.items():
        names = [f"V2{name}", "V2ListLine"] if target.startswith("/v2") else [name]
        schema = {"anyOf": [{"$ref": f"#/components/schemas/{one}"} for one in names], "components": judged["components"]}
        validator = jsonschema.Draft202012Validator(schema)
        for line in lines(path, target):
            faults = list(validator.iter_errors(line))
            assert not faults, f"{target}: {line}: {faults[0].message}"
            count += 1
    print(f"{count} lines of {len(STREAMS)} streams", flush=True)

    with tempfile.TemporaryDirectory() as folder:
        relay = subprocess.Popen(
            ["socat", "TCP-LISTEN:9332,bind=127.0.0.1,fork,reuseaddr", f"UNIX-CONNECT:{path}"])
        try:
            with open(f"{folder}/api.json", "w") as file:
                json.dump(judged, file)
            with open(f"{folder}/hooks.py", "w") as file:
                file.write(HOOKS)
            command = [
                sys.executable, "-m", "schemathesis.cli", "run", f"{folder}/api.json",
                "--url", "http://127.0.0.1:9332", "--checks", "not_a_server_error", "--phases", "examples,fuzzing",
                "--max-examples", examples, "--exclude-path-regex", "watch$", "--suppress-health-check", "all",
                "--generation-deterministic", "--request-timeout", "30", "--no-color",
            ]
            done = subprocess.run(
                command, cwd=folder, env={**os.environ, "SCHEMATHESIS_HOOKS": "hooks", "PYTHONPATH": folder})
            with open(f"{folder}/answers") as file:
                answers = [json.loads(line) for line in file]
        finally:
            relay.terminate()
            relay.wait()
    assert done.returncode in (0, 1), f"schemathesis ended with {done.returncode}"
    asked = {(path, method) for path, method, *_ in answers}
    print(f"{len(answers)} answers of {len(asked)} operations", flush=True)
    assert len(asked) == sum(
        method in ("get", "post", "put", "delete")
        for path, methods in judged["paths"].items() if not path.endswith("watch") for method in methods)
    for answer in answers:
        fault = judge(judged, *answer)
        assert not fault, f"{answer}: {fault}"


if __name__ == "__main__":
    main(*sys.argv[1:])
