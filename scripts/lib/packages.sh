# shellcheck shell=bash disable=SC2034
# The Debian packages that the scripts need, and a function that installs them. Source this file.

# To build the library, its tests and its examples.
build_packages=(
  cmake ninja-build g++
  libxtensor-dev libxtensor-blas-dev libopenblas-dev
  librandom123-dev libspdlog-dev nlohmann-json3-dev libcli11-dev libsimdjson-dev zlib1g-dev doctest-dev libjs-chart.js
  python3
)
# The browser for the tests of the report, and the sources of locales for those of the decimal comma.
test_packages=(chromium locales)
# For the benchmark: LibTorch, the OpenMP build of OpenBLAS that LibTorch uses, and the Python driver.
bench_packages=(libtorch-dev libopenblas0-openmp python3)
# For scripts/lint.sh, and for its option --tidy.
lint_packages=(clang-format-19 codespell shellcheck git python3)
tidy_packages=(clang-tidy clang)
# For the fuzz targets.
fuzz_packages=(clang libclang-rt-dev)
# A bare system for scripts/checks/bare_debian.sh.
bare_debian_packages=(debootstrap)
# The text of the King James Bible.
kjv_packages=(bible-kjv)
# The pronouncing dictionary.
cmu_packages=(festlex-cmu)

# Prints those of the named packages that are not installed.
missing_packages() {
  local package
  for package in "$@"; do
    [[ $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || echo "$package"
  done
}

# Installs those of the named packages that are missing, as root or with a sudo that asks for no password. Otherwise
# prints the command to run and exits with status 2.
ensure_packages() {
  if ! { command -v dpkg-query && command -v apt-get; } >/dev/null; then
    echo "error: this is not Debian; install the counterparts of: $*" >&2
    exit 2
  fi
  local missing
  mapfile -t missing < <(missing_packages "$@")
  ((${#missing[@]})) || return 0
  local as_root=()
  if (($(id -u) != 0)); then
    if ! sudo -n true &>/dev/null; then
      echo "packages are missing, run: sudo apt-get update && sudo apt-get install -y --no-install-recommends ${missing[*]}" >&2
      exit 2
    fi
    as_root=(sudo -n)
  fi
  echo "Installing ${missing[*]}"
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "${missing[@]}"
}
