#!/usr/bin/env bash
# Installs what the lock file names, builds the executable and runs every check and test.
set -euo pipefail
cd "$(dirname "$0")/.."
npm ci --no-audit --no-fund
npm run build
npm run check
