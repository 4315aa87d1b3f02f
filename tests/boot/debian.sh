#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# debian.sh BUILD-DIR: README's two commands on Debian's other releases, by an ordinary user without sudo on a system that
# has the packages. By RELEASES="trixie" on those; by WHAT=part with some of the tests instead of all.
# Runs as root on Debian; skipped elsewhere, and where no such system can be made.
set -u
B=$1
case $B in /*) ;; *) B=$PWD/$B ;; esac
top=$(cd "$(dirname "$0")/../.." && pwd)
dir=$B/debian
root=
# shellcheck source=tests/boot/root.sh
. "$top/tests/boot/root.sh"

skip() { printf 'ok - no test on another release: %s # SKIP\n' "$WHY"; exit 0; }
cleanup()
{
	trap - EXIT INT TERM
	[ -z "$root" ] || rm -rf --one-file-system "$root"
}
trap cleanup EXIT
trap 'exit 1' INT TERM

may_make_roots || skip
mkdir -p "$dir"
install_missing "$dir/apt.log" mmdebstrap || skip
here=$(. /etc/os-release && echo "$VERSION_CODENAME")
packages=make,$(sh "$top/tests/build/deps.sh" --list | tr ' ' ,)

for release in ${RELEASES:-bookworm trixie}; do
	[ "$release" != "$here" ] || [ -n "${RELEASES-}" ] || continue
	make_root "$release" "$dir/$release.tar" "$packages" || skip
	root=$dir/$release
	user_root "$dir/$release.tar" "$root" "$top" || exit 1
	echo "Debian $release, an ordinary user:"
	by_user "$root" "make -j$(nproc) demo" && by_user "$root" "make -j$(nproc) check" || { echo "not ok - Debian $release"; exit 1; }
	echo "ok - Debian $release"
	rm -rf --one-file-system "$root"
	root=
done
