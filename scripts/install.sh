# The scripts beside it source this file. It installs the packages in the lock file and builds the executable, each only if needed. It needs
# Node 20 or newer with npm; the pinned Node itself comes with the packages.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

command -v npm >/dev/null || { echo "formsvc needs Node.js 20 or newer with npm to build itself" >&2; exit 1; }

install_packages() {
  if [ package-lock.json -nt node_modules/.formsvc-installed ]; then
    echo "installing packages…" >&2
    npm ci --no-audit --no-fund --loglevel=error >&2
    touch node_modules/.formsvc-installed
  fi
}

build_executable() {
  if [ ! -x dist/formsvc ] || [ -n "$(find src migrations scripts/build.ts package-lock.json -newer dist/formsvc -print -quit)" ]; then
    echo "building dist/formsvc…" >&2
    npm run --silent build >&2
  fi
}
