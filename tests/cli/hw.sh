#!/usr/bin/env bash
# run, calibrate and compare: on a scripted device, on the engine in the part of hardware, and where there is none.
. "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

unset WPSIM_FAKE WPSIM_SIM_TARGET WPSIM_SIM_NOISE
loop=kernels/h200-loop/schedule.xml

script()
{
	printf '%s\n' "$@" >"$tmp/script"
	export WPSIM_FAKE=$tmp/script
}

# A GEMM of two tiles, so that a reference product is cheap.
gemm=$tmp/gemm.xml
tile_m=$(grep -oE '<tile m="[0-9]+"' kernels/h200-f16-8warp/schedule.xml | grep -oE '[0-9]+')
tile_n=$(grep -oE '<tile [^>]*n="[0-9]+"' kernels/h200-f16-8warp/schedule.xml | grep -oE '[0-9]+$|n="[0-9]+' | grep -oE '[0-9]+' | tail -n 1)
sed -E "s/(<gemm [^>]*m=\")[0-9]+(\" n=\")[0-9]+(\" k=\")[0-9]+/\1$((2 * tile_m))\2$tile_n\3512/" \
	kernels/h200-f16-8warp/schedule.xml >"$gemm"

# ---- run ----

expect 2 run
expect 2 run --backend nothing $loop
said err 'there is no backend .nothing.; there are: cuda, hip, fake, sim'
expect 3 run --backend fake $loop
said err 'WPSIM_FAKE'
expect 2 run --repeat 0 $loop
expect 2 run --backend fake "$tmp/not-there.xml"

script 'arch gfx942'
expect 3 run --backend fake $loop
said err 'the schedule is for sm_90'
for fault in no-library no-device compile memory launch 'launch 5'; do
	script "fault $fault"
	expect 3 run --backend fake $loop
	[ "$(wc -l <"$tmp/err")" = 1 ] || fail "fault $fault is no single sentence: $(cat "$tmp/err")"
	silent out
done
script 'fault hang 2'
expect 3 run --backend fake --timeout 1 $loop
said err 'did not end within 1 s'

# Two lengths of the loop: 100 clk a trip and 0 beside it, so both figures are 100.
script 'clk 100' 'mhz 1000' 'overhead 0'
expect 0 run --backend fake --samples "$tmp/s.jsonl" $loop
said out '100\.00 clk a K-step over the whole loop of 1000, 100\.00 once it is steady'
said out 'clock +1000 MHz'
[ "$(wc -l <"$tmp/s.jsonl")" = 1 ] || fail "not one sample was written"
expect 0 run --backend fake --samples "$tmp/s.jsonl" $loop
said out 'measured before'
[ "$(wc -l <"$tmp/s.jsonl")" = 1 ] || fail "a kernel was measured twice"

# A result is right, wrong or missing.
expect 0 run --backend fake "$gemm"
said out 'result +right: '
for result in wrong missing; do
	script "result $result"
	expect 1 run --backend fake --samples "$tmp/wrong.jsonl" "$gemm"
	said err 'error\[E-WRONG\]: '
	[ ! -s "$tmp/wrong.jsonl" ] || fail "a wrong kernel was timed"
done
script 'result right' 'clk 100 150 80 120 90 130'
expect 0 run --backend fake --repeat 6 $loop
said out 'warning +the launches differ'

expect 0 run --dry $loop
said out '\.visible \.entry'
expect 0 run --dry "$gemm"
said out 'mma\.sync'

# An interrupt leaves whole lines.
script 'fault hang 3'
"$WPSIM" run --backend fake --timeout 60 --samples "$tmp/i.jsonl" $loop >"$tmp/out" 2>"$tmp/err" &
sleep 1
kill -INT $! && wait $!
[ $? = 3 ] || fail "an interrupted run does not end with status 3"
said err 'interrupted'

# ---- compare ----

