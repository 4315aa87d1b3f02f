/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Sorts roots out of an estimate that are not proved, because packets of their SLs need not follow
 * the forwarding tables (proof.h). Such roots stay known, but no decision is taken on them.
 */
#include <ibcc/proof.h>

#include <errno.h>
#include <stdlib.h>

#include <ibcc/text.h>

/* Whether a root's SLs are known and none of them is routed otherwise than by the tables. */
static bool is_proved(uint16_t loose, uint16_t sls)
{
	return !loose || (sls && !(sls & loose));
}

static void add(struct ibcc_unproved *who, uint32_t port, uint16_t sls)
{
	if (who->n < IBCC_UNPROVED_NAMED) {
		who->first[who->n].port = port;
		who->first[who->n].sls = sls;
	}
	who->n++;
}

int ibcc_proof_run(const struct ibcc_estimate *from, uint16_t loose, const uint16_t *sls,
		   struct ibcc_estimate *to, struct ibcc_unproved *who)
{
	struct ibcc_root *root = calloc(from->n_known + 1, sizeof(*root));
	uint32_t n = 0;

	if (!root)
		return -ENOMEM;
	*who = (struct ibcc_unproved){ 0 };
	for (uint32_t i = 0; i < from->n_roots; i++)
		if (is_proved(loose, sls[i]) && ibcc_root_is_known(&from->root[i]))
			root[n++] = from->root[i];
	*to = *from;
	to->root = root;
	to->n_roots = n;
	to->n_unknown = 0;
	for (uint32_t i = 0; i < from->n_known; i++) {
		bool seen = i < from->n_roots;

		if (seen && is_proved(loose, sls[i]) && ibcc_root_is_known(&from->root[i]))
			continue;
		root[n++] = from->root[i];
		to->n_unknown += seen && is_proved(loose, sls[i]);
		if (seen && !is_proved(loose, sls[i]))
			add(who, from->root[i].port, sls[i] & loose);
	}
	return 0;
}

static void say(struct ibcc_text *x, const struct ibcc_topo *t, uint32_t port, uint16_t sls)
{
	char name[96];
	unsigned int n = 0;

	ibcc_topo_port_name(t, port, name, sizeof(name));
	ibcc_text_add(x, "%s%s (", x->n ? ", " : "", name);
	for (unsigned int sl = 0; sl < IBCC_CC_SLS; sl++)
		if (sls >> sl & 1)
			ibcc_text_add(x, "%s%u", n++ ? ", " : "SL ", sl);
	ibcc_text_add(x, "%s)", n ? "" : "the service levels of its flows are not known");
}

void ibcc_proof_text(const struct ibcc_topo *t, const struct ibcc_unproved *who,
		     struct ibcc_why *text)
{
	struct ibcc_text x = { text->text, sizeof(text->text), 0 };

	text->text[0] = '\0';
	for (uint32_t i = 0; i < who->n && i < IBCC_UNPROVED_NAMED; i++)
		say(&x, t, who->first[i].port, who->first[i].sls);
	if (who->n > IBCC_UNPROVED_NAMED)
		ibcc_text_add(&x, " and %u more", who->n - IBCC_UNPROVED_NAMED);
}
