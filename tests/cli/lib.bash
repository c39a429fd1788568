# Common part of the tests in this folder: paths, a scratch folder, and expectations.
# shellcheck shell=bash
set -u

cli=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top_srcdir=${top_srcdir:-$(dirname "$(dirname "$cli")")}
top_builddir=${top_builddir:-$top_srcdir}
WPSIM=${WPSIM:-$top_builddir/wpsim}
CC=${CC:-gcc}
unset WPSIM_MODELS NO_COLOR
export LC_ALL=C TERM=xterm

cd "$top_srcdir" || exit 99
[ -x "$WPSIM" ] || { echo "$WPSIM is not there: run make"; exit 99; }
tmp=$(mktemp -d) || exit 99
trap 'chmod -R u+w "$tmp"; rm -rf "$tmp"' EXIT

failures=0

# A schedule that is in order.
good=kernels/mi355x-f16-8wave/schedule.xml

fail()
{
	echo "FAIL: $*"
	failures=$((failures + 1))
}

skip()
{
	echo "skipped: $*"
	exit 77
}

# expect STATUS WORD...: run wpsim with the words; output in $tmp/out and $tmp/err.
expect()
{
	local want=$1 seen
	shift
	"$WPSIM" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
	seen=$?
	[ $seen = "$want" ] || fail "wpsim $*: exit status $seen, expected $want: $(head -n 3 "$tmp/err")"
}

said() # said FILE PATTERN: an extended regular expression that stands in $tmp/FILE
{
	grep -qE -- "$2" "$tmp/$1" || fail "standard $1 does not say '$2': $(head -n 5 "$tmp/$1")"
}

silent() # silent FILE...: $tmp/FILE is empty
{
	local f
	for f; do
		[ ! -s "$tmp/$f" ] || fail "standard $f is not empty: $(head -n 3 "$tmp/$f")"
	done
}

done_testing()
{
	[ $failures = 0 ] || { echo "$failures failed"; exit 1; }
	exit 0
}

# Names of all commands, one a line.
commands()
{
	"$WPSIM" help | awk '/^ *Commands:/ { on = 1; next } /^$/ { on = 0 } on { print $1 }'
}

# Long options of a command, one a line: options [COMMAND]
options()
{
	"$WPSIM" ${1:+"$1"} --help | grep -oE '^ *(-[a-z?V], +)?--[a-z-]+' | grep -oE -- '--[a-z-]+' | sort -u
}
