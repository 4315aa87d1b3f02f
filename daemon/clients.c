/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Names the users and addresses that ask too often, in the log and in the status (clients.h). A
 * warning is logged when it begins, and again only after it has ended.
 */
#include "daemon/clients.h"

#include <ibcc/crowd.h>
#include <ibcc/json.h>
#include <ibcc/log.h>

/* No program that watches the daemon makes this many requests in IBCC_CROWD_WINDOW_US. */
#define MANY_REQUESTS 200u

enum { CONTROL, METRICS, N_PLACES };

static void find(struct ibcc_jsonl *control, struct ibcc_metrics_out *metrics,
		 struct ibcc_why why[N_PLACES])
{
	uid_t uid = 0;
	unsigned int n = ibcc_jsonl_crowd(control, &uid);

	why[CONTROL].text[0] = '\0';
	if (n >= MANY_REQUESTS)
		ibcc_why_set(&why[CONTROL], 0,
			     "clients asked %u times within %u s at the control socket, most of "
			     "them as uid %u. Polling and root's commands come first. Stop that "
			     "user's program, or take the user out of the control groups",
			     n, IBCC_CROWD_WINDOW_US / 1000000u, (unsigned int)uid);
	ibcc_metrics_out_crowd(metrics, &why[METRICS]);
}

void ibcc_clients_look(struct ibcc_clients *c, struct ibcc_jsonl *control,
		       struct ibcc_metrics_out *metrics)
{
	struct ibcc_why why[N_PLACES];

	find(control, metrics, why);
	for (unsigned int i = 0; i < N_PLACES; i++) {
		if (why[i].text[0] && !c->told[i])
			ibcc_log(LOG_WARNING, "%s", why[i].text);
		c->told[i] = why[i].text[0];
	}
}

static json_t *text_or_null(const struct ibcc_why *why)
{
	return why->text[0] ? ibcc_json_text(why->text) : json_null();
}

json_t *ibcc_clients_status(struct ibcc_jsonl *control, struct ibcc_metrics_out *metrics)
{
	struct ibcc_why why[N_PLACES];

	find(control, metrics, why);
	return json_pack("{so so}", "control", text_or_null(&why[CONTROL]), "metrics",
			 text_or_null(&why[METRICS]));
}
