# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# The settings of a fabric (`ibcc-sim settings -j`, as an array of rows) with writes of a state file (book_reader)
# made to them: what ought to be on the fabric by the books. It knows the attributes from IBA, annex A10, and shares
# nothing with our codecs.

# Octets, and fields in network byte order at an offset in octets.
def octets: [scan("..") | explode | map(if . >= 97 then . - 87 else . - 48 end) | 16 * .[0] + .[1]];
def u16($b; $at): 256 * $b[$at] + $b[$at + 1];
def u32($b; $at): 65536 * u16($b; $at) + u16($b; $at + 2);
def high_nibble: (. / 16 | floor);
def bit($n): (. / pow(2; $n) | floor) % 2 == 1;
# A mask of 256 ports: port 0 is the last bit.
def ports($b; $at): [range(256) | select(. as $p | $b[$at + 31 - ($p / 8 | floor)] | bit($p % 8))];

def ca_setting($b):
	.ca.Port_Control = u16($b; 0) |
	reduce (range(16) | select(. as $s | u16($b; 2) | bit($s))) as $sl (.; (4 + 8 * $sl) as $at |
		.ca.sl[$sl] = {sl: $sl, CCTI_Timer: u16($b; $at), CCTI_Increase: $b[$at + 2],
			Trigger_Threshold: $b[$at + 3], CCTI_Min: $b[$at + 4]});
# 64 entries a block. The last block that is written says where the table ends.
def table($b; $block):
	u16($b; 0) as $limit | .ca.CCTI_Limit = $limit |
	.ca.cct = (.ca.cct[:64 * $block] + [range(64) | u16($b; 4 + 2 * .)])[:$limit + 1];
def switch_setting($b):
	.switch += {Control_Map: u32($b; 0), Victim_Mask: ports($b; 4), Credit_Mask: ports($b; 36),
		Threshold: ($b[68] | high_nibble), Packet_Size: $b[69], CS_Threshold: ($b[70] | high_nibble),
		CS_ReturnDelay: u16($b; 72), Marking_Rate: u16($b; 74)};
# 32 ports a block; those whose settings are not valid are not shown.
def port_settings($b; $block):
	.switch.ports = ([.switch.ports[] | select(.port < 32 * $block or .port >= 32 * ($block + 1))] +
		[range(32) | (4 * .) as $at | select($b[$at] | bit(7)) |
			{port: (. + 32 * $block), Control_Type: ($b[$at] | bit(6)), Threshold: ($b[$at] % 16),
			Packet_Size: $b[$at + 1], Cong_Parm_Marking_Rate: u16($b; $at + 2)}] | sort_by(.port));

def write($w; $hex):
	($hex | octets) as $b |
	if $w.attribute_id == 20 then switch_setting($b)
	elif $w.attribute_id == 21 then port_settings($b; $w.attribute_modifier)
	elif $w.attribute_id == 22 then ca_setting($b)
	elif $w.attribute_id == 23 then table($b; $w.attribute_modifier)
	else error("attribute \($w.attribute_id)") end;
def at($w; f): map(if .node_guid == $w.node_guid and (.port == $w.port) then f else . end);

# Of each write the new octets, if it was made.
def by_the_books($writes):
	reduce $writes[] as $w (.;
		if $w.outcome == "verified" then at($w; write($w; $w.new))
		elif $w.outcome == "unmade" or $w.outcome == "skipped" then .
		else error("a write is \($w.outcome)") end);

# Leaves of a row, as [path, value].
def leaves: [paths(scalars) as $p | [$p, getpath($p)]];
# Of rows that may have been set again since: the last write of each setting that is not as its outcome says. What it
# changed is there, if it was made; what was there before, if not; neither of both, if it differs.
def not_by_the_books($writes):
	. as $rows | $writes | group_by([.node_guid, .port, .attribute_id, .attribute_modifier])[] | last | . as $w |
		($rows[] | select(.node_guid == $w.node_guid and .port == $w.port)) as $row |
		($row | write($w; $w.old) | leaves) as $old | ($row | write($w; $w.new) | leaves) as $new |
		($row | leaves) as $is |
		if $w.outcome == "verified" then select(($new - $old) - $is != [])
		elif $w.outcome == "unmade" or $w.outcome == "skipped" then select(($old - $new) - $is != [])
		elif $w.outcome == "differs" then select($is == $old or $is == $new)
		else . end;
