#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# cppcheck finds nothing.
set -eu
command -v cppcheck >/dev/null || { echo "ok - cppcheck is not installed, nothing checked # SKIP"; exit 0; }

# Without system headers cppcheck cannot know the list and JSON macros, nor which OpenSM this is.
queue=
for h in /usr/include/sys/queue.h /usr/include/*/sys/queue.h; do
	[ -e "$h" ] && queue=--include=$h
done
parts=
for d in lib daemon sim opensm-plugin perftest; do
	[ -e "$d" ] && parts="$parts $d"
done
# One process for all files also looks across them. With -j, cppcheck starts a process for each file, and all together take
# twice the time of a processor.
# shellcheck disable=SC2046 # names without spaces
cppcheck --quiet --error-exitcode=1 --std=c11 --library=posix --inline-suppr \
	--enable=warning,performance,portability --suppress=missingIncludeSystem --suppress=normalCheckLevelMaxBranches \
	-D_GNU_SOURCE --include=tests/build/cppcheck.h $queue -Iinclude -I. \
	$(find $parts -name '*.c')
echo "ok - cppcheck is silent"
