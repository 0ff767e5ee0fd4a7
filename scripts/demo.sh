#!/usr/bin/env bash
# Installs missing packages, builds the example, gets the text, and trains a small transformer on it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/lib/packages.sh

usage() {
  cat <<'END'
usage: scripts/demo.sh [OPTION...]
Installs missing Debian packages (as root or with sudo), builds, and trains a character transformer on the King James
Bible for about three minutes. The run is left in runs/demo-TIME, with its report.html.
  OPTION   handed to the example, for example --steps 500, --seed 1, --out DIRECTORY;
           build/release/examples/char_transformer --help lists them all
END
}

if [[ ${1-} == -h || ${1-} == --help ]]; then
  usage
  exit
fi
ensure_packages "${build_packages[@]}" "${kjv_packages[@]}"
cmake --preset release
cmake --build --preset release -j "$(nproc)" --target char_transformer xtape
scripts/get_data.sh kjv
run="runs/demo-$(date -u +%Y%m%d-%H%M%S)"
options=(--text datasets/kjv.txt --out "$run" "$@")
# --out and --resume choose another directory for the run.
for ((i = 0; i < ${#options[@]}; ++i)); do
  case "${options[i]}" in
    --out | --resume) run=${options[i + 1]-} ;;
    --out=* | --resume=*) run=${options[i]#*=} ;;
    --help | -h | --evaluate | --evaluate=*) run="" ;;
  esac
done
build/release/examples/char_transformer "${options[@]}"
[[ -n $run ]] || exit 0
report=$(build/release/inspect/command/xtape report "$run")
echo "The report is $report: open it in a browser"
