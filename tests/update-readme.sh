#!/usr/bin/env bash
# Run the examples of README.md and docs/ and put their real output in place: make readme
set -eu
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$here/.."
exec bash tests/docs-examples --update README.md docs/*.md
