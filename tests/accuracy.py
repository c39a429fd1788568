#!/usr/bin/env python3
"""Run the model on the schedules behind published measurements and write docs/accuracy.md.

    accuracy.py [--wpsim ./wpsim] [--out docs/accuracy.md]   write the page
    accuracy.py --check                                      1 when the page is out of date

Every row of models/evidence/*.tsv appears in the page, and what models/evidence/h200-samples.jsonl holds. A row with a schedule is predicted at the row's
own shape; one without is listed as not modelled. docs/report.md defines the figures used here.
"""

import argparse
import csv
import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COLUMNS = ["id", "schedule", "target", "siblings", "shape", "quantity", "value", "unit", "source",
           "fitted", "note"]
FILES = [
    ("mi300x.tsv", "MI300X (gfx942), GEMM loops"),
    ("mi355x.tsv", "MI355X (gfx950), GEMM loops"),
    ("attention.tsv", "Attention"),
    ("mi450.tsv", "MI450 (gfx1250)"),
    ("hipblaslt.tsv", "hipBLASLt custom main loops, MI355X (gfx950)"),
    ("h200.tsv", "H200 (sm_90)"),
    ("instructions.tsv", "Instructions (gfx942, gfx950)"),
]
SAMPLES = os.path.join(TOP, "models", "evidence", "h200-samples.jsonl")


class Failure(Exception):
    """Bad evidence, or a schedule that wpsim refuses."""


def read_evidence(name):
    path = os.path.join(TOP, "models", "evidence", name)
    with open(path, encoding="utf-8", newline="") as f:
        lines = [line for line in f if not line.startswith("#")]
    rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    for row in rows:
        if list(row) != COLUMNS or None in row.values():
            raise Failure(f"{name}: row {row.get('id')} does not have the columns {COLUMNS}")
        if row["fitted"] not in ("yes", "no"):
            raise Failure(f"{name}: row {row['id']}: fitted is neither yes nor no")
        row["value"] = float(row["value"])
    ids = [row["id"] for row in rows]
    if len(set(ids)) != len(ids):
        raise Failure(f"{name}: an id is given twice")
    return rows


def with_shape(text, shape):
    """The schedule's text with the m, n and k of the row."""
    for item in [] if shape == "-" else shape.split():
        key, value = item.split("=")
        text, n = re.subn(r"(<gemm\b[^>]*?\s%s=\")[^\"]*(\")" % re.escape(key),
                          r"\g<1>%s\g<2>" % value, text, count=1)
        if n != 1:
            raise Failure(f"the schedule has no <gemm {key}=...> to set for {item}")
    return text


def loop_steps(text):
    """K-steps of the loop. Two loop bodies: those of the first."""
    root = ET.fromstring(text)
    loop = root.find("loop")
    if loop is None:
        raise Failure("the schedule has no loop")
    gemm = root.find("gemm")
    if loop.get("trips"):
        return int(loop.get("trips")) * int(loop.get("unroll", "1"))
    if gemm is None:
        raise Failure("neither trips nor a K gives the length of the loop")
    return int(gemm.get("k")) // int(gemm.find("tile").get("k")) - int(loop.get("peel", "0"))


class Model:
    def __init__(self, wpsim):
        self.wpsim = wpsim
        self.cache = {}

    def report(self, path, shape="-"):
        key = (path, shape)
        if key not in self.cache:
            with open(path, encoding="utf-8") as f:
                text = with_shape(f.read(), shape)
            with tempfile.TemporaryDirectory() as folder:
                name = os.path.join(folder, "schedule.xml")
                with open(name, "w", encoding="utf-8") as f:
                    f.write(text)
                done = subprocess.run([self.wpsim, "--format", "json", name], capture_output=True,
                                      text=True, timeout=300, check=False)
            doc = json.loads(done.stdout) if done.stdout else {"kernel": None, "findings": []}
            if not doc["kernel"]:
                why = "".join(f"\n  line {f['line']}: {f['code']}: {f['message']}" for f in doc["findings"])
                raise Failure(f"wpsim {path} ({shape}): status {done.returncode}{why}\n{done.stderr}".rstrip())
            self.cache[key] = (doc, loop_steps(text))
        return self.cache[key]


