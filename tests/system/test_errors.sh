# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# Everything that can be wrong at a site: a clear message, the right exit code, nothing changed on
# the fabric.
. "$(dirname "$0")/lib.sh"

# refused NAME STATUS PATTERN COMMAND...: the command fails so, and says that on stderr. A plan of
# nothing cannot fail: on a loaded machine counters may be read too unevenly to show congestion.
refused()
{
	local _name=$1 _want=$2 _pattern=$3 _rc _tries=5
	shift 3
	while :; do
		_rc=0
		"$@" >"$TMP/out.log" 2>"$TMP/err.log" || _rc=$?
		[ "$_rc" = 0 ] && [ $((_tries -= 1)) -gt 0 ] &&
			grep -qE '^No congestion|"roots": \[\]' "$TMP/out.log" || break
	done
	[ "$_rc" = "$_want" ] || fail "$_name: exit status $_rc, want $_want"
	grep -qE -- "$_pattern" "$TMP/err.log" || fail "$_name: no word of $_pattern"
	ok "$_name"
}
plain() { timeout 20 "$IBCC_BUILD/$1" "${@:2}"; }
settings() { sim settings -j | jq -cS .rows; }

# --- command line and files -----------------------------------------------------------------------
cat >"$TMP/bad.yaml" <<'YAML'
mode: aply
interval_ms: -5
no_such_key: 1
tuner:
  confirm_passes: many
YAML
for p in ibcc-tuned ibcc-tune; do
	cmd=; [ "$p" = ibcc-tune ] && cmd=plan
	refused "$p: four mistakes" 78 'bad.yaml:1:7: mode: ' plain "$p" -z "$TMP/bad.yaml" $cmd
	for place in 2:14: 3:1: 5:19:; do
		grep -q "bad.yaml:$place" "$TMP/err.log" || fail "$p: no word of the mistake at $place"
	done
	ok "$p: tells all four, with line and column"
	refused "$p: no such file" 78 'nowhere.yaml: .*No such file' plain "$p" -z "$TMP/nowhere.yaml" $cmd
	refused "$p: a folder" 78 'Is a directory' plain "$p" -z "$TMP" $cmd
	refused "$p: unknown option" 1 "unknown option --bogus$" plain "$p" --bogus
	grep -q -- '--help' "$TMP/err.log" || fail "$p: no hint"
	write_config
	cp "$TMP/tuned.yaml" "$TMP/secret.yaml"
	chmod 000 "$TMP/secret.yaml"
	refused "$p: unreadable file" 78 'secret.yaml: .*Permission denied' unprivileged "$p" -z "$TMP/secret.yaml" $cmd
done
check "a good configuration is good" plain ibcc-tuned -z "$TMP/tuned.yaml" --check-config
[ -e /etc/ibcc-tune/ibcc-tuned.yaml ] || equal "no configuration is not a good one" "$(plain ibcc-tuned --check-config)" \
	"/etc/ibcc-tune/ibcc-tuned.yaml: there is none, all settings have their defaults"
refused "check-config" 78 'bad.yaml:5:19' plain ibcc-tuned -z "$TMP/bad.yaml" --check-config
refused "no command" 1 'a command is missing' plain ibcc-tune
refused "unknown command" 1 "unknown command 'aply', did you mean 'apply'\?" plain ibcc-tune aply
refused "unknown command of help" 1 "unknown command 'histroy', did you mean 'history'\?" plain ibcc-tune help histroy
refused "misspelt option" 1 'unknown option --jsno, did you mean --json\?' plain ibcc-tune plan --jsno
refused "option that may be several" 1 '^ibcc-tune: --co can mean --confirm-within, --columns, --counters, --color, --config$' \
	plain ibcc-tune plan --co
refused "too many arguments" 1 "unexpected argument 'all'" plain ibcc-tune -z "$TMP/tuned.yaml" apply -y plan.json all
refused "a number that is none" 1 "got '1x', want a number" plain ibcc-tune -z "$TMP/tuned.yaml" -P 1x plan
refused "a way that is none" 1 "got 'sideways', want plugin or direct" plain ibcc-tune -z "$TMP/tuned.yaml" --via sideways plan
# An option of another command does nothing, and must not look as if it had.
while read -r cmd opt; do
	# shellcheck disable=SC2086
	refused "$cmd has no ${opt%% *}" 1 "^ibcc-tune: ${opt%% *}: '$cmd' does not take this option, only [a-z, -]+ do(es)?$" \
		plain ibcc-tune -z "$TMP/tuned.yaml" $cmd $opt
	grep -qx "Try 'ibcc-tune help $cmd'." "$TMP/err.log" || fail "$cmd: no hint"
