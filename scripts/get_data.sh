#!/usr/bin/env bash
# Extracts a data set from a Debian package into datasets/. Keeps files that exist.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
  cat <<'END'
usage: scripts/get_data.sh NAME
Known data sets:
  kjv   the King James Bible, 4.1 MB of English: datasets/kjv.txt, one verse a line,
        and datasets/kjv.refs.tsv, book, chapter and verse of each line (Debian package bible-kjv)
  cmu   the CMU pronouncing dictionary, 106,000 English words with their sounds, as a Festival
        lexicon: datasets/cmudict.out (Debian package festlex-cmu)
  digits  1797 handwritten digits of 8x8 pixels: datasets/digits.csv.gz (Debian package
        python3-sklearn)
  temperatures  8759 hourly temperatures, the averages of 30 years in Seattle:
        datasets/temperatures.csv (Debian package python3-vega-datasets)
END
}

fail() {
  echo "error: $2" >&2
  exit "$1"
}

# Writes the line of one data set to SOURCES.txt in the new directory: files, package, version, license.
note_source() {
  local files=$1 package=$2 license=$3 version
  version=$(dpkg-query -W -f='${Version}' "$package") || fail 1 "no Debian package $package is installed"
  {
    printf 'files\tpackage\tversion\tlicence\n'
    grep -v -e '^files	' -e "^$files	" datasets/SOURCES.txt 2>/dev/null || true
    printf '%s\t%s\t%s\t%s\n' "$files" "$package" "$version" "$license"
  } >"$new/SOURCES.txt"
}

get_kjv() {
  local verses=31102
  if [[ -f datasets/kjv.txt ]]; then
    echo "datasets/kjv.txt is already there"
    return
  fi
  command -v bible >/dev/null || fail 2 "the command 'bible' is missing; run: sudo apt-get install bible-kjv"
  # A valid line reads "1Chr2:3 The sons of Judah; ...". Other lines are dropped here, and the count below detects them.
  bible -f gen1:1-rev22:21 </dev/null |
    sed -nE 's/^([1-3]?[A-Za-z]+)([0-9]+):([0-9]+) (.+)$/\1\t\2\t\3\t\4/p' >"$new/verses.tsv"
  local count
  count=$(wc -l <"$new/verses.tsv")
  ((count == verses)) || fail 1 "'bible' printed $count verses, not $verses; datasets/ is left as it was"
  printf 'book\tchapter\tverse\n' >"$new/kjv.refs.tsv"
  cut -f 1-3 "$new/verses.tsv" >>"$new/kjv.refs.tsv"
  cut -f 4- "$new/verses.tsv" >"$new/kjv.txt"
  note_source "kjv.txt, kjv.refs.tsv" bible-kjv-text "public domain"
  mv "$new/kjv.refs.tsv" "$new/SOURCES.txt" datasets/
  mv "$new/kjv.txt" datasets/ # moved last: if it exists, the data set is complete
  echo "datasets/kjv.txt: $count verses, $(wc -c <datasets/kjv.txt) bytes"
}

get_cmu() {
  local source=${FESTIVAL_DICTS:-/usr/share/festival/dicts}/cmu/cmudict-0.4.out entries=105901
  if [[ -f datasets/cmudict.out ]]; then
    echo "datasets/cmudict.out is already there"
    return
  fi
  [[ -f $source ]] || fail 2 "$source is missing; run: sudo apt-get install --no-install-recommends festlex-cmu"
  local count
  count=$(grep -c '^("' "$source") || true
  ((count == entries)) || fail 1 "$source has $count entries, not $entries; datasets/ is left as it was"
  cat "$source" >"$new/cmudict.out"
  note_source "cmudict.out" festlex-cmu "CMU and University of Edinburgh, free with their notices"
  mv "$new/SOURCES.txt" datasets/
  mv "$new/cmudict.out" datasets/
  echo "datasets/cmudict.out: $count entries"
}

# copy FILE PACKAGE SOURCE LINES LICENSE: a data set that is one file of a Python package. LINES is its expected number
# of lines.
copy() {
  local file=$1 package=$2 source=${PYTHON_PACKAGES:-/usr/lib/python3/dist-packages}/$3 lines=$4 count
  if [[ -f datasets/$file ]]; then
    echo "datasets/$file is already there"
    return
  fi
  [[ -f $source ]] || fail 2 "$source is missing; run: sudo apt-get install --no-install-recommends $package"
  cat "$source" >"$new/$file"
  if [[ $file == *.gz ]]; then count=$(gzip -cd "$new/$file" | wc -l); else count=$(wc -l <"$new/$file"); fi
  ((count == lines)) || fail 1 "$source has $count lines, not $lines; datasets/ is left as it was"
  note_source "$file" "$package" "$5"
  mv "$new/SOURCES.txt" datasets/
  mv "$new/$file" datasets/
  echo "datasets/$file: $count lines"
}

get_digits() {
  copy digits.csv.gz python3-sklearn sklearn/datasets/data/digits.csv.gz 1797 "E. Alpaydin and C. Kaynak, BSD"
}

get_temperatures() {
  copy temperatures.csv python3-vega-datasets vega_datasets/_data/seattle-temps.csv 8759 "NOAA, public domain"
}

case "${1-}" in
  -h | --help) usage && exit ;;
  kjv | cmu | digits | temperatures) ;;
  *)
    echo "error: there is no data set '${1-}'" >&2
    usage >&2
    exit 2
    ;;
esac
mkdir -p datasets
new=$(mktemp -d datasets/.new.XXXXXX) # on the same file system, so that mv is a rename
trap 'rm -rf "$new"' EXIT
"get_$1"
