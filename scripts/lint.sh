#!/usr/bin/env bash
# Checks format, spelling, shell scripts, names, text and the subjects of commits; clang-tidy if it is asked for.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/lib/packages.sh

# The version by whose format the tree is written; Debian 12 and 13 have it as clang-format-19.
format_version=19
# Subjects of this commit and of those before it are left as they are.
subjects_since=0853fd2973
# --tidy looks at the files changed in so many commits, the last changed first, until it has so many
# units: three minutes of two cores at most.
tidy_commits=20
tidy_units=16

usage() {
  cat <<END
usage: scripts/lint.sh [--changed] [--base REV] [--since REV] [--tidy | --tidy-all]
Installs missing Debian packages (as root or with sudo) and prints a line for each finding, then their number by kind.
Exits 1 if there is one.
  --changed     only files that differ from --base, and untracked ones
  --base REV    what --changed compares with (HEAD~1: the last commit and what is not committed)
  --since REV   check the subjects of the commits after this one ($subjects_since)
  --tidy        clang-tidy, too, on the files of the last $tidy_commits commits, the last changed first, in $tidy_units units at most
  --tidy-all    clang-tidy, too, on all files
END
}

changed=0 base=HEAD~1 tidy=
while (($#)); do
  case "$1" in
    -h | --help) usage && exit ;;
    --changed) changed=1 ;;
    --base) base=${2-} && shift $(($# > 1)) ;;
    --since) subjects_since=${2-} && shift $(($# > 1)) ;;
    --tidy | --tidy-all) tidy=${1#--} ;;
    *) echo "error: unknown argument '$1'" >&2 && usage >&2 && exit 2 ;;
  esac
  shift
done
if ((changed)) && ! git rev-parse -q --verify "$base^{commit}" >/dev/null; then
  echo "error: there is no commit '$base' to compare with; give one by --base" >&2
  exit 2
fi
ensure_packages "${lint_packages[@]}" ${tidy:+"${build_packages[@]}" "${tidy_packages[@]}"}

jobs=$(nproc)
found=$(mktemp)
trap 'rm -f "$found"' EXIT

# report KIND: takes the findings from the input, one a line.
report() { sed "s/^/$1: /" | tee -a "$found"; }
note() { echo "note: $*"; }

files() {
  if ((changed)); then
    git diff --name-only --diff-filter=d "$base"
    git ls-files --others --exclude-standard
  else
    git ls-files --cached --others --exclude-standard
  fi | sort -u | while IFS= read -r file; do [[ ! -f $file || -L $file ]] || echo "$file"; done
}
mapfile -t all < <(files)
# those [PATTERN]: the files whose names match.
those() { ((${#all[@]} == 0)) || printf '%s\n' "${all[@]}" | grep -E -- "${1-}" || true; }
# each COMMAND...: runs it on the files of the input, several at a time.
each() { xargs -r -d '\n' -P "$jobs" -n 16 "$@"; }

check_format() {
  local program
  program=$(command -v clang-format-$format_version || command -v clang-format || true)
  if [[ $("${program:-false}" --version) != *"version $format_version."* ]]; then
    note "format is not checked: that needs clang-format $format_version, not ${program:-nothing}"
    return
  fi
  # shellcheck disable=SC2016
  those '\.[ch]pp$' |
    each bash -c '"$0" --dry-run "$@" 2>&1 | grep "code should be clang-formatted" | cut -d: -f1,2 | sort -t: -k1,1 -su || true' "$program" |
    sed "s|\(.*\):.*|&: run ${program##*/} -i \1|" | sort | report format
}

check_spelling() {
  { those | xargs -r -d '\n' codespell || true; } | report spelling
}

# Files with a bash head line and no ending are scripts, too.
check_shell() {
  {
    those '\.sh$'
    those '(^|/)[^.]+$' | xargs -r -d '\n' grep -lE '^#!.*\bbash$' || true
  } | { each shellcheck --external-sources --source-path=SCRIPTDIR --format=gcc || true; } | report shell
}

check_text() {
  those | python3 scripts/lib/lint_text.py scripts/lib/forbidden_words.txt | tee -a "$found"
}

check_subjects() {
  if ! git merge-base --is-ancestor "$subjects_since" HEAD 2>/dev/null; then
    note "subjects are not checked: commit $subjects_since is not in this clone"
    return
  fi
  local hash subject
  local others="Adds Added Adding Changes Changed Changing Fixes Fixed Fixing Makes Made Making Moves Moved Moving Removes"
  others+=" Removed Removing Renames Renamed Renaming Updates Updated Updating Uses Used Using"
  git log --no-merges --format='%h %s' "$subjects_since..HEAD" | while read -r hash subject; do
    ((${#subject} <= 72)) || echo "$hash: ${#subject} characters, more than 72: $subject"
    [[ $subject == [A-Z]* ]] || echo "$hash: does not start with a capital letter: $subject"
    [[ $subject != *. ]] || echo "$hash: ends with a period: $subject"
    [[ ! ${subject,,} =~ ^(wip|fixup|squash|amend)([^a-z]|$) ]] || echo "$hash: is not finished: $subject"
    [[ " $others " != *" ${subject%% *} "* ]] || echo "$hash: is not an imperative: $subject"
  done | report subjects
}

# Whole unity files are checked: their headers, which take most of the time, are read once for ten files. Clang 14 does
# not know yet that lambdas may capture structured bindings.
check_tidy() {
  local log=build/tidy.log
  mkdir -p build
  if ! cmake -S . -B build/tidy -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_CXX_COMPILER=clang++ \
    -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON >$log 2>&1; then
    cat $log >&2
    exit 2
  fi
  {
    if [[ $tidy == tidy-all ]]; then
      python3 scripts/lib/tidy_units.py build/tidy
    else
      git log -n $tidy_commits --format= --name-only --no-renames -- '*.cpp' '*.hpp' |
        python3 scripts/lib/tidy_units.py build/tidy $tidy_units
    fi
  } | { xargs -r -d '\n' -P "$jobs" -n 1 clang-tidy -p build/tidy/units --quiet 2>>$log || true; } |
    sed -nE "/reference to local binding/d; /: (warning|error): /{s|^$PWD/||; s|^build/tidy/include/xtape/||; p}" | sort -u | report tidy
}

check_format
check_spelling
check_shell
check_text
check_subjects
[[ -z $tidy ]] || check_tidy

if [[ -s $found ]]; then
  counts=$(cut -d: -f1 "$found" | sort | uniq -c | awk '{printf "%s%s %d", sep, $2, $1; sep = ", "}')
  echo "lint: $(wc -l <"$found") findings in ${#all[@]} files after $SECONDS s: $counts"
  exit 1
fi
echo "lint: no findings in ${#all[@]} files after $SECONDS s"
