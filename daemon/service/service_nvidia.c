/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Whether marking profiles of NVIDIA's switches may be written (vendor_writes), and taking them
 * back when the daemon ends.
 *
 * NVIDIA's OpenSM can write the same settings, and does not see ours: two writers would undo each
 * other's work in silence. Its configuration says whether it does. That file can be read only on
 * the host of the subnet manager. Elsewhere a person has to look, and consent.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/file.h>
#include <ibcc/json.h>
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

/* Is this a port of this host? The answer comes from many files of sysfs, and holds until the
 * fabric is discovered again.
 */
static bool is_here(struct ibcc_service *s, uint64_t port_guid)
{
	struct ibcc_service_sm *sm = &s->sm;

	if (sm->guid != port_guid || sm->discovery != s->n_discoveries)
		*sm = (struct ibcc_service_sm){ .guid = port_guid,
						.discovery = s->n_discoveries,
						.here = ibcc_umad_is_local(port_guid) };
	return sm->here;
}

/* The port of the subnet manager, or IBCC_NONE, and whether it is one of this host. */
static uint32_t find_sm(struct ibcc_service *s, bool *here)
{
	const struct ibcc_topo *t = s->cycle.topo;
	struct ibcc_smp_port_info info = { 0 };
	uint32_t port;

	*here = false;
	if (ibcc_sm_check(s->transport, &info, NULL))
		return IBCC_NONE;
	port = ibcc_topo_port_of_lid(t, info.sm_lid);
	*here = info.lid == info.sm_lid || (port != IBCC_NONE && is_here(s, t->port[port].guid));
	return port;
}

/* The subnet manager for which a person has consented, by its port's GUID, in the state file. */
static const char consent[] = "nvidia_sm";

static void write_guid(uint64_t guid, char buf[24])
{
	snprintf(buf, 24, "0x%016" PRIx64, guid);
}

static bool has_consent(struct ibcc_service *s, uint64_t sm)
{
	char *noted = s->state && sm ? ibcc_state_note(s->state, consent) : NULL;
	char guid[24];
	bool same;

	write_guid(sm, guid);
	same = noted && !strcmp(noted, guid);
	free(noted);
	return same;
}

void ibcc_service_consent_to_sm(struct ibcc_service *s, uint64_t guid)
{
	char text[24];

	if (!guid)
		return;
	write_guid(guid, text);
	/* Without the note the daemon asks again. */
	(void)ibcc_state_note_set(s->state, consent, text);
}

bool ibcc_service_has_profile(const struct ibcc_plan *plan)
{
	for (uint32_t i = 0; i < plan->n; i++)
		if (plan->change[i].attr_id == IBCC_VCC_ATTR_SW_PROFILE)
			return true;
	return false;
}

/* No GUID of a port: a person was not warned of any. */
#define WARNED_OF_NONE UINT64_MAX

bool ibcc_service_read_warned(const json_t *v, uint64_t *warned_sm)
{
	*warned_sm = WARNED_OF_NONE;
	return json_is_null(v) || ibcc_json_read_guid(v, warned_sm);
}

json_t *ibcc_service_warned(const struct ibcc_service *s)
{
	return s->cycle.unchecked.text[0] ? ibcc_json_guid(s->unchecked_sm) : json_null();
}

int ibcc_service_check_consent(const struct ibcc_service *s, const struct ibcc_plan *plan,
			       const struct ibcc_request *r, struct ibcc_why *why)
{
	if (!ibcc_service_has_profile(plan) || !r->shown || !s->cycle.unchecked.text[0] ||
	    r->warned_sm == s->unchecked_sm)
		return 0;
	if (r->warned_sm && r->warned_sm != WARNED_OF_NONE && s->unchecked_sm)
		return ibcc_why_set(why, -ESTALE,
				    "nothing is written: another subnet manager is master since "
				    "the plan was shown: %.300s; make a new plan",
				    s->cycle.unchecked.text);
	/* It may be the same one, if it could be checked when the plan was shown. */
	return ibcc_why_set(why, -ESTALE,
			    "nothing is written: the subnet manager could not be checked now, and "
			    "the plan did not warn of it: %.300s; make a new plan",
			    s->cycle.unchecked.text);
}

