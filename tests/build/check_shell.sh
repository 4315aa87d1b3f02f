#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# No warning of shellcheck in any script, where there is shellcheck.
set -eu
cd "$(dirname "$0")/../.."

scripts=$(find . -name build -prune -o -name .git -prune -o \( -name '*.sh' -o -path './.ci/run' \) -print)
for s in $scripts; do
	head -n 3 "$s" | grep -q SPDX-License-Identifier || { echo "not ok - $s: no SPDX line at its head"; exit 1; }
done
if ! command -v shellcheck >/dev/null; then
	echo "ok - scripts are not looked at: there is no shellcheck # SKIP"
	exit 0
fi
# shellcheck disable=SC2086 # names without spaces
shellcheck --severity=warning --format=gcc $scripts
echo "ok - shellcheck is silent"
