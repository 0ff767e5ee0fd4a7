#!/usr/bin/env bash
# Installs missing packages, builds, and runs the tests.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/lib/packages.sh

usage() {
  cat <<'END'
usage: scripts/test.sh [--preset NAME] [-DOPTION=VALUE...]
Installs missing Debian packages (as root or with sudo), builds, and runs the tests.
  --preset NAME    release (default), debug, asan or f64
  -DOPTION=VALUE   handed to cmake, for example -DXTAPE_WERROR=ON
END
}

preset=release
options=()
while (($#)); do
  case "$1" in
    -h | --help) usage && exit ;;
    --preset) preset=${2-} && shift $(($# > 1)) ;;
    -D?*) options+=("$1") ;;
    *) echo "error: unknown argument '$1'" >&2 && usage >&2 && exit 2 ;;
  esac
  shift
done
case "$preset" in
  release | debug | asan | f64) ;;
  *) echo "error: there is no preset '$preset'" >&2 && usage >&2 && exit 2 ;;
esac

ensure_packages "${build_packages[@]}" "${test_packages[@]}"
cmake --preset "$preset" "${options[@]}"
cmake --build --preset "$preset" -j "$(nproc)"
ctest --preset "$preset"
