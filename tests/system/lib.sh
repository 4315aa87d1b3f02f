# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Sourced by the system tests: a simulated fabric and subnet managers of their own for each test,
# in a temporary folder, ended by pid when the test ends, however it ends.
# shellcheck shell=bash disable=SC2034 # variables for the tests
set -u

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
IBCC_BUILD=${IBCC_BUILD:-$top/build}
case $IBCC_BUILD in /*) ;; *) IBCC_BUILD=$top/$IBCC_BUILD ;; esac
export IBCC_BUILD

TMP=$(mktemp -d "${TMPDIR:-/tmp}/ibcc-test.XXXXXX") # logs and clients' ./sys-<pid> folders
SIM=ibcc-test-$$ # name of this test's simulator
SIM_PID=         # of the simulator that start_sim started last
OSM_PID=         # of the opensm that start_opensm started last
OSM_LOG=         # its log
CHILDREN=()
SCENARIO=$top/perftest/scenarios/lustre.yaml
BOOT_SECONDS=30 # for a simulator, and for opensm, to get ready
TOOL_SECONDS=30 # for a tool to end
# Virtual seconds in one of the host's: less than an engine can do, which would keep a processor from those who are
# tested; and where it cannot keep up, virtual time goes by fits and starts, and so do counters between two readings.
SIM_SPEED=0.05

# Sanitizers test our code: umad2sim copies more than it has received.
printf 'interceptor_via_lib:%s\n' libumad2sim.so >"$TMP/umad2sim.supp"
export ASAN_OPTIONS="suppressions=$TMP/umad2sim.supp${ASAN_OPTIONS:+:$ASAN_OPTIONS}"

# say OUTCOME: results for tests/run.sh, which counts lines that begin with "ok ".
ok() { printf 'ok - %s\n' "$*"; }
fail()
{
	printf 'not ok - %s\n' "$*"
	local f
	for f in "$TMP"/*.log; do
		[ -s "$f" ] && { echo "--- $(basename "$f")"; tail -n 15 "$f"; }
	done
	exit 1
}

# check TEXT COMMAND...: ok if the command succeeds. Its output is shown only if not.
check()
{
	local text=$1 rc=0
	shift
	"$@" >"$TMP/check.log" 2>&1 || rc=$?
	[ "$rc" = 0 ] || fail "$text (status $rc: $*)"
	ok "$text"
}

# equal TEXT GOT WANT
equal()
{
	[ "$2" = "$3" ] || fail "$1: got '$2', want '$3'"
	ok "$1"
}

# wait_until SECONDS COMMAND...: runs the command until it succeeds.
wait_until()
{
	# What an idle machine may take; one under load gets three times that.
	local end=$((SECONDS + 3 * $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ "$SECONDS" -lt "$end" ] || return 1
		sleep 0.1
	done
}

alive() { kill -0 "$1" 2>/dev/null; }
gone() { ! alive "$1"; }

# child_of PID NAME: the child of a process with that name. pgrep is not on every machine.
child_of() { sed -n "s/^\([0-9]*\) ($2) [A-Z] $1 .*/\1/p" /proc/[0-9]*/stat 2>/dev/null; }

# background LOG COMMAND...: starts a child that the test's end ends; its pid is in $!.
background()
{
	local log=$1
	shift
	(cd "$TMP" && exec "$@" >>"$log" 2>&1 </dev/null) &
	CHILDREN+=($!)
}

# stop PID [SIGNAL]: ends a child and waits for it.
stop()
{
	kill -"${2:-TERM}" "$1" 2>/dev/null
	wait_until 10 gone "$1" || kill -KILL "$1" 2>/dev/null
	wait "$1" 2>/dev/null
}

