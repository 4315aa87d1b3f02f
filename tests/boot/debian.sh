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
	# What is mounted there, is so in a namespace that ends with its processes.
	[ -z "$root" ] || rm -rf --one-file-system "$root"
}
trap cleanup EXIT
trap 'exit 1' INT TERM

may_make_roots || skip
mkdir -p "$dir"
install_missing "$dir/apt.log" mmdebstrap || skip
here=$(. /etc/os-release && echo "$VERSION_CODENAME")
packages=make,$(sh "$top/tests/build/deps.sh" --list | tr ' ' ,)

# in_root COMMAND: by the user, whose PATH is that of Debian's /etc/login.defs.
in_root()
{
	# shellcheck disable=SC2016
	unshare --mount --propagation private sh -c 'mount --rbind /dev "$1/dev" && mount --rbind /proc "$1/proc" &&
		exec chroot "$1" setpriv --reuid 1000 --regid 1000 --clear-groups env -i HOME=/home/user USER=user \
		PATH=/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games sh -c "cd ~/ibcc-tune && $2"' - "$root" "$1" </dev/null
}

for release in ${RELEASES:-bookworm trixie}; do
	[ "$release" != "$here" ] || [ -n "${RELEASES-}" ] || continue
	make_root "$release" "$dir/$release.tar" "$packages" || skip
	root=$dir/$release
	rm -rf --one-file-system "$root"
	mkdir -p "$root" && tar -xf "$dir/$release.tar" -C "$root" || exit 1
	chroot "$root" useradd -m -u 1000 -s /bin/bash user
	mkdir "$root/home/user/ibcc-tune"
	tar -C "$top" --exclude=./build --exclude=./.git -cf - . | tar -xf - -C "$root/home/user/ibcc-tune"
	chroot "$root" chown -R 1000:1000 /home/user
	echo "Debian $release, an ordinary user:"
	case ${WHAT-} in
	part) # without what debuggers need, which takes long to link
		in_root "export CFLAGS=-O2 && make -j$(nproc) demo && make -j$(nproc) tests &&
			T='check_cppcheck check_lib check_headers check_osm_headers check_hardening unit/ ooo_check test_perf
				test_errors test_sbin' bash tests/run.sh build build unit system"
		;;
	*) in_root "make -j$(nproc) demo" && in_root "make -j$(nproc) check" ;;
	esac || { echo "not ok - Debian $release"; exit 1; }
	echo "ok - Debian $release"
	rm -rf --one-file-system "$root"
	root=
done
