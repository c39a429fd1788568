#!/usr/bin/env bash
# Faults that people met in real kernels: the bad twin of each pair in tests/golden/field gets the finding
# that expected.tsv names, at that line, with those counts and at least that price; the good twin gets no error and no warning.
. "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

dir=tests/golden/field
for f in "$dir"/*.xml; do
	grep -q "^$(basename "$f")	" "$dir/expected.tsv" || fail "$f is not in expected.tsv"
	case $f in
	*-bad.xml) [ -e "${f%-bad.xml}-good.xml" ] || fail "$f has no good twin" ;;
	esac
done
"$WPSIM" check --price --format jsonl "$dir"/*.xml >"$tmp/out" 2>"$tmp/err"
[ $? -le 1 ] || fail "wpsim check: $(head -n 5 "$tmp/err")"
python3 - "$dir/expected.tsv" "$tmp/out" "$dir"/*.xml >"$tmp/verdict" <<'EOF' || fail "no verdict"
import json
import os
import sys

docs = [json.loads(line) for line in open(sys.argv[2], encoding="utf-8")]
names = [os.path.basename(f) for f in sys.argv[3:]]
found = dict(zip(names, [d["findings"] for d in docs], strict=True))


def show(f):
    return f"{f['code']} line {f['line']} required {f['required']} present {f['present']} price {f['price_cycles_per_step']}"


def number(text):
    return None if text == "-" else int(text)


rows = [line.rstrip("\n").split("\t") for line in open(sys.argv[1], encoding="utf-8") if line[0] != "#"][1:]
for name, code, line, required, present, price in rows:
    seen = found.get(name, [])
    if code == "-":
        for f in seen:
            if f["severity"] != "note":
                print(f"{name}: {show(f)}: {f['message']}")
        continue
    want = (code, number(line), number(required), number(present))
    hits = [f for f in seen if (f["code"], f["line"], f["required"], f["present"]) == want]
    if price != "-":
        hits = [f for f in hits if (f["price_cycles_per_step"] or 0) >= float(price)]
    if not hits:
        print(f"{name}: expected {code} line {line} required {required} present {present} price {price}, got "
              f"{'; '.join(map(show, seen)) or 'nothing'}")
EOF
while read -r line; do fail "$line"; done <"$tmp/verdict"

done_testing
