#!/usr/bin/env bash
# Runs every workload of the benchmark at a tiny size. Loss and gradient norm of the first step must agree with those of
# LibTorch's worker (tiny_expected.txt, written by the same commands), and a second step must run.
set -euo pipefail
worker=$1
expected=$(dirname "${BASH_SOURCE[0]}")/tiny_expected.txt

read -r -a names < <(echo list | "$worker" | cut -d ' ' -f 2-)
commands=$(for name in "${names[@]}"; do printf 'setup %s tiny\nrun 1\n' "$name"; done)
ready=$("$worker" <<<"$commands" | grep '^ready' | cut -d ' ' -f 2,3)
paste -d ' ' <(printf '%s\n' "${names[@]}") <(echo "$ready") | awk -v expected="$expected" '
  function differs(a, b) { d = a - b; return !((d < 0 ? -d : d) <= 1e-5 + 1e-4 * (b < 0 ? -b : b)) }
  BEGIN { while ((getline line < expected) > 0) { split(line, word, " "); loss[word[1]] = word[2]; norm[word[1]] = word[3]; wanted++ } }
  !($1 in loss) { print $1 ": no expected values"; bad++ ; next }
  differs($2, loss[$1]) || differs($3, norm[$1]) { print $1 ": got " $2 " " $3 ", want " loss[$1] " " norm[$1]; bad++ }
  END { if (NR != wanted) { print NR " workloads, expected " wanted; bad++ } exit bad > 0 }'

# An invalid command ends the worker with a reason.
if answer=$(echo "setup nothing" | "$worker"); then
  echo "an unknown workload was accepted: $answer" && exit 1
fi
[[ $answer == "error there is no workload 'nothing'" ]] || { echo "the worker said: $answer" && exit 1; }