expect 2 compare
expect 2 compare --samples "$tmp/s.jsonl" --published
expect 2 compare --published $loop
expect 2 compare --samples "$tmp/not-there.jsonl"
expect 2 compare --samples "$tmp/s.jsonl" kernels/vector-add/schedule.xml
said err 'holds no sample of'
expect 0 compare --samples "$tmp/s.jsonl" $loop
said out '^h200-loop +100\.00 '
expect 0 compare --samples "$tmp/s.jsonl"
said out '^h200-loop +100\.00 '
expect 4 compare --samples "$tmp/s.jsonl" --tolerance 1 $loop
said err 'off by more than 1 %'
expect 0 compare --samples "$tmp/s.jsonl" --tolerance 1000 --svg "$tmp/x.svg" $loop
said x.svg '</svg>'
expect 0 compare --samples "$tmp/s.jsonl" --format csv $loop
said out '^id,kernel,target,where,'
expect 0 compare --samples "$tmp/s.jsonl" --format jsonl $loop
python3 - "$tmp/out" <<'EOF' || fail "compare --format jsonl is not what it should be"
import json, sys
doc = json.load(open(sys.argv[1]))
row = doc["rows"][0]
assert doc["schema"] == "wpsim.compare.v1" and len(doc["rows"]) == 1 and doc["figures"]["wpsim"]["rows"] == 1
assert row["measured_clk"] == 100 and abs(row["error"] - (row["predicted_clk"] / 100 - 1)) < 1e-12
EOF
expect 0 compare --samples "$tmp/s.jsonl" --format json $loop
expect 2 compare --samples "$tmp/s.jsonl" --format sarif $loop
expect 2 run --format csv $loop

printf '{"schema": "wpsim.sample.v1", "kernel": 3}\n' >"$tmp/bad.jsonl"
expect 2 compare --samples "$tmp/bad.jsonl"
said err 'bad\.jsonl:1:[0-9]+: error\[E-SAMPLES\]'
expect 2 run --backend fake --samples "$tmp/bad.jsonl" $loop
expect 2 calibrate --from "$tmp/bad.jsonl"

# The same figures as tests/accuracy.py, which computes them apart from this.
python3 tests/accuracy.py --wpsim "$WPSIM" --out "$tmp/accuracy.md" || fail "tests/accuracy.py does not run"
expect 0 compare --published --format json
python3 - "$tmp/out" "$tmp/accuracy.md" <<'EOF' || fail "compare --published and tests/accuracy.py differ"
import json, re, sys
doc = json.load(open(sys.argv[1]))
rows = {r["id"]: r for r in doc["rows"]}
table = re.findall(r"^\| (\S+) \| \S+ \| [^|]* \| ([0-9.]+) \| ([0-9.]+) \| [-+0-9.]+ % \|", open(sys.argv[2]).read(), re.M)
assert len(table) > 10
for id_, measured, predicted in table:
    assert abs(rows[id_]["measured_clk"] - float(measured)) < 0.06, id_
    assert abs(rows[id_]["predicted_clk"] - float(predicted)) < 0.06, (id_, rows[id_]["predicted_clk"], predicted)
EOF

# ---- a profiler's trace ----

cat >"$tmp/k.s" <<'EOF'
	.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
	.text
k:
	s_mov_b32 s0, 100
.LBB0_1:
	v_add_f32_e32 v0, v1, v2
	v_mul_f32_e32 v3, v0, v2
	s_sub_u32 s0, s0, 1
	s_cmp_lg_u32 s0, 0
	s_cbranch_scc1 .LBB0_1
	s_endpgm
