#!/usr/bin/env bash
# The tests of threads under the thread sanitizer.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source scripts/lib/packages.sh

ensure_packages "${build_packages[@]}"
cmake --preset tsan >/dev/null
cmake --build --preset tsan -j "$(nproc)"
# A child that is forked while threads run is refused by the sanitizer's runtime: those tests run without it.
TSAN_OPTIONS="halt_on_error=1 second_deadlock_stack=1" build/tsan/tests/xtape_thread_tests --test-case-exclude='*fork*'
