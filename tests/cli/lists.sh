#!/usr/bin/env bash
# Makefile.am lists every file that it should: nothing is built, tested, installed or packed by chance.
. "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

# Words of Makefile.am, with the programs' own source names.
tr -s ' \t\\' '\n' <Makefile.am | sort -u >"$tmp/words"
listed()
{
	grep -qxF -- "$1" "$tmp/words" || fail "Makefile.am does not list $1"
}

for f in sim/*.[ch] sim/*.def tests/*.[ch]; do listed "$f"; done
for f in tests/unit/test_*.c; do [ ! -e "$f" ] || listed "${f%.c}"; done
for f in tests/fuzz/fuzz_*.c; do
	[ -e "$f" ] || continue
	listed "$f"
	n=${f##*/fuzz_}
	listed "tests/fuzz/replay_${n%.c}"
done
for f in tests/cli/*.sh tests/cli/*.py tests/*.tap; do listed "$f"; done
for f in models/*.* kernels/*/*.*; do [ ! -f "$f" ] || listed "$f"; done
for f in docs/*.md; do listed "$f"; done
# Every doc is in the index.
for f in docs/*.md; do
	n=$(basename "$f")
	[ "$n" = README.md ] || grep -q "($n)" docs/README.md || fail "docs/README.md does not name $n"
done
# And nothing that is not there.
grep -E '^(sim|tests|docs|models|kernels|hw)/.*\.[a-z0-9]+$' "$tmp/words" | grep -v '\.a$' | while read -r f; do
	[ -e "$f" ] || echo "$f"
done >"$tmp/gone"
[ ! -s "$tmp/gone" ] || fail "Makefile.am lists what is not there: $(cat "$tmp/gone")"

done_testing
