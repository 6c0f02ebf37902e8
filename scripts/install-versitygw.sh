#!/usr/bin/env bash
# Builds Versity S3 Gateway, an S3 server in Go, for the tests of files in an S3-compatible store. The server comes as a Go module and stays
# in a folder of this user: nothing is installed, no service is made, and no rights are needed.
set -uo pipefail

version="v1.8.0"
place="${XDG_CACHE_HOME:-$HOME/.cache}/formsvc-tests/versitygw"
if [ -x "$place/versitygw" ]; then exit 0; fi

if command -v go >/dev/null; then
  echo "building Versity S3 Gateway…" >&2
  temporary="$(mktemp -d)"
  trap 'chmod -R u+w "$temporary" 2>/dev/null; rm -rf "$temporary"' EXIT
  # Go fetches the modules by name, and checks them against the checksums of the Go project.
  if GOBIN="$temporary/bin" GOPATH="$temporary/path" GOCACHE="$temporary/cache" GOFLAGS=-buildvcs=false CGO_ENABLED=0 \
    go install "github.com/versity/versitygw/cmd/versitygw@$version" >"$temporary/log" 2>&1; then
    mkdir -p "$place"
    # The finished program gets its name in one step, because two runs may build it at the same time.
    mv "$temporary/bin/versitygw" "$place/versitygw" && exit 0
  fi
  tail -3 "$temporary/log" >&2
fi

echo "SKIPPED: no S3 server is here and none could be built; files in an S3-compatible store will be tested with scripted stores only." >&2
