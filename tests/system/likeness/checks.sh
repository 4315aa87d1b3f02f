# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154 # figures are those of a likeness
# What is asked of each likeness. A likeness is a file of this folder with
#   build           the fabric, by the functions of fabric.sh
#   traffic         its flows and events, as a scenario has them; hot flows congest a port, and victims wait for it
# and figures that follow from these two, each with its reason:
#   switches hosts links    how many there are, without aggregation nodes
#   ends                    lines of ibnetdiscover by rate: two for each link
#   types                   device types, as VENDOR/DEVICE COUNT MBPS:PORTS...
#   root                    KEY PORT KIND MBPS of the port where congestion starts
#   sources                 keys of those that wait for it
#   hot_mbps victim_mbps    payload that all hot flows and all victims get when nothing holds up a victim
#   speed                   virtual time in one of the host's: the more the faster the flows, the slower
#   silent_host silent_switch    keys of nodes that stop answering, one at a time
#   blind                   KEY PORT of ports behind which nothing is known while the switch is silent
. "$(dirname "${BASH_SOURCE[0]}")/fabric.sh"

likeness= # the one that runs

say() { echo "$likeness: $*"; }

# load_likeness NAME
load_likeness()
{
	likeness=$1
	speed=$SIM_SPEED
	node_keys=() node_id=() node_guid=() node_ports=() node_device=() node_desc=() described=() cabled=()
	# shellcheck source=/dev/null
	. "$top/tests/system/likeness/$likeness.sh"
	build
	write_netfile >"$TMP/$likeness.net"
	{
		printf 'name: %s\nduration_ms: 100\ntopology: {netfile: %s.net}\n' "$likeness" "$likeness"
		traffic
	} >"$TMP/$likeness.yaml"
}

# answer COMMAND...: what ibcc-tune says in JSON, for jq.
answer() { tune "$@" -j >"$TMP/answer.json" 2>"$TMP/answer.log"; }

# facts FILTER: of the last answer, in a line.
facts() { jq -r "$1" "$TMP/answer.json" 2>&1 | tr '\n' ' ' | sed 's/ $//'; }

# asked TEXT FILTER WANT: of the last answer.
asked() { equal "$(say "$1")" "$(facts "$2")" "$3"; }

# becomes TEXT FILTER WANT COMMAND...: as asked, of an answer that may come late. A busy machine's virtual time goes
# by fits and starts, and what is read within a short while need not be right at once.
becomes()
{
	right() { answer "${@:2}" && [ "$(facts "$1")" = "$want" ]; }
	local want=$3
	wait_until 30 right "$2" "${@:4}"
	asked "$1" "$2" "$3"
}

# guids KEY...: in order.
guids() { for key; do guid "$key"; done | sort | tr '\n' ' ' | sed 's/ $//'; }

check_stock_tools()
{
	stock ibnetdiscover >"$TMP/found" 2>"$TMP/found.log" || fail "$(say ibnetdiscover)"
	equal "$(say "ibnetdiscover: nodes")" "$(grep -cE '^(Switch|Ca)' "$TMP/found")" "${#node_keys[@]}"
	# That of a switch is behind its name, that of an adapter in front of its neighbour's.
	equal "$(say "opensm: each node has a LID of its own")" "$(sed -n -e 's/^Switch.* lid \([0-9]*\) lmc.*/\1/p' \
		-e 's/^\[1\](.*# lid \([0-9]*\) lmc.*/\1/p' "$TMP/found" | grep -v '^0$' | sort -u | wc -l)" "${#node_keys[@]}"
	equal "$(say "ibnetdiscover: ends of links by rate")" "$(grep -oE '[0-9]+x[A-Z]+[0-9]*$' "$TMP/found" |
		LC_ALL=C sort | uniq -c | awk '{ print $1, $2 }' | paste -sd ,)" "$ends"
}

check_probe()
{
	answer probe || fail "$(say probe)"
	asked "probe: devices, and their ports by rate" '.types | map("\(.vendor_id | sub("0x0*"; "0x"))/\(.device_id) \(.count) " +
		(.link_mbps | to_entries | sort_by(.key | tonumber) | map("\(.key):\(.value)") | join(" "))) | sort | join(", ")' "$types"
	asked "probe: all support Annex A10" '[.types[].annex_a10 | keys[]] | unique | join(" ")' yes
}

# check_plan: of a few readings, without a daemon.
check_plan()
{
	local key port kind mbps
	read -r key port kind mbps <<<"$root"
	# shellcheck disable=SC2086
	becomes "plan: the size of the fabric, where congestion starts, who waits, where packets are marked, who is slowed down" '
		def nodes: [.[].node_guid] | unique | join(" ");
		[(.fabric | "\(.switches) switches, \(.channel_adapters) hosts, \(.links) links"),
		(.roots | map("\(.node_guid) \(.port) \(.kind) \(.link_mbps)") | join(", ")),
		(.roots[0] | .contributors + .candidates | nodes),
		(.changes | map(select(.field == "Valid") | "\(.node_guid) \(.port)") | join(", ")),
		(.changes | map(select(.field == "CCTI_Timer")) | nodes)] | join("; ")' \
		"$switches switches, $hosts hosts, $links links; $(guid "$key") $port $kind $mbps; $(guids $sources); $(guid "$key") $port; $(guids $sources)" \
		plan
}

