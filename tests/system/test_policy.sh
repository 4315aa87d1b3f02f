#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# ibcc-tune policy: numbers in a policy file of NVIDIA's OpenSM are shown, written and put back; patch(1) and diff(1) agree.
# There is no fabric, and none is needed.
. "$(dirname "$0")/lib.sh"

: >"$TMP/empty.yaml"
mkdir "$TMP/etc"
file=$TMP/etc/policy.conf
policy() { timeout 20 "$IBCC_BUILD/ibcc-tune" -z "$TMP/empty.yaml" policy "$@"; }
# make_file: the example of NVIDIA's manual, and a profile.
make_file()
{
	rm -f "$TMP/etc"/* && printf '%s\n' '# für den Cluster' 'ca_algo_import_start' '    algo_start' '        algo_id:1' \
		'        algo_file_name: active_algo_file_name' \
		'        parameters: (BW_G,400),(ALPHA,3932),(MAX_DEC,63569),(MAX_INC,69468),(AI,36),(HAI,1200)' \
		'    algo_end' 'ca_algo_import_end' >"$file" && printf 'min: 100\t# KB\r\nmax: 400\r\nother 7' >>"$file" && cp "$file" "$TMP/old"
}
# typed TEXT COMMAND...: the command on a terminal where a user types the text. Sets rc; terminal.log has what it shows.
typed()
{
	rc=0
	printf '%s' "$1" | timeout 60 script -qec "$IBCC_BUILD/ibcc-tune -z $TMP/empty.yaml policy ${*:2}" /dev/null >"$TMP/terminal.log" 2>&1 || rc=$?
}
# refused TEXT WORDS ARGUMENT...: the command ends with 1 and these words, and the file stays.
refused()
{
	local text=$1 words=$2 rc=0
	shift 2
	policy "$@" >"$TMP/out" 2>"$TMP/err" </dev/null || rc=$?
	[ "$rc" = 1 ] && grep -qE "$words" "$TMP/err" || fail "$text: status $rc, $(cat "$TMP/err")"
	same "$text" "$TMP/old" "$file"
}

make_file
check "a dry run" policy --dry-run "$file" AI=40 max=800 other=8
cp "$TMP/check.log" "$TMP/shown"
same "writes nothing" "$TMP/old" "$file"
equal "and leaves nothing" "$(ls "$TMP/etc")" policy.conf
sed 's/(AI,36)/(AI,40)/; s/^max: 400/max: 800/; s/other 7/other 8/' "$TMP/old" >"$TMP/want"
diff -u --label "$file" --label "$file" "$TMP/old" "$TMP/want" >"$TMP/diff.want"
grep -v '^Note: ' "$TMP/shown" >"$TMP/diff.got"
same "it shows what diff -u does" "$TMP/diff.want" "$TMP/diff.got"
check "what is not checked is said of parameters" grep -q '^Note: *AI: .*ignores a number out of the range' "$TMP/shown"
check "and of unknown names" grep -q '^Note: *other: .*did not check' "$TMP/shown"
cp "$file" "$TMP/patched" && check "patch takes it" patch --binary -s "$TMP/patched" "$TMP/shown"
same "and makes the same file" "$TMP/want" "$TMP/patched"

refused "without a terminal it needs -y" 'nothing was changed.*ibcc-tune policy -y' "$file" AI=40
typed $'n\n' "$file" AI=40
equal "no on a terminal" "$rc" 1
same "writes nothing" "$TMP/old" "$file"
check "it asks" grep -q 'Write this to .*? \[y/N\]' "$TMP/terminal.log"
chmod 640 "$file"
typed $'y\n' "$file" AI=40 max=800 other=8
equal "yes" "$rc" 0
same "writes" "$TMP/want" "$file"
same "and keeps the earlier text" "$TMP/old" "$file.ibcc-before"
equal "with its mode" "$(stat -c %a "$file" "$file.ibcc-before" | uniq)" 640
tr -s '\r\n ' ' ' <"$TMP/terminal.log" >"$TMP/said"
check "it says how to undo it" grep -q "ibcc-tune policy $file --undo" "$TMP/said"
check "who reads it" grep -q 'restart OpenSM' "$TMP/said"
check "and how to see the effect" grep -q 'ibcc-tune show --odd' "$TMP/said"
check "the same again" policy -y "$file" AI=40
check "has nothing to write" grep -q 'has these numbers already' "$TMP/check.log"
check "a second change" policy -y "$file" ai=41
check "undone is all" policy --undo -y "$file"
same "to the last byte" "$TMP/old" "$file"
equal "and nothing is left" "$(ls "$TMP/etc")" policy.conf
refused "there is nothing more to undo" 'nothing to undo' --undo -y "$file"

check "a change" policy -y "$file" AI=40
echo '# by hand' >>"$file" && cp "$file" "$TMP/old"
refused "an edited file is not undone" 'changed after ibcc-tune wrote it' --undo -y "$file"

make_file
refused "all mistakes at once" "^$file:9:6: min: got 401, which is greater than the max" -y "$file" min=401
refused "with line and column" "^$file:1:12: Cluster is in a comment only" -y "$file" Cluster=1 nothing=2 other=4294967296
check "each" grep -q "^$file:11:7: other: got 4294967296" "$TMP/err"
check "of them" grep -q "^$file: nothing is not in the file" "$TMP/err"
refused "an argument that is none" 'got "AI", want KEY=NUMBER' -y "$file" AI
refused "no change" 'want at least one change' -y "$file"
refused "a change and --undo" 'want the policy file alone' --undo -y "$file" AI=1
ln -s "$file" "$TMP/etc/link"
refused "a link" "is a symbolic link.*without links: $file" -y "$TMP/etc/link" AI=1
chmod a-w "$file"
refused "a read-only file" 'is read-only \(mode 0440\)|is read-only \(mode 0444\)' -y "$file" AI=1
chmod u+w "$file"
chmod g+w "$TMP/etc"
refused "a folder that others can write to" "other users can write to the folder $TMP/etc" -y "$file" AI=1
chmod g-w "$TMP/etc"
refused "a folder" 'Is a directory' -y "$TMP/etc" AI=1
if [ "$(id -u)" = 0 ]; then
	# Another user's folder, whose links root would follow.
	chown 65534 "$TMP/etc"
	refused "another user's folder" 'belongs to user ID 65534' -y "$file" AI=1
	chown 0 "$TMP/etc"
	chmod 711 "$TMP"
	rc=0
	unprivileged ibcc-tune -z "$TMP/empty.yaml" policy -y "$file" AI=1 >"$TMP/out" 2>"$TMP/err" || rc=$?
	equal "a user without the right to write" "$rc" 1
	check "is refused by the system" grep -q "$file cannot be replaced: Permission denied" "$TMP/err"
	same "and nothing changes" "$TMP/old" "$file"
	equal "nor is anything left" "$(ls "$TMP/etc")" "$(printf 'link\npolicy.conf')"
fi

# The file is edited while the question stands on the terminal.
mkfifo "$TMP/answer"
timeout 60 script -qec "$IBCC_BUILD/ibcc-tune -z $TMP/empty.yaml policy $file AI=40" /dev/null <"$TMP/answer" >"$TMP/terminal.log" 2>&1 &
CHILDREN+=($!)
asked=$!
exec 9>"$TMP/answer"
wait_until 20 grep -q 'y/N' "$TMP/terminal.log" || fail "it does not ask"
echo '# while it asks' >>"$file" && cp "$file" "$TMP/old"
echo y >&9
exec 9>&-
rc=0
wait "$asked" || rc=$?
equal "a file that was edited since it was shown" "$rc" 1
tr -s '\r\n ' ' ' <"$TMP/terminal.log" >"$TMP/said"
check "is not written" grep -q 'was changed after it was read' "$TMP/said"
same "and stays" "$TMP/old" "$file"

# What is in a file does not reach the terminal as commands.
make_file
printf '\nx 1\n# \033]0;title\007\n' >>"$file"
typed $'n\n' "$file" x=2
without "a terminal gets no control characters of the file" "$TMP/terminal.log" -a $'\033]0'
check "a pipe gets all bytes" policy -n "$file" x=2
check "for patch" grep -qa $'\033]0;title' "$TMP/check.log"

make_file
check "in JSON" policy -j -y "$file" algo:1/AI=40 other=8
check "with what was found" jq -e --arg f "$file" '.schema == 1 and .file == $f and .written and .before == $f + ".ibcc-before" and
	(.changes[0] | .key == "AI" and .block == "algo" and .block_id == "1" and .line == 6 and .column == 81 and .old == 36 and
	.new == 40 and .range == "algorithm") and (.changes[1] | .block == null and .range == "unknown") and
	(.diff | test("\n-other 7\n"))' "$TMP/check.log"
policy -j --undo "$file" >"$TMP/out" 2>"$TMP/err"
check "with -j it needs -y, too" jq -e '.error | test("nothing was changed")' "$TMP/out"
check "a dry run of the undo" policy -j -n --undo "$file"
check "writes nothing" jq -e '.written == false and .changes == [] and (.diff | test("\n.other 7\n"))' "$TMP/check.log"
policy -j -y "$file" nothing=1 >"$TMP/out" 2>"$TMP/err"
check "mistakes are in the error" jq -e '.error | test("nothing is not in the file")' "$TMP/out"
