/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Sorts roots out of a picture that are not proved, because packets of their SLs need not follow
 * the forwarding tables (proof.h). Such roots stay known, but no decision is taken on them.
 */
#include <ibcc/proof.h>

#include <errno.h>
#include <stdlib.h>

#include "text.h"

#define ROOTS_NAMED 3u

/* Whether a root's SLs are known and none of them is routed otherwise than by the tables. */
static bool is_proved(uint16_t loose, uint16_t sls)
{
	return !loose || (sls && !(sls & loose));
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
	ibcc_text_add(x, "%s)", n ? "" : "its SLs are not known");
}

int ibcc_proof_run(const struct ibcc_topo *t, const struct ibcc_picture *from, uint16_t loose,
		   const uint16_t *sls, struct ibcc_picture *to, struct ibcc_why *who)
{
	struct ibcc_root *root = calloc(from->n_known + 1, sizeof(*root));
	struct ibcc_text x = { who->text, sizeof(who->text), 0 };
	uint32_t n = 0, n_others = 0;

	if (!root)
		return -ENOMEM;
	who->text[0] = '\0';
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
		if (seen && !is_proved(loose, sls[i]) && n_others++ < ROOTS_NAMED)
			say(&x, t, from->root[i].port, sls[i] & loose);
	}
	if (n_others > ROOTS_NAMED)
		ibcc_text_add(&x, " and %u more", n_others - ROOTS_NAMED);
	return 0;
}
