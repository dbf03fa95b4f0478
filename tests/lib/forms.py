#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""forms: what getmnt audit prints, read as those read it who it is for.

  forms json SCHEMA                JSON documents, one or a line each
  forms prometheus                 text for Prometheus; promtool's word too, where it is
  forms nagios                     a plugin's output

Reads standard input; says what it holds, or fails.  The JSON schema is judged by a reader
of its own for the keywords that the schema has, by which keys that it does not name are
errors; and by python3-jsonschema, where that is installed.
"""
import json
import re
import shutil
import subprocess
import sys


def fail(why):
    print(f"WRONG: {why}")
    sys.exit(1)


TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None),
         "integer": int, "number": (int, float)}
KNOWN = {"$schema", "$id", "title", "description", "$defs", "$ref", "type", "required", "properties", "items", "enum",
         "const", "pattern", "minimum", "propertyNames", "additionalProperties"}


def is_type(value, name):
    return isinstance(value, TYPES[name]) and (name == "boolean" or not isinstance(value, bool))


def check(value, schema, whole, where="$"):
    """Judge a value; keys that the schema does not name are errors."""
    odd = set(schema) - KNOWN
    if odd:
        fail(f"the schema has {odd}, which this does not know")
    if "$ref" in schema:
        at = whole
        for part in schema["$ref"].removeprefix("#/").split("/"):
            at = at[part]
        return check(value, at, whole, where)
    if "type" in schema:
        names = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        if not any(is_type(value, name) for name in names):
            fail(f"{where}: {value!r} is no {names}")
    if "enum" in schema and value not in schema["enum"] or "const" in schema and value != schema["const"]:
        fail(f"{where}: {value!r}")
    if isinstance(value, str) and "pattern" in schema and not re.search(schema["pattern"], value):
        fail(f"{where}: {value!r} does not match {schema['pattern']}")
    if "minimum" in schema and is_type(value, "number") and value < schema["minimum"]:
        fail(f"{where}: {value}")
    if isinstance(value, list) and "items" in schema:
        for i, item in enumerate(value):
            check(item, schema["items"], whole, f"{where}[{i}]")
    if isinstance(value, dict):
        for key in schema.get("required", ()):
            if key not in value:
                fail(f"{where}: no {key}")
        for key, item in value.items():
            if "propertyNames" in schema:
                check(key, schema["propertyNames"], whole, f"{where} {key}")
            more = schema.get("properties", {}).get(key, schema.get("additionalProperties"))
            if more is None:
                fail(f"{where}: the schema does not tell of {key}")
            check(item, more, whole, f"{where}.{key}")
    return None


def no_twice(pairs):
    keys = [key for key, _ in pairs]
    if len(keys) != len(set(keys)):
        fail(f"a key twice: {keys}")
    return dict(pairs)


def read_json(data, path):
    with open(path, encoding="utf-8") as f:
        schema = json.load(f)
    text = data.decode("utf-8")
    try:
        documents = [json.loads(text, object_pairs_hook=no_twice)]
    except json.JSONDecodeError:
        if not text.endswith("\n"):
            fail("the last line is not ended")
        documents = [json.loads(line, object_pairs_hook=no_twice) for line in text.splitlines()]
    for document in documents:
        check(document, schema, schema)
        try:
            import jsonschema
        except ImportError:
            pass
        else:
            jsonschema.Draft202012Validator.check_schema(schema)
            jsonschema.Draft202012Validator(schema).validate(document)
        if "findings" in document:
            of = {word: sum(f["severity"] == word for f in document["findings"]) for word in ("critical", "warning", "info")}
            if any(document["counts"][word] - document["left_out"][word] != n for word, n in of.items()):
                fail(f"counts {document['counts']}, findings {of}")
    print(f"{len(documents)} documents, as the schema has them")


NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"'
SAMPLE = re.compile(rf"({NAME})(?:\{{({LABEL}(?:,{LABEL})*)?\}})? (-?[0-9.]+)\Z")


def prometheus(data):
    text = data.decode("utf-8")
    if not text.endswith("\n"):
        fail("the last line is not ended")
    helps, types, samples, series = set(), set(), {}, set()
    last = None
    for line in text[:-1].split("\n"):
        words = line.split(" ", 3)
        if line.startswith("# HELP "):
            if words[2] in helps or len(words) < 4:
                fail(f"{line}: a second HELP, or an empty one")
            helps.add(words[2])
        elif line.startswith("# TYPE "):
            if words[2] in types or words[3] != "gauge":
                fail(f"{line}: a second TYPE, or none that is known")
            types.add(words[2])
            last = words[2]
        else:
            match = SAMPLE.match(line)
            if not match:
                fail(f"no sample: {line!r}")
            name = match.group(1)
            if name != last or name not in helps:
                fail(f"{name} does not follow its HELP and TYPE")
            key = line.rsplit(" ", 1)[0]
            if key in series:
                fail(f"twice: {key}")
            if match.group(2):
                labels = re.findall(LABEL, match.group(2))
                if len({label for label, _ in labels}) != len(labels):
                    fail(f"a label twice: {key}")
            series.add(key)
            samples.setdefault(name, []).append(float(line.rsplit(" ", 1)[1]))
    if len(series) > 500:
        fail(f"{len(series)} series")
    if types - set(samples):
        fail(f"no sample of {types - set(samples)}")
    if shutil.which("promtool"):
        tool = subprocess.run(["promtool", "check", "metrics"], input=data, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False)
        if tool.returncode:
            fail(f"promtool: {tool.stdout.decode()}")
    found = len(samples.get("getmnt_audit_finding", ()))
    left = sum(samples.get("getmnt_audit_findings_left_out", [0]))
    print(f"at most 500 series; success {samples['getmnt_audit_success'][0]:.0f}, "
          f"{found} findings, {left:.0f} left out")


PERF = re.compile(r"(?:'(?:[^'=]|'')+'|[^ '=]+)=-?[0-9.]+(?:s|us|ms|%|B|KB|MB|GB|TB|c)?"
                  r"(?:;[~@:0-9.-]*){0,2}(?:;[0-9.-]*){0,2}")


def nagios(data):
    text = data.decode("utf-8")
    lines = text.split("\n")
    if lines.pop() != "" or not lines:
        fail(f"no line, or one that is not ended: {text!r}")
    said, bar, perf = lines[0].partition("|")
    match = re.match(r"GETMNT (OK|WARNING|CRITICAL|UNKNOWN) - \S", said)
    if not match:
        fail(f"the first line: {lines[0]!r}")
    if len(said.rstrip(" ")) >= 80:
        fail(f"{len(said)} characters")
    if any("|" in line for line in lines[1:]) or "|" in perf:
        fail("a bar that parts nothing")
    if any(not c.isprintable() for line in lines for c in line):
        fail(f"what is not printed: {text!r}")
    labels = []
    for word in perf.split():
        if not PERF.fullmatch(word):
            fail(f"perfdata: {word}")
        labels.append(word.split("=")[0][:19])
    if bar and (not labels or len(labels) != len(set(labels))):
        fail(f"perfdata: {perf}")
    print(f"{match.group(1)}, {len(labels)} labels, {len(lines) - 1} lines more")


ways = {"json": read_json, "prometheus": prometheus, "nagios": nagios}
ways[sys.argv[1]](sys.stdin.buffer.read(), *sys.argv[2:])
