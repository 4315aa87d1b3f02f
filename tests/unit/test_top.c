/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What top shows of a status: the screen and the row, by figures worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/tune/keys.h"
#include "daemon/tune/look.h"
#include "daemon/tune/senders.h"
#include "daemon/tune/table.h"
#include "daemon/tune/top.h"

static const char busy[] =
	"{\"version\":\"0.1.0\",\"state\":\"ok\",\"reason\":null,\"mode\":\"apply\","
	"\"apply_via\":\"plugin\",\"interval_ms\":2500,\"paused\":null,\"roots\":2,"
	"\"writes_pending\":7,\"decision\":\"a sentence of some words that goes on and on\","
	"\"mads\":{\"sent\":100,\"timed_out\":3,\"sets\":18,\"per_second\":12.34},"
	"\"fabric\":{\"switches\":2,\"channel_adapters\":6,\"ports_fresh\":13,\"ports_stale\":1,"
	"\"ports_unreachable\":2},"
	"\"now\":{\"pass\":42,\"sent_mbps\":8000,\"waiting\":3,\"wait_permille\":473,"
	"\"fecn_per_s\":1000.4,\"becn_per_s\":999.6,"
	"\"settings\":{\"marking_ports\":1,\"reacting_ports\":4,\"Threshold\":[9,9],"
	"\"Marking_Rate\":[0,0],\"CCTI_Timer\":[27,45],\"CCTI_Increase\":[1,1],\"CCTI_Limit\":[27,"
	"30]},"
	"\"roots\":[{\"node_guid\":\"0x08\",\"node\":\"leaf2\",\"port\":2,\"kind\":\"output\","
	"\"rate_mbps\":16000,\"link_mbps\":32000,\"wait_permille\":532,\"tree_wait_permille\":377,"
	"\"contributors\":3,\"victims\":1,\"phase\":\"hold\",\"status\":\"holding\",\"basis\":"
	"\"marked\"}]}}";

/* What is written for a status; a static buffer. */
static const char *text_of(const char *status, int columns)
{
	static char text[4096];
	json_t *s = status ? json_loads(status, 0, NULL) : NULL;
	FILE *f = fmemopen(text, sizeof(text), "w");

	assert_non_null(f);
	assert_true(!status || s);
	if (columns)
		tune_top_screen(f, s, "no daemon listens", 0, columns);
	else
		tune_top_row(f, s, 0);
	assert_int_equal(fclose(f), 0);
	json_decref(s);
	return text;
}

static void has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no '%s' in:\n%s", part, text);
}

/* The blocked senders of a fabric, of which control has freed d. 4992 Mb/s are 624 MB/s. */
static const char freed[] =
	"{\"state\":\"ok\",\"verdict\":\"a verdict\",\"now\":{\"waiting\":6,\"settings\":null,"
	"\"blocked\":[{\"node\":\"a\",\"xmit_mbps\":4992},{\"node\":\"b\",\"xmit_mbps\":800},"
	"{\"node\":\"c\",\"xmit_mbps\":80},{\"node\":\"e\",\"xmit_mbps\":8},"
	"{\"node\":\"f\",\"xmit_mbps\":0}]},"
	"\"gain\":{\"transaction\":7,\"senders\":["
	"{\"node\":\"a\",\"before_mbps\":4992,\"after_mbps\":4992},"
	"{\"node\":\"b\",\"before_mbps\":800,\"after_mbps\":null},"
	"{\"node\":\"d\",\"before_mbps\":4992,\"after_mbps\":16623}]}}";

static void test_senders(void **state)
{
	const char *text = text_of(freed, 200);
	char buf[64];
	json_t *s = json_loads(freed, 0, NULL);
	const json_t *list = json_object_get(json_object_get(s, "gain"), "senders");

	(void)state;
	has(text, "Blocked   a 624.0 MB/s, b 100.0 MB/s, c 10.0 MB/s, e 1.0 MB/s and 2 more\n");
	has(text, "Effect    since transaction 7: d 624.0 -> 2077.9 MB/s (x 3.33), "
		  "a 624.0 -> 624.0 MB/s (x 1.00), b 100.0 -> ? MB/s\n");
	assert_string_equal(tune_best_gain(list, buf, sizeof(buf)), "d x 3.33");
	assert_string_equal(tune_best_gain(NULL, buf, sizeof(buf)), "");
	assert_string_equal(tune_best_factor(list, buf, sizeof(buf)), "x 3.33");
	assert_string_equal(tune_best_factor(NULL, buf, sizeof(buf)), "");
	json_decref(s);
	text = text_of(busy, 200);
	assert_null(strstr(text, "Blocked"));
	assert_null(strstr(text, "Effect"));
}

