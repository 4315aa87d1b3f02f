# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# A daemon that root starts gives root's rights up, and does all that it did before.
. "$(dirname "$0")/lib.sh"

[ "$(id -u)" = 0 ] || skip "only root has rights to give up"
user=$(getent passwd 65534 | cut -d: -f1)
[ -n "$user" ] || skip "this host has no user 65534"
of_process() { sed -n "s/^$1:[[:space:]]*//p" "/proc/$(tuned)/status"; }
tuned() { jq .pid "$TMP/status.json"; }

start_sim "$SCENARIO"
start_opensm
# The name service is silent from the start, as after a power cut in which this host is up first.
export IBCC_NSS_SILENT=$TMP/silent
touch "$IBCC_NSS_SILENT"
TUNED_PRELOAD=$IBCC_BUILD/tests/double/libnss-double.so
# The folders that the packages and tmpfiles.d make for user ibcc.
chown "$user" "$TMP"
start_tuned "user: $user" 'mode: apply' 'apply_via: direct'
wait_until 20 status '.state == "ok"' || fail "the daemon does not get going: $(jq -c '[.state, .reason]' "$TMP/status.json")"
ok "it gets going while the name service is silent"
equal "all its user IDs are those of $user" "$(of_process Uid | tr '\t' ' ')" '65534 65534 65534 65534'
equal "and no group is root's" "$(echo "$(of_process Gid) $(of_process Groups)" | tr -s '[:space:]' '\n' | grep -cx 0)" 0
for set in CapInh CapPrm CapEff CapAmb; do
	equal "no capability in $set" "$(of_process $set)" 0000000000000000
done
equal "and it gets none by a program" "$(of_process NoNewPrivs)" 1
check "it says so" grep -q "from now on the daemon runs as user \"$user\"" "$TMP/tuned.log"
wait_until 60 status '.situation.code == "controlled" and .situation.roots == 1 and .situation.lacking == false' || fail "it does not tune: $(jq -c '[.decision, .reason]' "$TMP/status.json")"
ok "it tunes"
equal "the state file is its own" "$(stat -c %U "$TMP/state.db")" "$user"
check "root's rollback goes through it" tune rollback -y
stop "$TUNED_PID"

write_config 'user: nosuchuser'
# run_bad: the daemon, which is to end by itself; status rc.
run_bad()
{
	rc=0
	timeout 60 env LD_PRELOAD="$TUNED_PRELOAD" "$IBCC_BUILD/ibcc-sim" exec --name "$SIM" -- "$IBCC_BUILD/ibcc-tuned" \
		-z "$TMP/tuned.yaml" >"$TMP/bad.log" 2>&1 || rc=$?
}
run_bad
equal "a user that only the silent name service may know: it does not start" $rc 78
check "and says why" \
	grep -q '"nosuchuser" is not in /etc/passwd, and the name service does not answer' "$TMP/bad.log"
rm "$IBCC_NSS_SILENT"
run_bad
equal "without that user it does not start" $rc 78
check "and says what to do" \
	grep -q 'there is no user "nosuchuser" on this host, so the daemon does not start: create it' "$TMP/bad.log"
