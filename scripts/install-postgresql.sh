#!/usr/bin/env bash
# Installs PostgreSQL and PgBouncer for the tests of that engine if this user and system can; otherwise says so. It starts no server.
set -uo pipefail

has_postgresql() { command -v initdb >/dev/null || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1; }
has_pgbouncer() { command -v pgbouncer >/dev/null || [ -x /usr/sbin/pgbouncer ]; }
if has_postgresql && has_pgbouncer; then exit 0; fi

if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "installing PostgreSQL and PgBouncer…" >&2
  export DEBIAN_FRONTEND=noninteractive
  # Debian makes a cluster and starts it, unless this setting forbids it.
  mkdir -p /etc/postgresql-common
  [ -e /etc/postgresql-common/createcluster.conf ] || echo "create_main_cluster = false" >/etc/postgresql-common/createcluster.conf
  # Debian starts each service that it installs, unless this file forbids it.
  forbids=/usr/sbin/policy-rc.d
  if [ ! -e "$forbids" ]; then
    trap 'rm -f "$forbids"' EXIT
    printf '#!/bin/sh\nexit 101\n' >"$forbids"
    chmod 755 "$forbids"
  fi
  packages=()
  has_postgresql || packages+=(postgresql)
  has_pgbouncer || packages+=(pgbouncer)
  options=(-o Dpkg::Options::=--force-confold -o Acquire::Retries=3)
  if apt-get update -qq >/dev/null 2>&1 && apt-get install -y -qq "${options[@]}" "${packages[@]}" >/dev/null 2>&1; then exit 0; fi
fi

has_postgresql || echo "SKIPPED: PostgreSQL is not installed and could not be; what needs it will not be tested." >&2
has_pgbouncer || echo "SKIPPED: PgBouncer is not installed and could not be; what needs it will not be tested." >&2
