#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Every header compiles alone.
set -eu
for h in include/ibcc/*.h; do
	echo "#include <ibcc/$(basename "$h")>" |
		${CC:-cc} -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -Iinclude -x c -fsyntax-only - ||
		{ echo "not ok - $h does not compile alone"; exit 1; }
	echo "ok - $h compiles alone"
done
