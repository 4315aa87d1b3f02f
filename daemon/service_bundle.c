/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The last pass as a support bundle, under true or made-up names. */
#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

#include <ibcc/disguise.h>

#include "daemon/report.h"
#include "daemon/service_impl.h"

/* The samples and settings are lent: only their order is new. */
static json_t *disguised(const struct ibcc_cycle *c, const struct ibcc_disguise *d)
{
	const struct ibcc_topo *t = d->topo;
	struct ibcc_snapshot s = c->snapshot;
	struct ibcc_settings settings = { .n = t->n_endports };
	bool sampled = c->snapshot.n_ports == t->n_ports;
	json_t *o = NULL;

	s.n_ports = sampled ? t->n_ports : 0;
	s.port = calloc(t->n_ports ? t->n_ports : 1, sizeof(*s.port));
	settings.ep = calloc(t->n_endports ? t->n_endports : 1, sizeof(*settings.ep));
	if (s.port && settings.ep) {
		for (uint32_t i = 0; i < s.n_ports; i++)
			s.port[i] = c->snapshot.port[d->port[i]];
		for (uint32_t i = 0; c->actual_known && i < t->n_endports; i++)
			settings.ep[i] =
				c->actual.ep[c->topo->port[d->port[t->endport[i]]].endport];
		o = ibcc_report_bundle(t, &s, c->actual_known ? &settings : NULL);
	}
	free(settings.ep);
	free(s.port);
	return o;
}

int ibcc_service_bundle(struct ibcc_service *s, bool anonymous, json_t **out, struct ibcc_why *why)
{
	const struct ibcc_cycle *c = ibcc_service_cycle(s);
	struct ibcc_disguise d = { NULL, NULL };
	uint64_t seed = 0;
	int rc = 0;

	*out = NULL;
	if (!c || !c->decided)
		return ibcc_why_set(why, s->last_err ? s->last_err : -EAGAIN, "%s",
				    s->last_err ? s->last_why.text
						: "no pass over the fabric has come to an end yet");
	if (anonymous && getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		return ibcc_why_set(why, -EIO, "no random number for made-up names");
	if (anonymous)
		rc = ibcc_disguise_make(c->topo, seed, &d);
	if (rc && rc != -ENOMEM)
		return ibcc_why_set(why, rc, "no made-up LIDs for this topology");
	if (!rc)
		*out = anonymous ? disguised(c, &d)
				 : ibcc_report_bundle(c->topo, &c->snapshot,
						      c->actual_known ? &c->actual : NULL);
	ibcc_disguise_fini(&d);
	if (*out)
		json_object_set_new(*out, "anonymous", json_boolean(anonymous));
	return *out ? 0 : ibcc_why_set(why, -ENOMEM, "no memory");
}
