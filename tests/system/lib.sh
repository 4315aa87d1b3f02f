# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Sourced by the system tests: a simulated fabric and subnet managers of their own for each test,
# in a temporary folder, ended by pid when the test ends, however it ends.
# shellcheck shell=bash disable=SC2034 # variables for the tests
set -u

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=tests/wait.sh
. "$top/tests/wait.sh"
IBCC_BUILD=${IBCC_BUILD:-$top/build}
case $IBCC_BUILD in /*) ;; *) IBCC_BUILD=$top/$IBCC_BUILD ;; esac
export IBCC_BUILD
unset SUDO_USER # of the user that runs the tests: it stands in the history
umask 022 # other users read the configurations that tests write; under root's own umask they might not
# Where ibsim, opensm and infiniband-diags may be; an ordinary user's PATH does not have it.
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
# script(1) starts a command by it, or by /bin/sh where there is none. Debian's stays between, so that Ctrl-C ends it,
# too, and its exit code stands in for the command's.
export SHELL=$BASH

TMP=$(mktemp -d "${TMPDIR:-/tmp}/ibcc-test.XXXXXX") # logs and clients' ./sys-<pid> folders
SIM=ibcc-test-$$ # name of this test's simulator
SIM_PID=         # of the simulator that start_sim started last
OSM_PID=         # of the opensm that start_opensm started last
OSM_LOG=         # its log
CHILDREN=()
SCENARIO=$top/perftest/scenarios/lustre.yaml
BOOT_SECONDS=30 # for a simulator, and for opensm, to get ready
TOOL_SECONDS=30 # for a tool to end
# Virtual seconds in one of the host's: less than an engine can do, which would keep a processor from those that are
# tested; and where it cannot keep up, virtual time goes by fits and starts, and so do counters between two readings.
SIM_SPEED=0.05
# A machine under load has everything slower from the test's beginning on: virtual time, the daemon's passes and its
# patience with a MAD. So a pass sees the same virtual time, and has the same time to read the counters.
measure_load
PACE=$SLOWDOWN
INTERVAL_MS=$((200 * PACE / 100))
TIMEOUT_MS=$INTERVAL_MS
DEADLINE_MS=$((2000 * PACE / 100))

# Sanitizers test our code: umad2sim copies more than it has received.
printf 'interceptor_via_lib:%s\n' libumad2sim.so >"$TMP/umad2sim.supp"
export ASAN_OPTIONS="suppressions=$TMP/umad2sim.supp${ASAN_OPTIONS:+:$ASAN_OPTIONS}"

# With IBCC_VALGRIND=memcheck or helgrind an opensm with the plugin runs under that tool (make check-valgrind).
UNDER=
[ -z "${IBCC_VALGRIND-}" ] || UNDER="valgrind --tool=$IBCC_VALGRIND --num-callers=30 --log-file=$TMP/valgrind.%p.log \
	--suppressions=$top/tests/valgrind/$IBCC_VALGRIND.supp"
case ${IBCC_VALGRIND-} in memcheck) UNDER="$UNDER --leak-check=full --track-origins=yes" ;; helgrind) UNDER="$UNDER --history-level=approx" ;; esac

# What fail() says is for the reader of the test's output, also where the output of a condition goes nowhere.
exec {TEST_OUTPUT}>&1
# say OUTCOME: results for tests/run.sh, which counts lines that begin with "ok ".
ok() { printf 'ok - %s\n' "$*"; }
# skip WHY: ends a test of which nothing can be tested here. One that ends without a word to tests/run.sh has failed.
skip() { printf '[  SKIPPED ] %s\n' "$*"; exit 0; }
fail()
{
	exec >&"$TEST_OUTPUT"
	printf 'not ok - %s\n' "$*"
	local f
	for f in "$TMP"/*.log; do
		[ -s "$f" ] && { echo "--- $(basename "$f")"; tail -n 15 "$f"; }
	done
	exit 1
}

# check TEXT COMMAND...: ok if the command succeeds. Its output is shown only if not; it is in check.log once the
# command has ended. Until then check.log has the output of the check before, which the command may read.
check()
{
	local _text=$1 _rc=0
	shift
	"$@" >"$TMP/check.new" 2>&1 || _rc=$?
	mv "$TMP/check.new" "$TMP/check.log"
	[ "$_rc" = 0 ] || fail "$_text (status $_rc: $*)"
	ok "$_text"
}

# equal TEXT GOT WANT: two results of nothing are not equal, as two commands that fail would be; see silent.
equal()
{
	[ "$2" = "$3" ] || fail "$1: got '$2', want '$3'"
	[ -n "$2" ] || fail "$1: nothing was compared with nothing"
	ok "$1"
}

# silent TEXT COMMAND...: ok if the command succeeds and prints nothing.
silent()
{
	local text=$1
	check "$@"
	[ ! -s "$TMP/check.log" ] || fail "$text: it prints something"
}

# without TEXT FILE GREP-ARGUMENT...: ok if grep finds nothing in the file. An empty file, or none at all, shows
# nothing, and nor does a grep that fails.
without()
{
	local text=$1 file=$2 rc=0
	shift 2
	[ -s "$file" ] || fail "$text: $file is empty"
	grep "$@" "$file" >"$TMP/found.log" 2>&1 || rc=$?
	[ "$rc" = 1 ] || fail "$text: grep $* $file ends with $rc"
	rm "$TMP/found.log"
	ok "$text"
}

# same TEXT WANT GOT: ok if the files have the same lines, and any; differ TEXT FILE FILE: if both have lines, which
# differ. Files of nothing would be alike where two commands had failed, and a missing one differs from all.
compared()
{
	local text=$1 want=$2 rc=0
	cat "$3" >"$TMP/compared.a" && cat "$4" >"$TMP/compared.b" || fail "$text: a file cannot be read"
	[ -s "$TMP/compared.a" ] && [ -s "$TMP/compared.b" ] || fail "$text: $3 or $4 is empty"
	diff "$TMP/compared.a" "$TMP/compared.b" >"$TMP/diff.log" || rc=$?
	[ "$rc" = "$want" ] || fail "$text"
	rm "$TMP/diff.log"
	ok "$text"
}
same() { compared "$1" 0 "$2" "$3"; }
differ() { compared "$1" 1 "$2" "$3"; }

# jq: by gojq where that is installed: jq 1.6 needs 40 ms of a processor to start, gojq 4, and tests start it thousands
# of times. gojq sorts all keys by itself and knows no -S. With -e, jq 1.6 succeeds on empty input, as if there had been an
# answer. Here no answer is a failure, as gojq and jq 1.7 have it.
QUERY=$(command -v gojq) || QUERY=jq
jq()
{
	local rc=0 answer
	if [ "$QUERY" != jq ]; then
		[ "$1" != -S ] || shift
		command "$QUERY" "${@/#-cS/-c}"
		return
	fi
	case " $* " in
	*" -e "* | *" -"[a-z]e" "* | *" -e"[a-z]" "*) ;;
	*) command jq "$@"; return ;;
	esac
	answer=$(command jq "$@") || rc=$?
	[ -z "$answer" ] || printf '%s\n' "$answer"
	[ "$rc" != 0 ] || [ -n "$answer" ] || rc=4
	return "$rc"
}

alive() { kill -0 "$1" 2>/dev/null; }
gone() { ! alive "$1"; }
# is_child PID: of this shell. The pid of a child that has ended may belong to another process by now, also of another
# test, so nothing is ended by its number alone.
is_child()
{
	local stat
	read -r stat 2>/dev/null <"/proc/$1/stat" || return 1
	stat=${stat##*) }
	stat=${stat#* }
	[ "${stat%% *}" = $$ ]
}

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
		is_child "${CHILDREN[i]}" && stop "${CHILDREN[i]}"
	done
	# What a sanitizer says at a program's end, leaks above all, no other check would notice.
	if grep -lE 'ERROR: (Address|Leak)Sanitizer|: runtime error: ' "$TMP"/*.log 2>/dev/null; then
		grep -hE -A 20 'ERROR: (Address|Leak)Sanitizer|: runtime error: ' "$TMP"/*.log | head -60
		echo "not ok - a sanitizer has found something"
		rc=1
	fi
	# Each finding has a line for its innermost frame; those of stock code are suppressed.
	if [ -n "$UNDER" ]; then
		grep -q 'Command: opensm' "$TMP"/valgrind.*.log || { echo "not ok - no opensm has run under $IBCC_VALGRIND"; rc=1; }
		if grep -l '    at 0x' "$TMP"/valgrind.*.log; then
			grep -h -B 12 -A 30 '    at 0x' "$TMP"/valgrind.*.log | head -200
			echo "not ok - $IBCC_VALGRIND has found something"
			rc=1
		fi
	fi
	rm -f "/dev/shm/ibcc-sim.ibcc-test-$$.clock" "/dev/shm/ibcc-sim.ibcc-test-$$-"*.clock # of a simulator that was killed
	rm -rf "$TMP"
	exit "$rc"
}
trap cleanup EXIT
trap 'exit 1' INT TERM

# start_sim FILE [--speed SPEED] [OPTION...]: a simulator on a scenario (*.yaml) or a netfile, at SIM_SPEED if not at
# another speed.
start_sim()
{
	local kind=--netfile file=$1 speed=$SIM_SPEED
	case $1 in *.yaml) kind=--scenario ;; esac
	shift
	if [ "${1-}" = --speed ]; then
		speed=$2
		shift 2
	fi
	speed=$(awk -v speed="$speed" -v pace="$PACE" 'BEGIN { print speed * 100 / pace }')
	: >"$TMP/sim.log" # of an earlier simulator
	background "$TMP/sim.log" "$IBCC_BUILD/ibcc-sim" run $kind "$file" --name "$SIM" --speed "$speed" "$@"
	SIM_PID=$!
	wait_until "$BOOT_SECONDS" grep -q '^ready ' "$TMP/sim.log" || fail "ibcc-sim does not get ready"
}

# sim stats|settings|set... [ARGUMENT]...: as ibcc-sim with that command.
sim() { stretch 20; "$IBCC_BUILD/tests/system/tool" "$STRETCHED" . ask "$1" --name "$SIM" "${@:2}"; }

# delay_mads MICROSECONDS: for each MAD, at the machine's pace, like the patience of daemon and plugin.
delay_mads() { sim set "mad_delay_us=$(($1 * PACE / 100))"; }

# at HOST TOOL ARGS...: a tool as it runs on a host of the fabric; stock TOOL ARGS: on the first.
at()
{
	stretch "$TOOL_SECONDS"
	"$IBCC_BUILD/tests/system/tool" "$STRETCHED" "$TMP" exec --name "$SIM" ${1:+--host "$1"} -- "${@:2}"
}
stock() { at '' "$@"; }

# for_others PROGRAM: copies one of our programs to $TMP/bin, where every user may run it. A build in root's home, or made
# under a umask of 077, is for root alone.
for_others() { mkdir -p "$TMP/bin" && chmod 711 "$TMP" "$TMP/bin" && cp -u "$IBCC_BUILD/$1" "$TMP/bin" && chmod 755 "$TMP/bin/$1"; }

# unprivileged PROGRAM ARGS...: one of our programs, as root by a user who may read hardly anything.
unprivileged()
{
	local program=$1
	shift
	if [ "$(id -u)" != 0 ]; then
		within 20 "$IBCC_BUILD/$program" "$@"
		return
	fi
	for_others "$program" || return
	within 20 setpriv --reuid 65534 --regid 65534 --clear-groups "$TMP/bin/$program" "$@"
}

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

# start_marked: a simulator on $SCENARIO, where the switch before the slow receiver marks. Adapters count the marks without
# being throttled, so the same ones contribute and suffer all the time.
start_marked()
{
	{
		cat "$SCENARIO"
		echo 'congestion_control:'
		echo '  switch: {threshold: 12, victim_mask: [2]}'
		echo '  ca: {ccti_timer: 10, ccti_increase: 1}'
		echo '  cct: {shape: linear, max_delay_packets: 0}'
	} >"$TMP/marked.yaml"
	start_sim "$TMP/marked.yaml"
}

plugin_knows() { timeout 5 "$IBCC_BUILD/tests/system/plugin_client" "$TMP/opensm.sock" state | grep -q ' nodes=[1-9]'; }

# start_opensm [--plugin] [--host HOST] [--tag TAG] [CONFIGURATION LINE]...: an opensm daemon;
# returns when it says SUBNET UP and its plugin knows nodes (or, with --no-wait, at once).
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
			echo "event_plugin_options ibcc.timeout_ms=$TIMEOUT_MS ${PLUGIN_OPTIONS:-ibcc.socket=$TMP/opensm.sock}"
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
		sh -c 'LD_PRELOAD="${1:+$1:}$LD_PRELOAD" exec $3 opensm -F "$2"' - \
		"$preload" "$TMP/$tag/opensm.conf" "${plugin:+$UNDER}"
	OSM_PID=$!
	[ -z "$wait" ] || wait_until "$BOOT_SECONDS" grep -q 'SUBNET UP' "$OSM_LOG" ||
		fail "opensm does not reach SUBNET UP"
	# The plugin reads what OpenSM has found a moment later.
	[ "$wait$plugin${PLUGIN_OPTIONS-}" != yesyes ] || wait_until "$BOOT_SECONDS" plugin_knows ||
		fail "the plugin serves no topology"
}

# write_config [LINE]...: a configuration for the daemon, and the same for the command line, with all
# files in $TMP; STATE_FILE may say where the state file is.
write_config()
{
	local line given
	printf -v given '\n%s' "$@"
	# Five passes a second leave no time between two MADs. A user ibcc of this host has nothing to do with the tests. A
	# line of the test's own is the one that counts.
	for line in 'user: root' "interval_ms: $INTERVAL_MS" "timeout_ms: $TIMEOUT_MS" "pass_deadline_ms: $DEADLINE_MS" 'node_window: 4' 'node_gap_us: 0' "plugin_socket: $TMP/opensm.sock" "jobs_file: $TMP/jobs.json"; do
		case $given in *$'\n'"${line%%:*}:"*) ;; *) set -- "$line" "$@" ;; esac
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

# port_file NAME: where the daemon reads NAME (state, phys_state) of its port. libumad2sim writes these files once, when a
# program first looks at them. So a program that does that while its host has no cable reads "DOWN" for as long as it lives.
port_file() { echo "$TMP/sys-$TUNED_PID"/sys/class/infiniband/*/ports/*/"$1"; }

# kernel_sees_link: changes them as the kernel of a real host does when the cable is back.
kernel_sees_link()
{
	[ -s "$(port_file state)" ] && [ -s "$(port_file phys_state)" ] || fail "the daemon has no port: $(port_file state)"
	echo '2: INIT' >"$(port_file state)"
	echo '5: LinkUp' >"$(port_file phys_state)"
}

# status FILTER: asks the daemon, into status.json, prints what the filter makes of it, and fails if that is no, or nothing.
# What the command says is in tune.log.
status() { tune status -j >"$TMP/status.json" 2>"$TMP/tune.log" && jq -e "$1" "$TMP/status.json"; }

# settings: those of congestion control that the nodes of the fabric have.
settings() { sim settings -j | jq -cS '[.rows[] | del(.lid, .summary)]'; }

# set_mads: Set requests of the congestion control class that the fabric has seen.
set_mads()
{
	sim stats -j | jq '[.rows[] | select(.class == "0x21" and .method == "0x02") | .count] | add // 0'
}
