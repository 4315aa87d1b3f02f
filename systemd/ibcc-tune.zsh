#compdef ibcc-tune
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# zsh completion of ibcc-tune(1): options and commands as its own help lists them, with what it says of
# them; nodes and numbers of changes as the daemon tells them, without a MAD.
_ibcc_tune()
{
	local -a match mbegin mend lines commands options nodes
	local prev=${words[CURRENT - 1]} word command=
	case $prev in
	-z | --config | -o | --output | --node-name-map | --socket | --save | --html | --load-cache | --counters) _files; return ;;
	--sysfs-root) _files -/; return ;;
	-C | --Ca) compadd -- /sys/class/infiniband/*(N:t); return ;;
	--via) compadd plugin direct; return ;;
	--units) compadd MB/s Gb/s; return ;;
	--color) compadd auto always never; return ;;
	esac
	lines=("${(@f)$(_call_program help $words[1] --help 2>/dev/null)}")
	# "  name       what it does" of a command, and "  -n, --name VALUE   what it does" of an option.
	for word in $lines; do
		if [[ $word =~ '^  ([a-z][a-z-]*) +(.*)$' ]]; then
			commands+=("$match[1]:$match[2]")
		elif [[ $word =~ '^ [^-]*(-[a-zA-Z], |)--([a-zA-Z-]+)[^ ]*( [A-Z][^ ]*)?( +(.*))?$' ]]; then
			options+=("--$match[2]:$match[5]")
		fi
	done
	for word in ${words[2,CURRENT - 1]}; do
		[[ -n $command || -z ${(M)commands:#$word:*} ]] || command=$word
	done
	if [[ ${words[CURRENT]} == -* ]]; then
		_describe -o option options
		return
	fi
	case $command in
	'') _describe command commands ;;
	apply | key) _files ;;
	show)
		nodes=(${(f)"$(_call_program nodes $words[1] report -j 2>/dev/null | sed -n 's/^ *"node": "\(.*\)",*$/\1/p' | sort -u)"})
		compadd -a nodes ;;
	rollback | history)
		compadd -- ${(f)"$(_call_program numbers $words[1] history -j 2>/dev/null | sed -n 's/^ *"id": \([0-9]*\),*$/\1/p')"} ;;
	esac
}
_ibcc_tune "$@"
