#!/usr/bin/env bash
# wpsim check: exit status, table of waits, JSON and SARIF, prices, repairs, pages of the codes.
. "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

field=tests/golden/field

# Status and streams.
expect 0 check "$field/F02-good.xml"
said out "^$field/F02-good.xml: no errors, no warnings$"
said out '^ +line +counter +written +required +slack +waits for'
said out '^ +LDS 49920 of 163840 bytes; 80 VGPRs'
silent err
expect 1 check "$field/F02-bad.xml"
said err 'error\[E-WAIT-LATE\]'
said err 'fix: put <wait vm="2"/> in front of the barrier at line'
said out '[1-9][0-9]* errors?, '
expect 0 check "$field/F23-bad.xml"
said err 'warning\[W-WAIT-STRONG\].*4 suffices'
said err 'price: [1-9]'
said out '^ +[0-9]+ +vm +0 +4 +\+4 +buffer_load_dwordx4 lds b, line [0-9]+ +boundary of step, line [0-9]+ \(other waves\)$'
expect 1 check --werror "$field/F23-bad.xml"
expect 2 check no/such/file.xml
expect 1 check "$field/F23-good.xml" "$field/F01-bad.xml"

# The main command checks as well, times a wrong program all the same, and says a deadlock once.
expect 1 "$field/F02-bad.xml"
said err 'error\[E-WAIT-LATE\]'
said out 'clk per K-step|K-step'
expect 1 "$field/F16-bad.xml"
said err 'error\[E-BARRIER\]'
grep -q 'E-DEADLOCK' "$tmp/err" && fail "a deadlock is reported twice"

# JSON: the audit of waits.
expect 0 check --format json "$field/F23-bad.xml"
python3 - "$tmp/out" <<'EOF' || fail "waits in the JSON document"
import json
import sys
doc = json.load(open(sys.argv[1], encoding="utf-8"))
wait = [w for w in doc["waits"] if w["counter"] == "vm"]
assert len(wait) == 1, wait
w = wait[0]
assert (w["written"], w["required"], w["slack"], w["needed"], w["cross_wave"]) == (0, 4, 4, True, True), w
text = open("tests/golden/field/F23-bad.xml", encoding="utf-8").read().splitlines()
assert "<wait" in text[w["line"] - 1] and "<copy" in text[w["for_line"] - 1] and "<stage" in text[w["before_line"] - 1], w
EOF
expect 1 check --format jsonl "$field"/F0*-bad.xml
[ "$(wc -l <"$tmp/out")" = "$(ls "$field"/F0*-bad.xml | wc -l)" ] || fail "not one line a file"

# SARIF: one run, all rules, each result at its place.
expect 1 check --price --format sarif "$field"/*-bad.xml
silent err
python3 - "$tmp/out" <<'EOF' || fail "SARIF document"
import json
import os
import sys
import urllib.parse
doc = json.load(open(sys.argv[1], encoding="utf-8"))
assert doc["version"] == "2.1.0" and doc["$schema"].endswith("sarif-schema-2.1.0.json")
assert set(doc) == {"$schema", "version", "runs"} and len(doc["runs"]) == 1
run = doc["runs"][0]
assert set(run) == {"tool", "columnKind", "results"}, set(run)
rules = run["tool"]["driver"]["rules"]
assert len({r["id"] for r in rules}) == len(rules) > 25
for r in rules:
    assert set(r) == {"id", "shortDescription", "defaultConfiguration"} and r["shortDescription"]["text"]
    assert r["defaultConfiguration"]["level"] in ("error", "warning", "note")
seen = set()
for r in run["results"]:
    assert {"ruleId", "ruleIndex", "level", "message", "locations"} <= set(r)
    assert set(r) <= {"ruleId", "ruleIndex", "level", "message", "locations", "relatedLocations", "properties"}
    assert rules[r["ruleIndex"]]["id"] == r["ruleId"] and r["message"]["text"]
    assert len(r["locations"]) == 1
    for place in [p["physicalLocation"] for p in r["locations"] + r.get("relatedLocations", [])]:
        assert os.path.exists(urllib.parse.unquote(place["artifactLocation"]["uri"]))
        region = place.get("region")
        if region:
            assert set(region) == {"startLine", "startColumn", "endLine", "endColumn"}
            assert region["startLine"] >= 1 and region["startColumn"] >= 1
            assert (region["endLine"], region["endColumn"]) > (region["startLine"], region["startColumn"])
    seen.add(r["ruleId"])
assert {"E-WAR-X", "E-WAIT-SHORT", "E-WAIT-LATE", "E-BARRIER", "W-WAIT-STRONG", "W-BARRIER-SPARE"} <= seen, seen
EOF
expect 2 --format sarif "$good"
said err "wpsim check"

# Repairs: waits and barriers that have one end up right, the rest of the text is the same.
for n in F01 F02 F03 F04 F05 F06 F09 F10 F12 F15 F21 F23 F24 F25 F26 F29 F73 F74a F74b; do
	expect 0 check --fix -o "$tmp/mended.xml" "$field/$n-bad.xml"
	silent out
	said err "^$field/$n-bad.xml:[0-9]+: .*(->|put in)"
	expect 0 check --werror "$tmp/mended.xml"
	[ "$(diff "$field/$n-bad.xml" "$tmp/mended.xml" | grep -c '^[<>]')" -le 8 ] || fail "$n: more than the waits has changed"
done
for n in F08 F11 F16; do
	expect 1 check --fix -o "$tmp/mended.xml" "$field/$n-bad.xml"
	cmp -s "$field/$n-bad.xml" "$tmp/mended.xml" || fail "$n: changed though nothing can be mended"
done
expect 0 check --fix "$field/F02-good.xml"
cmp -s "$tmp/out" "$field/F02-good.xml" || fail "a right schedule is changed"

waits() # counter and value of the needed waits, in order
{
	python3 -c 'import json, sys
print(*sorted((w["counter"], w["written"]) for w in json.load(sys.stdin)["waits"] if w["needed"]))'
}

# Placing: the waits of the reference kernel come out as they were written.
expect 0 check --place-waits -o "$tmp/placed.xml" "$good"
said err 'before: [0-9]+ clk'
said err 'after: [0-9]+ clk'
expect 0 check --werror "$tmp/placed.xml"
before=$("$WPSIM" check --format jsonl "$good" | waits)
after=$("$WPSIM" check --format jsonl "$tmp/placed.xml" | waits)
[ -n "$after" ] && [ "$before" = "$after" ] || fail "placed waits differ: $before / $after"
expect 2 check --fix --place-waits "$good"
expect 2 check --fix "$good" "$good"
expect 2 check --fix --format json "$good"
expect 2 check --fix no/such/file.xml

# Pages of the codes.
expect 0 explain all
cmp -s "$tmp/out" docs/codes.md || fail "docs/codes.md is not what 'wpsim explain all' prints: tests/update-codes.sh renews it"
expect 0 explain W-WAIT-EARLY
said out '^W-WAIT-EARLY: '
said out '^Right:$'

done_testing
