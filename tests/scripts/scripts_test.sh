#!/usr/bin/env bash
# shellcheck disable=SC2012,SC2016
# Tests the scripts with stand-ins for system commands, on systems where something is missing.
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

# check TEXT COMMAND...: the command must succeed.
check() {
  local text=$1
  shift
  "$@" && return
  echo "FAILED: $text (status $status; output: $(cat "$work/output"))"
  failures=$((failures + 1))
}

# run COMMAND...: runs COMMAND with $work/bin as PATH, which has stand-ins only. Sets $status; the output is in
# $work/output.
run() {
  PATH=$work/bin "$@" >"$work/output" 2>&1
  status=$?
}

# stand_in NAME: makes a command NAME whose bash code is read from standard input.
stand_in() {
  { echo "#!$BASH" && cat; } >"$work/bin/$1"
  chmod +x "$work/bin/$1"
}

says() { grep -qF -- "$1" "$work/output"; }
one_line() { (($(wc -l <"$work/output") == 1)); }
empty_directory() { [[ -z $(ls -A "$1") ]]; }

new_system() {
  rm -rf "${work:?}/bin" "$work/tree"
  mkdir -p "$work/bin" "$work/tree"
  cp -r "$root/scripts" "$work/tree/"
  local tool
  for tool in bash env cat cut dirname grep gzip mkdir mktemp mv rm sed wc; do ln -s "$(command -v $tool)" "$work/bin/"; done
  get_data=$work/tree/scripts/get_data.sh
}

# verses COUNT: makes a `bible` that prints COUNT verses.
verses() {
  stand_in bible <<<"for ((i = 1; i <= $1; i++)); do echo \"1Chr2:\$i The sons of 3:4 Judah, \$i;\"; done"
  stand_in dpkg-query <<<'echo 4.38'
}

new_system
run "$get_data"
check "no data set: exit 2" [ $status = 2 ]
check "no data set: the known ones are listed" says "kjv   the King James Bible"
run "$get_data" mnist
check "unknown data set: exit 2" [ $status = 2 ]
check "unknown data set: it is named" says "there is no data set 'mnist'"
check "unknown data set: the known ones are listed" says "kjv   the King James Bible"
run "$get_data" kjv
check "no bible: exit 2" [ $status = 2 ]
check "no bible: one line" one_line
check "no bible: the package is named" says "sudo apt-get install bible-kjv"

verses 31101
run "$get_data" kjv
check "a verse is missing: exit 1" [ $status = 1 ]
check "a verse is missing: the count is given" says "printed 31101 verses, not 31102"
check "a verse is missing: nothing is left behind" empty_directory "$work/tree/datasets"

verses 31102
printf 'files\tpackage\tversion\tlicence\nother.txt\tother\t1\tMIT\n' >"$work/tree/datasets/SOURCES.txt"
run "$get_data" kjv
check "kjv: exit 0" [ $status = 0 ]
check "kjv: text without references" [ "$(head -n 1 "$work/tree/datasets/kjv.txt")" = "The sons of 3:4 Judah, 1;" ]
check "kjv: all lines" [ "$(wc -l <"$work/tree/datasets/kjv.txt")" = 31102 ]
check "kjv: references beside it" [ "$(sed -n 3p "$work/tree/datasets/kjv.refs.tsv")" = $'1Chr\t2\t2' ]
check "kjv: its source" grep -q $'^kjv.txt, kjv.refs.tsv\tbible-kjv-text\t4.38\tpublic domain$' "$work/tree/datasets/SOURCES.txt"
check "kjv: other sources stay" grep -q $'^other.txt\tother\t1\tMIT$' "$work/tree/datasets/SOURCES.txt"
check "kjv: one head line" [ "$(grep -c '^files' "$work/tree/datasets/SOURCES.txt")" = 1 ]
check "kjv: nothing temporary is left" [ "$(ls -A "$work/tree/datasets" | wc -l)" = 3 ]
echo changed >"$work/tree/datasets/kjv.txt"
run "$get_data" kjv
check "again: exit 0" [ $status = 0 ]
check "again: nothing is done" grep -qx changed "$work/tree/datasets/kjv.txt"

