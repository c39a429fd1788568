#!/usr/bin/env python3
"""Does the assembler keep the order of a schedule's stages?

    sass_order.py WPSIM SCHEDULE...

Emits each schedule for sm_90, assembles it with ptxas, finds the loop in the machine code and compares it with the
program, stage by stage (what stands between two barriers): as many instructions of each kind, and in the same order.
One line a schedule. Status 0: every stage holds what the program says; 1: some do not; 77: there is no ptxas.
The opcodes are those of the low 12 bits of an instruction of 16 bytes; nothing of the disassembler is needed.
"""
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

OPCODE = {0x83b: "L", 0x984: "L", 0x988: "S", 0x388: "S", 0xfae: "C", 0x9af: "G", 0x91a: "W", 0xb1d: "B", 0x23c: "M",
          0x981: "D", 0x986: "T", 0xf89: "X", 0x308: "E"}
NAME = {"L": "shared read", "S": "shared write", "C": "copy", "G": "commit", "W": "wait", "M": "mma", "D": "load", "T": "store",
        "X": "shuffle", "E": "transcendental"}
LISTING = [(r"mma\.", "M"), (r"ldmatrix|ld\.shared", "L"), (r"st\.shared", "S"), (r"cp\.async\.c[ag]", "C"),
           (r"cp\.async\.commit", "G"), (r"cp\.async\.wait", "W"), (r"bar\.", "B"), (r"ld\.global", "D"), (r"st\.global", "T"),
           (r"shfl", "X"), (r"ex2|rcp|lg2|rsqrt|sqrt|sin|tanh", "E")]


def program_loops(listing):
    """Per loop of the listing: kinds of its instructions."""
    loops, now = [], None
    for line in listing.splitlines():
        if re.match(r"loop\d+:", line):
            now = []
            continue
        m = re.match(r"\s+\d+\s+(\S+)(.*)", line)
        if now is None or not m:
            continue
        if m.group(1) == "bra":
            loops.append(now)
            now = None
            continue
        times = re.search(r"; x(\d+)", m.group(2))
        for pattern, kind in LISTING:
            if re.match(pattern, m.group(1)):
                now += [kind] * int(times.group(1) if times else 1)
                break
    return loops


def text_section(cubin):
    data = open(cubin, "rb").read()
    off, n, names = struct.unpack_from("<Q", data, 40)[0], struct.unpack_from("<H", data, 60)[0], struct.unpack_from("<H", data, 62)[0]
    sect = [struct.unpack_from("<IIQQQQIIQQ", data, off + 64 * i) for i in range(n)]
    for s in sect:
        if data[sect[names][4] + s[0]:].split(b"\0")[0].startswith(b".text."):
            return data[s[4]:s[4] + s[5]]
    raise SystemExit("no code in " + cubin)


def machine_loops(code):
    """Per backward jump: (kinds, all instructions) of what it jumps over."""
    insns = [struct.unpack_from("<QQ", code, i) for i in range(0, len(code), 16)]
    loops = []
    for i, (lo, hi) in enumerate(insns):
        if lo & 0xfff != 0x947:
            continue
        offset = (lo >> 16 & 0xff) | ((lo >> 34 | (hi & 0x3ffff) << 30) & ((1 << 48) - 1)) << 8
        if offset >> 55:
            offset -= 1 << 56
        target = i + 1 + offset * 4 // 16  # in units of 4 bytes, from the next instruction on
        if 0 <= target < i:
            body = insns[target:i + 1]
            loops.append(([OPCODE.get(a & 0xfff, ".") for a, _ in body
                           if not (a & 0xfff == 0x984 and a >> 12 & 0xf == 0xf)], len(body)))
    return loops


def stages(kinds):
    out = [[]]
    for k in kinds:
        if k == "B":
            out.append([])
        elif k in NAME:
            out[-1].append(k)
    return out


def compare(program, machine):
    """(stages with other counts, stages in another order)"""
    counts = order = 0
    for p, m in zip(program, machine):
        counts += sorted(p) != sorted(m)
        order += sorted(p) == sorted(m) and p != m
    return counts + abs(len(program) - len(machine)), order


def runs(kinds):
    return " ".join("%d%s" % (len(m.group(0)), m.group(1)) for m in re.finditer(r"(.)\1*", "".join(kinds)))


def one(wpsim, schedule, ptxas, folder):
    ptx, cubin = os.path.join(folder, "k.ptx"), os.path.join(folder, "k.cubin")
    listing = subprocess.run([wpsim, "emit", "--listing", schedule], capture_output=True, text=True, check=True).stdout
    with open(ptx, "w", encoding="utf-8") as f:
        subprocess.run([wpsim, "emit", schedule], stdout=f, check=True)
    log = subprocess.run([ptxas, "-arch=sm_90", "-v", ptx, "-o", cubin], capture_output=True, text=True, check=True).stderr
    spills = sum(int(x) for x in re.findall(r"(\d+) bytes spill", log))
    registers = re.search(r"Used (\d+) registers", log).group(1)
    program = [p for p in program_loops(listing)]
    machine = machine_loops(text_section(cubin))[-len(program):] if program else []  # a loop that fills shared memory comes first
    bad = len(program) != len(machine) or spills
    words = []
    for p, (m, size) in zip(program, machine):
        counts, order = compare(stages(p), stages(m))
        bad = bad or counts
        words.append("%d stages, %d with other counts, %d in another order, %d instructions for %d" %
                     (len(stages(p)), counts, order, size, len(p)))
        if "-v" in sys.argv:
            for a, b in zip(stages(p), stages(m)):
                if a != b:
                    words.append("\n    program %s\n    machine %s" % (runs(a), runs(b)))
    if len(program) != len(machine):
        words.append("%d loops, %d in the machine code" % (len(program), len(machine)))
    name = os.path.basename(os.path.dirname(schedule)) if schedule.endswith("schedule.xml") else os.path.basename(schedule)
    print("%s %s: %s registers, %s" % ("not ok" if bad else "ok", name, registers, "; ".join(words) or "no loop"))
    return bad


def main():
    args = [a for a in sys.argv[1:] if a != "-v"]
    ptxas = shutil.which("ptxas")
    if not ptxas:
        print("skip: there is no ptxas")
        return 77
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        for schedule in args[1:]:
            bad += bool(one(args[0], schedule, ptxas, folder))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
