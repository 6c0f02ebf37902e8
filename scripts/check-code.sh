#!/usr/bin/env bash
# Runs all checks that read the code without running it, at the same time, because most of them keep only one core busy. Each shows what it
# found when it ends.
set -euo pipefail
cd "$(dirname "$0")/.."
PATH="$PWD/node_modules/.bin:$PATH"
checks=()

begin() {
  { said=$("$@" 2>&1) || { printf '%s\n' "$said" >&2; exit 1; }; } &
  checks+=($!)
}

begin oxlint -c scripts/oxlint.json --type-aware --deny-warnings
begin tsc
begin tsc -p src/browser
begin knip --config scripts/knip.json
begin oxfmt -c scripts/oxfmt.json --check src scripts test '!**/*.generated.ts' '!**/*.md'

failed=0
for check in "${checks[@]}"; do wait "$check" || failed=1; done
exit "$failed"
