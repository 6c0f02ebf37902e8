#!/usr/bin/env bash
# Installs the tools for the tests of a release (bare Debian systems, images, signatures) and LibreOffice, which opens spreadsheets, if this
# user and system can; otherwise says so.
set -uo pipefail

declare -A packages=(
  [debootstrap]=debootstrap [lintian]=lintian [skopeo]=skopeo [umoci]=umoci [bwrap]=bubblewrap [setpriv]=util-linux
  [gpg]=gnupg [gpgv]=gpgv [sqv]=sqv [ssh-keygen]=openssh-client [python3]=python3 [systemd-analyze]=systemd
  [soffice]=libreoffice-calc-nogui [ruby]=ruby [mount]=mount [ip]=iproute2 [curl]=curl
  [wget]=wget [strace]=strace [qemu-aarch64-static]=qemu-user-static [reprepro]=reprepro
  [x86_64-linux-gnu-strip]=binutils-x86-64-linux-gnu [aarch64-linux-gnu-strip]=binutils-aarch64-linux-gnu
)

list_missing() {
  for tool in "${!packages[@]}"; do
    command -v "$tool" >/dev/null || echo "${packages[$tool]}"
  done
}

if [ -z "$(list_missing)" ]; then exit 0; fi
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "installing the tools of packaging…" >&2
  export DEBIAN_FRONTEND=noninteractive
  mapfile -t missing < <(list_missing)
  if apt-get update -qq >/dev/null 2>&1; then
    apt-get install -y -qq --no-install-recommends -o Acquire::Retries=3 "${missing[@]}" >/dev/null 2>&1
  fi
fi

for package in $(list_missing); do
  echo "SKIPPED: $package is not installed and could not be; what needs it will not be tested." >&2
done
exit 0