EOF
row() { printf '["%s",0,%d,"",1,%d,100,%d,%d,0]' "$1" "$2" $((4096 + 4 * $2)) "$3" "$4"; }
{
	printf '{"code":[["; k",0,0,"k",1,4096,0,0,0,0],%s,' "$(row 's_mov_b32 s0, 0x64' 1 4 0)"
	printf '%s,%s,%s,%s,%s,%s],"version":"3.0"}\n' "$(row 'v_add_f32_e32 v0, v1, v2' 2 400 0)" \
		"$(row 'v_mul_f32_e32 v3, v0, v2' 3 800 400)" "$(row 's_sub_u32 s0, s0, 1' 4 400 0)" \
		"$(row 's_cmp_lg_u32 s0, 0' 5 400 0)" "$(row 's_cbranch_scc1 65531' 6 800 0)" "$(row 's_endpgm' 7 4 0)"
} >"$tmp/code.json"
expect 0 compare --trace "$tmp/code.json" "$tmp/k.s"
said out '^ +7 +100 +8\.00 .* 4\.00 .* v_mul_f32_e32'
said out ' 28\.00 .* a trip of one wave'
sed 's/v_mul/v_sub/' "$tmp/code.json" >"$tmp/other.json"
expect 2 compare --trace "$tmp/other.json" "$tmp/k.s"
said err 'does not hold the 5 instructions'
expect 2 compare --trace "$tmp/code.json" kernels/vector-add/schedule.xml
printf '%s\n' '"Kernel_Name","Start_Timestamp","End_Timestamp","Workgroup_Size_X","Workgroup_Size_Y","Workgroup_Size_Z","Grid_Size_X","Grid_Size_Y","Grid_Size_Z"' \
	'"vector_add",1000,2001000,256,1,1,1048576,1,1' '"vector_add",1000,2003000,256,1,1,1048576,1,1' >"$tmp/t.csv"
expect 0 compare --trace "$tmp/t.csv" kernels/vector-add/schedule.xml
said out '2 dispatches, median 2001\.000 us'
expect 2 compare --trace "$tmp/t.csv" "$tmp/k.s"

# ---- calibrate: hidden values come back within their intervals ----

expect 2 calibrate
expect 2 calibrate --target sm_90 --backend sim no-such-kernel
said err 'is no calibration kernel'