/* 8000 Mb/s are 1000 MB/s, 16000 of 32000 are 2000 of 4000. */
static void test_screen(void **state)
{
	const char *text = text_of(busy, 80);

	(void)state;
	has(text, "Daemon    ok, mode apply via plugin, polling cycle 42, every 2.5 s\n");
	has(text, "Fabric    2 switches, 6 adapters; 13 ports read, 3 not\n");
	has(text, "Traffic   adapters send 1000.0 MB/s; 3 blocked, at most 47.3 % of the time\n");
	has(text, "Marks     1000 FECN a second, 1000 BECN a second\n");
	has(text, "MADs      12.3 a second; 3 of 100 without answer, 18 Sets\n");
	has(text, "Settings  on at 1 switch port: Threshold 9, Marking_Rate 0\n");
	has(text,
	    "          on at 4 adapters: CCTI_Timer 27-45, CCTI_Increase 1, CCTI_Limit 27-30\n");
	has(text, "Pending   7 changes\n");
	has(text, "   1 leaf2    2 receiver 2000.0      53.2      37.7     3    1 holding\n");
	has(text, "and 1 more\n");
	assert_null(strchr(text, '\033'));
}

/* Sentences are broken at words; no line of them is wider than the terminal. */
static void test_narrow(void **state)
{
	const char *text = text_of(busy, 30);

	(void)state;
	has(text, "Decision  a sentence of some\n          words that goes on\n          and on\n");
}

static void test_trouble(void **state)
{
	(void)state;
	has(text_of(NULL, 80), "Daemon    no daemon listens\n");
	has(text_of("{\"state\":\"degraded\",\"reason\":\"no port\",\"mode\":\"observe\","
		    "\"apply_via\":\"direct\"}",
		    80),
	    "degraded, mode observe via direct");
	has(text_of("{\"state\":\"degraded\",\"reason\":\"no port\"}", 80),
	    "\n          no port\n");
	has(text_of("{\"state\":\"ok\",\"now\":{\"settings\":null,\"roots\":[]}}", 80),
	    "No congestion.");
}

/* What a user has to act on before its time is over. */
static void test_between(void **state)
{
	const char *text =
		text_of("{\"state\":\"ok\",\"trial\":{\"transaction\":7,"
			"\"seconds_left\":299,\"over\":null},"
			"\"election\":{\"state\":\"leads\",\"leader\":\"a\",\"text\":null},"
			"\"rollout\":{\"nodes_left\":6},\"now\":{\"settings\":null}}",
			80);

	(void)state;
	has(text, "Trial     transaction 7, 299 s left to confirm it\n");
	has(text, "Leader    this daemon\n");
	has(text, "Roll-out  6 nodes wait until counters show an effect at the first\n");
	text = text_of("{\"state\":\"degraded\",\"trial\":{\"transaction\":7,"
		       "\"seconds_left\":0,\"over\":\"not confirmed\"},\"election\":null}",
		       80);
	has(text, "Trial     the daemon reverts transaction 7: not confirmed\n");
	assert_null(strstr(text, "Leader"));
	assert_null(strstr(text_of(busy, 80), "Trial"));
}

static void test_row(void **state)
{
	(void)state;
	has(text_of(busy, 0),
	    " ok           2    1000.0      47.3      1000      1000        1           4 "
	    "27-45             7    12.3  leaf2 0x08 port 2\n");
	has(text_of("{\"state\":\"starting\"}", 0), " starting\n");
	has(text_of(NULL, 0), " gone\n");
}

/* The heading is as wide as the rows. With -v a legend says what the columns mean, without it none
 * does.
 */
