# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# report: a page for a ticket, with and without the daemon, and in a browser where there is one: no
# errors, nothing loaded from elsewhere, and no wider than a phone.
. "$(dirname "$0")/lib.sh"

start_sim "$SCENARIO"
start_opensm --plugin
write_config
tune report >"$TMP/out" 2>&1 && fail "a report to nowhere"
equal "where to is to be said" "$(cat "$TMP/out")" "ibcc-tune: report: --html FILE or -j is missing"
# Its few readings see congestion and its contributors, unless the simulation stood still in one: a busy machine's does,
# and a unit in which ports send and wait for longer than there is time is not believed.
alone()
{
	tune report --html "$TMP/alone.html" -j >"$TMP/alone.json" 2>"$TMP/tune.log"
	rc=$?
	[ "$rc" != 0 ] || jq -e '.map.trees[0] | length == 6' "$TMP/alone.json"
}
wait_until 20 alone
equal "a report without the daemon: status, schema, error, roots, nodes, links, settings, history" \
	"$rc $(jq -c '[.schema, .error, (.plan.roots | length), (.map.nodes | length), (.map.links | length),
		(.settings | length), .history]' "$TMP/alone.json")" '0 [1,null,1,8,7,8,[]]'
# By the numbers of nodes in the list: from each source to its switch, over the link, out to the sink.
equal "the way to the root" "$(jq -r '.map as $m | $m.trees[0][] | "\($m.nodes[.[0]].node)/\(.[1])"' "$TMP/alone.json" | sort | tr '\n' ' ')" \
	"leaf1/8 leaf2/2 source1/1 source2/1 source3/1 source4/1 "

start_tuned 'mode: apply'
changed() { tune report -j >"$TMP/report.json" && jq -e '.history | length > 0' "$TMP/report.json" && jq -e '.status.now.settings.reacting_ports > 0' "$TMP/report.json"; }
wait_until 40 changed || fail "no report with a change"
# The same of the congestion that a page tells of: it is the last pass's.
whole()
{
	tune report --html "$TMP/report.html" 2>"$TMP/tune.log"
	rc=$?
	lacks=
	for part in '<h2>Fabric</h2>' 'leaf2 port 2, slow receiver' 'class="role4"' '<h2>Settings on the fabric</h2>' \
		'<h2>What was changed</h2>' 'OpenSM 3.3' '<td>done</td>'; do
		grep -qF -- "$part" "$TMP/report.html" || lacks="$lacks $part"
	done
	[ "$rc" != 0 ] || [ -z "$lacks" ]
}
wait_until 20 whole
equal "the page has it all: status, what it lacks" "$rc$lacks" 0
[ "$(wc -c <"$TMP/report.html")" -lt 100000 ] || fail "the page is large"
without "the page is one file" "$TMP/report.html" -nE '<script|<link|<img|url\(|(src|href)='
tune report --html "$TMP/none/report.html" 2>"$TMP/out" && fail "a page in no folder"
grep -q "none/report.html: No such file" "$TMP/out" || fail "no reason"
ok "a page that cannot be written is an error"
[ -z "$(find "$TMP" -name 'report.html.*')" ] || fail "something is left"

browser=
for b in chromium chromium-browser google-chrome; do
	[ -n "$browser" ] || browser=$(command -v "$b")
done
[ -n "$browser" ] || { ok "skipped: no chromium"; exit 0; }
# browse OPTION...: on the page; its messages are in $TMP/browser.
browse()
{
	HOME=$TMP timeout 120 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run \
		--user-data-dir="$TMP/profile" --enable-logging=stderr "$@" "file://$TMP/page.html" 2>"$TMP/browser"
}
# What a browser makes of it is asked by a script behind the page, which the page itself has not. A
# window narrower than the browser can be is a frame in it.
for width in 400 1280; do
	cat >"$TMP/page.html" <<-HTML
	<iframe id="f" style="width:${width}px;height:900px;border:0"></iframe><script>
	const f = document.getElementById("f");
	f.srcdoc = new TextDecoder().decode(Uint8Array.from(atob("$(base64 -w0 "$TMP/report.html")"), c => c.charCodeAt(0)));
	f.onload = () => {
		const d = f.contentDocument, r = d.documentElement, s = [...d.querySelectorAll("svg.map text")];
		const px = s.map(t => t.getBoundingClientRect().height).filter(h => h > 0);
		document.title = "done";
		document.body.innerHTML = "<pre>" + JSON.stringify({ wide: r.scrollWidth, title: d.title,
			texts: px.length, least: Math.min(...px), colour: getComputedStyle(d.body).backgroundColor }) + "</pre>";
	};
	</script>
	HTML
	for scheme in 0 1; do
		browse --blink-settings=preferredColorScheme=$scheme --virtual-time-budget=5000 --dump-dom >"$TMP/dom" || fail "the browser: $(tail -n 3 "$TMP/browser")"
		sed -n 's/.*<pre>\(.*\)<\/pre>.*/\1/p' "$TMP/dom" >"$TMP/seen.log"
		jq -e --argjson w $width '.wide <= $w and .title != "" and .texts > 8 and .least >= 9' "$TMP/seen.log" >"$TMP/jq.log" ||
			fail "at $width pixels: $(cat "$TMP/seen.log")"
		jq -r .colour "$TMP/seen.log" >>"$TMP/colours"
		silent "the browser does not complain" awk '/CONSOLE|ERR_/' "$TMP/browser"
	done
	ok "in a browser $width pixels wide"
done
equal "light and dark" "$(sort -u "$TMP/colours" | wc -l)" 2
