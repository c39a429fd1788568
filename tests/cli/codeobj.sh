#!/usr/bin/env bash
# Code objects at the command line: the findings of a listing and of what is assembled from it agree; several
# kernels, damaged files, and folders of everything.
. "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

field=tests/golden/field

# Without LLVM in wpsim: status 3 and a sentence, for any object that is not damaged in its first bytes.
{
	printf '\177ELF\2\1\1\100\4\0\0\0\0\0\0\0\3\0\340\0\1\0\0\0'
	head -c 24 /dev/zero
	printf '\114\0\0\0\100\0'
	head -c 200 /dev/zero
} >"$tmp/head.co"
"$WPSIM" check "$tmp/head.co" >"$tmp/out" 2>"$tmp/err"
case $? in
3)
	said err 'error\[E-ELF\]: .*LLVM'
	skip "wpsim does not read code objects here"
	;;
2) said err 'head.co:1:1: error\[E-ELF\]: the code object is damaged' ;;
*) fail "an object without anything: wrong status" ;;
esac
for t in clang-22 ld.lld-22; do
	command -v $t >/dev/null || skip "$t is not there"
done

assemble() # assemble TARGET FILE.s OUT
{
	clang-22 -x assembler -target amdgcn-amd-amdhsa -mcpu="$1" -c -o "$3" "$2" 2>"$tmp/asm" || fail "$2: $(head -n 3 "$tmp/asm")"
}

