#!/usr/bin/env bash
# Makes anew what the test of compatibility reads: runs of an older version, whole ones and ones stopped in the middle.
# Bits depend on the instruction set, so it is fixed.
set -euo pipefail

usage() { echo "usage: tests/compatibility/make.sh BUILD   (the build directory of the version whose files are wanted)"; }

if [[ ${1-} == -h || ${1-} == --help ]]; then
  usage
  exit
fi
(($# == 1)) || { usage >&2 && exit 2; }
build=$(realpath -e "$1")
program() { find "$build" -name "$1" -type f -executable; }
cd "$(dirname "${BASH_SOURCE[0]}")/runs"
rm -rf ./*
for i in {1..60}; do echo "the $((i * i % 97)) and the $i"; done >text

# The rate is so high that a step is skipped as a spike after the run was stopped.
lstm="--cell lstm --embedding 4 --hidden 6 --lr 1 --clip 1000 --seed 5 --on-trouble skip"
transformer="--width 4 --heads 2 --layers 1 --lr 0.02 --val-interval 20"
common="--text text --context 8 --batch 2 --dropout 0.1 --steps 36 --log-interval 16 --sample 0 --threads 1"
export XTAPE_ISA=plain XTAPE_GEMM=xtape
for name in char_rnn char_transformer; do
  options=$transformer
  [[ $name == char_rnn ]] && options=$lstm
  read -ra options <<<"$common $options"
  "$(program $name)" "${options[@]}" --out $name >/dev/null
  "$(program $name)" "${options[@]}" --out $name.stopped --stop-after 22 >/dev/null
  heads=()
  [[ $name == char_rnn ]] || heads=(--heads 2)
  "$(program $name)" --weights $name/weights.safetensors --evaluate text --threads 1 "${heads[@]}" >$name.nats
  "$(program xtape)" inspect $name --json >$name.json
done
rm -rf ./*/.lock ./*.stopped/flight char_*[nr]/{events.out.tfevents.*,checkpoints/best.safetensors} # a process; what is large
for file in ./*/events.out.tfevents.*; do mv "$file" "${file%%tfevents.*}tfevents.1.host.1"; done # without the machine's name
