#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Alerts, dashboard and manual speak of metrics that there are, and of all; alerts fire when they should.
set -eu
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
not_ok() { echo "not ok - $*"; exit 1; }
dashboard=monitoring/ibcc-tune.dashboard.json
rules=monitoring/ibcc-tune.rules.yaml

grep -oE '"(ibcc|infiniband)_[a-z0-9_]+"' daemon/metrics/metrics_text.c | tr -d '"' | sort -u >"$tmp/exported"
[ "$(wc -l <"$tmp/exported")" -gt 40 ] || not_ok "hardly a metric found in the sources"

# names: those in what comes in. A name ends where it cannot go on, so a longer one is another one.
names() { grep -oE '\b(ibcc|infiniband)_[a-z0-9_]+' | sort -u; }
only_exported()
{
	[ -s "$2" ] || not_ok "$1 names no metric"
	comm -23 "$2" "$tmp/exported" >"$tmp/unknown"
	[ ! -s "$tmp/unknown" ] || not_ok "$1 names what is not exported: $(tr '\n' ' ' <"$tmp/unknown")"
}

jq -r '.. | objects | (.expr // empty), (.query? | objects | .query // empty)' "$dashboard" >"$tmp/exprs"
jq -e '[.panels[].targets[].expr] | length > 0 and all(test("ibcc_"))' "$dashboard" >/dev/null ||
	not_ok "an expression of the dashboard names no metric"
names <"$tmp/exprs" >"$tmp/names"
only_exported "$dashboard" "$tmp/names"
jq -e '([.panels[].id] | length == (unique | length)) and (.panels | all(.gridPos.x + .gridPos.w <= 24))' \
	"$dashboard" >/dev/null || not_ok "panels of the dashboard are in each other's way"
jq -e '[.panels[].title] | contains(["Blocked senders"]) and any(startswith("Why: "))' "$dashboard" >/dev/null ||
	not_ok "the dashboard does not show which senders are blocked, and why"
# Prometheus calls a scraped label "job" exported_job, since its own is the scrape's.
for metric in ibcc_job_congestion_share ibcc_job_blocked_adapters; do
	jq -e --arg m "$metric" 'any(.panels[].targets[]; (.expr | startswith("topk(10, \($m){")) and (.legendFormat | contains("{{exported_job}}")))' \
		"$dashboard" >/dev/null || not_ok "the dashboard does not show ten jobs by $metric"
done
echo "ok - all that the dashboard shows is exported"
# What Grafana's published kind of a dashboard (kinds/dashboard/dashboard_kind.cue) asks of these members, and a unit for
# each axis. A table has units by column, and a panel with words in place of numbers needs none.
jq -e '(.schemaVersion | type) == "number" and (.editable | type) == "boolean" and (.time | .from and .to)
	and (.uid | test("^[a-z-]{8,40}$"))
	and (.annotations.list | all(.name and .iconColor and (.enable | type) == "boolean" and .datasource.uid))
	and (.templating.list | all(.name and (.type | IN("query", "datasource")) and .query))
	and (.panels | all((.type | length > 0) and (.id | type) == "number" and (.options | type) == "object"
		and (.fieldConfig | (.defaults | type) == "object" and (.overrides | all(.matcher.id and .properties)))
		and (.gridPos | .h > 0 and .w > 0 and .x >= 0 and .y >= 0)
		and (.targets | all(.refId and .datasource.uid)) and ([.targets[].refId] | length == (unique | length))))' \
	"$dashboard" >/dev/null || not_ok "$dashboard has not the form of a Grafana dashboard"
jq -r '.panels[] | select((.title // "") == "" or (.description // "") == "" or (.type != "table" and .options.textMode != "name"
	and .fieldConfig.defaults.mappings == null and .fieldConfig.defaults.unit == null)) | .id' "$dashboard" >"$tmp/bare"
[ ! -s "$tmp/bare" ] || not_ok "panels without a title, a description or a unit: $(tr '\n' ' ' <"$tmp/bare")"
echo "ok - the dashboard has Grafana's form, and each panel a title, a description and units"

sed -n '/expr:/,/for:/p' "$rules" | names >"$tmp/names"
only_exported "$rules" "$tmp/names"
[ "$(grep -c 'alert: ' "$rules")" = 11 ] || not_ok "there are not eleven alerts"
for a in $(sed -n 's/.*- alert: //p' "$rules"); do
	grep -A 2 "alertname: $a\$" tests/build/alerts.yaml | grep -q exp_alerts ||
		grep -q "alertname: $a, exp_alerts" tests/build/alerts.yaml || not_ok "nothing tests that $a fires"
	grep -q "^\.It Sy $a\$" man/ibcc-metrics.7 || not_ok "the manual does not have the alert $a"
done
echo "ok - alerts rest on what is exported"

sed -n 's/^\.It Li \([a-z0-9_]*\).*/\1/p' man/ibcc-metrics.7 | sort -u >"$tmp/manual"
grep '^ibcc_' "$tmp/exported" >"$tmp/own"
diff "$tmp/own" "$tmp/manual" >"$tmp/diff" || { cat "$tmp/diff"; not_ok "the manual has other metrics than the sources"; }
echo "ok - the manual has all metrics"

command -v promtool >/dev/null || { echo "ok - promtool is not installed, alerts are not tried # SKIP"; exit 0; }
promtool check rules "$rules" >"$tmp/log" 2>&1 || { cat "$tmp/log"; not_ok "$rules"; }
sed "s|RULES|$PWD/$rules|" tests/build/alerts.yaml >"$tmp/alerts.yaml"
promtool test rules "$tmp/alerts.yaml" >"$tmp/log" 2>&1 || { cat "$tmp/log"; not_ok "alerts"; }
echo "ok - alerts fire when they should"
# Each expression of the dashboard as a rule: promtool reads it as Prometheus would.
{
	printf 'groups:\n- name: dashboard\n  rules:\n'
	jq -r '.. | objects | .expr // empty' "$dashboard" | sed 's/\$__rate_interval/5m/g; s/\$__interval/1m/g' |
		awk '{ printf "  - record: r%d\n    expr: |\n      %s\n", NR, $0 }'
} >"$tmp/dashboard.yaml"
promtool check rules "$tmp/dashboard.yaml" >"$tmp/log" 2>&1 || { cat "$tmp/log"; not_ok "an expression of the dashboard"; }
echo "ok - expressions of the dashboard can be read"
