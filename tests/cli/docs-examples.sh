#!/usr/bin/env bash
# The examples of README.md and docs/ print what the documents say, and links inside them lead somewhere.
. "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

bash tests/docs-examples README.md docs/*.md || fail "examples differ"
grep -q '^<!-- example -->$' README.md || fail "README.md has no example"

for f in README.md docs/*.md; do
	# Links to files; a link with a scheme or to a heading alone is not looked at.
	for l in $(grep -oE '\]\([^)# ]+' "$f" | sed 's/^](//' | grep -vE '^[a-z]+:'); do
		[ -e "$(dirname "$f")/$l" ] || fail "$f: no file behind the link $l"
	done
done

# The driver itself tells right from wrong.
printf '<!-- example -->\n```console\n$ echo a; echo b\n%s\n```\n' "$(printf 'a\nb')" >"$tmp/right.md"
bash tests/docs-examples "$tmp/right.md" >/dev/null || fail "a right example fails"
printf '<!-- example -->\n```console\n$ echo a; echo b; echo c\na\n...\n```\n' >"$tmp/dots.md"
bash tests/docs-examples "$tmp/dots.md" >/dev/null || fail "'...' does not match the rest"
printf '<!-- example -->\n```console\n$ echo a; echo b\na\n```\n' >"$tmp/wrong.md"
bash tests/docs-examples "$tmp/wrong.md" >/dev/null && fail "a wrong example passes"
bash tests/docs-examples --update "$tmp/wrong.md" >/dev/null
bash tests/docs-examples "$tmp/wrong.md" >/dev/null || fail "--update does not repair"

done_testing
