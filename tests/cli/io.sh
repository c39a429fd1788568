#!/usr/bin/env bash
# Exit statuses, standard streams, -o, colours.
. "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
esc=$(printf '\033')

# A schedule in order.
expect 0 "$good"
[ -s "$tmp/out" ] || fail "no report"
cp "$tmp/out" "$tmp/report"
expect 0 "$good"
cmp -s "$tmp/out" "$tmp/report" || fail "two runs differ"
(cd / && "$WPSIM" "$top_srcdir/$good") >"$tmp/out" 2>/dev/null || fail "it does not run from another folder"

# JSON: one document, all of it on standard output.
for f in json jsonl; do
	expect 0 --format $f "$good"
	silent err
	said out '"schema": ?"wpsim.report.v1"'
done
[ "$(wc -l <"$tmp/out")" = 1 ] || fail "jsonl: not one line"
expect 0 --format jsonl "$good" "$good"
[ "$(wc -l <"$tmp/out")" = 2 ] || fail "jsonl: not one line a file"
expect 2 --format json /nowhere.xml
silent err
said out '"E-IO"'

# Standard input.
"$WPSIM" - <"$good" >"$tmp/out" 2>"$tmp/err" || fail "- does not read standard input"
[ -s "$tmp/out" ] || fail "-: no report"
"$WPSIM" - <&- >"$tmp/out" 2>"$tmp/err"
[ $? = 2 ] || fail "a closed standard input is no error"
silent out
said err 'stdin'

# Files that are none: one clear error each.
: >"$tmp/empty.xml"
head -c 5000 "$WPSIM" >"$tmp/binary.xml"
head -c 10485760 /dev/zero | tr '\0' 'x' >"$tmp/large.xml"
mkdir "$tmp/folder.xml"
for f in missing.xml empty.xml binary.xml large.xml folder.xml; do
	expect 2 "$tmp/$f"
	silent out
	said err "error\[E-(IO|XML|ELF)\]"
	[ "$(grep -c 'error\[' "$tmp/err")" = 1 ] || fail "$f: not one error"
	grep -q "$f" "$tmp/err" || fail "$f: the message does not name the file"
	[ "$(wc -c <"$tmp/err")" -lt 1000 ] || fail "$f: a message of $(wc -c <"$tmp/err") bytes"
done
expect 2 --target nosuch "$good"
silent out
said err 'nosuch'
expect 2 --clock nosuch "$good"
said err 'nosuch'
expect 2 --clock -5 "$good"
# The worst status of several files counts, and the others are still reported.
expect 2 "$good" "$tmp/missing.xml" "$good"
[ "$(wc -l <"$tmp/out")" -gt "$(wc -l <"$tmp/report")" ] || fail "the other files were not reported"

# The statuses are those of the groups in diag.def.
awk '/Bad input:/ { s = 2 } /Wrong program:/ { s = 1 } /remarks/ { s = 0 }
	match($0, /"[EWN]-[A-Z0-9-]+"/) { print substr($0, RSTART + 1, RLENGTH - 2), s }' sim/diag.def >"$tmp/want"
expect 0 explain
awk '{ for (i = 2; i < NF; i++) if ($i == "exit") { print $1, $(i + 1); break } }' "$tmp/out" >"$tmp/seen"
diff "$tmp/want" "$tmp/seen" >"$tmp/d" || fail "'wpsim explain' and sim/diag.def differ: $(cat "$tmp/d")"