def schedule_path(name):
    path = os.path.join(TOP, "kernels", name, "schedule.xml")
    return path if os.path.exists(path) else None


def predict_loop(model, row, path):
    """Add predicted, measured, ideal and baseline clk per K-step to a row."""
    doc, steps = model.report(path, row["shape"])
    steady, kernel = doc["steady"], doc["kernel"]
    if not steady or steady["cycles_per_step"] is None:
        raise Failure(f"{row['id']}: {path} has no steady loop")
    ideal = steady["ideal_cycles_per_step"]
    row["ideal"] = ideal
    row["predicted"] = kernel["loop_cycles"] / steps if "k=" in row["shape"] else steady["cycles_per_step"]
    if row["quantity"] == "loop_cycles_per_step":
        row["measured"] = row["value"]
    else:
        row["measured"] = ideal * 100 / row["value"]
    # One after the other instead of side by side: every group's time on every unit. Scaled by the
    # matrix time, of which the ideal is one K-step's.
    own = sum(max(s["issue_cycles"], s["matrix_cycles"] + s["lds_cycles"] + s["vmem_cycles"])
              for s in doc["stages"])
    matrix = sum(s["matrix_cycles"] for s in doc["stages"])
    row["serial"] = ideal * own / matrix if matrix else own
    row["share"] = doc["estimates"]["share"]


def micro_rows():
    """How an instruction-level row follows from one or two one-loop schedules."""
    path = os.path.join(TOP, "tests", "golden", "micro", "micro.tsv")
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8", newline="") as f:
        lines = [line for line in f if not line.startswith("#")]
    return {r["id"]: r for r in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)}


def predict_micro(model, row, micro):
    """clk per trip of a schedule, less that of a base, for one of its instructions, times a scale. The
    whole loop counts, up to the last wave's end: without barriers the waves of a loop drift apart."""
    folder = os.path.join(TOP, "tests", "golden", "micro")

    def step(name):
        doc, steps = model.report(os.path.join(folder, name + ".xml"))
        if not doc["kernel"]["loop_cycles"]:
            raise Failure(f"{row['id']}: {name}.xml has no loop")
        return doc["kernel"]["loop_cycles"] / steps

    clk = step(micro["schedule"])
    if micro["base"] != "-":
        clk -= step(micro["base"])
    row["predicted"] = clk / float(micro["count"]) * float(micro["scale"])
    row["measured"] = row["value"]
    row["tolerance"] = micro["tolerance"]


def sign(x):
    return (x > 0) - (x < 0)


def kendall(pairs):
    """Kendall's tau-b of (predicted, measured) pairs; None when it is not defined."""
    concordant = tied_p = tied_m = n = 0
    for i, (p1, m1) in enumerate(pairs):
        for p2, m2 in pairs[:i]:
            n += 1
            concordant += sign(p1 - p2) * sign(m1 - m2)
            tied_p += p1 == p2
            tied_m += m1 == m2
    if n == tied_p or n == tied_m:
        return None
    return concordant / ((n - tied_p) * (n - tied_m)) ** 0.5


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def percent(x):
    return f"{100 * x:.2f} %"


def lost_error(row, key):
    lost = row["measured"] - row["ideal"]
    return abs(row[key] - row["measured"]) / lost if lost > 0 else None


