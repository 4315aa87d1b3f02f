#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# What is installed was built with what makes errors in memory hard to use.
set -u

sanitized=no
case $IBCC_BUILD in */variant-*address* | */variant-*undefined*) sanitized=yes ;; esac

# need FILE TEXT PATTERN COMMAND...: the command's output has the pattern.
need()
{
	file=$1
	text=$2
	pattern=$3
	shift 3
	"$@" 2>/dev/null | grep -Eq "$pattern" || { echo "not ok - $file: $text"; exit 1; }
}

n=0
for f in "$IBCC_BUILD"/ibcc-* "$IBCC_BUILD"/libibcc_*.so; do
	[ -f "$f" ] || continue
	n=$((n + 1))
	need "$f" "is not independent of its position" 'Type: +DYN' readelf -hW "$f"
	need "$f" "binds symbols late" 'FLAGS_1.* NOW' readelf -dW "$f"
	need "$f" "leaves its tables writable (relro)" GNU_RELRO readelf -lW "$f"
	need "$f" "has an executable stack" 'GNU_STACK.* RW +0x' readelf -lW "$f"
	need "$f" "has no stack protector" __stack_chk_fail readelf -sW "$f"
	case $f in
	*.so) ;;
	*) need "$f" "is no position-independent program" 'FLAGS_1.* PIE' readelf -dW "$f" ;;
	esac
	# Sanitizers bring code of their own, and checks of their own.
	[ "$sanitized" = no ] || continue
	need "$f" "was built without _FORTIFY_SOURCE" '__(v?snprintf|v?fprintf|printf|memcpy)_chk' readelf -sW "$f"
	echo "ok - $(basename "$f") is hardened"
done
# The C library's start files of Debian 12 are without CET, so no program can be marked as having it;
# but all that is ours must.
if [ "$(uname -m)" = x86_64 ]; then
	for f in "$IBCC_BUILD"/lib/libibcc_*.a; do
		all=$(ar t "$f" | wc -l)
		with=$(readelf -nW "$f" 2>/dev/null | grep -c 'x86 feature: IBT, SHSTK')
		[ "$all" = "$with" ] || { echo "not ok - $f: $with of $all objects have CET"; exit 1; }
	done
	echo "ok - control flow is enforced"
fi
[ "$n" -ge 5 ] || { echo "not ok - only $n programs in $IBCC_BUILD"; exit 1; }
echo "ok - position, symbols, stack"

# The daemon's own filter of system calls allows nothing that the unit's does not, but for what only root does with it.
if command -v systemd-analyze >/dev/null && systemd-analyze syscall-filter @system-service >/dev/null 2>&1; then
	sed -n '/^static const char \*const allowed/,/^};/p' daemon/confine.c | grep -o '"[a-z0-9_]*"' | tr -d '"' | sort >"$IBCC_BUILD/own-calls"
	[ "$(wc -l <"$IBCC_BUILD/own-calls")" -gt 100 ] || { echo "not ok - the daemon's list of system calls is not found"; exit 1; }
	{ systemd-analyze syscall-filter; sed -n 's/^SystemCallFilter=/filter /p' systemd/ibcc-tuned.service.in; } | awk '
		/^@/ { set = $1; next }
		/^    [^#]/ { member[set] = member[set] " " $1 }
		function expand(name, into,    n, part, i) {
			if (name !~ /^@/) { into[name] = 1; return }
			n = split(member[name], part, " ")
			for (i = 1; i <= n; i++)
				expand(part[i], into)
		}
		/^filter / {
			sub(/^filter /, "")
			without = sub(/^~/, "")
			split("", calls)
			n = split($0, name, " ")
			for (j = 1; j <= n; j++)
				expand(name[j], calls)
			for (call in calls) if (without) delete yes[call]; else yes[call] = 1
		}
		END { for (call in yes) print call }' | sort >"$IBCC_BUILD/unit-calls"
	grep -qx seccomp "$IBCC_BUILD/unit-calls" ||
		{ echo "not ok - the unit's filter ends the daemon where it narrows the filter"; exit 1; }
	more=$(comm -23 "$IBCC_BUILD/own-calls" "$IBCC_BUILD/unit-calls" | paste -sd' ')
	[ "$more" = "chown fchown fchownat lchown" ] || { echo "not ok - more than the unit's filter allows: $more"; exit 1; }
	echo "ok - the daemon's filter of system calls is within the unit's"
else
	echo "ok - no systemd-analyze to compare filters of system calls with # SKIP"
fi
