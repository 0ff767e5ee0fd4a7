#!/usr/bin/env bash
# What takes too long for every change: the whole suite under the address and undefined-behaviour sanitizers.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/test.sh --preset asan