def figures(name, rows, key):
    """One line of the summary: errors of the column key against the measurement."""
    error = [row[key] / row["measured"] - 1 for row in rows]
    lost = [e for e in (lost_error(row, key) for row in rows) if e is not None]
    off = sum(abs(row[key] - row["measured"]) for row in rows)
    all_lost = sum(row["measured"] - row["ideal"] for row in rows)
    bias = mean(error)
    up = sum(e > 0 for e in error)
    down = sum(e < 0 for e in error)
    return (f"| {name} | {percent(mean(map(abs, error)))} | "
            f"{percent(mean(lost)) if lost else '-'} | {percent(off / all_lost) if all_lost > 0 else '-'} | "
            f"{'+' if bias > 0 else '-' if bias < 0 else '0'} "
            f"({percent(bias)}; {up} above, {down} below) |")


def summary(rows):
    out = ["", "| | mean abs. error of clk | mean error of lost clk | pooled | bias |", "|---|---|---|---|---|",
           figures("wpsim", rows, "predicted"),
           figures("baseline: matrix bound alone", rows, "ideal"),
           figures("baseline: no overlap at all", rows, "serial")]
    return out


def siblings(rows):
    sets = {}
    for row in rows:
        if row["siblings"] != "-":
            sets.setdefault(row["siblings"], []).append(row)
    out = []
    for name, members in sets.items():
        if len(members) < 2:
            continue
        tau = kendall([(r["predicted"], r["measured"]) for r in members])
        best_p = min(members, key=lambda r: r["predicted"])["id"]
        best_m = min(members, key=lambda r: r["measured"])["id"]
        picked = "yes" if best_p == best_m else f"no: {best_p} instead of {best_m}"
        out.append(f"| {name} | {', '.join(r['id'] for r in members)} | "
                   f"{'-' if tau is None else format(tau, '.2f')} | {picked} |")
    if not out:
        return []
    return ["", "| siblings | rows | Kendall tau | best is picked |", "|---|---|---|---|"] + out


def loop_table(rows):
    out = ["| id | schedule | shape | measured clk | predicted clk | error | measured lost | predicted lost | "
           "lost error | on estimates | fitted |", "|---|---|---|---|---|---|---|---|---|---|---|"]
    for r in rows:
        lost = lost_error(r, "predicted")
        out.append(f"| {r['id']} | {r['schedule']} | {r['shape']} | {r['measured']:.1f} | {r['predicted']:.1f} | "
                   f"{100 * (r['predicted'] / r['measured'] - 1):+.2f} % | {r['measured'] - r['ideal']:.1f} | "
                   f"{r['predicted'] - r['ideal']:.1f} | {'-' if lost is None else percent(lost)} | "
                   f"{'-' if r['share'] is None else percent(r['share'])} | {r['fitted']} |")
    return out


def micro_table(rows):
    out = ["| id | what | measured | predicted | unit | error | fitted |", "|---|---|---|---|---|---|---|"]
    for r in rows:
        error = f"{100 * (r['predicted'] / r['measured'] - 1):+.2f} %"
        if r["measured"] < 1:
            error = f"{r['predicted'] - r['measured']:+.2f} {r['unit']}"
        out.append(f"| {r['id']} | {r['note']} | {r['measured']:g} | {r['predicted']:.2f} | {r['unit']} | "
                   f"{error} | {r['fitted']} |")
    big = [r for r in rows if r["measured"] >= 1]
    if big:
        error = mean(abs(r["predicted"] / r["measured"] - 1) for r in big)
        out += ["", f"Mean absolute error {percent(error)} over {len(big)} rows of at least 1 {big[0]['unit']}."]
    return out


def not_modelled(rows):
    if not rows:
        return []
    out = ["", "Not modelled:", "", "| id | quantity | measured | unit | what | source |", "|---|---|---|---|---|---|"]
    for r in rows:
        where = "" if r["shape"] == "-" else " (" + r["shape"] + ")"
        out.append(f"| {r['id']} | {r['quantity']} | {r['value']:g} | {r['unit']} | {r['note']}{where} | "
                   f"{r['source']} |")
    return out