# -o: complete or untouched, and nothing left beside it.
mkdir "$tmp/o"
expect 0 "$good" -o "$tmp/o/r.txt"
silent out
cmp -s "$tmp/o/r.txt" "$tmp/report" || fail "-o: the file differs from standard output"
echo before >"$tmp/o/r.txt"
expect 2 "$good" "$tmp/missing.xml" -o "$tmp/o/r.txt"
[ "$(cat "$tmp/o/r.txt")" = before ] || fail "-o: a failed run changed the file"
chmod 640 "$tmp/o/r.txt"
ln -s r.txt "$tmp/o/link.txt"
expect 0 --output "$tmp/o/link.txt" "$good"
[ -L "$tmp/o/link.txt" ] || fail "-o replaced a link"
cmp -s "$tmp/o/r.txt" "$tmp/report" || fail "-o did not write through a link"
[ "$(stat -c %a "$tmp/o/r.txt")" = 640 ] || fail "-o changed the mode of the file"
rm "$tmp/o/link.txt" "$tmp/o/r.txt"
expect 2 "$good" -o "$tmp/o"
said err 'directory'
expect 2 "$good" -o "$tmp/nofolder/r.txt"
said err 'nofolder'
expect 0 "$good" -o /dev/null
[ -c /dev/null ] || fail "-o replaced /dev/null"
expect 0 "$good" -o -
cmp -s "$tmp/out" "$tmp/report" || fail "-o - is not standard output"

# Interrupted while it waits for input: the old file stays, no temporary is left.
echo before >"$tmp/o/r.txt"
mkfifo "$tmp/fifo"
"$WPSIM" "$tmp/fifo" -o "$tmp/o/r.txt" 2>/dev/null &
pid=$!
exec 3>"$tmp/fifo"
for _ in 1 2 3 4 5 6 7 8 9 10; do
	[ "$(find "$tmp/o" -name '.wpsim-*' | wc -l)" = 1 ] && break
	sleep 0.1
done
kill -TERM $pid
wait $pid 2>/dev/null
[ $? = 143 ] || fail "SIGTERM did not end it"
exec 3>&-
[ "$(cat "$tmp/o/r.txt")" = before ] || fail "an interrupt changed the file"
rm "$tmp/o/r.txt"
[ -z "$(ls -A "$tmp/o")" ] || fail "-o left something behind: $(ls -A "$tmp/o")"

# Output that can't be written is an error with a message.
for words in "$good" --help explain targets "emit --listing $good"; do
	if [ -w /dev/full ]; then
		# shellcheck disable=SC2086
		"$WPSIM" $words >/dev/full 2>"$tmp/err"
		[ $? = 2 ] || fail "wpsim $words: a full disk is no error"
		said err "can't write standard output"
	fi
	# shellcheck disable=SC2086
	"$WPSIM" $words >&- 2>"$tmp/err"
	[ $? = 2 ] || fail "wpsim $words: a closed standard output is no error"
	said err "can't write standard output"
done
{ "$WPSIM" explain 2>"$tmp/err"; echo $? >"$tmp/status"; } | true
# The reader may be gone before or after the write; both are in order, silence about the former is not.
s=$(cat "$tmp/status")
[ "$s" = 0 ] || { [ "$s" = 2 ] && grep -q "can't write" "$tmp/err"; } || fail "a closed pipe: status $s, $(cat "$tmp/err")"

# Colours.
expect 0 "$good"
grep -q "$esc" "$tmp/out" "$tmp/err" && fail "colours in a file"
expect 0 --color always "$good"
grep -q "$esc" "$tmp/out" || fail "--color always has no effect"
expect 0 --color never "$good"
grep -q "$esc" "$tmp/out" "$tmp/err" && fail "--color never has no effect"
expect 2 --color always "$tmp/empty.xml"
grep -q "$esc" "$tmp/err" || fail "--color always does not colour findings"
if command -v script >/dev/null; then
	on_terminal() # on_terminal WORD...: what wpsim prints on a terminal
	{
		script -qec "$(printf '%q ' "$WPSIM" "$@")" /dev/null </dev/null
	}
	on_terminal "$good" | grep -q "$esc" || fail "no colours on a terminal"
	NO_COLOR=1 on_terminal "$good" | grep -q "$esc" && fail "NO_COLOR has no effect"
	NO_COLOR='' on_terminal "$good" | grep -q "$esc" || fail "an empty NO_COLOR has an effect"
	TERM=dumb on_terminal "$good" | grep -q "$esc" && fail "colours on a dumb terminal"
fi

done_testing
