#!/bin/sh
# Installs formsvc: checks this system, fetches the archive of a release, verifies the release's signature and the archive's
# checksum, and puts the program into PREFIX/bin. Needs no root for a prefix of your own. Run it again to upgrade.
#
# All code is in functions, and the last line calls one of them. Thus a script that was cut off in transit does nothing.
set -u

formsvc_install() {
  RELEASE_URL='@RELEASE_URL@'
  SSH_KEY='@SSH_KEY@'
  OPENPGP_KEY='@OPENPGP_KEY@'

  say() { printf '%s\n' "$*"; }
  fail() {
    printf 'install.sh: %s\n' "$*" >&2
    printf 'install.sh: nothing was changed\n' >&2
    exit 1
  }
  wrong_usage() {
    printf 'install.sh: %s; see --help\n' "$*" >&2
    exit 2
  }

  usage() {
    cat <<'HELP'
Usage: install.sh [--from DIR|URL] [--version V] [--prefix DIR] [--dry-run] [--uninstall]

  --from DIR|URL  the folder or https address with the files of one release
  --version V     install this version only; allows one older than the installed program
  --prefix DIR    installs DIR/bin/formsvc; ~/.local unless given, for root /usr/local
  --dry-run       does every check, and changes nothing
  --uninstall     removes the program; databases and configuration stay
HELP
  }

  from=$RELEASE_URL version='' prefix='' dry_run='' uninstall=''
  while [ $# -gt 0 ]; do
    case "$1" in
      --from=* | --version=* | --prefix=*)
        flag=${1%%=*} value=${1#*=}
        shift
        ;;
      --from | --version | --prefix)
        [ $# -ge 2 ] || wrong_usage "$1 needs a value"
        flag=$1 value=$2
        shift 2
        ;;
      --dry-run) dry_run=yes && shift && continue ;;
      --uninstall) uninstall=yes && shift && continue ;;
      -h | --help) usage && exit 0 ;;
      *) wrong_usage "unknown argument: $1" ;;
    esac
    [ -n "$value" ] || wrong_usage "$flag needs a value"
    case "$flag" in
      --from) from=${value%/} ;;
      --version) version=${value#v} ;;
      --prefix) prefix=$value ;;
    esac
  done
  case "$version" in
    '') ;;
    *[!0-9.]* | .* | *. | *..*) wrong_usage "--version is not a version like 1.2.3: $version" ;;
  esac

  if [ -z "$prefix" ]; then
    if [ "$(id -u)" = 0 ]; then
      prefix=/usr/local
    elif [ -n "${HOME:-}" ]; then
      prefix=$HOME/.local
    else
      wrong_usage "HOME is not set: name --prefix"
    fi
  fi
  case "$prefix" in /*) ;; *) prefix=$PWD/$prefix ;; esac
  program=$prefix/bin/formsvc

  if [ -n "$uninstall" ]; then
    remove_program
    exit 0
  fi
  [ -n "$from" ] || wrong_usage "this copy knows no release address: name --from"

  # The free space is checked in PREFIX/bin, and the rename from there to the program's name is one step.
  check_system
  place=$prefix/bin
  while [ ! -d "$place" ]; do place=$(dirname "$place"); done
  [ -w "$place" ] || fail "may not write to $place: run as its owner, or name another --prefix"
  check_room "$place"
  made='' work=''
  trap clean_up EXIT
  trap 'exit 1' HUP INT TERM
  if [ -z "$dry_run" ]; then
    [ -d "$prefix/bin" ] || made=yes
    mkdir -p "$prefix/bin" || fail "cannot make the folder $prefix/bin"
    place=$prefix/bin
  else
    place=${TMPDIR:-/tmp}
    check_room "$place"
  fi
  [ -n "$dry_run" ] || remove_left
  work=$(mktemp -d "$place/.formsvc-install.$$.XXXXXX") || fail "cannot make a folder in $place"

  say "fetching SHA256SUMS from $from"
  fetch SHA256SUMS
  check_signature
  archive=$(sed -n "s/^[0-9a-f]\{64\}  \(formsvc-[0-9][0-9.]*-$platform\.tar\.gz\)\$/\1/p" "$work/SHA256SUMS")
  case "$archive" in
    '') fail "the release has no archive for $platform" ;;
    *"
"*) fail "the release has more than one archive for $platform" ;;
  esac
  offered=${archive#formsvc-}
  offered=${offered%-"$platform".tar.gz}
  check_version

  say "fetching $archive"
  fetch "$archive"
  check_sum
  say "unpacking"
  (cd "$work" && tar -xzf "$archive") || fail "cannot unpack $archive (is the disk full? df -h $place)"
  new=$work/${archive%.tar.gz}/formsvc
  [ -f "$new" ] || fail "$archive holds no program"
  rm -f "${work:?}/$archive"
  chmod 755 "$new" || fail "cannot make the program executable"
  if [ "$platform" = macos-arm64 ]; then
    say "signing the program for this machine"
    codesign --force --sign - "$new" || fail "codesign cannot sign the program"
  fi
  check_start
  if [ -n "$dry_run" ]; then
    say "dry run: would install formsvc $offered as $program"
    exit 0
  fi
  # The bytes must be on the disk before the program gets its name.
  sync "$new" 2>/dev/null || sync
  mv -f "$new" "$program" || fail "cannot rename the new program to $program"
  say "installed formsvc $offered as $program"
  case ":${PATH:-}:" in
    *":$prefix/bin:"*) ;;
    *) say "$prefix/bin is not in your PATH: run  export PATH=\"$prefix/bin:\$PATH\"  and put that line into ~/.profile" ;;
  esac
  say "next: formsvc serve"
}

# Removes the files of runs that were killed. The number in a name is the process id of its run.
remove_left() {
  for left in "$place"/.formsvc-install.*.*; do
    pid=${left##*/.formsvc-install.}
    pid=${pid%%.*}
    case "$pid" in '' | *[!0-9]*) continue ;; esac
    kill -0 "$pid" 2>/dev/null || rm -rf "$left"
  done
}

