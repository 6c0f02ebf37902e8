#!/usr/bin/env bash
# Installs Chromium for the tests in a real browser, where this user and system can; says so where it cannot.
set -uo pipefail

for browser in "${CHROMIUM:-}" chromium chromium-browser google-chrome; do
  if [ -n "$browser" ] && command -v "$browser" >/dev/null; then exit 0; fi
done

if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "installing Chromium…" >&2
  export DEBIAN_FRONTEND=noninteractive
  if apt-get update -qq >/dev/null 2>&1 && apt-get install -y -qq chromium >/dev/null 2>&1; then exit 0; fi
fi

echo "SKIPPED: Chromium is not installed and could not be; the tests in a real browser will not run." >&2
