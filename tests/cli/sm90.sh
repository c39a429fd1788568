#!/usr/bin/env bash
# The variants for sm_90 are what their script writes, each passes the checker without an error, and the assembler
# keeps the order of their stages. Without ptxas the last part is left out.
. "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

PYTHONDONTWRITEBYTECODE=1 python3 tests/hw/make_schedules.py "$tmp/set" || fail "make_schedules.py ends with $?"
diff -r "$tmp/set" kernels/h200-set >"$tmp/diff" || fail "kernels/h200-set is not what make_schedules.py writes: $(head -n 3 "$tmp/diff")"

n=$(find "$tmp/set" -name '*.xml' | wc -l) held=$(wc -l <"$tmp/set/held-out.txt")
[ "$n" -ge 60 ] || fail "only $n variants"
[ "$held" = $((n / 2)) ] || fail "$held of $n variants are held out"
while read -r name; do
	[ -e "$tmp/set/$name.xml" ] || fail "$name is held out and not there"
done <"$tmp/set/held-out.txt"

PYTHONDONTWRITEBYTECODE=1 python3 tests/hw/make_schedules.py --blind "$tmp/blind" || fail "make_schedules.py --blind ends with $?"
diff -r "$tmp/blind" kernels/h200-blind >"$tmp/diff" || fail "kernels/h200-blind is not what make_schedules.py writes: $(head -n 3 "$tmp/diff")"
n=$(find "$tmp/blind" -name '*.xml' | wc -l)
[ "$n" = 24 ] || fail "$n variants are blind"

for f in kernels/h200-set/*.xml kernels/h200-blind/*.xml kernels/h200-*/schedule.xml; do
	"$WPSIM" check "$f" >"$tmp/out" 2>"$tmp/err" || fail "wpsim check $f: $(grep error "$tmp/err" | head -n 2)"
done

# Scoreboards: reads beyond the fourth are waited for together, and with the addresses of the copies; not where fragments
# are read a K-step ahead. In front of copies the last read waits. Wide plain reads cost moves.
loop() { "$WPSIM" emit --listing kernels/h200-set/h200-"$1".xml | sed -n '/^loop0/,/bra/p'; }
loop 04-128x128x32-inphase >"$tmp/loop"
grep -m1 'mma\.' "$tmp/loop" | grep -q 'ds(0) x(0)' || fail "no wait for the shared scoreboard: $(grep -m1 'mma\.' "$tmp/loop")"
[ "$(grep ldmatrix "$tmp/loop" | grep -c 'x(0)')" = 0 ] || fail "a read waits though copies stand behind it"
loop 57-ahead-4warp >"$tmp/loop"
grep -q 'x(0)' "$tmp/loop" && fail "fragments ahead wait for addresses"
loop 37-copy-first-offset >"$tmp/loop"
grep ldmatrix "$tmp/loop" | sed -n 12p | grep -q 'x(0)' || fail "the last read behind copies does not wait"
loop 41-read-v4-offset >"$tmp/loop"
[ "$(grep -c ' mov .*x4' "$tmp/loop")" = 128 ] || fail "$(grep -c ' mov ' "$tmp/loop") times moves instead of 128"

# What has no place in PTX is refused at its line.
cat >"$tmp/bad.xml" <<'X'
<schedule name="bad" target="sm_90">
  <kernel workgroups="1"><waves groups="1" count="1"/></kernel>
  <epilogue><nop states="1"/></epilogue>
</schedule>
X
expect 2 emit "$tmp/bad.xml"
said err 'bad.xml:3:[0-9]+: error\[E-TARGET\]: sm_90 has no instruction for <nop>'

if command -v ptxas >/dev/null; then
	python3 tests/hw/sass_order.py "$WPSIM" kernels/h200-f16-8warp/schedule.xml kernels/h200-loop/schedule.xml \
		kernels/h200-set/h200-{13,19,23,31,35,45,55,62}-*.xml >"$tmp/order" || fail "the assembler changes stages: $(grep '^not' "$tmp/order")"
	[ "$(grep -c '0 in another order' "$tmp/order")" = 10 ] || fail "other orders: $(grep -v ' 0 in another' "$tmp/order")"
fi

done_testing
