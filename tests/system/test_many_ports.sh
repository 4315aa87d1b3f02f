# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# A switch of 65 ports, as Quantum-2 has: its port settings come in blocks of 32 or of 48, and of a block of 48 no
# client of this fabric gets all. Whatever cannot be read is not written, and no port but the root's is changed.
. "$(dirname "$0")/lib.sh"

# Four hosts above the first block, and two receivers: one takes a quarter of what its link carries.
{
	printf 'Switch 65 "leaf"\n'
	for i in 35 36 37 39 46 64; do printf '[%d] "h%d"[1] 4xEDR\n' $i $i; done
	for i in 35 36 37 39 46 64; do printf '\nHca 1 "h%d"\n[1] "leaf"[%d] 4xEDR\n' $i $i; done
} >"$TMP/leaf.net"
# scenario RECEIVER: three write to it, and one of them to another one as well.
scenario()
{
	cat <<-YAML
		name: leaf
		duration_ms: 100
		topology: {netfile: leaf.net}
		traffic:
		  - {name: hot, kind: hot, from: [h35, h36, h37], to: h$1}
		  - {name: victim, kind: victim, from: h35, to: h64}
		events:
		  - {sink: h$1, rate: 25000}
	YAML
}
ports() { sim settings -j | jq -c '.rows[] | select(.node == "leaf").switch.ports | map(.port)'; }

controlled() { status '.situation.code == "controlled" and .situation.roots == 1 and .situation.lacking == false and .writes_pending == 0'; }

for block in 32 48; do
	for receiver in 39 46; do
		what="blocks of $block, receiver at port $receiver"
		scenario $receiver >"$TMP/leaf.yaml"
		start_sim "$TMP/leaf.yaml" --speed 0.005
		sim set cc_port_block.leaf=$block || fail "ibcc-sim set"
		start_opensm
		rm -f "$TMP/state.db" # where a rollback has it wait
		start_tuned 'mode: apply' 'apply_via: direct'
		wait_until 60 controlled || fail "$what: $(jq -c '[.state, .reason, .decision, .writes_pending]' "$TMP/status.json")"
		ok "$what: its congestion is under control"
		# Of a block of 48 the last eight elements do not arrive, so the switch's own setting is taken instead.
		equal "$what: ports with settings of their own" "$(ports)" "$([ $block = 32 ] && echo "[$receiver]" || echo '[]')"
		check "$what: rollback" tune rollback -y
		equal "$what: none after a rollback" "$(ports)" '[]'
		stop "$TUNED_PID"
		stop "$OSM_PID"
		stop "$SIM_PID"
	done
done