# round_trip TARGET "KERNEL..." "NAME SED-EXPRESSION VALUE" ...: a copy of the model with other values plays the hardware
round_trip()
{
	local target=$1 kernels=$2 k edit name value
	local -a words=() edits=()
	shift 2
	for k in $kernels; do words+=("calibrate-$target-$k"); done
	for edit; do edits+=(-e "$(cut -d' ' -f3- <<<"$edit")"); done
	sed -E "${edits[@]}" models/"$target".xml >"$tmp/hidden.xml"
	rm -f "$tmp/cal.jsonl"
	WPSIM_SIM_TARGET=$tmp/hidden.xml WPSIM_SIM_NOISE=0.0005 \
		expect 0 calibrate --target "$target" --backend sim --samples "$tmp/cal.jsonl" -o "$tmp/new.xml" "${words[@]}"
	cp "$tmp/out" "$tmp/report"
	for edit; do
		name=$(cut -d' ' -f1 <<<"$edit") value=$(cut -d' ' -f2 <<<"$edit")
		grep -qF "$value" <(grep -E "$(cut -d/ -f2 <<<"$(cut -d' ' -f3- <<<"$edit")" | cut -c2- | cut -d'"' -f1)" "$tmp/hidden.xml") ||
			fail "$target: $name was not hidden"
		awk -v name="$name" -v v="$value" '$1 == name && / \.\. / { found = 1; for (i = 1; i <= NF; i++) if ($i == "..") ok = ($(i - 1) <= v && v <= $(i + 1)) }
			END { exit !(found && ok) }' "$tmp/report" || fail "$target: $name does not come back as $value: $(grep -F "$name" "$tmp/report")"
	done
	# The new model is one, says where its values are from, and predicts what was measured.
	expect 0 targets "$tmp/new.xml"
	grep -q 'quality="measured" source="cal"' "$tmp/new.xml" || fail "$target: no row of the new model is marked as measured"
	expect 0 compare --samples "$tmp/cal.jsonl" --target "$tmp/new.xml" --tolerance 1
	# What was measured can be fitted again without the hardware.
	expect 0 calibrate --from "$tmp/cal.jsonl" -o "$tmp/again.xml" "${words[@]}"
	cmp -s <(grep -v 'id="cal"' "$tmp/new.xml") <(grep -v 'id="cal"' "$tmp/again.xml") || fail "$target: a second fit of the same samples differs"
}

round_trip sm_90 "loop valu-chain trans-chain matrix-f16-chain barrier lds-latency load-latency" \
	'class:valu/latency 6 s/(<class name="valu" .*latency=")[0-9]+/\16/' \
	'class:trans/latency 25 s/(<class name="trans" .*latency=")[0-9]+/\125/' \
	'value:barrier.release 31 s/(key="barrier.release" *value=")[0-9]+/\131/' \
	'value:lds.latency 37 s/(key="lds.latency" *value=")[0-9]+/\137/' \
	'value:vmem.l2 201 s/(key="vmem.l2" *value=")[0-9]+/\1201/' \
	'matrix:mma.m16n8k16.f32.f16.f16.f32/chain 41 s/(op="mma.m16n8k16.f32.f16.f16.f32" .*chain=")[0-9]+/\141/'
round_trip gfx950 "loop trans-chain matrix-16-stream matrix-16-chain barrier lds-read-128 lds-latency load-latency sleep" \
	'class:branch/hold 16 s/(<class name="branch" .*hold=")[0-9]+/\116/' \
	'class:trans/latency 20 s/(<class name="trans" .*latency=")[0-9]+/\120/' \
	'value:barrier.release 27 s/(key="barrier.release" *value=")[0-9]+/\127/' \
	'value:lds.latency 72 s/(key="lds.latency" *value=")[0-9]+/\172/' \
	'value:vmem.l2 201 s/(key="vmem.l2" *value=")[0-9]+/\1201/' \
	'lds:ds_read_b128/port 18 s/(op="ds_read_b128" .*port=")[0-9]+/\118/' \
	'matrix:v_mfma_f32_16x16x32_f16/chain 24 s/(op="v_mfma_f32_16x16x32_f16" .*chain=")[0-9]+/\124/' \
	'value:sleep.unit 60 s/(key="sleep.unit" *value=")[0-9]+/\160/'

# ---- AMD kernels without a GEMM ----

# The emitted text, read back as any listing and timed, takes what the schedule was predicted to take; and it runs.
"$WPSIM" run --dry kernels/calibrate-gfx950-loop/schedule.xml >/dev/null 2>&1
plain=$?
[ $plain = 3 ] && echo "no assembler for AMD targets here: emitted text is not tested"
for k in gfx950-lds-latency gfx950-matrix-16-chain gfx950-load-stream gfx942-copy-stream gfx1250-barrier-split gfx1250-trans-chain; do
	[ $plain = 3 ] && break
	expect 0 run --dry "kernels/calibrate-$k/schedule.xml"
	grep -v '^//' "$tmp/out" >"$tmp/plain.s"
	[ "$(head -n 2 "$tmp/out" | grep -c 'assembled: ')" = 1 ] || fail "calibrate-$k was not assembled"
	expect 0 --format json "kernels/calibrate-$k/schedule.xml"
	want=$(grep -oE '"cycles_per_step": [0-9.]+' "$tmp/out" | head -n 1 | grep -oE '[0-9.]+')
	expect 0 annotate --format json "$tmp/plain.s"
	got=$(grep -oE '"clk_per_trip": [0-9.]+' "$tmp/out" | grep -oE '[0-9.]+$')
	[ "$want" = "$got" ] || fail "calibrate-$k: the listing takes $got clk a trip, the schedule $want"
	memory=()
	[ "$(grep -c 'value_kind: global_buffer' "$tmp/plain.s")" = 2 ] && memory=(--arg zero:1048576)
	expect 0 exec "${memory[@]}" --arg out:4096 "$tmp/plain.s"
done

# All kernels of the table are there, and are fit for their target.
while IFS=$'\t' read -r target _ _ kernels _; do
	[[ $target = \#* || $target = target ]] && continue
	for k in $kernels; do
		[[ $k = calibrate-$target-* && -f kernels/$k/schedule.xml ]] || fail "models/calibrate.tsv: there is no kernel $k for $target"
	done
done <models/calibrate.tsv

# Samples that can't be kept are not measured first.
printf "arch sm_90\n" >"$tmp/absurd"
WPSIM_FAKE=$tmp/absurd expect 2 run --backend fake --samples "$tmp/no/s.jsonl" $loop
said err "can't append to"
silent out

# Measurements that no model can give: a sentence.
printf 'arch sm_90\nclk 1\nmhz 1\n' >"$tmp/absurd"
WPSIM_FAKE=$tmp/absurd expect 1 calibrate --backend fake --target sm_90 --repeat 2 -o "$tmp/absurd.xml"
said err 'the fitted values contradict each other'

done_testing
