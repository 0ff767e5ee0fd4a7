#!/usr/bin/env bash
# shellcheck disable=SC2016
# scripts/lint.sh on a repository without a fault, then with one of each kind.
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
source "$root/scripts/lib/packages.sh"
absent=$(missing_packages "${lint_packages[@]}")
if [[ -n $absent ]]; then
  echo "skipped: not installed: $absent"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@b
failures=0

# expect STATUS TEXT ARGUMENT...: lint.sh with the arguments must exit with the status and print a line with the text.
expect() {
  local wanted=$1 text=$2 status=0
  shift 2
  scripts/lint.sh "$@" >"$work/output" 2>&1 || status=$?
  ((status == wanted)) && grep -qF -- "$text" "$work/output" && return
  echo "FAILED: lint.sh $*: status $status, not $wanted, or no '$text' in: $(cat "$work/output")"
  failures=$((failures + 1))
}

# commit SUBJECT: everything.
commit() { git add -A && git commit -q -m "$1"; }

# fault FILE TEXT FINDING...: writes the text into the file, in which lint.sh must find just this.
findings=()
fault() {
  mkdir -p "$(dirname "$1")"
  printf '%b' "$2" >"$1"
  findings+=("${@:3}")
}

mkdir -p "$work/tree/scripts/lib" && cd "$work/tree" || exit 1
cp "$root/scripts/lint.sh" scripts/
cp "$root"/scripts/lib/{packages.sh,lint_text.py,forbidden_words.txt} scripts/lib/
cp "$root"/{.clang-format,.codespellrc} .
git init -q
printf 'int size(int negative_slope);  // of a room: "flavour"\n' >sizes.hpp
commit "Begin"
first=$(git rev-parse HEAD)

expect 0 "lint: no findings" --since "$first"
expect 0 "subjects are not checked: commit 0123456789" --since 0123456789
expect 2 "unknown argument '--fast'" --fast
expect 2 "no commit 'nothing'" --changed --base nothing

fault form.cpp 'int x;\nint  y;\n' "format: form.cpp:2: run clang-format"
fault spell.md 'It recie''ves\nthe colo''ur.\n' "spelling: spell.md:1: recie""ves ==> receives" "spelling: spell.md:2: colo""ur ==> color"
fault a.sh '#!/bin/bash\necho $1\n' "shell: a.sh:2:"
fault .ci/run '#!/usr/bin/env bash\necho $1\n' "shell: .ci/run:2:"
fault name.cpp 'int BigRoom = 1;\nint y = BigRoom;\n' "names: name.cpp:1: BigRoom, 2 times: not 'room' but module or folder"
fault name.py 'slope_of = 1  # of a room\n' "names: name.py:1: slope_of: not 'slope' but derivative"
fault "the_extent.md" 'text\n' "names: the_extent.md: the file's name has 'extent': use size or dimension"
fault text.md 'text \ntext' "text: text.md:1: white space at the end of the line" "text: text.md: no line end at the end"
fault tab.hpp 'const char* tab = "\t";\n' "text: tab.hpp:1: a tab"
fault private.md "../""shared/x\nsee /""home/me/x\npypi"".org\ncase O""-12\n" "text: private.md:1: a file outside of the repository" \
  "text: private.md:2: a path of one machine" "text: private.md:3: the host of a registry" "text: private.md:4: the number of a case"
fault syntax.py 'def f(:\n' "python: syntax.py:1:"
git add -A
expect 1 "lint: ${#findings[@]} findings" --since "$first"
for finding in "${findings[@]}"; do
  grep -qF -- "$finding" "$work/output" || { echo "FAILED: no '$finding' in: $(cat "$work/output")" && failures=$((failures + 1)); }
done
git reset -q --hard

# What --changed sees: the last commit and what is not committed, staged or untracked.
printf 'text \n' >old.md && commit "Write old.md"
printf 'text\n' >new.md && commit "Write new.md"
expect 0 "lint: no findings in 1 files" --changed --since "$first"
expect 1 "text: old.md:1" --changed --base HEAD~2 --since "$first"
printf 'text \n' >untracked.md
expect 1 "text: untracked.md:1" --changed --since "$first"
git add untracked.md
expect 1 "text: untracked.md:1" --changed --since "$first"
git rm -q --cached untracked.md && rm untracked.md
printf 'text\n' >old.md && commit "Mend old.md"

subjects=("lower case" "End with a period." "WIP" "Fixes what was broken" "$(printf 'A%.0s' {1..73})")
git commit -q --allow-empty -m "Change nothing"
for subject in "${subjects[@]}"; do git commit -q --allow-empty -m "$subject"; done
expect 1 "lint: ${#subjects[@]} findings in 0 files" --changed --since HEAD~6
git commit -q --allow-empty -m "Change nothing again"
expect 0 "lint: no findings in 0 files" --changed --since HEAD~1

((failures == 0)) && echo "all checks passed"
exit $((failures > 0))
