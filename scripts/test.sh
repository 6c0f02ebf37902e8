#!/usr/bin/env bash
# Runs everything that a change must pass: installs the packages in the lock file, builds the executable while the code is checked, and then
# runs every test, including the black-box tests of the executable.
source "$(dirname "$0")/install.sh"
install_packages
scripts/check-code.sh &
checking=$!
build_executable
if [ -x scripts/install-chromium.sh ]; then ./scripts/install-chromium.sh; fi
if [ -x scripts/install-postgresql.sh ]; then ./scripts/install-postgresql.sh; fi
if [ -x scripts/unpack-debian.sh ]; then
  ./scripts/unpack-debian.sh glewlwyd bin/glewlwyd "signing in by a provider of another make"
  ./scripts/unpack-debian.sh clamav-daemon sbin/clamd "scanning by a real clamd"
fi
if [ -x scripts/install-versitygw.sh ]; then ./scripts/install-versitygw.sh; fi
if [ -x scripts/install-packaging-tools.sh ]; then ./scripts/install-packaging-tools.sh; fi
wait "$checking"
npm run --silent test
