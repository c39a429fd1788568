#!/usr/bin/env bash
# Every stored input of every fuzzer runs through it without a fault.
. "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

for f in tests/fuzz/fuzz_*.c; do
	n=$(basename "$f" .c)
	n=${n#fuzz_}
	set -- "tests/fuzz/corpus-$n"/*
	[ -e "$1" ] || { fail "tests/fuzz/corpus-$n has no input"; continue; }
	timeout 300 "$top_builddir/tests/fuzz/replay_$n" "$@" >"$tmp/out" 2>&1 ||
		fail "replay_$n: status $?: $(head -n 20 "$tmp/out")"
done

done_testing
