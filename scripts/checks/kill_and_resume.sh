#!/usr/bin/env bash
# Kills a small training run at random moments with SIGKILL, resumes it, and compares its files byte for byte with those
# of an undisturbed run, except for clock times.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

usage() {
  cat <<'END'
usage: scripts/checks/kill_and_resume.sh [KILLS] [PROGRAM...]
  KILLS     number of kills per program (default 200)
  PROGRAM   a program in build/release/examples (default char_transformer char_rnn)
END
}

if [[ ${1-} == -h || ${1-} == --help ]]; then
  usage
  exit
fi
kills=${1:-200}
shift $(($# > 0))
programs=("${@:-char_transformer}")
(($#)) || programs+=(char_rnn)
examples=$PWD/build/release/examples
memory=/dev/shm # a killed process loses only what it did not write, and /dev/shm makes fsync fast
[[ -w $memory ]] || memory=${TMPDIR:-/tmp}
work=$(mktemp -d "$memory/xtape-kill.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
for i in {1..300}; do echo "the $((i * i % 97)) and the $i"; done >text

declare -A sizes=([char_transformer]="--width 16 --heads 2" [char_rnn]="--hidden 16 --embedding 8")
options=(--text text --steps 60 --context 16 --batch 4 --layers 2 --dropout 0.2 --threads 1 --sample 5
  --log-interval 3 --val-interval 7 --save-interval 1)

# Prints the checksum of each file of a run, without clock times.
left() {
  (cd "$1" && sed 's/,"wall":.*//' metrics.jsonl | cksum && cksum grad_norms.csv events.jsonl weights.safetensors checkpoints/*)
}

# killed COMMAND...: starts COMMAND and kills it at a random moment. Fails if COMMAND ended before.
killed() {
  "$@" >output 2>&1 &
  local process=$!
  local moment=$((RANDOM * length / 32768)) # milliseconds
  sleep "$(printf '%d.%03d' $((moment / 1000)) $((moment % 1000)))"
  kill -9 "$process" 2>/dev/null || true
  local status=0
  wait "$process" 2>/dev/null || status=$?
  ((status == 137))
}

for program in "${programs[@]}"; do
  read -ra size <<<"${sizes[$program]}"
  start() { "$examples/$program" "${options[@]}" "${size[@]}" --out run; }
  resume() { "$examples/$program" --resume run --threads 1; }
  rm -rf run
  before=$(date +%s%N)
  start >/dev/null
  length=$((($(date +%s%N) - before) / 1000000))
  left run >undisturbed
  count=0 again=0 anew=0
  while ((count < kills)); do
    rm -rf run
    killed "$examples/$program" "${options[@]}" "${size[@]}" --out run || continue
    count=$((count + 1))
    if [[ ! -f run/run.json ]]; then # killed before the run began
      anew=$((anew + 1))
      start >output 2>&1 || { cat output && exit 1; }
    else
      if ((count % 2 == 0)) && killed "$examples/$program" --resume run --threads 1; then again=$((again + 1)); fi
      resume >output 2>&1 || { cat output && exit 1; }
    fi
    left run >disturbed
    cmp undisturbed disturbed || { echo "FAILED: $program, kill $count" && cat output && exit 1; }
    ((count % 20)) || echo "$program: $count of $kills"
  done
  echo "$program: killed $count runs of about $length ms, $again of them twice, $anew before the run began; all files equal those of the undisturbed run"
done
