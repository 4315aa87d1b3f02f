#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# The journal's catalogue has an entry for each kind of message, and no other; systemd can read it.
set -eu
catalog=systemd/ibcc-tune.catalog
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

sed -n 's/.*\[IBCC_LOG_[A-Z_]*\] = "\(.*\)",/\1/p' lib/text/log_ids.c | sort >"$tmp/ids"
sed -n 's/^-- //p' $catalog | sort >"$tmp/entries"
n=$(wc -l <"$tmp/ids")
[ "$n" = "$(sed -n '/^enum ibcc_log_kind/,/^};/p' include/ibcc/log.h | grep -c '^	IBCC_LOG_[A-Z_]*,.*' | awk '{ print $1 - 1 }')" ] ||
	{ echo "not ok - a kind of message has no MESSAGE_ID"; exit 1; }
[ -z "$(grep -vE '^[0-9a-f]{32}$' "$tmp/ids")" ] && [ -z "$(uniq -d "$tmp/ids")" ] ||
	{ echo "not ok - a MESSAGE_ID is none, or there twice"; exit 1; }
diff "$tmp/ids" "$tmp/entries" || { echo "not ok - catalogue and messages differ"; exit 1; }
awk '/^-- / { if (seen && seen != 3) exit 1; seen = 1 } /^Subject: ./ { seen++ } seen == 2 && /^[A-Z][^:]* / { seen = 3 }
	END { exit seen != 3 }' $catalog || { echo "not ok - an entry says nothing"; exit 1; }
echo "ok - $n kinds of messages are in the catalogue"
for kind in $(sed -n 's/.*\[\(IBCC_LOG_[A-Z_]*\)\] = ".*/\1/p' lib/text/log_ids.c); do
	grep -qrw "$kind" daemon lib/text/log.c || { echo "not ok - nothing is logged as $kind"; exit 1; }
done
echo "ok - each is used"

command -v journalctl >/dev/null || { echo "ok - skipped: no journalctl"; exit 0; }
mkdir -p "$tmp/root/usr/lib/systemd/catalog" "$tmp/root/var/lib/systemd/catalog"
cp $catalog "$tmp/root/usr/lib/systemd/catalog/"
if journalctl --root="$tmp/root" --update-catalog >"$tmp/said" 2>&1; then
	[ "$(journalctl --root="$tmp/root" --list-catalog 2>/dev/null | grep -c ibcc-tune)" = "$n" ] ||
		{ cat "$tmp/said"; echo "not ok - systemd does not see all entries"; exit 1; }
	echo "ok - systemd reads it"
else
	echo "ok - skipped: $(tail -n 1 "$tmp/said")"
fi
