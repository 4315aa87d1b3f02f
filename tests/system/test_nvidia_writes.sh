# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# vendor_writes: marking profiles of NVIDIA's switches. Nothing is written where NVIDIA's OpenSM manages them, a key is not
# ours, the control is off or another program writes; otherwise one port gets values, keeps all its other bits, and gets its
# earlier values back by a rollback, and when the daemon ends.
. "$(dirname "$0")/lib.sh"

# A profile that marks too late for the buffers. Switches mark only at ports that have credits, so the congestion at the slow
# server stays whatever is written, and an apply comes to its end.
sed 's/buffer_bytes: 1048576/buffer_bytes: 131072/; s/{min: 100000, max: 400000, percent: 20}/{min: 1000000, max: 1040000, percent: 1}/' "$top/perftest/scenarios/hdr-ndr.yaml" >"$TMP/late.yaml"
start_sim "$TMP/late.yaml"
start_opensm
stock ibnetdiscover >"$TMP/discovered"
# Once: nodes keep their LIDs, and these are asked for some 150 times.
declare -A lid_of=()
for node in q1 q2 h1 h2 h3 h4; do
	lid_of[$node]=$(sed -n "s/^Switch.*# \"$node\" .* lid \([0-9]*\) .*/\1/p; s/.*\"$node\" lid \([0-9]*\) .*/\1/p" "$TMP/discovered" | head -n 1)
done
by_hand() { stock "$IBCC_BUILD/tests/system/nvidia_sm" change "$@" >"$TMP/by_hand.log" 2>&1 || fail "change $*: $(cat "$TMP/by_hand.log")"; }
register() { stock "$IBCC_BUILD/tests/system/nvidia_sm" show "${lid_of[q2]}" 0 0xff09 "$1"; }
registers() { for port in 1 2 3 4 8; do register $port; done; }
told() { tune status -j >"$TMP/status.json" 2>/dev/null && jq -e "$1" "$TMP/status.json"; }
planned() { tune plan -j --skip-unsupported >"$TMP/plan.json" 2>"$TMP/plan.err"; jq -e "$1" "$TMP/plan.json"; }
conf="$TMP/nvidia.conf"
echo 'mlnx_congestion_control 0' >"$conf"
# start [LINE]...: the daemon, with vendor_writes.
start() { start_tuned 'apply_via: direct' 'vendor_writes: experimental' "$@"; }
# PortXmitWait of the ports that are blocked is at the end of its 32 bits after a minute or two.
clear_waits()
{
	local at
	for at in 'q2 1' 'q1 8' 'h1 1' 'h2 1' 'h3 1' 'h4 1'; do
		stock perfquery -R "${lid_of[${at% *}]}" "${at#* }" >"$TMP/tool.log" 2>&1 || fail "perfquery -R"
	done
}
restart() { stop "$TUNED_PID"; clear_waits; start "$@"; }
# refused WHAT WORDS [LINE]...: the daemon's plan says why, and an apply writes nothing.
refused()
{
	local what=$1 words=$2 sets
	shift 2
	restart "$@"
	sets=$(set_mads)
	wait_until 60 planned '.error != null' || fail "$what: $(cat "$TMP/plan.json")"
	jq -r .error "$TMP/plan.json" >"$TMP/words"
	check "$what: the plan says why" grep -q "$words" "$TMP/words"
	tune apply --yes --skip-unsupported >"$TMP/apply.log" 2>&1 && fail "$what: applied: $(cat "$TMP/apply.log")"
	check "$what: and so does an apply" grep -q "$words" "$TMP/apply.log"
	equal "$what: nothing is written" "$(set_mads)" "$sets"
}
# Bits that no header names, in the attribute and behind it.
by_hand "${lid_of[q2]}" 0 0xff09 1 byte0=0x2a byte40=0x5a byte63=0xa5
before=$(registers)
equal "before: the port has bits without a name" "$(register 1 | cut -c 1-2,81-82,127-128)" 2a5aa5

