#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# What bash and zsh complete of ibcc-tune: each command and its options, as its help has them, which fits a terminal,
# what options take, nodes and numbers. In place of the daemon there is a program that answers as it would.
set -eu
B=$(cd "${IBCC_BUILD:-build}" && pwd)
tmp=$(mktemp -d)
scripts=$PWD/systemd
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
options() { grep -oE -- '^ +(-., )?--[A-Za-z-]+' "$@" | sed 's/.*--/--/' | sort -u; }
options "$tmp/help" >"$tmp/options"
cp "$tmp/help" "$tmp/all"
while read -r c; do
	ibcc-tune help "$c" >"$tmp/help.$c"
	cat "$tmp/help" "$tmp/help.$c" | options >"$tmp/options.$c"
	cat "$tmp/help.$c" >>"$tmp/all"
done <"$tmp/commands"
[ -z "$(awk 'length > 79' "$tmp/all")" ] || not_ok "the help is wider than a terminal"
[ "$(wc -l <"$tmp/commands")" -gt 10 ] && [ "$(options "$tmp/all" | wc -l)" -gt 30 ] || not_ok "the help tells too little"
# An option is in the help of all commands, or of some.
for o in $(options "$tmp"/help.*); do
	! grep -qx -e "$o" "$tmp/options" || not_ok "$o is an option of all commands, and of some"
done

if command -v bash >/dev/null; then
	# complete_bash WORD...: what bash offers for the last one.
	complete_bash()
	{
		scripts=$scripts bash -c '. "$scripts"/ibcc-tune.bash; COMP_WORDS=(ibcc-tune "$@"); COMP_CWORD=$#
			_ibcc_tune ibcc-tune "${@: -1}"; printf "%s\n" "${COMPREPLY[@]}"' - "$@" 2>/dev/null | sort
	}
	complete_bash '' | diff "$tmp/commands" - || not_ok "bash: commands"
	complete_bash -- | sort -u | diff "$tmp/options" - || not_ok "bash: options"
	for c in $(cat "$tmp/commands"); do
		complete_bash "$c" -- | sort -u | diff "$tmp/options.$c" - || not_ok "bash: options of $c"
	done
	complete_bash help '' | diff "$tmp/commands" - || not_ok "bash: commands of help"
	[ "$(complete_bash plan --color a | tr '\n' ' ')" = 'always auto ' ] || not_ok "bash: words of an option"
	[ "$(complete_bash --units G)" = Gb/s ] || not_ok "bash: units"
	[ "$(cd systemd && complete_bash -z ibcc-tune.b)" = ibcc-tune.bash ] || not_ok "bash: file of an option"
	[ "$(cd systemd && complete_bash apply -y --confirm-within 1 | tr '\n' ' ')" = '120s 15m 1h ' ] || not_ok "bash: times"
	[ -z "$(complete_bash plan --root '')" ] || not_ok "bash: a number of an option"
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
	for c in $(cat "$tmp/commands"); do
		complete_zsh "$c" -- | sort -u | diff "$tmp/options.$c" - || not_ok "zsh: options of $c"
	done
	complete_zsh help '' | diff "$tmp/commands" - || not_ok "zsh: commands of help"
	[ "$(complete_zsh plan --color a | tr '\n' ' ')" = 'always auto never ' ] || not_ok "zsh: words of an option"
	[ "$(complete_zsh --units '' | tr '\n' ' ')" = 'Gb/s MB/s ' ] || not_ok "zsh: units"
	[ "$(complete_zsh plan -o '')" = FILES ] || not_ok "zsh: file of an option"
	[ -z "$(complete_zsh plan --root '')" ] || not_ok "zsh: a number of an option"
	[ "$(complete_zsh show '' | tr '\n' ' ')" = 'leaf one leaf2 ' ] || not_ok "zsh: nodes"
	[ "$(complete_zsh -v history '' | tr '\n' ' ')" = '17 4 ' ] || not_ok "zsh: numbers"
	[ "$(complete_zsh apply '')" = FILES ] || not_ok "zsh: files"
	echo "ok - zsh completes commands, options, nodes and numbers"
else
	echo "ok - skipped: no zsh"
fi
