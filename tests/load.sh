#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# load.sh COMMAND...: runs the command beside as many busy loops as there are processors, or LOAD of them.
set -u
loops=()
finish() { kill "${loops[@]}" 2>/dev/null; }
trap finish EXIT
trap 'exit 130' INT TERM HUP
for ((i = ${LOAD:-$(nproc)}; i > 0; i--)); do
	# A loop ends with its parent, however that ends.
	(while kill -0 $$ 2>/dev/null; do for ((n = 0; n < 100000; n++)); do :; done; done) &
	loops+=($!)
done
"$@" &
command=$!
rc=0
wait "$command" || rc=$?
read -r load _ </proc/loadavg
echo "beside ${#loops[@]} busy loops, load $load in the last minute"
exit "$rc"