# --- what refuses -----------------------------------------------------------------------------------
start_tuned 'apply_via: direct'
wait_until 60 told '.roots == 1' || fail "$(tune status)"
equal "never, the default: a plan has no changes" "$(planned '.writes' || true)" 0
echo 'mlnx_congestion_control 2' >"$conf"
refused "NVIDIA's OpenSM manages them" 'mlnx_congestion_control is 2' "vendor_opensm_conf: $conf"
echo 'mlnx_congestion_control 1' >"$conf"
refused "NVIDIA's OpenSM switches them off" 'mlnx_congestion_control is 1' "vendor_opensm_conf: $conf"
printf 'mlnx_congestion_control 0\ncongestion_control_policy_file /etc/opensm/cc.conf\n' >"$conf"
refused "a policy file" 'congestion_control_policy_file' "vendor_opensm_conf: $conf"
refused "a file that is not there" 'cannot be read' "vendor_opensm_conf: $TMP/none"
printf 'mlnx_congestion_control 0\n\0' >"$conf"
refused "a file that is no text" 'cannot be read (it is no text)' "vendor_opensm_conf: $conf"
printf '# congestion_control_policy_file /old\nmlnx_congestion_control "0"\ncongestion_control_policy_file (null)\n' >"$conf"
stop "$TUNED_PID"
write_config 'apply_via: direct' 'vendor_writes: experimental' "vendor_opensm_conf: $conf"
sets=$(set_mads)
tune apply --yes --skip-unsupported >"$TMP/apply.log" 2>&1 && fail "applied without a daemon"
equal "without a daemon: nothing is written" "$(set_mads)" "$sets"
start "vendor_opensm_conf: $conf"

# --- plan, apply, rollback --------------------------------------------------------------------------
wait_until 60 planned '.writes == 1' || fail "$(cat "$TMP/plan.json")"
equal "plan: the root's port, in three fields" "$(jq -c '[.changes[] | "\(.node)/\(.port) \(.attribute) \(.field) \(.old)"]' "$TMP/plan.json")" \
	'["q2/1 PortProfileSettings profile1_min 1000000","q2/1 PortProfileSettings profile1_percent 1","q2/1 PortProfileSettings profile1_max 1040000"]'
equal "plan: max is the buffer of a port where none is reported, min a quarter" \
	"$(jq -c '[.changes[] | select(.field != "profile1_percent") | .new]' "$TMP/plan.json")" '["32768","131072"]'
equal "plan: is dry" "$(registers)" "$before"
tune apply --yes --skip-unsupported >"$TMP/apply.log" 2>&1 || fail "apply: $(cat "$TMP/apply.log")"
now=$(register 1)
equal "apply: other bits of the port stay" "$(echo "$now" | cut -c 1-8)$(echo "$now" | cut -c 25-128)" \
	"$(echo "$before" | head -n 1 | cut -c 1-8)$(echo "$before" | head -n 1 | cut -c 25-128)"
equal "apply: min and max are those of the plan" "$(echo "$now" | cut -c 9-16)-$(echo "$now" | cut -c 20-24)" '00008000-20000'
equal "apply: other ports stay" "$(registers | tail -n 4)" "$(echo "$before" | tail -n 4)"
tune history -j --limit 1 >"$TMP/history.json" || fail history
equal "apply: history has it" "$(jq -r '.transactions[0] | "\(.action) \(.outcome)"' "$TMP/history.json")" 'apply done'
tune rollback --yes >"$TMP/rollback.log" 2>&1 || fail "rollback: $(cat "$TMP/rollback.log")"
equal "rollback: bit for bit" "$(registers)" "$before"

# --- the daemon ends ----------------------------------------------------------------------------------
wait_until 60 planned '.writes == 1' || fail "$(cat "$TMP/plan.json")"
tune apply --yes --skip-unsupported >"$TMP/apply.log" 2>&1 || fail "apply: $(cat "$TMP/apply.log")"
[ "$(registers)" != "$before" ] || fail "ends: no settings are there"
stop "$TUNED_PID"
clear_waits
equal "ends: the earlier values are back" "$(registers)" "$before"
check "ends: and the log says so" grep -q 'restoring marking profiles.*1 change verified' "$TMP/tuned.log"
start "vendor_opensm_conf: $conf"
wait_until 60 planned '.writes == 1' || fail "$(cat "$TMP/plan.json")"
tune apply --yes --skip-unsupported >"$TMP/apply.log" 2>&1 || fail "apply: $(cat "$TMP/apply.log")"
tune disable --yes >"$TMP/disable.log" 2>&1
equal "disable: the earlier values are back" "$(registers)" "$before"

