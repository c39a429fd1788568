#!/usr/bin/env bash
# An installed wpsim has all it needs, and uninstall removes all of it.
. "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
unset MAKEFLAGS MFLAGS MAKELEVEL

install_make()
{
	make -s -C "$top_builddir" "$@" DESTDIR="$tmp/root" >"$tmp/log" 2>&1 ||
		fail "make $*: $(tail -n 5 "$tmp/log")"
}

install_make install
bin=$(find "$tmp/root" -name wpsim -type f -perm -u+x)
[ -n "$bin" ] || { fail "no program was installed"; done_testing; }
share=$(dirname "$(find "$tmp/root" -type d -name models)")
for f in models/*.xml models/*.rng kernels/*/schedule.xml; do
	[ -e "$share/$f" ] || fail "$f was not installed"
done
for f in '*/man1/wpsim.1' '*/wpsim.bash' '*/_wpsim'; do
	[ -n "$(find "$tmp/root" -path "$f")" ] || fail "$f was not installed"
done

# It runs from there with the installed models alone.
expect 0 "$good"
cp "$tmp/out" "$tmp/here"
cd "$share" || exit 99
WPSIM_MODELS=$share/models "$bin" "$good" >"$tmp/out" 2>"$tmp/err" || fail "the installed program fails: $(cat "$tmp/err")"
cmp -s "$tmp/out" "$tmp/here" || fail "the installed program says something else"
"$bin" --models "$share/models" targets >/dev/null 2>&1 && fail "an option before the command was taken"
"$bin" targets --models "$share/models" >"$tmp/out" || fail "targets --models"
[ "$(wc -l <"$tmp/out")" = "$(find models -maxdepth 1 -name '*.xml' | wc -l)" ] || fail "targets does not list the installed models"
WPSIM_MODELS=/nowhere strings "$bin" 2>/dev/null | grep -q "$(basename "$share")/models" ||
	{ command -v strings >/dev/null && fail "the installed models' folder is not known to the program"; }
cd "$top_srcdir" || exit 99

install_make uninstall
left=$(find "$tmp/root" ! -type d)
[ -z "$left" ] || fail "uninstall left: $left"

done_testing
