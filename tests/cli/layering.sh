#!/usr/bin/env bash
# Who may include whom, and each header stands alone.
. "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

for h in sim/*.h hw/*.h; do
	[ -e "$h" ] || continue
	# The engine's loop is a text that its one includer reads twice.
	[ "$h" != sim/engine_loop.h ] || continue
	# Read as a file of its own; the flags are those of any user of the header.
	# shellcheck disable=SC2086
	printf '#include "%s"\n#include "%s"\n' "$(basename "$h")" "$(basename "$h")" |
		$CC -std=gnu17 -D_GNU_SOURCE -Wall -Werror -fsyntax-only -Isim -Ihw ${LIBXML_CFLAGS-} -x c - 2>"$tmp/err" ||
		fail "$h does not compile alone, twice: $(head -n 3 "$tmp/err")"
done

# only INCLUDED FILES: what matches INCLUDED is included by files that match FILES and by no others.
only()
{
	local f
	for f in $(grep -lE "^[[:space:]]*#[[:space:]]*include[[:space:]]+[<\"]$1" sim/*.[ch] hw/*.[ch] tests/*.[ch] tests/*/*.[ch] 2>/dev/null); do
		[[ $f =~ ^($2)$ ]] || fail "$f includes $1; only $2 may"
	done
}
# never FILES INCLUDED: files that match FILES do not include INCLUDED, directly or by other headers.
never()
{
	local f
	for f in sim/*.[ch] hw/*.[ch]; do
		[[ $f =~ ^($1)$ ]] || continue
		# shellcheck disable=SC2086
		$CC -std=gnu17 -D_GNU_SOURCE -Isim -Ihw ${LIBXML_CFLAGS-} -MM "$f" 2>"$tmp/err" |
			tr ' \\' '\n\n' | grep -qE "^(.*/)?($2)(_[a-z]+)?\.h$" && fail "$f includes $2"
	done
}

only 'libxml/' 'sim/xml[a-z_]*\.c'
only 'gsl/' 'sim/fit\.c|tests/.*\.c'
only 'llvm-c/' 'sim/codeobj\.c'
only 'dlfcn\.h' 'hw/dl\.c'
only 'jansson\.h' 'sim/json[a-z_]*\.c|tests/.*\.c'
only 'argp\.h' 'sim/cmd\.c'
only 'cmocka\.h' 'tests/.*\.[ch]'
never 'sim/check.*' 'engine|period|predict|report'
never 'sim/(engine|period).*' 'check|schedule|listing|lower|predict|report'
never 'hw/.*' 'engine|predict|check'
never 'sim/(program|lds|target|xml|src|diag|util).*' 'schedule|lower|engine|check|predict|report|cmd'
never 'tests/ref_engine.*' 'engine'

done_testing
