#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# The texts of all messages of the daemon and the command line, each once, one a line: the formats that are given to
# tune_fail(), ibcc_log(), ibcc_log_of() and ibcc_why_set(). Of a choice between two texts it sees the first.
set -eu
find daemon lib -name '*.c' | LC_ALL=C sort | while read -r f; do
	tr '\n\t' '  ' <"$f"
	echo
done | grep -oP '\b(tune_fail|ibcc_log|ibcc_log_of|ibcc_why_set)\((?:[^";()]|\((?:[^";()]|\([^"()]*\))*\))*"(?:\\.|[^"\\])*"(?: *(?:PRI[a-z0-9]+)? *"(?:\\.|[^"\\])*")*' |
	sed 's/\\"/\x01/g; s/^[^"]*"//; s/" *PRI[a-z0-9]* *"//g; s/" *"//g; s/"$//; s/\x01/"/g' | LC_ALL=C sort -u