clean_up() {
  [ -z "$work" ] || rm -rf "$work"
  # Only empty folders are removed.
  [ -z "$made" ] || rmdir "$prefix/bin" "$prefix" 2>/dev/null || :
}

remove_program() {
  [ -e "$program" ] || fail "there is no $program"
  [ -w "$(dirname "$program")" ] || fail "may not write to $(dirname "$program")"
  if [ -n "$dry_run" ]; then
    say "dry run: would remove $program"
    return
  fi
  rm -f "$program" || fail "cannot remove $program"
  say "removed $program; databases and configuration are left as they are"
}

check_system() {
  say "checking the system"
  case "$(uname -s)/$(uname -m)" in
    Linux/x86_64 | Linux/amd64) platform=linux-x64 ;;
    Linux/aarch64 | Linux/arm64) platform=linux-arm64 ;;
    Darwin/arm64) platform=macos-arm64 ;;
    *) fail "there is no program for $(uname -s) on $(uname -m); there is for Linux on x86_64 and aarch64, and macOS on arm64" ;;
  esac
  for tool in tar gzip sed mktemp; do
    command -v "$tool" >/dev/null 2>&1 || fail "$tool is missing: install the package $tool"
  done
  [ "$platform" = macos-arm64 ] || check_libc
}

check_libc() {
  case "$platform" in
    linux-x64) loader=/lib64/ld-linux-x86-64.so.2 ;;
    *) loader=/lib/ld-linux-aarch64.so.1 ;;
  esac
  if [ ! -e "$loader" ]; then
    for musl in /lib/ld-musl-*; do
      [ ! -e "$musl" ] || fail "this system has musl, like Alpine; formsvc needs glibc 2.28 or newer: use the container image, or a system like Debian"
    done
    fail "$loader is missing: formsvc needs a system with glibc 2.28 or newer"
  fi
  glibc=$(getconf GNU_LIBC_VERSION 2>/dev/null | sed -n 's/^glibc //p')
  [ -n "$glibc" ] || return 0
  ! is_older "$glibc" 2.28 || fail "this system has glibc $glibc; formsvc needs 2.28 or newer (Debian 10, Ubuntu 20.04, RHEL 8)"
}

# Whether version $1 is before version $2.
is_older() {
  [ "$1" != "$2" ] || return 1
  printf '%s\n%s\n' "$1" "$2" | awk -F. '
    { for (i = 1; i <= 4; i++) part[NR, i] = $i + 0 }
    END { for (i = 1; i <= 4; i++) if (part[1, i] != part[2, i]) exit !(part[1, i] < part[2, i]); exit 1 }'
}

check_room() {
  needed=262144
  free=$(df -Pk "$1" | awk 'END { print $4 }')
  case "$free" in
    '' | *[!0-9]*) return 0 ;;
  esac
  [ "$free" -ge "$needed" ] || fail "$1 has $((free / 1024)) MiB free, and $((needed / 1024)) MiB are needed"
}

