/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* NVIDIA's congestion control in plain words: whether it is on, and what its operator can change.
 * The files and options named are those of NVIDIA's OpenSM 5.x and UFM.
 */
#include <ibcc/vendor.h>

#include <string.h>

#include <ibcc/text.h>

#define NAMES_MAX 4u

bool ibcc_vendor_algorithm(const struct ibcc_vendor_endport *e, char *buf, size_t len)
{
	const struct ibcc_vcc_algorithm *a = &e->algorithm.slot[0];
	struct ibcc_text x = { buf, len, 0 };

	buf[0] = '\0';
	if (e->cc != IBCC_VENDOR_CC_ON || !e->algorithm.n_slots)
		return false;
	if (!e->algorithm.algo_status)
		ibcc_text_add(&x, "an algorithm other than that of slot 0");
	else
		ibcc_text_add(&x, "algorithm slot 0 (algorithm %u, version %u.%u)", a->algo_id,
			      a->major, a->minor);
	return true;
}

/* The algorithm of the first adapter that reports one, and how many adapters run it or another one.
 */
static void say_algorithm(struct ibcc_text *x, const struct ibcc_vendor *v)
{
	char first[80] = "", own[80];
	uint32_t n = 0, n_other = 0;

	for (uint32_t i = 0; i < v->n; i++) {
		if (!ibcc_vendor_algorithm(&v->ep[i], own, sizeof(own)))
			continue;
		if (!first[0])
			memcpy(first, own, sizeof(first));
		n += !strcmp(first, own);
		n_other += strcmp(first, own) != 0;
	}
	if (n)
		ibcc_text_add(x, ", %s at %u of them", first, n);
	if (n_other)
		ibcc_text_add(x, " and another at %u", n_other);
}

void ibcc_vendor_text(const struct ibcc_vendor *v, struct ibcc_why *text)
{
	struct ibcc_text x = { text->text, sizeof(text->text), 0 };

	text->text[0] = '\0';
	if (!(v->n_off + v->n_on + v->n_silent))
		return;
	if (ibcc_vendor_rules(v))
		ibcc_text_add(&x, "NVIDIA congestion control is on: %u %s, %u %s", v->n_marking,
			      ibcc_text_plural(v->n_marking, "switch marks", "switches mark"),
			      v->n_reacting,
			      ibcc_text_plural(v->n_reacting, "adapter reacts", "adapters react"));
	else if (v->n_on)
		ibcc_text_add(&x,
			      "NVIDIA congestion control is on at some nodes: %u %s, %u %s, "
			      "so it has no effect",
			      v->n_marking,
			      ibcc_text_plural(v->n_marking, "switch marks", "switches mark"),
			      v->n_reacting,
			      ibcc_text_plural(v->n_reacting, "adapter reacts", "adapters react"));
	else
		ibcc_text_add(&x, "NVIDIA congestion control is %s",
			      v->n_off ? "off" : "present, but no node says whether it is on");
	say_algorithm(&x, v);
	if (v->n_off)
		ibcc_text_add(&x, "%s %u %s it off", v->n_on ? ";" : ":", v->n_off,
			      ibcc_text_plural(v->n_off, "node has", "nodes have"));
	if (v->n_silent)
		ibcc_text_add(&x,
			      "; %u %s not answer this: the CC_Key is probably missing "
			      "(key_dir, cc_key_file)",
			      v->n_silent, ibcc_text_plural(v->n_silent, "node does", "nodes do"));
}

void ibcc_vendor_routes_text(const struct ibcc_vendor *v, struct ibcc_why *text)
{
	struct ibcc_text x = { text->text, sizeof(text->text), 0 };
	unsigned int n = 0;

	text->text[0] = '\0';
	if (!v->n_loose)
		return;
	ibcc_text_add(&x,
		      "%u %s not route by the forwarding table alone (adaptive routing, hash "
		      "based forwarding or private tables)",
		      v->n_loose, ibcc_text_plural(v->n_loose, "switch does", "switches do"));
	for (unsigned int sl = 0; sl < 16 && v->loose_sls != UINT16_MAX; sl++)
		if (v->loose_sls >> sl & 1)
			ibcc_text_add(&x, "%s%u", n++ ? ", " : " for SL ", sl);
	ibcc_text_add(&x, ": contributors and victims are not proved");
}

