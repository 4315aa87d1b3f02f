# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154 # figures are those of a likeness
# What is asked of each likeness. A likeness is a file of this folder with
#   build           the fabric, by the functions of fabric.sh
#   traffic         its flows and events, as a scenario has them; hot flows congest a port, and victims wait for it
# and figures that follow from these two, each with its reason:
#   switches hosts links    how many there are, without aggregation nodes
#   ends                    lines of ibnetdiscover by rate: two for each link
#   slow                    links that run slower than both ends can; 0 if it is not said
#   types                   device types, as VENDOR/DEVICE COUNT MBPS:PORTS...
#   flow                    keys of source and receiver of a flow that the root holds up
#   root                    KEY PORT KIND MBPS of the port where congestion starts
#   sources                 keys of those that wait for it
#   beside_hidden           KEY PORT KIND MBPS of a port that a flow from the hidden part fills, where others wait
#   near                    keys of those that send into its switch without waiting: until marks tell, they are held, too
#   hot_mbps victim_mbps    payload that all hot flows and all victims get when nothing holds up a victim
#   speed                   virtual time in one of the host's: the more the faster the flows, the slower
#   silent_host             key of a host that stops answering and is no source
#   silent_switch           keys of switches one of which stops answering: the first that no hot flow goes by, by ibtracert
#   hidden_switch before_hidden    instead: a switch that they all go by, so that the root is hidden or its receivers are
#   hidden_kind             then, of the port that leads there: output if it waits for what is hidden, input if it is
#                           full itself, and so still the root that can be tuned
# A switch that supports the congestion log only has no settings, so plans there have to leave it out by
# --skip-unsupported.
. "$(dirname "${BASH_SOURCE[0]}")/fabric.sh"

likeness= # the one that runs

say() { echo "$likeness: $*"; }

# load_likeness NAME
load_likeness()
{
	likeness=$1
	speed=$SIM_SPEED
	unset slow near beside_hidden silent_switch hidden_switch before_hidden hidden_kind
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
facts()
{
	local lines
	lines=$(jq -r "$1" "$TMP/answer.json" 2>&1)
	printf '%s' "${lines//$'\n'/ }"
}

# asked TEXT FILTER WANT: of the last answer.
asked() { equal "$(say "$1")" "$(facts "$2")" "$3"; }

# becomes TEXT FILTER WANT COMMAND...: as asked, of an answer that may come late. A busy machine's virtual time goes
# by fits and starts, and what is read within a short while need not be right at once.
becomes()
{
	right() { answer "${@:2}" && [ "$(facts "$1")" = "$want" ]; }
	local want=$3
	wait_until 30 right "$2" "${@:4}" && { ok "$(say "$1")"; return; }
	[ "$(facts "$2")" != "$3" ] || fail "$(say "$1"): the answer is right, but the command fails: $(cat "$TMP/answer.log")"
	asked "$1" "$2" "$3"
}

# guids KEY...: in order.
guids() { for key; do guid "$key"; done | sort | paste -sd ' '; }

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

# edr KEY...: how many of these nodes are switches that support the congestion log only.
edr()
{
	local key n=0
	for key; do [ "${node_device[$key]}" != "$SWITCH_IB" ] || n=$((n + 1)); done
	echo $n
}

# skip_edr: the option of plan that leaves these out, if there are any.
skip_edr() { [ "$(edr "${node_keys[@]}")" = 0 ] || echo --skip-unsupported; }

check_probe()
{
	answer probe || fail "$(say probe)"
	asked "probe: devices, and their ports by rate" '.types | map("\(.vendor_id | sub("0x0*"; "0x"))/\(.device_id) \(.count) " +
		(.link_mbps | to_entries | sort_by(.key | tonumber) | map("\(.key):\(.value)") | join(" "))) | sort | join(", ")' "$types"
	asked "probe: all support Annex A10" '[.types[].annex_a10 | keys[]] | unique | join(" ")' \
		"yes$([ "$(edr "${node_keys[@]}")" = 0 ] || echo ' yes, not used')"
}

# check_plan: of a few readings, without a daemon.
check_plan()
{
	local key port kind mbps
	read -r key port kind mbps <<<"$root"
	# shellcheck disable=SC2046,SC2086
	becomes "plan: the size of the fabric, where congestion starts, which senders are blocked, where packets are marked, which are slowed down" '
		def nodes: [.[].node_guid] | unique | join(" ");
		[(.fabric | "\(.switches) switches, \(.channel_adapters) hosts, \(.links) links"),
		(.roots | map("\(.node_guid) \(.port) \(.kind) \(.link_mbps)") | join(", ")),
		(.roots[0] | .contributors + .candidates | nodes),
		(.changes | map(select(.field == "Valid") | "\(.node_guid) \(.port)") | join(", ")),
		(.changes | map(select(.field == "CCTI_Timer")) | nodes)] | join("; ")' \
		"$switches switches, $hosts hosts, $links links; $(guid "$key") $port $kind $mbps; $(guids $sources); $(guid "$key") $port; $(guids $sources ${near-})" \
		plan $(skip_edr)
	[ -n "$(skip_edr)" ] || return 0
	# A moment without changes is no reason to refuse.
	refused() { ! answer plan && grep -q 'supports only the congestion log.*--skip-unsupported' "$TMP/answer.log"; }
	wait_until 30 refused || fail "$(say "plan: $(cat "$TMP/answer.log")")"
	ok "$(say "plan: refused unless it leaves out the switch that supports the congestion log only")"
}

