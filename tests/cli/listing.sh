#!/usr/bin/env bash
# Listings at the command line: target and kernel, findings, formats, what is refused; and the faults of
# tests/golden/field that stand in listings: listings.tsv says what each one gets.
. "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

field=tests/golden/field
gemm=tests/golden/listing/gemm-gfx942.s
kernels=tests/golden/listing/two-kernels-gfx1250.s

# The faults.
for f in "$field"/*.s; do
	grep -q "^$(basename "$f")	" "$field/listings.tsv" || fail "$f is not in listings.tsv"
	case $f in
	*-bad.s) [ -e "${f%-bad.s}-good.s" ] || fail "$f has no good twin" ;;
	esac
done
"$WPSIM" check --format jsonl "$field"/*.s >"$tmp/out" 2>"$tmp/err"
[ $? = 1 ] || fail "wpsim check: $(head -n 5 "$tmp/err")"
python3 - "$field/listings.tsv" "$tmp/out" "$field"/*.s >"$tmp/verdict" <<'END' || fail "no verdict"
import json
import os
import sys

docs = [json.loads(line) for line in open(sys.argv[2], encoding="utf-8")]
names = [os.path.basename(f) for f in sys.argv[3:]]
found = dict(zip(names, [d["findings"] for d in docs], strict=True))
rows = [line.rstrip("\n").split("\t") for line in open(sys.argv[1], encoding="utf-8") if line[0] != "#"][1:]
assert len(rows) > 25


def word(value):
    return "-" if value is None else str(value)


for name, code, *rest in rows:
    seen = [[f["code"]] + [word(f[k]) for k in ("line", "required", "present", "counter")] for f in found[name]]
    want = [] if code == "-" else [[code, *rest]]
    if seen != want:
        print(f"{name}: expected {want}, got {seen}")
    for f in found[name]:
        if not f["fix"] or (f["code"] == "E-SPACING") != bool(f["rule"]) or (f["severity"] == "error" and not f["notes"]):
            print(f"{name}: fix, rule or notes are missing: {f}")
END
while read -r line; do fail "$line"; done <"$tmp/verdict"

# A good listing: its target stands in the text.
expect 0 check "$gemm"
# Of the two stores in front of the barrier each wave reads the second one's data itself.
said err "^$gemm:111:2: warning\[W-WAIT-STRONG\]: lgkmcnt\(0\) is stronger than needed: 1 suffices$"
said out "^$gemm: 0 errors, 1 warning$"
said out '^  kernel gemm for gfx942: [0-9]+ instructions; 70 VGPRs, 0 AGPRs, 16 SGPRs a wave; LDS 32768 bytes; scratch 0 bytes$'
said out '^  order between waves: 4 waves; [0-9]+ LDS accesses followed$'
expect 0 check --price "$gemm"
said err '^  price: [0-9.]+ clk'
expect 1 check --werror "$gemm"
# Order between waves: groups, their offset, two bodies, a barrier that both groups call.
expect 0 check "$field/F35-good.s"
said out '^  order between waves: 8 waves in 2 groups, the second 1 barrier behind; '
expect 0 check "$field/called-barrier-good.s"
said out '^  order between waves: 8 waves in 2 groups, the second 1 barrier behind; '
expect 0 check "$field/two-bodies-good.s"
said out '^  order between waves: 8 waves in 2 groups, each with a loop of its own; '
expect 0 check --block 64,2 "$field/F29-good.s"
said out '^  order between waves: 2 waves; '
expect 0 check --exec --arg out:4096 --arg u32:0 "$field/F29-good.s"
said out '^  order between waves: 4 waves; '
expect 2 check --exec --arg out:4096 "$field/F29-good.s"
expect 1 check --exec --arg out:4096 --arg u32:0 "$field/F07-bad.s"
said err 'error\[E-RACE\]'
expect 1 check "$field/F18-gfx942-16-bad.s"
said err 'F18-gfx942-16-bad.s:6:2: error\[E-SPACING\]: .* 1 wait state too early'
said err 'fix: insert s_nop 0 before this'
said out '1 error, 0 warnings$'
said out '^  snippet for gfx942: 5 instructions;'
# A wait that is loosened, and one that is gone, are found in real code.
sed 's/s_waitcnt lgkmcnt(0)/s_waitcnt lgkmcnt(1)/' "$gemm" >"$tmp/loose.s"
expect 1 check "$tmp/loose.s"
said err 'error\[E-WAIT-SHORT\].* uses s'
sed '/s_waitcnt vmcnt/d' "$gemm" >"$tmp/gone.s"
cmp -s "$gemm" "$tmp/gone.s" && fail "the listing has no such wait"
expect 1 check "$tmp/gone.s"
said err 'fix: insert s_waitcnt vmcnt\('

# An empty one is a listing by its name.
: >"$tmp/empty.s"
for c in check annotate; do
	expect 2 $c "$tmp/empty.s"
	said err 'empty.s:1:1: error\[E-LISTING\]: the listing is empty$'
done

# The target: of the option, of the text, none, unknown.
printf '\tv_mov_b32_e32 v0, v1\n' >"$tmp/bare.s"
expect 0 check --target gfx950 "$tmp/bare.s"
said out 'snippet for gfx950: 1 instruction;'
expect 2 check "$tmp/bare.s"
said err "bare.s:1:1: error\[E-TARGET\]: the listing does not say"
said err 'fix: give --target'
expect 2 check --target gfx9500 "$tmp/bare.s"
said err "there is no target 'gfx9500'"
said err "did you mean 'gfx950'"
expect 2 check --target gfx1250 "$gemm"
said err 'error\[E-MNEMONIC\].*no instruction of gfx1250, only of gfx942'
expect 0 check --target gfx950 "$field/F18-gfx942-2-good.s"
said out ' for gfx950: '
expect 1 check --target gfx950 "$field/F18-gfx942-16-good.s"
printf '\t.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"\n\ts_nop 0\n' >"$tmp/other.s"
expect 2 check "$tmp/other.s"
said err "other.s:1:37: error\[E-TARGET\]: there is no target 'gfx1100'"
printf '\ts_endpgm\namdhsa.target: amdgcn-amd-amdhsa--gfx950:xnack-\n' >"$tmp/meta.s"
"$WPSIM" check "$tmp/meta.s" 2>&1 | grep -q 'does not say' && fail "the target of the metadata is not read"

# The kernel.
expect 2 check "$kernels"
said err 'error\[E-LISTING\]'
expect 0 check --kernel fill "$kernels"
said out '^  kernel fill for gfx1250: '
expect 0 check --kernel fill.kd "$kernels"
expect 2 check --kernel fil "$kernels"
said err 'error\[E-LISTING\]'

# Unknown instructions.
expect 2 check --target gfx942 tests/golden/listing/unknown.s
said err 'error\[E-MNEMONIC\]: v_new_thing'
expect 2 check --unknown=error --target gfx942 tests/golden/listing/unknown.s
expect 0 check --unknown=warn --target gfx942 tests/golden/listing/unknown.s
said err 'warning\[E-MNEMONIC\]: v_new_thing'
said out '0 errors, 2 warnings$'
said out 'instructions \(2 unknown\);'
expect 1 check --werror --unknown=warn --target gfx942 tests/golden/listing/unknown.s
expect 2 check --unknown=maybe --target gfx942 tests/golden/listing/unknown.s
said err 'takes error or warn'

# Standard input.
"$WPSIM" check - <"$field/F20-bad.s" >"$tmp/out" 2>"$tmp/err"
[ $? = 1 ] || fail "a listing on standard input: wrong status"
said err '^<stdin>:5:2: error\[E-SPACING\]'
said out '^-: 1 error'

# Documents; listings and schedules together.
expect 2 check --format jsonl "$gemm" "$field/F20-bad.s" "$good" "$tmp/bare.s"
silent err
python3 - "$tmp/out" <<'END' || fail "JSON documents"
import json
import sys
docs = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
codes = [[f["code"] for f in d["findings"] if f["severity"] == "error"] for d in docs]
assert codes == [[], ["E-SPACING"], [], ["E-TARGET"]], codes
assert docs[1]["findings"][0]["file"].endswith("F20-bad.s")
END
expect 1 check --format sarif "$gemm" "$field/F13-gfx942-bad.s" "$field/F20-bad.s"
silent err
python3 - "$tmp/out" <<'END' || fail "SARIF document"
import json
import sys
(run,) = json.load(open(sys.argv[1], encoding="utf-8"))["runs"]
seen = [(r["ruleId"], r["level"], r["locations"][0]["physicalLocation"]["region"]["startLine"]) for r in run["results"]]
assert seen == [("W-WAIT-STRONG", "warning", 111), ("E-WAIT-SHORT", "error", 6), ("E-SPACING", "error", 5)], seen
END

# A program printed again.
expect 0 emit --listing "$gemm"
silent err
said out '^; gemm for gfx942: 4 waves'
said out '^ +[0-9]+  v_mfma_f32_'
expect 0 emit --listing --kernel fill "$kernels"
said out '^; fill for gfx1250'
expect 2 emit --listing "$kernels"
expect 2 emit --listing "$tmp/bare.s"
said err 'E-TARGET'
expect 0 emit --listing --unknown=warn --target gfx942 tests/golden/listing/unknown.s

# What there is not for listings.
refused() # refused PATTERN WORD...
{
	local pattern=$1
	shift
	expect 2 "$@"
	said err "error\[E-LISTING\]: $pattern"
}
refused 'this predicts schedules, and the file is a listing' "$gemm"
said err 'fix: use wpsim annotate to time it, wpsim check to check it'
silent out
refused '--fix is for schedules' check --fix "$gemm"
silent out
refused '--place-waits is for schedules' check --place-waits "$gemm"
# A schedule's name decides even where its text is no XML.
printf 'no schedule\n' >"$tmp/text.xml"
expect 2 check "$tmp/text.xml"
said err 'error\[E-XML\]'

# The bad listings: located findings, no crash.
for f in tests/golden/bad-listing/*.s; do
	target=$(sed -n 's/^; target: //p' "$f") kernel=$(sed -n 's/^; kernel: //p' "$f")
	expect 2 check --target "${target:-gfx942}" ${kernel:+--kernel "$kernel"} "$f"
	grep -qE "^$f:[0-9]+:[0-9]+: error\[E-" "$tmp/err" || fail "$f: no located finding"
done

done_testing
