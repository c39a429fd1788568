#!/usr/bin/env bash
# Write docs/codes.md anew from sim/explain.def.
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/.."
"${WPSIM:-./wpsim}" explain all >docs/codes.md.new
mv docs/codes.md.new docs/codes.md
