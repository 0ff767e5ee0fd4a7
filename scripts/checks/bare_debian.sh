#!/usr/bin/env bash
# Runs a command as on a new machine: in a bare Debian of any release, which has git and no compiler, and there in a
# clone of the current commit. Needs root.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source scripts/lib/packages.sh

usage() {
  cat <<'END'
usage: scripts/checks/bare_debian.sh SUITE COMMAND...
  SUITE     the release, for example bookworm or trixie
  COMMAND   runs in the clone as root, for example scripts/test.sh --preset asan
What is not committed is not in the clone, and what the command leaves is deleted. Environment variables:
  MIRROR       where the packages come from (default: the first mirror of Debian in this machine's apt sources)
  BARE_ROOTS   directory of the bare systems, made by debootstrap once (default: xtape-bare-roots in TMPDIR or /tmp)
END
}

fail() {
  echo "error: $1" >&2
  exit 2
}

if [[ ${1-} == -h || ${1-} == --help ]]; then
  usage
  exit
fi
(($# > 1)) || { usage >&2 && exit 2; }
suite=$1
shift
[[ $suite =~ ^[a-z]+$ ]] || fail "'$suite' is not the name of a release"
(($(id -u) == 0)) || fail "only root can make and enter another system"

# Prints the mirror, from lines "URIs: MIRROR" and "deb [options] MIRROR suite".
find_mirror() {
  sed -nE 's#^(URIs:|deb( +\[[^]]*\])?) +([^ ]+/debian/?)( .*)?$#\3#p' \
    /etc/apt/sources.list /etc/apt/sources.list.d/*.{sources,list} 2>/dev/null | head -n 1 || true
}

mirror=${MIRROR:-$(find_mirror)}
[[ $mirror ]] || fail "the apt sources name no mirror of Debian; set MIRROR"
ensure_packages "${bare_debian_packages[@]}"
roots=${BARE_ROOTS:-${TMPDIR:-/tmp}/xtape-bare-roots}
mkdir -p "$roots"
work=$(mktemp -d "$roots/.new.XXXXXX")
trap 'rm -rf --one-file-system "$work"' EXIT

bare=$roots/$suite
if [[ ! -d $bare ]]; then
  echo "Making a bare $suite in $bare"
  debootstrap --variant=minbase --include=git,ca-certificates "$suite" "$work/bare" "$mirror" >"$work/log" 2>&1 ||
    { tail -n 20 "$work/log" >&2 && exit 1; }
  mv -T "$work/bare" "$bare" # last: its presence says that all is there
fi

root=$work/root
cp -a "$bare" "$root"
echo "deb $mirror $suite main" >"$root/etc/apt/sources.list"
# What this machine's apt needs to reach the mirror.
apt-config dump | grep -E '^Acquire::(https?|Check-Valid-Until|Check-Date)\b' >"$root/etc/apt/apt.conf.d/99mirror" || true
for file in resolv.conf hosts; do cp -L --remove-destination "/etc/$file" "$root/etc/"; done
mkdir -p "$root/src"
git clone --quiet --no-local . "$root/src/xtape"

# Of the environment only what concerns the network, the processor and the terminal.
mapfile -t environment < <(env | grep -iE '^(https?_proxy|no_proxy|openblas_[a-z0-9_]+|term)=' || true)
environment+=(HOME=/root "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
# A mount namespace takes its mounts with it when the command ends, however it ends. The code is that of the other shell.
# shellcheck disable=SC2016
unshare --mount --propagation private bash -euc '
  root=$1 && shift
  for directory in proc sys dev; do mount --rbind "/$directory" "$root/$directory"; done
  exec chroot "$root" env -i "$@"' bash "$root" "${environment[@]}" sh -c 'cd /src/xtape && exec "$@"' sh "$@"