def section(model, name, title, micro, totals):
    loops, single, rest = [], [], []
    for row in read_evidence(name):
        path = schedule_path(row["schedule"]) if row["schedule"] != "-" else None
        if row["quantity"] in ("loop_cycles_per_step", "loop_efficiency") and path:
            predict_loop(model, row, path)
            loops.append(row)
        elif row["id"] in micro:
            predict_micro(model, row, micro[row["id"]])
            single.append(row)
        else:
            rest.append(row)
    out = ["", f"## {title}", ""]
    if loops:
        totals += loops
        out += loop_table(loops) + summary(loops) + siblings(loops)
    if single:
        out += micro_table(single)
    return out + not_modelled(rest)


def sampled(model):
    """Rows of wpsim compare for the variants that have a sample, with the no-overlap baseline added."""
    have = set()
    with open(SAMPLES, encoding="utf-8") as f:
        for line in f:
            have.add(json.loads(line)["kernel"])
    paths = {}
    for folder in ("h200-set", "h200-blind"):
        full = os.path.join(TOP, "kernels", folder)
        for name in sorted(os.listdir(full)) if os.path.isdir(full) else []:
            if name.endswith(".xml") and name[:-4] in have:
                paths[name[:-4]] = os.path.join(full, name)
    if not paths:
        return []
    done = subprocess.run([model.wpsim, "compare", "--format", "csv", "--samples", SAMPLES] + list(paths.values()),
                          capture_output=True, text=True, timeout=600, check=False)
    rows = []
    for line in csv.DictReader(done.stdout.splitlines()):
        row = {"id": line["kernel"], "siblings": line["siblings"], "measured": float(line["measured_clk"]),
               "predicted": float(line["predicted_clk"]), "ideal": float(line["ideal_clk"])}
        doc, _ = model.report(paths[row["id"]])
        own = sum(max(x["issue_cycles"], x["matrix_cycles"] + x["lds_cycles"] + x["vmem_cycles"]) for x in doc["stages"])
        matrix = sum(x["matrix_cycles"] for x in doc["stages"])
        row["serial"] = row["ideal"] * own / matrix if matrix else own
        rows.append(row)
    if len(rows) != len(paths):
        raise Failure(f"wpsim compare: {len(rows)} rows of {len(paths)}: {done.stderr}".rstrip())
    return rows


def offset_gains(rows):
    """What the offset between the groups gains over in phase: measured and predicted, pair by pair."""
    pairs = {}
    for row in rows:
        m = re.fullmatch(r"h200-b?\d+-(.*)-(offset|inphase)", row["id"])
        if m:
            pairs.setdefault(m.group(1), {})[m.group(2)] = row
    out, right, close, n = [], 0, 0, 0
    for name, pair in pairs.items():
        if len(pair) < 2:
            continue
        real, told = (1 - pair["offset"][k] / pair["inphase"][k] for k in ("measured", "predicted"))
        n += 1
        right += sign(real) == sign(told)
        close += sign(real) == sign(told) and abs(told - real) <= abs(real) / 3
        out.append(f"| {name} | {100 * real:+.1f} % | {100 * told:+.1f} % |")
    if not n:
        return []
    return ["", f"Clk that the offset saves: of {n} pairs the sign is right in {right}, the size within a third of the measured one "
            f"in {close}.", "", "| pair | measured | predicted |", "|---|---|---|"] + out


def sample_table(rows):
    out = ["", "| variant | measured clk | predicted clk | error | measured lost | predicted lost |", "|---|---|---|---|---|---|"]
    for r in rows:
        out.append(f"| {r['id']} | {r['measured']:.1f} | {r['predicted']:.1f} | {100 * (r['predicted'] / r['measured'] - 1):+.2f} % | "
                   f"{r['measured'] - r['ideal']:.1f} | {r['predicted'] - r['ideal']:.1f} |")
    return out


