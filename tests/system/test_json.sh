# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# With -j there is one object on stdout, whatever happens, and it is as doc/schema/ibcc-tune.schema.json
# says, which knows every key.
. "$(dirname "$0")/lib.sh"

python=
for p in python3 /usr/bin/python3; do
	[ -n "$python" ] || { "$p" -c 'from jsonschema import Draft202012Validator' 2>/dev/null && python=$p; }
done
# keep NAME COMMAND...: the answer of a command, of this kind.
answers=()
keep()
{
	local file=$TMP/${#answers[@]}.json
	"${@:2}" >"$file" 2>>"$TMP/tune.log"
	[ "$(jq -s length "$file" 2>&1)" = 1 ] || fail "not one object: ${*:2}: $(head -c 300 "$file")"
	jq -e '.schema == 1' "$file" >"$TMP/jq.log" || fail "no schema: ${*:2}"
	answers+=("$1=$file")
}

mkdir -p "$TMP/sys/sys/class/infiniband/mlx5_0/ports/1/hw_counters"
echo 12 >"$TMP/sys/sys/class/infiniband/mlx5_0/ports/1/hw_counters/out_of_sequence"
echo 'mode: nonsense' >"$TMP/bad.yaml"
write_config
keep ooo-check "$IBCC_BUILD/ibcc-tune" -j ooo-check --sysfs-root "$TMP/sys"
keep error "$IBCC_BUILD/ibcc-tune" -j ooo-check --sysfs-root "$TMP/none"
mkdir "$TMP/policy" && printf 'a_start\na_id: 1\nk 1\na_end\nrpg_gd 11\n' >"$TMP/policy/f"
keep policy "$IBCC_BUILD/ibcc-tune" -j policy -n "$TMP/policy/f" a:1/k=2 rpg_gd=3
keep policy "$IBCC_BUILD/ibcc-tune" -j policy -y "$TMP/policy/f" k=2
keep policy "$IBCC_BUILD/ibcc-tune" -j policy -y --undo "$TMP/policy/f"
keep error "$IBCC_BUILD/ibcc-tune" -j policy -y "$TMP/policy/f" none=2
keep error "$IBCC_BUILD/ibcc-tune" --nonsense -j status
keep error "$IBCC_BUILD/ibcc-tune" -j
keep error "$IBCC_BUILD/ibcc-tune" -j nonsense
keep error "$IBCC_BUILD/ibcc-tune" -j plan --root x
keep error "$IBCC_BUILD/ibcc-tune" -j -z "$TMP/bad.yaml" plan
keep error "$IBCC_BUILD/ibcc-tune" -j -z "$TMP/cli.yaml" status
keep error "$IBCC_BUILD/ibcc-tune" -j -z "$TMP/cli.yaml" apply -y "$TMP/none"
keep error "$IBCC_BUILD/ibcc-tune" -j -z "$TMP/cli.yaml" top
ok "without an answer there is an error"
# What to do next depends on whether this host has a device.
case $(jq -r .error "$TMP/11.json") in
"ibcc-tuned is not running: no program listens at $TMP/control.sock"*) ok "with the words for people" ;;
*) fail "the words for people: $(jq -r .error "$TMP/11.json")" ;;
esac

keep ppcc "$IBCC_BUILD/ibcc-tune" -j show --ppcc "$top/tests/fuzz/corpus/ppcc/full"
keep error "$IBCC_BUILD/ibcc-tune" -j show --ppcc "$top/tests/fuzz/corpus/ppcc/damaged"