# Fetches file $1 of the release. If it is missing, the message is $2, or a general one.
fetch() {
  case "$from" in
    http://* | https://*)
      if command -v curl >/dev/null 2>&1; then
        case "$from" in https://*) only='=https' ;; *) only='=http,https' ;; esac
        curl --fail --silent --show-error --location --proto-redir "$only" --max-filesize 268435456 --connect-timeout 20 \
          --speed-limit 1000 --speed-time 30 --output "$work/$1" "$from/$1" || fail "${2:-cannot fetch $from/$1}"
      elif command -v wget >/dev/null 2>&1; then
        wget -q -T 30 -t 2 -O "$work/$1" "$from/$1" || fail "${2:-cannot fetch $from/$1}"
      else
        fail "curl and wget are missing: install one of them, or download the files of the release and name their folder with --from"
      fi
      ;;
    *)
      [ -f "$from/$1" ] || fail "${2:-there is no $from/$1}"
      cp "$from/$1" "$work/$1" || fail "cannot copy $from/$1 (is the disk full? df -h $place)"
      ;;
  esac
}

# OpenSSH can sign files since version 8.2; an older ssh-keygen does not know the option -Y.
can_verify_ssh() {
  command -v ssh-keygen >/dev/null 2>&1 || return 1
  case "$(ssh-keygen -Y find-principals 2>&1)" in
    *option*-\ Y* | *option*-Y* | *option*--\ Y*) return 1 ;;
  esac
}

# The first tool that is installed decides; if it refuses, no other tool is asked.
check_signature() {
  if can_verify_ssh; then
    fetch SHA256SUMS.sig "the signature SHA256SUMS.sig is missing: do not use these files"
    printf 'formsvc %s\n' "$SSH_KEY" >"$work/allowed"
    ssh-keygen -Y verify -f "$work/allowed" -I formsvc -n formsvc -s "$work/SHA256SUMS.sig" \
      <"$work/SHA256SUMS" >/dev/null 2>&1 || fail "the signature of SHA256SUMS is wrong (ssh-keygen): do not use these files"
    say "the signature is right (ssh-keygen)"
    return
  fi
  for tool in gpgv sqv; do
    command -v "$tool" >/dev/null 2>&1 || continue
    fetch SHA256SUMS.asc "the signature SHA256SUMS.asc is missing: do not use these files"
    printf '%s' "$OPENPGP_KEY" | base64 -d >"$work/key.gpg" || fail "base64 is missing: install the package coreutils"
    "$tool" --keyring "$work/key.gpg" "$work/SHA256SUMS.asc" "$work/SHA256SUMS" >/dev/null 2>&1 ||
      fail "the signature of SHA256SUMS is wrong ($tool): do not use these files"
    say "the signature is right ($tool)"
    return
  done
  fail "nothing can verify the signature: install one of ssh-keygen (package openssh-client), gpgv (gpgv) or sqv (sqv)"
}

check_version() {
  if [ -n "$version" ] && [ "$version" != "$offered" ]; then
    fail "the release is version $offered, and --version names $version"
  fi
  installed=''
  if [ -e "$program" ]; then installed=$("$program" version 2>/dev/null) || installed=''; fi
  case "$installed" in
    '') say "version $offered; no formsvc that starts is installed as $program" ;;
    *) say "version $offered; installed as $program: $installed" ;;
  esac
  if [ -z "$version" ] && [ -n "$installed" ] && is_older "$offered" "$installed"; then
    fail "the release is older than the installed program; to install it nevertheless: --version $offered"
  fi
}

check_sum() {
  wanted=$(sed -n "s/^\([0-9a-f]\{64\}\)  $archive\$/\1/p" "$work/SHA256SUMS")
  if command -v sha256sum >/dev/null 2>&1; then
    sum=$(sha256sum <"$work/$archive")
  else
    sum=$(shasum -a 256 <"$work/$archive")
  fi
  [ "${sum%% *}" = "$wanted" ] || fail "the checksum of $archive is wrong: the download is damaged or was cut off; try again"
  say "the checksum is right"
}

# If a library is missing, the loader names it. The new program prints its version only if no library is missing.
check_start() {
  if told=$("$new" version 2>&1); then
    [ "$told" = "$offered" ] || fail "the new program says that it is version $told, not $offered"
    return
  fi
  case "$told" in
    *libatomic*) fail "libatomic.so.1 is missing: install libatomic1 (Debian, Ubuntu) or libatomic (Fedora)" ;;
    *libstdc++* | *libgcc_s*) fail "the C++ library is missing: install libstdc++6 (Debian, Ubuntu) or libstdc++ (Fedora)" ;;
    *"ermission denied"*) fail "$place may be mounted noexec: choose another folder, with --prefix or for a dry run with TMPDIR" ;;
    *) fail "the new program does not start here: $told" ;;
  esac
}

# If this line was cut off before its last character, it is a syntax error.
{ formsvc_install "$@"; }