# lexicon COUNT: makes a Festival dictionary with COUNT entries.
lexicon() {
  mkdir -p "$work/dicts/cmu"
  for ((i = 0; i < $1; i++)); do echo '("cat" n (((k ae t) 1)))'; done >"$work/dicts/cmu/cmudict-0.4.out"
}

export FESTIVAL_DICTS=$work/dicts
run "$get_data" cmu
check "no lexicon: exit 2" [ $status = 2 ]
check "no lexicon: the package is named" says "apt-get install --no-install-recommends festlex-cmu"
lexicon 105900
run "$get_data" cmu
check "an entry is missing: exit 1" [ $status = 1 ]
check "an entry is missing: the count is given" says "has 105900 entries, not 105901"
check "an entry is missing: nothing is left behind" [ ! -e "$work/tree/datasets/cmudict.out" ]
lexicon 105901
run "$get_data" cmu
check "cmu: exit 0" [ $status = 0 ]
check "cmu: all entries" [ "$(wc -l <"$work/tree/datasets/cmudict.out")" = 105901 ]
check "cmu: its source" grep -q $'^cmudict.out\tfestlex-cmu\t4.38\t' "$work/tree/datasets/SOURCES.txt"
check "cmu: other sources stay" grep -q $'^other.txt\tother\t1\tMIT$' "$work/tree/datasets/SOURCES.txt"
run "$get_data" cmu
check "cmu again: exit 0" [ $status = 0 ]
unset FESTIVAL_DICTS

# digits COUNT and temperatures COUNT: make the files of Python packages with COUNT lines.
export PYTHON_PACKAGES=$work/python
digits() { for ((i = 0; i < $1; i++)); do echo 0; done | gzip >"$PYTHON_PACKAGES/sklearn/datasets/data/digits.csv.gz"; }
temperatures() { for ((i = 0; i < $1; i++)); do echo 0; done >"$PYTHON_PACKAGES/vega_datasets/_data/seattle-temps.csv"; }
run "$get_data" digits
check "no digits: exit 2" [ $status = 2 ]
check "no digits: the package is named" says "apt-get install --no-install-recommends python3-sklearn"
mkdir -p "$PYTHON_PACKAGES/sklearn/datasets/data" "$PYTHON_PACKAGES/vega_datasets/_data"
digits 1796
run "$get_data" digits
check "a digit is missing: exit 1" [ $status = 1 ]
check "a digit is missing: the count is given" says "has 1796 lines, not 1797"
check "a digit is missing: nothing is left behind" [ ! -e "$work/tree/datasets/digits.csv.gz" ]
digits 1797
temperatures 8759
for data in digits temperatures; do
  run "$get_data" $data
  check "$data: exit 0" [ $status = 0 ]
  run "$get_data" $data
  check "$data again: nothing is done" says "is already there"
done
check "digits: its source" grep -q $'^digits.csv.gz\tpython3-sklearn\t4.38\t' "$work/tree/datasets/SOURCES.txt"
check "temperatures: the package's file" cmp "$work/tree/datasets/temperatures.csv" "$PYTHON_PACKAGES/vega_datasets/_data/seattle-temps.csv"
unset PYTHON_PACKAGES

