# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# Names, defaults and limits of an adapter's algorithms, from a file with the output of mstreg: without a fabric and a
# configuration.
. "$(dirname "$0")/lib.sh"

files=$top/tests/fuzz/corpus/ppcc
show() { within 20 "$IBCC_BUILD/ibcc-tune" show --ppcc "$@"; }
show "$files/full" >"$TMP/show.log" || fail "show --ppcc"
check "the algorithms are listed" grep -qE '^ +0 +2 1\.3 +yes +ZTR_RTTCC RTT based control$' "$TMP/show.log"
check "with their parameters" grep -qE '^ +0 +0 AI +36 +5 +1 +1000 write +additive increase in Mb/s$' "$TMP/show.log"
check "and how many are not at their default" grep -q '^1 parameter has another value than the default\.$' "$TMP/show.log"
show "$files/full" -j >"$TMP/show.json" || fail "show --ppcc -j"
equal "the same in JSON" "$(jq -c '[.algorithms[] | [.slot, .algorithm, .version, .enabled, .name, (.parameters | map([.name, .value, .default,
	.min, .max, .access]))]]' "$TMP/show.json")" \
	'[[0,2,"1.3",true,"ZTR_RTTCC",[["AI",36,5,1,1000,"write"],["HAI",50,50,1,10000,"read"]]],[1,7,"0.1",false,"DCQCN",[]]]'
show "$files/full" --csv --columns PARAMETER,MAX >"$TMP/show.csv" || fail "show --csv"
check "as CSV" grep -q '^AI,1000' "$TMP/show.csv"
show "$files/collected" -j >"$TMP/show.json" || fail "show --ppcc -j"
equal "by the name of a support collector's file" "$(jq -c '.algorithms[] | [.slot, .parameters[].index]' "$TMP/show.json")" '[3,2]'
show "$files/damaged" >"$TMP/damaged.log" 2>&1
equal "a damaged file is refused" $? 1
check "with the place" grep -q 'damaged:4:9: got "0xg", want 0x and up to 8 hexadecimal digits' "$TMP/damaged.log"
show "$TMP" >"$TMP/folder.log" 2>&1
equal "so is what is no file" $? 1
show "$files/full" --odd >"$TMP/odd.log" 2>&1
equal "and another option of show" $? 1
check "with the reason" grep -q 'leave out nodes, --odd and --full' "$TMP/odd.log"
