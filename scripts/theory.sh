#!/usr/bin/env bash
# Runs every experiment that compares theory with measurement, then writes one page, or compares the verdicts with the
# committed ones.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/lib/packages.sh

usage() {
  cat <<'END'
usage: scripts/theory.sh [--quick | --check | --update] [--out DIRECTORY] [--programs DIRECTORY]
Installs what is missing, builds, and runs every claim of theory beside its measurement. Leaves index.html and the
results as JSON in the directory (runs/theory).
  --quick      smaller samples and short trainings, on made-up text: about a minute
  --check      a quick run whose verdicts must be those in examples/studies/reference; times are not judged
  --update     a quick run whose verdicts become the reference
  --programs   where the programs are; then nothing is built
END
}

mode=full out=runs/theory programs=
while (($#)); do
  case "$1" in
    -h | --help) usage && exit ;;
    --quick | --check | --update) mode=${1#--} ;;
    --out) out=${2-} && shift $(($# > 1)) ;;
    --programs) programs=${2-} && shift $(($# > 1)) ;;
    *) echo "error: unknown argument '$1'" >&2 && usage >&2 && exit 2 ;;
  esac
  shift
done
if [[ -z $out ]]; then
  echo "error: --out needs a directory" >&2
  exit 2
fi

groups=(recurrent momentum attention normalization regularization)
costs=(attention_cost decode_cost)
if [[ -z $programs ]]; then
  ensure_packages "${build_packages[@]}"
  cmake --preset release
  cmake --build --preset release -j "$(nproc)" --target "${groups[@]/#/theory_}" "${costs[@]}"
  programs=build/release/examples/studies
fi
options=(--quick)
if [[ $mode == full ]]; then
  ensure_packages "${kjv_packages[@]}"
  scripts/get_data.sh kjv
  options=(--text datasets/kjv.txt)
fi

mkdir -p "$out"
results=()
for program in "${groups[@]/#/theory_}" "${costs[@]}"; do
  results+=("$out/$program.json")
  "$programs/$program" "${options[@]}" --threads 1 --json "${results[-1]}"
done
python3 scripts/theory/page.py "$out/index.html" "${results[@]}"
echo "The page is $out/index.html"
case "$mode" in
  check) python3 scripts/theory/verdicts.py check examples/studies/reference "${results[@]}" ;;
  update) python3 scripts/theory/verdicts.py update examples/studies/reference "${results[@]}" ;;
  *) python3 scripts/theory/verdicts.py list "${results[@]}" ;;
esac