# ensure LINE: calls ensure_packages on a system that has cmake only.
ensure() { run bash -c "set -euo pipefail; source '$root/scripts/lib/packages.sh'; ensure_packages cmake $1; echo went on"; }
new_system
stand_in dpkg-query <<<'[[ ${*: -1} == cmake ]] && echo installed'
stand_in apt-get <<<'echo "apt-get $*"'
stand_in id <<<'echo 1000'
ensure "ninja-build g++"
check "no sudo: exit 2" [ $status = 2 ]
check "no sudo: one line" one_line
check "no sudo: the line to run" says "sudo apt-get update && sudo apt-get install -y --no-install-recommends ninja-build g++"
ensure ""
check "nothing is missing: goes on" says "went on"
check "nothing is missing: nothing is installed" one_line
stand_in sudo <<<'[[ $1 == -n ]] && shift && "$@"'
ln -s "$(command -v true)" "$work/bin/true"
ensure "g++"
check "sudo: installs and goes on" says "went on"
check "sudo: what is missing only" says "apt-get install -qq -y --no-install-recommends g++"
stand_in id <<<'echo 0'
rm "$work/bin/sudo"
ensure "g++"
check "root: installs without sudo" says "apt-get install -qq -y --no-install-recommends g++"
stand_in apt-get <<<'[[ $1 != install ]]'
ensure "g++"
check "a failed installation stops" [ $status != 0 ]
rm "$work/bin/dpkg-query"
ensure "g++"
check "no Debian: exit 2" [ $status = 2 ]
check "no Debian: one line" one_line

run "$root/scripts/test.sh" --speed
check "test.sh, unknown argument: exit 2" [ $status = 2 ]
run "$root/scripts/test.sh" --preset fast
check "test.sh, unknown preset: exit 2" [ $status = 2 ]
check "test.sh, unknown preset: it is named" says "there is no preset 'fast'"
run "$root/scripts/test.sh" --preset
check "test.sh, preset without a name: exit 2" [ $status = 2 ]

run "$root/scripts/theory.sh" --fast
check "theory.sh, unknown argument: exit 2" [ $status = 2 ]
check "theory.sh, unknown argument: it is named" says "unknown argument '--fast'"
run "$root/scripts/theory.sh" --out
check "theory.sh, no directory: exit 2" [ $status = 2 ]

run "$root/scripts/checks/bare_debian.sh" trixie
check "bare_debian.sh, no command: exit 2" [ $status = 2 ]
run "$root/scripts/checks/bare_debian.sh" ../tmp true
check "bare_debian.sh, no release: exit 2" [ $status = 2 ]
check "bare_debian.sh, no release: it is named" says "'../tmp' is not the name of a release"

new_system
stand_in id <<<'echo 1000'
run "$root/scripts/checks/bare_debian.sh" trixie true
check "bare_debian.sh, not root: exit 2" [ $status = 2 ]
check "bare_debian.sh, not root: one line" one_line
stand_in apt-get <<<''
stand_in dpkg-query <<<''
for script in test demo theory; do
  run "$work/tree/scripts/$script.sh"
  check "$script.sh without sudo: exit 2" [ $status = 2 ]
  check "$script.sh without sudo: one line" one_line
  check "$script.sh without sudo: the line to run" says "sudo apt-get update && sudo apt-get install -y --no-install"
done

# If everything is installed, the demo passes its options to the example, after its own.
verses 31102
stand_in dpkg-query <<<'echo installed'
stand_in cmake <<<'echo "cmake $*"'
stand_in nproc <<<'echo 2'
stand_in date <<<'echo TIME'
mkdir -p "$work/tree/build/release/examples"
stand_in example <<<'echo "example $*"'
mv "$work/bin/example" "$work/tree/build/release/examples/char_transformer"
mkdir -p "$work/tree/build/release/inspect/command"
stand_in xtape <<<'echo "$2/report.html"'
mv "$work/bin/xtape" "$work/tree/build/release/inspect/command/xtape"
run "$work/tree/scripts/demo.sh" --steps 5
check "demo.sh: exit 0" [ $status = 0 ]
check "demo.sh: builds what it runs only" says "cmake --build --preset release -j 2 --target char_transformer xtape"
check "demo.sh: gets the text" [ -f "$work/tree/datasets/kjv.txt" ]
check "demo.sh: trains" says "example --text datasets/kjv.txt --out runs/demo-TIME --steps 5"
check "demo.sh: names its report" says "The report is runs/demo-TIME/report.html"

if ((failures)); then
  echo "$failures checks failed"
  exit 1
fi
echo "all checks passed"
