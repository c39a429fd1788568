#!/usr/bin/env python3
"""Every JSON document that wpsim prints for the kernels and for bad input obeys
models/report.schema.json, keeps the order of its keys, and its figures add up. Prints TAP lines."""

import glob
import json
import math
import os
import re
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TYPES = {
    "object": dict, "array": list, "string": str, "null": type(None),
    "number": (int, float), "integer": int, "boolean": bool,
}


class Wrong(Exception):
    pass


def check_type(value, names, at):
    for name in [names] if isinstance(names, str) else names:
        if isinstance(value, TYPES[name]) and isinstance(value, bool) == (name == "boolean"):
            return
    raise Wrong(f"{at}: {value!r} is not {names}")


def check_number(value, schema, at):
    if "minimum" in schema and value < schema["minimum"]:
        raise Wrong(f"{at}: {value} is below {schema['minimum']}")
    if "maximum" in schema and value > schema["maximum"]:
        raise Wrong(f"{at}: {value} is above {schema['maximum']}")
    if "exclusiveMinimum" in schema and value <= schema["exclusiveMinimum"]:
        raise Wrong(f"{at}: {value} is not above {schema['exclusiveMinimum']}")


def validate(value, schema, at="$"):
    """The part of JSON Schema that the report's schema uses; anything else in it is an error."""
    known = {"$schema", "title", "description", "type", "properties", "required", "additionalProperties",
             "items", "enum", "const", "pattern", "minimum", "maximum", "exclusiveMinimum"}
    if set(schema) - known:
        raise Wrong(f"{at}: the schema uses {set(schema) - known}, which this test does not know")
    if "const" in schema and value != schema["const"]:
        raise Wrong(f"{at}: {value!r} is not {schema['const']!r}")
    if "enum" in schema and value not in schema["enum"]:
        raise Wrong(f"{at}: {value!r} is none of {schema['enum']}")
    if "type" in schema:
        check_type(value, schema["type"], at)
    if "pattern" in schema and not re.search(schema["pattern"], value):
        raise Wrong(f"{at}: {value!r} does not match {schema['pattern']}")
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        check_number(value, schema, at)
    if isinstance(value, dict):
        keys = list(schema["properties"])
        if list(value) != keys:
            raise Wrong(f"{at}: keys {list(value)}, expected {keys} in this order")
        for key in value:
            validate(value[key], schema["properties"][key], f"{at}.{key}")
    if isinstance(value, list):
        for i, item in enumerate(value):
            validate(item, schema["items"], f"{at}[{i}]")


def add_up(doc):
    steady, kernel = doc["steady"], doc["kernel"]
    if not kernel:
        return
    if steady["cycles_per_step"] is not None:
        lost = math.fsum(entry["cycles_per_step"] for entry in doc["lost"])
        want = steady["cycles_per_step"] - steady["ideal_cycles_per_step"]
        if abs(lost - want) > 1e-9:
            raise Wrong(f"lost sums to {lost}, elapsed - ideal is {want}")
    if steady["matrix_efficiency"] is not None:
        efficiency = steady["ideal_cycles_per_step"] / steady["cycles_per_step"]
        if abs(efficiency - steady["matrix_efficiency"]) > 1e-12:
            raise Wrong(f"matrix_efficiency is not {efficiency}")
    time = kernel["cycles"] / doc["clock"]["mhz"]
    if abs(time - kernel["time_us"]) > 1e-9 * max(time, 1):
        raise Wrong(f"time_us is not {time}")
    names = {stage["name"] for stage in doc["stages"]}
    for stage in doc["stages"]:
        if stage["partner"] is not None and stage["partner"] not in names:
            raise Wrong(f"{stage['name']} has an unknown partner {stage['partner']}")


def refuse(text):
    raise Wrong(f"{text} is not JSON")


def run(wpsim, words):
    done = subprocess.run([wpsim, *words], capture_output=True, text=True, timeout=300, check=False)
    return [json.loads(line, parse_constant=refuse) for line in done.stdout.splitlines()]


def one(wpsim, schema, words):
    docs = run(wpsim, words)
    if len(docs) != 1:
        raise Wrong(f"{len(docs)} lines for one input")
    validate(docs[0], schema)
    add_up(docs[0])
    return docs[0]


def main():
    wpsim = os.path.abspath(os.environ.get("WPSIM", os.path.join(TOP, "wpsim")))
    if not os.access(wpsim, os.X_OK):
        print(f"Bail out! {wpsim} is not there: run make")
        return 99
    os.chdir(TOP)
    with open("models/report.schema.json", encoding="utf-8") as f:
        schema = json.load(f)
    inputs = sorted(glob.glob("kernels/*/schedule.xml")) + sorted(glob.glob("tests/golden/micro/*.xml"))
    bad = sorted(glob.glob("tests/golden/bad/*.xml")) + ["no/such/file.xml"]
    cases = [(["--format", "jsonl", path], True) for path in inputs]
    cases += [(["check", "--format", "jsonl", path], False) for path in inputs[:1]]
    cases += [(["--format", "jsonl", path], False) for path in bad]
    print(f"1..{len(cases)}")
    failed = 0
    for number, (words, predicted) in enumerate(cases, 1):
        why = ""
        try:
            doc = one(wpsim, schema, words)
            if predicted and not doc["kernel"]:
                why = "no prediction"
            elif not predicted and words[0] != "check" and not doc["findings"]:
                why = "bad input without a finding"
        except (Wrong, ValueError, subprocess.TimeoutExpired) as e:
            why = str(e)
        failed += bool(why)
        print(f"{'not ok' if why else 'ok'} {number} - {' '.join(words)}{': ' + why if why else ''}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