# --- another program writes ---------------------------------------------------------------------------
wait_until 60 planned '.writes == 1' || fail "$(cat "$TMP/plan.json")"
tune apply --yes --skip-unsupported >"$TMP/apply.log" 2>&1 || fail "apply: $(cat "$TMP/apply.log")"
by_hand "${lid_of[q2]}" 0 0xff09 1 profile1_percent=33
theirs=$(registers)
wait_until 60 planned '.error != null' || fail "$(cat "$TMP/plan.json")"
jq -r .error "$TMP/plan.json" >"$TMP/words"
check "another writer: the plan names the port" grep -q 'marking profiles of 1 port, the first at "q2" port 1' "$TMP/words"
sets=$(set_mads)
tune apply --yes --skip-unsupported >"$TMP/apply.log" 2>&1 && fail "applied over another program: $(cat "$TMP/apply.log")"
restart "vendor_opensm_conf: $conf" 'mode: apply' 'drift: repair'
equal "another writer: its values stay when the daemon ends" "$(registers)" "$theirs"
wait_until 60 told '.reason // "" | test("are not those that ibcc-tune wrote")' || fail "$(tune status)"
equal "another writer: nothing is written any more, nor repaired" "$(set_mads)" "$sets"
equal "another writer: its values stay" "$(registers)" "$theirs"
tune rollback --yes >"$TMP/rollback.log" 2>&1 || fail "rollback: $(cat "$TMP/rollback.log")"
equal "another writer: a person may roll back" "$(registers)" "$before"

# --- the control is off, and a key that is not ours ------------------------------------------------------
restart "vendor_opensm_conf: $conf"
wait_until 60 planned '.writes == 1' || fail "$(cat "$TMP/plan.json")"
by_hand "${lid_of[q2]}" 0 0xff08 0 en=0
sets=$(set_mads)
tune apply --yes --skip-unsupported >"$TMP/apply.log" 2>&1 || true
equal "off: there is nothing to change" "$(planned '.writes' || true)" 0
equal "off: nothing is written" "$(set_mads)" "$sets"
by_hand "${lid_of[q2]}" 0 0xff08 0 en=1
wait_until 90 planned '.writes == 1' || fail "$(cat "$TMP/plan.json")"
stock ibccconfig CongestionKeyInfo "${lid_of[q2]}" 0x5afe 0 0 0 >"$TMP/tool.log" 2>&1 || fail "ibccconfig"
sets=$(set_mads)
tune apply --yes --skip-unsupported >"$TMP/apply.log" 2>&1 || true
equal "key: nothing is written" "$(set_mads)" "$sets"
equal "key: there is nothing to change" "$(planned '.writes' || true)" 0
equal "key: nor has anything changed" "$(registers)" "$before"

# --- a plan file, and a daemon that may not -----------------------------------------------------------
stock ibccconfig -c 0x5afe CongestionKeyInfo "${lid_of[q2]}" 0 0 0 0 >"$TMP/tool.log" 2>&1 || fail "ibccconfig"
restart "vendor_opensm_conf: $conf"
wait_until 60 planned '.writes == 1' || fail "$(cat "$TMP/plan.json")"
check "a plan file" tune plan --skip-unsupported --output "$TMP/profiles.plan"
check "has the profile" grep -qi 'PortProfileSettings' "$TMP/profiles.plan"
stop "$TUNED_PID"
start_tuned 'apply_via: direct'
wait_until 60 told '.roots == 1' || fail "$(tune status)"
sets=$(set_mads)
tune apply "$TMP/profiles.plan" --yes --skip-unsupported >"$TMP/apply.log" 2>&1 && fail "applied without vendor_writes: $(cat "$TMP/apply.log")"
equal "a plan file: nothing is written without vendor_writes" "$(set_mads)" "$sets"

# --- without a person ---------------------------------------------------------------------------------
if [ ! -e /etc/opensm/opensm.conf ] && [ ! -e /opt/ufm/files/conf/opensm/opensm.conf ]; then
	restart 'mode: apply'
	wait_until 60 told '.reason // "" | test("could not check")' || fail "$(tune status)"
	jq -r .reason "$TMP/status.json" >"$TMP/words"
	check "unchecked: the daemon alone writes nothing" grep -q 'could not check mlnx_congestion_control' "$TMP/words"
	restart
	wait_until 60 planned '.writes == 1' || fail "$(cat "$TMP/plan.json")"
	jq -r '.fabric.warnings[]' "$TMP/plan.json" >"$TMP/words"
	check "unchecked: the plan warns who consents" grep -q 'could not check mlnx_congestion_control' "$TMP/words"
else
	ok "unchecked: not tried, as this host has an opensm.conf"
fi
restart "vendor_opensm_conf: $conf" 'mode: apply'
changed() { [ "$(register 1)" != "$(echo "$before" | head -n 1)" ]; }
wait_until 90 changed || fail "$(tune status)"
ok "mode apply: the daemon writes where it has checked the file"
stop "$TUNED_PID"
equal "mode apply: and restores at its end" "$(registers)" "$before"
equal "all that was written: profiles, and what this test did by hand" "$(sim sets -j | jq -r '[.rows[].name] | unique | join(" ")')" \
	'CongestionKeyInfo PortProfileSettings SwitchGeneralSettings'
