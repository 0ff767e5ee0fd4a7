#!/usr/bin/env bash
# Shows that two builds compute the same bits: runs small trainings with fixed seeds from both and compares what they
# leave byte for byte (what depends on the clock left out), then compares the machine code of the kernels.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

usage() {
  cat <<'END'
usage: scripts/checks/same_bits.sh OLD_BUILD NEW_BUILD
  OLD_BUILD, NEW_BUILD   build directories of two commits, both of preset release (float) or of preset f64 (double), with
                         the targets char_rnn char_transformer classify_verses digits forecast pronounce
END
}

if [[ ${1-} == -h || ${1-} == --help ]]; then
  usage
  exit
fi
(($# == 2)) || { usage >&2 && exit 2; }
declare -A builds
builds[old]=$(realpath -e "$1")
builds[new]=$(realpath -e "$2")
checks=$PWD/scripts/checks
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# The data: a text, images of noise with two bright pixels, hourly temperatures, a lexicon, verses and their references.
for i in {1..300}; do echo "the $((i * i % 97)) and the $i"; done >text
for ((i = 0, x = 7; i < 300; i++)); do
  line=
  for ((p = 0; p < 64; p++)); do
    x=$(((x * 1103515245 + 12345) % 2147483648))
    line+=$(((p - i % 47 == 0 || p - i % 47 == i % 10 + 1) ? 16 : x / 65536 % 3)),
  done
  echo "$line$((i % 10))"
done >digits
awk 'BEGIN { print "time,temp"
  for (i = 0; i < 1500; i++) printf "%d,%.3f\n", i, 50 + 5 * sin(i / 3.82) + 10 * sin(i / 19.1) + i * i % 13 / 20 }' >temperatures
{
  echo MNCL
  for w in {a..e}{a..e}{a..e}; do echo "(\"$w\" nil (((${w:0:1}h ${w:1:1}h ${w:2:1}h ) 1)))"; done
} >lexicon
words=(man king god man)
echo $'book\tchapter\tverse' >references
for book in {1..66}; do
  for chapter in {1..6}; do
    for verse in 1 2; do
      echo "and the ${words[book % 3]} saw the ${words[book % 3 + 1]} in the $((verse * book % 7))"
      printf 'B%d\t%d\t%d\n' "$book" "$chapter" "$verse" >>references
    done
  done
done >verses

common="--threads 2 --seed 3 --log-interval 3"
language="--text text --steps 20 --context 16 --batch 4 --layers 2 --dropout 0.2 --val-interval 7 --save-interval 10"
pairs="--lexicon lexicon --steps 10 --width 16 --heads 2 --layers 1 --batch 8 --dropout 0.1 --validation 5 --held-out 20"
runs=(
  "softmax char_transformer $language --width 16 --heads 2"
  "rotary char_transformer $language --width 16 --heads 2 --positions rotary --attention gqa"
  "features char_transformer $language --width 16 --heads 2 --attention prf"
  "lstm char_rnn $language --cell lstm --hidden 24"
  "gru char_rnn $language --cell gru --hidden 24"
  "rnn char_rnn $language --cell rnn --hidden 24 --weight-decay 0.1"
  "batch_norm digits --data digits --steps 30 --batch 16 --hidden 24 --norm batch"
  "layer_norm digits --data digits --steps 30 --batch 16 --hidden 24 --norm layer"
  "verses classify_verses --text verses --references references --steps 10 --width 16 --heads 2 --layers 1 --batch 16"
  "pairs pronounce $pairs --model transformer"
  "attention_rnn pronounce $pairs --model rnn"
  "series forecast --data temperatures --steps 15 --hidden 12 --batch 16"
)

# train OLD_OR_NEW NAME PROGRAM OPTION...: a run whose directory keeps what does not depend on clock and machine.
train() {
  local out=$1/$2 binary
  binary=$(find "${builds[$1]}/examples" -name "$3" -type f -executable)
  [[ -n $binary ]] || { echo "error: ${builds[$1]} has no program $3" >&2 && exit 2; }
  "$binary" "${@:4}" --out "$out" >output 2>&1 || { cat output >&2 && exit 2; }
  sed -i 's/,"wall":.*//' "$out/metrics.jsonl"
  rm -rf "$out"/run.json "$out/.lock" "$out"/events.out.tfevents.* "$out/flight"
  sed -nE '/^A sample:/,$p; /[0-9] %/s/[^0-9. ]+//gp' output >"$out/result"
}

isas=(plain)
[[ $(uname -m) == x86_64 ]] && isas+=(v3 v4)
failures=0
for isa in "${isas[@]}"; do
  export XTAPE_ISA=$isa
  case $isa in v3) flag=avx2 ;; v4) flag=avx512vl ;; *) flag= ;; esac
  grep -qw -- "$flag" /proc/cpuinfo || { echo "runs with $isa: NOT RUN, this machine has no $flag" && continue; }
  for run in "${runs[@]}"; do
    read -r name program options <<<"$run"
    read -ra options <<<"$options $common"
    train old "$name" "$program" "${options[@]}"
    train new "$name" "$program" "${options[@]}"
    if diff -rq "old/$name" "new/$name" >different; then
      echo "run $isa $name ($program): $(find "old/$name" -type f | wc -l) files identical"
    else
      echo "run $isa $name ($program): DIFFERENT" && sed 's/^/  /' different
      failures=$((failures + 1))
    fi
    rm -r old new
  done
done

python3 "$checks/isa_code.py" "${builds[old]}" "${builds[new]}" || failures=$((failures + 1))
((failures == 0)) || { echo "FAILED: the builds differ" && exit 1; }
echo "the builds compute the same bits"
