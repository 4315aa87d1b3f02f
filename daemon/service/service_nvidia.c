/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Whether marking profiles of NVIDIA's switches may be written (vendor_writes), and taking them
 * back when the daemon ends.
 *
 * NVIDIA's OpenSM can write the same settings, and does not see ours: two writers would undo each
 * other's work in silence. Its configuration says whether it does. That file can be read only on
 * the host of the subnet manager. Elsewhere a person has to look, and consent.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/file.h>
#include <ibcc/opensm_conf.h>
#include <ibcc/state.h>
#include <ibcc/text.h>
#include <ibcc/vendor_cc.h>

#include "daemon/service/service_impl.h"
#include "daemon/service/sm.h"

/* OpenSM's own file has some hundred lines. */
#define CONF_BYTES_MAX (1u << 20)

static const char *const usual[] = { IBCC_SYSCONFDIR "/opensm/opensm.conf",
				     "/opt/ufm/files/conf/opensm/opensm.conf" };

static int read_conf(const char *path, struct ibcc_opensm_conf *conf)
{
	struct stat st;
	char *text;
	size_t len;
	int rc = ibcc_file_load(path, CONF_BYTES_MAX, &st, &text, &len);

	if (rc)
		return rc == -ENOTDIR ? -ENOENT : rc;
	rc = ibcc_opensm_conf_read(text, len, conf);
	free(text);
	return rc;
}

static const char *reason(int err)
{
	switch (err) {
	case -EILSEQ: return "it is no text";
	case -EINVAL: return "it is no regular file";
	}
	return strerror(-err);
}

/* Looks at one file. Returns whether it was read, and sets *veto if that is a reason not to write.
 */
static bool look_at(const char *path, bool must_be_there, struct ibcc_why *veto)
{
	struct ibcc_opensm_conf conf;
	int rc = read_conf(path, &conf);

	if (rc == -ENOENT && !must_be_there)
		return false;
	if (rc)
		ibcc_why_set(
			veto, 0,
			"%.200s cannot be read (%s), so it is not known whether NVIDIA's OpenSM "
			"writes them, too: let vendor_opensm_conf name the configuration of that "
			"OpenSM, and the daemon's user read it",
			path, reason(rc));
	else if (conf.policy_file[0])
		ibcc_why_set(veto, 0,
			     "NVIDIA's OpenSM has a congestion_control_policy_file (in %.200s) and "
			     "would overwrite them: change that file instead (ibcc-tune policy)",
			     path);
	else if (!ibcc_opensm_conf_is_free(&conf))
		ibcc_why_set(veto, 0,
			     "NVIDIA's OpenSM manages them: mlnx_congestion_control is %s in "
			     "%.200s; only with 0 does it leave them alone",
			     conf.mlnx_congestion_control, path);
	return !rc;
}

/* The LID of the subnet manager, and whether it is on this host; 0: not known. */
static uint16_t find_sm(struct ibcc_service *s, bool *here)
{
	struct ibcc_smp_port_info info = { 0 };

	*here = false;
	if (ibcc_sm_check(s->transport, &info, NULL))
		return 0;
	*here = info.lid == info.sm_lid;
	return info.sm_lid;
}

static bool look_at_files(struct ibcc_service *s, bool here, struct ibcc_why *veto)
{
	const char *own = s->config.vendor_opensm_conf;
	bool checked = false;

	if (own[0])
		return look_at(own, true, veto);
	for (size_t i = 0; here && !veto->text[0] && i < sizeof(usual) / sizeof(usual[0]); i++)
		checked |= look_at(usual[i], false, veto);
	return checked;
}

void ibcc_service_look_at_nvidia(struct ibcc_service *s, enum ibcc_service_writing writing)
{
	struct ibcc_cycle *c = &s->cycle;
	uint32_t port;
	uint16_t lid;
	bool here;

	c->veto.text[0] = c->unchecked.text[0] = '\0';
	c->options.profiles = s->config.vendor_writes == IBCC_VENDOR_WRITES_EXPERIMENTAL;
	/* Whether NVIDIA's control is at work may be found out by the turn that comes. */
	if (!c->options.profiles || !c->topo)
		return;
	if (s->config.apply_via != IBCC_VIA_DIRECT) {
		ibcc_why_set(&c->veto, 0,
			     "the OpenSM plugin does not write them, as its OpenSM does not know "
			     "NVIDIA's congestion control: set apply_via to direct");
		return;
	}
	if (writing != IBCC_SERVICE_WRITES_NOT && !s->listens) {
		ibcc_why_set(&c->veto, 0,
			     "only ibcc-tuned writes them, since it restores the earlier values "
			     "when it ends: start it");
		return;
	}
	lid = find_sm(s, &here);
	if (look_at_files(s, here, &c->veto) || c->veto.text[0])
		return;
	port = lid ? ibcc_topo_port_of_lid(c->topo, lid) : IBCC_NONE;
	ibcc_why_set(
		&c->unchecked, 0,
		"ibcc-tune could not check mlnx_congestion_control and "
		"congestion_control_policy_file of the subnet manager on \"%s\": with 1, 2 or "
		"a policy file it would overwrite marking profiles; look there before you apply",
		port == IBCC_NONE ? "an unknown host"
				  : c->topo->node[c->topo->port[port].node].desc);
	if (writing == IBCC_SERVICE_WRITES_UNATTENDED)
		ibcc_why_set(&c->veto, 0,
			     "%.300s; without a person the daemon writes them only if "
			     "vendor_opensm_conf names a file that it can read",
			     c->unchecked.text);
}

