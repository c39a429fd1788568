#!/usr/bin/env bash
# wpsim annotate at the command line: figures, assumptions, options, formats, and what is refused.
. "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

gemm=tests/golden/listing/gemm-gfx942.s

expect 0 annotate "$gemm"
silent err
said out '^gemm on gfx942 '
said out '^  loop       lines 66 to 113, \.LBB0_2, 1000 trips$'
said out '^  trip       [0-9.]+ clk, matrix ops alone 128 on a SIMD: matrix unit busy [0-9.]+ %  \(exact, period of [0-9]+ trips?\)$'
said out '^  mix        12 valu, 8 matrix, .*8 lds-read, 2 lds-write, 2 vmem-load, '
said out '^  spills     0 scratch ops, 0 accumulator copies in the loop$'
said out 'note .*line 66 are not known: taken as one steady loop of 1000 trips'
said out '^ +107 +1 +[0-9.]+ +[0-9.]+  wait-vmem +s_waitcnt vmcnt\(1\)$'
trip=$(awk '$1 == "trip" { print $2 }' "$tmp/out")

# Trips: by label and by line.
expect 0 annotate --trip .LBB0_2=64 "$gemm"
said out ', 64 trips$'
cp "$tmp/out" "$tmp/label"
expect 0 annotate --trip=66=64 "$gemm"
cmp -s "$tmp/out" "$tmp/label" || fail "--trip by line differs from --trip by label"
grep -q 'steady loop of' "$tmp/out" && fail "given trips are said to be unknown"
expect 2 annotate --trip .LBB9=64 "$gemm"
said err 'error\[E-LABEL\]: no loop begins at .LBB9'
said err 'fix: the loops of the listing begin at: .LBB0_2'
for bad in .LBB0_2 .LBB0_2= =4 .LBB0_2=0 .LBB0_2=x; do
	expect 2 annotate --trip "$bad" "$gemm"
	said err '--trip takes LABEL=N'
done

# Conflicts cost time.
expect 0 annotate --bank-conflicts 16 "$gemm"
said out 'every access takes 16 times its array time'
awk -v free="$trip" '$1 == "trip" { exit !($2 > free) }' "$tmp/out" || fail "16-way conflicts cost nothing"
expect 2 annotate --bank-conflicts 0 "$gemm"
expect 2 annotate --waves 33 "$gemm"

# Waves: from the text, assumed, given.
printf '.L0:\n\tv_exp_f32 v0, v1\n\ts_cbranch_scc1 .L0\n\ts_endpgm\n' >"$tmp/snippet.s"
expect 0 annotate --target gfx950 "$tmp/snippet.s"
said out 'does not say how large a workgroup is: taken as 4 waves'
said out 'one workgroup of 4 waves'
expect 0 annotate --target gfx950 --waves 8 "$tmp/snippet.s"
said out 'one workgroup of 8 waves'
grep -q 'does not say how large' "$tmp/out" && fail "--waves is taken as a guess"

# JSON, also of what can't be timed.
expect 0 annotate --format json "$gemm"
python3 - "$tmp/out" "$trip" <<'END_PYTHON' || fail "JSON: wrong figures"
import json
import sys

with open(sys.argv[1], encoding="utf-8") as f:
    doc = json.load(f)
assert doc["format"] == "wpsim.annotate.v1" and doc["findings"] == []
assert doc["clk_per_trip"] == float(sys.argv[2]) and doc["loop"]["label"] == ".LBB0_2"
assert sum(doc["mix"].values()) == len(doc["lines"]) == 48
spent = sum(line["stall_clk"] for line in doc["lines"])
assert 0 < spent < doc["clk_per_trip"]
assert any(line["reason"] == "barrier" for line in doc["lines"])
END_PYTHON
printf '.L0:\n\ts_barrier_wait -1\n\ts_cbranch_scc1 .L0\n\ts_endpgm\n' >"$tmp/stuck.s"
expect 1 annotate --target gfx1250 "$tmp/stuck.s"
said err 'error\[E-DEADLOCK\]'
expect 1 annotate --format jsonl --target gfx1250 "$tmp/stuck.s"
python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); assert d["findings"][0]["code"] == "E-DEADLOCK"' \
	"$tmp/out" || fail "JSON of a deadlock"

# What is refused.
expect 2 annotate "$good"
said err 'annotate is for listings'
expect 2 annotate "$tmp/none.s"
expect 2 annotate "$tmp/snippet.s"
said err 'give --target'
expect 2 annotate --format sarif "$gemm"

done_testing
