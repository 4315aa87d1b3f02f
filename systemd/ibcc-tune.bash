# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# bash completion of ibcc-tune(1): options and commands as its own help lists them.
_ibcc_tune()
{
	local cur prev help
	_init_completion 2>/dev/null || {
		cur=${COMP_WORDS[COMP_CWORD]}
		prev=${COMP_WORDS[COMP_CWORD - 1]}
	}
	case $prev in
	-z | --config | --node-name-map | --socket | --sysfs-root | --save | --plot | --html | --load-cache | --counters | -o | --output)
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		return ;;
	-C | --Ca)
		mapfile -t COMPREPLY < <(compgen -W "$(ls /sys/class/infiniband 2>/dev/null)" -- "$cur")
		return ;;
	--confirm-within)
		mapfile -t COMPREPLY < <(compgen -W '60s 120s 5m 15m 1h' -- "$cur")
		return ;;
	--units)
		mapfile -t COMPREPLY < <(compgen -W 'MB/s Gb/s' -- "$cur")
		return ;;
	--color)
		mapfile -t COMPREPLY < <(compgen -W 'auto always never' -- "$cur")
		return ;;
	--via)
		mapfile -t COMPREPLY < <(compgen -W 'plugin direct' -- "$cur")
		return ;;
	# Nodes and numbers as the daemon tells them, without a MAD.
	show)
		mapfile -t COMPREPLY < <("$1" report -j 2>/dev/null | sed -n 's/^ *"node": "\(.*\)",*$/\1/p' | sort -u |
			while read -r node; do case $node in "$cur"*) printf '%q\n' "$node" ;; esac done)
		return ;;
	rollback | history)
		mapfile -t COMPREPLY < <(compgen -W "$("$1" history -j 2>/dev/null | sed -n 's/^ *"id": \([0-9]*\),*$/\1/p')" -- "$cur")
		return ;;
	esac
	help=$("$1" --help 2>/dev/null)
	case $cur in
	-*) mapfile -t COMPREPLY < <(compgen -W "$(grep -oE -- '--[A-Za-z-]+' <<<"$help")" -- "$cur") ;;
	*) mapfile -t COMPREPLY < <(compgen -W "$(sed -n '/^Commands:/,/^$/s/^  \([a-z-]*\) .*/\1/p' <<<"$help")" -- "$cur") ;;
	esac
}
complete -F _ibcc_tune ibcc-tune
