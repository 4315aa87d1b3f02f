# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# As test_likeness.sh, of the one with 622 nodes.
. "$(dirname "$0")/lib.sh"
. "$top/tests/system/likeness/checks.sh"

for name in ${LIKENESS:-quantum2}; do run_likeness "$name"; done
