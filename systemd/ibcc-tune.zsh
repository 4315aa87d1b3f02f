#compdef ibcc-tune
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# zsh completion of ibcc-tune(1): commands, options and what an option takes, as its own help lists them;
# nodes and numbers of changes as the daemon knows them, without a MAD.
_ibcc_tune()
{
	local -a match mbegin mend lines commands options nodes
	local prev=${words[CURRENT - 1]} word command= value=
	lines=("${(@f)$(_call_program help $words[1] --help 2>/dev/null)}")
	# "  name       what it does" of a command, and "  -n, --name VALUE   what it does" of an option.
	for word in $lines; do
		[[ ! $word =~ '^  ([a-z][a-z-]*) +(.*)$' ]] || commands+=("$match[1]:$match[2]")
	done
	for word in ${words[2,CURRENT - 1]}; do
		[[ -n $command || -z ${(M)commands:#$word:*} ]] || command=$word
	done
	[[ -z $command ]] || lines+=("${(@f)$(_call_program help $words[1] help $command 2>/dev/null)}")
	for word in $lines; do
		[[ $word =~ '^ +(-[a-zA-Z]|),? ?--([a-zA-Z-]+)[^ ]*( ([^ ]+))?( +(.*))?$' ]] || continue
		options+=("--$match[2]:$match[6]")
		[[ $prev != "--$match[2]" && ( -z $match[1] || $prev != $match[1] ) ]] || value=$match[4]
	done
	case $prev in
	-C | --Ca) compadd -- /sys/class/infiniband/*(N:t); return ;;
	--confirm-within) compadd 60s 120s 5m 15m 1h; return ;;
	esac
	case $value in
	'') ;;
	FILE | PATH) _files; return ;;
	FOLDER) _files -/; return ;;
	*'|'*) compadd -- ${(s:|:)value}; return ;;
	*) return ;;
	esac
	if [[ ${words[CURRENT]} == -* ]]; then
		_describe -o option options
		return
	fi
	case $command in
	'' | help) _describe command commands ;;
	apply | key | policy) _files ;;
	show)
		nodes=(${(f)"$(_call_program nodes $words[1] report -j 2>/dev/null | sed -n 's/^ *"node": "\(.*\)",*$/\1/p' | sort -u)"})
		compadd -a nodes ;;
	rollback | history)
		compadd -- ${(f)"$(_call_program numbers $words[1] history -j 2>/dev/null | sed -n 's/^ *"id": \([0-9]*\),*$/\1/p')"} ;;
	esac
}
_ibcc_tune "$@"
