#!/usr/bin/env bash
# Fetches a program of Debian for tests. Its packages are only unpacked, in a folder of this user: nothing is installed, no service is made,
# and no rights are needed. Without Debian's packages, it says what will not be tested.
# Usage: unpack-debian.sh PACKAGE PROGRAM WHAT; PROGRAM is the program's path below /usr.
set -uo pipefail

package="$1" program="$2" what="$3"
name="$(basename "$program")"
place="${XDG_CACHE_HOME:-$HOME/.cache}/formsvc-tests/$name"
if command -v "$name" >/dev/null || [ -x "$place/unpacked/usr/$program" ]; then exit 0; fi

if command -v apt-get >/dev/null && command -v dpkg >/dev/null; then
  echo "fetching $name…" >&2
  temporary="$(mktemp -d)"
  trap 'rm -rf "$temporary"' EXIT
  [ "$(id -u)" != 0 ] || apt-get update -qq >/dev/null 2>&1
  # The package itself and the libraries that this system lacks, without the other tools that it depends on.
  packages="$(apt-get -s install --no-install-recommends "$package" 2>/dev/null | awk -v package="$package" '/^Inst lib/ || (/^Inst / && index($2, package) == 1) { print $2 }')"
  if [ -n "$packages" ] && (cd "$temporary" && mkdir root && apt-get download -qq $packages >/dev/null 2>&1); then
    for each in "$temporary"/*.deb; do dpkg -x "$each" "$temporary/root" || exit 0; done
    mkdir -p "$place"
    # The unpacked folder gets its name in one step, because two runs may do this at the same time.
    if mv -T "$temporary/root" "$place/unpacked" 2>/dev/null || [ -x "$place/unpacked/usr/$program" ]; then exit 0; fi
  fi
fi

echo "SKIPPED: $name is not here and could not be fetched; $what will not be tested." >&2
