#!/usr/bin/env bash
# Installs Chromium for the tests in a real browser if this user and system can; otherwise says so. Its headless shell takes less than half
# of the processor time, so it is tried first.
set -uo pipefail

is_installed() {
  for browser in "$@"; do
    if [ -n "$browser" ] && command -v "$browser" >/dev/null; then return 0; fi
  done
  return 1
}

if is_installed "${CHROMIUM:-}" chromium-headless-shell; then exit 0; fi

if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "installing Chromium…" >&2
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq >/dev/null 2>&1
  for package in chromium-headless-shell chromium; do
    if apt-get install -y -qq "$package" >/dev/null 2>&1; then exit 0; fi
  done
fi

if is_installed chromium chromium-browser google-chrome; then exit 0; fi

echo "SKIPPED: Chromium is not installed and could not be; the tests in a real browser will not run." >&2