check_show()
{
	answer show || fail "$(say show)"
	# Aggregation nodes have some, too, which no program changes.
	asked "show: settings of all nodes, none is on" '.nodes | map(select(.supported)) |
		"\(map(select(.type == "switch")) | length) switches, \(map(select(.type == "ca")) | length) adapters, \(map(
		.CongestionControlTable.CCTI_Limit // 0, .SwitchCongestionSetting.Threshold // 0) | add)"' \
		"$((switches - $(edr "${node_keys[@]}"))) switches, $((${#node_keys[@]} - switches)) adapters, 0"
}

# check_status: of a daemon that observes.
check_status()
{
	becomes "status: the size of the fabric, ports read, without, doubted, slow links, state" '[(.fabric |
		"\(.switches) switches, \(.channel_adapters) hosts, \(.links) links", .ports_fresh, (.unread | length),
		(.doubted | length), .links_slow), .state] | join("; ")' \
		"$switches switches, $hosts hosts, $links links; $((2 * links)); 0; 0; ${slow-0}; ok" status
	tune status >"$TMP/text" 2>&1
	check "$(say "status: the same in words")" grep -q \
		"^Fabric: *$switches switches, $hosts channel adapters, $links links (from discovery)" "$TMP/text"
}

check_report()
{
	local key port kind
	read -r key port kind _ <<<"$root"
	case $kind in output) kind='slow receiver' ;; *) kind='oversubscribed link' ;; esac
	becomes "report: the root, nodes and links on its map" '[(.plan.roots | map("\(.node_guid) \(.port)") | join(", ")),
		(.map.nodes | length), (.map.links | length)] | join("; ")' \
		"$(guid "$key") $port; ${#node_keys[@]}; $((${#cabled[@]} / 2))" report
	# By its name, or where others have that, by its GUID.
	names_root() { tune report --html "$TMP/report.html" && grep -qF -e "${node_desc[$key]} port $port, $kind" \
		-e "$(guid "$key") port $port, $kind" "$TMP/report.html"; }
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
	# A busy machine may have the daemon in doubt for a few passes. ibccquery looks for a port in blocks of 48, so it
	# finds those that are in the first block of 32.
	marks()
	{
		[ "$(sim settings -j | jq -r '[.rows[] | select(.switch) | "\(.node_guid) \(.switch.ports[].port)"] | join(", ")')" = \
			"$(guid "$key") $port" ] || return 1
		[ "$port" -lt 32 ] || return 0
		stock ibccquery SwitchPortCongestionSetting "$(lid "$key")" "$port" >"$TMP/ibccquery.log" 2>&1 &&
			grep -q '^Valid:\.*1$' "$TMP/ibccquery.log"
	}
	wait_until 30 marks || fail "$(say "loop: ports that mark: $(sim settings)")"
	ok "$(say "loop: the port marks$([ "$port" -ge 32 ] || echo ", by ibccquery too"), and no other of the fabric")"
	stop "$TUNED_PID"
}

# look_without KEY: what is found from the first host when this node is silent: known_switches, known_hosts, known_links,
# known_nodes, and gap_ports, switch ports that lead to it; the keys of these nodes are in `seen`, the caller's.
look_without()
{
	local silent=$1 key port peer todo=() first=
	local -A at=()
	known_switches=0 known_hosts=0 known_links=0 known_nodes=0 gap_ports=0
	for port in "${!cabled[@]}"; do at[${port% *}]="${at[${port% *}]-} ${cabled[$port]%% *}"; done
	for key in "${node_keys[@]}"; do
		[ -n "$first" ] || case ${node_id[$key]}/${node_device[$key]} in
		*/"$SHARP") ;;
		H*) first=$key ;;
		esac
	done
	todo=("$first")
	seen[$first]=1
	while [ ${#todo[@]} -gt 0 ]; do
		key=${todo[0]}
		todo=("${todo[@]:1}")
		known_nodes=$((known_nodes + 1))
		case ${node_id[$key]}/${node_device[$key]} in
		S*) known_switches=$((known_switches + 1)) ;;
		*/"$SHARP") ;;
		*) known_hosts=$((known_hosts + 1)) ;;
		esac
		for peer in ${at[$key]}; do
			if [ "$peer" = "$silent" ]; then
				gap_ports=$((gap_ports + 1))
				continue
			fi
			known_links=$((known_links + 1)) # once from each end
			[ -z "${seen[$peer]-}" ] || continue
			seen[$peer]=1
			todo+=("$peer")
		done
	done
	known_links=$((known_links / 2))
}

