#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Fuzzing begins with all keys: each one that scenarios have is in some file of the corpus.
set -eu
missing=
n=0
for key in $(sed -n 's/.*IBCC_YAML_MEMBER("\([^"]*\)".*/\1/p' lib/io/scenario_*.c | sort -u); do
	n=$((n + 1))
	grep -Eqw "$key:" tests/fuzz/corpus/yaml/* || missing="$missing $key"
done
[ "$n" -gt 0 ] || { echo "not ok - no keys found"; exit 1; }
[ -z "$missing" ] || { echo "not ok - tests/fuzz/corpus/yaml has no$missing"; exit 1; }
echo "ok - the corpus has all $n keys of scenarios"
