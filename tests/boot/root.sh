# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Sourced by what needs another Debian system in a folder: made by mmdebstrap, from where this machine's apt has its
# packages. Runs as root on Debian. B is the build folder.
# shellcheck shell=bash disable=SC2034 # for scripts that source it

WHY= # why a function failed, for people

# may_make_roots: whether there can be any here.
may_make_roots()
{
	WHY=
	if [ "$(id -u)" != 0 ]; then
		WHY="this is not root"
	elif ! command -v dpkg >/dev/null; then
		WHY="this is no Debian system"
	elif ! unshare --mount --pid --fork --uts --ipc --net true 2>/dev/null; then
		WHY="there are no namespaces to be had"
	fi
	[ -z "$WHY" ]
}

# install_missing LOG PACKAGE...: those that are not installed. One at a time does so, for apt refuses a second.
install_missing()
{
	local log=$1 missing='' p
	shift
	for p; do
		[ "$(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null)" = installed ] || missing="$missing $p"
	done
	[ -n "$missing" ] || return 0
	WHY="these packages are missing, and only root can install them:$missing"
	[ "$(id -u)" = 0 ] || return 1
	WHY="these packages cannot be installed:$missing"
	# shellcheck disable=SC2086
	flock "$B/apt.lock" sh -c '
		apt-get -q update
		DEBIAN_FRONTEND=noninteractive apt-get -q -y install --no-install-recommends "$@"' - $missing \
		>"$log" 2>&1 </dev/null
}

# make_root RELEASE FILE.tar PACKAGE,...: kept for the next time, and made again when other packages are asked for.
make_root()
{
	local release=$1 file=$2 packages=$3 mirror
	[ ! -s "$file" ] || [ "$release $packages" != "$(cat "$file.needs" 2>/dev/null)" ] || return 0
	mirror=$(. /etc/os-release && apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' \
		"Codename: $VERSION_CODENAME" | sort -u | head -n 1)
	rm -f "$file" "$file.needs"
	WHY="no system of Debian's $release could be made with mmdebstrap"
	# Its packages come without manuals, and its files are not forced to the disk. What is installed later has its pages.
	timeout -k 10 400 mmdebstrap --variant=minbase --include="$packages" --dpkgopt=force-unsafe-io \
		--dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/doc/*' \
		--dpkgopt='path-exclude=/usr/share/locale/*' \
		--customize-hook='rm "$1/etc/dpkg/dpkg.cfg.d/99mmdebstrap"' \
		"$release" "$file" ${mirror:+"$mirror"} >"$file.log" 2>&1 </dev/null || {
		tail -n 3 "$file.log"
		rm -f "$file"
		return 1
	}
	echo "$release $packages" >"$file.needs"
}

# user_root TAR FOLDER SOURCES: that system in a folder, with an ordinary user, in whose home the sources are.
user_root()
{
	rm -rf --one-file-system "$2"
	mkdir -p "$2" && tar -xf "$1" -C "$2" && chroot "$2" useradd -m -u 1000 -s /bin/bash user &&
		mkdir "$2/home/user/ibcc-tune" &&
		tar -C "$3" --exclude=./build --exclude=./.git -cf - . | tar -xf - -C "$2/home/user/ibcc-tune" &&
		chroot "$2" chown -R 1000:1000 /home/user
}

# by_user FOLDER COMMAND: in the sources there, by that user, whose PATH is that of Debian's /etc/login.defs. What is
# mounted for it is so in a namespace that ends with its processes.
by_user()
{
	# shellcheck disable=SC2016
	unshare --mount --propagation private sh -c 'mount --rbind /dev "$1/dev" && mount --rbind /proc "$1/proc" &&
		exec chroot "$1" setpriv --reuid 1000 --regid 1000 --clear-groups env -i HOME=/home/user USER=user \
		PATH=/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games sh -c "cd ~/ibcc-tune && $2"' - "$1" "$2" </dev/null
}