# silence KEY, hear KEY
silence() { sim set "mad_loss_permille.$(name "$1")=1000" >/dev/null || fail "$(say "silence of $1")"; }
hear() { sim set "mad_loss_permille.$(name "$1")=0" >/dev/null || fail "$(say "$1 is heard")"; }

# check_silent KEY ROOTS SOURCES: the node is silent; these are the roots then, a line each, and the sources that are
# slowed down.
check_silent()
{
	local key port kind mbps want=
	local -A seen=()
	look_without "$1"
	silence "$1"
	while read -r key port kind mbps; do
		want="$want${want:+, }$(guid "$key") $port $kind $mbps"
	done <<<"$2"
	# shellcheck disable=SC2046,SC2086
	becomes "$1 is silent, plan: what is left of the fabric, ports that lead to the gap, where congestion starts, which senders are slowed down" '
		[(.fabric | "\(.switches) switches, \(.channel_adapters) hosts, \(.links) links, \(.gaps | length) ports"),
		(.roots | sort_by(.port) | map("\(.node_guid) \(.port) \(.kind) \(.link_mbps)") | join(", ")),
		(.changes | map(select(.field == "CCTI_Timer").node_guid) | unique | join(" "))] | join("; ")' \
		"$known_switches switches, $known_hosts hosts, $known_links links, $gap_ports ports; $want; $(guids $3)" plan $(skip_edr)
	tune plan >"$TMP/text" 2>&1
	check "$(say "$1 is silent, plan: said in words")" grep -q '^ *No answer from: ' "$TMP/text"
	# These end with 1 where the silence may be a loss by chance, and tell what they have all the same.
	answer probe
	asked "$1 is silent, probe: devices" '[.types[].count] | add' "$known_nodes"
	answer show
	asked "$1 is silent, show: nodes" '[.nodes[] | select(.supported)] | length' \
		$((known_nodes - $(edr "${!seen[@]}")))
	start_tuned 'apply_via: direct'
	becomes "$1 is silent, status: the same, as many ports read, and the gap" '.fabric | "\(.switches) switches, \(.channel_adapters
		) hosts, \(.links) links, \(.gaps | length) ports; \(.unread | length); \(.silent != null)"' \
		"$known_switches switches, $known_hosts hosts, $known_links links, $gap_ports ports; 0; true" status
	becomes "$1 is silent, report: nodes on its map" '.map.nodes | length' "$known_nodes" report
	stop "$TUNED_PID"
	hear "$1"
}

# rate_mbps 4xQDR: as ibcc_link_rate_mbps() has them, after line coding.
rate_mbps()
{
	case $1 in
	4xDDR) echo 16000 ;;
	4xQDR) echo 32000 ;;
	4xFDR10) echo 40000 ;;
	4xFDR) echo 54545 ;;
	4xEDR) echo 100000 ;;
	esac
}

# port_lid KEY: an adapter's, as ibnetdiscover has found it.
port_lid() { sed -n "/^Ca.*\"${node_id[$1]}\"/,/^\$/s/^\\[1\\].*# lid \\([0-9]*\\) lmc.*/\\1/p" "$TMP/found"; }

# route: of the first hot flow, or the first of all, as ibtracert has it.
route()
{
	local from to
	read -r from to <<<"$flow"
	stock ibtracert "$(port_lid "$from")" "$(port_lid "$to")" 2>"$TMP/ibtracert.log"
}

check_silence()
{
	local switch port mbps
	check_silent "$silent_host" "$root" "$sources ${near-}"
	route >"$TMP/route" || fail "$(say ibtracert)"
	for switch in ${silent_switch-}; do
		grep -q "{0x*${node_id[$switch]#*-}}" "$TMP/route" && continue
		check_silent "$switch" "$root" "$sources ${near-}"
		return
	done
	[ -n "${hidden_switch-}" ] || fail "$(say "no switch is off the route: $(cat "$TMP/route")")"
	if [ "$hidden_kind" = input ]; then
		check_silent "$hidden_switch" "$root" "$sources"
		return
	fi
	# "[17] -> switch port {0x...}[4] lid ...": the step to it, in front of it the port that leads there.
	port=$(sed -n "s/^\\[\\([0-9]*\\)\\] -> .*{0x${node_id[$hidden_switch]#*-}}.*/\\1/p" "$TMP/route")
	read -r _ _ mbps <<<"${cabled["$before_hidden $port"]}"
	check_silent "$hidden_switch" "${beside_hidden:+$beside_hidden$'\n'}$before_hidden $port output $(rate_mbps "$mbps")" ''
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
	check_silence
	check_loop
	stop "$OSM_PID"
	stop "$SIM_PID"
}
