# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Sourced by boot.sh: follows doc/first-day.md in the container, as an administrator would, and compares what is printed
# with what the page shows (steps.awk, expect.sh). The container's hardware is the fabric "demo" of ibcc-sim.
# shellcheck shell=bash disable=SC2154 # boot.sh has dir and top

ran=()     # the commands of the page so far
home=/root # where the page's commands run; the reader's folder

# in_home COMMAND: what asks the fabric without the daemon sees the simulated one.
in_home()
{
	local command=$1
	case $command in
	'ibcc-tune --via direct'*) command="ibcc-sim exec --name demo -- $command" ;;
	esac
	sh_inside "cd $home && $command"
}

settled() { inside ibcc-tune status -j | grep -q '"stage": *"settled"'; }
on_trial() { inside ibcc-tune status -j | grep -q '"seconds_left"'; }
# answers COMMAND: what a person types: a yes, and ENTER once a trial has its effect.
answers()
{
	sleep 2
	echo y
	case $1 in *--confirm-within*) wait_until 60 on_trial && wait_until 300 settled && echo ;; esac
	sleep 5
}
# typed COMMAND: on a terminal that is wide enough for its tables.
typed()
{
	answers "$1" | in_home "NO_COLOR=1 script -qec 'stty cols 200; ${1%%#*}' /dev/null"
}

# walk_run COMMAND: what only looks is tried until there is something to see.
walk_run()
{
	local n=${#ran[@]}
	ran+=("$1")
	case $1 in
	'ibcc-tune apply'* | 'ibcc-tune rollback'* | 'ibcc-tune disable'*)
		case $1 in *' apply'*) wait_until 120 planned || fail "first day: nothing is planned for $1" ;; esac
		typed "$1" >"$dir/walk.$n" 2>&1 || fail "first day: $1: $(cat "$dir/walk.$n")"
		;;
	ibcc-tune*) wait_until 90 walk_again "$n" || fail "first day: $1: $(cat "$dir/walk.$n")" ;;
	*) in_home "$1" >"$dir/walk.$n" 2>&1 || fail "first day: $1: $(cat "$dir/walk.$n")" ;;
	esac
	case $1 in *rollback* | *disable*) ! is_on || fail "first day: $1 leaves: $(inside ibcc-tune show)" ;; esac
	ok "first day: ${1%%#*}"
}
walk_again() { in_home "${ran[$1]}" >"$dir/walk.$1" 2>&1; }
as_shown() { sh "$top/tests/boot/expect.sh" "$dir/walk.expected" "$dir/walk.$1" >"$dir/walk.why"; }
shown_again() { walk_again "$1" && as_shown "$1"; }

# walk_expect COMMAND: it printed walk.expected, the last one with these arguments; without COMMAND the last of all. One
# that only looks may need some time.
walk_expect()
{
	local n=$((${#ran[@]} - 1)) line
	for ((; n > 0; n--)); do
		line=${ran[$n]%%#*}
		[[ $1 && "${line%"${line##*[! ]}"}" != *" ${1#ibcc-tune }" ]] || break
	done
	case ${ran[$n]} in
	*' apply'* | *' rollback'* | *' disable'*) as_shown "$n" ;;
	*) as_shown "$n" || wait_until 90 shown_again "$n" ;;
	esac || fail "first day: ${ran[$n]} is not as the page shows: $(cat "$dir/walk.why"); it printed: $(cat "$dir/walk.$n")"
	ok "first day: its output is as the page shows"
}

walk_file()
{
	local file=${1%% *} line=${1#* }
	sh_inside "sed -i '/^#\\?${line%%:*}:/d' $file && echo '$line' >>$file"
}

# walk STEPS: those of steps.awk.
walk()
{
	local record kind text expecting='' none=1
	while IFS= read -r record <&4; do
		kind=${record%% *} text=${record#"${record%% *}"}
		text=${text# }
		if [ "$kind" != out ] && [ -z "$none" ]; then
			walk_expect "$expecting"
			none=1
		fi
		case $kind in
		run) walk_run "$text" ;;
		file) walk_file "$text" ;;
		expect) expecting=$text none='' && : >"$dir/walk.expected" ;;
		out) printf '%s\n' "$text" >>"$dir/walk.expected" ;;
		esac
	done 4<<<"$(cat "$1"; echo end)"
}

# rehearse STEPS: the section without hardware. The first command has a terminal of its own, the others share a second
# one, in which the last is tried until it prints what the page shows.
rehearse()
{
	local first rest sim
	first=$(sed -n 's/^run //p' "$1" | head -n 1)
	rest=$(sed -n 's/^run //p' "$1" | sed 1d)
	sed -n 's/^out //p' "$1" >"$dir/walk.expected"
	[ -n "$rest" ] && [ -s "$dir/walk.expected" ] || fail "the rehearsal of the first day: $(cat "$1")"
	inside mkdir -p /tmp/rehearsal
	sh_inside "cd /tmp/rehearsal && echo \$\$ >sim.pid && exec $first" >"$dir/rehearsal.sim" 2>&1 &
	sim=$!
	wait_until 60 grep -q ready "$dir/rehearsal.sim" || fail "no fabric to rehearse: $(cat "$dir/rehearsal.sim")"
	sh_inside "set -m; cd /tmp/rehearsal; $(sed '$d' <<<"$rest")
		for i in {1..120}; do $(tail -n 1 <<<"$rest") >out; cp out printed; sleep 1; [ ! -e enough ] || break; done
		kill %1 %2; wait" >"$dir/rehearsal.log" 2>&1 &
	rehearsed() { sh_inside 'cat /tmp/rehearsal/printed' >"$dir/walk.rehearsal" && as_shown rehearsal; }
	wait_until 90 rehearsed ||
		fail "the rehearsal of the first day: $(cat "$dir/walk.why" "$dir/walk.rehearsal"; tail -n 5 "$dir/rehearsal.log")"
	inside touch /tmp/rehearsal/enough
	wait $! 2>/dev/null
	sh_inside 'kill -INT "$(cat /tmp/rehearsal/sim.pid)"'
	wait "$sim" 2>/dev/null
	inside rm -r /tmp/rehearsal
	ok "the first day can be rehearsed without hardware"
}
