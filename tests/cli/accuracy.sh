#!/usr/bin/env bash
# docs/accuracy.md is what tests/accuracy.py writes now.
. "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
command -v python3 >/dev/null || skip "python3 is not there"

python3 tests/accuracy.py --wpsim "$WPSIM" --out docs/accuracy.md --check >"$tmp/out" 2>&1 ||
	fail "$(tail -n 5 "$tmp/out")"

done_testing
