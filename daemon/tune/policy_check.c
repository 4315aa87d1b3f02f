/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* policy --check: compares numbers of a policy file with what devices report. It reads the devices
 * as show does, with Get MADs only.
 */
#include "daemon/tune/policy.h"

#include <stdio.h>
#include <string.h>

#include <ibcc/json.h>
#include <ibcc/policy.h>
#include <ibcc/text.h>

#include "daemon/tune/prose.h"
#include "daemon/tune/table.h"
#include "daemon/tune/tune.h"

/* Ports that have reported a field. */
struct ports {
	const char *key;
	json_int_t want;
	json_int_t n, n_equal;
	/* The first one with another number. */
	const char *node;
	json_int_t port, value;
};

/* Takes the field of a port, if it has reported that. */
static void take(struct ports *p, const json_t *node, json_int_t port, const json_t *parameters)
{
	const json_t *v = json_object_get(parameters, p->key);

	if (!json_is_integer(v))
		return;
	p->n++;
	if (json_integer_value(v) == p->want) {
		p->n_equal++;
	} else if (!p->node) {
		p->node = tune_str(node, "node");
		p->port = port;
		p->value = json_integer_value(v);
	}
}

static struct ports compare(const json_t *show, const struct ibcc_policy_number *number)
{
	struct ports p = { .key = number->key, .want = (json_int_t)number->value };
	const json_t *node, *port;
	size_t i, k;

	json_array_foreach (json_object_get(show, "nodes"), i, node) {
		take(&p, node, tune_int(node, "port"),
		     json_object_get(json_object_get(node, "nvidia"), number->attribute));
		json_array_foreach (json_object_get(node, "nvidia_ports"), k, port)
			take(&p, node, tune_int(port, "port"),
			     json_object_get(port, number->attribute));
	}
	return p;
}

static json_t *row_of(const struct ibcc_policy_number *number, const struct ports *p)
{
	json_t *o = json_pack("{ss sI sI sI sI so}", "key", number->key, "line",
			      (json_int_t)number->line, "number", (json_int_t)number->value,
			      "ports", p->n, "ports_equal", p->n_equal, "other", json_null());

	if (o && p->node)
		json_object_set_new(o, "other",
				    json_pack("{ss sI sI}", "node", p->node, "port", p->port,
					      "number", p->value));
	return o;
}

/* Devices report their numbers also while their control is off. A node without NVIDIA's control, or
 * one that does not answer, counts as neither.
 */
static json_t *control_of(const json_t *show)
{
	const char *first_off = NULL;
	json_int_t on = 0, off = 0;
	const json_t *node;
	size_t i;

	json_array_foreach (json_object_get(show, "nodes"), i, node) {
		const char *control = tune_str(json_object_get(node, "nvidia"), "control");

		if (!strcmp(control, "on"))
			on++;
		if (strcmp(control, "off") != 0)
			continue;
		off++;
		if (!first_off)
			first_off = tune_str(node, "node");
	}
	return json_pack("{sI sI ss?}", "on", on, "off", off, "first_off", first_off);
}

/* {"schema","file","numbers","not_compared","control"}: see ibcc-tune-json(7). */
static json_t *compare_all(const json_t *show, const char *file,
			   const struct ibcc_policy_number *number, size_t n)
{
	json_t *numbers = json_array(), *rest = json_array();

	for (size_t i = 0; i < n; i++) {
		struct ports p = { .n = 0 };

		if (number[i].is_known) {
			p = compare(show, &number[i]);
			json_array_append_new(numbers, row_of(&number[i], &p));
		} else {
			json_array_append_new(rest, json_string(number[i].key));
		}
	}
	return json_pack("{si so so so so}", "schema", 1, "file", ibcc_json_text(file), "numbers",
			 numbers, "not_compared", rest, "control", control_of(show));
}

enum outcome { EQUAL, DIFFERS, UNREAD };

static enum outcome outcome_of(const json_t *number)
{
	if (!tune_int(number, "ports"))
		return UNREAD;
	return tune_int(number, "ports") == tune_int(number, "ports_equal") ? EQUAL : DIFFERS;
}

/* The keys with this outcome, "" if there are none. */
static const char *keys_with(const json_t *a, enum outcome outcome, char *buf, size_t len)
{
	struct ibcc_text x = { buf, len, 0 };
	const json_t *o;
	size_t i;

	buf[0] = '\0';
	json_array_foreach (json_object_get(a, "numbers"), i, o)
		if (outcome_of(o) == outcome)
			ibcc_text_add(&x, "%s%s", x.n ? ", " : "", tune_str(o, "key"));
	return buf;
}

