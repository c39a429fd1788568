#!/usr/bin/env bash
# Every command explains itself, and the completions know all commands and options.
. "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

expect 0 --version
said out '^wpsim [0-9]+\.[0-9]+'
silent err
for words in --help help; do
	expect 0 $words
	said out '^Usage: wpsim '
	said out 'Examples:'
	silent err
done

n=0
for c in $(commands); do
	n=$((n + 1))
	expect 0 "$c" --help
	said out "^Usage: wpsim $c "
	said out 'Examples:'
	said out "wpsim $c"
	silent err
	cp "$tmp/out" "$tmp/first"
	expect 0 help "$c"
	sed '1s/.*//' "$tmp/first" >"$tmp/a"
	sed '1s/.*//' "$tmp/out" >"$tmp/b"
	cmp -s "$tmp/a" "$tmp/b" || fail "'wpsim help $c' and 'wpsim $c --help' differ"
	grep -qw -- "$c" docs/completion/wpsim.bash || fail "wpsim.bash lacks the command $c"
	grep -qw -- "$c" docs/completion/_wpsim || fail "_wpsim lacks the command $c"
done
[ $n -ge 5 ] || fail "'wpsim help' lists only $n commands"

for c in '' $(commands); do
	for o in $(options $c); do
		grep -q -- "$o\b" docs/completion/wpsim.bash || fail "wpsim.bash lacks $o"
		grep -q -- "$o\b" docs/completion/_wpsim || fail "_wpsim lacks $o"
	done
done
# Nothing that the program does not have.
all=$(for c in '' $(commands); do options $c; done | sort -u)
for f in docs/completion/wpsim.bash docs/completion/_wpsim; do
	for o in $(grep -v '^#' $f | grep -oE -- '(^|[^a-z-])--[a-z][a-z-]+' | grep -oE -- '--[a-z-]+' | sort -u); do
		grep -qxF -- "$o" <<<"$all" || fail "$f names $o, which no command has"
	done
done
bash -n docs/completion/wpsim.bash || fail "wpsim.bash does not parse"
if command -v zsh >/dev/null; then
	zsh -n docs/completion/_wpsim || fail "_wpsim does not parse"
fi

# The completion does complete.
complete_word() # complete_word WORD...: the last one is completed
{
	bash -c '
		. docs/completion/wpsim.bash
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
		_wpsim
		printf "%s\n" "${COMPREPLY[@]}"' bash "$@"
}
[ "$(complete_word wpsim emi)" = emit ] || fail "bash: emi does not complete to emit"
[ "$(complete_word wpsim --format jsonl --form)" = --formulas ] || complete_word wpsim --form | grep -qx -- --format ||
	fail "bash: --form does not complete"
[ "$(complete_word wpsim emit --list)" = --listing ] || fail "bash: emit --list does not complete to --listing"
[ "$(complete_word wpsim --color al)" = always ] || fail "bash: --color al does not complete to always"

# Near misses name the right word.
expect 2 emti
said err "did you mean 'emit'"
expect 2 --fromat json "$good"
said err "did you mean '--format'"
expect 2 check --colour never "$good"
said err "did you mean '--color'"
expect 2 explain E-VALU
said err "did you mean 'E-VALUE'"
expect 2 help emti
expect 2
said err 'at least one schedule'
silent out
expect 2 "$good" check
said err "is a command"
expect 2 --format yaml "$good"
said err "takes text, json, "
expect 2 --color sometimes "$good"
said err "auto, always or never"
expect 2 emit "$good" "$good"
said err "--listing"
expect 2 -x "$good"
expect 2 --models /nowhere "$good"
said err "/nowhere"

done_testing
