#!/usr/bin/env bash
# What takes too long for every change, or needs a quiet machine: runs that are killed 200 times and resumed, what logging
# costs, the suite unoptimized with assertions and with examples in double precision; the tests of threads under the
# thread sanitizer; a minute of fuzzing for each target.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/test.sh
scripts/checks/kill_and_resume.sh
build/release/tests/xtape_overhead
scripts/test.sh --preset debug
scripts/test.sh --preset f64
scripts/checks/threads.sh
scripts/checks/fuzz.sh 60
