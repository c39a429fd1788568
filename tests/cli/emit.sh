#!/usr/bin/env bash
# wpsim emit: text and code object of a schedule's kernel, sizes, refusals, where the result goes.
. "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

# The text.
expect 0 emit "$good"
silent err
said out '^mi355x_f16_8wave:$'
said out '^\.Lloop0:$'
said out '^	; stage mfma\.tl$'
said out '^	s_cbranch_scc1 \.Lloop0$'
said out '\.amdhsa_group_segment_fixed_size 135680'
cp "$tmp/out" "$tmp/first"
expect 0 emit "$good"
cmp -s "$tmp/out" "$tmp/first" || fail "the text of a kernel is not the same twice"
expect 0 emit --kernel gemm "$good"
said out '^gemm:$'
said out '\.symbol: gemm\.kd$'

# Sizes.
expect 0 emit --size 512x256x1024 "$good"
said out 'C\[512\]\[256\] = A\[512\]\[1024\]'
expect 2 emit --size 300x256x1024 "$good"
said err 'E-SHAPE.*no whole number of tiles'
expect 2 emit --size 512x256x1000 "$good"
said err 'E-SHAPE.*K-steps'
for size in 512x256 0x1x1 1x2x3x4 axbxc 512x256x ''; do
	expect 2 emit --size "$size" "$good"
	said err 'MxNxK'
done

# -o: complete or not at all.
expect 0 emit -o "$tmp/kernel.s" "$good"
silent out err
cmp -s "$tmp/kernel.s" "$tmp/first" || fail "-o writes another text"
expect 2 emit -o "$tmp/kernel.s" --size 300x256x1024 "$good"
said err 'E-SHAPE'
cmp -s "$tmp/kernel.s" "$tmp/first" || fail "a refused kernel changed the file"
expect 2 emit "$good" "$good"
said err 'one schedule at a time'
expect 2 emit "$tmp/kernel.s"
expect 2 emit no/such.xml

# Without an assembler there is no object.
WPSIM_CLANG=$tmp/none expect 3 emit --object -o "$tmp/kernel.co" "$good"
said err 'is not there'
[ ! -e "$tmp/kernel.co" ] || fail "a file without an assembler"
printf '#!/bin/sh\nexit 1\n' >"$tmp/refuses"
chmod +x "$tmp/refuses"
WPSIM_CLANG=$tmp/refuses expect 2 emit --object -o "$tmp/kernel.co" "$good"
[ ! -e "$tmp/kernel.co" ] || fail "a file although the assembler failed"

clang=$(command -v clang-22 || command -v clang)
objdump=$(command -v llvm-objdump-22 || command -v llvm-objdump)
if [ -z "$clang" ] || ! echo 's_endpgm' | "$clang" -target amdgcn-amd-amdhsa -mcpu=gfx1250 -x assembler -c -o /dev/null - 2>/dev/null; then
	echo "no clang for gfx1250: nothing is assembled"
	done_testing
fi

# Every bundled GEMM is assembled.
count=0
for dir in kernels/mi*/; do
	name=$(basename "$dir")
	grep -q '<gemm' "$dir/schedule.xml" || continue
	expect 0 emit --object -o "$tmp/$name.co" "$dir/schedule.xml"
	[ -s "$tmp/$name.co" ] || fail "$name: no code object"
	count=$((count + 1))
done
[ $count -ge 20 ] || fail "only $count kernels were assembled"
expect 0 emit --stamps --object -o "$tmp/stamped.co" "$good"
expect 0 emit --stamps --object -o "$tmp/stamped.co" kernels/mi450-bf16-8wave/schedule.xml

# The code of a loop is as large as its text says: instructions of the loop, less the branches around runs.
[ -n "$objdump" ] || done_testing
expect 0 emit "$good"
python3 - "$tmp/out" "$objdump" "$tmp/mi355x-f16-8wave.co" <<'EOF' || fail "the loop of the code object"
import re
import subprocess
import sys
text = open(sys.argv[1], encoding="utf-8").read()
loop = text[text.index(".Lloop0:"):text.index("s_cbranch_scc1 .Lloop0")]
lines = [x.strip() for x in loop.splitlines()[1:] if x.startswith("\t") and x.strip() and not x.strip().startswith(";")] + ["s_cbranch_scc1"]
dump = subprocess.run([sys.argv[2], "-d", sys.argv[3]], capture_output=True, text=True, check=True).stdout
code = [(int(m[2], 16), m[1]) for m in re.finditer(r"^\t(\S+)[^\n]*// ([0-9A-F]+):", dump, re.M)]
end = next(i for i, c in enumerate(code) if c[1] == "s_cbranch_scc1")
got = [c[1] for c in code[end + 1 - len(lines):end + 1]]
want = [re.sub(r"_e(32|64)$", "", x.split()[0]) for x in lines]
assert [re.sub(r"_e(32|64)$", "", x) for x in got] == want
assert len(lines) == 309, len(lines)
assert code[end][0] + 4 - code[end + 1 - len(lines)][0] == 2004
EOF

done_testing