/* What the table means, and what to do next. */
static void print_meaning(const json_t *a)
{
	char differs[1024], unread[1024], equal[1024];

	keys_with(a, EQUAL, equal, sizeof(equal));
	if (*keys_with(a, DIFFERS, differs, sizeof(differs)))
		tune_say("Differs:   ",
			 "%s. If OpenSM has not read this file since it was changed, restart "
			 "OpenSM, "
			 "and repeat the command. Otherwise the file gives these ports another "
			 "profile or group, or has the number in another unit (bytes, KB).",
			 differs);
	if (*keys_with(a, UNREAD, unread, sizeof(unread)))
		tune_say("Unread:    ",
			 "no port has reported %s. ibcc-tune show lists devices that did not "
			 "answer. "
			 "If the fabric uses keys, ibcc-tune needs them: key_dir or cc_key_file in "
			 "ibcc-tuned.yaml(5).",
			 unread);
	if (*equal && !*differs)
		tune_say("Equal:     ", "all ports that were read have the file's numbers.");
}

/* Do the numbers have an effect? */
static void print_control(const json_t *control)
{
	json_int_t on = tune_int(control, "on"), off = tune_int(control, "off");

	if (off)
		tune_say("Control:   ",
			 "off at %lld of the nodes that were read (%lld), %s first: there the "
			 "numbers have no effect. "
			 "mlnx_congestion_control 2 in OpenSM's configuration turns it on.",
			 off, on + off, tune_str(control, "first_off"));
	else if (on)
		tune_say("Control:   ", "on at all nodes that were read (%lld).", on);
}

static int print(const json_t *a)
{
	static const struct tune_column columns[] = {
		{ "KEY", IBCC_LEFT, "key in the policy file, and field of the devices" },
		{ "LINE", IBCC_RIGHT, "its line in the file" },
		{ "FILE", IBCC_RIGHT, "the number in the file" },
		{ "PORTS", IBCC_RIGHT, "ports that have this number, of those that reported it" },
		{ "OTHER", IBCC_LEFT, "another number, and the first port that has it" },
	};
	struct libscols_table *t = tune_table_new(columns, 5);
	const json_t *o, *other;
	char keys[512] = "";
	struct ibcc_text x = { keys, sizeof(keys), 0 };
	size_t i;

	json_array_foreach (json_object_get(a, "numbers"), i, o) {
		char buf[4][160];
		const char *row[5] = { tune_str(o, "key"), buf[0], buf[1], buf[2], buf[3] };

		other = json_object_get(o, "other");
		snprintf(buf[0], sizeof(buf[0]), "%lld", tune_int(o, "line"));
		snprintf(buf[1], sizeof(buf[1]), "%lld", tune_int(o, "number"));
		snprintf(buf[2], sizeof(buf[2]), "%lld of %lld", tune_int(o, "ports_equal"),
			 tune_int(o, "ports"));
		buf[3][0] = '\0';
		if (json_is_object(other))
			snprintf(buf[3], sizeof(buf[3]), "%lld at %.80s/%lld",
				 tune_int(other, "number"), tune_str(other, "node"),
				 tune_int(other, "port"));
		tune_table_add(t, row, 0, TUNE_PLAIN);
	}
	if (!t)
		return tune_fail("no memory");
	tune_table_print_under(t, "Numbers of the policy file, and of the devices");
	print_meaning(a);
	print_control(json_object_get(a, "control"));
	json_array_foreach (json_object_get(a, "not_compared"), i, o)
		ibcc_text_add(&x, "%s%s", i ? ", " : "", json_string_value(o));
	if (keys[0])
		tune_say("",
			 "Not compared, because they are in the file more than once, or not with a "
			 "number alone in a line: %s.",
			 keys);
	return fflush(stdout) ? TUNE_ERROR : TUNE_OK;
}

/* Whether a port has another number, or none has reported it. */
static bool differs(const json_t *a)
{
	const json_t *o;
	size_t i;

	json_array_foreach (json_object_get(a, "numbers"), i, o)
		if (outcome_of(o) != EQUAL)
			return true;
	return false;
}

int tune_policy_check(struct tune *t, const struct ibcc_edit *e)
{
	struct ibcc_policy_number number[IBCC_POLICY_NUMBERS_MAX];
	struct ibcc_yaml_errors errors = { 0 };
	struct ibcc_why why = { "" };
	json_t *show = NULL, *a = NULL;
	int code = TUNE_OK, rc;
	size_t n;

	rc = ibcc_policy_numbers(e->path, e->text, e->len, number, &n, &errors);
	if (rc)
		code = tune_policy_refuse(&errors);
	ibcc_yaml_errors_fini(&errors);
	if (code != TUNE_OK)
		return code;
	if (!n)
		return tune_fail("%s has no key that is a field of NVIDIA's MADs, such as "
				 "rpg_ai_rate or profile1_max: nothing was compared; see ibcc-tune "
				 "show",
				 e->path);
	rc = tune_do(t, "show", NULL, &show, &why);
	a = show ? compare_all(show, e->path, number, n) : NULL;
	if (show && !a)
		code = tune_fail("no memory");
	else if (a)
		code = t->json ? tune_print_json(a) : print(a);
	if (code == TUNE_OK && t->detailed_exitcode && differs(a))
		code = TUNE_PENDING;
	json_decref(a);
	json_decref(show);
	return rc ? tune_fail("%s", why.text) : code;
}