def sample_section(model):
    """Variants of one loop, measured by this project: those held out, those in view, and those of the blind set."""
    if not os.path.exists(SAMPLES):
        return []
    with open(os.path.join(TOP, "kernels", "h200-set", "held-out.txt"), encoding="utf-8") as f:
        held = set(f.read().split())
    rows = sampled(model)
    if not rows:
        return []
    blind = [r for r in rows if re.match(r"h200-b\d", r["id"])]
    first = [r for r in rows if r not in blind]
    out = ["", "## H200 (sm_90), variants of one loop", "",
           "Schedules of kernels/h200-set and kernels/h200-blind (tests/hw/make_schedules.py), measured by wpsim run; samples in "
           "models/evidence/h200-samples.jsonl. Values of the model were chosen with the seen half in view. The held-out half "
           "took no part; the blind set was drawn up before the model's last changes and measured after them. Both members "
           "of a pair are seldom in one half: pairs are told for both halves together."]
    for title, part in (("held out", [r for r in first if r["id"] in held]), ("seen", [r for r in first if r["id"] not in held]),
                        ("blind", blind)):
        if part:
            out += ["", f"### {title[0].upper()}{title[1:]}: {len(part)} variants"] + summary(part) + siblings(part) + sample_table(part)
    for title, part in (("kernels/h200-set", first), ("kernels/h200-blind", blind)):
        gains = offset_gains(part)
        if gains:
            out += ["", f"### Offset against in phase, {title}"] + gains
    return out


def page(model):
    micro = micro_rows()
    totals, body = [], []
    for name, title in FILES:
        body += section(model, name, title, micro, totals)
    body += sample_section(model)
    head = ["# Accuracy", "",
            "Written by `make accuracy` (tests/accuracy.py) from models/evidence/*.tsv; do not edit. "
            "Predictions are made at the shape of each row; rows marked fitted had a hand in the choice of some value (models/evidence/README.md says which).", "",
            "* A loop row compares the clk of the whole K loop per K-step, or of the steady loop where the row "
            "gives no K. An efficiency becomes clk through the ideal of the schedule.",
            "* Lost clk = elapsed - ideal; its error is |predicted lost - measured lost| / measured lost. Rows "
            "that lose next to nothing dominate its mean; pooled is the sum of the differences / the sum of "
            "the measured lost clk.",
            "* Matrix bound alone: the ideal. No overlap at all: the sum of matrix, LDS port and memory address "
            "time (or issue time where that is longer) of all stages, one group after the other.",
            "* Kendall tau and the best pick are taken among siblings: variants of one kernel at one shape.",
            "* fitted: yes marks rows from which values of the models were taken.",
            "* On estimates: the share of wave time that rests on estimated model values."]
    if totals:
        blind = [r for r in totals if r["fitted"] == "no"]
        head += ["", "## All loops", "", f"{len(totals)} rows, {len(totals) - len(blind)} of them fitted on."]
        head += summary(totals)
        if blind and len(blind) != len(totals):
            head += ["", f"Only the {len(blind)} rows that nothing was fitted on:"] + summary(blind)
    return "\n".join(head + body) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--wpsim", default=os.environ.get("WPSIM", "./wpsim"))
    parser.add_argument("--out", default=os.path.join(TOP, "docs", "accuracy.md"))
    parser.add_argument("--check", action="store_true", help="compare only; status 1 when out of date")
    args = parser.parse_args()
    try:
        text = page(Model(os.path.abspath(args.wpsim)))
    except (Failure, OSError, ET.ParseError, ValueError, subprocess.TimeoutExpired) as e:
        print(f"accuracy.py: {e}", file=sys.stderr)
        return 2
    if args.check:
        try:
            with open(args.out, encoding="utf-8") as f:
                old = f.read()
        except OSError:
            old = ""
        if old != text:
            print(f"accuracy.py: {args.out} is out of date: run make accuracy", file=sys.stderr)
            return 1
        return 0
    with open(args.out, "w", encoding="utf-8") as f:
        f.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
