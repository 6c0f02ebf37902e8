#!/usr/bin/env bash
# Installs PostgreSQL for the tests of that engine, if this user and system can; otherwise says so. No server is started.
set -uo pipefail

if command -v initdb >/dev/null || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1; then exit 0; fi

if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "installing PostgreSQL…" >&2
  export DEBIAN_FRONTEND=noninteractive
  # Debian makes a cluster and starts it, unless it is told not to.
  mkdir -p /etc/postgresql-common
  [ -e /etc/postgresql-common/createcluster.conf ] || echo "create_main_cluster = false" >/etc/postgresql-common/createcluster.conf
  keep="-o Dpkg::Options::=--force-confold"
  # shellcheck disable=SC2086
  if apt-get update -qq >/dev/null 2>&1 && apt-get install -y -qq $keep postgresql >/dev/null 2>&1; then exit 0; fi
fi

echo "SKIPPED: PostgreSQL is not installed and could not be; what needs it will not be tested." >&2
