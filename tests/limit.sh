#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# limit.sh SECONDS COMMAND...: runs the command, and ends it with all that it has started if it takes too long: three times
# the seconds, of which one counts for less while others have the processors (wait_until of tests/wait.sh).
set -u
# A process group of its own, which can be ended.
set -m
# shellcheck source=tests/wait.sh
. "$(dirname "$0")/wait.sh"
seconds=$1
shift
gone() { ! kill -0 "$1" 2>/dev/null; }
end() { kill -"$1" -- "-$pid" 2>/dev/null; }

"$@" &
pid=$!
trap 'end TERM; wait_until 20 gone "$pid" || end KILL; exit 130' INT TERM HUP
if wait_until "$seconds" gone "$pid"; then
	wait "$pid"
	exit
fi
echo "not ok - it was ended after $((3 * seconds)) s and more: $*"
end TERM
wait_until 20 gone "$pid"
end KILL # what is left of its group
exit 124
