# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# As test_likeness.sh, of fabrics with more than one way from host to host.
. "$(dirname "$0")/lib.sh"
. "$top/tests/system/likeness/checks.sh"

for name in ${LIKENESS:-voltaire director torus}; do run_likeness "$name"; done