# Findings of a listing and of its object: code, counts, and the text of the line that they stand at.
verdict() # verdict FILE...
{
	"$WPSIM" check --format jsonl "$@" >"$tmp/json" 2>/dev/null
	python3 - "$tmp/json" <<'END'
import json
import sys

for line in open(sys.argv[1], encoding="utf-8"):
    for f in json.loads(line)["findings"]:
        print(f["code"], f["severity"], f["required"], f["present"], f["counter"], len(f["notes"]))
END
}
count=0
for f in "$field"/*-gfx942-*.s "$field"/*-gfx1250-*.s; do
	target=gfx942
	case $f in *gfx1250*) target=gfx1250 ;; esac
	grep -q "amdgcn_target.*--$target" "$f" || continue
	grep -qE '^(;|//|#).*not assembled' "$f" && continue
	clang-22 -x assembler -target amdgcn-amd-amdhsa -mcpu=$target -c -o "$tmp/k.o" "$f" 2>/dev/null || continue
	verdict "$f" >"$tmp/a"
	verdict "$tmp/k.o" >"$tmp/b"
	cmp -s "$tmp/a" "$tmp/b" || fail "$f and its object differ: $(diff "$tmp/a" "$tmp/b" | head -n 4)"
	count=$((count + 1))
done
[ $count -ge 5 ] || fail "only $count listings were compared"

# A whole kernel with a wait gone: the finding points into the disassembly that emit prints.
sed '/s_waitcnt vmcnt/d' tests/golden/listing/gemm-gfx942.s >"$tmp/gone.s"
assemble gfx942 "$tmp/gone.s" "$tmp/gone.o"
ld.lld-22 -shared -o "$tmp/gone.co" "$tmp/gone.o" || fail "ld.lld-22"
for o in gone.o gone.co; do
	expect 1 check "$tmp/$o"
	line=$(grep -oE "$o:[0-9]+:[0-9]+: error\[E-WAIT-SHORT\]" "$tmp/err" | head -n 1 | cut -d: -f2)
	said err 'fix: insert s_waitcnt vmcnt\('
	said out '^  kernel gemm for gfx942: [0-9]+ instructions; 70 VGPRs'
	text=$(grep -A1 -E "$o:$line:" "$tmp/err" | sed -n 2p)
	expect 0 emit --listing "$tmp/$o"
	silent err
	[ "$(sed -n "${line:-1}p" "$tmp/out")" = "$text" ] || fail "$o: line $line of the disassembly is not '$text'"
	grep -qE '^\.LBB0_0:$' "$tmp/out" || fail "$o: no label"
done
expect 2 annotate --kernel none "$tmp/gone.co"
expect 0 annotate "$tmp/gone.co"
"$WPSIM" check - <"$tmp/gone.co" >"$tmp/out" 2>"$tmp/err"
[ $? = 1 ] || fail "an object on standard input: wrong status"
expect 2 "$tmp/gone.co"
said err 'the file is a listing'

# Several kernels.
assemble gfx1250 tests/golden/listing/two-kernels-gfx1250.s "$tmp/two.o"
expect 2 check "$tmp/two.o"
said err 'error\[E-LISTING\]: .*several kernels'
expect 0 check --kernel fill "$tmp/two.o"
said out '^  kernel fill for gfx1250: '
expect 0 check --kernel fill.kd "$tmp/two.o"
expect 2 check --kernel fil "$tmp/two.o"
said err 'error\[E-LISTING\]: there is no kernel fil'
expect 0 emit --listing "$tmp/two.o"
said out 'amdhsa_kernel fill'

# Damaged ones. Truncated at every 64th byte: refused, always.
size=$(stat -c %s "$tmp/gone.co")
n=0
while [ $n -lt "$size" ]; do
	head -c $n "$tmp/gone.co" >"$tmp/cut.co"
	"$WPSIM" check --target gfx942 "$tmp/cut.co" >/dev/null 2>"$tmp/err"
	s=$?
	if [ $s != 2 ] || ! grep -qE 'cut.co:1:1: error\[E-' "$tmp/err"; then
		fail "cut to $n bytes: status $s: $(head -n 2 "$tmp/err")"
	fi
	n=$((n + 64))
done
printf 'CCOB\2\0\1\0' >"$tmp/packed.hsaco"
expect 2 check "$tmp/packed.hsaco"
said err 'packed.hsaco:1:1: error\[E-ELF\]: .*compressed'
said err 'fix: '
cp "$WPSIM" "$tmp/host.o"
expect 2 check "$tmp/host.o"
said err 'not for an AMD GPU'
head -c 300 /dev/zero >"$tmp/zero.s"
expect 2 check "$tmp/zero.s"
said err 'error\[E-IO\].* NUL byte'

# A folder: what is in it and below, in order.
mkdir -p "$tmp/all/below/more" "$tmp/all/.hidden" "$tmp/empty"
cp "$tmp/gone.co" "$tmp/all/b.hsaco"
cp tests/golden/listing/gemm-gfx942.s "$tmp/all/a.s"
cp tests/golden/listing/gemm-gfx942.s "$tmp/all/below/z.amdgcn"
cp "$good" "$tmp/all/below/more/schedule.xml"
cp "$tmp/gone.o" "$tmp/all/below/c.o"
cp "$tmp/gone.s" "$tmp/all/.hidden/d.s"
ln -s ../all "$tmp/all/below/loop"
echo text >"$tmp/all/note.txt"
expect 1 check --format jsonl "$tmp/all"
silent err
python3 - "$tmp/out" "$tmp/all/" <<'END' >"$tmp/verdict" || fail "documents of a folder"
import json
import sys

docs = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
seen = [[f["file"] for f in d["findings"] if f["severity"] == "error"][:1] for d in docs]
want = [[], [sys.argv[2] + "b.hsaco"], [sys.argv[2] + "below/c.o"], [], []]
if seen != want or docs[3]["steady"] is None:
    print(f"expected {want}, got {seen}")
END
while read -r line; do fail "$line"; done <"$tmp/verdict"
expect 1 check "$tmp/all/" "$tmp/all/a.s"
[ "$(grep -cE '^/.*: ([0-9]+|no) errors?, ' "$tmp/out")" = 6 ] || fail "a folder and a file: $(cat "$tmp/out")"
expect 2 check "$tmp/empty"
said err 'holds no schedule.xml, listing'
expect 2 check "$tmp/empty" "$tmp/all/a.s"
said out 'a.s: (no|0) errors'

done_testing