done <<'OPTIONS'
apply --node leaf2
disable --node leaf2
rollback --root 1
plan --set ccti_timer=5
apply --output plan.json
status --html page.html
status --plot day.svg
show --save probe.json
status --confirm-within 5m
plan --anonymous
repair --protect
status --yes
history --csv
apply --detailed-exitcode
OPTIONS
refused "which commands do take it" 1 "'top' does not take this option, only apply, rollback, disable, repair, key and policy do$" \
	plain ibcc-tune top -y
# Help needs no configuration and no fabric.
plain ibcc-tune help apply -z /nowhere >"$TMP/help.log" || fail "no help of apply"
equal "the options of apply" "$(grep -oE '^ +(-., )?--[a-z-]+' "$TMP/help.log" | sed 's/.*--/--/' | tr '\n' ' ')" \
	"--yes --confirm-within --no-wait --full --skip-unsupported "
plain ibcc-tune --help apply >"$TMP/got"
same "help and --help" "$TMP/help.log" "$TMP/got"
plain ibcc-tune apply --help >"$TMP/got"
same "in any order" "$TMP/help.log" "$TMP/got"
grep -A 1 '^For example:' "$TMP/help.log" | grep -q '^  ibcc-tune apply ' || fail "no example of apply"
ok "with an example"
echo 0x1234 >"$TMP/key"
chmod 644 "$TMP/key"
write_config "cc_key_file: $TMP/key"
refused "a key that others can read" 78 "cc_key_file: " plain ibcc-tune -z "$TMP/tuned.yaml" plan
write_config
[ -e /sys/class/infiniband_mad/abi_version ] ||
	refused "status on a host without a device" 1 'not running.*This host has no InfiniBand device, so the service does not start' \
		plain ibcc-tune -z "$TMP/tuned.yaml" status
refused "a file that is no plan" 1 '/etc/passwd: this is not a plan: .*ibcc-tune plan -o FILE makes one' \
	plain ibcc-tune -z "$TMP/tuned.yaml" apply -y /etc/passwd
sed "s|^state_file:.*|state_file: /proc/none/state.db|" "$TMP/tuned.yaml" >"$TMP/new.yaml"
"$IBCC_BUILD/ibcc-tune" -z "$TMP/new.yaml" history >"$TMP/out.log" 2>&1
equal "the history of a new host" "$? $(cat "$TMP/out.log")" "0 Nothing was changed yet."
refused "--watch and its seconds apart" 1 'not running' plain ibcc-tune -z "$TMP/tuned.yaml" top --watch 5 --limit 1
check "--help of a command of ibcc-sim" sh -c "'$IBCC_BUILD/ibcc-sim' stats --name none --help | grep -q '^Usage:'"
if [ "$(id -u)" = 0 ]; then
	chmod 600 "$TMP/key"
	chmod 755 "$TMP"
	write_config "cc_key_file: $TMP/key"
	refused "a key that is root's alone" 78 "cc_key_file: .*Permission denied; .*runs as user $(getent passwd 65534 | cut -d: -f1), .*chown $(getent passwd 65534 | cut -d: -f1) $TMP/key" \
		unprivileged ibcc-tuned --check-config -z "$TMP/tuned.yaml"
	write_config
fi
sed "s|^control_socket:.*|control_socket: /proc/none/control.sock|" "$TMP/tuned.yaml" >"$TMP/no_socket.yaml"
refused "no folder for the control socket" 1 'control.sock: .*its folder must be there' plain ibcc-tuned -z "$TMP/no_socket.yaml"

# --- no fabric, no subnet manager, no plugin ------------------------------------------------------
start_sim "$SCENARIO"
refused "status without a daemon" 1 'not running.*systemctl start' tune status
refused "nor one of several fabrics" 1 'systemctl start ibcc-tuned@scratch ' tune -F scratch status
refused "no subnet manager: plan" 1 'subnet manager' tune -n
refused "no subnet manager: apply" 1 'subnet manager' tune apply -y
start_tuned 'mode: apply'
degraded() { tune status -j >"$TMP/status.json" && jq -e '.state == "degraded" and (.reason | test("'"$1"'"))' "$TMP/status.json"; }
wait_until 10 degraded 'subnet manager' || fail "the daemon does not say that there is no subnet manager: $(cat "$TMP/status.json")"
ok "no subnet manager: the daemon says so, and stays"
start_opensm
unchanged=$(settings)
wait_until 20 degraded 'no OpenSM plugin' || fail "the daemon does not say that there is no plugin: $(cat "$TMP/status.json")"
ok "no plugin: the daemon says so, and stays"
jq -e '.plugin_trouble | test("no OpenSM plugin listens at .*event_plugin_name")' "$TMP/status.json" >/dev/null ||
	fail "the status does not tell why the plugin is not there"
