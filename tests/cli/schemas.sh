#!/usr/bin/env bash
# The published schemas accept every schedule and model of the tree, and refuse broken ones.
. "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
command -v xmllint >/dev/null || skip "xmllint is not there (Debian: libxml2-utils)"

lint() # lint WORD...: status of xmllint, messages in $tmp/err
{
	xmllint --noout "$@" >/dev/null 2>"$tmp/err"
}
accept()
{
	lint "$@" || fail "xmllint $*: $(head -n 3 "$tmp/err")"
}
refuse()
{
	lint "$@" && fail "accepted: xmllint $*"
}

schedules=0
for f in kernels/*/schedule.xml; do
	accept --relaxng models/schedule.rng "$f"
	accept --schema models/schedule.xsd "$f"
	schedules=$((schedules + 1))
done
[ $schedules -gt 0 ] || fail "no schedule was found"
for f in models/*.xml; do
	accept --relaxng models/target.rng "$f"
done

# A misspelt attribute and an unknown element must not pass.
sed '0,/ name=/s// nmae=/' "$good" >"$tmp/attribute.xml"
sed '0,/<gemm/s//<gem\/><gemm/' "$good" >"$tmp/element.xml"
for f in attribute element; do
	refuse --relaxng models/schedule.rng "$tmp/$f.xml"
	refuse --schema models/schedule.xsd "$tmp/$f.xml"
done
set -- models/*.xml
sed '0,/ key=/s// kye=/' "$1" >"$tmp/target.xml"
refuse --relaxng models/target.rng "$tmp/target.xml"

# The compact form, from which the XML form is made, says the same.
if command -v trang >/dev/null; then
	for s in schedule target; do
		[ -e models/$s.rnc ] || continue
		trang models/$s.rnc "$tmp/$s.rng" 2>"$tmp/err" || fail "trang: $(cat "$tmp/err")"
		cmp -s <(xmllint --c14n "$tmp/$s.rng" | grep -v '<!--') <(xmllint --c14n models/$s.rng | grep -v '<!--') ||
			fail "models/$s.rng was not made from models/$s.rnc"
	done
fi

done_testing
