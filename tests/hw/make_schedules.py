#!/usr/bin/env python3
"""Write the schedules of kernels/h200-set: variants of one GEMM main loop for sm_90, and which are held out.

    make_schedules.py FOLDER            kernels/h200-set
    make_schedules.py --blind FOLDER    kernels/h200-blind

Each variant differs from its neighbours in one or two things: tile, warps, how a K-step is cut into stages, slots,
waits, barriers, the offset between the groups, how fragments are read, how data come in. Every second one is held
out: no value of the model may be chosen with it. The list was drawn up before anything was calibrated; a new variant
goes to the end, so that no other one changes sides. The same files every time.

The blind set is measured after the model is done: no value may be chosen with any of it.
"""
import os
import sys

GRID_M, GRID_N = 6, 5  # 30 workgroups: the loop is to show, not the share of the L2
KSTEPS = 96              # about so many
MMA = {"f16": "mma.m16n8k16.f32.f16.f16.f32", "bf16": "mma.m16n8k16.f32.bf16.bf16.f32", "acc16": "mma.m16n8k16.f16.f16.f16.f16"}


def swizzle(tile_k):
    """No two of the eight 16-byte rows that shared memory serves at once fall into the same banks."""
    chunks = tile_k * 2 // 16
    if chunks >= 8:
        return '<swizzle vec="8" per-phase="1" max-phase="8"/>'
    return '<swizzle vec="8" per-phase="%d" max-phase="%d"/>' % (8 // chunks, chunks)


class Gemm:
    """One variant. body: two (memory and matrix stage), ksplit, rowsplit, ahead (fragments one K-step ahead)."""

    def __init__(self, name, **kw):
        self.name = name
        self.tile = kw.get("tile", (128, 256, 32))
        self.grid = kw.get("grid", (2, 4))
        self.groups = kw.get("groups", 2)
        self.gap = kw.get("gap", 1)
        self.slots = kw.get("slots", 4)
        self.body = kw.get("body", "two")
        self.parts = kw.get("parts", 2)            # of ksplit and rowsplit
        self.read = kw.get("read", None)           # LDS instruction, None: the default
        self.layout = kw.get("layout", "swizzle")  # swizzle, plain, pad
        self.over = kw.get("over", 0)              # copy groups fewer than may remain
        self.wait = kw.get("wait", "mem")          # behind which kind of stage the wait stands
        self.barrier = kw.get("barrier", "both")   # both, one (a K-step), extra
        self.copy = kw.get("copy", None)           # copy instruction, None: 16 bytes; "staged": through registers
        self.copy_first = kw.get("copy_first", False)
        self.order = kw.get("order", None)         # of an interleave
        self.types = kw.get("types", "f16")
        self.ahead = self.slots - 1

    # -- pieces --

    def copies(self, tile, indent, which="AB", commit=True):
        out = []
        for i, x in enumerate(which):
            op = ' op="%s"' % self.copy if self.copy else ""
            keep = "" if commit and i == len(which) - 1 else ' commit="false"'
            out.append('%s<copy to="%s" tile="%s"%s%s/>' % (indent, x, tile, op, keep))
        return out

    def fragments(self):
        op = ' op="%s"' % self.read if self.read else ""
        out = []
        if self.body == "ksplit":
            for i in range(self.parts):
                out.append('  <fragment name="a%d" from="A" k="%d/%d"%s/>' % (i, i, self.parts, op))
                out.append('  <fragment name="b%d" from="B" k="%d/%d"%s/>' % (i, i, self.parts, op))
            out.append('  <accumulator name="c" a="a0" b="b0"/>')
        elif self.body == "rowsplit":
            for i in range(self.parts):
                out.append('  <fragment name="a%d" from="A" part="%d/%d"%s/>' % (i, i, self.parts, op))
            out.append('  <fragment name="b" from="B"%s/>' % op)
            for i in range(self.parts):
                out.append('  <accumulator name="c%d" a="a%d" b="b"/>' % (i, i))
        elif self.body == "ahead":
            for i in range(2):
                out.append('  <fragment name="a%d" from="A"%s/>' % (i, op))
                out.append('  <fragment name="b%d" from="B"%s/>' % (i, op))
            out.append('  <accumulator name="c" a="a0" b="b0"/>')
        else:
            out.append('  <fragment name="a" from="A"%s/>' % op)
            out.append('  <fragment name="b" from="B"%s/>' % op)
            out.append('  <accumulator name="c" a="a" b="b"/>')
        return out

    def wait_line(self, remain, indent):
        return ['%s<wait groups="%d"/>' % (indent, max(0, remain - self.over))]

    def stage(self, name, lines, boundary=""):
        return ['    <stage name="%s"%s>' % (name, boundary)] + lines + ["    </stage>"]

    def step(self, tile, mem):
        """Reads and products of one K-step without stages, for the epilogue."""
        pad = "    "
        if self.body == "ksplit":
            out = []
            for i in range(self.parts):
                out += ['%s<read into="a%d" tile="%s"/>' % (pad, i, tile), '%s<read into="b%d" tile="%s"/>' % (pad, i, tile)]
                out.append('%s<mma acc="c" a="a%d" b="b%d"/>' % (pad, i, i))
            return out
        if self.body == "rowsplit":
            out = ['%s<read into="b" tile="%s"/>' % (pad, tile)]
            for i in range(self.parts):
                out += ['%s<read into="a%d" tile="%s"/>' % (pad, i, tile), '%s<mma acc="c%d"/>' % (pad, i)]
            return out
        return ['%s<read into="a" tile="%s"/>' % (pad, tile), '%s<read into="b" tile="%s"/>' % (pad, tile),
                '%s<mma acc="c"/>' % pad]

    # -- loop bodies --

    def body_two(self):
        p, d = "      ", self.ahead
        reads = [p + '<read into="a" tile="k"/>', p + '<read into="b" tile="k"/>']
        copies = self.copies("k+%d" % d, p)
        mem = copies + reads if self.copy_first else reads + copies
        mma = [p + '<mma acc="c"/>']
        wait = self.wait_line(d - 1, p)
        if self.wait == "mem":
            mem += wait
        else:
            mma += wait
        if self.barrier == "extra":
            mem.append(p + "<barrier/>")
        return self.stage("mem", mem) + self.stage("mma", mma, ' boundary="none"' if self.barrier == "one" else "")

    def body_ksplit(self):
        p, d, n, out = "      ", self.ahead, self.parts, []
        for i in range(n):
            lines = ['%s<read into="a%d" tile="k"/>' % (p, i), '%s<read into="b%d" tile="k"/>' % (p, i)]
            if i == 0:
                lines += self.copies("k+%d" % d, p, "A", False)
            if i == n - 1:
                lines += self.copies("k+%d" % d, p, "B") + self.wait_line(d - 1, p)
            out += self.stage("mem.%d" % i, lines)
            out += self.stage("mma.%d" % i, ['%s<mma acc="c" a="a%d" b="b%d"/>' % (p, i, i)],
                              ' boundary="none"' if self.barrier == "one" else "")
        return out

    def body_rowsplit(self):
        p, d, n, out = "      ", self.ahead, self.parts, []
        for i in range(n):
            lines = ['%s<read into="a%d" tile="k"/>' % (p, i)]
            if i == 0:
                lines += [p + '<read into="b" tile="k"/>'] + self.copies("k+%d" % d, p, "A", False)
            if i == n - 1:
                lines += self.copies("k+%d" % d, p, "B") + self.wait_line(d - 1, p)
            out += self.stage("mem.%d" % i, lines)
            out += self.stage("mma.%d" % i, ['%s<mma acc="c%d"/>' % (p, i)], ' boundary="none"' if self.barrier == "one" else "")
        return out

    def body_ahead(self):
        p, d, out = "      ", self.ahead, []
        for i in range(2):
            reads = ['%s<read into="a%d" tile="k+%d"/>' % (p, 1 - i, i + 1), '%s<read into="b%d" tile="k+%d"/>' % (p, 1 - i, i + 1)]
            mma = '<mma acc="c" a="a%d" b="b%d"/>' % (i, i)
            copies = self.copies("k+%d" % (i + d), p)
            if self.order:
                r = [x.replace("<read", '<read id="r"').replace(p, p + "  ") for x in reads]
                lines = [p + '<interleave order="%s">' % self.order] + r + [p + "  " + mma.replace("<mma", '<mma id="m"'),
                         p + "</interleave>"] + copies
            else:
                lines = reads + copies + [p + mma]
            out += self.stage("step.%d" % i, lines + self.wait_line(d - 2, p))
        return out

    # -- the whole --

    def staged(self):
        """Data one K-step ahead in registers, written to the one free slot of two."""
        p = "      "
        loop = self.stage("mem", [p + '<load into="g_a" tile="k+1"/>', p + '<load into="g_b" tile="k+1"/>',
                                  p + '<read into="a" tile="k"/>', p + '<read into="b" tile="k"/>'])
        loop += self.stage("mma", [p + '<mma acc="c"/>'], ' boundary="none"' if self.barrier == "one" else "")
        loop += self.stage("write", [p + '<write from="g_a" tile="k+1"/>', p + '<write from="g_b" tile="k+1"/>'],
                           ' boundary="none"' if self.barrier == "one" else "")
        pro = ['    <load into="g_a" tile="0"/>', '    <load into="g_b" tile="0"/>', '    <write from="g_a" tile="0"/>',
               '    <write from="g_b" tile="0"/>', "    <barrier/>"]
        return pro, loop, ["    <barrier/>"] + self.step("last", None), 1

    def asynchronous(self):
        d = self.ahead
        pro = [x for i in range(d) for x in self.copies(str(i), "    ")]
        loop = getattr(self, "body_" + self.body)()
        if self.body == "ahead":
            pro += ['    <wait groups="%d"/>' % max(0, d - 2), "    <barrier/>", '    <read into="a0" tile="0"/>',
                    '    <read into="b0" tile="0"/>']
            epi = []
            for e in range(d):
                if e + 1 < d:
                    if e:
                        epi.append('    <wait groups="%d"/>' % (d - 2 - e))
                    epi.append("    <barrier/>")
                    tile = "last" if e + 2 == d else "last-%d" % (d - 2 - e)
                    epi += ['    <read into="a%d" tile="%s"/>' % ((e + 1) % 2, tile), '    <read into="b%d" tile="%s"/>' % ((e + 1) % 2, tile)]
                epi.append('    <mma acc="c" a="a%d" b="b%d"/>' % (e % 2, e % 2))
            return pro, loop, epi, d
        pro += ['    <wait groups="%d"/>' % max(0, d - 1), "    <barrier/>"]
        epi = []
        for e in range(d):
            epi += ['    <wait groups="%d"/>' % (d - 1 - e)] if e else []
            epi += ["    <barrier/>"] + self.step("last" if e == d - 1 else "last-%d" % (d - 1 - e), None)
        return pro, loop, epi, d

    def text(self):
        m, n, k = self.tile
        pro, loop, epi, peel = self.staged() if self.copy == "staged" else self.asynchronous()
        unroll = self.slots if self.body != "ahead" or self.slots % 2 == 0 else 2 * self.slots
        steps = peel + unroll * ((KSTEPS - peel) // unroll)
        a, acc = ("bf16" if self.types == "bf16" else "f16"), ("f16" if self.types == "acc16" else "f32")
        place = {"swizzle": swizzle(k), "plain": "", "pad": '<pad every="%d" by="16"/>' % (2 * k)}[self.layout]
        out = ['<?xml version="1.0" encoding="UTF-8"?>', "<!-- Written by tests/hw/make_schedules.py. -->",
               '<schedule name="%s" target="sm_90">' % self.name,
               '  <gemm m="%d" n="%d" k="%d" a="%s" b="%s" acc="%s" out="f16">' % (GRID_M * m, GRID_N * n, steps * k, a, a, acc),
               '    <tile m="%d" n="%d" k="%d"/>' % (m, n, k),
               '    <waves groups="%d" rows="%d" cols="%d" gap="%d"/>' % (self.groups, self.grid[0], self.grid[1], self.gap),
               '    <matrix op="%s"/>' % MMA[self.types], "  </gemm>"]
        for x in "AB":
            inner = ">%s</lds>" % place if place else "/>"
            out.append('  <lds name="%s" operand="%s" slots="%d"%s' % (x, x, self.slots, inner))
        out += self.fragments()
        if self.copy == "staged":
            out += ['  <staging name="g_a" for="A"/>', '  <staging name="g_b" for="B"/>']
        out += ["  <prologue>"] + pro + ["  </prologue>", '  <loop unroll="%d" peel="%d">' % (unroll, peel)] + loop + ["  </loop>",
                "  <epilogue>"] + epi
        accs = ["c%d" % i for i in range(self.parts)] if self.body == "rowsplit" else ["c"]
        out += ['    <store from="%s" op="st.global.b32"/>' % c for c in accs] + ["  </epilogue>", "</schedule>", ""]
        return "\n".join(out)


def blind():
    """Shapes, splits, depths, waits and offsets that the first set has not. Drawn up before the model's values were."""
    v = []

    def add(name, **kw):
        v.append(Gemm("h200-b%02d-%s" % (len(v) + 1, name), **kw))

    def both(name, **kw):
        gap = kw.pop("gap", 1)
        add(name + "-offset", gap=gap, **kw)
        add(name + "-inphase", gap=0, **kw)

    small, mid, wide = (128, 128, 32), (128, 128, 64), (128, 256, 32)
    both("256x64x32", tile=(256, 64, 32), grid=(4, 2))
    both("64x128x64", tile=(64, 128, 64))
    both("128x192x32", tile=(128, 192, 32))
    both("192x128x32-slots6", tile=(192, 128, 32), grid=(2, 4), slots=6)
    both("ksplit2-k32-slots3", tile=small, body="ksplit", slots=3)
    both("rowsplit2-k64", tile=mid, body="rowsplit")
    both("wide-slots3", tile=wide, slots=3, copy_first=True)
    both("wide-overwait2", tile=wide, over=2)
    both("wide-bf16-x2", tile=wide, types="bf16", read="ldmatrix.x2")
    both("64x256x64-ksplit2", tile=(64, 256, 64), body="ksplit")
    add("k64-one-barrier", tile=mid, gap=0, barrier="one")
    add("rowsplit2-one-barrier", tile=wide, gap=0, body="rowsplit", barrier="one")
    add("ahead-4warp-k64", tile=(64, 64, 64), grid=(2, 2), groups=1, gap=0, body="ahead", slots=6)
    add("k64-wait-behind-mma", tile=(128, 64, 64), grid=(4, 2), gap=0, wait="mma", slots=3)
    return v


def variants():
    v = []

    def add(name, **kw):
        v.append(Gemm("h200-%02d-%s" % (len(v) + 1, name), **kw))

    small, mid, wide = (128, 128, 32), (128, 128, 64), (128, 256, 32)
    # offset, tile, depth
    for tile, t in ((wide, "128x256x32"), (small, "128x128x32"), (mid, "128x128x64"), ((128, 128, 16), "128x128x16"),
                    ((256, 128, 32), "256x128x32"), ((64, 256, 32), "64x256x32")):
        grid = (4, 2) if tile[0] == 256 else (2, 4)
        for gap in (1, 0):
            add("%s-%s" % (t, "offset" if gap else "inphase"), tile=tile, grid=grid, gap=gap)
    for slots in (3, 5, 6):
        add("slots%d-offset" % slots, tile=small, slots=slots)
        add("slots%d-inphase" % slots, tile=small, slots=slots, gap=0)
    # how a K-step is cut
    for parts in (2, 4):
        add("ksplit%d-offset" % parts, tile=mid, body="ksplit", parts=parts)
        add("ksplit%d-inphase" % parts, tile=mid, body="ksplit", parts=parts, gap=0)
    add("rowsplit2-offset", tile=wide, body="rowsplit")
    add("rowsplit2-inphase", tile=wide, body="rowsplit", gap=0)
    add("rowsplit4-offset", tile=(256, 128, 32), grid=(2, 4), body="rowsplit", parts=4)
    add("rowsplit4-inphase", tile=(256, 128, 32), grid=(2, 4), body="rowsplit", parts=4, gap=0)
    # barriers and waits
    add("one-barrier", tile=small, gap=0, barrier="one")
    add("one-barrier-wide", tile=wide, gap=0, barrier="one")
    add("ksplit2-one-barrier", tile=mid, body="ksplit", gap=0, barrier="one")
    add("extra-barrier", tile=small, gap=0, barrier="extra")
    add("overwait1-offset", tile=small, over=1)
    add("overwait1-inphase", tile=small, over=1, gap=0)
    add("overwait2-offset", tile=small, over=2)
    add("overwait2-inphase", tile=small, over=2, gap=0)
    add("wait-behind-mma", tile=small, gap=0, wait="mma")
    add("wait-behind-mma-slots2", tile=small, gap=0, wait="mma", slots=2)
    add("copy-first-offset", tile=small, copy_first=True)
    add("copy-first-inphase", tile=small, copy_first=True, gap=0)
    # how fragments are read, and where they lie
    for read, r in (("ldmatrix.x2", "x2"), ("ld.shared.v4.b32", "v4"), ("ld.shared.v2.b32", "v2"), ("ld.shared.b32", "b32")):
        add("read-%s-offset" % r, tile=small, read=read)
        add("read-%s-inphase" % r, tile=small, read=read, gap=0)
    for layout in ("plain", "pad"):
        add("%s-offset" % layout, tile=small, layout=layout)
        add("%s-k64-offset" % layout, tile=mid, layout=layout)
    add("plain-inphase", tile=small, layout="plain", gap=0)
    add("pad-inphase", tile=small, layout="pad", gap=0)
    # copies
    add("copy8-offset", tile=small, copy="cp.async.ca.8")
    add("copy8-inphase", tile=small, copy="cp.async.ca.8", gap=0)
    add("staged-inphase", tile=small, copy="staged", slots=2, gap=0)
    add("staged-one-barrier", tile=small, copy="staged", slots=2, gap=0, groups=1, barrier="one")
    # fragments one K-step ahead, four and eight warps, woven and not
    add("ahead-4warp", tile=(128, 64, 32), grid=(2, 2), groups=1, gap=0, body="ahead")
    add("ahead-4warp-woven", tile=(128, 64, 32), grid=(2, 2), groups=1, gap=0, body="ahead", order="ALL")
    add("ahead-8warp", tile=small, groups=1, gap=0, body="ahead")
    add("ahead-8warp-woven", tile=small, groups=1, gap=0, body="ahead", order="ALL")
    add("4warp-two", tile=(128, 64, 32), grid=(2, 2), groups=1, gap=0)
    add("4warp-one-barrier", tile=(128, 64, 32), grid=(2, 2), groups=1, gap=0, barrier="one")
    # types
    add("bf16-offset", tile=small, types="bf16")
    add("bf16-inphase", tile=small, types="bf16", gap=0)
    add("acc16-offset", tile=wide, types="acc16")
    add("acc16-inphase", tile=wide, types="acc16", gap=0)
    for g in v:
        if g.order == "ALL":
            g.order = weave(g)
    return v


def weave(g):
    """Reads spread evenly among the products: all counts of one K-step of a warp."""
    rows, cols = g.tile[0] // g.grid[0], g.tile[1] // g.grid[1]
    reads = (rows + cols) * g.tile[2] * 2 // 512
    mma = rows // 16 * (cols // 8) * (g.tile[2] // 16)
    each = mma // reads
    rest = mma - each * reads
    return "%d(r %dm)%s" % (reads, each, " %dm" % rest if rest else "")


def main():
    hidden = sys.argv[1] == "--blind"
    folder = sys.argv[-1]
    os.makedirs(folder, exist_ok=True)
    held = []
    for i, g in enumerate(blind() if hidden else variants()):
        with open(os.path.join(folder, g.name + ".xml"), "w", encoding="utf-8") as f:
            f.write(g.text())
        if (i // 2 + i) % 2:
            held.append(g.name)
    if hidden:
        return
    with open(os.path.join(folder, "held-out.txt"), "w", encoding="utf-8") as f:
        f.write("\n".join(held) + "\n")


if __name__ == "__main__":
    main()
