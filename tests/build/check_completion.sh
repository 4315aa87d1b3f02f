#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# What bash and zsh complete of ibcc-tune: each command and each option of its help, which fits a terminal, nodes
# and numbers. In place of the daemon there is a program that answers as it would.
set -eu
B=$(cd "${IBCC_BUILD:-build}" && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
not_ok() { echo "not ok - $*"; exit 1; }

mkdir "$tmp/bin"
cat >"$tmp/bin/ibcc-tune" <<FAKE
#!/bin/sh
case "\$*" in
'report -j') printf '{\n  "map": [\n    {\n      "node": "leaf one"\n    },\n    {\n      "node": "leaf2"\n    }\n  ]\n}\n' ;;
'history -j') printf '{\n  "id": 17,\n  "id": 4\n}\n' ;;
*) exec "$B/ibcc-tune" "\$@" ;;
esac
FAKE
chmod +x "$tmp/bin/ibcc-tune"
PATH=$tmp/bin:$PATH
export PATH
ibcc-tune --help >"$tmp/help"
sed -n '/^Commands:/,/^$/s/^  \([a-z-]*\) .*/\1/p' "$tmp/help" | sort >"$tmp/commands"
grep -oE -- '^ .*--[A-Za-z-]+' "$tmp/help" | sed 's/.*--/--/' | sort -u >"$tmp/options"
[ -z "$(awk 'length > 80' "$tmp/help")" ] || not_ok "the help is wider than a terminal"
[ "$(wc -l <"$tmp/commands")" -gt 10 ] && [ "$(wc -l <"$tmp/options")" -gt 30 ] || not_ok "the help tells too little"

if command -v bash >/dev/null; then
	# complete_bash WORD...: what bash offers for the last one.
	complete_bash()
	{
		bash -c '. systemd/ibcc-tune.bash; COMP_WORDS=(ibcc-tune "$@"); COMP_CWORD=$#
			_ibcc_tune ibcc-tune "${@: -1}"; printf "%s\n" "${COMPREPLY[@]}"' - "$@" 2>/dev/null | sort
	}
	complete_bash '' | diff "$tmp/commands" - || not_ok "bash: commands"
	complete_bash -- | sort -u | diff "$tmp/options" - || not_ok "bash: options"
	[ "$(complete_bash --units G)" = Gb/s ] || not_ok "bash: units"
	[ "$(complete_bash show leaf2)" = leaf2 ] || not_ok "bash: nodes"
	[ "$(complete_bash history '' | tr '\n' ' ')" = '17 4 ' ] || not_ok "bash: numbers"
	echo "ok - bash completes commands, options, nodes and numbers"
fi
if command -v zsh >/dev/null; then
	zsh -n systemd/ibcc-tune.zsh || not_ok "zsh: syntax"
	cp systemd/ibcc-tune.zsh "$tmp/_ibcc-tune"
	# What is offered is printed, not shown.
	cat >"$tmp/run.zsh" <<-'ZSH'

	_call_program() { shift; "$@" }
	_files() { print -rl -- FILES }
	_describe() { local name=${@[-1]}; print -rl -- ${${(P)name}%%:*} }
	compadd() {
		local -a list
		case $1 in
		-a) list=(${(P)2}) ;;
		--) list=(${@[2,-1]}) ;;
		*) list=($@) ;;
		esac
		print -rl -- $list
	}
	dir=$1; shift
	words=(ibcc-tune "$@"); CURRENT=$#words
	. $dir/_ibcc-tune
	ZSH
	complete_zsh() { zsh -f "$tmp/run.zsh" "$tmp" "$@" 2>&1 | sort; }
	complete_zsh '' | diff "$tmp/commands" - || not_ok "zsh: commands"
	complete_zsh -- | sort -u | diff "$tmp/options" - || not_ok "zsh: options"
	[ "$(complete_zsh --units '' | tr '\n' ' ')" = 'Gb/s MB/s ' ] || not_ok "zsh: units"
	[ "$(complete_zsh show '' | tr '\n' ' ')" = 'leaf one leaf2 ' ] || not_ok "zsh: nodes"
	[ "$(complete_zsh -v history '' | tr '\n' ' ')" = '17 4 ' ] || not_ok "zsh: numbers"
	[ "$(complete_zsh apply '')" = FILES ] || not_ok "zsh: files"
	echo "ok - zsh completes commands, options, nodes and numbers"
else
	echo "ok - skipped: no zsh"
fi
