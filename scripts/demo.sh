#!/usr/bin/env bash
# Installs what is missing, builds the example, gets the text, and trains a small transformer on it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/lib/packages.sh

usage() {
  cat <<'END'
usage: scripts/demo.sh [--steps N] [OPTION...]
Trains a character transformer on the King James Bible for about three minutes, after installing missing Debian
packages (as root or with sudo) and building; leaves a run directory runs/demo-TIME.
  --steps N   training steps, 3000 if not given
  OPTION      handed to the example; build/release/examples/char_transformer --help lists them
END
}

steps=3000
options=()
while (($#)); do
  case "$1" in
    -h | --help) usage && exit ;;
    --steps) steps=${2-} && shift $(($# > 1)) ;;
    *) options+=("$1") ;;
  esac
  shift
done

ensure_packages "${build_packages[@]}" "${kjv_packages[@]}"
cmake --preset release
cmake --build --preset release -j "$(nproc)" --target char_transformer
scripts/get_data.sh kjv
out=runs/demo-$(date -u +%Y%m%d-%H%M%S)
build/release/examples/char_transformer --text datasets/kjv.txt --out "$out" --steps "$steps" "${options[@]}"
echo "The run is in $out"
