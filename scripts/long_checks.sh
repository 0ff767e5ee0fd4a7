#!/usr/bin/env bash
# Checks that take too long for every change or need a quiet machine: clang-tidy on all files, 200 runs killed and
# resumed, the tests in a locale with a decimal comma, the cost of logging and of reading a large log, what the diagnosis
# says about planted faults, the tests without optimization but with assertions, the examples in double precision, the
# thread tests under the thread sanitizer, and one minute of fuzzing per target.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/lint.sh --tidy-all
scripts/test.sh
scripts/checks/kill_and_resume.sh
scripts/checks/locale.sh
build/release/tests/xtape_overhead
build/release/tests/xtape_fault_bench
build/release/tests/xtape_large_log
scripts/test.sh --preset debug
scripts/test.sh --preset f64
scripts/checks/threads.sh
scripts/checks/fuzz.sh 60