static bool is_on(const struct ibcc_vendor *v, const struct ibcc_topo *t, uint32_t port)
{
	uint32_t endport = ibcc_topo_is_switch(t, t->port[port].node)
				   ? ibcc_topo_switch_endport(t, port)
				   : t->port[port].endport;

	return endport < v->n && v->ep[endport].cc == IBCC_VENDOR_CC_ON;
}

static bool contributes(const struct ibcc_source *s)
{
	return s->role != IBCC_ROLE_VICTIM;
}

static bool is_deaf(const struct ibcc_vendor *v, const struct ibcc_topo *t,
		    const struct ibcc_source *s)
{
	uint32_t ep = t->port[s->port].endport;

	return contributes(s) && !(ep < v->n && v->ep[ep].reacts);
}

struct ibcc_vendor_advice ibcc_vendor_advise(const struct ibcc_vendor *v, const struct ibcc_topo *t,
					     const struct ibcc_estimate *p)
{
	struct ibcc_vendor_advice a = { .code = IBCC_VENDOR_ADVICE_NONE };

	if (!p->n_roots || !v->n_on)
		return a;
	a.root = &p->root[0];
	a.code = is_on(v, t, a.root->port) ? IBCC_VENDOR_ADVICE_PROFILE : IBCC_VENDOR_ADVICE_SWITCH;
	for (uint32_t i = 0; i < a.root->n_sources && a.code == IBCC_VENDOR_ADVICE_PROFILE; i++)
		if (is_deaf(v, t, &a.root->source[i]))
			a.code = IBCC_VENDOR_ADVICE_ADAPTERS;
	return a;
}

/* Names the contributors of a root that do not react. */
static void say_deaf(struct ibcc_text *x, const struct ibcc_vendor *v, const struct ibcc_topo *t,
		     const struct ibcc_root *r)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->n_sources; i++) {
		if (!is_deaf(v, t, &r->source[i]))
			continue;
		if (n < NAMES_MAX) {
			ibcc_text_add(x, n ? ", " : "");
			ibcc_text_add(x, "%s", t->node[t->port[r->source[i].port].node].desc);
		}
		n++;
	}
	if (n > NAMES_MAX)
		ibcc_text_add(x, " and %u more", n - NAMES_MAX);
}

/* How many adapters have slowed down because of notifications since they were asked last. */
static uint32_t count_throttled(const struct ibcc_vendor *v)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < v->n; i++)
		n += v->ep[i].grown.cnp_handled != 0;
	return n;
}

void ibcc_vendor_advice_text(const struct ibcc_vendor *v, const struct ibcc_topo *t,
			     struct ibcc_vendor_advice advice, struct ibcc_why *text)
{
	struct ibcc_text x = { text->text, sizeof(text->text), 0 };
	char name[96], deaf[200] = "";
	struct ibcc_text d = { deaf, sizeof(deaf), 0 };

	text->text[0] = '\0';
	if (advice.code != IBCC_VENDOR_ADVICE_NONE)
		ibcc_topo_port_name(t, advice.root->port, name, sizeof(name));
	switch (advice.code) {
	case IBCC_VENDOR_ADVICE_NONE: return;
	case IBCC_VENDOR_ADVICE_SWITCH:
		ibcc_text_add(&x,
			      "%s does not mark: enable it at that switch, in the "
			      "congestion_control_policy_file of NVIDIA's OpenSM",
			      name);
		break;
	case IBCC_VENDOR_ADVICE_ADAPTERS:
		say_deaf(&d, v, t, advice.root);
		ibcc_text_add(
			&x,
			"%s marks, but %s do not react: enable that at these adapters, in the "
			"congestion_control_policy_file of NVIDIA's OpenSM",
			name, deaf);
		break;
	case IBCC_VENDOR_ADVICE_PROFILE:
		ibcc_text_add(&x,
			      "%s marks, all of its contributors react (contributors: %u; adapters "
			      "throttled lately: %u), and congestion continues: in the "
			      "congestion_control_policy_file of NVIDIA's OpenSM let the marking "
			      "profile of that port begin at a shorter queue (\"ibcc-tune advise\"), "
			      "or give the adapters "
			      "another algorithm or parameters (ppcc_algo_dir)",
			      name, advice.root->n_contributors, count_throttled(v));
		break;
	}
	ibcc_text_add(&x,
		      "; or switch it off there (mlnx_congestion_control 1) and leave the fabric "
		      "to ibcc-tune");
}
