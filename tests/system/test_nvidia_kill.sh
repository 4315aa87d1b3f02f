# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# The daemon is killed at random moments while it writes marking profiles of NVIDIA's switches. After the restart the books and
# the fabric must agree, and a rollback, or the end of the daemon, must bring back every bit from before.
#
# IBCC_KILLS: how often (default 2; `make check-kill` takes 50). IBCC_SEED: of the moments; printed.
. "$(dirname "$0")/lib.sh"

KILLS=${IBCC_KILLS:-2}
SEED=${IBCC_SEED:-$((($(date +%s) + $$) % 32768))}
RANDOM=$SEED
echo "seed $SEED"
DELAY_US=60000

sed 's/buffer_bytes: 1048576/buffer_bytes: 131072/; s/{min: 100000, max: 400000, percent: 20}/{min: 1000000, max: 1040000, percent: 1}/' \
	"$top/perftest/scenarios/hdr-ndr.yaml" >"$TMP/late.yaml"
echo 'mlnx_congestion_control 0' >"$TMP/nvidia.conf"
start_sim "$TMP/late.yaml"
start_opensm
stock ibnetdiscover >"$TMP/discovered"
lid() { sed -n "s/^Switch.*# \"$1\" .* lid \([0-9]*\) .*/\1/p; s/.*\"$1\" lid \([0-9]*\) .*/\1/p" "$TMP/discovered" | head -n 1; }
lid=$(lid q2)
nvidia_sm() { stock "$IBCC_BUILD/tests/system/nvidia_sm" "$@"; }
nvidia_sm change "$lid" 0 0xff09 1 byte0=0x2a byte40=0x5a byte63=0xa5 >"$TMP/tool.log" || fail "change"
registers() { local port; for port in 1 2 3 4 8; do nvidia_sm show "$lid" 0 0xff09 $port; done; }
# PortXmitWait of the ports that are blocked is at the end of its 32 bits after a minute or two.
clear_waits()
{
	local at
	for at in 'q2 1' 'q1 8' 'h1 1' 'h2 1' 'h3 1' 'h4 1'; do
		stock perfquery -R "$(lid "${at% *}")" "${at#* }" >"$TMP/tool.log" 2>&1 || fail "perfquery -R"
	done
}
start() { start_tuned 'apply_via: direct' 'vendor_writes: experimental' "vendor_opensm_conf: $TMP/nvidia.conf"; }
planned() { tune plan -j --skip-unsupported >"$TMP/plan.json" 2>/dev/null; jq -e '.writes == 1' "$TMP/plan.json"; }
newest() { tune history -j --limit 1 2>/dev/null | jq '.transactions[0].id // 0'; }
settled() { tune history "$1" -j >"$TMP/txn.json" 2>/dev/null &&
	jq -e '.transaction | .outcome != "open" and all(.change_list[]; .outcome != "pending")' "$TMP/txn.json"; }
# The register of port 1 by the books: what was verified was made to it, in this order.
by_the_books()
{
	"$IBCC_BUILD/tests/system/book_reader" "$TMP/state.db" 1 >"$TMP/book.json" || fail "book_reader"
	jq -sr --arg reg "$(echo "$before" | head -n 1)" 'reduce (.[] | select(.outcome == "verified" and .attribute_id == 65289 and
		.attribute_modifier == 1)) as $w ($reg; $w.new[:128])' "$TMP/book.json"
}
agrees() { [ "$(registers | head -n 1)" = "$(by_the_books)" ]; }

start
before=$(registers)
made=0
for ((round = 1; round <= KILLS; round++)); do
	clear_waits
	wait_until 60 planned || fail "$round: nothing to write: $(cat "$TMP/plan.json")"
	last=$(newest)
	sim set mad_delay_us=$DELAY_US >/dev/null
	sets=$(set_mads)
	if ((round % 3 == 0)); then
		# at any moment from the request on: before the Set, too
		timeout 60 "$IBCC_BUILD/ibcc-tune" -z "$TMP/cli.yaml" apply --no-wait --skip-unsupported -y >"$TMP/push.log" 2>&1 &
		pusher=$!
		sleep "$(printf '%d.%03d' $((RANDOM % 2)) $((RANDOM % 1000)))"
	fi
	for ((try = 0; round % 3 && try < 5; try++)); do
		timeout 60 "$IBCC_BUILD/ibcc-tune" -z "$TMP/cli.yaml" apply --no-wait --skip-unsupported -y >"$TMP/push.log" 2>&1 &
		pusher=$!
		while alive "$pusher"; do [ "$(set_mads)" -gt "$sets" ] && break 2; done
	done
	if ((round % 3)); then
		[ "$(set_mads)" -gt "$sets" ] || fail "$round: the write does not begin: $(cat "$TMP/push.log")"
		sleep "$(printf '0.%03d' $((RANDOM % 200)))"
	fi
	kill -KILL "$TUNED_PID"
	wait "$TUNED_PID" 2>/dev/null
	wait "$pusher" 2>/dev/null
	sim set mad_delay_us=0 >/dev/null
	clear_waits
	start
	wait_until 60 status '.state == "ok"' || fail "$round: no recovery: $(jq -c '[.state, .reason]' "$TMP/status.json")"
	id=$(newest)
	[ "$id" != "$last" ] || [ "$(set_mads)" = "$sets" ] || fail "$round: a Set was sent, and the history does not have it"
	[ "$id" = "$last" ] || wait_until 60 settled "$id" || fail "$round: transaction $id stays open: $(cat "$TMP/txn.json")"
	wait_until 60 agrees || fail "$round: by the books $(by_the_books), on the fabric $(registers | head -n 1)"
	[ "$(registers)" = "$before" ] || made=$((made + 1))
	if ((round % 2)); then
		tune rollback -y >"$TMP/rollback.log" 2>&1 || fail "$round: rollback: $(cat "$TMP/rollback.log")"
	else
		stop "$TUNED_PID"
		clear_waits
		start
	fi
	[ "$(registers)" = "$before" ] || fail "$round: before $before, and now $(registers)"
	ok "kill $round: books and fabric agree, and every bit from before comes back"
done
echo "# $made of $KILLS writes were on the fabric after the kill"
