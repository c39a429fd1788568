#!/usr/bin/env bash
# wpsim exec: launches of listings, their arguments and results, findings and exit statuses, schedules with their
# reference product, and that mistakes put into an emitted kernel are found.
. "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

# out[i] = 3 * in[i] + n, n for the launch's workgroups of 64
cat >"$tmp/k.s" <<'END'
	.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
	.text
	.type scale,@function
scale:
	s_load_dwordx4 s[4:7], s[0:1], 0x0
	s_load_dword s8, s[0:1], 0x10
	v_lshl_or_b32 v0, s2, 6, v0
	v_lshlrev_b32 v1, 2, v0
	s_waitcnt lgkmcnt(0)
	global_load_dword v2, v1, s[4:5]
	s_waitcnt vmcnt(0)
	v_mul_lo_u32 v2, v2, 3
	v_add_u32 v2, s8, v2
	global_store_dword v1, v2, s[6:7]
	s_endpgm
.Lfunc_end0:
	.amdhsa_kernel scale
	.amdhsa_user_sgpr_kernarg_segment_ptr 1
	.amdhsa_system_sgpr_workgroup_id_x 1
	.amdhsa_next_free_vgpr 3
	.amdhsa_next_free_sgpr 9
	.amdhsa_accum_offset 4
	.end_amdhsa_kernel
	.amdgpu_metadata
---
amdhsa.kernels:
  - .args:
      - .name: in
        .offset: 0
        .size: 8
        .value_kind: global_buffer
      - .name: out
        .offset: 8
        .size: 8
        .value_kind: global_buffer
      - .name: n
        .offset: 16
        .size: 4
        .value_kind: by_value
    .kernarg_segment_size: 20
    .max_flat_workgroup_size: 64
    .name: scale
...
	.end_amdgpu_metadata
END
python3 -c 'import struct,sys; sys.stdout.buffer.write(struct.pack("<256I", *[i * i for i in range(256)]))' >"$tmp/in.bin"
args=(--arg "buf:$tmp/in.bin" --arg out:1024 --arg i32:7)

expect 0 exec --grid 4 "${args[@]}" --dump "out=$tmp/out.bin" --dump "1=$tmp/again.bin" "$tmp/k.s"
said out '^scale for gfx942: 4 workgroups of 64 threads \(1 wave\), 44 wave instructions executed$'
said out 'argument 2: 1024 bytes of output, checksum [0-9a-f]{16}$'
silent err
python3 -c 'import struct,sys
got = struct.unpack("<256I", open(sys.argv[1], "rb").read())
assert got == tuple(3 * i * i + 7 for i in range(256)), got' "$tmp/out.bin" || fail "the result is wrong"
cmp -s "$tmp/in.bin" "$tmp/again.bin" || fail "the input has changed"
cp "$tmp/out" "$tmp/first"
for more in "--threads 1" "--threads 3 --order random --seed 5"; do
	# shellcheck disable=SC2086
	expect 0 exec --grid 4 $more "${args[@]}" "$tmp/k.s"
	cmp -s "$tmp/first" "$tmp/out" || fail "$more changes the output"
done
expect 0 exec --grid 4 "${args[@]}" --counts "$tmp/k.s"
said out '^ +10 +4 +global_load_dword v2, v1, s\[4:5\]$'

# What does not fit.
expect 2 exec --grid 4 --arg out:1024 "$tmp/k.s"
said err 'takes 3 arguments, and 1 --arg is given'
expect 2 exec --arg i64:5 --arg out:1024 --arg i32:7 "$tmp/k.s"
said err 'wants a buffer here'
expect 2 exec --arg out:1024 --arg out:1024 --arg f64:7 "$tmp/k.s"
said err 'argument has 4 bytes'
expect 2 exec --arg out:1024 --arg out:x --arg f32:7 "$tmp/k.s"
expect 2 exec --arg out:1024 --arg f32:seven --arg f32:7 "$tmp/k.s"
expect 2 exec --arg "buf:$tmp/none" --arg out:4 --arg f32:7 "$tmp/k.s"
said err 'none.*No such file'
expect 2 exec "${args[@]}" --dump "3=$tmp/x" "$tmp/k.s"
expect 2 exec "${args[@]}" --block 128 "$tmp/k.s"
said err 'error\[E-LAUNCH\]: the workgroup has 128 threads'
expect 2 exec --grid 0 "$tmp/k.s"
expect 2 exec --grid 1,2,3,4 "$tmp/k.s"
expect 2 exec --order backwards "$tmp/k.s"
expect 2 exec --seed -1 "$tmp/k.s"
expect 2 exec "$tmp/k.s" "$tmp/k.s"
expect 2 exec "$tmp/nothing.s"

