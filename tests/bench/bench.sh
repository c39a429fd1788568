#!/usr/bin/env bash
# Speed: wave instructions a second of the engine, and a whole run of wpsim. Called by make bench.
set -eu
bench=$1
cd "${top_srcdir:?}"
: "${WPSIM:?}"
eight=kernels/mi355x-f16-8wave/schedule.xml
four=kernels/mi300x-f16-4wave/schedule.xml
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

echo "engine, every instruction stepped, best and median of 9:"
"$bench" engine $four 1
"$bench" engine $eight 1
"$bench" engine $eight 2

echo "wpsim from process start to end, median of 21:"
for k in 8192 1048576; do
	sed "0,/ k=\"[0-9]*\"/s// k=\"$k\"/" $eight >"$tmp/k$k.xml"
	"$bench" run "$WPSIM" "$tmp/k$k.xml"
done

echo "wpsim check from process start to end, median of 21 (mi450-mxfp8-8wave is the longest program):"
for k in mi300x-f16-8wave mi355x-f16-8wave mi355x-fp4-8wave mi450-mxfp8-8wave; do
	"$bench" run "$WPSIM" check "kernels/$k/schedule.xml"
done

echo "listings, CPU time, best of 5:"
"$(dirname "$bench")/bench_listing"
