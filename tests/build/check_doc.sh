#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Each experiment has its page, with all it has to tell; pages come out as HTML that is one file; and each promise of the
# threat model has a test that exists.
set -eu
B=${IBCC_BUILD:-build}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
not_ok() { echo "not ok - $*"; exit 1; }

for f in perftest/experiments/*.yaml; do
	md=doc/experiments/$(basename "$f" .yaml).md
	[ -s "$md" ] || not_ok "$f has no page $md"
	for part in '# ..*' 'Published by .*' '## What was assumed' '## What fits' '## What does not' \
		'## What could not be reproduced' '<!-- plot -->' '<!-- table -->'; do
		grep -qx -- "$part" "$md" || not_ok "$md does not tell: $part"
	done
done
for md in doc/experiments/*.md; do
	[ -e "perftest/experiments/$(basename "$md" .md).yaml" ] || not_ok "$md has no experiment"
done
echo "ok - each experiment has its page"

cat >"$tmp/lustre.md" <<'MD'
<!-- licence -->
# A & B

One *two
three* `a < b`.

- first
  goes on
- second

| k | v |
|---|---|
| x | 1 |
<!-- table -->
<!-- plot -->
MD
sh doc/render.sh page "$B/ibcc-bench" "$tmp/lustre.md" "$tmp/lustre.html" --short || not_ok "no page"
for part in '<h1>A &amp; B</h1>' 'three</em> <code>a &lt; b</code>.' '<li>first' '<li>second' \
	'<td>x</td>' '<td>1</td>' '<td class="n">1870.8</td>' '</svg>'; do
	grep -qF -- "$part" "$tmp/lustre.html" || not_ok "the page lacks $part"
done
! grep -qE 'licence|(src|href)="(http|/)' "$tmp/lustre.html" || not_ok "the page is not one file"
for t in p ul li table tr td svg; do
	[ "$(grep -oE "<${t}[ >]" "$tmp/lustre.html" | wc -l)" = "$(grep -oF "</$t>" "$tmp/lustre.html" | wc -l)" ] ||
		not_ok "the page has open <$t>"
done
echo "ok - a page with figures and plot"

printf '# T\n\n<!-- plot lustre -->\n\n<!-- table lustre -->\n' >"$tmp/law.md"
sh doc/render.sh tuned "$B/ibcc-bench" "$tmp/law.md" "$tmp/law.html" --short || not_ok "no page of scores"
for part in '<td>victim/live</td>' '</svg>' '">target</th>'; do
	grep -qF -- "$part" "$tmp/law.html" || not_ok "the page of scores lacks $part"
done
for name in $(sed -n 's/^<!-- \(plot\|table\) \([a-z0-9-]*\) -->$/\2/p' doc/internals/control-law.md); do
	[ -e "perftest/tune/$name.yaml" ] || not_ok "doc/internals/control-law.md: no scores $name"
done
echo "ok - a page with scores"

sh doc/render.sh index "$tmp/index.html" doc/experiments/*.md
[ "$(grep -c '<li><a href' "$tmp/index.html")" = "$(ls perftest/experiments/*.yaml | wc -l)" ] ||
	not_ok "the index lacks a page"
echo "ok - the index"

# A promise begins with bold words under "What holds", and ends at the next one.
awk '/^## / { holds = $0 == "## What holds" } holds && /^- \*\*/ { n++; line[n] = $0 } holds && n { text[n] = text[n] $0 }
	END { for (i = 1; i <= n; i++) if (text[i] !~ /`(tests\/|test_)[a-z_\/]*/) print line[i] }' doc/threat-model.md >"$tmp/promises"
[ ! -s "$tmp/promises" ] || not_ok "a promise of doc/threat-model.md has no test: $(head -n 1 "$tmp/promises")"
n=0
for name in $(grep -oE '`(tests/[a-z]+/)?(test|check|fuzz)_[a-z_]+(\.sh|\.c)?`' doc/threat-model.md | tr -d '`'); do
	n=$((n + 1))
	ls tests/*/"${name##*/}"* >/dev/null 2>&1 || not_ok "doc/threat-model.md: there is no $name"
done
[ "$n" -ge 30 ] || not_ok "doc/threat-model.md names only $n tests"
echo "ok - each promise of the threat model has a test"
