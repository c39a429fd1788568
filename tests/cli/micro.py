#!/usr/bin/env python3
"""Instruction-level measurements against the model: each row of tests/golden/micro/micro.tsv that names
a tolerance must be met by the program of one loop that isolates it. Prints one TAP line a row."""

import os
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, "tests"))
sys.dont_write_bytecode = True

import accuracy  # noqa: E402  (found through the path above)


def within(row):
    """The difference and whether the tolerance, '5 %' or '0.5 clk', allows it."""
    number, unit = row["tolerance"].split()
    off = abs(row["predicted"] - row["measured"])
    if unit == "%":
        return off <= abs(row["measured"]) * float(number) / 100
    return off <= float(number)


def main():
    wpsim = os.path.abspath(os.environ.get("WPSIM", os.path.join(TOP, "wpsim")))
    if not os.access(wpsim, os.X_OK):
        print(f"Bail out! {wpsim} is not there: run make")
        return 99
    micro = accuracy.micro_rows()
    rows = {r["id"]: r for r in accuracy.read_evidence("instructions.tsv")}
    model = accuracy.Model(wpsim)
    tested = [m for m in micro.values() if m["tolerance"] != "-"]
    print(f"1..{len(tested)}")
    failed = 0
    for number, entry in enumerate(tested, 1):
        row = rows.get(entry["id"])
        try:
            if row is None:
                raise accuracy.Failure(f"no row {entry['id']} in instructions.tsv")
            accuracy.predict_micro(model, row, entry)
            good = within(row)
            what = f"measured {row['measured']:g}, predicted {row['predicted']:.2f} {row['unit']}"
        except accuracy.Failure as e:
            good, what = False, str(e).replace("\n", " ")
        failed += not good
        print(f"{'ok' if good else 'not ok'} {number} - {entry['id']}: {what} (tolerance {entry['tolerance']})")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