static void test_legend(void **state)
{
	char head[4096] = "", *line;
	FILE *f = fmemopen(head, sizeof(head), "w");
	const char *text;

	(void)state;
	assert_null(strstr(text_of(busy, 80), "oversubscribed"));
	tune_top_heading(f);
	assert_int_equal(fclose(f), 0);
	text = text_of(busy, 0);
	assert_ptr_equal(strchr(head, '\n'), head + strlen(head) - 1);
	assert_int_equal(strstr(head, "PENDING") + 7 - head, strstr(text, " 7  ") + 2 - text);
	assert_int_equal(strstr(head, "WORST") - head, strstr(text, "leaf2") - text);
	tune_table_explain();
	text = text_of(busy, 80);
	has(text, "  UPSTREAM%      the same of the most blocked port upstream\n");
	has(text, "  KIND           receiver: a slow receiver; link: an oversubscribed link\n");
	f = fmemopen(head, sizeof(head), "w");
	tune_top_heading(f);
	assert_int_equal(fclose(f), 0);
	line = strstr(head, "\nTIME ");
	assert_non_null(line);
	has(head, "  CC_PORTS       switch ports with congestion control enabled\n");
	assert_true(strstr(head, "  CC_PORTS") < line);
}

static void test_units(void **state)
{
	char buf[32];

	(void)state;
	assert_true(tune_set_units("Gb/s"));
	assert_string_equal(tune_rate(15139, buf, sizeof(buf)), "15.14");
	has(text_of(busy, 80), "adapters send 8.00 Gb/s");
	assert_true(tune_set_units("MB/s"));
	assert_string_equal(tune_rate(15139, buf, sizeof(buf)), "1892.4");
	assert_false(tune_set_units("mb/s"));
	tune_set_units("MB/s");
}

/* Never where the output is no terminal, unless asked for; NO_COLOR is for the rest. */
static void test_color(void **state)
{
	(void)state;
	assert_true(tune_set_color("always"));
	assert_string_equal(tune_style(TUNE_RED), "\033[31m");
	has(text_of(busy, 80), "\033[32mok\033[0m");
	assert_true(tune_set_color("never"));
	assert_string_equal(tune_style(TUNE_RED), "");
	assert_false(tune_set_color("maybe"));
	setenv("NO_COLOR", "1", 1);
	assert_true(tune_set_color("auto"));
	assert_string_equal(tune_style(TUNE_BOLD), "");
}

/* What arrives of a terminal, and whether that ends top. */
static void test_keys(void **state)
{
	static const struct {
		const char *bytes;
		bool quit;
	} cases[] = {
		{ "", false },
		{ "jk \r", false },
		{ "q", true },
		{ "jQ", true },
		{ "\033q", true },            /* Escape, and then q */
		{ "\033\033q", true },        /* ... twice */
		{ "\033[A\033[1;5D", false }, /* arrows */
		{ "\033Oq\033Oy", false },    /* 1 and 9 of the keypad */
		{ "\033Oqq", true },          /* ... and q */
		{ "\033[?1;2qq", true },      /* a report that ends with q, and q */
		{ "\033]11;q\a", false },     /* the colour of the background, up to BEL */
		{ "\033P>|q\033\\", false },  /* the terminal's name, up to ESC \ */
		{ "\033P>|q\033\\q", true },  /* ... and q */
		{ "\033Pq\033[q", false },    /* a report that another one breaks off */
		{ "\033Pq\030q", true },      /* ... that CAN breaks off */
		{ "\033[\nq", true },         /* no sequence has a control character */
		{ "\033Xq", false },          /* one that has not ended */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tune_keys k = { 0 };
		const char *s = cases[i].bytes;

		if (tune_keys_quit(&k, s, strlen(s)) != cases[i].quit)
			fail_msg("case %zu", i);
		tune_keys_pause(&k);
		assert_true(tune_keys_quit(&k, "q", 1));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_senders), cmocka_unit_test(test_screen),
		cmocka_unit_test(test_narrow),  cmocka_unit_test(test_trouble),
		cmocka_unit_test(test_row),     cmocka_unit_test(test_units),
		cmocka_unit_test(test_color),   cmocka_unit_test(test_between),
		cmocka_unit_test(test_keys),    cmocka_unit_test(test_legend), /* -v stays */
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
