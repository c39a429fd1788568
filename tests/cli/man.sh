#!/usr/bin/env bash
# The manual page names every command and option, none that does not exist, and renders cleanly.
. "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
page=docs/wpsim.1

# Plain text of the page: the hyphens of options are written \-.
sed 's/\\-/-/g' $page >"$tmp/plain"
all=$(for c in '' $(commands); do options $c; done | sort -u)
for o in $all; do
	grep -q -- "$o\b" "$tmp/plain" || fail "the page does not describe $o"
done
for o in $(grep -oE -- '(^|[^a-z-])--[a-z][a-z-]+' "$tmp/plain" | grep -oE -- '--[a-z-]+' | sort -u); do
	grep -qxF -- "$o" <<<"$all" || fail "the page describes $o, which no command has"
done
for c in $(commands); do
	grep -qE "^\.(BR?|SS|IR?) \"?(wpsim )?$c\b" "$tmp/plain" || fail "the page does not describe the command $c"
done
for s in 0 1 2 3 4; do
	grep -qE "^\.B $s\$" "$tmp/plain" || fail "the page does not describe exit status $s"
done
for v in NO_COLOR WPSIM_MODELS; do
	grep -q "$v" "$tmp/plain" || fail "the page does not describe $v"
done
version=$("$WPSIM" --version | sed 's/.* //')
grep -q "^\.TH WPSIM 1 .*wpsim $version" $page || fail "the page is not of version $version"
if command -v groff >/dev/null; then
	groff -man -Tutf8 -ww -b $page >"$tmp/out" 2>"$tmp/err"
	[ ! -s "$tmp/err" ] || fail "groff warns: $(head -n 5 "$tmp/err")"
	[ -s "$tmp/out" ] || fail "groff renders nothing"
else
	echo "groff is not there: the page was not rendered"
fi

done_testing