void ibcc_service_applied(struct ibcc_service *s)
{
	if (!s->cycle.options.profiles || !ibcc_vendor_rules(&s->cycle.vendor) ||
	    !s->config.vendor_opensm_conf[0])
		return;
	if (s->trial.txn)
		s->trial.sm = s->unchecked_sm;
	else
		ibcc_service_consent_to_sm(s, s->unchecked_sm);
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
	const char *name;
	uint32_t port;
	uint64_t sm;
	bool here, read;

	s->unchecked_sm = 0;
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
	port = find_sm(s, &here);
	sm = port == IBCC_NONE ? 0 : c->topo->port[port].guid;
	read = look_at_files(s, here, &c->veto);
	if (c->veto.text[0] || (read && (here || has_consent(s, sm))))
		return;
	s->unchecked_sm = sm;
	name = port == IBCC_NONE ? "an unknown host" : c->topo->node[c->topo->port[port].node].desc;
	if (read)
		ibcc_why_set(&c->unchecked, 0,
			     "the subnet manager is on \"%s\", and vendor_opensm_conf may not be "
			     "its configuration: with mlnx_congestion_control 1, 2 or a policy "
			     "file it would overwrite marking profiles; look there before you "
			     "apply",
			     name);
	else
		ibcc_why_set(&c->unchecked, 0,
			     "ibcc-tune could not check mlnx_congestion_control and "
			     "congestion_control_policy_file of the subnet manager on \"%s\": "
			     "with 1, 2 or a policy file it would overwrite marking profiles; look "
			     "there before you apply",
			     name);
	if (writing == IBCC_SERVICE_WRITES_UNATTENDED)
		ibcc_why_set(&c->veto, 0, "%.300s; without a person the daemon writes them only %s",
			     c->unchecked.text,
			     read ? "when the subnet manager is on this host, or is the one for "
				    "which a person has run \"ibcc-tune apply\""
				  : "if vendor_opensm_conf names a file that it can read");
}