# Findings, and where: beyond the end; never written; in flight; not executed.
expect 1 exec --grid 5 "${args[@]}" "$tmp/k.s"
said err 'k.s:10:2: error\[E-BOUNDS\]: .*workgroup 4'
expect 1 exec --grid 4 --arg buf:1024 --arg out:1024 --arg i32:7 "$tmp/k.s"
said err 'k.s:14:2: error\[E-UNINIT\]'
sed 's/s_waitcnt vmcnt(0)/s_nop 0/' "$tmp/k.s" >"$tmp/poison.s"
expect 1 exec --grid 4 "${args[@]}" "$tmp/poison.s"
said err 'poison.s:12:2: error\[E-POISON\]: v2 is read while global_load_dword is still in flight'
said err 'poison.s:10:2: note: '
sed 's/s_waitcnt vmcnt(0)/s_rfe_b64 s[4:5]/' "$tmp/k.s" >"$tmp/rfe.s"
expect 2 exec --grid 4 "${args[@]}" "$tmp/rfe.s"
said err 'rfe.s:11:2: error\[E-UNSUPPORTED\]: .*s_rfe_b64'
silent out

# A schedule: right, and its loop is the program's.
small=kernels/mi300x-f16-8wave/schedule.xml
expect 0 exec --size 256x512x256 "$small"
said out '^mi300x_f16_8wave for gfx942: 1 of 2 workgroups'
said out 'result: 65536 of 65536 elements compared with the reference product, 0 wrong'
awk '/^  stage of the loop/ { on = 1; next } on && NF == 3 && $2 != $3 { bad = 1 } on && NF == 3 { n++ } END { exit bad || n < 4 }' \
	"$tmp/out" || fail "executed and lowered instructions differ: $(cat "$tmp/out")"
cp "$tmp/out" "$tmp/first"
expect 0 exec --size 256x512x256 --order random --seed 0 "$small"
cmp -s "$tmp/first" "$tmp/out" || fail "the order changes the result"
expect 0 exec --size 256x512x256 --all-workgroups --seed 3 "$small"
said out '2 of 2 workgroups'
said out '131072 of 131072 elements .* 0 wrong'
expect 2 exec kernels/vector-add/schedule.xml
expect 2 exec kernels/h200-f16-8warp/schedule.xml

# Wrong schedules: the epilogue reads the last K-step but one twice; a copy brings the wrong K-step, which also races.
sed 's|<read into="a_bot" tile="last"/>|<read into="a_bot" tile="last-1"/>|' "$good" >"$tmp/wrong.xml"
expect 1 exec --size 256x256x512 "$tmp/wrong.xml"
said err 'wrong.xml:[0-9]+:[0-9]+: error\[E-WRONG\]: [0-9]{5} of 65536 elements differ'
sed '0,/tile="k+2"/s//tile="k+1"/' "$good" >"$tmp/race.xml"
expect 1 exec --size 256x256x512 "$tmp/race.xml"
said err 'error\[E-RACE\]'

# Mistakes in the emitted kernel: one wait loosened or one barrier taken out at a time.
expect 0 emit --size 256x256x256 -o "$tmp/gemm.s" "$small"
gemm=(--grid 1 --block 512 --arg rand-f16:65536 --arg rand-f16:65536 --arg out:131072)
expect 0 exec "${gemm[@]}" "$tmp/gemm.s"
grep -nE '^	s_(waitcnt|barrier)' "$tmp/gemm.s" | cut -d: -f1 >"$tmp/lines"
tried=0 seen=0
# shellcheck disable=SC2013
for line in $(awk 'NR % 5 == 3' "$tmp/lines"); do
	sed "${line}s/.*/	s_nop 0/" "$tmp/gemm.s" >"$tmp/mutant.s"
	"$WPSIM" exec "${gemm[@]}" "$tmp/mutant.s" >"$tmp/out" 2>"$tmp/err" </dev/null
	case $? in
	0) ;;
	1) seen=$((seen + 1)) ;;
	*) fail "mutant of line $line: $(head -n 3 "$tmp/err")" ;;
	esac
	tried=$((tried + 1))
done
[ $tried -ge 8 ] || fail "only $tried mutants"
[ $((seen * 3)) -ge $((tried * 2)) ] || fail "of $tried mutants only $seen were found"

done_testing