check_show()
{
	answer show || fail "$(say show)"
	asked "show: settings of all nodes, none is on" '.nodes | map(select(.supported)) |
		"\(map(select(.type == "switch")) | length) switches, \(map(select(.type == "ca")) | length) hosts, \(map(
		.CongestionControlTable.CCTI_Limit // 0, .SwitchCongestionSetting.Threshold // 0) | add)"' \
		"$switches switches, $hosts hosts, 0"
}

# check_status: of a daemon that observes.
check_status()
{
	becomes "status: the size of the fabric, ports read, without, doubted, state" '[(.fabric |
		"\(.switches) switches, \(.channel_adapters) hosts, \(.links) links", .ports_fresh, (.unread | length),
		(.doubted | length)), .state] | join("; ")' \
		"$switches switches, $hosts hosts, $links links; $((2 * links)); 0; 0; ok" status
	tune status >"$TMP/text" 2>&1
	check "$(say "status: the same in words")" grep -q \
		"^Fabric: *$switches switches, $hosts channel adapters, $links links (from discovery)" "$TMP/text"
}

check_report()
{
	local key port kind
	read -r key port kind _ <<<"$root"
	becomes "report: the root, nodes and links on its map" '[(.plan.roots | map("\(.node_guid) \(.port)") | join(", ")),
		(.map.nodes | length), (.map.links | length)] | join("; ")' \
		"$(guid "$key") $port; ${#node_keys[@]}; $((${#cabled[@]} / 2))" report
	# By its name, or where others have that, by its GUID.
	names_root() { tune report --html "$TMP/report.html" && grep -qF -e "${node_desc[$key]} port $port, $kind-generated" \
		-e "$(guid "$key") port $port, $kind-generated" "$TMP/report.html"; }
	wait_until 30 names_root || fail "$(say "report: the page does not name the root")"
	ok "$(say "report: the page names the root")"
}

# payload: of all hot flows and of all victims, in Mb/s.
payload()
{
	sim flows -j | jq -r '[["hot", "victim"][] as $kind | [.rows[] | select(.kind == $kind) | .mbps] | add // 0] | join(" ")'
}

# lid KEY: a switch's, as ibnetdiscover has found it.
lid() { sed -n "s/^Switch.*\"${node_id[$1]}\".* lid \([0-9]*\) .*/\1/p" "$TMP/found"; }

# check_loop: the daemon tunes the fabric by its own port.
check_loop()
{
	local key port before hot victim looks=0
	read -r key port _ <<<"$root"
	read -r _ before <<<"$(payload)"
	[ "$before" -lt $((victim_mbps / 2)) ] || fail "$(say "victims get $before of $victim_mbps Mb/s without the loop")"
	start_tuned 'apply_via: direct' 'mode: apply'
	# While the law looks for the right values, it may come close for a moment.
	tuned()
	{
		read -r hot victim <<<"$(payload)"
		looks=$((looks + 1))
		[ "$victim" -ge $((victim_mbps * 4 / 5)) ] && [ "$hot" -ge $((hot_mbps * 9 / 10)) ] || looks=0
		[ $looks -ge 6 ] || { sleep 0.4; false; }
	}
	wait_until 60 tuned || fail "$(say "loop: victims $before, then $victim of $victim_mbps Mb/s, hot $hot of $hot_mbps; $(tune status)")"
	ok "$(say "loop: victims get $victim of $victim_mbps Mb/s after $before, the hot flows $hot of $hot_mbps")"
	stock ibccquery SwitchPortCongestionSetting "$(lid "$key")" "$port" >"$TMP/ibccquery.log" 2>&1
	check "$(say "loop: the port marks, by ibccquery")" grep -q '^Valid:\.*1$' "$TMP/ibccquery.log"
	equal "$(say "loop: ports that mark, of the whole fabric")" "$(sim settings -j | jq -r '[.rows[] | select(.switch) |
		"\(.node_guid) \(.switch.ports[].port)"] | join(", ")')" "$(guid "$key") $port"
	stop "$TUNED_PID"
}

run_likeness()
{
	load_likeness "$1"
	start_sim "$TMP/$likeness.yaml" --speed "$speed"
	start_opensm 'sweep_interval 0'
	write_config 'apply_via: direct'
	check_stock_tools
	check_probe
	check_plan
	check_show
	start_tuned 'apply_via: direct'
	check_status
	check_report
	stop "$TUNED_PID"
	check_loop
	stop "$OSM_PID"
	stop "$SIM_PID"
}
