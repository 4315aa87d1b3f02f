# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# The metrics of a daemon at work on a fabric: true, well-formed, and without a MAD for a scrape.
. "$(dirname "$0")/lib.sh"

port=$((20000 + $$ % 10000))
page()
{
	exec 3<>"/dev/tcp/127.0.0.1/$port" || return 1
	printf 'GET %s HTTP/1.0\r\n\r\n' "$1" >&3
	timeout 20 cat <&3 | tr -d '\r' >"$TMP/page"
	exec 3>&-
	sed '1,/^$/d' "$TMP/page" >"$TMP/body"
	head -n 1 "$TMP/page" | grep -q " $2 "
}
mads() { sim stats -j | jq '[.rows[].count] | add'; }

start_sim "$SCENARIO"
start_opensm --plugin 'sweep_interval 0' # its own MADs are not to be counted
start_tuned 'mode: apply' "metrics_listen: $port" "metrics_file: $TMP/ibcc.prom" 'compat_names: true'
wait_until 60 page /readyz 200 || fail "not ready: $(cat "$TMP/body")"
ok "ready when a pass came to a decision"
settled() { page /metrics 200 && grep -q '^ibcc_writes_total{outcome="verified"} [1-9]' "$TMP/body"; }
wait_until 60 settled || fail "no write is told"
for line in 'ibcc_plugin_connected 1' 'ibcc_sm_state{state="MASTER"} 1' 'ibcc_mode_apply 1' 'ibcc_nodes{type="switch"} 2' \
	'ibcc_port_ccti_timer_seconds{.*} 0\.0000[0-9]*' 'ibcc_port_marking_threshold{.*} [1-9][0-9]*' \
	'ibcc_node_info{guid=".*",node="leaf2",type="switch",lid="[0-9]*"} 1' \
	'infiniband_switch_port_transmit_data_bytes_total{.*} [1-9][0-9]*' \
	'ibcc_port_becn_received_total{.*} [0-9]*'; do
	grep -q "^$line\$" "$TMP/body" || fail "no line $line"
done
ok "what the daemon sees and sets is told"
check "and that it is well" page /healthz 200
grep -q '^ibcc_state{state="ok"} 1$' "$TMP/ibcc.prom" || grep -q '^ibcc_passes_total ' "$TMP/ibcc.prom" ||
	fail "no file for node_exporter"
equal "all may read the file" "$(stat -c %a "$TMP/ibcc.prom")" 644
if command -v promtool >/dev/null; then
	cp "$TMP/body" "$TMP/metrics.txt"
	page /metrics 200
	# Its advice on names is heard for ours; the others are not ours to choose.
	grep -v infiniband_ "$TMP/body" | promtool check metrics >"$TMP/lint" 2>&1 || fail "promtool: $(cat "$TMP/lint")"
	ok "promtool finds nothing"
fi

# No pass for a while, then a scrape costs nothing.
stop "$TUNED_PID"
[ ! -e "$TMP/ibcc.prom" ] || fail "the file is still there"
ok "a daemon that ends takes its file along"
write_config "metrics_listen: $port"
sed -i 's/^interval_ms: .*/interval_ms: 3600000/' "$TMP/tuned.yaml"
background "$TMP/tuned.log" "$IBCC_BUILD/ibcc-sim" exec --name "$SIM" -- "$IBCC_BUILD/ibcc-tuned" -z "$TMP/tuned.yaml"
wait_until 20 page /metrics 200 || fail "no metrics"
quiet() { local n; n=$(mads); sleep 1; [ "$n" = "$(mads)" ]; }
wait_until 20 quiet || fail "the fabric does not come to rest"
before=$(mads)
for _ in 1 2 3; do page /metrics 200 && page /healthz 200; done
sleep 1.2
page /metrics 200
equal "a scrape sends no MAD" "$(mads)" "$before"
