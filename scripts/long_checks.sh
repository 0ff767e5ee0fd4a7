#!/usr/bin/env bash
# What takes too long for every change: the suite unoptimized with assertions, and with examples in double precision.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/test.sh --preset debug
scripts/test.sh --preset f64
