#!/usr/bin/env bash
# Everything a change must pass: installs what the lock file names, builds the executable, then runs every check and
# test, the black-box tests of the executable included.
source "$(dirname "$0")/install.sh"
install_packages
build_executable
if [ -x scripts/install-chromium.sh ]; then ./scripts/install-chromium.sh; fi
if [ -x scripts/install-postgresql.sh ]; then ./scripts/install-postgresql.sh; fi
if [ -x scripts/unpack-debian.sh ]; then
  ./scripts/unpack-debian.sh glewlwyd bin/glewlwyd "signing in by a provider of another make"
  ./scripts/unpack-debian.sh clamav-daemon sbin/clamd "scanning by a real clamd"
fi
if [ -x scripts/install-versitygw.sh ]; then ./scripts/install-versitygw.sh; fi
if [ -x scripts/install-packaging-tools.sh ]; then ./scripts/install-packaging-tools.sh; fi
npm run --silent check