/* The profiles in the book that are ours, as a plan that restores what was there before. */
static int plan_back(struct ibcc_service *s, struct ibcc_plan *plan, struct ibcc_why *why)
{
	struct ibcc_plan joined = { 0 }, ours = { 0 }, undo = { 0 };
	uint64_t gone_guid;
	int64_t first;
	uint32_t n_gone;
	int rc = ibcc_state_undo(s->state, 0, &joined, &first, NULL, why);

	for (uint32_t i = 0; !rc && i < joined.n; i++) {
		const struct ibcc_change *c = &joined.change[i];

		if (c->attr_id == IBCC_VCC_ATTR_SW_PROFILE &&
		    memcmp(c->old_data, c->new_data, sizeof(c->old_data)) != 0)
			rc = ibcc_plan_append(&ours, c);
	}
	if (!rc)
		rc = ibcc_plan_reverse(&ours, &undo);
	if (!rc && undo.n)
		rc = ibcc_service_prepare(s, why);
	if (!rc && undo.n)
		rc = ibcc_service_address(s->cycle.topo, &undo, plan, &n_gone, &gone_guid);
	if (rc == -ENOMEM)
		ibcc_why_set(why, rc, "no memory");
	ibcc_plan_fini(&undo);
	ibcc_plan_fini(&ours);
	ibcc_plan_fini(&joined);
	return rc;
}

static bool is_other(const struct ibcc_topo *t, const struct ibcc_vendor_parameters *p,
		     const struct ibcc_change *c)
{
	uint32_t endport = ibcc_change_endport(c, t);

	for (uint32_t i = 0; i < p->n; i++)
		if (p->answer[i].endport == endport && p->answer[i].port == c->attr_mod &&
		    p->answer[i].attr_id == c->attr_id)
			return memcmp(p->answer[i].data, c->old_data, sizeof(c->old_data)) != 0;
	return false;
}

/* Leaves out the ports whose profiles are not ours any more: that is another program's choice.
 * Returns how many, or -errno.
 */
static int leave_out_others(struct ibcc_service *s, struct ibcc_plan *plan)
{
	const struct ibcc_topo *t = s->cycle.topo;
	bool *which = calloc(t->n_endports + 1, sizeof(*which));
	struct ibcc_vendor_parameters p = { 0 };
	uint32_t n = 0;
	int rc = which ? 0 : -ENOMEM;

	for (uint32_t i = 0; !rc && i < plan->n; i++) {
		uint32_t endport = ibcc_change_endport(&plan->change[i], t);

		if (endport < t->n_endports)
			which[endport] = true;
	}
	if (!rc)
		rc = ibcc_cycle_read_parameters(&s->cycle, which, &p);
	for (uint32_t i = 0; !rc && i < plan->n; i++)
		if (!is_other(t, &p, &plan->change[i]))
			plan->change[n++] = plan->change[i];
	if (!rc) {
		rc = (int)(plan->n - n);
		plan->n = n;
	}
	ibcc_vendor_parameters_fini(&p);
	free(which);
	return rc;
}

bool ibcc_service_has_profiles(const struct ibcc_service *s)
{
	const struct ibcc_book *book;

	if (!s->state || ibcc_state_book(s->state, &book, NULL))
		return false;
	for (uint32_t i = 0; i < book->n; i++)
		if (book->entry[i]->attr_id == IBCC_VCC_ATTR_SW_PROFILE &&
		    memcmp(book->entry[i]->before, book->entry[i]->last,
			   sizeof(book->entry[i]->last)) != 0)
			return true;
	return false;
}

int ibcc_service_end_profiles(struct ibcc_service *s, json_t **out, struct ibcc_why *why)
{
	struct ibcc_execution execution = {
		.back = true,
		.txn = { .who = "ibcc-tuned",
			 .action = "rollback",
			 .summary = "marking profiles as they were before, since ibcc-tuned ends" },
	};
	struct ibcc_result res = { 0 };
	struct ibcc_plan plan = { 0 };
	struct ibcc_why what;
	int rc = plan_back(s, &plan, why), others = 0;

	if (!rc && plan.n)
		others = leave_out_others(s, &plan);
	if (others < 0)
		rc = ibcc_why_set(why, others, "marking profiles cannot be read: %s",
				  strerror(-others));
	if (!rc && plan.n) {
		for (uint32_t i = 0; i < plan.n; i++)
			snprintf(plan.change[i].reason, sizeof(plan.change[i].reason),
				 "as it was before: ibcc-tuned ends");
		ibcc_bounds_drop(&s->applier->bounds, s->cycle.topo, NULL, &plan, &what);
		rc = ibcc_service_execute(s, execution, &plan, &res, why);
		ibcc_service_wrote(s, &res);
		if (res.n == plan.n)
			rc = ibcc_service_outcome(s, &plan, &res, rc, why, out);
	}
	if (!rc && others)
		rc = ibcc_why_set(why, -EBUSY,
				  "marking profiles of %d port%s stay, as another program has "
				  "changed them",
				  others, ibcc_text_plural(others, "", "s"));
	ibcc_result_fini(&res);
	ibcc_plan_fini(&plan);
	return rc;
}
