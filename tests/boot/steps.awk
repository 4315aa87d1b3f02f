# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# What a page has its reader do: its indented blocks, in order, one record a line.
#	step HEADING
#	run COMMAND		a command, with its comment; lines that end in a backslash are joined
#	file PATH LINE		a line to set in a configuration file: the text before says "Set this in `PATH`"
#	expect COMMAND		the text before says "Expected output", or "Expected output of `COMMAND`"
#	out LINE		a line of that output
function kind_of(text) {
	if (text ~ /Expected output/)
		return "out"
	return text ~ /Set this in `/ ? "file" : "run"
}
# The words between the first two backquotes behind a text.
function quoted(text, behind,	rest) {
	rest = substr(text, index(text, behind) + length(behind))
	if (rest !~ /^`[^`]*`/)
		return ""
	rest = substr(rest, 2)
	return substr(rest, 1, index(rest, "`") - 1)
}

/^    / {
	line = substr($0, 5)
	if (!in_block) {
		in_block = 1
		kind = kind_of(text)
		path = quoted(text, "Set this in ")
		of = quoted(text, "Expected output of ")
		if (kind == "out")
			print "expect" (of == "" ? "" : " ") of
	}
	if (kind == "run" && sub(/\\$/, "", line)) {
		joined = joined line
		next
	}
	print kind " " (kind == "file" ? path " " : "") joined line
	joined = ""
	next
}
/^$/ { ended = 1; next }
{
	if (ended || in_block)
		text = ""
	ended = in_block = 0
	text = text (text == "" ? "" : " ") $0
}
/^## / { print "step " substr($0, 4); text = "" }
