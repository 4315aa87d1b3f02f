#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Installs the Debian packages that build, tests and demo need. Does nothing when all are there. --list prints them.
set -eu

build="build-essential libcrypt-dev libibumad-dev libibmad-dev libibverbs-dev librdmacm-dev libopensm-dev libyaml-dev libjansson-dev
libsystemd-dev libmicrohttpd-dev libseccomp-dev libsmartcols-dev libsqlite3-dev"
tests="libcmocka-dev ibverbs-utils opensm ibsim-utils infiniband-diags jq gojq cppcheck mandoc cmark-gfm"

# shellcheck disable=SC2086
[ "${1-}" != --list ] || { echo $build $tests; exit 0; }
missing=
for p in $build $tests; do
	s=$(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null || :)
	[ "$s" = installed ] || missing="$missing $p"
done
[ -n "$missing" ] || exit 0

if ! command -v apt-get >/dev/null; then
	echo "deps: this is no Debian system; please install the equivalents of:$missing" >&2
	exit 1
fi
if [ "$(id -u)" = 0 ]; then
	as_root=
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
	as_root=sudo
else
	echo "deps: these packages are missing; please run as root:" >&2
	echo "  apt-get update && apt-get install --no-install-recommends$missing" >&2
	exit 1
fi
echo "deps: installing$missing"
# An installed opensm or ibsim must not start services on this machine.
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get -q update >/dev/null || echo "deps: apt-get update failed, trying with the lists at hand" >&2
# shellcheck disable=SC2086
$as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y install --no-install-recommends $missing >/dev/null
