#!/usr/bin/env bash
# Runs the tests of the release build in a locale whose decimal point is a comma and which groups digits with points.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source scripts/lib/packages.sh

usage() {
  cat <<'END'
usage: scripts/checks/locale.sh [ARGUMENT...]
  ARGUMENT   for the test programs, such as --test-case=PATTERN
END
}

if [[ ${1-} == -h || ${1-} == --help ]]; then
  usage
  exit
fi
ensure_packages "${test_packages[@]}"
locales=$(mktemp -d)
trap 'rm -rf "$locales"' EXIT
localedef -i de_DE -f UTF-8 "$locales/de_DE.UTF-8"
for dtype in f32 f64; do
  env -u LC_ALL LOCPATH="$locales" LANG=de_DE.UTF-8 LC_MESSAGES=C XTAPE_TEST_LOCALE=1 \
    "build/release/tests/xtape_tests_$dtype" "$@" # the system's messages stay English, as the tests name them
done
