#!/usr/bin/env bash
# What takes too long for every change, or needs a quiet machine: the suite unoptimized with assertions, and with
# examples in double precision; what logging costs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/test.sh --preset debug
scripts/test.sh --preset f64
scripts/test.sh
build/release/tests/xtape_overhead