ok "no plugin: the status tells why"
stop "$TUNED_PID"
refused "no plugin: apply" 1 'no OpenSM plugin listens' tune apply -y
check "no plugin: a plan is made all the same" tune -n
equal "no plugin: nothing is sent" "$(set_mads)" 0
stop "$OSM_PID"

start_opensm --plugin
# --- the state file -------------------------------------------------------------------------------
no_state() { sed "s|^state_file:.*|state_file: /proc/none/state.db|" "$TMP/tuned.yaml" >"$TMP/cli.yaml"; tune "$@"; }
refused "no state file: apply" 1 'state file /proc/none/state.db' no_state apply -y
equal "no state file: nothing is sent" "$(set_mads)" 0
write_config

# --- nodes without congestion control -------------------------------------------------------------
source2=$(tune show -j source2 | jq '.nodes[0].lid')
check "source2 loses its congestion control" sim set cc_support.source2=off
unchanged=$(settings)
refused "a contributor without: plan" 1 'source2.* has no congestion control' tune -n -j
jq -e '[.unreachable[] | .node] == ["source2"] and .unreachable[0].reason != ""' "$TMP/out.log" >/dev/null ||
	fail "a contributor without: the plan does not list it"
refused "a contributor without: apply" 1 'source2.* has no congestion control' tune apply -y
refused "a contributor without: apply by our own port" 1 'source2.* has no congestion control' tune --via direct apply -y
start_tuned 'mode: apply'
wait_until 20 degraded 'source2.* has no congestion control' || fail "the daemon does not tell of source2"
ok "a contributor without: the daemon says so"
refused "a contributor without: apply by the daemon" 1 'source2.* has no congestion control' tune apply -y
equal "a contributor without: nothing is changed" "$(settings)" "$unchanged"
equal "and nothing was sent" "$(set_mads)" 0
stop "$TUNED_PID"
check "source2 has it again" sim set cc_support.source2=on

# A bystander stops an apply too, unless it is to be skipped.
check "destination0 loses it" sim set cc_support.destination0=off
refused "a bystander without: plan" 1 'destination0.* has no congestion control.*--skip-unsupported' tune -n
refused "a bystander without: apply" 1 'destination0.* has no congestion control' tune apply -y
equal "a bystander without: nothing was sent" "$(set_mads)" 0
check "a bystander without: skipped" tune --skip-unsupported apply -y
check "and back" tune rollback -y
check "destination0 has it again" sim set cc_support.destination0=on

# --- another CC_Key -------------------------------------------------------------------------------
# key TEXT KEY PROTECT [OLD KEY]
key() { check "$1" stock ibccconfig ${4:+-c "$4"} CongestionKeyInfo "$source2" "$2" "$3" 0 0; }
foreign='source2.* (does not accept this CC_Key|answers other requests but no congestion control requests)'
for protect in 0 1; do
	key "source2 gets a key, protect bit $protect" 0x77 "$protect"
	unchanged=$(settings)
	sets=$(set_mads)
	refused "another key, protect bit $protect: plan" 1 "$foreign" tune -n
	refused "another key, protect bit $protect: apply" 1 "$foreign" tune apply -y
	refused "a wrong key, protect bit $protect" 1 "$foreign" tune -c 0x78 --via direct apply -y
	equal "protect bit $protect: nothing was sent" "$(set_mads)" "$sets"
	equal "protect bit $protect: nothing is changed" "$(settings)" "$unchanged"
	check "the right key, protect bit $protect" tune -c 0x77 --via plugin apply -y
	check "and back" tune -c 0x77 rollback -y
	key "no key any more" 0 0 0x77
done
echo 0x77 >"$TMP/key"
chmod 600 "$TMP/key"
key "source2 has a key again" 0x77 1
write_config "cc_key_file: $TMP/key"
check "the key from a file" tune apply -y
check "and back" tune rollback -y

# The key is the daemon's: users that may look need not be able to read it.
if [ "$(id -u)" = 0 ]; then
	operator() { unprivileged ibcc-tune -z "$TMP/cli.yaml" "$@"; }
	start_tuned "cc_key_file: $TMP/key"
	refused "a user that may not look" 1 'control.sock: Permission denied; root may' operator status
	stop "$TUNED_PID"
	start_tuned "cc_key_file: $TMP/key" "control_read_group: $(getent group 65534 | cut -d: -f1)"
	check "a key for others: status" operator status
	check "a key for others: settings" operator show source2
	refused "a key for others: own port" 1 'cc_key_file: .*Permission denied' operator --via direct plan
	stop "$TUNED_PID"
	refused "a key for others: no daemon" 1 'not running.*cc_key_file: .*Permission denied' operator plan
	refused "a key for others: another key" 1 'cc_key_file: .*Permission denied' operator key -y "$TMP/key"
fi
