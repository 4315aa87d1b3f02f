# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# bash completion of ibcc-tune(1): commands, options and what an option takes, as its own help lists them.
_ibcc_tune()
{
	local cur prev help line word value='' command='' commands
	_init_completion 2>/dev/null || {
		cur=${COMP_WORDS[COMP_CWORD]}
		prev=${COMP_WORDS[COMP_CWORD - 1]}
	}
	help=$("$1" --help 2>/dev/null)
	commands=$(sed -n '/^Commands:/,/^$/s/^  \([a-z-]*\) .*/\1/p' <<<"$help")
	for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
		[[ -n $command || $'\n'$commands$'\n' != *$'\n'"$word"$'\n'* ]] || command=$word
	done
	[[ -z $command ]] || help+=$'\n'$("$1" help "$command" 2>/dev/null)
	# "-n, --name VALUE  what it does", or without the letter.
	while read -r line; do
		[[ $line =~ ^(-.)?,?\ ?(--[A-Za-z-]+)\ ([^\ ]+) ]] || continue
		[[ $prev != "${BASH_REMATCH[1]}" && $prev != "${BASH_REMATCH[2]}" ]] || value=${BASH_REMATCH[3]}
	done <<<"$help"
	case $prev in
	-C | --Ca)
		mapfile -t COMPREPLY < <(compgen -W "$(ls /sys/class/infiniband 2>/dev/null)" -- "$cur")
		return ;;
	--confirm-within)
		mapfile -t COMPREPLY < <(compgen -W '60s 120s 5m 15m 1h' -- "$cur")
		return ;;
	esac
	case $value in
	'') ;;
	FILE | PATH) mapfile -t COMPREPLY < <(compgen -f -- "$cur"); return ;;
	FOLDER) mapfile -t COMPREPLY < <(compgen -d -- "$cur"); return ;;
	*'|'*) mapfile -t COMPREPLY < <(compgen -W "${value//|/ }" -- "$cur"); return ;;
	*) return ;;
	esac
	case $cur in
	-*)
		mapfile -t COMPREPLY < <(compgen -W "$(grep -oE -- '^ +(-., )?--[A-Za-z-]+' <<<"$help" | sed 's/.*--/--/')" -- "$cur")
		return ;;
	esac
	# Nodes and numbers as the daemon knows them, without a MAD.
	case $command in
	'' | help) mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$cur") ;;
	apply | key | policy) mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
	show)
		mapfile -t COMPREPLY < <("$1" report -j 2>/dev/null | sed -n 's/^ *"node": "\(.*\)",*$/\1/p' | sort -u |
			while read -r node; do case $node in "$cur"*) printf '%q\n' "$node" ;; esac done) ;;
	rollback | history)
		mapfile -t COMPREPLY < <(compgen -W "$("$1" history -j 2>/dev/null | sed -n 's/^ *"id": \([0-9]*\),*$/\1/p')" -- "$cur") ;;
	esac
}
complete -F _ibcc_tune ibcc-tune
