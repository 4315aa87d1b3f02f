#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# cppcheck finds nothing.
set -eu
command -v cppcheck >/dev/null || { echo "ok - cppcheck is not installed, nothing checked # SKIP"; exit 0; }
cppcheck --quiet --error-exitcode=1 --std=c11 --library=posix -j2 --inline-suppr \
	--enable=warning,performance,portability --suppress=missingIncludeSystem \
	-D_GNU_SOURCE -Iinclude -I. \
	$(find lib daemon sim opensm-plugin perftest -name '*.c')
echo "ok - cppcheck is silent"
