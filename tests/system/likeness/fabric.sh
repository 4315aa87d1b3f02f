# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2034 # devices are for the likenesses
# Builds a fabric node by node and cable by cable, and writes it as ibnetdiscover prints one, which both ibsim and
# our scenarios read. The names and GUIDs are made up; vendor and device IDs are those of real devices.

# Devices, as VENDOR/DEVICE.
INFINISCALE4=0x2c9/0xbd36 SWITCHX=0x2c9/0xc738 SWITCH_IB=0x2c9/0xcb20 QUANTUM2=0x2c9/0xd2f2
VOLTAIRE4036=0x8f1/0x5a5a
INFINIHOST3=0x2c9/0x6274 CONNECTX2=0x2c9/0x673c CONNECTX3=0x2c9/0x1003 CONNECTX4=0x2c9/0x1013
CONNECTX7=0x2c9/0x1021 SHARP=0x2c9/0xcf09

# A node has a key: a short name that only the file of its likeness uses.
node_keys=()
declare -A node_id=() node_guid=() node_ports=() node_device=() node_desc=() # by key
declare -A described=()                                                      # how many have a description
declare -A cabled=()                                                         # "KEY PORT": the other end, and rate

# add_node LETTER KEY PORTS DEVICE DESCRIPTION [GUID]; the letter is that of ibnetdiscover's ids, S or H.
# Bit 57 of the GUIDs says that they are locally administered: no vendor has assigned them.
add_node()
{
	local guid=${6:-$((0x0200000000000000 + 0x10 * (${#node_keys[@]} + 1)))}
	node_keys+=("$2")
	node_ports[$2]=$3
	node_device[$2]=$4
	node_desc[$2]=$5
	node_guid[$2]=$guid
	described[$5]=$((${described[$5]-0} + 1))
	printf -v "node_id[$2]" '%s-%016x' "$1" "$guid"
}

# switch KEY PORTS DEVICE DESCRIPTION, host KEY DEVICE DESCRIPTION [GUID]
switch() { add_node S "$@"; }
host() { add_node H "$1" 1 "${@:2}"; }

# cable KEY PORT KEY PORT RATE
cable()
{
	cabled["$1 $2"]="$3 $4 $5"
	cabled["$3 $4"]="$1 $2 $5"
}

# guid KEY: the node's GUID, as scenarios and our tools have it.
guid() { printf '0x%016x\n' "${node_guid[$1]}"; }

write_netfile()
{
	local key port peer peer_port rate at to
	for key in "${node_keys[@]}"; do
		printf '\nvendid=%s\ndevid=%s\n' "${node_device[$key]%/*}" "${node_device[$key]#*/}"
		case ${node_id[$key]} in
		S*) printf 'switchguid=0x%x\nSwitch\t%d "%s"\t\t# "%s" base port 0 lid 0 lmc 0\n' "${node_guid[$key]}" \
			"${node_ports[$key]}" "${node_id[$key]}" "${node_desc[$key]}" ;;
		H*) printf 'caguid=0x%x\nCa\t%d "%s"\t\t# "%s"\n' "${node_guid[$key]}" \
			"${node_ports[$key]}" "${node_id[$key]}" "${node_desc[$key]}" ;;
		esac
		for ((port = 1; port <= node_ports[$key]; port++)); do
			[ -n "${cabled["$key $port"]-}" ] || continue
			read -r peer peer_port rate <<<"${cabled["$key $port"]}"
			at='' to=''
			case ${node_id[$key]} in H*) printf -v at '(%x)' $((node_guid[$key] + port)) ;; esac
			case ${node_id[$peer]} in H*) printf -v to '(%x)' $((node_guid[$peer] + peer_port)) ;; esac
			printf '[%d]%s\t"%s"[%d]%s\t\t# "%s" lid 0 %s\n' "$port" "$at" "${node_id[$peer]}" "$peer_port" "$to" \
				"${node_desc[$peer]}" "$rate"
		done
	done
}

# name KEY: the node's name in a scenario: its description, or its GUID where others have that, too.
name()
{
	if [ "${described[${node_desc[$1]}]}" = 1 ]; then
		echo "${node_desc[$1]}"
	else
		guid "$1"
	fi
}

# flows NAME KIND FROM TO: an item of traffic; several keys in one argument.
flows()
{
	# shellcheck disable=SC2034 # by their names
	local from=$3 to=$4 key side text=
	for side in from to; do
		text="$text, $side: ["
		for key in ${!side}; do text="$text\"$(name "$key")\", "; done
		text="${text%, }]"
	done
	printf '  - {name: %s, kind: %s%s}\n' "$1" "$2" "$text"
}