cleanup()
{
	local rc=$? i
	trap - EXIT INT TERM
	# Youngest first: the simulator outlives its clients.
	for ((i = ${#CHILDREN[@]} - 1; i >= 0; i--)); do
		alive "${CHILDREN[i]}" && stop "${CHILDREN[i]}"
	done
	# What a sanitizer says at a program's end, leaks above all, nobody else would notice.
	if grep -lE 'ERROR: (Address|Leak)Sanitizer|: runtime error: ' "$TMP"/*.log 2>/dev/null; then
		grep -hE -A 20 'ERROR: (Address|Leak)Sanitizer|: runtime error: ' "$TMP"/*.log | head -60
		echo "not ok - a sanitizer has found something"
		rc=1
	fi
	rm -rf "$TMP"
	exit "$rc"
}
trap cleanup EXIT
trap 'exit 1' INT TERM

# start_sim FILE [OPTION...]: a simulator on a scenario (*.yaml) or a netfile, at SIM_SPEED if no option says else.
start_sim()
{
	local kind=--netfile
	case $1 in *.yaml) kind=--scenario ;; esac
	: >"$TMP/sim.log" # of an earlier simulator
	background "$TMP/sim.log" "$IBCC_BUILD/ibcc-sim" run $kind "$1" --name "$SIM" --speed "$SIM_SPEED" "${@:2}"
	SIM_PID=$!
	wait_until "$BOOT_SECONDS" grep -q '^ready ' "$TMP/sim.log" || fail "ibcc-sim does not get ready"
}

sim() { timeout 20 "$IBCC_BUILD/ibcc-sim" "$1" --name "$SIM" "${@:2}"; }

# at HOST TOOL ARGS...: a tool as it runs on a host of the fabric; stock TOOL ARGS: on the first.
at()
{
	(cd "$TMP" && export OSM_CACHE_DIR="$TMP" OSM_TMP_DIR="$TMP" &&
		timeout "$TOOL_SECONDS" "$IBCC_BUILD/ibcc-sim" exec --name "$SIM" ${1:+--host "$1"} -- "${@:2}")
}
stock() { at '' "$@"; }

# tree PORTS LEVELS: a scenario, a fat tree of switches with so many ports, without traffic.
tree()
{
	cat <<-YAML
	name: tree
	title: An $1-port $2-tree
	duration_ms: 100
	topology:
	  rate: 4x QDR
	  mtu_bytes: 2048
	  tree: {ports: $1, levels: $2}
	traffic: []
	YAML
}

# two_switches PORT...: a netfile of two switches with two hosts each, linked by these ports.
two_switches()
{
	local s p
	for s in 1 2; do
		printf 'Switch 8 "S%d"\n[1] "H%d"[1]\n[2] "H%d"[1]\n' $s $((2 * s - 1)) $((2 * s))
		for p in "$@"; do printf '[%d] "S%d"[%d]\n' "$p" $((3 - s)) "$p"; done
		echo
	done
	for p in 1 2 3 4; do
		printf 'Hca 1 "H%d"\n[1] "S%d"[%d]\n\n' "$p" $(((p + 1) / 2)) $(((p - 1) % 2 + 1))
	done
}

# Runtimes that the plugin needs in front of everything else when it was built with sanitizers.
plugin_preload()
{
	local lib path list=
	for lib in $(readelf -d "$IBCC_BUILD/libibcc_opensm.so" 2>/dev/null |
		sed -n 's/.*NEEDED.*\[\(.*san.*\)\]/\1/p'); do
		path=$(${CC:-gcc} -print-file-name="$lib")
		list=$list${list:+:}$path
	done
	echo "$list"
}

# start_opensm [--plugin] [--host HOST] [--tag TAG] [CONFIGURATION LINE]...: an opensm daemon;
# returns when it says SUBNET UP (or, with --no-wait, at once).
start_opensm()
{
	local host='' tag=osm plugin='' preload='' wait=yes
	while [ $# -gt 0 ]; do
		case $1 in
		--plugin) plugin=yes; shift ;;
		--host) host=$2; shift 2 ;;
		--tag) tag=$2; shift 2 ;;
		--no-wait) wait=; shift ;;
		*) break ;;
		esac
	done
	mkdir -p "$TMP/$tag"
	OSM_LOG=$TMP/$tag/opensm.log
	rm -f "$OSM_LOG" # opensm would go on with an earlier one's, which says SUBNET UP already
	{
		echo 'daemon FALSE'
		echo "log_file $OSM_LOG"
		echo 'force_log_flush TRUE'
		if [ -n "$plugin" ]; then
			echo 'event_plugin_name ibcc_opensm'
			echo "event_plugin_options ${PLUGIN_OPTIONS:-ibcc.socket=$TMP/opensm.sock}"
		fi
		printf '%s\n' "$@"
	} >"$TMP/$tag/opensm.conf"
	if [ -n "$plugin" ]; then
		preload=$(plugin_preload)
		# Stock code is not what is tested: umad2sim copies more than it has received, and
		# opensm's answer may free the request before write() has come back.
		printf 'interceptor_via_lib:%s\n' libumad2sim.so libosmvendor.so >"$TMP/asan.supp"
	fi
	# shellcheck disable=SC2016
	background "$TMP/$tag.log" env OSM_CACHE_DIR="$TMP/$tag" OSM_TMP_DIR="$TMP/$tag" \
		"$IBCC_BUILD/ibcc-sim" exec --name "$SIM" ${host:+--host "$host"} -- \
		env ${plugin:+LD_LIBRARY_PATH="$IBCC_BUILD"} ${preload:+ASAN_OPTIONS="detect_leaks=0:suppressions=$TMP/asan.supp"} \
		sh -c 'LD_PRELOAD="${1:+$1:}$LD_PRELOAD" exec opensm -F "$2"' - \
		"$preload" "$TMP/$tag/opensm.conf"
	OSM_PID=$!
	[ -z "$wait" ] || wait_until "$BOOT_SECONDS" grep -q 'SUBNET UP' "$OSM_LOG" ||
		fail "opensm does not reach SUBNET UP"
}

# write_config [LINE]...: a configuration for the daemon, and the same for the command line, with all
# files in $TMP; STATE_FILE may say where the state file is.
write_config()
{
	local line
	# Five passes a second leave no time between two MADs. A line of the test's own is the one that
	# counts.
	for line in 'interval_ms: 200' 'node_window: 4' 'node_gap_us: 0' "plugin_socket: $TMP/opensm.sock"; do
		case "
$(printf '%s\n' "$@")" in *"
${line%%:*}:"*) ;; *) set -- "$line" "$@" ;; esac
	done
	printf '%s\n' "control_socket: $TMP/control.sock" "state_file: ${STATE_FILE:-$TMP/state.db}" \
		"log: {target: stderr, level: debug}" "$@" >"$TMP/tuned.yaml"
	cp "$TMP/tuned.yaml" "$TMP/cli.yaml"
}

# tune ARGS...: the command line with that configuration. An apply waits until it holds.
tune()
{
	local TOOL_SECONDS=180
	stock "$IBCC_BUILD/ibcc-tune" -z "$TMP/cli.yaml" "$@"
}

# start_tuned [LINE]...: the daemon with that configuration; its pid is TUNED_PID. TUNED_PRELOAD may name
# a library to preload.
TUNED_PID=
start_tuned()
{
	write_config "$@"
	background "$TMP/tuned.log" env ${TUNED_PRELOAD:+LD_PRELOAD="$TUNED_PRELOAD"} \
		"$IBCC_BUILD/ibcc-sim" exec --name "$SIM" -- "$IBCC_BUILD/ibcc-tuned" -z "$TMP/tuned.yaml"
	TUNED_PID=$!
	wait_until 10 tune status || fail "ibcc-tuned does not get ready"
}

# set_mads: Set requests of the congestion control class that the fabric has seen.
set_mads()
{
	sim stats -j | jq '[.rows[] | select(.class == "0x21" and .method == "0x02") | .count] | add // 0'
}