start_sim "$SCENARIO"
start_opensm --plugin
keep plan tune -j plan
# job_map: the daemon counts what jobs did once it has a map that was made after the polling cycle.
job_map()
{
	printf '{"version": 1, "made_s": %s, "period_s": 600, "source": "file", "jobs": [
		{"id": "1", "user": "ann", "name": "cfd", "start_s": 1, "hosts": ["source1", "source2", "nowhere"]},
		{"id": "2", "start_s": 1, "end_s": 2, "hosts": ["source3"]}]}\n' "$(date +%s)" >"$TMP/jobs.new" && mv "$TMP/jobs.new" "$TMP/jobs.json"
}
job_map
start_tuned
planned() { tune plan -j >"$TMP/plan.json" && jq -e '.writes > 0' "$TMP/plan.json"; }
wait_until 30 planned || fail "no plan"
keep plan tune -j plan -o "$TMP/kept.json"
answers+=("plan_file=$TMP/kept.json")
counted() { job_map && sleep 1 && tune jobs -j >"$TMP/jobs.answer" && jq -e '.jobs[0].id == "1"' "$TMP/jobs.answer"; }
wait_until 30 counted || fail "no jobs: $(cat "$TMP/jobs.answer")"
keep jobs tune -j jobs
keep error tune -j jobs --since yesterday
keep status tune -j status
keep status tune -j top --limit 1
keep show tune -j show
keep error tune -j show --node-name-map "$TMP/none"
keep show tune -j show leaf2
keep odd tune -j show --odd
keep error tune -j show --odd leaf2
keep probe tune -j probe
keep report tune -j report
keep bundle tune -j bundle
keep bundle tune -j bundle --anonymous -o "$TMP/bundle.json"
answers+=("bundle=$TMP/bundle.json")
keep error tune -j history 4711
keep error tune -j rollback -y 4711
keep outcome tune -j apply -y "$TMP/kept.json"
keep error tune -j apply -y "$TMP/kept.json"
keep history tune -j history
keep history tune -j history 1
keep history tune -j history --series
keep outcome tune -j rollback -y
wait_until 30 planned || fail "no plan"
keep what-if tune -j what-if --set ccti_timer=30
keep error tune -j what-if
keep plan tune -j plan --load-cache "$TMP/bundle.json"
keep what-if tune -j what-if --set ccti_timer=30 --load-cache "$TMP/bundle.json"
keep error tune -j plan --load-cache "$TMP/kept.json"
keep plan tune -j apply -y --confirm-within 600s
keep status tune -j status
keep history tune -j history
keep confirm tune -j confirm
keep outcome tune -j disable -y
keep outcome tune -j repair -y

# NVIDIA's own congestion control, and an adapter that does not answer all of it.
stop "$TUNED_PID"
stop "$OSM_PID"
stop "$SIM_PID"
{
	cat "$SCENARIO"
	printf '%s\n' 'devices:' '  hosts: {profile: connectx-6, nvidia_cc: on}' \
		'  switches: {profile: quantum2, nvidia_cc: on}'
} >"$TMP/nvidia.yaml"
start_sim "$TMP/nvidia.yaml"
start_opensm
sim set nvidia_parameters.source1=off >/dev/null
start_tuned 'apply_via: direct'
noted() { tune show -j | jq -e '.nodes[] | select(.nvidia_notifications)'; }
wait_until 60 noted || fail "no notifications"
keep show tune -j show
keep odd tune -j show --odd
printf 'rpg_ai_rate 5\nrpg_gd x\n' >"$TMP/policy/f"
keep policy-check tune -j policy "$TMP/policy/f" --check
printf 'rpg_ai_rate 7\n' >"$TMP/policy/f"
keep policy-check tune -j policy "$TMP/policy/f" --check
keep probe tune -j probe
keep status tune -j status
keep advise tune -j advise
ok "each answer is one object of schema 1"
[ -n "$python" ] || { ok "skipped: no python3-jsonschema"; exit 0; }

# Where the schema lists keys these are all: what is not told is not promised.
"$python" - "$top/doc/schema/ibcc-tune.schema.json" "${answers[@]}" >"$TMP/schema.log" 2>&1 <<'PYTHON' || fail "the schema"
import json, sys
from jsonschema import Draft202012Validator as Validator

def close(o):
    if isinstance(o, dict):
        if "properties" in o:
            o.setdefault("additionalProperties", False)
        for v in o.values():
            close(v)
    elif isinstance(o, list):
        for v in o:
            close(v)

schema = json.load(open(sys.argv[1]))
close(schema["$defs"])
Validator.check_schema(schema)
seen, bad = set(), 0
for answer in sys.argv[2:]:
    name, path = answer.split("=", 1)
    seen.add(name)
    check = Validator({"$ref": "#/$defs/" + name, "$defs": schema["$defs"]})
    for e in check.iter_errors(json.load(open(path))):
        bad += 1
        print(name, "/".join(map(str, e.absolute_path)), e.message[:300])
for kind in schema["anyOf"]:
    name = kind["$ref"].rsplit("/", 1)[1]
    if name not in seen:
        bad += 1
        print("no answer of kind", name)
sys.exit(bad > 0)
PYTHON
ok "${#answers[@]} answers are as the schema says"
