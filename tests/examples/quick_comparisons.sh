#!/usr/bin/env bash
# Runs both comparisons with --quick, as a user would, on a text and digits made here.
# usage: quick_comparisons.sh GRADIENT_FLOW REGULARIZATION
set -euo pipefail
work=$(mktemp -d "${TMPDIR:-/tmp}/xtape-comparisons.XXXXXX")
trap 'rm -rf "$work"' EXIT

names=(man king god son day)
for ((i = 0; i < 4000; ++i)); do
  echo "and the ${names[i * i % 5]} saw the ${names[i % 7 % 5]} $((i * 37 % 101))"
done >"$work/text"
awk 'BEGIN { for (i = 0; i < 400; ++i) {
  for (p = 0; p < 64; ++p) printf "%d,", int(p / 8) == i % 10 % 8 ? 16 : (i + p) % 7
  print i % 10 } }' >"$work/digits.csv"

cd "$work"
timeout 900 "$1" --quick --text text --out flow
timeout 900 "$2" --quick --text text --digits digits.csv --out decay
for finished in flow decay; do
  runs=("$finished"/*-seed*/)
  results=("$finished"/*-seed*/results.json)
  echo "$finished: ${#results[@]} of ${#runs[@]} runs have results"
  ((${#runs[@]} == ${#results[@]} && ${#runs[@]} > 100))
done
