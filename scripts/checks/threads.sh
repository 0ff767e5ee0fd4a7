#!/usr/bin/env bash
# Runs the tests of threads under the thread sanitizer.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source scripts/lib/packages.sh

ensure_packages "${build_packages[@]}"
cmake --preset tsan >/dev/null
cmake --build --preset tsan -j "$(nproc)"
# The sanitizer does not support a fork while threads run, so those tests run without it.
TSAN_OPTIONS="halt_on_error=1 second_deadlock_stack=1" build/tsan/tests/xtape_thread_tests --test-case-exclude='*fork*'
