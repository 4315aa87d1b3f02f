# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# Fabrics like those of real sites: what stock tools and ours say of each is what follows from its cables, devices and
# flows, also while a host or a switch is silent; and the loop tunes it by its own port. LIKENESS="storage cable" runs
# only these.
. "$(dirname "$0")/lib.sh"
. "$top/tests/system/likeness/checks.sh"

for name in ${LIKENESS:-storage mixed cable sx6036}; do run_likeness "$name"; done
