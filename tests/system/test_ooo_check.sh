#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# ibcc-tune ooo-check on trees that look like the kernel's: what is counted, what is unknown, what is broken.
. "$(dirname "$0")/lib.sh"

: >"$TMP/empty.yaml"
check_host() { timeout 20 "$IBCC_BUILD/ibcc-tune" -z "$TMP/empty.yaml" --sysfs-root "$TMP" ooo-check "$@"; }

# port DEVICE PORT RECEIVED [COUNTER=VALUE]...
port()
{
	local p=$TMP/sys/class/infiniband/$1/ports/$2 c
	mkdir -p "$p/counters" "$p/hw_counters"
	echo "$3" >"$p/counters/port_rcv_packets"
	for c in "${@:4}"; do
		echo "${c#*=}" >"$p/hw_counters/${c%%=*}"
	done
}

rc=0
check_host >"$TMP/out" 2>"$TMP/err" || rc=$?
equal "a host without adapters is an error" "$rc" 1
check "which is told" grep -q 'sys/class/infiniband: found no InfiniBand adapter' "$TMP/err"

port mlx5_0 1 2000000 out_of_sequence=50 packet_seq_err=3 implied_nak_seq_err=0 duplicate_request=7
port mlx5_0 2 0 out_of_sequence=0 packet_seq_err=0 implied_nak_seq_err=0 duplicate_request=0
port qib0 1 5000
port odd 1 'N/A' out_of_sequence=-1 packet_seq_err=12x implied_nak_seq_err= \
	duplicate_request=99999999999999999999
check "answers in JSON" check_host -j
check_host -j >"$TMP/out"
check "a port with all counters" jq -e '.schema == 1 and (.ports | length == 4) and (.ports[] |
	select(.device == "mlx5_0" and .port == 1) | .received_packets == 2000000 and .out_of_sequence == 50 and
	(.out_of_sequence_share - 0.000025 | fabs) < 1e-12 and .packet_seq_err == 3 and .implied_nak_seq_err == 0 and
	.duplicate_request == 7)' "$TMP/out"
check "of nothing received there is no share" jq -e '.ports[] | select(.device == "mlx5_0" and .port == 2) |
	.out_of_sequence == 0 and .out_of_sequence_share == null' "$TMP/out"
check "what is not there is unknown, not zero" jq -e '.ports[] | select(.device == "qib0") |
	.received_packets == 5000 and .out_of_sequence == null and .out_of_sequence_share == null and
	.packet_seq_err == null' "$TMP/out"
check "so is what is no number" jq -e '.ports[] | select(.device == "odd") | [.received_packets,
	.out_of_sequence, .packet_seq_err, .implied_nak_seq_err, .duplicate_request] | all(. == null)' "$TMP/out"
check_host >"$TMP/out"
check "the table has the share" grep -Eq '^mlx5_0/1 +2000000 +50 +25 +3 +0 +7' "$TMP/out"
check "and says unknown" grep -Eq '^qib0/1 +5000 +unknown +unknown' "$TMP/out"

mkdir "$TMP/sys/class/infiniband/broken"
check_host >"$TMP/out" 2>"$TMP/err"
check "a device without ports keeps none of the others back" grep -q '^mlx5_0/1' "$TMP/out"
check "and is told" grep -q 'broken: its ports cannot be read: No such file' "$TMP/err"
