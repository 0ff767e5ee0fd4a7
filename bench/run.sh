#!/usr/bin/env bash
# Installs missing packages, builds, and times xtape beside LibTorch.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/lib/packages.sh

usage() {
  cat <<'USAGE'
usage: bench/run.sh [WORKLOAD...] [--json FILE] [--rounds N]
       bench/run.sh kernels
Times xtape and LibTorch alternately in one run and prints a table; bench/README.md explains it. Installs missing Debian
packages (as root or with sudo), among them libtorch-dev (512 MB), and builds in build/bench.
  WORKLOAD      a name, a common prefix (attention, lstm) or a pattern ('*_s'); default: all
  --json FILE   also writes the rows to FILE
  --rounds N    number of rounds in which all workers take turns (default 15); the median counts
  kernels       times each of xtape's kernels against this machine's memory bandwidth or arithmetic rate
USAGE
}

for argument in "$@"; do
  case "$argument" in
    -h | --help) usage && exit ;;
  esac
done

ensure_packages "${build_packages[@]}" "${bench_packages[@]}"
{
  cmake --preset bench
  cmake --build --preset bench -j "$(nproc)" --target bench
} >&2
binaries=build/bench/bench
if [[ ${1-} == kernels ]]; then
  (($# == 1)) || { usage >&2 && exit 2; }
  for threads in 1 2; do OMP_NUM_THREADS=$threads "$binaries/xtape_kernels"; done
else
  exec python3 bench/driver --binaries "$binaries" "$@"
fi