/* The profiles in the book that are ours, as a plan that restores what was there before. */
static int plan_back(struct ibcc_service *s, struct ibcc_plan *undo, struct ibcc_why *why)
{
	struct ibcc_plan joined = { 0 }, ours = { 0 };
	int64_t first;
	int rc = ibcc_state_undo(s->state, 0, &joined, &first, NULL, why);

	for (uint32_t i = 0; !rc && i < joined.n; i++) {
		const struct ibcc_change *c = &joined.change[i];

		if (c->attr_id == IBCC_VCC_ATTR_SW_PROFILE &&
		    memcmp(c->old_data, c->new_data, sizeof(c->old_data)) != 0)
			rc = ibcc_plan_append(&ours, c);
	}
	if (!rc)
		rc = ibcc_plan_reverse(&ours, undo);
	for (uint32_t i = 0; !rc && i < undo->n; i++)
		snprintf(undo->change[i].reason, sizeof(undo->change[i].reason),
			 "as it was before: ibcc-tuned ends");
	if (rc == -ENOMEM)
		ibcc_why_set(why, rc, "no memory");
	ibcc_plan_fini(&ours);
	ibcc_plan_fini(&joined);
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

static bool is_same_port(const struct ibcc_change *a, const struct ibcc_change *b)
{
	return a->node_guid == b->node_guid && a->attr_mod == b->attr_mod;
}

/* What became of restoring profiles. */
struct ending {
	uint32_t others; /* ports that another program has changed: its values are its choice */
	uint32_t missed; /* ports that could not be reached, read or written */
	const struct ibcc_change *first; /* of these */
	struct ibcc_debts owed;          /* their switches */
};

/* `plan` is a part of `undo`, in its order. -ENOMEM. */
static int count_up(const struct ibcc_plan *undo, const struct ibcc_plan *plan,
		    const struct ibcc_result *res, struct ending *e)
{
	const struct ibcc_debt by = { .from = 0 };
	int rc = 0;

	for (uint32_t i = 0, k = 0; !rc && i < undo->n; i++) {
		const struct ibcc_change *c = &undo->change[i];
		bool tried = k < plan->n && k < res->n && is_same_port(&plan->change[k], c);
		const struct ibcc_change_result *r = tried ? &res->change[k++] : NULL;

		if (r && r->outcome == IBCC_OUTCOME_VERIFIED)
			continue;
		if (r && r->err == IBCC_CHANGE_OTHER_WRITER) {
			e->others++;
			continue;
		}
		if (!e->missed++)
			e->first = c;
		rc = ibcc_debts_add(&e->owed, &by, c->node_guid, c->port);
	}
	return rc;
}

static int conclude(struct ibcc_service *s, const struct ibcc_txn *txn,
		    const struct ibcc_plan *undo, const struct ibcc_plan *plan,
		    const struct ibcc_result *res, int rc, struct ibcc_why *why)
{
	struct ending e = { .missed = 0 };
	int err = count_up(undo, plan, res, &e);

	/* The history names nodes by the topology. */
	if (!err && e.missed)
		err = s->cycle.topo ? ibcc_service_owe_profiles(s, txn, res, &e.owed) : -ENODATA;
	if (e.missed)
		rc = ibcc_why_set(why, rc ? rc : -EHOSTUNREACH,
				  "marking profiles of %u port%s, the first at node 0x%016" PRIx64
				  " port %u, were not restored: %.160s; %s",
				  e.missed, ibcc_text_plural(e.missed, "", "s"), e.first->node_guid,
				  e.first->attr_mod, why->text,
				  err ? "run \"ibcc-tune rollback\" when the switches answer"
				      : "ibcc-tuned restores them when it runs and can read them, "
					"and \"ibcc-tune status\" shows what is owed");
	else if (e.others)
		rc = ibcc_why_set(why, -EBUSY,
				  "marking profiles of %u port%s stay, as another program has "
				  "changed them",
				  e.others, ibcc_text_plural(e.others, "", "s"));
	ibcc_debts_fini(&e.owed);
	return rc;
}

int ibcc_service_end_profiles(struct ibcc_service *s, json_t **out, struct ibcc_why *why)
{
	struct ibcc_execution execution = {
		.back = true,
		.ours_only = true,
		.txn = { .who = "ibcc-tuned",
			 .action = "rollback",
			 .summary = "marking profiles as they were before, since ibcc-tuned ends" },
	};
	struct ibcc_plan undo = { 0 }, plan = { 0 };
	struct ibcc_result res = { 0 };
	struct ibcc_why what = { "" };
	uint64_t gone_guid;
	uint32_t n_gone;
	int rc = plan_back(s, &undo, why);

	if (rc || !undo.n)
		goto out;
	rc = ibcc_service_prepare(s, why);
	if (!rc && ibcc_service_address(s->cycle.topo, &undo, &plan, &n_gone, &gone_guid))
		rc = ibcc_why_set(why, -ENOMEM, "no memory");
	if (!rc) {
		ibcc_bounds_drop(&s->applier->bounds, s->cycle.topo, NULL, &plan, &what);
		/* The reason for what is not in the plan, unless the plan fails as well. */
		ibcc_why_set(why, 0, "%s",
			     what.text[0] ? what.text : "the node is not on the fabric");
		rc = ibcc_service_execute(s, execution, &plan, &res, why);
		ibcc_service_wrote(s, &res);
		if (res.n == plan.n)
			rc = ibcc_service_outcome(s, &plan, &res, rc, why, out);
	}
	rc = conclude(s, &execution.txn, &undo, &plan, &res, rc, why);
out:
	ibcc_result_fini(&res);
	ibcc_plan_fini(&plan);
	ibcc_plan_fini(&undo);
	return rc;
}
