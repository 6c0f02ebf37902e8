#!/usr/bin/env bash
# Fetches Glewlwyd, an OpenID provider in C, for the tests of signing in by a provider of another make. Debian's packages are only
# taken apart, in a folder of this user: nothing is installed, no service is made, and no rights are needed.
set -uo pipefail

place="${XDG_CACHE_HOME:-$HOME/.cache}/formsvc-tests/glewlwyd"
if command -v glewlwyd >/dev/null || [ -x "$place/unpacked/usr/bin/glewlwyd" ]; then exit 0; fi

if command -v apt-get >/dev/null && command -v dpkg >/dev/null; then
  echo "fetching Glewlwyd…" >&2
  temporary="$(mktemp -d)"
  trap 'rm -rf "$temporary"' EXIT
  [ "$(id -u)" != 0 ] || apt-get update -qq >/dev/null 2>&1
  # Itself and the libraries that are not here; no database's tools.
  packages="$(apt-get -s install --no-install-recommends glewlwyd 2>/dev/null | awk '/^Inst (lib|glewlwyd)/ { print $2 }')"
  if [ -n "$packages" ] && (cd "$temporary" && mkdir root && apt-get download -qq $packages >/dev/null 2>&1); then
    for package in "$temporary"/*.deb; do dpkg -x "$package" "$temporary/root" || exit 0; done
    mkdir -p "$place"
    # At once whole: two of these may run at the same time.
    if mv -T "$temporary/root" "$place/unpacked" 2>/dev/null || [ -x "$place/unpacked/usr/bin/glewlwyd" ]; then exit 0; fi
  fi
fi

echo "SKIPPED: Glewlwyd is not here and could not be fetched; signing in by a provider of another make will not be tested." >&2
