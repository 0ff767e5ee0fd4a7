#!/usr/bin/env bash
# Fuzzes every reader and the shapes of every op with random and almost valid inputs, under the address and
# undefined-behavior sanitizers, with a limit on each allocation. Needs clang.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source scripts/lib/packages.sh

targets=(safetensors npy idx csv run_log checkpoint ops)

usage() {
  cat <<END
usage: scripts/checks/fuzz.sh [SECONDS] [TARGET...]
  SECONDS   per target (default 10)
  TARGET    one of: ${targets[*]} (default all)
New inputs are kept in build/fuzz/corpus for the next run. The input of a crash is kept in build/fuzz/crash-*.
END
}

if [[ ${1-} == -h || ${1-} == --help ]]; then
  usage
  exit
fi
seconds=${1:-10}
shift $(($# > 0))
[[ $seconds =~ ^[0-9]+$ ]] || { echo "error: '$seconds' is not a number of seconds" >&2 && usage >&2 && exit 2; }
chosen=("$@")
(($#)) || chosen=("${targets[@]}")
for target in "${chosen[@]}"; do
  [[ " ${targets[*]} " == *" $target "* ]] || { echo "error: there is no target '$target'" >&2 && usage >&2 && exit 2; }
done

ensure_packages "${build_packages[@]}" "${fuzz_packages[@]}"
cmake --preset fuzz >/dev/null
cmake --build build/fuzz -j "$(nproc)" --target "${chosen[@]/#/fuzz_}"
seeds=build/fuzz/seeds
python3 tests/fuzz/make_seeds.py "$seeds"
total=0
for target in "${chosen[@]}"; do
  corpus=build/fuzz/corpus/$target
  mkdir -p "$corpus"
  build/fuzz/tests/fuzz/fuzz_"$target" "$corpus" "$seeds/$target" -max_total_time="$seconds" -max_len=4096 -timeout=20 \
    -rss_limit_mb=2048 -print_final_stats=1 -artifact_prefix=build/fuzz/ >"build/fuzz/$target.log" 2>&1 ||
    { tail -n 40 "build/fuzz/$target.log" >&2 && echo "FAILED: $target; see build/fuzz/$target.log" >&2 && exit 1; }
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "build/fuzz/$target.log")
  total=$((total + executions))
  echo "$target: $executions inputs, no fault"
done
echo "fuzz: $total inputs, no fault"
