#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Every header compiles alone.
set -eu
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
for h in include/ibcc/*.h; do echo "#include <ibcc/${h##*/}>" >"$tmp/${h##*/}.c"; done
${CC:-cc} -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -Iinclude -fsyntax-only "$tmp"/*.c ||
	{ echo "not ok - a header does not compile alone"; exit 1; }
for h in include/ibcc/*.h; do echo "ok - $h compiles alone"; done
