/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* advise: whether to turn on NVIDIA's congestion control, and with which marking profile. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/tune/changes.h"
#include "daemon/tune/prediction.h"
#include "daemon/tune/prose.h"
#include "daemon/tune/tune.h"

static double number(const json_t *o, const char *key)
{
	return json_number_value(json_object_get(o, key));
}

static double kb(const json_t *o, const char *key)
{
	return number(o, key) / 1000;
}

static void print_profile(const json_t *a)
{
	const json_t *p = json_object_get(a, "profile"), *root = json_object_get(a, "root");
	const json_t *buffer = json_object_get(a, "buffer");
	bool read = json_is_object(json_object_get(buffer, "read_from"));
	char node[160], rate[64];

	if (!json_is_object(p))
		return;
	tune_say("Profile:   ",
		 "mode %s, min %lld, max %lld (in bytes), percent %lld; for all SLs.%s",
		 tune_str(p, "mode"), tune_int(p, "min_bytes"), tune_int(p, "max_bytes"),
		 tune_int(p, "percent"),
		 json_is_true(json_object_get(a, "on"))     ? ""
		 : strcmp(tune_str(a, "code"), "not-tried") ? " It is not recommended."
							    : " It was not tried.");
	snprintf(rate, sizeof(rate), "%lld Mb/s", tune_int(root, "mbps"));
	tune_say(
		"Marks:     ",
		"the root that needs most is %s port %lld: %s, shared by %lld %s. Its link has to "
		"mark "
		"%.2g %% of the packets by the fluid model of DCQCN (Zhu and others, CoNEXT 2016). "
		"In the simulator of this project, senders need up to %.1f times that.",
		tune_node_text(root, node, sizeof(node)), tune_int(root, "port"), rate,
		tune_int(root, "senders"), tune_int(root, "senders") == 1 ? "sender" : "senders",
		100 * number(p, "mark_share"), number(p, "swing"));
	tune_say("Queue:     ",
		 "%.0f KB by that model. Credits stop a port that has filled its buffer, %s%.0f KB "
		 "for a port and VL. %lld such %s at this root, %.0f KB together.",
		 kb(p, "queue_bytes"), read ? "by the switch " : "taken as ", kb(buffer, "bytes"),
		 tune_int(root, "feeds"), tune_int(root, "feeds") == 1 ? "port is" : "ports are",
		 kb(p, "credit_bytes"));
}

static void print_adapters(const json_t *a)
{
	const json_t *p = json_object_get(a, "adapters"), *from = json_object_get(p, "read_from");
	char node[160], text[1024];
	const char *key;
	size_t at = 0;
	json_t *v;

	text[0] = '\0';
	json_object_foreach ((json_t *)p, key, v)
		if (v != from && at < sizeof(text))
			at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s %lld",
					       at ? ", " : "", key,
					       json_is_boolean(v) ? (long long)json_is_true(v)
								  : json_integer_value(v));
	if (json_is_object(from))
		tune_say("Adapters:  ", "as read from %s: %s",
			 tune_node_text(from, node, sizeof(node)), text);
	else
		tune_say("Adapters:  ",
			 "no sender has reported its parameters, so these are taken, the factory "
			 "values for RoCE: %s",
			 text);
}

static void print(const json_t *answer)
{
	const json_t *a = json_object_get(answer, "advice");
	const json_t *p = json_object_get(a, "prediction");
	const json_t *quiet = json_object_get(a, "quiet_permille");
	const json_t *worst = json_object_get(a, "worst");

	tune_say("Advice:    ", "%s.", tune_str(a, "text"));
	if (!strcmp(tune_str(a, "code"), "no-congestion"))
		return;
	print_profile(a);
	print_adapters(a);
	if (json_is_integer(quiet))
		tune_say("All-to-all: ",
			 "traffic among all hosts, without congestion, delivers %.1f %% of what it "
			 "delivers without marks.",
			 number(a, "quiet_permille") / 10);
	/* Why there is none is a part of the advice. */
	if (json_is_true(json_object_get(p, "known")))
		tune_print_prediction(p, "profile");
	if (json_is_object(worst))
		tune_say("At worst:  ",
			 "total %+.0f %%, victims %+.0f %%. Switches mark at all ports, or only at "
			 "those "
			 "where congestion starts. The prediction is that of the better case.",
			 number(worst, "total_permille") / 10,
			 number(worst, "victims_permille") / 10);
	tune_say("\nNote:      ",
		 "ibcc-tune writes none of this. The model was never compared with a "
		 "device%s.",
		 json_is_true(json_object_get(a, "on"))
			 ? ": try the profile on a part of the fabric first"
			 : "");
}

int tune_advise(struct tune *t)
{
	return tune_do_and_print(t, "advise", json_object(), print);
}
