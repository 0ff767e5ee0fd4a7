#!/usr/bin/env bash
# What takes too long for every change: runs that are killed 200 times and resumed, and the whole suite under the address
# and undefined-behaviour sanitizers.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/test.sh
scripts/checks/kill_and_resume.sh
scripts/test.sh --preset asan
